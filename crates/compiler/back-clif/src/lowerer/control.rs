//! Statements: the tree of blocks becomes a graph, with a stack of the tasks that remain.

use super::Lowerer;
use crate::code::{constant, int_code};
use crate::group::Mark;
use crate::typed::{LoweredPlace, LoweredValue};
use crate::uniform;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    self as clif, Block, BlockArg, InstBuilder, InstructionData, MemFlagsData, types,
};
use cranelift_frontend::Switch;
use gbxcule_ir::abi::{Cause, FaultKind};
use gbxcule_ir::walk::any_stmt;
use gbxcule_ir::{
    BinaryOp, BlockId, Body, Case, CompareOp, Op, PlaceId, Root, Scalar, Stmt, StmtKind, Type,
    Value,
};

/// Task of the lowering that remains to be done.
pub(crate) enum LoweringTask<'a> {
    /// Lowers the statements of a block of the innermost frame from a position on.
    Stmts(BlockId, usize),
    /// Jumps to a block unless the current one has ended.
    Goto(Block),
    /// Begins a block all jumps to which are known, and restores the facts of its branch.
    Begin(Block, Mark),
    /// Lowers the test of a `While` after its header.
    Test(&'a StmtKind, [Block; 2]),
    /// Ends a loop and seals its blocks.
    EndLoop { head: Block, exit: Block, latch: Option<Latch>, mark: Mark },
    /// Leaves a frame that was lowered in place.
    Leave,
}

/// End of a `For`'s iteration.
#[derive(Clone, Copy)]
pub(crate) struct Latch {
    block: Block,
    body: Block,
    index: clif::Value,
    range: Range,
    /// True if iterations may take long, because there are loops inside.
    is_long: bool,
}

/// The bounds of a `For`.
#[derive(Clone, Copy)]
struct Range {
    of: Scalar,
    end: clif::Value,
    step: clif::Value,
    /// Step, if it is a constant.
    known: Option<i64>,
}

/// Greatest number of operations that run before it is known if their result is needed.
const MAX_CHOSEN: usize = 4;

fn is_variable(body: &Body, place: PlaceId) -> bool {
    matches!(body.places[place].root, Root::Local(_)) && body.path(place).is_empty()
}

