//! Attacks on the sandbox, by programs and by texts for compilers: each is refused, or ended within
//! its limit with a sentence. On a kernel without Landlock or seccomp the tests print which attacks
//! remain possible.

mod compiler;
#[cfg(target_os = "linux")]
mod corpus;
mod ending;
#[cfg(target_os = "linux")]
mod interpreter;
mod program;

use std::path::{Path, PathBuf};
use std::time::Duration;

use gbxcule_sandbox::{Limits, Outcome, Policy, Protection, run};
use tempfile::TempDir;

/// Times that are short, but longer than a busy machine takes to start a process.
const LIMITS: Limits = Limits {
    wall: Duration::from_secs(120),
    cpu: Duration::from_secs(1),
    memory_bytes: 256 << 20,
    output_bytes: 1 << 16,
    ..Limits::PROGRAM
};

/// Folder with a program of attacks in it.
struct Hostile {
    folder: TempDir,
}

impl Hostile {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let source = folder.path().join("hostile.c");
        std::fs::write(&source, include_str!("hostile.c")).expect("a file");
        let this = Self { folder };
        let compiled = compile("cc", &source, this.folder.path());
        assert!(compiled.ended.is_success(), "{compiled:?}");
        this
    }

    fn attack(&self, arguments: &[&str]) -> Outcome {
        self.within(LIMITS, arguments)
    }

    fn within(&self, limits: Limits, arguments: &[&str]) -> Outcome {
        let policy = Policy::program(self.folder.path()).within(limits);
        run(&self.folder.path().join("program"), arguments, &policy).expect("it starts")
    }

    fn says(&self, arguments: &[&str]) -> String {
        let outcome = self.attack(arguments);
        assert!(outcome.ended.is_success(), "{arguments:?}: {outcome:?}");
        String::from_utf8_lossy(&outcome.stdout).trim().to_owned()
    }
}

fn compile(compiler: &str, source: &Path, folder: &Path) -> Outcome {
    compile_within(Limits::COMPILER, compiler, source, folder)
}

fn compile_within(limits: Limits, compiler: &str, source: &Path, folder: &Path) -> Outcome {
    let program = folder.join("program");
    let arguments: [PathBuf; 4] = ["-w".into(), source.into(), "-o".into(), program.clone()];
    let policy = Policy::compiler(Path::new(compiler), folder).within(limits);
    let compiled = run(Path::new(compiler), &arguments, &policy).expect("a compiler");
    if compiled.ended.is_success() {
        gbxcule_files::allow_execution(&program).expect("a program");
    }
    compiled
}

/// Returns true if this machine has all protections, as CI must have; prints the missing ones
/// otherwise.
fn whole() -> bool {
    let here = Protection::here();
    if !here.is_whole() {
        eprintln!("{here}");
    }
    here.is_whole()
}
