//! Blocks as IR: from a head, the ways that a program takes through ROM, as a tree.
//!
//! A block runs instructions as `Machine::run_until_deadline` would, on registers that it keeps in
//! variables, and leaves with the machine's registers written. It begins over when a way comes back
//! to the head. These things make it right:
//! - It enters only if the deadline lies behind the start of the last instruction of its longest
//!   way, so that the interpreter would have run all of it.
//! - It enters only if the memory map is the one that it was made from, as far as it relied on it.
//! - Where code that it does not see through was called, or a deadline was set, both are looked at
//!   again behind the instruction, and the block is left if they do not hold.

mod body;
mod tree;

use crate::translation::Translation;
use gbxcule_gameboy::Machine;
use gbxcule_ir::{Body, FunctionId, Literal, Module, Scalar, Type};
use gbxcule_transform::specialise::{Fact, Unsupported};

/// The CPU's view of cartridge and work RAM, as far as blocks rely on it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MemoryMap {
    rom_base: [u32; 4],
    wram_reach: u16,
}

impl MemoryMap {
    /// The map of a machine; nothing while OAM DMA has the bus.
    pub fn of(machine: &Machine) -> Option<Self> {
        let Machine { rom_base, wram_reach, .. } = *machine;
        (!machine.dma.active).then_some(Self { rom_base, wram_reach })
    }

    fn facts(&self, translation: &Translation) -> Vec<Fact> {
        let rom_base = translation.path(&["rom_base"]);
        let mut facts: Vec<Fact> = (0..4)
            .map(|quarter| Fact {
                path: [rom_base.clone(), vec![quarter]].concat(),
                literal: Literal::from_bits(
                    Scalar::U32,
                    u64::from(self.rom_base[quarter as usize]),
                ),
            })
            .collect();
        facts.push(Fact {
            path: translation.path(&["wram_reach"]),
            literal: Literal::from_bits(Scalar::U16, u64::from(self.wram_reach)),
        });
        facts.push(Fact {
            path: translation.path(&["dma", "active"]),
            literal: Literal::bool(false),
        });
        facts
    }
}

/// The part of a map that a block relies on, beside work RAM and the absence of OAM DMA.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ReliedOn {
    pub(crate) map: MemoryMap,
    /// True for the quarters of the address space in which it reads ROM.
    pub(crate) rom_base: [bool; 4],
}

impl ReliedOn {
    /// Returns true if a memory map is as the block needs it.
    pub(crate) fn is_true_of(&self, map: &MemoryMap) -> bool {
        let bases = self.map.rom_base.iter().zip(&map.rom_base);
        self.map.wram_reach == map.wram_reach
            && bases.zip(self.rom_base).all(|((ours, its), relied_on)| !relied_on || ours == its)
    }
}

/// A block before it is compiled.
#[derive(Debug)]
pub struct Block {
    /// Where it begins.
    pub(crate) pc: u16,
    body: Body,
    /// The memory map that it needs.
    pub(crate) relied_on: ReliedOn,
    /// M-cycles from the head to the start of the last instruction, on the longest way.
    pub longest_mcycles: u32,
}

impl Block {
    /// The block at a PC of a program.
    ///
    /// # Errors
    /// Its first instruction is left to the interpreter.
    pub fn new(
        translation: &Translation,
        rom: &[u8],
        map: MemoryMap,
        pc: u16,
    ) -> Result<Self, Unsupported> {
        tree::build(translation, rom, map, pc)
    }

    /// Adds the block to a module that has the machine's functions.
    pub fn add_to(self, translation: &Translation, module: &mut Module) -> FunctionId {
        let id = module.declare("block", translation.params(), Type::UNIT);
        module.functions[id].body = self.body;
        // The machine masks its indices, and so does what is left of it.
        module.functions[id].trusted = true;
        let unknown = vec![false; module.functions.len()];
        gbxcule_transform::pass::dce::clean(module, id, &unknown);
        id
    }
}
