//! Checks that printed IR reads back, and that a text that no printer wrote is refused at a line
//! and column. The testkit's samples in IR read back as they were written.

use gbxcule_ir::{Op, Scalar, check, parse, print};

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
fn functions_of_one_name_are_told_apart_by_their_parameters() {
    let text = "func f(x: f32) -> f32 {\n  %0 = load x\n  return %0\n}\n\nfunc f(x: i32) -> i32 {\n  %0 = load x\n  return %0\n}\n\nkernel k(a: array<i32, 1>) {\n  %0 = f(1i32)\n  a[0i32] = %0\n}\n";
    let module = parse::module(text).expect("IR");
    assert_eq!(print::module(&module), text);
    assert!(check::module(module).is_ok());
}

#[test]
fn functions_of_one_name_and_equal_parameters_are_told_apart_by_a_suffix() {
    let function = |name: &str, number: &str| {
        format!("func {name}(x: i32) -> f32 {{\n  return {number}f32\n}}\n\n")
    };
    let kernel = "kernel k(a: array<f32, 1>) {\n  %0 = f.1(1i32)\n  a[0i32] = %0\n}\n";
    let text = [&function("f", "1.0"), &function("f.1", "2.0"), kernel].concat();
    let module = parse::module(&text).expect("IR");
    assert!(module.functions.iter().take(2).all(|(_, function)| function.name == "f"));
    assert_eq!(print::module(&module), text);
    assert!(check::module(module).is_ok());
}

#[test]
fn text_that_is_not_ir_is_refused_at_its_place() {
    let inside =
        |line: &str| format!("kernel k(x: array<f32, 1>) {{\n  %0 = load x\n  {line}\n}}\n");
    for (text, message) in [
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
        (
            format!("{0}{0}kernel k() {{\n  f()\n}}\n", "func f() {\n}\n"),
            "6:3: several functions `f` take these arguments: give one another name",
        ),
        (inside("x[300i8] = 1.0f32"), "3:5: expected a value, found `300i8`"),
        (inside("trap \"open"), "3:8: a text needs a quote at its end and Rust's escapes"),
        (inside("switch 1i32 {\n  }"), "4:4: a switch ends with `default:`"),
    ] {
        let error = parse::module(&text).map(|_| ()).expect_err(&text);
        assert_eq!(error.to_string(), message, "{text}");
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
