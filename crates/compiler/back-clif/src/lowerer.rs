//! The state of lowering one function, and its beginning and end.
//!
//! A function lowered in place at a call is an [`InlineFrame`] on top of its caller's. The work
//! left is a stack of [`super::control::LoweringTask`]s, so that no input makes this recurse
//! deeply.

use super::control::LoweringTask;
use super::group::Group;
use super::lowered_module::{Import, LoweredModule};
use super::plan::Plan;
use super::proven::{Mark, Proven};
use super::shape::{Flat, Flats, clif_type};
use super::{Options, entry};
use cranelift_codegen::ir::{
    self, AbiParam, Block, ExtFuncData, ExternalName, FuncRef, GlobalValueData, InstBuilder,
    Signature, StackSlot, UserExternalName, UserFuncName, Value, types,
};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Variable};
use gbxcule_ir::check::Valid;
use gbxcule_ir::source::Span;
use gbxcule_ir::{
    Body, FunctionId, FunctionKind, LocalId, Module, PassMode, Scalar, TableId, Type,
};
use std::collections::HashMap;
use std::rc::Rc;

/// Buffers that are kept from function to function.
pub(super) struct Scratch {
    builder: FunctionBuilderContext,
    flats: Flats,
}

impl Scratch {
    pub(super) fn new(module: &Module) -> Self {
        Self { builder: FunctionBuilderContext::new(), flats: Flats::new(module) }
    }
}

/// A value of the IR.
#[derive(Clone, Debug)]
pub(super) enum LoweredValue {
    /// A single scalar.
    One(Value),
    /// All scalars of a small composite.
    Leaves(Rc<[Value]>),
    /// The address of a large composite, which never changes.
    Memory(Value),
    /// The parts of a tuple.
    Parts(Rc<[Self]>),
}

/// Storage of a variable.
#[derive(Clone, Debug)]
pub(super) enum Storage {
    Vars(Rc<[Variable]>),
    Slot(StackSlot),
}

/// A place that was found.
#[derive(Clone, Debug)]
pub(super) enum LoweredPlace {
    /// Scalars of a variable from `first` on.
    Vars {
        vars: Rc<[Variable]>,
        first: usize,
    },
    /// Scalars of a value that is only read, from `first` on.
    Value {
        val: LoweredValue,
        first: usize,
    },
    Memory {
        address: Value,
        offset: i32,
    },
}

/// Value or place that a parameter is bound to.
#[derive(Clone, Debug)]
pub(super) enum BoundParam {
    Value(LoweredValue),
    Place(LoweredPlace),
}

/// Ways of leaving a frame.
#[derive(Clone, Debug)]
pub(super) enum Exit {
    /// The function returns; large results go where the pointer points.
    Return { results: Option<Value> },
    /// The thread ends: on to the next.
    Thread(Block),
    /// Control goes on in the caller, where `value` becomes defined.
    Call { rest: Block, slots: Vec<StackSlot>, value: gbxcule_ir::Value },
}

/// One function being lowered, in place or not.
pub(super) struct InlineFrame<'a> {
    pub(super) function: FunctionId,
    pub(super) body: &'a Body,
    pub(super) values: Vec<Option<LoweredValue>>,
    pub(super) locals: Vec<Storage>,
    pub(super) params: Vec<BoundParam>,
    pub(super) exit: Exit,
    /// Place of the call.
    pub(super) called_at: Span,
    /// Loop indices that are never negative.
    pub(super) upward: Vec<gbxcule_ir::Value>,
    /// Targets of `Break` and `Continue`, for each open loop.
    pub(super) loops: Vec<(Block, Block)>,
    /// The facts that were known when it began.
    pub(super) mark: Mark,
}

/// A thread being lowered. Kernels whose control flow is the same for all threads are lowered for
/// several at once, statement by statement, so that the machine always has something to do.
#[derive(Default)]
pub(super) struct Lane<'a> {
    pub(super) frames: Vec<InlineFrame<'a>>,
    /// Number of the thread, in a kernel.
    pub(super) thread: Option<Value>,
    /// Launch index by dimension, as far as it is asked for.
    pub(super) coordinates: Vec<Value>,
}

pub(super) struct Lowerer<'a, 'f> {
    pub(super) module: &'a Valid<Module>,
    pub(super) plan: &'a Plan,
    pub(super) options: Options,
    pub(super) program: &'a mut LoweredModule,
    pub(super) flats: &'a mut Flats,
    pub(super) b: FunctionBuilder<'f>,
    pub(super) lanes: Vec<Lane<'a>>,
    /// The one that is lowered now; 0 when control flow is.
    pub(super) lane: usize,
    pub(super) todo: Vec<LoweringTask<'a>>,
    pub(super) group: Group,
    pub(super) proven: Proven,
    /// Block in which a group of threads begins again, one thread at a time.
    pub(super) bail: Option<Block>,
    /// True if `f32` of a group go into vectors.
    pub(super) packs: bool,
    /// True if threads may have written something.
    pub(super) is_dirty: bool,
    pub(super) record: Value,
    /// Scalar that a function out of line returns in a register.
    pub(super) register_result: Option<Scalar>,
    pub(super) fault_exit: Option<Block>,
    pub(super) status_exit: Option<Block>,
    pub(super) span: Span,
    functions: HashMap<u32, FuncRef>,
    tables: HashMap<TableId, ir::GlobalValue>,
}

