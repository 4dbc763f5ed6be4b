//! Finds the kernels of a text on disk, or compiles them.
//!
//! Two files on disk belong to a text. The first, its outline, has the names of its kernels, and
//! the files that the text imported when it was parsed. If these files are unchanged, they and the
//! text identify the second file, which has the machine code. So a text whose kernels are on disk
//! is not parsed.

use std::sync::Arc;

use gbxcule_front_warp::{KernelName, Reader};
use gbxcule_ir::Module;
use gbxcule_ir::check::{self, Valid};
use gbxcule_ir::diagnostic::Diagnostic;
use gbxcule_ir::source::SourceId;
use gbxcule_runtime::{
    Build, CodeFolder, Compiled, Error, MadeModule, Recipe, Stored, build_id, read_whole,
};

use super::refused;
use super::text::{self, Given, Import, Parsed};

/// Extension of files with outlines, and the version of their format.
const EXTENSION: &str = ".outline";
const VERSION: (u32, u32) = (1, 0);

/// Generic parameter: position, name, and dimensions of an array.
pub(crate) type GenericParameter = (usize, String, Option<u8>);
/// Kernels of a text, each with its generic parameters.
pub(crate) type KernelNames = Vec<(String, Vec<GenericParameter>)>;

/// Outline of a text: the files that it looked for, the names and texts of its program's other
/// files, and its kernels.
struct Outline {
    imports: Vec<Import>,
    others: Vec<(String, String)>,
    kernels: KernelNames,
}

/// Returns the name of a text's outline; `None` without a build id, because other versions of this
/// program could use the name.
fn outline_name(given: &Given) -> Option<String> {
    let Given { file, text, beside, types, .. } = given;
    let types = format!("{beside} {types:?}");
    let parts = [b"outline", build_id()?, file.as_bytes(), text.as_bytes(), types.as_bytes()];
    Some(CodeFolder::key(&parts))
}

impl Outline {
    fn new(parsed: &Parsed) -> Self {
        let reader = parsed.program.reader();
        let kernels = reader.kernels().into_iter().map(|kernel| {
            // Faults of a signature are reported when the kernel is compiled.
            let generic = reader.generic_parameters(kernel.position).unwrap_or_default();
            let generic = generic.into_iter().map(|it| (it.position, it.name, it.dims));
            (kernel.name, generic.collect())
        });
        let texts = text::all();
        let others = parsed.sources.iter().skip(1).map(|&id| texts.get(id));
        let others = others.map(|source| (source.name.clone(), source.text.clone()));
        let imports = parsed.imports.clone();
        Self { imports, others: others.collect(), kernels: kernels.collect() }
    }

    /// Finds the outline of a text whose imports are unchanged.
    fn find(given: &Given) -> Option<Self> {
        let name = outline_name(given)?;
        let record = CodeFolder::find_quietly(EXTENSION)?.find_version(&name, VERSION)?;
        let (imports, others, kernels): (Vec<Import>, _, _) = read_whole(&record)?;
        given.imports_are(&imports).then_some(Self { imports, others, kernels })
    }

    fn write(&self, given: &Given) {
        if let (Some(folder), Some(name)) =
            (CodeFolder::find_quietly(EXTENSION), outline_name(given))
        {
            let Self { imports, others, kernels } = self;
            let mut record = Vec::new();
            imports.write(&mut record);
            others.write(&mut record);
            kernels.write(&mut record);
            folder.keep_if_possible(&name, VERSION, &record);
        }
    }
}

/// Returns the kernels of a text.
pub(crate) fn kernel_names(given: &Given) -> Result<KernelNames, Vec<Diagnostic>> {
    if let Some(outline) = Outline::find(given) {
        return Ok(outline.kernels);
    }
    let outline = Outline::new(&given.parse()?);
    outline.write(given);
    Ok(outline.kernels)
}

/// Request for the kernels of a text, all or those with some names.
pub(crate) struct Request {
    pub given: Given,
    pub names: Option<Vec<String>>,
}

/// Reason why a request gives no kernels.
pub(crate) enum Refusal {
    Text(Vec<Diagnostic>),
    Code(Error),
}

impl Request {
    /// Finds the kernels on disk, or compiles them. If hand-written gradients are refused, the
    /// code's notes say so.
    pub(crate) fn compiled(self: &Arc<Self>) -> Result<(Arc<Compiled>, Recipe), Refusal> {
        if let Some(outline) = Outline::find(&self.given) {
            let sources = self.given.add_with(&outline.others);
            let recipe = self.recipe(&outline.imports, &sources);
            if let Some(compiled) = recipe.find(Build::default()) {
                return Ok((compiled, recipe));
            }
        }
        let parsed = self.given.parse().map_err(Refusal::Text)?;
        let made = self.lower(&parsed).map_err(Refusal::Text)?;
        Outline::new(&parsed).write(&self.given);
        let recipe = self.recipe(&parsed.imports, &parsed.sources);
        let compiled = recipe.compile(made, Build::default()).map_err(Refusal::Code)?;
        Ok((compiled, recipe))
    }

    /// Returns the recipe of the kernels' module.
    fn recipe(self: &Arc<Self>, imports: &[Import], sources: &[SourceId]) -> Recipe {
        let Given { file, text, beside, types, .. } = &self.given;
        let options = format!("{beside} {types:?} {:?} {imports:?}", self.names);
        let parts = [b"kernels", file.as_bytes(), text.as_bytes(), options.as_bytes()];
        let (request, imports) = (Arc::clone(self), imports.to_vec());
        Recipe::new(&CodeFolder::key(&parts), sources, move || request.module(&imports))
    }

    /// Makes the module of the kernels again.
    fn module(&self, imports: &[Import]) -> Result<Valid<Module>, String> {
        let parsed = self.given.parse().map_err(|faults| refused(&faults))?;
        if parsed.imports != imports {
            return Err("a file that it imports has changed since it was compiled".into());
        }
        self.lower(&parsed).map(|made| made.module).map_err(|faults| refused(&faults))
    }

    fn lower(&self, parsed: &Parsed) -> Result<MadeModule, Vec<Diagnostic>> {
        let (program, names) = (&parsed.program, self.names.as_deref());
        match lower(&program.reader().with_gradients(), names) {
            Ok(module) => Ok(MadeModule { module, notes: String::new() }),
            // Only reverses need hand-written gradients, so the kernels compile without a refused
            // one.
            Err(faults) => lower(&program.reader(), names)
                .map(|module| MadeModule { module, notes: refused(&faults) }),
        }
    }
}

/// Lowers all kernels of a program, or those that `names` has, into one module.
fn lower(reader: &Reader<'_>, names: Option<&[String]>) -> Result<Valid<Module>, Vec<Diagnostic>> {
    let wanted = |kernel: &KernelName| names.is_none_or(|names| names.contains(&kernel.name));
    check::module(reader.compile_kernels("kernels", wanted)?)
}
