//! Grids of threads, as compiled code reads them.

use std::sync::atomic::AtomicBool;

/// Dimensions that a grid has at most.
pub const GRID_DIMS: usize = 4;

/// Part of a launch, as kernels of a C++ text take it: `gbx::Grid`.
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
    /// Threads of each warp that have work, where threads diverge; 0 is all of them.
    pub lanes: i32,
}

/// Record that machine code on the CPU gets a pointer to: one for each range of threads that runs.
///
/// The extents, `stop` and `in_order` come from the launch. A fault fills in the other fields.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RangeRecord {
    /// Value at fault, such as the index.
    pub fault_found: i64,
    /// Limit that the value broke, such as the extent.
    pub fault_limit: i64,
    /// The thread that faulted, counted row-major.
    pub fault_thread: i64,
    /// Extents of the grid in the dimensions that the kernel asks for; 1 in the others.
    pub extents: [i64; GRID_DIMS],
    /// Set once the launch is to be given up. Valid as long as the range runs.
    pub stop: *const AtomicBool,
    /// True if threads must run one after the other: their arrays may share memory.
    pub in_order: bool,
}

impl RangeRecord {
    /// A record for ranges of such a grid, without a fault, in a launch that `stop` ends.
    pub const fn new(extents: [i64; GRID_DIMS], stop: &AtomicBool, in_order: bool) -> Self {
        let stop = std::ptr::from_ref(stop);
        Self { fault_found: 0, fault_limit: 0, fault_thread: 0, extents, stop, in_order }
    }
}
