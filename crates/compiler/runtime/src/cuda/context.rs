//! Primary context of a device, which the whole process shares. It is retained at the first use
//! and never released.
#![allow(unsafe_code, reason = "calling the driver")]

use super::driver::{self, Status};
use crate::device::Device;
use crate::error::Error;
use crate::nvrtc::Arch;
use crate::process::{PerProcess, Process};
use cudarc::driver::sys::{self, CUdevice_attribute as Attribute};
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Device that is ready for work.
#[derive(Debug)]
pub(crate) struct Context {
    pub(super) ordinal: u32,
    /// Newest CUDA that the driver supports.
    pub(super) cuda: (u32, u32),
    pub(super) arch: Arch,
    /// Number of multiprocessors.
    pub(super) processors: u32,
    /// This library's pool, from which memory is taken in a stream's order, on devices that have
    /// pools. The process's default pool keeps the settings of its owner.
    pub(super) pool: Option<sys::CUmemoryPool>,
    raw: sys::CUcontext,
    /// Process that made the context: CUDA doesn't work in a process that is forked later.
    process: Process,
}

// SAFETY: any thread may use and free a context and its pool.
unsafe impl Send for Context {}
// SAFETY: several threads may use a context and its pool at once; the driver locks them.
unsafe impl Sync for Context {}

impl Context {
    /// Returns the context of the device of an ordinal.
    pub(crate) fn of(ordinal: u32) -> Result<Arc<Self>, Error> {
        static KNOWN: PerProcess<Mutex<BTreeMap<u32, Arc<Context>>>> = PerProcess::new();
        /// The process that used CUDA first.
        static FIRST: OnceLock<Process> = OnceLock::new();
        if !FIRST.get_or_init(Process::current).is_current() {
            return Err(Error::Forked(Device::Cuda(ordinal)));
        }
        let mut contexts = KNOWN.get().lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(context) = contexts.get(&ordinal) {
            return Ok(Arc::clone(context));
        }
        let context = Arc::new(Self::new(ordinal)?);
        contexts.insert(ordinal, Arc::clone(&context));
        Ok(context)
    }

    fn new(ordinal: u32) -> Result<Self, Error> {
        let cuda = driver::load()?;
        let device = driver::device(ordinal)?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: a device that the driver gave, and a place for a context.
        let status = unsafe { sys::cuDevicePrimaryCtxRetain(&raw mut raw, device) };
        driver::check(ordinal, "making a context", status)?;
        let attribute = |which| driver::attribute(device, which);
        let has_pools = attribute(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED)? != 0;
        let pool = if has_pools { Some(new_pool(ordinal)?) } else { None };
        Ok(Self {
            ordinal,
            cuda,
            arch: driver::gpu(ordinal)?.arch,
            processors: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?.max(1),
            pool,
            raw,
            process: Process::current(),
        })
    }

    pub(super) fn device(&self) -> Device {
        Device::Cuda(self.ordinal)
    }

    /// Makes the context current for the calling thread until the guard is dropped. All calls
    /// below need this.
    pub(super) fn bind(&self) -> Result<Bound, Error> {
        if !self.process.is_current() {
            return Err(Error::Forked(self.device()));
        }
        // SAFETY: the context is retained as long as the process runs.
        let status = unsafe { sys::cuCtxPushCurrent_v2(self.raw) };
        self.check("entering a context", status)?;
        Ok(Bound { _thread: PhantomData })
    }

    pub(super) fn check(&self, call: &'static str, status: Status) -> Result<(), Error> {
        driver::check(self.ordinal, call, status)
    }

    /// Returns the free and the total bytes of the device's memory.
    pub(super) fn memory(&self) -> Result<(u64, u64), Error> {
        let _bound = self.bind()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: two places for a size.
        let status = unsafe { sys::cuMemGetInfo_v2(&raw mut free, &raw mut total) };
        self.check("asking for free memory", status)?;
        Ok((free as u64, total as u64))
    }
}

/// Bytes that the device's pool keeps, so that small arrays that come and go don't each need a
/// call of the system.
const POOL_BYTES: u64 = 64 << 20;

/// Makes a pool on a device. The pool lives as long as the process, as the context does.
fn new_pool(ordinal: u32) -> Result<sys::CUmemoryPool, Error> {
    // SAFETY: a structure of plain numbers, for which zeros mean the defaults.
    let mut wanted: sys::CUmemPoolProps = unsafe { std::mem::zeroed() };
    wanted.allocType = sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
    wanted.location.type_ = sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
    wanted.location.id = ordinal as i32;
    let (mut pool, mut kept) = (std::ptr::null_mut(), POOL_BYTES);
    // SAFETY: a place for a pool, and its properties.
    let status = unsafe { sys::cuMemPoolCreate(&raw mut pool, &raw const wanted) };
    driver::check(ordinal, "making a memory pool", status)?;
    let which = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
    // SAFETY: the new pool, and a number of 64 bits, as this attribute is.
    let status = unsafe { sys::cuMemPoolSetAttribute(pool, which, (&raw mut kept).cast()) };
    driver::check(ordinal, "setting up the memory pool", status)?;
    Ok(pool)
}

/// Binding of a context to the calling thread. When the guard is dropped, the thread has its
/// previous context again, such as that of another library on another device.
#[must_use]
pub(super) struct Bound {
    /// A guard belongs to the thread that made it.
    _thread: PhantomData<*const ()>,
}

impl Drop for Bound {
    fn drop(&mut self) {
        let mut popped = std::ptr::null_mut();
        // SAFETY: a place for a context. `Context::bind` pushed one on this thread's stack, and
        // guards go in the opposite order.
        _ = unsafe { sys::cuCtxPopCurrent_v2(&raw mut popped) };
    }
}
