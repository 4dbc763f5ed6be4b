//! Results of the evaluation so far: each binding is evaluated once, so that evaluation takes time
//! bounded by the text's length.

use crate::value::KnownValue;
use gbxcule_ir::diagnostic::Diagnostic;
use gbxcule_ir::source::Span;
use gbxcule_python_names::syntax::StmtFunctionDef;
use gbxcule_python_names::{Definition, GuardId};
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// Result of an evaluation.
type Outcome<'a, F> = Result<KnownValue<'a, F>, Box<Diagnostic>>;

/// Results in one frame.
pub(crate) struct Memo<'a, F> {
    /// Value of each binding alone.
    pub(crate) definitions: RefCell<FxHashMap<*const Definition<'a>, State<'a, F>>>,
    /// Answers to conditions; `None` also while a condition is evaluated.
    pub(crate) guards: RefCell<FxHashMap<GuardId, Option<bool>>>,
    /// Result of each Python function.
    results: RefCell<FxHashMap<*const StmtFunctionDef, Outcome<'a, F>>>,
}

impl<F> Default for Memo<'_, F> {
    fn default() -> Self {
        Self {
            definitions: RefCell::default(),
            guards: RefCell::default(),
            results: RefCell::default(),
        }
    }
}

/// State of a binding's evaluation.
#[derive(Clone)]
pub(crate) enum State<'a, F> {
    Open,
    /// Result, and the use of the name at which a fault was reported.
    Known(Outcome<'a, F>, Span),
}

impl<'a, F: Clone> Memo<'a, F> {
    /// Result of a Python function, evaluated at the first call.
    pub(crate) fn result(
        &self,
        def: &'a StmtFunctionDef,
        evaluate: impl FnOnce() -> Outcome<'a, F>,
    ) -> Outcome<'a, F> {
        let key = std::ptr::from_ref(def);
        if let Some(result) = self.results.borrow().get(&key) {
            return result.clone();
        }
        let result = evaluate();
        self.results.borrow_mut().insert(key, result.clone());
        result
    }
}

/// Moves a fault that was reported at one use of a name to another use.
pub(crate) fn at_other_use<F>(result: Outcome<'_, F>, from: Span, to: Span) -> Outcome<'_, F> {
    result.map_err(|mut fault| {
        if let Some(main) = fault.labels.first_mut().filter(|main| main.span == from) {
            main.span = to;
        }
        fault
    })
}
