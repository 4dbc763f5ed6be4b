//! The texts that kernels were compiled from: one map for the whole process, because a device tells of a fault only
//! when somebody waits, who has no kernel at hand.

use std::path::Path;
use std::sync::{LazyLock, PoisonError, RwLock, RwLockReadGuard};

use gbxcule_kernel::diagnostic::Diagnostic;
use gbxcule_kernel::front::python::Program;
use gbxcule_kernel::source::SourceMap;

static TEXTS: LazyLock<RwLock<SourceMap>> = LazyLock::new(RwLock::default);

/// All of them.
pub(crate) fn all() -> RwLockReadGuard<'static, SourceMap> {
    TEXTS.read().unwrap_or_else(PoisonError::into_inner)
}

/// Keep a text of a file and parse it; with `beside` also the files beside it that it imports from.
pub(crate) fn parse(file: String, text: String, beside: bool) -> Result<Program, Vec<Diagnostic>> {
    let mut texts = TEXTS.write().unwrap_or_else(PoisonError::into_inner);
    let id = texts.add(file, text);
    if !beside {
        return Program::parse(&texts, id);
    }
    let read = |path: &Path| std::fs::read_to_string(path).ok();
    Program::parse_beside(&mut texts, id, &read)
}
