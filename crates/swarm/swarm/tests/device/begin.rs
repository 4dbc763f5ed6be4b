//! Episodes begin in the same way on every device.

use crate::pair::{Pair, Subject, actions, config, on, plain};
use gbxcule_swarm::{
    Chance, PowerOnChoice, ProgramText, Programs, ScratchArray, ScratchCell, Stage, Swarm,
    SwarmConfig, TextRole,
};

/// Remembers where its episode began and how often it observed, in numbers of each type; writes one
/// number only after a step.
pub(crate) const PROGRAM: &str = r#"
import gbxcule as gb
import warp as wp

SCRATCH = 3
INT_SCRATCH = 2
BYTE_SCRATCH = 259
OBS_DIM = 6

Numbers = wp.array(dtype=wp.float32)
Ints = wp.array(dtype=wp.int32)
Bytes = wp.array(dtype=wp.uint8)

@wp.func
def begin(machine: gb.Machine, scratch: Numbers, byte_scratch: Bytes, int_scratch: Ints):
    scratch[0] = wp.float32(gb.read16(machine, 0xC000)) + wp.float32(gb.read(machine, 0xFF44))
    scratch[1] = wp.float32(gb.frames(machine)) + 100.0 * wp.float32(gb.env(machine) + gb.seed(machine))
    int_scratch[1] = -1 - gb.env(machine)
    byte_scratch[258] = gb.read(machine, 0xFF04)

@wp.func
def reward(machine: gb.Machine, scratch: Numbers, int_scratch: Ints, byte_scratch: Bytes) -> wp.float32:
    score = wp.float32(gb.read16(machine, 0xC000))
    gained = score - scratch[0]
    scratch[0] = score
    scratch[2] += 1.0
    byte_scratch[gb.read(machine, 0xFF04)] += wp.uint8(1)
    wp.atomic_add(int_scratch, 1, -16777217)
    return gained

@wp.func
def observe(machine: gb.Machine, scratch: Numbers, obs: Numbers, int_scratch: Ints, byte_scratch: Bytes):
    int_scratch[0] += 1
    obs[0] = scratch[0] + scratch[1] + wp.float32(int_scratch[0])
    if scratch[2] > 0.0:
        obs[1] = 7.0 + wp.float32(gb.action(machine))
    obs[2] = wp.float32(gb.pc(machine))
    obs[3] = wp.float32(gb.pixel(machine, 80, 72)) + wp.float32(gb.buttons(machine))
    obs[4] = wp.float32(int_scratch[1] & 0xFFFF)
    for at in range(259):
        obs[5] += wp.float32(byte_scratch[at])
"#;

fn pair(subject: Subject, stage: Stage) -> Pair {
    let text = ProgramText::new("mine.py", PROGRAM);
    let programs = Programs::new(text.clone(), text).expect("right programs");
    let chance = Some(Chance { low: 0xC0F0, width_bytes: 2 });
    let power_on = PowerOnChoice::Random;
    let config = SwarmConfig { programs, stage, chance, power_on, ..config(4) };
    Pair::new(subject.game(), config, on(subject))
}

/// Evaluates an expression for both swarms, and compares the results.
macro_rules! both {
    ($pair:expr, $swarm:ident => $ask:expr) => {{
        let $swarm = &mut $pair.native;
        $ask.expect("native");
        let $swarm = &mut $pair.ours;
        $ask.expect("ours");
        $pair.assert_equal(stringify!($ask));
    }};
}

