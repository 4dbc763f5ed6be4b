//! Blocks as IR: the tree of the paths that a program takes through ROM from one address, the head.
//!
//! A block runs instructions as `Machine::run_until_deadline` would, keeps the registers in
//! variables, and writes the registers back at its exits. A path that comes back to the head makes
//! a loop. Three rules make it exact:
//! - A block runs up to its next check of the deadline only if every instruction before that check,
//!   on any path, starts before the deadline. The interpreter would run all these instructions,
//!   too.
//! - A block begins only if the parts of the memory map that it relies on are as they were when the
//!   block was made.
//! - After an instruction that calls code outside of the block, or that sets a deadline, the block
//!   checks map and deadline again, and exits if the check fails.

mod body;
mod tree;

/// Addresses of high RAM.
pub(crate) const HIGH_RAM: std::ops::Range<u16> = 0xff80..0xffff;
/// Address at which ROM ends.
pub(crate) const ROM_END: u16 = 0x8000;

use crate::machine_ir::MachineIr;
use gbxcule_gameboy::{COLOR, Machine};
use gbxcule_ir::{Body, FunctionId, Literal, Module, Scalar, Type};
use gbxcule_passes::specialise::{KnownPlace, Unsupported};

/// Maximum of bytes in high RAM from which a block is made.
const HIGH_CODE_BYTES: usize = 16;
/// The byte of a record that marks a block without code in high RAM.
const NO_CODE: u8 = 0x80;

/// The part of a machine's state that blocks rely on: the mapped ROM and work RAM, OAM DMA, and
/// code in high RAM.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MemoryMap {
    rom_base: [u32; 4],
    fast_wram_bytes: u16,
    /// True while OAM DMA runs.
    has_dma: bool,
    /// The code at PC, if PC is in high RAM.
    high_code: Option<HighCode>,
    /// Offset of the bank of work RAM at D000; 0 on the original.
    wram_offset: u16,
}

/// The field of `MemoryMap::wram_offset`.
const WRAM_OFFSET: [&str; 2] = ["color", "wram_offset"];

/// Returns the offset of a machine's bank of work RAM.
pub(crate) fn wram_offset(_machine: &Machine) -> u16 {
    #[cfg(color)]
    let offset = _machine.color.wram_offset;
    #[cfg(not(color))]
    let offset = 0;
    offset
}

/// Code in high RAM, from PC on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct HighCode {
    /// Offset of the first byte in high RAM.
    at: usize,
    bytes: [u8; HIGH_CODE_BYTES],
}

impl HighCode {
    /// The code at a machine's PC; `None` if PC is outside of high RAM.
    fn of(machine: &Machine) -> Option<Self> {
        if !HIGH_RAM.contains(&machine.cpu.pc) {
            return None;
        }
        let at = usize::from(machine.cpu.pc - HIGH_RAM.start);
        let mut bytes = [0; HIGH_CODE_BYTES];
        let left = &machine.hram[at..usize::from(HIGH_RAM.end - HIGH_RAM.start)];
        bytes.iter_mut().zip(left).for_each(|(byte, &found)| *byte = found);
        Some(Self { at, bytes })
    }

    /// The code's bytes, each with its offset in high RAM.
    fn places(&self) -> impl Iterator<Item = (usize, u8)> {
        let end = usize::from(HIGH_RAM.end - HIGH_RAM.start);
        (self.at..end).zip(self.bytes)
    }
}

impl MemoryMap {
    /// The map of a machine; `None` while OAM DMA has the bus, unless the program waits in high RAM
    /// for the end of the transfer.
    pub fn of(machine: &Machine) -> Option<Self> {
        let Machine { rom_base, fast_wram_bytes, .. } = *machine;
        let has_dma = machine.dma.active;
        let high_code = HighCode::of(machine);
        (!has_dma || high_code.is_some()).then_some(Self {
            rom_base,
            fast_wram_bytes,
            has_dma,
            high_code,
            wram_offset: wram_offset(machine),
        })
    }

    /// Bytes of a map in a file.
    pub(crate) const RECORD_BYTES: usize = 4 * 4 + 2 + 1 + 1 + HIGH_CODE_BYTES + 2;

