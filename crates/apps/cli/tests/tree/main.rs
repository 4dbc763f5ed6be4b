//! Rules about the tree itself, which no compiler holds: who depends on whom, how files are named
//! and how long they are, what one type does, how sentences begin, and that pages name what exists.
//! Clippy holds how long functions are (`clippy.toml`), cargo-deny which licences dependencies have
//! (`deny.toml`).

mod architecture;
mod codes;
mod contributing;
mod files;
mod methods;
mod words;
