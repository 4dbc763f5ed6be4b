//! Single exit: functions whose only `Return` is the last statement of their outermost block.
//!
//! [`super::inline`] needs this. (`grad` must also remove every `Break` and `Continue`, and calls
//! with several results, which can't be variables: its normal form is `grad::normal`.) The result
//! goes to a variable. Inside a loop a return sets a flag and becomes a `Break`; the statements
//! after the loop run only if the flag isn't set. Outside of loops, the statements after a branch
//! that returns move into the arm that doesn't return.

use super::writer::whole;
use gbxcule_ir::check::MAX_NESTING;
use gbxcule_ir::constant::Literal;
use gbxcule_ir::function::{Body, Function, Inline, Local};
use gbxcule_ir::module::Module;
use gbxcule_ir::op::{Op, UnaryOp, Value, ValueData};
use gbxcule_ir::place::{PlaceId, Root};
use gbxcule_ir::source::Span;
use gbxcule_ir::stmt::{Block, BlockId, Stmt, StmtKind};
use gbxcule_ir::ty::{Shape, Type};
use gbxcule_ir::walk::{depth, stmt_blocks, walk_stmts};

/// Gives all functions and kernels a single exit. Two kinds of functions keep their returns: a
/// function whose result is a tuple, because tuples are not stored, and a function with too many
/// returns.
pub fn run(module: &mut Module) {
    for id in module.functions.handles() {
        let of_tuple = matches!(module.types[module.functions[id].result], Shape::Tuple(_));
        if module.functions[id].result == Type::UNIT || !of_tuple {
            function(&mut module.functions[id]);
        }
    }
}

/// Gives a single exit to the functions that are to be inlined everywhere, and to no others.
pub fn before_inlining(module: &mut Module) {
    for id in module.functions.handles() {
        let callee = &mut module.functions[id];
        let of_tuple = matches!(module.types[callee.result], Shape::Tuple(_));
        if callee.inline == Inline::Always && (callee.result == Type::UNIT || !of_tuple) {
            function(callee);
        }
    }
}

/// Returns true if a body has no `Return`, or only one as its last statement.
pub fn is_single(body: &Body) -> bool {
    let stmts = &body.blocks[body.root].stmts;
    let last = usize::from(matches!(stmts.last().map(|s| &s.kind), Some(StmtKind::Return(_))));
    stmts[..stmts.len() - last].iter().all(|stmt| !returns(body, &stmt.kind))
}

/// Returns true if a statement is a `Return` or holds one.
fn returns(body: &Body, stmt: &StmtKind) -> bool {
    let mut todo = vec![stmt];
    while let Some(stmt) = todo.pop() {
        if matches!(stmt, StmtKind::Return(_)) {
            return true;
        }
        stmt_blocks(stmt, |block| {
            todo.extend(body.blocks[block].stmts.iter().map(|stmt| &stmt.kind));
        });
    }
    false
}

fn function(function: &mut Function) {
    if is_single(&function.body) || !is_shallow(&function.body) {
        return;
    }
    let (result, span) = (function.result, function.span);
    let body = &mut function.body;
    let mut place = |name: &str, ty: Type| {
        let local = body.locals.push(Local { name: name.into(), ty, scratch: false, span });
        whole(body, Root::Local(local), ty)
    };
    let result_place = (result != Type::UNIT).then(|| place("result", result));
    let done = place("done", Type::BOOL);
    let mut rewriter = Rewriter { body, result_place, done };
    rewriter.block(rewriter.body.root, false);
    if let Some(result_place) = result_place {
        let (load, value) = rewriter.define(Op::Load(result_place), result, span);
        let root = rewriter.body.root;
        rewriter.body.blocks[root]
            .stmts
            .extend([load, Stmt { kind: StmtKind::Return(Some(value)), span }]);
    }
}

/// Returns true if the returns are so few that blocks still nest within the limit after
/// statements were moved into branches.
fn is_shallow(body: &Body) -> bool {
    let mut returns = 0;
    walk_stmts(body, body.root, |stmt| {
        returns += usize::from(matches!(stmt.kind, StmtKind::Return(_)));
    });
    depth(body) + 2 * returns < MAX_NESTING
}

struct Rewriter<'a> {
    body: &'a mut Body,
    /// Variable for the result, if the function has one.
    result_place: Option<PlaceId>,
    /// Flag that is set once the function has returned.
    done: PlaceId,
}

