//! CUDA without the header, as people write it: raw pointers and extents, `blockIdx` and
//! `threadIdx` behind a guard, CUDA's own functions.
//!
//! A kernel takes the extents of its launch, `dim0, ..`, and then its parameters; an array is a
//! pointer to dense elements, followed by its extents `x_dim0, ..`. Indices are not checked, and
//! none may be negative, apart from literals. A kernel has no such text if it has arrays in structs
//! or variables, slices, 16-bit floats, assertions, or prints.

mod array;
mod definition;
mod kernel;
mod operation;
mod store;
mod team;

use super::unit::Unit;
use super::{Checks, Dialect, Options};
use gbxcule_ir::check::Valid;
use gbxcule_ir::function::FunctionId;
use gbxcule_ir::module::Module;

pub(super) use array::RawArrays;
pub(super) use definition::{Definitions, HELPERS, component, composite, fields};
pub(super) use kernel::write as write_kernel;
pub(super) use operation::Launch;
pub(super) use team::Team;

/// Options of a text without the header.
#[derive(Debug)]
pub(super) struct Plain {
    /// Dimensions of the grid.
    dims: usize,
    /// The kernel is a reverse, whose arrays have pointers to their gradients.
    differentiates: bool,
    /// For each function the parameters that are arrays it writes.
    written: Vec<Vec<bool>>,
}

/// Writes a kernel without the header, for grids of so many dimensions, if it has such a text.
pub fn write_plain(module: &Valid<Module>, kernel: FunctionId, dims: usize) -> Option<String> {
    write(module, kernel, dims, false)
}

/// Writes a reverse as [`write_plain`] writes kernels; each array has a pointer to its gradients.
pub fn write_plain_reverse(
    module: &Valid<Module>,
    kernel: FunctionId,
    dims: usize,
) -> Option<String> {
    write(module, kernel, dims, true)
}

fn write(
    module: &Valid<Module>,
    kernel: FunctionId,
    dims: usize,
    differentiates: bool,
) -> Option<String> {
    let options =
        Options { kernel: Some(kernel), checks: Checks::None, ..Options::new(Dialect::Cuda) };
    let plain = Plain { dims, differentiates, written: array::written(module) };
    Unit::new(module, &options, Some(plain)).write_plain()
}
