//! Rules about the tree itself, which no compiler enforces: which crate depends on which, how files
//! are named and how long they are, what one type does, which files hold unsafe code, how sentences
//! begin, and that pages name existing things. Clippy limits the length of functions
//! (`clippy.toml`), cargo-deny the licences of dependencies (`deny.toml`).

mod architecture;
mod codes;
mod contributing;
mod files;
mod methods;
mod unsafe_code;
mod words;
