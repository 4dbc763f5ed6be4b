//! Checks that the interpreter follows the page about the meaning of IR.

use gbxcule_interp::{Argument, Array, Fault, Interpreter, Outcomes, Refusals};
use gbxcule_ir::check::{self, Valid};
use gbxcule_ir::source::{SourceMap, Span};
use gbxcule_ir::{
    Arg, AtomicOp, BinaryOp, Builder, Case, CompareOp, FunctionId, Module, Param, Scalar, Selector,
    Type,
};

fn checked(module: Module) -> Valid<Module> {
    check::module(module).unwrap_or_else(|faults| panic!("{faults:#?}"))
}

/// Makes a kernel `k(x: array<i32, 1>)`.
fn kernel(build: impl FnOnce(&mut Builder<'_>)) -> (Valid<Module>, FunctionId) {
    let mut module = Module::new("m");
    let array = module.types.array(Type::I32, 1);
    let kernel = module.declare_kernel("k", vec![Param::value("x", array)]);
    let mut b = Builder::new(&mut module, kernel);
    build(&mut b);
    b.finish();
    (checked(module), kernel)
}

fn run(
    build: impl FnOnce(&mut Builder<'_>),
    dims: &[u32],
    memory: &[i32],
) -> Result<Vec<i32>, Fault> {
    run_refusing(Refusals::default(), build, dims, memory)
}

fn run_refusing(
    refusals: Refusals,
    build: impl FnOnce(&mut Builder<'_>),
    dims: &[u32],
    memory: &[i32],
) -> Result<Vec<i32>, Fault> {
    let (module, kernel) = kernel(build);
    let mut interpreter = Interpreter::new(&module);
    interpreter.refusals = refusals;
    interpreter.budget = 100_000;
    let buffer = interpreter.memory.add_slice(memory);
    let array = Array::dense(buffer, 4, &[memory.len() as u32]);
    interpreter.launch(kernel, dims, &[array.into()]).map_err(|failure| failure.fault)?;
    Ok(interpreter.memory.read(buffer))
}

#[test]
fn outcomes_of_comparisons_are_recorded_on_request() {
    let mut sources = SourceMap::new();
    let source = sources.add("m.py", "i < 2 i < 9");
    let spans = [Span::new(source, 0, 5), Span::new(source, 6, 11)];
    let (module, k) = kernel(|b| {
        let i = b.launch_index(0);
        for (span, limit) in spans.into_iter().zip([2, 9]) {
            b.set_span(span);
            let limit = b.i32(limit);
            let below = b.lt(i, limit);
            b.if_then(below, |_| ());
        }
    });
    let mut interpreter = Interpreter::new(&module);
    interpreter.outcomes = Some(Outcomes::new());
    let buffer = interpreter.memory.add_slice(&[0i32; 4]);
    interpreter.launch(k, &[4], &[Array::dense(buffer, 4, &[4]).into()]).expect("a launch");
    let seen = interpreter.outcomes.expect("outcomes");
    assert_eq!(spans.map(|span| seen[&(k, span)]), [[true, true], [false, true]]);
}

#[test]
fn saxpy_runs_over_its_grid() {
    let mut module = Module::new("saxpy");
    let array = module.types.array(Type::F32, 1);
    let params =
        vec![Param::value("x", array), Param::value("y", array), Param::value("a", Type::F32)];
    let kernel = module.declare_kernel("saxpy", params);
    let mut b = Builder::new(&mut module, kernel);
    let i = b.launch_index(0);
    let (x, y) = (b.param_place(0), b.param_place(1));
    let (x, y) = (b.element(x, &[i]), b.element(y, &[i]));
    let (a, x, old) = (b.arg(2), b.load(x), b.load(y));
    let product = b.mul(a, x);
    let sum = b.add(product, old);
    b.store(y, sum);
    b.finish();
    let module = checked(module);
    let mut interpreter = Interpreter::new(&module);
    let x = interpreter.memory.add_slice(&[1.0f32, 2.0, 3.0]);
    let y = interpreter.memory.add_slice(&[10.0f32, 20.0, 30.0]);
    let args: [Argument; 3] = [
        Array::dense(x, 4, &[3]).into(),
        Array { strides: [-4, 0, 0, 0], ..Array::dense(y, 4, &[3]) }.into(),
        2.0f32.into(),
    ];
    // The second array runs backwards, from its last element.
    let mut args = args;
    if let Argument::Array(array) = &mut args[1] {
        array.data = Some(gbxcule_interp::Pointer { buffer: y, offset: 8 });
    }
    interpreter.launch(kernel, &[3], &args).expect("nothing goes wrong");
    assert_eq!(interpreter.memory.read::<f32>(y), [16.0, 24.0, 32.0]);
}

#[test]
fn threads_run_with_the_last_dimension_fastest() {
    let result = run(
        |b| {
            let place = b.param_place(0);
            let (zero, ten) = (b.i32(0), b.i32(10));
            let cell = b.element(place, &[zero]);
            let (x, y, old) = (b.launch_index(0), b.launch_index(1), b.load(cell));
            let shifted = b.mul(old, ten);
            let twice = b.add(x, x);
            let index = b.add(twice, y);
            let new = b.add(shifted, index);
            b.store(cell, new);
        },
        &[2, 2],
        &[9],
    );
    assert_eq!(result, Ok(vec![90_123]));
}

#[test]
fn loops_break_continue_and_count_without_wrapping() {
    let result = run(
        |b| {
            let place = b.param_place(0);
            let (zero, three, minus) = (b.i32(0), b.i32(3), b.i32(-3));
            let (first, last) = (b.i32(i32::MIN + 4), b.i32(i32::MIN));
            let cell = b.element(place, &[zero]);
            // The loop runs twice; a third index would lie below the smallest number, and must not
            // wrap.
            b.for_range("i", [first, last, minus], |b, _| {
                let old = b.load(cell);
                let new = b.add(old, three);
                b.store(cell, new);
            });
            let (one, seven) = (b.i32(1), b.i32(7));
            let second = b.element(place, &[one]);
            b.for_range("i", [zero, seven, one], |b, i| {
                let two = b.i32(2);
                let skipped = b.eq(i, two);
                b.if_then(skipped, Builder::continue_loop);
                let five = b.i32(5);
                let done = b.eq(i, five);
                b.if_then(done, Builder::break_loop);
                let old = b.load(second);
                let new = b.add(old, i);
                b.store(second, new);
            });
        },
        &[1],
        &[0, 0],
    );
    assert_eq!(result, Ok(vec![6, 1 + 3 + 4]));
}

#[test]
fn a_while_loop_without_end_runs_out_of_budget() {
    let result = run(|b| b.while_loop(|b| b.bool(true), |_| ()), &[1], &[0]);
    assert_eq!(result, Err(Fault::Budget));
}

#[test]
fn an_empty_kernel_over_an_endless_grid_runs_out_of_budget() {
    assert_eq!(run(|_| (), &[i32::MAX as u32; 4], &[0]), Err(Fault::Budget));
}

#[test]
fn indices_count_from_the_end_and_fault_outside() {
    let store = |at: i32| {
        run(
            |b| {
                let (place, at, one) = (b.param_place(0), b.i32(at), b.i32(1));
                let cell = b.element(place, &[at]);
                b.store(cell, one);
            },
            &[1],
            &[0, 0],
        )
    };
    assert_eq!(store(-1), Ok(vec![0, 1]));
    assert_eq!(store(-2), Ok(vec![1, 0]));
    assert_eq!(store(2), Err(Fault::Index(2, 2)));
    assert_eq!(store(-3), Err(Fault::Index(-3, 2)));
}

#[test]
fn operations_that_other_languages_define_otherwise_are_refused_on_request() {
    let add = |refusals, at: i32, number: i32| {
        let sum = |b: &mut Builder<'_>| {
            let (place, at, number) = (b.param_place(0), b.i32(at), b.i32(number));
            let cell = b.element(place, &[at]);
            let old = b.load(cell);
            let new = b.add(old, number);
            b.store(cell, new);
        };
        run_refusing(refusals, sum, &[1], &[7, i32::MAX - 1])
    };
    let none = Refusals::default();
    let (indices, wrapping) =
        (Refusals { negative_indices: true, ..none }, Refusals { wrapping: true, ..none });
    assert_eq!(add(none, -1, 2), Ok(vec![7, i32::MIN]));
    assert_eq!(add(indices, -1, 2), Err(Fault::Index(-1, 2)));
    assert_eq!(add(indices, 1, 2), Ok(vec![7, i32::MIN]));
    assert_eq!(add(wrapping, -1, 1), Ok(vec![7, i32::MAX]));
    assert!(matches!(add(wrapping, -1, 2), Err(Fault::Trap(_))));
}

#[test]
fn views_slice_backwards_and_refuse_what_is_outside() {
    let view = |start: i32, len: i32, step: i32| {
        run(
            |b| {
                let array = b.arg(0);
                let (start, len, step) = (b.i32(start), b.i32(len), b.i32(step));
                let part = b.view(array, &[Selector::Range { start, len, step }]);
                let (place, zero, one) = (b.array_place(part), b.i32(0), b.i32(1));
                let extent = b.extent(part, 0);
                b.for_range("i", [zero, extent, one], |b, i| {
                    let cell = b.element(place, &[i]);
                    let one = b.i32(1);
                    let value = b.add(i, one);
                    b.store(cell, value);
                });
            },
            &[1],
            &[0; 5],
        )
    };
    assert_eq!(view(4, 3, -2), Ok(vec![3, 0, 2, 0, 1]));
    assert_eq!(view(99, -1, 1), Ok(vec![0; 5]));
    assert_eq!(view(3, 3, 1), Err(Fault::Index(5, 5)));
    assert_eq!(view(-1, 1, 1), Err(Fault::Index(-1, 5)));
}

#[test]
fn calls_pass_places_and_give_several_results() {
    let mut module = Module::new("m");
    let pair = module.types.tuple(&[Type::U8, Type::I32]);
    let params = vec![Param::mutable("n", Type::I32), Param::value("by", Type::I32)];
    let bump = module.declare("bump", params, pair);
    let mut b = Builder::new(&mut module, bump);
    let (place, by) = (b.param_place(0), b.arg(1));
    let old = b.load(place);
    let new = b.add(old, by);
    b.store(place, new);
    let low = b.convert(new, Scalar::U8);
    let both = b.tuple(&[low, old]);
    b.ret(Some(both));
    b.finish();

    let twice = module.declare("twice", vec![Param::value("n", Type::I32)], Type::I32);
    let mut b = Builder::new(&mut module, twice);
    let n = b.local("n", Type::I32);
    let (place, first) = (b.local_place(n), b.arg(0));
    b.store(place, first);
    let first = b.call(bump, &[Arg::Place(place), Arg::Value(first)]);
    let low = b.extract(first, 0);
    let low = b.convert(low, Scalar::I32);
    let second = b.call(bump, &[Arg::Place(place), Arg::Value(low)]);
    let old = b.extract(second, 1);
    let now = b.load(place);
    let hundred = b.i32(1000);
    let scaled = b.mul(old, hundred);
    let sum = b.add(scaled, now);
    b.ret(Some(sum));
    b.finish();

    let module = checked(module);
    let result =
        Interpreter::new(&module).call(twice, &[21i32.into()]).expect("nothing goes wrong");
    assert_eq!(result, 42_084i32.to_le_bytes());
}

#[test]
fn switch_runs_one_case_and_breaks_leave_the_loop_around() {
    let result = run(
        |b| {
            let place = b.param_place(0);
            let (zero, ten, one) = (b.i32(0), b.i32(10), b.i32(1));
            let cell = b.element(place, &[zero]);
            b.for_range("i", [zero, ten, one], |b, i| {
                let add = |b: &mut Builder<'_>, amount: i32| {
                    let (old, amount) = (b.load(cell), b.i32(amount));
                    let new = b.add(old, amount);
                    b.store(cell, new);
                };
                let small = b.block(|b| add(b, 1));
                let large = b.block(|b| add(b, 100));
                let other = b.block(Builder::break_loop);
                let cases = vec![
                    Case { labels: [0, 2].into(), body: small },
                    Case { labels: [1].into(), body: large },
                ];
                b.switch(i, cases, other);
            });
        },
        &[1],
        &[0],
    );
    assert_eq!(result, Ok(vec![102]));
}

#[test]
fn atomics_give_the_old_value() {
    let result = run(
        |b| {
            let place = b.param_place(0);
            let (zero, one) = (b.i32(0), b.i32(1));
            let (cell, out) = (b.element(place, &[zero]), b.element(place, &[one]));
            let i = b.launch_index(0);
            let old = b.atomic(AtomicOp::Add, cell, i);
            b.store(out, old);
            let five = b.i32(5);
            b.compare_exchange(cell, five, zero);
        },
        &[4],
        &[4, 0],
    );
    // 4, 4+1=5 -> 0, 0+2, 2+3
    assert_eq!(result, Ok(vec![0, 2]));
}

#[test]
fn traps_asserts_and_divisions_by_zero_name_their_thread() {
    let (module, kernel) = kernel(|b| {
        let (i, two, one) = (b.launch_index(0), b.i32(2), b.i32(1));
        let rest = b.sub(i, two);
        b.binary(BinaryOp::Divide, one, rest);
    });
    let mut interpreter = Interpreter::new(&module);
    let buffer = interpreter.memory.add_slice(&[0i32]);
    let args = [Array::dense(buffer, 4, &[1]).into()];
    let failure = interpreter.launch(kernel, &[5], &args).expect_err("thread 2 divides by zero");
    assert_eq!((failure.fault.clone(), failure.thread), (Fault::DivisionByZero, [2, 0, 0, 0]));
    assert_eq!(failure.to_string(), "an integer divided by zero in `k`, thread (2, 0, 0, 0)");

    let result = run(|b| b.trap("oh"), &[1], &[0]);
    assert_eq!(result, Err(Fault::Trap("oh".into())));
    let result = run(
        |b| {
            let no = b.bool(false);
            b.assert(no, "never");
        },
        &[1],
        &[0],
    );
    assert_eq!(result, Err(Fault::Assert("never".into())));
}

#[test]
fn variables_are_zero_when_their_function_begins_and_survive_iterations() {
    let result = run(
        |b| {
            let local = b.local("n", Type::I32);
            let (n, zero, one, three) = (b.local_place(local), b.i32(0), b.i32(1), b.i32(3));
            let (place, i) = (b.param_place(0), b.launch_index(0));
            let cell = b.element(place, &[i]);
            b.for_range("j", [zero, three, one], |b, _| {
                let (old, one) = (b.load(n), b.i32(1));
                let new = b.add(old, one);
                b.store(n, new);
            });
            let now = b.load(n);
            b.store(cell, now);
        },
        &[2],
        &[0, 0],
    );
    assert_eq!(result, Ok(vec![3, 3]));
}

#[test]
fn prints_are_collected() {
    let (module, kernel) = kernel(|b| {
        let (i, half) = (b.launch_index(0), b.f32(0.5));
        let vec2 = b.module.types.vector(2, Scalar::F32);
        let vector = b.splat(vec2, half);
        let less = b.compare(CompareOp::Less, i, i);
        b.print(None, &[i, vector, less]);
        b.print(Some("%d|%5.2f\n"), &[i, half]);
    });
    let mut interpreter = Interpreter::new(&module);
    let buffer = interpreter.memory.add_slice(&[0i32]);
    interpreter.launch(kernel, &[1], &[Array::dense(buffer, 4, &[1]).into()]).expect("it runs");
    assert_eq!(interpreter.output, "0\n0.5 0.5 \nFalse\n0| 0.50\n");
}

#[test]
fn arrays_of_variables_and_absent_arrays() {
    let result = run(
        |b| {
            let fixed = b.module.types.fixed(Type::I32, 3);
            let local = b.local("t", fixed);
            let whole = b.local_place(local);
            let array = b.as_array(whole, 1);
            let (place, two, nine) = (b.array_place(array), b.i32(2), b.i32(9));
            let cell = b.element(place, &[two]);
            b.store(cell, nine);
            let (x, zero) = (b.param_place(0), b.i32(0));
            let (out, at) = (b.element(x, &[zero]), b.at(whole, two));
            let found = b.load(at);
            b.store(out, found);
        },
        &[1],
        &[0],
    );
    assert_eq!(result, Ok(vec![9]));
    let result = run(
        |b| {
            let array = b.arg(0);
            let gradient = b.gradient(array);
            let (place, zero) = (b.array_place(gradient), b.i32(0));
            let cell = b.element(place, &[zero]);
            b.store(cell, zero);
        },
        &[1],
        &[0],
    );
    assert_eq!(result, Err(Fault::AbsentArray));
}
