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
mod team;

use super::function::Writer;
use super::unit::Unit;
use super::{Checks, Dialect, Options};
use array::RawArray;
use gbxcule_ir::check::Valid;
use gbxcule_ir::function::FunctionId;
use gbxcule_ir::module::Module;
use gbxcule_ir::op::Value;
use gbxcule_ir::place::PlaceId;
use rustc_hash::FxHashMap;
use std::cell::Cell;
use team::Team;

pub(super) use definition::{HELPERS, composite, fields};
pub(super) use kernel::write as write_kernel;

/// State of a text without the header.
#[derive(Debug)]
pub(super) struct Plain {
    /// Dimensions of the grid.
    dims: usize,
    /// The kernel is a reverse, whose arrays have pointers to their gradients.
    differentiates: bool,
    /// Names and texts of operators and functions that the text needs, in order.
    definitions: Vec<(String, String)>,
    is_refused: Cell<bool>,
    /// For each function the parameters that are arrays it writes.
    written: Vec<Vec<bool>>,
    /// Arrays that are parameters of the current function, by position.
    params: Vec<Option<RawArray>>,
    /// Arrays that are values of the current function.
    values: FxHashMap<Value, RawArray>,
    /// Names of the current kernel's indices in the launch.
    indices: Vec<String>,
    /// The work of a block whose threads make tiles together.
    team: Option<Team>,
    /// Variables to which threads add in the place of an array's element.
    sums: FxHashMap<PlaceId, String>,
    /// True if threads may be reading tiles.
    is_read: bool,
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
    let plain = Plain {
        dims,
        differentiates,
        definitions: Vec::new(),
        is_refused: Cell::new(false),
        written: array::written(module),
        params: Vec::new(),
        values: FxHashMap::default(),
        indices: Vec::new(),
        team: None,
        sums: FxHashMap::default(),
        is_read: false,
    };
    Unit::new(module, &options, Some(plain)).write_plain()
}

impl Plain {
    /// Notes that a part of the kernel has no such text.
    pub(super) fn refuse(&self) {
        self.is_refused.set(true);
    }

    /// Adds a definition once.
    fn define(&mut self, name: &str, text: String) {
        if !self.definitions.iter().any(|it| it.1 == text) {
            self.definitions.push((name.into(), text));
        }
    }

    /// Returns the definitions that a text uses, unless a part of the kernel has no such text.
    pub(super) fn end(mut self, text: &str) -> Option<String> {
        // A splat that became a factor is called nowhere.
        let is_used = |it: &(String, String)| {
            it.0.starts_with("operator") || text.contains(&format!("{}(", it.0))
        };
        self.definitions.retain(is_used);
        let texts = self.definitions.into_iter().map(|it| it.1);
        (!self.is_refused.get()).then(|| texts.collect())
    }
}

impl Writer<'_, '_> {
    pub(super) fn is_plain(&self) -> bool {
        self.unit.plain.is_some()
    }

    /// Notes that a text without the header can't say this.
    pub(super) fn refuse_plain(&self) {
        if let Some(plain) = &self.unit.plain {
            plain.refuse();
        }
    }
}
