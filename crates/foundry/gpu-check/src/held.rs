//! Processes of NVIDIA's disassembler that are held when their tables are built: each answer then
//! costs a fork and the disassembly of its own code, not the tables, which take most of a run.
//!
//! They run in the sandbox, and a child of each reads one code. If a disassembler can't be held
//! (it is linked statically, or opens its file in another way), callers run it as it is.

use gbxcule_files::{TemporaryFolder, write_scratch};
use gbxcule_sandbox::{ChildGroup, Limits, Policy};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Source of the library that holds a process.
pub(crate) const LIBRARY: &str = include_str!("held.cpp");
/// Limits of a process, which serves one grader, and of each of its children.
const LIMITS: Limits = Limits {
    wall: Duration::from_secs(24 * 3600),
    cpu: Duration::from_secs(60),
    memory_bytes: 1 << 30,
    file_bytes: 0,
    written_bytes: 0,
    ..Limits::COMPILER
};
/// Greatest number of bytes of a listing.
const MAX_LISTING_BYTES: usize = 32 << 20;
/// Code that each new process must disassemble: `EXIT`, as an assembler encodes it.
const PROBE: [u8; 16] = [0x4d, 0x79, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x03, 0, 0xea, 0x0f, 0];

/// Held processes, as many as threads ask at once.
#[derive(Debug)]
pub(crate) struct HeldDisassemblers {
    program: PathBuf,
    library: PathBuf,
    folder: PathBuf,
    arch: String,
    idle: Mutex<Vec<Held>>,
}

#[derive(Debug)]
struct Held {
    folder: TemporaryFolder,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    _group: ChildGroup,
}

impl HeldDisassemblers {
    /// Starts the first process; `None` if it can't be held.
    pub(crate) fn find(program: &Path, library: &Path, folder: &Path, arch: &str) -> Option<Self> {
        let (program, library, folder) = (program.into(), library.into(), folder.into());
        let all = Self { program, library, folder, arch: arch.into(), idle: Mutex::default() };
        all.disassembled(&PROBE).filter(|text| text.contains("EXIT")).map(|_| all)
    }

    /// Disassembles the code of one section.
    pub(crate) fn disassembled(&self, code: &[u8]) -> Option<String> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let held = idle().pop();
        let mut held = held.or_else(|| self.start())?;
        // A process that failed once is dropped, and ends.
        let text = held.disassembled(code)?;
        idle().push(held);
        Some(text)
    }

    fn start(&self) -> Option<Held> {
        let folder = TemporaryFolder::inside(&self.folder).ok()?;
        write_scratch(&folder.path().join("code.bin"), &PROBE).ok()?;
        let policy = Policy::compiler(&self.program, folder.path());
        let policy = policy.reading([self.library.clone()]).within(LIMITS);
        let mut command = gbxcule_sandbox::command(&self.program, &policy).ok()?;
        command.args(["-ndf", "-b", &self.arch, "code.bin"]).env("LD_PRELOAD", &self.library);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut group = ChildGroup::spawn(&mut command).ok()?;
        let (input, output) = (group.child().stdin.take()?, group.child().stdout.take()?);
        Some(Held { folder, input, output: BufReader::new(output), _group: group })
    }
}

impl Held {
    fn disassembled(&mut self, code: &[u8]) -> Option<String> {
        write_scratch(&self.folder.path().join("code.bin"), code).ok()?;
        self.input.write_all(b"\n").ok()?;
        let mut head = String::new();
        self.output.read_line(&mut head).ok()?;
        let (status, length) = head.trim_end().split_once(' ')?;
        let length: usize = length.parse().ok().filter(|it| *it <= MAX_LISTING_BYTES)?;
        let mut text = vec![0; length];
        self.output.read_exact(&mut text).ok()?;
        let text = String::from_utf8(text).ok()?;
        (status == "0").then_some(text)
    }
}
