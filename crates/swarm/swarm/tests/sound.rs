//! Sound of a swarm: it changes nothing, and steps in ranges give the samples of whole steps.

use gbxcule_runtime::Device;
use gbxcule_swarm::{
    FrameRange, Model, ProgramText, Programs, Rom, Schedule, Swarm, SwarmConfig, SwarmError,
};

const ENVS: usize = 5;

fn config(sound: bool) -> SwarmConfig {
    let schedule = Schedule::new(4, 3).expect("a schedule");
    SwarmConfig { schedule, sound, ..SwarmConfig::new(ENVS) }
}

fn rom() -> Rom {
    rom_of(Model::Original)
}

fn rom_of(model: Model) -> Rom {
    let rom = gbxcule_assembler::by_name("PEARL_DRIFT").expect("the game");
    Rom::for_model(rom.bytes(), Some(model)).expect("a good header")
}

fn swarm(model: Model, sound: bool) -> Swarm {
    Swarm::new(rom_of(model), config(sound), Device::Cpu).expect("a swarm")
}

fn actions(step: usize) -> Vec<u8> {
    (0..ENVS).map(|env| ((step * 5 + env * 3) % 9) as u8).collect()
}

fn samples(swarm: &Swarm) -> Vec<Vec<[i16; 2]>> {
    (0..ENVS).map(|env| swarm.samples(env).expect("an env").to_vec()).collect()
}

#[test]
fn steps_are_the_same_and_can_be_heard() {
    steps_of_a_model_can_be_heard(Model::Original);
}

#[test]
fn steps_of_a_color_are_the_same_and_can_be_heard() {
    steps_of_a_model_can_be_heard(Model::Color);
}

fn steps_of_a_model_can_be_heard(model: Model) {
    let (mut heard, mut unheard, mut in_ranges) =
        (swarm(model, true), swarm(model, false), swarm(model, true));
    let mut is_heard = false;
    for step in 0..40 {
        heard.step(&actions(step)).expect("good actions");
        unheard.step(&actions(step)).expect("good actions");
        for frames in [0..1, 1..3, 3..4] {
            let range = FrameRange { frames, draw_last: false };
            in_ranges.step_frames(&actions(step), &range).expect("a range");
        }
        assert_eq!(samples(&heard), samples(&in_ranges), "step {step}");
        for env in 0..ENVS {
            let (heard, unheard) = (heard.snapshot(env).unwrap(), unheard.snapshot(env).unwrap());
            assert_eq!(heard.machine(), unheard.machine());
            assert_eq!(heard.counters(), unheard.counters());
        }
        for env in 0..ENVS {
            assert_eq!(unheard.samples(env).unwrap(), [[0; 2]; 0]);
            let samples = heard.samples(env).unwrap();
            assert!((4 * 798 - 1..=2 * 4 * 798).contains(&samples.len()), "{}", samples.len());
            is_heard |= samples.iter().any(|sample| sample[0].abs() > 500);
        }
        if step == 25 {
            for swarm in [&mut heard, &mut unheard, &mut in_ranges] {
                swarm.reset(3).expect("a reset");
            }
        }
    }
    assert!(is_heard, "the game has sounds");
}

#[test]
fn sound_follows_from_the_state_alone() {
    sound_of_a_model_follows_from_the_state(Model::Original);
}

#[test]
fn sound_of_a_color_follows_from_the_state_alone() {
    sound_of_a_model_follows_from_the_state(Model::Color);
}

/// Checks that after a reset, a state, a copy or a checkpoint an env sounds like the one that it
/// was made equal to, whatever it played before.
fn sound_of_a_model_follows_from_the_state(model: Model) {
    let mut swarm = swarm(model, true);
    swarm.reset(5).expect("a reset");
    let first = played(&mut swarm, 0..12);
    swarm.reset(5).expect("a reset");
    let second = played(&mut swarm, 0..12);
    assert_eq!(first.0, second.0, "an episode sounds like the one before that began alike");
    assert!(first.1, "the game has sounds");
    let states: Vec<_> = (0..ENVS).map(|env| swarm.save_state(env).expect("a state")).collect();
    let checkpoint = swarm.checkpoint(b"").expect("a checkpoint");
    let (mut restored, _) = Swarm::from_checkpoint(&checkpoint, None, None).expect("a swarm");
    let mut loaded = Swarm::new(rom_of(model), config(true), Device::Cpu).expect("a swarm");
    _ = played(&mut loaded, 3..8);
    for (env, state) in states.iter().enumerate() {
        loaded.load_state(env, state).expect("its own state");
    }
    let (restored_samples, is_heard) = played(&mut restored, 12..40);
    assert_eq!(restored_samples, played(&mut loaded, 12..40).0, "a state sounds as a checkpoint");
    assert!(is_heard, "the game has sounds");
    restored.copy_state(1, &[true; ENVS]).expect("an env");
    for _ in 0..9 {
        restored.step(&[4; ENVS]).expect("good actions");
        let samples = samples(&restored);
        assert!(samples.iter().all(|env| *env == samples[0]), "copies sound alike");
    }
}

/// Samples of some steps, and whether one of them is loud.
fn played(swarm: &mut Swarm, steps: std::ops::Range<usize>) -> (Vec<[i16; 2]>, bool) {
    let mut all = Vec::new();
    for step in steps {
        swarm.step(&actions(step)).expect("good actions");
        all.extend(samples(swarm).concat());
    }
    let is_loud = all.iter().any(|sample| sample[0].abs() > 500);
    (all, is_loud)
}

#[test]
fn sound_that_cannot_be_made_is_an_error() {
    let settled = "import warp as wp\nimport gbxcule as gb\n
@wp.func\ndef reward(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.float32:
    return 0.0\n
@wp.func\ndef settled(machine: gb.Machine) -> wp.bool:
    return gb.read(machine, 0xC000) == 1\n";
    let text = ProgramText::new("task.py", settled);
    let programs = Programs::new(text, ProgramText::find("obs_v0").expect("built in"));
    let programs = programs.unwrap_or_else(|error| panic!("{error}"));
    let made = Swarm::new(rom(), SwarmConfig { programs, ..config(true) }, Device::Cpu);
    assert!(matches!(made, Err(SwarmError::SoundBesideHooks)));
    let on_cpu = Swarm::new(rom(), config(true), Device::Cpu).expect("a swarm");
    assert_eq!(on_cpu.samples(0).expect("an env"), [[0; 2]; 0]);
    assert!(matches!(on_cpu.samples(ENVS), Err(SwarmError::NoSuchEnv { .. })));
}
