//! Building function bodies: what front ends, `grad` and the bodies of builtins use.
//!
//! The builder never fails and checks nothing: an operation on wrong types gets the type
//! `Type::INVALID`, and `check` refuses the module. Statements after a terminator are dropped.
//!
//! Three types form layers. Each has fields and the methods of the layer below: [`Draft`] has the
//! body, its variables and places; [`Blocks`] adds statements to the innermost open block;
//! [`Builder`] adds operations, each with the `Let` that evaluates it.

mod blocks;
mod draft;
mod nested;
mod short;
mod value;

pub use blocks::Blocks;
pub use draft::Draft;

use super::function::FunctionId;
use super::module::Module;
use std::ops::{Deref, DerefMut};

/// Fills the body of one declared function. Nested builders for other functions may borrow
/// [`Draft::module`] meanwhile.
pub struct Builder<'m> {
    blocks: Blocks<'m>,
}

impl<'m> Builder<'m> {
    /// Begins the body of a declared function, or goes on at its end.
    pub fn new(module: &'m mut Module, function: FunctionId) -> Self {
        Self { blocks: Blocks::new(Draft::new(module, function)) }
    }

    /// Puts the body into the module.
    pub fn finish(self) -> FunctionId {
        self.blocks.into_draft().finish()
    }
}

impl<'m> Deref for Builder<'m> {
    type Target = Blocks<'m>;

    fn deref(&self) -> &Self::Target {
        &self.blocks
    }
}

impl DerefMut for Builder<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.blocks
    }
}
