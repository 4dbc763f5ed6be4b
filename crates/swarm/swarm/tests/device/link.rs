//! Pairs with a cable on a device are those of the native swarm.

use crate::pair::{Pair, Subject, actions, config, on, plain};
use gbxcule_runtime::Device;
use gbxcule_swarm::{
    Chance, DeviceSwarm, FrameRange, LinkMode, Model, NativeSwarm, ProgramText, Programs, Schedule,
    Stage, Swarm, SwarmConfig, SwarmError,
};

fn pairs(num_envs: usize) -> SwarmConfig {
    SwarmConfig { link: LinkMode::Pairs, ..config(num_envs) }
}

pub(crate) fn pairs_do_the_same(subject: Subject) {
    for name in ["LINK_PING_PONG", "PEARL_HEIST"] {
        let rom = gbxcule_assembler::by_name(name).expect("a built-in ROM").bytes();
        let mut pair = Pair::new(rom, pairs(4), on(subject));
        pair.assert_equal(&format!("{name} at first"));
        for step in 0..60 {
            pair.step(&actions(4, step));
            if step % 12 == 11 {
                pair.assert_equal(&format!("{name} after step {step}"));
            }
        }
    }
}

/// A ROM of random bytes that often uses its port: it sends bytes of work RAM, waits, uses the fast
/// and the slow clock, writes IF and DIV, and enables interrupts; on the Color it changes its
/// speed, too.
fn random_rom(seed: u64, model: Model) -> Vec<u8> {
    let mut rom =
        gbxcule_assembler::by_name("SERIAL_HELLO").expect("a built-in ROM").bytes().to_vec();
    if model == Model::Color {
        // A ROM for the Color, which hides its registers from programs for the original.
        rom[0x143] = 0x80;
    }
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u8
    };
    // Handlers return.
    for handler in (0x40..0x68).step_by(8) {
        rom[handler] = 0xd9;
    }
    for byte in &mut rom[0x150..] {
        *byte = match next() {
            // Opcodes that hang or stop would end most programs at once, and so would jumps.
            0xd3 | 0xdb | 0xdd | 0xe3 | 0xe4 | 0xeb..=0xed | 0xf4 | 0xfc | 0xfd | 0x10 | 0x76 => 4,
            0xc0..=0xff => 0x05,
            byte => byte,
        };
    }
    let mut at = 0x150;
    while at + 16 < rom.len() {
        let low = next();
        let mut piece: Vec<u8> = match next() % 12 {
            0 | 1 => vec![0x3e, 0x81 | low & 2, 0xe0, 0x02, 0x00],
            2 | 3 => vec![0x3e, 0x80, 0xe0, 0x02, 0x00],
            4 | 5 => vec![0xfa, low, 0xc1, 0xe0, 0x01],
            6 => vec![0xf0, 0x01, 0xea, low, 0xc2],
            7 => vec![0x3e, 0x08, 0xe0, 0xff, 0xfb],
            8 => vec![0xe0, 0x04, 0x00, 0x00, 0x00],
            9 => vec![0x3e, low, 0xe0, 0x0f, 0x00],
            // INC (HL) or SLA (HL) of SB.
            10 => vec![0x21, 0x01, 0xff, if low & 1 == 0 { 0x34 } else { 0xcb }, 0x26],
            _ => vec![0x31, low, 0xdf, 0x00, 0x00],
        };
        if model == Model::Color && low % 16 == 7 {
            // P1 selects no buttons, KEY1 is armed, STOP.
            piece = vec![0x3e, 0x30, 0xe0, 0x00, 0x3e, 0x01, 0xe0, 0x4d, 0x10, 0x00];
        }
        rom[at..at + piece.len()].copy_from_slice(&piece);
        at += piece.len() + 1 + usize::from(next() % 16);
    }
    // From the end of each bank of memory back to the program's begin.
    rom[0x7ffd..0x8000].copy_from_slice(&[0xc3, 0x50, 0x01]);
    rom
}

pub(crate) fn random_programs_with_a_cable_do_the_same(subject: Subject) {
    let schedule = Schedule::new(1, 1).expect("a schedule");
    let (mut exchanged, mut doubled) = (0, 0);
    for seed in 1..9 {
        let rom = random_rom(seed, subject.model);
        let config = SwarmConfig { schedule, ..pairs(8) };
        let mut pair = Pair::new(&rom, config, plain(subject));
        for env in 0..8 {
            pair.native.write_memory(env, 0xc100, &bytes_to_send(env)).expect("work RAM");
            pair.ours.write_memory(env, 0xc100, &bytes_to_send(env)).expect("work RAM");
        }
        for step in 0..24 {
            pair.step(&actions(8, step));
            if step % 8 == 7 {
                pair.assert_equal(&format!("random program {seed} after step {step}"));
            }
        }
        doubled += (0..8).filter(|&env| is_at_double_speed(&pair.native, env)).count();
        let alone = alone(&rom, subject);
        exchanged += (0..8)
            .filter(|&env| {
                let memory =
                    |swarm: &NativeSwarm| swarm.read_memory(env, 0xc000..0xe000).expect("work RAM");
                memory(&pair.native) != memory(&alone)
            })
            .count();
    }
    assert!(exchanged > 16, "the cable made a difference in {exchanged} machines");
    let is_color = subject.model == Model::Color;
    assert!((doubled > 8) == is_color, "{doubled} machines at double speed");
}