/// Lowers a function that is called out of line, or a kernel.
pub(super) fn lower(
    module: &Valid<Module>,
    plan: &Plan,
    options: Options,
    program: &mut LoweredModule,
    scratch: &mut Scratch,
    id: FunctionId,
) -> ir::Function {
    let position = plan.of(id).position.unwrap_or_default();
    let is_kernel = module.functions[id].kind == FunctionKind::Kernel;
    let signature = if is_kernel {
        entry::signature(options)
    } else {
        super::call::signature(module, plan, options, &mut scratch.flats, id)
    };
    let name = UserFuncName::user(0, position as u32);
    let mut ir = ir::Function::with_name_signature(name, signature);
    let b = FunctionBuilder::new(&mut ir, &mut scratch.builder);
    let mut lowerer = Lowerer {
        module,
        plan,
        options,
        program,
        flats: &mut scratch.flats,
        b,
        lanes: vec![Lane::default()],
        lane: 0,
        todo: Vec::new(),
        group: Group::default(),
        proven: Proven::default(),
        bail: None,
        packs: plan.of(id).packs(),
        is_dirty: false,
        record: Value::from_u32(0),
        register_result: None,
        fault_exit: None,
        status_exit: None,
        span: Span::NONE,
        functions: HashMap::new(),
        tables: HashMap::new(),
    };
    if is_kernel {
        lowerer.kernel(id);
    } else {
        lowerer.callable(id);
    }
    lowerer.close_exits();
    lowerer.b.seal_all_blocks();
    lowerer.b.finalize(options.target);
    ir
}

