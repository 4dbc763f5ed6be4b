//! Kernels: the loop over the threads of a range.

use super::Options;
use super::lowerer::{Bound, Exit, Loc, Lowerer, Val};
use super::program::context;
use crate::ir::{FunctionId, Module};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    AbiParam, BlockArg, InstBuilder, MemFlagsData, Signature, Value, types,
};

/// Where a kernel's arguments lie in the block that its code gets a pointer to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Arguments {
    /// Byte offset of each.
    pub offsets: Vec<u64>,
    /// Of all together.
    pub size: u64,
}

impl Arguments {
    /// Arguments in order, each at a multiple of 8 bytes.
    pub fn new(module: &Module, kernel: FunctionId) -> Self {
        let (mut offsets, mut size) = (Vec::new(), 0u64);
        for param in &module.functions[kernel].params {
            offsets.push(size);
            let own = module.types.layout(param.ty).map_or(0, |layout| layout.size);
            size += own.next_multiple_of(8);
        }
        Self { offsets, size }
    }
}

/// `fn(context, arguments, begin: i64, end: i64) -> i32`
pub(super) fn signature(options: Options) -> Signature {
    let mut signature = Signature::new(options.target.default_call_conv);
    signature.params.extend([AbiParam::new(types::I64); 4]);
    signature.returns.push(AbiParam::new(types::I32));
    signature
}

impl Lowerer<'_, '_> {
    /// Lowers a kernel.
    pub(super) fn kernel(&mut self, id: FunctionId) {
        let [entry, start, head, latch, done] = [(); 5].map(|()| self.b.create_block());
        self.b.append_block_params_for_function_params(entry);
        self.b.switch_to_block(entry);
        self.b.seal_block(entry);
        let given: Vec<Value> = self.b.block_params(entry).to_vec();
        let [record, arguments, begin, end] = given[..] else {
            unreachable!("as the signature says")
        };
        self.context = record;
        let params = self.parameters(id, arguments);
        let any = self.b.ins().icmp(IntCC::SignedLessThan, begin, end);
        self.b.ins().brif(any, start, &[], done, &[]);
        self.b.seal_block(start);

        self.b.switch_to_block(start);
        let dims = usize::from(self.plan.of(id).dims);
        let grid: Vec<Value> = (0..dims)
            .map(|dim| {
                let offset = context::GRID + 8 * dim as i32;
                self.b.ins().load(types::I64, MemFlagsData::trusted(), record, offset)
            })
            .collect();
        let first = self.first_coordinates(begin, &grid);
        let first: Vec<BlockArg> = [begin].into_iter().chain(first).map(BlockArg::Value).collect();
        self.b.ins().jump(head, &first);

        for _ in &first {
            self.b.append_block_param(head, types::I64);
        }
        self.b.switch_to_block(head);
        let current: Vec<Value> = self.b.block_params(head).to_vec();
        let thread = current[0];
        self.thread = Some(thread);
        // In one dimension the coordinate is the number of the thread.
        self.coordinates = if dims <= 1 { current } else { current[1..].to_vec() };
        let coordinates = self.coordinates.clone();
        self.enter(id, params, Exit::Thread(latch));
        self.run_frame();

        self.b.seal_block(latch);
        self.b.switch_to_block(latch);
        let next = self.b.ins().iadd_imm_s(thread, 1);
        let mut following = vec![BlockArg::Value(next)];
        if dims > 1 {
            let moved = self.next_coordinates(&coordinates, &grid);
            following.extend(moved.into_iter().map(BlockArg::Value));
        }
        let more = self.b.ins().icmp(IntCC::SignedLessThan, next, end);
        self.b.ins().brif(more, head, &following, done, &[]);
        self.b.seal_block(head);
        self.b.seal_block(done);
        self.b.switch_to_block(done);
        let fine = self.b.ins().iconst(types::I32, 0);
        self.b.ins().return_(&[fine]);
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
