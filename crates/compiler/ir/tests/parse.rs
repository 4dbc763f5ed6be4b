//! Checks that printed IR reads back: a printed module, parsed and printed again, is the same text.
//! A text that no printer wrote is refused at a line and column.

use gbxcule_ir::source::Span;
use gbxcule_ir::{
    Arg, AtomicOp, Builder, Case, Field, Module, Op, Param, Scalar, Selector, Struct, Type, check,
    parse, print,
};

fn round_trip(module: Module) -> String {
    let text = match check::module(module) {
        Ok(valid) => print::module(&valid),
        Err(faults) => panic!("{faults:#?}"),
    };
    let parsed = parse::module(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(print::module(&parsed), text);
    match check::module(parsed) {
        Ok(_) => text,
        Err(faults) => panic!("{text}\n{faults:#?}"),
    }
}

fn kernel(params: Vec<Param>, build: impl FnOnce(&mut Builder<'_>)) -> String {
    let mut module = Module::new("kernel");
    let kernel = module.declare_kernel("k", params);
    let mut builder = Builder::new(&mut module, kernel);
    build(&mut builder);
    builder.finish();
    round_trip(module)
}

#[test]
fn every_literal_reads_back_to_its_bits() {
    for scalar in Scalar::ALL {
        for bits in
            [0, 1, 2, 0x7f, 0x80, 0x7f80, 0x7fc1, 0x8000, 0xff80_0000, 0x7fc0_0001, u64::MAX]
        {
            let literal = gbxcule_ir::Literal::from_bits(scalar, bits);
            let text = format!("kernel k() {{\n  assert {literal}, \"\"\n}}\n");
            let module = parse::module(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
            let values = &module.functions.iter().next().expect("a kernel").1.body.values;
            let read = values.iter().next().expect("a literal").1.op;
            assert_eq!(read, Op::Literal(literal), "{text}");
        }
    }
}

#[test]
fn blocks_read_back() {
    let text = kernel(vec![Param::value("n", Type::I32)], |b| {
        let x = b.local("x", Type::I32);
        let x = b.local_place(x);
        let (n, one, zero) = (b.arg(0), b.i32(1), b.i32(0));
        b.for_range("i", [zero, n, one], |b, i| {
            let is_one = b.eq(i, one);
            b.if_else(is_one, |b| b.store(x, i), Builder::continue_loop);
            b.while_loop(|b| b.bool(true), Builder::break_loop);
        });
        let now = b.load(x);
        let [first, second, default] = [
            b.block(|b| b.store(x, one)),
            b.block(|b| b.trap("a \"quoted\" text\n\u{1b}")),
            b.empty_block(),
        ];
        let case = |labels: &[i64], body| Case { labels: labels.into(), body };
        b.switch(now, vec![case(&[1, 2], first), case(&[-3], second)], default);
        b.print(Some("%d\\n"), &[now]);
        b.print(None, &[now, one]);
        let fine = b.eq(now, one);
        b.assert(fine, "it's one");
        b.ret(None);
    });
    for part in ["case 1, 2:", "default:", "} else {", "} test true {", "trap \"a \\\"quoted\\\""] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn places_arrays_and_composites_read_back() {
    let mut module = Module::new("kernel");
    let vec3 = module.types.vector(3, Scalar::F32);
    let pose = module.types.transform(Scalar::F32);
    let field = |name: &str, ty| Field { name: name.into(), ty, span: Span::NONE };
    let fields = vec![field("mass", Type::F32), field("at", vec3), field("pose", pose)];
    let body = module.types.define_struct(Struct { name: "Body".into(), fields, span: Span::NONE });
    let (bodies, grid) = (module.types.array(body, 1), module.types.array(Type::I32, 2));
    let row = module.types.fixed(Type::I32, 3);
    let rows = module.types.fixed(row, 2);
    let helper = module.declare("set", vec![Param::mutable("x", vec3)], Type::UNIT);
    let mut b = Builder::new(&mut module, helper);
    let (place, zero) = (b.param_place(0), b.zero(vec3));
    b.store(place, zero);
    b.finish();
    let kernel = module
        .declare_kernel("k", vec![Param::value("bodies", bodies), Param::value("grid", grid)]);
    let mut b = Builder::new(&mut module, kernel);
    // Two variables of one name: `v.1` is the component of the first, not the second.
    let (v, other, fixed) = (b.local("v", vec3), b.local("v", Type::F32), b.local("f", rows));
    let (v, other, fixed) = (b.local_place(v), b.local_place(other), b.local_place(fixed));
    let (i, one, two, half) = (b.launch_index(0), b.i32(1), b.i32(2), b.f32(-0.5));
    b.rename(i, "i");
    let (component, second) = (b.component(v, 1), b.at(v, i));
    b.store(component, half);
    b.store(second, half);
    b.store(other, half);
    b.call(helper, &[Arg::Place(v)]);
    let element = b.param_place(0);
    let element = b.element(element, &[i]);
    let (mass, rotation) = (b.field(element, 0), b.field(element, 2));
    let rotation = b.field(rotation, 1);
    let turn = b.component(rotation, 3);
    b.store(turn, half);
    b.store(mass, half);
    let whole = b.load(element);
    let mass = b.extract(whole, 0);
    let parts = b.construct(vec3, &[mass, half, mass]);
    b.rename(parts, "v");
    b.store(v, parts);
    let array = b.arg(1);
    let range = Selector::Range { start: one, len: two, step: one };
    let view = b.view(array, &[Selector::At(i), range]);
    let cell = b.array_place(view);
    let cell = b.element(cell, &[i]);
    b.atomic(AtomicOp::Max, cell, one);
    b.compare_exchange(cell, one, two);
    let (whole, part) = (b.as_array(fixed, 2), b.as_array(fixed, 1));
    let (_, gradient) = (b.extent(part, 0), b.gradient(whole));
    b.present(gradient);
    let key = b.zero(Type::U32);
    b.lowest(key);
    b.finish();
    let text = round_trip(module);
    for part in
        ["v.1 = -0.5f32", "v.3 = -0.5f32", "array f\n", "array f, 1\n", ".pose.q.3 =", "= lowest %"]
    {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn functions_of_one_name_are_told_apart_by_their_parameters() {
    let text = "func f(x: f32) -> f32 {\n  %0 = load x\n  return %0\n}\n\nfunc f(x: i32) -> i32 {\n  %0 = load x\n  return %0\n}\n\nkernel k(a: array<i32, 1>) {\n  %0 = f(1i32)\n  a[0i32] = %0\n}\n";
    let module = parse::module(text).expect("IR");
    assert_eq!(print::module(&module), text);
    assert!(check::module(module).is_ok());
}

#[test]
fn what_is_no_ir_is_refused_where_it_stands() {
    let inside =
        |line: &str| format!("kernel k(x: array<f32, 1>) {{\n  %0 = load x\n  {line}\n}}\n");
    for (text, said) in [
        ("what".to_owned(), "1:1: expected `struct`, `func` or `kernel`, found `what`"),
        ("kernel k() {\n".into(), "1:13: this body has no end: a `}` is missing"),
        ("kernel k(x: f33) {\n}".into(), "1:13: expected a type, found `f33`"),
        ("kernel k(x: f32, x: f32) {\n}".into(), "1:27: there are two parameters `x`"),
        ("table t: f32 = 4 bytes".into(), "1:1: the bytes of a table aren't part of printed IR"),
        ("kernel k() # {\n}".into(), "1:12: `#` is not a token of IR"),
        (inside("%1 = plus %0, %0"), "3:8: expected an operation, found `plus`"),
        (inside("%1 = neg %2"), "3:12: expected a value, found `%2`"),
        (inside("%0 = load x"), "3:14: `%0` is defined twice"),
        (inside("%1 = f(%0)"), "3:8: there is no function `f`"),
        (inside("x[300i8] = 1.0f32"), "3:5: expected a value, found `300i8`"),
        (inside("trap \"open"), "3:8: a text needs a quote at its end and Rust's escapes"),
        (inside("switch 1i32 {\n  }"), "4:4: a switch ends with `default:`"),
    ] {
        let error = parse::module(&text).map(|_| ()).expect_err(&text);
        assert_eq!(error.to_string(), said, "{text}");
    }
}

#[test]
fn texts_that_nest_without_end_are_refused() {
    let blocks = format!("kernel k() {{\n{}", "if true {\n".repeat(100_000));
    let closed = format!("{blocks}{}", "}\n".repeat(100_001));
    let types = format!("kernel k(x: {}f32) {{\n}}", "[".repeat(100_000));
    for text in [blocks, closed, types] {
        let error = parse::module(&text).map(|_| ()).expect_err("it nests too deep");
        assert!(error.message.contains("deep") || error.message.contains("no end"), "{error}");
    }
}
