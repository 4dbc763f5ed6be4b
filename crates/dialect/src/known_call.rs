//! Results of calls that are known from the text: types, constants of types, Python's functions on
//! numbers.

use super::annotation::Annotation;
use super::arithmetic::{python_function, python_number};
use super::constant::{Evaluation, KnownValue, Unit};
use super::decorator::Role;
use super::scope::{OverloadSet, ScopeId};
use super::sequence::{self, dictionary_method};
use super::syntax::{Arguments, Expr, Keyword};
use super::warp;
use gbxcule_ir::constant::Literal;
use gbxcule_ir::diagnostic::Diagnostic;
use gbxcule_ir::ty::Scalar;
use std::rc::Rc;

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
        if let Expr::Attribute(method) = func
            && matches!(method.attr.as_str(), "keys" | "values" | "items" | "get")
            && let Ok(KnownValue::Dict(items)) = self.known(&method.value, scope)
        {
            let values: Result<Vec<_>, _> =
                args.args.iter().map(|arg| self.known(arg, scope)).collect();
            let known = dictionary_method(&items, &method.attr, &values?);
            return known.filter(|_| args.keywords.is_empty()).ok_or_else(unknown);
        }
        if let Some(result) = self.method_call(func, args, expr, scope) {
            return result;
        }
        let callee = self.known(func, scope)?;
        match &callee {
            KnownValue::Member(path) => self.member_call(path, args, expr, scope),
            KnownValue::Type(Annotation::Tuple(None)) if args.keywords.is_empty() => {
                let values: Result<Vec<_>, _> =
                    args.args.iter().map(|arg| self.known(arg, scope)).collect();
                python_function("builtins.tuple", &values?).ok_or_else(unknown)
            }
            KnownValue::Class(class) => self.made(*class, args, expr, scope)?.ok_or_else(unknown),
            KnownValue::Python(def, home) => {
                self.python_call(def, *home, args, expr, scope)?.ok_or_else(unknown)
            }
            KnownValue::Type(Annotation::Scalar(scalar)) => {
                let is_python = matches!(func, Expr::Name(name) if matches!(name.id.as_str(), "int" | "float" | "bool"));
                let Some(arg) = args.args.first() else { return Err(unknown()) };
                let value = self.settled(self.known(arg, scope)?);
                if is_python {
                    return python_number(*scalar, &value).ok_or_else(unknown);
                }
                value.literal(*scalar).map(KnownValue::Typed).ok_or_else(unknown)
            }
            KnownValue::Type(
                Annotation::Quaternion(_)
                | Annotation::Transform(_)
                | Annotation::Vector(..)
                | Annotation::Matrix(..),
            ) if matches!(func, Expr::Attribute(a) if matches!(a.attr.as_str(), "quaternion" | "transformation"))
                && args.args.is_empty() =>
            {
                self.annotation(expr, scope).map(KnownValue::Type)
            }
            KnownValue::Type(
                ty @ (Annotation::Vector(..)
                | Annotation::Matrix(..)
                | Annotation::Quaternion(_)
                | Annotation::Transform(_)),
            ) => self.composite(ty, args, expr, scope),
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
        if let Some(result) = self.reflected(path, args, expr, scope) {
            return result.ok_or_else(unknown);
        }
        let name = path.strip_prefix("warp.").unwrap_or("");
        if name == "func" {
            return self.device_function(args, scope)?.ok_or_else(unknown);
        }
        if let ("quat_identity" | "transform_identity", true) = (name, args.is_empty()) {
            return Ok(identity(name));
        }
        if name == "constant" {
            let first = args.args.first();
            return first.map_or_else(|| Err(unknown()), |arg| self.known(arg, scope));
        }
        if warp::array_named(name).is_some() || TYPES.contains(&name) {
            return self.annotation(expr, scope).map(KnownValue::Type);
        }
        if matches!(path, "numpy.finfo" | "numpy.iinfo") {
            let of = args.args.first().map(|arg| self.annotation(arg, scope));
            return match of {
                Some(Ok(Annotation::Scalar(of))) => {
                    Ok(KnownValue::Member(format!("numpy.info.{}", of.name()).into()))
                }
                _ => Err(unknown()),
            };
        }
        if path == "builtins.len" {
            let of = args.args.first().and_then(|arg| self.known(arg, scope).ok());
            let len = of.and_then(|of| sequence::len(&of));
            return len.map(|len| KnownValue::Int(len as i128)).ok_or_else(unknown);
        }
        if path == "builtins.sorted"
            && let ([list], [keyword]) = (&*args.args, &*args.keywords)
            && keyword.arg.as_deref() == Some("reverse")
        {
            let reverse = self.known(&keyword.value, scope)?.truth().ok_or_else(unknown)?;
            let parts = sequence::sorted(&self.settled(self.known(list, scope)?), reverse);
            return parts.map(|parts| KnownValue::Sequence(parts.into())).ok_or_else(unknown);
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
            KnownValue::Python(def, home) if self.role(def, home) == Role::Python => {
                let family = OverloadSet::of_one(def, home, self.frame_of(home));
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
            Annotation::Transform(of) if !args.args.is_empty() => (of, 7),
            _ => return Err(unknown()),
        };
        let Annotation::Scalar(scalar) = **of else { return Err(unknown()) };
        let mut parts = Vec::new();
        for arg in &args.args {
            let arg = match arg {
                Expr::Starred(starred) => &*starred.value,
                arg => arg,
            };
            match self.known(arg, scope)? {
                // Of vectors a matrix would be made by columns or rows.
                KnownValue::Composite(_, own) if !matches!(ty, Annotation::Matrix(..)) => {
                    parts.extend(own.iter().map(|part| KnownValue::Typed(*part)));
                }
                value => flatten(value, &mut parts),
            }
        }
        let literals: Option<Vec<Literal>> =
            parts.iter().map(|part| part.literal(scalar)).collect();
        let mut literals = literals.ok_or_else(unknown)?;
        if literals.is_empty() {
            literals = vec![Literal::from_bits(scalar, 0); count];
        } else if literals.len() == 1 {
            literals = vec![literals[0]; count];
        } else if literals.len() == 3 && count == 7 {
            // The rotation of a transform is none unless it is given.
            literals.extend([0, 0, 0, 1].map(|part| Literal::int(scalar, part)));
        }
        if literals.len() != count || !args.keywords.is_empty() {
            return Err(unknown());
        }
        Ok(KnownValue::Composite(ty.clone(), literals.into()))
    }
}

/// The quaternion or transform that changes nothing.
fn identity<'a>(name: &str) -> KnownValue<'a> {
    let part = |value| Literal::int(Scalar::F32, value);
    let of = Rc::new(Annotation::Scalar(Scalar::F32));
    let (annotation, zeros) = match name {
        "quat_identity" => (Annotation::Quaternion(of), 3),
        _ => (Annotation::Transform(of), 6),
    };
    let mut parts = vec![part(0); zeros];
    parts.push(part(1));
    KnownValue::Composite(annotation, parts.into())
}

/// Adds the parts of a sequence, and of those in it.
fn flatten<'a>(value: KnownValue<'a>, parts: &mut Vec<KnownValue<'a>>) {
    match value {
        KnownValue::Sequence(inner) => inner.iter().for_each(|part| flatten(part.clone(), parts)),
        part => parts.push(part),
    }
}
