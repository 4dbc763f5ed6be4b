//! Integer division. The machine traps on a divisor of 0 and on the smallest integer divided by -1;
//! compiled code executes neither, with checks or without.

use super::ScalarCode;
use crate::shape::clif_type;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use cranelift_frontend::FunctionBuilder;
use gbxcule_ir::abi::FaultKind;
use gbxcule_ir::{BinaryOp, Scalar};

impl ScalarCode<'_, '_> {
    pub(crate) fn divide(&mut self, op: BinaryOp, of: Scalar, x: Value, y: Value) -> Value {
        let divisor = constant(&self.b, y, of);
        if self.is_checked() && divisor.is_none_or(|divisor| divisor == 0) {
            let zero = self.b.ins().icmp_imm_s(IntCC::Equal, y, 0);
            self.fault_if(zero, FaultKind::Division.into(), None);
        }
        if of.bytes() <= 2 {
            // In 32 bits the smallest narrow integer divided by -1 doesn't overflow.
            let (x, y) = (extend(&mut self.b, of, x), extend(&mut self.b, of, y));
            let wide = if of.is_signed_int() { Scalar::I32 } else { Scalar::U32 };
            let result = divide_whole(&mut self.b, op, wide, x, y, divisor);
            return self.b.ins().ireduce(clif_type(of), result);
        }
        divide_whole(&mut self.b, op, of, x, y, divisor)
    }
}

fn divide_whole(
    b: &mut FunctionBuilder<'_>,
    op: BinaryOp,
    of: Scalar,
    x: Value,
    y: Value,
    divisor: Option<i64>,
) -> Value {
    let safe = match divisor {
        Some(divisor) if divisor != 0 && divisor != -1 => y,
        _ => safe_divisor(b, of, y),
    };
    match (op, of.is_signed_int()) {
        (BinaryOp::Remainder, false) => b.ins().urem(x, safe),
        (_, false) => b.ins().udiv(x, safe),
        // A divisor of -1 becomes 1, which leaves the same remainder, 0.
        (BinaryOp::Remainder, true) => b.ins().srem(x, safe),
        (BinaryOp::Divide, true) => quotient(b, x, y, safe),
        (_, true) => {
            let quotient = quotient(b, x, y, safe);
            let product = b.ins().imul(quotient, y);
            let remainder = b.ins().isub(x, product);
            let signs = b.ins().bxor(remainder, y);
            let opposite = b.ins().icmp_imm_s(IntCC::SignedLessThan, signs, 0);
            let inexact = b.ins().icmp_imm_s(IntCC::NotEqual, remainder, 0);
            let down = b.ins().band(opposite, inexact);
            let below = b.ins().iadd_imm_s(quotient, -1);
            b.ins().select(down, below, quotient)
        }
    }
}

/// Computes the quotient by `y`; `safe` is `y`, but 1 where `y` is 0 or -1.
fn quotient(b: &mut FunctionBuilder<'_>, x: Value, y: Value, safe: Value) -> Value {
    let quotient = b.ins().sdiv(x, safe);
    if safe == y {
        return quotient;
    }
    let minus = b.ins().icmp_imm_s(IntCC::Equal, y, -1);
    let negated = b.ins().ineg(x);
    b.ins().select(minus, negated, quotient)
}

/// Returns the divisor, replaced by 1 where the machine would trap.
fn safe_divisor(b: &mut FunctionBuilder<'_>, of: Scalar, y: Value) -> Value {
    let one = b.ins().iconst(clif_type(of), 1);
    let bad = if of.is_signed_int() {
        let next = b.ins().iadd_imm_s(y, 1);
        b.ins().icmp_imm_u(IntCC::UnsignedLessThanOrEqual, next, 1)
    } else {
        b.ins().icmp_imm_s(IntCC::Equal, y, 0)
    };
    b.ins().select(bad, one, y)
}

/// Extends an integer to 32 bits, by its signedness.
pub(crate) fn extend(b: &mut FunctionBuilder<'_>, of: Scalar, x: Value) -> Value {
    match (of.bytes() < 4, of.is_signed_int()) {
        (false, _) => x,
        (true, true) => b.ins().sextend(types::I32, x),
        (true, false) => b.ins().uextend(types::I32, x),
    }
}

/// Returns an integer's value, if it is a constant here.
pub(crate) fn constant(b: &FunctionBuilder<'_>, value: Value, of: Scalar) -> Option<i64> {
    use cranelift_codegen::ir::{InstructionData, Opcode, ValueDef};
    let dfg = &b.func.dfg;
    let ValueDef::Result(inst, 0) = dfg.value_def(dfg.resolve_aliases(value)) else {
        return None;
    };
    let InstructionData::UnaryImm { opcode: Opcode::Iconst, imm } = dfg.insts[inst] else {
        return None;
    };
    gbxcule_ir::Literal::from_bits(of, imm.bits() as u64).as_int().map(|value| value as i64)
}
