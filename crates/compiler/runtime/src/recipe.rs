//! Modules by their recipes: the facts on disk about a module whose machine code is there as well,
//! so that its kernels are launched without making the module again.
//!
//! The facts are the digest of its text, by which the machine code is found, the kernels'
//! parameters, the lines that may fault, and the notes of its maker.

use crate::compile_cache::Build;
use crate::cuda::{Image, LaunchTable};
use crate::disk_cache::CodeFolder;
use crate::error::Error;
use crate::reflection::{Parameter, Reflection};
use gbxcule_back_cxx::{Entry, Site};
use gbxcule_ir::check::{self, Valid};
use gbxcule_ir::source::{SourceId, Span};
use gbxcule_ir::{FunctionId, Module, Param, Scalar, Shape, Type, Types};

/// Ending of the names of files with signatures.
const EXTENSION: &str = ".signature";
/// Version of the records.
const VERSION: (u32, u32) = (1, 0);
/// Number that stands for no source, or no message.
const NONE: u32 = u32::MAX;

/// A module that was made by a recipe.
#[derive(Debug)]
pub struct MadeModule {
    /// Module.
    pub module: Valid<Module>,
    /// Facts that the maker needs when the module is not made: [`crate::Compiled::notes`].
    pub notes: String,
}

/// Parts of a module that launches need, found on disk.
#[derive(Debug)]
pub(crate) struct Signature {
    /// Kernels without bodies, and functions that may fault, which have names only.
    pub(crate) module: Valid<Module>,
    pub(crate) notes: String,
    pub(crate) reflections: Vec<Option<Reflection>>,
    pub(crate) table: LaunchTable,
    /// Digest of the text.
    pub(crate) source: String,
}

/// Compiled module whose signature is stored.
pub(crate) struct Kept<'a> {
    pub(crate) image: &'a Image,
    pub(crate) module: &'a Valid<Module>,
    pub(crate) notes: &'a str,
    pub(crate) reflections: &'a [Option<Reflection>],
}

/// Returns the name of a recipe's signature.
pub(crate) fn name(recipe: &str, build: Build) -> String {
    CodeFolder::key(&[b"signature", recipe.as_bytes(), format!("{build:?}").as_bytes()])
}

pub(crate) fn find(name: &str) -> Option<Signature> {
    let record = CodeFolder::find(EXTENSION)?.find_code(name, |version| version == VERSION)?;
    Reader { rest: &record }.signature()
}

/// Stores the signature of a module whose kernels take numbers and arrays of numbers.
pub(crate) fn keep(name: &str, kept: &Kept<'_>) -> Result<(), Error> {
    match (CodeFolder::find(EXTENSION), record(kept)) {
        (Some(folder), Some(record)) => folder.keep(name, VERSION, &record),
        _ => Ok(()),
    }
}

/// Writes the record of a signature; `None` if a kernel has parameters other than numbers and
/// arrays of numbers.
fn record(kept: &Kept<'_>) -> Option<Vec<u8>> {
    let Kept { image, module, notes, reflections } = kept;
    let LaunchTable { kernels, sites } = &image.table;
    let mut record = Writer::default();
    record.text(&image.source);
    record.text(notes);
    record.number(kernels.len());
    for entry in kernels {
        let reflection = reflections[entry.kernel.index()].as_ref()?;
        record.text(&reflection.name);
        record.text(&entry.symbol);
        record.number(usize::from(entry.diverges));
        record.number(usize::from(reflection.dims));
        record.number(reflection.disjoint.len());
        for &(first, second) in &reflection.disjoint {
            record.number(first as usize);
            record.number(second as usize);
        }
        record.number(reflection.parameters.len());
        for Parameter { name, ty, written, .. } in &reflection.parameters {
            let (scalar, dims) = numbers_of(&module.types, *ty)?;
            record.text(name);
            record.number(scalar as usize);
            record.number(usize::from(dims));
            record.number(usize::from(*written));
        }
    }
    let mut functions: Vec<FunctionId> = sites.iter().map(|site| site.function).collect();
    functions.sort_unstable();
    functions.dedup();
    record.number(functions.len());
    functions.iter().for_each(|&function| record.text(&module.functions[function].name));
    record.number(sites.len());
    for Site { line, function, span, message } in sites {
        record.number(*line as usize);
        record.number(functions.partition_point(|other| other < function));
        record.number(span.source().map_or(NONE as usize, SourceId::index));
        record.number(span.start as usize);
        record.number(span.end as usize);
        record.number(usize::from(message.is_some()));
        record.text(message.map_or("", |message| module.text(message)));
    }
    Some(record.bytes)
}

