//! The kernel's CUDA text, compiled for the host behind `host_cuda.h` and run in blocks of threads.

use std::process::{Command, Output};

use gbxcule_back_cxx::{
    self as cxx, Dialect, HEADER, HEADER_NAME, HOST_CUDA, HOST_CUDA_NAME, Options,
};
use gbxcule_ir::Module;
use gbxcule_ir::check::Valid;

/// Runs all cases in one launch, and returns the cases after it.
pub(crate) fn run(module: &Valid<Module>, cases: &[u8], size: usize) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    let text = cxx::on_host(&cxx::write(module, &Options::new(Dialect::Cuda)));
    let files = [
        (HEADER_NAME, HEADER.as_bytes()),
        (HOST_CUDA_NAME, HOST_CUDA.as_bytes()),
        ("main.cpp", include_bytes!("main.cpp")),
        ("cases.h", text.as_bytes()),
        ("cases", cases),
    ];
    for (name, content) in files {
        std::fs::write(folder.path().join(name), content).expect("a file");
    }
    let compiler = std::env::var_os("CXX").unwrap_or("c++".into());
    let flags = ["-std=c++17", "-O1", "-ffp-contract=off", "main.cpp", "-o", "main"];
    let compiled = Command::new(&compiler).args(flags).current_dir(folder.path()).output();
    succeeded(&compiled.unwrap_or_else(|error| panic!("a C++ compiler ({compiler:?}): {error}")));
    let program = folder.path().join("main");
    let arguments = ["cases", &size.to_string(), "result"];
    let ran = Command::new(program).args(arguments).current_dir(folder.path()).output();
    succeeded(&ran.expect("the program starts"));
    std::fs::read(folder.path().join("result")).expect("the program wrote its result")
}

fn succeeded(run: &Output) {
    assert!(run.status.success(), "{} {}", run.status, String::from_utf8_lossy(&run.stderr));
}
