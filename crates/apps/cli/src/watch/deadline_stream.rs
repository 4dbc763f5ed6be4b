//! A connection with a deadline for each request, however slowly its bytes come or go.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Reads and writes until a deadline; after it everything fails.
pub(crate) struct DeadlineStream {
    stream: Arc<TcpStream>,
    until: Instant,
}

impl DeadlineStream {
    /// A connection whose deadline is `time` from now on.
    pub(crate) fn new(stream: Arc<TcpStream>, time: Duration) -> Self {
        Self { stream, until: Instant::now() + time }
    }

    /// Sets the deadline anew, `time` from now on.
    pub(crate) fn extend(&mut self, time: Duration) {
        self.until = Instant::now() + time;
    }

    /// Makes reading and writing return at once.
    pub(crate) fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.stream.set_nonblocking(nonblocking)
    }

    fn remaining(&self) -> io::Result<Option<Duration>> {
        match self.until.saturating_duration_since(Instant::now()) {
            Duration::ZERO => Err(ErrorKind::TimedOut.into()),
            remaining => Ok(Some(remaining)),
        }
    }
}

/// Returns true if the error is that time was up or, on a nonblocking stream, that nothing has come
/// yet.
pub(crate) fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock)
}

impl Read for DeadlineStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.remaining()?)?;
        (&*self.stream).read(buffer)
    }
}

impl Write for DeadlineStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.remaining()?)?;
        (&*self.stream).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        (&*self.stream).flush()
    }
}
