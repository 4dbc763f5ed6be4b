//! Named algorithms as parametrised, typed templates: the kernels of a dataset that have a purpose.
//!
//! A [`Template`] is a file below `library`: a header that knows choices, sizes, domains of inputs
//! and words, then a Python text with holes. [`Template::instance`] fills the holes. The rows of a
//! dataset are made of instances as of any other text (`gbxcule_rows`); nothing is compiled here.

mod condition;
mod description;
mod expression;
mod instance;
mod parameter;
mod rename;
mod signature;
mod style;
mod template;

pub use description::Descriptions;
pub use instance::Instance;
use std::sync::LazyLock;
pub use template::Template;

/// The library's files: topic, name, text.
const FILES: &[(&str, &str, &str)] = &include!(concat!(env!("OUT_DIR"), "/library.rs"));

/// All templates, by topic and name.
pub static LIBRARY: LazyLock<Vec<Template>> = LazyLock::new(|| {
    let parse = |&(topic, name, text): &(&str, &str, &str)| Template::parse(topic, name, text);
    match FILES.iter().map(parse).collect() {
        Ok(templates) => templates,
        Err(fault) => unreachable!("a test reads every file: {fault}"),
    }
});

/// Example of the README, run as a test of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExample;
