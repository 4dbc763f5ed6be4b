//! Disassembles bytes to text that the assembler turns back into the same bytes, for mismatch
//! bundles and tests.

use crate::opcode::{self, Form, Slot};

/// Disassembles the first instruction of `bytes`, which lies at address `pc`; returns its text and
/// its length in bytes.
///
/// An incomplete or unknown instruction is shown as `db` of one byte; an empty slice gives an empty
/// text. Relative jumps are shown with their target.
///
/// ```
/// assert_eq!(gbxcule_assembler::disassemble(&[0x18, 0xFE], 0x150), ("jr $0150".to_string(), 2));
/// ```
pub fn disassemble(bytes: &[u8], pc: u16) -> (String, usize) {
    let Some(&first) = bytes.first() else { return (String::new(), 0) };
    let form = match (first, bytes.get(1)) {
        (0xCB, Some(&second)) => opcode::form(true, second),
        _ => opcode::form(false, first),
    };
    match form {
        Some(form) if form.bytes() <= bytes.len() => {
            (spell(form, &bytes[..form.bytes()], pc), form.bytes())
        }
        _ => (format!("db ${first:02X}"), 1),
    }
}

fn spell(form: &Form, bytes: &[u8], pc: u16) -> String {
    let last = bytes[bytes.len() - 1];
    let word = || u16::from_le_bytes([bytes[1], bytes[2]]);
    let next = pc.wrapping_add(bytes.len() as u16);
    let operands = form.slots.iter().map(|slot| match slot {
        Slot::Fixed(text) => text.clone(),
        Slot::Byte => format!("${last:02X}"),
        Slot::Word => format!("${:04X}", word()),
        Slot::AtWord => format!("[${:04X}]", word()),
        Slot::AtHigh => format!("[$FF{last:02X}]"),
        Slot::Relative => format!("${:04X}", next.wrapping_add_signed(i16::from(last as i8))),
        Slot::Signed => format!("{}", last as i8),
        Slot::SpPlusSigned => format!("sp{:+}", last as i8),
    });
    let operands: Vec<String> = operands.collect();
    match operands.is_empty() {
        true => form.mnemonic.clone(),
        false => format!("{} {}", form.mnemonic, operands.join(", ")),
    }
}
