//! Runs a confined program to its end and collects its output.

use std::ffi::OsStr;
use std::fmt;
use std::io::Read;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use gbxcule_files::Patient;

use crate::policy::{Kind, Limits, Policy};
use crate::tree::Looks;
use crate::{ChildGroup, SandboxError, confine, tree};

/// First time between two polls of a child. The time grows, so that the end of a short run is
/// noticed at once and a long run costs little.
const MIN_POLL: Duration = Duration::from_millis(1);
const MAX_POLL: Duration = Duration::from_millis(20);
/// One in this number of measurements of a child covers all processes of the machine; the others
/// cover only processes that began after the child.
const LOOKS: u32 = 16;
/// Time to read the rest of an ended child's output. Only without seccomp can a remaining process
/// hold the pipe open.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);

/// End of a child.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChildEnd {
    /// The child ended by itself, with this status.
    Exited(i32),
    /// A signal that no limit explains ended the child: a crash, or an end from outside.
    Signal(i32),
    /// The child exceeded its wall-clock time.
    Time(Duration),
    /// The child exceeded its processor time.
    Cpu(Duration),
    /// The child exceeded the limit of its standard output.
    Output(usize),
    /// The child wrote a file that exceeds the limit.
    File(u64),
    /// The child and its descendants exceeded the total of bytes written to files.
    Written(u64),
    /// The child and its descendants exceeded the number of processes and threads.
    Tasks(usize),
    /// The child and its descendants exceeded the total memory.
    Memory(u64),
}

impl ChildEnd {
    /// Returns true if the child ended by itself with status 0.
    #[must_use]
    pub fn is_success(self) -> bool {
        self == Self::Exited(0)
    }
}

impl fmt::Display for ChildEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(status) => write!(f, "ended with status {status}"),
            Self::Signal(signal) => write!(f, "was ended by signal {signal}"),
            Self::Time(limit) => {
                write!(f, "ran for more than {} s and was ended", limit.as_secs_f32())
            }
            Self::Cpu(limit) => {
                write!(f, "computed for more than {} s and was ended", limit.as_secs_f32())
            }
            Self::Output(limit) => write!(f, "wrote more than {limit} bytes and was ended"),
            Self::File(limit) => write!(f, "wrote a file of more than {limit} bytes and was ended"),
            Self::Written(limit) => {
                write!(f, "wrote more than {limit} bytes to files and was ended")
            }
            Self::Tasks(limit) => {
                write!(f, "had more than {limit} processes and threads and was ended")
            }
            Self::Memory(limit) => {
                write!(f, "had more than {limit} bytes of memory together and was ended")
            }
        }
    }
}

/// Result of a child.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// End of the child.
    pub ended: ChildEnd,
    /// All of its standard output, within the policy's limit.
    pub stdout: Vec<u8>,
    /// The beginning of its standard error.
    pub stderr: String,
}

