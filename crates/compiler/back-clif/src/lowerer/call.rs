//! Calls, in place and out of line, and how functions end.

use super::Lowerer;
use super::control::LoweringTask;
use crate::result::{MAX_PASSED, ResultParts};
use crate::shape::clif_type;
use crate::thread::{BoundParam, Exit, Lane};
use crate::typed::{LoweredPlace, LoweredValue};
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value, types};
use gbxcule_ir::{Arg, FunctionId, List, PassMode, Scalar, Type};

impl Lowerer<'_, '_> {
    /// Lowers a function that is called out of line.
    pub(crate) fn callable(&mut self, id: FunctionId) {
        let function = &self.cx.module.functions[id];
        let entry = self.b.create_block();
        self.b.append_block_params_for_function_params(entry);
        self.b.switch_to_block(entry);
        self.b.seal_block(entry);
        let given: Vec<Value> = self.b.block_params(entry).to_vec();
        let mut given = given.into_iter();
        let mut next = || given.next().unwrap_or_else(|| unreachable!("as the signature says"));
        let result = ResultParts::new(self.cx, function.result);
        let record = next();
        self.set_record(record);
        let in_memory = result.single().is_none() && result.size() > 0;
        let results = in_memory.then(&mut next);
        let coordinates = (0..self.cx.plan.of(id).dims).map(|_| next()).collect();
        self.begin_threads(vec![Lane { coordinates, ..Lane::default() }], false, None);
        let mut params = Vec::with_capacity(function.params.len());
        for (at, param) in function.params.iter().enumerate() {
            let flat = self.cx.flats.of(param.ty);
            params.push(if param.mode != PassMode::Value {
                BoundParam::Place(LoweredPlace::Memory { address: next(), offset: 0 })
            } else if flat.count <= MAX_PASSED {
                BoundParam::Value(LoweredValue::from_leaves(
                    flat.leaves.iter().map(|_| next()).collect(),
                ))
            } else if flat.is_large() || self.cx.plan.of(id).memory_params[at] {
                BoundParam::Value(LoweredValue::Memory(next()))
            } else {
                let loc = LoweredPlace::Memory { address: next(), offset: 0 };
                BoundParam::Value(self.read(&loc, param.ty))
            });
        }
        self.enter_call(id);
        self.enter(id, params, Exit::Return { results });
        self.run_frame();
    }

    /// Lowers the body of the innermost frame and all calls in place inside it.
    pub(crate) fn run_frame(&mut self) {
        let root = self.body().root;
        self.todo.extend([LoweringTask::Leave, LoweringTask::Stmts(root, 0)]);
        self.run();
    }

    /// Calls a function for every thread; `value` becomes its result.
    pub(crate) fn call(&mut self, value: gbxcule_ir::Value, id: FunctionId, args: List<Arg>) {
        if self.cx.plan.of(id).inline {
            self.call_in_place(value, id, args);
        } else {
            self.note_write(true);
            self.each_lane(|lowerer| {
                let bound = lowerer.bind(args);
                let result = lowerer.call_out_of_line(id, bound);
                lowerer.define(value, result);
            });
        }
    }

    fn call_in_place(&mut self, value: gbxcule_ir::Value, id: FunctionId, args: List<Arg>) {
        let function = &self.cx.module.functions[id];
        let result = ResultParts::new(self.cx, function.result);
        let continuation = self.b.create_block();
        self.each_lane(|lowerer| {
            let mut slots = Vec::new();
            result.each(&mut |part| match part {
                ResultParts::Leaves(leaves) => leaves.iter().for_each(|&leaf| {
                    // A group passes one vector, as the first thread's argument.
                    let ty = match leaf {
                        Scalar::F32 if lowerer.is_packed() => types::F32X4,
                        _ => clif_type(leaf),
                    };
                    if lowerer.lane() == 0 || !ty.is_vector() {
                        lowerer.b.append_block_param(continuation, ty);
                    }
                }),
                ResultParts::Memory { size, .. } => slots.push(lowerer.slot(*size)),
                ResultParts::Parts(_) => {}
            });
            let bound = lowerer.bind(args);
            lowerer.enter(id, bound, Exit::Call { continuation, slots, value });
        });
        self.enter_call(id);
        self.todo.extend([LoweringTask::Leave, LoweringTask::Stmts(function.body.root, 0)]);
    }

