//! A machine run by blocks where they may run, and by the interpreter elsewhere.

use crate::block::{Block, MemoryMap};
use crate::code::{Code, Memories};
use crate::translation::Translation;
use gbxcule_gameboy::Machine;
use gbxcule_gameboy::cpu::Mode;
use gbxcule_gameboy::machine::is_before;

/// Heads of blocks at most, so that machine code has a bound.
const HEADS_MAX: usize = 4_096;
/// Blocks of one head at most, for different memory maps.
const VARIANTS_MAX: usize = 4;
/// A head that the interpreter keeps; numbers below are counts.
const REFUSED: u16 = 0xff;
/// The first head with blocks.
const FIRST: u16 = 0x100;

/// Bytes of the longest instruction: PC that moved by more came by a jump.
const LONGEST_INSTRUCTION: u16 = 3;

/// Blocks of one ROM, made when code is hot.
pub struct Blocks {
    /// For each byte of ROM: how often the interpreter ran an instruction there, [`REFUSED`], or
    /// from [`FIRST`] on a position in `variants`.
    heads: Vec<u16>,
    /// Blocks with one head, the one that ran last in front.
    variants: Vec<Vec<Code>>,
    threshold: u16,
    compiled: usize,
}

/// The reason why blocks went no further.
enum Stop {
    /// The deadline has come.
    Deadline,
    /// There is no block at this offset of ROM.
    NoBlock(usize),
    /// The block here did not run.
    DidNotRun(usize),
    /// PC is not in ROM, or OAM DMA has the bus.
    NotInRom,
}

impl Blocks {
    /// No blocks yet, of a ROM of so many bytes; the interpreter runs an instruction `threshold`
    /// times, at most 254, before a block is made that begins with it.
    pub fn new(rom_bytes: usize, threshold: u8) -> Self {
        let threshold = u16::from(threshold).min(REFUSED - 1);
        Self { heads: vec![0; rom_bytes], variants: Vec::new(), threshold, compiled: 0 }
    }

    /// Blocks that were made so far.
    pub fn compiled(&self) -> usize {
        self.compiled
    }

    /// Does what `Machine::run_frame` does.
    pub fn run_frame(
        &mut self,
        machine: &mut Machine,
        rom: &[u8],
        cart_ram: &mut [u8],
        draw: bool,
    ) {
        machine.begin_frame(draw);
        let mut arrived = false;
        while !machine.frame_done {
            if is_before(machine.now, machine.deadline) {
                self.run_until_deadline(machine, rom, cart_ram, arrived);
            }
            let before = (machine.cpu.pc, machine.cpu.mode);
            machine.service(rom, cart_ram);
            // A handler begins, or the program wakes.
            arrived = before != (machine.cpu.pc, Mode::Running);
        }
    }

    /// Does what `Machine::run_until_deadline` does. Blocks are made where programs arrive by a
    /// jump or from a block (`arrived`), not wherever a deadline happened to stop one.
    fn run_until_deadline(
        &mut self,
        machine: &mut Machine,
        rom: &[u8],
        cart_ram: &mut [u8],
        mut arrived: bool,
    ) {
        // A byte is fetched twice: blocks know nothing of that.
        if machine.cpu.halt_bug {
            machine.run_until_deadline(rom, cart_ram);
            return;
        }
        loop {
            let entered = machine.cpu.now;
            let stop = self.run_blocks(machine, &Memories::new(rom, cart_ram));
            machine.now = machine.cpu.now;
            arrived |= machine.now != entered;
            let interpret = match stop {
                Stop::Deadline => return,
                Stop::NotInRom => Interpret::ToDeadline,
                Stop::NoBlock(offset) if arrived => self.count(offset, machine, rom),
                Stop::NoBlock(_) => Interpret::Instruction,
                Stop::DidNotRun(offset) => self.vary(offset, machine, rom),
            };
            match interpret {
                Interpret::Nothing => {}
                Interpret::Instruction => {
                    let before = machine.cpu.pc;
                    machine.run_instruction(rom, cart_ram);
                    let moved = machine.cpu.pc.wrapping_sub(before);
                    let is_refused = matches!(stop, Stop::NoBlock(at) if self.heads[at] == REFUSED);
                    arrived = is_refused || moved > LONGEST_INSTRUCTION;
                }
                Interpret::ToDeadline => machine.run_until_deadline(rom, cart_ram),
            }
            if !is_before(machine.now, machine.deadline) {
                return;
            }
        }
    }

    /// Runs blocks as long as one follows the other.
    fn run_blocks(&self, machine: &mut Machine, memories: &Memories<'_>) -> Stop {
        loop {
            let pc = machine.cpu.pc;
            let base = machine.rom_base[usize::from(pc >> 14)];
            let offset = base.wrapping_add(u32::from(pc)) as usize;
            let Some(&head) = self.heads.get(offset) else { return Stop::NotInRom };
            if head < FIRST {
                return Stop::NoBlock(offset);
            }
            let entered = machine.cpu.now;
            self.variants[usize::from(head - FIRST)][0].run(machine, memories);
            if machine.cpu.now == entered {
                return Stop::DidNotRun(offset);
            }
            if !is_before(machine.cpu.now, machine.deadline) {
                return Stop::Deadline;
            }
        }
    }

    /// Counts an instruction that has no block; makes one when it is hot.
    fn count(&mut self, offset: usize, machine: &Machine, rom: &[u8]) -> Interpret {
        let head = self.heads[offset];
        if head == REFUSED {
            return Interpret::Instruction;
        }
        if head < self.threshold {
            self.heads[offset] += 1;
            return Interpret::Instruction;
        }
        self.heads[offset] = REFUSED;
        if self.variants.len() < HEADS_MAX
            && let Some(code) = self.compile(machine, rom)
        {
            self.heads[offset] = FIRST + self.variants.len() as u16;
            self.variants.push(vec![code]);
            return Interpret::Nothing;
        }
        Interpret::Instruction
    }

    /// Finds out why a block did not run, and one that may.
    fn vary(&mut self, offset: usize, machine: &Machine, rom: &[u8]) -> Interpret {
        let at = usize::from(self.heads[offset] - FIRST);
        match self.variants[at].iter().position(|code| code.fits(machine)) {
            // The block may run, but the deadline is too near.
            Some(0) => Interpret::ToDeadline,
            Some(other) => {
                self.variants[at].swap(0, other);
                Interpret::Nothing
            }
            None if self.variants[at].len() < VARIANTS_MAX => match self.compile(machine, rom) {
                Some(code) => {
                    self.variants[at].insert(0, code);
                    Interpret::Nothing
                }
                None => Interpret::Instruction,
            },
            None => Interpret::Instruction,
        }
    }

    /// The block at a machine's PC; none if its first instruction is left to the interpreter.
    fn compile(&mut self, machine: &Machine, rom: &[u8]) -> Option<Code> {
        let map = MemoryMap::of(machine)?;
        let block = Block::new(Translation::get(), rom, map, machine.cpu.pc).ok()?;
        let code = Code::new(block, rom.len()).ok()?;
        self.compiled += 1;
        Some(code)
    }
}

/// Work of the interpreter before blocks go on.
enum Interpret {
    Nothing,
    Instruction,
    ToDeadline,
}
