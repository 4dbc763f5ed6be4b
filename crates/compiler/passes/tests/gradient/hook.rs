//! Gradients and replays written by hand in the dialect.

use gbxcule_front_warp::Program;
use gbxcule_interp::{Array, Interpreter};
use gbxcule_ir::check::{self, Valid};
use gbxcule_ir::diagnostic::{Diagnostic, render};
use gbxcule_ir::source::SourceMap;
use gbxcule_ir::{FunctionId, Module};
use gbxcule_passes::grad::reverses;

/// Returns the reverse of the only kernel of a text, or the rendered refusal.
pub(crate) fn reverse(text: &str) -> Result<(Valid<Module>, FunctionId), String> {
    let mut sources = SourceMap::new();
    let id = sources.add("kernel.py", format!("import warp as wp\n{text}"));
    let differentiated = |module: Module| -> Result<_, Vec<Diagnostic>> {
        let module = check::module(module)?;
        let kernel = module.kernels().next().expect("a kernel").0;
        let (module, kernels) = reverses(&module, &[kernel])?;
        Ok((check::module(module).expect("reverses are valid"), kernels[0]))
    };
    Program::parse(&sources, id)
        .and_then(|program| program.reader().with_gradients().compile("kernel"))
        .and_then(differentiated)
        .map_err(|faults| render(&faults, &sources))
}

/// Returns the gradients after a reverse launch over arrays of `f64`, each given with the gradients
/// before.
fn gradients(text: &str, threads: u32, arrays: &[(&[f64], &[f64])]) -> Vec<Vec<f64>> {
    let (module, kernel) = reverse(text).unwrap_or_else(|faults| panic!("{faults}"));
    let mut interpreter = Interpreter::new(&module);
    let mut args = Vec::new();
    let mut beside = Vec::new();
    for (data, gradient) in arrays {
        let (data, gradient) =
            (interpreter.memory.add_slice(data), interpreter.memory.add_slice(gradient));
        beside.push(gradient);
        args.push(
            Array::dense(data, 8, &[arrays[0].0.len() as u32]).with_gradient(gradient).into(),
        );
    }
    interpreter.launch(kernel, &[threads], &args).expect("it runs");
    beside.into_iter().map(|buffer| interpreter.memory.read(buffer)).collect()
}

/// Calls a function of two numbers with two results from another function, beside a function of a
/// struct that has the same name.
#[test]
fn gradients_by_hand_are_called_by_the_types_of_their_parameters() {
    let text = "
Real = wp.float64
Reals = wp.array(dtype=wp.float64)
@wp.struct
class Pair:
    a: wp.float64
    n: int
    v: wp.vec2d
@wp.func
def f(x: wp.float64, y: wp.float64):
    return x * y, y
@wp.func_grad(f)
def f_grad(x: wp.float64, y: wp.float64, adj_first: wp.float64, adj_second: wp.float64):
    wp.adjoint[x] += Real(10.0) * adj_first
    if x < Real(0.0):
        return
    wp.adjoint[y] += adj_second * x
@wp.func
def f(p: Pair):
    return p.a + p.v[1]
@wp.func_grad(f)
def f_grad_of_pair(p: Pair, adj: wp.float64):
    wp.adjoint[p.a] += adj * Real(2.0)
    wp.adjoint[p.v][0] += adj * p.v[1] * Real(p.n)
@wp.func
def outer(x: wp.float64, y: wp.float64):
    first, second = f(x, y)
    return Real(3.0) * first + second
@wp.kernel
def k(x: Reals, y: Reals, o: Reals):
    i = wp.tid()
    p = Pair()
    p.a = x[i]
    p.n = 7
    p.v = wp.vec2d(y[i], Real(0.5))
    o[i] = outer(x[i], y[i]) + f(p)
";
    let found = gradients(
        text,
        2,
        &[(&[2.0, -2.0], &[0.0; 2]), (&[5.0, 5.0], &[0.0; 2]), (&[0.0; 2], &[1.0; 2])],
    );
    // By x: 10 * 3, and 2 for the pair. By y: x where it isn't negative, and 0.5 * 7 for the pair.
    assert_eq!(found, [[32.0, 32.0], [5.5, 3.5], [0.0, 0.0]]);
}

/// The replay of a counter reads the number that each thread got, so that the reverse need not
/// count again.
#[test]
fn a_replay_stands_for_a_function_that_cannot_run_again() {
    let function = "
Reals = wp.array(dtype=wp.float64)
Counts = wp.array(dtype=wp.int64)
@wp.func
def count(counter: Counts, got: Counts, i: int):
    next = wp.atomic_add(counter, 0, wp.int64(1))
    got[i] = next
    return next
";
    let replay = "
@wp.func_replay(count)
def replay_count(counter: Counts, got: Counts, i: int):
    return got[i]
";
    let kernel = "
@wp.kernel
def k(x: Reals, o: Reals, counter: Counts, got: Counts):
    i = wp.tid()
    at = count(counter, got, i)
    o[at] = x[at] * x[at]
";
    let refused = reverse(&format!("{function}{kernel}")).expect_err("what it got is unknown");
    assert!(refused.contains("error[grad-atomic]"), "{refused}");
    let text = format!("{function}{replay}{kernel}");
    let got: Vec<f64> = [1u64, 0].into_iter().map(f64::from_bits).collect();
    let arrays: [(&[f64], &[f64]); 4] = [
        (&[3.0, 4.0], &[0.0; 2]),
        (&[9.0, 16.0], &[1.0, 10.0]),
        (&[0.0; 2], &[0.0; 2]),
        (&got, &[0.0; 2]),
    ];
    assert_eq!(gradients(&text, 2, &arrays)[0], [6.0, 80.0]);
}

#[test]
fn forward_compilation_does_not_look_at_hooks() {
    let text = "import warp as wp
@wp.func
def f(x: float):
    return x
@wp.func_grad(f)
def f_grad(x: float, adj: float):
    anything(at, all)
@wp.kernel
def k(x: wp.array(dtype=float)):
    x[0] = f(x[0])
";
    let mut sources = SourceMap::new();
    let id = sources.add("kernel.py", text);
    let program = Program::parse(&sources, id).expect("it parses");
    let module = program.compile("kernel").expect("the kernel is right");
    assert!(module.functions.iter().all(|(_, function)| function.adjoint.is_none()));
    assert!(program.reader().with_gradients().compile("kernel").is_err());
}
