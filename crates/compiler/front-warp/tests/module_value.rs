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
    let module = compile(text).unwrap_or_else(|said| panic!("{text}\n{said}"));
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

/// Vectors that modules compute, and their components.
const VECTORS: &[(&str, [f32; 3])] = &[
    ("wp.vec3(0.0, -9.8, 0.0) * 2.0", [0.0, -19.6, 0.0]),
    ("0.1 * wp.vec3(1.0, 2.0, 3.0)", [0.1, 0.2, 0.3]),
    ("wp.vec3(1.0, 2.0, 3.0) + wp.vec3(0.5)", [1.5, 2.5, 3.5]),
    ("-wp.vec3(1.0, 2.0, 3.0) / 3.0", [-0.333_333_34, -0.666_666_7, -1.0]),
    ("wp.normalize(wp.vec3(1.0, 1.0, 0.0))", [0.707_106_77, 0.707_106_77, 0.0]),
    ("wp.cross(wp.vec3(1.0, 2.0, 0.0), wp.vec3(0.0, 1.0, 4.0))", [8.0, -4.0, 1.0]),
    ("wp.mat33(*range(1, 10)) @ wp.vec3(1.0, 2.0, 3.0)", [14.0, 32.0, 50.0]),
    ("wp.vec3(1.0, 2.0, 3.0) * wp.mat33(*range(1, 10))", [30.0, 36.0, 42.0]),
    (
        "wp.quat_rotate(wp.quat_from_axis_angle(axis=wp.vec3(0.0, 1.0, 0.0), angle=0.5), wp.vec3(1.0, 0.0, 0.0))",
        [0.877_582_55, 0.0, -0.479_425_55],
    ),
    (
        "wp.transform_point(wp.transform(p=wp.vec3(1.0, 2.0, 3.0), q=wp.quat_identity()), wp.vec3(1.0))",
        [2.0, 3.0, 4.0],
    ),
    (
        "wp.vec3(wp.sin(0.5), wp.length(wp.vec2(3.0, 4.0)), wp.max(1.0, 2.0))",
        [0.479_425_55, 5.0, 2.0],
    ),
    ("wp.mat33(wp.vec3(1.0), wp.vec3(4.0, 5.0, 6.0), wp.vec3(7.0))[1]", [4.0, 5.0, 6.0]),
    (
        "wp.vec3(wp.vec3(1.0, 2.0, 3.0).y, wp.vec4(1.0, 2.0, 3.0, 4.0)[-1], wp.mat22(1.0, 2.0, 3.0, 4.0)[1, 0])",
        [2.0, 4.0, 3.0],
    ),
    ("wp.transform(wp.vec3(1.0, 2.0, 3.0), wp.quat_identity()).p", [1.0, 2.0, 3.0]),
    ("wp.vec3(*(np.eye(3) * 2.0 + 1.0)[1])", [1.0, 3.0, 1.0]),
    ("wp.vec3(np.array([3.0, 4.0, 0.0]) / np.linalg.norm([3.0, 4.0, 0.0]))", [0.6, 0.8, 0.0]),
    ("wp.vec3(np.cross([1.0, 2.0, 0.0], [0.0, 1.0, 4.0]))", [8.0, -4.0, 1.0]),
    ("wp.vec3(*map(lambda i: i * 0.5, [1, 2, 3]))", [0.5, 1.0, 1.5]),
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

#[test]
fn an_operator_that_takes_no_such_operands_is_refused() {
    for expression in
        ["wp.vec3(1.0) * 2", "wp.vec3d(1.0) * 2.0", "wp.vec3(1.0) * wp.vec3(1.0)", "wp.sin(1)"]
    {
        let text = format!(
            "V = {expression}\n@wp.kernel\ndef k(x: wp.array(dtype=float)):\n    x[0] = float(V[0])\n"
        );
        let said = compile(&text).expect_err(expression);
        assert!(said.contains("needs-python-evaluation"), "{said}");
    }
}

#[test]
fn tables_of_numpy_are_read_in_static_expressions() {
    let text = "
W = np.exp(-0.5 * (np.arange(3) - 1.0) ** 2)
W = W / W.sum()
T = np.array([[1, 2, 3], [4, 5, 6]], dtype=np.int32)

@wp.kernel
def k(x: wp.array(dtype=float)):
    for i in range(3):
        x[i] = wp.static(W[i]) * 0.0 + float(wp.static(T[1, i]))
    x[0] += float(wp.static(T.shape[0] * 10 + len(T)))
";
    assert_eq!(results(text), [[26.0, 5.0, 6.0]]);
}

#[test]
fn a_decorator_is_followed_to_what_it_makes() {
    for decorator in [
        "kern = functools.partial(wp.kernel, enable_backward=False)\n@kern\n",
        "kern = functools.partial(wp.kernel, module='unique')\n@kern()\n",
        "kern = wp.kernel(enable_backward=False)\n@kern\n",
        "kern = wp.kernel\n@kern\n",
        "import os\nkern = wp.kernel(module='unique') if os.environ.get('A') else wp.kernel\n@kern\n",
        "import os\nif os.environ.get('A'):\n    kern = wp.kernel(module='unique')\n\
         else:\n    kern = wp.kernel\n@kern\n",
        "kern = lambda f: wp.kernel(f, enable_backward=False)\n@kern\n",
        "def kern(backward=True):\n    return wp.kernel(enable_backward=backward)\n@kern(False)\n",
        "ALL = {}\ndef kern(f):\n    k = wp.kernel(f)\n    ALL[f.__name__] = k\n    return k\n@kern\n",
        "ALL = {}\ndef kern(name):\n    def wrap(f):\n        ALL[name] = wp.kernel(f)\n        \
         return ALL[name]\n    return wrap\n@kern('a')\n",
        "def kern(f=None, **options):\n    if f is None:\n        \
         return lambda g: wp.kernel(g, **options)\n    return wp.kernel(f, **options)\n@kern(a=1)\n",
        "def kern(f):\n    made = wp.kernel(f)\n    def run(n, *x):\n        \
         wp.launch(made, n, [*x])\n    return run\n@kern\n",
        "class Tools:\n    def kern(self, f):\n        return wp.kernel(f)\nt = Tools()\n@t.kern\n",
        "class Kern:\n    def __init__(self, f):\n        self.made = wp.kernel(f)\n@Kern\n",
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
        render(&program.reader().undecided(), &sources)
    };
    let said = warnings(&format!("import tools\n@tools.kernel\n{STEP}"));
    assert!(said.contains("`step` is no kernel here: only Python knows"), "{said}");
    assert!(said.contains("write `@wp.kernel` over it"), "{said}");
    let said = warnings(&format!("@warp.kernel\n{STEP}"));
    assert!(said.contains("`warp` isn't defined"), "{said}");
    let said = warnings("def step(x: wp.array(dtype=float)):\n    x[wp.tid()] = 1.0\n");
    assert!(said.contains("`step` calls `wp.tid()`, but is no kernel"), "{said}");
    for quiet in [
        "def run(x: wp.array(dtype=float)):\n    return x.numpy()\n",
        "@functools.cache\ndef run(x: wp.array(dtype=float)):\n    return x\n",
    ] {
        assert_eq!(warnings(quiet), "", "{quiet}");
    }
}

#[test]
fn kernels_that_methods_make_know_the_object() {
    let text = "
class Model:
    def __init__(self, taps, scale=2.0):
        self.taps = taps
        self.scale = scale
        self.kernel = self._build()
        self.more(0.5)

    def _build(self):
        count = len(self.taps)
        scale = self.scale

        @wp.kernel
        def run(x: wp.array(dtype=float)):
            for i in range(count):
                x[i] = scale

        return run

    def more(self, by):
        @wp.kernel
        def add(x: wp.array(dtype=float)):
            x[0] = by + wp.static(self.scale)

model = Model([1, 2, 3])
other = Model([1], scale=4.0)
";
    let filled = [[2.0, 2.0, 2.0], [4.0, 0.0, 0.0]];
    let added = [[2.5, 0.0, 0.0], [4.5, 0.0, 0.0]];
    assert_eq!(results(text), [filled, added].concat());
}

#[test]
fn kernels_of_functions_in_functions_know_the_arguments_of_both() {
    let text = "
def outer(n):
    def inner(m):
        @wp.kernel
        def k(x: wp.array(dtype=float)):
            x[0] = float(n)
            x[1] = float(m)
        return k
    return inner

first = outer(2)(3)
make = outer(4)
second = make(5)

def main(size):
    def build(by):
        @wp.kernel
        def k2(x: wp.array(dtype=float)):
            x[0] = float(size * by)
        return k2
    return build(2)

main(8)
";
    assert_eq!(results(text), [[2.0, 3.0, 0.0], [4.0, 5.0, 0.0], [16.0, 0.0, 0.0]]);
}

#[test]
fn what_a_kernel_cannot_have_comes_with_advice() {
    for (before, line, advice) in [
        ("T = np.array([1.0, 2.0])\n", "x[0] = T[0]", "pass it as a `wp.array`"),
        ("T = [1.0, 2.0]\n", "x[0] = T[int(x[0])]", "pass the numbers as an array"),
        ("T = wp.zeros(3)\n", "x[0] = T[0]", "pass it as an argument of the launch"),
        ("", "if x is None:\n        x[0] = 1.0", "`if not x:` asks"),
        ("", "if x is not None:\n        x[0] = 1.0", "`if x:` asks"),
        ("", "v = wp.vec3(x[0]) * 2", "write `float32(..)`"),
        ("", "v = wp.vec3(x[0]) + 2.0", "written `vec3f(..)`"),
        ("", "x[0] = wp.vec3(1.0).length()", "write `wp.length(..)`"),
    ] {
        let text = format!("{before}@wp.kernel\ndef k(x: wp.array(dtype=float)):\n    {line}\n");
        let said = compile(&text).expect_err(line);
        assert!(said.contains(advice), "{line}: {said}");
    }
}

/// Numbers of modules by Python's own means, beside what Python says.
const NUMBERS: &[(&str, f32)] = &[
    ("D = dict(a=1, b=2)\nV = D['b']", 2.0),
    ("V = dict([('a', 1), ('b', 2)])['b']", 2.0),
    ("from collections import namedtuple\nC = namedtuple('C', 'n dt')\nV = C(3, dt=0.5).dt", 0.5),
    ("import sys\nif sys.version_info >= (3, 9):\n    V = 1\nelse:\n    V = 2", 1.0),
    ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    V = 2\nelse:\n    V = 1", 1.0),
    ("N = 3\nV = {'k3': 1}[f'k{N}']", 1.0),
    ("V = {'k3': 1}['k{}'.format(3)] + len('a'.upper())", 2.0),
    ("V = [[i * j for j in range(3)] for i in range(3)][2][1]", 2.0),
    ("V = [i * 10 + j for i in range(3) for j in range(3) if j][3]", 12.0),
    ("V = [k * b for k, b in zip([1, 2], [3, 4])][1]", 8.0),
    ("sq = lambda x, y=2: x * y\nV = sq(3) + sq(1, 5)", 11.0),
    ("V = list(filter(lambda x: x > 1, [1, 2, 3]))[0] + list(map(float, [1, 2]))[1]", 4.0),
    ("V = sorted([(1, 'b'), (0, 'a')], key=lambda t: t[0])[0][0] + 1", 1.0),
    (
        "from enum import IntEnum\nclass E(IntEnum):\n    A = 1\n    B = 2\nV = len(E) * 100 + E(2) * 10 + E['A'].value",
        221.0,
    ),
    (
        "from dataclasses import dataclass, field\n@dataclass\nclass C:\n    y: list = field(default_factory=lambda: [1, 2])\nV = C().y[1]",
        2.0,
    ),
    ("V = wp.types.matrix(shape=(2, 3), dtype=float)._shape_[1]", 3.0),
    ("V = [1, 2, 3].index(3) + (17).bit_length()", 7.0),
    ("V = 1 if 'a' in 'fast' else 2", 1.0),
    ("V = np.linspace(0.0, 1.0, 5)[1] + np.arange(2, 10, 3)[2]", 8.25),
    ("V = np.zeros((3, 4), dtype=np.float32).shape[1] + np.array([1.0, 2.0]).sum()", 7.0),
    ("V = np.arange(6).reshape(2, -1)[1, 2] + np.array([[1, 2], [3, 4]]).T[0][1]", 8.0),
    ("V = (np.array([1, 2]) / 2)[0] + np.dot([1.0, 2.0], [3.0, 4.0]) + np.prod([2, 3])", 17.5),
    ("k = 5\nV = [k for k in range(3)][2] + k", 7.0),
];

#[test]
fn numbers_of_a_module_are_those_of_python() {
    for (said, expected) in NUMBERS {
        let text =
            format!("{said}\n@wp.kernel\ndef k_(x: wp.array(dtype=float)):\n    x[0] = float(V)\n");
        assert_eq!(results(&text)[0][0], *expected, "{said}");
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
    assert_eq!(results(&wrapped)[0][0], 1.0);
    let doubled = "f = lambda n: 1 if n < 2 else f(n - 1) + f(n - 2)\nV = f(90) % 1000\n";
    assert_eq!(results(&format!("{doubled}{kernel}"))[0][0], 309.0);
    for refused in [
        "f = lambda x: f(x)\nV = f(1)\n",
        "V = [1 for a in [1] * 4000 for b in [1] * 4000 for c in [1] * 4000 if c > 1]\n",
    ] {
        assert!(compile(&format!("{refused}{kernel}")).is_err(), "{refused}");
    }
}
