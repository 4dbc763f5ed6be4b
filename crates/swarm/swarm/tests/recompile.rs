//! Code made for the ROM gives what the interpreter gives: states, pictures, programs, steps that
//! end early, saved states and checkpoints.

use gbxcule_runtime::Device;
use gbxcule_swarm::{
    Hook, Model, ProgramText, Programs, Recompile, Rom, Schedule, Stage, Swarm, SwarmConfig,
};
use std::num::NonZeroUsize;

const ENVS: usize = 5;

const SETTLED: &str = "import warp as wp
import gbxcule as gb

OBS_DIM = 1

@wp.func
def settled(machine: gb.Machine) -> wp.bool:
    return gb.step_frames(machine) == 4

@wp.func
def observe(machine: gb.Machine, scratch: wp.array(dtype=wp.float32), obs: wp.array(dtype=wp.float32)):
    obs[0] = wp.float32(gb.step_frames(machine))
";

fn rom(name: &str) -> Rom {
    Rom::new(gbxcule_assembler::by_name(name).expect("a built-in ROM").bytes())
        .expect("a good header")
}

fn reward() -> ProgramText {
    ProgramText::find("reward_v0").expect("a built-in program")
}

fn config(recompile: Recompile) -> SwarmConfig {
    let schedule = Schedule::new(6, 4).expect("a schedule");
    SwarmConfig {
        schedule,
        recompile,
        stage: Stage::FullStep,
        draw_last: true,
        threads: NonZeroUsize::new(2),
        ..SwarmConfig::new(ENVS)
    }
}

fn pair(name: &str, change: impl Fn(&mut SwarmConfig)) -> [Swarm; 2] {
    [Recompile::Off, Recompile::Always].map(|recompile| {
        let mut config = config(recompile);
        change(&mut config);
        Swarm::new(rom(name), config, Device::Cpu).expect("a swarm")
    })
}

fn actions(step: usize) -> [u8; ENVS] {
    std::array::from_fn(|env| ((step * 5 + env * 3) % 9) as u8)
}

fn assert_equal(left: &Swarm, right: &Swarm, when: &str) {
    for env in 0..ENVS {
        let [own, other] = [left, right].map(|swarm| swarm.snapshot(env).expect("an env"));
        let difference = own.machine().first_difference(other.machine()).map(|it| it.to_string());
        assert_eq!(difference, None, "{when}, env {env}");
        assert!(own.machine() == other.machine(), "{when}, env {env}: RAM or the picture");
        assert_eq!(own.counters(), other.counters(), "{when}, env {env}");
        let [own, other] = [left, right].map(|swarm| swarm.save_state(env).expect("an env"));
        assert!(own == other, "{when}, env {env}: the saved state");
    }
    assert_eq!(left.rewards().ok(), right.rewards().ok(), "{when}");
    assert_eq!(left.dones().ok(), right.dones().ok(), "{when}");
    assert_eq!(left.observations().ok(), right.observations().ok(), "{when}");
}

fn run([plain, compiled]: &mut [Swarm; 2], name: &str, steps: std::ops::Range<usize>) {
    for step in steps {
        plain.step(&actions(step)).expect("good actions");
        compiled.step(&actions(step)).expect("good actions");
        assert_equal(plain, compiled, &format!("{name}, step {step}"));
    }
}

#[test]
fn steps_of_programs_give_the_same() {
    for name in ["JOY_DIVERGE_PERSIST", "PEARL_DRIFT"] {
        let mut swarms = pair(name, |_| {});
        run(&mut swarms, name, 0..4);
        assert_eq!(swarms[0].blocks(), None, "{name}");
        assert!(swarms[1].blocks().is_some_and(|blocks| blocks > 0), "{name}");
    }
}

#[test]
fn steps_that_end_early_give_the_same() {
    let mut swarms = pair("PEARL_DRIFT", |config| {
        let obs = ProgramText::new("task.py", SETTLED);
        config.programs = Programs::new(reward(), obs).expect("right programs");
    });
    run(&mut swarms, "settled", 0..3);
    assert!(swarms[1].blocks().is_some());
}

#[test]
fn steps_of_color_machines_give_the_same() {
    for name in ["AMBER_ROAD", "PEARL_DRIFT"] {
        let rom = gbxcule_assembler::by_name(name).expect("the game");
        let rom = Rom::for_model(rom.bytes(), Some(Model::Color)).expect("a good header");
        let mut swarms = [Recompile::Off, Recompile::Always]
            .map(|it| Swarm::new(rom.clone(), config(it), Device::Cpu).expect("a swarm"));
        run(&mut swarms, name, 0..6);
        assert!(swarms[1].blocks().is_some_and(|blocks| blocks > 0), "{name}");
    }
}

#[test]
fn machines_with_hooks_or_sound_are_interpreted() {
    let game = gbxcule_assembler::by_name("PEARL_DRIFT").expect("the game");
    let address = game.rom().address("ReadButtons").expect("a label");
    let mut swarms = pair("PEARL_DRIFT", |config| {
        let obs = ProgramText::find("obs_v0").expect("a built-in program");
        let hooks = vec![Hook::at(0, address)];
        config.programs = Programs::with_hooks(reward(), obs, hooks).expect("right programs");
    });
    run(&mut swarms, "hooks", 0..3);
    assert_eq!(swarms[1].blocks(), None);
    let mut swarms = pair("PEARL_DRIFT", |config| config.sound = true);
    run(&mut swarms, "sound", 0..3);
    assert_eq!(swarms[1].blocks(), None);
    for env in 0..ENVS {
        assert_eq!(
            swarms[0].samples(env).expect("an env"),
            swarms[1].samples(env).expect("an env")
        );
    }
}

#[test]
fn states_and_checkpoints_go_from_one_to_the_other() {
    let mut swarms = pair("PEARL_DRIFT", |_| {});
    run(&mut swarms, "before", 0..2);
    let [plain, compiled] = &mut swarms;
    let state = compiled.save_state(2).expect("an env");
    plain.load_state(0, &state).expect("a state of this ROM");
    compiled.load_state(0, &state).expect("a state of this ROM");
    run(&mut swarms, "after", 2..4);
    let [plain, compiled] = swarms;
    let checkpoint = compiled.checkpoint(&[]).expect("bytes");
    let (restored, _) = Swarm::from_checkpoint(&checkpoint, None, None).expect("a checkpoint");
    assert_eq!(restored.config().recompile, Recompile::Always);
    run(&mut [plain, restored], "restored", 4..6);
}

/// Blocks are made by another thread while machines run; the time at which they are ready changes
/// nothing.
#[test]
fn blocks_that_come_later_change_nothing() {
    let mut swarms = pair("MEM_RWB", |config| {
        config.num_envs = ENVS;
        if config.recompile == Recompile::Always {
            config.recompile = Recompile::WhereItWins;
        }
        config.schedule = Schedule::new(900, 4).expect("a schedule");
    });
    run(&mut swarms, "MEM_RWB", 0..6);
}
