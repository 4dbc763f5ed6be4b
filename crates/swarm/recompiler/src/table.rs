//! The table that maps addresses of a ROM to blocks, and the loop that runs machines by blocks.
//!
//! A shared table never changes: threads use it while the next one is made. Where there is no
//! block, the interpreter runs up to the next address that has one.

use crate::block::{Limits, MemoryMap};
use crate::code::{BlockCode, Memories, TableBlock};
use crate::learning::{HotHead, Learning};
use gbxcule_gameboy::Machine;
use gbxcule_gameboy::cpu::Mode;
use gbxcule_gameboy::machine::{is_before, pass_deadline};
use std::sync::Arc;

/// Maximum of blocks, which bounds the machine code.
const MAX_BLOCKS: usize = 4_096;
/// Maximum of blocks at one address, for different memory maps.
const MAX_VARIANTS: usize = 16;
/// Maximum of bytes of machine code.
const MAX_CODE_BYTES: usize = 32 << 20;
/// Number of addresses at which a block may begin.
const ADDRESSES: usize = 0x1_0000;
/// Index that means no block.
const NONE: u16 = u16::MAX;
/// Approximate number of M-cycles before the deadline in which blocks refuse to run: the time
/// between two checks, and one instruction.
const MAX_REFUSED_MCYCLES: u32 = Limits::CPU.mcycles_unchecked + 6;
/// Bytes of the longest instruction: if PC moves further, the program has jumped.
pub(crate) const MAX_INSTRUCTION_BYTES: u16 = 3;

/// Blocks of one ROM.
#[derive(Clone)]
pub struct BlockTable {
    /// A bit for each address at which a block begins.
    marks: Box<[u8]>,
    /// Index of the first block of each address.
    first: Box<[u16]>,
    blocks: Vec<TableEntry>,
    code_bytes: usize,
}

#[derive(Clone)]
struct TableEntry {
    block: TableBlock,
    /// Index of the next block at this address, for another memory map.
    next: u16,
}

/// The reason why no further block ran.
enum Stop {
    /// The deadline has come.
    Deadline,
    /// The deadline is too near for the block at this address.
    TooNear,
    /// There is no block at this address for the memory map.
    NoBlock,
}

