//! Texts of Python, read and never run: the files of a program, and the bindings of its names.
//!
//! The modules build on each other in this order: a text is parsed (`syntax`), its bindings and
//! mentions are listed (`outline`), imports are followed as far as kernels may need them
//! (`loader`), and each scope says what binds its names (`scope`). No module evaluates anything.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod binding;
mod decorator;
mod file;
mod import_fault;
mod loader;
mod module;
mod outline;
mod scope;
mod scope_reader;
pub mod syntax;
mod text;

pub use binding::{BindingSource, Definition, Guard, GuardId, Owner, Question, ScopeId};
pub use decorator::is_plain;
pub use file::{Content, Files, ImportedModule, Library, Target};
pub use loader::load;
pub use module::canonical;
pub use scope::Scopes;
pub use text::{ImportOptions, Parsed, ReadFile, Text, Texts};
