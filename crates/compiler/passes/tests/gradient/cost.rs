//! Cost of a reverse launch: statements of the interpreter, as a multiple of those of the forward
//! launch.

use crate::write::{Write, case};
use gbxcule_interp::{Argument, Array, Interpreter};
use gbxcule_ir::builtin::Native;
use gbxcule_ir::check;
use gbxcule_passes::grad::reverses;

/// Counts the statements, forward and backward, of `s = sin(s * x) + x` for a number of iterations.
fn cost(iterations: i32) -> (u64, u64) {
    let case = case(|b| {
        let (t, start) = (b.tid(), b.real(0.5));
        let x = b.x(t);
        let s = b.var("s", start);
        b.loop_n(|b, _| {
            let old = b.load(s);
            let product = b.mul(old, x);
            let sine = b.fun(Native::Sin, product);
            let new = b.add(sine, x);
            b.store(s, new);
        });
        let last = b.load(s);
        b.out(last);
    });
    let valid = check::module(case.module).expect("valid");
    let (reversed, kernels) = reverses(&valid, &[case.kernel]).expect("differentiable");
    let backward = check::module(reversed).expect("valid");
    let steps = |module, kernel| {
        let mut interpreter = Interpreter::new(module);
        interpreter.budget = u64::MAX;
        let arrays = case.arrays.iter().map(|array| {
            let (data, gradient) =
                (interpreter.memory.add_slice(array), interpreter.memory.add_slice(array));
            Array::dense(data, 8, &[array.len() as u32]).with_gradient(gradient).into()
        });
        let mut args: Vec<Argument> = arrays.collect();
        args.extend([iterations.into(), 3.into()]);
        interpreter.launch(kernel, &[1], &args).expect("it runs");
        u64::MAX - interpreter.budget
    };
    (steps(&valid, case.kernel), steps(&backward, kernels[0]))
}

#[test]
fn a_recurrence_costs_a_bounded_number_of_forward_passes() {
    for (iterations, most) in [(10, 14.0), (1_000, 14.0)] {
        let (forward, backward) = cost(iterations);
        let ratio = backward as f64 / forward as f64;
        println!("{iterations} iterations: {forward} forward, {backward} backward: {ratio:.1}");
        assert!(ratio < most, "{iterations}: {ratio}");
    }
}

#[test]
#[ignore = "takes a minute"]
fn a_million_iterations() {
    let (forward, backward) = cost(1_000_000);
    let ratio = backward as f64 / forward as f64;
    println!("1000000 iterations: {forward} forward, {backward} backward: {ratio:.1}");
    assert!(ratio < 17.0, "{ratio}");
}
