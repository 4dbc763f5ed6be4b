//! Refusals, as users see them. Each code has a section in docs/gradients.md.

use crate::hook::reverse;
use gbxcule_ir::check;
use gbxcule_ir::diagnostic::{Code, CodeSource, render};
use gbxcule_ir::source::SourceMap;
use gbxcule_ir::{Arg, Builder, Module, Param, Type};
use gbxcule_passes::grad::reverses;

/// Texts that are refused.
const REFUSED: [(&str, &str); 14] = [
    (
        "grad-overwritten",
        "
@wp.kernel
def k(x: wp.array(dtype=float)):
    i = wp.tid()
    for step in range(3):
        x[i] = x[i] * wp.sin(x[i])
",
    ),
    // The first iteration reads the element that the last one writes: -1 counts from the end.
    (
        "grad-overwritten",
        "
@wp.kernel
def k(x: wp.array(dtype=float), o: wp.array(dtype=float), n: int):
    for k in range(n):
        o[k] = o[k - 1] * x[k]
",
    ),
    // An element that is read is written afterwards.
    (
        "grad-overwritten",
        "
@wp.kernel
def k(x: wp.array(dtype=float), o: wp.array(dtype=float), n: int):
    for k in range(1, n):
        o[k - 1] = o[k] * x[k]
",
    ),
    // A second loop writes from the beginning again.
    (
        "grad-overwritten",
        "
@wp.kernel
def k(x: wp.array(dtype=float), o: wp.array(dtype=float), n: int):
    for step in range(n):
        for k in range(1, n):
            o[k] = o[k - 1] * x[k]
",
    ),
    // The direction of the loop isn't known.
    (
        "grad-overwritten",
        "
@wp.kernel
def k(x: wp.array(dtype=float), o: wp.array(dtype=float), n: int):
    for k in range(1, 5, n):
        o[k] = o[k - 1] * x[k]
",
    ),
    // An index comes from an array: only the author knows which element comes first.
    (
        "grad-overwritten",
        "
@wp.kernel
def k(x: wp.array(dtype=float), parent: wp.array(dtype=int), o: wp.array(dtype=float), n: int):
    for j in range(n):
        o[j] = o[parent[j]] * x[j]
",
    ),
    (
        "grad-atomic",
        "
@wp.kernel
def k(x: wp.array(dtype=float), slots: wp.array(dtype=int), o: wp.array(dtype=float)):
    at = wp.atomic_add(slots, 0, 1)
    o[at] = x[at] * x[at]
",
    ),
    (
        "grad-atomic",
        "
@wp.kernel
def k(x: wp.array(dtype=float), o: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(o, 0, x[i])
    wp.atomic_max(o, 0, 1.0)
",
    ),
    (
        "grad-local-array",
        "
@wp.func
def total(values: wp.array(dtype=float)):
    return values[0] * values[1]
@wp.kernel
def k(x: wp.array(dtype=float), o: wp.array(dtype=float)):
    i = wp.tid()
    values = wp.zeros(shape=(2,), dtype=float)
    values[0] = x[i]
    values[1] = x[i] * x[i]
    o[i] = total(values)
",
    ),
    (
        "grad-stored-array",
        "
@wp.struct
class Row:
    values: wp.array(dtype=float)
@wp.kernel
def k(rows: wp.array(dtype=Row), x: wp.array(dtype=float), o: wp.array(dtype=float)):
    i = wp.tid()
    rows[i] = rows[i + 1]
    o[i] = x[i] * x[i]
",
    ),
    (
        "grad-bits",
        "
@wp.kernel
def k(x: wp.array(dtype=float), o: wp.array(dtype=float)):
    i = wp.tid()
    bits = wp.cast(x[i], wp.uint32)
    o[i] = wp.cast(bits & wp.uint32(0xFFFFFF00), wp.float32)
",
    ),
    (
        "grad-of-gradient",
        "
@wp.kernel
def k(x: wp.array(dtype=float), o: wp.array(dtype=float)):
    i = wp.tid()
    o[i] = x.grad[i] * 2.0
",
    ),
    (
        "grad-replay",
        "
@wp.func
def f(x: float):
    return x * x
@wp.func_replay(f)
def replay_f(x: float):
    return x
@wp.kernel
def k(x: wp.array(dtype=float), o: wp.array(dtype=float)):
    i = wp.tid()
    o[i] = f(x[i])
",
    ),
    (
        "unsupported-adjoint",
        "
@wp.func
def f(x: wp.array(dtype=float), i: int):
    return x[i]
@wp.func_grad(f)
def adj_f(x: wp.array(dtype=float), i: int, adj: float):
    wp.adjoint[x][i] += adj
@wp.kernel
def k(x: wp.array(dtype=float), o: wp.array(dtype=float)):
    i = wp.tid()
    o[i] = f(x, i)
",
    ),
];

/// Returns the refusal of a gradient by hand that the IR names and whose signature doesn't fit.
fn unfit() -> String {
    let mut module = Module::new("m");
    let f = module.declare("f", vec![Param::value("x", Type::F64)], Type::F64);
    let mut b = Builder::new(&mut module, f);
    let x = b.arg(0);
    b.ret(Some(x));
    b.finish();
    module.functions[f].adjoint = Some(f);
    let array = module.types.array(Type::F64, 1);
    let kernel = module.declare_kernel("k", vec![Param::value("x", array)]);
    let mut b = Builder::new(&mut module, kernel);
    let (array, zero) = (b.param_place(0), b.i32(0));
    let cell = b.element(array, &[zero]);
    let x = b.load(cell);
    let result = b.call(f, &[Arg::Value(x)]);
    b.store(cell, result);
    b.finish();
    let module = check::module(module).expect("valid");
    render(&reverses(&module, &[kernel]).expect_err("it doesn't fit"), &SourceMap::new())
}

#[test]
fn refusals_name_the_line_and_say_what_to_do() {
    let document = include_str!("../../../../../docs/gradients.md");
    let mut shown = String::new();
    for (code, text) in REFUSED {
        let faults = reverse(text).expect_err(code);
        assert!(faults.starts_with(&format!("error[{code}]")), "{code}: {faults}");
        assert!(document.contains(&format!("### `{code}`")), "{code} has no section");
        shown += &format!("{faults}\n");
    }
    let faults = unfit();
    assert!(faults.starts_with("error[grad-by-hand]"), "{faults}");
    for code in Code::ALL.iter().filter(|code| code.stage() == CodeSource::Gradient) {
        assert!(document.contains(&format!("### `{code}`")), "{code} has no section");
    }
    insta::assert_snapshot!(shown + &faults);
}
