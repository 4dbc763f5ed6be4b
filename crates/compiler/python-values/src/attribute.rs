//! Attributes and elements of known values: `a.b` and `a[0]`.

use crate::dialect::{Dialect, Evaluation, Known};
use crate::evaluator::Evaluator;
use crate::sequence::sliced;
use crate::value::KnownValue;
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_python_names::syntax::{Expr, ExprSlice};
use gbxcule_python_names::{Owner, ScopeId};

impl<'a, D: Dialect<'a>> Evaluator<'a, D> {
    /// Attribute of a value.
    pub fn attribute(&self, base: &Known<'a, D>, attr: &str, expr: &Expr) -> Evaluation<'a, D> {
        match base {
            KnownValue::ImportedModule(module) => self.member(*module, attr, expr),
            KnownValue::Module(path) => self.module_attribute(path, attr, expr),
            KnownValue::Class(scope) => self.own_attribute(*scope, attr, expr),
            base if let Some(value) = D::attribute(self, base, attr, expr) => value,
            KnownValue::Member(path) if !path.starts_with("builtins.") => {
                let path = format!("{path}.{attr}");
                self.defined(&path, expr).unwrap_or(Ok(KnownValue::Member(path.into())))
            }
            // `IntEnum.A.value` is `IntEnum.A`.
            KnownValue::Int(_) | KnownValue::Bool(_) | KnownValue::Float(_) if attr == "value" => {
                Ok(base.clone())
            }
            _ => Err(self.needs_python(expr, format!("`{attr}` is only known when Python runs"))),
        }
    }

    fn module_attribute(&self, path: &str, attr: &str, expr: &Expr) -> Evaluation<'a, D> {
        let full = format!("{path}.{attr}");
        if let Some(value) = self.defined(&full, expr) {
            return value;
        }
        if full == "typing.TYPE_CHECKING" {
            return Ok(KnownValue::Bool(false));
        }
        let member = D::member(self, path, attr, expr);
        member.unwrap_or_else(|| Ok(KnownValue::Member(full.into())))
    }

    /// Attribute of a class or of its bases.
    fn own_attribute(&self, class: ScopeId, attr: &str, expr: &Expr) -> Evaluation<'a, D> {
        let Some(definitions) = self.scopes.bindings_in(class, attr) else {
            return self.inherited(class, attr, expr);
        };
        let value = self.bound(definitions, attr, expr, class);
        self.unchanged(value, attr, class, expr)
    }

    /// Attribute of a class that a base of the class has.
    fn inherited(&self, class: ScopeId, attr: &str, expr: &Expr) -> Evaluation<'a, D> {
        let missing = || self.needs_python(expr, format!("the class has no `{attr}`"));
        let Owner::Class(def) = self.scopes.owner(class) else { return Err(missing()) };
        let bases = def.bases().iter();
        let bases = bases.filter_map(|base| self.known(base, self.scopes.around(class)).ok());
        let mut classes = bases.filter(|base| matches!(base, KnownValue::Class(_)));
        let attribute = classes.find_map(|base| {
            self.with_depth_limit(self.span(expr), || self.attribute(&base, attr, expr)).ok()
        });
        attribute.ok_or_else(missing)
    }

    /// Element of a value.
    pub(crate) fn subscript(
        &self,
        base: &'a Expr,
        index: &'a Expr,
        expr: &'a Expr,
        scope: ScopeId,
    ) -> Evaluation<'a, D> {
        let value = self.known(base, scope)?;
        match (&value, index) {
            (KnownValue::Sequence(parts), Expr::Slice(slice)) => {
                self.slice(parts, slice, expr, scope)
            }
            (KnownValue::Sequence(parts), index) => self.element(parts, index, expr, scope),
            (KnownValue::Dict(items), index) => {
                let key = self.known(index, scope)?;
                let item = items.iter().rev().find(|(known, _)| *known == key);
                item.map(|(_, value)| value.clone()).ok_or_else(|| {
                    self.needs_python(expr, "the dictionary has no such key when it is made")
                })
            }
            _ => D::subscript(self, &value, expr, scope).unwrap_or_else(|| {
                Err(self.needs_python(expr, "this is only known when Python runs"))
            }),
        }
    }

    fn element(
        &self,
        parts: &[Known<'a, D>],
        index: &'a Expr,
        expr: &'a Expr,
        scope: ScopeId,
    ) -> Evaluation<'a, D> {
        let Some(position) = self.settled(self.known(index, scope)?).as_int() else {
            return Err(self.needs_python(expr, "this index is only known when Python runs"));
        };
        let part = crate::sequence::part(parts, position);
        part.ok_or_else(|| self.needs_python(expr, "this index is outside the sequence"))
    }

    fn slice(
        &self,
        parts: &[Known<'a, D>],
        slice: &'a ExprSlice,
        expr: &'a Expr,
        scope: ScopeId,
    ) -> Evaluation<'a, D> {
        let unknown = || self.needs_python(expr, "this slice is only known when Python runs");
        let mut bounds = [None; 3];
        for (bound, written) in bounds.iter_mut().zip([&slice.lower, &slice.upper, &slice.step]) {
            let Some(written) = written else { continue };
            match self.settled(self.known(written, scope)?) {
                KnownValue::None => {}
                value => *bound = Some(value.as_int().ok_or_else(unknown)?),
            }
        }
        Ok(KnownValue::Sequence(sliced(parts, bounds).ok_or_else(unknown)?.into()))
    }

    /// Value that the user gives to `self.a.b` in a method.
    pub(crate) fn of_receiver(&self, expr: &Expr, fault: Box<Diagnostic>) -> Evaluation<'a, D> {
        let Some(path) = of_self(expr) else { return Err(fault) };
        if fault.code != Code::NeedsPythonEvaluation {
            return Err(fault);
        }
        let substitute = || self.dialect.substitute_attribute(&path).map(Ok);
        self.defined(&path, expr).or_else(substitute).unwrap_or_else(|| {
            let message = format!("`{path}` is only known when Python runs");
            Err(self.needs_value(&path, expr, message))
        })
    }
}

/// Returns `self.a.b` as text.
pub fn of_self(expr: &Expr) -> Option<String> {
    let Expr::Attribute(attribute) = expr else { return None };
    let base = match &*attribute.value {
        Expr::Name(name) if name.id == "self" => "self".to_owned(),
        base => of_self(base)?,
    };
    Some(format!("{base}.{}", attribute.attr))
}
