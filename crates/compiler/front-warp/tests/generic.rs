//! Types that generic kernels are compiled for, and arguments that the Python functions around
//! kernels and functions have: what a text says of them, and nothing else.

use gbxcule_front_warp::{ImportOptions, Program, Texts};
use gbxcule_interp::{Array, Interpreter};
use gbxcule_ir::Module;
use gbxcule_ir::check::{self, Valid};
use gbxcule_ir::diagnostic::render;
use gbxcule_ir::source::SourceMap;
use std::path::Path;

const HEAD: &str = "from typing import Any\nimport numpy as np\nimport warp as wp\n";

/// Compiles a text with other files beside it, and types that the user gives.
fn compile_with(
    text: &str,
    beside: &[(&str, &str)],
    types: &[(&str, &str)],
) -> Result<Valid<Module>, String> {
    let types = types.iter().map(|(name, types)| ((*name).to_owned(), (*types).to_owned()));
    let options = ImportOptions { types: types.collect(), ..ImportOptions::default() };
    let (mut sources, mut texts) = (SourceMap::new(), Texts::new(options));
    let id = sources.add("k.py", format!("{HEAD}{text}"));
    let read = |path: &Path| {
        let found = beside.iter().find(|(known, _)| Path::new(known) == path);
        found.map(|(_, text)| format!("{HEAD}{text}")).into()
    };
    let program = Program::load(&mut texts, &mut sources, id, Some(&read));
    let module = program.and_then(|program| check::module(program.compile("generic")?));
    module.map_err(|faults| render(&faults, &sources))
}

fn compile(text: &str) -> Result<Valid<Module>, String> {
    compile_with(text, &[], &[])
}

/// Parameters' types of each kernel.
fn signatures(module: &Valid<Module>) -> Vec<String> {
    let kernels = module.kernels().map(|(_, kernel)| {
        let types = kernel.params.iter().map(|param| module.types.spelled(param.ty));
        types.collect::<Vec<_>>().join(", ")
    });
    kernels.collect()
}

/// Runs each kernel, which takes one array of integers, on `x[0]`.
fn results(module: &Valid<Module>, x: i32) -> Vec<i32> {
    let kernels = module.kernels().map(|(kernel, _)| {
        let mut interpreter = Interpreter::new(module);
        let buffer = interpreter.memory.add_slice(&[x]);
        interpreter.launch(kernel, &[1], &[Array::dense(buffer, 4, &[1]).into()]).expect("it runs");
        interpreter.memory.read::<i32>(buffer)[0]
    });
    kernels.collect()
}

const FILL: &str = "@wp.kernel\ndef fill(x: wp.array(dtype=Any), value: Any):\n    x[0] = value\n";
const ARRAYS: [&str; 3] = ["array[float64], float64", "array[vec3f], vec3f", "array[int32], int32"];

#[test]
fn overloads_are_found_in_loops_and_beside_names() {
    let loops =
        "for T in (wp.float64, wp.vec3, int):\n    wp.overload(fill, [wp.array(dtype=T), T])\n";
    let names = "TYPES = [wp.float64, wp.vec3]\n\
                 for T in TYPES:\n    wp.overload(fill, {\"value\": T, \"x\": wp.array(dtype=T)})\n\
                 f = wp.overload(fill, [wp.array(dtype=int), int])\n";
    for text in [loops, names] {
        let module = compile(&format!("{FILL}{text}")).unwrap_or_else(|fault| panic!("{fault}"));
        assert_eq!(signatures(&module), ARRAYS, "{text}");
    }
}

#[test]
fn loops_around_overloads_go_over_lists_and_dictionaries() {
    let lists = "A = (wp.float64, wp.vec3, int)\nD = {\"a\": wp.float64, \"b\": wp.vec3}\n";
    let call = "wp.overload(fill, [wp.array(dtype=T), T])\n";
    for loops in [
        "for T in [D[\"a\"], D[\"b\"], int]:\n    ",
        "E = {0: A[0], 1: A[1], 2: A[2]}\nfor n in E:\n    T = E[n]\n    ",
    ] {
        let text = format!("{FILL}{lists}{loops}{call}");
        let module = compile(&text).unwrap_or_else(|fault| panic!("{loops}: {fault}"));
        assert_eq!(signatures(&module), ARRAYS, "{loops}");
    }
    for unknown in
        ["sum([1], start=3)", "list(enumerate([1], start=3))[0][0]", "min([1, 2], key=f)"]
    {
        let text = format!(
            "@wp.kernel\ndef k(x: wp.array(dtype=int)):\n    x[0] = wp.static({unknown})\n"
        );
        assert!(compile(&text).is_err(), "{unknown}");
    }
}

