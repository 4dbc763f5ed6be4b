//! Decisions before lowering: which functions are lowered in place, which can fault, and which
//! variables lie in memory because an index that is known only at run time selects their parts.

use super::Boundary;
use super::access::{self, Accesses};
use super::exclusive::Exclusivity;
use super::lowered_module::Entry;
use super::order::GroupOrder;
use super::shape::Flats;
use gbxcule_ir::abi::Checks;
use gbxcule_ir::check::Valid;
use gbxcule_ir::op::{Arg, BinaryOp, Op};
use gbxcule_ir::walk::{Use, any_stmt, stmt_blocks, stmt_uses, walk_stmts};
use gbxcule_ir::{
    Body, Function, FunctionId, FunctionKind, Inline, Module, PassMode, PlaceId, Projection, Root,
    Scalar, Shape, StmtKind,
};

/// Greatest number of operations of a function that goes inline at every call, with callees lowered
/// in place.
const MAX_SMALL: u64 = 120;
/// Greatest number of operations of a function without branches and loops that goes inline at every
/// call, if no call stands in a loop: there a group of threads computes it by vectors.
const MAX_STRAIGHT: u64 = 160;
/// Greatest number of operations of a function that goes inline because it is called only twice.
const MAX_CALLED_TWICE: u64 = 400;
/// Greatest number of operations of a function that goes inline because it is called once.
const MAX_CALLED_ONCE: u64 = 4_000;
/// Greatest number of operations of a function with `Inline::Always` that goes inline.
const MAX_ALWAYS: u64 = 20_000;
/// Greatest number of operations of a kernel with loops that is lowered for several threads at
/// once.
const MAX_GROUPED: u64 = 1_000;
/// Greatest number of operations of a kernel without loops that is lowered for several threads at
/// once.
const MAX_GROUPED_STRAIGHT: u64 = 1_600;
/// Greatest number of branches of a function whose variables may lie in registers. The register
/// allocator compares each value with each variable that branches join, which takes seconds for ten
/// thousand of them.
const MAX_JOINED: usize = 2_000;
/// Cost assumed for a loop, whose number of iterations is unknown: enough that other threads help.
const LOOP_COST: u64 = 1 << 20;

/// Decisions about a function.
#[derive(Clone, Default, Debug)]
pub(crate) struct FunctionPlan {
    pub(crate) inline: bool,
    /// True if the function is defined outside the program.
    pub(crate) is_external: bool,
    pub(crate) can_fault: bool,
    /// Number of threads that are lowered at once, for a kernel.
    pub(crate) lanes: usize,
    /// Requirements on a launch's arrays for lowering several threads at once.
    pub(crate) order: GroupOrder,
    /// The only statement of a kernel that writes memory, if this is an atomic operation that each
    /// thread does once.
    pub(crate) lone_atomic: Option<gbxcule_ir::Value>,
    /// Conditions in which threads that are lowered at once may differ.
    pub(crate) split: Vec<gbxcule_ir::Value>,
    /// Number of leading dimensions of the grid that the function and its callees ask for.
    pub(crate) dims: u8,
    /// True if it calls natives that have no vector instruction.
    pub(crate) has_scalar_natives: bool,
    /// Variables that lie in stack slots.
    pub(crate) memory_locals: Vec<bool>,
    /// Variables of four `f32` that are only used as a whole.
    pub(crate) vector_locals: Vec<bool>,
    /// Parameters that must be passed in memory.
    pub(crate) memory_params: Vec<bool>,
    /// Arrays of which each element belongs to one thread; empty unless this is a kernel.
    pub(crate) exclusivity: Exclusivity,
    /// Position in [`Plan::emitted`].
    pub(crate) position: Option<usize>,
    /// Bytes of all its variables, with those of callees lowered in place.
    frame_bytes: u64,
    /// Bytes of the largest of its other callees, with that one's own callees.
    callee_bytes: u64,
    /// Approximate number of operations of a call; huge if there are loops.
    work: u64,
}

/// Decisions about a module.
#[derive(Debug)]
pub(crate) struct Plan {
    functions: Vec<FunctionPlan>,
    emitted: Vec<FunctionId>,
}

