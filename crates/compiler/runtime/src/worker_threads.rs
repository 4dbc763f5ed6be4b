//! Threads on which kernels run.

use crate::error::Error;
use crate::process::PerProcess;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::num::NonZeroUsize;
use std::sync::OnceLock;

/// Bytes of stack that a kernel's variables may take on a thread of the pool.
pub(crate) const MAX_STACK: u64 = 24 << 20;
/// Bytes of stack that a kernel's variables may take on the caller's thread.
pub(crate) const MAX_CALLER_STACK: u64 = 64 << 10;

/// Returns the pool: one thread for each core, or as many as `GBXCULE_THREADS` sets.
pub(crate) fn pool() -> Option<&'static ThreadPool> {
    // A forked process has only the thread that forked: the pool of its parent would never answer.
    static POOL: PerProcess<OnceLock<Option<&'static ThreadPool>>> = PerProcess::new();
    *POOL.get().get_or_init(make)
}

/// Greatest number of threads, which is more than the number of cores of any computer.
const MAX_THREADS: usize = 1024;

/// Returns the number of threads in `GBXCULE_THREADS`; `None` if it is not set, or empty.
fn requested_threads() -> Result<Option<usize>, Error> {
    let Some(text) = std::env::var_os("GBXCULE_THREADS").filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    let threads = text.to_str().and_then(|text| text.parse().ok());
    match threads.filter(|threads| (1..=MAX_THREADS).contains(threads)) {
        Some(threads) => Ok(Some(threads)),
        None => Err(Error::Threads { found: text.display().to_string(), most: MAX_THREADS }),
    }
}

/// Checks the value of `GBXCULE_THREADS` before any thread is started.
pub fn check_threads() -> Result<(), Error> {
    requested_threads().map(drop)
}

/// Makes the pool, which is never dropped, because threads may be in it when the process ends.
fn make() -> Option<&'static ThreadPool> {
    let threads = requested_threads().ok().flatten();
    let builder = ThreadPoolBuilder::new()
        .num_threads(threads.unwrap_or(0))
        .thread_name(|number| format!("kernel-{number}"))
        // Pages that are never touched cost nothing.
        .stack_size(MAX_STACK as usize + (8 << 20));
    Some(Box::leak(Box::new(builder.build().ok()?)))
}

/// Returns a wanted number of threads or child processes; without a wish, the number of cores.
pub fn worker_count(wanted: Option<NonZeroUsize>) -> usize {
    wanted.or_else(|| std::thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get)
}

/// Runs work with rayon's parallel iterators on the threads on which kernels run.
pub fn in_pool<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    match pool() {
        Some(pool) => pool.install(work),
        None => work(),
    }
}
