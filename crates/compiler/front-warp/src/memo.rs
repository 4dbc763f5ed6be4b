//! Caches the value of each binding and limits the size of values, so that evaluation takes time
//! bounded by the text's length.

use super::constant::{Evaluation, KnownValue, Unit};
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::source::Span;
use gbxcule_python_names::syntax::{Expr, StmtFunctionDef};
use gbxcule_python_names::{BindingSource, Definition, Guard, GuardId, Question, ScopeId};
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// Results of the evaluation so far.
#[derive(Default)]
pub(super) struct Memo<'a> {
    /// Value of each binding alone.
    definitions: RefCell<FxHashMap<*const Definition<'a>, State<'a>>>,
    /// Value of a name after each of its bindings.
    names: RefCell<FxHashMap<*const Definition<'a>, State<'a>>>,
    /// Answers to conditions that definitions stand under; `None` also while one is worked out.
    guards: RefCell<FxHashMap<GuardId, Option<bool>>>,
    /// Result of each Python function.
    results: RefCell<FxHashMap<*const StmtFunctionDef, Evaluation<'a>>>,
}

/// State of a binding's evaluation.
#[derive(Clone)]
enum State<'a> {
    Open,
    /// Value, and the use for which that was found out, at which a fault was reported.
    Known(Evaluation<'a>, Span),
}

/// Most expressions and definitions that may lead to each other.
const MAX_LEVELS: usize = 2000;

/// Most parts of a constant, and how deep they may nest.
const MAX_PARTS: usize = 1 << 14;
const MAX_NESTING: usize = 32;

impl<'a> Unit<'a> {
    /// Calls `run` one level deeper; refuses beyond the limit.
    pub(super) fn with_depth_limit(
        &self,
        span: Span,
        run: impl FnOnce() -> Evaluation<'a>,
    ) -> Evaluation<'a> {
        let level = self.level.get();
        if level >= MAX_LEVELS {
            let message = format!(
                "more than {MAX_LEVELS} definitions and expressions lead to each other here"
            );
            return Err(Box::new(Diagnostic::error(Code::TooComplex, span, message)));
        }
        self.level.set(level + 1);
        let result = super::lower::with_stack(run);
        self.level.set(level);
        result
    }

    /// Value that some bindings give a name: that of the last; if it is conditional, all that may
    /// count must agree.
    pub(super) fn bound(
        &self,
        definitions: &[Definition<'a>],
        name: &str,
        expr: &Expr,
        home: ScopeId,
    ) -> Evaluation<'a> {
        let (span, memo) = (self.span(expr), self.memo());
        // Those that surely don't count are as if they weren't there.
        let counts: Vec<(&Definition<'a>, bool)> = definitions
            .iter()
            .map(|definition| (definition, self.condition(definition.guard, home)))
            .filter(|(_, holds)| *holds != Some(false))
            .map(|(definition, holds)| (definition, holds.is_none()))
            .collect();
        let told = |definition: &Definition<'a>| {
            memo.names.borrow().get(&std::ptr::from_ref(definition)).cloned()
        };
        let first = counts.iter().rposition(|(it, conditional)| !conditional || told(it).is_some());
        let mut known = None;
        for &(definition, _) in &counts[first.unwrap_or(0)..] {
            let next = match told(definition) {
                Some(State::Known(known, used)) => at_other_use(known, used, span),
                _ => match (known, self.definition_value(definition, name, expr, home)) {
                    (None, meant) => meant,
                    (Some(Ok(one)), Ok(other)) if one == other => Ok(one),
                    _ => Err(self.needs_python(
                        expr,
                        format!("which binding of `{name}` counts is only known when Python runs"),
                    )),
                },
            };
            let state = State::Known(next.clone(), span);
            memo.names.borrow_mut().insert(definition, state);
            known = Some(next);
        }
        known.unwrap_or_else(|| {
            Err(self.needs_python(expr, format!("`{name}` is only known when Python runs")))
        })
    }

    /// Answer to the condition of a definition in a scope; `None` if only Python knows it.
    pub(super) fn condition(&self, guard: Option<GuardId>, home: ScopeId) -> Option<bool> {
        let Some(id) = guard else { return Some(true) };
        let memo = self.memo();
        if let Some(known) = memo.guards.borrow().get(&id) {
            return *known;
        }
        memo.guards.borrow_mut().insert(id, None);
        let Guard { test, outer } = self.scopes.guard_at(id);
        let inner = test.and_then(|(question, holds)| {
            let answer = match question {
                Question::Holds(test) => self.known(test, home).ok()?.truth(),
                Question::Never => Some(false),
            };
            answer.map(|answer| answer == holds)
        });
        let result = match (self.condition(outer, home), inner) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        };
        memo.guards.borrow_mut().insert(id, result);
        result
    }

    /// Value of one binding alone.
    fn definition_value(
        &self,
        definition: &Definition<'a>,
        name: &str,
        expr: &Expr,
        home: ScopeId,
    ) -> Evaluation<'a> {
        let (span, memo) = (self.span(expr), self.memo());
        let key = std::ptr::from_ref(definition);
        let state = memo.definitions.borrow().get(&key).cloned();
        match state {
            Some(State::Known(known, used)) => return at_other_use(known, used, span),
            Some(State::Open) => {
                let (code, message) = match definition.source {
                    BindingSource::Import(_) | BindingSource::ImportFrom(..) => {
                        (Code::UndefinedName, format!("`{name}` is imported in a circle"))
                    }
                    _ => (
                        Code::NeedsPythonEvaluation,
                        format!("`{name}` is defined in terms of itself"),
                    ),
                };
                return Err(Box::new(Diagnostic::error(code, span, message)));
            }
            None => {}
        }
        memo.definitions.borrow_mut().insert(key, State::Open);
        let known = self.evaluate_source(definition.source, name, expr, home);
        memo.definitions.borrow_mut().insert(key, State::Known(known.clone(), span));
        known
    }
}

