//! The text of reverse kernels: adjoints keep the names of what they belong to, and stand under the
//! line they come from.

use gbxcule_codegen_cxx::{self as cxx, Dialect, Options};
use gbxcule_dialect::Program;
use gbxcule_ir::check;
use gbxcule_ir::source::SourceMap;
use gbxcule_transform::grad::reverses;

const TEXT: &str = "\
import warp as wp

@wp.kernel
def spring(x: wp.array(dtype=wp.vec3), rest: wp.array(dtype=float), energy: wp.array(dtype=float)):
    i = wp.tid()
    stretch = wp.length(x[i + 1] - x[i]) - rest[i]
    pull = float(0.0)
    if stretch > 0.0:
        pull = stretch * stretch
    wp.atomic_add(energy, 0, pull)
";

#[test]
fn adjoints_are_called_after_what_they_belong_to() {
    let mut sources = SourceMap::new();
    let id = sources.add("spring.py", TEXT);
    let module = Program::parse(&sources, id)
        .and_then(|program| program.compile("spring"))
        .and_then(check::module)
        .expect("right");
    let kernel = module.kernels().next().expect("a kernel").0;
    let (module, kernels) = reverses(&module, &[kernel]).expect("differentiable");
    let module = check::module(module).expect("valid");
    let options = Options {
        kernel: Some(kernels[0]),
        sources: Some(&sources),
        ..Options::new(Dialect::Cuda)
    };
    insta::assert_snapshot!(cxx::write(&module, &options).source);
}