impl Plan {
    pub(crate) fn new(
        module: &Valid<Module>,
        flats: &Flats<'_>,
        boundary: Boundary<'_>,
        checks: Checks,
    ) -> Self {
        let calls = count_calls(module);
        let repeated = repeated(module);
        let mut functions = vec![FunctionPlan::default(); module.functions.len()];
        let mut costs = vec![0; module.functions.len()];
        for &id in module.call_order() {
            let function = &module.functions[id];
            let checked = checks.of(function);
            let context = Context { module, plans: &functions, costs: &costs };
            let (mut plan, cost) = of_function(&context, flats, function, checked);
            plan.is_external = boundary.externals.contains(&id);
            plan.can_fault &= !plan.is_external;
            costs[id.index()] = cost;
            let called = calls[id.index()];
            functions[id.index()] = plan;
            let stays_a_function =
                functions[id.index()].is_external || boundary.exports.contains(&id);
            // A search that is called in a loop stays a call and so has all registers. Inline, the
            // caller's values that live across other calls would be on the stack in the search.
            let is_repeated = repeated[id.index()];
            let is_search = checked && is_repeated && has_while(&function.body);
            // The root is the only block of a straight function.
            let is_straight = !is_repeated && function.body.blocks.len() == 1;
            functions[id.index()].inline = function.kind == FunctionKind::Callable
                && !stays_a_function
                && match function.inline {
                    Inline::Never => false,
                    Inline::Always => cost <= MAX_ALWAYS,
                    Inline::Auto if is_search => false,
                    Inline::Auto => cost <= most_inline(called, is_straight),
                };
            if function.kind == FunctionKind::Kernel {
                let accesses = access::accesses(module, id, boundary.externals);
                plan_threads(module, &mut functions, id, cost, accesses.as_ref());
            }
        }
        let mut plan = Self { functions, emitted: Vec::new() };
        plan.emit(module, boundary);
        plan
    }

    fn emit(&mut self, module: &Valid<Module>, boundary: Boundary<'_>) {
        let mut reached = vec![false; self.functions.len()];
        boundary.exports.iter().for_each(|export| reached[export.index()] = true);
        // The reversed order has callers before their callees.
        for &id in module.call_order().iter().rev() {
            reached[id.index()] |= module.functions[id].kind == FunctionKind::Kernel;
            if reached[id.index()] && !self.functions[id.index()].is_external {
                let callees = &module.facts(id).callees;
                callees.iter().for_each(|callee| reached[callee.index()] = true);
            }
        }
        for (id, _) in module.functions.iter() {
            let plan = &mut self.functions[id.index()];
            if reached[id.index()] && !plan.inline && !plan.is_external {
                plan.position = Some(self.emitted.len());
                self.emitted.push(id);
            }
        }
    }

    pub(crate) fn of(&self, function: FunctionId) -> &FunctionPlan {
        &self.functions[function.index()]
    }

    /// Returns the functions that are lowered by themselves.
    pub(crate) fn emitted(&self) -> &[FunctionId] {
        &self.emitted
    }

    /// Returns the kernels among them.
    pub(crate) fn entries(&self, module: &Module) -> Vec<Entry> {
        let kernels = self.emitted.iter().enumerate();
        let kernels = kernels.filter(|(_, id)| module.functions[**id].kind == FunctionKind::Kernel);
        let entry = |(position, &kernel): (usize, &FunctionId)| {
            let plan = self.of(kernel);
            let &FunctionPlan { dims, frame_bytes, callee_bytes, work, .. } = plan;
            let stack_bytes = frame_bytes.saturating_add(callee_bytes);
            let exclusive = plan.exclusivity.arrays.clone().into();
            let order = (plan.lanes > 1).then(|| plan.order.clone().into());
            Entry { kernel, position, dims, work, stack_bytes, exclusive, order }
        };
        kernels.map(entry).collect()
    }
}

/// Decides how many threads of a kernel are lowered at once, and which elements belong to one
/// thread.
fn plan_threads(
    module: &Valid<Module>,
    functions: &mut [FunctionPlan],
    id: FunctionId,
    cost: u64,
    accesses: Option<&Accesses>,
) {
    let dims = functions[id.index()].dims;
    let has_loops = functions[id.index()].has_loops();
    let most = if has_loops { MAX_GROUPED } else { MAX_GROUPED_STRAIGHT };
    // Constants are made once for all threads, so they don't count.
    let constants = module.functions[id].body.values.iter();
    let constants = constants.filter(|(_, data)| matches!(data.op, Op::Literal(_))).count();
    let is_small = cost.saturating_sub(constants as u64) <= most;
    let inline = |id: FunctionId| functions[id.index()].inline;
    let split = is_small.then(|| super::uniform::split(module, &inline, id)).flatten();
    let order = accesses.and_then(|accesses| GroupOrder::new(accesses, dims));
    let plan = &mut functions[id.index()];
    plan.lanes = 1;
    if let (Some(split), Some(order)) = (split, order) {
        plan.lanes = super::typed::GROUP;
        (plan.split, plan.order) = (split, order);
        plan.lone_atomic = lone_atomic(module, &module.functions[id].body);
    }
    if let Some(accesses) = accesses {
        plan.exclusivity = Exclusivity::new(module, id, dims, accesses);
    }
}

