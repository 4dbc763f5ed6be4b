//! Passes: IR to simpler IR that means the same. Each takes a module and leaves one that `check` accepts.
//!
//! | pass | what it does |
//! |---|---|
//! | [`inline`] | puts small builtins, and functions that ask for it, where they are called |
//! | [`fold`] | computes what is constant, takes parts out of what was just put together |
//! | [`dce`] | drops what nobody uses |
//!
//! None of them removes or adds a fault, a trap or an effect.

mod copy;
pub mod dce;
pub mod fold;
pub mod inline;

use crate::check::{self, Valid};
use crate::ir::module::Module;

/// What text and code are made from: inlined, folded, without dead weight.
pub fn simplify(module: Valid<Module>) -> Valid<Module> {
    let mut module = inline::run(module);
    fold::run(&mut module);
    rechecked(dce::run(rechecked(module)))
}

/// The module as `check` returns it.
pub fn rechecked(module: Module) -> Valid<Module> {
    check::module(module)
        .unwrap_or_else(|faults| unreachable!("passes keep all rules: {faults:#?}"))
}
