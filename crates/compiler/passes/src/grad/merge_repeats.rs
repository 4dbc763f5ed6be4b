//! The last step of a reverse: merges repeated computations, takes the handle of each gradient
//! array once, and joins neighbouring tests for a missing gradient.
//!
//! The reverse is written statement by statement, each without regard to the others. Merging
//! changes no result: a merged operation has no effect, reads no memory that is written, and
//! faults only where an earlier, equal operation has faulted already.

use crate::pass::dce;
use gbxcule_ir::builtin::Native;
use gbxcule_ir::constant::Literal;
use gbxcule_ir::function::{Body, Function, FunctionId, PassMode};
use gbxcule_ir::module::Module;
use gbxcule_ir::op::{Arg, BinaryOp, CompareOp, Op, UnaryOp, Value};
use gbxcule_ir::place::{PlaceId, Projection, Root};
use gbxcule_ir::source::Span;
use gbxcule_ir::stmt::{BlockId, Stmt, StmtKind};
use gbxcule_ir::ty::Type;
use gbxcule_ir::walk::{stmt_blocks, substitute};
use rustc_hash::FxHashMap;

/// Merges repeats in a reverse. `computes` returns true for functions that have no effect and no
/// fault.
pub(super) fn run(
    module: &mut Module,
    function: FunctionId,
    computes: &dyn Fn(FunctionId) -> bool,
) {
    let mut body = std::mem::take(&mut module.functions[function].body);
    merge(&module.functions[function], &mut body, computes);
    hoist_gradient_handles(&module.functions[function], &mut body);
    merge(&module.functions[function], &mut body, computes);
    for block in body.blocks.handles().collect::<Vec<_>>() {
        while join_tests(module, &mut body, block, computes) {}
    }
    module.functions[function].body = body;
}

/// An operation without effect that depends on values alone: equal keys are equal values.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    Literal(Literal),
    Zero,
    Unary(UnaryOp, Value),
    Binary(BinaryOp, Value, Value),
    Compare(CompareOp, Value, Value),
    Select([Value; 3]),
    Convert(Value),
    Bitcast(Value),
    Construct(Vec<Value>),
    Splat(Value),
    Extract(Value, u32),
    Native(Native, Vec<Value>),
    Call(FunctionId, Vec<Value>),
    LaunchIndex(u8),
    Extent(Value, u8),
    Present(Value),
    Gradient(Value),
    Param(u32),
}

impl Key {
    fn of(
        function: &Function,
        body: &Body,
        op: &Op,
        same: &[Value],
        computes: &dyn Fn(FunctionId) -> bool,
    ) -> Option<Self> {
        let on = |value: Value| same[value.index()];
        let list = |values: &[Value]| values.iter().map(|&value| on(value)).collect();
        Some(match *op {
            Op::Literal(literal) => Self::Literal(literal),
            Op::Zero => Self::Zero,
            Op::Unary(op, value) => Self::Unary(op, on(value)),
            Op::Binary(op, left, right) => Self::Binary(op, on(left), on(right)),
            Op::Compare(op, left, right) => Self::Compare(op, on(left), on(right)),
            Op::Select { condition, accept, reject } => {
                Self::Select([condition, accept, reject].map(on))
            }
            Op::Convert(value) => Self::Convert(on(value)),
            Op::Bitcast(value) => Self::Bitcast(on(value)),
            Op::Construct(parts) => Self::Construct(list(&body.value_lists[parts])),
            Op::Splat(value) => Self::Splat(on(value)),
            Op::Extract { from, index } => Self::Extract(on(from), index),
            Op::Native { native, args } => Self::Native(native, list(&body.value_lists[args])),
            Op::Call { function, args } if computes(function) => {
                let args = body.arg_lists[args].iter().map(|arg| match *arg {
                    Arg::Value(value) => Some(on(value)),
                    Arg::Place(_) => None,
                });
                Self::Call(function, args.collect::<Option<_>>()?)
            }
            Op::LaunchIndex(dim) => Self::LaunchIndex(dim),
            Op::Extent { array, dim } => Self::Extent(on(array), dim),
            Op::Present(array) => Self::Present(on(array)),
            Op::Gradient(array) => Self::Gradient(on(array)),
            Op::Load(place) => Self::Param(whole_param(function, body, place)?),
            _ => return None,
        })
    }
}

/// Returns the position of the parameter that a place is, if nothing can change the parameter.
fn whole_param(function: &Function, body: &Body, place: PlaceId) -> Option<u32> {
    match body.places[place].root {
        Root::Param(position) if body.path(place).is_empty() => {
            (function.params[position as usize].mode == PassMode::Value).then_some(position)
        }
        _ => None,
    }
}

/// Replaces each repeated computation by the first one, where that is visible.
fn merge(function: &Function, body: &mut Body, computes: &dyn Fn(FunctionId) -> bool) {
    let same = body.values.handles().collect();
    let mut merger =
        Merger { function, computes, same, computed: FxHashMap::default(), open: Vec::new() };
    merger.block(body, body.root);
    let is_literal: Vec<bool> =
        body.values.iter().map(|(_, data)| matches!(data.op, Op::Literal(_))).collect();
    let same = merger.same;
    // A use of a named literal isn't replaced by another literal of the same value.
    let first = |value: Value| if is_literal[value.index()] { value } else { same[value.index()] };
    substitute(body, first);
}

