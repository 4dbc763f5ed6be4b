//! Launches: the effects of kernels on memory, and the errors of callers.

use gbxcule_ir::check;
use gbxcule_ir::source::{SourceMap, Span};
use gbxcule_ir::{
    Arg, AtomicOp, BinaryOp, Builder, Case, Field, Inline, Literal, Module, Native, Param, Scalar,
    Selector, Struct, Table, Type,
};
use gbxcule_passes::pass;
use gbxcule_runtime::{
    Argument, Array, Build, DataType, Device, Element, Error, Fault, Kernel, Output, compile,
};
use std::sync::{Arc, Mutex};

fn kernel_of(module: Module, name: &str) -> Kernel {
    let module = check::module(module).expect("valid");
    let compiled = compile(&module, Device::Cpu, Build::default()).expect("compiles");
    compiled.kernel(name).expect("is there")
}

/// Returns a kernel `k(a: array[float32], n: i32)`.
fn kernel(fill: impl FnOnce(&mut Builder<'_>)) -> Kernel {
    let mut module = Module::new("m");
    let array = module.types.array(Type::F32, 1);
    let params = vec![Param::value("a", array), Param::value("n", Type::I32)];
    let id = module.declare_kernel("k", params);
    let mut b = Builder::new(&mut module, id);
    fill(&mut b);
    b.finish();
    kernel_of(module, "k")
}

/// Stores a launch index as a float at an index into the array.
fn store_at(b: &mut Builder<'_>, index: gbxcule_ir::Value) {
    let i = b.launch_index(0);
    let (a, value) = (b.param_place(0), b.convert(i, Scalar::F32));
    let a = b.element(a, &[index]);
    b.store(a, value);
}

fn fault(result: Result<(), Error>) -> Fault {
    match result {
        Err(Error::Fault(fault)) => *fault,
        other => panic!("no fault: {other:?}"),
    }
}

#[test]
fn a_launch_runs_each_point_of_the_grid_once() {
    let mut module = Module::new("grid");
    let array = module.types.array(Type::I32, 3);
    let id = module.declare_kernel("k", vec![Param::value("a", array)]);
    let mut b = Builder::new(&mut module, id);
    let index = [0, 1, 2].map(|dim| b.launch_index(dim));
    let a = b.param_place(0);
    let a = b.element(a, &index);
    let one = b.i32(1);
    b.atomic(AtomicOp::Add, a, one);
    b.finish();
    let kernel = kernel_of(module, "k");
    for shape in [[1, 1, 1], [3, 5, 7], [40, 3, 1001], [1, 100_000, 1]] {
        let array = Array::zeros(i32::data_type(), &shape).expect("fits");
        kernel.launch(&shape, &[Argument::from(&array)]).expect("runs");
        let counts = array.to_vec::<i32>().expect("i32");
        assert!(counts.iter().all(|&count| count == 1), "{shape:?}");
        // The kernel asks for three dimensions, so each index runs once for each index of a fourth.
        kernel.launch(&[shape[0], shape[1], shape[2], 3], &[Argument::from(&array)]).expect("runs");
        assert!(array.to_vec::<i32>().expect("i32").iter().all(|&count| count == 4));
    }
}

#[test]
fn a_grid_without_threads_runs_nothing() {
    let kernel = kernel(|b| b.trap("ran"));
    let array = Array::from_slice(&[0.0f32]);
    kernel.launch(&[0], &[Argument::from(&array), 0.into()]).expect("nothing to run");
    kernel.launch(&[5, 0], &[Argument::from(&array), 0.into()]).expect("nothing to run");
}

#[test]
fn an_index_outside_stops_the_launch_and_says_where() {
    let mut sources = SourceMap::new();
    let source = sources.add("a.py", "one\na[i + 3] = i\n");
    let kernel = kernel(|b| {
        let i = b.launch_index(0);
        let three = b.i32(3);
        let index = b.add(i, three);
        b.set_span(Span::new(source, 4, 12));
        store_at(b, index);
    });
    let array = Array::zeros(f32::data_type(), &[10]).expect("fits");
    let args = [Argument::from(&array), 0.into()];
    kernel.launch(&[7], &args).expect("inside");
    let fault = fault(kernel.launch(&[8], &args));
    assert_eq!((fault.code.name(), &fault.thread[..]), ("index", &[7][..]));
    let text = gbxcule_ir::diagnostic::render(&[fault.diagnostic()], &sources);
    assert!(text.contains("a.py:2:1") && text.contains("index 10 where there are 10"), "{text}");
    let all = Error::Fault(Box::new(fault)).to_string();
    assert_eq!(all, "kernel `k` stopped at thread (7): index 10 where there are 10 elements");
    // A launch that is large enough for all threads stops too.
    assert!(kernel.launch(&[1 << 20], &args).is_err());
}

#[test]
fn negative_indices_count_from_the_end() {
    let kernel = kernel(|b| {
        let (i, one) = (b.launch_index(0), b.i32(1));
        let next = b.add(i, one);
        let index = b.neg(next);
        store_at(b, index);
    });
    let array = Array::zeros(f32::data_type(), &[4]).expect("fits");
    let args = [Argument::from(&array), 0.into()];
    kernel.launch(&[4], &args).expect("inside");
    assert_eq!(array.to_vec::<f32>().expect("f32"), [3.0, 2.0, 1.0, 0.0]);
    assert_eq!(fault(kernel.launch(&[5], &args)).message, "index -5 where there are 4 elements");
}

#[test]
fn faults_of_every_kind_have_their_code() {
    type Fill = fn(&mut Builder<'_>);
    let cases: [(&str, Fill); 6] = [
        ("division-by-zero", |b| {
            let (n, one) = (b.arg(1), b.i32(1));
            let quotient = b.binary(BinaryOp::FloorDivide, one, n);
            store_at(b, quotient);
        }),
        ("trap", |b| b.trap("no")),
        ("assert", |b| {
            let (n, one) = (b.arg(1), b.i32(1));
            let equal = b.eq(n, one);
            b.assert(equal, "n is 1");
        }),
        ("view", |b| {
            let (a, zero, len, one) = (b.arg(0), b.i32(0), b.i32(3), b.i32(1));
            b.view(a, &[Selector::Range { start: zero, len, step: one }]);
        }),
        ("absent-array", |b| {
            let (a, n) = (b.arg(0), b.arg(1));
            let gradient = b.gradient(a);
            let place = b.array_place(gradient);
            let place = b.element(place, &[n]);
            b.load(place);
        }),
        ("index", |b| {
            let v = b.module.types.vector(3, Scalar::F32);
            let (local, n) = (b.local("v", v), b.arg(1));
            let (place, minus) = (b.local_place(local), b.i32(-4));
            let index = b.add(n, minus);
            let part = b.at(place, index);
            b.load(part);
        }),
    ];
    for (code, fill) in cases {
        let kernel = kernel(fill);
        let array = Array::from_slice(&[0.0f32, 0.0]);
        let result = kernel.launch(&[3], &[Argument::from(&array), 0.into()]);
        assert_eq!(fault(result).code, code);
    }
}

#[test]
fn a_fault_in_a_function_out_of_line_names_it() {
    for inline in [Inline::Always, Inline::Never] {
        let mut module = Module::new("m");
        let array = module.types.array(Type::F32, 1);
        let params = vec![Param::value("a", array), Param::value("i", Type::I32)];
        let inner = module.declare("inner", params, Type::F32);
        let mut b = Builder::new(&mut module, inner);
        let (a, i) = (b.param_place(0), b.arg(1));
        let a = b.element(a, &[i]);
        let value = b.load(a);
        b.ret(Some(value));
        b.finish();
        module.functions[inner].inline = inline;
        let id = module.declare_kernel("k", vec![Param::value("a", array)]);
        let mut b = Builder::new(&mut module, id);
        let (a, i) = (b.arg(0), b.launch_index(0));
        b.call(inner, &[Arg::Value(a), Arg::Value(i)]);
        b.finish();
        let kernel = kernel_of(module, "k");
        let array = Array::from_slice(&[0.0f32; 5]);
        let fault = fault(kernel.launch(&[100], &[Argument::from(&array)]));
        assert_eq!((fault.function.as_str(), fault.thread[0]), ("inner", 5));
    }
}

#[test]
fn arguments_that_do_not_fit_are_named() {
    let kernel = kernel(|b| {
        let n = b.arg(1);
        store_at(b, n);
    });
    let (floats, ints) = (Array::from_slice(&[0.0f32]), Array::from_slice(&[0i32]));
    let square = Array::zeros(f32::data_type(), &[2, 2]).expect("fits");
    let say = |args: &[Argument]| kernel.launch(&[1], args).expect_err("refused").to_string();
    assert_eq!(say(&[]), "kernel `k` takes 2 arguments (a, n), found 0");
    assert_eq!(
        say(&[Argument::from(&ints), 0.into()]),
        "argument `a` of kernel `k`: needs `array[float32]`, found `array[int32]`"
    );
    assert_eq!(
        say(&[Argument::from(&square), 0.into()]),
        "argument `a` of kernel `k`: needs `array[float32]`, found `array2d[float32]`"
    );
    assert_eq!(
        say(&[Argument::from(&floats), 0.5f32.into()]),
        "argument `n` of kernel `k`: needs `int32`, found `float32`"
    );
    assert_eq!(
        say(&[Argument::from(&floats), Argument::Int(1 << 40)]),
        "argument `n` of kernel `k`: needs `int32`, found `1099511627776`"
    );
    let grid = kernel.launch(&[1 << 40], &[Argument::from(&floats), 0.into()]);
    assert!(grid.expect_err("too large").to_string().contains("at most 2147483647 threads"));
}

#[test]
fn asking_for_an_unknown_kernel_says_which_there_are() {
    let module = check::module(Module::new("empty")).expect("valid");
    let compiled = compile(&module, Device::Cpu, Build::default()).expect("compiles");
    let error = compiled.kernel("k").err().expect("no kernels");
    assert_eq!(error.to_string(), "no kernel is called `k`; there are none");
}

#[test]
fn equal_modules_are_compiled_once_and_others_are_not() {
    let build = |limit: i32| {
        let mut module = Module::new("m");
        let id = module.declare_kernel("k", vec![]);
        let mut b = Builder::new(&mut module, id);
        let (i, limit) = (b.launch_index(0), b.i32(limit));
        let below = b.lt(i, limit);
        b.assert(below, "below");
        b.finish();
        check::module(module).expect("valid")
    };
    let compiled =
        [build(1), build(1), build(2)].map(|m| compile(&m, Device::Cpu, Build::default()));
    let [one, again, other] = compiled.map(|compiled| compiled.expect("compiles"));
    assert!(Arc::ptr_eq(&one, &again) && !Arc::ptr_eq(&one, &other));
    assert!(one.kernel("k").expect("is there").launch(&[2], &[]).is_err());
    assert!(other.kernel("k").expect("is there").launch(&[2], &[]).is_ok());
}

#[test]
fn structs_with_arrays_tables_and_switches_work_together() {
    let mut module = Module::new("m");
    let array = module.types.array(Type::I32, 1);
    let table = module.types.fixed(Type::I32, 4);
    let bytes: Vec<u8> = [10i32, 20, 30, 40].iter().flat_map(|v| v.to_le_bytes()).collect();
    let span = Span::NONE;
    let table = module.add_table(Table { name: "T".into(), ty: table, bytes: bytes.into(), span });
    let field = |name: &str, ty| Field { name: name.into(), ty, span };
    let fields = vec![field("small", Type::U8), field("out", array), field("k", Type::I64)];
    let ty = module.types.define_struct(Struct { name: "S".into(), fields, span });
    let id = module.declare_kernel("k", vec![Param::value("s", ty)]);
    let mut b = Builder::new(&mut module, id);
    let (i, four) = (b.launch_index(0), b.i32(4));
    let rest = b.binary(BinaryOp::Remainder, i, four);
    let t = b.table_place(table);
    let t = b.at(t, rest);
    let value = b.load(t);
    let s = b.param_place(0);
    let (out, k) = (b.field(s, 1), b.field(s, 2));
    let out = b.element(out, &[i]);
    let k = b.load(k);
    let k = b.convert(k, Scalar::I32);
    let sum = b.add(value, k);
    let cases = [vec![0, 2], vec![-1]].map(|labels| {
        let body = b.block(|b| b.store(out, sum));
        Case { labels: labels.into(), body }
    });
    let default = b.block(|b| {
        let minus = b.i32(-1);
        b.store(out, minus);
    });
    b.switch(rest, cases.into(), default);
    b.finish();
    let kernel = kernel_of(module, "k");
    let out = Array::zeros(i32::data_type(), &[5]).expect("fits");
    let fields = |k: Argument| {
        let fields = [("small", 1u8.into()), ("out", Argument::from(&out)), ("k", k)];
        Argument::Struct(fields.map(|(name, value)| (name.into(), value)).into())
    };
    kernel.launch(&[5], &[fields(Argument::Int(-5))]).expect("runs");
    assert_eq!(out.to_vec::<i32>().expect("i32"), [5, -1, 25, -1, 5]);
    let error = kernel.launch(&[5], &[fields(1.5f32.into())]).expect_err("refused").to_string();
    assert_eq!(error, "argument `s.k` of kernel `k`: needs `int64`, found `float32`");
}

#[test]
fn atomics_of_many_threads_lose_nothing() {
    let kernel = kernel(|b| {
        let (a, zero, one, two) = (b.param_place(0), b.i32(0), b.f32(1.0), b.i32(1));
        let sum = b.element(a, &[zero]);
        b.atomic(AtomicOp::Add, sum, one);
        let i = b.launch_index(0);
        let (largest, i) = (b.element(a, &[two]), b.convert(i, Scalar::F32));
        b.atomic(AtomicOp::Max, largest, i);
    });
    let array = Array::from_slice(&[0.0f32, -1.0]);
    kernel.launch(&[1 << 20], &[Argument::from(&array), 0.into()]).expect("runs");
    assert_eq!(array.to_vec::<f32>().expect("f32"), [1_048_576.0, 1_048_575.0]);
}

#[test]
fn printed_lines_come_out_whole() {
    let kernel = kernel(|b| {
        let i = b.launch_index(0);
        let half = b.f32(0.5);
        let pair = b.module.types.vector(2, Scalar::F32);
        let pair = b.splat(pair, half);
        b.print(Some("%d: %.2f\n"), &[i, half]);
        b.print(None, &[i, pair]);
    });
    let text = Arc::new(Mutex::new(String::new()));
    let array = Array::from_slice(&[0.0f32]);
    let args = [Argument::from(&array), 0.into()];
    kernel.launch_with_output(&[2], &args, Output::Nowhere).expect("runs");
    kernel.launch_with_output(&[2], &args, Output::Text(Arc::clone(&text))).expect("runs");
    let text = text.lock().expect("not poisoned");
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["0", "0.5 0.5 ", "0.5 0.5 ", "0: 0.50", "1", "1: 0.50"]);
}

#[test]
fn arrays_that_are_only_read_need_no_lock_of_their_own() {
    let mut module = Module::new("m");
    let array = module.types.array(Type::F32, 1);
    let copy = module.declare(
        "copy",
        vec![Param::value("a", array), Param::value("b", array)],
        Type::UNIT,
    );
    let mut b = Builder::new(&mut module, copy);
    let i = b.launch_index(0);
    let (from, to) = (b.param_place(0), b.param_place(1));
    let (from, to) = (b.element(from, &[i]), b.element(to, &[i]));
    let value = b.load(from);
    b.store(to, value);
    b.finish();
    let id = module.declare_kernel("k", vec![Param::value("x", array), Param::value("y", array)]);
    let mut b = Builder::new(&mut module, id);
    let (x, y) = (b.arg(0), b.arg(1));
    b.call(copy, &[Arg::Value(x), Arg::Value(y)]);
    b.finish();
    let kernel = kernel_of(module, "k");
    let written: Vec<bool> = kernel.reflection().parameters.iter().map(|p| p.written).collect();
    assert_eq!(written, [false, true]);
    let array = Array::from_slice(&[1.0f32, 2.0]);
    // The launch locks an array that is passed twice once, for writing.
    kernel.launch(&[2], &[Argument::from(&array), Argument::from(&array)]).expect("runs");
}

#[test]
fn views_of_the_host_reach_the_right_elements() {
    let kernel = kernel(|b| {
        let i = b.launch_index(0);
        store_at(b, i);
    });
    let matrix = Array::zeros(f32::data_type(), &[3, 4]).expect("fits");
    let column = matrix.index_dim(1, 1).expect("a column").slice(0, 0..3, -1).expect("backwards");
    kernel.launch(&[3], &[column.into(), 0.into()]).expect("runs");
    let all = matrix.to_vec::<f32>().expect("f32");
    assert_eq!([all[1], all[5], all[9]], [2.0, 1.0, 0.0]);
    assert_eq!(all.iter().filter(|&&value| value != 0.0).count(), 2);
}

#[test]
fn sines_are_right_to_the_last_place_everywhere() {
    let kernel = kernel(|b| {
        let i = b.launch_index(0);
        let (a, n) = (b.param_place(0), b.arg(1));
        let a = b.element(a, &[i]);
        let (x, zero) = (b.load(a), b.i32(0));
        let (sine, cosine) = (b.native(Native::Sin, &[x]), b.native(Native::Cos, &[x]));
        let which = b.eq(n, zero);
        let chosen = b.select(which, sine, cosine);
        b.store(a, chosen);
    });
    // Every 2^14th float, and floats around multiples of half of pi.
    let mut all: Vec<f32> = (0..1 << 18).map(|k| f32::from_bits(k << 14)).collect();
    all.extend((0..70_000).map(|k| (f64::from(k) * std::f64::consts::FRAC_PI_2) as f32));
    for (n, exact) in [(0, f64::sin as fn(f64) -> f64), (1, f64::cos)] {
        let array = Array::from_slice(&all);
        kernel.launch(&[all.len()], &[Argument::from(&array), n.into()]).expect("runs");
        for (&x, found) in all.iter().zip(array.to_vec::<f32>().expect("f32")) {
            let wanted = exact(f64::from(x)) as f32;
            let far = i64::from(wanted.to_bits()).abs_diff(i64::from(found.to_bits()));
            assert!(
                far <= 1 || wanted.is_nan() && found.is_nan(),
                "{x:e}: {found:e} for {wanted:e}"
            );
        }
    }
}

#[test]
fn a_switch_of_500_cases_and_a_body_of_50_000_operations_compile() {
    let kernel = kernel(|b| {
        let (local, i) = (b.local("x", Type::I32), b.launch_index(0));
        let x = b.local_place(local);
        b.store(x, i);
        for _ in 0..100 {
            let (now, three) = (b.load(x), b.i32(3));
            let mut value = now;
            for _ in 0..160 {
                let product = b.mul(value, three);
                value = b.add(product, now);
            }
            b.store(x, value);
        }
        let cases = (0..500).map(|label| {
            let body = b.block(|b| {
                let mut value = b.load(x);
                for _ in 0..16 {
                    let literal = b.literal(Literal::int(Scalar::I32, i128::from(label) + 7));
                    value = b.binary(BinaryOp::Xor, value, literal);
                    value = b.add(value, literal);
                }
                b.store(x, value);
            });
            Case { labels: [label].into(), body }
        });
        let cases: Vec<Case> = cases.collect();
        let default = b.block(|b| b.trap("no such case"));
        b.switch(i, cases, default);
        let (a, last) = (b.param_place(0), b.load(x));
        let (a, last) = (b.element(a, &[i]), b.convert(last, Scalar::F32));
        b.store(a, last);
    });
    let array = Array::zeros(f32::data_type(), &[501]).expect("fits");
    let args = [Argument::from(&array), 0.into()];
    kernel.launch(&[500], &args).expect("each case");
    assert_eq!(fault(kernel.launch(&[501], &args)).message, "trap: no such case");
    let mut one = 1i32;
    for _ in 0..100 {
        let now = one;
        (0..160).for_each(|_| one = one.wrapping_mul(3).wrapping_add(now));
    }
    (0..16).for_each(|_| one = (one ^ 8).wrapping_add(8));
    assert_eq!(array.to_vec::<f32>().expect("f32")[1], one as f32);
}

#[test]
fn large_values_and_deep_blocks_compile() {
    let kernel = kernel(|b| {
        let big = b.module.types.fixed(Type::F32, 1000);
        let (local, i) = (b.local("big", big), b.launch_index(0));
        let place = b.local_place(local);
        let whole = b.load(place);
        let one = b.f32(1.0);
        let ones = b.splat(big, one);
        let zero = b.i32(0);
        let first = b.eq(i, zero);
        let chosen = b.select(first, whole, ones);
        b.store(place, chosen);
        let part = b.at(place, i);
        let yes = b.bool(true);
        for _ in 0..190 {
            b.open_block();
        }
        let value = b.load(part);
        let a = b.param_place(0);
        let a = b.element(a, &[i]);
        b.store(a, value);
        for _ in 0..190 {
            let block = b.close_block();
            let empty = b.empty_block();
            b.if_blocks(yes, block, empty);
        }
    });
    let array = Array::from_slice(&[7.0f32; 4]);
    kernel.launch(&[4], &[Argument::from(&array), 0.into()]).expect("runs");
    assert_eq!(array.to_vec::<f32>().expect("f32"), [0.0, 1.0, 1.0, 1.0]);
}

#[test]
fn variables_larger_than_a_stack_are_refused() {
    let mut module = Module::new("m");
    let big = module.types.fixed(Type::F64, 10_000_000);
    let id = module.declare_kernel("k", vec![]);
    let mut b = Builder::new(&mut module, id);
    b.local("big", big);
    b.finish();
    let module = check::module(module).expect("valid");
    let error = compile(&module, Device::Cpu, Build::default()).err().expect("refused");
    assert!(error.to_string().contains("needs 80000016 bytes for its variables"), "{error}");
}

#[test]
fn composites_are_passed_by_their_image() {
    let mut module = Module::new("m");
    let matrix = module.types.matrix(2, 2, Scalar::F32);
    let array = module.types.array(matrix, 1);
    let id = module.declare_kernel("k", vec![Param::value("a", array), Param::value("m", matrix)]);
    let mut b = Builder::new(&mut module, id);
    let (i, a, m) = (b.launch_index(0), b.param_place(0), b.arg(1));
    let a = b.element(a, &[i]);
    b.store(a, m);
    b.finish();
    let kernel = kernel_of(module, "k");
    let out = Array::zeros(DataType::Matrix(2, 2, Scalar::F32), &[2]).expect("fits");
    let args = [Argument::from(&out), Argument::from([[1.0f32, 2.0], [3.0, 4.0]])];
    kernel.launch(&[2], &args).expect("runs");
    assert_eq!(out.to_vec::<[f32; 4]>().expect("four"), [[1.0, 2.0, 3.0, 4.0]; 2]);
}

/// Returns a module with `get(a, i) = a[i]`, trusted or not, and a kernel that passes it the first
/// two of four elements.
fn of_the_first_two(trusted: bool) -> Module {
    let mut module = Module::new("two");
    let array = module.types.array(Type::I32, 1);
    let params = vec![Param::value("a", array), Param::value("i", Type::I32)];
    let get = module.declare("get", params.clone(), Type::I32);
    module.functions[get].inline = Inline::Always;
    module.functions[get].trusted = trusted;
    let mut b = Builder::new(&mut module, get);
    let (a, i) = (b.param_place(0), b.arg(1));
    let cell = b.element(a, &[i]);
    let value = b.load(cell);
    b.ret(Some(value));
    b.finish();
    let kernel = module.declare_kernel("k", params);
    module.functions[kernel].trusted = true;
    let mut b = Builder::new(&mut module, kernel);
    let [zero, one, two] = [0, 1, 2].map(|number| b.i32(number));
    let (a, i) = (b.arg(0), b.arg(1));
    let part = b.view(a, &[Selector::Range { start: zero, len: two, step: one }]);
    let value = b.call(get, &[Arg::Value(part), Arg::Value(i)]);
    let a = b.param_place(0);
    let first = b.element(a, &[zero]);
    b.store(first, value);
    b.finish();
    module
}

#[test]
#[allow(
    unsafe_code,
    reason = "what a trusted function does beyond its array, it does inside the memory"
)]
fn trusted_functions_alone_are_not_checked() {
    for simplify in [false, true] {
        for (trusted, build) in [
            (true, Build::default()),
            // SAFETY: the index lies in the memory behind the view.
            (false, unsafe { Build::trusting() }),
            // SAFETY: the index lies in the memory behind the view.
            (true, unsafe { Build::trusting() }),
        ] {
            let mut module = check::module(of_the_first_two(trusted)).expect("valid");
            if simplify {
                module = pass::simplify(module);
            }
            let compiled = compile(&module, Device::Cpu, build).expect("compiles");
            let array = Array::from_slice(&[1, 2, 3, 4]);
            let ran =
                compiled.kernel("k").expect("is there").launch(&[1], &[(&array).into(), 3.into()]);
            if trusted && build != Build::default() {
                assert_eq!(ran, Ok(()));
                assert_eq!(array.to_vec::<i32>().expect("i32"), [4, 2, 3, 4]);
            } else {
                assert_eq!(fault(ran).message, "index 3 where there are 2 elements");
            }
        }
    }
}
