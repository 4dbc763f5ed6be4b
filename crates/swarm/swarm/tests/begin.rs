//! Begins of episodes: the programs' `begin` runs there, and there is an observation before the
//! first step.

use gbxcule_swarm::{
    Chance, NativeSwarm, ProgramText, Programs, Rom, Schedule, Stage, SwarmConfig, env_seed,
};
use sha2::{Digest, Sha256};

const ENVS: usize = 4;

/// Remembers where its episode began; writes one number only after a step.
const TASK: &str = "import warp as wp
import gbxcule as gb

SCRATCH = 3
OBS_DIM = 4

@wp.func
def begin(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)):
    scratch[0] = wp.float32(gb.read16(machine, 0xC000))
    scratch[1] = 100.0 + wp.float32(gb.frames(machine)) + wp.float32(gb.read16(machine, 0xC0F0))

@wp.func
def reward(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.float32:
    score = wp.float32(gb.read16(machine, 0xC000))
    gained = score - scratch[0]
    scratch[0] = score
    scratch[2] += 1.0
    return gained

@wp.func
def observe(machine: gb.Machine, scratch: wp.array(dtype=wp.float32), obs: wp.array(dtype=wp.float32)):
    obs[0] = scratch[1]
    obs[1] = scratch[2]
    if scratch[2] > 0.0:
        obs[2] = 7.0 + wp.float32(gb.action(machine))
    obs[3] = wp.float32(gb.pc(machine)) + wp.float32(gb.pixel(machine, 80, 72))
";

fn programs(text: &str) -> Programs {
    let text = ProgramText::new("task.py", text);
    Programs::new(text.clone(), text).unwrap_or_else(|error| panic!("{error}"))
}

fn config(text: &str) -> SwarmConfig {
    let schedule = Schedule::new(3, 2).expect("a schedule");
    SwarmConfig { schedule, programs: programs(text), ..SwarmConfig::new(ENVS) }
}

fn swarm(config: SwarmConfig) -> NativeSwarm {
    let rom = gbxcule_assembler::by_name("PEARL_DRIFT").expect("the game");
    NativeSwarm::new(Rom::new(rom.bytes()).expect("a ROM"), config).expect("a swarm")
}

fn actions(step: usize) -> Vec<u8> {
    (0..ENVS).map(|env| ((step * 7 + env * 3) / 2 % 9) as u8).collect()
}

fn row(swarm: &NativeSwarm, env: usize) -> Vec<f32> {
    swarm.observations()[4 * env..][..4].to_vec()
}

/// A swarm some steps into the game, whose episodes begin there.
fn later() -> NativeSwarm {
    let mut swarm = swarm(config(TASK));
    for step in 0..60 {
        swarm.step(&actions(step)).expect("good actions");
    }
    let score = swarm.read_memory(1, 0xC000..0xC002).expect("in range");
    swarm.write_memory(1, 0xC000, &[score[0] | 0x40, 1]).expect("in range");
    swarm.start_from_env(1).expect("an env");
    swarm
}

#[test]
fn an_episode_is_the_one_of_a_fresh_swarm_from_its_first_observation_on() {
    let mut used = later();
    let mut fresh = later();
    fresh.reset(0).expect("a reset");
    let first = row(&fresh, 2);
    assert_eq!(first[..3], [100.0, 0.0, 0.0]);
    let mut expected = Vec::new();
    for step in 0..8 {
        fresh.step(&[step % 9; ENVS]).expect("good actions");
        expected.push((fresh.rewards()[2], row(&fresh, 2)));
    }
    assert!(expected[0].0 < 250.0, "the score at the start is no reward: {}", expected[0].0);
    let mut mask = [false; ENVS];
    mask[2] = true;
    for _ in 0..3 {
        let others = [0, 1, 3].map(|env| row(&used, env));
        used.reset_masked(&mask).expect("a mask");
        assert_eq!(row(&used, 2), first, "before the first step, whatever was before");
        assert_eq!([0, 1, 3].map(|env| row(&used, env)), others);
        for (step, (reward, observation)) in (0..).zip(&expected) {
            used.step(&[step % 9; ENVS]).expect("good actions");
            assert_eq!((used.rewards()[2], &row(&used, 2)), (*reward, observation), "{step}");
        }
    }
}

#[test]
fn a_swarm_that_was_never_reset_begins_with_its_first_step() {
    let mut stepped = swarm(config(TASK));
    assert_eq!(stepped.snapshot(0).expect("an env").scratch(), []);
    stepped.step(&actions(0)).expect("good actions");
    let mut reset = swarm(config(TASK));
    reset.reset(0).expect("a reset");
    reset.step(&actions(0)).expect("good actions");
    assert_eq!(stepped.observations(), reset.observations());
    assert_eq!(stepped.snapshot(0).expect("an env").scratch()[1], 100.0);
}

#[test]
fn copies_and_snapshots_go_on_and_do_not_begin() {
    let mut swarm = later();
    let snapshot = swarm.snapshot(0).expect("an env");
    let scratch = snapshot.scratch().to_vec();
    assert_eq!(scratch[2], 60.0);
    swarm.reset(0).expect("a reset");
    swarm.restore(3, &snapshot).expect("of this swarm");
    swarm.copy_state(3, &[true, false, false, false]).expect("a mask");
    for env in [0, 3] {
        assert_eq!(swarm.snapshot(env).expect("an env").scratch(), scratch);
    }
    // `begin` runs after the import of a state without memory of programs.
    let bess = swarm.export_bess(3).expect("an env");
    swarm.import_state(2, &bess).expect("a state");
    let begun = swarm.snapshot(2).expect("an env");
    assert_eq!(begun.scratch()[1..], [100.0, 0.0]);
    assert_eq!(row(&swarm, 2)[..3], [100.0, 0.0, 0.0]);
}

#[test]
fn begin_sees_the_chance_of_its_episode() {
    let chance = Some(Chance { low: 0xC0F0, width_bytes: 2 });
    let mut swarm = swarm(SwarmConfig { chance, ..config(TASK) });
    let seen = |swarm: &NativeSwarm, env: usize| {
        let bytes = swarm.read_memory(env, 0xC0F0..0xC0F2).expect("in range");
        let drawn = u16::from_le_bytes([bytes[0], bytes[1]]);
        assert_eq!(swarm.snapshot(env).expect("an env").scratch()[1], 100.0 + f32::from(drawn));
        assert_eq!(row(swarm, env)[0], 100.0 + f32::from(drawn));
        drawn
    };
    swarm.reset(5).expect("a reset");
    let first: Vec<u16> = (0..ENVS).map(|env| seen(&swarm, env)).collect();
    assert!(first.windows(2).all(|pair| pair[0] != pair[1]), "{first:?}");
    swarm.reset_masked(&[false, true, false, false]).expect("a mask");
    assert_ne!(seen(&swarm, 1), first[1]);
    assert_eq!(seen(&swarm, 0), first[0]);
    swarm.reset(env_seed(5, 2)).expect("a reset");
    assert_eq!(seen(&swarm, 0), first[2], "an env plays as the first one of a swarm with its seed");
}

#[test]
fn starts_are_drawn_by_the_seed_and_the_episode_alone() {
    let mut ours = swarm(config(TASK));
    let states: Vec<Vec<u8>> = (1..4_u8)
        .map(|mark| {
            ours.write_memory(0, 0xC100, &[mark]).expect("in range");
            ours.save_state(0).expect("an env")
        })
        .collect();
    let states: Vec<&[u8]> = states.iter().map(Vec::as_slice).collect();
    ours.restart_from(&states, 0).expect("states of this game");
    let mark = |swarm: &NativeSwarm, env: usize| {
        swarm.read_memory(env, 0xC100..0xC101).expect("in range")[0]
    };
    let mut drawn = [0; 4];
    let mut of_env_2 = Vec::new();
    ours.reset(5).expect("a reset");
    for _ in 0..40 {
        (0..ENVS).for_each(|env| drawn[usize::from(mark(&ours, env))] += 1);
        of_env_2.push(mark(&ours, 2));
        ours.reset_masked(&[true; ENVS]).expect("a mask");
    }
    assert!(drawn[0] == 0 && drawn[1..].iter().all(|count| *count > 30), "{drawn:?}");
    let mut single = swarm(SwarmConfig { num_envs: 1, ..config(TASK) });
    single.restart_from(&states, 0).expect("states of this game");
    single.reset(env_seed(5, 2)).expect("a reset");
    for expected in of_env_2 {
        assert_eq!(mark(&single, 0), expected);
        single.reset_masked(&[true]).expect("a mask");
    }
    ours.restart_from(&[b"no state"], 0).expect_err("no state");
    ours.start_from_env(0).expect("an env");
}

#[test]
fn two_texts_begin_each_with_its_own_scratch_in_the_stages_that_own_them() {
    let text = |name: &str, mark: u32| {
        let body = format!("scratch[0] = {mark}.0");
        let line = "scratch[0] = wp.float32(gb.read16(machine, 0xC000))\n    scratch[1]";
        ProgramText::new(name, &TASK.replace(line, &format!("{body}\n    scratch[1]")))
    };
    let two = Programs::new(text("a.py", 5), text("b.py", 6)).expect("right");
    for (stage, marks) in Stage::ALL.into_iter().zip([[0.0; 2], [5.0, 0.0], [0.0, 6.0], [5.0, 6.0]])
    {
        let mut swarm = swarm(SwarmConfig { stage, programs: two.clone(), ..config(TASK) });
        swarm.reset(0).expect("a reset");
        let scratch = swarm.snapshot(3).expect("an env").scratch().to_vec();
        assert_eq!([scratch[0], scratch[3]], marks, "{stage}");
    }
}

#[test]
fn a_begin_that_stops_names_its_env_and_its_line() {
    let text = TASK.replace("scratch[1] = 100.0", "scratch[gb.env(machine) + 1] = 100.0");
    let mut swarm = swarm(config(&text));
    let message = swarm.reset(0).expect_err("outside").to_string();
    assert!(message.starts_with("a program stopped in env 2\n"), "{message}");
    assert!(message.contains("task.py:10:5"), "{message}");
    // For the others `begin` ran nevertheless.
    assert_eq!(swarm.snapshot(3).expect("an env").scratch().len(), 3);
    assert_eq!(row(&swarm, 0)[0], 100.0);
}

#[test]
fn a_begin_with_other_parameters_is_refused_with_what_to_write() {
    let text = TASK.replacen("scratch: wp.array(dtype=wp.float32)):", "score: wp.float32):", 1);
    let text = ProgramText::new("task.py", &text);
    let message = Programs::new(text.clone(), text).expect_err("other parameters").to_string();
    assert!(message.contains("`begin` takes other parameters"), "{message}");
    assert!(message.contains("def begin(machine: gb.Machine, scratch:"), "{message}");
}

/// Keeps the last four scores, which each `observe` moves on by one.
const STACK: &str = "import warp as wp
import gbxcule as gb

SCRATCH = 4
OBS_DIM = 4

@wp.func
def reward(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.float32:
    return scratch[0]

@wp.func
def observe(machine: gb.Machine, scratch: wp.array(dtype=wp.float32), obs: wp.array(dtype=wp.float32)):
    for age in range(3):
        scratch[age] = scratch[age + 1]
    scratch[3] = wp.float32(gb.frames(machine)) + wp.float32(gb.read16(machine, 0xC000))
    for age in range(4):
        obs[age] = scratch[age]
";

/// Copies the first env's state to all others.
type Mover = fn(&mut NativeSwarm);

#[test]
fn a_stack_in_scratch_goes_on_after_every_way_to_move_a_state() {
    let movers: [(&str, Mover); 6] = [
        ("copy", |swarm| swarm.copy_state(0, &[false, true, true, true]).expect("a mask")),
        ("snapshot", |swarm| {
            let snapshot = swarm.snapshot(0).expect("an env");
            (1..ENVS).for_each(|env| swarm.restore(env, &snapshot).expect("of this swarm"));
        }),
        ("state", |swarm| {
            let state = swarm.save_state(0).expect("an env");
            (1..ENVS).for_each(|env| swarm.load_state(env, &state).expect("a state"));
        }),
        ("state and seed", |swarm| {
            let state = swarm.save_state(0).expect("an env");
            (1..ENVS).for_each(|env| swarm.resume_state(env, &state).expect("a state"));
        }),
        ("states", |swarm| {
            let state = swarm.save_state(0).expect("an env");
            swarm.load_states(&[false, true, true, true], &[&state]).expect("a state");
        }),
        ("onto itself", |swarm| {
            let state = swarm.save_state(0).expect("an env");
            swarm.load_state(0, &state).expect("a state");
            swarm.copy_state(0, &[true; ENVS]).expect("a mask");
        }),
    ];
    for (name, moved) in movers {
        let mut ours = swarm(SwarmConfig { stage: Stage::ObsOnly, ..config(STACK) });
        ours.reset(0).expect("a reset");
        (0..7).for_each(|step| ours.step(&actions(step)).expect("good actions"));
        let saved = row(&ours, 0);
        moved(&mut ours);
        for step in 0..5 {
            for env in 0..ENVS {
                let snapshot = ours.snapshot(env).expect("an env");
                assert_eq!(row(&ours, env), row(&ours, 0), "{name}, env {env}, step {step}");
                assert_eq!(snapshot.scratch(), row(&ours, 0), "{name}, env {env}, step {step}");
                assert!(step > 0 || snapshot.scratch() == saved, "{name}, env {env}");
            }
            ours.step(&[step; ENVS]).expect("good actions");
        }
    }
}

#[test]
fn a_state_without_an_observation_keeps_its_scratch_and_is_observed_anew() {
    let mut ours = swarm(SwarmConfig { stage: Stage::ObsOnly, ..config(STACK) });
    ours.reset(0).expect("a reset");
    (0..7).for_each(|step| ours.step(&actions(step)).expect("good actions"));
    let (state, saved) = (ours.save_state(0).expect("an env"), row(&ours, 0));
    // Version 1 ends before the flag, the count and the four numbers of the observation, and the
    // flag of pictures.
    let mut old = state[..state.len() - 32 - (1 + 8 + 4 * 4) - 1].to_vec();
    old[12..16].copy_from_slice(&1_u32.to_le_bytes());
    let digest = Sha256::digest(&old);
    old.extend(digest);
    ours.load_state(1, &old).expect("a state of version 1");
    assert_eq!(ours.snapshot(1).expect("an env").scratch(), saved);
    assert_eq!(row(&ours, 1), [saved[1], saved[2], saved[3], saved[3]]);
    ours.step(&[3; ENVS]).expect("good actions");
    assert_eq!(row(&ours, 1), row(&ours, 0));
}
