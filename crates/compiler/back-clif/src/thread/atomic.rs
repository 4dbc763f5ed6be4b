//! Atomic operations on array memory, component by component.

use super::ThreadCode;
use crate::Sharing;
use crate::code::{Chunks, load_scalar};
use crate::typed::LoweredValue;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value};
use gbxcule_ir::{AtomicOp, PlaceId, Scalar};

impl ThreadCode<'_, '_> {
    /// Returns true if no other thread can interfere with an atomic operation.
    pub(crate) fn is_plain(&self, value: gbxcule_ir::Value) -> bool {
        match self.cx.options.sharing {
            Sharing::Alone => true,
            Sharing::Exclusive => {
                self.cx.plan.of(self.frame().function).exclusivity.is_exclusive(value)
            }
            Sharing::Any => false,
        }
    }

    /// Changes a place with an operand; `CompareExchange` also has an expected value.
    pub(crate) fn atomic(
        &mut self,
        op: AtomicOp,
        place: PlaceId,
        [operand, expected]: [Option<gbxcule_ir::Value>; 2],
        plain: bool,
    ) -> LoweredValue {
        let loc = self.place(place);
        let address = self.address(&loc);
        let ty = self.body().places[place].ty;
        let (Some((of, count)), Some(operand)) = (self.cx.module.types.components(ty), operand)
        else {
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
        let mut chunks = Chunks::new(size, step);
        while let Some((at, offset)) = chunks.next(&mut self.b) {
            let [part, from, to] = [address, operand, result].map(|base| {
                let moved = self.b.ins().iadd(base, at);
                self.b.ins().iadd_imm_s(moved, i64::from(offset))
            });
            let operand = load_scalar(&mut self.b, of, from, 0);
            let old = change(self, part, operand);
            self.b.ins().store(MemFlagsData::trusted(), old, to, 0);
        }
        LoweredValue::Memory(result)
    }
}
