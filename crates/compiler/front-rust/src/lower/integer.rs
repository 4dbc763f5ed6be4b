//! Arithmetic and the methods of integers.

use crate::tree::Method;
use gbxcule_ir::build::Builder;
use gbxcule_ir::builtin::Native;
use gbxcule_ir::constant::Literal;
use gbxcule_ir::op::{BinaryOp, CompareOp, Value};
use gbxcule_ir::ty::Scalar;

/// Operations of Rust's integers, written as operations of the IR.
pub(super) struct Integers<'b, 'm> {
    b: &'b mut Builder<'m>,
}

impl<'b, 'm> Integers<'b, 'm> {
    pub(super) fn new(b: &'b mut Builder<'m>) -> Self {
        Self { b }
    }

    /// Converts a value to another scalar; a literal is converted at once.
    pub(super) fn converted(&mut self, value: Value, to: Scalar) -> Value {
        match self.b.body().integer(value) {
            Some(number) => self.int(to, number),
            None => self.b.convert(value, to),
        }
    }

    fn scalar_of(&self, value: Value) -> Scalar {
        self.b.body().type_of(value).as_scalar().unwrap_or(Scalar::I32)
    }

    fn int(&mut self, scalar: Scalar, number: i128) -> Value {
        self.b.literal(Literal::int(scalar, number))
    }

    pub(super) fn binary(&mut self, op: BinaryOp, left: Value, right: Value) -> Value {
        match op {
            BinaryOp::ShiftLeft | BinaryOp::ShiftRight => {
                let amount = self.amount(right, self.scalar_of(left));
                self.b.binary(op, left, amount)
            }
            _ => self.b.binary(op, left, right),
        }
    }

    /// Converts the amount of a shift to the scalar's type, and masks it below the width.
    fn amount(&mut self, amount: Value, of: Scalar) -> Value {
        let most = of.bits() - 1;
        if let Some(number) = self.b.body().integer(amount) {
            return self.int(of, number & i128::from(most));
        }
        let amount = self.b.convert(amount, of);
        let most = self.int(of, i128::from(most));
        self.b.and(amount, most)
    }

    pub(super) fn method(&mut self, method: Method, args: &[Value]) -> Value {
        match (method, args) {
            (Method::WrappingAdd, &[a, b]) => self.b.add(a, b),
            (Method::WrappingSub, &[a, b]) => self.b.sub(a, b),
            (Method::WrappingMul, &[a, b]) => self.b.mul(a, b),
            (Method::WrappingShl, &[a, b]) => self.binary(BinaryOp::ShiftLeft, a, b),
            (Method::WrappingShr, &[a, b]) => self.binary(BinaryOp::ShiftRight, a, b),
            (Method::RotateLeft, &[a, b]) => self.rotated(a, b, false),
            (Method::RotateRight, &[a, b]) => self.rotated(a, b, true),
            (Method::Min, &[a, b]) => self.b.native(Native::Min, &[a, b]),
            (Method::Max, &[a, b]) => self.b.native(Native::Max, &[a, b]),
            (Method::SaturatingAdd, &[a, b]) => self.saturated(BinaryOp::Add, a, b),
            (Method::SaturatingSub, &[a, b]) => self.saturated(BinaryOp::Subtract, a, b),
            (Method::WrappingNeg, &[a, ..]) => self.b.neg(a),
            (Method::Abs, &[a, ..]) => self.b.native(Native::Abs, &[a]),
            (Method::ReverseBits, &[a, ..]) => self.reverse_groups(a, 1),
            (Method::SwapBytes, &[a, ..]) => self.reverse_groups(a, 8),
            (Method::CountOnes, &[a, ..]) => self.bit_count(Native::BitCount, a),
            (Method::LeadingZeros, &[a, ..]) => self.bit_count(Native::LeadingZeros, a),
            (Method::TrailingZeros, &[a, ..]) => self.bit_count(Native::TrailingZeros, a),
            _ => unreachable!("inference counts the arguments of methods"),
        }
    }

    fn bit_count(&mut self, native: Native, value: Value) -> Value {
        let count = self.b.native(native, &[value]);
        self.b.convert(count, Scalar::U32)
    }

