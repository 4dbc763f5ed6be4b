//! Which types a generic kernel is compiled for.

use super::annotation::Annotation;
use super::constant::Unit;
use super::scope::ScopeId;
use super::signature::Formal;
use super::syntax::StmtFunctionDef;

/// The annotations for a generic kernel's parameters, if the text says any.
pub(super) fn chosen<'a>(
    _unit: &Unit<'a>,
    _def: &'a StmtFunctionDef,
    _scope: ScopeId,
    _formals: &[Formal<'a>],
) -> Option<Vec<Annotation>> {
    None
}
