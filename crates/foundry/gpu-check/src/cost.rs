//! Cost of a launch, computed from the machine code that its warps executed. It needs no GPU and is
//! reproducible.
//!
//! [`Cost::cycles`] combines the numbers of issued instructions, of 32-byte sectors, of registers
//! and of bytes of shared memory by the rates of an A100's multiprocessor. It ignores caches, bank
//! conflicts and the latency of single results.

use gbxcule_gpu_sim::sass::count::Totals;
use gbxcule_gpu_sim::sass::module::Code;
use gbxcule_gpu_sim::sass::schedule::Shape;
use serde::{Deserialize, Serialize};

/// Warp instructions that a multiprocessor issues in a cycle.
const ISSUES_PER_CYCLE: f64 = 4.0;
/// Sectors that a multiprocessor gets from the L2 cache in a cycle.
const SECTORS_PER_CYCLE: f64 = 2.0;
/// Lowest occupancy at which a multiprocessor hides the latency of memory.
const HIDING: f64 = 0.25;
/// Resident warps of a multiprocessor at most; blocks, registers and bytes of shared memory follow.
const WARPS: u32 = 64;
const BLOCKS: u32 = 32;
const REGISTERS: u32 = 64 << 10;
const SHARED_BYTES: usize = 164 << 10;
/// Unit in which registers are allocated to a warp; the unit of a block's shared memory follows.
const REGISTER_UNIT: u32 = 256;
const SHARED_UNIT: usize = 128;
/// Bytes of shared memory that the driver reserves in each block.
const OWN_SHARED_BYTES: usize = 1 << 10;

/// Cost of a launch.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Cost {
    /// Instructions that warps issued.
    pub issues: u64,
    /// Sectors of 32 bytes that loads, stores and atomic operations touched.
    pub sectors: u64,
    /// Share of active lanes among the lanes of all issues.
    pub lanes: f64,
    /// Registers of a thread.
    pub registers: u32,
    /// Occupancy: the share of a multiprocessor's warps that can be resident at once.
    pub occupancy: f64,
    /// False if the launch was stopped at a limit, so that its real cost is higher.
    pub is_whole: bool,
}

impl Cost {
    /// Returns the cost of the instructions that a kernel executed since its counts were `before`.
    pub fn since(before: Totals, code: &Code, shape: Shape, is_whole: bool) -> Self {
        let counted = code.counts.totals().since(before);
        let (issues, registers) = (counted.issues(), code.kernel.registers);
        let shared_bytes = code.shared_bytes + shape.shared_bytes;
        Self {
            issues,
            sectors: counted.sectors(),
            lanes: counted.lanes() as f64 / (32 * issues.max(1)) as f64,
            registers,
            occupancy: occupancy(shape.threads.count(), registers, shared_bytes),
            is_whole,
        }
    }

    /// Returns the cycles on one multiprocessor: the larger of the cycles for issuing and the
    /// cycles for memory, increased if the occupancy is too low to hide latency.
    pub fn cycles(&self) -> f64 {
        let issues = self.issues as f64 / ISSUES_PER_CYCLE;
        let sectors = self.sectors as f64 / SECTORS_PER_CYCLE;
        issues.max(sectors).max(1.0) / (self.occupancy / HIDING).min(1.0)
    }
}

/// Returns the occupancy for blocks of this number of threads, registers and bytes of shared
/// memory.
fn occupancy(threads: u32, registers: u32, shared_bytes: usize) -> f64 {
    let warps = threads.div_ceil(32).max(1);
    let of_warp = (32 * registers.max(1)).next_multiple_of(REGISTER_UNIT);
    let of_block = (shared_bytes + OWN_SHARED_BYTES).next_multiple_of(SHARED_UNIT);
    let by_registers = REGISTERS / of_warp / warps;
    let by_shared = (SHARED_BYTES / of_block) as u32;
    let blocks = BLOCKS.min(WARPS / warps).min(by_registers).min(by_shared);
    f64::from((blocks * warps).max(1)) / f64::from(WARPS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn occupancy_is_that_of_nvidias_table() {
        for ((threads, registers, shared_bytes), warps) in [
            ((256, 32, 0), 64),
            ((256, 33, 0), 48),
            ((1024, 32, 0), 64),
            ((32, 16, 0), 32),
            ((128, 255, 0), 8),
            ((256, 16, 48 << 10), 24),
        ] {
            let share = f64::from(warps) / f64::from(WARPS);
            assert_eq!(occupancy(threads, registers, shared_bytes), share, "{threads} {registers}");
        }
    }

    #[test]
    fn a_launch_is_bound_by_issues_or_by_memory_and_waits_with_few_warps() {
        let cost = |issues, sectors, occupancy| {
            Cost { issues, sectors, lanes: 1.0, registers: 32, occupancy, is_whole: true }.cycles()
        };
        assert_eq!(cost(4000, 100, 1.0), 1000.0);
        assert_eq!(cost(4000, 4000, 0.5), 2000.0);
        assert_eq!(cost(4000, 100, 0.125), 2000.0);
    }
}
