//! Makes the listing of a cubin from the disassembly of its bare code: labels, functions and lines
//! of the source come from the cubin itself.

use super::cubin::Cubin;
use super::line_table;
use super::listing::STRIDE;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Names of functions by the address of each.
type Functions<'a> = BTreeMap<u32, Vec<&'a str>>;

/// Instructions whose last operand is an address of the same section.
const JUMPS: [&str; 4] = ["BRA", "BSSY", "CALL", "RET"];

/// Returns the listing of a cubin in the form of `nvdisasm -c -g`; `disassembled` is called for the
/// code of each section. `None` if that fails, or a relocation changes code.
pub fn listing(
    file: &[u8],
    mut disassembled: impl FnMut(&[u8]) -> Option<String>,
) -> Option<String> {
    let cubin = Cubin::read(file).ok()?;
    let rows = line_table::rows(&cubin).unwrap_or_default();
    let mut listing = String::new();
    for (number, section) in cubin.sections.iter().enumerate() {
        if !section.name.starts_with(".text.") {
            continue;
        }
        if cubin.relocations.iter().any(|it| it.section == number) {
            return None;
        }
        let text = disassembled(section.bytes)?;
        let mut functions = Functions::new();
        for symbol in cubin.symbols.iter().filter(|it| it.section == number) {
            if !symbol.name.is_empty() && !symbol.name.starts_with('.') {
                functions.entry(symbol.at as u32).or_default().push(symbol.name);
            }
        }
        write_section(&mut listing, (section.name, &text), &functions, rows.get(&number))?;
    }
    Some(listing)
}

fn write_section(
    listing: &mut String,
    (name, text): (&str, &str),
    functions: &Functions<'_>,
    rows: Option<&BTreeMap<u64, u32>>,
) -> Option<()> {
    let lines: Vec<&str> =
        text.lines().map(str::trim).filter(|line| line.starts_with("/*")).collect();
    let targets: BTreeSet<u32> = lines.iter().filter_map(|line| target(line)?.1).collect();
    writeln!(listing, ".section\t{name}").ok()?;
    for (at, line) in (0..).step_by(STRIDE as usize).zip(&lines) {
        for function in functions.get(&at).into_iter().flatten() {
            writeln!(listing, "{function}:").ok()?;
        }
        if targets.contains(&at) {
            writeln!(listing, ".{at:#x}:").ok()?;
        }
        if let Some(row) = rows.and_then(|rows| rows.get(&u64::from(at))) {
            writeln!(listing, "//## File \"\", line {row}").ok()?;
        }
        match target(line) {
            Some((before, Some(target))) => writeln!(listing, "{before}`(.{target:#x}) ;").ok()?,
            _ => writeln!(listing, "{line}").ok()?,
        }
    }
    Some(())
}

/// Splits a jump with an address into the text before the address, and the address.
fn target(line: &str) -> Option<(&str, Option<u32>)> {
    let (_, text) = line.split_once("*/")?;
    let mut words = text.split_whitespace();
    let first = words.next()?;
    let mnemonic = if first.starts_with('@') { words.next()? } else { first };
    let is_jump = JUMPS.contains(&mnemonic.split('.').next()?);
    let body = line.trim_end_matches([';', ' ']);
    let at = body.rfind([' ', ','])? + 1;
    let number = body[at..].strip_prefix("0x").filter(|_| is_jump);
    Some((&body[..at], number.and_then(|digits| u32::from_str_radix(digits, 16).ok())))
}
