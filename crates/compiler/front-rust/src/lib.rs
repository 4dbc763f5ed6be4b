//! The subset of Rust in which the machine is written, lowered to IR.
//!
//! The very files that rustc compiles go through here: `text` parses them, `item` collects what
//! they define and `name` resolves paths; `infer` works out the types of each body that an entry
//! point reaches, `constant` the constants, and `lower` builds the functions of a module. What lies
//! outside the subset, or isn't understood, is a diagnostic at its line.

mod cfg;
mod constant;
mod infer;
mod item;
mod lower;
mod name;
mod recursion;
mod text;
mod tree;
mod ty;

use gbxcule_ir::diagnostic::{Code, Diagnostic, has_errors};
use gbxcule_ir::module::Module;
use gbxcule_ir::source::{SourceMap, Span};
use item::Items;
use text::File;

/// Lowers the functions named by `entries` (`Machine::run_frame`, or with more of the path) and all
/// that they call. Each text is a path such as `src/ppu/line.rs`, which says which module it is,
/// and what stands there; all go to `sources`. Functions of the module are called as the sources
/// call them, those of `impl` blocks with their type's name before.
pub fn lower(
    texts: &[(&str, &str)],
    entries: &[&str],
    sources: &mut SourceMap,
) -> Result<Module, Vec<Diagnostic>> {
    lower_with_flags(texts, &[], entries, sources)
}

/// Does what [`lower`] does, for texts compiled with some flags: `#[cfg(flag)]` holds for them
/// alone.
pub fn lower_with_flags(
    texts: &[(&str, &str)],
    flags: &[&str],
    entries: &[&str],
    sources: &mut SourceMap,
) -> Result<Module, Vec<Diagnostic>> {
    let files = texts.iter().map(|(path, text)| File::parse(path, text, flags, sources));
    let (mut parsed, mut faults) = (Vec::new(), Vec::new());
    for file in files {
        match file {
            Ok(file) => parsed.push(file),
            Err(fault) => faults.push(fault),
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let program = Items::collect(&parsed);
    let entries: Vec<usize> =
        entries.iter().filter_map(|&entry| entry_point(&program, entry)).collect();
    recursion::check_recursion(&program, &entries);
    let mut module = Module::new("rust");
    if !has_errors(&program.faults.borrow()) {
        lower::Lower::new(&program).run(&entries, &mut module);
    }
    let faults = program.faults.into_inner();
    if has_errors(&faults) { Err(faults) } else { Ok(module) }
}

/// The paths of all functions of some texts: as entries, they lower everything.
pub fn functions(texts: &[(&str, &str)], flags: &[&str]) -> Vec<String> {
    let mut sources = SourceMap::new();
    let parse = |(path, text): &(&str, &str)| File::parse(path, text, flags, &mut sources).ok();
    let files: Vec<File> = texts.iter().filter_map(parse).collect();
    let program = Items::collect(&files);
    let functions = program.functions.iter();
    functions.map(|it| program.full_name(it.scope.module, &it.name)).collect()
}

fn entry_point(program: &Items<'_>, entry: &str) -> Option<usize> {
    let found = program.entry(entry);
    if found.is_none() {
        let message = format!("no function, or more than one, is called `{entry}`");
        program.fault(Diagnostic::error(Code::RustEntry, Span::NONE, message));
    }
    found
}

/// Example of the README, run as a test of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExample;
