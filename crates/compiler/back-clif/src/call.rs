//! Calls, in place and out of line, and how functions end.
//!
//! A function out of line takes the record, a pointer for its results unless a register does, the
//! launch index as far as it asks for it, and its parameters: places as pointers, few scalars as
//! they are, anything larger as a pointer to its memory image. It gives a status first if it can
//! fault.

use super::Options;
use super::control::LoweringTask;
use super::lowered_module::Import;
use super::lowerer::{BoundParam, Exit, LoweredPlace, LoweredValue, Lowerer};
use super::plan::Plan;
use super::shape::{Flats, clif_type};
use cranelift_codegen::ir::{
    AbiParam, BlockArg, InstBuilder, MemFlagsData, Signature, Value, types,
};
use gbxcule_ir::{Arg, FunctionId, List, Module, PassMode, Scalar, Shape, Type};

/// Values of more scalars are passed as pointers.
const MAX_PASSED: u64 = 8;

/// A result taken apart: what goes through registers or block parameters, and what through memory.
#[derive(Debug)]
enum ResultParts {
    Leaves(Vec<Scalar>),
    Memory { size: u64, align: u64 },
    Parts(Vec<Self>),
}

impl ResultParts {
    fn new(module: &Module, flats: &mut Flats, ty: Type) -> Self {
        if let Shape::Tuple(parts) = &module.types[ty] {
            return Self::Parts(parts.iter().map(|&part| Self::new(module, flats, part)).collect());
        }
        let flat = flats.of(module, ty);
        if flat.is_large() {
            let align = module.types.layout(ty).map_or(1, |layout| u64::from(layout.align));
            return Self::Memory { size: flat.size, align };
        }
        Self::Leaves(flat.leaves.iter().map(|leaf| leaf.scalar).collect())
    }

    /// Visits all that isn't a tuple, in order.
    fn each(&self, visit: &mut impl FnMut(&Self)) {
        match self {
            Self::Parts(parts) => parts.iter().for_each(|part| part.each(visit)),
            other => visit(other),
        }
    }

    /// The only scalar, if there is nothing else.
    fn single(&self) -> Option<Scalar> {
        let (mut scalars, mut others) = (Vec::new(), false);
        self.each(&mut |part| match part {
            Self::Leaves(leaves) => scalars.extend(leaves),
            _ => others = true,
        });
        (scalars.len() == 1 && !others).then(|| scalars[0])
    }

    /// Bytes for everything, a scalar in 8 each.
    fn size(&self) -> u64 {
        let mut size = 0;
        self.each(&mut |part| {
            size += match part {
                Self::Leaves(leaves) => 8 * leaves.len() as u64,
                Self::Memory { size, .. } => size.next_multiple_of(16),
                Self::Parts(_) => 0,
            };
        });
        size
    }

    /// Puts a value together from its scalars and addresses in order.
    fn assemble(&self, next: &mut impl FnMut(Option<Scalar>, u64) -> Value) -> LoweredValue {
        match self {
            Self::Leaves(leaves) => {
                LoweredValue::from_leaves(leaves.iter().map(|&leaf| next(Some(leaf), 8)).collect())
            }
            Self::Memory { size, .. } => {
                LoweredValue::Memory(next(None, size.next_multiple_of(16)))
            }
            Self::Parts(parts) => {
                LoweredValue::Parts(parts.iter().map(|part| part.assemble(next)).collect())
            }
        }
    }

    /// Takes a value apart into scalars and addresses, with what each is.
    fn take_apart(&self, val: &LoweredValue, visit: &mut impl FnMut(&Self, Value)) {
        match (self, val) {
            (Self::Parts(parts), LoweredValue::Parts(vals)) => {
                parts.iter().zip(vals.iter()).for_each(|(part, val)| part.take_apart(val, visit));
            }
            (Self::Memory { .. }, LoweredValue::Memory(address)) => visit(self, *address),
            _ => val.leaves().iter().for_each(|&leaf| visit(self, leaf)),
        }
    }
}

