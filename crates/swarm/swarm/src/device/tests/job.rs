//! A job that both swarms run, and the comparison of their results.

use super::host::Program;
use crate::device::host_copy;
use crate::device::state_arrays::{COUNTERS, FIRST_ARRAY, PARTS, lengths, scalars};
use crate::program::ScratchSize;
use crate::{Codec, Layout, Model, NativeSwarm, OBS_V0_DIM, Rom, Schedule, Stage, SwarmConfig};

/// A codec with every button, combinations, and actions with different numbers of held frames.
const CODEC: &str = "A,B,START,UP,DOWN:1,LEFT,RIGHT,SELECT,NOOP,A+RIGHT:3,B+LEFT:1";

#[derive(Clone)]
pub(super) struct Job {
    pub(super) rom: Rom,
    pub(super) envs: usize,
    pub(super) steps: usize,
    /// Steps after which both are compared.
    pub(super) every: usize,
    pub(super) stage: Stage,
    pub(super) layout: Layout,
    pub(super) draw_last: bool,
    pub(super) codec: Codec,
}

/// Bytes, strides of env and element, and elements of a part.
struct Place {
    bytes: usize,
    strides: [usize; 2],
    elements: usize,
    width: usize,
}

impl Job {
    pub(super) fn new(rom: &[u8]) -> Self {
        Self::for_model(rom, Model::Original)
    }

    pub(super) fn for_model(rom: &[u8], model: Model) -> Self {
        Self {
            rom: Rom::for_model(rom, Some(model)).expect("a good header"),
            envs: 3,
            steps: 16,
            every: 4,
            stage: Stage::FullStep,
            layout: Layout::EnvMajor,
            draw_last: true,
            codec: Codec::by_name(CODEC).expect("a codec"),
        }
    }

    /// Runs the text and the native swarm, compares every byte of every env, and returns the native
    /// swarm.
    pub(super) fn run_both(&self, program: &Program, what: &str) -> NativeSwarm {
        let schedule = Schedule::new(3, 2).expect("a schedule");
        let config = SwarmConfig {
            schedule,
            codec: self.codec.clone(),
            stage: self.stage,
            draw_last: self.draw_last,
            ..SwarmConfig::new(self.envs)
        };
        let mut native = NativeSwarm::new(self.rom.clone(), config).expect("a swarm");
        let places = self.places(program);
        let result = program.run(&self.encode(&native, program, &places));
        let mut rest = result.as_slice();
        let mut take = |bytes: usize| {
            let (taken, left) = rest.split_at(bytes);
            rest = left;
            taken
        };
        for step in 0..self.steps {
            native.step(&self.actions(step)).expect("good actions");
            if (step + 1) % self.every != 0 && step + 1 != self.steps {
                continue;
            }
            let when = format!("{what} after step {step}");
            let parts: Vec<&[u8]> = places.iter().map(|place| take(place.bytes)).collect();
            self.compare(&native, program, &places, &parts, &when);
            let bits = |numbers: &[f32]| -> Vec<u8> {
                numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
            };
            assert!(take(4 * self.envs) == bits(native.rewards()), "{when}: rewards");
            let observations = take(4 * self.envs * OBS_V0_DIM);
            assert!(observations == bits(native.observations()), "{when}: observations");
        }
        assert!(rest.is_empty(), "{what}: {} bytes too many", rest.len());
        native
    }

    fn actions(&self, step: usize) -> Vec<u8> {
        let hash = |env: usize| ((step / 2) as u32).wrapping_mul(0x9e37_79b9) ^ (env as u32) << 13;
        let count = self.codec.actions.len() as u32;
        let action = |env| (hash(env).wrapping_mul(0x85eb_ca6b) >> 24) % count;
        (0..self.envs).map(|env| action(env) as u8).collect()
    }

