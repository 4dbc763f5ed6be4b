//! Stream of the driver, with all work that waits in it.
#![allow(unsafe_code, reason = "calling the driver")]

use super::context::{Bound, Context};
use super::launch::LaunchGroup;
use super::module::{Image, Loaded};
use super::pinned::Pinned;
use crate::error::Error;
use crate::stream::Counter;
use cudarc::driver::sys;
use std::collections::HashMap;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Stream with its context and its state.
pub(crate) struct Queue {
    pub(super) context: Arc<Context>,
    pub(super) counter: Arc<Counter>,
    pub(super) raw: sys::CUstream,
    state: Mutex<State>,
}

// SAFETY: any thread may use the driver's streams; the lock orders the work in them.
unsafe impl Send for Queue {}
// SAFETY: all mutable state is behind `state`; `raw` is only passed to the driver.
unsafe impl Sync for Queue {}

/// Order of two streams.
#[derive(Clone, Copy)]
pub(crate) enum StreamOrder {
    /// This stream's work comes first.
    Before,
    /// The other stream's work comes first.
    After,
}

/// State that changes while work is queued.
#[derive(Default)]
pub(super) struct State {
    pub(super) pinned: Pinned,
    /// Code by the number of its image: one copy for each stream, so that faults of two streams
    /// don't mix.
    pub(super) loaded: HashMap<u64, (Weak<Image>, Loaded)>,
    /// Launches whose record of a fault has not been copied yet: one group for each record, in the
    /// order of their first launches.
    pub(super) open: Vec<LaunchGroup>,
}

/// State of a queue, locked, while its context is the calling thread's.
pub(super) struct Entered<'q> {
    state: MutexGuard<'q, State>,
    _bound: Bound,
}

impl Deref for Entered<'_> {
    type Target = State;

    fn deref(&self) -> &State {
        &self.state
    }
}

impl DerefMut for Entered<'_> {
    fn deref_mut(&mut self) -> &mut State {
        &mut self.state
    }
}

impl Queue {
    pub(crate) fn new(ordinal: u32, counter: Arc<Counter>) -> Result<Self, Error> {
        let context = Context::of(ordinal)?;
        let bound = context.bind()?;
        let mut raw = ptr::null_mut();
        let flags = sys::CUstream_flags_enum::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: a place for a stream.
        let status = unsafe { sys::cuStreamCreate(&raw mut raw, flags) };
        drop(bound);
        context.check("making a stream", status)?;
        Ok(Self { context, counter, raw, state: Mutex::default() })
    }

