//! Finds the accesses of a kernel and its callees to array memory: the array among the kernel's
//! parameters, and the indices.
//!
//! [`super::exclusive`] and [`super::order`] use the result. An index is a [`Sum`], exact modulo
//! 2^32, which distinguishes indices inside arrays from those that count from the end.

use super::sum::{Atom, Sum};
use gbxcule_ir::check::Valid;
use gbxcule_ir::op::AtomicOp;
use gbxcule_ir::walk::{Step, Use, stmt_uses, walk, walk_stmts};
use gbxcule_ir::{
    Arg, BinaryOp, BlockId, Body, FunctionId, List, LocalId, Module, Op, PassMode, PlaceId,
    Projection, Root, Selector, StmtKind, UnaryOp, Value,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// Greatest number of statements that are analysed, callees included.
const MAX_STEPS: usize = 4_000;
/// Greatest depth of the expressions that are analysed.
const MAX_DEPTH: usize = 24;

/// Array among a kernel's parameters: its elements, or its gradient.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ParamArray {
    /// Position of the parameter.
    pub param: u32,
    /// Fields on the way from the parameter to the array.
    pub fields: Vec<u32>,
    /// True for the array's gradient.
    pub gradient: bool,
}

/// Purpose of an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Purpose {
    Read,
    Write,
    Atomic {
        op: AtomicOp,
        /// Operation, if the kernel itself does it.
        value: Option<Value>,
        /// True if several such operations may be done in any order.
        commutes: bool,
    },
}

/// Access to an element, with its index in each dimension of the array, where that is known.
#[derive(Debug)]
pub(super) struct Access {
    pub(super) array: ParamArray,
    pub(super) indices: Vec<Option<Sum>>,
    pub(super) purpose: Purpose,
    /// True if a thread may make the access more than once.
    pub(super) repeats: bool,
}

/// Accesses and prints of a kernel.
#[derive(Default)]
pub(super) struct Accesses {
    pub(super) all: Vec<Access>,
    /// Number of print statements; a statement in a loop counts twice.
    pub(super) prints: usize,
    /// Smallest and largest index of each loop whose bounds are constants.
    pub(super) loops: FxHashMap<Atom, (i64, i64)>,
}

/// Finds all accesses of a kernel to array memory; `None` if one is unknown, such as through a
/// handle that can't be traced to a parameter.
pub(super) fn accesses(
    module: &Valid<Module>,
    kernel: FunctionId,
    externals: &[FunctionId],
) -> Option<Accesses> {
    let mut tracer =
        Tracer { module, externals, frames: Vec::new(), accesses: Accesses::default(), steps: 0 };
    tracer.function(kernel, None, false)?;
    Some(tracer.accesses)
}

/// Handle: the array, and the index that was chosen in each dimension. `None` is a dimension
/// without an index yet.
#[derive(Clone)]
struct TracedHandle {
    array: ParamArray,
    indices_by_dim: Vec<Option<Option<Sum>>>,
}

impl TracedHandle {
    fn new(param: u32, fields: Vec<u32>) -> Self {
        Self { array: ParamArray { param, fields, gradient: false }, indices_by_dim: Vec::new() }
    }

    /// Gives indices to the next dimensions that have none; `None` leaves a dimension without an
    /// index.
    fn take(&mut self, indices: impl IntoIterator<Item = Option<Option<Sum>>>) {
        let mut at = 0;
        for index in indices {
            while self.indices_by_dim.get(at).is_some_and(Option::is_some) {
                at += 1;
            }
            if at == self.indices_by_dim.len() {
                self.indices_by_dim.push(None);
            }
            self.indices_by_dim[at] = index;
            at += 1;
        }
    }
}

/// Memory to which a handle leads.
enum Memory {
    Array(TracedHandle),
    /// A variable of the thread, or no memory.
    Private,
}

/// Call of a function, seen from the frame of its caller.
#[derive(Clone, Copy)]
struct Caller {
    frame: usize,
    args: List<Arg>,
}

