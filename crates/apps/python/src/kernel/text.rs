//! Texts from which kernels were compiled: one map for the whole process, because a device reports
//! a fault only at a later wait, when the kernel is not known.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{LazyLock, PoisonError, RwLock, RwLockReadGuard};

use gbxcule_front_warp::{ImportOptions, Program, Texts};
use gbxcule_ir::diagnostic::Diagnostic;
use gbxcule_ir::source::SourceMap;
use gbxcule_runtime::ProgramFiles;

static TEXTS: LazyLock<RwLock<SourceMap>> = LazyLock::new(RwLock::default);

/// Returns all texts that were compiled.
pub(crate) fn all() -> RwLockReadGuard<'static, SourceMap> {
    TEXTS.read().unwrap_or_else(PoisonError::into_inner)
}

/// Stores a text of a file and parses it; with `beside`, also the files beside it from which it
/// imports. `types` has the types of generic kernels.
pub(crate) fn parse(
    file: String,
    text: String,
    beside: bool,
    types: BTreeMap<String, String>,
) -> Result<Program, Vec<Diagnostic>> {
    let mut texts = TEXTS.write().unwrap_or_else(PoisonError::into_inner);
    let id = texts.add(file, text);
    let types = types.into_iter().collect();
    let options = ImportOptions { types, without_command_line: true, ..ImportOptions::default() };
    let mut parsed = Texts::new(options);
    if !beside {
        return Program::parse_alone(&mut parsed, &mut texts, id);
    }
    let files = ProgramFiles::of(Path::new(&texts.get(id).name));
    Program::parse_with_cache(&mut parsed, &mut texts, id, &|path| files.find(path))
}
