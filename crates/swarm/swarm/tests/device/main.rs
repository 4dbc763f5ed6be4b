//! The swarm of compiled kernels is the native swarm, byte by byte, on every device.
//!
//! Each body runs on the CPU; on the stand-ins for driver and NVRTC (`testkit/src/stand_in`),
//! without a GPU, each in a child process, which finds what others have compiled in their cache;
//! there with the machine code of NVIDIA's own NVRTC (`make gpu-sim`);
//! and, where there is a GPU and the tests of `needs_cuda` are asked for, on `cuda:0`.

mod begin;
mod body;
mod checkpoint;
mod frame_range;
mod hook;
mod link;
mod mask;
mod pair;
mod picture_stack;
mod random_program;
mod recompile;
mod revision;
mod rollout;
mod traffic;

use gbxcule_runtime::Device;
use gbxcule_runtime::nvrtc::Nvrtc;
use gbxcule_swarm::{DeviceConfig, DeviceSwarm, Model, SwarmConfig, SwarmError};
use gbxcule_testkit::stand_in;
use pair::Subject;
use std::process::{Command, Output};

/// A child process for ignored tests of this program, with the stand-ins.
fn child(tests: &[&str], settings: &[(&str, &str)]) -> Output {
    let cache = stand_in::folder().join("cache");
    let program = std::env::current_exe().expect("this program");
    let mut command = stand_in::command(&program, &cache);
    start(command.envs(settings.iter().copied()), tests)
}

fn start(command: &mut Command, tests: &[&str]) -> Output {
    command.args(tests).args(["--ignored", "--nocapture", "--test-threads=1"]);
    command.output().expect("it starts")
}

/// Runs these tests in a child process, of which exactly `count` must pass.
fn pass(count: usize, tests: &[&str], settings: &[(&str, &str)]) {
    stand_in::assert_passed(&child(tests, settings), count);
}

/// Runs them on the machine code of NVIDIA's NVRTC for a generation, by a policy of divergence.
fn pass_as_sass(count: usize, tests: &[&str], arch: u32, policy: &str) {
    let nvrtc = Nvrtc::find().unwrap_or_else(|error| panic!("{error}"));
    let program = std::env::current_exe().expect("this program");
    let mut command = stand_in::sass_command(&program, nvrtc.path(), arch);
    stand_in::assert_passed(&start(command.env("HOST_GPU_POLICY", policy), tests), count);
}

fn originals(device: Device) -> Subject {
    Subject { device, model: Model::Original }
}

fn colors(device: Device) -> Subject {
    Subject { device, model: Model::Color }
}

macro_rules! bodies {
    ($($module:ident::$name:ident),* $(,)?) => {
        mod on_the_cpu {
            $(#[test]
            fn $name() {
                crate::$module::$name(crate::originals(gbxcule_runtime::Device::Cpu));
            })*
        }

        mod all_colors_on_the_cpu {
            $(#[test]
            #[ignore = "takes minutes: run by `make colors`"]
            fn $name() {
                crate::$module::$name(crate::colors(gbxcule_runtime::Device::Cpu));
            })*
        }

        mod needs_cuda {
            $(#[test]
            #[ignore = "needs CUDA"]
            fn $name() {
                crate::$module::$name(crate::originals(gbxcule_runtime::Device::Cuda(0)));
            })*
        }

        mod colors_need_cuda {
            $(#[test]
            #[ignore = "needs CUDA"]
            fn $name() {
                crate::$module::$name(crate::colors(gbxcule_runtime::Device::Cuda(0)));
            })*
        }

        mod on_a_stand_in {
            $(#[test]
            fn $name() {
                crate::pass(1, &[concat!("needs_cuda::", stringify!($name)), "--exact"], &[]);
            })*
        }

        #[test]
        #[ignore = "takes minutes: run by `make colors`"]
        fn all_colors_on_a_stand_in() {
            let count = [$(stringify!($name)),*].len();
            crate::pass(count, &["colors_need_cuda::"], &[]);
        }

        #[test]
        #[ignore = "needs NVRTC and gpu-sim, and many minutes: run by `make gpu-sim-all`"]
        fn all_of_it_is_so_on_machine_code() {
            let count = [$(stringify!($name)),*].len();
            for arch in gbxcule_testkit::stand_in::archs() {
                for policy in ["address", "lanes"] {
                    crate::pass_as_sass(count, &["needs_cuda::"], arch, policy);
                }
            }
        }
    };
}

