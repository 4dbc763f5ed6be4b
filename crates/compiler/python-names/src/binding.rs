//! Bindings of names, the scopes that hold them, and the conditions under which they hold.

use crate::syntax::{Expr, StmtClassDef, StmtFunctionDef};
use rustc_hash::{FxHashMap, FxHashSet};

/// A scope, by the number of its text and its position there; 0 is the module of the program's own
/// file.
pub type ScopeId = u64;

/// A condition, by the number of its text and its position there.
pub type GuardId = u64;

/// Number of the scope or condition at a position in a text.
pub(crate) fn id_of(text: usize, position: usize) -> u64 {
    (text as u64) << 32 | position as u64
}

/// Position of a scope or condition in its text.
pub(crate) fn local(id: u64) -> usize {
    id as u32 as usize
}

/// Number of the text of a scope or condition.
pub(crate) fn text_of(id: u64) -> usize {
    (id >> 32) as usize
}

/// Scopes of a text, the outermost first.
#[derive(Default)]
pub(crate) struct TextScopes<'a> {
    pub(crate) scopes: Vec<Scope<'a>>,
    /// All function definitions of the program's own file with the scopes around them, in the order
    /// of the text.
    pub(crate) functions: Vec<(&'a StmtFunctionDef, ScopeId)>,
    pub(crate) guards: Vec<Guard<'a>>,
    /// Scopes of the functions' bodies.
    pub(crate) bodies: FxHashMap<*const StmtFunctionDef, ScopeId>,
    /// Names of the values that the program's own file changes in place.
    pub(crate) changed: FxHashSet<&'a str>,
    /// Stores to attributes of names, by the attribute.
    pub(crate) attributes: FxHashMap<&'a str, Vec<AttributeStore<'a>>>,
    /// Modules from which `*` is imported: dots and name.
    pub(crate) stars: Vec<(u32, &'a str)>,
}

/// A scope.
pub(crate) struct Scope<'a> {
    pub(crate) parent: Option<ScopeId>,
    pub(crate) owner: Owner<'a>,
    pub(crate) names: FxHashMap<&'a str, Vec<Definition<'a>>>,
}

/// Statement whose body a scope is.
#[derive(Clone, Copy)]
pub enum Owner<'a> {
    /// A text.
    Module,
    /// A function.
    Function(&'a StmtFunctionDef),
    /// A class.
    Class(&'a StmtClassDef),
}

/// One binding of a name.
#[derive(Clone, Copy)]
pub struct Definition<'a> {
    /// Source of the name's value.
    pub source: BindingSource<'a>,
    /// Position in the text.
    pub at: u32,
    /// First byte at which the name has this value. It lies after the value's expression.
    pub since: u32,
    /// Condition under which the binding stands.
    pub guard: Option<GuardId>,
    /// First byte of the outermost loop around the binding; `u32::MAX` outside of loops.
    pub loop_begin: u32,
}

/// Source of a name's value.
#[derive(Clone, Copy)]
pub enum BindingSource<'a> {
    /// `import path`: the path that the name stands for.
    Import(&'a str),
    /// `from ..module import name`, with the number of dots.
    ImportFrom(u32, &'a str, &'a str),
    /// `name = value`
    Value(&'a Expr),
    /// `a, name, c = value`: the value and the position of the name.
    Part(&'a Expr, usize),
    /// `def name(..)`
    Function(&'a StmtFunctionDef),
    /// A class and the scope of its body.
    Class(&'a StmtClassDef, ScopeId),
    /// A parameter of a Python function.
    Argument,
    /// A statement whose effect only a run shows: a loop, `with`, `except`, a change in place.
    Runtime,
}

/// A condition under which bindings stand.
#[derive(Clone, Copy)]
pub struct Guard<'a> {
    /// Question, and the answer under which the bindings hold; `None` in loops and in `try`.
    pub test: Option<(Question<'a>, bool)>,
    /// Condition around this one.
    pub outer: Option<GuardId>,
}

/// A question whose answer decides whether bindings hold.
#[derive(Clone, Copy)]
pub enum Question<'a> {
    /// The test of an `if`.
    Holds(&'a Expr),
    /// A question whose answer is always no.
    Never,
}

/// `name.attribute = value` in a scope.
#[derive(Clone, Copy)]
pub(crate) struct AttributeStore<'a> {
    pub(crate) scope: ScopeId,
    pub(crate) name: &'a str,
    /// `None` if only Python knows the value.
    pub(crate) value: Option<&'a Expr>,
    pub(crate) guard: Option<GuardId>,
}
