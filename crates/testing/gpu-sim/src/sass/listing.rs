//! Reads the output of `nvdisasm -c` for a cubin.

use super::operand::{Argument, operand};
use rustc_hash::FxHashMap;

/// A printed instruction.
#[derive(Clone, Debug)]
pub struct Line<'t> {
    /// Address in the section.
    pub address: u32,
    /// Condition under which a lane executes the instruction.
    pub guard: Option<Argument<'t>>,
    /// Opcode with its modifiers.
    pub mnemonic: &'t str,
    /// Operands in order.
    pub operands: Vec<Argument<'t>>,
    /// The printed line.
    pub text: &'t str,
    /// Line of the source from `nvdisasm -g`, or 0.
    pub source_line: u32,
}

/// The code of one kernel.
#[derive(Debug, Default)]
pub struct Text<'t> {
    /// Name of the kernel.
    pub kernel: &'t str,
    /// Instructions, one every 16 bytes.
    pub lines: Vec<Line<'t>>,
    /// Addresses of labels and functions.
    pub labels: FxHashMap<&'t str, u32>,
}

/// Bytes of an instruction.
pub const STRIDE: u32 = 16;

/// Splits a listing by kernels, or reports the line that can't be read.
pub fn read(listing: &str) -> Result<Vec<Text<'_>>, String> {
    let mut texts: Vec<Text<'_>> = Vec::new();
    let (mut is_code, mut source_line) = (false, 0);
    for line in listing.lines() {
        let line = line.trim();
        if let Some(section) = line.strip_prefix(".section\t") {
            let name = section.trim().split(',').next().unwrap_or_default();
            let kernel = name.strip_prefix(".text.");
            is_code = kernel.is_some();
            texts.extend(kernel.map(|kernel| Text { kernel, ..Text::default() }));
        }
        let (true, Some(text)) = (is_code, texts.last_mut()) else { continue };
        if let Some(note) = line.strip_prefix("//## File ") {
            source_line = line_of(note);
        } else if let Some(label) = line.strip_suffix(':') {
            text.labels.insert(label, text.lines.len() as u32 * STRIDE);
        } else if line.starts_with("/*") {
            let read = instruction(line).ok_or_else(|| format!("`{line}` can't be read"))?;
            let read = Line { source_line, ..read };
            if read.address != text.lines.len() as u32 * STRIDE {
                return Err(format!("`{line}` does not follow the instruction before it"));
            }
            text.lines.push(read);
        }
    }
    Ok(texts)
}

/// Returns the line of a note such as `"/tmp/text.cu", line 3 inlined at "/tmp/text.cu", line 9`:
/// the first line number that belongs to a CUDA text, else the last one.
fn line_of(note: &str) -> u32 {
    let number = |part: &str| {
        let digits = part.split(|letter: char| !letter.is_ascii_digit()).next()?;
        digits.parse::<u32>().ok()
    };
    let parts: Vec<&str> = note.split("\", line ").collect();
    let mut pairs = parts.windows(2).map(|pair| (pair[0].ends_with(".cu"), number(pair[1])));
    let best = pairs.clone().find(|(is_own, _)| *is_own).or(pairs.next_back());
    best.and_then(|(_, line)| line).unwrap_or(0)
}

/// Reads a line such as `/*00c0*/ @P0 EXIT ;`.
fn instruction(line: &str) -> Option<Line<'_>> {
    let (address, text) = line.strip_prefix("/*")?.split_once("*/")?;
    let address = u32::from_str_radix(address, 16).ok()?;
    // In a jump by table a note with all targets follows the operands.
    let text = text.split(" (*").next()?.trim_end_matches([';', ' ', '\t']).trim_start();
    let (guard, rest) = match text.strip_prefix('@') {
        Some(rest) => {
            let (guard, rest) = rest.split_once(' ')?;
            (Some(operand(guard)?), rest.trim_start())
        }
        None => (None, text),
    };
    let (mnemonic, operands) = rest.split_once(' ').unwrap_or((rest, ""));
    let operands = split(operands).into_iter().map(operand).collect::<Option<_>>()?;
    Some(Line { address, guard, mnemonic, operands, text, source_line: 0 })
}

/// Splits operands at commas outside of brackets; `R4 -0x10` in a jump by table is two operands,
/// `c[0x0] [0x160].H1_H1` is one.
fn split(operands: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut from) = (Vec::new(), 0_i32, 0);
    for (at, letter) in operands.char_indices() {
        match letter {
            '[' | '(' | '{' => depth += 1,
            ']' | ')' | '}' => depth -= 1,
            ' ' if depth == 0 && operands[at + 1..].starts_with('[') => {}
            ',' | ' ' if depth == 0 => {
                parts.push(&operands[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&operands[from..]);
    parts.retain(|part| !part.is_empty());
    parts
}
