//! CUDA without the header, as people write it: raw pointers and extents, `blockIdx` and
//! `threadIdx` behind a guard, CUDA's own functions.
//!
//! The writer is the one of all texts (`unit`, `statement`, `op`); this folder holds only what it
//! writes differently without the header, and what such a text needs in addition.
//!
//! A kernel takes the extents of its launch, `dim0, ..`, and then its parameters; an array is a
//! pointer to dense elements, followed by its extents `x_dim0, ..`. Indices are not checked, and
//! none may be negative, apart from literals. A kernel has no such text if it has arrays in structs
//! or variables, slices, 16-bit floats, assertions, or prints.

mod array;
mod block_work;
mod connective;
pub(super) mod definition;
mod kernel;
mod operation;
mod operator;
mod store;

use super::unit::Unit;
use super::{Checks, Dialect, Options};
use gbxcule_ir::check::Valid;
use gbxcule_ir::function::FunctionId;
use gbxcule_ir::module::Module;

pub(super) use array::RawArrays;
pub use array::written;
pub(super) use block_work::BlockWork;
pub(super) use definition::{Definitions, HELPERS, component, composite, fields};
pub(super) use kernel::write as write_kernel;
pub(super) use operation::Launch;
pub(super) use operator::operator;

/// Options of a text without the header.
#[derive(Debug)]
pub(super) struct PlainOptions<'a> {
    /// The kernels, each with the dimensions of its grid.
    pub(super) kernels: &'a [(FunctionId, usize)],
    /// True if the kernels are reverses, whose arrays have pointers to their gradients.
    differentiates: bool,
    /// True, by function and parameter, for an array that the function writes.
    written: Vec<Vec<bool>>,
}

/// Writes kernels without the header, each for grids of the given number of dimensions. Returns
/// `None` if one of the kernels needs the header.
pub fn write_plain(module: &Valid<Module>, kernels: &[(FunctionId, usize)]) -> Option<String> {
    write(module, kernels, false)
}

/// Writes reverses as [`write_plain`] writes kernels; each array has a pointer to its gradients.
pub fn write_plain_reverse(
    module: &Valid<Module>,
    kernels: &[(FunctionId, usize)],
) -> Option<String> {
    write(module, kernels, true)
}

fn write(
    module: &Valid<Module>,
    kernels: &[(FunctionId, usize)],
    differentiates: bool,
) -> Option<String> {
    let options = Options { checks: Checks::None, ..Options::new(Dialect::Cuda) };
    let plain = PlainOptions { kernels, differentiates, written: array::written(module) };
    Unit::new(module, &options, Some(plain)).write_plain()
}
