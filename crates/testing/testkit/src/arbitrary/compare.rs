//! Compares the memories after launches.

use super::{Actual, RandomProgram};
use gbxcule_ir::constant::Literal;
use gbxcule_ir::layout::leaves;

pub(super) fn difference(
    program: &RandomProgram,
    left: &[Vec<u8>],
    right: &[Vec<u8>],
    ulps: u64,
) -> Option<String> {
    for (param, actual) in program.args.iter().enumerate() {
        let Actual::Array { buffer, of, .. } = actual else { continue };
        let name = &program.module.functions[program.kernel].params[param].name;
        let size = program.buffers[*buffer].len();
        let (left, right) = match (left.get(*buffer), right.get(*buffer)) {
            (Some(left), Some(right)) if left.len() == size && right.len() == size => (left, right),
            _ => return Some(format!("`{name}` has not its {size} bytes on both sides")),
        };
        let types = &program.module.types;
        let element = types.layout(*of).map_or(1, |layout| layout.size.max(1));
        let leaves = leaves(types, *of);
        for at in (0..size).step_by(element as usize) {
            for leaf in &leaves {
                let (l, r) = (leaf.read(&left[at..]), leaf.read(&right[at..]));
                if distance(l, r) > ulps {
                    let byte = at + leaf.offset;
                    return Some(format!("`{name}` at byte {byte}: {l} and {r}"));
                }
            }
        }
    }
    None
}

/// Returns the number of representable numbers from one number to another of the same type, and
/// `u64::MAX` for integers that differ. NaNs are equal.
pub fn distance(left: Literal, right: Literal) -> u64 {
    let (l, r) = (left.as_f64(), right.as_f64());
    if left == right || (l.is_nan() && r.is_nan()) {
        return 0;
    }
    if !left.scalar().is_float() || l.is_nan() || r.is_nan() {
        return u64::MAX;
    }
    // Ranks have the order of the numbers, with both zeros next to each other.
    let sign = 1i128 << (left.scalar().bits() - 1);
    let rank = |literal: Literal| {
        let bits = i128::from(literal.bits());
        if bits & sign != 0 { sign - bits - 1 } else { bits }
    };
    rank(left).abs_diff(rank(right)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use gbxcule_ir::ty::Scalar;

    #[test]
    fn distance_counts_numbers_between() {
        let f32 = |value: f64| Literal::float(Scalar::F32, value);
        assert_eq!(distance(f32(1.0), f32(1.0)), 0);
        assert_eq!(distance(f32(1.0), f32(1.0 + 2f64.powi(-23))), 1);
        assert_eq!(distance(f32(0.0), f32(-0.0)), 1);
        assert_eq!(distance(f32(f64::NAN), f32(-f64::NAN)), 0);
        assert_eq!(distance(f32(f64::NAN), f32(1.0)), u64::MAX);
        assert_eq!(distance(Literal::int(Scalar::I8, 1), Literal::int(Scalar::I8, 2)), u64::MAX);
    }
}
