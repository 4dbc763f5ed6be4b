//! Statements that hold other statements, which closures write, and the statements that leave a
//! loop.

use super::Builder;
use crate::op::Value;
use crate::stmt::{BlockId, StmtKind};

impl Builder<'_> {
    /// Runs `fill` with a new open block and closes the block.
    pub fn block(&mut self, fill: impl FnOnce(&mut Self)) -> BlockId {
        self.open_block();
        fill(self);
        self.close_block()
    }

    /// A block without statements.
    pub fn empty_block(&mut self) -> BlockId {
        self.block(|_| ())
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

    /// A `For`; `body` gets the index.
    pub fn for_range(
        &mut self,
        name: &str,
        range: [Value; 3],
        body: impl FnOnce(&mut Self, Value),
    ) {
        let ty = self.body().type_of(range[0]);
        let index = self.loop_index(ty, name);
        let body = self.block(|b| body(b, index));
        self.for_block(index, range, body);
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
}