/// Function during the analysis of one call of it.
struct Frame<'a> {
    function: FunctionId,
    body: &'a Body,
    caller: Option<Caller>,
    /// Value of each variable that is stored once, as a whole, and never in part.
    stored: Vec<Option<Value>>,
}

/// Root of a place, with parameters of callees replaced by the callers' places.
#[derive(Clone, Copy)]
enum Origin {
    Param(u32),
    Local(usize, LocalId),
    Value(usize, Value),
    Table,
}

struct Tracer<'a> {
    module: &'a Valid<Module>,
    externals: &'a [FunctionId],
    frames: Vec<Frame<'a>>,
    accesses: Accesses,
    steps: usize,
}

impl<'a> Tracer<'a> {
    /// Analyses a call of a function; `repeats` is true if a thread may make the call more than
    /// once.
    fn function(&mut self, id: FunctionId, caller: Option<Caller>, repeats: bool) -> Option<()> {
        let body = &self.module.functions[id].body;
        let frame = self.frames.len();
        self.frames.push(Frame { function: id, body, caller, stored: stored(self.module, body) });
        let mut loop_blocks: FxHashSet<BlockId> = FxHashSet::default();
        let mut depth = usize::from(repeats);
        let mut complete = Some(());
        walk(body, body.root, |step| match step {
            Step::Enter(block) => depth += usize::from(loop_blocks.contains(&block)),
            Step::Leave(block) => depth -= usize::from(loop_blocks.contains(&block)),
            Step::Stmt(stmt) => {
                match stmt.kind {
                    StmtKind::For { body, .. } => _ = loop_blocks.insert(body),
                    StmtKind::While { header, body, .. } => loop_blocks.extend([header, body]),
                    _ => {}
                }
                self.steps += usize::from(caller.is_some());
                if complete.is_some() {
                    complete = self.stmt(frame, &stmt.kind, depth > 0);
                }
            }
        });
        complete
    }

    fn stmt(&mut self, frame: usize, stmt: &StmtKind, repeats: bool) -> Option<()> {
        if self.steps > MAX_STEPS {
            return None;
        }
        match *stmt {
            StmtKind::Store { place, .. } => self.place(frame, place, Purpose::Write, repeats),
            StmtKind::Print { .. } => {
                self.accesses.prints += 1 + usize::from(repeats);
                Some(())
            }
            StmtKind::For { index, start, end, step, .. } => {
                let constant = |value| self.sum(frame, value, 0)?.as_constant();
                if let (Some(start), Some(end), Some(step @ 1..)) =
                    (constant(start), constant(end), constant(step))
                {
                    let last = end.max(start + 1) - 1;
                    let last = last - (last - start) % step;
                    self.accesses.loops.insert(Atom::Index(frame, index), (start, last));
                }
                Some(())
            }
            StmtKind::Let(value) => self.operation(frame, value, repeats),
            _ => Some(()),
        }
    }

    fn operation(&mut self, frame: usize, value: Value, repeats: bool) -> Option<()> {
        let (module, body) = (self.module, self.frames[frame].body);
        match body.values[value].op {
            Op::Load(place) => self.place(frame, place, Purpose::Read, repeats),
            Op::Atomic { op, place, .. } => {
                let of = module.types.components(body.places[place].ty);
                let is_used = module.facts(self.frames[frame].function).uses(value) > 0;
                let commutes =
                    commutes(op) && !is_used && of.is_some_and(|(scalar, _)| scalar.is_int());
                let value = self.frames[frame].caller.is_none().then_some(value);
                self.place(frame, place, Purpose::Atomic { op, value, commutes }, repeats)
            }
            Op::Call { function, args } => {
                let mut params = module.functions[function].params.iter();
                let memory = |arg: &Arg| match *arg {
                    Arg::Value(_) => false,
                    Arg::Place(place) => self.is_memory(frame, place),
                };
                let reaches_memory = params.any(|param| module.types.holds_array(param.ty))
                    || body.arg_lists[args].iter().any(memory);
                if self.externals.contains(&function) {
                    return (!reaches_memory).then_some(());
                }
                match module.facts(function).effects.is_pure() {
                    true => Some(()),
                    false => self.function(function, Some(Caller { frame, args }), repeats),
                }
            }
            _ => Some(()),
        }
    }

