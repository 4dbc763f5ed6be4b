//! Tests with PyBoy itself, through its oracle server. They need the Python that `make
//! .venv/oracle.txt` sets up.

use gbxcule_lab::artifact::RomImage;
use gbxcule_lab::suite::{self, Outcome};
use gbxcule_lab::verify::{Judgement, VerifyPlan, VerifyResult, verify};
use gbxcule_lab::{BackendConfig, BackendKind};
use gbxcule_swarm::{Codec, Schedule, Stage};

fn rom(name: &str) -> RomImage {
    RomImage::find(name).expect("a ROM of the suite")
}

fn run(plan: &VerifyPlan) -> VerifyResult {
    verify(plan, &mut |_| Judgement::Stop, &mut |_| {}).expect("both backends run")
}

fn assert_agrees(verdict: &VerifyResult) {
    let differences =
        verdict.mismatch.as_ref().map(|mismatch| (mismatch.step, &mismatch.differences));
    assert!(differences.is_none(), "{differences:?}");
}

fn config(rom: &RomImage, num_envs: usize) -> BackendConfig {
    BackendConfig {
        num_envs,
        schedule: Schedule::new(4, 2).expect("a schedule"),
        stage: Stage::FullStep,
        lockstep: true,
        ..BackendConfig::new(rom.clone())
    }
}

/// Plans a comparison of steps of one frame.
fn plan(reference: BackendKind, dut: BackendKind, name: &str) -> VerifyPlan {
    VerifyPlan::new(reference, dut, BackendConfig::of_single_frames(rom(name)))
}

#[test]
#[ignore = "needs PyBoy"]
fn alu_loop_agrees_for_1024_steps() {
    let plan = plan(BackendKind::PyboySingle, BackendKind::SwarmCpu, "ALU_LOOP");
    let verdict = run(&VerifyPlan { compare_counters: true, ..plan });
    assert_eq!((verdict.steps, verdict.comparisons), (1024, 1024));
    assert_agrees(&verdict);
}

#[test]
#[ignore = "needs PyBoy"]
fn mem_rwb_agrees_for_1024_steps_in_its_memory() {
    let plan = plan(BackendKind::PyboySingle, BackendKind::SwarmCpu, "MEM_RWB");
    let regions = vec!["C000:C100".parse().expect("a region")];
    let verdict = run(&VerifyPlan { regions, ..plan });
    assert_eq!((verdict.steps, verdict.comparisons), (1024, 1024));
    assert_agrees(&verdict);
}

#[test]
#[ignore = "needs PyBoy"]
fn both_show_the_logo_that_a_boot_rom_leaves() {
    let plan = plan(BackendKind::PyboySingle, BackendKind::SwarmCpu, "ALU_LOOP");
    let regions = vec!["8000:A000".parse().expect("a region")];
    let config = BackendConfig { draw_last: true, ..plan.config };
    assert_agrees(&run(&VerifyPlan { config, steps: 32, regions, ..plan }));
}

#[test]
#[ignore = "needs PyBoy"]
fn stub_bad_is_caught_at_the_first_step() {
    let plan = plan(BackendKind::PyboySingle, BackendKind::StubBad, "ALU_LOOP");
    let verdict = run(&VerifyPlan { steps: 10, ..plan });
    assert_eq!(verdict.mismatch.expect("it lies").step, 1);
}

/// A reason that lost its end has an open quotation or bracket.
#[test]
fn reasons_of_explained_differences_are_whole() {
    for pin in suite::cases().flat_map(|case| &case.explained) {
        let count = |sign: char| pin.why.matches(sign).count();
        assert!(count('"').is_multiple_of(2) && count('(') == count(')'), "{}", pin.why);
    }
}

/// Runs every other case of the suite, from the first or the second on: two tests run side by side.
fn half_of_the_suite_comes_out_as_pinned(first: usize) {
    for case in suite::cases().skip(first).step_by(2) {
        let outcome =
            suite::run(case, BackendKind::PyboySingle, BackendKind::SwarmCpu, 0).expect("it runs");
        assert!(outcome.is_as_pinned(), "{}: {}", case.rom, outcome.describe());
    }
}

#[test]
#[ignore = "needs PyBoy"]
fn one_half_of_the_suite_comes_out_as_pinned() {
    half_of_the_suite_comes_out_as_pinned(0);
}