struct Merger<'a> {
    function: &'a Function,
    computes: &'a dyn Fn(FunctionId) -> bool,
    /// First equal value of each value.
    same: Vec<Value>,
    computed: FxHashMap<(Key, Type), Value>,
    /// The keys of the open blocks, in order.
    open: Vec<(Key, Type)>,
}

impl Merger<'_> {
    fn block(&mut self, body: &mut Body, block: BlockId) {
        let outer = self.open.len();
        self.stmts(body, block);
        self.close(outer);
    }

    fn close(&mut self, outer: usize) {
        for key in self.open.drain(outer..) {
            self.computed.remove(&key);
        }
    }

    fn stmts(&mut self, body: &mut Body, block: BlockId) {
        let mut stmts = std::mem::take(&mut body.blocks[block].stmts);
        stmts.retain(|stmt| match stmt.kind {
            StmtKind::Let(value) => !self.is_known(body, value),
            StmtKind::While { header, body: inner, .. } => {
                // The values of the header are visible in the body.
                let outer = self.open.len();
                self.stmts(body, header);
                self.block(body, inner);
                self.close(outer);
                true
            }
            _ => {
                let mut inner = Vec::new();
                stmt_blocks(&stmt.kind, |block| inner.push(block));
                inner.into_iter().for_each(|block| self.block(body, block));
                true
            }
        });
        body.blocks[block].stmts = stmts;
    }

    /// Returns true if a value was computed before, and records it if not.
    fn is_known(&mut self, body: &mut Body, value: Value) -> bool {
        let data = body.values[value];
        let key = Key::of(self.function, body, &data.op, &self.same, self.computes);
        let Some(key) = key.map(|key| (key, data.ty)) else { return false };
        let Some(&first) = self.computed.get(&key) else {
            self.computed.insert(key.clone(), value);
            self.open.push(key);
            return false;
        };
        self.same[value.index()] = first;
        if body.values[first].name.is_none() {
            body.values[first].name = data.name;
        }
        !matches!(data.op, Op::Literal(_))
    }
}

/// Handles of parameters and of their gradients, by the parameter's position.
struct GradientHandles {
    /// The first gradient's handle of each parameter, with the parameter's own.
    first: FxHashMap<u32, (Value, Value)>,
    /// Handle that replaces each value; most values replace themselves.
    same: Vec<Value>,
}

impl GradientHandles {
    fn find(function: &Function, body: &Body) -> Self {
        let mut first: FxHashMap<u32, (Value, Value)> = FxHashMap::default();
        let mut same: Vec<Value> = body.values.handles().collect();
        for (value, data) in body.values.iter() {
            let Op::Gradient(array) = data.op else { continue };
            let Op::Load(place) = body.values[array].op else { continue };
            let Some(position) = whole_param(function, body, place) else { continue };
            let (gradient, handle) = *first.entry(position).or_insert((value, array));
            same[value.index()] = gradient;
            same[array.index()] = handle;
        }
        Self { first, same }
    }

    /// Returns true if a value is one of the handles that are hoisted.
    fn contain(&self, body: &Body, value: Value) -> bool {
        let same = self.same[value.index()];
        matches!(body.values[value].op, Op::Gradient(_) | Op::Load(_))
            && self.first.values().any(|&(gradient, array)| [gradient, array].contains(&same))
    }

    /// Returns the first of some statements that takes a gradient, itself or in its blocks, and all
    /// gradients that the statements take.
    fn first_use(&self, body: &Body, stmts: &[Stmt]) -> (Option<usize>, Vec<Value>) {
        let (mut raised, mut first): (Vec<Value>, _) = (Vec::new(), None);
        for (position, stmt) in stmts.iter().enumerate() {
            let mut todo = Vec::new();
            let mut note = |stmt: &Stmt| {
                let StmtKind::Let(value) = stmt.kind else { return };
                if matches!(body.values[value].op, Op::Gradient(_)) && self.contain(body, value) {
                    first.get_or_insert(position);
                    let gradient = self.same[value.index()];
                    if !raised.contains(&gradient) {
                        raised.push(gradient);
                    }
                }
            };
            note(stmt);
            stmt_blocks(&stmt.kind, |block| todo.push(block));
            while let Some(block) = todo.pop() {
                for stmt in &body.blocks[block].stmts {
                    note(stmt);
                    stmt_blocks(&stmt.kind, |inner| todo.push(inner));
                }
            }
        }
        (first, raised)
    }
}