impl Rewriter<'_> {
    /// Blocks nest at most `check::MAX_NESTING` deep, so this may recurse.
    fn block(&mut self, block: BlockId, in_loop: bool) {
        let stmts = std::mem::take(&mut self.body.blocks[block].stmts);
        let stmts = self.stmts(stmts, in_loop);
        self.body.blocks[block].stmts = stmts;
    }

    fn stmts(&mut self, stmts: Vec<Stmt>, in_loop: bool) -> Vec<Stmt> {
        let mut out = Vec::new();
        let mut remaining = stmts.into_iter();
        while let Some(stmt) = remaining.next() {
            if !returns(self.body, &stmt.kind) {
                out.push(stmt);
                continue;
            }
            let span = stmt.span;
            match stmt.kind {
                StmtKind::Return(value) => {
                    self.leave(value, span, in_loop, &mut out);
                    return out;
                }
                StmtKind::If { condition, accept, reject } if !in_loop => {
                    let following: Vec<Stmt> = remaining.collect();
                    let ends = [accept, reject].map(|arm| self.always_returns(arm));
                    if !following.is_empty() && ends[0] != ends[1] {
                        let other = if ends[0] { reject } else { accept };
                        self.body.blocks[other].stmts.extend(following);
                        self.block(accept, false);
                        self.block(reject, false);
                        out.push(Stmt { kind: StmtKind::If { condition, accept, reject }, span });
                        return out;
                    }
                    self.block(accept, false);
                    self.block(reject, false);
                    out.push(Stmt { kind: StmtKind::If { condition, accept, reject }, span });
                    self.guard_rest(following, span, &mut out);
                    return out;
                }
                kind => {
                    let loops = matches!(kind, StmtKind::For { .. } | StmtKind::While { .. });
                    let mut blocks = Vec::new();
                    stmt_blocks(&kind, |block| blocks.push(block));
                    blocks.into_iter().for_each(|block| self.block(block, in_loop || loops));
                    out.push(Stmt { kind, span });
                    if in_loop && loops {
                        self.break_if_done(span, &mut out);
                    } else if !in_loop {
                        let following: Vec<Stmt> = remaining.collect();
                        self.guard_rest(following, span, &mut out);
                        return out;
                    }
                }
            }
        }
        out
    }

    /// Returns true if every path through a block returns outside of a loop.
    fn always_returns(&self, block: BlockId) -> bool {
        self.body.blocks[block].stmts.iter().any(|stmt| match &stmt.kind {
            StmtKind::Return(_) => true,
            StmtKind::If { accept, reject, .. } => {
                self.always_returns(*accept) && self.always_returns(*reject)
            }
            _ => false,
        })
    }

    fn leave(&mut self, value: Option<Value>, span: Span, in_loop: bool, out: &mut Vec<Stmt>) {
        let mut store =
            |place, value| out.push(Stmt { kind: StmtKind::Store { place, value }, span });
        if let (Some(place), Some(value)) = (self.result_place, value) {
            store(place, value);
        }
        let (flag, value) = self.define(Op::Literal(Literal::bool(true)), Type::BOOL, span);
        out.extend([flag, Stmt { kind: StmtKind::Store { place: self.done, value }, span }]);
        if in_loop {
            out.push(Stmt { kind: StmtKind::Break, span });
        }
    }

    fn break_if_done(&mut self, span: Span, out: &mut Vec<Stmt>) {
        let (load, condition) = self.define(Op::Load(self.done), Type::BOOL, span);
        let stop = Block { stmts: vec![Stmt { kind: StmtKind::Break, span }] };
        let accept = self.body.blocks.push(stop);
        let reject = self.body.blocks.push(Block::default());
        out.extend([load, Stmt { kind: StmtKind::If { condition, accept, reject }, span }]);
    }

    fn guard_rest(&mut self, following: Vec<Stmt>, span: Span, out: &mut Vec<Stmt>) {
        if following.is_empty() {
            return;
        }
        let following = self.stmts(following, false);
        let (load, done) = self.define(Op::Load(self.done), Type::BOOL, span);
        let (not, condition) = self.define(Op::Unary(UnaryOp::Not, done), Type::BOOL, span);
        let accept = self.body.blocks.push(Block { stmts: following });
        let reject = self.body.blocks.push(Block::default());
        out.extend([load, not, Stmt { kind: StmtKind::If { condition, accept, reject }, span }]);
    }

    fn define(&mut self, op: Op, ty: Type, span: Span) -> (Stmt, Value) {
        let value = self.body.values.push(ValueData { op, ty, name: None, span });
        (Stmt { kind: StmtKind::Let(value), span }, value)
    }
}