impl<'a> Lowerer<'a, '_> {
    /// The thread that is lowered now.
    pub(super) fn current_lane(&self) -> &Lane<'a> {
        &self.lanes[self.lane]
    }

    /// Does something for every thread.
    pub(super) fn each_lane(&mut self, mut act: impl FnMut(&mut Self)) {
        for lane in 0..self.lanes.len() {
            self.lane = lane;
            act(self);
        }
        self.lane = 0;
    }

    pub(super) fn frame(&self) -> &InlineFrame<'a> {
        self.current_lane()
            .frames
            .last()
            .unwrap_or_else(|| unreachable!("statements are lowered in a frame"))
    }

    pub(super) fn frame_mut(&mut self) -> &mut InlineFrame<'a> {
        let frames = &mut self.lanes[self.lane].frames;
        frames.last_mut().unwrap_or_else(|| unreachable!("statements are lowered in a frame"))
    }

    /// Returns true if the function in hand is checked, wherever it is lowered.
    pub(super) fn is_checked(&self) -> bool {
        self.options.checks.of(&self.module.functions[self.frame().function])
    }

    pub(super) fn body(&self) -> &'a Body {
        self.frame().body
    }

    pub(super) fn ty(&self, value: gbxcule_ir::Value) -> Type {
        self.body().type_of(value)
    }

    pub(super) fn flat(&mut self, ty: Type) -> Rc<Flat> {
        self.flats.of(self.module, ty)
    }

    /// Value of the IR that is visible, as lowered.
    pub(super) fn val(&self, value: gbxcule_ir::Value) -> LoweredValue {
        match &self.frame().values[value.index()] {
            Some(val) => val.clone(),
            None => unreachable!("check rule 3: values are defined before they are used"),
        }
    }

    /// Scalar of the IR that is visible, as lowered.
    pub(super) fn scalar(&self, value: gbxcule_ir::Value) -> Value {
        match self.frame().values[value.index()] {
            Some(LoweredValue::One(value)) => value,
            Some(LoweredValue::Leaves(ref leaves)) if leaves.len() == 1 => leaves[0],
            _ => unreachable!("check rule 4: a scalar"),
        }
    }

    pub(super) fn define(&mut self, value: gbxcule_ir::Value, val: LoweredValue) {
        self.frame_mut().values[value.index()] = Some(val);
    }

    /// Begins a frame: variables are made and hold zero.
    pub(super) fn enter(&mut self, function: FunctionId, params: Vec<BoundParam>, exit: Exit) {
        let body = &self.module.functions[function].body;
        let params = self.spill(function, params);
        let kept = &self.plan.of(function).memory_locals;
        let mut locals = Vec::with_capacity(body.locals.len());
        for (id, local) in body.locals.iter() {
            let flat = self.flat(local.ty);
            locals.push(if kept[id.index()] {
                let slot = self.slot(flat.size);
                if !local.scratch {
                    self.clear(slot, flat.size);
                }
                Storage::Slot(slot)
            } else {
                let vars = flat.leaves.iter().enumerate().map(|(at, leaf)| {
                    if self.is_packed() && leaf.scalar == Scalar::F32 {
                        return self.group_variable(id, at);
                    }
                    let zero = self.zero_of(leaf.scalar);
                    let var = self.b.declare_var(clif_type(leaf.scalar));
                    self.b.def_var(var, zero);
                    var
                });
                Storage::Vars(vars.collect())
            });
        }
        let values = vec![None; body.values.len()];
        let mark = self.mark();
        let called_at = self.span;
        self.lanes[self.lane].frames.push(InlineFrame {
            function,
            body,
            values,
            locals,
            params,
            exit,
            called_at,
            upward: Vec::new(),
            loops: Vec::new(),
            mark,
        });
    }

    /// A variable of a group of threads, a vector of all of theirs. The first thread, whose frame
    /// is made first, makes it.
    fn group_variable(&mut self, local: LocalId, at: usize) -> Variable {
        if self.lane > 0 {
            let frame = self.lanes[0].frames.last();
            match frame.map(|frame| &frame.locals[local.index()]) {
                Some(Storage::Vars(vars)) => return vars[at],
                _ => unreachable!("threads of a group have variables alike"),
            }
        }
        let zero = self.zero_of(Scalar::F32);
        let zero = self.b.ins().splat(types::F32X4, zero);
        let var = self.b.declare_var(types::F32X4);
        self.b.def_var(var, zero);
        var
    }

    /// Puts those by-value parameters into memory that are indexed there.
    fn spill(&mut self, function: FunctionId, params: Vec<BoundParam>) -> Vec<BoundParam> {
        let declared = &self.module.functions[function].params;
        let kept = &self.plan.of(function).memory_params;
        let bound = params.into_iter().zip(declared).zip(kept);
        let mut spilled = Vec::with_capacity(declared.len());
        for ((bound, param), &kept) in bound {
            spilled.push(match bound {
                BoundParam::Value(val @ (LoweredValue::One(_) | LoweredValue::Leaves(_)))
                    if kept && param.mode == PassMode::Value =>
                {
                    BoundParam::Value(LoweredValue::Memory(self.in_memory(&val, param.ty)))
                }
                other => other,
            });
        }
        spilled
    }

    /// A function of the program by its position in [`Plan::emitted`].
    pub(super) fn function_ref(&mut self, position: usize, signature: Signature) -> FuncRef {
        self.reference(position as u32, signature)
    }

    /// The position of an import after the program's own functions.
    pub(super) fn import_position(&mut self, import: Import) -> usize {
        self.plan.emitted().len() + self.program.import(import)
    }

    /// Calls a function of the runtime.
    pub(super) fn call_import(&mut self, import: Import, args: &[Value]) -> Option<Value> {
        let position = self.import_position(import);
        let mut signature = Signature::new(self.options.target.default_call_conv);
        let params = args.iter().map(|&arg| AbiParam::new(self.b.func.dfg.value_type(arg)));
        signature.params.extend(params);
        if let Import::Native(_, of) | Import::Remainder(of) = import {
            signature.returns.push(AbiParam::new(clif_type(of)));
        }
        let callee = self.reference(position as u32, signature);
        let call = self.b.ins().call(callee, args);
        self.b.inst_results(call).first().copied()
    }

    fn reference(&mut self, position: u32, signature: Signature) -> FuncRef {
        if let Some(&known) = self.functions.get(&position) {
            return known;
        }
        let name = UserExternalName { namespace: 0, index: position };
        let name = ExternalName::user(self.b.func.declare_imported_user_function(name));
        let signature = self.b.import_signature(signature);
        let data = ExtFuncData { name, signature, colocated: false, patchable: false };
        let reference = self.b.import_function(data);
        self.functions.insert(position, reference);
        reference
    }

    /// The address of a constant table.
    pub(super) fn table_address(&mut self, table: TableId) -> Value {
        let global = match self.tables.get(&table) {
            Some(&global) => global,
            None => {
                let index = self.program.table(table) as u32;
                let name = UserExternalName { namespace: 1, index };
                let name = ExternalName::user(self.b.func.declare_imported_user_function(name));
                let data = GlobalValueData::Symbol {
                    name,
                    offset: 0.into(),
                    colocated: false,
                    tls: false,
                };
                let global = self.b.create_global_value(data);
                self.tables.insert(table, global);
                global
            }
        };
        self.b.ins().symbol_value(types::I64, global)
    }

    /// Zero of a scalar type.
    pub(super) fn zero_of(&mut self, scalar: Scalar) -> Value {
        match scalar {
            Scalar::F32 => self.b.ins().f32const(0.0),
            Scalar::F64 => self.b.ins().f64const(0.0),
            _ => self.b.ins().iconst(clif_type(scalar), 0),
        }
    }
}