    /// Locks the state and binds its context to this thread.
    pub(super) fn enter(&self) -> Result<Entered<'_>, Error> {
        let bound = self.context.bind()?;
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Entered { state, _bound: bound })
    }

    /// Waits for all queued work; returns the first fault of its launches.
    pub(crate) fn synchronize(&self) -> Result<(), Error> {
        let mut state = self.enter()?;
        self.finish(&mut state)
    }

    pub(super) fn finish(&self, state: &mut State) -> Result<(), Error> {
        let closed = self.close(state);
        self.wait()?;
        closed?;
        state.pinned.reclaim_finished(&self.context)?;
        // A module that can't be launched any more is not needed, and no launch of its code runs.
        state.loaded.retain(|_, (image, _)| image.strong_count() > 0);
        self.first_fault(state)
    }

    fn wait(&self) -> Result<(), Error> {
        self.counter.count_wait();
        // SAFETY: the stream is alive.
        let status = unsafe { sys::cuStreamSynchronize(self.raw) };
        self.context.check("waiting for a stream", status)
    }

    /// Returns the driver's handle.
    pub(crate) fn handle(&self) -> u64 {
        self.raw.expose_provenance() as u64
    }

    /// Makes another stream of the device wait for the work queued here so far, or makes this
    /// stream wait for the other stream's work.
    ///
    /// # Safety
    /// The other handle is that of a living stream of the same device.
    pub(crate) unsafe fn order(&self, other: u64, order: StreamOrder) -> Result<(), Error> {
        let _state = self.enter()?;
        let other: sys::CUstream = ptr::with_exposed_provenance_mut(other as usize);
        let (first, then) = match order {
            StreamOrder::Before => (self.raw, other),
            StreamOrder::After => (other, self.raw),
        };
        let event = self.event()?;
        // SAFETY: one stream is ours, the caller vouches for the other; the driver destroys an
        // event once its streams have passed it.
        let status = unsafe {
            let recorded = sys::cuEventRecord(event, first);
            let waits = sys::cuStreamWaitEvent(then, event, 0);
            _ = sys::cuEventDestroy_v2(event);
            if recorded == sys::CUresult::CUDA_SUCCESS { waits } else { recorded }
        };
        self.context.check("ordering two streams", status)
    }

    fn event(&self) -> Result<sys::CUevent, Error> {
        let mut event = ptr::null_mut();
        let flags = sys::CUevent_flags_enum::CU_EVENT_DISABLE_TIMING as u32;
        // SAFETY: a place for an event; callers have bound the context.
        let status = unsafe { sys::cuEventCreate(&raw mut event, flags) };
        self.context.check("making an event", status)?;
        Ok(event)
    }

    /// Marks the present end of the stream's work.
    pub(crate) fn mark(self: &Arc<Self>) -> Result<QueueMark, Error> {
        let _state = self.enter()?;
        let mark = QueueMark { event: self.event()?, queue: Arc::clone(self) };
        // SAFETY: an event and a stream of this context, both alive.
        let status = unsafe { sys::cuEventRecord(mark.event, self.raw) };
        self.context.check("marking a place in a stream", status)?;
        Ok(mark)
    }

    /// Returns true if work that is queued now is recorded in a graph instead of run.
    pub(crate) fn is_captured(&self) -> Result<bool, Error> {
        let _state = self.enter()?;
        let mut capture = sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
        // SAFETY: a living stream, and a place for a status.
        let status = unsafe { sys::cuStreamIsCapturing(self.raw, &raw mut capture) };
        self.context.check("asking for a stream's capture", status)?;
        Ok(capture != sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE)
    }

    /// Returns the number of free bytes of the device's memory.
    pub(crate) fn free_bytes(&self) -> Result<u64, Error> {
        // Freed memory becomes available when the stream has passed.
        let _state = self.enter()?;
        self.wait()?;
        Ok(self.context.memory()?.0)
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Queue").field(&self.context.device()).finish()
    }
}

/// Place in a queue's work.
#[derive(Debug)]
pub(crate) struct QueueMark {
    event: sys::CUevent,
    queue: Arc<Queue>,
}

// SAFETY: any thread may use and free one of the driver's events.
unsafe impl Send for QueueMark {}
// SAFETY: the driver's events are used by any number of threads at once.
unsafe impl Sync for QueueMark {}

impl QueueMark {
    /// Returns true if the stream has passed this place.
    pub(crate) fn is_passed(&self) -> Result<bool, Error> {
        let _state = self.queue.enter()?;
        // SAFETY: an event of this context.
        let status = unsafe { sys::cuEventQuery(self.event) };
        if status == sys::CUresult::CUDA_ERROR_NOT_READY {
            return Ok(false);
        }
        self.queue.context.check("asking for an event", status).map(|()| true)
    }
}

impl Drop for QueueMark {
    fn drop(&mut self) {
        if let Ok(_bound) = self.queue.context.bind() {
            // SAFETY: no other code has the event, and the driver keeps it until it has passed.
            _ = unsafe { sys::cuEventDestroy_v2(self.event) };
        }
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        let Ok(_bound) = self.context.bind() else { return };
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: no other code has the stream; its memory is given back after its end. A lost
        // context frees everything, so errors are ignored.
        unsafe {
            _ = sys::cuStreamSynchronize(self.raw);
            state.pinned.clear();
            state.loaded.clear();
            _ = sys::cuStreamDestroy_v2(self.raw);
        }
    }
}
