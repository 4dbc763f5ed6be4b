//! Typed grammars: kernels that are well-typed by construction, in which every input and variable
//! is used.
//!
//! Three types form layers. Each has the methods of the layer below: [`Scope`] has names,
//! definitions and open blocks; [`Expressions`] adds expressions of a wanted type;
//! [`KernelBuilder`] adds statements. Each family under `family` is a recipe of such parts. A
//! definition is *pending* until it is read, and the last store of a kernel absorbs all pending
//! definitions, so there is no dead code. `plausibility` rejects expressions that a person wouldn't
//! write, also by their `range`, and they are drawn again.

mod ablation;
mod expressions;
mod family;
mod function;
mod launch;
mod motif;
mod parameter;
mod plausibility;
mod range;
mod scope;

use crate::ast::{Expr, Function, Stmt, Text, Ty};
use crate::identifiers;
use crate::input::ArgumentInput;
use crate::random::Random;
use crate::spell;
use ablation::ablations;
use expressions::{Expressions, Weights};
pub use family::Family;
use scope::{Finished, Scope};
use std::ops::{Deref, DerefMut};

/// A kernel with its launch.
#[derive(Clone, PartialEq, Debug)]
pub struct Draft {
    /// The main subject.
    pub family: Family,
    /// Extents of the launch's grid.
    pub dims: Vec<u32>,
    /// One input for each parameter.
    pub inputs: Vec<ArgumentInput>,
    pub(crate) text: Text,
}

impl Draft {
    /// Returns the kernel as Python.
    pub fn source(&self) -> String {
        spell::text(&self.text)
    }

    /// Returns the names of its functions and of the kernel.
    pub fn functions(&self) -> Vec<&str> {
        let all = self.text.functions.iter().chain([&self.text.kernel]);
        all.map(|function| &*function.name).collect()
    }

    /// Returns one source for each statement that isn't the definition of a name; that statement is
    /// left out.
    pub fn ablations(&self) -> impl Iterator<Item = String> {
        ablations(&self.text).into_iter().map(|text| spell::text(&text))
    }
}

/// Writes the statements of a kernel.
pub(crate) struct KernelBuilder {
    expressions: Expressions,
    functions: Vec<Function>,
}

impl Deref for KernelBuilder {
    type Target = Expressions;

    fn deref(&self) -> &Expressions {
        &self.expressions
    }
}

impl DerefMut for KernelBuilder {
    fn deref_mut(&mut self) -> &mut Expressions {
        &mut self.expressions
    }
}

/// Draws a kernel: `row` decides the family, and `seed` everything else. Returns `None` if the
/// kernel is implausible.
pub fn draft(row: u64, seed: u64) -> Option<Draft> {
    let family = Family::draw(&mut Random::new(row));
    let mut maker = KernelBuilder::new(Random::new(seed), family.weights());
    family.build(&mut maker);
    let draft = maker.finish(family);
    plausibility::is_sound(&draft.text).then_some(draft)
}

impl KernelBuilder {
    fn new(random: Random, weights: Weights) -> Self {
        Self { expressions: Expressions::new(Scope::new(random), weights), functions: Vec::new() }
    }

    fn finish(self, family: Family) -> Draft {
        let Self { expressions, functions } = self;
        let verbs = identifiers::verbs(family.name());
        let Finished { constants, structs, kernel, inputs, dims } =
            expressions.into_scope().finish(verbs, &functions);
        Draft { family, text: Text { constants, structs, functions, kernel }, dims, inputs }
    }

    /// Returns the statements that `build` writes as a block. The block's variables are out of
    /// scope after it.
    fn block(&mut self, build: impl FnOnce(&mut Self)) -> Vec<Stmt> {
        let since = self.next_var();
        self.open_block();
        build(self);
        self.close_block(since)
    }

    /// Stores an expression that absorbs all pending definitions, at the launch indices of a new
    /// output or of an array that is updated in place.
    fn store(&mut self, ty: Ty) {
        if self.random().chance(9) {
            return self.update(ty);
        }
        let out = self.output_here(ty);
        let value = self.closing(ty);
        let at = self.here();
        self.push(Stmt::Assign(vec![Expr::from(&out).index(at)], value));
    }

    /// Writes an array that the kernel updates in place, by replacing elements or by adding to
    /// them. The gradient of a row is refused if it needs an element that was replaced.
    fn update(&mut self, ty: Ty) {
        let shape = self.dims();
        let spread = ArgumentInput::spread(self.random(), shape.clone());
        let given = ArgumentInput { written: true, ..spread };
        let name = self.side_input(ty, shape, given);
        let place = Expr::from(&name).index(self.here());
        let adds = !matches!(ty, Ty::Quat | Ty::Transform) && self.random().chance(40);
        if adds {
            let value = self.closing(ty);
            let op = self.random().pick(&["+", "-"]);
            return self.push(Stmt::Augment(place, op, value));
        }
        self.reveal(place.clone(), ty);
        let value = self.closing(ty);
        self.hide(&place);
        self.push(Stmt::Assign(vec![place], value));
    }
}
