//! Finds the form of the opcode chart for an instruction of the source.

use crate::error::Complaint;
use crate::expression::{Expression, Names};
use crate::opcode::{Form, Slot, forms};
use crate::statement::{Operand, OperandKind};

/// Returns the form of `mnemonic` that takes these operands. Numbers that are part of the opcode,
/// as in `bit 3, a` and `rst $18`, must have known values.
pub(crate) fn select(
    mnemonic: &str,
    column: u32,
    operands: &[Operand],
    names: &impl Names,
) -> Result<(&'static Form, Vec<Operand>), Complaint> {
    let operands = complete(mnemonic, operands, names)?;
    let candidates = forms().iter().filter(|form| form.mnemonic == mnemonic);
    let form = candidates.clone().find(|form| {
        form.slots.len() == operands.len()
            && form.slots.iter().zip(&operands).all(|(slot, operand)| fits(slot, operand))
    });
    form.map(|form| (form, operands.clone())).ok_or_else(|| {
        let candidates: Vec<&Form> = candidates.collect();
        Complaint::new(column, refusal(mnemonic, &candidates, &operands))
    })
}

/// Adds operands that sources may omit, and converts numbers that belong to the opcode to text.
fn complete(
    mnemonic: &str,
    operands: &[Operand],
    names: &impl Names,
) -> Result<Vec<Operand>, Complaint> {
    let mut operands = operands.to_vec();
    let fixed = |text: &str| Operand { kind: OperandKind::Fixed(text.to_string()), column: 0 };
    match (mnemonic, operands.as_slice()) {
        ("add" | "adc" | "sub" | "sbc" | "and" | "xor" | "or" | "cp", [_]) => {
            operands.insert(0, fixed("a"));
        }
        // The CPU skips the byte after STOP.
        ("stop", []) => {
            operands.push(Operand { kind: OperandKind::Value(Expression::Number(0)), column: 0 });
        }
        ("bit" | "res" | "set", [Operand { kind: OperandKind::Value(number), .. }, _]) => {
            operands[0] = fixed(&number.evaluate(names)?.to_string());
        }
        ("rst", [Operand { kind: OperandKind::Value(target), .. }]) => {
            operands[0] = fixed(&format!("${:02X}", target.evaluate(names)?));
        }
        _ => {}
    }
    Ok(operands)
}

fn fits(slot: &Slot, operand: &Operand) -> bool {
    match (slot, &operand.kind) {
        (Slot::Fixed(text), OperandKind::Fixed(spelled)) => text == spelled,
        (Slot::Byte | Slot::Word | Slot::Relative | Slot::Signed, OperandKind::Value(_)) => true,
        (Slot::AtWord | Slot::AtHigh, OperandKind::At(_)) => true,
        (Slot::SpPlusSigned, OperandKind::SpPlus(_)) => true,
        _ => false,
    }
}

fn refusal(mnemonic: &str, candidates: &[&Form], operands: &[Operand]) -> String {
    let spelled: Vec<String> = operands.iter().map(spell).collect();
    let fits_first =
        |form: &&&Form| form.slots.first().zip(operands.first()).is_some_and(|(s, o)| fits(s, o));
    let mut allowed: Vec<&str> =
        candidates.iter().filter(fits_first).map(|form| form.text.as_str()).collect();
    if allowed.is_empty() {
        allowed = candidates.iter().map(|form| form.text.as_str()).collect();
    }
    let ellipsis = if allowed.len() > 16 { ", ..." } else { "" };
    allowed.truncate(16);
    let instruction = format!("{mnemonic} {}", spelled.join(", "));
    format!(
        "no instruction `{}`; allowed are {}{ellipsis}",
        instruction.trim_end(),
        allowed.join(", ")
    )
}

fn spell(operand: &Operand) -> String {
    match &operand.kind {
        OperandKind::Fixed(text) => text.clone(),
        OperandKind::Value(_) => "value".to_string(),
        OperandKind::At(_) => "[value]".to_string(),
        OperandKind::SpPlus(_) => "sp+value".to_string(),
    }
}
