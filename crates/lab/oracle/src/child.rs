//! The caller's end of an oracle process. Each call ends within the caller's time limit
//! (`lab::backend::pyboy`, `rows::warp`), even if the child hangs.
//!
//! One thread writes, one reads frames, one keeps the tail of stderr; the caller only waits on a
//! channel with a time limit. A child that dies, hangs or prints anything but frames is killed, and
//! the call returns an error with the child's stderr. The child's descendants end with the child,
//! and all end with this process.

use std::io::{Read, Write};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use gbxcule_sandbox::{ChildGroup, Policy};
use serde_json::Value;

use crate::OracleError;

/// First bytes of every frame; the Python end is `gbxcule.oracle.framing`.
const MAGIC: [u8; 4] = *b"GBX1";
/// Version of the frames' contents: `PROTOCOL_VERSION` in `gbxcule/oracle/framing.py`.
const PROTOCOL_VERSION: u64 = 1;
const MAX_HEADER_BYTES: usize = 1 << 20;
const MAX_PAYLOAD_BYTES: usize = 1 << 28;
const STDERR_TAIL_BYTES: usize = 8 << 10;
/// Time within which a child that closed its stdout must exit, and the stderr of an exited child
/// must end. Both usually happen at once, unless the computer is busy or another process holds the
/// pipe.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);

/// Answer: a JSON header and bytes.
#[derive(Debug)]
pub struct Answer {
    /// JSON header.
    pub header: Value,
    /// Bytes after the header.
    pub payload: Vec<u8>,
}

/// Running oracle.
pub struct OracleChild {
    oracle: String,
    child: ChildGroup,
    requests: Sender<Vec<u8>>,
    answers: Receiver<Result<Answer, StreamError>>,
    stderr: Arc<Mutex<Vec<u8>>>,
    /// Channel that closes when the pipe has ended.
    stderr_ended: Receiver<()>,
    pending: Option<(String, Duration)>,
}

enum StreamError {
    Closed,
    Rubbish(String),
}

impl OracleChild {
    /// Starts `command` as the oracle called `oracle`.
    ///
    /// # Errors
    /// The program, or a thread that talks to it, cannot be started.
    pub fn start(oracle: &str, mut command: Command) -> Result<Self, OracleError> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let program = command.get_program().to_string_lossy().into_owned();
        let failed = |source| OracleError::Start { program: program.clone(), source };
        let mut owned = ChildGroup::spawn(&mut command).map_err(failed)?;
        let child = owned.child();
        let stderr = Arc::new(Mutex::new(Vec::new()));
        let (requests, outbox) = channel();
        let (inbox, answers) = channel();
        let (flowing, stderr_ended) = channel();
        if let (Some(stdin), Some(stdout), Some(pipe)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        {
            let tail = Arc::clone(&stderr);
            start_thread(move || {
                keep_tail(pipe, &tail);
                drop(flowing);
            })
            .and_then(|()| start_thread(move || write_requests(stdin, &outbox)))
            .and_then(|()| start_thread(move || read_answers(stdout, &inbox)))
            .map_err(failed)?;
        }
        let (oracle, pending) = (oracle.to_owned(), None);
        Ok(Self { oracle, child: owned, requests, answers, stderr, stderr_ended, pending })
    }

    /// Starts a confined `command`, and ends it if all its processes together exceed the policy.
    ///
    /// # Errors
    /// The program, or a thread, cannot be started.
    pub fn start_within(
        oracle: &str,
        command: Command,
        policy: &Policy,
    ) -> Result<Self, OracleError> {
        let program = command.get_program().to_string_lossy().into_owned();
        let this = Self::start(oracle, command)?;
        this.child.hold_to(policy).map_err(|source| OracleError::Start { program, source })?;
        Ok(this)
    }

    /// Sends a request and waits for the answer.
    ///
    /// # Errors
    /// The child died, hung, printed invalid frames or refused the request.
    pub fn call(
        &mut self,
        header: &Value,
        payload: &[u8],
        limit: Duration,
    ) -> Result<Answer, OracleError> {
        self.ask(header, payload, limit);
        self.answer()
    }

    /// Sends a request without waiting, so that several children can work at once.
    pub fn ask(&mut self, header: &Value, payload: &[u8], limit: Duration) {
        let command = header["command"].as_str().unwrap_or("?").to_owned();
        // If the writer is gone, so is the child, and the answer will report it.
        let _ = self.requests.send(frame(&header.to_string(), payload));
        self.pending = Some((command, limit));
    }