/// Finds the functions that are called in a loop, or by one that is called in a loop.
fn repeated(module: &Valid<Module>) -> Vec<bool> {
    let mut repeated = vec![false; module.functions.len()];
    // The reversed order has callers before their callees.
    for &id in module.call_order().iter().rev() {
        let body = &module.functions[id].body;
        let mut todo = vec![(body.root, repeated[id.index()])];
        while let Some((block, in_loop)) = todo.pop() {
            for stmt in &body.blocks[block].stmts {
                if let StmtKind::Let(value) = stmt.kind
                    && let Op::Call { function, .. } = body.values[value].op
                {
                    repeated[function.index()] |= in_loop;
                }
                let in_loop =
                    in_loop || matches!(stmt.kind, StmtKind::For { .. } | StmtKind::While { .. });
                stmt_blocks(&stmt.kind, |inner| todo.push((inner, in_loop)));
            }
        }
    }
    repeated
}

fn has_while(body: &Body) -> bool {
    any_stmt(body, body.root, |stmt| matches!(stmt.kind, StmtKind::While { .. }))
}

/// Returns the greatest number of operations of a function that goes inline, by its calls.
fn most_inline(called: u32, is_straight: bool) -> u64 {
    match called {
        1 => MAX_CALLED_ONCE,
        2 => MAX_CALLED_TWICE,
        _ if is_straight => MAX_STRAIGHT,
        _ => MAX_SMALL,
    }
}

/// Returns the only operation of a kernel that writes memory, if it is atomic and stands outside
/// of branches and loops.
fn lone_atomic(module: &Valid<Module>, body: &Body) -> Option<gbxcule_ir::Value> {
    let mut writes = 0;
    walk_stmts(body, body.root, |stmt| {
        writes += usize::from(super::uniform::writes(module, body, &stmt.kind));
    });
    let atomic = body.blocks[body.root].stmts.iter().find_map(|stmt| match stmt.kind {
        StmtKind::Let(value) if matches!(body.values[value].op, Op::Atomic { .. }) => Some(value),
        _ => None,
    });
    atomic.filter(|_| writes == 1)
}

/// Counts the calls of each function in the module.
fn count_calls(module: &Module) -> Vec<u32> {
    let mut calls = vec![0; module.functions.len()];
    for (_, function) in module.functions.iter() {
        for (_, data) in function.body.values.iter() {
            if let Op::Call { function, .. } = data.op {
                calls[function.index()] += 1;
            }
        }
    }
    calls
}

/// Plans and costs of a module's functions, which are complete for the callees of the function that
/// is being planned.
struct Context<'a> {
    module: &'a Module,
    plans: &'a [FunctionPlan],
    costs: &'a [u64],
}

/// Plans a function; returns the plan and its number of operations, with those of callees lowered
/// in place.
fn of_function(
    context: &Context<'_>,
    flats: &Flats<'_>,
    function: &Function,
    checked: bool,
) -> (FunctionPlan, u64) {
    let Context { module, .. } = *context;
    let body = &function.body;
    let large = |ty| flats.of(ty).is_large();
    let four = |ty| module.types[ty] == Shape::Vector { len: 4, of: Scalar::F32 };
    let mut plan = FunctionPlan {
        memory_locals: body.locals.iter().map(|(_, local)| large(local.ty)).collect(),
        vector_locals: body.locals.iter().map(|(_, local)| four(local.ty)).collect(),
        memory_params: function.params.iter().map(|param| large(param.ty)).collect(),
        ..FunctionPlan::default()
    };
    let mut branches = 0;
    let mut cost = 0u64;
    let size = |ty| module.types.layout(ty).map_or(0, |layout| layout.size.saturating_add(16));
    plan.frame_bytes =
        body.locals.iter().fold(0, |sum: u64, (_, l)| sum.saturating_add(size(l.ty)));
    walk_stmts(body, body.root, |stmt| {
        cost += 1;
        plan.places(body, &stmt.kind, checked);
        match stmt.kind {
            StmtKind::Let(value) => {
                let ty = body.type_of(value);
                let width = flats.count(ty).clamp(1, 64);
                if width == 64 {
                    plan.frame_bytes = plan.frame_bytes.saturating_add(size(ty));
                }
                let op = body.values[value].op;
                let below = plan.operation(context, body, op, checked);
                cost = if is_free(body, op) { cost - 1 } else { cost + width - 1 + below };
            }
            StmtKind::For { .. } | StmtKind::While { .. } => {
                plan.work = LOOP_COST;
                // The launch may be given up in a loop.
                plan.can_fault |= checked;
            }
            StmtKind::Trap { .. } | StmtKind::Assert { .. } => plan.can_fault = true,
            StmtKind::If { .. } => branches += 1,
            _ => {}
        }
    });
    if checked && branches > MAX_JOINED {
        plan.memory_locals.fill(true);
    }
    // A function out of line gets every place as a pointer.
    for (at, param) in function.params.iter().enumerate() {
        plan.memory_params[at] |=
            param.mode != PassMode::Value && function.kind == FunctionKind::Kernel;
    }
    plan.work = plan.work.saturating_add(cost);
    (plan, cost)
}

