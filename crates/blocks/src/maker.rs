//! The thread that makes blocks, one for a process. Machines go on meanwhile.

use crate::learning::HotHead;
use crate::shared_blocks::SharedBlocks;
use gbxcule_runtime::PerProcess;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};

/// Blocks that become one piece of machine code, at most.
const BATCH_MAX: usize = 16;

#[derive(Default)]
struct Maker {
    queue: Mutex<Queue>,
    work_came: Condvar,
}

#[derive(Default)]
struct Queue {
    works: bool,
    waiting: VecDeque<(Weak<SharedBlocks>, Vec<HotHead>)>,
}

static MAKER: PerProcess<Maker> = PerProcess::new();

impl Maker {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        loop {
            let mut queue = self.lock();
            let (blocks, wanted) = loop {
                match queue.waiting.pop_front() {
                    Some(work) => break work,
                    None => {
                        queue = self.work_came.wait(queue).unwrap_or_else(PoisonError::into_inner);
                    }
                }
            };
            drop(queue);
            for batch in wanted.chunks(BATCH_MAX) {
                // A ROM that no machine runs any more needs none.
                let Some(blocks) = blocks.upgrade() else { break };
                blocks.make(batch);
            }
        }
    }
}

/// Asks for blocks.
pub(crate) fn ask(blocks: &Arc<SharedBlocks>, wanted: Vec<HotHead>) {
    let maker = MAKER.get();
    let mut queue = maker.lock();
    if !queue.works {
        let thread = std::thread::Builder::new().name("blocks".to_owned());
        // Without a thread the interpreter goes on as before.
        queue.works = thread.spawn(|| maker.work()).is_ok();
    }
    if queue.works {
        queue.waiting.push_back((Arc::downgrade(blocks), wanted));
        maker.work_came.notify_one();
    }
}
