//! Facts about a module whose machine code for CUDA is on disk: the digest of its text, by which
//! the code is found; its interface; the lines that may fault; and the notes of its maker.

use super::interface::{self, Interface};
use super::record::{Stored, stored};
use crate::compile_cache::{Build, Compiled};
use crate::cuda::{Image, LaunchTable};
use crate::disk_cache::CodeFolder;
use crate::error::Error;
use gbxcule_back_cxx::{Entry, Site};

/// Ending of the names of files with signatures.
const EXTENSION: &str = ".signature";
/// Version of the records.
const VERSION: (u32, u32) = (2, 0);

stored! {
    Entry { kernel, symbol, diverges }
    LaunchTable { kernels, sites }
    Site { line, function, span, message }
}

/// Parts of a module that launches need, found on disk.
#[derive(Debug)]
pub(crate) struct Signature {
    pub(crate) interface: Interface,
    pub(crate) notes: String,
    pub(crate) table: LaunchTable,
    /// Digest of the text.
    pub(crate) source: String,
}

/// Returns the name of a recipe's signature.
pub(crate) fn name(recipe: &str, build: Build) -> String {
    CodeFolder::key(&[b"signature", recipe.as_bytes(), format!("{build:?}").as_bytes()])
}

/// Stores the signature of a compiled module.
pub(crate) fn store(name: &str, compiled: &Compiled, image: &Image) -> Result<(), Error> {
    let Some(folder) = CodeFolder::find(EXTENSION) else { return Ok(()) };
    let mut record = Vec::new();
    interface::write(&compiled.module, &compiled.reflections, &mut record);
    compiled.notes.write(&mut record);
    image.table.write(&mut record);
    image.source.write(&mut record);
    folder.keep(name, VERSION, &record)
}

impl Signature {
    /// Finds the signature with this name.
    pub(crate) fn find(name: &str) -> Option<Self> {
        let record = CodeFolder::find(EXTENSION)?.find_version(name, VERSION)?;
        let remaining = &mut &record[..];
        let signature = Self {
            interface: Interface::read(remaining)?,
            notes: Stored::read(remaining)?,
            table: Stored::read(remaining)?,
            source: Stored::read(remaining)?,
        };
        let LaunchTable { kernels, sites } = &signature.table;
        let is_coherent = kernels.iter().all(|entry| signature.interface.has_kernel(entry.kernel))
            && sites.iter().all(|it| signature.interface.has_names(it.function, it.message));
        (is_coherent && remaining.is_empty()).then_some(signature)
    }
}
