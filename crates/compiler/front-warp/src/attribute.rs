//! Attributes and elements of known values: `a.b` and `a[0]`.

use super::annotation::Annotation;
use super::arithmetic::as_int;
use super::constant::{Evaluation, KnownValue, Unit};
use super::library;
use super::sequence::sliced;
use super::warp;
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::ty::Scalar;
use gbxcule_python_names::syntax::{Expr, ExprSlice};
use gbxcule_python_names::{Owner, ScopeId};

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
        if (path, attr) == ("typing", "TYPE_CHECKING") {
            return Ok(KnownValue::Bool(false));
        }
        if (path, attr) == ("numpy", "bool_") {
            return Ok(KnownValue::Type(Annotation::Scalar(Scalar::Bool)));
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

    /// An attribute of a class, its own or one of its bases'.
    fn own_attribute(&self, class: ScopeId, attr: &str, expr: &Expr) -> Evaluation<'a> {
        let Some(definitions) = self.scopes.bindings_in(class, attr) else {
            return self.inherited(class, attr, expr);
        };
        let known = self.bound(definitions, attr, expr, class);
        self.unchanged(known, attr, class, expr)
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
            (Annotation::Vector(Some(len), _), "_shape_") => {
                Ok(KnownValue::Sequence([KnownValue::Int((*len).into())].into()))
            }
            (Annotation::Matrix(Some(rows), Some(cols), _), "_shape_") => Ok(KnownValue::Sequence(
                [rows, cols].map(|extent| KnownValue::Int((*extent).into())).into(),
            )),
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
        let unknown = || self.needs_python(expr, "this is only known when Python runs");
        match &value {
            KnownValue::Sequence(parts) => match index {
                Expr::Slice(slice) => self.slice(parts, slice, expr, scope),
                index => self.element(parts, index, expr, scope),
            },
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
            _ => Err(unknown()),
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

    /// Looks up an attribute of a class in its base classes.
    pub(super) fn inherited(&self, class: ScopeId, attr: &str, expr: &Expr) -> Evaluation<'a> {
        let missing = || self.needs_python(expr, format!("the class has no `{attr}`"));
        let Owner::Class(def) = self.scopes.owner(class) else { return Err(missing()) };
        let bases = def.bases().iter();
        let bases = bases.filter_map(|base| self.known(base, self.scopes.around(class)).ok());
        let found = bases.filter(|base| matches!(base, KnownValue::Class(_))).find_map(|base| {
            self.with_depth_limit(self.span(expr), || self.attribute(&base, attr, expr)).ok()
        });
        found.ok_or_else(missing)
    }

    /// Value of `self.a.b` in a method that the text doesn't call: one that the user gives.
    pub(super) fn of_receiver(&self, expr: &Expr, fault: Box<Diagnostic>) -> Evaluation<'a> {
        let Some(path) = of_self(expr) else { return Err(fault) };
        if fault.code != Code::NeedsPythonEvaluation {
            return Err(fault);
        }
        if let Some(known) = self.defined(&path, expr).or_else(|| self.trial_path(&path).map(Ok)) {
            return known;
        }
        let message = format!("`{path}` is only known when Python runs");
        let mut fault = self.needs_python(expr, message);
        fault.help = self.value_advice(&path);
        Err(fault)
    }
}

/// `self.a.b` as text.
pub(super) fn of_self(expr: &Expr) -> Option<String> {
    let Expr::Attribute(attribute) = expr else { return None };
    let base = match &*attribute.value {
        Expr::Name(name) if name.id == "self" => "self".to_owned(),
        base => of_self(base)?,
    };
    Some(format!("{base}.{}", attribute.attr))
}