/// Returns the scalar of a number, or of an array of numbers with its dimensions.
fn numbers_of(types: &Types, ty: Type) -> Option<(Scalar, u8)> {
    match types[ty] {
        Shape::Scalar(scalar) => Some((scalar, 0)),
        Shape::Array { of, dims } => Some((of.as_scalar()?, dims)),
        _ => None,
    }
}

/// Writes numbers of four bytes, and texts after their lengths.
#[derive(Default)]
struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    fn number(&mut self, number: usize) {
        self.bytes.extend((number as u32).to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len());
        self.bytes.extend(text.as_bytes());
    }
}

/// Record that is being read; a field that doesn't fit gives `None`.
struct Reader<'r> {
    rest: &'r [u8],
}

impl Reader<'_> {
    fn signature(mut self) -> Option<Signature> {
        let (source, notes) = (self.text()?, self.text()?);
        let mut module = Module::new("kernels");
        let (mut kernels, mut reflections) = (Vec::new(), Vec::new());
        for _ in 0..self.number()? {
            let (name, symbol, diverges) = (self.text()?, self.text()?, self.truth()?);
            let dims = self.number()?.try_into().ok()?;
            let mut disjoint = Vec::new();
            for _ in 0..self.number()? {
                disjoint.push((self.number()?, self.number()?));
            }
            let mut parameters = Vec::new();
            for _ in 0..self.number()? {
                parameters.push(self.parameter(&mut module.types)?);
            }
            let params = parameters.iter().map(|it| Param::value(it.name.clone(), it.ty)).collect();
            let kernel = module.declare_kernel(name.clone(), params);
            kernels.push(Entry { kernel, symbol, diverges });
            reflections.push(Some(Reflection { name, parameters, dims, disjoint }));
        }
        let mut functions = Vec::new();
        for _ in 0..self.number()? {
            functions.push(module.declare(self.text()?, Vec::new(), Type::UNIT));
        }
        let mut sites = Vec::new();
        for _ in 0..self.number()? {
            sites.push(self.site(&functions, &mut module)?);
        }
        reflections.resize_with(module.functions.len(), || None);
        let module = check::module(module).ok().filter(|_| self.rest.is_empty())?;
        let table = LaunchTable { kernels, sites };
        Some(Signature { module, notes, reflections, table, source })
    }

    fn parameter(&mut self, types: &mut Types) -> Option<Parameter> {
        let name = self.text()?;
        let of = Type::scalar(*Scalar::ALL.get(self.number()? as usize)?);
        let ty = match self.number()? {
            0 => of,
            dims => types.array(of, dims.try_into().ok()?),
        };
        Some(Parameter { name, ty, type_name: types.spelled(ty), written: self.truth()? })
    }

    fn site(&mut self, functions: &[FunctionId], module: &mut Module) -> Option<Site> {
        let (line, function) = (self.number()?, *functions.get(self.number()? as usize)?);
        let (source, start, end) = (self.number()?, self.number()?, self.number()?);
        let span = if source == NONE {
            Span::NONE
        } else {
            Span::new(SourceId::from_index(source), start, end)
        };
        let (has_message, message) = (self.truth()?, self.text()?);
        let message = has_message.then(|| module.intern(&message));
        Some(Site { line, function, span, message })
    }

    fn number(&mut self) -> Option<u32> {
        let (first, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(u32::from_le_bytes(*first))
    }

    fn truth(&mut self) -> Option<bool> {
        Some(self.number()? != 0)
    }

    fn text(&mut self) -> Option<String> {
        let len = self.number()? as usize;
        let (text, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        String::from_utf8(text.to_vec()).ok()
    }
}
