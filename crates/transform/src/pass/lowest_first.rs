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
//! A thread that runs alone does what it did before: the lowest key is its own.
//!
//! If a round has two switches, the first one is an entry: what comes up to it must be such that it
//! may be left out of any round. It is done once a turn, before the burst, and its cases part
//! threads.
//!
//! The code after the test that ends the old loop mostly takes a quick way. The other way, if it
//! makes calls, is moved to after the burst: `next` is set to a mark, the burst is left, and `rest`
//! is done there. So a burst need not hold threads together around the calls.

use super::copy::Copier;
use gbxcule_ir::constant::Literal;
use gbxcule_ir::function::{Body, FunctionId, Local};
use gbxcule_ir::module::Module;
use gbxcule_ir::op::{BinaryOp, CompareOp, Op, Value, ValueData};
use gbxcule_ir::place::{Place, PlaceId, Root};
use gbxcule_ir::source::Span;
use gbxcule_ir::stmt::{Block, BlockId, Case, Stmt, StmtKind};
use gbxcule_ir::ty::{Scalar, Type};
use gbxcule_ir::walk::stmt_blocks;

/// Key of a thread that has left the loop.
const GREATEST: u32 = u32::MAX;
/// Mark of a thread that takes the slow way; no key is so large.
const SLOW: u32 = u32::MAX - 1;

/// Names of the variables that say where in its program a thread is, each below 2^16.
#[derive(Clone, Copy, Debug)]
pub struct Position {
    /// The one that counts first.
    pub high: &'static str,
    /// The one that counts among equals.
    pub low: &'static str,
}

/// Rearranges the outermost loop of a function that has a switch in it: of `while true`, without a
/// `Continue` of its own, its variables no part of a struct. After a round whose case is among
/// `parting` threads may be at different places. Returns false, and changes nothing, if there is no
/// such loop.
pub fn run(module: &mut Module, function: FunctionId, position: Position, parting: &[i64]) -> bool {
    let parameters: Vec<Type> =
        module.functions[function].params.iter().map(|param| param.ty).collect();
    let body = &mut module.functions[function].body;
    let named = |body: &Body, name: &str| {
        let mut found = body.locals.iter().filter(|(_, local)| local.name == name);
        let first = found.next().filter(|(_, local)| local.ty == Type::U32);
        first.map(|(local, _)| local)
    };
    let (Some(high), Some(low)) = (named(body, position.high), named(body, position.low)) else {
        return false;
    };
    let [high, low] = [high, low].map(|local| whole(body, Root::Local(local), Type::U32));
    let Some((at, round)) = find_loop(body) else { return false };
    let mut writer = Writer { body, span: Span::NONE };
    let [key, next] = ["key", "next"].map(|name| {
        let local = Local { name: name.into(), ty: Type::U32, scratch: false, span: Span::NONE };
        let local = writer.body.locals.push(local);
        whole(writer.body, Root::Local(local), Type::U32)
    });
    let variables = Variables { key, next, high, low };
    let entry = writer.entry(round, &variables);
    writer.mark(round, &variables, parting);
    let slow = writer.move_call_out(round, &parameters, &variables);
    let turn = writer.build_outer_loop(round, entry, slow, &variables);
    let mut first = Vec::new();
    writer.store_key(&variables, &mut first);
    let root = writer.body.root;
    if let StmtKind::While { body, .. } = &mut writer.body.blocks[root].stmts[at].kind {
        *body = turn;
    }
    writer.body.blocks[root].stmts.splice(at..at, first);
    true
}

/// The variables that take part.
struct Variables {
    key: PlaceId,
    next: PlaceId,
    high: PlaceId,
    low: PlaceId,
}

fn whole(body: &mut Body, root: Root, ty: Type) -> PlaceId {
    let path = body.paths.add([]);
    body.places.push(Place { root, path, ty })
}

/// Position in the outermost block, and body, of the endless loop with a switch in it.
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

/// Statements in a loop's body but not in loops inside: their blocks and positions. Returns of
/// inner loops count.
fn top_level_statements(body: &Body, round: BlockId) -> Vec<(BlockId, usize)> {
    let (mut found, mut todo) = (Vec::new(), vec![(round, true)]);
    while let Some((block, is_own)) = todo.pop() {
        for (at, stmt) in body.blocks[block].stmts.iter().enumerate() {
            if is_own || matches!(stmt.kind, StmtKind::Return(_)) {
                found.push((block, at));
            }
            let loops = matches!(stmt.kind, StmtKind::For { .. } | StmtKind::While { .. });
            stmt_blocks(&stmt.kind, |inner| todo.push((inner, is_own && !loops)));
        }
    }
    found
}

struct Writer<'a> {
    body: &'a mut Body,
    span: Span,
}

