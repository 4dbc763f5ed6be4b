//! Warp's answers to the evaluator's questions.

use crate::annotation::{Annotation, StructKey};
use crate::decorator::{self, Role};
use crate::known_call;
use crate::library;
use crate::module;
use crate::substitute;
use crate::type_expr;
use crate::unit::{Call, Evaluation, Unit, Warp};
use crate::value::{KnownValue, OverloadSet, WarpValue, type_value};
use crate::warp;
use gbxcule_python_names::ScopeId;
use gbxcule_python_names::syntax::{Expr, StmtClassDef, StmtFunctionDef};
use gbxcule_python_values::Dialect;

impl<'a> Dialect<'a> for Warp<'a> {
    type Value = WarpValue<'a>;

    fn builtin(name: &str) -> Option<WarpValue<'a>> {
        Some(WarpValue::Type(match name {
            "int" | "float" | "bool" => warp::type_named(name)?,
            "tuple" => Annotation::Tuple(None),
            _ => return None,
        }))
    }

    fn starred(name: &str) -> Option<KnownValue<'a>> {
        warp::starred_name(name)
    }

    fn function(unit: &Unit<'a>, def: &'a StmtFunctionDef, home: ScopeId) -> Option<WarpValue<'a>> {
        // The tree's copy of the name lives as long as the tree.
        let set = || OverloadSet::all(home, def.name.as_str(), unit.frame_of(home));
        let is_called_by_kernels =
            matches!(decorator::role(unit, def, home), Role::Func | Role::Native);
        is_called_by_kernels.then(|| WarpValue::Function(set()))
    }

    fn runs_in_python(unit: &Unit<'a>, def: &'a StmtFunctionDef, home: ScopeId) -> bool {
        decorator::role(unit, def, home) == Role::Python
    }

    fn class(
        unit: &Unit<'a>,
        def: &'a StmtClassDef,
        body: ScopeId,
        home: ScopeId,
    ) -> Option<WarpValue<'a>> {
        let is_struct = |expr: &'a Expr| unit.path(expr, home).as_deref() == Some("warp.struct");
        let is_struct = def.decorator_list.iter().any(|decorator| {
            is_struct(&decorator.expression)
                || matches!(&decorator.expression, Expr::Call(call) if is_struct(&call.func))
        });
        if is_struct {
            let key = StructKey { class: body, frame: unit.frame_of(body) };
            return Some(WarpValue::Type(Annotation::Struct(key)));
        }
        // A class whose only base is a type means that type: `class vec5(wp.types.vector(5,
        // float))`.
        let [base] = def.bases() else { return None };
        match unit.known(base, home) {
            Ok(KnownValue::Dialect(WarpValue::Type(ty)))
                if !matches!(ty, Annotation::Scalar(_)) =>
            {
                Some(WarpValue::Type(ty))
            }
            _ => None,
        }
    }

    fn member(unit: &Unit<'a>, path: &str, name: &str, expr: &Expr) -> Option<Evaluation<'a>> {
        module::member(unit, path, name, expr)
    }

    fn attribute(
        unit: &Unit<'a>,
        base: &KnownValue<'a>,
        name: &str,
        expr: &Expr,
    ) -> Option<Evaluation<'a>> {
        Some(match base {
            KnownValue::Dialect(WarpValue::Type(ty)) => {
                module::type_attribute(unit, ty, name, expr)
            }
            KnownValue::Dialect(WarpValue::Function(set)) => {
                let value = unit.scopes.attribute_value(set.home, set.name, name)?;
                unit.frames.run(set.frame, || unit.known(value, set.home))
            }
            KnownValue::Dialect(WarpValue::Handle(_)) => {
                Err(library::no_attribute(unit.dialect.library, name, unit.span(expr)))
            }
            KnownValue::Member(path) if path.starts_with("numpy.") => {
                Ok(known_call::limit(path, name)?)
            }
            KnownValue::Member(path)
                if path.starts_with("warp.") && !path.starts_with("warp.fem.") =>
            {
                Err(unit.needs_python(expr, format!("`{name}` is only known when Python runs")))
            }
            _ => return None,
        })
    }

    fn subscript(
        unit: &Unit<'a>,
        base: &KnownValue<'a>,
        expr: &'a Expr,
        scope: ScopeId,
    ) -> Option<Evaluation<'a>> {
        let is_type = match base {
            KnownValue::Dialect(WarpValue::Type(_)) => true,
            KnownValue::Member(path) => path.starts_with("warp.") || path.starts_with("typing."),
            _ => false,
        };
        is_type.then(|| type_expr::annotation(unit, expr, scope).map(type_value))
    }

    fn call(unit: &Unit<'a>, call: &Call<'_, 'a>) -> Option<Evaluation<'a>> {
        match call.callee {
            KnownValue::Member(path) => known_call::member_call(unit, path, call),
            KnownValue::Dialect(WarpValue::Type(ty)) => Some(known_call::type_call(unit, ty, call)),
            _ => None,
        }
    }

    fn settled(unit: &Unit<'a>, value: KnownValue<'a>) -> KnownValue<'a> {
        substitute::settled(unit, value)
    }

    fn substitute(unit: &Unit<'a>, name: &str, home: ScopeId) -> Option<KnownValue<'a>> {
        substitute::value(unit, name, home)
    }

    fn substitute_attribute(&self, path: &str) -> Option<KnownValue<'a>> {
        self.trials.attribute(path)
    }

    fn is_substituting(&self) -> bool {
        self.trials.is_on()
    }
}
