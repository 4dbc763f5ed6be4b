//! Numbered barriers of a block beside barrier 0: `bar.sync 1, 64` waits at barrier 1 for 64
//! threads; `bar.arrive` arrives without waiting.
//!
//! After the barrier, a thread that waited knows all earlier accesses of the threads that
//! arrived. This knowledge is recorded for each thread.

use super::shadow::Time;
use std::collections::BTreeMap;

/// A barrier to which threads have come.
#[derive(Debug, Default)]
struct NamedBarrier {
    /// Number of threads that complete the barrier; `None` for all threads of the block.
    expected: Option<u32>,
    came: u32,
    /// For each thread, the time up to which the arrived threads know the thread's accesses.
    known: Vec<Time>,
}

/// Numbered barriers of the running block.
#[derive(Debug, Default)]
pub struct NamedBarriers {
    barriers: BTreeMap<u32, NamedBarrier>,
    /// For each thread, the times up to which it knows the accesses of each other thread; empty
    /// until the first barrier is complete.
    known: Vec<Vec<Time>>,
}

impl NamedBarriers {
    /// Begins a block.
    pub(super) fn clear(&mut self) {
        self.barriers.clear();
        self.known.clear();
    }

    /// Returns true if threads have arrived at a barrier that is not complete.
    pub(super) fn is_waited_for(&self) -> bool {
        !self.barriers.is_empty()
    }

    /// Records that threads, given by their numbers in the block, arrive at a barrier at a time and
    /// count as `count`.
    pub(super) fn come(
        &mut self,
        (barrier, expected): (u32, Option<u32>),
        (threads, count): (&[u32], u32),
        (now, threads_of_block): (Time, u32),
    ) -> Result<(), String> {
        let it = self.barriers.entry(barrier).or_insert_with(|| NamedBarrier {
            expected,
            came: 0,
            known: vec![0; threads_of_block as usize],
        });
        if it.expected != expected {
            return Err(format!("threads come to barrier {barrier} with other counts of threads"));
        }
        it.came += count;
        for &thread in threads {
            for (time, own) in
                it.known.iter_mut().zip(self.known.get(thread as usize).into_iter().flatten())
            {
                *time = (*time).max(*own);
            }
            it.known[thread as usize] = now;
        }
        Ok(())
    }

    /// Takes a complete barrier, when `ended` of the block's `all` threads have ended.
    pub(super) fn take_complete(&mut self, ended: u32, all: u32) -> Option<(u32, Vec<Time>)> {
        let is_complete = |it: &NamedBarrier| match it.expected {
            Some(expected) => it.came >= expected,
            None => it.came + ended >= all,
        };
        let number = *self.barriers.iter().find(|(_, it)| is_complete(it))?.0;
        let barrier = self.barriers.remove(&number)?;
        Some((number, barrier.known))
    }

    /// Records that a thread passes a barrier.
    pub(super) fn pass(&mut self, thread: u32, known: &[Time]) {
        self.known.resize(known.len(), vec![0; known.len()]);
        for (own, time) in self.known[thread as usize].iter_mut().zip(known) {
            *own = (*own).max(*time);
        }
    }

    /// Returns true if a thread knows another thread's access at a time.
    pub(super) fn is_known(&self, thread: u32, other: u32, time: Time) -> bool {
        self.known.get(thread as usize).is_some_and(|times| time < times[other as usize])
    }

    /// Describes a barrier that can't become complete.
    pub(super) fn lack(&self, barrier: u32) -> String {
        let it = self.barriers.get(&barrier);
        let came = it.map_or(0, |it| it.came);
        match it.and_then(|it| it.expected) {
            Some(expected) => format!("{came} of {expected} threads come to barrier {barrier}"),
            None => format!("not all threads of the block come to barrier {barrier}"),
        }
    }
}
