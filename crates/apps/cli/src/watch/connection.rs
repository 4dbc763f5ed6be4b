//! Limit on the number of open connections: a new connection beyond the limit ends the connection
//! that has been silent longest. So neither unfinished requests nor inactive viewers keep others
//! out.

use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Greatest numbers of connections whose request isn't answered yet, and of viewers.
const MAX_OPENING: usize = 64;
pub(crate) const MAX_VIEWERS: usize = 64;

/// Stage of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The first request is being read or answered.
    Opening,
    /// The connection is a WebSocket that gets views.
    Viewer,
}

/// All connections.
#[derive(Default)]
pub(crate) struct Connections {
    table: Mutex<ConnectionTable>,
}

#[derive(Default)]
struct ConnectionTable {
    open: Vec<OpenConnection>,
    /// Number of events of all connections. It serves as an id and as the time of the last
    /// activity.
    activity: u64,
}

struct OpenConnection {
    id: u64,
    stream: Arc<TcpStream>,
    stage: Stage,
    last_active: u64,
}

impl ConnectionTable {
    fn next_activity(&mut self) -> u64 {
        self.activity += 1;
        self.activity
    }

    fn count(&self, stage: Stage) -> usize {
        self.open.iter().filter(|open| open.stage == stage).count()
    }

    /// Ends the connections of a stage that have been silent longest, until `most` remain.
    fn make_room(&mut self, stage: Stage, most: usize) {
        while self.count(stage) > most {
            self.end_most_silent(stage);
        }
    }

    /// Ends the connection of a stage that has been silent longest; returns false if the stage has
    /// no connection.
    fn end_most_silent(&mut self, stage: Stage) -> bool {
        let of_stage = self.open.iter().enumerate().filter(|(_, open)| open.stage == stage);
        let silent = of_stage.min_by_key(|(_, open)| open.last_active).map(|(at, _)| at);
        if let Some(at) = silent {
            // The connection's thread wakes up and sees the shutdown, or has already ended.
            let _ = self.open.remove(at).stream.shutdown(Shutdown::Both);
        }
        silent.is_some()
    }

    /// Records activity of a connection; returns the connection, unless it has been ended.
    fn touch(&mut self, id: u64) -> Option<&mut OpenConnection> {
        let activity = self.next_activity();
        let open = self.open.iter_mut().find(|open| open.id == id)?;
        open.last_active = activity;
        Some(open)
    }
}

impl Connections {
    fn lock(&self) -> MutexGuard<'_, ConnectionTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a connection.
    pub(crate) fn admit(self: &Arc<Self>, stream: TcpStream) -> Connection {
        let stream = Arc::new(stream);
        let mut table = self.lock();
        table.make_room(Stage::Opening, MAX_OPENING - 1);
        let id = table.next_activity();
        let open = OpenConnection {
            id,
            stream: Arc::clone(&stream),
            stage: Stage::Opening,
            last_active: id,
        };
        table.open.push(open);
        Connection { all: Arc::clone(self), id, stream }
    }

    /// Ends one connection whose request isn't answered yet, or else a viewer, because the process
    /// has no more descriptors.
    pub(crate) fn end_one(&self) {
        let mut table = self.lock();
        let _ = table.end_most_silent(Stage::Opening) || table.end_most_silent(Stage::Viewer);
    }

    /// Ends all connections.
    pub(crate) fn end_all(&self) {
        let mut table = self.lock();
        table.make_room(Stage::Opening, 0);
        table.make_room(Stage::Viewer, 0);
    }
}

/// A connection that counts towards the limit until this value is dropped.
pub(crate) struct Connection {
    all: Arc<Connections>,
    pub(crate) id: u64,
    pub(crate) stream: Arc<TcpStream>,
}

impl Connection {
    /// Moves a connection that has asked for views to the viewers.
    pub(crate) fn become_viewer(&self) {
        let mut table = self.all.lock();
        if let Some(open) = table.touch(self.id) {
            open.stage = Stage::Viewer;
        }
        table.make_room(Stage::Viewer, MAX_VIEWERS);
    }

    /// Records that a complete message was received or sent.
    pub(crate) fn record_activity(&self) {
        self.all.lock().touch(self.id);
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.all.lock().open.retain(|open| open.id != self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::net::TcpListener;

    struct Place {
        listener: TcpListener,
        all: Arc<Connections>,
    }

    impl Place {
        fn new() -> Self {
            let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
            Self { listener, all: Arc::default() }
        }

        /// Returns both ends of a connection.
        fn connect(&self) -> (Connection, TcpStream) {
            let address = self.listener.local_addr().expect("an address");
            let far = TcpStream::connect(address).expect("it listens");
            (self.all.admit(self.listener.accept().expect("a connection").0), far)
        }
    }

    fn has_ended(connection: &Connection) -> bool {
        connection.stream.set_nonblocking(true).expect("a socket");
        matches!((&*connection.stream).read(&mut [0]), Ok(0))
    }

    #[test]
    fn the_connection_that_was_silent_longest_makes_room() {
        let place = Place::new();
        let mut all: Vec<_> = (0..MAX_OPENING).map(|_| place.connect()).collect();
        all[0].0.record_activity();
        all.push(place.connect());
        all.push(place.connect());
        let ended: Vec<_> = (0..all.len()).filter(|at| has_ended(&all[*at].0)).collect();
        assert_eq!(ended, [1, 2]);
        all.drain(3..10);
        all.push(place.connect());
        assert!(!has_ended(&all[0].0), "there was room");
    }

    #[test]
    fn viewers_and_requests_have_places_of_their_own() {
        let place = Place::new();
        let viewers: Vec<_> = (0..MAX_VIEWERS + 2).map(|_| place.connect()).collect();
        let ended = |from: &[(Connection, TcpStream)]| {
            from.iter().filter(|(connection, _)| has_ended(connection)).count()
        };
        assert_eq!(ended(&viewers), 2, "as requests");
        let place = Place::new();
        let connect = |_| {
            let both = place.connect();
            both.0.become_viewer();
            both
        };
        let viewers: Vec<_> = (0..MAX_VIEWERS + 2).map(connect).collect();
        let requests: Vec<_> = (0..MAX_OPENING).map(|_| place.connect()).collect();
        assert_eq!((ended(&viewers), ended(&requests)), (2, 0));
        place.all.end_one();
        assert_eq!((ended(&viewers), ended(&requests)), (2, 1));
        drop(requests);
        place.all.end_one();
        assert_eq!(ended(&viewers), 3);
    }
}
