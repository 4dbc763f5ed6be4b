//! One machine run by blocks, which are made at once while the machine waits. Machines of a swarm
//! share blocks instead (`shared_blocks`).

use crate::block::Block;
use crate::code::BlockCode;
use crate::learning::{HotHead, Learning};
use crate::machine_ir::MachineIr;
use crate::table::BlockTable;
use gbxcule_gameboy::Machine;
use std::sync::Arc;

/// Blocks of one ROM, made as soon as code is hot: for tests and examples.
pub struct EagerRunner {
    table: BlockTable,
    learning: Learning,
}

impl EagerRunner {
    /// Begins without blocks. A block is made where a program arrived `threshold` times.
    pub fn new(threshold: u32) -> Self {
        Self { table: BlockTable::new(), learning: Learning::new(threshold) }
    }

    /// Number of blocks made so far.
    pub fn compiled(&self) -> usize {
        self.table.len()
    }

    /// Runs a frame like `Machine::run_frame`, and counts arrivals to find hot code.
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

    /// Runs a frame like `Machine::run_frame`, with the blocks made so far.
    pub fn run_frame(&self, machine: &mut Machine, rom: &[u8], cart_ram: &mut [u8], draw: bool) {
        self.table.run_frame(machine, rom, cart_ram, draw);
    }
}

/// The outcome of a request for blocks.
#[derive(Default)]
pub(crate) struct CompiledBatch {
    pub(crate) codes: Vec<BlockCode>,
    /// Heads whose first instruction can only be interpreted.
    pub(crate) refused: Vec<HotHead>,
}

/// Makes the wanted blocks that the table lacks; compiles them together.
pub(crate) fn make(table: &BlockTable, rom: &[u8], wanted: &[HotHead]) -> CompiledBatch {
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
        // If the compilation fails, machines are interpreted.
        made.codes = BlockCode::new(blocks, rom.len()).unwrap_or_default();
    }
    made
}
