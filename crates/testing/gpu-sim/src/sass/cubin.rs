//! Reads a cubin of NVIDIA's assembler: an ELF file with code, constant banks and variables.
//!
//! Only the parts that a launch needs are read: sections, symbols, relocations of constant banks,
//! and each kernel's parameters, stack and bound of threads from `.nv.info`.

use std::collections::BTreeMap;

/// A section of the file.
#[derive(Clone, Debug)]
pub struct Section<'a> {
    /// Name: `.text.KERNEL`, `.nv.constant0.KERNEL`, ..
    pub name: &'a str,
    kind: u32,
    /// Size in memory; the file lacks the bytes of variables without a value.
    pub size: usize,
    /// Bytes.
    pub bytes: &'a [u8],
    link: usize,
    info: usize,
}

/// A name for a place in a section.
#[derive(Clone, Debug)]
pub struct Symbol<'a> {
    /// The name.
    pub name: &'a str,
    /// Number of the symbol's section.
    pub section: usize,
    /// Offset in the section.
    pub at: usize,
    /// Size in bytes.
    pub size: usize,
}

/// An address that is written into a section when the section is loaded.
#[derive(Clone, Copy, Debug)]
pub struct Relocation {
    /// Number of the section that is changed.
    pub section: usize,
    /// Offset in the section.
    pub at: usize,
    /// Kind: 2 writes 64 bits, 56 and 57 the lower and upper 32.
    pub kind: u32,
    /// Number of the symbol.
    pub symbol: usize,
    /// Offset from the symbol.
    pub addend: i64,
}

/// Facts of a kernel that its launch needs.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Kernel {
    /// Offset and size of each parameter, in the order of the declaration.
    pub parameters: Vec<(usize, usize)>,
    /// Offset of the first parameter in constant bank 0.
    pub base: usize,
    /// Greatest number of threads of a block.
    pub max_threads: Option<u32>,
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of local memory that the kernel's deepest chain of calls needs, if known.
    pub stack_bytes: usize,
}

/// Parts of a file.
#[derive(Debug)]
pub struct Cubin<'a> {
    /// All sections; the first is empty.
    pub sections: Vec<Section<'a>>,
    /// All symbols.
    pub symbols: Vec<Symbol<'a>>,
    /// All relocations.
    pub relocations: Vec<Relocation>,
    /// Kernels by name.
    pub kernels: BTreeMap<&'a str, Kernel>,
    /// Generation: 80, 90, 100.
    pub arch: u32,
}

/// Bytes of local memory for a recursive function, whose need is unknown.
const RECURSION_BYTES: usize = 64 << 10;

const SYMBOLS: u32 = 2;
const ADDENDS: u32 = 4;
const NO_BITS: u32 = 8;
const NO_ADDENDS: u32 = 9;

/// Bytes of a file, from which little-endian numbers are read; `None` beyond the end.
#[derive(Clone, Copy)]
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(self, at: usize, size: usize) -> Option<&'a [u8]> {
        self.0.get(at..at.checked_add(size)?)
    }

    fn number(self, at: usize, size: usize) -> Option<u64> {
        let mut bytes = [0; 8];
        bytes[..size].copy_from_slice(self.take(at, size)?);
        Some(u64::from_le_bytes(bytes))
    }

    fn word(self, at: usize) -> Option<usize> {
        self.number(at, 4).map(|it| it as usize)
    }

    fn long(self, at: usize) -> Option<usize> {
        self.number(at, 8).map(|it| it as usize)
    }

    fn name(self, at: usize) -> Option<&'a str> {
        let remaining = self.0.get(at..)?;
        std::str::from_utf8(&remaining[..remaining.iter().position(|byte| *byte == 0)?]).ok()
    }
}

impl<'a> Cubin<'a> {
    /// Reads a file, or describes its defect.
    pub fn read(file: &'a [u8]) -> Result<Self, String> {
        if !file.starts_with(b"\x7fELF\x02\x01") {
            return Err("no ELF file of 64 bits".into());
        }
        let sections = sections(Bytes(file)).ok_or("its sections lie outside the file")?;
        let symbols = symbols(&sections).ok_or("its symbols lie outside the file")?;
        let relocations = relocations(&sections).ok_or("its relocations lie outside the file")?;
        // The generation stands in the second byte of the flags.
        let arch = Bytes(file).number(49, 1).ok_or("it has no flags")? as u32;
        let mut cubin = Self { sections, symbols, relocations, kernels: BTreeMap::new(), arch };
        cubin.kernels = cubin.kernels().ok_or("its .nv.info lies outside the file")?;
        Ok(cubin)
    }

    /// Returns a section by its name.
    pub fn section(&self, name: &str) -> Option<(usize, &Section<'a>)> {
        self.sections.iter().enumerate().find(|(_, it)| it.name == name)
    }

