//! Machine code for the CPU on disk, found by the recipe of its module before the module is made.
//!
//! The name of a record is a digest of the recipe, this program's build id, the processor's
//! features, the code generator's settings and the assumption about threads. So only the program
//! that wrote a record finds it.

use super::MadeModule;
use super::interface::{self, Interface};
use super::record::{Stored, read_whole};
use crate::build_id::build_id;
use crate::compile_cache::{
    Build, CodeOrigin, Compiled, DeviceCode, Key, Native, find_known, make_known, native_object,
    shared_object, sharing,
};
use crate::device::Device;
use crate::disk_cache::CodeFolder;
use crate::error::Error;
use crate::generate::HostCompiler;
use crate::object::Object;
use crate::reflection::{Reflection, reflect};
use gbxcule_back_clif::{Entry, LaunchFacts, Sharing};
use gbxcule_ir::Module;
use gbxcule_ir::check::Valid;
use gbxcule_ir::source::{SourceId, Span};
use std::fmt;
use std::sync::Arc;

/// Ending of the names of files with machine code for CPUs.
const EXTENSION: &str = ".object";
/// Version of the records.
const VERSION: (u32, u32) = (1, 0);

/// Makes the module of a recipe, or returns the reason for which the module can't be made any
/// more.
type Make = dyn Fn() -> Result<Valid<Module>, String> + Send + Sync;

/// Recipe of a module for the CPU: everything that decides the module.
#[derive(Clone)]
pub struct Recipe {
    name: Arc<str>,
    sources: Arc<[SourceId]>,
    make: Arc<Make>,
}

impl fmt::Debug for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recipe").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Recipe {
    /// Makes a recipe. `name` is a digest of everything that decides the module, apart from this
    /// program itself. `sources` are the texts into which the module's spans point, always in the
    /// same order. `make` makes the module; it is called if a launch needs more than the disk
    /// has.
    pub fn new(
        name: &str,
        sources: &[SourceId],
        make: impl Fn() -> Result<Valid<Module>, String> + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), sources: sources.into(), make: Arc::new(make) }
    }

    /// Makes the recipe of a module that is derived from the module of this recipe.
    #[must_use]
    pub fn derived(
        &self,
        how: &str,
        derive: impl Fn(&Valid<Module>) -> Result<Valid<Module>, String> + Send + Sync + 'static,
    ) -> Self {
        let name = CodeFolder::key(&[self.name.as_bytes(), how.as_bytes()]);
        let make = Arc::clone(&self.make);
        Self::new(&name, &self.sources, move || derive(&make()?))
    }

    /// Makes the module.
    ///
    /// # Errors
    /// The reason for which the module can't be made any more.
    pub fn module(&self) -> Result<Valid<Module>, String> {
        (self.make)()
    }

    /// Finds compiled code that a kernel of this process holds, or that is on disk.
    pub fn find(&self, build: Build) -> Option<Arc<Compiled>> {
        find_known(&self.key(build)).or_else(|| self.find_on_disk(build))
    }

    fn find_on_disk(&self, build: Build) -> Option<Arc<Compiled>> {
        let record = CodeFolder::find_quietly(EXTENSION)?
            .find_version(&self.file_name(build, sharing())?, VERSION)?;
        let ObjectRecord { interface, notes, mut facts, object } = ObjectRecord::read(&record)?;
        let source = |counted: SourceId| self.sources.get(counted.index()).copied();
        facts.sites.iter_mut().for_each(|site| site.span = moved(site.span, source));
        let Interface { module, reflections } = interface;
        let kept_native = Some(KeptNative { recipe: self.clone(), has_module: false });
        let native = Native::of_object((object, facts), build, kept_native, &module.name).ok()?;
        let code = DeviceCode::Cpu(Arc::new(native));
        let compiled = Compiled { module, notes, device: Device::Cpu, code, reflections };
        Some(make_known(self.key(build), compiled))
    }

    /// Compiles the module that was made by this recipe, and stores the code on disk.
    ///
    /// # Errors
    /// Code that the code generator refuses, or a kernel whose variables don't fit the stack. A
    /// failure to store the code is reported once and is not an error.
    pub fn compile(&self, made: MadeModule, build: Build) -> Result<Arc<Compiled>, Error> {
        let MadeModule { module, notes } = made;
        let (object, facts) = native_object(&module, build)?;
        let reflections = reflect(&module);
        if object.is_storable()
            && let Some(name) = self.file_name(build, sharing())
        {
            let mut relative = facts.clone();
            let counted = |source: SourceId| {
                let position = self.sources.iter().position(|&one| one == source);
                position.map(|position| SourceId::from_index(position as u32))
            };
            relative.sites.iter_mut().for_each(|site| site.span = moved(site.span, counted));
            let mut record = Vec::new();
            interface::write(&module, &reflections, &mut record);
            notes.write(&mut record);
            relative.write(&mut record);
            object.write(&mut record);
            store(&name, &record);
        }
        let kept_native = Some(KeptNative { recipe: self.clone(), has_module: true });
        let native = Native::of_object((object, facts), build, kept_native, &module.name)?;
        let code = DeviceCode::Cpu(Arc::new(native));
        let compiled = Compiled { module, notes, device: Device::Cpu, code, reflections };
        Ok(make_known(self.key(build), compiled))
    }

    fn key(&self, build: Build) -> Key {
        (CodeOrigin::Recipe(self.name.to_string()), Device::Cpu, build)
    }

    /// Returns the name of the file with the code; `None` if this program has no build id,
    /// because then nothing distinguishes it from other programs.
    fn file_name(&self, build: Build, sharing: Sharing) -> Option<String> {
        let settings = HostCompiler::new().ok()?.settings;
        Some(file_name(build_id()?, &settings, &self.name, &format!("{build:?} {sharing:?}")))
    }
}

