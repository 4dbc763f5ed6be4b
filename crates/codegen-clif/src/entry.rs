//! Kernels: the loop over the threads of a range.

use super::Options;
use super::lowerer::{Bound, Exit, Lane, Loc, Lowerer, Val};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    AbiParam, BlockArg, InstBuilder, MemFlagsData, Signature, Value, types,
};
use gbxcule_ir::FunctionId;
use gbxcule_ir::abi::{Arguments, RangeRecord};
use std::mem::offset_of;

/// `fn(record, arguments, begin: i64, end: i64) -> i32`
pub(super) fn signature(options: Options) -> Signature {
    let mut signature = Signature::new(options.target.default_call_conv);
    signature.params.extend([AbiParam::new(types::I64); 4]);
    signature.returns.push(AbiParam::new(types::I32));
    signature
}

impl Lowerer<'_, '_> {
    /// Lowers a kernel: if its plan says so, a loop over several threads at once; and one over
    /// those that are left.
    pub(super) fn kernel(&mut self, id: FunctionId) {
        let [entry, start, done] = [(); 3].map(|()| self.b.create_block());
        self.b.append_block_params_for_function_params(entry);
        self.b.switch_to_block(entry);
        self.b.seal_block(entry);
        let given: Vec<Value> = self.b.block_params(entry).to_vec();
        let [record, arguments, begin, end] = given[..] else {
            unreachable!("as the signature says")
        };
        self.record = record;
        let params = self.parameters(id, arguments);
        let any = self.b.ins().icmp(IntCC::SignedLessThan, begin, end);
        self.b.ins().brif(any, start, &[], done, &[]);
        self.b.seal_block(start);

        self.b.switch_to_block(start);
        let decided = self.plan.of(id);
        let grid: Vec<Value> = (0..i32::from(decided.dims))
            .map(|dim| {
                let offset = offset_of!(RangeRecord, extents) as i32 + 8 * dim;
                self.b.ins().load(types::I64, MemFlagsData::trusted(), record, offset)
            })
            .collect();
        let mut first = vec![begin];
        first.extend(self.first_coordinates(begin, &grid));
        if decided.lanes > 1 {
            let last = self.b.ins().iadd_imm_s(end, 1 - decided.lanes as i64);
            first = self.threads(id, &params, &grid, &first, last, decided.lanes);
        }
        self.threads(id, &params, &grid, &first, end, 1);
        self.b.ins().jump(done, &[]);
        self.b.seal_block(done);
        self.b.switch_to_block(done);
        let fine = self.b.ins().iconst(types::I32, 0);
        self.b.ins().return_(&[fine]);
    }

    /// A loop over threads, so many at once, as long as their number is below `end`. Takes and
    /// gives the first thread that is left and its coordinates.
    fn threads(
        &mut self,
        id: FunctionId,
        params: &[Bound],
        grid: &[Value],
        first: &[Value],
        end: Value,
        lanes: usize,
    ) -> Vec<Value> {
        let [head, latch, rest] = [(); 3].map(|()| self.b.create_block());
        for _ in first {
            self.b.append_block_param(head, types::I64);
            self.b.append_block_param(rest, types::I64);
        }
        let args: Vec<BlockArg> = first.iter().copied().map(BlockArg::Value).collect();
        let any = self.b.ins().icmp(IntCC::SignedLessThan, first[0], end);
        self.b.ins().brif(any, head, &args, rest, &args);
        self.b.switch_to_block(head);
        let mut current: Vec<Value> = self.b.block_params(head).to_vec();
        self.lanes.clear();
        for _ in 0..lanes {
            let thread = Some(current[0]);
            // In one dimension the coordinate is the number of the thread.
            let own = if grid.len() <= 1 { &current[..] } else { &current[1..] };
            let lane = Lane { frames: Vec::new(), thread, coordinates: own.to_vec() };
            self.lanes.push(lane);
            let mut following = vec![self.b.ins().iadd_imm_s(current[0], 1)];
            if grid.len() > 1 {
                following.extend(self.next_coordinates(&current[1..], grid));
            }
            current = following;
        }
        self.each_lane(|lowerer| lowerer.enter(id, params.to_vec(), Exit::Thread(latch)));
        self.run_frame();

        self.b.seal_block(latch);
        self.b.switch_to_block(latch);
        let args: Vec<BlockArg> = current.iter().copied().map(BlockArg::Value).collect();
        let more = self.b.ins().icmp(IntCC::SignedLessThan, current[0], end);
        self.b.ins().brif(more, head, &args, rest, &args);
        self.b.seal_block(head);
        self.b.seal_block(rest);
        self.b.switch_to_block(rest);
        self.b.block_params(rest).to_vec()
    }

    fn parameters(&mut self, id: FunctionId, arguments: Value) -> Vec<Bound> {
        let places = Arguments::new(self.module, id);
        let params = &self.module.functions[id].params;
        let kept = &self.plan.of(id).memory_params;
        let mut bound = Vec::with_capacity(params.len());
        for ((param, offset), &kept) in params.iter().zip(places.offsets).zip(kept) {
            let offset = offset as i32;
            bound.push(Bound::Value(if kept {
                Val::Memory(self.b.ins().iadd_imm_s(arguments, i64::from(offset)))
            } else {
                self.read(&Loc::Memory { address: arguments, offset }, param.ty)
            }));
        }
        bound
    }

    /// The coordinates of the first thread of a range; none if they are its number.
    fn first_coordinates(&mut self, begin: Value, grid: &[Value]) -> Vec<Value> {
        if grid.len() <= 1 {
            return Vec::new();
        }
        let mut coordinates = Vec::with_capacity(grid.len());
        let mut rest = begin;
        for &extent in grid[1..].iter().rev() {
            coordinates.push(self.b.ins().urem(rest, extent));
            rest = self.b.ins().udiv(rest, extent);
        }
        coordinates.push(rest);
        coordinates.reverse();
        coordinates
    }

    /// One on in the last dimension, carrying into those before.
    fn next_coordinates(&mut self, coordinates: &[Value], grid: &[Value]) -> Vec<Value> {
        let mut moved = coordinates.to_vec();
        let zero = self.b.ins().iconst(types::I64, 0);
        let mut carry = self.b.ins().iconst(types::I64, 1);
        for dim in (0..grid.len()).rev() {
            let next = self.b.ins().iadd(coordinates[dim], carry);
            if dim == 0 {
                moved[dim] = next;
                break;
            }
            let wraps = self.b.ins().icmp(IntCC::Equal, next, grid[dim]);
            moved[dim] = self.b.ins().select(wraps, zero, next);
            carry = self.b.ins().uextend(types::I64, wraps);
        }
        moved
    }
}
