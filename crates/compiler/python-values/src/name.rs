//! Values of names: the bindings of a name at a place, and which of the bindings counts.

use crate::dialect::{Dialect, Evaluation};
use crate::evaluator::Evaluator;
use crate::frame::FrameId;
use crate::memo::{State, at_other_use};
use crate::value::{DialectValue, KnownValue};
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_python_names::syntax::{self, Expr};
use gbxcule_python_names::{
    BindingSource, Content, Definition, Guard, GuardId, Owner, Question, ScopeId, canonical,
};

/// Python's own functions that a text may name.
const BUILTINS: &str = "range len print min max abs round type reversed slice repr str sum pow isinstance zip \
    enumerate list getattr hasattr open dict set sorted any all frozenset map filter divmod \
    input globals vars";

/// Usual names of modules, with the statements that import the modules under these names.
const IMPORTS: [(&str, &str); 4] = [
    ("gb", "import gbxcule as gb"),
    ("wp", "import warp as wp"),
    ("np", "import numpy as np"),
    ("math", "import math"),
];

impl<'a, D: Dialect<'a>> Evaluator<'a, D> {
    /// Value of a name where a scope uses it.
    pub fn name(&self, name: &str, expr: &Expr, scope: ScopeId) -> Evaluation<'a, D> {
        let byte = syntax::start(expr);
        let bound = self.scopes.lookup(scope, name);
        let Some((definitions, home)) = bound else { return self.unbound(name, expr, scope) };
        if let Some(value) = self.replaced(name, home, expr) {
            return value;
        }
        // The last binding before the use counts: kernels are compiled soon after their definition.
        let before = definitions.iter().rposition(|definition| definition.since <= byte);
        let last = before.unwrap_or(definitions.len().saturating_sub(1));
        // A round of a loop sees the bindings of the round before.
        let later = &definitions[(last + 1).min(definitions.len())..];
        if before.is_some() && later.iter().any(|it| it.loop_begin <= byte) {
            let message = format!("`{name}` is bound again in a loop: only Python knows its value");
            let defined = self.defined(name, expr);
            return defined.unwrap_or_else(|| Err(self.needs_python(expr, message)));
        }
        let value = self.bound(&definitions[..=last], name, expr, home);
        self.unchanged(value, name, home, expr).or_else(|fault| {
            let defined = self.defined(name, expr);
            defined.unwrap_or_else(|| D::substitute(self, name, home).ok_or(fault))
        })
    }

    /// Value of a name that no statement around a scope binds.
    fn unbound(&self, name: &str, expr: &Expr, scope: ScopeId) -> Evaluation<'a, D> {
        let text = self.scopes.text(scope);
        if let Some(value) = self.starred(text, name, expr).or_else(|| self.defined(name, expr)) {
            return value;
        }
        let of_python = || match D::builtin(name) {
            Some(value) => Some(KnownValue::Dialect(value)),
            None => BUILTINS
                .split(' ')
                .any(|it| it == name)
                .then(|| KnownValue::Member(format!("builtins.{name}").into())),
        };
        let has_stars = !self.scopes.stars(text).is_empty();
        of_python().or_else(|| D::starred(name).filter(|_| has_stars)).ok_or_else(|| {
            let message = format!("`{name}` isn't defined");
            let fault = Diagnostic::error(Code::UndefinedName, self.span(expr), message);
            Box::new(match IMPORTS.iter().find(|(usual, _)| *usual == name) {
                Some((_, import)) => fault.help(format!("write `{import}` before it")),
                None => fault,
            })
        })
    }

    /// Value that the user gives in the place of a binding at the top level of a program's file.
    fn replaced(&self, name: &str, home: ScopeId, expr: &Expr) -> Option<Evaluation<'a, D>> {
        let text = self.scopes.text(home);
        let is_at_top = home == self.scopes.root(text);
        let is_given = self.files.given_texts().any(|given| given == text);
        if is_at_top && !is_given { self.defined(name, expr) } else { None }
    }

    /// Value that the user gives to a name by `--define`.
    pub fn defined(&self, name: &str, expr: &Expr) -> Option<Evaluation<'a, D>> {
        let (text, place) = self.files.defined(name)?;
        let root = self.scopes.root(*text);
        let definitions = self.scopes.bindings_in(root, place)?;
        Some(self.with_depth_limit(self.span(expr), || self.bound(definitions, name, expr, root)))
    }

    /// Returns the frame that a definition in a scope belongs to.
    pub fn frame_of(&self, scope: ScopeId) -> FrameId {
        self.frames.of_scope(scope, &self.scopes)
    }

    /// Value that bindings of the scope `home` give a name. The last binding counts; if the text
    /// doesn't answer the condition of that binding, only Python knows the value.
    pub fn bound(
        &self,
        definitions: &[Definition<'a>],
        name: &str,
        expr: &Expr,
        home: ScopeId,
    ) -> Evaluation<'a, D> {
        let possible: Vec<(&Definition<'a>, bool)> = definitions
            .iter()
            .map(|definition| (definition, self.condition(definition.guard, home)))
            .filter(|(_, holds)| *holds != Some(false))
            .map(|(definition, holds)| (definition, holds.is_none()))
            .collect();
        let first = possible.iter().rposition(|(_, is_conditional)| !is_conditional).unwrap_or(0);
        match possible[first..] {
            [] => Err(self.needs_python(expr, format!("`{name}` is only known when Python runs"))),
            [(definition, _)] => self.definition_value(definition, name, expr, home),
            _ => {
                let message =
                    format!("which binding of `{name}` counts is only known when Python runs");
                Err(self.needs_value(name, expr, message))
            }
        }
    }

    /// Answer to the condition of a definition in a scope; `None` if only Python knows it.
    pub fn condition(&self, guard: Option<GuardId>, home: ScopeId) -> Option<bool> {
        let Some(id) = guard else { return Some(true) };
        let memo = self.frames.memo();
        if let Some(answer) = memo.guards.borrow().get(&id) {
            return *answer;
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
        let answer = match (self.condition(outer, home), inner) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        };
        memo.guards.borrow_mut().insert(id, answer);
        answer
    }

    /// Value of one binding alone.
    fn definition_value(
        &self,
        definition: &Definition<'a>,
        name: &str,
        expr: &Expr,
        home: ScopeId,
    ) -> Evaluation<'a, D> {
        let (span, memo) = (self.span(expr), self.frames.memo());
        let key = std::ptr::from_ref(definition);
        let state = memo.definitions.borrow().get(&key).cloned();
        match state {
            Some(State::Known(value, used)) => return at_other_use(value, used, span),
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
        let value = self.source_value(definition.source, name, expr, home);
        memo.definitions.borrow_mut().insert(key, State::Known(value.clone(), span));
        value
    }

    fn source_value(
        &self,
        source: BindingSource<'a>,
        name: &str,
        expr: &Expr,
        home: ScopeId,
    ) -> Evaluation<'a, D> {
        match source {
            BindingSource::Import(path) => {
                Ok(match self.files.target(self.scopes.text(home), 0, path) {
                    Some(Ok(module)) => KnownValue::ImportedModule(*module),
                    _ => KnownValue::Module(canonical(path).into()),
                })
            }
            BindingSource::ImportFrom(level, module, member) => {
                self.imported_from(level, module, member, expr, home)
            }
            BindingSource::Value(value) => Ok(
                match self.known(value, home).map_err(|fault| self.used(&fault, name, expr))? {
                    KnownValue::Dialect(known) => {
                        KnownValue::Dialect(known.defined_before(syntax::start(value), home))
                    }
                    known => known,
                },
            ),
            BindingSource::Part(value, position) => {
                match self.known(value, home).map_err(|fault| self.used(&fault, name, expr))? {
                    KnownValue::Sequence(parts) if position < parts.len() => {
                        Ok(parts[position].clone())
                    }
                    _ => {
                        Err(self
                            .needs_python(expr, format!("`{name}` is only known when Python runs")))
                    }
                }
            }
            BindingSource::Function(def) => Ok(match D::function(self, def, home) {
                Some(function) => KnownValue::Dialect(function),
                None => KnownValue::Python(def, home, self.frame_of(home)),
            }),
            BindingSource::Class(def, body) => {
                let class = D::class(self, def, body, home);
                Ok(class.map_or(KnownValue::Class(body), KnownValue::Dialect))
            }
            BindingSource::Argument => self.argument_value(name, expr, home),
            BindingSource::Runtime => self.frames.scope_value(home, name).ok_or_else(|| {
                self.needs_value(name, expr, format!("`{name}` is only known when Python runs"))
            }),
        }
    }

    /// Diagnostic for a value that only Python knows, with advice on how to give the value.
    pub(crate) fn needs_value(&self, path: &str, expr: &Expr, message: String) -> Box<Diagnostic> {
        let mut fault = self.needs_python(expr, message);
        fault.help = self.files.value_advice(path);
        fault
    }

    /// `from module import member`, with `level` dots before the module.
    fn imported_from(
        &self,
        level: u32,
        module: &str,
        member: &str,
        expr: &Expr,
        home: ScopeId,
    ) -> Evaluation<'a, D> {
        let text = self.scopes.text(home);
        match self.files.target(text, level, module) {
            Some(Ok(number)) => {
                let target = &self.files.imported_modules[*number];
                // `from . import shape` in a package's own `__init__` means the module.
                if matches!(target.content, Content::Text(own) if own == text)
                    && let Some(&child) = target.children.get(member)
                {
                    return Ok(KnownValue::ImportedModule(child));
                }
                return self.member(*number, member, expr);
            }
            _ if level > 0 => {
                return Err(self.files.not_found(text, level, module, self.span(expr)));
            }
            _ => {}
        }
        let module = canonical(module);
        self.attribute(&KnownValue::Module(module.into()), member, expr)
            .or_else(|_| Ok(KnownValue::Member(format!("{module}.{member}").into())))
    }

    /// An argument of a Python function.
    fn argument_value(&self, name: &str, expr: &Expr, home: ScopeId) -> Evaluation<'a, D> {
        if let Some(value) = self.frames.scope_value(home, name) {
            return Ok(value);
        }
        let owner = match self.scopes.owner(home) {
            Owner::Function(def) => def.name.as_str(),
            Owner::Module | Owner::Class(_) => "",
        };
        let path = format!("{owner}.{name}");
        self.defined(&path, expr).unwrap_or_else(|| {
            let message =
                format!("`{name}` is an argument of `{owner}`: only Python knows its value");
            Err(self.needs_value(&path, expr, message))
        })
    }

    /// Moves a fault in a definition to the place that uses the name.
    fn used(&self, fault: &Diagnostic, name: &str, expr: &Expr) -> Box<Diagnostic> {
        let mut moved = Diagnostic::error(fault.code, self.span(expr), fault.message.clone());
        if moved.code == Code::NeedsPythonEvaluation {
            moved.message = format!("the value of `{name}` is only known when Python runs");
            let advice = fault.help.clone().filter(|help| !help.contains("--define"));
            moved.help = advice.or_else(|| self.files.value_advice(name));
        }
        Box::new(moved.label(fault.span(), "bound here"))
    }
}