    fn kernels(&self) -> Option<BTreeMap<&'a str, Kernel>> {
        let mut kernels = BTreeMap::new();
        for section in &self.sections {
            if let Some(name) = section.name.strip_prefix(".nv.info.") {
                kernels.insert(name, kernel(section.bytes)?);
            }
        }
        let all = self.section(".nv.info").map_or(&[][..], |(_, it)| it.bytes);
        for (attribute, value) in attributes(all)? {
            // REGCOUNT, MIN_STACK_SIZE and MAX_STACK_SIZE: a symbol and a number.
            if !matches!(attribute, 0x2F | 0x12 | 0x23) {
                continue;
            }
            let (symbol, number) = (Bytes(value).word(0)?, Bytes(value).word(4)?);
            let Some(kernel) = kernels.get_mut(self.symbols.get(symbol)?.name) else { continue };
            match attribute {
                0x2F => kernel.registers = number as u32,
                // The number of a recursive function has all bits set.
                _ if number == u32::MAX as usize => {
                    kernel.stack_bytes = kernel.stack_bytes.max(RECURSION_BYTES);
                }
                _ => kernel.stack_bytes = kernel.stack_bytes.max(number),
            }
        }
        Some(kernels)
    }
}

fn sections(file: Bytes<'_>) -> Option<Vec<Section<'_>>> {
    let (table, size) = (file.long(40)?, file.number(58, 2)? as usize);
    let (count, names) = (file.number(60, 2)? as usize, file.number(62, 2)? as usize);
    let header = |number: usize| table + number * size;
    let names = Bytes(file.take(file.long(header(names) + 24)?, file.long(header(names) + 32)?)?);
    let section = |number: usize| {
        let at = header(number);
        let (kind, size) = (file.word(at + 4)? as u32, file.long(at + 32)?);
        let is_there = number != 0 && kind != NO_BITS;
        let bytes = if is_there { file.take(file.long(at + 24)?, size)? } else { &[] };
        let (link, info) = (file.word(at + 40)?, file.word(at + 44)?);
        Some(Section { name: names.name(file.word(at)?)?, kind, size, bytes, link, info })
    };
    (0..count).map(section).collect()
}

fn symbols<'a>(sections: &[Section<'a>]) -> Option<Vec<Symbol<'a>>> {
    let Some(table) = sections.iter().find(|it| it.kind == SYMBOLS) else { return Some(vec![]) };
    let names = Bytes(sections.get(table.link)?.bytes);
    let symbol = |entry: &'a [u8]| {
        let entry = Bytes(entry);
        let section = entry.number(6, 2)? as usize;
        Some(Symbol {
            name: names.name(entry.word(0)?)?,
            section,
            at: entry.long(8)?,
            size: entry.long(16)?,
        })
    };
    table.bytes.chunks_exact(24).map(symbol).collect()
}

fn relocations(sections: &[Section<'_>]) -> Option<Vec<Relocation>> {
    let mut all = Vec::new();
    for section in sections.iter().filter(|it| !it.name.starts_with(".nv.merc")) {
        let size = match section.kind {
            ADDENDS => 24,
            NO_ADDENDS => 16,
            _ => continue,
        };
        for entry in section.bytes.chunks_exact(size) {
            let entry = Bytes(entry);
            let addend = if size == 24 { entry.number(16, 8)? as i64 } else { 0 };
            let (kind, symbol) = (entry.word(8)? as u32, entry.word(12)?);
            let at = entry.long(0)?;
            all.push(Relocation { section: section.info, at, kind, symbol, addend });
        }
    }
    Some(all)
}

/// Splits the attributes of `.nv.info`. An attribute is a format, a number and a value; only
/// format 4 states the size of the value.
fn attributes(bytes: &[u8]) -> Option<Vec<(u8, &[u8])>> {
    let (mut all, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let head = bytes.get(at..at + 4)?;
        let size = usize::from(u16::from_le_bytes([head[2], head[3]]));
        let (from, size) = if head[0] == 4 { (at + 4, size) } else { (at + 2, 2) };
        all.push((head[1], bytes.get(from..from + size)?));
        at = from + size;
    }
    Some(all)
}

fn kernel(info: &[u8]) -> Option<Kernel> {
    let mut kernel = Kernel::default();
    let mut parameters = BTreeMap::new();
    for (attribute, value) in attributes(info)? {
        let value = Bytes(value);
        match attribute {
            // MAX_THREADS, a number for each dimension.
            0x05 => kernel.max_threads = Some(value.word(0)? as u32),
            // PARAM_CBANK: a symbol, then offset and size in constant bank 0.
            0x0A => kernel.base = value.number(4, 2)? as usize,
            // KPARAM_INFO: index, ordinal, offset, and a size above 18 bits of flags.
            0x17 => {
                let (ordinal, offset) = (value.number(4, 2)?, value.number(6, 2)? as usize);
                parameters.insert(ordinal, (offset, value.word(8)? >> 18));
            }
            _ => {}
        }
    }
    kernel.parameters = parameters.into_values().collect();
    Some(kernel)
}
