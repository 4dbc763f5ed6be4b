//! Runs one thread. Control flow uses no recursion, so that neither deep blocks nor long chains of
//! calls can overflow the host's stack.

use super::frame::{Frame, Frames, Slot};
use super::memory::Number;
use super::{Failure, Fault, Interpreter};
use gbxcule_ir::constant::Literal;
use gbxcule_ir::eval;
use gbxcule_ir::function::{Body, FunctionId, PassMode};
use gbxcule_ir::op::Value;
use gbxcule_ir::stmt::{BlockId, Stmt, StmtKind};
use gbxcule_ir::ty::{Scalar, Type};
use std::sync::Arc;

/// Greatest number of bytes of one thread's variables and values.
const MAX_STACK_BYTES: u64 = 1 << 30;
/// Byte with which `scratch` variables begin: NaN in floats, -1 in integers.
const SCRATCH: u8 = 0xff;
/// Region of addresses that is the stack.
pub(super) const STACK: u32 = 1;

/// A running thread.
pub(super) struct Thread<'t, 'm> {
    pub(super) interpreter: &'t mut Interpreter<'m>,
    pub(super) index: [u32; 4],
    pub(super) function: FunctionId,
    pub(super) body: &'m Body,
    pub(super) frames: &'t Frames,
    /// Frame of `function`.
    pub(super) frame: &'t Frame,
    /// Position on the stack of the frame of `function`.
    pub(super) base: u64,
    unfinished: Unfinished<'m>,
    pub(super) stmt_span: gbxcule_ir::source::Span,
}

/// Calls and blocks that a thread has begun and not ended. Both lists are empty between threads,
/// and all threads reuse their memory.
#[derive(Default, Debug)]
pub(super) struct Unfinished<'m> {
    calls: Vec<ReturnAddress>,
    cursors: Vec<Cursor<'m>>,
}

/// Place at which a caller goes on after a call.
#[derive(Debug)]
struct ReturnAddress {
    function: FunctionId,
    base: u64,
    cursors: usize,
    result: Value,
}

/// Position in a block.
#[derive(Debug)]
struct Cursor<'m> {
    block: BlockId,
    /// Statements that follow.
    stmts: &'m [Stmt],
    role: BlockEnd<'m>,
}

