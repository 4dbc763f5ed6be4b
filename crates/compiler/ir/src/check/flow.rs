//! Finds blocks whose end is never reached.

use crate::constant::Literal;
use crate::function::Body;
use crate::op::Op;
use crate::stmt::{BlockId, StmtKind};
use crate::walk::{Step, stmt_blocks, walk};

/// Returns true, for each block, if control never reaches its end. Blocks must form a tree.
pub(super) fn diverging(body: &Body) -> Vec<bool> {
    let mut diverges = vec![false; body.blocks.len()];
    let mut breaks = vec![false; body.blocks.len()];
    // Blocks end in post-order: inner blocks are done when an outer block asks for them.
    let mut order: Vec<BlockId> = Vec::new();
    walk(body, body.root, |step| {
        if let Step::Leave(block) = step {
            order.push(block);
        }
    });
    for block in order {
        let stmts = &body.blocks[block].stmts;
        let (mut ends, mut leaves) = (false, false);
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Break => leaves = true,
                kind @ (StmtKind::If { .. } | StmtKind::Switch { .. }) => {
                    stmt_blocks(kind, |inner| leaves |= breaks[inner.index()]);
                }
                _ => {}
            }
            ends |= match &stmt.kind {
                kind if kind.is_terminator() => true,
                kind @ (StmtKind::If { .. } | StmtKind::Switch { .. }) => {
                    let mut all = true;
                    stmt_blocks(kind, |inner| all &= diverges[inner.index()]);
                    all
                }
                StmtKind::While { condition, body: inner, .. } => {
                    let always = Op::Literal(Literal::bool(true));
                    body.values[*condition].op == always && !breaks[inner.index()]
                }
                _ => false,
            };
        }
        diverges[block.index()] = ends;
        breaks[block.index()] = leaves;
    }
    diverges
}
