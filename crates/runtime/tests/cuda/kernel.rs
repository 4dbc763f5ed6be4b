//! The kernels of `kernels.py`.

use gbxcule_kernel::check::{self, Valid};
use gbxcule_kernel::front::python::Program;
use gbxcule_kernel::ir::Module;
use gbxcule_kernel::source::SourceMap;
use gbxcule_runtime::{Build, Device, Kernel, compile};

/// All of them.
pub(crate) fn module() -> Valid<Module> {
    let mut sources = SourceMap::new();
    let id = sources.add("kernels.py", include_str!("kernels.py"));
    let program = Program::parse(&sources, id).expect("Python");
    let module = program.compile("kernels").unwrap_or_else(|faults| panic!("{faults:#?}"));
    check::module(module).expect("valid")
}

/// One of them, checked.
pub(crate) fn kernel(device: Device, name: &str) -> Kernel {
    let compiled = compile(&module(), device, Build::default());
    let compiled = compiled.unwrap_or_else(|error| panic!("{error}"));
    compiled.kernel(name).expect("it is there")
}
