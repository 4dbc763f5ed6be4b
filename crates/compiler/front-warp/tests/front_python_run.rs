//! Results of Python kernels, run by the interpreter: each gets `x` and leaves its result there.
//! The expected numbers are Python's own, or NVIDIA Warp's where Python's differ.

use gbxcule_front_warp::Program;
use gbxcule_interp::{Array, Interpreter};
use gbxcule_ir::check;
use gbxcule_ir::diagnostic::render;
use gbxcule_ir::print;
use gbxcule_ir::source::SourceMap;

/// Runs the only kernel of a text on an array of `int32` with `threads` threads.
fn run(text: &str, threads: u32, x: &[i32]) -> Vec<i32> {
    let mut sources = SourceMap::new();
    let id = sources.add("run.py", format!("import warp as wp\n{text}"));
    let module =
        Program::parse(&sources, id).and_then(|program| check::module(program.compile("run")?));
    let module = module.unwrap_or_else(|faults| panic!("{}", render(&faults, &sources)));
    let kernel = module.kernels().next().expect("a kernel").0;
    let mut interpreter = Interpreter::new(&module);
    let buffer = interpreter.memory.add_slice(x);
    let array = Array::dense(buffer, 4, &[x.len() as u32]);
    interpreter.launch(kernel, &[threads], &[array.into()]).expect("nothing goes wrong");
    interpreter.memory.read(buffer)
}

/// A kernel of these statements.
fn body(statements: &str, x: &[i32]) -> Vec<i32> {
    run(&format!("@wp.kernel\ndef k(x: wp.array(dtype=int)):\n{statements}"), 1, x)
}

#[test]
fn loops_keep_what_they_change() {
    let text = "
    n = x[0]
    steps = int(0)
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    x[0] = steps
";
    assert_eq!(body(text, &[27]), [111]);
}

#[test]
fn continue_goes_on_with_the_loop_that_static_unrolls() {
    let text = "
    for a in range(x[0]):
        for i in range(4):
            if wp.static(i % 2 == 0):
                continue
            if x[1] > 8 * wp.static(i):
                continue
            x[2] += i
        x[3] += 1
";
    assert_eq!(body(text, &[3, 0, 0, 0]), [3, 0, 12, 3]);
    assert_eq!(body(text, &[3, 9, 0, 0]), [3, 9, 9, 3]);
    let alone = "
    for i in range(20):
        if wp.static(i % 2 == 0):
            continue
        x[0] += i
";
    assert_eq!(body(alone, &[0]), [100]);
}

#[test]
fn a_module_that_may_be_missing_is_there() {
    let text = "
try:
    from typing import Any
    import warp as wp
    import numpy as np
    wp.init()
    HAS_WARP = True
except ImportError:
    wp = None
    np = None
    HAS_WARP = False
try:
    import nobody_has_this as thing
except ImportError:
    thing = None
WIDTH = 3 if HAS_WARP else 4

@wp.kernel
def k(x: wp.array(dtype=int)):
    x[0] = WIDTH
    x[1] = int(np.pi)
";
    assert_eq!(run(text, 1, &[0, 0]), [3, 3]);
}

#[test]
fn transforms_are_constants() {
    let text = "
MOVED = wp.transform(wp.vec3(1.0, 2.0, 3.0), wp.quat(0.0, 0.0, 0.0, 1.0))
ONLY_MOVED = wp.constant(wp.transform(wp.vec3(4.0, 5.0, 6.0)))
TURNED = wp.transform(0.0, 0.0, 7.0, 1.0, 0.0, 0.0, 0.0)

@wp.kernel
def k(x: wp.array(dtype=int)):
    p = wp.vec3(10.0, 20.0, 30.0)
    x[0] = int(wp.transform_point(MOVED, p)[1])
    x[1] = int(wp.transform_point(ONLY_MOVED, p)[2])
    x[2] = int(wp.transform_point(TURNED, p)[2])
    x[3] = int(wp.transform_get_translation(wp.transform_identity())[0])
";
    assert_eq!(run(text, 1, &[0, 0, 0, 1]), [22, 36, -23, 0]);
}

