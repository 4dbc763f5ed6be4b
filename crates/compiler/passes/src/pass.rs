//! Passes: IR to simpler IR that means the same. Each takes a module and leaves one that `check`
//! accepts.
//!
//! | pass | what it does |
//! |---|---|
//! | [`inline`] | puts small builtins, and functions that ask for it, where they are called |
//! | [`fold`] | computes what is constant, takes parts out of what was just put together |
//! | [`dce`] | drops code without a use |
//! | [`carry`] | makes handles that go wherever a struct goes fields of the struct |
//! | [`detach`] | moves arrays out of a struct, which keeps handles to them |
//! | [`exit`] | makes functions leave at their end only |
//! | [`lowest_first`] | lets those threads run first of a loop whose key is lowest |
//! | [`out_of_line`] | keeps large functions that are called from several places out of line |
//! | [`promote`] | keeps fields of a struct in variables while a function works on them |
//! | [`widen`] | keeps what was a struct in variables of a register's width |
//! | [`window`] | chooses once for many reads which part of a table an address stands for |
//!
//! None of them removes or adds a fault, a trap or an effect.

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

use gbxcule_ir::check::{self, Valid};
use gbxcule_ir::module::Module;

/// Inlines, folds and drops code without a use.
///
/// The swarm asks for it, for the machine's kernels. What users wrote is printed and compiled as
/// the front end leaves it, so that texts keep its names and lines; both code generators, or the
/// compilers behind them, put small functions in place and fold constants themselves.
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
