//! The Python extension behind the package `gbxcule`.
//!
//! All functions are thin: they convert Python's arguments, release the interpreter while Rust
//! works, and turn errors into exceptions with the same message. Arrays are passed by DLPack and
//! used in place.

mod array;
mod cartridge;
mod checkpoint;
mod command;
mod dataset;
mod dlpack;
mod file;
mod geometry;
mod grade;
mod kernel;
mod lent_array;
mod live_view;
mod rollout;
mod rom;
mod swarm;
mod view;

use pyo3::prelude::*;

/// The native half of the package `gbxcule`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::version;
    #[pymodule_export]
    use crate::array::{DeviceArray, device_zeros};
    #[pymodule_export]
    use crate::cartridge::{bordered_pictures, rumbles, set_controllers, set_tilts};
    #[pymodule_export]
    use crate::checkpoint::{checkpoint_note, joined_checkpoint};
    #[pymodule_export]
    use crate::command::run_command;
    #[pymodule_export]
    use crate::dataset::StoredRows;
    #[pymodule_export]
    use crate::file::{read_checkpoint, read_file, write_file};
    #[pymodule_export]
    use crate::geometry::{bound_box_tree, build_box_tree, sort_into_cells};
    #[pymodule_export]
    use crate::grade::Grader;
    #[pymodule_export]
    use crate::kernel::builtin::{builtin_names, result_types};
    #[pymodule_export]
    use crate::kernel::{
        CompileError, CompiledKernel, LaunchError, compile_kernels, find_kernels, read_program,
        synchronize,
    };
    #[pymodule_export]
    use crate::lent_array::LentArray;
    #[pymodule_export]
    use crate::live_view::LiveView;
    #[pymodule_export]
    use crate::rollout::{Rollout, ready_on, wait_for};
    #[pymodule_export]
    use crate::rom::{
        built_in_program, built_in_rom, built_in_roms, built_in_symbols, game_starts, game_title,
        games, meant_rom, scripted_game,
    };
    #[pymodule_export]
    use crate::swarm::seed::env_seeds;
    #[pymodule_export]
    use crate::swarm::{Swarm, free_memory};
    #[pymodule_export]
    use crate::view::{View, observation_text};
}

/// Returns the version of the extension.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
