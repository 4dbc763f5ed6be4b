//! Makes a warp's threads with the lowest key (stack pointer, then PC) run first in a loop that
//! interprets a program, until the others' key is reached and all run together.
//!
//! Each thread has a key, its place in the program; a thread that has left the loop waits with the
//! greatest key. Each turn of the outer loop begins with a choice: the threads whose key is the
//! lowest of all run a burst of rounds of the old loop. A burst ends when it has reached the second
//! lowest key, or after a round that may part threads that agreed (a conditional jump).
//!
//! ```text
//! while true {                       key = ..
//!     round                          while true {
//!     if over { break }                  first = lowest(key)
//!     rest                               if first == GREATEST { break }
//! }                                      next = lowest(key == first ? GREATEST : key)
//!                                        if key == first {
//!                                            while true {
//!                                                round      // if it parts: next = 0
//!                                                if over { key = GREATEST; break }
//!                                                rest
//!                                                key = ..
//!                                                if key >= next { break }
//!                                            }
//!                                        }
//!                                    }
//! ```
//! A thread that runs alone does exactly what it did before: the lowest key is its own.
//!
//! If a round has two switches, the statements up to the end of the first switch are the *entry*.
//! Every round must still be right if the entry is left out. The entry runs once in a turn of the
//! outer loop, before the burst. After each of its cases threads may be at different places.
//!
//! The statements after the test that ends the loop (`rest` above) may branch into a *quick way*,
//! which makes no calls, and a slow way. Such a round has a single test that ends a burst, and
//! the slow way runs after the burst, with all of `rest`. `next` is compared with the PC alone: a
//! burst that moves the stack pointer may end early or late, which changes no result.
//!
//! ```text
//! next -= stack pointer * FFFF + 1
//! while true {
//!     round
//!     if over || PC >= next || !quick { key = over ? GREATEST : key; break }
//!     the quick way of the rest
//! }
//! if key != GREATEST { rest; key = .. }
//! ```
//! A compiler of the printed text would compute values that several cases of a switch need before
//! the switch, and would then copy variables to keep their old values. So the variables are made
//! opaque in each case.

use super::copy::Copier;
use super::writer::{Writer, whole};
use gbxcule_ir::constant::Literal;
use gbxcule_ir::function::{Body, FunctionId, Local, LocalId};
use gbxcule_ir::module::Module;
use gbxcule_ir::op::{BinaryOp, CompareOp, Op, UnaryOp, Value, ValueData};
use gbxcule_ir::place::{Place, PlaceId, Root};
use gbxcule_ir::source::Span;
use gbxcule_ir::stmt::{Block, BlockId, Case, Stmt, StmtKind};
use gbxcule_ir::ty::Type;
use gbxcule_ir::walk::{Use, map_operands, op_uses, stmt_blocks};

/// Key of a thread that has left the loop, greater than the key of any position.
const GREATEST: u32 = u32::MAX;

/// Names of the variables that hold a thread's position in its program, each below 2^16.
#[derive(Clone, Copy, Debug)]
pub struct Position {
    /// The more significant variable.
    pub high: &'static str,
    /// The variable that orders threads whose `high` is equal.
    pub low: &'static str,
    /// Variables that rounds change, `high` and `low` among them.
    pub changing: &'static [&'static str],
}