#[test]
fn a_product_of_tiles_with_a_beta_of_zero_forgets_what_was_there() {
    let text = "
    a = wp.tile_ones(shape=(2, 2), dtype=float)
    out = a * (1.0 / float(x[0]))
    wp.tile_matmul(a, a, out, beta=0.0)
    x[1] = int(wp.tile_extract(out, 0, 1))
    wp.tile_matmul(a, a, out, beta=float(x[2]))
    x[2] = int(wp.tile_extract(out, 1, 0))
";
    assert_eq!(body(text, &[0, 0, 3]), [0, 2, 8]);
}

#[test]
fn loops_may_share_the_name_of_their_index() {
    let text = "
    for k in range(x[0]):
        x[1] += k
    for k in range(3):
        x[2] += x[0] * k
    for k in range(x[0], 0, -1):
        x[3] = 10 * x[3] + k
";
    assert_eq!(body(text, &[4, 0, 0, 0]), [4, 6, 12, 4321]);
}

#[test]
fn an_index_that_is_read_after_its_loops_is_one_variable() {
    let text = "
    for k in range(x[0]):
        x[1] += k
    for k in range(x[2]):
        x[1] += k
        for k in range(20, 20 + x[0]):
            x[3] += k
        x[4] += k
    x[5] = k
";
    assert_eq!(body(text, &[3, 0, 2, 0, 0, 0]), [3, 4, 2, 126, 44, 22]);
}

#[test]
fn a_constant_bound_before_break_is_not_taken_for_the_last_one() {
    let text = "
    for i in range(x[0]):
        y = 1
        if i == x[1]:
            y = 2
            break
    x[2] = y
";
    assert_eq!(body(text, &[30, 4, 0]), [30, 4, 2]);
    assert_eq!(body(text, &[30, 99, 0]), [30, 99, 1]);
}

#[test]
fn branches_meet() {
    let text = "
    a = 1
    b = x[0]
    if x[0] > 0:
        a = 2
        b = 7
    elif x[0] < -5:
        a = 3
    x[1] = a * 10 + b
";
    assert_eq!(body(text, &[1, 0]), [1, 27]);
    assert_eq!(body(text, &[-1, 0]), [-1, 9]);
    assert_eq!(body(text, &[-6, 0]), [-6, 24]);
}

#[test]
fn a_branch_that_returns_binds_nothing_after_it() {
    let text = "
    a = 5
    if x[0] == 0:
        a = 6
        x[1] = a
        return
    x[1] = a
";
    assert_eq!(body(text, &[0, 0]), [0, 6]);
    assert_eq!(body(text, &[1, 0]), [1, 5]);
}

#[test]
fn short_circuits_do_not_read_outside() {
    let text = "
    i = x[0]
    n = len(x)
    y = x[i] if i < n else -1
    if i < n and x[i] == 3 or i == 100:
        y += 10
    x[1] = y
";
    assert_eq!(body(text, &[100, 0]), [100, 9]);
    assert_eq!(body(text, &[2, 0, 3]), [2, 13, 3]);
}

#[test]
fn ranges_go_both_ways() {
    let text = "
    n = x[0]
    s = int(0)
    for i in reversed(range(1, n, 3)):
        s = s * 10 + i
    for i in range(3, 0, -1):
        s = s * 10 + i
    for i in range(n, n - 3, -2):
        s = s * 10 + i
    x[1] = s
";
    assert_eq!(body(text, &[9, 0]), [9, 74_132_197]);
}

#[test]
fn integer_division_floors_and_remainder_has_the_sign_of_the_left() {
    let text = "
    a = x[0]
    b = x[1]
    x[0] = a // b
    x[1] = a % b
";
    assert_eq!(body(text, &[-7, 2]), [-4, -1]);
}

