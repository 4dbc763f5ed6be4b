//! Counts of the turns of a warp whose machines run in the order of kernels: those with the lowest
//! stack pointer and program counter first (`gbxcule_passes::pass::lowest_first`).
//!
//! A turn costs the same for one machine as for all. So it does not count how many machines execute
//! an instruction, but how often the warp does.

use super::{Counts, FRAMES_OF_A_BUTTON, PARTING, button};
use crate::block::{MemoryMap, ROM_END};
use crate::learning::HotHead;
use gbxcule_gameboy::machine::is_before;
use gbxcule_gameboy::{Cartridge, Machine, PowerOnMemory};

/// Machines of a warp.
const LANES: usize = 32;
/// Frames that they run: games need some hundred until they are played.
const FRAMES: u32 = 1_440;
/// Of so many frames the turns of one are counted.
const PERIOD: u32 = 24;

/// A machine of the warp.
struct Lane {
    machine: Machine,
    cart_ram: Vec<u8>,
}

impl Lane {
    /// Returns true until its deadline has come.
    fn executes(&self) -> bool {
        is_before(self.machine.now, self.machine.deadline)
    }

    /// The number by which the lowest goes first.
    fn key(&self) -> u32 {
        u32::from(self.machine.cpu.sp) << 16 | u32::from(self.machine.cpu.pc)
    }

    /// Head of a block that may begin here.
    fn head(&self) -> Option<HotHead> {
        let pc = self.machine.cpu.pc;
        let map = MemoryMap::of(&self.machine).filter(|_| pc < ROM_END)?;
        Some(HotHead { pc, map })
    }

    /// Executes instructions until machines may part, or `next` is reached; returns their number.
    fn run_turn(&mut self, next: u32, rom: &[u8]) -> u64 {
        let mut executed = 0;
        loop {
            let pc = self.machine.cpu.pc;
            let base = self.machine.rom_base.get(usize::from(pc >> 14)).copied().unwrap_or(0);
            let opcode = rom.get(base.wrapping_add(u32::from(pc)) as usize);
            let parts = opcode.is_none_or(|opcode| PARTING.contains(opcode));
            self.machine.run_instruction(rom, &mut self.cart_ram);
            executed += 1;
            if parts || self.key() >= next || !self.executes() {
                return executed;
            }
        }
    }
}

/// Runs a warp of machines with buttons of their own and counts what turns execute.
pub(super) fn count(cartridge: &Cartridge, rom: &[u8]) -> Counts {
    let mut lanes: Vec<Lane> = (0..LANES)
        .map(|_| Lane {
            machine: Machine::power_on_with(cartridge, PowerOnMemory::Zero),
            cart_ram: vec![0; cartridge.ram_bytes as usize],
        })
        .collect();
    let mut counts = Counts::default();
    for frame in 0..FRAMES {
        if frame % FRAMES_OF_A_BUTTON == 0 {
            for (number, lane) in lanes.iter_mut().enumerate() {
                lane.machine.set_buttons(button(number as u64, frame / FRAMES_OF_A_BUTTON));
            }
        }
        if frame % PERIOD == 0 {
            count_frame(&mut counts, &mut lanes, rom);
        } else {
            for Lane { machine, cart_ram } in &mut lanes {
                machine.run_frame(rom, cart_ram, false);
            }
        }
    }
    counts
}

/// Runs a frame of all machines, turn by turn.
fn count_frame(counts: &mut Counts, lanes: &mut [Lane], rom: &[u8]) {
    lanes.iter_mut().for_each(|lane| lane.machine.begin_frame(false));
    loop {
        let keys = lanes.iter().filter(|lane| lane.executes()).map(Lane::key);
        if let Some(first) = keys.min() {
            turn(counts, lanes, first, rom);
            continue;
        }
        let waiting = lanes.iter_mut().filter(|lane| !lane.machine.frame_done);
        let serviced = waiting.map(|lane| lane.machine.service(rom, &mut lane.cart_ram)).count();
        if serviced == 0 {
            return;
        }
    }
}

/// Runs the machines with the lowest key until they may part or meet others.
fn turn(counts: &mut Counts, lanes: &mut [Lane], first: u32, rom: &[u8]) {
    let is_first = |lane: &Lane| lane.executes() && lane.key() == first;
    let others = lanes.iter().filter(|lane| lane.executes() && !is_first(lane));
    let next = others.map(Lane::key).min().unwrap_or(u32::MAX);
    let head = lanes.iter().find(|lane| is_first(lane)).and_then(Lane::head);
    let mut longest = 0;
    for lane in lanes.iter_mut().filter(|lane| is_first(lane)) {
        longest = longest.max(lane.run_turn(next, rom));
    }
    counts.all += longest;
    if let Some(head) = head {
        *counts.after.entry(head).or_default() += longest;
    }
}
