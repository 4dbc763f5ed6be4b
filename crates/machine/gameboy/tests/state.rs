//! Saved states: they are restored exactly, and every state that loads can run.

use gbxcule_gameboy::state::StateError;
use gbxcule_gameboy::{Cartridge, Machine};
use insta::assert_snapshot;
use proptest::prelude::*;

/// More instructions and events than the longest frame can have.
const MAX_STEPS: u32 = 200_000;

/// A cartridge with all it needs to run.
#[derive(Clone)]
struct Console {
    cartridge: Cartridge,
    rom: Vec<u8>,
    ram: Vec<u8>,
    machine: Machine,
}

impl Console {
    /// An MBC3 with clock and RAM whose program, at 0150, is `code` in an endless loop. Interrupts
    /// return at once.
    fn new(code: &[u8]) -> Console {
        let mut rom = vec![0; 0x8000];
        for handler in (0x00..0x68).step_by(8) {
            rom[handler] = 0xd9;
        }
        rom[0x100..0x104].copy_from_slice(&[0x00, 0xc3, 0x50, 0x01]);
        rom[0x134..0x138].copy_from_slice(b"TEST");
        rom[0x147..0x14a].copy_from_slice(&[0x10, 0x00, 0x03]);
        rom[0x150..0x150 + code.len()].copy_from_slice(code);
        rom[0x150 + code.len()..][..3].copy_from_slice(&[0xc3, 0x50, 0x01]);
        let cartridge = Cartridge::from_rom(&rom).unwrap();
        let ram = vec![0; cartridge.ram_bytes as usize];
        let machine = Machine::power_on(&cartridge);
        Console { cartridge, rom, ram, machine }
    }

    fn save(&self) -> Vec<u8> {
        let mut state = vec![0; self.machine.state_len(&self.cartridge)];
        self.machine.save_state(&self.cartridge, &self.ram, &mut state).unwrap();
        state
    }

    fn load(&mut self, state: &[u8]) -> Result<(), StateError> {
        self.machine = Machine::load_state(&self.cartridge, state, &mut self.ram)?;
        Ok(())
    }

    /// A state in which only one value differs from the current one.
    fn save_with(&self, change: impl FnOnce(&mut Machine)) -> Vec<u8> {
        let mut console = self.clone();
        change(&mut console.machine);
        console.save()
    }

    /// Finds the offset of a value in a state, by changing its lowest byte.
    fn offset_of(&self, change: impl FnOnce(&mut Machine)) -> usize {
        let (before, after) = (self.save(), self.save_with(change));
        before.iter().zip(&after).position(|(before, after)| before != after).unwrap()
    }

    fn step(&mut self) -> bool {
        self.machine.run_instruction(&self.rom, &mut self.ram)
    }

    fn steps(&mut self, steps: u32) {
        for _ in 0..steps {
            if self.step() {
                self.machine.begin_frame(true);
            }
        }
    }

    /// Runs a frame, drawn, that must end within `MAX_STEPS`.
    fn frame(&mut self) {
        self.machine.begin_frame(true);
        let mut steps = 0;
        while !self.step() {
            steps += 1;
            assert!(steps < MAX_STEPS, "the frame does not end");
        }
    }
}

/// One or two instructions that change large parts of the machine.
fn act() -> impl Strategy<Value = Vec<u8>> {
    let low = prop_oneof![0x00u8..0x50, Just(0xff), 0x40u8..0x4c];
    let value = any::<u8>();
    let write = |address: u16, value| vec![0x3e, value, 0xea, address as u8, (address >> 8) as u8];
    prop_oneof![
        12 => (low, value).prop_map(|(low, value)| vec![0x3e, value, 0xe0, low]),
        2 => (0xfe00u16..0xfea0, any::<u8>()).prop_map(move |(at, value)| write(at, value)),
        2 => (0x8000u16..0xa000, any::<u8>()).prop_map(move |(at, value)| write(at, value)),
        1 => (0x0000u16..0x8000, 0u8..16).prop_map(move |(at, value)| write(at, value)),
        1 => (0xa000u16..0xc000, any::<u8>()).prop_map(move |(at, value)| write(at, value)),
        1 => Just(vec![0x3e, 0x93, 0xe0, 0x40]),
        2 => (1u8..).prop_map(|count| vec![0x06, count, 0x05, 0x20, 0xfd]),
        1 => Just(vec![0xfb]),
        1 => Just(vec![0xf3]),
        1 => Just(vec![0xfb, 0x76]),
    ]
}

fn program() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(act(), 1..60).prop_map(|acts| acts.concat())
}