    /// Lowers the end of a function's text.
    pub(crate) fn leave_frame(&mut self) {
        let result = self.cx.module.functions[self.function()].result;
        if result == Type::UNIT && !self.b.is_unreachable() {
            self.return_value(None);
        } else {
            self.never();
        }
        let mut leaves = Vec::new();
        if let Exit::Call { continuation, .. } = self.frame().exit {
            self.b.seal_block(continuation);
            self.b.switch_to_block(continuation);
            leaves = self.b.block_params(continuation).to_vec();
            let mark = self.frame().mark;
            self.proven().forget_since(mark);
        }
        let is_vector = |&leaf: &Value| self.b.func.dfg.value_type(leaf).is_vector();
        let (vectors, leaves): (Vec<Value>, Vec<Value>) = leaves.into_iter().partition(is_vector);
        let mut leaves = leaves.into_iter();
        let carried = ResultParts::new(self.cx, result);
        self.each_lane(|lowerer| {
            let (lane, mut vectors) = (lowerer.lane(), vectors.iter());
            let Some(mut frame) = lowerer.pop_frame() else { return };
            let Exit::Call { slots, value, .. } = frame.exit else { return };
            let mut slots = slots.into_iter();
            // If there is one return, its values are the results: some may be parts of vectors.
            let only = frame.returned.pop().filter(|_| frame.returned.is_empty());
            let mut only = only.map(Vec::into_iter);
            let val = carried.assemble(&mut |leaf, _| {
                let leaf = leaf.and_then(|leaf| match leaf {
                    _ if only.is_some() => only.as_mut()?.next(),
                    Scalar::F32 if lowerer.is_packed() => {
                        vectors.next().map(|&vector| lowerer.lane_of(vector, lane))
                    }
                    _ => leaves.next(),
                });
                leaf.or_else(|| slots.next().map(|slot| lowerer.slot_address(slot)))
                    .unwrap_or_else(|| unreachable!("made when the call began"))
            });
            lowerer.define(value, val);
        });
        self.leave_call();
    }

    /// Leaves the innermost frame with a result.
    pub(crate) fn return_value(&mut self, value: Option<gbxcule_ir::Value>) {
        let ty = self.cx.module.functions[self.function()].result;
        let carried = ResultParts::new(self.cx, ty);
        match self.frame().exit {
            Exit::Thread(latch) => {
                self.b.ins().jump(latch, &[]);
            }
            Exit::Return { results } => {
                let val = self.value_or_unit(value);
                self.return_from(&carried, &val, results);
            }
            Exit::Call { continuation, .. } => {
                let mut args = vec![Vec::new(); self.lanes().len()];
                self.each_lane(|lowerer| {
                    let mut passed = Vec::new();
                    lowerer.pass_result(&carried, value, &mut passed);
                    lowerer.frame_mut().returned.push(passed.clone());
                    args[lowerer.lane()] = passed;
                });
                let args = self.joined(&args);
                self.b.ins().jump(continuation, &args);
            }
        }
    }

    /// Returns the results of all threads as block parameters. The `f32` of a group are one vector,
    /// in the position of the first thread's.
    fn joined(&mut self, args: &[Vec<Value>]) -> Vec<BlockArg> {
        let mut joined = Vec::new();
        for (lane, own) in args.iter().enumerate() {
            for (at, &arg) in own.iter().enumerate() {
                let is_float = self.is_packed() && self.b.func.dfg.value_type(arg) == types::F32;
                joined.push(match args {
                    [a, b, c, d] if is_float && lane == 0 => {
                        self.vector([a[at], b[at], c[at], d[at]])
                    }
                    _ if is_float && lane > 0 => continue,
                    _ => arg,
                });
            }
        }
        joined.into_iter().map(BlockArg::Value).collect()
    }
}
