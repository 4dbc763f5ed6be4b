//! The third layer: code for one thread, which knows the frames of its functions and the values and
//! places of the IR in them.
//!
//! Kernels whose control flow is the same for all threads are lowered for several at once,
//! statement by statement, so that the machine can work on several threads' instructions at a time;
//! one thread is selected at a time.

mod array;
mod atomic;
mod call;
mod operation;
mod place;

use crate::code::zero_of;
use crate::proven::Proven;
use crate::shape::clif_type;
use crate::typed::{GROUP, LoweredPlace, LoweredValue, Storage, TypedCode};
use cranelift_codegen::ir::{Block, InstBuilder, StackSlot, Value, types};
use cranelift_frontend::Variable;
use gbxcule_ir::{Body, FunctionId, LocalId, PassMode, Scalar, Type};
use std::ops::{Deref, DerefMut};

/// Value or place that a parameter is bound to.
#[derive(Clone, Debug)]
pub(crate) enum BoundParam {
    Value(LoweredValue),
    Place(LoweredPlace),
}

/// Ways of leaving a frame.
#[derive(Clone, Debug)]
pub(crate) enum Exit {
    /// The function returns; large results go to the address `results`.
    Return { results: Option<Value> },
    /// The thread ends; the next one begins at the block.
    Thread(Block),
    /// Control goes on in the caller, where `value` is defined.
    Call { continuation: Block, slots: Vec<StackSlot>, value: gbxcule_ir::Value },
}

/// Function being lowered, in place or by itself.
pub(crate) struct InlineFrame<'a> {
    pub(crate) function: FunctionId,
    pub(crate) body: &'a Body,
    pub(crate) values: Vec<Option<LoweredValue>>,
    pub(crate) locals: Vec<Storage>,
    pub(crate) params: Vec<BoundParam>,
    pub(crate) exit: Exit,
    /// Results of each return so far, for a call in place.
    pub(crate) returned: Vec<Vec<Value>>,
    /// Lowest and highest value of loop indices that count up from a constant.
    pub(crate) counted: Vec<(gbxcule_ir::Value, [i64; 2])>,
    /// Targets of `Break` and `Continue`, for each open loop.
    pub(crate) loops: Vec<(Block, Block)>,
    /// Mark of the facts that held when the function began.
    pub(crate) mark: usize,
}

/// A thread being lowered, alone or in a group.
#[derive(Default)]
pub(crate) struct Lane<'a> {
    pub(crate) frames: Vec<InlineFrame<'a>>,
    /// Number of the thread, in a kernel.
    pub(crate) thread: Option<Value>,
    /// Launch index in the dimensions that the kernel asks for.
    pub(crate) coordinates: Vec<Value>,
}

/// Code that knows the values and places of the IR.
pub(crate) struct ThreadCode<'a, 'f> {
    typed: TypedCode<'a, 'f>,
    lanes: Vec<Lane<'a>>,
    proven: Proven,
}

impl<'a, 'f> Deref for ThreadCode<'a, 'f> {
    type Target = TypedCode<'a, 'f>;

    fn deref(&self) -> &Self::Target {
        &self.typed
    }
}

impl DerefMut for ThreadCode<'_, '_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.typed
    }
}

impl<'a, 'f> ThreadCode<'a, 'f> {
    pub(crate) fn new(typed: TypedCode<'a, 'f>) -> Self {
        Self { typed, lanes: Vec::new(), proven: Proven::default() }
    }

    /// Returns the layer below.
    pub(crate) fn into_typed(self) -> TypedCode<'a, 'f> {
        self.typed
    }

    /// Sets the threads that are lowered next; their `f32` may go into vectors if they are a group.
    pub(crate) fn begin_threads(&mut self, lanes: Vec<Lane<'a>>, packs: bool) {
        self.typed.begin_threads(packs && lanes.len() == GROUP);
        self.lanes = lanes;
        self.select_lane(0);
    }

    /// Returns true if several threads are lowered at once.
    pub(crate) fn is_group(&self) -> bool {
        self.lanes.len() == GROUP
    }

    pub(crate) fn lanes(&self) -> &[Lane<'a>] {
        &self.lanes
    }

    /// Returns the facts that hold at the current point of the code.
    pub(crate) fn proven(&mut self) -> &mut Proven {
        &mut self.proven
    }

    /// Selects one of the threads.
    pub(crate) fn select_lane(&mut self, lane: usize) {
        self.typed.set_lane(lane);
        let thread = self.lanes[lane].thread;
        self.set_thread(thread);
    }