#[test]
fn factories_may_give_functions_attributes() {
    let make = "def make(by: int):\n    @wp.func\n    def inner(x: int):\n        return x * by\n    \
                @wp.func\n    def outer(x: int):\n        return inner(x) + 1\n    \
                outer.inner = inner\n    return outer\n";
    let uses = "@wp.kernel\ndef k(x: wp.array(dtype=int)):\n    \
                x[0] = wp.static(make(3).inner)(x[0]) * 100 + wp.static(make(4))(x[0])\n";
    let module = compile(&format!("{make}{uses}")).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(results(&module, 5), [1521]);
    // A decorator may do anything.
    let compiled = compile(&format!("from other import cache\n@cache\n{make}{uses}"));
    assert!(compiled.expect_err("a decorator").contains("needs-python-evaluation"));
    let twice = make.replace("    return outer", "    outer.inner = outer\n    return outer");
    assert!(compile(&format!("{twice}{uses}")).is_err());
}

#[test]
fn nothing_is_guessed_for_a_generic_kernel() {
    for text in
        ["", "wp.overload(fill, [wp.array(dtype=float)])\n", "wp.overload(fill, [float, float])\n"]
    {
        let fault = compile(&format!("{FILL}{text}")).expect_err("no types");
        assert!(
            fault.contains("nothing says for which types the generic kernel `fill`"),
            "{fault}"
        );
        assert!(fault.contains("types for (x, value)"), "{fault}");
        assert!(fault.contains("`--types 'fill=[..]'` on the command line"), "{fault}");
    }
    let family = "@wp.kernel\ndef k(x: wp.array(dtype=wp.Float)):\n    x[0] = x[1]\n";
    assert!(compile(family).is_err());
    let fits =
        format!("{family}for T in (int, wp.float16):\n    wp.overload(k, [wp.array(dtype=T)])\n");
    assert_eq!(signatures(&compile(&fits).expect("one fits")), ["array[float16]"]);
}

#[test]
fn the_user_says_the_types_of_a_generic_kernel() {
    let struct_of = "@wp.struct\nclass Box:\n    low: wp.vec3\n";
    let text = format!("{struct_of}{FILL}wp.overload(fill, [wp.array(dtype=int), int])\n");
    let given = [("fill", "{'x': wp.array(dtype=Box), 'value': Box}")];
    let module = compile_with(&text, &[], &given).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(signatures(&module), ["array[Box], Box"]);
    let message = compile_with(&text, &[], &[("fill", "[float]")]).expect_err("two parameters");
    assert!(
        message.contains("--types") && message.contains("list of types for (x, value)"),
        "{message}"
    );
}

/// A factory with a kernel that stores an expression of `x[0]`.
fn factory(parameters: &str, expression: &str) -> String {
    format!(
        "def make({parameters}):\n    @wp.kernel\n    def k(x: wp.array(dtype=int)):\n        x[0] = {expression}\n    return k\n"
    )
}

#[test]
fn a_kernel_is_compiled_for_each_call_of_the_function_around_it() {
    let text = factory("by, more=1", "x[0] * wp.static(by + more) + by");
    let calls =
        "a = make(2)\nb = make(more=4, by=3)\nfor n in (5, 2):\n    make(n)\nmake(UNKNOWN)\n";
    let module = compile(&format!("{text}{calls}")).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(results(&module, 10), [32, 73, 65]);
    // One that uses none of the arguments is the same in each call.
    let module = compile(&format!("{}{calls}", factory("by, more=1", "x[0] + 1"))).expect("right");
    assert_eq!(results(&module, 10), [11]);
    let message = compile(&format!("{text}make(UNKNOWN)\n")).expect_err("an unknown argument");
    assert!(message.contains("`--define make.by=VALUE`"), "{message}");
}

#[test]
fn functions_and_structs_that_python_functions_return_keep_their_arguments() {
    let scale = "def scale(by, dtype=int):\n    @wp.struct\n    class Box:\n        width: dtype\n    \
                 @wp.func\n    def area(box: Box):\n        return int(box.width) * by\n    return Box, area\n";
    let uses = "Two, two = scale(2)\nSeven, seven = scale(7, wp.float64)\n\
                @wp.kernel\ndef k(x: wp.array(dtype=int)):\n    a = Two()\n    a.width = x[0]\n    \
                b = Seven()\n    b.width = wp.float64(x[0])\n    x[0] = two(a) * 1000 + seven(b)\n";
    let module = compile(&format!("{scale}{uses}")).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(results(&module, 3), [6021]);
    let beside = [("shape.py", scale)];
    let module = compile_with(&format!("from shape import scale\n{uses}"), &beside, &[]);
    assert_eq!(results(&module.unwrap_or_else(|fault| panic!("{fault}")), 3), [6021]);
    // A struct of one call is no struct of the other.
    let wrong = uses.replace("two(a)", "two(b)");
    assert!(compile(&format!("{scale}{wrong}")).expect_err("another struct").contains("no `area`"));
}

