//! The second pass: every name is known, and every item becomes bytes.

use crate::error::{Complaint, Complaints};
use crate::expression::{Expression, Names};
use crate::layout::{Content, Cursor, Definitions, Item, Scope};
use crate::opcode::{Form, Slot};
use crate::statement::{Datum, Operand, OperandKind};

/// Returns the bytes of an item. An item with complaints has no bytes.
pub(crate) fn bytes(
    item: &Item,
    definitions: &Definitions,
    errors: &mut Complaints,
) -> Option<Vec<u8>> {
    let here = i64::from(item.place.address);
    let names = Scope { definitions, scope: &item.scope, here, is_first_pass: false };
    let outcome = match &item.content {
        Content::Instruction { form, column, operands } => {
            instruction(form, *column, operands, item.place, &names)
        }
        Content::Bytes(data) => self::data(data, 1, &names),
        Content::Words(data) => self::data(data, 2, &names),
        Content::Fill { count, byte, column } => byte
            .within(-128..=255, "a byte", *column, &names)
            .map(|byte| vec![byte as u8; *count as usize]),
    };
    errors.keep(item.line, outcome)
}

fn instruction(
    form: &Form,
    column: u32,
    operands: &[Operand],
    place: Cursor,
    names: &impl Names,
) -> Result<Vec<u8>, Complaint> {
    let mut bytes = if form.prefixed { vec![0xCB] } else { Vec::new() };
    bytes.push(form.opcode);
    for (slot, operand) in form.slots.iter().zip(operands) {
        let (OperandKind::Value(value) | OperandKind::At(value) | OperandKind::SpPlus(value)) =
            &operand.kind
        else {
            continue;
        };
        let number = |range, what| value.within(range, what, operand.column, names);
        match slot {
            Slot::Fixed(_) => unreachable!("`select` gives `Fixed` slots no values"),
            Slot::Byte => bytes.push(number(-128..=255, "a byte")? as u8),
            Slot::Signed | Slot::SpPlusSigned => {
                bytes.push(number(-128..=127, "a signed byte")? as u8);
            }
            Slot::Word | Slot::AtWord => {
                bytes.extend((number(-0x8000..=0xFFFF, "a word")? as u16).to_le_bytes());
            }
            Slot::AtHigh => bytes.push(high(value, operand.column, names)?),
            Slot::Relative => {
                check_bank(&form.mnemonic, value, operand.column, place, names)?;
                let target = number(0..=0xFFFF, "an address")? as u16;
                let next = (place.address + form.bytes() as u32) as u16;
                let distance = target.wrapping_sub(next) as i16;
                let reach = || {
                    let message = format!(
                        "`{}` reaches -128 to 127 bytes, the target is {distance} away; `jp` reaches all",
                        form.mnemonic
                    );
                    Complaint::new(column, message)
                };
                bytes.push(i8::try_from(distance).map_err(|_| reach())? as u8);
            }
        }
    }
    Ok(bytes)
}

/// Refuses a relative jump between two banks at $4000: only one of them is mapped at a time.
fn check_bank(
    mnemonic: &str,
    target: &Expression,
    column: u32,
    place: Cursor,
    names: &impl Names,
) -> Result<(), Complaint> {
    let (Some(from), Some(label)) = (place.bank, first_name(target)) else { return Ok(()) };
    match names.bank(label, column) {
        Ok(to) if from != 0 && to != 0 && i64::from(from) != to => {
            let message = format!(
                "`{mnemonic}` from bank {from} to `{label}` in bank {to}, which is not in place \
                 then; code in bank 0 can switch banks and jump"
            );
            Err(Complaint::new(column, message))
        }
        _ => Ok(()),
    }
}

/// Returns the label in `Label`, `Label + 2` or `Label - 2`.
fn first_name(value: &Expression) -> Option<&str> {
    match value {
        Expression::Name { name, .. } => Some(name),
        Expression::Binary { operator: "+" | "-", left, .. } => first_name(left),
        _ => None,
    }
}

fn high(value: &Expression, column: u32, names: &impl Names) -> Result<u8, Complaint> {
    let address = value.evaluate(names)?;
    match address {
        0..=0xFF | 0xFF00..=0xFFFF => Ok(address as u8),
        _ => {
            let found = if address < 0 { address.to_string() } else { format!("${address:04X}") };
            let message = format!("`ldh` reaches $FF00 to $FFFF, found {found}");
            Err(Complaint::new(column, message))
        }
    }
}

fn data(data: &[Datum], unit: usize, names: &impl Names) -> Result<Vec<u8>, Complaint> {
    let mut bytes = Vec::new();
    for datum in data {
        match datum {
            Datum::Text { text, column } => {
                if !text.is_ascii() {
                    return Err(Complaint::new(*column, "text in data is ASCII only"));
                }
                for c in text.bytes() {
                    bytes.push(c);
                    bytes.resize(bytes.len() + unit - 1, 0);
                }
            }
            Datum::Value { value, column } if unit == 1 => {
                bytes.push(value.within(-128..=255, "a byte", *column, names)? as u8);
            }
            Datum::Value { value, column } => {
                let word = value.within(-0x8000..=0xFFFF, "a word", *column, names)?;
                bytes.extend((word as u16).to_le_bytes());
            }
        }
    }
    Ok(bytes)
}
