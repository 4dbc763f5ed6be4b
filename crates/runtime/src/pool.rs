//! The threads that kernels run on.

use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::{Mutex, PoisonError};

/// Bytes of stack that kernels may take for variables on a thread of the pool.
pub(crate) const STACK_MAX: u64 = 24 << 20;
/// Bytes that they may take on the caller's thread.
pub(crate) const CALLER_STACK_MAX: u64 = 64 << 10;

/// One thread for each core, or as many as `GBXCULE_THREADS` says.
pub(crate) fn pool() -> Option<&'static ThreadPool> {
    /// The process that made a pool, and the pool, if threads could be had.
    type Made = (u32, Option<&'static ThreadPool>);
    static POOL: Mutex<Option<Made>> = Mutex::new(None);
    let mut made = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    // A forked process has no threads but the one that forked: the pool of its parent would never answer.
    let process = std::process::id();
    match *made {
        Some((owner, pool)) if owner == process => pool,
        _ => made.insert((process, make())).1,
    }
}

/// Pools are never let go of, as threads may be in them when the process ends.
fn make() -> Option<&'static ThreadPool> {
    let threads = std::env::var("GBXCULE_THREADS").ok().and_then(|text| text.parse().ok());
    let builder = ThreadPoolBuilder::new()
        .num_threads(threads.unwrap_or(0))
        .thread_name(|number| format!("kernel-{number}"))
        // Pages that nobody touches cost nothing.
        .stack_size(STACK_MAX as usize + (8 << 20));
    Some(Box::leak(Box::new(builder.build().ok()?)))
}

/// Does something with rayon's parallel iterators on the threads that kernels run on.
pub fn in_pool<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    match pool() {
        Some(pool) => pool.install(work),
        None => work(),
    }
}