/// Takes the gradients of parameters before the first statement that needs one.
fn hoist_gradient_handles(function: &Function, body: &mut Body) {
    let handles = GradientHandles::find(function, body);
    let root = body.root;
    let mut stmts = std::mem::take(&mut body.blocks[root].stmts);
    let (first, mut raised) = handles.first_use(body, &stmts);
    let Some(first) = first else {
        body.blocks[root].stmts = stmts;
        return;
    };
    let stays = |body: &Body, stmt: &Stmt| match stmt.kind {
        StmtKind::Let(value) => !handles.contain(body, value),
        _ => true,
    };
    let removed = stmts[..first].iter().filter(|stmt| !stays(body, stmt)).count();
    stmts.retain(|stmt| stays(body, stmt));
    for block in body.blocks.handles().collect::<Vec<_>>() {
        let mut inner = std::mem::take(&mut body.blocks[block].stmts);
        inner.retain(|stmt| stays(body, stmt));
        body.blocks[block].stmts = inner;
    }
    raised.sort();
    let lets = raised.iter().flat_map(|&gradient| {
        let array = match body.values[gradient].op {
            Op::Gradient(array) => handles.same[array.index()],
            _ => gradient,
        };
        [array, gradient]
    });
    let lets: Vec<Stmt> =
        lets.map(|value| Stmt { kind: StmtKind::Let(value), span: Span::NONE }).collect();
    // A parameter's own handle may be used earlier, so it is taken at the beginning.
    let (array_handles, gradients): (Vec<Stmt>, Vec<Stmt>) = lets.into_iter().partition(|stmt| {
        matches!(stmt.kind, StmtKind::Let(value) if matches!(body.values[value].op, Op::Load(_)))
    });
    let at = first - removed;
    stmts.splice(at..at, gradients);
    stmts.splice(0..0, array_handles);
    body.blocks[root].stmts = stmts;
    for stmt in &body.blocks[root].stmts {
        if let (StmtKind::Let(value), Span::NONE) = (&stmt.kind, stmt.span) {
            body.values[*value].span = Span::NONE;
        }
    }
    substitute(body, |value| handles.same[value.index()]);
}

/// Joins the first two tests in a block for the same gradient, if all statements between them may
/// run before the first one. Returns true if it joined two.
fn join_tests(
    module: &Module,
    body: &mut Body,
    block: BlockId,
    computes: &dyn Fn(FunctionId) -> bool,
) -> bool {
    let stmts = &body.blocks[block].stmts;
    for (first, stmt) in stmts.iter().enumerate() {
        let Some((condition, accept)) = adds_to_gradient(module, body, stmt, computes) else {
            continue;
        };
        for (next, stmt) in stmts.iter().enumerate().skip(first + 1) {
            match adds_to_gradient(module, body, stmt, computes) {
                Some((other, into)) if other == condition => {
                    let mut joined = std::mem::take(&mut body.blocks[accept].stmts);
                    joined.append(&mut body.blocks[into].stmts);
                    body.blocks[into].stmts = joined;
                    let stmts = &mut body.blocks[block].stmts;
                    stmts[next].span = stmts[first].span;
                    stmts.remove(first);
                    return true;
                }
                _ if touches_variables_alone(module, body, stmt, computes) => {}
                _ => break,
            }
        }
    }
    false
}

/// Returns the condition and block of a test for a gradient whose block only adds to the gradient.
fn adds_to_gradient(
    module: &Module,
    body: &Body,
    stmt: &Stmt,
    computes: &dyn Fn(FunctionId) -> bool,
) -> Option<(Value, BlockId)> {
    let StmtKind::If { condition, accept, reject } = stmt.kind else { return None };
    let Op::Present(array) = body.values[condition].op else { return None };
    let adds = |stmt: &Stmt| match stmt.kind {
        StmtKind::Let(value) => match body.values[value].op {
            Op::Atomic { place, .. } => matches!(body.places[place].root, Root::Array(_)),
            ref op => is_computed(module, body, op, value, computes),
        },
        _ => false,
    };
    let is_gradient = matches!(body.values[array].op, Op::Gradient(_));
    let adds = body.blocks[accept].stmts.iter().all(adds);
    (is_gradient && body.blocks[reject].stmts.is_empty() && adds).then_some((condition, accept))
}

/// Returns true for statements that neither read nor write memory of arrays, and cannot fault.
fn touches_variables_alone(
    module: &Module,
    body: &Body,
    stmt: &Stmt,
    computes: &dyn Fn(FunctionId) -> bool,
) -> bool {
    let variable = |place: PlaceId| {
        let plain =
            |step: &Projection| matches!(step, Projection::Field(_) | Projection::Component(_));
        matches!(body.places[place].root, Root::Local(_) | Root::Param(_))
            && body.path(place).iter().all(plain)
    };
    match stmt.kind {
        StmtKind::Let(value) => match body.values[value].op {
            Op::Load(place) => variable(place),
            ref op => is_computed(module, body, op, value, computes),
        },
        StmtKind::Store { place, .. } => variable(place),
        _ => false,
    }
}

/// Returns true for operations on values that have no effect and cannot fault.
fn is_computed(
    module: &Module,
    body: &Body,
    op: &Op,
    value: Value,
    computes: &dyn Fn(FunctionId) -> bool,
) -> bool {
    match *op {
        Op::Call { function, .. } => computes(function),
        Op::Load(_) | Op::AsArray(_) | Op::Atomic { .. } | Op::View { .. } => false,
        _ => !dce::op_may_fault(module, body, value),
    }
}
