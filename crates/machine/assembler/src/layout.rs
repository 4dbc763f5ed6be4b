//! The first pass: gives every statement an address and every label a value.

use std::collections::BTreeMap;

use crate::error::{Complaint, Complaints};
use crate::expression::{Expression, Names};
use crate::header::{CartridgeType, Header, RAM_SIZES};
use crate::opcode::Form;
use crate::select_form::select;
use crate::statement::{Datum, Operand, Statement};

/// Names that every source may use: the registers of the hardware, spelled as in Pan Docs, each
/// with its address.
const REGISTERS: &str = include_str!("registers.txt");

/// Position of the next byte.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cursor {
    /// ROM bank; `None` outside the ROM.
    pub(crate) bank: Option<u16>,
    pub(crate) address: u32,
}

/// Statement that becomes bytes, with its address.
pub(crate) struct Item {
    pub(crate) line: usize,
    pub(crate) place: Cursor,
    /// The preceding label, to which the statement's local names belong.
    pub(crate) scope: String,
    pub(crate) content: Content,
}

pub(crate) enum Content {
    Instruction { form: &'static Form, column: u32, operands: Vec<Operand> },
    Bytes(Vec<Datum>),
    Words(Vec<Datum>),
    Fill { count: u32, byte: Expression, column: u32 },
}

#[derive(Clone, Debug)]
pub(crate) struct Definition {
    pub(crate) value: i64,
    pub(crate) bank: Option<u16>,
    pub(crate) is_label: bool,
}

pub(crate) type Definitions = BTreeMap<String, Definition>;

/// Names that one statement can see.
pub(crate) struct Scope<'a> {
    pub(crate) definitions: &'a Definitions,
    pub(crate) scope: &'a str,
    pub(crate) here: i64,
    /// True in the first pass, which knows only symbols above the present line.
    pub(crate) is_first_pass: bool,
}

impl Scope<'_> {
    fn find(&self, name: &str, column: u32) -> Result<&Definition, Complaint> {
        let full = full_name(self.scope, name);
        self.definitions.get(&full).ok_or_else(|| {
            let above =
                if self.is_first_pass { " above this line, where it is needed" } else { "" };
            let near = nearest(name, self.definitions.keys(), 1);
            let near = near.first().map(|near| format!("; did you mean `{near}`"));
            let near = near.unwrap_or_default();
            Complaint::new(column, format!("no name `{name}`{above}{near}"))
        })
    }
}

impl Names for Scope<'_> {
    fn value(&self, name: &str, column: u32) -> Result<i64, Complaint> {
        Ok(self.find(name, column)?.value)
    }

    fn bank(&self, name: &str, column: u32) -> Result<i64, Complaint> {
        match self.find(name, column)?.bank {
            Some(bank) => Ok(i64::from(bank)),
            None => Err(Complaint::new(column, format!("`{name}` lies in no ROM bank"))),
        }
    }

    fn here(&self) -> i64 {
        self.here
    }
}

/// Puts the preceding label before a local name.
fn full_name(scope: &str, name: &str) -> String {
    match name.starts_with('.') {
        true => format!("{scope}{name}"),
        false => name.to_string(),
    }
}

/// Returns the known names close to a misspelled one, the closest first, at most `most`.
pub(crate) fn nearest<'a>(
    name: &str,
    known: impl Iterator<Item = &'a String>,
    most: usize,
) -> Vec<&'a String> {
    let mut near: Vec<(usize, &String)> = known
        .map(|other| (distance(name, other), other))
        .filter(|(distance, _)| *distance <= 1 + name.len() / 4)
        .collect();
    near.sort_by_key(|pair| pair.0);
    near.into_iter().map(|(_, other)| other).take(most).collect()
}

/// Counts the letters that must be inserted, deleted or changed.
pub(crate) fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, l) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, r) in right.iter().enumerate() {
            let changed = diagonal + usize::from(l != *r);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}

/// The result of the first pass.
pub(crate) struct Layout {
    pub(crate) items: Vec<Item>,
    pub(crate) definitions: Definitions,
    pub(crate) header: Header,
    pub(crate) banks: u16,
    /// Line and column that required the highest bank.
    banks_place: (usize, u32),
    /// Line and column of the label `Start`, if there is one.
    pub(crate) start_place: Option<(usize, u32)>,
    place: Cursor,
    /// Cursor at which `rom` continues; `org` after variables returns to its bank.
    rom_place: Cursor,
    /// Address at which `ram` continues.
    ram_address: u32,
    scope: String,
    /// True for a fragment, which has one flat address space and no cartridge around it.
    is_fragment: bool,
}

impl Layout {
    /// Begins a whole cartridge, after its header.
    pub(crate) fn cartridge() -> Layout {
        Layout::at(Cursor { bank: Some(0), address: 0x150 }, false)
    }

