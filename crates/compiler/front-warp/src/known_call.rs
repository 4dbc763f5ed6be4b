//! Results of calls that are known from the text: types, constants of types, Python's functions on
//! numbers.

use super::annotation::Annotation;
use super::arithmetic::{python_function, python_number};
use super::constant::{Evaluation, KnownValue, Unit};
use super::decorator::Role;
use super::warp;
use crate::overload_set::OverloadSet;
use gbxcule_ir::constant::Literal;
use gbxcule_ir::diagnostic::Diagnostic;
use gbxcule_python_names::ScopeId;
use gbxcule_python_names::syntax::{Arguments, Expr, Keyword};

impl<'a> Unit<'a> {
    /// Result of a call: of a type, or of a function whose meaning is known.
    pub(super) fn call(
        &self,
        func: &'a Expr,
        args: &'a Arguments,
        expr: &'a Expr,
        scope: ScopeId,
    ) -> Evaluation<'a> {
        let unknown = || self.unknown_result(expr);
        let callee = self.known(func, scope)?;
        match &callee {
            KnownValue::Member(path) => self.member_call(path, args, expr, scope),
            KnownValue::Python(def, home, around) => {
                self.python_call((def, *home, *around), args, expr, scope)?.ok_or_else(unknown)
            }
            KnownValue::Type(ty) => self.type_call(ty, func, args, expr, scope),
            _ => Err(unknown()),
        }
    }

    /// Values of the arguments that a call gives by position.
    fn known_args(
        &self,
        args: &'a Arguments,
        scope: ScopeId,
    ) -> Result<Vec<KnownValue<'a>>, Box<Diagnostic>> {
        args.args.iter().map(|arg| self.known(arg, scope)).collect()
    }

    /// Result of a call of a type.
    fn type_call(
        &self,
        ty: &Annotation,
        func: &'a Expr,
        args: &'a Arguments,
        expr: &'a Expr,
        scope: ScopeId,
    ) -> Evaluation<'a> {
        let unknown = || self.unknown_result(expr);
        match ty {
            Annotation::Tuple(None) if args.keywords.is_empty() => {
                let values = self.known_args(args, scope)?;
                python_function("builtins.tuple", &values).ok_or_else(unknown)
            }
            Annotation::Scalar(scalar) => {
                let is_python = matches!(func, Expr::Name(name) if matches!(name.id.as_str(), "int" | "float" | "bool"));
                let Some(arg) = args.args.first() else { return Err(unknown()) };
                let value = self.settled(self.known(arg, scope)?);
                if is_python && args.args.len() == 2 {
                    return self.python_result("builtins.int", args, expr, scope);
                }
                if is_python {
                    return python_number(*scalar, &value).ok_or_else(unknown);
                }
                value.literal(*scalar).map(KnownValue::Typed).ok_or_else(unknown)
            }
            Annotation::Quaternion(_)
            | Annotation::Transform(_)
            | Annotation::Vector(..)
            | Annotation::Matrix(..)
                if matches!(func, Expr::Attribute(a) if matches!(a.attr.as_str(), "quaternion" | "transformation"))
                    && args.args.is_empty() =>
            {
                self.annotation(expr, scope).map(KnownValue::Type)
            }
            Annotation::Vector(..)
            | Annotation::Matrix(..)
            | Annotation::Quaternion(_)
            | Annotation::Transform(_) => self.composite(ty, args, expr, scope),
            _ => Err(unknown()),
        }
    }

    fn unknown_result(&self, expr: &Expr) -> Box<Diagnostic> {
        self.needs_python(expr, "the result of this call is only known when Python runs")
    }

    /// Result of a function of a library.
    fn member_call(
        &self,
        path: &str,
        args: &'a Arguments,
        expr: &'a Expr,
        scope: ScopeId,
    ) -> Evaluation<'a> {
        const TYPES: [&str; 7] =
            ["vector", "matrix", "vec", "mat", "quaternion", "transformation", "fixedarray"];
        let unknown = || self.unknown_result(expr);
        let name = path.strip_prefix("warp.").unwrap_or("");
        if name == "func" {
            return self.device_function(args, scope)?.ok_or_else(unknown);
        }
        if name == "constant" {
            let first = args.args.first();
            return first.map_or_else(|| Err(unknown()), |arg| self.known(arg, scope));
        }
        if warp::array_named(name).is_some() || TYPES.contains(&name) {
            return self.annotation(expr, scope).map(KnownValue::Type);
        }
        if makes_array(name) {
            let message = "an array isn't known when a kernel is compiled";
            let help = "pass it as an argument of the launch";
            return Err(Box::new((*self.needs_python(expr, message)).help(help)));
        }
        self.python_result(path, args, expr, scope)
    }

    /// Result of a function of Python or NumPy on known values.
    fn python_result(
        &self,
        path: &str,
        args: &'a Arguments,
        expr: &'a Expr,
        scope: ScopeId,
    ) -> Evaluation<'a> {
        let unknown = || self.unknown_result(expr);
        // `strict` only checks lengths.
        let says_more = |it: &Keyword| it.arg.as_deref() != Some("strict");
        if args.keywords.iter().any(says_more) {
            return Err(unknown());
        }
        let values: Result<Vec<_>, _> = args
            .args
            .iter()
            .map(|arg| self.known(arg, scope).map(|value| self.settled(value)))
            .collect();
        let result = python_function(path, &values?).ok_or_else(unknown)?;
        if result.is_small() { Ok(result) } else { Err(super::memo::too_large(self.span(expr))) }
    }

    /// `wp.func(f)`, and `wp.func(module="unique")`, which is to be called with the function.
    fn device_function(
        &self,
        args: &'a Arguments,
        scope: ScopeId,
    ) -> Result<Option<KnownValue<'a>>, Box<Diagnostic>> {
        let is_known = |it: &Keyword| matches!(it.arg.as_deref(), Some("module" | "name"));
        if !args.keywords.iter().all(is_known) {
            return Ok(None);
        }
        let [given] = &*args.args else {
            let is_maker = args.args.is_empty();
            return Ok(is_maker.then(|| KnownValue::Member("warp.func".into())));
        };
        Ok(match self.known(given, scope)? {
            KnownValue::Python(def, home, around) if self.role(def, home) == Role::Python => {
                let family = OverloadSet::of_one(def, home, around);
                Some(KnownValue::Function(family))
            }
            _ => None,
        })
    }

    /// A vector, matrix, quaternion or transform of known numbers.
    fn composite(
        &self,
        ty: &Annotation,
        args: &'a Arguments,
        expr: &'a Expr,
        scope: ScopeId,
    ) -> Evaluation<'a> {
        let unknown = || self.unknown_result(expr);
        let (of, count) = match ty {
            Annotation::Vector(Some(len), of) => (of, usize::from(*len)),
            Annotation::Matrix(Some(rows), Some(cols), of) => {
                (of, usize::from(*rows) * usize::from(*cols))
            }
            Annotation::Quaternion(of) => (of, 4),
            // Python's `wp.transform()` does not turn, that of kernels is all zeros.
            Annotation::Transform(of) if !args.is_empty() => (of, 7),
            _ => return Err(unknown()),
        };
        let Annotation::Scalar(scalar) = **of else { return Err(unknown()) };
        let mut parts = Vec::new();
        let keywords = match ty {
            Annotation::Transform(_) => transform_keywords(args).ok_or_else(unknown)?,
            _ if args.keywords.is_empty() => Vec::new(),
            _ => return Err(unknown()),
        };
        for arg in args.args.iter().chain(keywords) {
            let arg = match arg {
                Expr::Starred(starred) => &*starred.value,
                arg => arg,
            };
            flatten(self.known(arg, scope)?, &mut parts);
        }
        let literals: Option<Vec<Literal>> =
            parts.iter().map(|part| part.literal(scalar)).collect();
        let mut literals = literals.ok_or_else(unknown)?;
        if literals.is_empty() {
            literals = vec![Literal::from_bits(scalar, 0); count];
        } else if literals.len() == 1 {
            literals = vec![literals[0]; count];
        } else if literals.len() == 3 && count == 7 {
            // A transform without a rotation has the identity.
            literals.extend([0, 0, 0, 1].map(|part| Literal::int(scalar, part)));
        }
        if literals.len() != count {
            return Err(unknown());
        }
        Ok(KnownValue::Composite(ty.clone(), literals.into()))
    }
}

