//! The kernel that copies whole envs: reset, snapshot, restore and `copy_state` are launches of it.

use std::fmt::Write;

use gbxcule_dialect::Program;
use gbxcule_ir::check::Valid;
use gbxcule_ir::diagnostic::render;
use gbxcule_ir::source::SourceMap;
use gbxcule_ir::{FunctionId, Module};

use super::machine_ir::checked;
use super::state_arrays::{names, scalars};

/// The kernel's name.
pub(crate) const KERNEL: &str = "transfer";

/// Threads that share the copying of an env: its bytes are read and written side by side.
pub(crate) const LANES: usize = 32;

/// One env of some state into all marked envs of another, or of the same, where its observation may
/// go along. The grid is envs by [`LANES`].
pub(crate) fn module() -> Valid<Module> {
    let mut sources = SourceMap::new();
    let id = sources.add("transfer.py", text());
    let module = Program::parse(&sources, id).and_then(|program| program.compile(KERNEL));
    let mut module = module.unwrap_or_else(|faults| unreachable!("{}", render(&faults, &sources)));
    let functions: Vec<FunctionId> = module.functions.handles().collect();
    functions.into_iter().for_each(|function| module.functions[function].trusted = true);
    checked(module)
}

/// The kernel's text: a copy for each part of the state.
fn text() -> String {
    let mut params = String::new();
    for prefix in ["to", "from"] {
        for (name, scalar) in names().into_iter().zip(scalars()) {
            let of = scalar.spelled();
            let _ = writeln!(params, "    {prefix}_{name}: wp.array2d(dtype=wp.{of}),");
        }
    }
    let mut copies = String::new();
    for name in names() {
        let _ = writeln!(copies, "        copy(to_{name}, from_{name}, env, source, lane)");
    }
    format!(
        "\
from typing import Any

import warp as wp


@wp.func
def copy(to: wp.array2d(dtype=Any), of: wp.array2d(dtype=Any), env: int, source: int, lane: int):
    for element in range(lane, of.shape[1], {LANES}):
        to[env, element] = of[source, element]


@wp.kernel
def {KERNEL}(
{params}    source: int,
    mask: wp.array(dtype=wp.uint8),
    observations: wp.array2d(dtype=wp.float32),
    observes: int,
):
    env, lane = wp.tid()
    if mask[env] != wp.uint8(0):
{copies}        if observes != 0:
            copy(observations, observations, env, source, lane)
"
    )
}