/// The signature of a function out of line.
pub(super) fn signature(
    module: &Module,
    plan: &Plan,
    options: Options,
    flats: &mut Flats,
    id: FunctionId,
) -> Signature {
    let (function, decided) = (&module.functions[id], plan.of(id));
    let mut signature = Signature::new(options.target.default_call_conv);
    let result = ResultParts::new(module, flats, function.result);
    signature.params.push(AbiParam::new(types::I64));
    if result.single().is_none() && result.size() > 0 {
        signature.params.push(AbiParam::new(types::I64));
    }
    signature.params.extend((0..decided.dims).map(|_| AbiParam::new(types::I64)));
    for param in &function.params {
        let flat = flats.of(module, param.ty);
        if param.mode == PassMode::Value && flat.count <= MAX_PASSED {
            let leaves = flat.leaves.iter().map(|leaf| AbiParam::new(clif_type(leaf.scalar)));
            signature.params.extend(leaves);
        } else {
            signature.params.push(AbiParam::new(types::I64));
        }
    }
    if decided.can_fault {
        signature.returns.push(AbiParam::new(types::I32));
    }
    signature.returns.extend(result.single().map(|of| AbiParam::new(clif_type(of))));
    signature
}

impl Lowerer<'_, '_> {
    /// Lowers a function that is called out of line.
    pub(super) fn callable(&mut self, id: FunctionId) {
        let function = &self.module.functions[id];
        let entry = self.b.create_block();
        self.b.append_block_params_for_function_params(entry);
        self.b.switch_to_block(entry);
        self.b.seal_block(entry);
        let given: Vec<Value> = self.b.block_params(entry).to_vec();
        let mut given = given.into_iter();
        let mut next = || given.next().unwrap_or_else(|| unreachable!("as the signature says"));
        let result = ResultParts::new(self.module, self.flats, function.result);
        self.record = next();
        self.register_result = result.single();
        let in_memory = result.single().is_none() && result.size() > 0;
        let results = in_memory.then(&mut next);
        self.lanes[0].coordinates = (0..self.plan.of(id).dims).map(|_| next()).collect();
        let mut params = Vec::with_capacity(function.params.len());
        for (at, param) in function.params.iter().enumerate() {
            let flat = self.flats.of(self.module, param.ty);
            params.push(if param.mode != PassMode::Value {
                BoundParam::Place(LoweredPlace::Memory { address: next(), offset: 0 })
            } else if flat.count <= MAX_PASSED {
                BoundParam::Value(LoweredValue::from_leaves(
                    flat.leaves.iter().map(|_| next()).collect(),
                ))
            } else if flat.is_large() || self.plan.of(id).memory_params[at] {
                BoundParam::Value(LoweredValue::Memory(next()))
            } else {
                let loc = LoweredPlace::Memory { address: next(), offset: 0 };
                BoundParam::Value(self.read(&loc, param.ty))
            });
        }
        self.enter(id, params, Exit::Return { results });
        self.run_frame();
    }

    /// Lowers the body of the innermost frame and all that is called in place.
    pub(super) fn run_frame(&mut self) {
        let root = self.body().root;
        self.todo.extend([LoweringTask::Leave, LoweringTask::Stmts(root, 0)]);
        self.run();
    }

    /// Calls a function, for every thread; `value` becomes its result.
    pub(super) fn call(&mut self, value: gbxcule_ir::Value, id: FunctionId, args: List<Arg>) {
        if self.plan.of(id).inline {
            self.call_in_place(value, id, args);
        } else {
            self.is_dirty = true;
            self.each_lane(|lowerer| {
                let bound = lowerer.bind(args);
                let result = lowerer.call_out_of_line(id, bound);
                lowerer.define(value, result);
            });
        }
    }

