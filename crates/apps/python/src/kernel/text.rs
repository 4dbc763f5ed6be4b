//! Every text that this process compiled, in one map. A device reports a fault only later, so the
//! place of a fault must be found without its kernel.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{LazyLock, PoisonError, RwLock, RwLockReadGuard};

use gbxcule_front_warp::{ImportOptions, Program, ReadFile, Texts};
use gbxcule_ir::diagnostic::Diagnostic;
use gbxcule_ir::source::{FileText, Part, SourceId, SourceMap};
use gbxcule_runtime::{CodeFolder, ProgramFiles};

static TEXTS: LazyLock<RwLock<SourceMap>> = LazyLock::new(RwLock::default);

/// Returns all texts that were compiled.
pub(crate) fn all() -> RwLockReadGuard<'static, SourceMap> {
    TEXTS.read().unwrap_or_else(PoisonError::into_inner)
}

/// A text, with the options of its reading.
#[derive(Clone, Default)]
pub(crate) struct Given {
    /// Name of the file.
    pub file: String,
    /// The text.
    pub text: String,
    /// True if the text may import from files beside its own.
    pub beside: bool,
    /// Types of generic kernels.
    pub types: BTreeMap<String, String>,
    /// Lines that come from other files: the first line, their number, the file, the line there.
    pub parts: Vec<(usize, usize, String, usize)>,
}

/// Path at which a text looked for a file, and a digest of the file, if it existed.
pub(crate) type Import = (String, String);

/// A parsed text.
pub(crate) struct Parsed {
    pub program: Program,
    /// Texts of the program, its own first.
    pub sources: Vec<SourceId>,
    /// Files that the text looked for, in this order.
    pub imports: Vec<Import>,
}

impl Given {
    /// Adds the text to those of this process.
    fn add(&self, texts: &mut SourceMap) -> SourceId {
        let id = texts.add(self.file.clone(), self.text.clone());
        let part = |(first, count, file, line): &(usize, usize, String, usize)| Part {
            first: *first,
            count: *count,
            file: file.clone(),
            line: *line,
        };
        texts.set_parts(id, self.parts.iter().map(part).collect());
        id
    }

    /// Adds the text and others of its program, given as names and texts, without parsing them.
    pub(crate) fn add_with(&self, others: &[(String, String)]) -> Vec<SourceId> {
        let mut texts = TEXTS.write().unwrap_or_else(PoisonError::into_inner);
        let first = self.add(&mut texts);
        let others = others.iter().map(|(name, text)| texts.add(name.clone(), text.clone()));
        std::iter::once(first).chain(others).collect()
    }

    /// Stores the text and parses it, with the files from which it imports.
    pub(crate) fn parse(&self) -> Result<Parsed, Vec<Diagnostic>> {
        let mut texts = TEXTS.write().unwrap_or_else(PoisonError::into_inner);
        let id = self.add(&mut texts);
        let types = self.types.clone().into_iter().collect();
        let without_command_line = true;
        let options = ImportOptions { types, without_command_line, ..ImportOptions::default() };
        let mut parsed = Texts::new(options);
        let imports = RefCell::new(Vec::new());
        let files = ProgramFiles::of(Path::new(&self.file));
        let read = |path: &Path| {
            let file = files.find(path);
            imports.borrow_mut().push((path.display().to_string(), digest(&file)));
            file
        };
        let read: ReadFile<'_> = &read;
        let program = Program::load(&mut parsed, &mut texts, id, self.beside.then_some(read))?;
        Ok(Parsed { sources: program.sources(), program, imports: imports.into_inner() })
    }

    /// Returns true if each file is unchanged, or still missing, since the text was parsed.
    pub(crate) fn imports_are(&self, imports: &[Import]) -> bool {
        if imports.is_empty() {
            return true;
        }
        let files = ProgramFiles::of(Path::new(&self.file));
        imports.iter().all(|(path, before)| digest(&files.find(Path::new(path))) == *before)
    }
}

fn digest(file: &FileText) -> String {
    match file {
        FileText::Text(text) => CodeFolder::key(&[b"text", text.as_bytes()]),
        FileText::Nothing => String::new(),
        FileText::Refused(reason) => CodeFolder::key(&[b"refused", reason.as_bytes()]),
    }
}