#[test]
fn functions_are_passed_on_through_python_functions_and_dictionaries() {
    let text = "@wp.func\ndef one(x: int):\n    return x + 1\n\
                def twice(f):\n    @wp.func\n    def run(x: int):\n        return f(f(x))\n    return run\n\
                four = twice(twice(one))\nTABLE = {\"two\": twice(one), \"four\": four}\n\
                @wp.kernel\ndef k(x: wp.array(dtype=int)):\n    x[0] = four(x[0]) * 100 + wp.static(TABLE[\"two\"])(x[0])\n";
    let module = compile(text).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(results(&module, 5), [907]);
    let changed = text.replace("@wp.kernel", "TABLE[\"two\"] = one\n@wp.kernel");
    assert!(compile(&changed).expect_err("it changes").contains("needs-python-evaluation"));
}

#[test]
fn values_that_python_functions_compute_are_known_as_far_as_the_text_says() {
    for (body, value) in [
        ("return 3", 3),
        ("if N > 1:\n        return 4\n    elif N:\n        return 5\n    return 6", 5),
        ("n = 2\n    if N is None:\n        raise ValueError(N)\n    n = n * N\n    return n", 2),
        ("n = (1, 4)\n    return n[1] if n[0] == 1 else 0", 4),
    ] {
        let text = format!(
            "N = 1\ndef f():\n    {body}\n@wp.kernel\ndef k(x: wp.array(dtype=int)):\n    \
             x[0] = wp.static(f())\n"
        );
        let module = compile(&text).unwrap_or_else(|fault| panic!("{body}: {fault}"));
        assert_eq!(results(&module, 0), [value], "{body}");
    }
}

#[test]
fn values_of_a_python_function_that_only_python_knows_stay_unknown() {
    for body in [
        "global N\n    N = 2\n    return 1",
        "yield 1",
        "if open(\"x\"):\n        return 1\n    return 1",
        "for n in range(3):\n        if n:\n            return n",
        "n = 0\n    for i in range(3):\n        n += i\n    return n",
        "a = 1\n    b = 0\n    for i in range(3):\n        b = a\n        a = 2\n    return b",
        "n = [1]\n    n.append(2)\n    return len(n)",
        "n = [1]\n    change(n)\n    return len(n)",
        "try:\n        return 1\n    except ValueError:\n        return 2",
        "n = 1\n    match open(\"x\"):\n        case 1:\n            n = 2\n    return n",
    ] {
        let text = format!(
            "N = 1\ndef change(n):\n    n.append(2)\ndef f():\n    {body}\n@wp.kernel\n\
             def k(x: wp.array(dtype=int)):\n    x[0] = wp.static(f())\n"
        );
        let message = compile(&text).err().unwrap_or_else(|| panic!("known: {body}"));
        assert!(message.contains("needs-python-evaluation"), "{body}: {message}");
    }
}

#[test]
fn a_function_returned_from_a_branch_is_the_one_defined_there() {
    let made = "def make(n):\n    if n & (n - 1) == 0:\n        @wp.func\n        def wrap(i: int):\n            \
                return i & (n - 1)\n        return wrap\n    @wp.func\n    def wrap(i: int):\n        \
                return i + n\n    return wrap\n";
    let text = format!(
        "{made}a, b = make(4), make(5)\n@wp.kernel\ndef k(x: wp.array(dtype=int)):\n    \
         x[0] = a(x[0]) * 100 + b(x[0])\n"
    );
    let module = compile(&text).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(results(&module, 6), [200 + 11]);
}

#[test]
fn the_length_of_a_type_may_be_a_part_of_a_constant() {
    let text = "from typing import Literal\nN = (5, 3)\nv = wp.types.vector(length=N[1], dtype=int)\n\
                @wp.kernel\ndef k(x: wp.array(dtype=v)):\n    x[0][2] = 1\n\
                @wp.kernel\ndef l(x: wp.array(dtype=wp.vec[Literal[3], int])):\n    x[0][2] = 1\n";
    let module = compile(text).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(signatures(&module), ["array[vec3i]", "array[vec3i]"]);
}

