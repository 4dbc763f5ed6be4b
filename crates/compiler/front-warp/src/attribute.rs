//! Attributes and elements of known values: `a.b` and `a[0]`.

use super::annotation::Annotation;
use super::arithmetic::{as_int, limit};
use super::constant::{Evaluation, KnownValue, Unit};
use super::fold::python_value;
use super::library;
use super::scope::ScopeId;
use super::sequence::sliced;
use super::syntax::{Expr, ExprSlice};
use super::warp;
use gbxcule_ir::constant::Literal;
use gbxcule_ir::ty::Scalar;
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
            KnownValue::NumberArray(array) => array.attribute(attr).ok_or_else(|| {
                self.needs_python(expr, format!("`{attr}` is only known when Python runs"))
            }),
            KnownValue::Composite(annotation, parts) => component(annotation, parts, attr)
                .ok_or_else(|| {
                    self.needs_python(expr, format!("`{attr}` is only known when Python runs"))
                }),
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
            KnownValue::NumberArray(array) => {
                self.element_of_array(array, index, scope).ok_or_else(unknown)
            }
            KnownValue::Class(class) => match self.known(index, scope)? {
                KnownValue::Text(name) if self.enumerator_name(*class, &name).is_some() => {
                    self.attribute(&value, &name, expr)
                }
                _ => Err(unknown()),
            },
            KnownValue::Composite(annotation, parts) => {
                self.element_of_composite(annotation, parts, index, expr, scope)
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
            _ => Err(unknown()),
        }
    }

    /// Element of a vector, row or element of a matrix.
    fn element_of_composite(
        &self,
        annotation: &Annotation,
        parts: &Rc<[Literal]>,
        index: &'a Expr,
        expr: &'a Expr,
        scope: ScopeId,
    ) -> Evaluation<'a> {
        let unknown = || self.needs_python(expr, "this is only known when Python runs");
        match (index, annotation) {
            (index, Annotation::Matrix(_, Some(cols), of)) => {
                let rows = parts.chunks(usize::from(*cols)).map(|row| {
                    KnownValue::Composite(Annotation::Vector(Some(*cols), of.clone()), row.into())
                });
                let rows: Vec<_> = rows.collect();
                match index {
                    Expr::Slice(_) => Err(unknown()),
                    Expr::Tuple(at) if let [row, col] = &*at.elts => {
                        match self.element(&rows, row, expr, scope)? {
                            KnownValue::Composite(_, row) => {
                                self.element(&python_values(&row), col, expr, scope)
                            }
                            _ => Err(unknown()),
                        }
                    }
                    index => self.element(&rows, index, expr, scope),
                }
            }
            (Expr::Slice(slice), Annotation::Vector(_, of)) => {
                let literals = parts.iter().map(|part| KnownValue::Typed(*part));
                let found = self.slice(&literals.collect::<Vec<_>>(), slice, expr, scope)?;
                vector(&found, of).ok_or_else(unknown)
            }
            (Expr::Slice(_), _) => Err(unknown()),
            (index, _) => self.element(&python_values(parts), index, expr, scope),
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

/// The numbers of a vector as Python has them.
fn python_values<'a>(parts: &[Literal]) -> Vec<KnownValue<'a>> {
    parts.iter().map(|part| python_value(*part)).collect()
}

/// A vector of known components.
fn vector<'a>(parts: &KnownValue<'a>, of: &Rc<Annotation>) -> Option<KnownValue<'a>> {
    let KnownValue::Sequence(parts) = parts else { return None };
    let literal = |part: &KnownValue<'a>| match part {
        KnownValue::Typed(literal) => Some(*literal),
        _ => None,
    };
    let parts: Rc<[Literal]> = parts.iter().map(literal).collect::<Option<_>>()?;
    let len = u16::try_from(parts.len()).ok().filter(|len| *len > 0)?;
    Some(KnownValue::Composite(Annotation::Vector(Some(len), of.clone()), parts))
}

/// `v.x`, `q.w`, and the parts `p` and `q` of a transform.
fn component<'a>(
    annotation: &Annotation,
    parts: &Rc<[Literal]>,
    name: &str,
) -> Option<KnownValue<'a>> {
    let at = ["x", "y", "z", "w"].iter().position(|known| *known == name);
    match (annotation, name) {
        (Annotation::Vector(..) | Annotation::Quaternion(_), _) => {
            parts.get(at?).map(|part| python_value(*part))
        }
        (Annotation::Transform(of), "p") => {
            Some(KnownValue::Composite(Annotation::Vector(Some(3), of.clone()), parts[..3].into()))
        }
        (Annotation::Transform(of), "q") => {
            Some(KnownValue::Composite(Annotation::Quaternion(of.clone()), parts[3..].into()))
        }
        _ => None,
    }
}