/// Action at the end of a block.
#[derive(Clone, Copy, Debug)]
enum BlockEnd<'m> {
    /// Control goes on after the statement that owns the block.
    Plain,
    /// The next iteration of a `For` follows, with its index, next number, bound and step.
    For { index: Value, next: i128, end: i128, step: i128 },
    /// The test of a `While` follows its header.
    Header(&'m StmtKind),
    /// The header of a `While` follows its body.
    Body(&'m StmtKind),
}

impl<'m> Interpreter<'m> {
    /// Runs one thread from a function's beginning to its end; `image` has the bytes of its
    /// arguments.
    pub(super) fn run(
        &mut self,
        function: FunctionId,
        image: &[u8],
        index: [u32; 4],
    ) -> Result<Vec<u8>, Failure> {
        let frames = Arc::clone(&self.frames);
        let unfinished = std::mem::take(&mut self.unfinished);
        let body = &self.module.functions[function].body;
        if let Some(races) = &mut self.races {
            races.begin(index);
        }
        let mut thread = Thread {
            interpreter: self,
            index,
            function,
            body,
            frames: &frames,
            frame: frames.of(function),
            base: 0,
            unfinished,
            stmt_span: gbxcule_ir::source::Span::NONE,
        };
        let ran = thread.run(image).map_err(|fault| Failure {
            fault,
            function: thread.interpreter.module.functions[thread.function].name.clone(),
            thread: index,
            span: thread.stmt_span,
        });
        let mut unfinished = thread.unfinished;
        unfinished.calls.clear();
        unfinished.cursors.clear();
        self.unfinished = unfinished;
        if let Some(races) = &mut self.races {
            races.end();
        }
        ran
    }
}

impl<'m> Thread<'_, 'm> {
    fn run(&mut self, image: &[u8]) -> Result<Vec<u8>, Fault> {
        self.step()?;
        self.enter(self.function, 0)?;
        self.interpreter.stack[..image.len()].copy_from_slice(image);
        loop {
            if let Some(result) = self.advance()? {
                return Ok(result);
            }
        }
    }

    /// Makes a frame at `base` and goes to the beginning of the function.
    fn enter(&mut self, function: FunctionId, base: u64) -> Result<(), Fault> {
        let frame = self.frames.of(function);
        let end = base.saturating_add(frame.size);
        if end > MAX_STACK_BYTES {
            return Err(Fault::Stack);
        }
        if self.interpreter.stack.len() < end as usize {
            self.interpreter.stack.resize(end as usize, 0);
        }
        self.interpreter.stack[base as usize..][..frame.zeroed as usize].fill(0);
        for &(offset, size) in &frame.scratch {
            self.interpreter.stack[(base + offset) as usize..][..size as usize].fill(SCRATCH);
        }
        (self.function, self.frame, self.base) = (function, frame, base);
        self.body = &self.interpreter.module.functions[function].body;
        self.open(self.body.root, BlockEnd::Plain);
        Ok(())
    }

    fn open(&mut self, block: BlockId, role: BlockEnd<'m>) {
        let stmts = &self.body.blocks[block].stmts;
        self.unfinished.cursors.push(Cursor { block, stmts, role });
    }

    fn step(&mut self) -> Result<(), Fault> {
        self.interpreter.budget = self.interpreter.budget.checked_sub(1).ok_or(Fault::Budget)?;
        Ok(())
    }

    /// Runs one statement, or the end of a block. Returns the result when the first function ends.
    fn advance(&mut self) -> Result<Option<Vec<u8>>, Fault> {
        let Unfinished { calls, cursors } = &mut self.unfinished;
        let first = calls.last().map_or(0, |caller| caller.cursors);
        let Some(cursor) = cursors[first..].last_mut() else { return Ok(self.leave(None)) };
        match cursor.stmts.split_first() {
            Some((stmt, rest)) => {
                cursor.stmts = rest;
                self.stmt_span = stmt.span;
                self.step()?;
                self.stmt(&stmt.kind)
            }
            None => {
                self.step()?;
                self.end_of_block();
                Ok(None)
            }
        }
    }

    fn end_of_block(&mut self) {
        let Some(cursor) = self.unfinished.cursors.pop() else { return };
        match cursor.role {
            BlockEnd::Plain => {}
            BlockEnd::For { .. } => self.iterate(cursor.block, cursor.role),
            BlockEnd::Header(stmt) => {
                if let StmtKind::While { condition, body, .. } = stmt
                    && self.flag(*condition)
                {
                    self.open(*body, BlockEnd::Body(stmt));
                }
            }
            BlockEnd::Body(stmt) => {
                if let StmtKind::While { header, .. } = stmt {
                    self.open(*header, BlockEnd::Header(stmt));
                }
            }
        }
    }

    /// Begins the next iteration of a `For`, if there is one.
    fn iterate(&mut self, body: BlockId, role: BlockEnd<'m>) {
        let BlockEnd::For { index, next, end, step } = role else { return };
        if (step > 0 && next < end) || (step < 0 && next > end) {
            let scalar = self.scalar_of(index);
            self.put(index, Literal::int(scalar, next));
            self.open(body, BlockEnd::For { index, next: next + step, end, step });
        }
    }

    fn stmt(&mut self, stmt: &'m StmtKind) -> Result<Option<Vec<u8>>, Fault> {
        match stmt {
            StmtKind::Let(value) => self.operation(*value)?,
            StmtKind::Store { place, value } => {
                let address = self.place(*place)?;
                let size = self.size_of(*value);
                let from = self.slot(*value);
                self.copy(address, from, size)?;
            }
            StmtKind::If { condition, accept, reject } => {
                let block = if self.flag(*condition) { *accept } else { *reject };
                self.open(block, BlockEnd::Plain);
            }
            StmtKind::Switch { selector, cases, default } => {
                let selector = self.get(*selector);
                let wanted = selector.as_int().unwrap_or_default() as i64;
                let case = cases.iter().find(|case| case.labels.contains(&wanted));
                self.open(case.map_or(*default, |case| case.body), BlockEnd::Plain);
            }
            StmtKind::For { index, start, end, step, body } => {
                let [next, end, step] =
                    [start, end, step].map(|&value| self.get(value).as_int().unwrap_or_default());
                self.iterate(*body, BlockEnd::For { index: *index, next, end, step });
            }
            StmtKind::While { header, .. } => self.open(*header, BlockEnd::Header(stmt)),
            StmtKind::Break => {
                self.unwind();
                self.unfinished.cursors.pop();
            }
            StmtKind::Continue => {
                self.unwind();
                self.end_of_block();
            }
            StmtKind::Return(value) => return Ok(self.leave(*value)),
            StmtKind::Print { format, args } => {
                let args: Vec<Value> = self.body.value_lists[*args].to_vec();
                self.print(*format, &args);
            }
            StmtKind::Assert { condition, message } => {
                if !self.flag(*condition) {
                    return Err(Fault::Assert(self.interpreter.module.text(*message).into()));
                }
            }
            StmtKind::Trap { message } => {
                return Err(Fault::Trap(self.interpreter.module.text(*message).into()));
            }
        }
        Ok(None)
    }

    /// Leaves blocks up to the body of the innermost loop.
    fn unwind(&mut self) {
        let cursors = &mut self.unfinished.cursors;
        while cursors.last().is_some_and(|cursor| matches!(cursor.role, BlockEnd::Plain)) {
            cursors.pop();
        }
    }

    /// Calls a function, whose arguments are values and addresses of the current frame.
    pub(super) fn call(
        &mut self,
        callee: FunctionId,
        args: &[Passed],
        result: Value,
    ) -> Result<(), Fault> {
        let caller = ReturnAddress {
            function: self.function,
            base: self.base,
            cursors: self.unfinished.cursors.len(),
            result,
        };
        let base = self.base + self.frame.size;
        self.unfinished.calls.push(caller);
        self.enter(callee, base)?;
        for (position, arg) in args.iter().enumerate() {
            let at = base + self.frame.param(position as u32);
            match *arg {
                Passed::Value { at: from, size } => {
                    self.interpreter
                        .stack
                        .copy_within(from as usize..(from + size) as usize, at as usize);
                }
                Passed::Place(address) => {
                    self.interpreter.stack[at as usize..][..8]
                        .copy_from_slice(&address.to_le_bytes());
                }
            }
        }
        debug_assert!(
            self.interpreter.module.functions[callee]
                .params
                .iter()
                .zip(args)
                .all(|(param, arg)| (param.mode == PassMode::Value)
                    == matches!(arg, Passed::Value { .. })),
            "check rule 11"
        );
        Ok(())
    }

    /// Ends a function. Its result goes to the caller; the first function has no caller, so its
    /// result is returned.
    fn leave(&mut self, value: Option<Value>) -> Option<Vec<u8>> {
        let (from, size) = value.map_or((0, 0), |value| (self.slot(value), self.size_of(value)));
        let range = from as usize..(from + size) as usize;
        let Some(caller) = self.unfinished.calls.pop() else {
            return Some(self.interpreter.stack[range].to_vec());
        };
        self.unfinished.cursors.truncate(caller.cursors);
        (self.function, self.base) = (caller.function, caller.base);
        self.frame = self.frames.of(caller.function);
        self.body = &self.interpreter.module.functions[caller.function].body;
        let to = self.slot(caller.result) as usize;
        self.interpreter.stack.copy_within(range, to);
        None
    }

    fn flag(&self, value: Value) -> bool {
        self.interpreter.stack[self.slot(value) as usize] != 0
    }

    /// Returns the position of a value on the stack.
    pub(super) fn slot(&self, value: Value) -> u64 {
        self.base + self.frame.value(value).offset
    }

    pub(super) fn type_of(&self, value: Value) -> Type {
        self.body.type_of(value)
    }

    pub(super) fn size_of(&self, value: Value) -> u64 {
        self.frame.value(value).size
    }

    /// Returns a scalar value.
    pub(super) fn get(&self, value: Value) -> Literal {
        self.part_of(self.frame.value(value), 0)
    }

    /// Returns a component of a value.
    pub(super) fn part_of(&self, Slot { offset, of, .. }: Slot, index: u64) -> Literal {
        self.scalar_at(self.base + offset + index * u64::from(of.bytes()), of)
    }

    /// Returns the type of a scalar value.
    pub(super) fn scalar_of(&self, value: Value) -> Scalar {
        self.frame.value(value).of
    }

    pub(super) fn put(&mut self, value: Value, literal: Literal) {
        self.put_at(self.slot(value), literal);
    }

    pub(super) fn scalar_at(&self, at: u64, scalar: Scalar) -> Literal {
        eval::from_bytes(scalar, &self.interpreter.stack[at as usize..])
    }

    pub(super) fn put_at(&mut self, at: u64, literal: Literal) {
        eval::to_bytes(literal, &mut self.interpreter.stack[at as usize..]);
    }

    /// Reads a word of a handle or reference on the stack.
    pub(super) fn word_at(&self, at: u64) -> u64 {
        u64::from_bytes(&self.interpreter.stack[at as usize..][..8])
    }
}

/// An evaluated argument of a call.
#[derive(Clone, Copy)]
pub(super) enum Passed {
    Value { at: u64, size: u64 },
    Place(u64),
}
