//! Rules about bodies, checked in a walk over statements that tracks which values are visible.

use super::{MAX_NESTING, flow};
use crate::diagnostic::{Code, Diagnostic};
use crate::function::{Body, Function};
use crate::module::Module;
use crate::op::{Op, Value};
use crate::place::PlaceId;
use crate::source::Span;
use crate::stmt::{BlockId, Case, StmtKind};
use crate::ty::{Scalar, Type};
use std::collections::HashSet;

/// Checks one body.
pub(super) struct Checker<'a> {
    pub(super) module: &'a Module,
    pub(super) function: &'a Function,
    pub(super) body: &'a Body,
    faults: &'a mut Vec<Diagnostic>,
    span: Span,
    defined: Vec<bool>,
    visible: Vec<bool>,
    /// Values in the order in which they became visible.
    scope: Vec<Value>,
    /// Lengths of `scope` where blocks began.
    marks: Vec<usize>,
    owned: Vec<bool>,
    loops: Vec<Part>,
}

/// Part of a loop that is being checked.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Header,
    Body,
}

/// Step of the check that is still to be done: the tree is walked without recursion.
enum CheckTask<'a> {
    /// A block with a scope of its own, in which a loop's index is visible.
    Open(BlockId, Option<Value>),
    /// The header of a `While`, whose scope includes the body.
    Header(&'a StmtKind, BlockId),
    /// The statements of a block from a position on.
    Stmts(BlockId, usize),
    /// Restores the values that were visible before the innermost open scope.
    Close,
    Enter(Part),
    Leave,
    /// The condition and body of a `While` after its header.
    Test(&'a StmtKind),
}

pub(super) fn check(module: &Module, function: &Function, faults: &mut Vec<Diagnostic>) {
    let body = &function.body;
    let before = faults.len();
    let mut checker = Checker {
        module,
        function,
        body,
        faults,
        span: function.span,
        defined: vec![false; body.values.len()],
        visible: vec![false; body.values.len()],
        scope: Vec::new(),
        marks: Vec::new(),
        owned: vec![false; body.blocks.len()],
        loops: Vec::new(),
    };
    checker.locals();
    checker.tree();
    if faults.len() > before || function.result == Type::UNIT {
        return;
    }
    if !flow::diverging(body)[body.root.index()] {
        let message = format!("`{}` may end without a result", function.name);
        faults.push(Diagnostic::error(Code::IrReturn, function.span, message));
    }
}

impl<'a> Checker<'a> {
    /// Records a fault; always returns `false`, so that checks can return its result.
    pub(super) fn fault(&mut self, code: Code, message: impl Into<String>) -> bool {
        let message = format!("in `{}`: {}", self.function.name, message.into());
        self.faults.push(Diagnostic::error(code, self.span, message));
        false
    }

    /// Returns a type as messages show it.
    pub(super) fn show(&self, ty: Type) -> String {
        self.module.types.display(ty).to_string()
    }

    /// Returns true if a value exists and is visible here, and records a fault otherwise.
    pub(super) fn visible(&mut self, value: Value) -> bool {
        match self.visible.get(value.index()) {
            Some(true) => true,
            Some(false) => self.fault(Code::IrScope, "a value that is used outside of its block"),
            None => self.fault(Code::IrHandle, "a value that doesn't exist"),
        }
    }

    /// Returns true if a value is visible and of a type, and records a fault otherwise.
    pub(super) fn visible_as(&mut self, value: Value, ty: Type, code: Code) -> bool {
        if !self.visible(value) {
            return false;
        }
        let actual = self.body.type_of(value);
        if actual == ty {
            return true;
        }
        let (actual, wanted) = (self.show(actual), self.show(ty));
        self.fault(code, format!("a `{actual}` where a `{wanted}` is needed"))
    }

    fn locals(&mut self) {
        for (_, local) in self.body.locals.iter() {
            if self.module.types.layout(local.ty).is_none() {
                let ty = self.show(local.ty);
                self.fault(Code::IrType, format!("variable `{}` can't be a `{ty}`", local.name));
            }
        }
    }

    fn tree(&mut self) {
        let mut todo = vec![CheckTask::Open(self.body.root, None)];
        while let Some(next) = todo.pop() {
            match next {
                CheckTask::Open(block, index) => self.open(block, index, &mut todo),
                CheckTask::Header(stmt, header) => {
                    self.open(header, None, &mut todo);
                    // The test runs between the header's statements and the end of the header's
                    // scope.
                    if matches!(todo.last(), Some(CheckTask::Stmts(block, 0)) if *block == header) {
                        let stmts = CheckTask::Stmts(header, 0);
                        todo.pop();
                        todo.extend([CheckTask::Test(stmt), CheckTask::Leave, stmts]);
                    }
                }
                CheckTask::Close => {
                    let mark = self.marks.pop().unwrap_or_default();
                    self.scope.drain(mark..).for_each(|value| self.visible[value.index()] = false);
                }
                CheckTask::Enter(part) => self.loops.push(part),
                CheckTask::Leave => {
                    self.loops.pop();
                }
                CheckTask::Test(stmt) => {
                    if let StmtKind::While { condition, body, .. } = stmt {
                        self.visible_as(*condition, Type::BOOL, Code::IrCondition);
                        let body = CheckTask::Open(*body, None);
                        todo.extend([CheckTask::Leave, body, CheckTask::Enter(Part::Body)]);
                    }
                }
                CheckTask::Stmts(block, from) => self.stmts(block, from, &mut todo),
            }
        }
    }

    fn open(&mut self, block: BlockId, index: Option<Value>, todo: &mut Vec<CheckTask<'a>>) {
        if self.marks.len() >= MAX_NESTING {
            self.fault(Code::IrBlock, format!("blocks nest deeper than {MAX_NESTING}"));
        } else if self.own(block) {
            self.marks.push(self.scope.len());
            todo.extend([CheckTask::Close, CheckTask::Stmts(block, 0)]);
            if let Some(index) = index {
                self.define(index);
            }
        }
    }

    fn own(&mut self, block: BlockId) -> bool {
        match self.owned.get_mut(block.index()) {
            Some(owned) if !*owned => {
                *owned = true;
                true
            }
            Some(_) => self.fault(Code::IrBlock, "a block with two owners"),
            None => self.fault(Code::IrHandle, "a block that doesn't exist"),
        }
    }

    fn stmts(&mut self, block: BlockId, from: usize, todo: &mut Vec<CheckTask<'a>>) {
        let stmts = &self.body.blocks[block].stmts;
        for (position, stmt) in stmts.iter().enumerate().skip(from) {
            self.span = stmt.span;
            if stmt.kind.is_terminator() && position + 1 != stmts.len() {
                self.fault(Code::IrBlock, "a statement that is never reached");
            }
            let owns = !matches!(
                stmt.kind,
                StmtKind::Let(_) | StmtKind::Store { .. } | StmtKind::Print { .. }
            );
            if owns {
                todo.push(CheckTask::Stmts(block, position + 1));
                self.control(&stmt.kind, todo);
                return;
            }
            self.simple(&stmt.kind);
        }
    }

    fn simple(&mut self, stmt: &StmtKind) {
        match *stmt {
            StmtKind::Let(value) => {
                if self.body.values.get(value).is_some_and(|data| data.op == Op::Index) {
                    self.fault(Code::IrScope, "a loop index defined outside a `For`");
                } else if self.body.values.get(value).is_none() || self.operation(value) {
                    self.define(value);
                }
            }
            StmtKind::Store { place, value } => self.store(place, value),
            StmtKind::Print { format, args } => {
                let has_format = format.is_none_or(|format| self.module.has_name(format));
                match self.body.value_lists.get(args) {
                    Some(args) if has_format => {
                        args.iter().for_each(|&arg| _ = self.visible(arg));
                    }
                    _ => _ = self.fault(Code::IrHandle, "a print with missing operands"),
                }
            }
            _ => {}
        }
    }

    fn store(&mut self, place: PlaceId, value: Value) {
        if self.place(place) && self.writable(place) {
            self.visible_as(value, self.body.places[place].ty, Code::IrStore);
            self.not_local_handle(value);
        }
    }

    /// Checks statements that own blocks or leave them. Pushes their blocks onto `todo`, the
    /// first block last.
    fn control(&mut self, stmt: &'a StmtKind, todo: &mut Vec<CheckTask<'a>>) {
        match stmt {
            StmtKind::If { condition, accept, reject } => {
                self.visible_as(*condition, Type::BOOL, Code::IrCondition);
                todo.extend([CheckTask::Open(*reject, None), CheckTask::Open(*accept, None)]);
            }
            StmtKind::Switch { selector, cases, default } => {
                self.selector(*selector, cases);
                let blocks = cases.iter().map(|case| case.body).chain([*default]);
                todo.extend(blocks.rev().map(|block| CheckTask::Open(block, None)));
            }
            StmtKind::For { index, start, end, step, body } => {
                let index = self.range(*index, [*start, *end, *step]).then_some(*index);
                todo.extend([
                    CheckTask::Leave,
                    CheckTask::Open(*body, index),
                    CheckTask::Enter(Part::Body),
                ]);
            }
            StmtKind::While { header, .. } => {
                todo.extend([CheckTask::Header(stmt, *header), CheckTask::Enter(Part::Header)]);
                let last = self.body.blocks.get(*header).and_then(|block| block.stmts.last());
                if last.is_some_and(|last| last.kind.is_terminator()) {
                    self.fault(Code::IrLoop, "a loop header that never reaches its condition");
                }
            }
            StmtKind::Break | StmtKind::Continue => {
                if self.loops.last() != Some(&Part::Body) {
                    self.fault(Code::IrLoop, "a `break` or `continue` outside a loop's body");
                }
            }
            StmtKind::Return(value) => self.result(*value),
            StmtKind::Assert { condition, message } => {
                self.visible_as(*condition, Type::BOOL, Code::IrCondition);
                self.message(*message);
            }
            StmtKind::Trap { message } => self.message(*message),
            StmtKind::Let(_) | StmtKind::Store { .. } | StmtKind::Print { .. } => {}
        }
    }

    fn message(&mut self, message: crate::function::Name) {
        if !self.module.has_name(message) {
            self.fault(Code::IrHandle, "a message that doesn't exist");
        }
    }

    fn result(&mut self, value: Option<Value>) {
        if self.loops.contains(&Part::Header) {
            self.fault(Code::IrLoop, "a `return` in a loop's header");
        }
        match value {
            Some(value) => {
                self.visible_as(value, self.function.result, Code::IrReturn);
                self.not_local_handle(value);
            }
            None if self.function.result == Type::UNIT => {}
            None => _ = self.fault(Code::IrReturn, "a `return` without the result"),
        }
    }

    fn selector(&mut self, selector: Value, cases: &[Case]) {
        if !self.visible(selector) {
            return;
        }
        let Some(scalar) = self.body.type_of(selector).as_scalar().filter(|s| s.is_int()) else {
            self.fault(Code::IrCondition, "the selector of a switch is not an integer");
            return;
        };
        let mut seen = HashSet::new();
        for &label in cases.iter().flat_map(|case| case.labels.iter()) {
            if !fits(label, scalar) {
                self.fault(
                    Code::IrCondition,
                    format!("label {label} doesn't fit into `{}`", scalar.name()),
                );
            } else if !seen.insert(label) {
                self.fault(Code::IrCondition, format!("label {label} occurs twice"));
            }
        }
    }

    fn range(&mut self, index: Value, bounds: [Value; 3]) -> bool {
        let Some(data) = self.body.values.get(index) else {
            return self.fault(Code::IrHandle, "a loop index that doesn't exist");
        };
        let ty = data.ty;
        if data.op != Op::Index || !ty.as_scalar().is_some_and(Scalar::is_int) {
            return self.fault(
                Code::IrLoop,
                "a loop index that is not defined by `index` or not an integer",
            );
        }
        bounds.into_iter().all(|bound| self.visible_as(bound, ty, Code::IrLoop))
    }

    fn define(&mut self, value: Value) -> bool {
        match self.defined.get_mut(value.index()) {
            Some(defined) if !*defined => {
                *defined = true;
                self.visible[value.index()] = true;
                self.scope.push(value);
                true
            }
            Some(_) => self.fault(Code::IrScope, "a value with two definitions"),
            None => self.fault(Code::IrHandle, "a value that doesn't exist"),
        }
    }
}

/// Returns true if a label is a value of the selector's type. Labels of a `u64` selector are its
/// bits.
fn fits(label: i64, scalar: Scalar) -> bool {
    let bits = scalar.bits();
    match scalar {
        Scalar::I64 | Scalar::U64 => true,
        _ if scalar.is_signed_int() => (-(1 << (bits - 1))..1 << (bits - 1)).contains(&label),
        _ => (0..1 << bits).contains(&label),
    }
}