fn is_at_double_speed(swarm: &NativeSwarm, env: usize) -> bool {
    let machine = swarm.machine(env).expect("an env");
    machine.color().is_some_and(|machine| machine.speed.double)
}

/// Returns the bytes in a machine's work RAM; they differ between machines.
fn bytes_to_send(env: usize) -> Vec<u8> {
    (0..256).map(|at| ((at * 37 + env * 91) ^ at >> 3) as u8).collect()
}

/// Machines that run a program without a cable.
fn alone(rom: &[u8], subject: Subject) -> NativeSwarm {
    let schedule = Schedule::new(1, 1).expect("a schedule");
    let config = SwarmConfig { schedule, ..config(8) };
    let mut swarm = NativeSwarm::new(subject.rom(rom), config).expect("a swarm");
    for env in 0..8 {
        swarm.write_memory(env, 0xc100, &bytes_to_send(env)).expect("work RAM");
    }
    (0..24).for_each(|step| swarm.step(&actions(8, step)).expect("good actions"));
    swarm
}

pub(crate) fn pairs_begin_end_and_move_the_same(subject: Subject) {
    let rom = gbxcule_assembler::by_name("PEARL_HEIST").expect("a built-in ROM").bytes();
    let program = ProgramText::find("PEARL_HEIST").expect("the game's program");
    let programs = Programs::new(program.clone(), program).expect("a program");
    let chance = Some(Chance { low: 0xC00C, width_bytes: 2 });
    let config = SwarmConfig { programs, chance, ..pairs(4) };
    let native = NativeSwarm::new(subject.rom(rom), config.clone()).expect("a swarm");
    let ours = plain(subject).swarm(rom, config);
    let mut swarms = [Swarm::from(native), Swarm::from(ours)];
    for (round, swarm) in swarms.iter_mut().enumerate() {
        swarm.reset(6).expect("a reset");
        swarm.hold_buttons(1, Some(0x10)).expect("an env");
        for step in 0..8 {
            for frames in [0..1, 1..3] {
                let range = FrameRange { frames, draw_last: step % 2 == 0 };
                swarm.step_frames(&actions(4, step), &range).expect("a range");
            }
        }
        swarm.hold_buttons(1, None).expect("an env");
        swarm.reset_masked(&[false, false, true, true]).expect("a pair");
        let half = swarm.reset_masked(&[true, false, false, false]);
        assert!(matches!(half, Err(SwarmError::HalfPair { env: 0 })), "{round}");
        (0..4).for_each(|step| swarm.step(&actions(4, step)).expect("good actions"));
        let kept = [0, 1].map(|env| swarm.save_state(env).expect("an env"));
        for (env, kept) in [2, 3].into_iter().zip(&kept) {
            swarm.load_state(env, kept).expect("a state");
        }
    }
    let kept = swarms.each_ref().map(|swarm| swarm.checkpoint(&[]).expect("a checkpoint"));
    let mut all = Vec::from(swarms);
    for (kept, device) in [(&kept[0], subject.device), (&kept[1], Device::Cpu)] {
        let (made, _) = Swarm::from_checkpoint(kept, Some(device), None).expect("whole");
        assert_eq!(made.config().link, LinkMode::Pairs);
        all.push(made);
    }
    let bits = |numbers: Vec<f32>| numbers.into_iter().map(f32::to_bits).collect::<Vec<_>>();
    let seen = |swarm: &Swarm| {
        let states = (0..4).map(|env| swarm.save_state(env).expect("an env"));
        let outputs =
            [swarm.rewards(), swarm.observations()].map(|numbers| bits(numbers.expect("numbers")));
        (states.collect::<Vec<_>>(), outputs, swarm.dones().expect("dones"))
    };
    for round in 0..3 {
        let expected = seen(&all[0]);
        for (at, swarm) in all.iter_mut().enumerate() {
            assert!(seen(swarm) == expected, "round {round}, swarm {at}");
            (0..3).for_each(|step| swarm.step(&actions(4, step)).expect("good actions"));
        }
    }
}

pub(crate) fn what_pairs_cannot_have_is_refused_alike(subject: Subject) {
    let rom = gbxcule_assembler::by_name("LINK_PING_PONG").expect("a built-in ROM").bytes();
    let device = gbxcule_swarm::DeviceConfig { device: subject.device, ..Default::default() };
    for config in [pairs(3), SwarmConfig { stage: Stage::EmulateOnly, ..pairs(5) }] {
        let message = |error: SwarmError| error.to_string();
        let native = NativeSwarm::new(subject.rom(rom), config.clone()).err().map(message);
        let ours = DeviceSwarm::new(subject.rom(rom), config, device).err().map(message);
        assert!(native.is_some() && native == ours, "{native:?}, {ours:?}");
    }
    let config = SwarmConfig { stage: Stage::EmulateOnly, ..pairs(2) };
    let mut pair = Pair::new(rom, config, plain(subject));
    (0..6).for_each(|step| pair.step(&actions(2, step)));
    pair.assert_equal("frames alone");
}