#[test]
fn slices_are_views_of_the_same_memory() {
    let text = "
    part = x[1:5:2]
    back = x[::-1]
    part[1] = 40 + part.shape[0]
    back[0] = 9
    x[-2] += 1
";
    assert_eq!(body(text, &[0, 1, 2, 3, 4, 5]), [0, 1, 2, 42, 5, 9]);
}

#[test]
fn vectors_are_copied_and_changed_in_part() {
    let text = "
    v = wp.vec3i(x[0], x[1], x[2])
    w = v
    w[x[0]] = 10
    w.z += 5
    v[:2] = wp.vec2i(7, 8)
    x[0] = v[0] * 100 + w[0]
    x[1] = v[1] * 100 + w[1]
    x[2] = v[2] * 100 + w[2]
";
    assert_eq!(body(text, &[1, 2, 3]), [701, 810, 308]);
}

#[test]
fn functions_change_what_they_take_by_reference_only() {
    let text = "
@wp.func
def by_value(a: int):
    a += 1
    return a

@wp.func
def by_reference(a: wp.ref[int]):
    a += 100

@wp.func
def pair(a: int, b: int = 5):
    return b, a

@wp.kernel
def k(x: wp.array(dtype=int)):
    i = wp.tid()
    y = x[i]
    z = by_value(y)
    by_reference(y)
    by_reference(x[i])
    b, a = pair(z)
    x[i] += y * 10 + a * b
";
    assert_eq!(run(text, 2, &[1, 2]), [1 + 100 + 1010 + 10, 2 + 100 + 1020 + 15]);
}

#[test]
fn unrolled_loops_leave_their_last_number() {
    let text = "
    s = int(0)
    for i in range(4):
        for j in range(i):
            s += i * j
    x[0] = s * 10 + i
";
    assert_eq!(body(text, &[0]), [113]);
}

#[test]
fn several_values_are_assigned_at_once() {
    let text = "
    a = x[0]
    b = x[1]
    for i in range(x[2]):
        a, b = b, a + b
    x[0] = a
";
    assert_eq!(body(text, &[0, 1, 30]), [832_040, 1, 30]);
}

#[test]
fn the_place_of_an_augmented_assignment_is_found_before_its_right_side_is_worked_out() {
    let text = "
@wp.func
def next(x: wp.array(dtype=int)):
    i = x[0]
    x[0] = i + 1
    return i

@wp.func
def ten_times_first(x: wp.array(dtype=int)):
    return x[0] * 10

@wp.kernel
def k(x: wp.array(dtype=int)):
    x[next(x)] += ten_times_first(x)
";
    assert_eq!(run(text, 1, &[1, 5]), [2, 25]);
}

#[test]
fn a_second_name_keeps_the_function_it_was_given() {
    let text = "
@wp.func
def f():
    return 17

first = f

@wp.func
def f():
    return 42

@wp.kernel
def k(x: wp.array(dtype=int)):
    x[0] = first()
    x[1] = f()
";
    assert_eq!(run(text, 1, &[0, 0]), [17, 42]);
}

#[test]
fn a_random_state_in_an_array_is_copied() {
    let text = "
@wp.kernel
def k(x: wp.array(dtype=int)):
    states = wp.zeros(shape=1, dtype=wp.uint32)
    states[0] = wp.uint32(x[0])
    a = wp.randi(states[0])
    b = wp.randi(states[0])
    x[0] = wp.where(a == b, 1, 0)
";
    assert_eq!(run(text, 1, &[5]), [1]);
}

#[test]
fn part_of_an_element_is_changed_atomically_as_the_whole_is() {
    let mut sources = SourceMap::new();
    let text = "import warp as wp
@wp.struct
class S:
    count: int
    at: wp.vec3

@wp.kernel
def k(s: wp.array(dtype=S), m: wp.array(dtype=wp.mat22), v: wp.vec2):
    s[0].count += 1
    s[0].at[1] -= 2.0
    s[0].at.z += 2.0
    m[0][1] += v
    m[0][1, 0] *= 2.0
";
    let id = sources.add("parts.py", text);
    let program = Program::parse(&sources, id).expect("Python");
    let module = check::module(program.compile("parts").expect("kernels")).expect("valid");
    let text = print::module(&module);
    assert_eq!(text.matches("atomic").count(), 4, "{text}");
}

