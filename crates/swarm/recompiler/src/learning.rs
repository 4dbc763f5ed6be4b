//! Counts of arrivals at places in programs, to find hot code.

use crate::block::{HIGH_RAM, MemoryMap, ROM_END};
use gbxcule_gameboy::Machine;
use std::collections::HashMap;

/// Maximum of counted places.
const MAX_COUNTED: usize = 1 << 16;

/// PC and memory map at which a block begins.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct HotHead {
    pub(crate) pc: u16,
    pub(crate) map: MemoryMap,
}

impl HotHead {
    /// Returns the key under which arrivals are counted: the head without the contents of high RAM.
    fn counted(self) -> Self {
        Self { map: self.map.without_code(), ..self }
    }
}

/// Counts of arrivals, and the blocks that are wanted because of them.
#[derive(Debug)]
pub(crate) struct Learning {
    counts: HashMap<HotHead, Count>,
    threshold: u32,
    wanted: Vec<HotHead>,
}

#[derive(Clone, Copy, Debug)]
enum Count {
    Arrivals(u32),
    /// A block was asked for.
    Asked,
    /// No block can begin here: the first instruction can only be interpreted.
    Refused,
}

impl Learning {
    /// Begins without counts. A block is wanted where a program arrives more than `threshold`
    /// times.
    pub(crate) fn new(threshold: u32) -> Self {
        Self { counts: HashMap::new(), threshold, wanted: Vec::new() }
    }

    /// Counts an arrival at a machine's PC. Returns true if no block can begin there; the caller
    /// then counts an arrival at the next instruction.
    pub(crate) fn count(&mut self, machine: &Machine) -> bool {
        let pc = machine.cpu.pc;
        if pc >= ROM_END && !HIGH_RAM.contains(&pc) {
            return false;
        }
        let Some(map) = MemoryMap::of(machine) else { return false };
        let head = HotHead { pc, map };
        let counted = head.counted();
        if self.counts.len() >= MAX_COUNTED && !self.counts.contains_key(&counted) {
            return false;
        }
        let count = self.counts.entry(counted).or_insert(Count::Arrivals(0));
        match count {
            Count::Arrivals(arrivals) if *arrivals < self.threshold => *arrivals += 1,
            Count::Arrivals(_) => {
                *count = Count::Asked;
                self.wanted.push(head);
            }
            Count::Asked => {}
            Count::Refused => return true,
        }
        false
    }

    /// Returns the blocks that became wanted since the last call.
    pub(crate) fn take_wanted(&mut self) -> Vec<HotHead> {
        std::mem::take(&mut self.wanted)
    }

    /// Notes that a wanted block cannot be made, because its first instruction can only be
    /// interpreted.
    pub(crate) fn refuse(&mut self, wanted: HotHead) {
        self.counts.insert(wanted.counted(), Count::Refused);
    }
}