impl<'a> Memo<'a> {
    /// Result of a Python function, worked out at the first call.
    pub(super) fn result(
        &self,
        def: &'a StmtFunctionDef,
        evaluate: impl FnOnce() -> Evaluation<'a>,
    ) -> Evaluation<'a> {
        once(&self.results, def, evaluate)
    }
}

fn once<'a, Node>(
    known: &RefCell<FxHashMap<*const Node, Evaluation<'a>>>,
    node: &'a Node,
    evaluate: impl FnOnce() -> Evaluation<'a>,
) -> Evaluation<'a> {
    let key = std::ptr::from_ref(node);
    if let Some(known) = known.borrow().get(&key) {
        return known.clone();
    }
    let result = evaluate();
    known.borrow_mut().insert(key, result.clone());
    result
}

/// A fault that was reported at one use, at another.
fn at_other_use<'a>(known: Evaluation<'a>, from: Span, to: Span) -> Evaluation<'a> {
    known.map_err(|mut fault| {
        if let Some(main) = fault.labels.first_mut().filter(|main| main.span == from) {
            main.span = to;
        }
        fault
    })
}

/// Diagnostic for a constant that is not small.
pub(super) fn too_large(span: Span) -> Box<Diagnostic> {
    let message =
        format!("a constant has at most {MAX_PARTS} parts, which nest at most {MAX_NESTING} deep");
    Box::new(Diagnostic::error(Code::TooComplex, span, message))
}

impl KnownValue<'_> {
    /// Returns true if it is as small as constants are.
    pub(super) fn is_small(&self) -> bool {
        self.fits(&mut MAX_PARTS.clone(), MAX_NESTING)
    }

    fn fits(&self, parts: &mut usize, levels: usize) -> bool {
        match self {
            Self::Sequence(inner) => {
                let room = parts.checked_sub(inner.len()).filter(|_| levels > 0);
                *parts = room.unwrap_or(0);
                room.is_some() && inner.iter().all(|part| part.fits(parts, levels - 1))
            }
            Self::Dict(items) => {
                let room = parts.checked_sub(2 * items.len()).filter(|_| levels > 0);
                *parts = room.unwrap_or(0);
                room.is_some()
                    && items.iter().all(|(key, value)| {
                        key.fits(parts, levels - 1) && value.fits(parts, levels - 1)
                    })
            }
            _ => true,
        }
    }
}
