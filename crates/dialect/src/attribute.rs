//! Attributes and elements of known values: `a.b` and `a[0]`.

use super::annotation::Annotation;
use super::arithmetic::{as_int, limit};
use super::constant::{Evaluation, KnownValue, Unit};
use super::library;
use super::scope::ScopeId;
use super::sequence::sliced;
use super::syntax::{Expr, ExprSlice};
use super::warp;
use std::rc::Rc;

impl<'a> Unit<'a> {
    /// Evaluates an attribute of a value.
    pub(super) fn attribute(
        &self,
        base: &KnownValue<'a>,
        attr: &str,
        expr: &Expr,
    ) -> Evaluation<'a> {
        match base {
            KnownValue::ImportedModule(imported_module) => {
                self.member(*imported_module, attr, expr)
            }
            KnownValue::Module(path) => self.module_attribute(path, attr, expr),
            KnownValue::Class(scope) => self.own_attribute(*scope, attr, expr),
            KnownValue::Object(id) => self.object_attribute(*id, attr, expr),
            KnownValue::Enumerator(.., value) if attr == "value" => Ok((**value).clone()),
            KnownValue::Enumerator(_, name, _) if attr == "name" => {
                Ok(KnownValue::Text((*name).into()))
            }
            KnownValue::Enumerator(class, ..) => {
                self.class_attribute(&[*class], base.clone(), attr, expr)
            }
            KnownValue::Member(path) if path.starts_with("numpy.info.") => {
                limit(&path["numpy.info.".len()..], attr).ok_or_else(|| {
                    self.needs_python(expr, format!("`{attr}` is only known when Python runs"))
                })
            }
            KnownValue::Member(path)
                if path.starts_with("warp.fem.")
                    || !path.starts_with("warp.") && !path.starts_with("builtins.") =>
            {
                let path = format!("{path}.{attr}");
                self.defined(&path, expr).unwrap_or(Ok(KnownValue::Member(path.into())))
            }
            // `IntEnum.A.value` is `IntEnum.A`.
            KnownValue::Int(_) | KnownValue::Bool(_) | KnownValue::Float(_) if attr == "value" => {
                Ok(base.clone())
            }
            KnownValue::Type(ty) => self.type_attribute(ty, attr, expr),
            KnownValue::Function(family)
                if let Some(value) =
                    self.scopes.attribute_value(family.home, family.name, attr) =>
            {
                self.framed(family.frame, || self.known(value, family.home))
            }
            KnownValue::Handle(_) => {
                Err(library::no_attribute(self.library, attr, self.span(expr)))
            }
            _ => Err(self.needs_python(expr, format!("`{attr}` is only known when Python runs"))),
        }
    }

    fn module_attribute(&self, path: &str, attr: &str, expr: &Expr) -> Evaluation<'a> {
        if let Some(known) = self.defined(&format!("{path}.{attr}"), expr) {
            return known;
        }
        if (path, attr) == ("warp", "wp") {
            return Ok(KnownValue::Module("warp".into()));
        }
        if (path == "warp" || path == "warp.sparse" && attr.starts_with("bsr_"))
            && let Some(known) = self.geometry(attr, expr)
        {
            return known;
        }
        if let Some(known) = warp::fem_constant(path, attr) {
            return Ok(known);
        }
        if let Some(library) = self.library.filter(|library| library.name == path) {
            return library.member(attr, self.quote(self.span(expr)), self.span(expr));
        }
        if matches!(path, "warp" | "math" | "numpy")
            && attr != "float"
            && attr != "int"
            && let Some(value) = warp::number_named(attr)
        {
            return Ok(KnownValue::Float(value));
        }
        if matches!(path, "warp" | "typing" | "numpy")
            && let Some(ty) = warp::type_named(attr)
        {
            return Ok(KnownValue::Type(ty));
        }
        if matches!((path, attr), ("warp", "types" | "math" | "context" | "utils")) {
            return Ok(KnownValue::Module("warp".into()));
        }
        let full = format!("{path}.{attr}");
        if matches!(
            (path, attr),
            ("warp", "fem" | "optim" | "sparse" | "render" | "sim" | "config")
        ) {
            return Ok(KnownValue::Module(full.into()));
        }
        Ok(KnownValue::Member(full.into()))
    }

    /// An attribute of a class: a member, if it is an enumeration.
    fn own_attribute(&self, class: ScopeId, attr: &str, expr: &Expr) -> Evaluation<'a> {
        let Some(definitions) = self.scopes.bindings_in(class, attr) else {
            return self.inherited(class, attr, expr);
        };
        let enumerator = self.enumerator_name(class, attr);
        let number = enumerator.and_then(|name| self.automatic_number(class, name));
        let known = match number {
            Some(number) => Ok(KnownValue::Int(number)),
            None => self.bound(definitions, attr, expr, class),
        };
        let known = self.unchanged(known, attr, class, expr)?;
        Ok(match enumerator {
            Some(name) => KnownValue::Enumerator(class, name, Rc::new(known.plain())),
            None => known,
        })
    }

    fn type_attribute(&self, ty: &Annotation, attr: &str, expr: &Expr) -> Evaluation<'a> {
        match (ty, attr) {
            (
                Annotation::Vector(_, of)
                | Annotation::Matrix(_, _, of)
                | Annotation::Quaternion(of)
                | Annotation::Transform(of)
                | Annotation::Array(of, _)
                | Annotation::Indexed(of, _),
                "dtype" | "_wp_scalar_type_",
            ) => Ok(KnownValue::Type((**of).clone())),
            (Annotation::Vector(Some(len), _), "length" | "_length_") => {
                Ok(KnownValue::Int((*len).into()))
            }
            _ => Err(self
                .needs_python(expr, format!("`{attr}` of a type is only known when Python runs"))),
        }
    }

    /// Evaluates an element of a value.
    pub(super) fn subscript(
        &self,
        base: &'a Expr,
        index: &'a Expr,
        expr: &'a Expr,
        scope: ScopeId,
    ) -> Evaluation<'a> {
        let value = self.known(base, scope)?;
        match &value {
            KnownValue::Sequence(parts) => match index {
                Expr::Slice(slice) => self.slice(parts, slice, expr, scope),
                index => self.element(parts, index, expr, scope),
            },
            KnownValue::Composite(Annotation::Vector(..), parts)
                if !matches!(index, Expr::Slice(_)) =>
            {
                let parts: Vec<_> = parts.iter().map(|part| KnownValue::Typed(*part)).collect();
                self.element(&parts, index, expr, scope)
            }
            KnownValue::Dict(items) => {
                let key = self.known(index, scope)?;
                let found = items.iter().rev().find(|(known, _)| *known == key);
                found.map(|(_, value)| value.clone()).ok_or_else(|| {
                    self.needs_python(expr, "the dictionary has no such key when it is made")
                })
            }
            KnownValue::Type(_) => self.annotation(expr, scope).map(KnownValue::Type),
            KnownValue::Member(path)
                if path.starts_with("warp.") || path.starts_with("typing.") =>
            {
                self.annotation(expr, scope).map(KnownValue::Type)
            }
            _ => Err(self.needs_python(expr, "this is only known when Python runs")),
        }
    }

    fn element(
        &self,
        parts: &[KnownValue<'a>],
        index: &'a Expr,
        expr: &'a Expr,
        scope: ScopeId,
    ) -> Evaluation<'a> {
        let Some(at) = as_int(&self.settled(self.known(index, scope)?)) else {
            return Err(self.needs_python(expr, "this index is only known when Python runs"));
        };
        let at = if at < 0 { at.saturating_add(parts.len() as i128) } else { at };
        let found = usize::try_from(at).ok().and_then(|at| parts.get(at).cloned());
        found.ok_or_else(|| self.needs_python(expr, "this index is outside the sequence"))
    }

    fn slice(
        &self,
        parts: &[KnownValue<'a>],
        slice: &'a ExprSlice,
        expr: &'a Expr,
        scope: ScopeId,
    ) -> Evaluation<'a> {
        let unknown = || self.needs_python(expr, "this slice is only known when Python runs");
        let mut bounds = [None; 3];
        for (bound, said) in bounds.iter_mut().zip([&slice.lower, &slice.upper, &slice.step]) {
            let Some(said) = said else { continue };
            match self.settled(self.known(said, scope)?) {
                KnownValue::None => {}
                value => *bound = Some(as_int(&value).ok_or_else(unknown)?),
            }
        }
        let found = sliced(parts, bounds).ok_or_else(unknown)?;
        Ok(KnownValue::Sequence(found.into()))
    }
}
