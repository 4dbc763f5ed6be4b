//! Results of calls that are known from the text: types, constants of types, Python's functions on
//! numbers.

use super::annotation::Annotation;
use super::arithmetic::{python_function, python_number};
use super::constant::{Evaluation, KnownValue, Unit};
use super::decorator::Role;
use super::fold;
use super::scope::{OverloadSet, ScopeId};
use super::sequence::{self, dictionary_method};
use super::syntax::{self, Arguments, Expr, Keyword};
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
            let known = dictionary_method(&items, &method.attr, &self.known_args(args, scope)?);
            return known.filter(|_| args.keywords.is_empty()).ok_or_else(unknown);
        }
        if let Some(result) = self.method_call(func, args, expr, scope) {
            return result;
        }
        if let Some(result) = self.value_method(func, args, scope) {
            return result.ok_or_else(unknown);
        }
        let callee = self.known(func, scope)?;
        match &callee {
            KnownValue::Member(path) => self.member_call(path, args, expr, scope),
            KnownValue::Class(class) => match self.enumerator_of(*class, args, scope) {
                Some(member) => Ok(member),
                None => self.made(*class, args, expr, scope)?.ok_or_else(unknown),
            },
            KnownValue::NamedTuple(fields) => {
                self.named_tuple(fields, args, scope).ok_or_else(unknown)
            }
            KnownValue::Python(def, home, around) => {
                self.python_call((def, *home, *around), args, expr, scope)?.ok_or_else(unknown)
            }
            KnownValue::Lambda(lambda, home, around) if args.keywords.is_empty() => {
                let values: Result<Vec<_>, _> =
                    args.args.iter().map(|arg| self.whole(arg, scope)).collect();
                self.lambda_call((lambda, *home, *around), &values?).ok_or_else(unknown)
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
        if let Some(result) = self.reflected(path, args, expr, scope) {
            return result.ok_or_else(unknown);
        }
        if let Some(result) = self.named_values(path, args, scope) {
            return result.ok_or_else(unknown);
        }
        let name = path.strip_prefix("warp.").unwrap_or("");
        if name == "func" {
            return self.device_function(args, scope)?.ok_or_else(unknown);
        }
        if matches!(name, "quat_identity" | "transform_identity") {
            return self.identity(name, args, scope).ok_or_else(unknown);
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
        if let Some(function) = path.strip_prefix("numpy.")
            && let Some(known) = self.numpy_call(function, args, scope)
        {
            return Ok(known);
        }
        if let Some(result) = self.mapped(path, args, scope) {
            return result.ok_or_else(unknown);
        }
        if makes_array(name) {
            let message = "an array isn't known when a kernel is compiled";
            let help = "pass it as an argument of the launch";
            return Err(Box::new((*self.needs_python(expr, message)).help(help)));
        }
        if let Some(result) = self.length_or_order(path, args, scope)? {
            return result.ok_or_else(unknown);
        }
        if gbxcule_ir::builtin::find(name).is_some() {
            return self.builtin_result(name, args, scope)?.ok_or_else(unknown);
        }
        self.python_result(path, args, expr, scope)
    }

    /// `len(..)` and `sorted(.., reverse=..)`; `None` for anything else.
    fn length_or_order(
        &self,
        path: &str,
        args: &'a Arguments,
        scope: ScopeId,
    ) -> Result<Option<Option<KnownValue<'a>>>, Box<Diagnostic>> {
        if path == "builtins.len" {
            let of = args.args.first().and_then(|arg| self.known(arg, scope).ok());
            let len = of.and_then(|of| match of {
                KnownValue::Class(class) => Some(self.enumerators(class)?.len()),
                of => sequence::len(&of),
            });
            return Ok(Some(len.map(|len| KnownValue::Int(len as i128))));
        }
        if path == "builtins.sorted"
            && let ([list], [keyword]) = (&*args.args, &*args.keywords)
            && keyword.arg.as_deref() == Some("reverse")
        {
            let Some(reverse) = self.known(&keyword.value, scope)?.truth() else {
                return Ok(Some(None));
            };
            let parts = sequence::sorted(&self.settled(self.known(list, scope)?), reverse);
            return Ok(Some(parts.map(|parts| KnownValue::Sequence(parts.into()))));
        }
        Ok(None)
    }

    /// Result of a builtin of Warp; `None` if it doesn't take such values.
    fn builtin_result(
        &self,
        name: &str,
        args: &'a Arguments,
        scope: ScopeId,
    ) -> Result<Option<KnownValue<'a>>, Box<Diagnostic>> {
        let mut given = Vec::new();
        for arg in &args.args {
            match arg {
                Expr::Starred(starred) => match self.known(&starred.value, scope)? {
                    KnownValue::Sequence(parts) => {
                        given.extend(parts.iter().map(|part| (None, self.settled(part.clone()))));
                    }
                    _ => return Ok(None),
                },
                arg => given.push((None, self.settled(self.known(arg, scope)?))),
            }
        }
        for keyword in &args.keywords {
            let Some(keyword_name) = keyword.arg.as_deref() else { return Ok(None) };
            let value = self.settled(self.known(&keyword.value, scope)?);
            given.push((Some(keyword_name), value));
        }
        Ok(fold::builtin(name, &given))
    }

    /// Result of a method of a string, a list or an array of NumPy; `None` if it is called on
    /// anything else.
    fn value_method(
        &self,
        func: &'a Expr,
        args: &'a Arguments,
        scope: ScopeId,
    ) -> Option<Option<KnownValue<'a>>> {
        let Expr::Attribute(method) = func else { return None };
        let (base, name) = (self.known(&method.value, scope).ok()?, method.attr.as_str());
        if let KnownValue::NumberArray(array) = &base {
            return Some(self.array_method(array, name, args, scope));
        }
        let values = || -> Option<Vec<KnownValue<'a>>> {
            let known = args.args.iter().map(|arg| self.known(arg, scope).ok());
            args.keywords.is_empty().then(|| known.collect())?
        };
        match &base {
            KnownValue::Text(text) => {
                Some(values().and_then(|values| super::string::method(text, name, &values)))
            }
            KnownValue::Int(number) if name == "bit_length" && args.is_empty() => {
                let bits = i128::BITS - number.unsigned_abs().leading_zeros();
                Some(Some(KnownValue::Int(bits.into())))
            }
            KnownValue::Sequence(parts) if matches!(name, "index" | "count") => {
                Some(values().and_then(|values| sequence::found(parts, name, &values)))
            }
            _ => None,
        }
    }

    /// `map(f, list)`, `filter(f, list)` and `sorted(list, key=f)`, where `f` is a lambda or a
    /// type; `None` for anything else.
    fn mapped(
        &self,
        path: &str,
        args: &'a Arguments,
        scope: ScopeId,
    ) -> Option<Option<KnownValue<'a>>> {
        let key = args.keywords.iter().find(|it| it.arg.as_deref() == Some("key"));
        let (function, list) = match (path, &args.args[..], key) {
            ("builtins.map" | "builtins.filter", [function, list], None) => (function, list),
            ("builtins.sorted", [list], Some(key)) if args.keywords.len() == 1 => {
                (&key.value, list)
            }
            _ => return None,
        };
        let apply = |function: &KnownValue<'a>, of: &KnownValue<'a>| match function {
            KnownValue::Lambda(lambda, home, around) => {
                self.lambda_call((lambda, *home, *around), std::slice::from_ref(of))
            }
            KnownValue::Type(Annotation::Scalar(scalar)) => python_number(*scalar, of),
            _ => None,
        };
        let all = || -> Option<KnownValue<'a>> {
            let function = self.known(function, scope).ok()?;
            let list = sequence::iterated(&self.known(list, scope).ok()?)?;
            let results: Vec<KnownValue<'a>> =
                list.iter().map(|part| apply(&function, part)).collect::<Option<_>>()?;
            let pairs = list.into_iter().zip(results);
            Some(KnownValue::Sequence(match path {
                "builtins.map" => pairs.map(|(_, result)| result).collect(),
                "builtins.filter" => {
                    let kept = pairs.map(|(part, result)| Some((part, result.truth()?)));
                    let kept: Vec<_> = kept.collect::<Option<_>>()?;
                    kept.into_iter().filter(|(_, is_in)| *is_in).map(|(part, _)| part).collect()
                }
                _ => sequence::sorted_by(pairs.collect())?.into(),
            }))
        };
        Some(all())
    }

    /// `dict(name=value)` and `namedtuple(name, fields)`; `None` for anything else.
    fn named_values(
        &self,
        path: &str,
        args: &'a Arguments,
        scope: ScopeId,
    ) -> Option<Option<KnownValue<'a>>> {
        match (path, &args.args[..]) {
            ("builtins.dict", []) => {
                let items = args.keywords.iter().map(|it| {
                    let key = KnownValue::Text(it.arg.as_deref()?.into());
                    Some((key, self.whole(&it.value, scope).ok()?))
                });
                Some(items.collect::<Option<_>>().map(KnownValue::Dict))
            }
            ("collections.namedtuple", [_, fields]) if args.keywords.is_empty() => {
                let names = match self.known(fields, scope) {
                    Ok(KnownValue::Text(text)) => {
                        let names = text.split([',', ' ']).filter(|name| !name.is_empty());
                        Some(names.map(Rc::from).collect())
                    }
                    Ok(KnownValue::Sequence(parts)) => parts
                        .iter()
                        .map(|part| match part {
                            KnownValue::Text(name) => Some(name.clone()),
                            _ => None,
                        })
                        .collect(),
                    _ => None,
                };
                Some(names.map(KnownValue::NamedTuple))
            }
            _ => None,
        }
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

    /// The quaternion or transform that changes nothing.
    fn identity(&self, name: &str, args: &'a Arguments, scope: ScopeId) -> Option<KnownValue<'a>> {
        let dtype = syntax::argument(args, "dtype", 0).map(|it| self.annotation(it, scope));
        let scalar = match dtype {
            None if args.is_empty() => Scalar::F32,
            Some(Ok(Annotation::Scalar(scalar))) if scalar.is_float() => scalar,
            _ => return None,
        };
        let of = Rc::new(Annotation::Scalar(scalar));
        let (annotation, zeros) = match name {
            "quat_identity" => (Annotation::Quaternion(of), 3),
            _ => (Annotation::Transform(of), 6),
        };
        let mut parts = vec![Literal::int(scalar, 0); zeros];
        parts.push(Literal::int(scalar, 1));
        Some(KnownValue::Composite(annotation, parts.into()))
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
            // The rotation of a transform is none unless it is given.
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
        KnownValue::NumberArray(array) => parts.extend(array.parts()),
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
