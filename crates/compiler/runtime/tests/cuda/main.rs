//! CUDA devices compute the same as the CPU.
//!
//! Each test runs on the CPU; in a child process on the stand-ins for driver and NVRTC
//! (`testkit/src/stand_in`), without a GPU; on the driver's stand-in with the machine code of
//! NVIDIA's own NVRTC (`make gpu-sim`); and on `cuda:0` if there is a GPU and `needs_cuda` is run.

mod body;
mod disk_cache;
mod failure;
mod kernel;
#[path = "../warp/native.rs"]
mod native;
mod program;
mod recipe;

use gbxcule_runtime::nvrtc::Nvrtc;
use gbxcule_testkit::stand_in;
use std::path::Path;
use std::process::{Command, Output};

/// Runs a child process with the stand-ins for one ignored test of this program.
fn child(test: &str, cache: &Path, settings: &[(&str, &str)]) -> Output {
    let program = std::env::current_exe().expect("this program");
    let mut command = stand_in::command(&program, cache);
    start(command.env("HOST_GPU", "1").envs(settings.iter().copied()), test)
}

fn start(command: &mut Command, test: &str) -> Output {
    command.args([test, "--exact", "--ignored", "--nocapture", "--test-threads=1"]);
    command.output().expect("it starts")
}

/// Runs a test, which must pass. All tests share the cache of compiled code.
fn passes(test: &str, settings: &[(&str, &str)]) {
    stand_in::assert_passed(&child(test, &stand_in::folder().join("cache"), settings), 1);
}

/// Runs a test on the machine code of NVIDIA's NVRTC for each architecture, where it must pass.
fn passes_as_sass(test: &str) {
    let nvrtc = Nvrtc::find().unwrap_or_else(|error| panic!("{error}"));
    let program = std::env::current_exe().expect("this program");
    for arch in stand_in::archs() {
        for policy in ["address", "lanes"] {
            let mut command = stand_in::sass_command(&program, nvrtc.path(), arch);
            command.env("HOST_GPU_POLICY", policy);
            stand_in::assert_passed(&start(&mut command, test), 1);
        }
    }
}

macro_rules! bodies {
    ($($module:ident::$name:ident),* $(,)?) => {
        mod on_the_cpu {
            $(#[test]
            fn $name() {
                crate::$module::$name(gbxcule_runtime::Device::Cpu);
            })*
        }

        mod on_a_stand_in {
            $(#[test]
            fn $name() {
                crate::passes(concat!("needs_cuda::", stringify!($name)), &[]);
            })*
        }

        mod on_sass {
            $(#[test]
            #[ignore = "needs NVRTC and gpu-sim: run by `make gpu-sim`"]
            fn $name() {
                crate::passes_as_sass(concat!("needs_cuda::", stringify!($name)));
            })*
        }

        mod needs_cuda {
            $(#[test]
            #[ignore = "needs CUDA"]
            fn $name() {
                crate::$module::$name(gbxcule_runtime::Device::Cuda(0));
            })*
        }
    };
}

bodies! {
    body::a_launch_runs_each_point_of_its_grid_once,
    body::atomics_of_many_threads_lose_nothing,
    body::structs_vectors_and_scalars_arrive_as_they_were_given,
    body::views_are_read_and_written_where_they_lie,
    body::only_what_is_asked_for_is_copied,
    body::launches_and_copies_happen_in_the_order_in_which_they_were_asked_for,
    body::large_arrays_arrive_whole,
    body::arrays_may_go_while_work_on_them_is_under_way,
    body::faults_read_the_same,
    body::a_fault_is_reported_once_and_in_its_own_stream,
    body::a_fault_among_many_launches_is_that_of_its_kernel_and_grid,
    body::a_kernel_without_arrays_is_waited_for,
    body::arrays_of_elsewhere_are_refused_by_name,
    body::streams_work_from_many_threads,
    body::streams_can_be_put_in_order,
    program::random_programs_leave_the_memory_that_the_interpreter_leaves,
    program::reverse_kernels_leave_the_gradients_that_the_interpreter_leaves,
}
