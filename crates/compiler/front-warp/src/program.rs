//! A parsed text, from which kernels are read.

use crate::reader::Reader;
use gbxcule_ir::diagnostic::Diagnostic;
use gbxcule_ir::module::Module;
use gbxcule_ir::source::{SourceId, SourceMap};
use gbxcule_python_names::{Files, ReadFile, Texts};
use gbxcule_warp_types::geometry;
use gbxcule_warp_types::library::Library;

/// A parsed text, and the parsed texts that it imports from.
///
/// ```
/// use gbxcule_front_warp::Program;
/// use gbxcule_ir::source::SourceMap;
///
/// let text = "import warp as wp
///
/// @wp.kernel
/// def fill(x: wp.array(dtype=float)):
///     x[wp.tid()] = 1.0
/// ";
/// let mut sources = SourceMap::new();
/// let id = sources.add("fill.py", text);
/// let module = Program::parse(&sources, id)?.compile("fill")?;
/// assert_eq!(module.kernels().count(), 1);
/// # Ok::<(), Vec<gbxcule_ir::diagnostic::Diagnostic>>(())
/// ```
///
/// # Errors
/// Parsing and compiling return everything that is wrong with the texts, not the first fault only.
pub struct Program {
    files: Files,
}

impl Program {
    /// Parses a text of `sources` and reads no other file. A kernel that uses a name imported
    /// from another file is refused.
    pub fn parse(sources: &SourceMap, id: SourceId) -> Result<Self, Vec<Diagnostic>> {
        let mut texts = Texts::default();
        let mut files = Files::single(texts.parsed(sources, id))?;
        files.add_library(&mut texts, &geometry::LIBRARY)?;
        Ok(Self { files })
    }

    /// Parses the text of a file, whose name in `sources` is the file's path, and the files that
    /// it imports from. `read` reads these files, and they are added to `sources`. A module `a.b`
    /// is searched as by `python file.py`: beside the file, as `a/b/__init__.py` or `a/b.py`, and
    /// if the file is in a package, then also beside the outermost package. A relative import,
    /// such as `from .a import b`, starts at the folder of the file that contains it. A file that
    /// is missing or is not Python is an error only for kernels that use a name from it.
    ///
    /// Files that are already in `texts` are not read again; the [`ImportOptions`] in `texts` hold.
    /// Without `read` no other file is read.
    ///
    /// [`ImportOptions`]: gbxcule_python_names::ImportOptions
    pub fn load(
        texts: &mut Texts,
        sources: &mut SourceMap,
        id: SourceId,
        read: Option<ReadFile<'_>>,
    ) -> Result<Self, Vec<Diagnostic>> {
        let mut files = match read {
            Some(read) => gbxcule_python_names::load(texts, sources, id, read)?,
            None => {
                let mut files = Files::single(texts.parsed(sources, id))?;
                files.define(texts, sources)?;
                files
            }
        };
        files.add_library(texts, &geometry::LIBRARY)?;
        Ok(Self { files })
    }

    /// Resolves the program's names.
    pub fn reader(&self) -> Reader<'_> {
        Reader::new(&self.files, None)
    }

    /// Returns the texts that the program consists of, its main text first. Spans point into
    /// these texts.
    pub fn sources(&self) -> Vec<SourceId> {
        let mut sources: Vec<SourceId> = Vec::new();
        for text in &self.files.texts {
            if !sources.contains(&text.id) {
                sources.push(text.id);
            }
        }
        sources
    }

    /// Resolves the names of a program that may import a library.
    pub fn reader_with<'a>(&'a self, library: &'a Library) -> Reader<'a> {
        Reader::new(&self.files, Some(library))
    }

    /// Lowers all kernels into one module called `name`.
    pub fn compile(&self, name: &str) -> Result<Module, Vec<Diagnostic>> {
        self.reader().compile(name)
    }
}
