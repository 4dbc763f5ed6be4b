//! Attributes and elements of known values: `a.b` and `a[0]`.

use crate::dialect::{Dialect, Evaluation, Known};
use crate::evaluator::Evaluator;
use crate::value::KnownValue;
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_python_names::ScopeId;
use gbxcule_python_names::syntax::Expr;

impl<'a, D: Dialect<'a>> Evaluator<'a, D> {
    /// Attribute of a value.
    pub fn attribute(&self, base: &Known<'a, D>, attr: &str, expr: &Expr) -> Evaluation<'a, D> {
        match base {
            KnownValue::ImportedModule(module) => self.member(*module, attr, expr),
            KnownValue::Module(path) => self.module_attribute(path, attr, expr),
            KnownValue::Class(scope) => self.own_attribute(*scope, attr, expr),
            base if let Some(value) = D::attribute(self, base, attr, expr) => value,
            // A class gives the number of an enumeration's member, so this is that member's.
            base if attr == "value" && base.as_f64().is_some() => Ok(base.clone()),
            KnownValue::Member(path) if !path.starts_with("builtins.") => {
                let path = format!("{path}.{attr}");
                self.defined(&path, expr).unwrap_or(Ok(KnownValue::Member(path.into())))
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

    /// Attribute of a class.
    fn own_attribute(&self, class: ScopeId, attr: &str, expr: &Expr) -> Evaluation<'a, D> {
        let Some(definitions) = self.scopes.bindings_in(class, attr) else {
            return Err(self.needs_python(expr, format!("the class has no `{attr}`")));
        };
        let value = self.bound(definitions, attr, expr, class);
        self.unchanged(value, attr, class, expr)
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

    /// Value that the user gives for `self.a.b` in a method.
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
