//! Values of Python's own expressions, as far as the text alone says them: constants, types,
//! functions. Nothing is run; what would need that is refused with `needs-python-evaluation`.

use super::annotation::{Annotation, StructKey};
use super::arithmetic::{arithmetic, as_int, compared};
use super::decorator::Role;
use super::frame::{FrameId, Frames};
use super::library::Library;
use super::reference::References;
use super::trial::Trials;
use super::warp::{builtin_name, starred_name};
use crate::overload_set::OverloadSet;
use gbxcule_ir::constant::Literal;
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::source::Span;
use gbxcule_python_names::canonical;
use gbxcule_python_names::syntax::{
    self, CmpOp, DictItem, Expr, ExprCompare, ExprDict, Operator, Ranged, StmtClassDef,
    StmtFunctionDef, UnaryOp,
};
use gbxcule_python_names::{BindingSource, Owner, ScopeId, Scopes};
use gbxcule_python_names::{Content, Files};
use std::cell::Cell;
use std::rc::Rc;

/// A value known without running Python.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum KnownValue<'a> {
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
    Sequence(Rc<[KnownValue<'a>]>),
    Type(Annotation),
    /// A module by its path: `warp`, `math`, `numpy`, or any other that is not a file beside the
    /// text.
    Module(Rc<str>),
    /// A module in a file beside the text, by its number.
    ImportedModule(usize),
    /// `path` of a module, not a type or constant: mostly a function.
    Member(Rc<str>),
    Function(OverloadSet<'a>),
    /// `{key: value}`
    Dict(Rc<[(KnownValue<'a>, KnownValue<'a>)]>),
    /// Any other function: its scope, and the call of the function around it that made it.
    Python(&'a StmtFunctionDef, ScopeId, FrameId),
    /// A class that is not a struct: a namespace.
    Class(ScopeId),
    /// A value of the library's type, by the first parameter that stands for it.
    Handle(u32),
}

pub(super) type Evaluation<'a> = Result<KnownValue<'a>, Box<Diagnostic>>;

/// The texts of a program with their scopes.
pub(super) struct Unit<'a> {
    pub(super) files: &'a Files,
    pub(super) scopes: Scopes<'a>,
    /// Library that the texts may import besides Warp and each other.
    pub(super) library: Option<&'a Library>,
    pub(super) references: Rc<References<'a>>,
    pub(super) frames: Frames<'a>,
    pub(super) trials: Trials<'a>,
    /// Number of definitions and expressions that are being evaluated.
    pub(super) level: Cell<usize>,
}

impl<'a> Unit<'a> {
    pub(super) fn new(files: &'a Files, library: Option<&'a Library>) -> Self {
        let scopes = Scopes::new(files, files.given_texts().collect());
        let references = Rc::new(References::read(files));
        let (frames, trials, level) = (Frames::default(), Trials::default(), Cell::default());
        Self { files, scopes, library, references, frames, trials, level }
    }

    /// The text of a span of this unit.
    pub(super) fn quote(&self, span: Span) -> &'a str {
        self.files.quote(span)
    }

    pub(super) fn span(&self, node: &impl Ranged) -> Span {
        self.files.span(node)
    }

    pub(super) fn needs_python(&self, expr: &Expr, what: impl Into<String>) -> Box<Diagnostic> {
        Box::new(Diagnostic::error(Code::NeedsPythonEvaluation, self.span(expr), what.into()))
    }

    /// Evaluates an expression, read in a scope.
    pub(super) fn known(&self, expr: &'a Expr, scope: ScopeId) -> Evaluation<'a> {
        self.with_depth_limit(self.span(expr), || self.evaluate(expr, scope))
    }

    fn evaluate(&self, expr: &'a Expr, scope: ScopeId) -> Evaluation<'a> {
        match expr {
            Expr::NumberLiteral(number) => Ok(self.number(&number.value, expr)?),
            Expr::BooleanLiteral(value) => Ok(KnownValue::Bool(value.value)),
            Expr::NoneLiteral(_) => Ok(KnownValue::None),
            Expr::StringLiteral(text) => Ok(KnownValue::Text(text.value.to_str().into())),
            Expr::Name(name) => self.name(name.id.as_str(), expr, scope),
            Expr::Attribute(attribute) => {
                let base = self.known(&attribute.value, scope);
                base.and_then(|base| self.attribute(&base, attribute.attr.as_str(), expr))
                    .or_else(|fault| self.of_receiver(expr, fault))
            }
            Expr::Tuple(tuple) => self.sequence(&tuple.elts, scope),
            Expr::List(list) => self.sequence(&list.elts, scope),
            Expr::Dict(dict) => self.dictionary(dict, expr, scope),
            Expr::ListComp(it) => self.comprehension(&it.elt, &it.generators, expr, scope),
            Expr::Generator(it) => self.comprehension(&it.elt, &it.generators, expr, scope),
            Expr::UnaryOp(unary) => {
                let operand = self.known(&unary.operand, scope)?;
                self.unary(unary.op, operand, expr)
            }
            Expr::BinOp(binary) => {
                let left = self.settled(self.known(&binary.left, scope)?);
                let right = self.settled(self.known(&binary.right, scope)?);
                self.operation(binary.op, &left, &right, expr)
            }
            Expr::If(choice) => match self.known(&choice.test, scope)?.truth() {
                Some(true) => self.known(&choice.body, scope),
                Some(false) => self.known(&choice.orelse, scope),
                None => Err(self.needs_python(expr, "only Python can tell whether this holds")),
            },
            Expr::BoolOp(operation) => {
                let and = matches!(operation.op, syntax::BoolOp::And);
                let mut last = KnownValue::Bool(and);
                for value in &operation.values {
                    last = self.known(value, scope)?;
                    if last.truth() != Some(and) {
                        break;
                    }
                }
                Ok(last)
            }
            Expr::Compare(compare) => self.comparisons(compare, expr, scope),
            Expr::Subscript(subscript) => {
                self.subscript(&subscript.value, &subscript.slice, expr, scope)
            }
            Expr::Call(call) => self.call(&call.func, &call.arguments, expr, scope),
            _ => Err(self.needs_python(expr, "this expression is only known when Python runs")),
        }
    }

    /// Result of an operator on known operands.
    pub(super) fn operation(
        &self,
        op: Operator,
        left: &KnownValue<'a>,
        right: &KnownValue<'a>,
        expr: &Expr,
    ) -> Evaluation<'a> {
        arithmetic(op, left, right).ok_or_else(|| {
            self.needs_python(expr, "the value of this operation is only known when Python runs")
        })
    }

    /// A chain of comparisons, up to the first that does not hold.
    fn comparisons(
        &self,
        compare: &'a ExprCompare,
        expr: &'a Expr,
        scope: ScopeId,
    ) -> Evaluation<'a> {
        let mut left = self.known(&compare.left, scope)?;
        for (op, right) in compare.ops.iter().zip(&compare.comparators) {
            let right = self.known(right, scope)?;
            if self.comparison(*op, left, right.clone(), expr)? == KnownValue::Bool(false) {
                return Ok(KnownValue::Bool(false));
            }
            left = right;
        }
        Ok(KnownValue::Bool(true))
    }

    fn dictionary(&self, dict: &'a ExprDict, expr: &'a Expr, scope: ScopeId) -> Evaluation<'a> {
        let unknown = || self.needs_python(expr, "`**` is only known when Python runs");
        let item = |item: &'a DictItem| {
            let key = item.key.as_ref().ok_or_else(unknown)?;
            Ok((self.known(key, scope)?, self.known(&item.value, scope)?))
        };
        let items: Result<Vec<_>, Box<Diagnostic>> = dict.items.iter().map(item).collect();
        let dict = KnownValue::Dict(items?.into());
        if dict.is_small() { Ok(dict) } else { Err(super::memo::too_large(self.span(expr))) }
    }

    fn comparison(
        &self,
        op: CmpOp,
        left: KnownValue<'a>,
        right: KnownValue<'a>,
        expr: &Expr,
    ) -> Evaluation<'a> {
        if let Some(known) = python_version(op, &left, &right) {
            return Ok(KnownValue::Bool(known));
        }
        let (left, right) = (self.settled(left), self.settled(right));
        compared(op, &left, &right).map(KnownValue::Bool).ok_or_else(|| {
            self.needs_python(expr, "this comparison is only known when Python runs")
        })
    }

    fn unary(&self, op: UnaryOp, operand: KnownValue<'a>, expr: &Expr) -> Evaluation<'a> {
        match (op, operand) {
            (UnaryOp::USub, KnownValue::Int(value)) => Ok(KnownValue::Int(value.wrapping_neg())),
            (UnaryOp::USub, KnownValue::Float(value)) => Ok(KnownValue::Float(-value)),
            (UnaryOp::UAdd, operand @ (KnownValue::Int(_) | KnownValue::Float(_))) => Ok(operand),
            (UnaryOp::Invert, KnownValue::Int(value)) => Ok(KnownValue::Int(!value)),
            (UnaryOp::Not, operand) => match operand.truth() {
                Some(value) => Ok(KnownValue::Bool(!value)),
                None => Err(self.needs_python(expr, "only Python can tell whether this holds")),
            },
            (UnaryOp::USub, KnownValue::Typed(literal)) => Ok(KnownValue::Typed(negated(literal))),
            _ => Err(self.needs_python(expr, "this operation is only known when Python runs")),
        }
    }

    pub(super) fn number(&self, number: &syntax::Number, expr: &Expr) -> Evaluation<'a> {
        match number {
            syntax::Number::Float(value) => Ok(KnownValue::Float(*value)),
            syntax::Number::Int(_) => {
                syntax::integer(number).map(KnownValue::Int).ok_or_else(|| {
                    let message = "this integer has more than 128 bits";
                    Box::new(Diagnostic::error(Code::IntegerTooLarge, self.span(expr), message))
                })
            }
            syntax::Number::Complex { .. } => {
                let message = "complex numbers are no part of the dialect";
                Err(Box::new(Diagnostic::error(Code::UnsupportedSyntax, self.span(expr), message)))
            }
        }
    }

    /// Value that the user gives to a name by `--define`.
    pub(super) fn defined(&self, name: &str, expr: &Expr) -> Option<Evaluation<'a>> {
        let (text, place) = self.files.defined(name)?;
        let root = self.scopes.root(*text);
        let definitions = self.scopes.bindings_in(root, place)?;
        Some(self.with_depth_limit(self.span(expr), || self.bound(definitions, name, expr, root)))
    }

    fn sequence(&self, parts: &'a [Expr], scope: ScopeId) -> Evaluation<'a> {
        let known: Result<Vec<_>, _> = parts.iter().map(|part| self.known(part, scope)).collect();
        let sequence = KnownValue::Sequence(known?.into());
        match (sequence.is_small(), parts.first()) {
            (false, Some(part)) => Err(super::memo::too_large(self.span(part))),
            _ => Ok(sequence),
        }
    }

    /// Resolves a name in a scope of Python.
    pub(super) fn name(&self, name: &str, expr: &Expr, scope: ScopeId) -> Evaluation<'a> {
        if let Some(known) = self.local_value(scope, name, syntax::start(expr)) {
            return Ok(known);
        }
        let bound = self.scopes.lookup(scope, name);
        // The target of a comprehension is bound nowhere else.
        if bound.is_none_or(|(_, home)| home != scope)
            && let Some(known) = self.framed_value(scope, name)
        {
            return Ok(known);
        }
        let Some((definitions, home)) = bound else {
            let text = self.scopes.text(scope);
            if let Some(known) = self.starred(text, name, expr) {
                return known;
            }
            let starred = !self.scopes.stars(text).is_empty();
            let starred = starred.then(|| starred_name(name)).flatten();
            if let Some(known) = self.defined(name, expr) {
                return known;
            }
            return builtin_name(name).or(starred).ok_or_else(|| {
                let message = format!("`{name}` isn't defined");
                Box::new(Diagnostic::error(Code::UndefinedName, self.span(expr), message))
            });
        };
        // What was bound last before the use counts: kernels are compiled soon after they are
        // defined.
        let at = syntax::start(expr);
        let before = definitions.iter().rposition(|definition| definition.since <= at);
        let last = before.unwrap_or(definitions.len().saturating_sub(1));
        // A round of a loop sees what the one before it bound.
        let bound_later = &definitions[(last + 1).min(definitions.len())..];
        if before.is_some() && bound_later.iter().any(|it| it.loop_begin <= at) {
            let message = format!("`{name}` is bound again in a loop: only Python knows its value");
            let defined = self.defined(name, expr);
            return defined.unwrap_or_else(|| Err(self.needs_python(expr, message)));
        }
        let known =
            self.unchanged(self.bound(&definitions[..=last], name, expr, home), name, home, expr);
        known.or_else(|fault| {
            let defined = self.defined(name, expr);
            defined.unwrap_or_else(|| self.trial(name, home).ok_or(fault))
        })
    }

    pub(super) fn evaluate_source(
        &self,
        source: BindingSource<'a>,
        name: &str,
        expr: &Expr,
        home: ScopeId,
    ) -> Evaluation<'a> {
        match source {
            BindingSource::Import(path) => Ok(self.imported(path, home)),
            BindingSource::ImportFrom(level, module, member) => {
                self.imported_from(level, module, member, expr, home)
            }
            BindingSource::Value(value) => {
                let known =
                    self.known(value, home).map_err(|fault| self.used(&fault, name, expr))?;
                Ok(match known {
                    KnownValue::Function(family @ OverloadSet { before: None, .. })
                        if family.home == home =>
                    {
                        KnownValue::Function(OverloadSet {
                            before: Some(syntax::start(value)),
                            ..family
                        })
                    }
                    known => known,
                })
            }
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
            BindingSource::Function(def) => Ok(match self.role(def, home) {
                Role::Func | Role::Native => {
                    // The name as the tree spells it lives as long as the tree.
                    let frame = self.frame_of(home);
                    KnownValue::Function(OverloadSet::all(home, def.name.as_str(), frame))
                }
                _ => KnownValue::Python(def, home, self.frame_of(home)),
            }),
            BindingSource::Class(def, inner) => Ok(self.class(def, inner, home)),
            BindingSource::Argument => self.bound_argument(name, expr, home),
            BindingSource::Runtime => self.runtime_value(name, expr, home),
        }
    }

    /// A value that exists when Python runs: known where the caller was called with it.
    fn runtime_value(&self, name: &str, expr: &Expr, home: ScopeId) -> Evaluation<'a> {
        if let Some(known) = self.framed_value(home, name) {
            return Ok(known);
        }
        let message = format!("`{name}` is only known when Python runs");
        let mut fault = self.needs_python(expr, message);
        fault.help = self.value_advice(name);
        Err(fault)
    }

    /// `import path`.
    fn imported(&self, path: &str, home: ScopeId) -> KnownValue<'a> {
        match self.files.target(self.scopes.text(home), 0, path) {
            Some(Ok(imported_module)) => KnownValue::ImportedModule(*imported_module),
            _ => KnownValue::Module(canonical(path).into()),
        }
    }

    /// `from module import member`, with `level` dots in front of the module.
    fn imported_from(
        &self,
        level: u32,
        module: &str,
        member: &str,
        expr: &Expr,
        home: ScopeId,
    ) -> Evaluation<'a> {
        match self.files.target(self.scopes.text(home), level, module) {
            Some(Ok(imported_module)) => {
                let named = &self.files.imported_modules[*imported_module];
                // `from . import shape` in a package's own `__init__` means the module.
                let text = self.scopes.text(home);
                if matches!(named.content, Content::Text(own) if own == text)
                    && let Some(&child) = named.children.get(member)
                {
                    return Ok(KnownValue::ImportedModule(child));
                }
                return self.member(*imported_module, member, expr);
            }
            _ if level > 0 => {
                return Err(self.not_found(home, level, module, self.span(expr)));
            }
            _ => {}
        }
        let module = canonical(module);
        let path = format!("{module}.{member}");
        self.attribute(&KnownValue::Module(module.into()), member, expr)
            .or(Ok(KnownValue::Member(path.into())))
    }

    /// A class: a struct of the dialect, another type, or a class of Python.
    fn class(&self, def: &'a StmtClassDef, inner: ScopeId, home: ScopeId) -> KnownValue<'a> {
        let is_struct = def.decorator_list.iter().any(|decorator| {
            self.path(&decorator.expression, home).as_deref() == Some("warp.struct")
                || matches!(&decorator.expression, Expr::Call(call)
                    if self.path(&call.func, home).as_deref() == Some("warp.struct"))
        });
        if is_struct {
            let key = StructKey { class: inner, frame: self.frame_of(inner) };
            return KnownValue::Type(Annotation::Struct(key));
        }
        // A class that is said to be a type, such as `class vec5(wp.types.vector(5, float))`, is
        // that type.
        match def.bases() {
            [base] => match self.known(base, home) {
                Ok(KnownValue::Type(ty)) if !matches!(ty, Annotation::Scalar(_)) => {
                    KnownValue::Type(ty)
                }
                _ => KnownValue::Class(inner),
            },
            _ => KnownValue::Class(inner),
        }
    }

    /// An argument of a function of Python that makes kernels.
    fn bound_argument(&self, name: &str, expr: &Expr, home: ScopeId) -> Evaluation<'a> {
        if let Some(known) = self.framed_value(home, name) {
            return Ok(known);
        }
        let owner = match self.scopes.owner(home) {
            Owner::Function(def) => def.name.as_str(),
            Owner::Module | Owner::Class(_) => "",
        };
        let path = format!("{owner}.{name}");
        if let Some(known) = self.defined(&path, expr) {
            return known;
        }
        let message = format!("`{name}` is an argument of `{owner}`: only Python knows its value");
        let mut fault = self.needs_python(expr, message);
        fault.help = self.value_advice(&path);
        Err(fault)
    }

    /// Says how the user gives a value that the text doesn't know.
    pub(super) fn value_advice(&self, path: &str) -> Option<String> {
        if self.files.takes_options {
            return Some(format!("`gbxcule compile --define {path}=VALUE` says it"));
        }
        self.files.is_beside.then(|| "write the value itself into the text".to_owned())
    }

    /// Moves a fault in a definition to the place that uses it.
    fn used(&self, fault: &Diagnostic, name: &str, expr: &Expr) -> Box<Diagnostic> {
        let mut moved = Diagnostic::error(fault.code, self.span(expr), fault.message.clone());
        if moved.code == Code::NeedsPythonEvaluation {
            moved.message = format!("the value of `{name}` is only known when Python runs");
            let advice = fault.help.clone().filter(|help| !help.contains("--define"));
            moved.help = advice.or_else(|| self.value_advice(name));
        }
        Box::new(moved.label(fault.span(), "bound here"))
    }

    /// The dotted path of a name, import aliases resolved: `wp.kernel` is `warp.kernel`.
    pub(super) fn path(&self, expr: &'a Expr, scope: ScopeId) -> Option<Rc<str>> {
        match self.known(expr, scope).ok()? {
            KnownValue::Member(path) | KnownValue::Module(path) => Some(path),
            _ => None,
        }
    }
}

/// Answer of a comparison with `sys.version_info`: Warp needs Python 3.9.
fn python_version(op: CmpOp, left: &KnownValue<'_>, right: &KnownValue<'_>) -> Option<bool> {
    let (KnownValue::Member(path), KnownValue::Sequence(parts)) = (left, right) else {
        return None;
    };
    let version: Vec<i128> = parts.iter().map(as_int).collect::<Option<_>>()?;
    let is_older = version < vec![3, 9] || version == [3, 9];
    match op {
        CmpOp::Gt | CmpOp::GtE if &**path == "sys.version_info" && is_older => Some(true),
        CmpOp::Lt | CmpOp::LtE if &**path == "sys.version_info" && is_older => Some(false),
        _ => None,
    }
}

fn negated(literal: Literal) -> Literal {
    match literal.as_int() {
        Some(value) => Literal::int(literal.scalar(), -value),
        None => Literal::float(literal.scalar(), -literal.as_f64()),
    }
}
