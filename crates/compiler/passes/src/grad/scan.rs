//! Scans a body in normal form: lists its statements in order, the block of each, and what controls
//! each block.

use super::dependence::Dependences;
use gbxcule_ir::arena::Arena;
use gbxcule_ir::function::{Body, Function, LocalId};
use gbxcule_ir::op::{Op, Value};
use gbxcule_ir::place::{PlaceId, Projection, Root};
use gbxcule_ir::stmt::{BlockId, Stmt, StmtKind};
use gbxcule_ir::ty::Types;
use gbxcule_ir::walk::{Step, stmt_blocks, walk};

/// Definitions outside a body that its statements refer to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Definitions<'a> {
    pub(super) types: &'a Types,
    /// Functions of the source: normal forms call only these.
    pub(super) functions: &'a Arena<Function>,
    /// Dependences of the reverses of functions.
    pub(super) reverses: &'a Dependences,
}

/// Statement with its position and its block.
#[derive(Clone, Copy, Debug)]
pub(super) struct StmtSite<'a> {
    pub(super) block: BlockId,
    pub(super) stmt: &'a Stmt,
}

/// A body with the order of its statements.
#[derive(Debug)]
pub(super) struct Scan<'a> {
    pub(super) body: &'a Body,
    /// All statements in order; the statements inside another one follow that one.
    pub(super) stmts: Vec<StmtSite<'a>>,
    /// Block around each block, and the statement that owns it.
    owners: Vec<Option<StmtSite<'a>>>,
    /// Block that defines each value.
    homes: Vec<Option<BlockId>>,
    /// Stores to each variable of something other than zero: their number, and the last.
    stores: Vec<(u32, Option<(PlaceId, Value)>)>,
}

impl<'a> Scan<'a> {
    pub(super) fn new(body: &'a Body) -> Self {
        let mut scan = Self {
            body,
            stmts: Vec::new(),
            owners: vec![None; body.blocks.len()],
            homes: vec![None; body.values.len()],
            stores: vec![(0, None); body.locals.len()],
        };
        let mut open = Vec::new();
        walk(body, body.root, |step| match step {
            Step::Enter(block) => open.push(block),
            Step::Leave(_) => _ = open.pop(),
            Step::Stmt(stmt) => {
                let Some(&block) = open.last() else { return };
                let at = StmtSite { block, stmt };
                scan.stmts.push(at);
                stmt_blocks(&stmt.kind, |inner| scan.owners[inner.index()] = Some(at));
                match stmt.kind {
                    StmtKind::Let(value) => scan.homes[value.index()] = Some(block),
                    StmtKind::For { index, body, .. } => scan.homes[index.index()] = Some(body),
                    _ => {}
                }
            }
        });
        for at in 0..scan.stmts.len() {
            let StmtKind::Store { place, value } = scan.stmts[at].stmt.kind else { continue };
            if body.values[value].op != Op::Zero
                && let Some(local) = scan.local_of(place)
            {
                let (count, last) = &mut scan.stores[local.index()];
                (*count, *last) = (*count + 1, Some((place, value)));
            }
        }
        scan
    }

    /// Returns the only store to a variable, apart from stores of zero.
    pub(super) fn only_store(&self, local: LocalId) -> Option<(PlaceId, Value)> {
        let (count, last) = self.stores[local.index()];
        last.filter(|_| count == 1)
    }

    /// Returns the block around a block, and the statement that owns the inner block.
    pub(super) fn owner(&self, block: BlockId) -> Option<StmtSite<'a>> {
        self.owners[block.index()]
    }

    /// Returns the block that defines a value.
    pub(super) fn home(&self, value: Value) -> Option<BlockId> {
        self.homes[value.index()]
    }

    /// Returns the values that decide whether and how often a statement's blocks run.
    pub(super) fn deciders(stmt: &StmtKind) -> Vec<Value> {
        match *stmt {
            StmtKind::If { condition, .. } | StmtKind::While { condition, .. } => vec![condition],
            StmtKind::Switch { selector, .. } => vec![selector],
            StmtKind::For { start, end, step, .. } => vec![start, end, step],
            _ => Vec::new(),
        }
    }

    /// Returns true if a place lies behind an array handle.
    pub(super) fn is_memory(&self, place: PlaceId) -> bool {
        self.handle_steps(place).is_some()
    }

    /// Returns the number of steps of a place's path that lead to the last handle on it.
    pub(super) fn handle_steps(&self, place: PlaceId) -> Option<usize> {
        self.body.path(place).iter().rposition(|step| matches!(step, Projection::Element(_)))
    }

    /// Returns the variable that a place is part of.
    pub(super) fn local_of(&self, place: PlaceId) -> Option<LocalId> {
        match self.body.places[place].root {
            Root::Local(local) if !self.is_memory(place) => Some(local),
            _ => None,
        }
    }

    /// Returns the variable that holds the array handle of a place in memory.
    pub(super) fn handle_local(&self, place: PlaceId) -> Option<LocalId> {
        match self.body.places[place].root {
            Root::Local(local) if self.is_memory(place) => Some(local),
            _ => None,
        }
    }
}
