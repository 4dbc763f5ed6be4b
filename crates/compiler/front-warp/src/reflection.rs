//! Python's own functions on objects, classes and modules: `getattr`, `hasattr`, `isinstance`,
//! `import_module`.

use super::annotation::Annotation;
use super::constant::{KnownValue, Unit};
use super::scope::ScopeId;
use super::syntax::{Arguments, Expr};
use gbxcule_ir::ty::Scalar;

impl<'a> Unit<'a> {
    /// Result of one of these functions, if `path` is one; `None` if the text doesn't say it.
    pub(super) fn reflected(
        &self,
        path: &str,
        args: &'a Arguments,
        expr: &'a Expr,
        scope: ScopeId,
    ) -> Option<Option<KnownValue<'a>>> {
        let given = &args.args[..];
        let result = match (path, given) {
            ("builtins.isinstance", [value, of]) => {
                let value = self.whole(value, scope).ok();
                value.and_then(|value| self.is_instance(&value, of, scope)).map(KnownValue::Bool)
            }
            ("builtins.getattr", [object, name, default @ ..]) if default.len() < 2 => {
                match (self.attribute_named(object, name, expr, scope), default) {
                    (Found::Value(value), _) => Some(value),
                    (Found::Nothing, [default]) => self.whole(default, scope).ok(),
                    _ => None,
                }
            }
            ("builtins.hasattr", [object, name]) => {
                match self.attribute_named(object, name, expr, scope) {
                    Found::Value(_) => Some(KnownValue::Bool(true)),
                    Found::Nothing => Some(KnownValue::Bool(false)),
                    Found::Unknown => None,
                }
            }
            ("importlib.import_module", [name]) => match self.known(name, scope) {
                Ok(KnownValue::Text(name)) => {
                    match self.files.target(self.scopes.text(scope), 0, &name) {
                        Some(Ok(module)) => Some(KnownValue::ImportedModule(*module)),
                        _ => None,
                    }
                }
                _ => None,
            },
            ("types.SimpleNamespace", _) => self.namespace(args, scope),
            _ => return None,
        };
        Some(result.filter(|_| args.keywords.is_empty() || path == "types.SimpleNamespace"))
    }

    fn attribute_named(
        &self,
        object: &'a Expr,
        name: &'a Expr,
        expr: &'a Expr,
        scope: ScopeId,
    ) -> Found<'a> {
        let (Ok(object), Ok(KnownValue::Text(name))) =
            (self.whole(object, scope), self.known(name, scope))
        else {
            return Found::Unknown;
        };
        if let Ok(value) = self.attribute(&object, &name, expr) {
            let is_known =
                !matches!(&value, KnownValue::Member(path) if !path.starts_with("warp."));
            return if is_known { Found::Value(value) } else { Found::Unknown };
        }
        let class = match &object {
            // None of their own attributes is read by programs that make kernels.
            KnownValue::None | KnownValue::Bool(_) | KnownValue::Int(_) | KnownValue::Float(_)
                if !name.starts_with('_') && &*name != "real" && &*name != "imag" =>
            {
                return Found::Nothing;
            }
            KnownValue::Class(class) => Some(*class),
            KnownValue::Object(object) => self.class_of(*object),
            _ => None,
        };
        let Some(order) = class.and_then(|class| self.resolution_order(class)) else {
            return Found::Unknown;
        };
        let is_bound = order.iter().any(|it| self.scopes.bindings_in(*it, &name).is_some());
        let is_stored = !self.scopes.attribute_stores(&name).is_empty();
        if is_bound || is_stored || name.starts_with('_') { Found::Unknown } else { Found::Nothing }
    }

    /// Returns true if a value is of a class or of one of several.
    fn is_instance(&self, value: &KnownValue<'a>, of: &'a Expr, scope: ScopeId) -> Option<bool> {
        if let Expr::Tuple(tuple) = of {
            let mut answers = tuple.elts.iter().map(|it| self.is_instance(value, it, scope));
            return answers.try_fold(false, |any, one| Some(any || one?));
        }
        let is = |name: &str| matches!(of, Expr::Name(it) if it.id == name);
        let of = self.known(of, scope).ok()?;
        let python = match &of {
            KnownValue::Type(Annotation::Scalar(Scalar::I32)) if is("int") => "int",
            KnownValue::Type(Annotation::Scalar(Scalar::F32)) if is("float") => "float",
            KnownValue::Type(Annotation::Scalar(Scalar::Bool)) if is("bool") => "bool",
            KnownValue::Type(Annotation::Tuple(None)) => "tuple",
            KnownValue::Member(path) => path.strip_prefix("builtins.")?,
            KnownValue::Class(_) => "",
            _ => return None,
        };
        Some(match value {
            KnownValue::None => false,
            KnownValue::Bool(_) => matches!(python, "bool" | "int"),
            KnownValue::Int(_) => python == "int",
            KnownValue::Float(_) => python == "float",
            KnownValue::Text(_) => python == "str",
            KnownValue::Dict(_) => python == "dict",
            // A list and a tuple are one here.
            KnownValue::Sequence(_) if !matches!(python, "tuple" | "list" | "set") => false,
            KnownValue::Object(object) => match (&of, self.class_of(*object)) {
                (KnownValue::Class(of), Some(class)) => self.resolution_order(class)?.contains(of),
                (KnownValue::Class(_), None) => false,
                _ if matches!(python, "int" | "float" | "bool" | "str" | "dict") => false,
                _ => return None,
            },
            KnownValue::Enumerator(class, ..) => match of {
                KnownValue::Class(of) => *class == of,
                _ => return None,
            },
            _ => return None,
        })
    }
}

/// Result of looking an attribute up.
enum Found<'a> {
    Value(KnownValue<'a>),
    /// There surely is none.
    Nothing,
    Unknown,
}
