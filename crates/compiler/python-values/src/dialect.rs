//! Questions that only the dialect of a text answers: its types, its functions, its modules.

use crate::evaluator::Evaluator;
use crate::value::{DialectValue, KnownValue};
use gbxcule_ir::diagnostic::Diagnostic;
use gbxcule_python_names::ScopeId;
use gbxcule_python_names::syntax::{Arguments, Expr, StmtClassDef, StmtFunctionDef};

/// A value of a text in a dialect.
pub type Known<'a, D> = KnownValue<'a, <D as Dialect<'a>>::Value>;

/// Result of an evaluation.
pub type Evaluation<'a, D> = Result<Known<'a, D>, Box<Diagnostic>>;

/// A dialect of Python. A method that returns an `Option` gives `None` for a question that isn't
/// the dialect's own; then Python's answer holds.
pub trait Dialect<'a>: Sized {
    /// Values of the dialect.
    type Value: DialectValue;

    /// Meaning of a name of Python itself, such as `int`.
    fn builtin(name: &str) -> Option<Self::Value>;

    /// Meaning of a name that the text may have by `from .. import *`.
    fn starred(name: &str) -> Option<Known<'a, Self>>;

    /// Meaning of a decorated function that stands in the scope `home`.
    fn function(
        values: &Evaluator<'a, Self>,
        def: &'a StmtFunctionDef,
        home: ScopeId,
    ) -> Option<Self::Value>;

    /// Returns true if a function that stands in the scope `home` runs in Python.
    fn runs_in_python(
        values: &Evaluator<'a, Self>,
        def: &'a StmtFunctionDef,
        home: ScopeId,
    ) -> bool;

    /// Meaning of a class that stands in the scope `home` and whose body is the scope `body`.
    fn class(
        values: &Evaluator<'a, Self>,
        def: &'a StmtClassDef,
        body: ScopeId,
        home: ScopeId,
    ) -> Option<Self::Value>;

    /// Member of a module by the module's path.
    fn member(
        values: &Evaluator<'a, Self>,
        module: &str,
        name: &str,
        expr: &Expr,
    ) -> Option<Evaluation<'a, Self>>;

    /// Attribute of a value.
    fn attribute(
        values: &Evaluator<'a, Self>,
        base: &Known<'a, Self>,
        name: &str,
        expr: &Expr,
    ) -> Option<Evaluation<'a, Self>>;

    /// Value of `base[..]`, which is `expr`.
    fn subscript(
        values: &Evaluator<'a, Self>,
        base: &Known<'a, Self>,
        expr: &'a Expr,
        scope: ScopeId,
    ) -> Option<Evaluation<'a, Self>>;

    /// Result of a call.
    fn call(
        values: &Evaluator<'a, Self>,
        call: &Call<'_, 'a, Self>,
    ) -> Option<Evaluation<'a, Self>>;

    /// Replaces a value of which only the name is known by a number, if the dialect has one for it.
    fn settled(values: &Evaluator<'a, Self>, value: Known<'a, Self>) -> Known<'a, Self>;

    /// Value of a name that the scope `home` binds and that only Python knows.
    fn substitute(
        values: &Evaluator<'a, Self>,
        name: &str,
        home: ScopeId,
    ) -> Option<Known<'a, Self>>;

    /// Value of an attribute of `self` that only Python knows, by its path.
    fn substitute_attribute(&self, path: &str) -> Option<Known<'a, Self>>;

    /// Returns true if the dialect substitutes values that only Python knows.
    fn is_substituting(&self) -> bool;
}

/// A call that is evaluated.
pub struct Call<'c, 'a, D: Dialect<'a>> {
    /// Value of `func`.
    pub callee: &'c Known<'a, D>,
    /// Expression that is called.
    pub func: &'a Expr,
    /// Arguments.
    pub args: &'a Arguments,
    /// The whole call.
    pub expr: &'a Expr,
    /// Scope of the call.
    pub scope: ScopeId,
}