    /// Waits for the answer to the last request.
    ///
    /// # Errors
    /// The child died, hung, printed invalid frames or refused the request.
    pub fn answer(&mut self) -> Result<Answer, OracleError> {
        let (command, limit) = self.pending.take().unwrap_or_default();
        let oracle = self.oracle.clone();
        match self.answers.recv_timeout(limit) {
            Ok(Ok(answer)) if answer.header["ok"] == true => match answer.header.get("protocol") {
                Some(found) if *found != PROTOCOL_VERSION => {
                    let (found, expected) = (found.to_string(), PROTOCOL_VERSION);
                    Err(OracleError::OtherProtocol { oracle, found, expected })
                }
                _ => Ok(answer),
            },
            Ok(Ok(answer)) => {
                let message =
                    answer.header["error"].as_str().unwrap_or("no reason given").to_owned();
                Err(OracleError::Refused { oracle, command, message })
            }
            Ok(Err(StreamError::Rubbish(found))) => {
                let (_, stderr) = self.end();
                Err(OracleError::Rubbish { oracle, command, found, stderr })
            }
            Ok(Err(StreamError::Closed)) | Err(RecvTimeoutError::Disconnected) => {
                let (status, stderr) = self.exit_report();
                Err(OracleError::Died { oracle, command, status, stderr })
            }
            Err(RecvTimeoutError::Timeout) => {
                let (_, stderr) = self.end();
                Err(OracleError::Hung { oracle, command, limit, stderr })
            }
        }
    }

    /// Describes a child that closed its stdout. The child may exit by itself first, so that its
    /// own status is reported.
    fn exit_report(&mut self) -> (String, String) {
        let step = Duration::from_millis(10);
        for _ in 0..DRAIN_TIMEOUT.as_millis() / step.as_millis() {
            if self.child.has_ended() {
                break;
            }
            thread::sleep(step);
        }
        self.end()
    }

    fn end(&mut self) -> (String, String) {
        let ended = self.child.end();
        let status = match (self.child.exceeded(), ended) {
            (Some(limit), _) => format!("it {limit}"),
            (None, Ok(status)) => status.to_string(),
            (None, Err(error)) => error.to_string(),
        };
        // The channel never has a message: the wait ends when the pipe closes, or at the limit.
        let _ = self.stderr_ended.recv_timeout(DRAIN_TIMEOUT);
        let tail = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        (status, String::from_utf8_lossy(&tail).into_owned())
    }
}

fn frame(header: &str, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(12 + header.len() + payload.len());
    bytes.extend_from_slice(&MAGIC);
    for part in [header.as_bytes(), payload] {
        // A ROM is at most 8 MiB, so lengths fit 32 bits.
        bytes.extend_from_slice(&(part.len() as u32).to_le_bytes());
    }
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend_from_slice(payload);
    bytes
}