/// Rearranges a function's outermost loop `while true` that has a switch in it. The loop must have
/// no `Continue` of its own, and its variables must not be parts of a struct. After a round whose
/// case is among `parting`, threads may be at different places. Returns false, and changes nothing,
/// if there is no such loop.
pub fn run(module: &mut Module, function: FunctionId, position: Position, parting: &[i64]) -> bool {
    let parameters: Vec<Type> =
        module.functions[function].params.iter().map(|param| param.ty).collect();
    let body = &mut module.functions[function].body;
    let named = |body: &Body, name: &str| {
        let mut locals = body.locals.iter().filter(|(_, local)| local.name == name);
        let first = locals.next().filter(|(_, local)| local.ty == Type::U32);
        first.map(|(local, _)| local)
    };
    let (Some(high), Some(low)) = (named(body, position.high), named(body, position.low)) else {
        return false;
    };
    let changing: Vec<LocalId> =
        position.changing.iter().filter_map(|name| named(body, name)).collect();
    let [high, low] = [high, low].map(|local| whole(body, Root::Local(local), Type::U32));
    let Some((at, round)) = find_loop(body) else { return false };
    let mut writer = Writer { body, span: Span::NONE };
    let [key, next] = ["key", "next"].map(|name| {
        let local = Local { name: name.into(), ty: Type::U32, scratch: false, span: Span::NONE };
        let local = writer.body.locals.push(local);
        whole(writer.body, Root::Local(local), Type::U32)
    });
    let changing = changing.into_iter();
    let changing =
        changing.map(|local| whole(writer.body, Root::Local(local), Type::U32)).collect();
    let variables = Variables { key, next, high, low, changing };
    let entry = writer.entry(round, &variables);
    let fork = writer.fork(round);
    writer.mark(round, &variables, parting);
    let slow_way = fork.as_ref().map(|fork| writer.quick_way(round, fork, &parameters, &variables));
    let turn = writer.build_outer_loop(round, entry, slow_way, &variables);
    let mut first = Vec::new();
    writer.store_key(&variables, &mut first);
    let root = writer.body.root;
    if let StmtKind::While { body, .. } = &mut writer.body.blocks[root].stmts[at].kind {
        *body = turn;
    }
    writer.body.blocks[root].stmts.splice(at..at, first);
    true
}

/// Places of the pass's own variables and of those that it reads.
struct Variables {
    key: PlaceId,
    next: PlaceId,
    high: PlaceId,
    low: PlaceId,
    changing: Vec<PlaceId>,
}

/// Positions in a round that has a quick way.
struct Fork {
    /// Position of the test that ends the loop, and its condition.
    test: usize,
    over: Value,
    /// Position of the branch of which one arm makes calls, and its condition.
    branch: usize,
    quick: Value,
}

/// Returns the position in the outermost block, and the body, of the endless loop that has a switch
/// in it.
fn find_loop(body: &Body) -> Option<(usize, BlockId)> {
    body.blocks[body.root].stmts.iter().enumerate().find_map(|(at, stmt)| {
        let StmtKind::While { header, condition, body: round } = stmt.kind else { return None };
        let is_endless = body.values[condition].op == Op::Literal(Literal::bool(true));
        let is_plain =
            body.blocks[header].stmts.iter().all(|stmt| matches!(stmt.kind, StmtKind::Let(_)));
        let switches = |stmt: &Stmt| matches!(stmt.kind, StmtKind::Switch { .. });
        let fits = is_endless
            && is_plain
            && body.blocks[round].stmts.iter().any(switches)
            && !top_level_statements(body, round).iter().any(|(block, at)| {
                matches!(
                    body.blocks[*block].stmts[*at].kind,
                    StmtKind::Continue | StmtKind::Return(_)
                )
            });
        fits.then_some((at, round))
    })
}

/// Returns the statements of a loop's body, by block and position, without those of inner loops.
/// Returns in inner loops are included.
fn top_level_statements(body: &Body, round: BlockId) -> Vec<(BlockId, usize)> {
    let (mut statements, mut todo) = (Vec::new(), vec![(round, true)]);
    while let Some((block, is_own)) = todo.pop() {
        for (at, stmt) in body.blocks[block].stmts.iter().enumerate() {
            if is_own || matches!(stmt.kind, StmtKind::Return(_)) {
                statements.push((block, at));
            }
            let loops = matches!(stmt.kind, StmtKind::For { .. } | StmtKind::While { .. });
            stmt_blocks(&stmt.kind, |inner| todo.push((inner, is_own && !loops)));
        }
    }
    statements
}

