//! Numbers of native snippets, converted as C++ converts them.

use super::{Lowered, Lowering};
use gbxcule_ir::op::{BinaryOp, Value};
use gbxcule_ir::ty::{Scalar, Type};

impl Lowering<'_> {
    /// The scalar type of a number.
    pub(super) fn scalar_of(&mut self, value: Value) -> Lowered<Scalar> {
        let ty = self.b.ty(value);
        match ty.as_scalar() {
            Some(Scalar::F16 | Scalar::Bf16) | None => {
                Err(format!("arithmetic on a `{}`", self.b.shown(ty)))
            }
            Some(scalar) => Ok(scalar),
        }
    }

    pub(super) fn number_as(&mut self, value: Value, to: Scalar) -> Value {
        if self.b.ty(value) == Type::scalar(to) { value } else { self.b.convert(value, to) }
    }

    /// Converts a value to a type, as C++ does implicitly.
    pub(super) fn value_as(&mut self, value: Value, to: Type) -> Lowered<Value> {
        if self.b.ty(value) == to {
            return Ok(value);
        }
        let wanted = to.as_scalar().filter(|to| !matches!(to, Scalar::F16 | Scalar::Bf16));
        match (wanted, self.scalar_of(value)) {
            (Some(to), Ok(_)) => Ok(self.number_as(value, to)),
            _ => {
                let (found, wanted) = (self.b.shown(self.b.ty(value)), self.b.shown(to));
                Err(format!("a `{found}` where a `{wanted}` is expected"))
            }
        }
    }

    /// Converts two numbers to one type, by C++'s usual arithmetic conversions.
    pub(super) fn common_type(&mut self, left: Value, right: Value) -> Lowered<(Value, Value)> {
        let both = [self.scalar_of(left)?, self.scalar_of(right)?].map(promotion);
        let to = match both {
            [one, other] if one == other => one,
            both if both.contains(&Scalar::F64) => Scalar::F64,
            both if both.contains(&Scalar::F32) => Scalar::F32,
            [one, other] if one.bits() > other.bits() => one,
            [one, other] if one.bits() < other.bits() => other,
            [one, other] => {
                if one.is_unsigned_int() {
                    one
                } else {
                    other
                }
            }
        };
        Ok((self.number_as(left, to), self.number_as(right, to)))
    }

    pub(super) fn binary(&mut self, op: BinaryOp, left: Value, right: Value) -> Lowered<Value> {
        if let BinaryOp::ShiftLeft | BinaryOp::ShiftRight = op {
            let to = promotion(self.scalar_of(left)?);
            if !to.is_int() || !promotion(self.scalar_of(right)?).is_int() {
                return Err("a shift of a float".to_owned());
            }
            let (left, right) = (self.number_as(left, to), self.number_as(right, to));
            return Ok(self.b.binary(op, left, right));
        }
        let (left, right) = self.common_type(left, right)?;
        if !BinaryOp::of(self.scalar_of(left)?).contains(&op)
            || op == BinaryOp::Remainder && self.scalar_of(left)?.is_float()
        {
            return Err(format!("`{}` of a float", op.name()));
        }
        Ok(self.b.binary(op, left, right))
    }
}

/// C++'s promotion: small integers are `int`.
pub(super) fn promotion(scalar: Scalar) -> Scalar {
    match scalar {
        Scalar::Bool | Scalar::I8 | Scalar::I16 | Scalar::U8 | Scalar::U16 => Scalar::I32,
        other => other,
    }
}
