//! Text of reverse kernels: an adjoint is named after its value, and stands below the line of that
//! value.

use gbxcule_back_cxx::{self as cxx, Dialect, Options};
use gbxcule_front_warp::Program;
use gbxcule_ir::check;
use gbxcule_ir::source::SourceMap;
use gbxcule_passes::grad::reverses;

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

const STENCIL: &str = "\
import warp as wp

@wp.kernel
def step(u: wp.array2d(dtype=float), out: wp.array2d(dtype=float), c: float):
    i, j = wp.tid()
    n = u.shape[0]
    if i > 0 and j > 0 and i < n - 1 and j < u.shape[1] - 1:
        around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4.0 * u[i, j]
        out[i, j] = u[i, j] + c * around
";

#[test]
fn a_gradient_has_one_handle_and_neighbours_one_test() {
    let mut sources = SourceMap::new();
    let id = sources.add("step.py", STENCIL);
    let module = Program::parse(&sources, id)
        .and_then(|program| program.compile("step"))
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
    let text = cxx::write(&module, &options).source;
    let count = |what: &str| text.matches(what).count();
    assert_eq!((count("gbx::gradient(u)"), count("gbx::gradient(out)")), (1, 1), "{text}");
    assert_eq!((count("adj_u.data != nullptr"), count("atomic_add(adj_u")), (1, 6), "{text}");
    // A literal factor is never infinite.
    assert_eq!((count("* 4.0f"), count("chain(")), (1, 2), "{text}");
    // `n - 1` stands in the quoted line and in the condition.
    assert_eq!((count("n - 1"), count("// 7: if")), (2, 1), "{text}");
}
