//! Kernels: the loop over the threads of a range.

use super::Lowerer;
use crate::Options;
use crate::thread::{BoundParam, Exit, Lane};
use crate::typed::{GROUP, LoweredPlace, LoweredValue};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    AbiParam, Block, BlockArg, InstBuilder, MemFlagsData, Signature, Value, types,
};
use gbxcule_ir::FunctionId;
use gbxcule_ir::abi::{Arguments, RangeRecord};
use std::mem::offset_of;

/// Returns the signature `fn(record, arguments, begin: i64, end: i64) -> i32`.
pub(crate) fn signature(options: Options) -> Signature {
    let mut signature = Signature::new(options.target.default_call_conv);
    signature.params.extend([AbiParam::new(types::I64); 4]);
    signature.returns.push(AbiParam::new(types::I32));
    signature
}

impl Lowerer<'_, '_> {
    /// Lowers a kernel: a loop over groups of threads, if its plan allows that, and a loop over the
    /// remaining threads.
    pub(crate) fn kernel(&mut self, id: FunctionId) {
        let [entry, start, done] = [(); 3].map(|()| self.b.create_block());
        self.b.append_block_params_for_function_params(entry);
        self.b.switch_to_block(entry);
        self.b.seal_block(entry);
        let block_params: Vec<Value> = self.b.block_params(entry).to_vec();
        let [record, arguments, begin, end] = block_params[..] else {
            unreachable!("as the signature says")
        };
        self.set_record(record);
        let params = self.parameters(id, arguments);
        let any = self.b.ins().icmp(IntCC::SignedLessThan, begin, end);
        self.b.ins().brif(any, start, &[], done, &[]);
        self.b.seal_block(start);

        self.b.switch_to_block(start);
        let decided = self.cx.plan.of(id);
        let grid: Vec<Value> = (0..i32::from(decided.dims))
            .map(|dim| {
                let offset = offset_of!(RangeRecord, extents) as i32 + 8 * dim;
                self.b.ins().load(types::I64, MemFlagsData::trusted(), record, offset)
            })
            .collect();
        let mut first = vec![begin];
        first.extend(self.first_coordinates(begin, &grid));
        let range = Range { id, params, grid, end };
        if decided.lanes > 1 {
            self.groups(&range, &first, done);
        } else {
            let alone = self.loop_head(first.len());
            let args = arguments_of(&first);
            self.b.ins().jump(alone, &args);
            self.one_by_one(&range, alone, first.len(), |_| end, done);
        }
        self.b.seal_block(done);
        self.b.switch_to_block(done);
        let fine = self.b.ins().iconst(types::I32, 0);
        self.b.ins().return_(&[fine]);
    }

    /// Makes the head of a loop over threads, whose parameters are their number and coordinates.
    fn loop_head(&mut self, words: usize) -> Block {
        let head = self.b.create_block();
        (0..words).for_each(|_| _ = self.b.append_block_param(head, types::I64));
        head
    }

    /// Loops over the threads of a range, by groups. Threads run one by one at the end of a row or
    /// of the range, where a group is not full, and where threads of a group take different
    /// branches.
    fn groups(&mut self, range: &Range, first: &[Value], done: Block) {
        let [head, alone, bail] = [0, 1, 0].map(|more| self.loop_head(first.len() + more));
        self.begin_running(range.id);
        // Arrays of the launch that share memory force threads to run in order.
        let in_order = offset_of!(RangeRecord, in_order) as i32;
        let record = self.record();
        let in_order = self.b.ins().load(types::I8, MemFlagsData::trusted(), record, in_order);
        let all_threads = arguments_of(&[first, &[range.end]].concat());
        self.b.ins().brif(in_order, alone, &all_threads, head, &arguments_of(first));
        self.b.switch_to_block(head);
        let current: Vec<Value> = self.b.block_params(head)[..first.len()].to_vec();
        let beyond = self.b.ins().iadd_imm_s(current[0], GROUP as i64);
        let mut fits = self.b.ins().icmp(IntCC::SignedLessThanOrEqual, beyond, range.end);
        if let ([.., last], [.., extent], true) =
            (&current[..], &range.grid[..], range.grid.len() > 1)
        {
            let beyond = self.b.ins().iadd_imm_s(*last, GROUP as i64);
            let in_row = self.b.ins().icmp(IntCC::SignedLessThanOrEqual, beyond, *extent);
            fits = self.b.ins().band(fits, in_row);
        }
        let [group, latch] = [(); 2].map(|()| self.b.create_block());
        self.b.ins().brif(fits, group, &[], bail, &arguments_of(&current));

        self.b.switch_to_block(group);
        self.b.seal_block(group);
        let given_up = self.b.create_block();
        self.take_up(range, &current, GROUP, Some(given_up));
        self.run_threads(range, latch);
        let next = self.next_coordinates(&current, &range.grid, GROUP as i64);
        let more = self.b.ins().icmp(IntCC::SignedLessThan, next[0], range.end);
        self.b.ins().brif(more, head, &arguments_of(&next), done, &[]);
        self.b.seal_block(given_up);
        self.b.switch_to_block(given_up);
        self.b.ins().jump(bail, &arguments_of(&current));

        self.b.seal_block(bail);
        self.b.switch_to_block(bail);
        let mut args: Vec<Value> = self.b.block_params(bail).to_vec();
        let until = self.b.ins().iadd_imm_s(args[0], GROUP as i64);
        args.push(self.b.ins().smin(until, range.end));
        self.b.ins().jump(alone, &arguments_of(&args));
        let after_group = self.loop_head(first.len());
        let until = |lowerer: &Self| lowerer.b.block_params(alone)[first.len()];
        self.one_by_one(range, alone, first.len(), until, after_group);
        self.b.seal_block(after_group);
        self.b.switch_to_block(after_group);
        let next: Vec<Value> = self.b.block_params(after_group).to_vec();
        let more = self.b.ins().icmp(IntCC::SignedLessThan, next[0], range.end);
        self.b.ins().brif(more, head, &arguments_of(&next), done, &[]);
        self.b.seal_block(head);
    }