/// Runs a program to its end, or to one of its limits.
///
/// # Errors
/// The program can't be started, or its output can't be read. A program that fails is not an error.
pub fn run<S: AsRef<OsStr>>(
    program: &Path,
    arguments: &[S],
    policy: &Policy,
) -> Result<Outcome, SandboxError> {
    let start = |source| SandboxError::Start { program: program.into(), source };
    let (reached, mark) = std::io::pipe().map_err(start)?;
    let mut command = confine::marked(program, policy, Some(mark))?;
    command.args(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let begin = Instant::now();
    #[cfg(target_os = "linux")]
    let _first = tree::come_first();
    let spawned = ChildGroup::spawn(&mut command);
    // The pipe ends only when the command's own handle of it is closed.
    drop(command);
    let mut owned = spawned.map_err(|source| {
        if has_mark(reached) {
            SandboxError::Unstartable { program: program.into(), source }
        } else {
            start(source)
        }
    })?;
    let child = owned.child();
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let limits = policy.limits;
    let stdout = OutputReader::of(stdout, limits.output_bytes, true).map_err(start)?;
    let stderr = OutputReader::of(stderr, limits.error_bytes, false).map_err(start)?;
    let early = wait(&mut owned, begin, policy, &stdout);
    // The system forgets the child's processor time once the child is waited for.
    let cpu = tree::cpu_time(owned.group());
    let read = |source| SandboxError::Read { program: program.into(), source };
    let status = owned.end().map_err(read)?;
    let (stdout, whole) = stdout.take().map_err(read)?;
    let ended = early.unwrap_or_else(|| {
        if whole { explained(status, cpu, limits) } else { ChildEnd::Output(limits.output_bytes) }
    });
    let stderr = String::from_utf8_lossy(&stderr.take().map_err(read)?.0).into_owned();
    Ok(Outcome { ended, stdout, stderr })
}

/// Returns true if a child left its mark before it became its program.
fn has_mark(mut mark: std::io::PipeReader) -> bool {
    mark.read(&mut [0]).is_ok_and(|count| count > 0)
}

/// Waits until the child ends or exceeds a limit.
fn wait(
    owned: &mut ChildGroup,
    begin: Instant,
    policy: &Policy,
    stdout: &OutputReader,
) -> Option<ChildEnd> {
    let limits = policy.limits;
    let (mut look, mut number) = (MIN_POLL, 0u32);
    while !owned.has_ended() {
        if begin.elapsed() > limits.wall {
            return Some(ChildEnd::Time(limits.wall));
        }
        if stdout.overflowed.load(Ordering::Relaxed) {
            return Some(ChildEnd::Output(limits.output_bytes));
        }
        thread::sleep(look);
        // A program has one process and writes no file.
        number = number.wrapping_add(1);
        let looks = Looks { at_folder: look == MAX_POLL, at_all: number.is_multiple_of(LOOKS) };
        if policy.kind != Kind::Program
            && let Some(ended) = tree::exceeded(owned.group(), policy, looks)
        {
            return Some(ended);
        }
        look = (look * 2).min(MAX_POLL);
    }
    None
}

#[cfg(unix)]
fn explained(status: ExitStatus, cpu: Duration, limits: Limits) -> ChildEnd {
    use rustix::process::Signal;
    use std::os::unix::process::ExitStatusExt;

    // A child may send itself this signal, so its processor time must be near the limit. It may lie
    // below, because the kernel enforces the limit by a coarser clock than the one it reports.
    let spent = cpu * 5 >= limits.cpu * 4 || !cfg!(target_os = "linux");
    match (status.code(), status.signal().unwrap_or(0)) {
        (Some(code), _) => ChildEnd::Exited(code),
        // A child that ignores the first signal of the limit gets the second.
        (None, signal)
            if spent && [Signal::XCPU.as_raw(), Signal::KILL.as_raw()].contains(&signal) =>
        {
            ChildEnd::Cpu(limits.cpu)
        }
        (None, signal) if signal == Signal::XFSZ.as_raw() => ChildEnd::File(limits.file_bytes),
        (None, signal) => ChildEnd::Signal(signal),
    }
}

#[cfg(not(unix))]
fn explained(status: ExitStatus, _: Duration, _: Limits) -> ChildEnd {
    ChildEnd::Exited(status.code().unwrap_or(-1))
}

/// A thread that reads the bytes of a pipe, or the reason why it can't.
struct OutputReader {
    bytes: Arc<Mutex<std::io::Result<Vec<u8>>>>,
    overflowed: Arc<AtomicBool>,
    /// Closes when the pipe has ended.
    ended: Receiver<()>,
}

impl OutputReader {
    /// Keeps the first `most` bytes; then stops, or reads on and drops further bytes.
    fn of(
        pipe: Option<impl Read + Send + 'static>,
        most: usize,
        stops: bool,
    ) -> std::io::Result<Self> {
        let bytes = Arc::new(Mutex::new(Ok(Vec::new())));
        let overflowed = Arc::new(AtomicBool::new(false));
        let (open, ended) = channel();
        let all = Self { bytes: Arc::clone(&bytes), overflowed: Arc::clone(&overflowed), ended };
        thread::Builder::new().spawn(move || {
            let _open = open;
            let Some(pipe) = pipe else { return };
            let mut pipe = Patient::new(pipe);
            let mut buffer = [0; 16 << 10];
            loop {
                let read = pipe.read(&mut buffer);
                let mut all = bytes.lock().unwrap_or_else(PoisonError::into_inner);
                match (read, &mut *all) {
                    (Ok(count @ 1..), Ok(all)) => {
                        let room = most - all.len();
                        all.extend_from_slice(&buffer[..count.min(room)]);
                        if count > room {
                            overflowed.store(true, Ordering::Relaxed);
                            if stops {
                                return;
                            }
                        }
                    }
                    (Err(error), all) => {
                        *all = Err(error);
                        return;
                    }
                    _ => return,
                }
            }
        })?;
        Ok(all)
    }

    /// Returns the bytes, and whether they are complete.
    fn take(&self) -> std::io::Result<(Vec<u8>, bool)> {
        // The channel never has a message: the wait ends with the pipe, or at the time limit.
        let _ = self.ended.recv_timeout(DRAIN_TIMEOUT);
        let mut bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = std::mem::replace(&mut *bytes, Ok(Vec::new()))?;
        Ok((bytes, !self.overflowed.load(Ordering::Relaxed)))
    }
}
