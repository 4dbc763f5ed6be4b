//! The thread that makes blocks, one for a process. Machines run on while it works. When no request
//! is left, the thread writes the heads of its blocks to disk.

use crate::learning::HotHead;
use crate::shared_blocks::SharedBlocks;
use gbxcule_runtime::PerProcess;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// Maximum of blocks that are compiled together.
const MAX_BATCH: usize = 16;
/// Time without requests after which heads are written to disk.
const QUIET: Duration = Duration::from_secs(1);

#[derive(Default)]
struct Maker {
    queue: Mutex<Queue>,
    work_came: Condvar,
}

#[derive(Default)]
struct Queue {
    works: bool,
    waiting: VecDeque<(Weak<SharedBlocks>, Request)>,
}

/// A request for blocks.
pub(crate) enum Request {
    /// Blocks of heads that runners found.
    Learned(Vec<HotHead>),
    /// Blocks of heads that an earlier process wrote to disk.
    Kept,
}

static MAKER: PerProcess<Maker> = PerProcess::new();

impl Maker {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        // Blocks whose heads are not on disk yet.
        let mut unsaved: Vec<Weak<SharedBlocks>> = Vec::new();
        loop {
            let Some((blocks, request)) = self.next(!unsaved.is_empty()) else {
                unsaved.drain(..).filter_map(|it| it.upgrade()).for_each(|it| it.keep_heads());
                continue;
            };
            let wanted = match (request, blocks.upgrade()) {
                (Request::Learned(wanted), _) => wanted,
                (Request::Kept, blocks) => blocks.map_or_else(Vec::new, |it| it.kept_heads()),
            };
            for batch in wanted.chunks(MAX_BATCH) {
                // A ROM that no machine runs any more needs no blocks.
                let Some(blocks) = blocks.upgrade() else { break };
                blocks.make(batch);
            }
            if !unsaved.iter().any(|it| it.ptr_eq(&blocks)) {
                unsaved.push(blocks);
            }
        }
    }

    /// Waits for the next request; with `for_a_while` no longer than `QUIET`.
    fn next(&self, for_a_while: bool) -> Option<(Weak<SharedBlocks>, Request)> {
        let mut queue = self.lock();
        loop {
            if let Some(work) = queue.waiting.pop_front() {
                return Some(work);
            }
            if !for_a_while {
                queue = self.work_came.wait(queue).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let waited = self.work_came.wait_timeout(queue, QUIET);
            let (guard, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            queue = guard;
            if timeout.timed_out() && queue.waiting.is_empty() {
                return None;
            }
        }
    }
}

/// Asks for blocks.
pub(crate) fn ask(blocks: &Arc<SharedBlocks>, request: Request) {
    let maker = MAKER.get();
    let mut queue = maker.lock();
    if !queue.works {
        let thread = std::thread::Builder::new().name("blocks".to_owned());
        // If no thread can be started, machines are interpreted.
        queue.works = thread.spawn(|| maker.work()).is_ok();
    }
    if queue.works {
        queue.waiting.push_back((Arc::downgrade(blocks), request));
        maker.work_came.notify_one();
    }
}
