//! Launches, which are queued without a wait. The fault of a launch stays in its code's fault
//! record until a thread waits for the stream.
//!
//! Equal launches share one copy of the record. The copy is queued behind these launches when
//! other launches of the same code follow, or when a thread waits for the stream. So a fault is
//! attributed to its kernel and grid, and repeated launches of the same kernel cost nothing. A
//! thread that faults ends; the other threads and later launches go on.
//!
//! The stack's size needs no setting: these kernels don't recurse, so the driver computes the
//! size from the code.
#![allow(unsafe_code, reason = "calling the driver")]

use super::module::Image;
use super::queue::{Queue, State};
use crate::error::Error;
use crate::kernel::{Kernel, RawFault};
use cudarc::driver::sys;
use gbxcule_ir::abi::{FaultRecord, GRID_DIMS, Grid};
use std::collections::hash_map::Entry;
use std::ffi::c_void;
use std::sync::Arc;

/// Greatest number of threads of a block, if the kernel allows that many.
const MAX_BLOCK: u32 = 256;
/// Number of threads that run in lockstep; the size of a block is a multiple of it.
pub(super) const WARP: u32 = 32;
/// Number of blocks that each multiprocessor should have before blocks grow.
const BLOCKS_EACH: u64 = 4;
/// Greatest number of open groups of launches; each group has its own code.
const MAX_OPEN: usize = 16;

/// Group of equal launches.
pub(super) struct LaunchGroup {
    kernel: Kernel,
    grid: Vec<usize>,
    record: u64,
    /// Number of threads of each warp that get work.
    lanes: u64,
}

impl LaunchGroup {
    /// Converts the number of a device's thread to the number of the grid's thread.
    fn thread(&self, slot: i64) -> i64 {
        let warp = i64::from(WARP);
        slot / warp * self.lanes as i64 + slot % warp
    }
}

impl Queue {
    /// Queues a launch; `parameters` lie as the kernel's layout describes, at these offsets.
    pub(crate) fn launch(
        &self,
        image: &Arc<Image>,
        kernel: &Kernel,
        position: usize,
        grid: &[usize],
        (parameters, offsets): (&[u64], &[u64]),
    ) -> Result<(), Error> {
        let threads = grid.iter().product::<usize>() as u64;
        if threads == 0 {
            return Ok(());
        }
        let mut state = self.enter()?;
        let (_, loaded) = match state.loaded.entry(image.number) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert((Arc::downgrade(image), image.load()?)),
        };
        let (function, record) = (loaded.functions[position], loaded.record);
        let lanes = function.warps.map(|warps| lanes(threads, warps));
        if let Some(record) = record.filter(|_| image.can_fault()) {
            self.open(&mut state, kernel, grid, record, lanes.unwrap_or(u64::from(WARP)))?;
        }
        let mut extents = [1; GRID_DIMS];
        extents.iter_mut().zip(grid).for_each(|(extent, &dim)| *extent = dim as i32);
        let dims = grid.len() as i32;
        let in_warp = lanes.unwrap_or(0) as i32;
        let grid = Grid { begin: 0, end: threads as i64, extents, dims, lanes: in_warp };
        let mut places: Vec<*mut c_void> = vec![(&raw const grid).cast_mut().cast()];
        let parameters = parameters.as_ptr().cast_mut();
        places.extend(offsets.iter().map(|&at| parameters.wrapping_byte_add(at as usize).cast()));
        let slots = lanes.map_or(threads, |lanes| threads.div_ceil(lanes) * u64::from(WARP));
        let limits = Limits::of(lanes.is_some(), function.threads_max);
        let [blocks, block] = shape(slots, self.context.processors, limits);
        // SAFETY: a function of a module that stays loaded until the stream has passed, and a
        // place for each of its parameters, which the call copies. The arrays among the
        // parameters were checked to belong to this stream, so their memory is freed after this
        // launch.
        let status = unsafe {
            let (places, none) = (places.as_mut_ptr(), std::ptr::null_mut());
            sys::cuLaunchKernel(function.raw, blocks, 1, 1, block, 1, 1, 0, self.raw, places, none)
        };
        self.context.check("launching a kernel", status)
    }

    /// Makes the next launch part of an open group.
    fn open(
        &self,
        state: &mut State,
        kernel: &Kernel,
        grid: &[usize],
        record: u64,
        lanes: u64,
    ) -> Result<(), Error> {
        if let Some(position) = state.open.iter().position(|open| open.record == record) {
            let open = &state.open[position];
            if open.grid == grid && open.kernel.is(kernel) {
                return Ok(());
            }
            let group = state.open.remove(position);
            self.copy_record(state, group)?;
        } else if state.open.len() == MAX_OPEN {
            self.close(state)?;
        }
        let (kernel, grid) = (kernel.clone(), grid.to_vec());
        state.open.push(LaunchGroup { kernel, grid, record, lanes });
        Ok(())
    }

    /// Queues copies of the open groups' records, after their last launches.
    pub(super) fn close(&self, state: &mut State) -> Result<(), Error> {
        let groups = std::mem::take(&mut state.open);
        groups.into_iter().try_for_each(|group| self.copy_record(state, group))
    }

    fn copy_record(&self, state: &mut State, group: LaunchGroup) -> Result<(), Error> {
        let mut block = state.pinned.take(&self.context, &self.counter, FaultRecord::BYTES)?;
        // SAFETY: the record lies in loaded code, which the group's kernel keeps; the block stays
        // until the stream has passed.
        let status = unsafe {
            sys::cuMemcpyDtoHAsync_v2(block.address(), group.record, FaultRecord::BYTES, self.raw)
        };
        if status == super::driver::Status::CUDA_SUCCESS {
            block.group = Some(group);
        }
        let sealed = state.pinned.release_after_copy(&self.context, self.raw, block);
        self.context.check("copying the record of faults", status).and(sealed)
    }

    /// Returns the first fault among the records that have arrived, and forgets all of them.
    pub(super) fn first_fault(&self, state: &mut State) -> Result<(), Error> {
        let mut first = None;
        let mut cleared = Vec::new();
        for (group, record) in std::mem::take(&mut state.pinned.records) {
            let thread = group.thread(record.thread);
            let Some(fault) = RawFault::of_record(&record, thread) else { continue };
            if !cleared.contains(&group.record) {
                cleared.push(group.record);
                // SAFETY: the record lies in loaded code, which the group's kernel keeps.
                let status =
                    unsafe { sys::cuMemsetD8Async(group.record, 0, FaultRecord::BYTES, self.raw) };
                self.context.check("clearing the record of faults", status)?;
            }
            first = first.or(Some((group, fault)));
        }
        let Some((group, fault)) = first else { return Ok(()) };
        Err(group.kernel.stopped(&fault, &group.grid))
    }
}