    fn bind(&mut self, args: List<Arg>) -> Vec<BoundParam> {
        let args = &self.body().arg_lists[args];
        let bound = args.iter().map(|arg| match *arg {
            Arg::Value(value) => BoundParam::Value(self.val(value)),
            Arg::Place(place) => BoundParam::Place(match self.place(place) {
                LoweredPlace::Value { val: LoweredValue::Memory(address), .. } => {
                    LoweredPlace::Memory { address, offset: 0 }
                }
                loc => loc,
            }),
        });
        bound.collect()
    }

    fn call_in_place(&mut self, value: gbxcule_ir::Value, id: FunctionId, args: List<Arg>) {
        let function = &self.module.functions[id];
        let result = ResultParts::new(self.module, self.flats, function.result);
        let rest = self.b.create_block();
        self.each_lane(|lowerer| {
            let mut slots = Vec::new();
            result.each(&mut |part| match part {
                ResultParts::Leaves(leaves) => leaves.iter().for_each(|&leaf| {
                    // The vector that a group passes is the first thread's.
                    let ty = match leaf {
                        Scalar::F32 if lowerer.is_packed() => types::F32X4,
                        _ => clif_type(leaf),
                    };
                    if lowerer.lane == 0 || !ty.is_vector() {
                        lowerer.b.append_block_param(rest, ty);
                    }
                }),
                ResultParts::Memory { size, .. } => slots.push(lowerer.slot(*size)),
                ResultParts::Parts(_) => {}
            });
            let bound = lowerer.bind(args);
            lowerer.enter(id, bound, Exit::Call { rest, slots, value });
        });
        self.todo.extend([LoweringTask::Leave, LoweringTask::Stmts(function.body.root, 0)]);
    }

    /// The end of a function's text.
    pub(super) fn leave_frame(&mut self) {
        let result = self.module.functions[self.frame().function].result;
        if result == Type::UNIT && !self.b.is_unreachable() {
            self.return_value(None);
        } else {
            self.never();
        }
        let mut leaves = Vec::new();
        if let Exit::Call { rest, .. } = self.frame().exit {
            self.b.seal_block(rest);
            self.b.switch_to_block(rest);
            leaves = self.b.block_params(rest).to_vec();
            let mark = self.frame().mark;
            self.forget_since(mark);
        }
        let vectors: Vec<Value> = leaves
            .iter()
            .copied()
            .filter(|&leaf| self.b.func.dfg.value_type(leaf).is_vector())
            .collect();
        leaves.retain(|leaf| !vectors.contains(leaf));
        let mut leaves = leaves.into_iter();
        let carried = ResultParts::new(self.module, self.flats, result);
        self.each_lane(|lowerer| {
            let mut vectors = vectors.iter();
            let Some(frame) = lowerer.lanes[lowerer.lane].frames.pop() else { return };
            let Exit::Call { slots, value, .. } = frame.exit else { return };
            let mut slots = slots.into_iter();
            let val = carried.assemble(&mut |leaf, _| {
                let leaf = leaf.and_then(|leaf| match leaf {
                    Scalar::F32 if lowerer.is_packed() => {
                        vectors.next().map(|&vector| lowerer.lane_of(vector, lowerer.lane))
                    }
                    _ => leaves.next(),
                });
                leaf.or_else(|| slots.next().map(|slot| lowerer.slot_address(slot)))
                    .unwrap_or_else(|| unreachable!("made when the call began"))
            });
            lowerer.define(value, val);
        });
    }

    /// Leaves the innermost frame with a result.
    pub(super) fn return_value(&mut self, value: Option<gbxcule_ir::Value>) {
        let ty = self.module.functions[self.frame().function].result;
        let carried = ResultParts::new(self.module, self.flats, ty);
        match self.frame().exit {
            Exit::Thread(latch) => {
                self.b.ins().jump(latch, &[]);
            }
            Exit::Return { results } => {
                let val = self.value_or_unit(value);
                self.return_from(&carried, &val, results);
            }
            Exit::Call { rest, .. } => {
                let mut args = vec![Vec::new(); self.lanes.len()];
                self.each_lane(|lowerer| {
                    let mut own = Vec::new();
                    lowerer.pass_result(&carried, value, &mut own);
                    args[lowerer.lane] = own;
                });
                let args = self.joined(&args);
                self.b.ins().jump(rest, &args);
            }
        }
    }

