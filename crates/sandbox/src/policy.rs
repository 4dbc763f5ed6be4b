//! Rights and limits of a child.

use std::env;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Folders in which a system keeps the files that every program needs to start: the loader and
/// libraries.
const LIBRARIES: [&str; 8] = [
    "/lib",
    "/lib32",
    "/lib64",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/etc/ld.so.cache",
    "/nix/store",
];
/// What the system says of itself, and of no process, to an interpreter.
const SYSTEM: [&str; 8] = [
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/version",
    "/proc/sys/vm",
    "/sys/devices/system",
    "/dev/urandom",
    "/etc/localtime",
];
/// Folders with a compiler's parts, headers and libraries, beside the one in which it is installed.
const TOOLS: [&str; 10] = [
    "/bin",
    "/usr",
    "/opt",
    "/etc/alternatives",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/gnu/store",
    "/Applications/Xcode.app",
    "/Library/Developer",
    "/System",
];

/// Limits of a child. A child that exceeds one is ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Time on the clock, of the child and all that it starts.
    pub wall: Duration,
    /// Time on a core, of each process.
    pub cpu: Duration,
    /// Address space of each process.
    pub memory_bytes: u64,
    /// Length of each file that it writes; 0 for none.
    pub file_bytes: u64,
    /// Bytes that the child and all that it starts write to files together, within the accuracy of
    /// some looks a second.
    pub written_bytes: u64,
    /// Bytes of its standard output; more end it.
    pub output_bytes: usize,
    /// Bytes of its standard error that are kept, from the first, where compilers say what is
    /// wrong.
    pub error_bytes: usize,
    /// Files open at once.
    pub open_files: u64,
    /// Processes and threads at once, of the child and all that it starts.
    pub tasks: usize,
}

impl Limits {
    /// Limits of a compiler at work on texts of some thousand lines.
    pub const COMPILER: Self = Self {
        wall: Duration::from_secs(300),
        cpu: Duration::from_secs(60),
        memory_bytes: 4 << 30,
        file_bytes: 256 << 20,
        written_bytes: 512 << 20,
        output_bytes: 1 << 20,
        error_bytes: 64 << 10,
        open_files: 256,
        tasks: 64,
    };

    /// Limits of an interpreter that loads a compiler of its own and answers for an hour.
    pub const INTERPRETER: Self = Self {
        wall: Duration::from_secs(3600),
        cpu: Duration::from_secs(3600),
        memory_bytes: 32 << 30,
        file_bytes: 1 << 30,
        written_bytes: 4 << 30,
        output_bytes: usize::MAX,
        error_bytes: 64 << 10,
        open_files: 1024,
        tasks: 256,
    };

    /// Limits of a program that computes for a moment.
    pub const PROGRAM: Self = Self {
        wall: Duration::from_secs(120),
        cpu: Duration::from_secs(20),
        memory_bytes: 1 << 30,
        file_bytes: 0,
        written_bytes: 0,
        output_bytes: 64 << 20,
        error_bytes: 64 << 10,
        open_files: 64,
        tasks: 1,
    };
}

/// Kind of a child, by which its system calls are chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// It computes, and starts nothing.
    Program,
    /// It writes files and starts other programs.
    Compiler,
    /// It answers for a while, and may have threads.
    Interpreter,
}

/// Rights of a child: the files it may read, write and start. No policy has a network.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Policy {
    pub(crate) kind: Kind,
    pub(crate) limits: Limits,
    /// Files and folders to be read and executed, with all below them.
    pub(crate) read: Vec<PathBuf>,
    /// Folders, and devices, to be read and written.
    pub(crate) write: Vec<PathBuf>,
    /// The working folder, and its `HOME` and `TMPDIR`.
    pub(crate) folder: PathBuf,
    /// Variables that the child sees beside those of every policy.
    pub(crate) variables: Vec<&'static str>,
}

impl Policy {
    /// Policy of a compiler, given by name or path: it reads what is installed and its folder, and
    /// writes there.
    #[must_use]
    pub fn compiler(program: &Path, folder: &Path) -> Self {
        let mut read = paths(&LIBRARIES);
        read.extend(paths(&TOOLS));
        read.extend(prefixes(program));
        Self {
            kind: Kind::Compiler,
            limits: Limits::COMPILER,
            read,
            write: vec![folder.into(), "/dev/null".into()],
            folder: folder.into(),
            variables: vec!["LD_LIBRARY_PATH", "SDKROOT", "DEVELOPER_DIR"],
        }
    }

    /// Policy of a Python that runs foreign programs for a while: it reads what is installed, what
    /// the system says of itself, and `read`, such as the interpreter's folders; it writes in its
    /// folder.
    #[must_use]
    pub fn interpreter(folder: &Path, read: impl IntoIterator<Item = PathBuf>) -> Self {
        let mut known = paths(&LIBRARIES);
        known.extend(paths(&TOOLS));
        known.extend(paths(&SYSTEM));
        Self {
            kind: Kind::Interpreter,
            limits: Limits::INTERPRETER,
            read: known,
            write: vec![folder.into(), "/dev/null".into()],
            folder: folder.into(),
            variables: vec!["LD_LIBRARY_PATH"],
        }
        .reading(read)
    }

    /// Policy of a compiled program: it reads the system's libraries and its folder, writes nothing
    /// but its standard output, starts nothing.
    #[must_use]
    pub fn program(folder: &Path) -> Self {
        let mut read = paths(&LIBRARIES);
        read.push(folder.into());
        Self {
            kind: Kind::Program,
            limits: Limits::PROGRAM,
            read,
            write: vec!["/dev/null".into()],
            folder: folder.into(),
            variables: Vec::new(),
        }
    }

    /// Returns the policy with other limits.
    #[must_use]
    pub fn within(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Reads these, too.
    #[must_use]
    pub fn reading(mut self, paths: impl IntoIterator<Item = PathBuf>) -> Self {
        self.read.extend(paths);
        self
    }
}

fn paths(texts: &[&str]) -> Vec<PathBuf> {
    texts.iter().map(PathBuf::from).collect()
}

/// The folders in which a program is installed, `/opt/gcc` of `/opt/gcc/bin/g++`: by its name on
/// `PATH`, and behind links.
fn prefixes(program: &Path) -> Vec<PathBuf> {
    let named = find(program);
    let behind = named.as_ref().and_then(|path| path.canonicalize().ok());
    let of = |path: PathBuf| {
        let folder = path.parent()?;
        let above = folder.parent().filter(|_| folder.ends_with("bin"));
        Some(above.unwrap_or(folder).to_owned())
    };
    // A compiler in `/bin` doesn't open the whole disk.
    [named, behind]
        .into_iter()
        .flatten()
        .filter_map(of)
        .filter(|it| it.parent().is_some())
        .collect()
}

/// A program as a path.
pub(crate) fn find(program: &Path) -> Option<PathBuf> {
    if program.components().count() > 1 {
        // The child works in a folder of its own.
        return std::path::absolute(program).ok();
    }
    let variable = env::var_os("PATH")?;
    env::split_paths(&variable).map(|folder| folder.join(program)).find(|path| path.is_file())
}