/// Returns the number of threads of each warp that get work, for threads that diverge, on a
/// device that holds `warps` warps at once: the smallest number with which all threads run at
/// once.
fn lanes(threads: u64, warps: u64) -> u64 {
    threads.div_ceil(warps.max(1)).clamp(1, u64::from(WARP))
}

/// Limits of a launch's shape.
#[derive(Clone, Copy)]
struct Limits {
    /// Greatest number of threads of a block.
    block: u32,
    /// Number of blocks that each multiprocessor should have before blocks grow.
    blocks_each: u64,
}

impl Limits {
    /// A kernel whose threads diverge says by its bounds how many of its warps belong together.
    fn of(diverges: bool, threads_max: u32) -> Self {
        if diverges {
            Self { block: threads_max, blocks_each: 1 }
        } else {
            Self { block: MAX_BLOCK.min(threads_max), blocks_each: BLOCKS_EACH }
        }
    }
}

/// Returns the number of blocks and the number of threads in a block: large blocks for many
/// threads, otherwise so many small blocks that all multiprocessors have work. A loop in the
/// kernel covers the threads beyond the greatest number of blocks.
fn shape(threads: u64, processors: u32, limits: Limits) -> [u32; 2] {
    let max = limits.block;
    let mut block = max - max % WARP.min(max);
    let enough = limits.blocks_each * u64::from(processors);
    while block > WARP && threads.div_ceil(u64::from(block)) < enough {
        block = (block / 2).next_multiple_of(WARP).min(block - WARP);
    }
    let blocks = threads.div_ceil(u64::from(block)).min(i32::MAX as u64);
    [blocks as u32, block]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diverging_threads_share_warps_only_where_there_are_too_few_of_them() {
        // 132 multiprocessors with 16 warps each.
        for (threads, expected) in
            [(1, 1), (2112, 1), (2113, 2), (8192, 4), (16_384, 8), (32_768, 16), (65_536, 32)]
        {
            assert_eq!(lanes(threads, 132 * 16), expected, "{threads}");
        }
        assert_eq!(lanes(1 << 40, 2112), 32);
        assert_eq!(lanes(5, 0), 5);
    }

    #[test]
    fn blocks_are_small_until_every_multiprocessor_has_some() {
        let shape = |threads, processors, max| shape(threads, processors, Limits::of(false, max));
        assert_eq!(shape(1, 132, 1024), [1, 32]);
        assert_eq!(shape(8192, 132, 384), [256, 32]);
        assert_eq!(shape(65_536, 132, 1024), [1024, 64]);
        assert_eq!(shape(1 << 30, 132, 1024), [1 << 22, 256]);
        assert_eq!(shape(1 << 30, 132, 200), [(1u64 << 30).div_ceil(192) as u32, 192]);
        assert_eq!(shape(100, 4, 7), [15, 7]);
        assert_eq!(shape(1 << 62, 132, 1024), [i32::MAX as u32, 256]);
    }

    #[test]
    fn diverging_threads_are_in_blocks_as_large_as_their_kernel_asks_for() {
        let shape = |threads, max| shape(threads, 132, Limits::of(true, max));
        assert_eq!(shape(101_376, 768), [132, 768]);
        assert_eq!(shape(101_376, 32), [3168, 32]);
        // As many blocks as multiprocessors come before large blocks.
        assert_eq!(shape(65_536, 768), [171, 384]);
        assert_eq!(shape(32, 768), [1, 32]);
    }
}
