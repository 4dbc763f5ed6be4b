//! Blocks of a ROM inside the machine's loop over opcodes, for kernels.
//!
//! A kernel is compiled once, before its machines run. So a run of native machines finds the hot
//! places first (`loops`), and only a few blocks are made. Blocks make a kernel faster where nearly
//! the whole program is a loop; a game is faster without them, because warps run the larger code
//! more slowly. Blocks become cases of the loop in `Machine::run_until_deadline` (`planter`).

mod loops;
mod planter;

use crate::block::{Block, Limits};
use crate::kept_heads;
use crate::learning::HotHead;
use crate::machine_ir::MachineIr;
use gbxcule_gameboy::Cartridge;
use gbxcule_ir::walk::depth;
use gbxcule_ir::{Body, FunctionId, Module, check};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

/// Frames for which the native machines hold a button.
const FRAMES_OF_A_BUTTON: u32 = 12;
/// Maximum of blocks in a kernel.
const MAX_BLOCKS: usize = 4;
/// Bounds of a block. A block exits before an access to a chip, so that no call adds to the
/// registers that the loop needs.
const LIMITS: Limits =
    Limits { branches: 4, leaves: true, mcycles_unchecked: u32::MAX, ..Limits::CPU };
/// Minimum of instructions in a block.
const MIN_INSTRUCTIONS: usize = 8;
/// Maximum of operations in a block; the loop itself has some thousands.
const MAX_OPERATIONS: usize = 2_500;
/// Maximum depth of a block's nesting. The IR allows 200 levels, and the loop needs some of them.
const MAX_DEPTH: usize = 150;

/// Opcodes after which machines at the same PC may diverge: conditional jumps, jumps to addresses
/// in memory or registers, HALT and STOP.
const PARTING: [u8; 21] = [
    0x10, 0x20, 0x28, 0x30, 0x38, 0x76, 0xc0, 0xc2, 0xc4, 0xc8, 0xc9, 0xca, 0xcc, 0xd0, 0xd2, 0xd4,
    0xd8, 0xd9, 0xda, 0xdc, 0xe9,
];
/// Opcodes that jump without a divergence of machines.
const JUMPING: [u8; 11] = [0x18, 0xc3, 0xc7, 0xcd, 0xcf, 0xd7, 0xdf, 0xe7, 0xef, 0xf7, 0xff];

/// The places of a ROM from which machines execute most instructions.
#[derive(Debug, PartialEq)]
pub struct HotCode {
    pub(crate) heads: Vec<HotHead>,
    /// Two counts: instructions that ran soon after an arrival at one of these heads, and all
    /// instructions.
    pub(crate) instructions: [u64; 2],
}

impl HotCode {
    /// Runs machines for some frames, finds where they execute most instructions, and keeps the
    /// result on disk.
    #[must_use]
    pub fn find(rom: &[u8]) -> Self {
        let Ok(cartridge) = Cartridge::from_rom(rom) else {
            return Self { heads: Vec::new(), instructions: [0; 2] };
        };
        kept_heads::load_hot_code(rom).unwrap_or_else(|| {
            let hot_code = Self::hottest(loops::count(&cartridge, rom));
            kept_heads::save_hot_code(rom, &hot_code);
            hot_code
        })
    }

    /// Picks the heads after which most instructions ran.
    fn hottest(counts: Counts) -> Self {
        let mut after: Vec<(HotHead, u64)> = counts.after.into_iter().collect();
        after.sort_by_key(|(head, count)| (Reverse(*count), head.pc, head.map.record()));
        after.truncate(MAX_BLOCKS);
        let covered = after.iter().map(|(_, count)| count).sum();
        let heads = after.into_iter().map(|(head, _)| head).collect();
        Self { heads, instructions: [covered, counts.all] }
    }

    /// Returns true if blocks make a kernel faster: nine of ten instructions follow closely after
    /// the heads (`docs/gpu-results.md`).
    pub fn is_worth_it(&self) -> bool {
        let [covered, all] = self.instructions;
        all > 0 && covered * 10 >= all * 9
    }

    /// Opcodes after which a warp chooses its machines again: with blocks every jump, so that
    /// machines enter the blocks.
    pub fn ends_of_turns(of: Option<&Self>) -> Vec<i64> {
        let jumping: &[u8] = if of.is_some() { &JUMPING } else { &[] };
        PARTING.iter().chain(jumping).map(|&opcode| i64::from(opcode)).collect()
    }

    /// Adds the blocks to a module with the machine's functions, before any pass; returns their
    /// number.
    pub fn add_to(&self, module: &mut Module, rom: &[u8]) -> usize {
        let valid = check::module(std::mem::take(module))
            .unwrap_or_else(|faults| unreachable!("the machine keeps all rules: {faults:#?}"));
        let machine_ir = MachineIr::new(valid.clone());
        *module = valid.into_inner();
        let mut blocks: BTreeMap<u16, Vec<FunctionId>> = BTreeMap::new();
        for head in &self.heads {
            if let Some(body) = body(&machine_ir, rom, head) {
                let function = planter::declare(body, &machine_ir, module);
                blocks.entry(head.pc).or_default().push(function);
            }
        }
        if !blocks.is_empty() {
            planter::plant(&blocks, &machine_ir, module);
        }
        blocks.values().map(Vec::len).sum()
    }
}

/// Counts of executed instructions.
#[derive(Default)]
struct Counts {
    all: u64,
    /// Number of instructions that ran soon after an arrival at each head.
    after: HashMap<HotHead, u64>,
}

/// The button that a machine holds during this turn of `FRAMES_OF_A_BUTTON` frames, or 0.
fn button(machine: u64, turn: u32) -> u8 {
    let mixed = (machine * 8 + u64::from(turn) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    1_u16.checked_shl((mixed % 9) as u32).map_or(0, |bit| bit as u8)
}

/// Makes the largest block at a head that is small enough for a kernel.
fn body(machine_ir: &MachineIr, rom: &[u8], head: &HotHead) -> Option<Body> {
    let mut limits = LIMITS;
    while limits.instructions >= MIN_INSTRUCTIONS {
        let block = Block::within(limits, machine_ir, rom, head.map, head.pc).ok()?;
        let mut body = block.into_body();
        planter::leave_by_breaks(&mut body);
        if body.values.len() <= MAX_OPERATIONS && depth(&body) <= MAX_DEPTH {
            return Some(body);
        }
        limits.instructions /= 2;
    }
    None
}
