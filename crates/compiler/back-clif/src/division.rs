//! Integer division. The machine traps on a divisor of 0 and on the smallest integer by -1;
//! compiled code never gets there, checked or not.

use super::lowerer::Lowerer;
use super::shape::clif_type;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use gbxcule_ir::abi::FaultKind;
use gbxcule_ir::{BinaryOp, Scalar};

impl Lowerer<'_, '_> {
    pub(super) fn divide(&mut self, op: BinaryOp, of: Scalar, x: Value, y: Value) -> Value {
        let known = self.constant(y, of);
        if self.is_checked() && known.is_none_or(|known| known == 0) {
            let zero = self.b.ins().icmp_imm_s(IntCC::Equal, y, 0);
            self.fault_if(zero, FaultKind::Division.into(), None);
        }
        if of.bytes() <= 2 {
            // In 32 bits the smallest integer by -1 is like any other.
            let (x, y) = (self.extend(of, x), self.extend(of, y));
            let wide = if of.is_signed_int() { Scalar::I32 } else { Scalar::U32 };
            let result = self.divide_whole(op, wide, x, y, known);
            return self.b.ins().ireduce(clif_type(of), result);
        }
        self.divide_whole(op, of, x, y, known)
    }

    fn divide_whole(
        &mut self,
        op: BinaryOp,
        of: Scalar,
        x: Value,
        y: Value,
        known: Option<i64>,
    ) -> Value {
        let safe = match known {
            Some(known) if known != 0 && known != -1 => y,
            _ => self.safe_divisor(of, y),
        };
        match (op, of.is_signed_int()) {
            (BinaryOp::Remainder, false) => self.b.ins().urem(x, safe),
            (_, false) => self.b.ins().udiv(x, safe),
            // With a divisor of 1 for -1 the remainder is right as it is.
            (BinaryOp::Remainder, true) => self.b.ins().srem(x, safe),
            (BinaryOp::Divide, true) => self.quotient(x, y, safe),
            (_, true) => {
                let quotient = self.quotient(x, y, safe);
                let product = self.b.ins().imul(quotient, y);
                let rest = self.b.ins().isub(x, product);
                let signs = self.b.ins().bxor(rest, y);
                let opposite = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, signs, 0);
                let inexact = self.b.ins().icmp_imm_s(IntCC::NotEqual, rest, 0);
                let down = self.b.ins().band(opposite, inexact);
                let below = self.b.ins().iadd_imm_s(quotient, -1);
                self.b.ins().select(down, below, quotient)
            }
        }
    }

    /// The quotient by `y`, of which `safe` is 1 where `y` is 0 or -1.
    fn quotient(&mut self, x: Value, y: Value, safe: Value) -> Value {
        let quotient = self.b.ins().sdiv(x, safe);
        if safe == y {
            return quotient;
        }
        let minus = self.b.ins().icmp_imm_s(IntCC::Equal, y, -1);
        let negated = self.b.ins().ineg(x);
        self.b.ins().select(minus, negated, quotient)
    }

    /// The divisor, but 1 where the machine would trap.
    fn safe_divisor(&mut self, of: Scalar, y: Value) -> Value {
        let one = self.b.ins().iconst(clif_type(of), 1);
        let bad = if of.is_signed_int() {
            let next = self.b.ins().iadd_imm_s(y, 1);
            self.b.ins().icmp_imm_u(IntCC::UnsignedLessThanOrEqual, next, 1)
        } else {
            self.b.ins().icmp_imm_s(IntCC::Equal, y, 0)
        };
        self.b.ins().select(bad, one, y)
    }

    /// An integer as 32 bits, by its signedness.
    pub(super) fn extend(&mut self, of: Scalar, x: Value) -> Value {
        match (of.bytes() < 4, of.is_signed_int()) {
            (false, _) => x,
            (true, true) => self.b.ins().sextend(types::I32, x),
            (true, false) => self.b.ins().uextend(types::I32, x),
        }
    }

    /// An integer's value, if it is a constant here.
    pub(super) fn constant(&self, value: Value, of: Scalar) -> Option<i64> {
        use cranelift_codegen::ir::{InstructionData, Opcode, ValueDef};
        let dfg = &self.b.func.dfg;
        let ValueDef::Result(inst, 0) = dfg.value_def(dfg.resolve_aliases(value)) else {
            return None;
        };
        let InstructionData::UnaryImm { opcode: Opcode::Iconst, imm } = dfg.insts[inst] else {
            return None;
        };
        gbxcule_ir::Literal::from_bits(of, imm.bits() as u64).as_int().map(|value| value as i64)
    }
}
