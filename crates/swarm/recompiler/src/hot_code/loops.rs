//! Counts of the instructions that a program executes after each place at which it arrives by a
//! jump or as a handler.

use super::{Counts, FRAMES_OF_A_BUTTON, LIMITS, button};
use crate::block::{MemoryMap, ROM_END};
use crate::learning::HotHead;
use crate::table::MAX_INSTRUCTION_BYTES;
use gbxcule_gameboy::machine::is_before;
use gbxcule_gameboy::{Cartridge, Machine, PowerOnMemory};

/// Number of machines in the run; each presses different buttons.
const MACHINES: u64 = 4;
/// Number of frames that each machine runs.
const FRAMES: u32 = 60;

/// Runs machines from power-on and counts.
pub(super) fn count(cartridge: &Cartridge, rom: &[u8]) -> Counts {
    let mut counts = Counts::default();
    for number in 0..MACHINES {
        let mut machine = Machine::power_on_with(cartridge, PowerOnMemory::Zero);
        let mut cart_ram = vec![0; cartridge.ram_bytes as usize];
        for frame in 0..FRAMES {
            if frame % FRAMES_OF_A_BUTTON == 0 {
                machine.set_buttons(button(number, frame / FRAMES_OF_A_BUTTON));
            }
            counts.frame(&mut machine, rom, &mut cart_ram);
        }
    }
    counts
}

impl Counts {
    /// Runs a frame and counts.
    fn frame(&mut self, machine: &mut Machine, rom: &[u8], cart_ram: &mut [u8]) {
        machine.begin_frame(false);
        let mut arrived = false;
        // Where the machine arrived last, and how many instructions ago.
        let mut last: Option<(HotHead, usize)> = None;
        while !machine.frame_done {
            let pc = machine.cpu.pc;
            let executes = is_before(machine.now, machine.deadline);
            if executes && arrived {
                let map = MemoryMap::of(machine).filter(|_| pc < ROM_END);
                last = map.map(|map| (HotHead { pc, map }, 0));
            }
            if executes {
                self.all += 1;
                if let Some((head, ago)) = &mut last
                    && *ago < LIMITS.instructions
                {
                    *ago += 1;
                    *self.after.entry(*head).or_default() += 1;
                }
            }
            machine.run_instruction(rom, cart_ram);
            let moved = machine.cpu.pc.wrapping_sub(pc);
            // A jump may lead to itself.
            let jumped = moved == 0 || moved > MAX_INSTRUCTION_BYTES;
            arrived = if executes { jumped } else { arrived || moved != 0 };
        }
    }
}
