//! Walks over operands, places and blocks, so that a pass spells out only the operations that it
//! changes.

use super::function::Body;
use super::op::{Arg, Op, Value};
use super::place::{PlaceId, Projection, Root};
use super::stmt::{BlockId, Stmt, StmtKind};

/// Use of a value or place by an operation or statement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Use {
    /// A value.
    Value(Value),
    /// A place that is read.
    Read(PlaceId),
    /// A place that is written.
    Write(PlaceId),
    /// A place that is read and written: an atomic, a `Mutable` argument.
    Change(PlaceId),
    /// A place whose memory an array handle makes reachable: `AsArray`.
    Expose(PlaceId),
}

/// Visits every value and place that an operation uses, in the order in which they are written.
/// `writes` returns true for the position of a call's argument if the callee writes it.
pub fn op_uses(body: &Body, op: &Op, writes: impl Fn(usize) -> bool, mut visit: impl FnMut(Use)) {
    match *op {
        Op::Load(place) => visit(Use::Read(place)),
        Op::AsArray(place) => visit(Use::Expose(place)),
        Op::Atomic { place, .. } => visit(Use::Change(place)),
        _ => {}
    }
    map_operands(&mut { *op }, |value| visit(Use::Value(*value)));
    match *op {
        Op::Construct(args) | Op::Native { args, .. } => {
            body.value_lists[args].iter().for_each(|&arg| visit(Use::Value(arg)));
        }
        Op::Call { args, .. } => {
            for (position, arg) in body.arg_lists[args].iter().enumerate() {
                visit(match *arg {
                    Arg::Value(value) => Use::Value(value),
                    Arg::Place(place) if writes(position) => Use::Change(place),
                    Arg::Place(place) => Use::Read(place),
                });
            }
        }
        Op::View { selectors, .. } => {
            for selector in &body.selector_lists[selectors] {
                _ = selector.map(|value| {
                    visit(Use::Value(value));
                    value
                });
            }
        }
        _ => {}
    }
}

/// Visits every value and place that a statement itself uses, without the blocks inside it; for a
/// `Let`, those of its operation.
pub fn stmt_uses(
    body: &Body,
    stmt: &StmtKind,
    writes: impl Fn(usize) -> bool,
    mut visit: impl FnMut(Use),
) {
    match *stmt {
        StmtKind::Let(value) => op_uses(body, &body.values[value].op, writes, visit),
        StmtKind::Store { place, value } => {
            visit(Use::Write(place));
            visit(Use::Value(value));
        }
        StmtKind::If { condition, .. }
        | StmtKind::While { condition, .. }
        | StmtKind::Assert { condition, .. } => visit(Use::Value(condition)),
        StmtKind::Switch { selector, .. } => visit(Use::Value(selector)),
        StmtKind::For { start, end, step, .. } => {
            [start, end, step].into_iter().for_each(|value| visit(Use::Value(value)));
        }
        StmtKind::Return(value) => value.into_iter().for_each(|value| visit(Use::Value(value))),
        StmtKind::Print { args, .. } => {
            body.value_lists[args].iter().for_each(|&arg| visit(Use::Value(arg)));
        }
        StmtKind::Break | StmtKind::Continue | StmtKind::Trap { .. } => {}
    }
}

/// Changes the operands that an operation holds itself; operands in lists are changed in their
/// pools.
pub fn map_operands(op: &mut Op, mut map: impl FnMut(&mut Value)) {
    match op {
        Op::Literal(_)
        | Op::Zero
        | Op::Index
        | Op::LaunchIndex(_)
        | Op::Construct(_)
        | Op::Native { .. }
        | Op::Load(_)
        | Op::AsArray(_)
        | Op::Call { .. } => {}
        Op::Unary(_, value)
        | Op::Convert(value)
        | Op::Bitcast(value)
        | Op::Splat(value)
        | Op::Extract { from: value, .. }
        | Op::Extent { array: value, .. }
        | Op::Present(value)
        | Op::Gradient(value)
        | Op::Lowest(value)
        | Op::Opaque(value)
        | Op::View { array: value, .. } => map(value),
        Op::Binary(_, left, right) | Op::Compare(_, left, right) => {
            map(left);
            map(right);
        }
        Op::Select { condition, accept, reject } => {
            [condition, accept, reject].into_iter().for_each(map);
        }
        Op::Atomic { value, expected, .. } => {
            expected.iter_mut().for_each(&mut map);
            map(value);
        }
    }
}

/// Changes the values that a statement holds itself, except a loop's index, which the loop defines.
pub fn map_stmt(stmt: &mut StmtKind, mut map: impl FnMut(&mut Value)) {
    match stmt {
        StmtKind::Store { value, .. } | StmtKind::Return(Some(value)) => map(value),
        StmtKind::If { condition, .. }
        | StmtKind::While { condition, .. }
        | StmtKind::Assert { condition, .. } => map(condition),
        StmtKind::Switch { selector, .. } => map(selector),
        StmtKind::For { start, end, step, .. } => [start, end, step].into_iter().for_each(map),
        StmtKind::Let(_)
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Return(None)
        | StmtKind::Print { .. }
        | StmtKind::Trap { .. } => {}
    }
}