    /// Returns the root of a place and the whole path from there, each step with the frame of its
    /// values.
    fn origin(&self, frame: usize, place: PlaceId) -> (Origin, Vec<(usize, Projection)>) {
        let (mut frame, mut place) = (frame, place);
        let mut path = Vec::new();
        loop {
            let Frame { body, caller, .. } = &self.frames[frame];
            path.splice(0..0, body.path(place).iter().map(|&step| (frame, step)));
            let origin = match (body.places[place].root, caller) {
                (Root::Param(param), Some(caller)) => {
                    let outer = self.frames[caller.frame].body;
                    match outer.arg_lists[caller.args][param as usize] {
                        Arg::Value(value) => Origin::Value(caller.frame, value),
                        Arg::Place(outer) => {
                            (frame, place) = (caller.frame, outer);
                            continue;
                        }
                    }
                }
                (Root::Param(param), None) => Origin::Param(param),
                (Root::Local(local), _) => Origin::Local(frame, local),
                (Root::Array(value), _) => Origin::Value(frame, value),
                (Root::Table(_), _) => Origin::Table,
            };
            return (origin, path);
        }
    }

    fn is_memory(&self, frame: usize, place: PlaceId) -> bool {
        let (_, path) = self.origin(frame, place);
        path.iter().any(|(_, step)| matches!(step, Projection::Element(_)))
    }

    /// Adds the access to a place, if the place lies in array memory.
    fn place(
        &mut self,
        frame: usize,
        place: PlaceId,
        purpose: Purpose,
        repeats: bool,
    ) -> Option<()> {
        let (origin, path) = self.origin(frame, place);
        let is_element = |(_, step): &(usize, Projection)| matches!(step, Projection::Element(_));
        let Some(at) = path.iter().position(is_element) else { return Some(()) };
        // A handle that itself lies in an array could be any handle.
        if path[at + 1..].iter().any(is_element) {
            return None;
        }
        let (inner, Projection::Element(indices)) = path[at] else { return None };
        let Memory::Array(mut handle) = self.memory(origin, fields(&path[..at])?)? else {
            return Some(());
        };
        let indices = self.frames[inner].body.value_lists[indices].iter();
        handle.take(indices.map(|&index| Some(self.sum(inner, index, 0))));
        let indices = handle.indices_by_dim.into_iter().map(Option::flatten).collect();
        self.accesses.all.push(Access { array: handle.array, indices, purpose, repeats });
        Some(())
    }

    fn memory(&self, origin: Origin, fields: Vec<u32>) -> Option<Memory> {
        match origin {
            Origin::Param(param) => Some(Memory::Array(TracedHandle::new(param, fields))),
            Origin::Value(frame, value) => self.handle(frame, value, fields),
            Origin::Local(frame, local) => {
                self.handle(frame, self.frames[frame].stored[local.index()]?, fields)
            }
            Origin::Table => None,
        }
    }

    fn handle(&self, frame: usize, value: Value, mut inner: Vec<u32>) -> Option<Memory> {
        let body = self.frames[frame].body;
        match body.values[value].op {
            // An absent array has no elements.
            Op::Zero => Some(Memory::Private),
            Op::AsArray(place) => (!self.is_memory(frame, place)).then_some(Memory::Private),
            Op::Load(place) => {
                let (origin, path) = self.origin(frame, place);
                let mut all = fields(&path)?;
                all.extend(inner);
                self.memory(origin, all)
            }
            Op::Extract { from, index } => {
                inner.insert(0, index);
                self.handle(frame, from, inner)
            }
            Op::Gradient(array) => {
                let mut memory = self.handle(frame, array, inner)?;
                if let Memory::Array(handle) = &mut memory
                    && std::mem::replace(&mut handle.array.gradient, true)
                {
                    return None;
                }
                Some(memory)
            }
            Op::View { array, selectors } => {
                let mut memory = self.handle(frame, array, inner)?;
                let Memory::Array(handle) = &mut memory else { return Some(memory) };
                // The first index of a range isn't known, so no index in this dimension is.
                let selectors = &body.selector_lists[selectors];
                if selectors.iter().any(|selector| matches!(selector, Selector::Range { .. })) {
                    return None;
                }
                handle.take(selectors.iter().map(|selector| match *selector {
                    Selector::At(index) => Some(self.sum(frame, index, 0)),
                    Selector::Range { .. } => None,
                }));
                Some(memory)
            }
            _ => None,
        }
    }

