//! Statements. Loops count in variables that no other statement writes, so that every loop ends.

use super::function::Generator;
use gbxcule_ir::build::Builder;
use gbxcule_ir::op::{BinaryOp, Value};
use gbxcule_ir::place::PlaceId;
use gbxcule_ir::stmt::{BlockId, Case};
use gbxcule_ir::ty::{Scalar, Type};

impl Generator<'_, '_> {
    /// Writes statements until the fuel is gone or the end of the block can't be reached.
    pub(super) fn statements(&mut self) {
        while self.fuel > 0 && !self.b.diverged() {
            self.statement();
        }
    }

    fn statement(&mut self) {
        self.fuel = self.fuel.saturating_sub(1);
        let nests = self.depth < 3;
        match self.random.below(20) {
            0..=2 if nests => self.branch(),
            3 if nests => self.switch(),
            4 | 5 if nests && self.loops < 2 => self.for_loop(),
            6 if nests && self.loops < 2 => self.while_loop(),
            7 if self.loops > 0 && self.random.chance(40) => self.leave_loop(),
            8 if self.random.chance(15) => self.leave(),
            9 => {
                if let Some(&callee) = self.random.find(self.callees) {
                    self.call(callee, 2);
                }
            }
            10 if self.smooth.is_some() => self.write_memory(),
            11 if self.smooth.is_some() && self.loops > 0 => self.leave_loop(),
            _ => self.store(),
        }
    }

    /// Writes a value to a variable or to a part of one.
    fn store(&mut self) {
        let Some(&place) = self.random.find(&self.variables) else { return };
        let place = self.part_of(place, None);
        let ty = self.b.place_type(place);
        let mut value = self.expression(ty, 3);
        if self.smooth.is_some() && (self.loops > 0 || self.random.chance(40)) {
            value = self.limited(value);
        }
        self.b.store(place, value);
    }

    /// Returns a block with a few statements and a scope of its own.
    fn block(&mut self) -> BlockId {
        self.block_behind(|_| {})
    }

    /// Returns such a block, behind what `first` writes.
    fn block_behind(&mut self, first: impl FnOnce(&mut Builder<'_>)) -> BlockId {
        let scope = self.scope.len();
        self.depth += 1;
        self.b.open_block();
        first(&mut self.b);
        for _ in 0..1 + self.random.below(3) {
            if !self.b.diverged() {
                self.statement();
            }
        }
        self.depth -= 1;
        self.scope.truncate(scope);
        self.b.close_block()
    }

    fn branch(&mut self) {
        let condition = self.expression(Type::BOOL, 3);
        let accept = self.block();
        let reject = if self.random.chance(60) { self.block() } else { self.b.empty_block() };
        self.b.if_blocks(condition, accept, reject);
    }

    fn switch(&mut self) {
        let selector = self.index_below(5);
        let signed = self.b.body().type_of(selector).as_scalar().is_some_and(Scalar::is_signed_int);
        let labels: [&[i64]; 3] =
            if signed { [&[-1, 0], &[1], &[2, 4]] } else { [&[0], &[1], &[2, 4]] };
        let mut cases = Vec::new();
        for labels in labels {
            cases.push(Case { labels: labels.into(), body: self.block() });
        }
        let default = self.block();
        self.b.switch(selector, cases, default);
    }

    fn for_loop(&mut self) {
        let types: &[Type] = match self.smooth {
            Some(_) => &[Type::I32],
            None => &[Type::I32, Type::I32, Type::U8, Type::I64],
        };
        let ty = self.random.pick(types);
        let signed = ty != Type::U8;
        let (start, end) = (self.random.below(4), self.random.below(8));
        let step =
            if signed && self.random.chance(30) { -2.0 } else { f64::from(self.random.below(3)) };
        let (start, end) = if step < 0.0 { (end, start) } else { (start, end) };
        let mut range =
            [f64::from(start), f64::from(end), step].map(|bound| self.b.number(ty, bound));
        if self.smooth.is_some() && self.random.chance(40) {
            range[1] = self.expression(ty, 1);
        }
        let index = self.b.loop_index(ty, "i");
        self.loops += 1;
        let scope = self.scope.len();
        self.scope.push(index);
        let body = self.block();
        self.scope.truncate(scope);
        self.loops -= 1;
        self.b.for_block(index, range, body);
    }

    /// Writes `while count != 5 and condition: count += 1; ..`.
    fn while_loop(&mut self) {
        let counter = self.b.local("count", Type::U32);
        let counter = self.b.local_place(counter);
        let none = self.b.number(Type::U32, 0.0);
        self.b.store(counter, none);
        let scope = self.scope.len();
        self.b.open_block();
        let condition = self.expression(Type::BOOL, 2);
        let five = self.b.number(Type::U32, 5.0);
        let count = self.b.load(counter);
        let left = self.b.lt(count, five);
        let goes_on = self.b.and(condition, left);
        let header = self.b.close_block();
        self.loops += 1;
        let body = self.block_behind(|b| _ = add_one(b, counter));
        self.loops -= 1;
        self.scope.truncate(scope);
        self.b.while_blocks(header, goes_on, body);
    }

    fn leave_loop(&mut self) {
        let condition = self.expression(Type::BOOL, 2);
        let breaks = self.random.chance(50);
        self.b
            .if_then(condition, if breaks { Builder::break_loop } else { Builder::continue_loop });
    }

    fn leave(&mut self) {
        let condition = self.expression(Type::BOOL, 2);
        let scope = self.scope.len();
        self.b.open_block();
        self.outputs();
        let value = (self.b.function().result != Type::UNIT).then(|| self.result());
        self.b.ret(value);
        let accept = self.b.close_block();
        self.scope.truncate(scope);
        let reject = self.b.empty_block();
        self.b.if_blocks(condition, accept, reject);
    }
}

fn add_one(b: &mut Builder<'_>, place: PlaceId) -> Value {
    let (old, one) = (b.load(place), b.number(Type::U32, 1.0));
    let new = b.binary(BinaryOp::Add, old, one);
    b.store(place, new);
    new
}