    /// The map as bytes: `rom_base`, `fast_wram_bytes`, `has_dma`, the offset of code in high RAM
    /// (or `NO_CODE`), the code, `wram_offset`.
    pub(crate) fn record(&self) -> [u8; Self::RECORD_BYTES] {
        let (at, bytes) = self
            .high_code
            .map_or((NO_CODE, [0; HIGH_CODE_BYTES]), |code| (code.at as u8, code.bytes));
        let mut record = [0; Self::RECORD_BYTES];
        let base = self.rom_base.iter().flat_map(|base| base.to_le_bytes());
        let tail = [u8::from(self.has_dma), at].into_iter().chain(bytes);
        let tail = tail.chain(self.wram_offset.to_le_bytes());
        let all = base.chain(self.fast_wram_bytes.to_le_bytes()).chain(tail);
        record.iter_mut().zip(all).for_each(|(byte, is)| *byte = is);
        record
    }

    /// The map that [`Self::record`] wrote; `None` if no machine has this map.
    pub(crate) fn from_record(record: &[u8; Self::RECORD_BYTES]) -> Option<Self> {
        let (base, tail) = record.split_first_chunk::<16>()?;
        let (base, _) = base.as_chunks::<4>();
        let (&[low, high, has_dma, at], tail) = tail.split_first_chunk::<4>()?;
        let (bytes, offset) = tail.split_first_chunk::<HIGH_CODE_BYTES>()?;
        let code = HighCode { at: usize::from(at), bytes: *bytes };
        let is_in_high_ram = code.at < usize::from(HIGH_RAM.end - HIGH_RAM.start);
        (has_dma <= 1 && (at == NO_CODE || is_in_high_ram)).then_some(Self {
            rom_base: std::array::from_fn(|quarter| u32::from_le_bytes(base[quarter])),
            fast_wram_bytes: u16::from_le_bytes([low, high]),
            has_dma: has_dma == 1,
            high_code: (at != NO_CODE).then_some(code),
            wram_offset: u16::from_le_bytes(*offset.as_array()?),
        })
    }

    /// The map without the bytes of high RAM: variables beside the code may change.
    pub(crate) fn without_code(self) -> Self {
        Self { high_code: None, ..self }
    }

    fn facts(&self, machine_ir: &MachineIr) -> Vec<KnownPlace> {
        let fact = |path: &[&str], index: Option<usize>, scalar, bits: u64| {
            let mut path = machine_ir.path(path);
            path.extend(index.map(|index| index as u64));
            KnownPlace { path, literal: Literal::from_bits(scalar, bits) }
        };
        let bases = self.rom_base.iter().enumerate();
        let bases = bases.map(|(quarter, &base)| {
            fact(&["rom_base"], Some(quarter), Scalar::U32, u64::from(base))
        });
        let code = self.high_code.iter().flat_map(HighCode::places);
        let code = code.map(|(at, byte)| fact(&["hram"], Some(at), Scalar::U8, u64::from(byte)));
        let reach = fact(&["fast_wram_bytes"], None, Scalar::U16, u64::from(self.fast_wram_bytes));
        let dma = fact(&["dma", "active"], None, Scalar::Bool, u64::from(self.has_dma));
        let bank = u64::from(self.wram_offset);
        let bank = COLOR.then(|| fact(&WRAM_OFFSET, None, Scalar::U16, bank));
        bases.chain([reach, dma]).chain(bank).chain(code).collect()
    }
}

/// The parts of a map that a block relies on, in addition to work RAM and OAM DMA.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ReliedOn {
    pub(crate) map: MemoryMap,
    /// True for each quarter of the address space in which the block reads ROM.
    pub(crate) rom_base: [bool; 4],
    /// True for each byte of code in high RAM that the block was made from.
    pub(crate) high_code: [bool; HIGH_CODE_BYTES],
    /// True if the block reads or writes work RAM of the bank at D000.
    wram_offset: bool,
}

