//! Hooks stop a machine each time before the instructions at their addresses, and change nothing
//! else.

use gbxcule_gameboy::hook::{HOOK_IN_RAM, NO_HOOK};
use gbxcule_gameboy::{Cartridge, Machine, view};

/// A machine with what its owner passes in.
#[derive(Clone)]
struct Console {
    rom: Vec<u8>,
    ram: Vec<u8>,
    machine: Machine,
}

impl Console {
    fn new(rom: &[u8]) -> Self {
        let cartridge = Cartridge::from_rom(rom).expect("a ROM that runs");
        let mut rom = rom.to_vec();
        rom.resize(cartridge.padded_len(), 0xff);
        let ram = vec![0x5a; cartridge.ram_bytes as usize];
        Self { rom, ram, machine: Machine::power_on(&cartridge) }
    }

    /// Runs a frame, and calls `see` at each hook.
    fn frame(&mut self, buttons: u8, hooks: &[u32], mut see: impl FnMut(usize, &mut Self)) {
        let mut marks = vec![0; 0x2000];
        for place in hooks {
            // Any bank may be in either window.
            let addresses = match place & HOOK_IN_RAM {
                0 => [place & 0x3fff, place & 0x3fff | 0x4000],
                _ => [place & 0xffff; 2],
            };
            for address in addresses {
                marks[address as usize >> 3] |= 1 << (address & 7);
            }
        }
        self.machine.begin_frame_with(buttons, false);
        let mut resumes = false;
        loop {
            let Self { rom, ram, machine } = self;
            let hook = machine.run_to_hook(rom, ram, &marks, hooks, resumes);
            if hook == NO_HOOK {
                return;
            }
            resumes = true;
            see(hook as usize, self);
        }
    }

    /// The instructions that a frame executes, each with the bank it is read from.
    fn executed(&mut self, buttons: u8) -> Vec<u32> {
        let mut places = Vec::new();
        self.machine.begin_frame_with(buttons, false);
        loop {
            let Self { rom, ram, machine } = self;
            if machine.now.wrapping_sub(machine.deadline).cast_signed() < 0 {
                let pc = machine.cpu.pc;
                let window = [machine.cart.rom_low, machine.cart.rom_high];
                let window = window.get(usize::from(pc >> 14));
                let in_rom = |window: &u32| window + (u32::from(pc) & 0x3fff);
                places.push(window.map_or(HOOK_IN_RAM + u32::from(pc), in_rom));
            }
            if machine.run_instruction(rom, ram) {
                return places;
            }
        }
    }
}

fn pressed(frame: u32) -> u8 {
    (frame / 3).wrapping_mul(0x9d) as u8
}

#[test]
fn every_instruction_at_a_hook_stops_the_machine_once_and_nothing_else_changes() {
    for rom in gbxcule_assembler::all() {
        let mut plain = Console::new(rom.bytes());
        let mut hooked = plain.clone();
        for frame in 0..24 {
            let executed = plain.clone().executed(pressed(frame));
            // Some addresses of instructions that will run, and some that won't.
            let mut hooks: Vec<u32> = executed.iter().step_by(97).copied().collect();
            hooks.extend([0x0104, HOOK_IN_RAM | 0xfffe]);
            hooks.sort_unstable();
            hooks.dedup();
            let expected: Vec<usize> =
                executed.iter().filter_map(|place| hooks.binary_search(place).ok()).collect();
            let mut seen = Vec::new();
            hooked.frame(pressed(frame), &hooks, |hook, _| seen.push(hook));
            assert_eq!(seen, expected, "{}, frame {frame}", rom.name);
            let Console { rom: bytes, ram, machine } = &mut plain;
            machine.set_buttons(pressed(frame));
            machine.run_frame(bytes, ram, false);
            let difference = hooked.machine.first_difference(machine);
            assert_eq!(difference.map(|it| it.to_string()), None, "{}, frame {frame}", rom.name);
            assert_eq!(hooked.ram, *ram, "{}, frame {frame}", rom.name);
        }
    }
}

#[test]
fn a_hook_in_a_bank_is_not_one_at_that_address_in_another() {
    let mut console = Console::new(gbxcule_assembler::by_name("MEM_RWB").expect("a ROM").bytes());
    // Code at 4000 of two banks: a jump to itself.
    console.rom.resize(0x10000, 0);
    for bank in [1, 2] {
        console.rom[bank * 0x4000..][..2].copy_from_slice(&[0x18, 0xfe]);
    }
    for bank in [1, 2] {
        let mut console = console.clone();
        console.machine.cart.rom_high = bank << 14;
        console.machine.set_fast_path(true);
        console.machine.cpu.pc = 0x4000;
        console.machine.interrupts.enabled = 0;
        let mut seen = 0;
        console.frame(0, &[0x8000], |_, _| seen += 1);
        assert_eq!(seen > 1000, bank == 2, "bank {bank}: {seen}");
    }
}

/// STAT's mode, of which programs see the one before drawing.
const STAT: u16 = 0xff41;

#[test]
fn reads_at_a_hook_are_those_of_a_debugger() {
    for rom in gbxcule_assembler::all().iter().step_by(3) {
        let mut console = Console::new(rom.bytes());
        for frame in 0..5 {
            let hooks: Vec<u32> =
                console.clone().executed(pressed(frame)).into_iter().step_by(2999).collect();
            console.frame(pressed(frame), &hooks, |_, Console { rom: bytes, ram, machine }| {
                for address in
                    (0xff00..0xff50).chain([0xc000, 0x8123, 0xfe03, 0xa000, 0x4001, 0xff9e, 0xffff])
                {
                    let seen = view::read(machine, bytes, ram, address);
                    let expected = machine.peek(bytes, ram, address);
                    let same = if address == STAT { 0xfc } else { 0xff };
                    assert_eq!(seen & same, expected & same, "{} at {address:04x}", rom.name);
                }
            });
        }
    }
}
