//! Launches on the CPU: ranges of the grid on the threads of the pool.
#![allow(unsafe_code, reason = "calling compiled code")]

use super::{Noted, Plan};
use crate::code::{Code, Record, Running};
use crate::launch::Packed;
use crate::pool::{CALLER_STACK_MAX, pool};
use gbxcule_kernel::back::clif::Entry;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Ranges that each thread of the pool gets, about: enough that none waits long for the last.
const RANGES_PER_THREAD: i64 = 8;
/// Launches of less work than this, in operations, stay on the caller's thread.
const SMALL_WORK: u64 = 30_000;

/// Whether the caller's thread does all of it.
pub(super) fn runs_here(entry: &Entry, plan: &Plan) -> bool {
    let work = entry.work.saturating_mul(plan.threads as u64);
    let small = entry.stack_bytes <= CALLER_STACK_MAX && work <= SMALL_WORK;
    small || plan.threads <= 0 || pool().is_none()
}

/// A kernel's machine code and what it is launched with.
pub(super) struct Host<'a> {
    /// For threads that meet as these do.
    pub(super) code: &'a Code,
    /// The kernel's, among the program's functions.
    pub(super) position: usize,
    pub(super) plan: &'a Plan,
    /// See [`runs_here`].
    pub(super) here: bool,
    pub(super) packed: &'a Packed<'a>,
    pub(super) running: &'a Running<'a>,
}

impl Host<'_> {
    /// Runs all of it; gives the fault of the first thread that is known to have one.
    pub(super) fn run(&self) -> Option<Noted> {
        (0..self.plan.repeats).find_map(|_| match pool().filter(|_| !self.here) {
            None => self.range(0, self.plan.threads),
            Some(pool) => self.spread(pool),
        })
    }

    fn spread(&self, pool: &rayon::ThreadPool) -> Option<Noted> {
        let plan = self.plan;
        let ranges = (pool.current_num_threads() as i64 * RANGES_PER_THREAD).min(plan.threads);
        let length = plan.threads / ranges + i64::from(plan.threads % ranges != 0);
        let (next, stop) = (AtomicI64::new(0), AtomicBool::new(false));
        let first: Mutex<Option<Noted>> = Mutex::new(None);
        pool.broadcast(|_| {
            while !stop.load(Ordering::Relaxed) {
                let begin = next.fetch_add(length, Ordering::Relaxed);
                if begin >= plan.threads {
                    break;
                }
                let end = begin.saturating_add(length).min(plan.threads);
                if let Some(noted) = self.range(begin, end) {
                    stop.store(true, Ordering::Relaxed);
                    let mut first = first.lock().unwrap_or_else(PoisonError::into_inner);
                    if first.as_ref().is_none_or(|first| noted.thread < first.thread) {
                        *first = Some(noted);
                    }
                }
            }
        });
        first.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn range(&self, begin: i64, end: i64) -> Option<Noted> {
        let words = &self.packed.words;
        let mut record = Record {
            fault_found: 0,
            fault_limit: 0,
            fault_thread: 0,
            grid: self.plan.extents,
            launch: std::ptr::from_ref(self.running).cast(),
        };
        // SAFETY: `pack` laid the arguments out for this kernel over locked buffers, whose arrays lie
        // inside them; `running` outlives the call. The code is for threads that meet as these do.
        let status = unsafe { self.code.run(self.position, &mut record, words, begin, end) };
        let site = usize::try_from(status).ok()?.checked_sub(1)?;
        let Record { fault_found: found, fault_limit: limit, fault_thread: thread, .. } = record;
        Some(Noted::at_site(site, [found, limit, thread]))
    }
}
