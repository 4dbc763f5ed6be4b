//! Statements.

use super::Builder;
use crate::op::{Arg, Op, Value};
use crate::place::{Place, PlaceId, Root};
use crate::stmt::{BlockId, Case, StmtKind};
use crate::ty::Type;

impl Builder<'_> {
    /// `place = value`
    pub fn store(&mut self, place: PlaceId, value: Value) {
        self.push(StmtKind::Store { place, value }, false);
    }

    /// Takes back a store of zero to a variable or a part of it, if it was made in the innermost
    /// open block and the variable was neither read nor written since; returns true if it
    /// did. Not for one that an array was made of.
    pub fn take_back_zero(&mut self, place: PlaceId) -> bool {
        let body = &self.body;
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
            let block = self.open.last().map_or(self.body.root, |open| open.block);
            self.body.blocks[block].stmts.remove(position);
        }
        zero_store.is_some()
    }

    /// An `If` over two closed blocks.
    pub fn if_blocks(&mut self, condition: Value, accept: BlockId, reject: BlockId) {
        let diverges = self.block_diverges(accept) && self.block_diverges(reject);
        self.push(StmtKind::If { condition, accept, reject }, diverges);
    }

    /// An `If` without else.
    pub fn if_then(&mut self, condition: Value, accept: impl FnOnce(&mut Self)) {
        self.if_else(condition, accept, |_| ());
    }

    /// An `If` with both arms.
    pub fn if_else(
        &mut self,
        condition: Value,
        accept: impl FnOnce(&mut Self),
        reject: impl FnOnce(&mut Self),
    ) {
        let accept = self.block(accept);
        let reject = self.block(reject);
        self.if_blocks(condition, accept, reject);
    }

    /// A `Switch` over closed blocks.
    pub fn switch(&mut self, selector: Value, cases: Vec<Case>, default: BlockId) {
        let bodies = cases.iter().map(|case| case.body);
        let diverges = bodies.chain([default]).all(|block| self.block_diverges(block));
        self.push(StmtKind::Switch { selector, cases: cases.into(), default }, diverges);
    }

    /// The index of a loop to come, of the type of its bounds; give it to [`Builder::for_block`].
    pub fn loop_index(&mut self, ty: Type, name: &str) -> Value {
        let index = self.unnamed_index(ty);
        self.rename(index, name);
        index
    }

    /// The index of a loop to come, without a name.
    pub fn unnamed_index(&mut self, ty: Type) -> Value {
        self.value(Op::Index, ty)
    }

    /// A `For` over a closed block that uses `index`.
    pub fn for_block(&mut self, index: Value, range: [Value; 3], body: BlockId) {
        let [start, end, step] = range;
        self.push(StmtKind::For { index, start, end, step, body }, false);
    }

    /// A `For`; `body` gets the index.
    pub fn for_range(
        &mut self,
        name: &str,
        range: [Value; 3],
        body: impl FnOnce(&mut Self, Value),
    ) {
        let index = self.loop_index(self.body().type_of(range[0]), name);
        let body = self.block(|b| body(b, index));
        self.for_block(index, range, body);
    }

    /// A `While` over closed blocks.
    pub fn while_blocks(&mut self, header: BlockId, condition: Value, body: BlockId) {
        self.push(StmtKind::While { header, condition, body }, false);
    }

    /// A `While`; `header` gives the condition.
    pub fn while_loop(
        &mut self,
        header: impl FnOnce(&mut Self) -> Value,
        body: impl FnOnce(&mut Self),
    ) {
        self.open_block();
        let condition = header(self);
        let header = self.close_block();
        let body = self.block(body);
        self.while_blocks(header, condition, body);
    }

    /// Leaves the innermost loop.
    pub fn break_loop(&mut self) {
        self.push(StmtKind::Break, true);
    }

    /// Goes to the next iteration of the innermost loop.
    pub fn continue_loop(&mut self) {
        self.push(StmtKind::Continue, true);
    }

    /// Leaves the function.
    pub fn ret(&mut self, value: Option<Value>) {
        self.push(StmtKind::Return(value), true);
    }

    /// Prints values as Python does, or by a C format.
    pub fn print(&mut self, format: Option<&str>, args: &[Value]) {
        let format = format.map(|text| self.module.intern(text));
        let args = self.body.value_lists.add(args.iter().copied());
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

    /// A `Let` of a value made with [`Builder::value`].
    pub(super) fn push_let(&mut self, value: Value) {
        self.push(StmtKind::Let(value), false);
    }
}