#[test]
fn signs_of_vectors_are_those_of_their_components() {
    let text = "
    s = wp.sign(wp.vec3i(x[0], x[1], x[2]))
    x[0] = s[0]
    x[1] = s[1]
    x[2] = s[2]
";
    assert_eq!(body(text, &[-7, 0, 9]), [-1, 1, 1]);
}

#[test]
fn decompositions_put_their_results_into_variables_as_they_used_to() {
    let text = "
    a = wp.mat33(0.0, 2.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 4.0)
    u = wp.mat33(0.0)
    s = wp.vec3(0.0)
    v = wp.mat33(0.0)
    q = wp.mat33(0.0)
    r = wp.mat33(0.0)
    for i in range(x[0]):
        wp.svd3(a, u, s, v)
        wp.qr3(a, q, r)
    back = u * wp.diag(s) * wp.transpose(v) - a
    x[0] = int(wp.round(100.0 * wp.ddot(back, back)))
    x[1] = int(wp.round(s[0] + s[1] + s[2]))
    other = q * r - a
    x[2] = int(wp.round(100.0 * wp.ddot(other, other)))
";
    // The factors are rotations: of the singular values 4, 2 and 1 the last has the sign of the
    // determinant.
    assert_eq!(body(text, &[1, 0, 1]), [0, 5, 0]);
}

#[test]
fn an_index_beside_a_slice_may_be_computed() {
    let text = "
    m = wp.mat33(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0)
    j = x[0]
    column = m[:, j]
    row = m[j, 1:]
    m[:2, j] = wp.vec2(10.0, 20.0)
    x[0] = int(column[0] + column[2])
    x[1] = int(row[0] + row[1])
    x[2] = int(m[0, 1] + m[1, 1] + m[2, 1])
";
    assert_eq!(body(text, &[1, 0, 0]), [10, 11, 38]);
}

