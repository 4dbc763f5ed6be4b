//! Makes the threads of a block wait for each other in a loop, before its body's last call and at
//! its head, until the loop is over for all of them.
//!
//! Warps of a multiprocessor that are at the same part of a large program share what its
//! instruction cache holds; warps that are anywhere drive each other's code out of it.
//!
//! ```text
//! while goes {          while any_in_block(goes) {
//!     work                  if goes { work }
//!     call                  any_in_block(false)
//! }                         if goes { call }
//!                       }
//! ```
//! All threads of a block that have not ended must come to the loop the same number of times. A
//! thread alone does what it did before.

use gbxcule_ir::constant::Literal;
use gbxcule_ir::function::{Body, FunctionId};
use gbxcule_ir::module::Module;
use gbxcule_ir::op::{Op, Value, ValueData};
use gbxcule_ir::source::Span;
use gbxcule_ir::stmt::{Block, BlockId, Stmt, StmtKind};
use gbxcule_ir::ty::Type;
use gbxcule_ir::walk::stmt_blocks;

/// Rearranges the only loop among a function's outermost statements, whose body has no jump and
/// ends with a call that uses no value of the body. Returns false, and changes nothing, if there is
/// no loop with such an end.
pub fn run(module: &mut Module, function: FunctionId) -> bool {
    let body = &mut module.functions[function].body;
    let Some((at, header, goes, round)) = find_loop(body) else { return false };
    let root = body.root;
    let span = body.blocks[root].stmts[at].span;
    let mut writer = Writer { body, span };
    let mut head = std::mem::take(&mut writer.body.blocks[header].stmts);
    let any = writer.define(Op::AnyInBlock(goes), &mut head);
    writer.body.blocks[header].stmts = head;
    let mut work = std::mem::take(&mut writer.body.blocks[round].stmts);
    let call = work.split_off(work.len() - 1);
    let mut stmts = Vec::new();
    writer.guard(goes, work, &mut stmts);
    let no = writer.define(Op::Literal(Literal::bool(false)), &mut stmts);
    writer.define(Op::AnyInBlock(no), &mut stmts);
    writer.guard(goes, call, &mut stmts);
    body.blocks[round].stmts = stmts;
    if let StmtKind::While { condition, .. } = &mut body.blocks[root].stmts[at].kind {
        *condition = any;
    }
    true
}

/// Position of the loop, its header, its condition and its body.
fn find_loop(body: &Body) -> Option<(usize, BlockId, Value, BlockId)> {
    let loops = |(at, stmt): (usize, &Stmt)| match stmt.kind {
        StmtKind::While { header, condition, body } => Some((at, header, condition, body)),
        _ => None,
    };
    let mut loops = body.blocks[body.root].stmts.iter().enumerate().filter_map(loops);
    let (Some(found), None) = (loops.next(), loops.next()) else { return None };
    let (.., round) = found;
    let ends_with_call = body.blocks[round].stmts.last().is_some_and(|stmt| {
        let StmtKind::Let(value) = stmt.kind else { return false };
        matches!(body.values[value].op, Op::Call { .. })
    });
    (ends_with_call && !jumps(body, round)).then_some(found)
}

/// Returns true if a block, or one inside it, leaves a loop or the function.
fn jumps(body: &Body, block: BlockId) -> bool {
    let mut todo = vec![block];
    while let Some(block) = todo.pop() {
        for stmt in &body.blocks[block].stmts {
            if stmt.kind.is_terminator() {
                return true;
            }
            stmt_blocks(&stmt.kind, |inner| todo.push(inner));
        }
    }
    false
}

struct Writer<'a> {
    body: &'a mut Body,
    span: Span,
}

impl Writer<'_> {
    /// Defines a `bool`.
    fn define(&mut self, op: Op, out: &mut Vec<Stmt>) -> Value {
        let data = ValueData { op, ty: Type::BOOL, name: None, span: self.span };
        let value = self.body.values.push(data);
        out.push(Stmt { kind: StmtKind::Let(value), span: self.span });
        value
    }

    /// Runs statements if a condition holds.
    fn guard(&mut self, condition: Value, stmts: Vec<Stmt>, out: &mut Vec<Stmt>) {
        let accept = self.body.blocks.push(Block { stmts });
        let reject = self.body.blocks.push(Block::default());
        let kind = StmtKind::If { condition, accept, reject };
        out.push(Stmt { kind, span: self.span });
    }
}
