//! Frames: values that names have during an evaluation, such as the arguments of one call of a
//! Python function, or the target of a loop in one round. The frame keeps the results of
//! evaluations within it.

use crate::memo::Memo;
use crate::value::KnownValue;
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::source::Span;
use gbxcule_python_names::{ScopeId, Scopes};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// A frame by its position, counted from 1; 0 stands for no frame.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct FrameId(u32);

impl FrameId {
    /// No frame: results hold for all calls.
    pub const NONE: Self = Self(0);

    fn position(self) -> Option<usize> {
        (self.0 as usize).checked_sub(1)
    }
}

/// Names of a scope with their values.
pub type Values<'a, F> = Vec<(ScopeId, &'a str, KnownValue<'a, F>)>;

struct Frame<'a, F> {
    values: Values<'a, F>,
    outer: FrameId,
    memo: Rc<Memo<'a, F>>,
}

/// All frames of a program, and the open frame.
pub struct Frames<'a, F> {
    all: RefCell<Vec<Frame<'a, F>>>,
    open: Cell<FrameId>,
    /// Results outside of any frame.
    memo: RefCell<Rc<Memo<'a, F>>>,
}

/// Greatest number of frames of a program.
const MAX_FRAMES: usize = 1000;

impl<F> Default for Frames<'_, F> {
    fn default() -> Self {
        Self { all: RefCell::default(), open: Cell::default(), memo: RefCell::default() }
    }
}

impl<'a, F: Clone + PartialEq> Frames<'a, F> {
    /// Forgets all frames and results.
    pub fn clear(&self) {
        self.all.borrow_mut().clear();
        *self.memo.borrow_mut() = Rc::default();
    }

    /// Forgets all results.
    pub fn forget(&self) {
        self.all.borrow_mut().iter_mut().for_each(|frame| frame.memo = Rc::default());
        *self.memo.borrow_mut() = Rc::default();
    }

    /// Returns the frame with some values inside the frame `outer`; equal values give the same
    /// frame.
    pub(crate) fn within(
        &self,
        outer: FrameId,
        values: Values<'a, F>,
        span: Span,
    ) -> Result<FrameId, Box<Diagnostic>> {
        if values.is_empty() {
            return Ok(outer);
        }
        let mut all = self.all.borrow_mut();
        let is_same = |frame: &Frame<'a, F>| frame.outer == outer && frame.values == values;
        let same = all.iter().position(is_same);
        if same.is_none() && all.len() >= MAX_FRAMES {
            let message =
                format!("Python functions are called with {MAX_FRAMES} sets of arguments");
            return Err(Box::new(Diagnostic::error(Code::TooComplex, span, message)));
        }
        let position = same.unwrap_or_else(|| {
            all.push(Frame { values, outer, memo: Rc::default() });
            all.len() - 1
        });
        Ok(FrameId(position as u32 + 1))
    }

    /// Runs within a frame.
    pub fn run<T>(&self, frame: FrameId, run: impl FnOnce() -> T) -> T {
        let before = self.open.replace(frame);
        let result = run();
        self.open.set(before);
        result
    }

    /// Returns the frame that a definition in a scope belongs to.
    pub fn of_scope(&self, scope: ScopeId, scopes: &Scopes<'a>) -> FrameId {
        let all = self.all.borrow();
        let mut next = self.open.get();
        while let Some(position) = next.position() {
            let frame = &all[position];
            if frame.values.iter().any(|(home, ..)| scopes.is_within(scope, *home)) {
                break;
            }
            next = frame.outer;
        }
        next
    }

    /// Value of a name of a scope in the open frame.
    pub(crate) fn scope_value(&self, scope: ScopeId, name: &str) -> Option<KnownValue<'a, F>> {
        let all = self.all.borrow();
        let mut next = self.open.get();
        while let Some(position) = next.position() {
            let frame = &all[position];
            let mut values = frame.values.iter();
            if let Some((.., value)) = values.find(|it| (it.0, it.1) == (scope, name)) {
                return Some(value.clone());
            }
            next = frame.outer;
        }
        None
    }

    /// Results so far in the open frame.
    pub(crate) fn memo(&self) -> Rc<Memo<'a, F>> {
        match self.open.get().position() {
            Some(position) => self.all.borrow()[position].memo.clone(),
            None => self.memo.borrow().clone(),
        }
    }
}
