//! Values to try in place of values that only Python knows, for a caller that asks for trials.

use crate::annotation::Annotation;
use crate::decorator::{self, Role};
use crate::trial::{by_name, flags, numbers};
use crate::unit::{Evaluation, Unit};
use crate::value::{KnownValue, WarpValue};
use gbxcule_ir::diagnostic::Code;
use gbxcule_ir::ty::Scalar;
use gbxcule_python_names::syntax::StmtFunctionDef;
use gbxcule_python_names::{BindingSource, Owner, ScopeId};

/// A value to try for a name that only Python knows.
pub fn value<'a>(unit: &Unit<'a>, name: &str, home: ScopeId) -> Option<KnownValue<'a>> {
    if !unit.dialect.trials.is_on() {
        return None;
    }
    let python = match unit.scopes.owner(home) {
        Owner::Function(def) => {
            decorator::role(unit, def, unit.scopes.around(home)) == Role::Python
        }
        Owner::Module | Owner::Class(_) => true,
    };
    let definition = unit.scopes.bindings_in(home, name).and_then(|all| all.last());
    let definition = definition.filter(|_| python)?;
    unit.dialect.trials.of(home, name, || match (definition.source, unit.scopes.owner(home)) {
        (BindingSource::Argument, Owner::Function(def)) => {
            argument_candidates(unit, def, name, home)
        }
        (BindingSource::Value(_) | BindingSource::Part(..) | BindingSource::Runtime, _) => {
            by_name(name)
        }
        _ => Vec::new(),
    })
}

/// Values for a parameter, by its annotation, its default and its name.
fn argument_candidates<'a>(
    unit: &Unit<'a>,
    def: &'a StmtFunctionDef,
    name: &str,
    home: ScopeId,
) -> Vec<KnownValue<'a>> {
    let mut parameters = def.parameters.iter();
    let Some(parameter) = parameters.find(|it| it.as_parameter().name.as_str() == name) else {
        return Vec::new();
    };
    let around = unit.scopes.around(home);
    let mut candidates = Vec::new();
    if let Some(default) = parameter.default()
        && let Ok(known) = unit.known(default, around)
        && known != KnownValue::None
    {
        candidates.push(known);
    }
    let annotation = parameter.as_parameter().annotation.as_deref();
    candidates.extend(match annotation.map(|it| unit.known(it, around)) {
        Some(Ok(KnownValue::Dialect(WarpValue::Type(Annotation::Scalar(Scalar::Bool))))) => flags(),
        Some(Ok(KnownValue::Dialect(WarpValue::Type(Annotation::Scalar(Scalar::I32))))) => {
            numbers()
        }
        Some(Ok(KnownValue::Dialect(WarpValue::Type(Annotation::Scalar(Scalar::F32))))) => {
            vec![KnownValue::Float(1.0)]
        }
        _ => by_name(name),
    });
    candidates
}

/// Replaces a member of a module without a file by a number.
pub fn settled<'a>(unit: &Unit<'a>, value: KnownValue<'a>) -> KnownValue<'a> {
    match &value {
        KnownValue::Member(path) if is_absent(unit, path) => {
            unit.dialect.trials.absent(path).unwrap_or(value)
        }
        _ => value,
    }
}

/// Returns true if values are tried and a path leads to a module without a file, or to a module of
/// an older Warp.
fn is_absent<'a>(unit: &Unit<'a>, path: &str) -> bool {
    let is_old = || path.starts_with("warp.sim.");
    unit.dialect.trials.is_on() && (is_old() || unit.files.looked_for(path).is_some())
}

/// Result of an expression whose value only Python knows, in `wp.static`.
pub fn tried<'a>(unit: &Unit<'a>, evaluation: Evaluation<'a>) -> Evaluation<'a> {
    match evaluation {
        Err(fault) if unit.dialect.trials.is_on() && fault.code == Code::NeedsPythonEvaluation => {
            Ok(KnownValue::Int(1))
        }
        evaluation => evaluation.map(|value| unit.settled(value)),
    }
}
