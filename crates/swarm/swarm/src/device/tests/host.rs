//! The text of a step as a program for the host.

use std::path::{Path, PathBuf};
use std::process::Command;

use gbxcule_back_cxx::{
    self as cxx, Dialect, HEADER, HEADER_NAME, HOST_CUDA, HOST_CUDA_NAME, Options,
};
use gbxcule_ir::Module;
use gbxcule_ir::abi::Checks;
use tempfile::TempDir;

use crate::device::column::Columns;
use crate::device::machine_ir::machine_type;
use crate::device::step_module;
use crate::{Model, Programs, Stage};

/// Reads a job, runs it, writes what is asked for.
const MAIN: &str = include_str!("main.cpp");

pub(super) struct Program {
    folder: TempDir,
    pub(super) columns: Columns,
}

impl Program {
    /// Compiles the step of a stage for a model.
    pub(super) fn new(stage: Stage, model: Model, checks: Checks) -> Self {
        let module = step_module(&Programs::default(), stage, model);
        let columns = Columns::new(&module.types, machine_type(&module));
        let folder = build(&module, "step", checks);
        Self { folder, columns }
    }

    /// Runs a job and returns its results.
    pub(super) fn run(&self, job: &[u8]) -> Vec<u8> {
        run(self.folder.path(), job)
    }
}

fn build(module: &gbxcule_ir::check::Valid<Module>, kernel: &str, checks: Checks) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let kernel = module.find(kernel);
    let text = cxx::write(module, &Options { kernel, checks, ..Options::new(Dialect::Cuda) });
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text);
    for (name, text) in [(HEADER_NAME, HEADER), (HOST_CUDA_NAME, HOST_CUDA), ("main.cpp", MAIN)] {
        write(name, text).expect("a file");
    }
    write("step.h", &cxx::on_host(&text)).expect("a file");
    compile(folder.path());
    folder
}

/// Compiles with the host's C++ compiler: `CXX`, else `c++`.
fn compile(folder: &Path) {
    let compiler = std::env::var_os("CXX").unwrap_or("c++".into());
    let run = Command::new(&compiler)
        .args(["-std=c++17", "-O1", "-ffp-contract=off", "main.cpp", "-o", "main"])
        .current_dir(folder)
        .output();
    let run =
        run.unwrap_or_else(|error| panic!("this needs a C++ compiler ({compiler:?}): {error}"));
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}

fn run(folder: &Path, job: &[u8]) -> Vec<u8> {
    let [program, input, output]: [PathBuf; 3] =
        ["main", "job", "result"].map(|it| folder.join(it));
    std::fs::write(&input, job).expect("a file");
    let run = Command::new(program).args([&input, &output]).output().expect("the program starts");
    assert!(run.status.success(), "{:?} {}", run.status, String::from_utf8_lossy(&run.stderr));
    std::fs::read(&output).expect("the program wrote its results")
}
