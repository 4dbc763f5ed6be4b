//! Reads the table of source lines of a cubin: `.debug_line`, in the form of DWARF 2 to 4.

use super::cubin::Cubin;
use std::collections::BTreeMap;

/// Numbers of a program, read from its beginning on; `None` beyond its end.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn number(&mut self, size: usize) -> Option<u64> {
        let mut number = [0; 8];
        number[..size].copy_from_slice(self.bytes.get(self.at..self.at.checked_add(size)?)?);
        self.at += size;
        Some(u64::from_le_bytes(number))
    }

    /// Reads a number of groups of seven bits, and the number of those bits.
    fn groups(&mut self) -> Option<(u64, u32)> {
        let (mut number, mut bits) = (0, 0);
        loop {
            let byte = self.number(1)?;
            number |= (byte & 0x7F).checked_shl(bits).unwrap_or(0);
            bits += 7;
            if byte & 0x80 == 0 {
                return Some((number, bits));
            }
        }
    }

    fn unsigned(&mut self) -> Option<u64> {
        self.groups().map(|it| it.0)
    }

    fn signed(&mut self) -> Option<i64> {
        let (number, bits) = self.groups()?;
        let unused = 64_u32.saturating_sub(bits);
        Some((number << unused) as i64 >> unused)
    }
}

/// Returns for each section with code the line that begins at each address.
pub(super) fn rows(cubin: &Cubin<'_>) -> Option<BTreeMap<usize, BTreeMap<u64, u32>>> {
    let (number, section) = cubin.section(".debug_line")?;
    let places = cubin.relocations.iter().filter(|it| it.section == number);
    let places: BTreeMap<usize, usize> = places.map(|it| (it.at, it.symbol)).collect();
    let mut reader = Reader { bytes: section.bytes, at: 0 };
    let mut all = BTreeMap::new();
    while reader.at < section.bytes.len() {
        let end = reader.number(4)? as usize + reader.at;
        read_unit(cubin, &places, &mut reader, end, &mut all)?;
        reader.at = end;
    }
    Some(all)
}

/// Executes one program up to its end.
fn read_unit(
    cubin: &Cubin<'_>,
    places: &BTreeMap<usize, usize>,
    reader: &mut Reader<'_>,
    end: usize,
    all: &mut BTreeMap<usize, BTreeMap<u64, u32>>,
) -> Option<()> {
    let version = reader.number(2)?;
    let begin = reader.number(4)? as usize + reader.at;
    let least = reader.number(1)?;
    // Version 4 has the operations of an instruction, all versions whether a line is a statement.
    reader.number(if version >= 4 { 2 } else { 1 })?;
    let line_base = reader.number(1)? as i8;
    let (line_range, first_special) = (reader.number(1)?.max(1), reader.number(1)?);
    let operands: Vec<u64> = (1..first_special).map(|_| reader.number(1)).collect::<Option<_>>()?;
    reader.at = begin;
    let (mut section, mut address, mut line) = (0, 0_u64, 1_i64);
    while reader.at < end {
        let code = reader.number(1)?;
        let mut is_row = code == 1;
        match code {
            0 => {
                let length = reader.unsigned()? as usize;
                let next = reader.at + length;
                match reader.number(1)? {
                    1 => (section, address, line) = (0, 0, 1),
                    2 => {
                        let symbol = places.get(&reader.at).and_then(|it| cubin.symbols.get(*it));
                        section = symbol.map_or(0, |it| it.section);
                        address = reader.number(8)? + symbol.map_or(0, |it| it.at as u64);
                    }
                    _ => {}
                }
                reader.at = next;
            }
            2 => address += least * reader.unsigned()?,
            3 => line += reader.signed()?,
            8 => address += least * ((255 - first_special) / line_range),
            9 => address += reader.number(2)?,
            code if code < first_special => {
                for _ in 0..operands[code as usize - 1] {
                    reader.unsigned()?;
                }
            }
            special => {
                let special = special - first_special;
                address += least * (special / line_range);
                line += i64::from(line_base) + (special % line_range) as i64;
                is_row = true;
            }
        }
        if is_row {
            all.entry(section).or_default().insert(address, line as u32);
        }
    }
    Some(())
}
