//! The evaluator: values of Python's expressions, as far as the text alone says them. Nothing runs;
//! an expression whose value needs a run is refused with `needs-python-evaluation`.

use crate::arithmetic::{arithmetic, compared};
use crate::dialect::{Call, Dialect, Evaluation, Known};
use crate::frame::Frames;
use crate::value::KnownValue;
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::source::Span;
use gbxcule_python_names::syntax::{
    self, BoolOp, CmpOp, DictItem, Expr, ExprCompare, ExprDict, Number, Operator, Ranged, UnaryOp,
};
use gbxcule_python_names::{Files, ScopeId, Scopes};
use std::cell::Cell;
use std::rc::Rc;

/// Greatest depth of nested evaluations of expressions and definitions.
const MAX_LEVELS: usize = 2000;

/// Evaluates the expressions of a program.
pub struct Evaluator<'a, D: Dialect<'a>> {
    /// Files of the program.
    pub files: &'a Files,
    /// Scopes of the files.
    pub scopes: Scopes<'a>,
    /// Values that names have for a while.
    pub frames: Frames<'a, D::Value>,
    /// Dialect of the texts.
    pub dialect: D,
    /// Number of definitions and expressions that are being evaluated.
    level: Cell<usize>,
}

impl<'a, D: Dialect<'a>> Evaluator<'a, D> {
    /// Makes the evaluator of a program.
    pub fn new(files: &'a Files, dialect: D) -> Self {
        let scopes = Scopes::new(files, files.given_texts().collect());
        Self { files, scopes, frames: Frames::default(), dialect, level: Cell::default() }
    }

    /// Returns the text of a span.
    pub fn quote(&self, span: Span) -> &'a str {
        self.files.quote(span)
    }

    /// Returns the place of a node.
    pub fn span(&self, node: &impl Ranged) -> Span {
        self.files.span(node)
    }

    /// Diagnostic for a value that only Python knows.
    pub fn needs_python(&self, expr: &Expr, message: impl Into<String>) -> Box<Diagnostic> {
        Box::new(Diagnostic::error(Code::NeedsPythonEvaluation, self.span(expr), message.into()))
    }

    /// Evaluates an expression in a scope.
    pub fn known(&self, expr: &'a Expr, scope: ScopeId) -> Evaluation<'a, D> {
        self.with_depth_limit(self.span(expr), || self.evaluate(expr, scope))
    }

    /// Runs one level deeper, and refuses levels beyond the limit.
    pub(crate) fn with_depth_limit(
        &self,
        span: Span,
        run: impl FnOnce() -> Evaluation<'a, D>,
    ) -> Evaluation<'a, D> {
        let level = self.level.get();
        if level >= MAX_LEVELS {
            let message = format!(
                "more than {MAX_LEVELS} definitions and expressions lead to each other here"
            );
            return Err(Box::new(Diagnostic::error(Code::TooComplex, span, message)));
        }
        self.level.set(level + 1);
        let result = with_stack(run);
        self.level.set(level);
        result
    }

    fn evaluate(&self, expr: &'a Expr, scope: ScopeId) -> Evaluation<'a, D> {
        match expr {
            Expr::NumberLiteral(number) => self.number(&number.value, expr),
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
                let and = matches!(operation.op, BoolOp::And);
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
            Expr::Call(call) => {
                let callee = &self.known(&call.func, scope)?;
                let (func, args) = (&*call.func, &call.arguments);
                self.call(&Call { callee, func, args, expr, scope })
            }
            _ => Err(self.needs_python(expr, "this expression is only known when Python runs")),
        }
    }

    /// Replaces a value of which only the name is known by a number, if the dialect has one for it.
    pub fn settled(&self, value: Known<'a, D>) -> Known<'a, D> {
        D::settled(self, value)
    }

    /// Result of an operator on known operands.
    pub fn operation(
        &self,
        op: Operator,
        left: &Known<'a, D>,
        right: &Known<'a, D>,
        expr: &Expr,
    ) -> Evaluation<'a, D> {
        arithmetic(op, left, right).ok_or_else(|| {
            self.needs_python(expr, "the value of this operation is only known when Python runs")
        })
    }

    /// Evaluates a chain of comparisons up to the first comparison that does not hold.
    fn comparisons(
        &self,
        compare: &'a ExprCompare,
        expr: &'a Expr,
        scope: ScopeId,
    ) -> Evaluation<'a, D> {
        let mut left = self.known(&compare.left, scope)?;
        for (op, right) in compare.ops.iter().zip(&compare.comparators) {
            let right = self.known(right, scope)?;
            if !self.comparison(*op, left, right.clone(), expr)? {
                return Ok(KnownValue::Bool(false));
            }
            left = right;
        }
        Ok(KnownValue::Bool(true))
    }

    fn comparison(
        &self,
        op: CmpOp,
        left: Known<'a, D>,
        right: Known<'a, D>,
        expr: &Expr,
    ) -> Result<bool, Box<Diagnostic>> {
        compared(op, &self.settled(left), &self.settled(right)).ok_or_else(|| {
            self.needs_python(expr, "this comparison is only known when Python runs")
        })
    }

    fn dictionary(&self, dict: &'a ExprDict, expr: &'a Expr, scope: ScopeId) -> Evaluation<'a, D> {
        let unknown = || self.needs_python(expr, "`**` is only known when Python runs");
        let item = |item: &'a DictItem| {
            let key = item.key.as_ref().ok_or_else(unknown)?;
            Ok((self.known(key, scope)?, self.known(&item.value, scope)?))
        };
        let items: Result<Vec<_>, Box<Diagnostic>> = dict.items.iter().map(item).collect();
        KnownValue::Dict(items?.into()).checked(self.span(expr))
    }

    fn unary(&self, op: UnaryOp, operand: Known<'a, D>, expr: &Expr) -> Evaluation<'a, D> {
        match (op, operand) {
            (UnaryOp::USub, KnownValue::Int(value)) => Ok(KnownValue::Int(value.wrapping_neg())),
            (UnaryOp::USub, KnownValue::Float(value)) => Ok(KnownValue::Float(-value)),
            (UnaryOp::UAdd, operand @ (KnownValue::Int(_) | KnownValue::Float(_))) => Ok(operand),
            (UnaryOp::Not, operand) => match operand.truth() {
                Some(value) => Ok(KnownValue::Bool(!value)),
                None => Err(self.needs_python(expr, "only Python can tell whether this holds")),
            },
            _ => Err(self.needs_python(expr, "this operation is only known when Python runs")),
        }
    }

    /// Value of a number as the text writes it.
    pub fn number(&self, number: &Number, expr: &Expr) -> Evaluation<'a, D> {
        match number {
            Number::Float(value) => Ok(KnownValue::Float(*value)),
            Number::Int(_) => syntax::integer(number).map(KnownValue::Int).ok_or_else(|| {
                let message = "this integer has more than 128 bits";
                Box::new(Diagnostic::error(Code::IntegerTooLarge, self.span(expr), message))
            }),
            Number::Complex { .. } => {
                let message = "complex numbers aren't part of the dialect";
                Err(Box::new(Diagnostic::error(Code::UnsupportedSyntax, self.span(expr), message)))
            }
        }
    }

    fn sequence(&self, parts: &'a [Expr], scope: ScopeId) -> Evaluation<'a, D> {
        let values: Result<Vec<_>, _> = parts.iter().map(|part| self.known(part, scope)).collect();
        let span = parts.first().map_or(Span::NONE, |part| self.span(part));
        KnownValue::Sequence(values?.into()).checked(span)
    }

    /// Dotted path of a name with its import aliases resolved: `wp.kernel` is `warp.kernel`.
    pub fn path(&self, expr: &'a Expr, scope: ScopeId) -> Option<Rc<str>> {
        match self.known(expr, scope).ok()? {
            KnownValue::Member(path) | KnownValue::Module(path) => Some(path),
            _ => None,
        }
    }
}

/// Runs with enough stack for one more level of a tree.
pub fn with_stack<T>(run: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, run)
}
