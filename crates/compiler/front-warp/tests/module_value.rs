//! Values that a module makes before its kernels run: vectors, tables of NumPy, decorators,
//! kernels that methods and functions make. Expected numbers are those of NVIDIA Warp 1.19 and of
//! NumPy.

use gbxcule_front_warp::Program;
use gbxcule_interp::{Array, Interpreter};
use gbxcule_ir::Module;
use gbxcule_ir::check::{self, Valid};
use gbxcule_ir::diagnostic::render;
use gbxcule_ir::source::SourceMap;

const HEAD: &str = "import functools\nimport math\nimport numpy as np\nimport warp as wp\n";

/// A kernel's lines behind `@wp.kernel` or another decorator.
const STEP: &str = "def step(x: wp.array(dtype=float)):\n    x[0] = x[0] + 1.0\n";

fn compile(text: &str) -> Result<Valid<Module>, String> {
    let mut sources = SourceMap::new();
    let id = sources.add("value.py", format!("{HEAD}{text}"));
    let module =
        Program::parse(&sources, id).and_then(|program| check::module(program.compile("value")?));
    module.map_err(|faults| render(&faults, &sources))
}

/// Three numbers as each kernel of a text leaves them.
fn results(text: &str) -> Vec<[f32; 3]> {
    let module = compile(text).unwrap_or_else(|message| panic!("{text}\n{message}"));
    let kernels = module.kernels().map(|(kernel, _)| {
        let mut interpreter = Interpreter::new(&module);
        let buffer = interpreter.memory.add_slice(&[0.0f32; 3]);
        let array = Array::dense(buffer, 4, &[3]);
        interpreter.launch(kernel, &[1], &[array.into()]).expect("it runs");
        let numbers: Vec<f32> = interpreter.memory.read(buffer);
        numbers.try_into().expect("three numbers")
    });
    kernels.collect()
}

/// Vectors that modules make, and their components.
const VECTORS: &[(&str, [f32; 3])] = &[
    ("wp.vec3(0.0, -9.8, 2.0)", [0.0, -9.8, 2.0]),
    ("wp.vec3(*[0.5, 1.0, 1.5])", [0.5, 1.0, 1.5]),
    ("wp.vec3(2.0)", [2.0, 2.0, 2.0]),
];

#[test]
fn vectors_of_a_module_are_those_of_warp() {
    for (expression, expected) in VECTORS {
        let text = format!(
            "V = {expression}\n@wp.kernel\ndef k(x: wp.array(dtype=float)):\n    \
             for i in range(3):\n        x[i] = V[i]\n"
        );
        assert_eq!(results(&text), [*expected], "{expression}");
    }
}

/// Numbers of NumPy's types and of enumerations, in kernels that Warp takes.
const LIMITS: &[(&str, f32)] = &[
    ("float(np.finfo(np.float32).eps)", f32::EPSILON),
    ("wp.float32(np.finfo(np.float32).max)", f32::MAX),
    ("wp.float32(np.finfo(np.float32).tiny)", f32::MIN_POSITIVE),
    ("float(np.finfo(np.float64).eps)", f64::EPSILON as f32),
    ("int(np.iinfo(np.int32).max) - 1", (i32::MAX - 1) as f32),
    ("int(np.iinfo(np.int16).min)", -32768.0),
    ("int(np.iinfo(np.uint8).max) + int(np.iinfo(np.uint8).min)", 255.0),
    ("Task.HOME.value", 7.0),
];

#[test]
fn limits_of_number_types_and_values_of_enumerations_are_known() {
    for (expression, expected) in LIMITS {
        let text = format!(
            "import enum\nclass Task(enum.Enum):\n    HOME = 7\nN = {expression}\n\
             @wp.kernel\ndef k(x: wp.array(dtype=float)):\n    x[0] = float(N)\n    x[1] = float(Task.HOME.value)\n"
        );
        assert_eq!(results(&text), [[*expected, 7.0, 0.0]], "{expression}");
    }
}

#[test]
fn a_module_computes_no_vectors_arrays_or_objects() {
    for expression in [
        "wp.vec3(1.0) * 2.0",
        "-wp.vec3(1.0)",
        "wp.normalize(wp.vec3(1.0))",
        "wp.sin(1.0)",
        "np.eye(3)[0]",
        "np.iinfo(np.int128).max",
        "np.finfo(np.float32).name",
        "list(map(lambda i: i, [1]))",
        "[f'{1}']",
        "{1, 2}",
        "types.SimpleNamespace(n=[1]).n",
    ] {
        let text = format!(
            "import types\nV = {expression}\n@wp.kernel\ndef k(x: wp.array(dtype=float)):\n    x[0] = float(V[0])\n"
        );
        let message = compile(&text).expect_err(expression);
        assert!(message.contains("needs-python-evaluation"), "{message}");
        assert!(!message.contains("panicked"), "{message}");
    }
}

