//! Short names for arithmetic, for code that builds formulas.

use super::Builder;
use crate::constant::Literal;
use crate::op::{BinaryOp, CompareOp, UnaryOp, Value};
use crate::ty::Shape;
use crate::ty::Type;

#[allow(missing_docs, reason = "the names say it")]
impl Builder<'_> {
    pub fn add(&mut self, left: Value, right: Value) -> Value {
        self.binary(BinaryOp::Add, left, right)
    }

    pub fn sub(&mut self, left: Value, right: Value) -> Value {
        self.binary(BinaryOp::Subtract, left, right)
    }

    pub fn mul(&mut self, left: Value, right: Value) -> Value {
        self.binary(BinaryOp::Multiply, left, right)
    }

    pub fn div(&mut self, left: Value, right: Value) -> Value {
        self.binary(BinaryOp::Divide, left, right)
    }

    pub fn neg(&mut self, value: Value) -> Value {
        self.unary(UnaryOp::Negate, value)
    }

    pub fn not(&mut self, value: Value) -> Value {
        self.unary(UnaryOp::Not, value)
    }

    pub fn and(&mut self, left: Value, right: Value) -> Value {
        self.binary(BinaryOp::And, left, right)
    }

    pub fn or(&mut self, left: Value, right: Value) -> Value {
        self.binary(BinaryOp::Or, left, right)
    }

    pub fn eq(&mut self, left: Value, right: Value) -> Value {
        self.compare(CompareOp::Equal, left, right)
    }

    pub fn lt(&mut self, left: Value, right: Value) -> Value {
        self.compare(CompareOp::Less, left, right)
    }

    /// Multiplies every component of a composite by a scalar.
    pub fn scale(&mut self, composite: Value, scalar: Value) -> Value {
        let ty = self.body.type_of(composite);
        let factor = if ty.as_scalar().is_some() { scalar } else { self.splat(ty, scalar) };
        self.mul(composite, factor)
    }

    /// The components of a scalar, vector, matrix, quaternion or transform; empty for other types.
    pub fn parts(&mut self, value: Value) -> Vec<Value> {
        let ty = self.body.type_of(value);
        match self.module.types.components(ty) {
            Some(_) if ty.as_scalar().is_some() => vec![value],
            Some((_, count)) => (0..count).map(|index| self.extract(value, index)).collect(),
            None => Vec::new(),
        }
    }

    /// Builds a scalar or composite from its components.
    pub fn assemble(&mut self, ty: Type, parts: &[Value]) -> Value {
        match (ty.as_scalar(), parts) {
            (Some(_), &[part]) => part,
            _ => self.construct(ty, parts),
        }
    }

    /// Zero of any type, tuples included.
    pub fn zero_of(&mut self, ty: Type) -> Value {
        match self.shape(ty).clone() {
            Shape::Tuple(parts) => {
                let parts: Vec<Value> = parts.iter().map(|&part| self.zero(part)).collect();
                self.construct(ty, &parts)
            }
            Shape::Scalar(scalar) => self.literal(Literal::from_bits(scalar, 0)),
            _ => self.zero(ty),
        }
    }
}
