//! Constant tables as initializers.

use super::literal::literal;
use gbxcule_ir::constant::{Literal, Table};
use gbxcule_ir::layout;
use gbxcule_ir::module::Module;
use gbxcule_ir::ty::{Scalar, Shape, Type};

/// Width of the widest line.
const WIDTH: usize = 100;

/// Writes `{..}` with a table's values, broken into lines.
pub(super) fn initializer(module: &Module, table: &Table) -> String {
    let mut words = Vec::new();
    value(module, table.ty, &table.bytes, &mut words);
    let mut text = String::new();
    let mut column = WIDTH;
    for word in words {
        if column + word.len() >= WIDTH {
            text.push_str("\n    ");
            column = 4;
        } else if !text.ends_with('{') && word != "}" {
            text.push(' ');
            column += 1;
        }
        column += word.len();
        text.push_str(&word);
    }
    text
}

/// Adds the words of one value. The recursion is as deep as a front end lets users nest types.
fn value(module: &Module, ty: Type, bytes: &[u8], words: &mut Vec<String>) {
    if bytes.iter().all(|&byte| byte == 0) {
        words.push(if ty.as_scalar().is_some_and(|of| !is_small(of)) {
            "0".into()
        } else {
            "{}".into()
        });
    } else if let Some(of) = ty.as_scalar() {
        words.push(scalar(of, bytes));
    } else {
        words.push("{".into());
        for (inner, offset) in parts(module, ty) {
            let size = module.types.layout(inner).map_or(0, |layout| layout.size);
            value(module, inner, &bytes[offset as usize..][..size as usize], words);
            if let Some(last) = words.last_mut() {
                last.push(',');
            }
        }
        words.push("}".into());
    }
}

fn is_small(of: Scalar) -> bool {
    matches!(of, Scalar::F16 | Scalar::Bf16)
}

fn scalar(of: Scalar, bytes: &[u8]) -> String {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    let bits = u64::from_le_bytes(word);
    if is_small(of) { format!("{{{bits:#x}}}") } else { literal(Literal::from_bits(of, bits)).text }
}

/// Returns the parts of a composite and their offsets.
fn parts(module: &Module, ty: Type) -> Vec<(Type, u64)> {
    let types = &module.types;
    match &types[ty] {
        Shape::Struct(id) => {
            let structure = types.structure(*id);
            let offsets = layout::field_offsets(types, structure).unwrap_or_default();
            structure.fields.iter().map(|field| field.ty).zip(offsets).collect()
        }
        Shape::Fixed { of, len } => {
            let size = types.layout(*of).map_or(0, |layout| layout.size);
            (0..u64::from(*len)).map(|index| (*of, index * size)).collect()
        }
        _ => {
            // Brace elision covers the inner levels of a matrix or transform.
            let (of, count) = types.components(ty).unwrap_or((Scalar::Bool, 0));
            (0..u64::from(count))
                .map(|index| (Type::scalar(of), index * u64::from(of.bytes())))
                .collect()
        }
    }
}
