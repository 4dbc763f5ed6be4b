//! Atomic operations on scalars in memory.

use super::arithmetic::{unary, zero_of};
use super::{ScalarCode, load_scalar};
use crate::shape::clif_type;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{AtomicRmwOp, BlockArg, InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::FunctionBuilder;
use gbxcule_ir::{AtomicOp, BinaryOp, Native, Scalar};

impl ScalarCode<'_, '_> {
    /// Changes one scalar atomically; returns the old one.
    pub(crate) fn change(
        &mut self,
        op: AtomicOp,
        of: Scalar,
        address: Value,
        operand: Value,
    ) -> Value {
        let Some(rmw) = machine_op(op, of) else {
            return self.change_by_retry(op, of, address, operand);
        };
        let bits = bits_of(&mut self.b, of, operand);
        let ty = self.b.func.dfg.value_type(bits);
        let old = self.b.ins().atomic_rmw(ty, MemFlagsData::trusted(), rmw, address, bits);
        scalar_from(&mut self.b, of, old)
    }

    /// Changes memory without an atomic instruction, where no other thread can interfere.
    pub(crate) fn change_plainly(
        &mut self,
        op: AtomicOp,
        of: Scalar,
        address: Value,
        operand: Value,
    ) -> Value {
        let old = load_scalar(&mut self.b, of, address, 0);
        let new = self.changed(op, of, old, operand);
        self.b.ins().store(MemFlagsData::trusted(), new, address, 0);
        old
    }

    pub(crate) fn exchange_if(
        &mut self,
        of: Scalar,
        address: Value,
        [expected, new]: [Value; 2],
        plain: bool,
    ) -> Value {
        let (expected, new) = (bits_of(&mut self.b, of, expected), bits_of(&mut self.b, of, new));
        let flags = MemFlagsData::trusted();
        let old = if plain {
            let ty = self.b.func.dfg.value_type(new);
            let old = self.b.ins().load(ty, flags, address, 0);
            let same = self.b.ins().icmp(IntCC::Equal, old, expected);
            let left = self.b.ins().select(same, new, old);
            self.b.ins().store(flags, left, address, 0);
            old
        } else {
            self.b.ins().atomic_cas(flags, address, expected, new)
        };
        scalar_from(&mut self.b, of, old)
    }

    /// Returns the value that an operation leaves in memory.
    pub(crate) fn changed(
        &mut self,
        op: AtomicOp,
        of: Scalar,
        old: Value,
        operand: Value,
    ) -> Value {
        let binary = match op {
            AtomicOp::Add => BinaryOp::Add,
            AtomicOp::Subtract if of.is_float() => {
                let minus = unary(&mut self.b, gbxcule_ir::UnaryOp::Negate, of, operand);
                return self.binary(BinaryOp::Add, of, old, minus);
            }
            AtomicOp::Subtract => BinaryOp::Subtract,
            AtomicOp::And => BinaryOp::And,
            AtomicOp::Or => BinaryOp::Or,
            AtomicOp::Xor => BinaryOp::Xor,
            AtomicOp::Min => return self.native(Native::Min, of, &[old, operand]),
            AtomicOp::Max => return self.native(Native::Max, of, &[old, operand]),
            AtomicOp::Exchange | AtomicOp::CompareExchange => return operand,
        };
        self.binary(binary, of, old, operand)
    }

    /// Changes memory in a loop, where the machine has no instruction for the operation: computes
    /// the new value, and tries again if another thread was faster.
    fn change_by_retry(
        &mut self,
        op: AtomicOp,
        of: Scalar,
        address: Value,
        operand: Value,
    ) -> Value {
        let zero = zero_of(&mut self.b, of);
        let bits = bits_of(&mut self.b, of, zero);
        let ty = self.b.func.dfg.value_type(bits);
        let first = self.b.ins().load(ty, MemFlagsData::trusted(), address, 0);
        let (again, continuation) = (self.b.create_block(), self.b.create_block());
        let seen = self.b.append_block_param(again, ty);
        self.b.ins().jump(again, &[BlockArg::Value(first)]);
        self.b.switch_to_block(again);
        let old = scalar_from(&mut self.b, of, seen);
        let new = self.changed(op, of, old, operand);
        let new = bits_of(&mut self.b, of, new);
        let current = self.b.ins().atomic_cas(MemFlagsData::trusted(), address, seen, new);
        let lost = self.b.ins().icmp(IntCC::NotEqual, current, seen);
        self.b.ins().brif(lost, again, &[BlockArg::Value(current)], continuation, &[]);
        self.b.seal_block(again);
        self.b.seal_block(continuation);
        self.b.switch_to_block(continuation);
        old
    }
}

fn machine_op(op: AtomicOp, of: Scalar) -> Option<AtomicRmwOp> {
    Some(match op {
        AtomicOp::Exchange | AtomicOp::CompareExchange => AtomicRmwOp::Xchg,
        _ if of.is_float() => return None,
        AtomicOp::Add => AtomicRmwOp::Add,
        AtomicOp::Subtract => AtomicRmwOp::Sub,
        AtomicOp::Min if of.is_signed_int() => AtomicRmwOp::Smin,
        AtomicOp::Min => AtomicRmwOp::Umin,
        AtomicOp::Max if of.is_signed_int() => AtomicRmwOp::Smax,
        AtomicOp::Max => AtomicRmwOp::Umax,
        AtomicOp::And => AtomicRmwOp::And,
        AtomicOp::Or => AtomicRmwOp::Or,
        AtomicOp::Xor => AtomicRmwOp::Xor,
    })
}

fn bits_of(b: &mut FunctionBuilder<'_>, of: Scalar, x: Value) -> Value {
    let ty = match of {
        Scalar::F32 => types::I32,
        Scalar::F64 => types::I64,
        _ => return x,
    };
    b.ins().bitcast(ty, MemFlagsData::new(), x)
}

fn scalar_from(b: &mut FunctionBuilder<'_>, of: Scalar, x: Value) -> Value {
    match of {
        Scalar::F32 | Scalar::F64 => b.ins().bitcast(clif_type(of), MemFlagsData::new(), x),
        _ => x,
    }
}