    /// Begins bare code at an address.
    pub(crate) fn fragment(address: u16) -> Layout {
        Layout::at(Cursor { bank: Some(0), address: u32::from(address) }, true)
    }

    fn at(place: Cursor, is_fragment: bool) -> Layout {
        let register = |line: &str| {
            let (name, address) = line.split_once(' ')?;
            let value = i64::from_str_radix(address, 16).ok()?;
            Some((name.to_owned(), Definition { value, bank: None, is_label: false }))
        };
        Layout {
            items: Vec::new(),
            definitions: REGISTERS.lines().filter_map(register).collect(),
            header: Header {
                title: String::new(),
                cartridge: CartridgeType::ROM_ONLY,
                ram_code: 0,
                model: 0,
            },
            banks: 2,
            banks_place: (0, 1),
            start_place: None,
            place,
            rom_place: place,
            ram_address: 0xC000,
            scope: String::new(),
            is_fragment,
        }
    }

    pub(crate) fn add(&mut self, line: usize, statements: Vec<Statement>, errors: &mut Complaints) {
        for statement in statements {
            let outcome = self.statement(line, statement);
            errors.keep(line, outcome);
        }
    }

    fn statement(&mut self, line: usize, statement: Statement) -> Result<(), Complaint> {
        match statement {
            Statement::Label { name, column } => self.label(line, &name, column),
            Statement::Constant { name, column, value } => {
                let value = self.now(&value)?;
                self.define(&name, column, Definition { value, bank: None, is_label: false })
            }
            Statement::Instruction { mnemonic, column, operands } => {
                let (form, operands) = select(&mnemonic, column, &operands, &self.names())?;
                let content = Content::Instruction { form, column, operands };
                self.content(line, content, form.bytes() as u32, column)
            }
            Statement::Bytes(data) => self.data(line, data, 1),
            Statement::Words(data) => self.data(line, data, 2),
            Statement::Space { count, fill, column } => {
                let count =
                    count.within(0..=0x8000, "the count of `ds`", column, &self.names())? as u32;
                self.space(line, count, fill, column)
            }
            Statement::Align { to, column } => {
                let to = to.within(1..=0x4000, "an alignment", column, &self.names())? as u32;
                let count = self.place.address.next_multiple_of(to) - self.place.address;
                self.space(line, count, None, column)
            }
            other => self.directive(line, other),
        }
    }

    fn directive(&mut self, line: usize, statement: Statement) -> Result<(), Complaint> {
        match statement {
            Statement::Origin { address, column } => {
                let address =
                    address.within(0..=0xFFFF, "an address", column, &self.names())? as u32;
                self.leave();
                self.place = Cursor { bank: self.rom_place.bank, address };
                self.fit(line, 0, column)
            }
            Statement::Bank { number, column } => {
                let bank = number.within(0..=511, "a ROM bank", column, &self.names())? as u16;
                let address = if bank == 0 { 0x150 } else { 0x4000 };
                self.leave();
                self.place = Cursor { bank: Some(bank), address };
                self.fit(line, 0, column)
            }
            Statement::Ram { address, column } => {
                self.leave();
                let address = match address {
                    Some(address) => address.within(
                        0x8000..=0xFFFE,
                        "an address in RAM",
                        column,
                        &self.names(),
                    )? as u32,
                    None => self.ram_address,
                };
                self.place = Cursor { bank: None, address };
                Ok(())
            }
            Statement::Rom => {
                self.leave();
                self.place = self.rom_place;
                Ok(())
            }
            Statement::Title { title, column } => self.title(title, column),
            Statement::Cartridge(cartridge) => {
                self.header.cartridge = cartridge;
                Ok(())
            }
            Statement::Model(model) => {
                self.header.model = model;
                Ok(())
            }
            Statement::RamSize { kib, column } => {
                let kib = self.now(&kib)?;
                let row = RAM_SIZES.iter().find(|row| row.0 == kib);
                let message = || format!("{kib} KiB of RAM; 0, 8, 32, 64 and 128 are allowed");
                self.header.ram_code = row.ok_or_else(|| Complaint::new(column, message()))?.1;
                Ok(())
            }
            Statement::Banks { count, column } => {
                let count =
                    count.within(2..=512, "the count of banks", column, &self.names())? as u16;
                self.need_banks(count, line, column);
                Ok(())
            }
            _ => unreachable!("`statement` handles what leaves bytes"),
        }
    }

    fn title(&mut self, title: String, column: u32) -> Result<(), Complaint> {
        if title.len() > 15 || !title.bytes().all(|c| (b' '..=b'_').contains(&c)) {
            let message = "a title is at most 15 characters of upper-case ASCII";
            return Err(Complaint::new(column, message));
        }
        self.header.title = title;
        Ok(())
    }

