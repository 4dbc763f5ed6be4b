//! Connection with a deadline for each request, which also holds if bytes are received or sent
//! slowly.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Stream whose reads and writes fail after a deadline.
pub(crate) struct DeadlineStream {
    stream: Arc<TcpStream>,
    until: Instant,
}

impl DeadlineStream {
    /// Makes a stream whose deadline is `time` from now.
    pub(crate) fn new(stream: Arc<TcpStream>, time: Duration) -> Self {
        Self { stream, until: Instant::now() + time }
    }

    /// Moves the deadline to `time` from now.
    pub(crate) fn extend(&mut self, time: Duration) {
        self.until = Instant::now() + time;
    }

    /// Makes reads and writes return at once.
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

/// Returns true if the deadline has passed, or if no bytes have come yet on a nonblocking stream.
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
