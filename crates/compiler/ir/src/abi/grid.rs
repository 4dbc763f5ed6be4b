//! Grids of threads, as compiled code reads them.

use std::sync::atomic::AtomicBool;

/// Greatest number of dimensions of a grid.
pub const GRID_DIMS: usize = 4;

/// Range of a launch's threads, as kernels of a C++ text take it: `gbx::Grid`.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Grid {
    /// The first thread, counted row-major.
    pub begin: i64,
    /// The thread after the last.
    pub end: i64,
    /// Threads in each dimension; 1 in those beyond `dims`.
    pub extents: [i32; GRID_DIMS],
    /// Number of dimensions.
    pub dims: i32,
    /// Number of threads of each warp that get work, for kernels whose threads diverge; 0 stands
    /// for all threads of the warp.
    pub lanes: i32,
}

/// Record that machine code on the CPU gets by pointer, one for each range of threads.
///
/// The extents, `stop` and `in_order` come from the launch. A fault fills in the other fields.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RangeRecord {
    /// Value that faulted, such as the index.
    pub fault_found: i64,
    /// Limit that the value broke, such as the extent.
    pub fault_limit: i64,
    /// The thread that faulted, counted row-major.
    pub fault_thread: i64,
    /// Extents of the grid in the dimensions that the kernel asks for; 1 in the others.
    pub extents: [i64; GRID_DIMS],
    /// Flag that is set once the launch is to be given up. The pointer is valid as long as the
    /// range runs.
    pub stop: *const AtomicBool,
    /// True if threads must run one after the other, because their arrays may share memory.
    pub in_order: bool,
}

impl RangeRecord {
    /// Makes a record without a fault for a range of a launch that `stop` ends.
    pub const fn new(extents: [i64; GRID_DIMS], stop: &AtomicBool, in_order: bool) -> Self {
        let stop = std::ptr::from_ref(stop);
        Self { fault_found: 0, fault_limit: 0, fault_thread: 0, extents, stop, in_order }
    }
}