    /// Records the place where the ROM, or RAM, continues.
    fn leave(&mut self) {
        match self.place.bank {
            Some(_) => self.rom_place = self.place,
            None => self.ram_address = self.place.address,
        }
    }

    fn label(&mut self, line: usize, name: &str, column: u32) -> Result<(), Complaint> {
        if !name.starts_with('.') {
            self.scope = name.to_string();
        }
        if name == "Start" {
            self.start_place = self.start_place.or(Some((line, column)));
        }
        let Cursor { bank, address } = self.place;
        self.define(name, column, Definition { value: i64::from(address), bank, is_label: true })
    }

    fn define(&mut self, name: &str, column: u32, found: Definition) -> Result<(), Complaint> {
        let full = full_name(&self.scope, name);
        match self.definitions.insert(full, found) {
            None => Ok(()),
            Some(_) => Err(Complaint::new(column, format!("`{name}` is defined twice"))),
        }
    }

    fn data(&mut self, line: usize, data: Vec<Datum>, unit: u32) -> Result<(), Complaint> {
        let count = data.iter().map(|datum| match datum {
            Datum::Text { text, .. } => text.chars().count() as u32,
            Datum::Value { .. } => 1,
        });
        let bytes = count.sum::<u32>() * unit;
        let column = match data.first() {
            Some(Datum::Text { column, .. } | Datum::Value { column, .. }) => *column,
            None => 1,
        };
        let content = if unit == 1 { Content::Bytes(data) } else { Content::Words(data) };
        self.content(line, content, bytes, column)
    }

    fn space(
        &mut self,
        line: usize,
        count: u32,
        fill: Option<Expression>,
        column: u32,
    ) -> Result<(), Complaint> {
        if self.place.bank.is_some() {
            let byte = fill.unwrap_or(Expression::Number(0));
            return self.content(line, Content::Fill { count, byte, column }, count, column);
        }
        if fill.is_some() {
            return Err(Complaint::new(column, "RAM can't be filled by the cartridge"));
        }
        if self.place.address + count > 0xFFFF {
            return Err(Complaint::new(column, "variables behind $FFFE"));
        }
        self.place.address += count;
        Ok(())
    }

    fn content(
        &mut self,
        line: usize,
        content: Content,
        bytes: u32,
        column: u32,
    ) -> Result<(), Complaint> {
        if self.place.bank.is_none() {
            let message =
                "code and data in RAM; between `ram` and `org` only labels and `ds` are allowed";
            return Err(Complaint::new(column, message));
        }
        self.fit(line, bytes, column)?;
        self.items.push(Item { line, place: self.place, scope: self.scope.clone(), content });
        self.place.address += bytes;
        Ok(())
    }

    /// Refuses bytes that don't fit into the current bank.
    fn fit(&mut self, line: usize, bytes: u32, column: u32) -> Result<(), Complaint> {
        let Cursor { bank: Some(bank), address } = self.place else { return Ok(()) };
        if self.is_fragment {
            return match address {
                0..=0xFFFF => Ok(()),
                _ => Err(Complaint::new(column, "code behind $FFFF")),
            };
        }
        let (from, to) = if bank == 0 { (0, 0x4000) } else { (0x4000, 0x8000) };
        if address < from || address + bytes > to {
            let last = to - 1;
            let message = format!(
                "bank {bank} holds ${from:04X} to ${last:04X}, this ends at ${:04X}; \
                 `bank` chooses another",
                (address + bytes).saturating_sub(1)
            );
            return Err(Complaint::new(column, message));
        }
        self.need_banks(bank + 1, line, column);
        Ok(())
    }

    fn need_banks(&mut self, count: u16, line: usize, column: u32) {
        if count > self.banks {
            self.banks = count;
            self.banks_place = (line, column);
        }
    }

    /// Complains, at the end, about more banks than the cartridge can have.
    pub(crate) fn check_banks(&self, errors: &mut Complaints) {
        let most = self.header.cartridge.max_banks();
        if self.banks > most {
            let message = format!(
                "{} ROM banks, and a cartridge `{}` has {most} at most; `cartridge mbc5` has 512",
                self.banks,
                self.header.cartridge.name()
            );
            let (line, column) = self.banks_place;
            errors.0.push((line, Complaint::new(column, message)));
        }
    }

    fn names(&self) -> Scope<'_> {
        Scope {
            definitions: &self.definitions,
            scope: &self.scope,
            here: i64::from(self.place.address),
            is_first_pass: true,
        }
    }

    fn now(&self, value: &Expression) -> Result<i64, Complaint> {
        value.evaluate(&self.names())
    }
}