#[test]
fn a_state_comes_back_as_it_was() {
    let mut console = Console::new(&[0x34, 0x3c]);
    console.frame();
    console.ram[0x1234] = 0x56;
    let saved = console.clone();
    let state = console.save();
    console.frame();
    console.ram.fill(0);
    console.load(&state).unwrap();
    assert_eq!(console.machine.first_difference(&saved.machine), None);
    assert_eq!(console.machine, saved.machine);
    assert_eq!(console.ram, saved.ram);
}

#[test]
fn the_first_difference_is_named() {
    let console = Console::new(&[]);
    let mut other = console.machine;
    other.ppu.scan.entry[3] = 7;
    other.wram[0x123] = 1;
    assert_snapshot!(console.machine.first_difference(&other).unwrap(), @r"wram[0x123]: 0x0 and 0x1");
    other.wram[0x123] = 0;
    assert_snapshot!(console.machine.first_difference(&other).unwrap(), @r"ppu.scan.entry[0x3]: 0x0 and 0x7");
}

#[test]
fn refusals_say_what_is_wrong() {
    let mut console = Console::new(&[]);
    let state = console.save();
    let damaged = |at: usize, value: u8| {
        let mut state = state.clone();
        state[at] = value;
        state
    };
    let frame_done = console.offset_of(|machine| machine.frame_done = true);
    let beyond_last_line = console.save_with(|machine| machine.ppu.beam.line = 154);
    let mut refusal = |state: &[u8]| console.load(state).unwrap_err().to_string();
    assert_snapshot!(refusal(b"PyBoy"), @"not a state of this program; check that this is the right file");
    assert_eq!(
        refusal(&state[..100]),
        format!(
            "the state has 100 bytes, one of this cartridge has {}; it is cut off or damaged",
            state.len()
        )
    );
    assert_snapshot!(refusal(&damaged(8, 0x63)), @"the state has format version 99, this program reads version 11; load it with the program that saved it");
    assert_snapshot!(refusal(&damaged(12, 0x01)), @r"the state was made with another ROM, titled `\x01EST`; load that ROM, the very same version");
    assert_snapshot!(refusal(&damaged(frame_done, 2)), @"the state is damaged: 0x02 has no meaning for frame_done");
    assert_snapshot!(refusal(&beyond_last_line), @"the state is damaged: ppu.beam.line must be at most 153");
}

#[test]
fn buffers_of_the_wrong_length_are_refused() {
    let console = Console::new(&[]);
    let mut state = console.save();
    let save = console.machine.save_state(&console.cartridge, &[], &mut state);
    assert_snapshot!(save.unwrap_err(), @r"the buffer for the cartridge RAM has 0 bytes, it must have 32768");
    let load = Machine::load_state(&console.cartridge, &state, &mut [0; 3]);
    assert_snapshot!(load.unwrap_err(), @r"the buffer for the cartridge RAM has 3 bytes, it must have 32768");
}

#[test]
fn a_refused_state_leaves_cartridge_ram_alone() {
    let mut console = Console::new(&[]);
    let mut state = console.save();
    let last = state.len() - 1;
    state[last] = 1;
    console.load(&state).unwrap();
    state[last] = 2;
    let frame_done = console.offset_of(|machine| machine.frame_done = true);
    state[frame_done] = 2;
    console.load(&state).unwrap_err();
    assert_eq!(console.ram.last(), Some(&1));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn every_state_a_program_reaches_can_be_loaded(code in program(), pace in 1u32..200) {
        let mut console = Console::new(&code);
        console.machine.begin_frame(true);
        for _ in 0..100 {
            console.steps(pace);
            let saved = console.machine;
            let state = console.save();
            prop_assert_eq!(console.load(&state), Ok(()));
            prop_assert_eq!(console.machine.first_difference(&saved), None);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_damaged_state_is_refused_or_runs(
        code in program(),
        steps in 0u32..20_000,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut console = Console::new(&code);
        // Memory, at both ends of a state, can hold anything, so only the bytes between are
        // damaged.
        let first = console.offset_of(|machine| machine.now ^= 1);
        let end = console.offset_of(|machine| machine.vram[0] ^= 1);
        console.machine.begin_frame(true);
        console.steps(steps);
        let mut state = console.save();
        for (at, value) in damage {
            state[first..end][at.index(end - first)] = value;
        }
        if console.load(&state).is_ok() {
            for _ in 0..3 {
                console.frame();
            }
        }
    }

    #[test]
    fn random_bytes_are_refused_or_run(
        noise in prop::collection::vec(any::<u8>(), 0..2000),
        preamble: bool,
    ) {
        let mut console = Console::new(&[]);
        let mut state = console.save();
        let from = if preamble { console.offset_of(|machine| machine.now ^= 1) } else { 0 };
        let end = state.len().min(from + noise.len());
        state[from..end].copy_from_slice(&noise[..end - from]);
        if console.load(&state).is_ok() {
            console.frame();
        }
        if !preamble {
            console.load(&noise).unwrap_err();
        }
    }
}
