//! Kernels that copy whole envs. Reset, snapshot, restore and `copy_state` launch `transfer`.
//! `begin_next` begins the episodes of a rollout, whose starts the device chooses.

use std::fmt::Write;

use gbxcule_ir::Module;
use gbxcule_ir::check::Valid;

use super::dialect_kernel::trusted;
use super::state_arrays::{names, scalars};

/// The kernel's name.
pub(crate) const KERNEL: &str = "transfer";

/// The name of the kernel that begins the next episodes of a rollout.
pub(crate) const BEGIN_NEXT: &str = "begin_next";

/// Threads that copy an env together: neighbouring threads copy neighbouring bytes.
pub(crate) const LANES: usize = 32;

/// The kernel that copies one env, optionally with its observation, into all marked envs of another
/// state or of the same state. The grid is envs by [`LANES`].
pub(crate) fn module() -> Valid<Module> {
    trusted(KERNEL, text())
}

/// The kernel that puts marked envs into the starts of their next episodes, draws chance and keeps
/// the last observations. The grid is envs by [`LANES`].
pub(crate) fn begin_next_module() -> Valid<Module> {
    trusted(BEGIN_NEXT, begin_next_text())
}

/// The text of a kernel that copies from one state into those envs of another that `mask` marks.
fn text() -> String {
    let (params, copies) = parts();
    format!(
        "{COPY}

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

fn begin_next_text() -> String {
    let (params, copies) = parts();
    let chance = include_str!("rollout/begin_next.py");
    format!(
        "{COPY}

{chance}

@wp.kernel
def {BEGIN_NEXT}(
{params}    mask: wp.array(dtype=wp.uint8),
    seeds: wp.array(dtype=wp.uint64),
    counts: wp.array(dtype=wp.uint64),
    weights: wp.array(dtype=wp.uint32),
    is_paired: int,
    chance_at: int,
    chance_bytes: int,
    observations: wp.array2d(dtype=wp.float32),
    final_observations: wp.array2d(dtype=wp.float32),
):
    env, lane = wp.tid()
    if mask[env] != wp.uint8(0):
        copy(final_observations, observations, env, env, lane)
    if mask[env] == wp.uint8(2):
        # A life was lost: the machine goes on, and its programs begin again.
        copy(to_scratch, from_scratch, env, 0, lane)
    if mask[env] == wp.uint8(1):
        source = start_of(seeds, counts, weights, env, is_paired)
{copies}        drawn = bits_of(seeds[env], counts[env]) % wp.uint64(65535) + wp.uint64(1)
        for place in range(chance_bytes):
            at = chance_at + place
            # This lane has copied the byte.
            if at % {LANES} == lane:
                to_wram[env, at] = wp.uint8((drawn >> wp.uint64(8 * place)) & wp.uint64(255))
"
    )
}

const COPY: &str = "\
from typing import Any

import warp as wp


@wp.func
def copy(to: wp.array2d(dtype=Any), of: wp.array2d(dtype=Any), env: int, source: int, lane: int):
    for element in range(lane, to.shape[1], 32):
        to[env, element] = of[source, element]
";

/// The parameters for two states, and a copy for each part of a state.
fn parts() -> (String, String) {
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
    (params, copies)
}
