//! Elements that are written after a call took their values: the reverse is right where the
//! gradient doesn't need the old value, and refused where it does.

use crate::oracle::{Case, Verdict, compare};
use gbxcule_front_warp::Program;
use gbxcule_ir::diagnostic::{Code, render};
use gbxcule_ir::source::SourceMap;

const FUNCTIONS: &str = "
import warp as wp
Real = wp.float64
Reals = wp.array(dtype=wp.float64)

@wp.struct
class State:
    place: wp.float64
    speed: wp.vec2d

@wp.func
def advance(x: Real, v: Real, dt: Real):
    return x + v * dt

@wp.func
def advance_twice(x: Real, v: Real, dt: Real):
    return advance(advance(x, v, dt), v, Real(0.5) * dt)

@wp.func
def scaled_sine(a: Real, b: Real):
    return a * wp.sin(b)

@wp.func
def move(s: State, dt: Real):
    s.place += s.speed[0] * dt
    return s

@wp.func
def bump(x: wp.ref[Real], by: Real):
    x += by * by

@wp.func
def square_in_place(x: wp.ref[Real], by: Real):
    x *= wp.sin(x) + by

@wp.func
def sum_of_steps(x: Real, v: Real, n: int):
    total = x
    for i in range(n):
        total += v * v * Real(i)
    return total

@wp.func
def chosen(x: Real, v: Real, n: int):
    if n > 3:
        return x + v * v
    return Real(2.0) * x - v

@wp.func
def until_large(x: Real, v: Real):
    steps = Real(0.0)
    while wp.abs(x) * steps < Real(3.0):
        steps += Real(1.0)
    return v * steps

@wp.func
def both(a: Real, b: Real):
    return Real(3.0) * a, wp.sin(b)

@wp.func
def by_hand(x: Real, y: Real):
    return x + wp.sin(y)

@wp.func_grad(by_hand)
def by_hand_grad(x: Real, y: Real, adj: Real):
    wp.adjoint[x] += adj
    wp.adjoint[y] += adj * wp.cos(y)

@wp.func
def around(x: Real, y: Real):
    return by_hand(Real(0.5) * x, y) + y * y

@wp.func
def part(v: wp.vec3d, k: int, x: Real):
    return v[k] + x * x

@wp.func
def marched(h: Reals, a: Real):
    h[0] = a
    for i in range(3):
        h[i + 1] = h[i] * h[i] - a
    return h[3]

@wp.func
def marched_far(h: Reals, a: Real, n: int):
    for i in range(1, n):
        h[i] = h[i - 1] * h[i - 1] - a
    return h[n - 1]

@wp.func
def marched_back(h: Reals, a: Real):
    for i in range(3):
        h[i] = h[i + 1] * h[i + 1] - a
    return h[0]

";

fn verdict(body: &str) -> Verdict {
    let kernel = "@wp.kernel\ndef k(x: Reals, o: Reals, n: int, m: int):\n    t = wp.tid()\n";
    let lines: String = body.trim().lines().map(|line| format!("    {line}\n")).collect();
    let mut sources = SourceMap::new();
    let id = sources.add("call.py", format!("{FUNCTIONS}{kernel}{lines}"));
    let lowered = Program::parse(&sources, id)
        .and_then(|program| program.reader().with_gradients().compile("call"));
    let module = lowered.unwrap_or_else(|faults| panic!("{}", render(&faults, &sources)));
    let kernel = module.find("k").expect("it was lowered");
    let arrays = vec![vec![0.7, -1.3, 1.9, 0.4, -0.6, 1.1], vec![0.3, -0.2, 0.9, 0.5]];
    compare(&Case { module, kernel, threads: 2, arrays, numbers: vec![5, 3] })
}

