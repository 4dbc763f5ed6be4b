//! What Python's own expressions come to, as far as the text alone says it: constants, types,
//! functions. Nothing is run; what would need that is refused with `needs-python-evaluation`.

use super::annotation::Annotation;
use super::arithmetic::{arithmetic, compared, python_function};
use super::file::Files;
use super::library::{self, Library};
use super::role::Role;
use super::scope::{Definition, Family, Meaning, Owner, ScopeId, Scopes};
use super::syntax::{self, Arguments, Expr, Ranged, StmtFunctionDef, UnaryOp};
use super::warp::{self, builtin_name, canonical, starred_name};
use crate::diagnostic::Diagnostic;
use crate::ir::constant::Literal;
use crate::source::Span;
use std::cell::Cell;
use std::rc::Rc;

/// A value known without running Python.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Static<'a> {
    None,
    Bool(bool),
    Int(i128),
    Float(f64),
    Text(Rc<str>),
    /// `wp.uint8(3)`
    Typed(Literal),
    /// `wp.vec3(1.0, 2.0, 3.0)`: its type and its components.
    Composite(Annotation, Rc<[Literal]>),
    /// A tuple or list.
    Sequence(Rc<[Static<'a>]>),
    Type(Annotation),
    /// A module by its path: `warp`, `math`, `numpy`, or any other that is no neighbour.
    Module(Rc<str>),
    /// A module in a file beside the text, by its number.
    Neighbour(usize),
    /// `path` of a module, not a type or constant: mostly a function.
    Member(Rc<str>),
    Function(Family<'a>),
    /// Any other function.
    Python(&'a StmtFunctionDef, ScopeId),
    /// A class that is no struct: a namespace.
    Class(ScopeId),
    /// A value of the library's type, by the first parameter behind it.
    Handle(u32),
}

pub(super) type Known<'a> = Result<Static<'a>, Box<Diagnostic>>;

/// The texts of a program with their scopes.
pub(super) struct Unit<'a> {
    pub(super) files: &'a Files,
    pub(super) scopes: Scopes<'a>,
    /// What the texts may import besides Warp and each other.
    pub(super) library: Option<&'a Library>,
    /// Whether some function takes arguments by reference.
    pub(super) has_references: bool,
    depth: Cell<usize>,
}

/// How many definitions may lead to each other.
const CHAIN_MAX: usize = 100;

impl<'a> Unit<'a> {
    pub(super) fn new(files: &'a Files, library: Option<&'a Library>) -> Self {
        let scopes = Scopes::read(files.texts.iter().map(|text| &*text.tree.body));
        let has_references = files.texts.iter().any(|text| text.text.contains("ref["));
        Self { files, scopes, library, has_references, depth: Cell::new(0) }
    }

    /// The text of a span of this unit.
    pub(super) fn quote(&self, span: Span) -> &'a str {
        self.files.quote(span)
    }

    pub(super) fn span(&self, node: &impl Ranged) -> Span {
        self.files.span(node)
    }

    pub(super) fn needs_python(&self, expr: &Expr, what: impl Into<String>) -> Box<Diagnostic> {
        Box::new(Diagnostic::error("needs-python-evaluation", self.span(expr), what.into()))
    }

    /// What an expression is, read in a scope.
    pub(super) fn known(&self, expr: &'a Expr, scope: ScopeId) -> Known<'a> {
        self.deeper(|| self.evaluate(expr, scope)).unwrap_or_else(|| {
            Err(self.needs_python(expr, "this is defined in terms of itself, or too far away"))
        })
    }

    /// Does something that definitions lead to; `None` if that is too far away.
    pub(super) fn deeper<T>(&self, run: impl FnOnce() -> T) -> Option<T> {
        if self.depth.get() > CHAIN_MAX {
            return None;
        }
        self.depth.set(self.depth.get() + 1);
        let result = run();
        self.depth.set(self.depth.get() - 1);
        Some(result)
    }

    fn evaluate(&self, expr: &'a Expr, scope: ScopeId) -> Known<'a> {
        match expr {
            Expr::NumberLiteral(number) => Ok(self.number(&number.value, expr)?),
            Expr::BooleanLiteral(value) => Ok(Static::Bool(value.value)),
            Expr::NoneLiteral(_) => Ok(Static::None),
            Expr::StringLiteral(text) => Ok(Static::Text(text.value.to_str().into())),
            Expr::Name(name) => self.name(name.id.as_str(), expr, scope),
            Expr::Attribute(attribute) => {
                let base = self.known(&attribute.value, scope)?;
                self.attribute(&base, attribute.attr.as_str(), expr)
            }
            Expr::Tuple(tuple) => self.sequence(&tuple.elts, scope),
            Expr::List(list) => self.sequence(&list.elts, scope),
            Expr::UnaryOp(unary) => {
                let operand = self.known(&unary.operand, scope)?;
                match (unary.op, operand) {
                    (UnaryOp::USub, Static::Int(value)) => Ok(Static::Int(value.wrapping_neg())),
                    (UnaryOp::USub, Static::Float(value)) => Ok(Static::Float(-value)),
                    (UnaryOp::UAdd, operand @ (Static::Int(_) | Static::Float(_))) => Ok(operand),
                    (UnaryOp::Invert, Static::Int(value)) => Ok(Static::Int(!value)),
                    (UnaryOp::Not, operand) => match operand.truth() {
                        Some(value) => Ok(Static::Bool(!value)),
                        None => {
                            Err(self.needs_python(expr, "only Python can tell whether this holds"))
                        }
                    },
                    (UnaryOp::USub, Static::Typed(literal)) => Ok(Static::Typed(negated(literal))),
                    _ => {
                        Err(self
                            .needs_python(expr, "this operation is only known when Python runs"))
                    }
                }
            }
            Expr::BinOp(binary) => {
                let left = self.known(&binary.left, scope)?;
                let right = self.known(&binary.right, scope)?;
                arithmetic(binary.op, &left, &right).ok_or_else(|| {
                    self.needs_python(
                        expr,
                        "the value of this operation is only known when Python runs",
                    )
                })
            }
            Expr::If(choice) => match self.known(&choice.test, scope)?.truth() {
                Some(true) => self.known(&choice.body, scope),
                Some(false) => self.known(&choice.orelse, scope),
                None => Err(self.needs_python(expr, "only Python can tell whether this holds")),
            },
            Expr::BoolOp(operation) => {
                let and = matches!(operation.op, super::syntax::BoolOp::And);
                let mut last = Static::Bool(and);
                for value in &operation.values {
                    last = self.known(value, scope)?;
                    if last.truth() != Some(and) {
                        break;
                    }
                }
                Ok(last)
            }
            Expr::Compare(compare) if compare.ops.len() == 1 => {
                let left = self.known(&compare.left, scope)?;
                let right = self.known(&compare.comparators[0], scope)?;
                compared(compare.ops[0], &left, &right).map(Static::Bool).ok_or_else(|| {
                    self.needs_python(expr, "this comparison is only known when Python runs")
                })
            }
            Expr::Subscript(subscript) => {
                self.subscript(&subscript.value, &subscript.slice, expr, scope)
            }
            Expr::Call(call) => self.call(&call.func, &call.arguments, expr, scope),
            _ => Err(self.needs_python(expr, "this expression is only known when Python runs")),
        }
    }

    pub(super) fn number(&self, number: &syntax::Number, expr: &Expr) -> Known<'a> {
        match number {
            syntax::Number::Float(value) => Ok(Static::Float(*value)),
            syntax::Number::Int(_) => syntax::integer(number).map(Static::Int).ok_or_else(|| {
                let message = "this integer has more than 128 bits";
                Box::new(Diagnostic::error("integer-too-large", self.span(expr), message))
            }),
            syntax::Number::Complex { .. } => {
                let message = "complex numbers are no part of the dialect";
                Err(Box::new(Diagnostic::error("unsupported-syntax", self.span(expr), message)))
            }
        }
    }

    fn sequence(&self, parts: &'a [Expr], scope: ScopeId) -> Known<'a> {
        let parts: Result<Vec<_>, _> = parts.iter().map(|part| self.known(part, scope)).collect();
        Ok(Static::Sequence(parts?.into()))
    }

    /// What a name is in a scope of Python.
    pub(super) fn name(&self, name: &str, expr: &Expr, scope: ScopeId) -> Known<'a> {
        let Some((definitions, home)) = self.scopes.lookup(scope, name) else {
            let text = self.scopes.text(scope);
            if let Some(known) = self.starred(text, name, expr) {
                return known;
            }
            let starred = !self.scopes.stars(text).is_empty();
            let starred = starred.then(|| starred_name(name)).flatten();
            return builtin_name(name).or(starred).ok_or_else(|| {
                let message = format!("`{name}` isn't defined");
                Box::new(Diagnostic::error("undefined-name", self.span(expr), message))
            });
        };
        // What was bound last before the use counts: kernels are compiled soon after they are defined.
        let at = syntax::start(expr);
        let before = definitions.iter().rev().find(|d| d.at < at);
        self.bound(definitions, before.copied(), name, expr, home)
    }

    /// What one of the bindings of a name makes it: this one, else the last.
    pub(super) fn bound(
        &self,
        definitions: &[Definition<'a>],
        this: Option<Definition<'a>>,
        name: &str,
        expr: &Expr,
        home: ScopeId,
    ) -> Known<'a> {
        let Some(definition) = this.or(definitions.last().copied()) else {
            return Err(self.needs_python(expr, format!("`{name}` is only known when Python runs")));
        };
        if definition.conditional && definitions.len() > 1 {
            let all: Vec<Known<'a>> =
                definitions.iter().map(|d| self.meaning(d.meaning, name, expr, home)).collect();
            let first = all.first().and_then(|first| first.as_ref().ok()).cloned();
            let equal = all.iter().all(|one| one.as_ref().ok() == first.as_ref());
            return match first {
                Some(first) if equal => Ok(first),
                _ => Err(self.needs_python(
                    expr,
                    format!("which binding of `{name}` counts is only known when Python runs"),
                )),
            };
        }
        self.meaning(definition.meaning, name, expr, home)
    }

    fn meaning(&self, meaning: Meaning<'a>, name: &str, expr: &Expr, home: ScopeId) -> Known<'a> {
        match meaning {
            Meaning::Import(path) => Ok(match self.files.target(self.scopes.text(home), 0, path) {
                Some(Ok(neighbour)) => Static::Neighbour(*neighbour),
                _ => Static::Module(canonical(path).into()),
            }),
            Meaning::ImportFrom(level, module, member) => {
                match self.files.target(self.scopes.text(home), level, module) {
                    Some(Ok(neighbour)) => return self.member(*neighbour, member, expr),
                    _ if level > 0 => {
                        return Err(self.not_found(home, level, module, self.span(expr)));
                    }
                    _ => {}
                }
                let module = canonical(module);
                let path = format!("{module}.{member}");
                self.attribute(&Static::Module(module.into()), member, expr)
                    .or(Ok(Static::Member(path.into())))
            }
            Meaning::Value(value) => {
                let known =
                    self.known(value, home).map_err(|fault| self.used(&fault, name, expr))?;
                Ok(match known {
                    Static::Function(family @ Family { before: None, .. })
                        if family.home == home =>
                    {
                        Static::Function(Family { before: Some(syntax::start(value)), ..family })
                    }
                    known => known,
                })
            }
            Meaning::Part(value, position) => {
                match self.known(value, home).map_err(|fault| self.used(&fault, name, expr))? {
                    Static::Sequence(parts) if position < parts.len() => {
                        Ok(parts[position].clone())
                    }
                    _ => {
                        Err(self
                            .needs_python(expr, format!("`{name}` is only known when Python runs")))
                    }
                }
            }
            Meaning::Function(def) => Ok(match self.role(def, home) {
                Role::Func => {
                    // The name as the tree spells it lives as long as the tree.
                    Static::Function(Family::all(home, def.name.as_str()))
                }
                _ => Static::Python(def, home),
            }),
            Meaning::Class(def, inner) => {
                let is_struct = def.decorator_list.iter().any(|decorator| {
                    self.path(&decorator.expression, home).as_deref() == Some("warp.struct")
                        || matches!(&decorator.expression, Expr::Call(call)
                            if self.path(&call.func, home).as_deref() == Some("warp.struct"))
                });
                Ok(if is_struct {
                    Static::Type(Annotation::Struct(inner))
                } else {
                    Static::Class(inner)
                })
            }
            Meaning::Argument => {
                let owner = match self.scopes.owner(home) {
                    Owner::Function(def) => def.name.as_str(),
                    Owner::Module | Owner::Class(_) => "",
                };
                let message =
                    format!("`{name}` is an argument of `{owner}`: only Python knows its value");
                Err(self.needs_python(expr, message))
            }
            Meaning::Runtime => {
                Err(self.needs_python(expr, format!("`{name}` is only known when Python runs")))
            }
        }
    }

    /// Moves a fault in a definition to the place that uses it.
    fn used(&self, fault: &Diagnostic, name: &str, expr: &Expr) -> Box<Diagnostic> {
        let mut moved = Diagnostic::error(fault.code, self.span(expr), fault.message.clone());
        if moved.code == "needs-python-evaluation" {
            moved.message = format!("the value of `{name}` is only known when Python runs");
        }
        Box::new(moved.label(fault.span(), "bound here"))
    }

    pub(super) fn attribute(&self, base: &Static<'a>, attr: &str, expr: &Expr) -> Known<'a> {
        match base {
            Static::Neighbour(neighbour) => self.member(*neighbour, attr, expr),
            Static::Module(path) => {
                let path: &str = path;
                if (path, attr) == ("warp", "wp") {
                    return Ok(base.clone());
                }
                if let Some(library) = self.library.filter(|library| library.name == path) {
                    return library.member(attr, self.quote(self.span(expr)), self.span(expr));
                }
                if matches!(path, "warp" | "math" | "numpy")
                    && attr != "float"
                    && attr != "int"
                    && let Some(value) = warp::number_named(attr)
                {
                    return Ok(Static::Float(value));
                }
                if matches!(path, "warp" | "typing" | "numpy")
                    && let Some(ty) = warp::type_named(attr)
                {
                    return Ok(Static::Type(ty));
                }
                if matches!((path, attr), ("warp", "types" | "math" | "context" | "utils")) {
                    return Ok(Static::Module("warp".into()));
                }
                let full = format!("{path}.{attr}");
                if matches!(
                    (path, attr),
                    ("warp", "fem" | "optim" | "sparse" | "render" | "config")
                ) {
                    return Ok(Static::Module(full.into()));
                }
                Ok(Static::Member(full.into()))
            }
            Static::Class(scope) => {
                let Some(definition) = self.scopes.own(*scope, attr).and_then(|d| d.last()) else {
                    let message = format!("the class has no `{attr}`");
                    return Err(self.needs_python(expr, message));
                };
                match definition.meaning {
                    Meaning::Value(value) => self.known(value, *scope),
                    _ => self.meaning(definition.meaning, attr, expr, *scope),
                }
            }
            // `IntEnum.A.value` is `IntEnum.A`.
            Static::Int(_) | Static::Bool(_) | Static::Float(_) if attr == "value" => {
                Ok(base.clone())
            }
            Static::Type(ty) => match (ty, attr) {
                (
                    Annotation::Vector(_, of)
                    | Annotation::Matrix(_, _, of)
                    | Annotation::Quaternion(of)
                    | Annotation::Transform(of)
                    | Annotation::Array(of, _),
                    "dtype" | "_wp_scalar_type_",
                ) => Ok(Static::Type((**of).clone())),
                (Annotation::Vector(Some(len), _), "length" | "_length_") => {
                    Ok(Static::Int((*len).into()))
                }
                _ => Err(self.needs_python(
                    expr,
                    format!("`{attr}` of a type is only known when Python runs"),
                )),
            },
            Static::Handle(_) => Err(library::no_attribute(self.library, attr, self.span(expr))),
            _ => Err(self.needs_python(expr, format!("`{attr}` is only known when Python runs"))),
        }
    }

    /// The dotted path of a name, import aliases resolved: `wp.kernel` is `warp.kernel`.
    pub(super) fn path(&self, expr: &'a Expr, scope: ScopeId) -> Option<Rc<str>> {
        match self.known(expr, scope).ok()? {
            Static::Member(path) | Static::Module(path) => Some(path),
            _ => None,
        }
    }

    fn subscript(
        &self,
        base: &'a Expr,
        index: &'a Expr,
        expr: &'a Expr,
        scope: ScopeId,
    ) -> Known<'a> {
        let value = self.known(base, scope)?;
        match &value {
            Static::Sequence(parts) => match self.known(index, scope)? {
                Static::Int(at) => {
                    let len = parts.len() as i128;
                    let at = if at < 0 { at + len } else { at };
                    usize::try_from(at).ok().and_then(|at| parts.get(at).cloned()).ok_or_else(
                        || self.needs_python(expr, "this index is outside the sequence"),
                    )
                }
                _ => Err(self.needs_python(expr, "this index is only known when Python runs")),
            },
            Static::Type(_) => self.annotation(expr, scope).map(Static::Type),
            Static::Member(path) if path.starts_with("warp.") || path.starts_with("typing.") => {
                self.annotation(expr, scope).map(Static::Type)
            }
            _ => Err(self.needs_python(expr, "this is only known when Python runs")),
        }
    }

    fn call(
        &self,
        func: &'a Expr,
        args: &'a Arguments,
        expr: &'a Expr,
        scope: ScopeId,
    ) -> Known<'a> {
        let unknown =
            || self.needs_python(expr, "the result of this call is only known when Python runs");
        let callee = self.known(func, scope)?;
        match &callee {
            Static::Member(path) => {
                let name = path.strip_prefix("warp.").unwrap_or("");
                if name == "constant" {
                    return args
                        .args
                        .first()
                        .map_or_else(|| Err(unknown()), |arg| self.known(arg, scope));
                }
                if warp::array_named(name).is_some()
                    || matches!(
                        name,
                        "vector"
                            | "matrix"
                            | "vec"
                            | "mat"
                            | "quaternion"
                            | "transformation"
                            | "fixedarray"
                    )
                {
                    return self.annotation(expr, scope).map(Static::Type);
                }
                if &**path == "builtins.len" {
                    if let Some(Ok(Static::Sequence(parts))) =
                        args.args.first().map(|arg| self.known(arg, scope))
                    {
                        return Ok(Static::Int(parts.len() as i128));
                    }
                    return Err(unknown());
                }
                let values: Result<Vec<_>, _> =
                    args.args.iter().map(|arg| self.known(arg, scope)).collect();
                python_function(path, &values?).ok_or_else(unknown)
            }
            Static::Type(Annotation::Scalar(scalar)) => {
                let is_python = matches!(func, Expr::Name(name) if matches!(name.id.as_str(), "int" | "float" | "bool"));
                let Some(arg) = args.args.first() else { return Err(unknown()) };
                let value = self.known(arg, scope)?;
                if is_python {
                    return match (scalar, value.as_f64()) {
                        (crate::ir::ty::Scalar::F32, Some(value)) => Ok(Static::Float(value)),
                        (crate::ir::ty::Scalar::I32, Some(number)) => Ok(match value {
                            Static::Int(value) => Static::Int(value),
                            _ => Static::Int(number as i128),
                        }),
                        _ => value.truth().map(Static::Bool).ok_or_else(unknown),
                    };
                }
                value.literal(*scalar).map(Static::Typed).ok_or_else(unknown)
            }
            Static::Type(
                Annotation::Quaternion(_)
                | Annotation::Transform(_)
                | Annotation::Vector(..)
                | Annotation::Matrix(..),
            ) if matches!(func, Expr::Attribute(a) if matches!(a.attr.as_str(), "quaternion" | "transformation"))
                && args.args.is_empty() =>
            {
                self.annotation(expr, scope).map(Static::Type)
            }
            Static::Type(
                ty @ (Annotation::Vector(..) | Annotation::Matrix(..) | Annotation::Quaternion(_)),
            ) => {
                let (of, count) = match ty {
                    Annotation::Vector(Some(len), of) => (of, usize::from(*len)),
                    Annotation::Matrix(Some(rows), Some(cols), of) => {
                        (of, usize::from(*rows) * usize::from(*cols))
                    }
                    Annotation::Quaternion(of) => (of, 4),
                    _ => return Err(unknown()),
                };
                let Annotation::Scalar(scalar) = **of else { return Err(unknown()) };
                let mut parts = Vec::new();
                for arg in &args.args {
                    match self.known(arg, scope)? {
                        Static::Sequence(inner) => parts.extend(inner.iter().cloned()),
                        part => parts.push(part),
                    }
                }
                let literals: Option<Vec<Literal>> =
                    parts.iter().map(|part| part.literal(scalar)).collect();
                let mut literals = literals.ok_or_else(unknown)?;
                if literals.is_empty() {
                    literals = vec![Literal::from_bits(scalar, 0); count];
                } else if literals.len() == 1 {
                    literals = vec![literals[0]; count];
                }
                if literals.len() != count || !args.keywords.is_empty() {
                    return Err(unknown());
                }
                Ok(Static::Composite(ty.clone(), literals.into()))
            }
            _ => Err(unknown()),
        }
    }
}

fn negated(literal: Literal) -> Literal {
    match literal.as_int() {
        Some(value) => Literal::int(literal.scalar(), -value),
        None => Literal::float(literal.scalar(), -literal.as_f64()),
    }
}
