//! The kernels of `kernels.py`, and one with a view that the dialect would have clamped.

use gbxcule_front_warp::Program;
use gbxcule_ir::check::{self, Valid};
use gbxcule_ir::source::SourceMap;
use gbxcule_ir::{Builder, Module, Param, Selector, Type};
use gbxcule_runtime::{Build, Device, Kernel, compile};

/// Returns the module with all kernels of the tests.
pub(crate) fn module() -> Valid<Module> {
    let mut sources = SourceMap::new();
    let id = sources.add("kernels.py", include_str!("kernels.py"));
    let program = Program::parse(&sources, id).expect("Python");
    let mut module = program.compile("kernels").unwrap_or_else(|faults| panic!("{faults:#?}"));
    fault_view(&mut module);
    check::module(module).expect("valid")
}

/// Adds a kernel that takes a view of four elements of `a` from `n` on.
fn fault_view(module: &mut Module) {
    let array = module.types.array(Type::F32, 1);
    let params = vec![Param::value("a", array), Param::value("n", Type::I32)];
    let id = module.declare_kernel("fault_view", params);
    let mut b = Builder::new(module, id);
    let (a, start, len, step) = (b.arg(0), b.arg(1), b.i32(4), b.i32(1));
    let part = b.view(a, &[Selector::Range { start, len, step }]);
    let (part, first, value) = (b.array_place(part), b.i32(0), b.f32(1.0));
    let cell = b.element(part, &[first]);
    b.store(cell, value);
    b.finish();
}

/// Compiles a kernel of the module with checks.
pub(crate) fn kernel(device: Device, name: &str) -> Kernel {
    let compiled = compile(&module(), device, Build::default());
    let compiled = compiled.unwrap_or_else(|error| panic!("{error}"));
    compiled.kernel(name).expect("it is there")
}