#[test]
fn an_element_that_the_reverse_of_a_function_does_not_need_may_be_overwritten() {
    for body in [
        // The gradient needs one of two arguments.
        "o[t] = advance(o[t], x[t], Real(0.1))",
        "o[t] = scaled_sine(o[t], Real(0.3))",
        "o[t] = scaled_sine(o[t], wp.floor(x[0]))",
        // The gradient needs both, because no derivative by the constant is wanted.
        "o[t] = advance(o[t], o[t], Real(0.1))\no[t] = advance(o[t], o[t], Real(0.2))",
        "v = o[t]\no[t] = advance_twice(v, x[t], Real(0.1))\no[t] = advance_twice(o[t], v, Real(2.0))",
        // The call stands in a loop.
        "for i in range(n):\n    o[t] = advance_twice(o[t], x[i] * x[t], Real(0.1))",
        "for i in range(n):\n    o[t] = scaled_sine(o[t], Real(i))",
        // The callee has a loop or a branch.
        "o[t] = sum_of_steps(o[t], x[t], n)",
        "o[t] = chosen(o[t], x[t], n)\no[t] = chosen(o[t], x[t] * x[t], m)",
        // The call has two results, of which one is used.
        "first, second = both(o[t], x[t])\no[t] = Real(2.0) * first + second",
        // The argument is passed by reference.
        "y = o[t]\nbump(y, x[t])\no[t] = y",
        // The argument is a struct.
        "s = State(o[t], wp.vec2d(x[t], o[t]))\no[t] = move(s, Real(0.1)).place",
        // The callee has a gradient by hand, or calls a function that has.
        "o[t] = by_hand(o[t], x[t])",
        "o[t] = around(o[t], x[t])\no[t] = around(o[t], x[t + 1])",
        "v = wp.vec3d(o[t], x[0], o[t])\no[t] = part(v, m - 1, x[t])",
    ] {
        assert_eq!(verdict(body), Verdict::Right, "{body}");
    }
}

#[test]
fn an_element_that_the_reverse_of_a_function_needs_may_not() {
    for body in [
        "o[t] = scaled_sine(x[t], o[t])",
        "o[t] = scaled_sine(Real(0.5), o[t])",
        "o[t] = scaled_sine(o[t], o[t])",
        // The gradient needs the other factor.
        "o[t] = advance(x[t], o[t], x[t + 1])",
        "o[t] = advance_twice(x[t], o[t], x[t + 1])",
        "o[t] = sum_of_steps(x[t], o[t], n)",
        "o[t] = sum_of_steps(x[t], x[t + 1], int(o[t] * Real(20.0)))",
        "o[t] = chosen(x[t], o[t], n)",
        "o[t] = chosen(x[t], x[t + 1], int(o[t] * Real(20.0)))",
        // The loop would not end for another number.
        "o[t] = until_large(o[t] + Real(1.5), x[t])",
        "y = o[t]\nsquare_in_place(y, x[t])\no[t] = y",
        "o[t] = by_hand(x[t], o[t])",
        "o[t] = around(x[t], o[t])",
        "v = wp.vec3d(x[t], x[0], x[t + 1])\no[t] = part(v, int(wp.abs(o[t])), x[t])",
    ] {
        match verdict(body) {
            Verdict::Refused(faults) => assert_eq!(faults[0].code, Code::GradOverwritten, "{body}"),
            verdict => panic!("{body}\n{verdict:?}"),
        }
    }
}

/// Arguments reach a reverse as they were, or not at all.
#[test]
fn arguments_reach_a_reverse_as_they_were() {
    for body in [
        "o[t] = scaled_sine(x[t], x[t + 1]) * scaled_sine(x[t], x[0])",
        "y = x[t]\nsquare_in_place(y, x[t + 1])\nbump(y, y)\no[t] = y * x[0]",
        "y = x[t]\nfor i in range(n):\n    bump(y, x[i])\n    square_in_place(y, Real(0.1))\no[t] = y",
        "o[t] = until_large(x[t] + Real(1.65), x[t + 1]) + around(x[t], x[t + 2])",
        "s = State(x[t], wp.vec2d(x[t + 1], x[0]))\ns = move(s, x[t + 2])\no[t] = move(s, x[t]).place",
        "first, second = both(x[t], x[t + 1])\no[t] = first * second\no[t + 2] = both(first, second)[0]",
    ] {
        assert_eq!(verdict(body), Verdict::Right, "{body}");
    }
}

/// Steps through an array keep every element that was read, also in a function that gets the array
/// and in an unrolled loop.
#[test]
fn steps_through_an_array_keep_what_was_read() {
    for steps in [
        "o[0] = marched(x, o[2])",
        "o[0] = marched_far(x, o[2], n)",
        "for i in range(3):\n        x[i + 1] = x[i] * x[i] - o[2]\n    o[0] = x[3]",
    ] {
        let body = format!("if t == 0:\n    {steps}");
        assert_eq!(verdict(&body), Verdict::Right, "{body}");
    }
    match verdict("if t == 0:\n    o[0] = marched_back(x, o[2])") {
        Verdict::Refused(faults) => assert_eq!(faults[0].code, Code::GradOverwritten),
        verdict => panic!("{verdict:?}"),
    }
}