impl ReliedOn {
    /// Marks the parts of a map that the facts name.
    fn new(map: MemoryMap, machine_ir: &MachineIr, facts: &[KnownPlace]) -> Self {
        let relies = |name: &str, index: usize| {
            let path = [machine_ir.path(&[name]), vec![index as u64]].concat();
            facts.iter().any(|fact| fact.path == path)
        };
        let at = map.high_code.map_or(0, |code| code.at);
        let has_bank = || facts.iter().any(|fact| fact.path == machine_ir.path(&WRAM_OFFSET));
        Self {
            map,
            wram_offset: COLOR && has_bank(),
            rom_base: std::array::from_fn(|quarter| relies("rom_base", quarter)),
            high_code: std::array::from_fn(|byte| relies("hram", at + byte)),
        }
    }

    /// Returns true if a memory map is as the block needs it.
    pub(crate) fn is_true_of(&self, map: &MemoryMap) -> bool {
        let bytes = |map: &MemoryMap| map.high_code.map_or([0; HIGH_CODE_BYTES], |code| code.bytes);
        self.map.fast_wram_bytes == map.fast_wram_bytes
            && self.map.has_dma == map.has_dma
            && (!self.wram_offset || self.map.wram_offset == map.wram_offset)
            && all_equal(&self.map.rom_base, &map.rom_base, &self.rom_base)
            && all_equal(&bytes(&self.map), &bytes(map), &self.high_code)
    }
}

/// Returns true if two lists are equal where `matters` is true.
fn all_equal<T: PartialEq>(ours: &[T], its: &[T], matters: &[bool]) -> bool {
    ours.iter().zip(its).zip(matters).all(|((ours, its), matters)| !matters || ours == its)
}

/// Bounds of a block's size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Maximum of instructions.
    pub(crate) instructions: usize,
    /// Approximate maximum of M-cycles on a path. The interpreter runs from a block's end to the
    /// deadline.
    pub(crate) mcycles: u32,
    /// M-cycles on a path between two checks of the deadline. A block can begin only if the
    /// deadline is at least as far away.
    pub(crate) mcycles_unchecked: u32,
    /// Maximum of branches on a path: each nests the code one level deeper.
    pub(crate) branches: usize,
    /// True if the block exits before an instruction that accesses a chip.
    pub(crate) leaves: bool,
}

impl Limits {
    /// Limits of blocks for CPUs.
    pub(crate) const CPU: Self = Self {
        instructions: 160,
        mcycles: 160,
        // Programs for the Color often have an interrupt in each scanline, so deadlines are near.
        mcycles_unchecked: if COLOR { 10 } else { 24 },
        branches: 24,
        leaves: false,
    };
}

/// A block as IR, before it is compiled.
#[derive(Debug)]
pub struct Block {
    /// Address of the first instruction.
    pub(crate) pc: u16,
    body: Body,
    /// The memory map that the block needs.
    pub(crate) relied_on: ReliedOn,
    /// M-cycles from the head to the start of the last instruction before the next check of the
    /// deadline, on the longest path.
    pub longest_mcycles: u32,
}

impl Block {
    /// Makes the block at a PC of a program.
    ///
    /// # Errors
    /// The first instruction at this PC can only be interpreted.
    pub fn new(
        machine_ir: &MachineIr,
        rom: &[u8],
        map: MemoryMap,
        pc: u16,
    ) -> Result<Self, Unsupported> {
        Self::within(Limits::CPU, machine_ir, rom, map, pc)
    }

    /// Makes the block within given bounds.
    pub(crate) fn within(
        limits: Limits,
        machine_ir: &MachineIr,
        rom: &[u8],
        map: MemoryMap,
        pc: u16,
    ) -> Result<Self, Unsupported> {
        tree::build(limits, machine_ir, rom, map, pc)
    }

    /// Returns the block's code.
    #[cfg(not(color))]
    pub(crate) fn into_body(self) -> Body {
        self.body
    }

    /// Adds the block to a module that has the machine's functions.
    pub fn add_to(self, machine_ir: &MachineIr, module: &mut Module) -> FunctionId {
        let id = module.declare("block", machine_ir.params(), Type::UNIT);
        module.functions[id].body = self.body;
        // The machine's code masks its indices, so the block's code does, too.
        module.functions[id].trusted = true;
        let unknown = vec![false; module.functions.len()];
        gbxcule_passes::pass::dce::clean(module, id, &unknown);
        id
    }
}