#[test]
fn python_functions_that_lead_to_each_other_come_to_an_end() {
    let mut text =
        String::from("@wp.func\ndef g(x: int):\n    return x\ndef f0(n, a, b):\n    return g\n");
    for level in 1..60 {
        let below = level - 1;
        text += &format!(
            "def f{level}(n, a, b):\n    return f{below}(n + {level}, f{below}(n, a, b), f{below}(n, b, a))\n"
        );
    }
    text += "h = f59(0, g, g)\ndef loop(n):\n    return loop(n + 1)\nl = loop(0)\n\
             @wp.kernel\ndef k(x: wp.array(dtype=int)):\n    x[0] = h(x[0]) + l(x[0])\n";
    assert!(compile(&text).is_err());
}

#[test]
fn elements_of_a_list_that_changes_are_refused() {
    let text =
        "N = [1, 2]\n@wp.kernel\ndef k(x: wp.array(dtype=int)):\n    x[0] = wp.static(N[1])\n";
    let module = compile(text).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(results(&module, 0), [2]);
    let changed = text.replace("@wp.kernel", "N.append(1)\n@wp.kernel");
    assert!(compile(&changed).expect_err("it changes").contains("`N` is changed after it is made"));
}

#[test]
fn refusals_say_why_a_kernel_is_too_large_and_a_class_is_no_type() {
    let head = "@wp.kernel\ndef k(x: wp.array(dtype=int)):\n";
    let straight = format!("{head}{}", "    pass\n".repeat(50_001));
    let message = compile(&straight).expect_err("too large");
    assert!(message.contains("more than 50000 statements, with functions"), "{message}");
    let unrolled = "    for _ in range(16):\n        pass\n".repeat(3200);
    let message = compile(&format!("{head}{unrolled}")).expect_err("too large");
    assert!(message.contains("more than 50000 statements with its loops unrolled"), "{message}");
    let class = "class Box:\n    width: float\n@wp.kernel\ndef k(x: wp.array(dtype=Box)):\n    x[0].width = 1.0\n";
    let message = compile(class).expect_err("no struct");
    assert!(
        message.contains("`Box` isn't a type") && message.contains("`@wp.struct`"),
        "{message}"
    );
}

#[test]
fn of_definitions_under_conditions_those_count_whose_condition_holds() {
    let make = "def make(cone, wide=False):\n    if cone == 1:\n        @wp.func\n        def f(x: int):\n            return x + 1\n    \
                elif cone == 2:\n        @wp.func\n        def f(x: int):\n            return x + 20\n    \
                else:\n        @wp.func\n        def f(x: int):\n            return x + 300\n    \
                T = wp.int32\n    if wide:\n        T = wp.int64\n    \
                @wp.func\n    def g(x: int):\n        return int(T(x) << T(33 if wide else 3))\n    \
                return f, g\n";
    let uses = "a, _ = make(1)\nb, _ = make(2)\nc, d = make(cone=5)\n_, e = make(0, True)\n\
                @wp.kernel\ndef k(x: wp.array(dtype=int)):\n    \
                x[0] = a(x[0]) + 2 * b(x[0]) + 3 * c(x[0]) + 10000 * d(x[0]) + e(x[0])\n";
    let module = compile(&format!("{make}{uses}")).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(results(&module, 1), [2 + 42 + 903 + 80_000]);
    // A condition that only Python knows leaves two definitions.
    let text = "import sys\n@wp.func\ndef f(x: int):\n    return x + 1\n\
                if sys.platform == \"linux\":\n    @wp.func\n    def f(x: int):\n        return x + 2\n\
                @wp.kernel\ndef k(x: wp.array(dtype=int)):\n    x[0] = f(x[0])\n";
    let message = compile(text).expect_err("one of two");
    assert!(
        message.contains("which binding of `f` counts is only known when Python runs"),
        "{message}"
    );
}

#[test]
fn a_name_that_changes_its_type_is_the_last_tile_that_it_was_bound_to() {
    let text = "@wp.kernel\ndef k(x: wp.array(dtype=int)):\n    \
                t = wp.tile_full(shape=(2, 3), value=x[0], dtype=int)\n    \
                t = wp.tile_reshape(t, shape=(6,))\n    \
                t[5] = 7\n    \
                u = t\n    \
                t = wp.tile_sum(t)\n    \
                for i in range(x[0]):\n        \
                v = wp.tile_full(shape=(1, 2), value=i, dtype=int)\n        \
                v = wp.tile_reshape(v, shape=(2,))\n        \
                t[0] = t[0] + v[1] * 1000\n    \
                t = t[0]\n    \
                x[0] = t + u[5] * 100\n";
    let module = compile(text).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(results(&module, 5), [5 * 5 + 7 + 700 + 10_000]);
}