#[test]
#[ignore = "needs PyBoy"]
fn the_other_half_of_the_suite_comes_out_as_pinned() {
    half_of_the_suite_comes_out_as_pinned(1);
}

#[test]
#[ignore = "needs PyBoy"]
fn a_schedule_with_release_agrees_in_every_env_of_several_processes() {
    let plan = plan(BackendKind::PyboyVecMp, BackendKind::SwarmCpu, "PEARL_DRIFT");
    let schedule = Schedule::new(24, 8).expect("a schedule");
    let config = BackendConfig { num_envs: 5, schedule, ..plan.config };
    let regions = vec!["C000:C100".parse().expect("a region")];
    let verdict = run(&VerifyPlan { config, steps: 40, regions, ..plan });
    assert_agrees(&verdict);
}

#[test]
#[ignore = "needs PyBoy"]
fn combinations_held_for_their_own_frames_agree() {
    let plan = plan(BackendKind::PyboyVecMp, BackendKind::SwarmCpu, "PEARL_DRIFT");
    let codec = "A+RIGHT:3,LEFT,UP+B:20,NOOP,DOWN:1,START,RIGHT:30";
    let codec = Codec::by_name(codec).expect("a codec");
    let schedule = Schedule::new(24, 8).expect("a schedule");
    let config = BackendConfig { num_envs: 5, codec, schedule, ..plan.config };
    let regions = vec!["C000:C100".parse().expect("a region")];
    let verdict = run(&VerifyPlan { config, steps: 40, regions, ..plan });
    assert_agrees(&verdict);
}

#[test]
#[ignore = "needs PyBoy"]
fn rewards_and_observations_are_those_of_the_swarm() {
    let rom = rom("MEM_RWB");
    let mut backends = [BackendKind::PyboyVecMp, BackendKind::SwarmCpu]
        .map(|kind| kind.open(&config(&rom, 3)).expect("it starts"));
    for step in 0..6 {
        for backend in &mut backends {
            backend.step(&[step, step + 1, step + 2]).expect("good actions");
        }
        let [pyboy, ours] = &backends;
        assert_eq!(pyboy.rewards().expect("numbers"), ours.rewards().expect("numbers"));
        assert_eq!(pyboy.observations().expect("numbers"), ours.observations().expect("numbers"));
    }
}

#[test]
#[ignore = "needs PyBoy"]
fn a_reset_pyboy_runs_as_a_new_one() {
    let rom = rom("JOY_DIVERGE_PERSIST");
    let mut pyboy = BackendKind::PyboySingle.open(&config(&rom, 1)).expect("it starts");
    let mut run = || {
        for action in [4, 0, 8, 2] {
            pyboy.step(&[action]).expect("a good action");
        }
        let states = pyboy.states().expect("it answers");
        let memory = pyboy.read_memory(0, 0xC000..0xE000).expect("it answers");
        pyboy.reset(0).expect("it answers");
        (states, memory)
    };
    assert_eq!(run(), run());
}

#[test]
#[ignore = "needs PyBoy"]
fn every_kind_of_memory_range_can_be_read() {
    let mut pyboy =
        BackendKind::PyboySingle.open(&config(&rom("HALT_IDLE"), 1)).expect("it starts");
    for range in [0..0x1_0000, 0xFFFF..0x1_0000, 0xFFFE..0xFFFF, 0..1] {
        assert_eq!(pyboy.read_memory(0, range.clone()).expect("it answers").len(), range.len());
    }
}

#[test]
#[ignore = "needs PyBoy"]
fn pyboy_single_refuses_a_second_machine() {
    let error =
        BackendKind::PyboySingle.open(&config(&rom("ALU_LOOP"), 2)).err().expect("one only");
    assert_eq!(
        error.to_string(),
        "pyboy_single has one machine, 2 were asked for; pyboy_vec_mp has up to 4096"
    );
}

#[test]
#[ignore = "needs PyBoy"]
fn a_stale_pin_is_told_from_an_unexplained_difference() {
    let case = suite::cases().find(|case| case.rom == "SERIAL_HELLO").expect("a row");
    let against_itself =
        suite::run(case, BackendKind::SwarmCpu, BackendKind::SwarmCpu, 0).expect("it runs");
    assert!(matches!(against_itself, Outcome::Agrees(_)));
    let against_stub =
        suite::run(case, BackendKind::PyboySingle, BackendKind::StubBad, 0).expect("it runs");
    assert!(matches!(against_stub, Outcome::Unexplained { .. }));
}
