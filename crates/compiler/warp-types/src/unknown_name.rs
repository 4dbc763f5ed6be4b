//! Reports all names of a kernel whose values only Python knows. If the kernel's signature is
//! refused because of one name, the names in its body are reported as well, so that a user can
//! give all values at once.

use crate::unit::Unit;
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_python_names::ScopeId;
use gbxcule_python_names::syntax::{self, StmtFunctionDef};
use rustc_hash::FxHashSet;

/// Faults of a kernel's signature, together with the faults of the names that its body reads.
pub fn with_names_of_body<'a>(
    unit: &Unit<'a>,
    def: &'a StmtFunctionDef,
    scope: ScopeId,
    mut faults: Vec<Diagnostic>,
) -> Vec<Diagnostic> {
    if faults.iter().any(|fault| fault.code != Code::NeedsPythonEvaluation) {
        return faults;
    }
    let params = def.parameters.iter().map(|it| it.name().as_str());
    let mut seen: FxHashSet<&str> = params.chain(syntax::bound_names(&def.body)).collect();
    let mut hints: FxHashSet<Option<String>> = faults.iter().map(|it| it.help.clone()).collect();
    for (name, expr) in syntax::read_names(&def.body) {
        if !seen.insert(name) {
            continue;
        }
        let Err(fault) = unit.known(expr, scope) else { continue };
        let has_hint = fault.code == Code::NeedsPythonEvaluation && fault.help.is_some();
        if has_hint && hints.insert(fault.help.clone()) {
            faults.push(*fault);
        }
    }
    faults
}
