//! Launches on the CPU: ranges of the grid on the threads of the pool.
#![allow(unsafe_code, reason = "calling compiled code")]

use super::{Plan, RawFault};
use crate::argument_block::Packed;
use crate::code::{MachineCode, Record, RunningLaunch};
use crate::worker_threads::{MAX_CALLER_STACK, pool};
use gbxcule_back_clif::Entry;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Approximate number of ranges for each thread of the pool: enough that no thread waits long for
/// the last one.
const RANGES_PER_THREAD: i64 = 8;
/// Greatest work of a range, in operations.
const MAX_RANGE_WORK: u64 = 1 << 28;
/// Work above which a kernel has loops of unknown length.
const MIN_LOOPS_WORK: u64 = 1 << 20;
/// Greatest number of threads of a range with loops: so small that no wait for a range is long,
/// and so large that the cost of a range is small.
const MAX_LOOPS_RANGE: i64 = 1024;
/// Time between two calls of `go_on`.
const ASK_EVERY: Duration = Duration::from_millis(50);
/// Repeats of a small launch between two calls of `go_on`, if no other thread works.
const REPEATS_BETWEEN: i64 = 1 << 12;
/// Work, in operations, below which a launch stays on the caller's thread.
const MIN_POOL_WORK: u64 = 30_000;

/// Returns true if the caller's thread does all the work.
pub(super) fn runs_on_caller(entry: &Entry, plan: &Plan) -> bool {
    let work = entry.work.saturating_mul(plan.threads as u64);
    let small = entry.stack_bytes <= MAX_CALLER_STACK && work <= MIN_POOL_WORK;
    small || plan.threads <= 0 || pool().is_none()
}

/// Machine code of a kernel, and the launch to run.
pub(super) struct HostLaunch<'a> {
    /// Code for these threads: with or without atomic operations on a thread's own elements.
    pub(super) code: &'a MachineCode,
    pub(super) entry: &'a Entry,
    pub(super) plan: &'a Plan,
    /// True if the launch runs on the caller's thread ([`runs_on_caller`]).
    pub(super) here: bool,
    /// True if threads must not run side by side in groups.
    pub(super) in_order: bool,
    pub(super) packed: &'a Packed<'a>,
    pub(super) running: &'a RunningLaunch<'a>,
    /// Flag that is set once the launch is to be given up.
    pub(super) stop: &'a AtomicBool,
}

impl HostLaunch<'_> {
    /// Runs the whole launch until a repeat faults; returns the fault of the lowest-numbered thread
    /// that was seen to fault in it.
    pub(super) fn run(&self, go_on: Option<&mut dyn FnMut() -> bool>) -> Option<RawFault> {
        let (pool, mut go_on) = (pool().filter(|_| !self.here), go_on);
        for repeat in 0..self.plan.repeats {
            if self.stop.load(Ordering::Relaxed) {
                return None;
            }
            let fault = match (pool, &mut go_on) {
                (None, _) => self.range(0, self.plan.threads),
                // A thread of the pool can't wait for the pool.
                (Some(pool), Some(go_on)) if pool.current_thread_index().is_none() => {
                    self.run_in_pool(|work| self.run_asking(pool, work, *go_on))
                }
                (Some(pool), _) => self.run_in_pool(|work| _ = pool.broadcast(|_| work())),
            };
            if fault.is_some() {
                return fault;
            }
            let asks = pool.is_none() && repeat % REPEATS_BETWEEN == REPEATS_BETWEEN - 1;
            if let Some(go_on) = go_on.as_mut().filter(|_| asks) {
                self.stop.store(!go_on(), Ordering::Relaxed);
            }
        }
        None
    }

    /// Runs work on all threads of the pool, and asks `go_on` while they run.
    fn run_asking(
        &self,
        pool: &rayon::ThreadPool,
        work: &(dyn Fn() + Sync),
        go_on: &mut dyn FnMut() -> bool,
    ) {
        let (left, ended) = (Mutex::new(pool.current_num_threads()), Condvar::new());
        let count = || left.lock().unwrap_or_else(PoisonError::into_inner);
        pool.in_place_scope(|scope| {
            scope.spawn_broadcast(|_, _| {
                work();
                *count() -= 1;
                ended.notify_one();
            });
            loop {
                let waited = ended.wait_timeout_while(count(), ASK_EVERY, |left| *left > 0);
                if *waited.unwrap_or_else(PoisonError::into_inner).0 == 0 {
                    break;
                }
                if !go_on() {
                    self.stop.store(true, Ordering::Relaxed);
                }
            }
        });
    }

    /// Returns the greatest number of threads of a range, chosen so that a launch can be given up
    /// between two ranges.
    fn longest_range(&self) -> i64 {
        match self.entry.work {
            work if work >= MIN_LOOPS_WORK => MAX_LOOPS_RANGE,
            work => (MAX_RANGE_WORK / work.max(1)).cast_signed(),
        }
    }

    /// Cuts the grid into ranges, for work that runs on all threads at once.
    fn run_in_pool(&self, on_all: impl FnOnce(&(dyn Fn() + Sync))) -> Option<RawFault> {
        let (plan, threads) = (self.plan, pool().map_or(1, rayon::ThreadPool::current_num_threads));
        let ranges = (threads as i64 * RANGES_PER_THREAD).min(plan.threads);
        let length = plan.threads / ranges + i64::from(plan.threads % ranges != 0);
        let length = length.min(self.longest_range());
        let (next, stop) = (AtomicI64::new(0), AtomicBool::new(false));
        let first: Mutex<Option<RawFault>> = Mutex::new(None);
        on_all(&|| {
            while !stop.load(Ordering::Relaxed) && !self.stop.load(Ordering::Relaxed) {
                let begin = next.fetch_add(length, Ordering::Relaxed);
                if begin >= plan.threads {
                    break;
                }
                let end = begin.saturating_add(length).min(plan.threads);
                if let Some(fault) = self.range(begin, end) {
                    stop.store(true, Ordering::Relaxed);
                    let mut first = first.lock().unwrap_or_else(PoisonError::into_inner);
                    if first.as_ref().is_none_or(|first| fault.thread < first.thread) {
                        *first = Some(fault);
                    }
                }
            }
        });
        first.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn range(&self, begin: i64, end: i64) -> Option<RawFault> {
        let words = &self.packed.words;
        let mut record = Record::new(self.plan.extents, self.running, self.stop, self.in_order);
        // SAFETY: `lay_out` laid the arguments out for this kernel, and `ArgumentBlock::lock`
        // locked the buffers that their handles point into; `packed` keeps them locked. `running`
        // and `stop` outlive the call. The code fits the way in which these threads share memory.
        let status = unsafe { self.code.run(self.entry.position, &mut record, words, begin, end) };
        RawFault::of_range(status, &record.range)
    }
}