    fn places(&self, program: &Program) -> Vec<Place> {
        let lengths = lengths(&program.columns.machine, &self.rom, ScratchSize::default());
        let place = |part: usize| {
            let (width, elements) = (scalars()[part].bytes() as usize, lengths[part]);
            let by_column =
                self.layout == Layout::Interleaved || part < FIRST_ARRAY || part == COUNTERS;
            let strides =
                if by_column { [width, width * self.envs] } else { [width * elements, width] };
            Place { bytes: width * elements * self.envs, strides, elements, width }
        };
        (0..PARTS).map(place).collect()
    }

    fn encode(&self, native: &NativeSwarm, program: &Program, places: &[Place]) -> Vec<u8> {
        let schedule = native.config().schedule;
        let header = [
            self.envs,
            self.steps,
            self.every,
            schedule.frames_per_step() as usize,
            usize::from(self.draw_last),
            OBS_V0_DIM,
            PARTS,
        ];
        let shapes = places
            .iter()
            .flat_map(|place| [place.bytes, place.strides[0], place.strides[1], place.elements]);
        let numbers = header.into_iter().chain(shapes);
        let mut job: Vec<u8> = numbers.flat_map(|it| (it as u64).to_le_bytes()).collect();
        let rows = self.rows(native, program);
        for (part, place) in places.iter().enumerate() {
            let mut memory = vec![0; place.bytes];
            for (env, rows) in rows.iter().enumerate() {
                for (element, value) in rows[part].chunks_exact(place.width).enumerate() {
                    memory[place.at(env, element)..][..place.width].copy_from_slice(value);
                }
            }
            job.extend(memory);
        }
        job.extend((self.rom.bytes().len() as u64).to_le_bytes());
        job.extend(self.rom.bytes());
        let (buttons, frames_held) = self.codec.tables(schedule);
        job.extend(buttons);
        job.extend(frames_held.iter().flat_map(|frames| frames.to_le_bytes()));
        (0..self.steps).for_each(|step| job.extend(self.actions(step)));
        job
    }

    fn rows(&self, native: &NativeSwarm, program: &Program) -> Vec<[Vec<u8>; PARTS]> {
        let row = |env| {
            let snapshot = native.snapshot(env).expect("an env");
            host_copy::rows(&program.columns.machine, &self.rom, &snapshot, ScratchSize::default())
                .expect("a state")
        };
        (0..self.envs).map(row).collect()
    }

    fn compare(
        &self,
        native: &NativeSwarm,
        program: &Program,
        places: &[Place],
        parts: &[&[u8]],
        when: &str,
    ) {
        for (env, rows) in self.rows(native, program).iter().enumerate() {
            for (part, place) in places.iter().enumerate() {
                for (element, expected) in rows[part].chunks_exact(place.width).enumerate() {
                    let actual = &parts[part][place.at(env, element)..][..place.width];
                    assert!(
                        actual == expected,
                        "{when}, env {env}, part {part}, element {element}: {actual:x?}, native {expected:x?}"
                    );
                }
            }
        }
    }
}

impl Place {
    fn at(&self, env: usize, element: usize) -> usize {
        env * self.strides[0] + element * self.strides[1]
    }
}

/// A ROM of random bytes after the header of a built-in ROM, with its mapper and RAM; the same seed
/// gives the same ROM.
pub(super) fn random_rom(seed: u64) -> Vec<u8> {
    let headers = gbxcule_assembler::all();
    let mut rom = headers[(seed >> 8) as usize % headers.len()].bytes().to_vec();
    let mut state = seed | 1;
    for byte in &mut rom[0x150..] {
        advance(&mut state);
        // Opcodes that hang the CPU would end most programs at once.
        *byte = match (state >> 24) as u8 {
            0xD3 | 0xDB | 0xDD | 0xE3 | 0xE4 | 0xEB..=0xED | 0xF4 | 0xFC | 0xFD | 0x10 => 0x3C,
            byte => byte,
        };
    }
    rom
}

/// A random ROM that knows the Color: here and there it changes the speed, a bank or a colour, or
/// starts DMA into video RAM.
pub(super) fn random_color_rom(seed: u64) -> Vec<u8> {
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
