//! Texts from which kernels were compiled: one map for the whole process, because a device reports
//! a fault only at a later wait, when the kernel is not known.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{LazyLock, PoisonError, RwLock, RwLockReadGuard};

use gbxcule_front_warp::{ImportOptions, Program, Texts};
use gbxcule_ir::diagnostic::Diagnostic;
use gbxcule_ir::source::{Part, SourceMap};
use gbxcule_runtime::ProgramFiles;

static TEXTS: LazyLock<RwLock<SourceMap>> = LazyLock::new(RwLock::default);

/// Returns all texts that were compiled.
pub(crate) fn all() -> RwLockReadGuard<'static, SourceMap> {
    TEXTS.read().unwrap_or_else(PoisonError::into_inner)
}

/// A text, and how it is read.
#[derive(Default)]
pub(crate) struct Given {
    /// Name of the file.
    pub file: String,
    /// The text.
    pub text: String,
    /// True if it may import from files beside its own.
    pub beside: bool,
    /// Types of generic kernels.
    pub types: BTreeMap<String, String>,
    /// Lines that were taken from other files: the first one, how many, the file, the line there.
    pub parts: Vec<(usize, usize, String, usize)>,
}

/// Stores a text and parses it, with the files from which it imports.
pub(crate) fn parse(given: Given) -> Result<Program, Vec<Diagnostic>> {
    let Given { file, text, beside, types, parts } = given;
    let mut texts = TEXTS.write().unwrap_or_else(PoisonError::into_inner);
    let id = texts.add(file, text);
    let part = |(first, count, file, line)| Part { first, count, file, line };
    texts.set_parts(id, parts.into_iter().map(part).collect());
    let types = types.into_iter().collect();
    let options = ImportOptions { types, without_command_line: true, ..ImportOptions::default() };
    let mut parsed = Texts::new(options);
    if !beside {
        return Program::parse_alone(&mut parsed, &mut texts, id);
    }
    let files = ProgramFiles::of(Path::new(&texts.get(id).name));
    Program::parse_with_cache(&mut parsed, &mut texts, id, &|path| files.find(path))
}
