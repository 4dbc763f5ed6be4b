//! Operations on scalars.

use super::lowered_module::Import;
use super::lowerer::Lowerer;
use super::shape::clif_type;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::immediates::{Ieee32, Ieee64};
use cranelift_codegen::ir::{InstBuilder, Value};
use gbxcule_ir::{BinaryOp, CompareOp, Literal, Scalar, UnaryOp};

impl Lowerer<'_, '_> {
    pub(super) fn literal(&mut self, literal: Literal) -> Value {
        match literal.scalar() {
            Scalar::F32 => self.b.ins().f32const(Ieee32::with_bits(literal.bits() as u32)),
            Scalar::F64 => self.b.ins().f64const(Ieee64::with_bits(literal.bits())),
            scalar => self.b.ins().iconst(clif_type(scalar), literal.bits() as i64),
        }
    }

    pub(super) fn unary(&mut self, op: UnaryOp, of: Scalar, x: Value) -> Value {
        match (op, of) {
            (UnaryOp::Not, Scalar::Bool) => self.b.ins().bxor_imm_u(x, 1),
            (UnaryOp::Not, _) => self.b.ins().bnot(x),
            (UnaryOp::Negate, Scalar::F16 | Scalar::Bf16) => self.b.ins().bxor_imm_u(x, 0x8000),
            (UnaryOp::Negate, Scalar::F32 | Scalar::F64) => self.b.ins().fneg(x),
            (UnaryOp::Negate, _) => self.b.ins().ineg(x),
        }
    }

    pub(super) fn binary(&mut self, op: BinaryOp, of: Scalar, x: Value, y: Value) -> Value {
        match of {
            Scalar::F16 | Scalar::Bf16 => {
                let (x, y) = (self.widen(of, x), self.widen(of, y));
                if op == BinaryOp::FloorDivide {
                    // The rounded quotient is rounded down.
                    let quotient = self.float(BinaryOp::Divide, Scalar::F32, x, y);
                    let rounded = self.narrow(of, quotient);
                    let rounded = self.widen(of, rounded);
                    let whole = self.b.ins().floor(rounded);
                    return self.narrow(of, whole);
                }
                let result = self.float(op, Scalar::F32, x, y);
                self.narrow(of, result)
            }
            Scalar::F32 | Scalar::F64 => self.float(op, of, x, y),
            _ => self.integer(op, of, x, y),
        }
    }

    fn float(&mut self, op: BinaryOp, of: Scalar, x: Value, y: Value) -> Value {
        match op {
            BinaryOp::Add => self.b.ins().fadd(x, y),
            BinaryOp::Subtract => self.b.ins().fsub(x, y),
            BinaryOp::Multiply => self.b.ins().fmul(x, y),
            BinaryOp::Divide => self.b.ins().fdiv(x, y),
            BinaryOp::FloorDivide => {
                let quotient = self.b.ins().fdiv(x, y);
                self.b.ins().floor(quotient)
            }
            BinaryOp::Remainder => self.imported(Import::Remainder(of), &[x, y]),
            _ => unreachable!("check rule 4: bits of floats"),
        }
    }

    fn integer(&mut self, op: BinaryOp, of: Scalar, x: Value, y: Value) -> Value {
        match op {
            BinaryOp::Add => self.b.ins().iadd(x, y),
            BinaryOp::Subtract => self.b.ins().isub(x, y),
            BinaryOp::Multiply => self.multiply(of, x, y),
            BinaryOp::And => self.b.ins().band(x, y),
            BinaryOp::Or => self.b.ins().bor(x, y),
            BinaryOp::Xor => self.b.ins().bxor(x, y),
            BinaryOp::ShiftLeft | BinaryOp::ShiftRight => self.shift(op, of, x, y),
            BinaryOp::Divide | BinaryOp::FloorDivide | BinaryOp::Remainder => {
                self.divide(op, of, x, y)
            }
        }
    }

    /// 8-bit products are made in 32 bits: not every machine has a narrow multiplication.
    fn multiply(&mut self, of: Scalar, x: Value, y: Value) -> Value {
        if of.bytes() > 2 {
            return self.b.ins().imul(x, y);
        }
        let wide = cranelift_codegen::ir::types::I32;
        let (x, y) = (self.b.ins().uextend(wide, x), self.b.ins().uextend(wide, y));
        let product = self.b.ins().imul(x, y);
        self.b.ins().ireduce(clif_type(of), product)
    }

    /// The machine takes the amount modulo the width; the IR doesn't.
    fn shift(&mut self, op: BinaryOp, of: Scalar, x: Value, amount: Value) -> Value {
        let ty = clif_type(of);
        let width = i64::from(of.bits());
        if op == BinaryOp::ShiftRight && of.is_signed_int() {
            let last = self.b.ins().iconst(ty, width - 1);
            let amount = self.b.ins().umin(amount, last);
            return self.b.ins().sshr(x, amount);
        }
        let shifted = match op {
            BinaryOp::ShiftLeft => self.b.ins().ishl(x, amount),
            _ => self.b.ins().ushr(x, amount),
        };
        let (inside, zero) = (
            self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, amount, width),
            self.b.ins().iconst(ty, 0),
        );
        self.b.ins().select(inside, shifted, zero)
    }

    pub(super) fn compare(&mut self, op: CompareOp, of: Scalar, x: Value, y: Value) -> Value {
        if of.is_float() {
            let (x, y) = (self.widen(of, x), self.widen(of, y));
            return self.b.ins().fcmp(float_code(op), x, y);
        }
        self.b.ins().icmp(int_code(op, of), x, y)
    }

    pub(super) fn imported(&mut self, import: Import, args: &[Value]) -> Value {
        let result = self.call_import(import, args);
        result.unwrap_or_else(|| unreachable!("natives and remainders give a result"))
    }
}

/// The condition that compares floats.
pub(super) fn float_code(op: CompareOp) -> FloatCC {
    match op {
        CompareOp::Equal => FloatCC::Equal,
        CompareOp::NotEqual => FloatCC::NotEqual,
        CompareOp::Less => FloatCC::LessThan,
        CompareOp::LessEqual => FloatCC::LessThanOrEqual,
        CompareOp::Greater => FloatCC::GreaterThan,
        CompareOp::GreaterEqual => FloatCC::GreaterThanOrEqual,
    }
}

/// The condition code of a comparison of integers or `bool`s.
pub(super) fn int_code(op: CompareOp, of: Scalar) -> IntCC {
    let code = match op {
        CompareOp::Equal => IntCC::Equal,
        CompareOp::NotEqual => IntCC::NotEqual,
        CompareOp::Less => IntCC::SignedLessThan,
        CompareOp::LessEqual => IntCC::SignedLessThanOrEqual,
        CompareOp::Greater => IntCC::SignedGreaterThan,
        CompareOp::GreaterEqual => IntCC::SignedGreaterThanOrEqual,
    };
    if of.is_signed_int() { code } else { code.unsigned() }
}
