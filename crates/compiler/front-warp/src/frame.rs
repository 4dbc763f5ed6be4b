//! Values that names have for a while: arguments in one call of a Python function, and what a loop
//! around a call is at. What is evaluated in a frame is remembered there, and nowhere else.

use super::constant::{KnownValue, Unit};
use super::memo::Memo;
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::source::Span;
use gbxcule_python_names::ScopeId;
use gbxcule_python_names::syntax::{Expr, end, start};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// A frame by its position, counted from 1; 0 is none.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub(super) struct FrameId(u32);

impl FrameId {
    /// No frame: what holds for all calls.
    pub(super) const NONE: Self = Self(0);
}

/// Names of a scope with their values.
pub(super) type Values<'a> = Vec<(ScopeId, &'a str, KnownValue<'a>)>;

struct NameFrame<'a> {
    values: Values<'a>,
    /// Bytes of the comprehension or lambda whose own names these are; others are seen everywhere.
    place: Option<(u32, u32)>,
    outer: FrameId,
    memo: Rc<Memo<'a>>,
}

/// All frames of a program, and the one that is open.
#[derive(Default)]
pub(super) struct Frames<'a> {
    all: RefCell<Vec<NameFrame<'a>>>,
    open: Cell<FrameId>,
    /// Results outside any frame.
    memo: RefCell<Rc<Memo<'a>>>,
}

/// Most frames of a program.
const MAX_FRAMES: usize = 1000;

impl Frames<'_> {
    /// Forgets all frames and results.
    pub(super) fn clear(&self) {
        self.all.borrow_mut().clear();
        *self.memo.borrow_mut() = Rc::default();
    }

    /// Forgets all results.
    pub(super) fn forget(&self) {
        self.all.borrow_mut().iter_mut().for_each(|frame| frame.memo = Rc::default());
        *self.memo.borrow_mut() = Rc::default();
    }
}

impl<'a> Unit<'a> {
    /// The frame with some values, within another: the same one at each request.
    pub(super) fn frame(
        &self,
        values: Values<'a>,
        outer: FrameId,
        span: Span,
    ) -> Result<FrameId, Box<Diagnostic>> {
        self.frame_at(None, values, outer, span)
    }

    /// The frame with the values of names that only a comprehension or lambda sees.
    pub(super) fn local_frame(
        &self,
        expr: &Expr,
        values: Values<'a>,
        outer: FrameId,
    ) -> Result<FrameId, Box<Diagnostic>> {
        self.frame_at(Some((start(expr), end(expr))), values, outer, self.span(expr))
    }

    fn frame_at(
        &self,
        place: Option<(u32, u32)>,
        values: Values<'a>,
        outer: FrameId,
        span: Span,
    ) -> Result<FrameId, Box<Diagnostic>> {
        if values.is_empty() {
            return Ok(outer);
        }
        let mut all = self.frames.all.borrow_mut();
        let same = |frame: &NameFrame<'a>| {
            (frame.outer, frame.place) == (outer, place) && frame.values == values
        };
        let known = all.iter().position(same);
        if known.is_none() && all.len() >= MAX_FRAMES {
            let message =
                format!("Python functions are called with {MAX_FRAMES} sets of arguments");
            return Err(Box::new(Diagnostic::error(Code::TooComplex, span, message)));
        }
        let position = known.unwrap_or_else(|| {
            all.push(NameFrame { values, place, outer, memo: Rc::default() });
            all.len() - 1
        });
        Ok(FrameId(position as u32 + 1))
    }

    /// The frame that is open.
    pub(super) fn open_frame(&self) -> FrameId {
        self.frames.open.get()
    }

    /// Does something within a frame.
    pub(super) fn framed<T>(&self, frame: FrameId, run: impl FnOnce() -> T) -> T {
        let before = self.frames.open.replace(frame);
        let result = run();
        self.frames.open.set(before);
        result
    }

    /// The frame that a definition in a scope belongs to.
    pub(super) fn frame_of(&self, scope: ScopeId) -> FrameId {
        let all = self.frames.all.borrow();
        let mut next = self.frames.open.get();
        while let Some(position) = (next.0 as usize).checked_sub(1) {
            let frame = &all[position];
            if frame.place.is_none()
                && frame.values.iter().any(|(home, ..)| self.scopes.is_within(scope, *home))
            {
                break;
            }
            next = all[position].outer;
        }
        next
    }

    /// Value of a name of the comprehension or lambda around a place in a scope.
    pub(super) fn local_value(
        &self,
        scope: ScopeId,
        name: &str,
        at: u32,
    ) -> Option<KnownValue<'a>> {
        self.found(scope, name, |place| {
            place.is_some_and(|(begin, end)| (begin..end).contains(&at))
        })
    }

    /// Value of a name of a scope in the open frame.
    pub(super) fn framed_value(&self, scope: ScopeId, name: &str) -> Option<KnownValue<'a>> {
        self.found(scope, name, |place| place.is_none())
    }

    fn found(
        &self,
        scope: ScopeId,
        name: &str,
        counts: impl Fn(Option<(u32, u32)>) -> bool,
    ) -> Option<KnownValue<'a>> {
        let all = self.frames.all.borrow();
        let mut next = self.frames.open.get();
        while let Some(position) = (next.0 as usize).checked_sub(1) {
            let frame = &all[position];
            let found =
                frame.values.iter().find(|(home, known, _)| (*home, *known) == (scope, name));
            if counts(frame.place)
                && let Some((.., value)) = found
            {
                return Some(value.clone());
            }
            next = frame.outer;
        }
        None
    }

    /// Results so far in the open frame.
    pub(super) fn memo(&self) -> Rc<Memo<'a>> {
        match (self.frames.open.get().0 as usize).checked_sub(1) {
            Some(position) => self.frames.all.borrow()[position].memo.clone(),
            None => self.frames.memo.borrow().clone(),
        }
    }
}
