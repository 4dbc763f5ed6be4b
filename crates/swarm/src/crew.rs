//! Threads that step shards.
//!
//! Shards travel by ownership: the swarm lends all of them out, whoever is free takes the next one, and the swarm goes
//! on when all are back. Nothing is allocated on the way, and nothing depends on who stepped what.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use crate::SwarmError;
use crate::piece::StepPlan;
use crate::shard::Shard;

pub(crate) struct Crew {
    desk: Arc<Desk>,
    helpers: Vec<JoinHandle<()>>,
}

struct Desk {
    papers: Mutex<Papers>,
    work_came: Condvar,
    work_done: Condvar,
}

struct Papers {
    plan: Option<StepPlan>,
    waiting: Vec<Shard>,
    finished: Vec<Shard>,
    lent: usize,
    panicked: bool,
    closing: bool,
}

impl Crew {
    /// The caller works too, so `threads` of them need one helper less.
    pub(crate) fn new(threads: usize, shards: usize) -> Result<Self, SwarmError> {
        let desk = Arc::new(Desk {
            papers: Mutex::new(Papers {
                plan: None,
                waiting: Vec::with_capacity(shards),
                finished: Vec::with_capacity(shards),
                lent: 0,
                panicked: false,
                closing: false,
            }),
            work_came: Condvar::new(),
            work_done: Condvar::new(),
        });
        let mut crew = Self { desk, helpers: Vec::new() };
        for number in 1..threads.min(shards) {
            let desk = Arc::clone(&crew.desk);
            let helper = std::thread::Builder::new()
                .name(format!("swarm-{number}"))
                .spawn(move || desk.help())
                .map_err(SwarmError::Thread)?;
            crew.helpers.push(helper);
        }
        Ok(crew)
    }

    /// The helpers and the caller.
    pub(crate) fn threads(&self) -> usize {
        self.helpers.len() + 1
    }

    /// Step every shard; they come back in their places.
    pub(crate) fn step(&self, shards: &mut [Option<Shard>], plan: StepPlan) {
        if self.helpers.is_empty() {
            for shard in shards.iter_mut().flatten() {
                shard.step(plan);
            }
            return;
        }
        let mut papers = self.desk.lock();
        papers.plan = Some(plan);
        papers.lent = shards.len();
        papers.waiting.extend(shards.iter_mut().rev().filter_map(Option::take));
        drop(papers);
        self.desk.work_came.notify_all();
        while self.desk.step_one() {}

        let mut papers = self.desk.lock();
        while papers.finished.len() < papers.lent {
            papers = self.desk.work_done.wait(papers).unwrap_or_else(PoisonError::into_inner);
        }
        while let Some(shard) = papers.finished.pop() {
            let place = shard.index;
            shards[place] = Some(shard);
        }
        assert!(!papers.panicked, "a machine panicked while it was stepped");
    }
}

impl Desk {
    fn lock(&self) -> MutexGuard<'_, Papers> {
        self.papers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn help(&self) {
        loop {
            let mut papers = self.lock();
            while papers.waiting.is_empty() && !papers.closing {
                papers = self.work_came.wait(papers).unwrap_or_else(PoisonError::into_inner);
            }
            if papers.closing {
                return;
            }
            drop(papers);
            while self.step_one() {}
        }
    }

    /// Take a shard, step it, bring it back; false when none was waiting.
    fn step_one(&self) -> bool {
        let mut papers = self.lock();
        let (Some(mut shard), Some(plan)) = (papers.waiting.pop(), papers.plan) else {
            return false;
        };
        drop(papers);
        // A shard must come back whatever happens, or the caller would wait for ever.
        let outcome = catch_unwind(AssertUnwindSafe(|| shard.step(plan)));
        let mut papers = self.lock();
        papers.panicked |= outcome.is_err();
        papers.finished.push(shard);
        if papers.finished.len() == papers.lent {
            self.work_done.notify_all();
        }
        true
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.desk.lock().closing = true;
        self.desk.work_came.notify_all();
        for helper in self.helpers.drain(..) {
            // A helper only panics if the desk is broken; dropping must not panic on top of that.
            let _ = helper.join();
        }
    }
}
