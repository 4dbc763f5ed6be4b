//! Stack slots, and copies of values that are too large for registers.

use super::ScalarCode;
use crate::shape::clif_type;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    Block, BlockArg, InstBuilder, MemFlagsData, StackSlot, StackSlotData, StackSlotKind, Value,
    types,
};
use cranelift_frontend::FunctionBuilder;
use gbxcule_ir::Scalar;

/// Greatest number of bytes that are copied without a loop.
const MAX_UNROLLED: u64 = 256;

impl ScalarCode<'_, '_> {
    /// Makes a stack slot.
    pub(crate) fn slot(&mut self, size: u64) -> StackSlot {
        let size = u32::try_from(size.next_multiple_of(16)).unwrap_or(u32::MAX);
        let data = StackSlotData::new(StackSlotKind::ExplicitSlot, size, 4);
        self.b.create_sized_stack_slot(data)
    }

    pub(crate) fn slot_address(&mut self, slot: StackSlot) -> Value {
        self.b.ins().stack_addr(types::I64, slot, 0)
    }

    /// Fills a slot with zeros, its padding to 16 bytes included.
    pub(crate) fn clear(&mut self, slot: StackSlot, size: u64) {
        let address = self.slot_address(slot);
        let size = size.next_multiple_of(16);
        let zero = self.b.ins().iconst(types::I64, 0);
        let mut chunks = Chunks::new(size, 8);
        while let Some((at, offset)) = chunks.next(&mut self.b) {
            let to = self.b.ins().iadd(address, at);
            self.b.ins().store(MemFlagsData::trusted(), zero, to, offset);
        }
    }

    /// Copies a large value; source and target have the alignment of its type.
    pub(crate) fn copy(&mut self, to: Value, from: Value, size: u64, align: u64) {
        let step = align.clamp(1, 8);
        let ty = match step {
            1 => types::I8,
            2 => types::I16,
            4 => types::I32,
            _ => types::I64,
        };
        // The supported machines load whole words from any address.
        let (whole, rest) = (size / 8 * 8, size % 8);
        let plain = MemFlagsData::new().with_notrap();
        let mut chunks = Chunks::new(whole, 8);
        while let Some((at, offset)) = chunks.next(&mut self.b) {
            let (from, to) = (self.b.ins().iadd(from, at), self.b.ins().iadd(to, at));
            let word = self.b.ins().load(types::I64, plain, from, offset);
            self.b.ins().store(plain, word, to, offset);
        }
        for at in (whole..whole + rest).step_by(step as usize) {
            let part = self.b.ins().load(ty, plain, from, at as i32);
            self.b.ins().store(plain, part, to, at as i32);
        }
    }
}

/// The pieces of a large value in order: code for each, or a loop over them.
pub(crate) struct Chunks {
    size: u64,
    step: u64,
    state: ChunkState,
}

enum ChunkState {
    /// No code was written yet.
    New,
    /// Code for the pieces up to this offset from a start was written.
    Unrolled(Value, u64),
    /// The body of the loop is being written.
    Loop {
        body: Block,
        at: Value,
        continuation: Block,
    },
    Done,
}

impl Chunks {
    pub(crate) fn new(size: u64, step: u64) -> Self {
        Self { size, step, state: ChunkState::New }
    }

    /// Begins the code for the next piece; returns the running offset and a constant one to add to
    /// it.
    pub(crate) fn next(&mut self, b: &mut FunctionBuilder<'_>) -> Option<(Value, i32)> {
        match self.state {
            ChunkState::New => {
                let start = b.ins().iconst(types::I64, 0);
                if self.size <= MAX_UNROLLED {
                    self.state = ChunkState::Unrolled(start, 0);
                    return self.next(b);
                }
                let (body, continuation) = (b.create_block(), b.create_block());
                let at = b.append_block_param(body, types::I64);
                b.ins().jump(body, &[BlockArg::Value(start)]);
                b.switch_to_block(body);
                self.state = ChunkState::Loop { body, at, continuation };
                Some((at, 0))
            }
            ChunkState::Unrolled(start, offset) => {
                self.state = ChunkState::Unrolled(start, offset + self.step);
                (offset < self.size).then_some((start, offset as i32))
            }
            ChunkState::Loop { body, at, continuation } => {
                let next = b.ins().iadd_imm_s(at, self.step as i64);
                let size = self.size as i64;
                let more = b.ins().icmp_imm_u(IntCC::UnsignedLessThan, next, size);
                b.ins().brif(more, body, &[BlockArg::Value(next)], continuation, &[]);
                b.seal_block(body);
                b.seal_block(continuation);
                b.switch_to_block(continuation);
                self.state = ChunkState::Done;
                None
            }
            ChunkState::Done => None,
        }
    }
}

/// Loads a scalar. A `bool` in memory is true for any byte but 0.
pub(crate) fn load_scalar(
    b: &mut FunctionBuilder<'_>,
    scalar: Scalar,
    address: Value,
    offset: i32,
) -> Value {
    let value = b.ins().load(clif_type(scalar), MemFlagsData::trusted(), address, offset);
    match scalar {
        Scalar::Bool => b.ins().icmp_imm_s(IntCC::NotEqual, value, 0),
        _ => value,
    }
}
