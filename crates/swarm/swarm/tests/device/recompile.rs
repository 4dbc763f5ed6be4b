//! Blocks of code made for the ROM in the step kernel.

use crate::pair::{Pair, Subject, actions, config, on};
use gbxcule_assembler::Assembler;
use gbxcule_runtime::Device;
use gbxcule_swarm::{Model, NativeSwarm, Recompile, Rom, SwarmConfig};

/// ROMs that make blocks: arithmetic, a game, banks that are switched, buttons, jumps, and OAM
/// DMA.
const NAMES: [&str; 6] =
    ["ALU_LOOP", "PEARL_DRIFT", "MBC1_SWITCH", "JOY_DIVERGE_PERSIST", "FLOW_STACK", "DMA_OAM_COPY"];

pub(crate) fn code_made_for_the_rom_does_the_same(subject: Subject) {
    // A text is made for each ROM: a few are enough where it is known to do what the CPU does.
    let count = if subject.device == Device::Cpu { NAMES.len() } else { 2 };
    for name in &NAMES[..count] {
        let rom = gbxcule_assembler::by_name(name).expect("a ROM");
        assert_alike(subject, rom.bytes(), name);
    }
}

/// Programs that write to every register of the hardware, switch the bank that they run in, and
/// jump into the middle of instructions.
pub(crate) fn code_made_for_random_roms_does_the_same(subject: Subject) {
    let count = if subject.device == Device::Cpu { 3 } else { 1 };
    for seed in 1..=count {
        assert_alike(subject, &random_rom(seed), &format!("seed {seed}"));
    }
}

/// A second swarm finds its kernels where the first one left them: in memory on the CPU, else on
/// disk.
pub(crate) fn a_swarm_that_finds_its_kernels_does_the_same(subject: Subject) {
    let rom = subject.game();
    let mut left = Vec::new();
    for _ in 0..2 {
        let config = SwarmConfig { recompile: Recompile::Always, ..config(2) };
        let mut pair = Pair {
            native: NativeSwarm::new(subject.rom(rom), config.clone()).expect("a swarm"),
            ours: on(subject).swarm(rom, config),
        };
        pair.step(&actions(2, 0));
        pair.assert_equal("after a step");
        let facts = (pair.ours.order(), pair.ours.blocks());
        left.push((facts, Some(pair).filter(|_| subject.device == Device::Cpu)));
    }
    assert_eq!(left[0].0, left[1].0);
    assert_eq!(left[0].0.1.is_some(), subject.model == Model::Original, "blocks or none");
}

const BOOT: &str = include_str!("../samples/boot.asm");

pub(crate) fn a_boot_rom_does_the_same(subject: Subject) {
    let mut boot = Assembler::new("boot.asm", BOOT).code_at(0).expect("a program");
    if subject.model == Model::Color {
        boot.resize(2304, 0);
    }
    let rom = subject.rom(subject.game()).with_boot_rom(&boot).expect("the model's length");
    assert_rom_alike(subject, &rom, "a boot ROM");
}

fn assert_alike(subject: Subject, rom: &[u8], name: &str) {
    assert_rom_alike(subject, &subject.rom(rom), name);
}

fn assert_rom_alike(subject: Subject, rom: &Rom, name: &str) {
    let num_envs = 5;
    let config = SwarmConfig { recompile: Recompile::Always, ..config(num_envs) };
    let interpreted = SwarmConfig { recompile: Recompile::Off, ..config.clone() };
    let mut pair = Pair {
        native: NativeSwarm::new(rom.clone(), interpreted).expect("a swarm"),
        ours: on(subject).swarm_of(rom.clone(), config),
    };
    assert_eq!(pair.ours.blocks().is_some(), subject.model == Model::Original, "{name}");
    for step in 0..12 {
        pair.step(&actions(num_envs, step));
        pair.assert_equal(&format!("{name} after step {step}"));
    }
}

/// Opcodes that end a random program early: the undefined ones, STOP and HALT.
const ENDS: [u8; 13] =
    [0xd3, 0xdb, 0xdd, 0xe3, 0xe4, 0xeb, 0xec, 0xed, 0xf4, 0xfc, 0xfd, 0x10, 0x76];

/// Random instructions for an MBC1 with four banks; HALT, also with its bug, comes now and then.
fn random_rom(seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut byte = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u8
    };
    let mut instruction = || match byte() {
        end if ENDS.contains(&end) && byte() & 3 != 0 => end & 0x47,
        other => other,
    };
    let turn: Vec<u8> = (0..0x300).map(|_| instruction()).chain([0x18]).collect();
    // Each repetition of the 0x301 bytes begins at another place of its bank.
    let mut rom: Vec<u8> = turn.into_iter().cycle().take(0x1_0000).collect();
    rom[0x100..0x104].copy_from_slice(&[0x00, 0xc3, 0x50, 0x01]);
    (rom[0x143], rom[0x147], rom[0x148], rom[0x149]) = (0, 0x03, 1, 3);
    rom
}
