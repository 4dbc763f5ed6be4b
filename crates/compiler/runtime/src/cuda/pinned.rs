//! Host memory that the device copies from and to while the host goes on. The memory is lent in
//! blocks; a block comes back when the stream has passed the event after its copy.
#![allow(unsafe_code, reason = "calling the driver; memory that the device reads")]

use super::context::Context;
use super::driver::Status;
use super::launch::LaunchGroup;
use crate::error::Error;
use crate::stream::Counter;
use cudarc::driver::sys;
use gbxcule_ir::abi::FaultRecord;
use std::collections::VecDeque;
use std::ffi::c_void;
use std::ptr::{self, NonNull};

/// Size of the largest block; larger copies take several blocks.
pub(super) const MAX_BLOCK: usize = 4 << 20;
/// Total size of blocks above which a copy waits for an older one.
const MAX_HELD: usize = 64 << 20;
/// Size of the smallest block: a record of a fault, the actions of some machines.
const MIN_BLOCK: usize = 256;

/// A block of pinned memory.
pub(super) struct Block {
    address: NonNull<u8>,
    size: usize,
    event: sys::CUevent,
    /// Launches whose record of a fault is copied here.
    pub(super) group: Option<LaunchGroup>,
}

impl Block {
    pub(super) fn address(&self) -> *mut c_void {
        self.address.as_ptr().cast()
    }

    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Returns the bytes of the block. The unique reference keeps the host's accesses apart from
    /// the device's: a block is lent by value from [`Pinned::take`] to
    /// [`Pinned::release_after_copy`], and comes back when the device has done the copy.
    pub(super) fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: `size` bytes were allocated, and zeroed; no other code uses them, as above.
        unsafe { std::slice::from_raw_parts_mut(self.address.as_ptr(), self.size) }
    }
}

/// All blocks of a stream.
#[derive(Default)]
pub(super) struct Pinned {
    free: Vec<Block>,
    /// Blocks in use, in the order in which the stream passes them.
    busy: VecDeque<Block>,
    held: usize,
    /// Blocks that came back with a record of a fault, oldest first.
    pub(super) records: Vec<(LaunchGroup, FaultRecord)>,
}

impl Pinned {
    /// Returns a block of at least `bytes` bytes, which may be at most [`MAX_BLOCK`].
    pub(super) fn take(
        &mut self,
        context: &Context,
        counter: &Counter,
        bytes: usize,
    ) -> Result<Block, Error> {
        let size = bytes.clamp(MIN_BLOCK, MAX_BLOCK).next_power_of_two();
        self.reclaim_finished(context)?;
        loop {
            if let Some(position) = self.free.iter().position(|block| block.size == size) {
                return Ok(self.free.swap_remove(position));
            }
            let Some(oldest) = self.busy.front().filter(|_| self.held + size > MAX_HELD) else {
                return self.allocate(context, size);
            };
            counter.count_wait();
            // SAFETY: an event of this context.
            let status = unsafe { sys::cuEventSynchronize(oldest.event) };
            context.check("waiting for a copy", status)?;
            self.reclaim_finished(context)?;
        }
    }

    fn allocate(&mut self, context: &Context, size: usize) -> Result<Block, Error> {
        // Blocks of other sizes must not be kept for ever.
        while self.held + size > MAX_HELD
            && let Some(block) = self.free.pop()
        {
            self.held -= block.size;
            give_back(&block);
        }
        let (mut address, mut event) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: a place for an address; the caller has bound the context.
        let status = unsafe { sys::cuMemAllocHost_v2(&raw mut address, size) };
        context.check("taking pinned memory of the host", status)?;
        let Some(address) = NonNull::new(address.cast::<u8>()) else {
            let call = "taking pinned memory of the host";
            return Err(Error::Cuda { call, reason: "it gave none".into() });
        };
        // SAFETY: `size` bytes were just allocated.
        unsafe { ptr::write_bytes(address.as_ptr(), 0, size) };
        let flags = sys::CUevent_flags_enum::CU_EVENT_DISABLE_TIMING as u32;
        // SAFETY: a place for an event.
        let status = unsafe { sys::cuEventCreate(&raw mut event, flags) };
        if let Err(error) = context.check("making an event", status) {
            // SAFETY: allocated above, and not shared yet.
            _ = unsafe { sys::cuMemFreeHost(address.as_ptr().cast()) };
            return Err(error);
        }
        self.held += size;
        Ok(Block { address, size, event, group: None })
    }

    /// Takes back a block whose copies are queued in a stream.
    pub(super) fn release_after_copy(
        &mut self,
        context: &Context,
        stream: sys::CUstream,
        block: Block,
    ) -> Result<(), Error> {
        // SAFETY: an event and a stream of this context, both alive.
        let status = unsafe { sys::cuEventRecord(block.event, stream) };
        self.busy.push_back(block);
        context.check("marking a copy", status)
    }

    /// Frees the blocks that the stream has passed.
    pub(super) fn reclaim_finished(&mut self, context: &Context) -> Result<(), Error> {
        while let Some(block) = self.busy.front() {
            // SAFETY: an event of this context.
            let status = unsafe { sys::cuEventQuery(block.event) };
            if status == Status::CUDA_ERROR_NOT_READY {
                break;
            }
            context.check("asking for an event", status)?;
            let Some(mut block) = self.busy.pop_front() else { break };
            if let Some(group) = block.group.take() {
                let Some(bytes) = block.bytes().first_chunk() else {
                    unreachable!("the block was taken for a record")
                };
                self.records.push((group, FaultRecord::from_bytes(bytes)));
            }
            self.free.push(block);
        }
        Ok(())
    }

    /// Frees all blocks; the stream must have ended.
    pub(super) fn clear(&mut self) {
        self.free.drain(..).chain(self.busy.drain(..)).for_each(|block| give_back(&block));
    }
}

/// Frees a block. Errors are ignored, because then the context is lost.
fn give_back(block: &Block) {
    // SAFETY: made by `allocate`, not in use, and never used again.
    unsafe {
        _ = sys::cuEventDestroy_v2(block.event);
        _ = sys::cuMemFreeHost(block.address());
    }
}
