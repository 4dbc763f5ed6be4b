//! Public functions of the assembler: source text becomes a cartridge, bare code, or the list of
//! all errors.

use crate::emit;
use crate::error::{AssembleErrors, Complaint, Complaints};
use crate::expand::{Expander, Folder, Line};
use crate::layout::{Definitions, Item, Layout};
use crate::rom::{Rom, Symbol};
use crate::statement;

/// Source and the files that it may include.
#[derive(Clone, Debug)]
pub struct Assembler<'a> {
    name: &'a str,
    text: &'a str,
    includes: Vec<(&'a str, &'a str)>,
    folder: Option<&'a dyn Folder>,
}

impl<'a> Assembler<'a> {
    /// Makes an assembler for a source; errors show `name`.
    pub fn new(name: &'a str, text: &'a str) -> Assembler<'a> {
        Assembler { name, text, includes: Vec::new(), folder: None }
    }

    /// Adds a file for `include "name"`.
    pub fn with_include(mut self, name: &'a str, text: &'a str) -> Assembler<'a> {
        self.includes.push((name, text));
        self
    }

    /// Adds files that are read only when they are included; they take precedence over other files
    /// of the same name.
    pub fn with_folder(mut self, folder: &'a dyn Folder) -> Assembler<'a> {
        self.folder = Some(folder);
        self
    }

    /// Assembles a whole cartridge: header, checksums, and execution that starts at the label
    /// `Start`.
    pub fn rom(&self) -> Result<Rom, AssembleErrors> {
        let mut run = self.layout(Layout::cartridge());
        let banks = usize::from(run.layout.banks).next_power_of_two();
        let mut image =
            Image { bytes: vec![0; banks * 0x4000], is_used: vec![false; banks * 0x4000] };
        image.is_used[0x100..0x150].fill(true);
        run.emit(|item, bytes| {
            let bank = usize::from(item.place.bank.unwrap_or(0));
            image.write(bank * 0x4000 + (item.place.address & 0x3FFF) as usize, bytes)
        });
        let start = run.start();
        run.layout.check_banks(&mut run.errors);
        run.finish()?;
        run.layout.header.write(&mut image.bytes, start.unwrap_or(0x150));
        Ok(Rom {
            bytes: image.bytes,
            title: run.layout.header.title.clone(),
            symbols: symbols(&run.layout.definitions),
        })
    }

    /// Assembles bare code and data from `address` on, without a cartridge around them, for tests.
    pub fn code_at(&self, address: u16) -> Result<Vec<u8>, AssembleErrors> {
        let mut run = self.layout(Layout::fragment(address));
        let mut image = Image { bytes: Vec::new(), is_used: Vec::new() };
        run.emit(|item, bytes| {
            let offset = item.place.address.checked_sub(u32::from(address));
            let message = format!("code before ${address:04X}, where it shall begin");
            let offset = offset.ok_or(message)? as usize;
            let end = (offset + bytes.len()).max(image.bytes.len());
            image.bytes.resize(end, 0);
            image.is_used.resize(end, false);
            image.write(offset, bytes)
        });
        run.finish()?;
        Ok(image.bytes)
    }

    fn layout(&self, mut layout: Layout) -> Run {
        let mut expander = Expander::new(self.includes.clone(), self.folder);
        expander.file(self.name, self.text, 0);
        let mut errors = Complaints::default();
        for (index, line) in expander.lines.iter().enumerate() {
            if let Some(statements) = errors.keep(index, statement::parse(&line.text)) {
                layout.add(index, statements, &mut errors);
            }
        }
        let is_cut = expander.is_cut();
        let expansion_errors = AssembleErrors(expander.errors);
        let (lines, name) = (expander.lines, self.name.to_string());
        Run { lines, layout, errors, expansion_errors, name, is_cut }
    }
}

/// Assembles a cartridge from a single source text.
///
/// ```
/// let rom = gbxcule_assembler::assemble("Start: jr Start").unwrap();
/// assert_eq!(&rom.bytes[0x150..0x152], &[0x18, 0xFE]);
/// ```
pub fn assemble(text: &str) -> Result<Rom, AssembleErrors> {
    Assembler::new("source", text).rom()
}

struct Run {
    lines: Vec<Line>,
    layout: Layout,
    errors: Complaints,
    expansion_errors: AssembleErrors,
    name: String,
    /// True if lines were left out, so that names may be missing.
    is_cut: bool,
}

impl Run {
    /// Returns the address of the label at which execution begins.
    fn start(&mut self) -> Option<u16> {
        let Some(start) = self.layout.definitions.get("Start") else {
            let complaint = Complaint::new(1, "no label `Start`, where execution begins");
            self.errors.0.push((0, complaint));
            return None;
        };
        if let Some((line, column)) = self.layout.start_place
            && !matches!(start.bank, Some(0 | 1))
        {
            let place = start.bank.map_or("RAM".to_string(), |bank| format!("bank {bank}"));
            let message =
                format!("`Start` lies in {place}; at power-on, banks 0 and 1 are in place");
            self.errors.0.push((line, Complaint::new(column, message)));
        }
        Some(start.value as u16)
    }

    fn emit(&mut self, mut write: impl FnMut(&Item, &[u8]) -> Result<(), String>) {
        for item in &self.layout.items {
            let Some(bytes) = emit::bytes(item, &self.layout.definitions, &mut self.errors) else {
                continue;
            };
            let outcome = write(item, &bytes).map_err(|message| Complaint::new(1, message));
            self.errors.keep(item.line, outcome);
        }
    }

    /// Fails if there are complaints; returns those about includes, macros and art first, then
    /// those about lines, in order.
    fn finish(&mut self) -> Result<(), AssembleErrors> {
        let mut complaints = std::mem::take(&mut self.errors.0);
        if self.is_cut {
            complaints.clear();
        }
        complaints.sort_by_key(|(line, complaint)| (*line, complaint.column));
        let nowhere =
            Line { file: self.name.clone(), number: 1, text: String::new(), used_at: None };
        for (line, complaint) in complaints {
            self.expansion_errors.0.push(self.lines.get(line).unwrap_or(&nowhere).error(complaint));
        }
        match self.expansion_errors.0.is_empty() {
            true => Ok(()),
            false => Err(std::mem::replace(&mut self.expansion_errors, AssembleErrors(Vec::new()))),
        }
    }
}

struct Image {
    bytes: Vec<u8>,
    is_used: Vec<bool>,
}

impl Image {
    fn write(&mut self, offset: usize, bytes: &[u8]) -> Result<(), String> {
        let range = offset..offset + bytes.len();
        if self.is_used[range.clone()].contains(&true) {
            let header = if (0x100..0x150).contains(&offset) { ", as is the header" } else { "" };
            return Err(format!("these bytes lie where others already are{header}"));
        }
        self.is_used[range.clone()].fill(true);
        self.bytes[range].copy_from_slice(bytes);
        Ok(())
    }
}

fn symbols(definitions: &Definitions) -> Vec<Symbol> {
    let labels = definitions.iter().filter(|(_, definition)| definition.is_label);
    let mut symbols: Vec<Symbol> = labels
        .map(|(name, definition)| Symbol {
            name: name.clone(),
            bank: definition.bank.unwrap_or(0),
            address: definition.value as u16,
        })
        .collect();
    symbols.sort_by_key(|symbol| (symbol.bank, symbol.address));
    symbols
}
