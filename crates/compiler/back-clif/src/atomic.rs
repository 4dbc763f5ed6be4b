//! Atomic operations on array memory, component by component.

use super::Sharing;
use super::lowerer::{LoweredValue, Lowerer};
use super::shape::clif_type;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{AtomicRmwOp, BlockArg, InstBuilder, MemFlagsData, Value, types};
use gbxcule_ir::{AtomicOp, BinaryOp, Native, PlaceId, Scalar};

impl Lowerer<'_, '_> {
    /// Returns true if no other thread can meet an atomic operation.
    pub(super) fn is_plain(&self, value: gbxcule_ir::Value) -> bool {
        match self.options.sharing {
            Sharing::Alone => true,
            Sharing::Exclusive => {
                self.plan.of(self.frame().function).exclusivity.is_exclusive(value)
            }
            Sharing::Any => false,
        }
    }

    /// Changes a place with an operand; with what is expected there, if the operation asks.
    pub(super) fn atomic(
        &mut self,
        op: AtomicOp,
        place: PlaceId,
        [operand, expected]: [Option<gbxcule_ir::Value>; 2],
        plain: bool,
    ) -> LoweredValue {
        let loc = self.place(place);
        let address = self.address(&loc);
        let ty = self.body().places[place].ty;
        let (Some((of, count)), Some(operand)) = (self.module.types.components(ty), operand) else {
            unreachable!("check rule 4: an atomic operation on components")
        };
        let operand = self.val(operand);
        if let Some(expected) = expected {
            let expected = self.scalar(expected);
            let new = operand.leaves()[0];
            return LoweredValue::One(self.exchange_if(of, address, [expected, new], plain));
        }
        let change = |lowerer: &mut Self, part, operand| match plain {
            true => lowerer.change_plainly(op, of, part, operand),
            false => lowerer.change(op, of, part, operand),
        };
        if let LoweredValue::Memory(operand) = operand {
            return self.large_atomic(of, count, [address, operand], change);
        }
        let old = operand.leaves().iter().enumerate().map(|(at, &operand)| {
            let part = self.b.ins().iadd_imm_s(address, at as i64 * i64::from(of.bytes()));
            change(self, part, operand)
        });
        LoweredValue::from_leaves(old.collect())
    }

    fn large_atomic(
        &mut self,
        of: Scalar,
        count: u32,
        [address, operand]: [Value; 2],
        change: impl Fn(&mut Self, Value, Value) -> Value,
    ) -> LoweredValue {
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
            let old = change(lowerer, part, operand);
            lowerer.b.ins().store(MemFlagsData::trusted(), old, to, 0);
        });
        LoweredValue::Memory(result)
    }

    /// Changes one scalar; returns the old one.
    fn change(&mut self, op: AtomicOp, of: Scalar, address: Value, operand: Value) -> Value {
        let Some(rmw) = machine_op(op, of) else {
            return self.change_by_retry(op, of, address, operand);
        };
        let bits = self.bits_of(of, operand);
        let ty = self.b.func.dfg.value_type(bits);
        let old = self.b.ins().atomic_rmw(ty, MemFlagsData::trusted(), rmw, address, bits);
        self.scalar_from(of, old)
    }

    /// Changes memory without an atomic instruction, where no other thread comes in between.
    fn change_plainly(
        &mut self,
        op: AtomicOp,
        of: Scalar,
        address: Value,
        operand: Value,
    ) -> Value {
        let old = self.load_scalar(of, address, 0);
        let new = self.changed(op, of, old, operand);
        self.b.ins().store(MemFlagsData::trusted(), new, address, 0);
        old
    }

    fn exchange_if(
        &mut self,
        of: Scalar,
        address: Value,
        [expected, new]: [Value; 2],
        plain: bool,
    ) -> Value {
        let (expected, new) = (self.bits_of(of, expected), self.bits_of(of, new));
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
        self.scalar_from(of, old)
    }

    /// Value that an operation leaves.
    fn changed(&mut self, op: AtomicOp, of: Scalar, old: Value, operand: Value) -> Value {
        let binary = match op {
            AtomicOp::Add => BinaryOp::Add,
            AtomicOp::Subtract if of.is_float() => {
                let minus = self.unary(gbxcule_ir::UnaryOp::Negate, of, operand);
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

    /// Changes memory by a loop where the machine has no instruction: compute, and try again if
    /// another thread was faster.
    fn change_by_retry(
        &mut self,
        op: AtomicOp,
        of: Scalar,
        address: Value,
        operand: Value,
    ) -> Value {
        let zero = self.zero_of(of);
        let bits = self.bits_of(of, zero);
        let ty = self.b.func.dfg.value_type(bits);
        let first = self.b.ins().load(ty, MemFlagsData::trusted(), address, 0);
        let (again, rest) = (self.b.create_block(), self.b.create_block());
        let seen = self.b.append_block_param(again, ty);
        self.b.ins().jump(again, &[BlockArg::Value(first)]);
        self.b.switch_to_block(again);
        let old = self.scalar_from(of, seen);
        let new = self.changed(op, of, old, operand);
        let new = self.bits_of(of, new);
        let found = self.b.ins().atomic_cas(MemFlagsData::trusted(), address, seen, new);
        let lost = self.b.ins().icmp(IntCC::NotEqual, found, seen);
        self.b.ins().brif(lost, again, &[BlockArg::Value(found)], rest, &[]);
        self.b.seal_block(again);
        self.b.seal_block(rest);
        self.b.switch_to_block(rest);
        old
    }

    fn bits_of(&mut self, of: Scalar, x: Value) -> Value {
        let ty = match of {
            Scalar::F32 => types::I32,
            Scalar::F64 => types::I64,
            _ => return x,
        };
        self.b.ins().bitcast(ty, MemFlagsData::new(), x)
    }

    fn scalar_from(&mut self, of: Scalar, x: Value) -> Value {
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