impl<'a> Lowerer<'a, '_> {
    /// Does all tasks that remain.
    pub(crate) fn run(&mut self) {
        while let Some(next) = self.todo.pop() {
            match next {
                LoweringTask::Stmts(block, from) => self.stmts(block, from),
                LoweringTask::Goto(block) => {
                    if self.b.is_unreachable() {
                        self.never();
                    } else {
                        self.note_jump(block);
                        self.b.ins().jump(block, &[]);
                    }
                }
                LoweringTask::Begin(block, mark) => {
                    self.b.seal_block(block);
                    self.b.switch_to_block(block);
                    self.go_back(mark, block);
                }
                LoweringTask::Test(stmt, ways) => self.test(stmt, ways),
                LoweringTask::EndLoop { head, exit, latch, mark } => {
                    self.forget_since(mark);
                    self.end_loop(head, exit, latch);
                }
                LoweringTask::Leave => self.leave_frame(),
            }
        }
    }

    fn stmts(&mut self, block: BlockId, from: usize) {
        let stmts: &'a [Stmt] = &self.body().blocks[block].stmts;
        for (position, stmt) in stmts.iter().enumerate().skip(from) {
            self.set_span(stmt.span);
            let depth = self.todo.len();
            self.todo.push(LoweringTask::Stmts(block, position + 1));
            let can_bail = self.can_bail();
            if can_bail && uniform::writes(self.cx.module, self.body(), &stmt.kind) {
                self.look_ahead(&stmts[position..]);
            }
            self.stmt(&stmt.kind);
            if self.todo.len() != depth + 1 {
                return;
            }
            self.todo.pop();
        }
    }

    /// Lowers a statement, or its beginning; the remaining parts become tasks.
    fn stmt(&mut self, stmt: &'a StmtKind) {
        match stmt {
            StmtKind::Let(value) => self.evaluate(*value),
            StmtKind::Store { place, value } => self.store(*place, *value),
            StmtKind::If { condition, accept, reject } => {
                self.branch(*condition, *accept, *reject);
            }
            StmtKind::Switch { selector, cases, default } => {
                self.switch(*selector, cases, *default);
            }
            StmtKind::For { index, start, end, step, body } => {
                self.for_loop(*index, [*start, *end, *step], *body);
            }
            StmtKind::While { header, body, .. } => self.while_loop(stmt, *header, *body),
            StmtKind::Break => self.leave_loop(|(exit, _)| exit),
            StmtKind::Continue => self.leave_loop(|(_, head)| head),
            StmtKind::Return(value) => {
                self.return_value(*value);
                self.start_unreachable_block();
            }
            StmtKind::Print { format, args } => {
                self.note_write(true);
                self.each_lane(|lowerer| lowerer.print(*format, *args));
            }
            StmtKind::Assert { condition, message } => self.each_lane(|lowerer| {
                let condition = lowerer.scalar(*condition);
                let failed = lowerer.b.ins().icmp_imm_s(IntCC::Equal, condition, 0);
                let cause = Cause { kind: FaultKind::Assertion, message: Some(*message) };
                lowerer.fault_if(failed, cause, None);
            }),
            StmtKind::Trap { message } => {
                self.fault(Cause { kind: FaultKind::Trap, message: Some(*message) }, None);
                self.start_unreachable_block();
            }
        }
    }

    fn store(&mut self, place: PlaceId, value: Value) {
        if self.is_group() {
            return self.group_store(place, value);
        }
        self.each_lane(|lowerer| {
            let loc = lowerer.place(place);
            let (ty, val) = (lowerer.body().places[place].ty, lowerer.val(value));
            lowerer.write(&loc, ty, &val);
        });
    }

    /// Begins a loop with a header; its test follows the header's statements.
    fn while_loop(&mut self, stmt: &'a StmtKind, header: BlockId, inner: BlockId) {
        let [head, body, exit] = [(); 3].map(|()| self.b.create_block());
        let mark = self.enter_loop(&[header, inner]);
        self.b.ins().jump(head, &[]);
        self.b.switch_to_block(head);
        self.frame_mut().loops.push((exit, head));
        self.todo.extend([
            LoweringTask::EndLoop { head, exit, latch: None, mark },
            LoweringTask::Test(stmt, [body, exit]),
            LoweringTask::Stmts(header, 0),
        ]);
    }

    /// Jumps to the exit or the head of the innermost loop.
    fn leave_loop(&mut self, target: impl FnOnce((Block, Block)) -> Block) {
        let Some(&ends) = self.frame().loops.last() else {
            unreachable!("check rule 8: in a loop")
        };
        let target = target(ends);
        self.note_jump(target);
        self.b.ins().jump(target, &[]);
        self.start_unreachable_block();
    }

    /// Starts a block after a jump, for code that control never reaches but that may still be
    /// lowered.
    fn start_unreachable_block(&mut self) {
        let block = self.b.create_block();
        self.b.seal_block(block);
        self.b.switch_to_block(block);
    }

    /// Ends a block that control never reaches.
    pub(crate) fn never(&mut self) {
        self.b.ins().trap(clif::TrapCode::unwrap_user(1));
    }

    fn evaluate(&mut self, value: Value) {
        let data = &self.body().values[value];
        if let Op::Call { function, args } = data.op {
            self.call(value, function, args);
            return;
        }
        if self.is_group() && self.evaluate_for_group(value) {
            return;
        }
        self.each_lane(|lowerer| {
            let val = lowerer.operation(value);
            lowerer.define(value, val);
        });
    }

    fn branch(&mut self, condition: Value, accept: BlockId, reject: BlockId) {
        let empty = self.body().blocks[reject].stmts.is_empty();
        if empty && self.choose(condition, accept) {
            return;
        }
        let [yes, no, continuation] = [(); 3].map(|()| self.b.create_block());
        let otherwise = if empty { continuation } else { no };
        match self.bail().filter(|_| self.is_split(condition)) {
            None => {
                let condition = self.scalar(condition);
                if self.leaves(reject) {
                    self.leave_unless(condition, otherwise, yes);
                } else {
                    self.b.ins().brif(condition, yes, &[], otherwise, &[]);
                }
            }
            Some(bail) => self.branch_together(condition, [yes, otherwise, bail]),
        }
        let mark = self.mark();
        self.todo.push(LoweringTask::Begin(continuation, mark));
        if !empty && self.is_aside(accept, reject) {
            self.b.set_cold_block(no);
        }
        if !empty {
            self.todo.extend([
                LoweringTask::Goto(continuation),
                LoweringTask::Stmts(reject, 0),
                LoweringTask::Begin(no, mark),
            ]);
        }
        self.todo.extend([
            LoweringTask::Goto(continuation),
            LoweringTask::Stmts(accept, 0),
            LoweringTask::Begin(yes, mark),
        ]);
    }

    /// Lowers `if x < y: sum += z` without a branch: computes the sum, then selects it or the old
    /// value. Returns false if the block has other statements. The processor can't predict a branch
    /// on numbers of the data. A `select` of scalars is a branch, too, so vectors are selected.
    fn choose(&mut self, condition: Value, accept: BlockId) -> bool {
        let body = self.body();
        let [sums @ .., last] = &body.blocks[accept].stmts[..] else { return false };
        let is_sum = |stmt: &Stmt| match stmt.kind {
            StmtKind::Let(value) => match body.values[value].op {
                Op::Load(place) => is_variable(body, place),
                Op::Literal(_)
                | Op::Binary(BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply, ..) => true,
                _ => false,
            },
            _ => false,
        };
        let StmtKind::Store { place, value } = last.kind else { return false };
        let is_float = body.type_of(value) == Type::scalar(Scalar::F32);
        if self.is_group() || sums.len() > MAX_CHOSEN || !is_float || !is_variable(body, place) {
            return false;
        }
        let chosen = self.scalar(condition);
        let dfg = &self.b.func.dfg;
        let compare = dfg.value_def(chosen).inst().map(|inst| dfg.insts[inst]);
        let Some(InstructionData::FloatCompare { cond, args: [x, y], .. }) = compare else {
            return false;
        };
        let is_narrow = dfg.value_type(x) == types::F32;
        let storage = self.place(place);
        if !matches!(storage, LoweredPlace::Vars { .. }) || !is_narrow || !sums.iter().all(is_sum) {
            return false;
        }
        for stmt in sums {
            self.stmt(&stmt.kind);
        }
        let old = self.read(&storage, Type::scalar(Scalar::F32)).leaves()[0];
        let new = self.scalar(value);
        let [x, y, old, new] =
            [x, y, old, new].map(|of| self.b.ins().scalar_to_vector(types::F32X4, of));
        let mask = self.b.ins().fcmp(cond, x, y);
        let mask = self.b.ins().bitcast(types::F32X4, MemFlagsData::new(), mask);
        let vector = self.b.ins().bitselect(mask, new, old);
        let result = self.b.ins().extractlane(vector, 0);
        self.write(&storage, Type::scalar(Scalar::F32), &LoweredValue::One(result));
        true
    }

    /// Returns true if a block ends by leaving a loop or the function.
    fn leaves(&self, block: BlockId) -> bool {
        let last = self.body().blocks[block].stmts.last();
        last.is_some_and(|stmt| {
            matches!(stmt.kind, StmtKind::Break | StmtKind::Return(_) | StmtKind::Trap { .. })
        })
    }

    /// Returns true if the code of the second branch belongs behind all other code: if the branch
    /// returns and the first one is empty, or if only the second one calls an external function.
    fn is_aside(&self, accept: BlockId, reject: BlockId) -> bool {
        let [accept, reject] = [accept, reject].map(|block| &self.body().blocks[block].stmts[..]);
        let leaves = matches!(reject.last(), Some(it) if it.kind == StmtKind::Return(None));
        let calls = |stmts: &[Stmt]| stmts.iter().any(|stmt| self.calls_external(stmt));
        leaves && accept.is_empty() || calls(reject) && !calls(accept)
    }

    fn calls_external(&self, stmt: &Stmt) -> bool {
        let StmtKind::Let(value) = stmt.kind else { return false };
        let Op::Call { function, .. } = self.body().values[value].op else { return false };
        self.cx.plan.of(function).is_external
    }

    /// Returns true if threads of a group may differ in a condition.
    fn is_split(&self, condition: Value) -> bool {
        let frames = &self.current_lane().frames;
        frames.len() == 1 && self.cx.plan.of(frames[0].function).split.contains(&condition)
    }

    /// Branches with all threads of a group if they agree; otherwise the group begins again, one by
    /// one.
    fn branch_together(&mut self, condition: Value, [yes, no, bail]: [Block; 3]) {
        let row = self.of_each(|lowerer| lowerer.scalar(condition));
        let mask = self.mask(row);
        let any = self.b.ins().vany_true(mask);
        let some = self.b.create_block();
        self.b.ins().brif(any, some, &[], no, &[]);
        self.b.seal_block(some);
        self.b.switch_to_block(some);
        let all = self.b.ins().vall_true(mask);
        self.b.ins().brif(all, yes, &[], bail, &[]);
    }

    /// Enters a loop of these blocks; returns the mark of the facts that hold in each iteration.
    fn enter_loop(&mut self, blocks: &[BlockId]) -> Mark {
        let (module, body) = (self.cx.module, self.body());
        let writes = blocks.iter().any(|&block| uniform::may_write(module, body, block));
        self.note_write(writes);
        self.mark()
    }

    fn switch(&mut self, selector: Value, cases: &[Case], default: BlockId) {
        let of = self.ty(selector).as_scalar().unwrap_or(Scalar::I64);
        let selector = self.scalar(selector);
        let mask = u64::MAX >> (64 - of.bits());
        let (continuation, otherwise) = (self.b.create_block(), self.b.create_block());
        let mark = self.mark();
        let mut switch = Switch::new();
        self.todo.push(LoweringTask::Begin(continuation, mark));
        self.todo.extend([
            LoweringTask::Goto(continuation),
            LoweringTask::Stmts(default, 0),
            LoweringTask::Begin(otherwise, mark),
        ]);
        for case in cases.iter().rev() {
            let block = self.b.create_block();
            for &label in &case.labels {
                switch.set_entry(u128::from(label as u64 & mask), block);
            }
            self.todo.extend([
                LoweringTask::Goto(continuation),
                LoweringTask::Stmts(case.body, 0),
                LoweringTask::Begin(block, mark),
            ]);
        }
        switch.emit(&mut self.b, selector, otherwise);
    }

    fn for_loop(&mut self, index: Value, bounds: [Value; 3], body: BlockId) {
        let of = self.ty(index).as_scalar().unwrap_or(Scalar::I32);
        let [start, end, step] = bounds.map(|bound| self.scalar(bound));
        let range = Range { of, end, step, known: constant(&self.b, step, of) };
        let [inner, latch, exit] = [(); 3].map(|()| self.b.create_block());
        let ty = self.b.func.dfg.value_type(start);
        let current = self.b.append_block_param(inner, ty);
        let mark = self.enter_loop(&[body]);
        let enters = self.loop_condition(range, start);
        self.b.ins().brif(enters, inner, &[BlockArg::Value(start)], exit, &[]);
        self.b.switch_to_block(inner);
        let from = constant(&self.b, start, of);
        let last = constant(&self.b, end, of).map_or(i64::MAX, |end| end.saturating_sub(1));
        let counted = from.filter(|_| range.known.is_some_and(|step| step > 0));
        self.each_lane(|lowerer| {
            lowerer.define(index, LoweredValue::One(current));
            if let Some(from) = counted {
                lowerer.frame_mut().counted.push((index, [from, last]));
            }
        });
        self.frame_mut().loops.push((exit, latch));
        let is_long = self.has_loops(body);
        let end = Latch { block: latch, body: inner, index: current, range, is_long };
        self.todo.extend([
            LoweringTask::EndLoop { head: inner, exit, latch: Some(end), mark },
            LoweringTask::Goto(latch),
            LoweringTask::Stmts(body, 0),
        ]);
    }

    /// Returns true if there are loops in a block, or in a function that it calls.
    fn has_loops(&self, block: BlockId) -> bool {
        let body = self.body();
        any_stmt(body, block, |stmt| match stmt.kind {
            StmtKind::For { .. } | StmtKind::While { .. } => true,
            StmtKind::Let(value) => match body.values[value].op {
                Op::Call { function, .. } => self.cx.plan.of(function).has_loops(),
                _ => false,
            },
            _ => false,
        })
    }

    /// Computes the condition under which the loop runs with this index: below the end, or above it
    /// for a negative step.
    fn loop_condition(&mut self, range: Range, index: clif::Value) -> clif::Value {
        let Range { of, end, step, known } = range;
        let (below, above) = (int_code(CompareOp::Less, of), int_code(CompareOp::Greater, of));
        match known {
            Some(0) => self.b.ins().iconst(types::I8, 0),
            Some(known) if known > 0 || !of.is_signed_int() => self.b.ins().icmp(below, index, end),
            Some(_) => self.b.ins().icmp(above, index, end),
            None => {
                let is_below = self.b.ins().icmp(below, index, end);
                let moves = self.b.ins().icmp_imm_s(IntCC::NotEqual, step, 0);
                let down = self.is_down(range);
                let is_above = self.b.ins().icmp(above, index, end);
                let right = self.b.ins().select(down, is_above, is_below);
                self.b.ins().band(right, moves)
            }
        }
    }

    fn is_down(&mut self, range: Range) -> clif::Value {
        match range.of.is_signed_int() {
            true => self.b.ins().icmp_imm_s(IntCC::SignedLessThan, range.step, 0),
            false => self.b.ins().iconst(types::I8, 0),
        }
    }

    fn latch(&mut self, latch: Latch, exit: Block) {
        let Latch { block, body, index, range, is_long } = latch;
        self.b.seal_block(block);
        self.b.switch_to_block(block);
        if is_long {
            self.stop_if_asked();
        }
        let Range { of, end, step, known } = range;
        let next = self.b.ins().iadd(index, step);
        let again = match known {
            // An addition of 1 or -1 cannot wrap past the end.
            Some(1) => self.loop_condition(range, next),
            Some(-1) if of.is_signed_int() => self.loop_condition(range, next),
            _ => {
                // The distance to the end fits, because the index lies before the end.
                let (up, down) = (self.b.ins().isub(end, index), self.b.ins().isub(index, end));
                let negative = self.is_down(range);
                let distance = self.b.ins().select(negative, down, up);
                let minus = self.b.ins().ineg(step);
                let stride = self.b.ins().select(negative, minus, step);
                self.b.ins().icmp(IntCC::UnsignedGreaterThan, distance, stride)
            }
        };
        self.b.ins().brif(again, body, &[BlockArg::Value(next)], exit, &[]);
    }

    fn test(&mut self, stmt: &'a StmtKind, [inner, exit]: [Block; 2]) {
        let StmtKind::While { condition, body, .. } = stmt else { return };
        let Some(&(_, head)) = self.frame().loops.last() else {
            unreachable!("a loop's header is in the loop")
        };
        let condition = self.scalar(*condition);
        self.leave_unless(condition, exit, inner);
        // Facts that the header established hold in the body as well.
        self.b.seal_block(inner);
        self.b.switch_to_block(inner);
        self.stop_if_asked();
        self.todo.extend([LoweringTask::Goto(head), LoweringTask::Stmts(*body, 0)]);
    }

    fn end_loop(&mut self, head: Block, exit: Block, latch: Option<Latch>) {
        if let Some(latch) = latch {
            self.latch(latch, exit);
        }
        self.frame_mut().loops.pop();
        self.b.seal_block(head);
        self.b.seal_block(exit);
        self.b.switch_to_block(exit);
    }
}