/// Returns true if an operation costs nothing, because its scalars exist already.
fn is_free(body: &Body, op: Op) -> bool {
    match op {
        Op::Extract { .. } | Op::Construct(_) => true,
        Op::Load(place) => {
            matches!(body.places[place].root, Root::Param(_)) && body.path(place).is_empty()
        }
        _ => false,
    }
}

impl FunctionPlan {
    pub(crate) fn has_loops(&self) -> bool {
        self.work >= LOOP_COST
    }

    /// Returns true if `f32` of a group of threads go into vectors. Loops with natives that have no
    /// vector instruction are faster with scalars: threads would wait for each other in each
    /// iteration.
    pub(crate) fn packs(&self) -> bool {
        !(self.has_loops() && self.has_scalar_natives)
    }

    /// Notes which variables a statement's places force into memory.
    fn places(&mut self, body: &Body, stmt: &StmtKind, checked: bool) {
        let used = |used| match used {
            Use::Value(_) => {}
            Use::Read(place) | Use::Write(place) => {
                if !body.path(place).is_empty() {
                    self.use_part(body, place);
                }
                self.place(body, place, checked);
            }
            Use::Change(place) => {
                self.use_part(body, place);
                self.place(body, place, checked);
            }
            Use::Expose(place) => {
                self.place(body, place, checked);
                self.keep_in_memory(body, place);
            }
        };
        stmt_uses(body, stmt, |_| false, used);
    }

    /// Notes the needs of an operation; returns its number of operations, without itself.
    fn operation(&mut self, context: &Context<'_>, body: &Body, op: Op, checked: bool) -> u64 {
        match op {
            Op::LaunchIndex(dim) => self.dims = self.dims.max(dim + 1),
            Op::View { .. } => self.can_fault |= checked,
            Op::Native { native, .. } => {
                self.has_scalar_natives |= !super::group::has_vector(native);
            }
            Op::Binary(BinaryOp::Divide | BinaryOp::FloorDivide | BinaryOp::Remainder, left, _) => {
                let of = context.module.types.components(body.type_of(left));
                self.can_fault |= checked && of.is_some_and(|(of, _)| !of.is_float());
            }
            Op::Call { function, args } => {
                let args = &body.arg_lists[args];
                self.call(&context.plans[function.index()], body, args);
                let inline = context.plans[function.index()].inline;
                return if inline { context.costs[function.index()] } else { 4 };
            }
            _ => {}
        }
        0
    }

    fn call(&mut self, callee: &FunctionPlan, body: &Body, args: &[Arg]) {
        self.can_fault |= callee.can_fault;
        self.has_scalar_natives |= callee.has_scalar_natives;
        self.dims = self.dims.max(callee.dims);
        let below = if callee.inline {
            self.frame_bytes = self.frame_bytes.saturating_add(callee.frame_bytes);
            callee.callee_bytes
        } else {
            callee.frame_bytes.saturating_add(callee.callee_bytes)
        };
        self.callee_bytes = self.callee_bytes.max(below);
        self.work = self.work.saturating_add(callee.work);
        for (at, arg) in args.iter().enumerate() {
            let Arg::Place(place) = *arg else { continue };
            self.use_part(body, place);
            if !callee.inline || callee.memory_params[at] {
                self.keep_in_memory(body, place);
            }
        }
    }

    fn place(&mut self, body: &Body, place: PlaceId, checked: bool) {
        for step in body.path(place) {
            match *step {
                Projection::Element(_) => self.can_fault |= checked,
                Projection::At(index) => {
                    self.can_fault |= checked;
                    if !matches!(body.values[index].op, Op::Literal(_)) {
                        self.keep_in_memory(body, place);
                    }
                }
                Projection::Field(_) | Projection::Component(_) => {}
            }
        }
    }

    /// Notes that components of a variable have uses of their own.
    fn use_part(&mut self, body: &Body, place: PlaceId) {
        if let Root::Local(local) = body.places[place].root {
            self.vector_locals[local.index()] = false;
        }
    }

    /// Puts the root of a place into memory, unless the path begins with fields and an array
    /// handle: then the element lies in memory anyway. This puts slightly more into memory than
    /// necessary.
    fn keep_in_memory(&mut self, body: &Body, place: PlaceId) {
        let first = body.path(place).iter().find(|step| !matches!(step, Projection::Field(_)));
        if matches!(first, Some(Projection::Element(_))) {
            return;
        }
        match body.places[place].root {
            Root::Local(local) => self.memory_locals[local.index()] = true,
            Root::Param(position) => self.memory_params[position as usize] = true,
            Root::Table(_) | Root::Array(_) => {}
        }
    }
}
