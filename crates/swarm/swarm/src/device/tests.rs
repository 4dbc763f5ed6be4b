//! Comparison of the step's CUDA text, compiled for the host with `host_cuda.h` and run in blocks
//! of threads, with the native swarm, byte by byte.

mod host;
mod job;

use gbxcule_ir::Module;
use gbxcule_ir::abi::Checks;
use gbxcule_ir::check::Valid;
use gbxcule_ir::function::Inline;
use gbxcule_passes::pass::out_of_line;
use proptest::prelude::*;

use super::inspect::memory_module;
use super::machine_ir::MAX_COPIED;
use crate::{Layout, Model, NativeSwarm, Stage};
use host::Program;
use job::{Job, random_color_rom, random_rom};

#[test]
fn the_cuda_text_runs_every_rom_alike() {
    let program = Program::new(Stage::FullStep, Model::Original, Checks::All);
    for (number, rom) in gbxcule_assembler::all().iter().enumerate() {
        let layout = [Layout::EnvMajor, Layout::Interleaved][number % 2];
        let job = Job { layout, draw_last: number % 3 != 0, ..Job::new(rom.bytes()) };
        job.run_both(&program, rom.name);
    }
}

#[test]
fn the_cuda_text_of_a_stage_as_a_gpu_gets_it_leaves_what_it_does_not_own() {
    let rom = gbxcule_assembler::by_name("JOY_DIVERGE_PERSIST").expect("a ROM");
    for stage in [Stage::EmulateOnly, Stage::RewardOnly, Stage::ObsOnly] {
        let program = Program::new(stage, Model::Original, Checks::Untrusted);
        let job = Job { stage, steps: 8, ..Job::new(rom.bytes()) };
        job.run_both(&program, stage.name());
    }
}

/// Without this rule NVRTC took minutes for the Color's kernels.
#[test]
fn kernels_that_read_memory_keep_large_functions_out_of_line() {
    for model in [Model::Original, Model::Color] {
        let module = memory_module(model.into());
        let inlined = |module: &Valid<Module>| {
            module.functions.iter().filter(|(_, it)| it.inline != Inline::Never).count()
        };
        let before = inlined(&module);
        assert_eq!(before, inlined(&out_of_line::run(module, MAX_COPIED)), "{model:?}");
    }
}

#[test]
fn the_cuda_text_runs_random_programs_alike() {
    let program = Program::new(Stage::FullStep, Model::Original, Checks::All);
    proptest!(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() },
    |(seed in any::<u64>())| {
        let rom = random_rom(seed);
        let job = Job { steps: 20, draw_last: seed % 2 == 0, ..Job::new(&rom) };
        job.run_both(&program, &format!("random program {seed}"));
    });
}

#[test]
fn the_cuda_text_of_the_color_runs_its_roms_and_random_programs_alike() {
    let program = Program::new(Stage::FullStep, Model::Color, Checks::All);
    for rom in gbxcule_assembler::for_color() {
        let job = Job::for_model(rom.bytes(), Model::Color);
        // A warp of machines in the game.
        let envs = if rom.name == "AMBER_ROAD" { 32 } else { job.envs };
        let job = Job { envs, ..job };
        job.run_both(&program, rom.name);
    }
    for rom in gbxcule_assembler::all().iter().step_by(4) {
        let layout = Layout::Interleaved;
        let job = Job { layout, steps: 8, ..Job::for_model(rom.bytes(), Model::Color) };
        job.run_both(&program, rom.name);
    }
    let mut seen = Seen::default();
    for seed in 0..12_u64 {
        let rom = random_color_rom(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let job = Job { steps: 20, ..Job::for_model(&rom, Model::Color) };
        seen.add(&job.run_both(&program, &format!("random program {seed}")));
    }
    seen.assert_all();
}

/// Features that machines were found to use at the end of a job.
#[derive(Debug, Default)]
struct Seen {
    double_speed: bool,
    vram_dma: bool,
    vram_bank: bool,
    wram_bank: bool,
}

impl Seen {
    fn add(&mut self, swarm: &NativeSwarm) {
        for env in 0..swarm.config().num_envs {
            let machine = swarm.machine(env).expect("an env").color().expect("a Color");
            self.double_speed |= machine.speed.double;
            self.vram_dma |= machine.hdma.active;
            self.vram_bank |= machine.color.vram_bank != 0;
            self.wram_bank |= machine.color.wram_bank > 1;
        }
    }

    fn assert_all(&self) {
        let all = self.double_speed && self.vram_dma && self.vram_bank && self.wram_bank;
        assert!(all, "{self:?}");
    }
}

/// `make equivalence`: hours of machine time.
#[test]
#[ignore = "takes minutes"]
fn the_cuda_text_runs_long_random_programs_alike() {
    let program = Program::new(Stage::FullStep, Model::Original, Checks::All);
    for seed in 0..200_u64 {
        let rom = random_rom(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let layout = [Layout::EnvMajor, Layout::Interleaved][(seed % 2) as usize];
        let job = Job { steps: 400, envs: 4, every: 50, layout, ..Job::new(&rom) };
        job.run_both(&program, &format!("random program {seed}"));
    }
    for rom in gbxcule_assembler::all() {
        let job = Job { steps: 1500, envs: 4, every: 50, ..Job::new(rom.bytes()) };
        job.run_both(&program, rom.name);
    }
}

/// `make equivalence` for the Color: machines that write to banks, change their speed and move
/// blocks into video RAM.
#[test]
#[ignore = "takes minutes"]
fn the_cuda_text_runs_long_random_programs_of_the_color_alike() {
    let program = Program::new(Stage::FullStep, Model::Color, Checks::All);
    let mut seen = Seen::default();
    for seed in 0..60_u64 {
        let rom = random_color_rom(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let layout = [Layout::EnvMajor, Layout::Interleaved][(seed % 2) as usize];
        let job = Job { steps: 200, every: 50, layout, ..Job::for_model(&rom, Model::Color) };
        seen.add(&job.run_both(&program, &format!("random program {seed}")));
    }
    for rom in gbxcule_assembler::for_color() {
        let job = Job { steps: 600, every: 50, ..Job::for_model(rom.bytes(), Model::Color) };
        seen.add(&job.run_both(&program, rom.name));
    }
    seen.assert_all();
}