bodies! {
    body::every_rom_runs_alike,
    body::every_stage_computes_what_it_owns_and_leaves_the_rest,
    body::resets_copies_and_snapshots_do_the_same,
    body::memory_is_read_and_written_the_same,
    body::frames_are_those_of_the_native_swarm,
    body::views_show_the_same,
    body::wrong_calls_are_refused_and_change_nothing,
    body::programs_of_the_user_compute_the_same,
    body::the_program_of_a_game_computes_the_same,
    body::a_program_that_stops_names_its_env_and_its_line,
    begin::episodes_begin_alike_wherever_they_do,
    begin::what_programs_keep_reads_the_same,
    begin::a_stage_begins_what_it_owns,
    begin::a_begin_that_stops_names_its_env_and_its_line,
    checkpoint::a_checkpoint_goes_on_anywhere,
    frame_range::steps_in_pieces_with_hands_on_buttons_do_the_same,
    frame_range::returns_are_sums_of_an_episodes_rewards,
    hook::hooks_and_settled_do_the_same,
    hook::steps_that_end_early_do_so_in_pieces_too,
    hook::programs_write_the_same,
    hook::a_function_that_writes_too_much_is_stopped,
    hook::a_hook_that_stops_names_its_env_and_its_line,
    link::pairs_do_the_same,
    link::random_programs_with_a_cable_do_the_same,
    link::pairs_begin_end_and_move_the_same,
    link::what_pairs_cannot_have_is_refused_alike,
    mask::envs_that_rest_do_the_same,
    mask::envs_that_rest_come_to_no_hook,
    mask::pairs_rest_together,
    picture_stack::pictures_and_sticky_actions_do_the_same,
    random_program::random_programs_do_the_same,
    recompile::code_made_for_the_rom_does_the_same,
    recompile::code_made_for_random_roms_does_the_same,
    recompile::a_boot_rom_does_the_same,
    recompile::a_swarm_that_finds_its_kernels_does_the_same,
    revision::consoles_of_other_revisions_do_the_same,
    rollout::rollouts_do_what_steps_and_resets_do,
    rollout::an_action_that_is_not_there_is_said_by_its_env,
    rollout::numbers_that_a_rollout_cannot_read_are_refused,
    traffic::a_step_copies_its_actions_and_waits_for_nothing,
    traffic::whoever_watches_waits_only_where_they_look,
    traffic::what_is_looked_at_is_copied_and_nothing_else,
    traffic::resets_and_copies_stay_on_the_device,
}

/// Bodies that need the step's kernel and small ones.
const SHARE: [&str; 5] = [
    "needs_cuda::every_rom_runs_alike",
    "needs_cuda::frames_are_those_of_the_native_swarm",
    "needs_cuda::resets_copies_and_snapshots_do_the_same",
    "needs_cuda::a_step_copies_its_actions_and_waits_for_nothing",
    "needs_cuda::wrong_calls_are_refused_and_change_nothing",
];

/// The Color's share.
const COLOR_SHARE: [&str; 2] = [
    "colors_need_cuda::frames_are_those_of_the_native_swarm",
    "colors_need_cuda::resets_copies_and_snapshots_do_the_same",
];

/// Bodies with several large kernels, or many steps of the Color.
const LONGER: [&str; 2] =
    ["needs_cuda::code_made_for_the_rom_does_the_same", "colors_need_cuda::every_rom_runs_alike"];

#[test]
#[ignore = "needs NVRTC and gpu-sim: run by `make gpu-sim-share`"]
fn a_share_of_it_is_so_on_machine_code() {
    for share in [&SHARE[..], &COLOR_SHARE] {
        pass_as_sass(share.len(), share, 90, "address");
    }
}

#[test]
#[ignore = "needs NVRTC and gpu-sim: run by `make gpu-sim`"]
fn more_of_it_is_so_on_machine_code() {
    pass_as_sass(SHARE.len(), &SHARE, 90, "lanes");
    pass_as_sass(LONGER.len(), &LONGER, 90, "address");
}

/// The Color's CUDA text on the stand-in: its ROMs and random programs.
#[test]
fn a_share_of_it_is_so_on_a_stand_in_for_colors() {
    let share =
        ["colors_need_cuda::every_rom_runs_alike", "colors_need_cuda::random_programs_do_the_same"];
    pass(share.len(), &share, &[]);
}

#[test]
#[ignore = "takes minutes: run by `make equivalence`"]
fn long_runs_are_so_on_a_stand_in() {
    pass(2, &["long_runs_on_cuda::"], &[]);
}

mod long_runs_on_cuda {
    #[test]
    #[ignore = "needs CUDA"]
    fn originals() {
        crate::random_program::run_long(crate::originals(gbxcule_runtime::Device::Cuda(0)));
    }

    #[test]
    #[ignore = "needs CUDA"]
    fn colors() {
        crate::random_program::run_long(crate::colors(gbxcule_runtime::Device::Cuda(0)));
    }
}

/// One process, which compiles each kernel once; `make colors` runs all bodies.
#[test]
fn a_share_of_it_is_so_on_the_cpu_for_colors() {
    let subject = colors(Device::Cpu);
    // Compiled code stays in memory as long as a swarm uses it.
    let setup = pair::on(subject);
    let _kept = setup.swarm(subject.game(), SwarmConfig::new(1));
    body::every_rom_runs_alike(subject);
    body::resets_copies_and_snapshots_do_the_same(subject);
}

#[test]
fn too_little_memory_says_how_many_machines_fit() {
    pass(1, &["out_of_memory", "--exact"], &[("HOST_GPU_MEMORY", "50000000")]);
}

#[test]
#[ignore = "needs a device of 50 MB: run with the stand-ins"]
fn out_of_memory() {
    let swarm = |num_envs| {
        let device = DeviceConfig { device: Device::Cuda(0), ..DeviceConfig::default() };
        let rom = originals(device.device)
            .rom(gbxcule_assembler::by_name("ALU_LOOP").expect("a ROM").bytes());
        DeviceSwarm::new(rom, SwarmConfig::new(num_envs), device)
    };
    let Err(error) = swarm(50_000) else { panic!("50,000 machines in 50 MB") };
    let SwarmError::TooLittleMemory { fit, .. } = error else { panic!("{error}") };
    assert!(error.to_string().contains(&format!("{fit} would fit")), "{error}");
    assert!((1000..10_000).contains(&fit), "{error}");
    assert!(swarm(fit as usize).is_ok());
}