#[test]
fn a_decorator_is_followed_to_what_it_makes() {
    for decorator in [
        "kern = wp.kernel\n@kern\n",
        "ALL = {}\ndef kern(f):\n    k = wp.kernel(f)\n    ALL[f.__name__] = k\n    return k\n@kern\n",
        "def kern(f):\n    return wp.kernel(enable_backward=False)(f)\n@kern\n",
        "def kern(f):\n    made = wp.kernel(f)\n    def run(n, *x):\n        \
         wp.launch(made, n, [*x])\n    return run\n@kern\n",
    ] {
        assert_eq!(results(&format!("{decorator}{STEP}")), [[1.0, 0.0, 0.0]], "{decorator}");
    }
    for call in [
        "make = wp.kernel\nk = make(step)\n",
        "def make(f):\n    return wp.kernel(f)\nk = make(step)\n",
    ] {
        assert_eq!(results(&format!("{STEP}{call}")), [[1.0, 0.0, 0.0]], "{call}");
    }
}

#[test]
fn a_function_that_looks_like_a_kernel_and_is_none_is_named() {
    let warnings = |text: &str| {
        let mut sources = SourceMap::new();
        let id = sources.add("value.py", format!("{HEAD}{text}"));
        let program = Program::parse(&sources, id).expect("it is Python");
        assert!(program.reader().kernels().is_empty(), "{text}");
        render(&program.reader().undecided(&[]), &sources)
    };
    let warning = warnings(&format!("import tools\n@tools.kernel\n{STEP}"));
    assert!(warning.contains("`step` isn't a kernel here: only Python knows"), "{warning}");
    assert!(warning.contains("write `@wp.kernel` over it"), "{warning}");
    let warning = warnings(&format!("@warp.kernel\n{STEP}"));
    assert!(warning.contains("`warp` isn't defined"), "{warning}");
    let warning = warnings("def step(x: wp.array(dtype=float)):\n    x[wp.tid()] = 1.0\n");
    assert!(warning.contains("`step` calls `wp.tid()`, but isn't a kernel"), "{warning}");
    for quiet in [
        "def run(x: wp.array(dtype=float)):\n    return x.numpy()\n",
        "@functools.cache\ndef run(x: wp.array(dtype=float)):\n    return x\n",
    ] {
        assert_eq!(warnings(quiet), "", "{quiet}");
    }
}

#[test]
fn kernels_of_functions_in_functions_know_the_arguments_of_both() {
    let text = "
def main(size):
    def build(by):
        @wp.kernel
        def k(x: wp.array(dtype=float)):
            x[0] = float(size * by)
        return k
    return build(2)

main(8)
";
    assert_eq!(results(text), [[16.0, 0.0, 0.0]]);
}

#[test]
fn refused_constructs_of_a_kernel_come_with_advice() {
    for (before, line, advice) in [
        ("T = [1.0, 2.0]\n", "x[0] = T[int(x[0])]", "pass the numbers as an array"),
        ("T = wp.zeros(3)\n", "x[0] = T[0]", "pass it as an argument of the launch"),
        ("", "if x is None:\n        x[0] = 1.0", "`if not x:` asks"),
        ("", "if x is not None:\n        x[0] = 1.0", "`if x:` asks"),
        ("", "v = wp.vec3(x[0]) * 2", "write `float32(..)`"),
        ("", "v = wp.vec3(x[0]) + 2.0", "written `vec3f(..)`"),
        ("", "x[0] = wp.vec3(1.0).length()", "write `wp.length(..)`"),
    ] {
        let text = format!("{before}@wp.kernel\ndef k(x: wp.array(dtype=float)):\n    {line}\n");
        let message = compile(&text).expect_err(line);
        assert!(message.contains(advice), "{line}: {message}");
    }
}

/// Numbers of modules by Python's own means, beside what Python says.
const NUMBERS: &[(&str, f32)] = &[
    ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    V = 2\nelse:\n    V = 1", 1.0),
    ("V = 1 if True is True and None is not False else 2", 1.0),
];

#[test]
fn numbers_of_a_module_are_those_of_python() {
    for (definition, expected) in NUMBERS {
        let text = format!(
            "{definition}\n@wp.kernel\ndef k_(x: wp.array(dtype=float)):\n    x[0] = float(V)\n"
        );
        assert_eq!(results(&text)[0][0], *expected, "{definition}");
    }
}

#[test]
fn texts_that_would_take_long_end_soon() {
    let mut wraps = String::from("def w0(f):\n    return f\n");
    for at in 1..9 {
        let calls = format!("    w{}(f)\n", at - 1).repeat(60);
        wraps += &format!("def w{at}(f):\n{calls}    return f\n");
    }
    let kernel = "@wp.kernel\ndef k(x: wp.array(dtype=float)):\n    x[0] = float(V)\n";
    let wrapped = format!("{wraps}@w8\n{STEP}V = 1\n{kernel}");
    assert_eq!(results(&wrapped).len(), 1);
    for refused in [
        "def f(x):\n    return f(x)\nV = f(1)\n",
        "V = [1 for a in [1] * 4000 for b in [1] * 4000 for c in [1] * 4000 if c > 1]\n",
    ] {
        assert!(compile(&format!("{refused}{kernel}")).is_err(), "{refused}");
    }
}
