//! Random programs and their inputs, with which tests compare all ways of running a program.
//!
//! A seed gives the same [`RandomProgram`] for ever. Programs are valid, end, never fault, have no
//! races, and use only operations whose results are exact. So all ways of running them must give
//! the same memory; only the bits of a NaN may differ.

mod actual;
mod compare;
mod expression;
mod function;
mod kernel;
mod random;
mod row;
mod smooth;
mod statement;

pub use actual::{Actual, number};
pub use compare::distance;
pub use random::Random;
pub use row::{CALLS, Case, cases};
pub use smooth::{Differentiable, differentiable, unit};

use gbxcule_interp::{Failure, Interpreter};
use gbxcule_ir::check::Valid;
use gbxcule_ir::function::FunctionId;
use gbxcule_ir::module::Module;

/// A kernel with its launch.
#[derive(Clone, Debug)]
pub struct RandomProgram {
    /// The checked module.
    pub module: Valid<Module>,
    /// The kernel to launch.
    pub kernel: FunctionId,
    /// Extents of the grid.
    pub dims: Vec<u32>,
    /// Buffers of memory before the launch.
    pub buffers: Vec<Vec<u8>>,
    /// One argument for each parameter.
    pub args: Vec<Actual>,
}

/// Choice of the constructs in a random program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Approximate number of the kernel's statements.
    pub statements: u32,
    /// Number of functions besides the kernel.
    pub functions: u32,
    /// True if `f16` and `bf16` occur.
    pub halves: bool,
    /// True if floats of any width occur.
    pub floats: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { statements: 24, functions: 3, halves: true, floats: true }
    }
}

/// Returns the program of a seed.
pub fn program(seed: u64) -> RandomProgram {
    program_with(seed, Options::default())
}

/// Returns the program of a seed and options.
pub fn program_with(seed: u64, options: Options) -> RandomProgram {
    kernel::generate(Random::new(seed), options)
}

impl RandomProgram {
    /// Returns the memory after a launch in the interpreter.
    pub fn interpret(&self) -> Result<Vec<Vec<u8>>, Failure> {
        let mut interpreter = Interpreter::new(&self.module);
        let buffers: Vec<_> =
            self.buffers.iter().map(|bytes| interpreter.memory.add(bytes.as_slice())).collect();
        let args: Vec<_> = self.args.iter().map(|actual| actual.argument(&buffers)).collect();
        interpreter.launch(self.kernel, &self.dims, &args)?;
        Ok(buffers.into_iter().map(|buffer| interpreter.memory.bytes(buffer).to_vec()).collect())
    }

    /// Describes the first number by which two memories differ: by more than `ulps` units in the
    /// last place. NaNs are all equal.
    pub fn difference(&self, left: &[Vec<u8>], right: &[Vec<u8>], ulps: u64) -> Option<String> {
        compare::difference(self, left, right, ulps)
    }
}