    /// Reinterprets a value as unsigned, so that shifts to the right fill with zeros.
    fn unsigned(&mut self, value: Value) -> Value {
        let to = match self.scalar_of(value) {
            Scalar::I8 => Scalar::U8,
            Scalar::I16 => Scalar::U16,
            Scalar::I32 => Scalar::U32,
            Scalar::I64 => Scalar::U64,
            other => other,
        };
        self.b.convert(value, to)
    }

    fn rotated(&mut self, value: Value, amount: Value, right: bool) -> Value {
        let original = self.scalar_of(value);
        let value = self.unsigned(value);
        let of = self.scalar_of(value);
        let distance = self.amount(amount, of);
        let zero = self.int(of, 0);
        let opposite = self.b.sub(zero, distance);
        let opposite = self.amount(opposite, of);
        let (left, right) = if right { (opposite, distance) } else { (distance, opposite) };
        let high = self.b.binary(BinaryOp::ShiftLeft, value, left);
        let low = self.b.binary(BinaryOp::ShiftRight, value, right);
        let both = self.b.or(high, low);
        self.b.convert(both, original)
    }

    /// Reverses the order of groups of bits: swaps neighbours, then pairs of them, and so on.
    fn reverse_groups(&mut self, value: Value, group_bits: u32) -> Value {
        let original = self.scalar_of(value);
        let mut value = self.unsigned(value);
        let of = self.scalar_of(value);
        let mut width = group_bits;
        while width < of.bits() {
            // Ones in every second group of `width` bits, from the lowest on.
            let lower = u64::MAX / ((1 << width) + 1);
            let mask = self.b.literal(Literal::from_bits(of, lower));
            let by = self.int(of, i128::from(width));
            let low = self.b.and(value, mask);
            let low = self.b.binary(BinaryOp::ShiftLeft, low, by);
            let high = self.b.binary(BinaryOp::ShiftRight, value, by);
            let high = self.b.and(high, mask);
            value = self.b.or(low, high);
            width *= 2;
        }
        self.b.convert(value, original)
    }

    /// Computes an operation and clamps its result to the type's range.
    fn saturated(&mut self, op: BinaryOp, left: Value, right: Value) -> Value {
        let of = self.scalar_of(left);
        let result = self.b.binary(op, left, right);
        let zero = self.int(of, 0);
        if !of.is_signed_int() {
            let (overflows, limit) = match op {
                BinaryOp::Add => (self.b.lt(result, left), self.int(of, -1)),
                _ => (self.b.lt(left, right), zero),
            };
            return self.b.select(overflows, limit, result);
        }
        // A sum has wrapped if the signs of both operands differ from the sign of the result. For a
        // difference, the right operand is negated first.
        let changed = self.b.binary(BinaryOp::Xor, left, result);
        let against = match op {
            BinaryOp::Add => self.b.binary(BinaryOp::Xor, right, result),
            _ => self.b.binary(BinaryOp::Xor, left, right),
        };
        let both = self.b.and(changed, against);
        let overflows = self.b.compare(CompareOp::Less, both, zero);
        let (least, most) = (1 << (of.bits() - 1), (1 << (of.bits() - 1)) - 1);
        let (least, most) = (self.int(of, least), self.int(of, most));
        let below = self.b.lt(left, zero);
        let limit = self.b.select(below, least, most);
        self.b.select(overflows, limit, result)
    }

    /// Computes whether a value lies in one of the ranges, ends included.
    pub(super) fn is_in(&mut self, value: Value, ranges: &[(i128, i128)]) -> Value {
        let Some(scalar) = self.b.body().type_of(value).as_scalar() else {
            return self.b.bool(false);
        };
        let mut any = None;
        for &(first, last) in ranges {
            let low = self.int(scalar, first);
            let inside = if first == last {
                self.b.eq(value, low)
            } else {
                let high = self.int(scalar, last);
                let above = self.b.compare(CompareOp::GreaterEqual, value, low);
                let below = self.b.compare(CompareOp::LessEqual, value, high);
                self.b.and(above, below)
            };
            any = Some(match any {
                Some(any) => self.b.or(any, inside),
                None => inside,
            });
        }
        any.unwrap_or_else(|| self.b.bool(false))
    }
}
