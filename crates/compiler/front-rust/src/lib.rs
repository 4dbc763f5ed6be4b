//! The subset of Rust in which the machine is written, lowered to IR.
//!
//! The files that rustc compiles are read here unchanged: `text` parses them, `item` collects
//! their definitions and `name` resolves paths; `infer` determines the types of each body that an
//! entry point reaches, `constant` evaluates the constants, and `lower` builds the functions of a
//! module. Code outside the subset is refused with a diagnostic at its line.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

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

/// Lowers the functions named by `entries` (`Machine::run_frame`, or a longer path) and all
/// functions that they call. Each text has a path such as `src/ppu/line.rs`, which determines its
/// module, and a content; all texts are added to `sources`. Functions keep their names; a
/// function of an `impl` block gets the type's name before its own.
pub fn lower(
    texts: &[(&str, &str)],
    entries: &[&str],
    sources: &mut SourceMap,
) -> Result<Module, Vec<Diagnostic>> {
    lower_with_flags(texts, &[], entries, sources)
}

/// Lowers as [`lower`] does, with some flags set: `#[cfg(flag)]` is true only for these flags.
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

/// Returns the paths of all functions of some texts, which can be given as entries to lower
/// everything.
pub fn functions(texts: &[(&str, &str)], flags: &[&str]) -> Vec<String> {
    let mut sources = SourceMap::new();
    let parse = |(path, text): &(&str, &str)| File::parse(path, text, flags, &mut sources).ok();
    let files: Vec<File> = texts.iter().filter_map(parse).collect();
    let program = Items::collect(&files);
    let functions = program.functions.iter();
    functions.map(|it| program.full_name(it.scope.module, &it.name)).collect()
}

fn entry_point(program: &Items<'_>, entry: &str) -> Option<usize> {
    let function = program.entry(entry);
    if function.is_none() {
        let message = format!("no function, or more than one, is called `{entry}`");
        program.fault(Diagnostic::error(Code::RustEntry, Span::NONE, message));
    }
    function
}
