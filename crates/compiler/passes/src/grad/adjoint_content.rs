//! Known contents of the variables that hold adjoints: a stored value is used directly instead of
//! loaded again, and nothing is added to zero.
//!
//! Adjoints begin as zero and are zero again once they have been taken, so that in straight lines,
//! and from one round of a loop to the next, most of them hold the value that the statement before
//! stored.

use gbxcule_ir::function::{Body, LocalId};
use gbxcule_ir::op::{BinaryOp, Op, Value};
use gbxcule_ir::place::{PlaceId, Projection, Root};
use gbxcule_ir::stmt::{BlockId, Stmt, StmtKind};
use gbxcule_ir::walk::{Use, stmt_blocks, substitute, walk_stmts, walk_uses};
use rustc_hash::{FxHashMap, FxHashSet};

/// Replaces loads of adjoints' variables by the values that they are known to hold.
pub(super) fn run(body: &mut Body, adjoints: &FxHashSet<LocalId>) {
    let mut tracked = adjoints.clone();
    walk_uses(body, body.root, |used| {
        if let Use::Change(place) | Use::Expose(place) = used
            && let Root::Local(local) = body.places[place].root
        {
            tracked.remove(&local);
        }
    });
    let mut state: State = tracked
        .iter()
        .filter(|&&it| !body.locals[it].scratch)
        .map(|&it| (it, Content::Zero))
        .collect();
    let same = body.values.handles().collect();
    let mut contents = Contents { tracked, same, zeros: vec![false; body.values.len()], depth: 0 };
    contents.block(body, body.root, &mut state, true);
    let (same, tracked) = (contents.same, contents.tracked);
    drop_overwritten(body, &tracked);
    substitute(body, |value| {
        let mut value = value;
        while same[value.index()] != value {
            value = same[value.index()];
        }
        value
    });
}

/// Content of a variable, where the content is known.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Content {
    Zero,
    Value(Value),
}

type State = FxHashMap<LocalId, Content>;

/// Greatest depth of nested loops whose variables are followed from round to round.
const MAX_DEPTH: usize = 3;

struct Contents {
    tracked: FxHashSet<LocalId>,
    /// First equal value of each value.
    same: Vec<Value>,
    /// Values that are zero because the variable that they were loaded from was.
    zeros: Vec<bool>,
    depth: usize,
}

impl Contents {
    /// Follows the statements of a block. With `rewrite` it removes statements that aren't needed.
    fn block(&mut self, body: &mut Body, block: BlockId, state: &mut State, rewrite: bool) {
        let mut stmts = std::mem::take(&mut body.blocks[block].stmts);
        let mut keep = Vec::with_capacity(stmts.len());
        for stmt in &stmts {
            keep.push(self.stmt(body, stmt, state, rewrite));
        }
        if rewrite {
            let mut keep = keep.into_iter();
            stmts.retain(|_| keep.next().unwrap_or(true));
        }
        body.blocks[block].stmts = stmts;
    }

    /// Follows a statement; returns false if the statement only repeats another value.
    fn stmt(&mut self, body: &mut Body, stmt: &Stmt, state: &mut State, rewrite: bool) -> bool {
        match &stmt.kind {
            StmtKind::Let(value) => return self.define(body, *value, state, rewrite),
            StmtKind::Store { place, value } => return self.store(body, *place, *value, state),
            StmtKind::For { body: inner, .. } => self.cycle(body, None, *inner, state, rewrite),
            StmtKind::While { header, body: inner, .. } => {
                self.cycle(body, Some(*header), *inner, state, rewrite);
            }
            kind => {
                let mut blocks = Vec::new();
                stmt_blocks(kind, |block| blocks.push(block));
                let mut after: Option<State> = None;
                for block in blocks {
                    let mut branch = state.clone();
                    self.block(body, block, &mut branch, rewrite);
                    match &mut after {
                        Some(after) => after.retain(|local, it| branch.get(local) == Some(it)),
                        None => after = Some(branch),
                    }
                }
                *state = after.unwrap_or_else(|| std::mem::take(state));
            }
        }
        true
    }

    fn define(&mut self, body: &mut Body, value: Value, state: &mut State, rewrite: bool) -> bool {
        self.same[value.index()] = value;
        self.zeros[value.index()] = false;
        match body.values[value].op {
            Op::Load(place) => {
                let Root::Local(local) = body.places[place].root else { return true };
                let is_whole = body.path(place).is_empty();
                match state.get(&local) {
                    Some(Content::Zero) if self.is_part(body, place) => {
                        self.zeros[value.index()] = true;
                        if rewrite {
                            body.values[value].op = Op::Zero;
                        }
                    }
                    Some(&Content::Value(held)) if is_whole => {
                        self.same[value.index()] = held;
                        return false;
                    }
                    None if is_whole && self.tracked.contains(&local) => {
                        state.insert(local, Content::Value(value));
                    }
                    _ => {}
                }
                true
            }
            Op::Binary(BinaryOp::Add, left, right) => {
                let [left, right] = [left, right].map(|value| self.first(value));
                let sum = match [left, right].map(|value| self.zeros[value.index()]) {
                    [true, _] => right,
                    [_, true] => left,
                    _ => return true,
                };
                self.same[value.index()] = sum;
                false
            }
            _ => true,
        }
    }

    fn first(&self, value: Value) -> Value {
        let mut value = value;
        while self.same[value.index()] != value {
            value = self.same[value.index()];
        }
        value
    }