/// Replaces values by other values, everywhere in a body.
pub fn substitute(body: &mut Body, mut with: impl FnMut(Value) -> Value) {
    let mut map = |value: &mut Value| *value = with(*value);
    for (_, data) in body.values.iter_mut() {
        map_operands(&mut data.op, &mut map);
    }
    for (_, place) in body.places.iter_mut() {
        if let Root::Array(value) = &mut place.root {
            map(value);
        }
    }
    body.value_lists.items_mut().for_each(&mut map);
    for arg in body.arg_lists.items_mut() {
        if let Arg::Value(value) = arg {
            map(value);
        }
    }
    for projection in body.paths.items_mut() {
        if let Projection::At(value) = projection {
            map(value);
        }
    }
    for selector in body.selector_lists.items_mut() {
        *selector = selector.map(|mut value| {
            map(&mut value);
            value
        });
    }
    for (_, block) in body.blocks.iter_mut() {
        block.stmts.iter_mut().for_each(|stmt| map_stmt(&mut stmt.kind, &mut map));
    }
}

/// Visits the values on a place's root and path.
pub fn place_values(body: &Body, place: PlaceId, mut visit: impl FnMut(Value)) {
    if let Root::Array(value) = body.places[place].root {
        visit(value);
    }
    for projection in body.path(place) {
        match *projection {
            Projection::At(index) => visit(index),
            Projection::Element(indices) => {
                body.value_lists[indices].iter().for_each(|&index| visit(index));
            }
            Projection::Field(_) | Projection::Component(_) => {}
        }
    }
}

/// Visits all values that a statement uses, those of its places included.
pub fn stmt_values(body: &Body, stmt: &StmtKind, mut visit: impl FnMut(Value)) {
    stmt_uses(
        body,
        stmt,
        |_| false,
        |used| match used {
            Use::Value(value) => visit(value),
            Use::Read(place) | Use::Write(place) | Use::Change(place) | Use::Expose(place) => {
                place_values(body, place, &mut visit);
            }
        },
    );
}

/// Visits the blocks that a statement owns, in the order in which they are printed.
pub fn stmt_blocks(stmt: &StmtKind, mut visit: impl FnMut(BlockId)) {
    match stmt {
        StmtKind::If { accept, reject, .. } => {
            visit(*accept);
            visit(*reject);
        }
        StmtKind::Switch { cases, default, .. } => {
            cases.iter().for_each(|case| visit(case.body));
            visit(*default);
        }
        StmtKind::For { body, .. } => visit(*body),
        StmtKind::While { header, body, .. } => {
            visit(*header);
            visit(*body);
        }
        _ => {}
    }
}

/// Step of [`walk`].
#[derive(Clone, Copy, Debug)]
pub enum Step<'a> {
    /// A block begins.
    Enter(BlockId),
    /// A statement, before the blocks that it owns.
    Stmt(&'a Stmt),
    /// A block ends.
    Leave(BlockId),
}

/// Visits all statements below a block in order, without recursion: blocks may nest deeply.
pub fn walk<'a>(body: &'a Body, root: BlockId, mut visit: impl FnMut(Step<'a>)) {
    enum WalkTask {
        Block(BlockId),
        Rest(BlockId, usize),
    }
    let mut todo = vec![WalkTask::Block(root)];
    while let Some(next) = todo.pop() {
        let (block, position) = match next {
            WalkTask::Block(block) => {
                visit(Step::Enter(block));
                (block, 0)
            }
            WalkTask::Rest(block, position) => (block, position),
        };
        let stmts = &body.blocks[block].stmts;
        let (mut at, waiting) = (position, todo.len());
        while todo.len() == waiting && at < stmts.len() {
            visit(Step::Stmt(&stmts[at]));
            stmt_blocks(&stmts[at].kind, |block| todo.push(WalkTask::Block(block)));
            at += 1;
        }
        if todo.len() == waiting {
            visit(Step::Leave(block));
        } else {
            todo.push(WalkTask::Rest(block, at));
            todo[waiting..].reverse();
        }
    }
}

/// Visits all statements below a block in order.
pub fn walk_stmts<'a>(body: &'a Body, root: BlockId, mut visit: impl FnMut(&'a Stmt)) {
    walk(body, root, |step| {
        if let Step::Stmt(stmt) = step {
            visit(stmt);
        }
    });
}

/// Returns true if `test` holds for a statement below a block.
pub fn any_stmt(body: &Body, root: BlockId, mut test: impl FnMut(&Stmt) -> bool) -> bool {
    let mut holds = false;
    walk_stmts(body, root, |stmt| holds = holds || test(stmt));
    holds
}

/// Visits every value and place that the statements of a block and of the blocks inside it use;
/// calls count as writing what they may change.
pub fn walk_uses(body: &Body, root: BlockId, mut visit: impl FnMut(Use)) {
    walk_stmts(body, root, |stmt| stmt_uses(body, &stmt.kind, |_| true, &mut visit));
}

/// Returns the greatest depth at which blocks nest.
pub fn depth(body: &Body) -> usize {
    let (mut depth, mut deepest) = (0, 0);
    walk(body, body.root, |step| match step {
        Step::Enter(_) => {
            depth += 1;
            deepest = deepest.max(depth);
        }
        Step::Stmt(_) => {}
        Step::Leave(_) => depth -= 1,
    });
    deepest
}