impl BlockTable {
    /// No blocks yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            marks: vec![0; ADDRESSES / 8].into(),
            first: vec![NONE; ADDRESSES].into(),
            blocks: Vec::new(),
            code_bytes: 0,
        }
    }

    /// Number of blocks.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Returns true if the table has no blocks.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Size of the machine code of all blocks.
    pub fn code_bytes(&self) -> usize {
        self.code_bytes
    }

    /// Heads of all blocks.
    pub(crate) fn heads(&self) -> Vec<HotHead> {
        self.blocks.iter().map(|entry| entry.block.code().head()).collect()
    }

    /// Returns true if the table takes no further block.
    pub(crate) fn is_full(&self) -> bool {
        self.blocks.len() >= MAX_BLOCKS || self.code_bytes >= MAX_CODE_BYTES
    }

    /// Returns true if there is a block at an address for a memory map.
    pub(crate) fn has(&self, pc: u16, map: &MemoryMap) -> bool {
        self.at(pc).any(|entry| entry.block.code().fits(map))
    }

    /// Adds a block, if the limits allow it. Earlier blocks of the address are tried first.
    pub(crate) fn add(&mut self, code: Arc<BlockCode>) {
        if self.is_full() || self.at(code.pc()).count() >= MAX_VARIANTS {
            return;
        }
        let (pc, place) = (usize::from(code.pc()), self.blocks.len() as u16);
        self.marks[pc >> 3] |= 1 << (pc & 7);
        self.code_bytes += code.bytes();
        let mut last = self.first[pc];
        while last != NONE && self.blocks[usize::from(last)].next != NONE {
            last = self.blocks[usize::from(last)].next;
        }
        match last {
            NONE => self.first[pc] = place,
            last => self.blocks[usize::from(last)].next = place,
        }
        self.blocks.push(TableEntry { block: TableBlock::new(code), next: NONE });
    }

    fn at(&self, pc: u16) -> impl Iterator<Item = &TableEntry> {
        let first = self.first.get(usize::from(pc)).copied().unwrap_or(NONE);
        let entry = |place: u16| self.blocks.get(usize::from(place));
        std::iter::successors(entry(first), move |before| entry(before.next))
    }

    /// Runs a frame like `Machine::run_frame`.
    pub fn run_frame(&self, machine: &mut Machine, rom: &[u8], cart_ram: &mut [u8], draw: bool) {
        machine.begin_frame(draw);
        while !machine.frame_done {
            if is_before(machine.now, machine.deadline) {
                self.run_until_deadline(machine, rom, cart_ram);
            }
            pass_deadline(machine, rom, cart_ram);
        }
    }

    /// Runs up to the deadline like `Machine::run_until_deadline`.
    fn run_until_deadline(&self, machine: &mut Machine, rom: &[u8], cart_ram: &mut [u8]) {
        // The HALT bug fetches the next opcode twice, which blocks can't do.
        if machine.cpu.halt_bug {
            machine.run_until_deadline(rom, cart_ram);
            return;
        }
        loop {
            let stop = self.run_blocks(machine, &Memories::new(rom, cart_ram));
            machine.now = machine.cpu.now;
            match stop {
                Stop::Deadline => return,
                Stop::TooNear => return machine.run_until_deadline(rom, cart_ram),
                Stop::NoBlock => machine.run_until_mark(rom, cart_ram, &self.marks),
            }
            if !is_before(machine.now, machine.deadline) {
                return;
            }
        }
    }

    /// Runs blocks until the table has none for the machine's PC and memory map.
    #[inline(always)]
    fn run_blocks(&self, machine: &mut Machine, memories: &Memories<'_>) -> Stop {
        loop {
            let entered = machine.cpu.now;
            let pc = machine.cpu.pc;
            let mut place = self.first.get(usize::from(pc)).copied().unwrap_or(NONE);
            loop {
                let Some(entry) = self.blocks.get(usize::from(place)) else {
                    return self.stop_reason(machine);
                };
                entry.block.run(machine, memories);
                if machine.cpu.now != entered {
                    break;
                }
                place = entry.next;
            }
            if !is_before(machine.cpu.now, machine.deadline) {
                return Stop::Deadline;
            }
        }
    }

    /// Returns the reason why no block ran. Near the deadline the reason is `TooNear`, even if the
    /// block refused because of the memory map: the interpreter runs up to the deadline in both
    /// cases.
    fn stop_reason(&self, machine: &Machine) -> Stop {
        let left = machine.deadline.wrapping_sub(machine.cpu.now);
        let has_block = self.at(machine.cpu.pc).next().is_some();
        if has_block && left <= MAX_REFUSED_MCYCLES { Stop::TooNear } else { Stop::NoBlock }
    }

    /// Runs a frame and counts arrivals by a jump, by an interrupt or from a block. A place at
    /// which a deadline stopped a block does not count.
    pub(crate) fn run_frame_counting(
        &self,
        learning: &mut Learning,
        machine: &mut Machine,
        rom: &[u8],
        cart_ram: &mut [u8],
        draw: bool,
    ) {
        machine.begin_frame(draw);
        let mut arrived = false;
        while !machine.frame_done {
            if is_before(machine.now, machine.deadline) {
                arrived = self.advance_counting(learning, machine, rom, cart_ram, arrived);
            } else {
                let before = (machine.cpu.pc, machine.cpu.mode);
                machine.service(rom, cart_ram);
                // A handler begins, or the program wakes.
                arrived = before != (machine.cpu.pc, Mode::Running);
            }
        }
    }

    /// Runs blocks, or instructions up to the next jump, block or deadline; returns true if the
    /// program arrived at its PC by a jump, an interrupt or from a block.
    fn advance_counting(
        &self,
        learning: &mut Learning,
        machine: &mut Machine,
        rom: &[u8],
        cart_ram: &mut [u8],
        mut arrived: bool,
    ) -> bool {
        if !machine.cpu.halt_bug {
            let entered = machine.now;
            let stop = self.run_blocks(machine, &Memories::new(rom, cart_ram));
            machine.now = machine.cpu.now;
            arrived |= machine.now != entered;
            match stop {
                Stop::Deadline => return false,
                Stop::TooNear => {
                    machine.run_until_deadline(rom, cart_ram);
                    return false;
                }
                Stop::NoBlock => {}
            }
        }
        let is_refused = arrived && learning.count(machine);
        loop {
            let before = machine.cpu.pc;
            machine.run_instruction(rom, cart_ram);
            let moved = machine.cpu.pc.wrapping_sub(before);
            let has_arrived = is_refused || moved > MAX_INSTRUCTION_BYTES;
            if has_arrived
                || !is_before(machine.now, machine.deadline)
                || self.at(machine.cpu.pc).next().is_some()
            {
                return has_arrived;
            }
        }
    }
}

impl Default for BlockTable {
    fn default() -> Self {
        Self::new()
    }
}