fn write_requests(mut stdin: ChildStdin, outbox: &Receiver<Vec<u8>>) {
    while let Ok(bytes) = outbox.recv() {
        if stdin.write_all(&bytes).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

fn read_answers(mut stdout: impl Read, inbox: &Sender<Result<Answer, StreamError>>) {
    loop {
        let answer = read_answer(&mut stdout);
        let last = answer.is_err();
        if inbox.send(answer).is_err() || last {
            return;
        }
    }
}

fn read_answer(stdout: &mut impl Read) -> Result<Answer, StreamError> {
    let mut prefix = [0; 12];
    let mut filled = 0;
    while filled < prefix.len() {
        match stdout.read(&mut prefix[filled..]) {
            Ok(0) | Err(_) if filled == 0 => return Err(StreamError::Closed),
            Ok(0) | Err(_) => return Err(StreamError::Rubbish(quote(&prefix[..filled]))),
            Ok(bytes) => filled += bytes,
        }
        // A stray print may be shorter than a prefix, so a wrong magic is reported as soon as it
        // can be seen.
        let seen = filled.min(MAGIC.len());
        if prefix[..seen] != MAGIC[..seen] {
            return Err(StreamError::Rubbish(quote(&prefix[..filled])));
        }
    }
    let length = |at: usize| {
        u32::from_le_bytes([prefix[at], prefix[at + 1], prefix[at + 2], prefix[at + 3]]) as usize
    };
    let (header_bytes, payload_bytes) = (length(4), length(8));
    if header_bytes > MAX_HEADER_BYTES || payload_bytes > MAX_PAYLOAD_BYTES {
        return Err(StreamError::Rubbish(format!(
            "a frame of {header_bytes} + {payload_bytes} bytes"
        )));
    }
    let mut header = vec![0; header_bytes];
    let mut payload = vec![0; payload_bytes];
    stdout.read_exact(&mut header).map_err(|_| StreamError::Closed)?;
    stdout.read_exact(&mut payload).map_err(|_| StreamError::Closed)?;
    match serde_json::from_slice(&header) {
        Ok(header) => Ok(Answer { header, payload }),
        Err(_) => Err(StreamError::Rubbish(quote(&header))),
    }
}

fn start_thread(work: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    thread::Builder::new().spawn(work).map(drop)
}

fn quote(bytes: &[u8]) -> String {
    format!("\"{}\"", String::from_utf8_lossy(bytes).escape_debug())
}

fn keep_tail(mut pipe: impl Read, tail: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 1024];
    while let Ok(bytes @ 1..) = pipe.read(&mut buffer) {
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.extend_from_slice(&buffer[..bytes]);
        let excess = tail.len().saturating_sub(STDERR_TAIL_BYTES);
        tail.drain(..excess);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shell(script: &str) -> OracleChild {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        OracleChild::start("test", command).expect("sh starts")
    }

    /// Time that is longer than a shell takes to start on a busy machine.
    const LONG: Duration = Duration::from_secs(60);

    fn hello(script: &str) -> OracleError {
        shell(script).call(&json!({"command": "hello"}), b"", LONG).expect_err("no oracle")
    }

    #[test]
    fn a_dying_child_is_an_error_with_its_stderr() {
        let message = hello("echo no module named pyboy >&2; exit 3").to_string();
        assert!(message.contains("ended during `hello` (exit status: 3)"), "{message}");
        assert!(message.contains("no module named pyboy"), "{message}");
    }

    #[test]
    fn a_hanging_child_is_an_error_within_the_limit() {
        let script =
            r#"echo thinking >&2; printf 'GBX1\013\0\0\0\0\0\0\0{"ok":true}'; exec sleep 600"#;
        let mut child = shell(script);
        child.call(&json!({"command": "load"}), b"", LONG).expect("the first answer");
        let limit = Duration::from_millis(300);
        let error = child.call(&json!({"command": "hello"}), b"", limit).expect_err("no answer");
        let message = error.to_string();
        assert!(message.contains("gave no answer to `hello` within 0.3 s"), "{message}");
        assert!(message.contains("thinking"), "{message}");
    }

    #[test]
    fn a_child_that_starts_more_than_its_policy_gives_is_ended_with_a_sentence() {
        let folder = tempfile::tempdir().expect("a folder");
        let policy = Policy::interpreter(folder.path(), []);
        let limits = gbxcule_sandbox::Limits { tasks: 8, ..gbxcule_sandbox::Limits::INTERPRETER };
        let policy = policy.within(limits);
        let mut command = gbxcule_sandbox::command("sh".as_ref(), &policy).expect("a sandbox");
        command.args(["-c", "for i in 1 2 3 4 5 6 7 8 9; do sleep 600 & done; wait"]);
        let mut child = OracleChild::start_within("test", command, &policy).expect("sh starts");
        let message = child.call(&json!({"command": "hello"}), b"", LONG).expect_err("no answer");
        if cfg!(target_os = "linux") {
            let message = message.to_string();
            assert!(message.contains("had more than 8 processes and threads"), "{message}");
        }
    }

    #[test]
    fn a_child_that_prints_rubbish_is_an_error_that_shows_it() {
        let message = hello("printf hi; exec sleep 600").to_string();
        assert!(message.contains("something else than a frame: \"hi\""), "{message}");
    }

    #[test]
    fn a_child_of_another_version_is_an_error_that_names_both() {
        let message =
            hello(r#"printf 'GBX1\030\0\0\0\0\0\0\0{"ok":true,"protocol":9}'; exec sleep 600"#);
        let message = message.to_string();
        assert!(message.contains("speaks protocol 9, this program protocol 1"), "{message}");
    }

    #[test]
    fn this_version_is_that_of_the_python_package() {
        let framing = include_str!("../../../../python/gbxcule/oracle/framing.py");
        assert!(framing.contains(&format!("\nPROTOCOL_VERSION = {PROTOCOL_VERSION}\n")));
    }

    #[test]
    fn a_frame_of_absurd_length_is_rubbish() {
        let message = hello(r"printf 'GBX1\377\377\377\377\0\0\0\0'; exec sleep 600").to_string();
        assert!(message.contains("a frame of 4294967295 + 0 bytes"), "{message}");
    }

    #[test]
    fn a_refusal_carries_the_reason() {
        let script = r#"printf 'GBX1\032\0\0\0\0\0\0\0{"ok":false,"error":"why"}'; exec sleep 600"#;
        assert!(hello(script).to_string().ends_with("refused `hello`: why"));
    }

    #[test]
    fn a_child_that_never_reads_cannot_block_the_caller() {
        let mut child = shell("exec sleep 600");
        let large = vec![0; 1 << 20];
        let error = child.call(&json!({"command": "load"}), &large, Duration::from_millis(300));
        assert!(matches!(error, Err(OracleError::Hung { .. })));
    }

    #[test]
    fn processes_that_a_child_started_end_with_it() {
        let script =
            r#"sleep 1000 & printf 'GBX1\037\0\0\0\0\0\0\0{"ok":true,"started":"%07d"}' $!; wait"#;
        let mut child = shell(script);
        let answer = child.call(&json!({"command": "hello"}), b"", LONG).expect("its number");
        let process =
            answer.header["started"].as_str().expect("a text").trim_start_matches('0').to_owned();
        drop(child);
        let runs = || {
            let state = Command::new("ps").args(["-o", "state=", "-p", &process]).output();
            let state = state.expect("ps runs").stdout;
            !state.is_empty() && state[0] != b'Z'
        };
        for _ in 0..1000 {
            if !runs() {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("process {process} still runs");
    }
}