    /// Leaves the innermost frame of the selected thread.
    pub(crate) fn pop_frame(&mut self) -> Option<InlineFrame<'a>> {
        let lane = self.lane();
        self.lanes[lane].frames.pop()
    }

    /// Returns the thread that is lowered now.
    pub(crate) fn current_lane(&self) -> &Lane<'a> {
        &self.lanes[self.lane()]
    }

    /// Calls `act` for every thread.
    pub(crate) fn each_lane(&mut self, mut act: impl FnMut(&mut Self)) {
        for lane in 0..self.lanes.len() {
            self.select_lane(lane);
            act(self);
        }
        self.select_lane(0);
    }

    /// Calls `of` for each thread of a group and returns the results in order.
    pub(crate) fn of_each<T>(&mut self, mut of: impl FnMut(&mut Self) -> T) -> [T; GROUP] {
        let all = std::array::from_fn(|lane| {
            self.select_lane(lane);
            of(self)
        });
        self.select_lane(0);
        all
    }

    pub(crate) fn frame(&self) -> &InlineFrame<'a> {
        self.current_lane()
            .frames
            .last()
            .unwrap_or_else(|| unreachable!("statements are lowered in a frame"))
    }

    pub(crate) fn frame_mut(&mut self) -> &mut InlineFrame<'a> {
        let lane = self.lane();
        let frames = &mut self.lanes[lane].frames;
        frames.last_mut().unwrap_or_else(|| unreachable!("statements are lowered in a frame"))
    }

    pub(crate) fn body(&self) -> &'a Body {
        self.frame().body
    }

    pub(crate) fn ty(&self, value: gbxcule_ir::Value) -> Type {
        self.body().type_of(value)
    }

    /// Returns the lowered form of a visible value.
    pub(crate) fn val(&self, value: gbxcule_ir::Value) -> LoweredValue {
        match &self.frame().values[value.index()] {
            Some(val) => val.clone(),
            None => unreachable!("check rule 3: values are defined before they are used"),
        }
    }

    /// Returns the lowered form of a visible scalar.
    pub(crate) fn scalar(&self, value: gbxcule_ir::Value) -> Value {
        match self.frame().values[value.index()] {
            Some(LoweredValue::One(value)) => value,
            Some(LoweredValue::Leaves(ref leaves)) if leaves.len() == 1 => leaves[0],
            _ => unreachable!("check rule 4: a scalar"),
        }
    }

    pub(crate) fn define(&mut self, value: gbxcule_ir::Value, val: LoweredValue) {
        self.frame_mut().values[value.index()] = Some(val);
    }

    /// Begins a frame, whose variables are zero.
    pub(crate) fn enter(&mut self, function: FunctionId, params: Vec<BoundParam>, exit: Exit) {
        let body = &self.cx.module.functions[function].body;
        let params = self.spill(function, params);
        let plan = self.cx.plan.of(function);
        let mut locals = Vec::with_capacity(body.locals.len());
        for (id, local) in body.locals.iter() {
            let flat = self.cx.flats.of(local.ty);
            locals.push(if plan.memory_locals[id.index()] {
                let slot = self.slot(flat.size);
                if !local.scratch {
                    self.clear(slot, flat.size);
                }
                Storage::Slot(slot)
            } else if plan.vector_locals[id.index()] && !self.is_packed() {
                Storage::Vector(self.vector_variable())
            } else {
                let vars = flat.leaves.iter().enumerate().map(|(at, leaf)| {
                    if self.is_packed() && leaf.scalar == Scalar::F32 {
                        return self.group_variable(id, at);
                    }
                    let zero = zero_of(&mut self.b, leaf.scalar);
                    let var = self.b.declare_var(clif_type(leaf.scalar));
                    self.b.def_var(var, zero);
                    var
                });
                Storage::Vars(vars.collect())
            });
        }
        let values = vec![None; body.values.len()];
        let mark = self.proven.mark();
        let lane = self.lane();
        self.lanes[lane].frames.push(InlineFrame {
            function,
            body,
            values,
            locals,
            params,
            exit,
            returned: Vec::new(),
            counted: Vec::new(),
            loops: Vec::new(),
            mark,
        });
    }

    /// Returns a variable that holds the vector of a whole group. The first thread, whose frame is
    /// made first, declares it.
    fn group_variable(&mut self, local: LocalId, at: usize) -> Variable {
        if self.lane() > 0 {
            let frame = self.lanes[0].frames.last();
            match frame.map(|frame| &frame.locals[local.index()]) {
                Some(Storage::Vars(vars)) => return vars[at],
                _ => unreachable!("threads of a group have variables alike"),
            }
        }
        self.vector_variable()
    }

    /// Declares a variable of four `f32`, which are zero.
    fn vector_variable(&mut self) -> Variable {
        let zero = zero_of(&mut self.b, Scalar::F32);
        let zero = self.b.ins().splat(types::F32X4, zero);
        let var = self.b.declare_var(types::F32X4);
        self.b.def_var(var, zero);
        var
    }

    /// Puts by-value parameters that are indexed into memory.
    fn spill(&mut self, function: FunctionId, params: Vec<BoundParam>) -> Vec<BoundParam> {
        let declared = &self.cx.module.functions[function].params;
        let in_memory = &self.cx.plan.of(function).memory_params;
        let bound = params.into_iter().zip(declared).zip(in_memory);
        let mut spilled = Vec::with_capacity(declared.len());
        for ((bound, param), &in_memory) in bound {
            spilled.push(match bound {
                BoundParam::Value(val @ (LoweredValue::One(_) | LoweredValue::Leaves(_)))
                    if in_memory && param.mode == PassMode::Value =>
                {
                    BoundParam::Value(LoweredValue::Memory(self.in_memory(&val, param.ty)))
                }
                other => other,
            });
        }
        spilled
    }
}
