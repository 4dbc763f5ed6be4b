//! Results of functions that are tuples with tuples in them.

use gbxcule_front_warp::Program;
use gbxcule_interp::{Array, Interpreter};
use gbxcule_ir::Module;
use gbxcule_ir::check::{self, Valid};
use gbxcule_ir::diagnostic::Diagnostic;
use gbxcule_ir::source::SourceMap;

fn compile(text: &str) -> Result<Valid<Module>, Vec<Diagnostic>> {
    let mut sources = SourceMap::new();
    let id = sources.add("tuple.py", format!("import warp as wp\n{text}"));
    Program::parse(&sources, id).and_then(|program| check::module(program.compile("tuple")?))
}

/// A function whose result is a tuple with a tuple in it, and functions that pass parts on.
const NESTED: &str = "
from typing import Tuple
@wp.func
def f(a: int) -> Tuple[int, Tuple[int, wp.vec2i]]:
    if a < 0:
        return -1, (4, wp.vec2i(a))
    return 7, (a * 2, wp.vec2i(1, a))
@wp.func
def h(a: int):
    n, w = f(a)
    return (n, w), w
@wp.func
def weigh(w: Tuple[int, wp.vec2i]):
    return w[0] + w[1][1]
";

#[test]
fn results_have_tuples_in_tuples() {
    let kernel = "
@wp.kernel
def k(x: wp.array(dtype=int)):
    i = wp.tid()
    n, w = f(x[i])
    r, v = w
    pair, z = h(x[i])
    x[i] = n + 10 * r + 100 * v[0] + 1000 * z[0] + 10000 * pair[1][0] + 100000 * weigh(w)
";
    let of = |a: i32| {
        let (n, (r, v)) = if a < 0 { (-1, (4, [a, a])) } else { (7, (a * 2, [1, a])) };
        n + 10 * r + 100 * v[0] + 11000 * r + 100000 * (r + v[1])
    };
    let module = compile(&format!("{NESTED}{kernel}")).expect("it compiles");
    let kernel = module.kernels().next().expect("a kernel").0;
    let mut interpreter = Interpreter::new(&module);
    let buffer = interpreter.memory.add_slice(&[1, -1, 3]);
    let array = Array::dense(buffer, 4, &[3]);
    interpreter.launch(kernel, &[3], &[array.into()]).expect("nothing goes wrong");
    assert_eq!(interpreter.memory.read::<i32>(buffer), [of(1), of(-1), of(3)]);
}

#[test]
fn results_of_a_function_nest_their_tuples_in_one_way() {
    for other in ["return (a, a), a, a", "return a, a, a", "return a, (a, a, a)"] {
        let text = format!(
            "@wp.func\ndef f(a: int):\n    if a == 0:\n        {other}\n    \
             return a, (a, a)\n@wp.kernel\ndef k(x: wp.array(dtype=int)):\n    x[0] = f(1)[0]\n"
        );
        let faults = compile(&text).expect_err("refused");
        assert_eq!(faults[0].code, "type-mismatch", "{other}");
    }
}
