//! Threads that step shards.
//!
//! Shards are moved between threads: the swarm queues all shards, each free thread takes the next
//! one, and the swarm goes on when all shards are back. A step allocates nothing, and results do
//! not depend on which thread stepped which shard.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use gbxcule_runtime::Process;

use crate::SwarmError;
use crate::native::Shard;
use crate::step_plan::StepPlan;

pub(crate) struct WorkerPool {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
    /// The process that started the workers; a forked process has no workers.
    process: Process,
}

struct Shared {
    queue: Mutex<Queue>,
    work_came: Condvar,
    work_done: Condvar,
}

struct Queue {
    plan: Option<StepPlan>,
    waiting: Vec<Shard>,
    finished: Vec<Shard>,
    outstanding: usize,
    panicked: bool,
    closing: bool,
}

impl WorkerPool {
    /// Starts `threads - 1` workers: the calling thread steps shards as well.
    pub(crate) fn new(threads: usize, shards: usize) -> Result<Self, SwarmError> {
        let shared = Arc::new(Shared {
            queue: Mutex::new(Queue {
                plan: None,
                waiting: Vec::with_capacity(shards),
                finished: Vec::with_capacity(shards),
                outstanding: 0,
                panicked: false,
                closing: false,
            }),
            work_came: Condvar::new(),
            work_done: Condvar::new(),
        });
        let mut pool = Self { shared, workers: Vec::new(), process: Process::current() };
        for number in 1..threads.min(shards) {
            let shared = Arc::clone(&pool.shared);
            let worker = std::thread::Builder::new()
                .name(format!("swarm-{number}"))
                .spawn(move || shared.work())
                .map_err(SwarmError::Thread)?;
            pool.workers.push(worker);
        }
        Ok(pool)
    }

    /// Number of threads that step shards, the caller's included.
    pub(crate) fn threads(&self) -> usize {
        self.workers.len() + 1
    }

    /// Steps every shard and puts it back in its place.
    ///
    /// # Errors
    /// The process was forked after the workers were started. A forked process has no workers, so
    /// no shard would come back.
    pub(crate) fn step(
        &self,
        shards: &mut [Option<Shard>],
        plan: StepPlan,
    ) -> Result<(), SwarmError> {
        if !self.process.is_current() {
            return Err(SwarmError::Forked);
        }
        if self.workers.is_empty() {
            for shard in shards.iter_mut().flatten() {
                shard.step(plan);
            }
            return Ok(());
        }
        let mut queue = self.shared.lock();
        queue.plan = Some(plan);
        queue.outstanding = shards.len();
        queue.waiting.extend(shards.iter_mut().rev().filter_map(Option::take));
        drop(queue);
        self.shared.work_came.notify_all();
        while self.shared.step_one() {}

        let mut queue = self.shared.lock();
        while queue.finished.len() < queue.outstanding {
            queue = self.shared.work_done.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        while let Some(shard) = queue.finished.pop() {
            let place = shard.index;
            shards[place] = Some(shard);
        }
        assert!(!queue.panicked, "a machine panicked while it was stepped");
        Ok(())
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        loop {
            let mut queue = self.lock();
            while queue.waiting.is_empty() && !queue.closing {
                queue = self.work_came.wait(queue).unwrap_or_else(PoisonError::into_inner);
            }
            if queue.closing {
                return;
            }
            drop(queue);
            while self.step_one() {}
        }
    }

    /// Takes a shard from the queue, steps it and returns it; returns false if the queue was empty.
    fn step_one(&self) -> bool {
        let mut queue = self.lock();
        let (Some(mut shard), Some(plan)) = (queue.waiting.pop(), queue.plan) else {
            return false;
        };
        drop(queue);
        // A shard must come back whatever happens, or the caller would wait for ever.
        let outcome = catch_unwind(AssertUnwindSafe(|| shard.step(plan)));
        let mut queue = self.lock();
        queue.panicked |= outcome.is_err();
        queue.finished.push(shard);
        if queue.finished.len() == queue.outstanding {
            self.work_done.notify_all();
        }
        true
    }
}

impl Drop for WorkerPool {
    fn drop(&mut self) {
        if !self.process.is_current() {
            // The threads belong to the parent process, and one of them may have held the lock, so
            // the lock is not taken.
            self.workers.drain(..).for_each(std::mem::forget);
            return;
        }
        self.shared.lock().closing = true;
        self.shared.work_came.notify_all();
        for worker in self.workers.drain(..) {
            // A worker only panics if the queue is broken; a second panic while dropping would
            // abort.
            let _ = worker.join();
        }
    }
}
