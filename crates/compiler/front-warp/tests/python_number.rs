//! Numbers that modules compute before any kernel runs, beside Python's own: equal, or refused.

use gbxcule_front_warp::Program;
use gbxcule_interp::{Array, Interpreter};
use gbxcule_ir::check;
use gbxcule_ir::diagnostic::Diagnostic;
use gbxcule_ir::source::SourceMap;

/// An expression, and what Python 3.11 says it is. `None`: Python raises an error or has an integer
/// of more than 128 bits or a complex number, or nobody knows without rounding twice.
const NUMBERS: &[(&str, Option<f64>)] = &[
    ("10 ** 10 ** 10", None),
    ("2 ** 200", None),
    ("(-1) ** 3", Some(-1.0)),
    ("2 ** 4294967296", None),
    ("2 ** -1", Some(0.5)),
    ("0 ** -1", None),
    ("0.0 ** -1", None),
    ("(-8.0) ** 0.5", None),
    ("1e200 ** 2", None),
    ("2.25 ** 0.5", Some(1.5)),
    ("(1 << 126) * 1.0", Some(8.507059173023462e+37)),
    ("(1 << 127) * 1.0", None),
    ("(1 << 200) * 1.0", None),
    ("(-1 << 127) * 1.0", None),
    ("3 >> 1", Some(1.0)),
    ("-3 >> 1", Some(-2.0)),
    ("7 // -2", Some(-4.0)),
    ("-7 % 3", Some(2.0)),
    ("7 % -3", Some(-2.0)),
    ("-7.5 % 2.0", Some(0.5)),
    ("7.5 % -2.0", Some(-0.5)),
    ("1e20 % 3.0", Some(1.0)),
    ("5.0 // 0.1", Some(49.0)),
    ("-5.0 // 0.1", Some(-50.0)),
    ("1e300 // 7.0", Some(1.4285714285714286e+299)),
    ("0.3 % 0.1", Some(0.09999999999999998)),
    ("-0.0 % 3.0", Some(0.0)),
    ("9007199254740993 / 3", None),
    ("9007199254740992 / 3", Some(3002399751580330.5)),
    ("9007199254740993 + 0.5", None),
    ("9007199254740993 == 9007199254740992", Some(0.0)),
    ("9007199254740993 > 9007199254740992", Some(1.0)),
    ("9007199254740993 == 9007199254740992.0", Some(0.0)),
    ("True & False", Some(0.0)),
    ("(True ^ True) + 1", Some(1.0)),
    ("6 & 3", Some(2.0)),
    ("bool(0.0) + 0", Some(0.0)),
    ("int(float(-7))", Some(-7.0)),
    ("float('inf')", None),
    ("int('12')", None),
    ("round(2.5)", None),
    ("max(1, 2)", None),
    ("[i for i in (1, 2)][0]", None),
    ("(1, 2, 4, 8)[1:][0]", None),
    ("(1, 2) + (3,)", None),
    ("int(-2.5)", Some(-2.0)),
    ("int(1e300)", None),
    ("math.sqrt(-1.0)", None),
    ("math.sqrt(2.25)", Some(1.5)),
    ("math.log(0.0)", None),
    ("math.exp(1000.0)", None),
    ("1e308 * 10.0", Some(f64::INFINITY)),
    ("1e308 / 1e-10", Some(f64::INFINITY)),
    ("(1, 2, 4)[True]", Some(2.0)),
    ("(1, 2)[5]", None),
    ("(0 < 3 < 5) + 0", Some(1.0)),
    ("(0 < 7 < 5) + 0", Some(0.0)),
    ("(1 < 2 > 1 == 1) + 0", Some(1.0)),
];

/// Number that a kernel writes which reads a constant of this value.
fn constant(expression: &str) -> Result<f64, Vec<Diagnostic>> {
    let mut sources = SourceMap::new();
    let text = format!(
        "import math\nimport warp as wp\nC = {expression}\n@wp.kernel\ndef k(x: wp.array(dtype=wp.float64)):\n    \
         x[0] = wp.float64(C)\n"
    );
    let id = sources.add("number.py", text);
    let program = Program::parse(&sources, id)?;
    let module = check::module(program.compile("number")?)?;
    let kernel = module.kernels().next().expect("a kernel").0;
    let mut interpreter = Interpreter::new(&module);
    let buffer = interpreter.memory.add_slice(&[0.25f64]);
    let array = Array::dense(buffer, 8, &[1]);
    interpreter.launch(kernel, &[1], &[array.into()]).expect("nothing goes wrong");
    Ok(interpreter.memory.read::<f64>(buffer)[0])
}

#[test]
fn constants_are_those_of_python_or_refused() {
    for (expression, expected) in NUMBERS {
        let given = constant(expression);
        match expected {
            Some(expected) => {
                let given = given.unwrap_or_else(|faults| panic!("{expression}: {faults:?}"));
                assert_eq!(given.to_bits(), expected.to_bits(), "{expression}: {given}");
            }
            None => assert!(given.is_err(), "{expression}: {}", given.expect("a number")),
        }
    }
}

/// Sequences that double with each line end at the bound of a constant.
#[test]
fn constants_that_double_are_refused() {
    for next in
        ["(C{}, C{})", "[C{}, C{}]", "C{} + C{}", "C{} * 2", "[*C{}, *C{}]", "{'a': C{}, 'b': C{}}"]
    {
        let mut text = String::from("C0 = (1, 1)\n");
        for at in 1..60 {
            let line = next.replace("{}", &(at - 1).to_string());
            text += &format!("C{at} = {line}\n");
        }
        let mut sources = SourceMap::new();
        let kernel =
            "import warp as wp\n@wp.kernel\ndef k(x: wp.array(dtype=int)):\n    x[0] = len(C59)\n";
        let id = sources.add("doubled.py", text + kernel);
        let module = Program::parse(&sources, id).and_then(|program| program.compile("doubled"));
        assert!(module.is_err(), "{next}");
    }
}
