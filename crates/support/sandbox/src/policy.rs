//! Rights and limits of a child.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Folders in which a system keeps the files that every program needs to start: the loader and
/// libraries.
pub(crate) const LIBRARIES: [&str; 8] = [
    "/lib",
    "/lib32",
    "/lib64",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/etc/ld.so.cache",
    "/nix/store",
];
/// Files with which an interpreter learns about the system; they say nothing about processes.
pub(crate) const SYSTEM: [&str; 8] = [
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
pub(crate) const TOOLS: [&str; 10] = [
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
    /// Wall-clock time of the child and its descendants.
    pub wall: Duration,
    /// Processor time of each process.
    pub cpu: Duration,
    /// Address space of each process, and total memory of the child and its descendants, measured
    /// several times a second.
    pub memory_bytes: u64,
    /// Length of each written file; 0 if the child may not write files.
    pub file_bytes: u64,
    /// Total bytes that the child and its descendants write to files, measured several times a
    /// second.
    pub written_bytes: u64,
    /// Greatest number of bytes of its standard output.
    pub output_bytes: usize,
    /// Number of bytes of standard error that are kept: the first bytes, because compilers report
    /// the cause first.
    pub error_bytes: usize,
    /// Greatest number of files open at once.
    pub open_files: u64,
    /// Greatest number of simultaneous processes and threads of the child and its descendants.
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

    /// Limits of an interpreter that loads a compiler and answers requests for an hour.
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

    /// Limits of a program that computes for a short time.
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
    /// Child that computes and starts no process.
    Program,
    /// Child that writes files and starts other programs.
    Compiler,
    /// Child that answers requests for a while and may have threads.
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
    /// Variables that the child sees in addition to those of every policy.
    pub(crate) variables: Vec<&'static str>,
}

/// Returns the name or path of the host's C++ compiler: the value of `CXX`, else `c++`.
#[must_use]
pub fn host_compiler() -> OsString {
    env::var_os("CXX").unwrap_or_else(|| "c++".into())
}

impl Policy {
    /// Returns the policy of a compiler, given by name or path: it reads installed files and its
    /// folder, and writes in its folder.
    #[must_use]
    pub fn compiler(program: &Path, folder: &Path) -> Self {
        let mut read = paths(&LIBRARIES);
        read.extend(paths(&TOOLS));
        read.extend(parts(program));
        Self {
            kind: Kind::Compiler,
            limits: Limits::COMPILER,
            read,
            write: vec![folder.into(), "/dev/null".into()],
            folder: folder.into(),
            variables: vec!["LD_LIBRARY_PATH", "SDKROOT", "DEVELOPER_DIR"],
        }
    }

    /// Returns the policy of a Python that runs foreign programs for a while: it reads installed
    /// files, the system's description of itself, and `read`, such as the interpreter's folders; it
    /// writes in its folder.
    #[must_use]
    pub fn interpreter(folder: &Path, read: impl IntoIterator<Item = PathBuf>) -> Self {
        let mut allowed = paths(&LIBRARIES);
        allowed.extend(paths(&TOOLS));
        allowed.extend(paths(&SYSTEM));
        Self {
            kind: Kind::Interpreter,
            limits: Limits::INTERPRETER,
            read: allowed,
            write: vec![folder.into(), "/dev/null".into()],
            folder: folder.into(),
            variables: vec!["LD_LIBRARY_PATH"],
        }
        .reading(read)
    }

    /// Returns the policy of a compiled program: it reads the system's libraries and its folder,
    /// writes only to standard output, and starts no process.
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

    /// Returns the policy with the right to read these files and folders, too.
    #[must_use]
    pub fn reading(mut self, paths: impl IntoIterator<Item = PathBuf>) -> Self {
        self.read.extend(paths);
        self
    }
}

fn paths(texts: &[&str]) -> Vec<PathBuf> {
    texts.iter().map(PathBuf::from).collect()
}

/// Folders beside a program's `bin` that hold its other parts, if it is installed outside of the
/// system's folders. A compiler also has `x86_64-linux-gnu` or its like there.
const PARTS: [&str; 9] =
    ["bin", "lib", "lib32", "lib64", "libexec", "include", "opt", "Cellar", "sysroot"];

/// Returns the files and folders of a program found on `PATH`, and of the target if it is a link.
/// For `~/gcc/bin/g++` these are the file, `~/gcc/lib` and similar folders, but not all of `~/gcc`;
/// for `~/bin/c++` and `~/c++` only the file, because the user's files lie beside it.
fn parts(program: &Path) -> Vec<PathBuf> {
    let named = find(program);
    let behind = named.as_ref().and_then(|path| path.canonicalize().ok());
    let home = env::home_dir().and_then(|home| home.canonicalize().ok());
    let of = |path: PathBuf| {
        let folder = path.parent().map(Path::to_owned).unwrap_or_default();
        let above = folder.parent().filter(|_| folder.ends_with("bin")).map(Path::to_owned);
        let prefix = above.unwrap_or(folder);
        let whole = prefix.canonicalize().unwrap_or_else(|_| prefix.clone());
        let is_above_home = home.as_ref().is_some_and(|home| home.starts_with(&whole));
        if is_above_home || prefix.parent().is_none() {
            return vec![path];
        }
        let target = format!("{}-", env::consts::ARCH);
        let is_part = |name: &str| PARTS.contains(&name) || name.starts_with(&target);
        let beside = std::fs::read_dir(&prefix).into_iter().flatten().flatten();
        let beside = beside.filter(|it| it.file_name().to_str().is_some_and(is_part));
        beside.map(|it| it.path()).chain([path.clone()]).collect()
    };
    [named, behind].into_iter().flatten().flat_map(of).collect()
}

/// Finds a program on `PATH`, and makes a relative path absolute, because the child works in
/// another folder.
pub(crate) fn find(program: &Path) -> Option<PathBuf> {
    if program.components().count() > 1 {
        return std::path::absolute(program).ok();
    }
    let variable = env::var_os("PATH")?;
    env::split_paths(&variable).map(|folder| folder.join(program)).find(|path| path.is_file())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_compiler_beside_files_of_the_users_opens_itself_and_its_parts_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let prefix = folder.path().canonicalize().expect("a folder").join("gcc");
        let target = format!("{}-linux-gnu", env::consts::ARCH);
        for part in ["bin", "lib", &target, "share", "secrets", "letters-to-a-friend"] {
            fs::create_dir_all(prefix.join(part)).expect("a folder");
        }
        let compiler = prefix.join("bin/c++");
        fs::write(&compiler, "").expect("a file");
        let read = Policy::compiler(&compiler, folder.path()).read;
        for part in ["bin", "lib", &target] {
            assert!(read.contains(&prefix.join(part)), "{read:?}");
        }
        for other in ["", "share", "secrets", "letters-to-a-friend"] {
            let other = prefix.join(other);
            assert!(!read.iter().any(|it| other.starts_with(it)), "{other:?}: {read:?}");
        }
    }

    #[test]
    fn a_compiler_in_the_home_folder_opens_its_file_alone() {
        let home = env::home_dir().expect("a home").canonicalize().expect("a folder");
        for compiler in [home.join("bin/no-such-c++"), home.join("no-such-c++")] {
            let read = parts(&compiler);
            assert!(read.iter().all(|it| *it == compiler), "{read:?}");
        }
    }
}