impl Writer<'_> {
    /// Makes the body of the new loop around rounds of the old one. `rest` runs after a burst,
    /// unless it is part of the burst.
    fn build_outer_loop(
        &mut self,
        round: BlockId,
        entry: Vec<Stmt>,
        rest: Option<Vec<Stmt>>,
        variables: &Variables,
    ) -> BlockId {
        let mut out = Vec::new();
        let key = self.define(Op::Load(variables.key), Type::U32, &mut out);
        let first = self.define(Op::Lowest(key), Type::U32, &mut out);
        let greatest = self.number(GREATEST, &mut out);
        let equal = |one, other| Op::Compare(CompareOp::Equal, one, other);
        let is_over = self.define(equal(first, greatest), Type::BOOL, &mut out);
        self.break_if(is_over, &mut out);
        let is_first = self.define(equal(key, first), Type::BOOL, &mut out);
        let other = Op::Select { condition: is_first, accept: greatest, reject: key };
        let other = self.define(other, Type::U32, &mut out);
        let next = self.define(Op::Lowest(other), Type::U32, &mut out);
        out.push(self.statement(StmtKind::Store { place: variables.next, value: next }));
        let mut burst = Vec::new();
        if rest.is_some() {
            let one = self.number(1, &mut burst);
            let before = self.binary(BinaryOp::Subtract, next, one, &mut burst);
            let high = self.define(Op::Load(variables.high), Type::U32, &mut burst);
            let weight = self.number(0xffff_u32.wrapping_neg(), &mut burst);
            let above = self.binary(BinaryOp::Multiply, high, weight, &mut burst);
            let value = self.binary(BinaryOp::Add, before, above, &mut burst);
            burst.push(self.statement(StmtKind::Store { place: variables.next, value }));
        }
        burst.extend(entry);
        burst.extend(self.burst(round, rest.is_some(), variables));
        if let Some(mut rest) = rest {
            let key = self.define(Op::Load(variables.key), Type::U32, &mut burst);
            let greatest = self.number(GREATEST, &mut burst);
            let goes_on = Op::Compare(CompareOp::NotEqual, key, greatest);
            let goes_on = self.define(goes_on, Type::BOOL, &mut burst);
            self.store_key(variables, &mut rest);
            self.branch(goes_on, rest, &mut burst);
        }
        self.branch(is_first, burst, &mut out);
        self.body.blocks.push(Block { stmts: out })
    }

    /// Makes the loop of rounds that runs until threads may part, or until the next key is reached.
    fn burst(&mut self, round: BlockId, has_quick_way: bool, variables: &Variables) -> Vec<Stmt> {
        let mut stmts = std::mem::take(&mut self.body.blocks[round].stmts);
        let ends = stmts.last().is_some_and(|last| last.kind.is_terminator());
        if !ends && !has_quick_way {
            let key = self.store_key(variables, &mut stmts);
            let next = self.define(Op::Load(variables.next), Type::U32, &mut stmts);
            let reached = Op::Compare(CompareOp::GreaterEqual, key, next);
            let reached = self.define(reached, Type::BOOL, &mut stmts);
            self.break_if(reached, &mut stmts);
        }
        self.body.blocks[round].stmts = stmts;
        let mut out = Vec::new();
        let mut test = Vec::new();
        let condition = self.define(Op::Literal(Literal::bool(true)), Type::BOOL, &mut test);
        let header = self.body.blocks.push(Block { stmts: test });
        out.push(self.statement(StmtKind::While { header, condition, body: round }));
        out
    }

    /// Takes the entry out of a round, and makes each of its cases end the burst, because threads
    /// may be at different places after the entry.
    fn entry(&mut self, round: BlockId, variables: &Variables) -> Vec<Stmt> {
        let stmts = &mut self.body.blocks[round].stmts;
        let is_switch = |stmt: &Stmt| matches!(stmt.kind, StmtKind::Switch { .. });
        let switches: Vec<usize> = (0..stmts.len()).filter(|&at| is_switch(&stmts[at])).collect();
        let &[first, _, ..] = &switches[..] else { return Vec::new() };
        let entry: Vec<Stmt> = stmts.drain(..=first).collect();
        let StmtKind::Switch { cases, .. } = &entry[first].kind else { return entry };
        for case in cases {
            let mut sets = Vec::new();
            let value = self.number(0, &mut sets);
            sets.push(self.statement(StmtKind::Store { place: variables.next, value }));
            self.body.blocks[case.body].stmts.splice(0..0, sets);
        }
        entry
    }

    /// Returns the test that ends the old loop, and the branch after it of which only the second
    /// arm makes calls.
    fn fork(&self, round: BlockId) -> Option<Fork> {
        let blocks = &self.body.blocks;
        let stmts = &blocks[round].stmts;
        let is_test = |stmt: &Stmt| self.has(stmt, |kind| matches!(kind, StmtKind::Break));
        let test = stmts.iter().rposition(is_test)?;
        let StmtKind::If { condition: over, accept, reject } = stmts[test].kind else {
            return None;
        };
        let is_bare = matches!(blocks[accept].stmts[..], [Stmt { kind: StmtKind::Break, .. }]);
        let calls = |block: BlockId| {
            let is_call = |kind: &StmtKind| {
                matches!(kind, StmtKind::Let(value)
                    if matches!(self.body.values[*value].op, Op::Call { .. }))
            };
            blocks[block].stmts.iter().any(|stmt| self.has(stmt, is_call))
        };
        let (branch, quick) = (test + 1..stmts.len()).find_map(|at| match stmts[at].kind {
            StmtKind::If { condition, accept, reject } if !calls(accept) && calls(reject) => {
                Some((at, condition))
            }
            _ => None,
        })?;
        let written: Vec<Root> = stmts[test + 1..branch]
            .iter()
            .filter_map(|stmt| match stmt.kind {
                StmtKind::Store { place, .. } => Some(self.body.places[place].root),
                _ => None,
            })
            .collect();
        let fits =
            is_bare && blocks[reject].stmts.is_empty() && self.is_repeatable(quick, &written);
        fits.then_some(Fork { test, over, branch, quick })
    }

    /// Returns true if a value can be computed again at another place, because all variables that
    /// it uses are unchanged there.
    fn is_repeatable(&self, value: Value, written: &[Root]) -> bool {
        let op = self.body.values[value].op;
        let is_known = match op {
            Op::Load(place) => {
                let Place { root, .. } = self.body.places[place];
                let is_variable = matches!(root, Root::Local(_));
                return is_variable && self.body.path(place).is_empty() && !written.contains(&root);
            }
            Op::Literal(_) => return true,
            Op::Unary(..)
            | Op::Binary(..)
            | Op::Compare(..)
            | Op::Convert(_)
            | Op::Select { .. }
            | Op::Extent { .. } => true,
            _ => false,
        };
        let mut operands = Vec::new();
        op_uses(self.body, &op, |_| false, |used| operands.push(used));
        is_known
            && operands
                .into_iter()
                .all(|used| matches!(used, Use::Value(value) if self.is_repeatable(value, written)))
    }

    /// Computes a repeatable value again.
    fn repeat(&mut self, value: Value, out: &mut Vec<Stmt>) -> Value {
        let ValueData { mut op, ty, .. } = self.body.values[value];
        map_operands(&mut op, |operand| *operand = self.repeat(*operand, out));
        self.define(op, ty, out)
    }

    /// Reduces a round to its quick way and one test that ends a burst; returns the unchanged
    /// statements of `rest`.
    fn quick_way(
        &mut self,
        round: BlockId,
        fork: &Fork,
        parameters: &[Type],
        variables: &Variables,
    ) -> Vec<Stmt> {
        let before = self.body.clone();
        let behind_test = &before.blocks[round].stmts[fork.test + 1..];
        let mut copier = Copier::inside(&before, self.body, parameters, behind_test);
        let copy: Vec<Stmt> = behind_test.iter().map(|stmt| copier.stmt(stmt)).collect();
        let mut stmts = std::mem::take(&mut self.body.blocks[round].stmts);
        let mut quick = stmts.split_off(fork.test + 1);
        stmts.pop();
        if let StmtKind::If { accept, .. } = quick[fork.branch - fork.test - 1].kind {
            let at = fork.branch - fork.test - 1;
            let accept = std::mem::take(&mut self.body.blocks[accept].stmts);
            quick.splice(at..=at, accept);
        }
        let low = self.define(Op::Load(variables.low), Type::U32, &mut stmts);
        let next = self.define(Op::Load(variables.next), Type::U32, &mut stmts);
        let reached = Op::Compare(CompareOp::GreaterEqual, low, next);
        let reached = self.define(reached, Type::BOOL, &mut stmts);
        let is_quick = self.repeat(fork.quick, &mut stmts);
        let is_slow = self.define(Op::Unary(UnaryOp::Not, is_quick), Type::BOOL, &mut stmts);
        let either = Op::Binary(BinaryOp::Or, fork.over, reached);
        let either = self.define(either, Type::BOOL, &mut stmts);
        let ends = Op::Binary(BinaryOp::Or, either, is_slow);
        let ends = self.define(ends, Type::BOOL, &mut stmts);
        let mut leave = Vec::new();
        let key = self.define(Op::Load(variables.key), Type::U32, &mut leave);
        let greatest = self.number(GREATEST, &mut leave);
        let value = Op::Select { condition: fork.over, accept: greatest, reject: key };
        let value = self.define(value, Type::U32, &mut leave);
        leave.push(self.statement(StmtKind::Store { place: variables.key, value }));
        leave.push(self.statement(StmtKind::Break));
        self.branch(ends, leave, &mut stmts);
        stmts.extend(quick);
        self.body.blocks[round].stmts = stmts;
        copy
    }

    /// Returns true if `is_it` holds for a statement or for one inside it.
    fn has(&self, stmt: &Stmt, is_it: impl Fn(&StmtKind) -> bool) -> bool {
        let mut todo = vec![stmt];
        while let Some(stmt) = todo.pop() {
            if is_it(&stmt.kind) {
                return true;
            }
            stmt_blocks(&stmt.kind, |block| todo.extend(&self.body.blocks[block].stmts));
        }
        false
    }

    /// Sets the greatest key before each exit of the old loop, and the next key to 0 where threads
    /// may part; makes variables opaque in all cases.
    fn mark(&mut self, round: BlockId, variables: &Variables, parting: &[i64]) {
        let mut positions = top_level_statements(self.body, round);
        // Positions are handled from the end to the beginning, so that positions before a change
        // stay right.
        positions.sort_by_key(|&(block, at)| (block.index(), std::cmp::Reverse(at)));
        let (mut cases, mut all_cases) = (Vec::new(), Vec::new());
        for (block, at) in positions {
            match &self.body.blocks[block].stmts[at].kind {
                StmtKind::Break => {
                    let mut leaves = Vec::new();
                    let value = self.number(GREATEST, &mut leaves);
                    leaves.push(self.statement(StmtKind::Store { place: variables.key, value }));
                    self.body.blocks[block].stmts.splice(at..at, leaves);
                }
                StmtKind::Switch { cases: all, default, .. } if block == round => {
                    let parts = |case: &&Case| case.labels.iter().any(|it| parting.contains(it));
                    cases.extend(all.iter().filter(parts).map(|case| case.body));
                    all_cases.extend(all.iter().map(|case| case.body).chain([*default]));
                }
                _ => {}
            }
        }
        for case in cases {
            let mut sets = Vec::new();
            let value = self.number(0, &mut sets);
            sets.push(self.statement(StmtKind::Store { place: variables.next, value }));
            self.body.blocks[case].stmts.splice(0..0, sets);
        }
        for case in all_cases {
            let mut hides = Vec::new();
            for &place in &variables.changing {
                let loaded = self.define(Op::Load(place), Type::U32, &mut hides);
                let value = self.define(Op::Opaque(loaded), Type::U32, &mut hides);
                hides.push(self.statement(StmtKind::Store { place, value }));
            }
            self.body.blocks[case].stmts.splice(0..0, hides);
        }
    }

    /// Stores the key of the thread's place: `high * FFFF + low`, which never is `GREATEST` and
    /// keeps the order of pairs.
    fn store_key(&mut self, variables: &Variables, out: &mut Vec<Stmt>) -> Value {
        let high = self.high_part(variables, out);
        let low = self.define(Op::Load(variables.low), Type::U32, out);
        let value = self.binary(BinaryOp::Add, high, low, out);
        out.push(self.statement(StmtKind::Store { place: variables.key, value }));
        value
    }

    fn high_part(&mut self, variables: &Variables, out: &mut Vec<Stmt>) -> Value {
        let high = self.define(Op::Load(variables.high), Type::U32, out);
        let weight = self.number(0xffff, out);
        self.binary(BinaryOp::Multiply, high, weight, out)
    }

    fn break_if(&mut self, condition: Value, out: &mut Vec<Stmt>) {
        let leave = self.statement(StmtKind::Break);
        self.branch(condition, vec![leave], out);
    }

    fn branch(&mut self, condition: Value, stmts: Vec<Stmt>, out: &mut Vec<Stmt>) {
        let accept = self.body.blocks.push(Block { stmts });
        let reject = self.body.blocks.push(Block::default());
        out.push(self.statement(StmtKind::If { condition, accept, reject }));
    }
}
