//! Operations on scalars.

use super::ScalarCode;
use super::division::constant;
use super::half::{narrow, widen};
use crate::lowered_module::Import;
use crate::shape::clif_type;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::immediates::{Ieee32, Ieee64};
use cranelift_codegen::ir::{InstBuilder, InstructionData, Opcode, Value};
use cranelift_frontend::FunctionBuilder;
use gbxcule_ir::{BinaryOp, CompareOp, Literal, Scalar, UnaryOp};

impl ScalarCode<'_, '_> {
    pub(crate) fn binary(&mut self, op: BinaryOp, of: Scalar, x: Value, y: Value) -> Value {
        match of {
            Scalar::F16 | Scalar::Bf16 => {
                let (x, y) = (widen(&mut self.b, of, x), widen(&mut self.b, of, y));
                if op == BinaryOp::FloorDivide {
                    // The quotient is rounded, then its floor is taken.
                    let quotient = self.float(BinaryOp::Divide, Scalar::F32, x, y);
                    let rounded = narrow(&mut self.b, of, quotient);
                    let rounded = widen(&mut self.b, of, rounded);
                    let whole = self.b.ins().floor(rounded);
                    return narrow(&mut self.b, of, whole);
                }
                let result = self.float(op, Scalar::F32, x, y);
                narrow(&mut self.b, of, result)
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
            BinaryOp::Multiply => multiply(&mut self.b, of, x, y),
            BinaryOp::And => self.b.ins().band(x, y),
            BinaryOp::Or => self.b.ins().bor(x, y),
            BinaryOp::Xor => self.b.ins().bxor(x, y),
            BinaryOp::ShiftLeft | BinaryOp::ShiftRight => shift(&mut self.b, op, of, x, y),
            BinaryOp::Divide | BinaryOp::FloorDivide | BinaryOp::Remainder => {
                self.divide(op, of, x, y)
            }
        }
    }
}

pub(crate) fn literal(b: &mut FunctionBuilder<'_>, literal: Literal) -> Value {
    match literal.scalar() {
        Scalar::F32 => b.ins().f32const(Ieee32::with_bits(literal.bits() as u32)),
        Scalar::F64 => b.ins().f64const(Ieee64::with_bits(literal.bits())),
        scalar => b.ins().iconst(clif_type(scalar), literal.bits() as i64),
    }
}

pub(crate) fn unary(b: &mut FunctionBuilder<'_>, op: UnaryOp, of: Scalar, x: Value) -> Value {
    match (op, of) {
        (UnaryOp::Not, Scalar::Bool) => b.ins().bxor_imm_u(x, 1),
        (UnaryOp::Not, _) => b.ins().bnot(x),
        (UnaryOp::Negate, Scalar::F16 | Scalar::Bf16) => b.ins().bxor_imm_u(x, 0x8000),
        (UnaryOp::Negate, Scalar::F32 | Scalar::F64) => b.ins().fneg(x),
        (UnaryOp::Negate, _) => b.ins().ineg(x),
    }
}

/// Multiplies integers; 8-bit products are computed in 32 bits, because some machines have no
/// narrow multiplication.
fn multiply(b: &mut FunctionBuilder<'_>, of: Scalar, x: Value, y: Value) -> Value {
    if of.bytes() > 2 {
        return b.ins().imul(x, y);
    }
    let wide = cranelift_codegen::ir::types::I32;
    let (x, y) = (b.ins().uextend(wide, x), b.ins().uextend(wide, y));
    let product = b.ins().imul(x, y);
    b.ins().ireduce(clif_type(of), product)
}

/// Shifts an integer. The machine takes the amount modulo the width; the IR doesn't.
fn shift(b: &mut FunctionBuilder<'_>, op: BinaryOp, of: Scalar, x: Value, amount: Value) -> Value {
    let ty = clif_type(of);
    let width = i64::from(of.bits());
    if upper_limit(b, of, amount).is_some_and(|limit| limit < u64::from(of.bits())) {
        return match op {
            BinaryOp::ShiftLeft => b.ins().ishl(x, amount),
            _ if of.is_signed_int() => b.ins().sshr(x, amount),
            _ => b.ins().ushr(x, amount),
        };
    }
    if op == BinaryOp::ShiftRight && of.is_signed_int() {
        let last = b.ins().iconst(ty, width - 1);
        let amount = b.ins().umin(amount, last);
        return b.ins().sshr(x, amount);
    }
    let shifted = match op {
        BinaryOp::ShiftLeft => b.ins().ishl(x, amount),
        _ => b.ins().ushr(x, amount),
    };
    let (inside, zero) =
        (b.ins().icmp_imm_u(IntCC::UnsignedLessThan, amount, width), b.ins().iconst(ty, 0));
    b.ins().select(inside, shifted, zero)
}

/// Returns an upper limit of an integer, or of integers in a vector, read as unsigned, if constants
/// give one: for a constant, for bits shifted down, and for the sum of such a value and a constant.
pub(crate) fn upper_limit(b: &FunctionBuilder<'_>, of: Scalar, value: Value) -> Option<u64> {
    let mask = u64::MAX >> (64 - of.bits());
    let literal = |value| {
        let dfg = &b.func.dfg;
        let splat = dfg.value_def(value).inst().map(|inst| dfg.insts[inst]);
        let scalar = match splat {
            Some(InstructionData::Unary { opcode: Opcode::Splat, arg }) => arg,
            _ => value,
        };
        constant(b, scalar, of).map(|literal| literal as u64 & mask)
    };
    let shifted = |value| {
        let dfg = &b.func.dfg;
        match dfg.insts[dfg.value_def(value).inst()?] {
            InstructionData::Binary { opcode: Opcode::Ushr, args: [_, by] } => {
                literal(by).filter(|by| *by < of.bits().into()).map(|by| mask >> by)
            }
            _ => None,
        }
    };
    let sum = || {
        let dfg = &b.func.dfg;
        match dfg.insts[dfg.value_def(value).inst()?] {
            InstructionData::Binary { opcode: Opcode::Iadd, args: [x, y] } => {
                shifted(x)?.checked_add(literal(y)?).filter(|sum| *sum <= mask)
            }
            _ => None,
        }
    };
    literal(value).or_else(|| shifted(value)).or_else(sum)
}

pub(crate) fn compare(
    b: &mut FunctionBuilder<'_>,
    op: CompareOp,
    of: Scalar,
    x: Value,
    y: Value,
) -> Value {
    if of.is_float() {
        let (x, y) = (widen(b, of, x), widen(b, of, y));
        return b.ins().fcmp(float_code(op), x, y);
    }
    b.ins().icmp(int_code(op, of), x, y)
}

/// Returns the condition code of a comparison of floats.
pub(crate) fn float_code(op: CompareOp) -> FloatCC {
    match op {
        CompareOp::Equal => FloatCC::Equal,
        CompareOp::NotEqual => FloatCC::NotEqual,
        CompareOp::Less => FloatCC::LessThan,
        CompareOp::LessEqual => FloatCC::LessThanOrEqual,
        CompareOp::Greater => FloatCC::GreaterThan,
        CompareOp::GreaterEqual => FloatCC::GreaterThanOrEqual,
    }
}

/// Returns the condition code of a comparison of integers or `bool`s.
pub(crate) fn int_code(op: CompareOp, of: Scalar) -> IntCC {
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

/// Makes the zero of a scalar type.
pub(crate) fn zero_of(b: &mut FunctionBuilder<'_>, scalar: Scalar) -> Value {
    match scalar {
        Scalar::F32 => b.ins().f32const(0.0),
        Scalar::F64 => b.ins().f64const(0.0),
        _ => b.ins().iconst(clif_type(scalar), 0),
    }
}
