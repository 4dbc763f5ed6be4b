//! Barriers of a block that a text names, besides that of all its threads: `bar.sync 1, 64` waits
//! there for 64 threads, `bar.arrive` comes and goes on.
//!
//! Who waits knows afterwards what all who came had done before; that is noted thread by thread.

use super::shadow::Time;
use std::collections::BTreeMap;

/// A barrier to which threads have come.
#[derive(Debug, Default)]
struct NamedBarrier {
    /// Threads that complete it; nothing if all of the block do.
    expected: Option<u32>,
    came: u32,
    /// Times up to which those who came know each thread's accesses.
    known: Vec<Time>,
}

/// Named barriers of the block at work.
#[derive(Debug, Default)]
pub struct NamedBarriers {
    barriers: BTreeMap<u32, NamedBarrier>,
    /// For each thread the times up to which it knows the accesses of each other one; empty until
    /// the first barrier is complete.
    known: Vec<Vec<Time>>,
}

impl NamedBarriers {
    /// Begins a block.
    pub(super) fn clear(&mut self) {
        self.barriers.clear();
        self.known.clear();
    }

    /// True if threads have come to one that is not complete.
    pub(super) fn is_waited_for(&self) -> bool {
        !self.barriers.is_empty()
    }

    /// Notes that threads, by their numbers in the block, come to a barrier at a time, as so many.
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

    /// Takes a barrier that is complete; `ended` threads of the block have ended, and `all` it has.
    pub(super) fn take_complete(&mut self, ended: u32, all: u32) -> Option<(u32, Vec<Time>)> {
        let is_complete = |it: &NamedBarrier| match it.expected {
            Some(expected) => it.came >= expected,
            None => it.came + ended >= all,
        };
        let number = *self.barriers.iter().find(|(_, it)| is_complete(it))?.0;
        let barrier = self.barriers.remove(&number)?;
        Some((number, barrier.known))
    }

    /// Notes that a thread goes on behind a barrier.
    pub(super) fn pass(&mut self, thread: u32, known: &[Time]) {
        self.known.resize(known.len(), vec![0; known.len()]);
        for (own, time) in self.known[thread as usize].iter_mut().zip(known) {
            *own = (*own).max(*time);
        }
    }

    /// True if a thread knows an access of another one at a time.
    pub(super) fn is_known(&self, thread: u32, other: u32, time: Time) -> bool {
        self.known.get(thread as usize).is_some_and(|times| time < times[other as usize])
    }

    /// Description of a barrier that does not become complete.
    pub(super) fn lack(&self, barrier: u32) -> String {
        let it = self.barriers.get(&barrier);
        let came = it.map_or(0, |it| it.came);
        match it.and_then(|it| it.expected) {
            Some(expected) => format!("{came} of {expected} threads come to barrier {barrier}"),
            None => format!("not all threads of the block come to barrier {barrier}"),
        }
    }
}