    /// Loops over single threads up to `until`, then jumps to `continuation`, with the next thread
    /// if `continuation` takes one.
    fn one_by_one(
        &mut self,
        range: &Range,
        alone: Block,
        words: usize,
        until: impl Fn(&Self) -> Value,
        continuation: Block,
    ) {
        self.b.switch_to_block(alone);
        let current: Vec<Value> = self.b.block_params(alone)[..words].to_vec();
        let until = until(self);
        self.forget_running();
        self.take_up(range, &current, 1, None);
        let latch = self.b.create_block();
        self.run_threads(range, latch);
        let mut next = self.next_coordinates(&current, &range.grid, 1);
        let more = self.b.ins().icmp(IntCC::SignedLessThan, next[0], until);
        let after =
            if self.b.block_params(continuation).is_empty() { &[][..] } else { &next.clone() };
        if self.b.block_params(alone).len() > words {
            next.push(until);
        }
        self.b.ins().brif(more, alone, &arguments_of(&next), continuation, &arguments_of(after));
        self.b.seal_block(alone);
    }

    /// Sets the threads that are lowered next: `count` threads, from the one with this number and
    /// these coordinates on.
    fn take_up(&mut self, range: &Range, current: &[Value], count: usize, bail: Option<Block>) {
        let mut lanes = Vec::with_capacity(count);
        for lane in 0..count {
            let on = |lowerer: &mut Self, word: Value| match lane {
                0 => word,
                _ => lowerer.b.ins().iadd_imm_s(word, lane as i64),
            };
            let thread = on(self, current[0]);
            // In one dimension the coordinate is the number of the thread.
            let mut coordinates = match range.grid.len() {
                0 | 1 => vec![thread],
                _ => current[1..].to_vec(),
            };
            if let ([.., last], true) = (&mut coordinates[..], range.grid.len() > 1) {
                *last = on(self, *last);
            }
            lanes.push(Lane { frames: Vec::new(), thread: Some(thread), coordinates });
        }
        let packs = self.cx.plan.of(range.id).packs();
        self.begin_threads(lanes, packs, bail);
    }

    /// Lowers the kernel for the current threads, and begins the block after it.
    fn run_threads(&mut self, range: &Range, latch: Block) {
        let mark = self.mark();
        self.each_lane(|lowerer| {
            lowerer.enter(range.id, range.params.clone(), Exit::Thread(latch));
        });
        self.enter_call(range.id);
        self.run_frame();
        self.forget_since(mark);
        self.b.seal_block(latch);
        self.b.switch_to_block(latch);
    }

    fn parameters(&mut self, id: FunctionId, arguments: Value) -> Vec<BoundParam> {
        let places = Arguments::new(self.cx.module, id);
        let params = &self.cx.module.functions[id].params;
        let in_memory = &self.cx.plan.of(id).memory_params;
        let mut bound = Vec::with_capacity(params.len());
        for ((param, offset), &in_memory) in params.iter().zip(places.offsets).zip(in_memory) {
            let offset = offset as i32;
            bound.push(BoundParam::Value(if in_memory {
                LoweredValue::Memory(self.b.ins().iadd_imm_s(arguments, i64::from(offset)))
            } else {
                self.read(&LoweredPlace::Memory { address: arguments, offset }, param.ty)
            }));
        }
        bound
    }

    /// Computes the coordinates of the first thread of a range. In one dimension the list is empty,
    /// because the coordinate is the thread's number.
    fn first_coordinates(&mut self, begin: Value, grid: &[Value]) -> Vec<Value> {
        if grid.len() <= 1 {
            return Vec::new();
        }
        let mut coordinates = Vec::with_capacity(grid.len());
        let mut quotient = begin;
        for &extent in grid[1..].iter().rev() {
            coordinates.push(self.b.ins().urem(quotient, extent));
            quotient = self.b.ins().udiv(quotient, extent);
        }
        coordinates.push(quotient);
        coordinates.reverse();
        coordinates
    }

    /// Computes the coordinates of the thread that is `by` further in the last dimension, with
    /// carries into the dimensions before. The row must hold that many more threads.
    fn next_coordinates(&mut self, current: &[Value], grid: &[Value], by: i64) -> Vec<Value> {
        let mut moved = vec![self.b.ins().iadd_imm_s(current[0], by)];
        if grid.len() <= 1 {
            return moved;
        }
        moved.extend(&current[1..]);
        let zero = self.b.ins().iconst(types::I64, 0);
        let mut carry = self.b.ins().iconst(types::I64, by);
        for dim in (0..grid.len()).rev() {
            let next = self.b.ins().iadd(current[1 + dim], carry);
            if dim == 0 {
                moved[1] = next;
                break;
            }
            let wraps = self.b.ins().icmp(IntCC::Equal, next, grid[dim]);
            moved[1 + dim] = self.b.ins().select(wraps, zero, next);
            carry = self.b.ins().uextend(types::I64, wraps);
        }
        moved
    }
}

/// Threads of a kernel that a call runs.
struct Range {
    id: FunctionId,
    params: Vec<BoundParam>,
    /// Extents of the grid in the dimensions that the kernel asks for.
    grid: Vec<Value>,
    end: Value,
}

fn arguments_of(words: &[Value]) -> Vec<BlockArg> {
    words.iter().copied().map(BlockArg::Value).collect()
}
