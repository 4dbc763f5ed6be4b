//! Blocks, and the statements that control flow and memory take.

use super::draft::Draft;
use crate::op::{Arg, Op, Value};
use crate::place::{Place, PlaceId, Root};
use crate::stmt::{Block, BlockId, Case, Stmt, StmtKind};
use crate::ty::Type;
use std::ops::{Deref, DerefMut};

/// Blocks of a body under construction.
pub struct Blocks<'m> {
    draft: Draft<'m>,
    open: Vec<OpenBlock>,
    /// True, for each block, if control never leaves it at its end.
    diverges: Vec<bool>,
}

/// A block to which statements are added.
struct OpenBlock {
    block: BlockId,
    diverges: bool,
}

impl<'m> Deref for Blocks<'m> {
    type Target = Draft<'m>;

    fn deref(&self) -> &Self::Target {
        &self.draft
    }
}

impl DerefMut for Blocks<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.draft
    }
}

impl<'m> Blocks<'m> {
    pub(super) fn new(draft: Draft<'m>) -> Self {
        let open = vec![OpenBlock { block: draft.body.root, diverges: false }];
        let diverges = vec![false; draft.body.blocks.len()];
        Self { draft, open, diverges }
    }

    pub(super) fn into_draft(self) -> Draft<'m> {
        self.draft
    }

    /// Returns the depth at which the next statements nest.
    pub fn nesting(&self) -> usize {
        self.open.len()
    }

    /// Opens a block: statements go there until [`Blocks::close_block`].
    pub fn open_block(&mut self) {
        let block = self.draft.body.blocks.push(Block::default());
        self.diverges.push(false);
        self.open.push(OpenBlock { block, diverges: false });
    }

    /// The innermost open block.
    pub fn open_block_id(&self) -> BlockId {
        self.open.last().map_or(self.draft.body.root, |open| open.block)
    }

    /// Closes the innermost open block, to be given to the statement that owns it. The outermost
    /// block of the function can't be closed.
    pub fn close_block(&mut self) -> BlockId {
        debug_assert!(self.open.len() > 1, "the outermost block stays open");
        let Some(open) = self.open.pop() else { return self.draft.body.root };
        self.diverges[open.block.index()] = open.diverges;
        open.block
    }

    /// Returns true if control can't reach the end of the innermost open block: statements that are
    /// added there are dropped.
    pub fn diverged(&self) -> bool {
        self.open.last().is_some_and(|open| open.diverges)
    }

    fn block_diverges(&self, block: BlockId) -> bool {
        self.diverges.get(block.index()).copied().unwrap_or(false)
    }

    pub(super) fn push(&mut self, kind: StmtKind, diverges: bool) {
        let span = self.span();
        let Some(open) = self.open.last_mut() else { return };
        if open.diverges {
            return;
        }
        open.diverges = diverges;
        self.draft.body.blocks[open.block].stmts.push(Stmt { kind, span });
    }

    /// Adds a variable with a value, which the source text doesn't name.
    pub fn stored(&mut self, name: &str, value: Value) -> PlaceId {
        let ty = self.ty(value);
        let place = self.temporary(name, ty);
        self.store(place, value);
        place
    }

    /// `place = value`
    pub fn store(&mut self, place: PlaceId, value: Value) {
        self.push(StmtKind::Store { place, value }, false);
    }

    /// Takes back a store of zero to a variable or a part of it. Returns false and does nothing if
    /// the innermost open block doesn't have the store, if the variable was read or written since,
    /// or if an array was made of the variable.
    pub fn take_back_zero(&mut self, place: PlaceId) -> bool {
        let body = &self.draft.body;
        let Place { root: Root::Local(local), .. } = body.places[place] else { return false };
        let Some(open) = self.open.last() else { return false };
        let touches = |other: PlaceId| body.places[other].root == Root::Local(local);
        let passes = |arg: &Arg| matches!(*arg, Arg::Place(other) if touches(other));
        let stmts = body.blocks[open.block].stmts.iter().enumerate().rev();
        let mut zero_store = None;
        for (position, stmt) in stmts {
            match stmt.kind {
                StmtKind::Store { place: other, value } if touches(other) => {
                    let same = body.path(place) == body.path(other);
                    zero_store = (same && body.values[value].op == Op::Zero).then_some(position);
                    break;
                }
                StmtKind::Store { .. } => {}
                StmtKind::Let(value) => match body.values[value].op {
                    Op::Load(other) if touches(other) => break,
                    Op::Call { args, .. } if body.arg_lists[args].iter().any(passes) => break,
                    Op::AsArray(_) => break,
                    _ => {}
                },
                _ => break,
            }
        }
        if let Some(position) = zero_store {
            let block = self.open_block_id();
            self.draft.body.blocks[block].stmts.remove(position);
        }
        zero_store.is_some()
    }

    /// An `If` over two closed blocks.
    pub fn if_blocks(&mut self, condition: Value, accept: BlockId, reject: BlockId) {
        let diverges = self.block_diverges(accept) && self.block_diverges(reject);
        self.push(StmtKind::If { condition, accept, reject }, diverges);
    }

    /// A `Switch` over closed blocks.
    pub fn switch(&mut self, selector: Value, cases: Vec<Case>, default: BlockId) {
        let bodies = cases.iter().map(|case| case.body);
        let diverges = bodies.chain([default]).all(|block| self.block_diverges(block));
        self.push(StmtKind::Switch { selector, cases: cases.into(), default }, diverges);
    }

    /// The index of a loop to come, of the type of its bounds; give it to [`Blocks::for_block`].
    pub fn loop_index(&mut self, ty: Type, name: &str) -> Value {
        let index = self.unnamed_index(ty);
        self.rename(index, name);
        index
    }

    /// The index of a loop to come, without a name.
    pub fn unnamed_index(&mut self, ty: Type) -> Value {
        self.define(Op::Index, ty)
    }

    /// A `For` over a closed block that uses `index`.
    pub fn for_block(&mut self, index: Value, range: [Value; 3], body: BlockId) {
        let [start, end, step] = range;
        self.push(StmtKind::For { index, start, end, step, body }, false);
    }

    /// A `While` over closed blocks.
    pub fn while_blocks(&mut self, header: BlockId, condition: Value, body: BlockId) {
        self.push(StmtKind::While { header, condition, body }, false);
    }

    /// Leaves the function.
    pub fn ret(&mut self, value: Option<Value>) {
        self.push(StmtKind::Return(value), true);
    }

    /// Prints values as Python does, or by a C format.
    pub fn print(&mut self, format: Option<&str>, args: &[Value]) {
        let format = format.map(|text| self.module.intern(text));
        let args = self.draft.body.value_lists.add(args.iter().copied());
        self.push(StmtKind::Print { format, args }, false);
    }

    /// Traps if `condition` is false.
    pub fn assert(&mut self, condition: Value, message: &str) {
        let message = self.module.intern(message);
        self.push(StmtKind::Assert { condition, message }, false);
    }

    /// Stops the launch.
    pub fn trap(&mut self, message: &str) {
        let message = self.module.intern(message);
        self.push(StmtKind::Trap { message }, true);
    }

    /// A `Let` of a value made with [`Draft::define`].
    pub(super) fn push_let(&mut self, value: Value) {
        self.push(StmtKind::Let(value), false);
    }
}
