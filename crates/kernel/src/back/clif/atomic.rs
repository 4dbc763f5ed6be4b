//! Atomic operations on array memory, component by component.

use super::lowerer::{Lowerer, Val};
use super::shape::clif_type;
use crate::ir::{AtomicOp, BinaryOp, Native, PlaceId, Scalar};
use cranelift_codegen::ir::{AtomicRmwOp, BlockArg, InstBuilder, MemFlagsData, Value, types};

impl Lowerer<'_, '_> {
    pub(super) fn atomic(
        &mut self,
        op: AtomicOp,
        place: PlaceId,
        value: crate::ir::Value,
        expected: Option<crate::ir::Value>,
    ) -> Val {
        let loc = self.place(place);
        let address = self.address(&loc);
        let ty = self.body().places[place].ty;
        let Some((of, count)) = self.module.types.components(ty) else {
            unreachable!("check rule 4: an atomic operation on components")
        };
        let operand = self.val(value);
        if let Some(expected) = expected {
            let expected = self.scalar(expected);
            return Val::One(self.exchange_if(of, address, expected, operand.leaves()[0]));
        }
        if let Val::Memory(operand) = operand {
            return self.large_atomic(op, of, count, address, operand);
        }
        let old = operand.leaves().iter().enumerate().map(|(at, &operand)| {
            let part = self.b.ins().iadd_imm_s(address, at as i64 * i64::from(of.bytes()));
            self.change(op, of, part, operand)
        });
        Val::from_leaves(old.collect())
    }

    fn large_atomic(
        &mut self,
        op: AtomicOp,
        of: Scalar,
        count: u32,
        address: Value,
        operand: Value,
    ) -> Val {
        let size = u64::from(count) * u64::from(of.bytes());
        let slot = self.slot(size);
        let result = self.slot_address(slot);
        let step = u64::from(of.bytes());
        self.chunks(size, step, |lowerer, at, offset| {
            let [part, from, to] = [address, operand, result].map(|base| {
                let moved = lowerer.b.ins().iadd(base, at);
                lowerer.b.ins().iadd_imm_s(moved, i64::from(offset))
            });
            let operand = lowerer.load_scalar(of, from, 0);
            let old = lowerer.change(op, of, part, operand);
            lowerer.b.ins().store(MemFlagsData::trusted(), old, to, 0);
        });
        Val::Memory(result)
    }

    /// Changes one scalar; gives the old one.
    fn change(&mut self, op: AtomicOp, of: Scalar, address: Value, operand: Value) -> Value {
        let Some(rmw) = machine_op(op, of) else {
            return self.change_by_retry(op, of, address, operand);
        };
        let bits = self.to_bits(of, operand);
        let ty = self.b.func.dfg.value_type(bits);
        let old = self.b.ins().atomic_rmw(ty, MemFlagsData::trusted(), rmw, address, bits);
        self.from_bits(of, old)
    }

    fn exchange_if(&mut self, of: Scalar, address: Value, expected: Value, new: Value) -> Value {
        let (expected, new) = (self.to_bits(of, expected), self.to_bits(of, new));
        let old = self.b.ins().atomic_cas(MemFlagsData::trusted(), address, expected, new);
        self.from_bits(of, old)
    }

    /// What the machine has no instruction for: compute, and try again if somebody was faster.
    fn change_by_retry(
        &mut self,
        op: AtomicOp,
        of: Scalar,
        address: Value,
        operand: Value,
    ) -> Value {
        let zero = self.zero_of(of);
        let bits = self.to_bits(of, zero);
        let ty = self.b.func.dfg.value_type(bits);
        let first = self.b.ins().load(ty, MemFlagsData::trusted(), address, 0);
        let (again, rest) = (self.b.create_block(), self.b.create_block());
        let seen = self.b.append_block_param(again, ty);
        self.b.ins().jump(again, &[BlockArg::Value(first)]);
        self.b.switch_to_block(again);
        let old = self.from_bits(of, seen);
        let new = match op {
            AtomicOp::Add => self.binary(BinaryOp::Add, of, old, operand),
            AtomicOp::Subtract => {
                let minus = self.unary(crate::ir::UnaryOp::Negate, of, operand);
                self.binary(BinaryOp::Add, of, old, minus)
            }
            AtomicOp::Min => self.native(Native::Min, of, &[old, operand]),
            AtomicOp::Max => self.native(Native::Max, of, &[old, operand]),
            _ => unreachable!("the machine has an instruction"),
        };
        let new = self.to_bits(of, new);
        let found = self.b.ins().atomic_cas(MemFlagsData::trusted(), address, seen, new);
        let lost =
            self.b.ins().icmp(cranelift_codegen::ir::condcodes::IntCC::NotEqual, found, seen);
        self.b.ins().brif(lost, again, &[BlockArg::Value(found)], rest, &[]);
        self.b.seal_block(again);
        self.b.seal_block(rest);
        self.b.switch_to_block(rest);
        old
    }

    fn to_bits(&mut self, of: Scalar, x: Value) -> Value {
        let ty = match of {
            Scalar::F32 => types::I32,
            Scalar::F64 => types::I64,
            _ => return x,
        };
        self.b.ins().bitcast(ty, MemFlagsData::new(), x)
    }

    fn from_bits(&mut self, of: Scalar, x: Value) -> Value {
        match of {
            Scalar::F32 | Scalar::F64 => {
                self.b.ins().bitcast(clif_type(of), MemFlagsData::new(), x)
            }
            _ => x,
        }
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
