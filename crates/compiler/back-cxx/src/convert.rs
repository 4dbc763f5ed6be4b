//! Conversions between scalars.

use super::expr::{Expr, Level};
use super::literal::literal;
use super::op::Expressions;
use super::ty::scalar as spell;
use gbxcule_ir::constant::Literal;
use gbxcule_ir::op::{Op, Value};
use gbxcule_ir::ty::{Scalar, Type};

impl Expressions<'_, '_> {
    pub(super) fn convert(&mut self, operand: Value, to: Type) -> Expr {
        let from = self.body.type_of(operand);
        let (Some(from), Some(to)) = (from.as_scalar(), to.as_scalar()) else {
            let operand = self.values.take(operand);
            return Expr::call(&format!("gbx::convert<{}>", self.items.ty(to)), &[&operand]);
        };
        if from == to {
            return self.values.take(operand);
        }
        let expr = self.take_real(operand);
        match to {
            Scalar::Bool => {
                let of = if is_small(from) { Scalar::F32 } else { from };
                let zero = literal(Literal::from_bits(of, 0));
                Expr { compound: None, ..Expr::infix(Level::Equality, "!=", &expr, &zero) }
            }
            // The conversion goes through float.
            Scalar::F16 | Scalar::Bf16 => {
                let is_float = matches!(from, Scalar::F32 | Scalar::F16 | Scalar::Bf16);
                let expr = if is_float { expr } else { expr.cast("float") };
                let name = if to == Scalar::F16 { "gbx::to_half" } else { "gbx::to_bfloat16" };
                Expr::call(name, &[&expr])
            }
            _ if from.is_float() && !to.is_float() => {
                Expr::call(&format!("gbx::saturate<{}>", spell(to)), &[&expr])
            }
            // Extents are never below 0: a compiler that sees an unsigned 32-bit number compares in
            // 32 bits.
            Scalar::U64 if matches!(self.body.values[operand].op, Op::Extent { .. }) => {
                expr.cast("uint32_t").cast(spell(to))
            }
            // A small float's expression has the type float already.
            Scalar::F32 if is_small(from) => expr,
            _ => expr.cast(spell(to)),
        }
    }
}

pub(super) fn is_small(of: Scalar) -> bool {
    matches!(of, Scalar::F16 | Scalar::Bf16)
}