impl Writer<'_> {
    /// The body of the new loop around rounds of the old one.
    fn build_outer_loop(
        &mut self,
        round: BlockId,
        entry: Vec<Stmt>,
        slow: Vec<Stmt>,
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
        let mut burst = entry;
        burst.extend(self.burst(round, variables));
        if !slow.is_empty() {
            let next = self.define(Op::Load(variables.next), Type::U32, &mut burst);
            let mark = self.number(SLOW, &mut burst);
            let is_slow = self.define(equal(next, mark), Type::BOOL, &mut burst);
            self.branch(is_slow, slow, &mut burst);
        }
        self.branch(is_first, burst, &mut out);
        self.body.blocks.push(Block { stmts: out })
    }

    /// Rounds of the old loop until threads may part, or the next ones are reached.
    fn burst(&mut self, round: BlockId, variables: &Variables) -> Vec<Stmt> {
        let mut stmts = std::mem::take(&mut self.body.blocks[round].stmts);
        let ends = stmts.last().is_some_and(|last| last.kind.is_terminator());
        if !ends {
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

    /// Takes the entry out of a round: it is done once a turn, and behind each of its cases threads
    /// may be at different places.
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

    /// Makes the branch with a call, after the test that ends the old loop, leave the burst; gives
    /// the rest as it was before.
    fn move_call_out(
        &mut self,
        round: BlockId,
        parameters: &[Type],
        variables: &Variables,
    ) -> Vec<Stmt> {
        let stmts = &self.body.blocks[round].stmts;
        let is_test = |stmt: &Stmt| self.has(stmt, |kind| matches!(kind, StmtKind::Break));
        let Some(test) = stmts.iter().rposition(is_test) else { return Vec::new() };
        let calls = |block: BlockId| {
            let stmts = self.body.blocks[block].stmts.iter();
            stmts.clone().any(|stmt| {
                self.has(stmt, |kind| {
                    matches!(kind, StmtKind::Let(value)
                        if matches!(self.body.values[*value].op, Op::Call { .. }))
                })
            })
        };
        let is_fork = |stmt: &Stmt| {
            matches!(stmt.kind, StmtKind::If { accept, reject, .. }
                if !calls(accept) && calls(reject))
        };
        let Some(fork) = (test + 1..stmts.len()).find(|&at| is_fork(&stmts[at])) else {
            return Vec::new();
        };
        let before = self.body.clone();
        let rest = &before.blocks[round].stmts[test + 1..];
        let mut copier = Copier::inside(&before, self.body, parameters, rest);
        let mut slow: Vec<Stmt> = rest.iter().map(|stmt| copier.stmt(stmt)).collect();
        self.store_key(variables, &mut slow);
        let mut leave = Vec::new();
        self.store_key(variables, &mut leave);
        let value = self.number(SLOW, &mut leave);
        leave.push(self.statement(StmtKind::Store { place: variables.next, value }));
        leave.push(self.statement(StmtKind::Break));
        let leave = self.body.blocks.push(Block { stmts: leave });
        if let StmtKind::If { reject, .. } = &mut self.body.blocks[round].stmts[fork].kind {
            *reject = leave;
        }
        slow
    }

    /// Returns true if a statement, or one inside it, is of a kind.
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

    /// Sets the greatest key before the old loop is left, and the next key to 0 where threads may
    /// part.
    fn mark(&mut self, round: BlockId, variables: &Variables, parting: &[i64]) {
        let mut found = top_level_statements(self.body, round);
        // From the end, so that positions stay.
        found.sort_by_key(|&(block, at)| (block.index(), std::cmp::Reverse(at)));
        let mut cases = Vec::new();
        for (block, at) in found {
            match &self.body.blocks[block].stmts[at].kind {
                StmtKind::Break => {
                    let mut leaves = Vec::new();
                    let value = self.number(GREATEST, &mut leaves);
                    leaves.push(self.statement(StmtKind::Store { place: variables.key, value }));
                    self.body.blocks[block].stmts.splice(at..at, leaves);
                }
                StmtKind::Switch { cases: all, .. } if block == round => {
                    let parts = |case: &&Case| case.labels.iter().any(|it| parting.contains(it));
                    cases.extend(all.iter().filter(parts).map(|case| case.body));
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
    }

    /// Stores the key of where the thread is: `high * FFFF + low`, which is never the greatest, and
    /// keeps the order of pairs.
    fn store_key(&mut self, variables: &Variables, out: &mut Vec<Stmt>) -> Value {
        let high = self.define(Op::Load(variables.high), Type::U32, out);
        let low = self.define(Op::Load(variables.low), Type::U32, out);
        let weight = self.number(0xffff, out);
        let high = self.define(Op::Binary(BinaryOp::Multiply, high, weight), Type::U32, out);
        let value = self.define(Op::Binary(BinaryOp::Add, high, low), Type::U32, out);
        out.push(self.statement(StmtKind::Store { place: variables.key, value }));
        value
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

    fn number(&mut self, number: u32, out: &mut Vec<Stmt>) -> Value {
        let literal = Op::Literal(Literal::int(Scalar::U32, i128::from(number)));
        self.define(literal, Type::U32, out)
    }

    fn define(&mut self, op: Op, ty: Type, out: &mut Vec<Stmt>) -> Value {
        let value = self.body.values.push(ValueData { op, ty, name: None, span: self.span });
        out.push(self.statement(StmtKind::Let(value)));
        value
    }

    fn statement(&self, kind: StmtKind) -> Stmt {
        Stmt { kind, span: self.span }
    }
}