    fn sum(&self, frame: usize, value: Value, depth: usize) -> Option<Sum> {
        let body = self.frames[frame].body;
        let of = body.type_of(value).as_scalar()?;
        if !of.is_int() || of.bits() < 32 || depth > MAX_DEPTH {
            return None;
        }
        let sum = |value| self.sum(frame, value, depth + 1);
        match body.values[value].op {
            Op::Literal(literal) => Some(Sum::constant(literal.as_int()?)),
            Op::LaunchIndex(dim) => Some(Sum::atom(Atom::Launch(dim))),
            Op::Index => Some(Sum::atom(Atom::Index(frame, value))),
            Op::Convert(of) => sum(of),
            Op::Unary(UnaryOp::Negate, of) => Sum::constant(0).minus(&sum(of)?),
            Op::Binary(BinaryOp::Add, left, right) => sum(left)?.plus(&sum(right)?),
            Op::Binary(BinaryOp::Subtract, left, right) => sum(left)?.minus(&sum(right)?),
            Op::Binary(BinaryOp::Multiply, left, right) => sum(left)?.times(&sum(right)?),
            Op::Load(place) => {
                let (origin, path) = self.origin(frame, place);
                match origin {
                    Origin::Param(param) => Some(Sum::atom(Atom::Param(param, fields(&path)?))),
                    Origin::Value(frame, value) if path.is_empty() => {
                        self.sum(frame, value, depth + 1)
                    }
                    _ => None,
                }
            }
            Op::Extent { array, dim } => match self.handle(frame, array, Vec::new())? {
                Memory::Array(handle) if handle.indices_by_dim.is_empty() => {
                    Some(Sum::atom(Atom::Extent(handle.array, dim)))
                }
                _ => None,
            },
            _ => None,
        }
    }
}

/// Returns the value of each variable that is stored once, as a whole, and never in part.
fn stored(module: &Module, body: &Body) -> Vec<Option<Value>> {
    let mut stores = vec![(0, None); body.locals.len()];
    walk_stmts(body, body.root, |stmt| {
        let op = match stmt.kind {
            StmtKind::Let(value) => Some(body.values[value].op),
            _ => None,
        };
        let writes = |position: usize| match op {
            Some(Op::Call { function, .. }) => {
                module.functions[function].params[position].mode == PassMode::Mutable
            }
            _ => true,
        };
        stmt_uses(body, &stmt.kind, writes, |used| {
            let (Use::Write(place) | Use::Change(place) | Use::Expose(place)) = used else {
                return;
            };
            let Root::Local(local) = body.places[place].root else { return };
            let path = body.path(place);
            if path.iter().any(|step| matches!(step, Projection::Element(_))) {
                return;
            }
            let value = match stmt.kind {
                StmtKind::Store { value, .. } if path.is_empty() => Some(value),
                _ => None,
            };
            if value.is_some_and(|value| body.values[value].op == Op::Zero) {
                return;
            }
            let (count, stored) = &mut stores[local.index()];
            *count += 1;
            *stored = value;
        });
    });
    let only = |(count, stored)| if count == 1 { stored } else { None };
    stores.into_iter().map(only).collect()
}

fn commutes(op: AtomicOp) -> bool {
    !matches!(op, AtomicOp::Exchange | AtomicOp::CompareExchange)
}

fn fields(path: &[(usize, Projection)]) -> Option<Vec<u32>> {
    let field = |(_, step): &(usize, Projection)| match *step {
        Projection::Field(field) => Some(field),
        _ => None,
    };
    path.iter().map(field).collect()
}