    /// Results of all threads as block parameters: the `f32` of a group as vectors, in place of the
    /// first thread's.
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

    fn value_or_unit(&self, value: Option<gbxcule_ir::Value>) -> LoweredValue {
        value.map_or_else(|| LoweredValue::Parts([].into()), |value| self.val(value))
    }

    /// Puts a thread's result where its caller in the same function takes it up.
    fn pass_result(
        &mut self,
        carried: &ResultParts,
        value: Option<gbxcule_ir::Value>,
        args: &mut Vec<Value>,
    ) {
        let val = self.value_or_unit(value);
        let Exit::Call { slots, .. } = self.frame().exit.clone() else { return };
        let mut slots = slots.into_iter();
        carried.take_apart(&val, &mut |part, value| match part {
            ResultParts::Memory { size, align } => {
                let Some(slot) = slots.next() else { return };
                let to = self.slot_address(slot);
                self.copy(to, value, *size, *align);
            }
            _ => args.push(value),
        });
    }

    fn return_from(&mut self, carried: &ResultParts, val: &LoweredValue, results: Option<Value>) {
        let mut registers = Vec::new();
        if self.plan.of(self.frame().function).can_fault {
            registers.push(self.b.ins().iconst(types::I32, 0));
        }
        let mut offset = 0;
        carried.take_apart(val, &mut |part, value| match (part, results) {
            (_, None) => registers.push(value),
            (ResultParts::Memory { size, align }, Some(results)) => {
                let to = self.b.ins().iadd_imm_s(results, offset);
                self.copy(to, value, *size, *align);
                offset += size.next_multiple_of(16) as i64;
            }
            (_, Some(results)) => {
                let flags = MemFlagsData::new().with_notrap();
                self.b.ins().store(flags, value, results, offset as i32);
                offset += 8;
            }
        });
        self.b.ins().return_(&registers);
    }

    fn call_out_of_line(&mut self, id: FunctionId, bound: Vec<BoundParam>) -> LoweredValue {
        let (function, decided) = (&self.module.functions[id], self.plan.of(id));
        let result = ResultParts::new(self.module, self.flats, function.result);
        let mut args = vec![self.record];
        let results = (result.single().is_none() && result.size() > 0).then(|| {
            let slot = self.slot(result.size());
            self.slot_address(slot)
        });
        args.extend(results);
        args.extend(&self.current_lane().coordinates[..usize::from(decided.dims)]);
        for (bound, param) in bound.into_iter().zip(&function.params) {
            match bound {
                BoundParam::Place(loc) => args.push(self.address(&loc)),
                BoundParam::Value(val) if self.flat(param.ty).count <= MAX_PASSED => {
                    args.extend(val.leaves());
                }
                BoundParam::Value(val) => args.push(self.in_memory(&val, param.ty)),
            }
        }
        let signature = signature(self.module, self.plan, self.options, self.flats, id);
        let position = if decided.is_external {
            self.import_position(Import::External(id))
        } else {
            decided.position.unwrap_or_default()
        };
        let callee = self.function_ref(position, signature);
        let call = self.b.ins().call(callee, &args);
        let mut given: Vec<Value> = self.b.inst_results(call).to_vec();
        if decided.can_fault {
            let status = given.remove(0);
            self.pass_on(status);
        }
        let mut offset = 0;
        result.assemble(&mut |leaf, size| {
            let Some(results) = results else { return given[0] };
            let at = offset;
            offset += size as i64;
            match leaf {
                Some(of) => {
                    let flags = MemFlagsData::new().with_notrap();
                    self.b.ins().load(clif_type(of), flags, results, at as i32)
                }
                None => self.b.ins().iadd_imm_s(results, at),
            }
        })
    }
}