/// Values of `p=..` and `q=..` of a transform, in this order; `None` if others are named.
fn transform_keywords(args: &Arguments) -> Option<Vec<&Expr>> {
    let missing = ["p", "q"].into_iter().skip(args.args.len());
    let found: Vec<&Expr> = missing
        .filter_map(|name| args.keywords.iter().find(|it| it.arg.as_deref() == Some(name)))
        .map(|keyword| &keyword.value)
        .collect();
    (found.len() == args.keywords.len()).then_some(found)
}

/// Adds the parts of a sequence, and of those in it.
fn flatten<'a>(value: KnownValue<'a>, parts: &mut Vec<KnownValue<'a>>) {
    match value {
        KnownValue::Sequence(inner) => inner.iter().for_each(|part| flatten(part.clone(), parts)),
        // Of vectors a matrix is made by rows.
        KnownValue::Composite(_, own) => {
            parts.extend(own.iter().map(|part| KnownValue::Typed(*part)));
        }
        part => parts.push(part),
    }
}

/// Returns true for functions of Warp that make arrays.
fn makes_array(name: &str) -> bool {
    let name = name.strip_suffix("_like").unwrap_or(name);
    matches!(name, "zeros" | "ones" | "empty" | "full" | "from_numpy" | "from_torch" | "clone")
}
