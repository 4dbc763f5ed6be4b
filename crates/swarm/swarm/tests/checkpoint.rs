//! States and checkpoints: a restored swarm continues bit for bit, and damage is an error.

use std::num::NonZeroUsize;

use gbxcule_runtime::Device;
use gbxcule_swarm::{
    Chance, Checkpoint, Codec, NativeSwarm, PowerOnChoice, ProgramText, Programs, Rom, Schedule,
    Swarm, SwarmConfig, SwarmError,
};
use sha2::{Digest, Sha256};

const ENVS: usize = 5;

const TASK: &str = "import warp as wp
import gbxcule as gb

SCRATCH = 2
OBS_DIM = 3

@wp.func
def begin(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)):
    scratch[0] = wp.float32(gb.read16(machine, 0xC000))

@wp.func
def reward(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.float32:
    score = wp.float32(gb.read16(machine, 0xC000))
    gained = score - scratch[0]
    scratch[0] = score
    scratch[1] += 1.0
    return gained

@wp.func
def done(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.bool:
    return int(scratch[1]) % 7 == gb.env(machine)

@wp.func
def observe(machine: gb.Machine, scratch: wp.array(dtype=wp.float32), obs: wp.array(dtype=wp.float32)):
    obs[0] = scratch[1] + wp.float32(gb.frames(machine) + gb.seed(machine))
    if gb.env(machine) == 1:
        obs[1] += 1.0
    obs[2] = wp.float32(gb.read16(machine, 0xC0F0))
";

fn config(text: &str) -> SwarmConfig {
    let text = ProgramText::new("task.py", text);
    let programs = Programs::new(text.clone(), text).unwrap_or_else(|error| panic!("{error}"));
    let chance = Some(Chance { low: 0xC0F0, width_bytes: 2 });
    let schedule = Schedule::new(3, 2).expect("a schedule");
    let threads = NonZeroUsize::new(2);
    let power_on = PowerOnChoice::Random;
    SwarmConfig { schedule, programs, chance, power_on, threads, ..SwarmConfig::new(ENVS) }
}

fn rom(name: &str) -> Rom {
    Rom::new(gbxcule_assembler::by_name(name).expect("a ROM").bytes()).expect("a good header")
}

fn swarm(name: &str) -> Swarm {
    Swarm::new(rom(name), config(TASK), Device::Cpu).expect("a swarm")
}

fn play(swarm: &mut Swarm, steps: std::ops::Range<usize>) {
    for step in steps {
        let dones = swarm.dones().expect("dones");
        if dones.contains(&true) {
            swarm.reset_masked(&dones).expect("a mask");
        }
        let actions: Vec<u8> = (0..ENVS).map(|env| ((env * 5 + step * 3) % 9) as u8).collect();
        swarm.step(&actions).expect("good actions");
    }
}

/// Everything that the swarm's functions return.
fn all(swarm: &Swarm) -> impl PartialEq + std::fmt::Debug {
    let states: Vec<Vec<u8>> =
        (0..ENVS).map(|env| swarm.save_state(env).expect("an env")).collect();
    let bits = |numbers: Vec<f32>| numbers.into_iter().map(f32::to_bits).collect::<Vec<_>>();
    let outputs =
        (bits(swarm.rewards().expect("rewards")), bits(swarm.observations().expect("numbers")));
    (states, outputs, swarm.dones().expect("dones"), swarm.seed())
}

#[test]
fn a_swarm_goes_on_from_a_checkpoint_bit_for_bit() {
    for name in ["PEARL_DRIFT", "MBC1_RAM"] {
        let mut ours = swarm(name);
        let untouched = ours.checkpoint(b"").expect("a checkpoint");
        ours.reset(u64::MAX - 1).expect("a reset");
        play(&mut ours, 0..9);
        let starts = [1, 4].map(|env| ours.save_state(env).expect("an env"));
        ours.restart_from(&starts.each_ref().map(Vec::as_slice), 1).expect("states of this game");
        ours.reset(u64::MAX - 1).expect("a reset");
        ours.hold_buttons(3, Some(0)).expect("an env");
        play(&mut ours, 9..14);
        let bytes = ours.checkpoint(b"a note").expect("a checkpoint");
        let (mut theirs, note) =
            Swarm::from_checkpoint(&bytes, None, NonZeroUsize::new(1)).expect("whole");
        assert_eq!(note, b"a note");
        assert_eq!(all(&theirs), all(&ours));
        assert!(theirs.checkpoint(b"a note").expect("a checkpoint").len() == bytes.len());
        for swarm in [&mut ours, &mut theirs] {
            play(swarm, 14..40);
        }
        assert_eq!(all(&theirs), all(&ours));
        for swarm in [&mut ours, &mut theirs] {
            swarm.reset(4).expect("a reset");
            play(swarm, 0..9);
        }
        assert_eq!(all(&theirs), all(&ours));
        // In a restored swarm whose episodes had not begun, they begin with the first step.
        let (mut theirs, _) = Swarm::from_checkpoint(&untouched, None, None).expect("whole");
        let mut fresh = swarm(name);
        for swarm in [&mut fresh, &mut theirs] {
            play(swarm, 0..3);
        }
        assert_eq!(all(&theirs), all(&fresh));
    }
}

#[test]
fn parts_of_a_checkpoint_join_to_the_whole() {
    let mut whole = swarm("MBC1_RAM");
    whole.reset(3).expect("a reset");
    play(&mut whole, 0..9);
    let bytes = whole.checkpoint(b"a note").expect("a checkpoint");
    let part = |bytes: &[u8], envs| Checkpoint::from_bytes(bytes).expect("whole").only(envs);
    let mut joined = part(&bytes, 0..1).expect("an env");
    for envs in [1..4, 4..5] {
        joined.append(part(&bytes, envs).expect("envs")).expect("parts of one swarm");
    }
    assert_eq!(joined.note(), b"a note");
    assert!(joined.with_note(b"a note").expect("bytes") == bytes);
    for envs in [2..2, 3..6] {
        assert!(matches!(part(&bytes, envs), Err(SwarmError::NoSuchPart { num_envs: 5, .. })));
    }
    let other = swarm("PEARL_DRIFT").checkpoint(b"").expect("a checkpoint");
    let joined = part(&bytes, 0..1).expect("an env").append(part(&other, 1..2).expect("an env"));
    assert!(matches!(joined, Err(SwarmError::PartOfAnother)));
}

#[test]
fn a_checkpoint_has_a_table_of_actions_of_ones_own() {
    let codec = Codec::by_name("A+RIGHT:1,LEFT,NOOP,START:2,UP,B").expect("a codec");
    let config = SwarmConfig { codec, ..config(TASK) };
    let mut ours = Swarm::new(rom("PEARL_DRIFT"), config, Device::Cpu).expect("a swarm");
    let step = |swarm: &mut Swarm, step: u8| {
        let actions: Vec<u8> = (0..ENVS as u8).map(|env| (env + step) % 6).collect();
        swarm.step(&actions).expect("good actions");
    };
    (0..4).for_each(|at| step(&mut ours, at));
    let kept = ours.checkpoint(b"").expect("a checkpoint");
    let (mut other, _) = Swarm::from_checkpoint(&kept, None, None).expect("a checkpoint");
    assert_eq!(other.config().codec, ours.config().codec);
    for at in 4..40 {
        step(&mut ours, at);
        step(&mut other, at);
    }
    assert_eq!(all(&other), all(&ours));
}

/// The bytes with a checksum that fits them.
fn signed(mut bytes: Vec<u8>) -> Vec<u8> {
    let at = bytes.len() - 32;
    let digest = Sha256::digest(&bytes[..at]);
    bytes[at..].copy_from_slice(&digest);
    bytes
}

#[test]
fn damage_is_an_error_even_where_the_checksum_fits() {
    let mut ours = swarm("MBC1_RAM");
    play(&mut ours, 0..3);
    let (state, checkpoint) = (ours.save_state(1).expect("an env"), ours.checkpoint(b"note"));
    let checkpoint = checkpoint.expect("a checkpoint");
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut draw = |below: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random as usize % below
    };
    let mut one = swarm_of_one();
    for round in 0..40 {
        for (bytes, is_state) in [(&state, true), (&checkpoint, false)] {
            let mut read = |bytes: &[u8]| {
                if is_state {
                    one.load_state(0, bytes)
                } else {
                    Swarm::from_checkpoint(bytes, None, None).map(|_| ())
                }
            };
            // Counts and names are at the beginning.
            let near = if round % 2 == 0 { 3000 } else { bytes.len() };
            let at = draw(near.min(bytes.len()));
            let mut changed = bytes.clone();
            changed[at] ^= 1 << draw(8);
            read(&changed).expect_err("a checksum");
            // A changed file with a right checksum may be read as another state, or be refused.
            _ = read(&signed(changed));
            read(&bytes[..at]).expect_err("an end");
            if at > 60 {
                read(&signed(bytes[..at].to_vec())).expect_err("an end");
            }
            read(&[bytes, &[0][..]].concat()).expect_err("something behind");
        }
    }
    let message = |error: SwarmError| error.to_string();
    let read = |bytes: &[u8]| message(Swarm::from_checkpoint(bytes, None, None).err().expect("no"));
    assert_eq!(
        read(&checkpoint[..checkpoint.len() - 1]),
        "the checkpoint is cut off or damaged: its checksum is wrong"
    );
    assert_eq!(read(&state), "not a checkpoint of this program; check that this is the right file");
    let mut newer = checkpoint.clone();
    newer[b"gbxcule swarm\n".len()] = 9;
    assert!(read(&newer).contains("format version 9, this program reads version 5"));
}

fn swarm_of_one() -> NativeSwarm {
    let config = SwarmConfig { num_envs: 1, ..config(TASK) };
    NativeSwarm::new(rom("MBC1_RAM"), config).expect("a swarm")
}

#[test]
fn states_carry_counters_scratch_and_episode() {
    let mut ours = swarm("PEARL_DRIFT");
    ours.reset(8).expect("a reset");
    play(&mut ours, 0..6);
    let state = ours.save_state(2).expect("an env");
    let snapshot = ours.snapshot(2).expect("an env");
    let mut theirs = swarm("PEARL_DRIFT");
    theirs.reset(1).expect("a reset");
    theirs.load_state(0, &state).expect("of this game");
    let loaded = theirs.snapshot(0).expect("an env");
    assert_eq!(loaded.scratch(), snapshot.scratch());
    assert_eq!(loaded.counters(), snapshot.counters());
    assert_eq!(theirs.episode(0).expect("an env").seed, 1, "its own sequence goes on");
    theirs.resume_state(0, &state).expect("of this game");
    assert_eq!(theirs.episode(0).expect("an env"), ours.episode(2).expect("an env"));
}

#[test]
fn states_of_machines_alone_and_of_other_programs_begin_these() {
    let mut ours = swarm("PEARL_DRIFT");
    play(&mut ours, 0..6);
    let snapshot = ours.snapshot(1).expect("an env");
    let rom = rom("PEARL_DRIFT");
    let mut machine = vec![0; snapshot.machine().state_len(rom.cartridge())];
    let saved = snapshot.machine().save_state(rom.cartridge(), snapshot.cart_ram(), &mut machine);
    saved.expect("it fits");
    let other = config(&TASK.replace("SCRATCH = 2", "SCRATCH = 9"));
    let other = Swarm::new(rom, other, Device::Cpu).and_then(|mut swarm| {
        swarm.reset(3)?;
        swarm.save_state(0)
    });
    for state in [machine.clone(), other.expect("a state")] {
        ours.import_state(0, &state).expect("a state of this game");
        ours.load_state(1, &state).expect("a state of this game");
        for env in 0..2 {
            assert_eq!(ours.snapshot(env).expect("an env").scratch()[1], 0.0);
        }
    }
    let refused = ours.resume_state(0, &machine).expect_err("no episode");
    assert!(refused.to_string().contains("a machine alone"), "{refused}");
}
