//! Passes: from IR to simpler IR with the same meaning. Each pass takes a module and leaves a
//! module that `check` accepts.
//!
//! | pass | what it does |
//! |---|---|
//! | [`inline`] | puts small builtins and functions that ask for it where they are called |
//! | [`fold`] | computes constants, takes parts out of composites that the same body builds |
//! | [`dce`] | drops code without a use |
//! | [`carry`] | makes handles that accompany a struct through all calls fields of the struct |
//! | [`detach`] | moves arrays out of a struct, which keeps handles to them |
//! | [`exit`] | makes functions leave at their end only |
//! | [`lowest_first`] | in a loop, lets the threads whose key is lowest run first |
//! | [`out_of_line`] | keeps large functions that are called from several places out of line |
//! | [`promote`] | keeps fields of a struct in variables while a function works on them |
//! | [`widen`] | splits structs into variables of a register's width |
//! | [`window`] | chooses an address's part of a table once for many reads |
//!
//! No pass removes or adds a fault, a trap or an effect.

pub mod carry;
mod copy;
pub mod dce;
pub mod detach;
pub mod exit;
pub mod fold;
pub mod inline;
pub mod lowest_first;
pub mod out_of_line;
pub mod promote;
mod retype;
pub mod widen;
pub mod window;
mod writer;

use gbxcule_ir::check::{self, Valid};
use gbxcule_ir::module::Module;

/// Inlines, folds and drops code without a use.
///
/// The swarm calls it for the machine's kernels. Users' kernels are printed and compiled as the
/// front end leaves them, so that texts keep their names and lines; both code generators, or the
/// compilers behind them, inline small functions and fold constants themselves.
pub fn simplify(module: Valid<Module>) -> Valid<Module> {
    let mut module = inline::run(module);
    fold::run(&mut module);
    rechecked(dce::run(rechecked(module)))
}

/// Checks a module that a pass made.
pub fn rechecked(module: Module) -> Valid<Module> {
    check::module(module)
        .unwrap_or_else(|faults| unreachable!("passes keep all rules: {faults:#?}"))
}
