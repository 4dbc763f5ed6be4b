//! Channel from the viewers' threads to the swarm's thread. It carries new viewers, and wakes the
//! swarm when a viewer has sent a request. Each viewer has a separate queue of requests, so that no
//! viewer can fill another viewer's queue.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, TrySendError, sync_channel};
use std::time::Duration;

use crate::watch::request::Request;

/// Greatest number of new viewers that wait for the swarm.
const MAX_WAITING: usize = 64;

/// Request of a viewer; `looks` counts the viewer's looks up to this request.
pub(crate) struct ViewerRequest {
    pub(crate) request: Request,
    pub(crate) looks: u64,
}

/// Answer to the look with this number.
pub(crate) struct View {
    pub(crate) look: u64,
    pub(crate) bytes: Vec<u8>,
}

/// The swarm's end of the queues of one viewer.
pub(crate) struct ViewerLink {
    pub(crate) requests: Receiver<ViewerRequest>,
    pub(crate) views: Sender<View>,
    /// True while a view is in transit to the browser, which gets no other view until then.
    pub(crate) is_served: Arc<AtomicBool>,
}

impl ViewerLink {
    /// Returns true if the viewer's thread, which shares the flag, has ended.
    pub(crate) fn has_left(&self) -> bool {
        Arc::strong_count(&self.is_served) == 1
    }
}

/// The viewers' end of the channel.
#[derive(Clone)]
pub(crate) struct SwarmSender {
    sender: SyncSender<Option<ViewerLink>>,
    is_woken: Arc<AtomicBool>,
}

/// The swarm's end of the channel.
pub(crate) struct SwarmReceiver {
    receiver: Receiver<Option<ViewerLink>>,
    is_woken: Arc<AtomicBool>,
}

/// Creates both ends.
pub(crate) fn swarm_channel() -> (SwarmSender, SwarmReceiver) {
    let (sender, receiver) = sync_channel(MAX_WAITING);
    let is_woken = Arc::new(AtomicBool::new(false));
    (SwarmSender { sender, is_woken: Arc::clone(&is_woken) }, SwarmReceiver { receiver, is_woken })
}

impl SwarmSender {
    /// Adds a new viewer; returns false if the swarm has ended.
    pub(crate) fn join(&self, link: ViewerLink) -> bool {
        self.sender.send(Some(link)).is_ok()
    }

    /// Wakes the swarm, which then reads all queues. Until the swarm waits again, further calls
    /// send no message, so that a flood of requests sends only one.
    pub(crate) fn wake(&self) {
        if self.is_woken.swap(true, Ordering::SeqCst) {
            return;
        }
        if let Err(TrySendError::Full(_)) = self.sender.try_send(None) {
            // If the channel is full, the new viewers in it wake the swarm.
        }
    }
}

impl SwarmReceiver {
    /// Waits until the swarm is woken, without a limit for `None`; returns a new viewer, if there
    /// is one.
    pub(crate) fn wait(
        &self,
        time: Option<Duration>,
    ) -> Result<Option<ViewerLink>, RecvTimeoutError> {
        let came = match time {
            Some(time) => self.receiver.recv_timeout(time),
            None => self.receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        // Later requests wake the swarm again; earlier ones are in their queues.
        self.is_woken.store(false, Ordering::SeqCst);
        came
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_wakes_the_swarm_once_and_no_request_is_lost() {
        let (to_swarm, from_viewers) = swarm_channel();
        for _ in 0..1000 {
            to_swarm.wake();
        }
        assert!(matches!(from_viewers.wait(Some(Duration::ZERO)), Ok(None)));
        assert!(from_viewers.wait(Some(Duration::ZERO)).is_err());
        to_swarm.wake();
        assert!(matches!(from_viewers.wait(None), Ok(None)));
        drop(to_swarm);
        assert!(matches!(from_viewers.wait(None), Err(RecvTimeoutError::Disconnected)));
    }
}
