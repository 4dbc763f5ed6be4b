//! Repetition of calls that a signal interrupts, up to a limit: a file system that answers every
//! try with `EINTR` is an error.

use std::io::{Error, ErrorKind, Read, Result, Seek, SeekFrom, Write};

use rustix::io::Errno;

/// Greatest number of tries of one call.
const MAX_TRIES: usize = 10_000;

/// Repeats a system call until it isn't interrupted.
pub(crate) fn patiently<T>(mut call: impl FnMut() -> rustix::io::Result<T>) -> Result<T> {
    repeated(|| call().map_err(Error::from))
}

fn repeated<T>(mut call: impl FnMut() -> Result<T>) -> Result<T> {
    for _ in 0..MAX_TRIES {
        match call() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            outcome => return outcome,
        }
    }
    Err(Error::other(format!(
        "the system interrupted this call {MAX_TRIES} times in a row (EINTR)"
    )))
}

/// Writes bytes to standard output without the standard library's buffer, which would repeat an
/// interrupted call for ever. Without a standard output the bytes are dropped.
///
/// # Errors
/// The reader is gone, or the disk is full.
pub fn write_standard(bytes: &[u8]) -> Result<()> {
    let mut standard = std::io::stdout().lock();
    standard.flush()?;
    let mut left = bytes;
    while !left.is_empty() {
        match patiently(|| rustix::io::write(&standard, left)) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(count) => left = &left[count..],
            Err(error) if error.raw_os_error() == Some(Errno::BADF.raw_os_error()) => break,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// A reader or a writer that repeats an interrupted call a bounded number of times. The standard
/// library's loops, such as that of [`Write::write_all`], repeat it for ever.
#[derive(Debug)]
pub struct Patient<T> {
    inner: T,
}

impl<T> Patient<T> {
    /// Wraps a reader or a writer that has no buffer.
    pub fn new(inner: T) -> Self {
        Self { inner }
    }

    /// Returns the wrapped reader or writer.
    pub fn get(&self) -> &T {
        &self.inner
    }
}

impl<T: Read> Read for Patient<T> {
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize> {
        repeated(|| self.inner.read(bytes))
    }
}

impl<T: Seek> Seek for Patient<T> {
    fn seek(&mut self, to: SeekFrom) -> Result<u64> {
        repeated(|| self.inner.seek(to))
    }
}

impl<T: Write> Write for Patient<T> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        repeated(|| self.inner.write(bytes))
    }

    fn flush(&mut self) -> Result<()> {
        repeated(|| self.inner.flush())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream that interrupts all calls, or all but every tenth.
    struct Interrupted {
        calls: usize,
        for_ever: bool,
    }

    impl Write for Interrupted {
        fn write(&mut self, bytes: &[u8]) -> Result<usize> {
            self.calls += 1;
            if self.for_ever || !self.calls.is_multiple_of(10) {
                return Err(ErrorKind::Interrupted.into());
            }
            Ok(bytes.len().min(1))
        }

        fn flush(&mut self) -> Result<()> {
            Ok(())
        }
    }

    #[test]
    fn interruptions_are_borne_and_endless_ones_are_an_error() {
        let mut some = Patient::new(Interrupted { calls: 0, for_ever: false });
        some.write_all(&[0; 5000]).expect("each byte gets through");
        let mut all = Patient::new(Interrupted { calls: 0, for_ever: true });
        let error = all.write_all(b"text").expect_err("no byte gets through").to_string();
        assert!(error.contains("EINTR"), "{error}");
        let error = patiently::<()>(|| Err(Errno::INTR)).expect_err("never done");
        assert_eq!(error.kind(), ErrorKind::Other);
    }
}
