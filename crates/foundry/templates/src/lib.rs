//! Named algorithms as parametrised, typed templates, for kernels of a dataset that have a known
//! purpose.
//!
//! A [`Template`] is a file below `library`: a header with choices, sizes, domains of inputs and
//! words, then a Python text with holes. [`Template::instance`] fills the holes. `gbxcule_rows`
//! makes rows of instances; this crate compiles nothing. A [`Composition`] names several templates
//! and has the host code that launches them.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod composition;
mod condition;
mod description;
mod expression;
mod header;
mod instance;
mod parameter;
mod rename;
mod signature;
mod style;
mod template;

pub use composition::Composition;
pub use description::Descriptions;
pub use instance::Instance;
use std::sync::LazyLock;
pub use template::Template;

/// The library's files: topic, name, kind, text.
const FILES: &[(&str, &str, &str, &str)] = &include!(concat!(env!("OUT_DIR"), "/library.rs"));

/// All templates, by topic and name.
pub static LIBRARY: LazyLock<Vec<Template>> = LazyLock::new(|| read("template", Template::parse));

/// All compositions of templates, by topic and name.
pub static COMPOSITIONS: LazyLock<Vec<Composition>> =
    LazyLock::new(|| read("composition", Composition::parse));

/// Reads the files of a kind.
fn read<T>(kind: &str, parse: fn(&str, &str, &str) -> Result<T, String>) -> Vec<T> {
    let files = FILES.iter().filter(|(_, _, own, _)| *own == kind);
    match files.map(|(topic, name, _, text)| parse(topic, name, text)).collect() {
        Ok(read) => read,
        Err(fault) => unreachable!("a test reads every file: {fault}"),
    }
}