    fn is_part(&self, body: &Body, place: PlaceId) -> bool {
        let part = |step: &Projection| !matches!(step, Projection::Element(_));
        body.path(place).iter().all(part)
    }

    /// Follows a store; returns false if the store changes nothing.
    fn store(&mut self, body: &Body, place: PlaceId, value: Value, state: &mut State) -> bool {
        let Root::Local(local) = body.places[place].root else { return true };
        if !self.tracked.contains(&local) || !self.is_part(body, place) {
            return true;
        }
        let value = self.first(value);
        let is_zero = self.zeros[value.index()] || matches!(body.values[value].op, Op::Zero);
        let content = if is_zero { Content::Zero } else { Content::Value(value) };
        let is_whole = body.path(place).is_empty();
        if state.get(&local) == Some(&content) && (is_whole || is_zero) {
            // An index of the path may fault.
            return body.path(place).iter().any(|step| matches!(step, Projection::At(_)));
        }
        match is_whole {
            true => _ = state.insert(local, content),
            false => _ = state.remove(&local),
        }
        true
    }

    /// Follows a loop: a variable that is zero before the loop and after each round is zero in all
    /// rounds.
    fn cycle(
        &mut self,
        body: &mut Body,
        header: Option<BlockId>,
        inner: BlockId,
        state: &mut State,
        rewrite: bool,
    ) {
        let (written, jumps) = written_locals(body, header.into_iter().chain([inner]));
        let follows = self.depth < MAX_DEPTH && !jumps;
        state.retain(|local, content| {
            !written.contains(local) || follows && *content == Content::Zero
        });
        self.depth += 1;
        loop {
            let mut round = state.clone();
            let mut left = Vec::new();
            for block in header.into_iter().chain([inner]) {
                self.block(body, block, &mut round, false);
                // A loop is left after its header.
                left.push(round.clone());
            }
            let before = state.len();
            state.retain(|local, _| {
                let stays = |after: &State| after.get(local) == Some(&Content::Zero);
                !written.contains(local) || left.iter().all(stays)
            });
            if state.len() == before {
                break;
            }
        }
        if rewrite {
            let mut round = state.clone();
            for block in header.into_iter().chain([inner]) {
                self.block(body, block, &mut round, true);
            }
        }
        self.depth -= 1;
    }
}

/// Drops each store to a whole variable if the block overwrites the variable, or the function
/// ends, before anything reads it.
fn drop_overwritten(body: &mut Body, tracked: &FxHashSet<LocalId>) {
    for block in body.blocks.handles().collect::<Vec<_>>() {
        let mut stmts = std::mem::take(&mut body.blocks[block].stmts);
        let mut is_read = vec![true; stmts.len()];
        // Stores that nothing has read yet.
        let mut open: FxHashMap<LocalId, usize> = FxHashMap::default();
        for (position, stmt) in stmts.iter().enumerate() {
            match stmt.kind {
                StmtKind::Store { place, .. } => {
                    let Root::Local(local) = body.places[place].root else { continue };
                    let is_whole = body.path(place).is_empty() && tracked.contains(&local);
                    if is_whole && let Some(before) = open.insert(local, position) {
                        is_read[before] = false;
                    }
                    if !is_whole {
                        open.remove(&local);
                    }
                }
                StmtKind::Let(value) => {
                    if let Op::Load(place) = body.values[value].op
                        && let Root::Local(local) = body.places[place].root
                    {
                        open.remove(&local);
                    }
                }
                _ => open.clear(),
            }
        }
        if block == body.root {
            // The value that is stored last is never read.
            let mut read: FxHashSet<LocalId> = FxHashSet::default();
            for (position, stmt) in stmts.iter().enumerate().rev() {
                match stmt.kind {
                    StmtKind::Store { place, .. } => {
                        if let Root::Local(local) = body.places[place].root
                            && body.path(place).is_empty()
                            && tracked.contains(&local)
                            && !read.contains(&local)
                        {
                            is_read[position] = false;
                        }
                    }
                    _ => reads(body, stmt, &mut read),
                }
            }
        }
        let mut is_read = is_read.into_iter();
        stmts.retain(|_| is_read.next().unwrap_or(true));
        body.blocks[block].stmts = stmts;
    }
}

/// Adds the variables that a statement, or one in its blocks, reads.
fn reads(body: &Body, stmt: &Stmt, read: &mut FxHashSet<LocalId>) {
    let mut of = |stmt: &Stmt| {
        if let StmtKind::Let(value) = stmt.kind
            && let Op::Load(place) = body.values[value].op
            && let Root::Local(local) = body.places[place].root
        {
            read.insert(local);
        }
    };
    of(stmt);
    stmt_blocks(&stmt.kind, |block| walk_stmts(body, block, &mut of));
}

/// Returns the variables that some blocks write, and whether the blocks leave a loop or a function.
fn written_locals(
    body: &Body,
    blocks: impl Iterator<Item = BlockId>,
) -> (FxHashSet<LocalId>, bool) {
    let (mut locals, mut jumps) = (FxHashSet::default(), false);
    for block in blocks {
        walk_stmts(body, block, |stmt| match stmt.kind {
            StmtKind::Store { place, .. } => {
                if let Root::Local(local) = body.places[place].root {
                    locals.insert(local);
                }
            }
            StmtKind::Break | StmtKind::Continue | StmtKind::Return(_) => jumps = true,
            _ => {}
        });
    }
    (locals, jumps)
}