pub(crate) fn episodes_begin_alike_wherever_they_do(subject: Subject) {
    let mut pair = pair(subject, Stage::FullStep);
    pair.assert_equal("nothing has begun");
    pair.step(&actions(4, 0));
    pair.assert_equal("the first step begins");
    let mask = [true, false, true, false];
    both!(pair, swarm => swarm.reset(11));
    (0..5).for_each(|step| pair.step(&actions(4, step)));
    both!(pair, swarm => swarm.reset_masked(&mask));
    pair.step(&actions(4, 5));
    both!(pair, swarm => swarm.write_memories(&mask, 0xC000, &[9, 1, 8, 2]));
    both!(pair, swarm => swarm.start_from_env(2));
    both!(pair, swarm => swarm.seed_envs(&[None, Some(3), None, Some(u64::MAX)]));
    both!(pair, swarm => swarm.reset_masked(&[false, true, false, true]));
    let observations = pair.ours.observations().expect("observations");
    assert_eq!(observations[6..12], pair.native.observations()[6..12]);
    assert!(observations[6] > 256.0 && observations[7] == 0.0, "{observations:?}");
    pair.step(&actions(4, 6));
    pair.assert_equal("a step later");
    both!(pair, swarm => swarm.copy_state(1, &mask));
    let observations = pair.ours.observations().expect("observations");
    assert_eq!(observations, pair.native.observations());
    assert_eq!(
        observations[..6],
        observations[6..12],
        "observations are copied, and not made anew"
    );
    let state = pair.native.save_state(1).expect("an env");
    both!(pair, swarm => swarm.load_state(3, &state));
    let [native, ours] = [pair.native.save_state(3), pair.ours.save_state(3)];
    assert_eq!(native.expect("an env"), ours.expect("an env"));
    assert_eq!(pair.ours.observations().expect("observations")[18..], observations[..6]);
    pair.step(&actions(4, 6));
    pair.assert_equal("a step after a copy");
    let exported = pair.native.export_bess(0).expect("an env");
    both!(pair, swarm => swarm.import_state(3, &exported));
    let state = pair.native.save_state(1).expect("an env");
    both!(pair, swarm => swarm.restart_from(&[&state], 3));
    both!(pair, swarm => swarm.copy_state(0, &mask));
    pair.step(&actions(4, 7));
    pair.assert_equal("from another start");
    both!(pair, swarm => swarm.restart_from(&[&state, &exported, &state], 1));
    both!(pair, swarm => swarm.reset(0));
    let again =
        |pair: &Pair| (0..4).map(|env| pair.native.save_state(env).expect("an env")).collect();
    let first: Vec<Vec<u8>> = again(&pair);
    pair.step(&actions(4, 8));
    both!(pair, swarm => swarm.reset_masked(&mask));
    both!(pair, swarm => swarm.reset_masked(&[true; 4]));
    both!(pair, swarm => swarm.reset(0));
    assert!(first == again(&pair), "the seed says which start");
    both!(pair, swarm => swarm.restart_from(&[], 0));
    for env in 0..4 {
        let [native, ours] = [pair.native.episode(env), pair.ours.episode(env)];
        assert_eq!(native.expect("an env"), ours.expect("an env"));
    }
}

pub(crate) fn what_programs_keep_reads_the_same(subject: Subject) {
    let mut pair = pair(subject, Stage::FullStep);
    both!(pair, swarm => swarm.reset(0));
    pair.step(&actions(4, 9));
    let (native, ours) = (Swarm::from(pair.native), Swarm::from(pair.ours));
    let text = TextRole::Observation;
    for (array, cell) in [(ScratchArray::Numbers, 2), (ScratchArray::Ints, 1)] {
        let cell = ScratchCell { text, array, cell };
        let kept = native.scratch_values(cell).expect("a cell");
        assert_eq!(kept, ours.scratch_values(cell).expect("a cell"));
        let of_env = |env: usize| if cell.cell == 2 { 1.0 } else { -16_777_218.0 - env as f64 };
        assert_eq!(kept, (0..4).map(of_env).collect::<Vec<_>>());
    }
    let bytes = |swarm: &Swarm| -> Vec<Vec<f64>> {
        let cell = |cell| ScratchCell { text, array: ScratchArray::Bytes, cell };
        (0..259).map(|at| swarm.scratch_values(cell(at)).expect("a cell")).collect()
    };
    assert_eq!(bytes(&native), bytes(&ours));
    let marked = bytes(&native).iter().take(256).flatten().sum::<f64>();
    assert_eq!(marked, 4.0, "each env marks one byte in a step");
    let beyond = ScratchCell { text, array: ScratchArray::Bytes, cell: 259 };
    let error = ours.scratch_values(beyond).expect_err("no such cell");
    assert!(error.to_string().contains("byte_scratch: it sets `BYTE_SCRATCH = 259`"), "{error}");
}

pub(crate) fn a_stage_begins_what_it_owns(subject: Subject) {
    for stage in [Stage::RewardOnly, Stage::ObsOnly] {
        let mut pair = pair(subject, stage);
        both!(pair, swarm => swarm.reset(2));
        pair.step(&actions(4, 1));
        both!(pair, swarm => swarm.reset_masked(&[false, false, true, true]));
    }
}

pub(crate) fn a_begin_that_stops_names_its_env_and_its_line(subject: Subject) {
    let body = PROGRAM.replace(
        "scratch[0] = wp.float32(gb.read16(machine, 0xC000)) +",
        "scratch[gb.env(machine) * 2] =",
    );
    let text = ProgramText::new("mine.py", &body);
    let programs = Programs::new(text.clone(), text).expect("right programs");
    let rom = gbxcule_assembler::by_name("ALU_LOOP").expect("a ROM");
    let config = SwarmConfig { programs, ..config(3) };
    let mut pair = Pair::new(rom.bytes(), config, plain(subject));
    let native = pair.native.reset(0).expect_err("a stop").to_string();
    let ours = pair.ours.reset(0).and_then(|()| pair.ours.sync()).expect_err("a stop").to_string();
    let place = |message: &str| message.split_once("-->").map(|(_, rest)| rest.to_owned());
    assert_eq!(place(&ours), place(&native));
    assert!(ours.contains("env 2") && ours.contains("mine.py:16"), "{ours}");
    pair.ours.sync().expect("nothing new");
}