#[test]
fn texts_are_printed_in_place_of_their_conversions() {
    let text = "
@wp.kernel
def k(x: wp.array(dtype=int)):
    wp.printf(\"%d%% of %s: %d\\n\", x[0], \"all %\", x[1])
";
    let mut sources = SourceMap::new();
    let id = sources.add("run.py", format!("import warp as wp\n{text}"));
    let program = Program::parse(&sources, id).expect("Python");
    let module = check::module(program.compile("run").expect("a module")).expect("valid");
    let printed = print::module(&module);
    assert!(printed.contains("%d%% of all %%: %d"), "{printed}");
}

/// Result of a native snippet for each element.
fn snippet(text: &str, x: &[i32]) -> Vec<i32> {
    let text = format!(
        "@wp.func_native(\"\"\"{text}\"\"\")
def f(n: int) -> int: ...
@wp.kernel
def k(x: wp.array(dtype=int)):
    i = wp.tid()
    x[i] = f(x[i])
"
    );
    run(&text, x.len() as u32, x)
}

#[test]
fn native_snippets_convert_numbers_as_cpp_does() {
    // Numbers by g++ 12 for x86-64.
    assert_eq!(snippet("return n / 2 * 2.5;", &[5, -5]), [5, -5]);
    assert_eq!(snippet("return n > 0u;", &[-1, 0]), [1, 0]);
    assert_eq!(snippet("unsigned char c = n; return c << 1;", &[255, 256]), [510, 0]);
    assert_eq!(snippet("return -1L < n + 0u;", &[-3]), [1]);
    assert_eq!(snippet("return (n % 3) ^ ~0x7;", &[-7]), [7]);
    assert_eq!(snippet("bool b = n; return b + true;", &[7, 0]), [2, 1]);
    assert_eq!(snippet("float f = n; return f / 2 == n / 2;", &[4, 5]), [1, 0]);
    assert_eq!(snippet("return 0xFFFFFFFF == -1;", &[0]), [1]);
    assert_eq!(snippet("return 010 + 1e1f;", &[0]), [18]);
}

#[test]
fn native_snippets_leave_their_arguments_and_loops_as_cpp_does() {
    let text = "int s = 0; for (int i = 0; i < 10; i += 2) { if (i == n) break; s += i; } n = s; return n;";
    assert_eq!(snippet(text, &[6, 99, 0]), [6, 20, 0]);
    let text = "{ int n = 3; n++; } if (n == 0 || 8 / n > 1) { return 1; } else return 2;";
    assert_eq!(snippet(text, &[0, 4, 5]), [1, 1, 2]);
}

#[test]
fn an_axis_and_an_angle_go_into_variables() {
    let text = "
    axis = wp.vec3()
    angle = float(0.0)
    wp.quat_to_axis_angle(wp.quat(0.0, 0.0, 1.0, 0.0), axis, angle)
    x[0] = int(axis[2] * 10.0) + int(angle * 1000.0)
";
    assert_eq!(body(text, &[0]), [3151]);
}

#[test]
fn a_parameter_that_one_branch_binds_to_a_number_is_that_number_or_what_came_in() {
    let text = "
@wp.func
def chosen(n: int, drop: bool):
    if drop:
        n = 0
    return n * 10
@wp.kernel
def k(x: wp.array(dtype=int)):
    x[0] = chosen(x[0], x[1] > 0)
";
    assert_eq!(run(text, 1, &[4, 1]), [0, 1]);
    assert_eq!(run(text, 1, &[4, 0]), [40, 0]);
}

#[test]
fn warps_types_need_no_module_before_them_and_variables_may_have_names_of_builtins() {
    let text = "
    v = vec3i(x[0], 2, 3)
    sign = x[0]
    x[0] = v[0] * 100 + int(length_sq(v)) * 10 + sign(sign)
";
    assert_eq!(body(text, &[-1]), [-100 + 140 - 1]);
}

#[test]
fn a_matrix_of_vectors_says_which_functions_make_one() {
    let text = "import warp as wp\n@wp.kernel\ndef k(x: wp.array(dtype=float)):\n    \
                v = wp.vec2(x[0], x[1])\n    x[0] = wp.mat22(v, v)[0, 1]\n";
    let mut sources = SourceMap::new();
    let id = sources.add("run.py", text);
    let faults = Program::parse(&sources, id).and_then(|program| program.compile("run"));
    let message = render(&faults.expect_err("Warp refuses it, too"), &sources);
    assert!(message.contains("wp.matrix_from_rows(..)"), "{message}");
}

#[test]
fn gradients_of_functions_are_those_of_the_text_by_hand_or_twice() {
    let text = "
@wp.func
def product(a: float, n: int, b: float):
    return a * a * b + float(n)

@wp.func
def length(v: wp.vec3, s: float):
    return wp.dot(v, v) * s

@wp.func
def cube(x: float):
    return x * x * x

@wp.func
def slope(x: float):
    return wp.grad(cube)(x)

@wp.func
def steered(x: float):
    return x

@wp.func_grad(steered)
def steered_gradient(x: float, adj: float):
    wp.adjoint[x] += 7.0 * adj

@wp.kernel
def k(x: wp.array(dtype=int)):
    a, n, b = wp.grad(product)(3.0, x[0], 5.0)
    x[0] = int(a)
    x[1] = n
    x[2] = int(b)
    by_length = wp.grad(length)
    v, s = by_length(wp.vec3(1.0, 2.0, 3.0), 4.0)
    x[3] = int(v[2])
    x[4] = int(s)
    x[5] = int(wp.grad(slope)(2.0))
    x[6] = int(wp.grad(steered)(2.0))
    x[7] = int(100.0 * wp.grad(wp.sqrt)(4.0))
    above, beside = wp.grad(wp.atan2)(1.0, 2.0)
    x[8] = int(wp.round(10.0 * above))
    x[9] = int(wp.round(10.0 * beside))
";
    let found = run(text, 1, &[2, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(found, [30, 0, 9, 24, 14, 12, 7, 25, 4, -2]);
}
