//! C++ and CUDA C++ text: one writer, two dialects.
//!
//! The two differ in a few words: how a function is marked, how a kernel is entered, where a table
//! lies. The code of a kernel is the same text, and both include one small header, [`HEADER`], with
//! the types and the arithmetic that C++ leaves open. Text of the CUDA dialect compiles as host C++
//! behind [`HOST_CUDA`], so it runs without a GPU; [`on_host`] makes such a program.
//!
//! # Compiling
//! Host: C++17, `-ffp-contract=off`, and any `-O`. NVRTC or nvcc: `--std=c++17 --fmad=false`.
//! Floats are rounded once for each operation; fast-math flags break that.
//!
//! # Entering
//! A host kernel is `int symbol(const gbx::Grid*, void* const* args, gbx::Fault*)`. It runs
//! `begin..end` of the grid serially and returns the kind of the fault, or 0. A CUDA kernel takes
//! the `gbx::Grid` by value, then its own parameters, and works with any one-dimensional launch;
//! faults go to the global `gbx_fault`. Array handles and structs lie in memory as
//! [`gbxcule_ir::layout`] defines. Extents of the grid are `i32`, so a launch index plus 1 never
//! overflows.
//!
//! # Inlining
//! A value that is used once becomes part of the expression that uses it. A value that reads memory
//! is never moved across a write to that memory, and a value that may fault is never moved across
//! an effect. So the text keeps the order of the IR. Expressions are kept short, so that no
//! compiler recurses deeply.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod arith;
mod convert;
mod expr;
mod function;
mod hoist;
mod interval;
mod items;
mod launch;
mod library;
mod lines;
mod literal;
mod live;
mod name;
mod op;
mod place;
mod plain;
mod printf;
mod statement;
mod table;
mod ty;
mod unit;
mod value;

use gbxcule_ir::abi::Checks;
use gbxcule_ir::check::Valid;
use gbxcule_ir::function::{FunctionId, Name};
use gbxcule_ir::module::Module;
use gbxcule_ir::source::{SourceMap, Span};

pub use library::{LibraryFunction, c_header, prefix, rust_module};
pub use plain::{write_plain, write_plain_reverse, written};

/// The header that all text includes, as [`HEADER_NAME`].
pub const HEADER: &str = include_str!("gbxcule.h");
/// Name by which the text includes the header.
pub const HEADER_NAME: &str = "gbxcule.h";
/// Definitions of CUDA's words for a host compiler.
pub const HOST_CUDA: &str = include_str!("host_cuda.h");
/// Name by which the text of [`on_host`] includes the definitions.
pub const HOST_CUDA_NAME: &str = "host_cuda.h";

/// Compiler for which the text is written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Dialect {
    /// A C++17 compiler for the CPU.
    Host,
    /// NVRTC or nvcc.
    Cuda,
}

/// Options of the text.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// Compiler for which the text is.
    pub dialect: Dialect,
    /// One kernel and what it calls; `None` for the whole module.
    pub kernel: Option<FunctionId>,
    /// Texts into which spans point; their lines are quoted as comments.
    pub sources: Option<&'a SourceMap>,
    /// Functions that check indices and divisors.
    pub checks: Checks,
    /// True if the header is part of the text instead of included.
    pub embed_header: bool,
    /// Makes host text a library whose functions begin with this: see [`LibraryFunction`].
    pub library: Option<&'a str>,
}

impl Options<'_> {
    /// Options for the whole module, with all checks and without comments.
    pub const fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            kernel: None,
            sources: None,
            checks: Checks::All,
            embed_header: false,
            library: None,
        }
    }
}

/// Written text.
#[derive(Clone, Debug)]
pub struct Text {
    /// The text.
    pub source: String,
    /// Kernels, in the module's order.
    pub kernels: Vec<Entry>,
    /// The functions of a library, in the module's order.
    pub functions: Vec<LibraryFunction>,
    /// The lines at which something may fault, ascending.
    pub sites: Vec<Site>,
    dialect: Dialect,
}

/// A kernel of a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Kernel.
    pub kernel: FunctionId,
    /// Symbol.
    pub symbol: String,
    /// True if threads soon take different branches ([`gbxcule_ir::Function::diverges`]).
    pub diverges: bool,
}

/// Source of a line of the text, by which a `gbx::Fault` is traced back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Site {
    /// The line, from 1.
    pub line: u32,
    /// Function of the place.
    pub function: FunctionId,
    /// Place in the source.
    pub span: Span,
    /// Message of a `Trap` or `Assert` there.
    pub message: Option<Name>,
}

impl Site {
    /// Looks up a line among the sites of a text, which are sorted by line.
    pub fn of_line(sites: &[Self], line: u32) -> Option<&Self> {
        let at = sites.partition_point(|site| site.line <= line);
        sites[..at].last().filter(|site| site.line == line)
    }
}

impl Text {
    /// Looks up the source of a line of the text.
    pub fn site(&self, line: u32) -> Option<&Site> {
        Site::of_line(&self.sites, line)
    }
}

/// Writes a module, or one kernel of it.
pub fn write(module: &Valid<Module>, options: &Options<'_>) -> Text {
    unit::Unit::new(module, options, None).write()
}

/// Makes a host program of CUDA text. For each kernel it has a function `int
/// on_host_symbol(unsigned blocks, unsigned threads, const gbx::Grid*, void* const* args,
/// gbx::Fault*)`.
pub fn on_host(text: &Text) -> String {
    debug_assert_eq!(text.dialect, Dialect::Cuda, "host text runs on the host as it is");
    // The header comes first, so definitions that precede the header in the text must come before
    // it here as well.
    let unchecked = text.source.lines().find(|line| *line == unit::UNCHECKED);
    let unchecked = unchecked.map_or(String::new(), |line| format!("{line}\n"));
    let mut program = format!("{unchecked}#include \"{HOST_CUDA_NAME}\"\n{}\n", text.source);
    for Entry { symbol, .. } in &text.kernels {
        program += &format!(
            "GBX_EXPORT int on_host_{symbol}(unsigned int blocks, unsigned int threads, \
             const gbx::Grid* grid, void* const* args, gbx::Fault* fault)\n{{\n    \
             return gbx_launch(program::{symbol}, blocks, threads, grid, args, fault);\n}}\n"
        );
    }
    program
}
