//! The threads that kernels run on.

use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::OnceLock;

/// Bytes of stack that kernels may take for variables on a thread of the pool.
pub(crate) const STACK_MAX: u64 = 24 << 20;
/// Bytes that they may take on the caller's thread.
pub(crate) const CALLER_STACK_MAX: u64 = 64 << 10;

/// One thread for each core, or as many as `GBXCULE_THREADS` says.
pub(crate) fn pool() -> Option<&'static ThreadPool> {
    static POOL: OnceLock<Option<ThreadPool>> = OnceLock::new();
    let make = || {
        let threads = std::env::var("GBXCULE_THREADS").ok().and_then(|text| text.parse().ok());
        let builder = ThreadPoolBuilder::new()
            .num_threads(threads.unwrap_or(0))
            .thread_name(|number| format!("kernel-{number}"))
            // Pages that nobody touches cost nothing.
            .stack_size(STACK_MAX as usize + (8 << 20));
        builder.build().ok()
    };
    POOL.get_or_init(make).as_ref()
}
