//! Random programs, with random buttons, leave every byte of every machine as on the native swarm.

use crate::pair::{Pair, Subject, config, on};
use gbxcule_swarm::{Codec, Model, NativeSwarm, SwarmConfig};

/// Every button, combinations, and actions that are held for shorter and longer than others.
const CODEC: &str = "A,B,START,UP,DOWN:1,LEFT,RIGHT,SELECT,NOOP,A+RIGHT:3,B+LEFT:1";

/// Length of a run, and the steps after which both swarms are compared.
#[derive(Clone, Copy)]
struct Span {
    steps: usize,
    every: usize,
}

pub(crate) fn random_programs_do_the_same(subject: Subject) {
    run(subject, 0..12, Span { steps: 20, every: 4 });
}

/// Minutes of random programs, then all ROMs for thousands of frames.
pub(crate) fn run_long(subject: Subject) {
    let (programs, span) = match subject.model {
        Model::Original => (200, Span { steps: 400, every: 50 }),
        Model::Color => (60, Span { steps: 200, every: 50 }),
    };
    run(subject, 0..programs, span);
    for rom in subject.roms() {
        assert_alike(subject, rom.bytes(), Span { steps: 1500, every: 50 }, rom.name);
    }
}

fn run(subject: Subject, seeds: std::ops::Range<u64>, span: Span) {
    let mut seen = Seen::default();
    for number in seeds {
        let seed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let rom = match subject.model {
            Model::Original => random_rom(seed),
            Model::Color => random_color_rom(seed),
        };
        seen.add(&assert_alike(subject, &rom, span, &format!("random program {number}")));
    }
    assert!(subject.model == Model::Original || seen.all(), "{seen:?}");
}

/// Runs both swarms, compares all envs, and returns the native swarm.
fn assert_alike(subject: Subject, rom: &[u8], span: Span, what: &str) -> NativeSwarm {
    let envs = 3;
    let codec = Codec::by_name(CODEC).expect("a codec");
    let count = codec.actions.len() as u32;
    let config = SwarmConfig { codec, draw_last: true, ..config(envs) };
    let mut pair = Pair::new(rom, config, on(subject));
    for step in 0..span.steps {
        let hash = |env: usize| ((step / 2) as u32).wrapping_mul(0x9e37_79b9) ^ (env as u32) << 13;
        let action = |env| ((hash(env).wrapping_mul(0x85eb_ca6b) >> 24) % count) as u8;
        pair.step(&(0..envs).map(action).collect::<Vec<u8>>());
        if (step + 1) % span.every == 0 {
            pair.assert_equal(&format!("{what} after step {step}"));
        }
    }
    pair.native
}

/// Features that machines were found to use at the end of a run.
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
            let Some(machine) = swarm.machine(env).expect("an env").color() else { return };
            self.double_speed |= machine.speed.double;
            self.vram_dma |= machine.hdma.active;
            self.vram_bank |= machine.color.vram_bank != 0;
            self.wram_bank |= machine.color.wram_bank > 1;
        }
    }

    fn all(&self) -> bool {
        self.double_speed && self.vram_dma && self.vram_bank && self.wram_bank
    }
}

/// A ROM of random bytes after the header of a built-in ROM, with its mapper and RAM; the same seed
/// gives the same ROM.
fn random_rom(seed: u64) -> Vec<u8> {
    let headers = gbxcule_assembler::all();
    let mut rom = headers[(seed >> 8) as usize % headers.len()].bytes().to_vec();
    let mut state = seed | 1;
    for byte in &mut rom[0x150..] {
        advance(&mut state);
        // Opcodes that hang would end most programs at once.
        *byte = match (state >> 24) as u8 {
            0xD3 | 0xDB | 0xDD | 0xE3 | 0xE4 | 0xEB..=0xED | 0xF4 | 0xFC | 0xFD | 0x10 => 0x3C,
            byte => byte,
        };
    }
    rom
}

/// A random ROM that knows the Color: here and there it changes the speed, a bank or a colour, or
/// starts DMA into video RAM.
fn random_color_rom(seed: u64) -> Vec<u8> {
    /// Low bytes of the registers' addresses.
    const REGISTERS: [u8; 16] = [
        0x4d, 0x4f, 0x51, 0x52, 0x53, 0x54, 0x55, 0x55, 0x55, 0x68, 0x69, 0x6a, 0x6b, 0x6c, 0x70,
        0x70,
    ];
    let mut rom = random_rom(seed);
    rom[0x143] = 0x80;
    let sum = |sum: u8, byte: &u8| sum.wrapping_sub(*byte).wrapping_sub(1);
    rom[0x14d] = rom[0x134..0x14d].iter().fold(0, sum);
    let mut state = seed | 1;
    let mut at = 0x150;
    while at + 10 < rom.len() {
        advance(&mut state);
        let (register, value) = (REGISTERS[(state >> 32) as usize % 16], (state >> 40) as u8);
        // LD A,value; LDH (register),A; for the speed LD A,$30; LDH (P1),A; STOP, whatever is held.
        rom[at..at + 4].copy_from_slice(&[0x3e, value, 0xe0, register]);
        if register == 0x4d {
            rom[at + 4..at + 10].copy_from_slice(&[0x3e, 0x30, 0xe0, 0x00, 0x10, 0]);
        }
        at += 10 + (state >> 50) as usize % 24;
    }
    rom
}

fn advance(state: &mut u64) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
}
