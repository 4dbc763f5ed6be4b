//! Intervals of the values of integers. Where arithmetic can't overflow, or an index can't be
//! outside, the text uses plain operators without a check.

use gbxcule_ir::constant::Literal;
use gbxcule_ir::op::BinaryOp;
use gbxcule_ir::ty::Scalar;

/// All integers from `low` to `high`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Interval {
    pub(super) low: i128,
    pub(super) high: i128,
}

impl Interval {
    pub(super) const fn new(low: i128, high: i128) -> Self {
        Self { low, high }
    }

    /// Returns all values of an integer type or `bool`.
    pub(super) fn of(scalar: Scalar) -> Option<Self> {
        let bits = scalar.bits();
        match scalar {
            scalar if scalar.is_float() => None,
            scalar if scalar.is_signed_int() => {
                Some(Self::new(-(1 << (bits - 1)), (1 << (bits - 1)) - 1))
            }
            _ => Some(Self::new(0, (1 << bits) - 1)),
        }
    }

    pub(super) fn literal(literal: Literal) -> Option<Self> {
        literal.as_int().map(|value| Self::new(value, value))
    }

    pub(super) fn is_in(self, other: Self) -> bool {
        other.low <= self.low && self.high <= other.high
    }

    /// Returns the value of an interval that has a single one.
    pub(super) fn single(self) -> Option<i128> {
        (self.low == self.high).then_some(self.low)
    }

    pub(super) fn union(self, other: Self) -> Self {
        Self::new(self.low.min(other.low), self.high.max(other.high))
    }

    /// Returns the interval of an operation's exact result, before it is wrapped.
    pub(super) fn exact(op: BinaryOp, a: Self, b: Self) -> Option<Self> {
        Some(match op {
            BinaryOp::Add => Self::new(a.low + b.low, a.high + b.high),
            BinaryOp::Subtract => Self::new(a.low - b.high, a.high - b.low),
            BinaryOp::Multiply => {
                // The product of 64-bit factors may take 128 bits.
                let products = [(a.low, b.low), (a.low, b.high), (a.high, b.low), (a.high, b.high)];
                let mut all = Vec::with_capacity(4);
                for (x, y) in products {
                    all.push(x.checked_mul(y)?);
                }
                Self::new(*all.iter().min()?, *all.iter().max()?)
            }
            BinaryOp::Divide | BinaryOp::FloorDivide if a.low >= 0 && b.low > 0 => {
                Self::new(a.low / b.high, a.high / b.low)
            }
            BinaryOp::Remainder if b.low > 0 => {
                let most = b.high - 1;
                Self::new(
                    if a.low < 0 { (-most).max(a.low) } else { 0 },
                    if a.high > 0 { most.min(a.high) } else { 0 },
                )
            }
            BinaryOp::And if a.low >= 0 || b.low >= 0 => {
                let most =
                    [a, b].into_iter().filter(|side| side.low >= 0).map(|side| side.high).min()?;
                Self::new(0, most)
            }
            BinaryOp::Or | BinaryOp::Xor if a.low >= 0 && b.low >= 0 => {
                let bits = 128 - (a.high | b.high).leading_zeros();
                Self::new(0, (1 << bits) - 1)
            }
            BinaryOp::ShiftRight if a.low >= 0 && b.low >= 0 => {
                Self::new(a.high.min(0), a.high >> b.low.min(127))
            }
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_hold_all_results() {
        let sides: Vec<Interval> =
            (-4..5).flat_map(|low| (low..5).map(move |high| Interval::new(low, high))).collect();
        let ops = [
            (BinaryOp::Add, (|a, b| Some(a + b)) as fn(i128, i128) -> Option<i128>),
            (BinaryOp::Subtract, |a, b| Some(a - b)),
            (BinaryOp::Multiply, |a, b| Some(a * b)),
            (BinaryOp::Divide, |a, b| a.checked_div(b)),
            (BinaryOp::Remainder, |a, b| a.checked_rem(b)),
            (BinaryOp::And, |a, b| Some(a & b)),
            (BinaryOp::Or, |a, b| Some(a | b)),
            (BinaryOp::Xor, |a, b| Some(a ^ b)),
            (BinaryOp::ShiftRight, |a, b| (b >= 0).then(|| a >> b)),
        ];
        for (op, of) in ops {
            for (&a, &b) in sides.iter().flat_map(|a| sides.iter().map(move |b| (a, b))) {
                let Some(result) = Interval::exact(op, a, b) else { continue };
                for (x, y) in (a.low..=a.high).flat_map(|x| (b.low..=b.high).map(move |y| (x, y))) {
                    let value = of(x, y);
                    let inside = value.is_none_or(|v| Interval::new(v, v).is_in(result));
                    assert!(inside, "{op:?} {a:?} {b:?}: {value:?} is not in {result:?}");
                }
            }
        }
    }
}