fn file_name(build_id: &[u8], settings: &str, recipe: &str, options: &str) -> String {
    let parts = [b"object", build_id, settings.as_bytes(), recipe.as_bytes(), options.as_bytes()];
    CodeFolder::key(&parts)
}

/// Stores a record. If the folder can't be written, nothing is stored: a user may have named a
/// read-only folder with code for GPUs, and machine code for CPUs is made again quickly.
fn store(name: &str, record: &[u8]) {
    if let Some(folder) = CodeFolder::find_quietly(EXTENSION) {
        folder.keep_if_possible(name, VERSION, record);
    }
}

/// Returns a span in another source; [`Span::NONE`] if there is no such source.
fn moved(span: Span, source: impl Fn(SourceId) -> Option<SourceId>) -> Span {
    let source = span.source().and_then(source);
    source.map_or(Span::NONE, |source| Span::new(source, span.start, span.end))
}

/// Machine code on disk, with all that launches need.
struct ObjectRecord {
    interface: Interface,
    notes: String,
    /// Facts whose spans count the recipe's texts.
    facts: LaunchFacts,
    object: Object,
}

impl ObjectRecord {
    fn read(record: &[u8]) -> Option<Self> {
        let remaining = &mut &record[..];
        let interface = Interface::read(remaining)?;
        let (notes, facts, object) = Stored::read(remaining)?;
        let recipe = Self { interface, notes, facts, object };
        (remaining.is_empty() && recipe.is_coherent()).then_some(recipe)
    }

    /// Returns true if every handle names an existing item, so that no launch meets a wrong
    /// handle.
    fn is_coherent(&self) -> bool {
        let Self { interface, facts, object, .. } = self;
        let is_entry = |entry: &Entry| {
            interface.has_kernel(entry.kernel) && entry.position < object.functions.len()
        };
        let types = facts.prints.iter().flat_map(|printed| &printed.types);
        let mut formats = facts.prints.iter().filter_map(|printed| printed.format);
        facts.entries.iter().all(is_entry)
            && facts.sites.iter().all(|it| interface.has_names(it.function, it.cause.message))
            && types.into_iter().all(|ty| interface.module.types.layout(*ty).is_some())
            && formats.all(|format| interface.module.has_name(format))
    }
}

/// Recipe under which machine code is stored on disk.
pub(crate) struct KeptNative {
    recipe: Recipe,
    /// True if the compiled module is complete, false if it is only the interface.
    pub(crate) has_module: bool,
}

impl KeptNative {
    /// Finds or makes code for threads that may access the same elements.
    ///
    /// # Errors
    /// The module has to be made, but can't be made, or differs from the module that was
    /// compiled.
    pub(crate) fn shared_object(
        &self,
        compiled: &Compiled,
        native: &Native,
    ) -> Result<Object, Error> {
        let Compiled { module, reflections, .. } = compiled;
        let head = head(module, reflections, &native.facts.entries);
        let name = self.recipe.file_name(native.build, Sharing::Any);
        if let (Some(folder), Some(name)) = (CodeFolder::find_quietly(EXTENSION), &name)
            && let Some(record) = folder.find_version(name, VERSION)
            && let Some((recorded, object)) = read_whole::<(Box<[u8]>, Object)>(&record)
            && *recorded == *head
        {
            return Ok(object);
        }
        let refuse = |reason| Error::Code { function: module.name.clone(), reason };
        let object = if self.has_module {
            shared_object(module, native.build)?.0
        } else {
            let made = self.recipe.module().map_err(refuse)?;
            let (object, facts) = shared_object(&made, native.build)?;
            if *self::head(&made, &reflect(&made), &facts.entries) != *head {
                return Err(refuse("its text has changed since it was compiled".into()));
            }
            object
        };
        if let Some(name) = name.filter(|_| object.is_storable()) {
            let mut record = Vec::new();
            head.write(&mut record);
            object.write(&mut record);
            store(&name, &record);
        }
        Ok(object)
    }
}

/// Returns the parts that all compilations of one module have in common, whatever memory its
/// threads share.
fn head(module: &Module, reflections: &[Option<Reflection>], entries: &[Entry]) -> Box<[u8]> {
    let mut head = Vec::new();
    interface::write(module, reflections, &mut head);
    entries.to_vec().write(&mut head);
    head.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_of_another_program_processor_or_build_has_another_name() {
        let name = file_name(b"id", "sse4", "recipe", "options");
        for other in [
            file_name(b"di", "sse4", "recipe", "options"),
            file_name(b"id", "avx2", "recipe", "options"),
            file_name(b"id", "sse4", "other", "options"),
            file_name(b"id", "sse4", "recipe", "other"),
        ] {
            assert_ne!(name, other);
        }
        let settings = HostCompiler::new().expect("a known processor").settings;
        let feature = if cfg!(target_arch = "x86_64") { "has_avx2" } else { "" };
        assert!(settings.contains(feature) && settings.contains("opt_level"), "{settings}");
    }
}
