//! Kernels of one module share the functions that they call.

use gbxcule_front_warp::Program;
use gbxcule_ir::check;
use gbxcule_ir::source::SourceMap;

/// Names of a module's functions, kernels included, sorted.
fn functions(text: &str) -> Vec<String> {
    let mut sources = SourceMap::new();
    let id = sources.add("shared.py", format!("import warp as wp\nfrom typing import Any\n{text}"));
    let lowered = Program::parse(&sources, id)
        .and_then(|program| check::module(program.reader().with_gradients().compile("shared")?));
    let module = lowered.unwrap_or_else(|faults| panic!("{faults:#?}"));
    let mut names: Vec<String> =
        module.functions.iter().map(|(_, function)| function.name.clone()).collect();
    names.sort();
    names
}

#[test]
fn a_function_that_two_kernels_call_is_lowered_once_for_each_list_of_types() {
    let names = functions(
        "
@wp.struct
class Pair:
    a: float
    b: float

@wp.func
def half(x: Any):
    return x / type(x)(2.0)

@wp.func
def mean(pair: Pair):
    return half(pair.a) + half(pair.b)

@wp.kernel
def first(pairs: wp.array(dtype=Pair), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = mean(pairs[i])

@wp.kernel
def second(pairs: wp.array(dtype=Pair), out: wp.array(dtype=wp.float64)):
    i = wp.tid()
    out[i] = wp.float64(mean(pairs[i])) + half(out[i])
",
    );
    assert_eq!(names, ["first", "half", "half", "mean", "second"]);
}

#[test]
fn kernels_of_two_calls_of_a_factory_share_only_what_does_not_use_its_arguments() {
    let names = functions(
        "
@wp.func
def twice(x: float):
    return x * 2.0

def make(factor: int):
    @wp.func
    def scale(x: float):
        return twice(x) * float(factor)

    @wp.kernel
    def scaled(out: wp.array(dtype=float)):
        out[wp.tid()] = scale(1.0)

    return scaled

three = make(3)
four = make(4)
",
    );
    assert_eq!(names, ["scale", "scale", "scaled", "scaled", "twice"]);
}

#[test]
fn a_gradient_by_hand_of_a_shared_function_is_lowered_once() {
    let names = functions(
        "
@wp.func
def square(x: float):
    return x * x

@wp.func_grad(square)
def adj_square(x: float, adj_ret: float):
    wp.adjoint[x] += 2.0 * x * adj_ret

@wp.kernel
def first(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    out[wp.tid()] = square(x[wp.tid()])

@wp.kernel
def second(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    out[wp.tid()] = wp.grad(square)(square(x[wp.tid()]))
",
    );
    assert_eq!(names.iter().filter(|name| *name == "adj_square").count(), 1);
    assert_eq!(names.iter().filter(|name| *name == "square").count(), 1);
}
