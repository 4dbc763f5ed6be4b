//! One machine run by blocks, which are made at once while the machine waits. Machines of a swarm
//! share blocks instead (`shared_blocks`).

use crate::block::Block;
use crate::code::Code;
use crate::learning::{HotHead, Learning};
use crate::machine_ir::MachineIr;
use crate::table::Table;
use gbxcule_gameboy::Machine;
use std::sync::Arc;

/// Blocks of one ROM, made as soon as code is hot: for tests and examples.
pub struct EagerRunner {
    table: Table,
    learning: Learning,
}

impl EagerRunner {
    /// No blocks yet; one is made where programs arrived `threshold` times.
    pub fn new(threshold: u32) -> Self {
        Self { table: Table::new(), learning: Learning::new(threshold) }
    }

    /// Blocks that were made so far.
    pub fn compiled(&self) -> usize {
        self.table.len()
    }

    /// Does what `Machine::run_frame` does, and learns what code is hot.
    pub fn learn_frame(
        &mut self,
        machine: &mut Machine,
        rom: &[u8],
        cart_ram: &mut [u8],
        draw: bool,
    ) {
        self.table.run_frame_counting(&mut self.learning, machine, rom, cart_ram, draw);
        let made = make(&self.table, rom, &self.learning.take_wanted());
        made.refused.into_iter().for_each(|wanted| self.learning.refuse(wanted));
        made.codes.into_iter().for_each(|code| self.table.add(Arc::new(code)));
    }

    /// Does what `Machine::run_frame` does, with the blocks made so far.
    pub fn run_frame(&self, machine: &mut Machine, rom: &[u8], cart_ram: &mut [u8], draw: bool) {
        self.table.run_frame(machine, rom, cart_ram, draw);
    }
}

/// Blocks that were wanted.
#[derive(Default)]
pub(crate) struct CompiledBatch {
    pub(crate) codes: Vec<Code>,
    /// Heads whose first instruction the interpreter keeps.
    pub(crate) refused: Vec<HotHead>,
}

/// Makes the wanted blocks that the table lacks, as one piece of machine code.
pub(crate) fn make(table: &Table, rom: &[u8], wanted: &[HotHead]) -> CompiledBatch {
    let mut made = CompiledBatch::default();
    let mut blocks = Vec::new();
    for &wanted in wanted.iter().filter(|_| !table.is_full()) {
        if table.has(wanted.pc, &wanted.map) {
            continue;
        }
        match Block::new(MachineIr::get(), rom, wanted.map, wanted.pc) {
            Ok(block) => blocks.push(block),
            Err(_) => made.refused.push(wanted),
        }
    }
    if !blocks.is_empty() {
        // Without machine code the interpreter goes on as before.
        made.codes = Code::new(blocks, rom.len()).unwrap_or_default();
    }
    made
}
