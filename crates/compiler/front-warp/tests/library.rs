//! Texts that import a library of functions in IR, and functions that are wanted of them by
//! signature.

use gbxcule_front_warp::{EntryParam, EntryPoint, Library, Program};
use gbxcule_ir::check;
use gbxcule_ir::diagnostic::render;
use gbxcule_ir::source::SourceMap;
use gbxcule_ir::{Module, Param, Type};

const JAR: &str = "\
pub struct Jar { pub beans: u32 }
pub fn beans(jar: &Jar) -> u32 { jar.beans }
pub fn label(jar: &Jar, text: &[u8], at: u16) -> u8 {
    if (at as usize) < text.len() { text[at as usize] } else { jar.beans as u8 }
}
";

/// The module that `count` and all it calls were lowered into, or the messages.
fn lowered(text: &str) -> Result<Module, String> {
    let mut sources = SourceMap::new();
    let mut module =
        gbxcule_front_rust::lower(&[("src/jar.rs", JAR)], &["beans", "label"], &mut sources)
            .expect("the subset");
    let functions = ["beans", "label"].map(|name| {
        let path = format!("jar::{name}");
        (name.to_owned(), module.find(&path).or(module.find(name)).expect("lowered"))
    });
    let label = &module.functions[functions[1].1].params;
    let parts = label[..2].iter().map(|part| Param { name: part.name.clone(), ..part.clone() });
    let library = Library {
        labels: Vec::new(),
        name: "jars".into(),
        handle: "Jar".into(),
        parts: parts.collect(),
        functions: functions.into(),
    };
    let id = sources.add("count.py", format!("import warp as wp\nimport jars as j\n\n{text}"));
    let params = [EntryParam::Handle, EntryParam::Type(Type::F32)];
    let written = "def count(jar: j.Jar, x: wp.float32) -> wp.float32";
    let wanted =
        EntryPoint { name: "count", params: &params, optional: &[], result: Type::F32, written };
    let outcome = Program::parse(&sources, id).and_then(|program| {
        let found = program.reader_with(&library).function(&wanted, &mut module)?;
        found.map(|_| ()).ok_or_else(Vec::new)
    });
    let outcome = outcome.and_then(|()| check::module(module.clone()).map(drop));
    outcome.map(|()| module).map_err(|faults| render(&faults, &sources))
}

#[test]
fn handles_are_passed_on_to_functions_of_the_text_and_of_the_library() {
    let text = "\
@wp.func
def twice(jar: j.Jar, at: int):
    return j.label(jar, at) + j.label(jar, at=7)

@wp.func
def count(jar: j.Jar, x: wp.float32) -> wp.float32:
    same = jar
    return x * wp.float32(j.beans(same)) + wp.float32(twice(jar, 3))
";
    let module = lowered(text).unwrap_or_else(|message| panic!("{message}"));
    let count = &module.functions[module.find("count").expect("lowered")];
    let names: Vec<&str> = count.params.iter().map(|param| param.name.as_str()).collect();
    assert_eq!((names, count.result), (vec!["jar", "text", "x"], Type::F32));
}

/// First message about a text, without the picture of it.
fn first_message(text: &str) -> String {
    let message = lowered(text).expect_err("this should be refused");
    let lines = message.lines().filter(|line| line.contains("error[") || line.contains("help"));
    lines.map(|line| line.trim_start_matches([' ', '|', '='])).collect::<Vec<_>>().join("; ")
}

fn body(line: &str) -> String {
    format!("@wp.func\ndef count(jar: j.Jar, x: wp.float32) -> wp.float32:\n    {line}\n")
}

#[test]
fn members_that_a_library_lacks_are_refused_with_similar_ones() {
    assert_eq!(
        first_message(&body("return wp.float32(j.baens(jar))")),
        "error[unknown-function]: `jars` has no `baens`; help: it has `j.beans`"
    );
    assert_eq!(
        first_message("@wp.func\ndef count(jar: j.Jat, x: wp.float32):\n    return x\n"),
        "error[unknown-function]: `jars` has no `Jat`; help: it has `j.Jar`"
    );
    assert_eq!(
        first_message(&body("return wp.float32(jar.beans)")),
        "error[unknown-attribute]: a `Jar` has no `beans`; help: the functions of its module take \
         it as an argument"
    );
    assert_eq!(
        first_message(&body("return x * jar")),
        "error[unsupported-value]: a `Jar` can only be passed to functions"
    );
}

#[test]
fn arguments_of_a_library_are_integers_that_fit() {
    let takes = "error[wrong-arguments]: `j.label` takes a `j.Jar`, `at`";
    for line in ["j.label(jar)", "j.label(3)", "j.label(jar, 1, 2)", "j.label(jar, to=1)"] {
        assert_eq!(first_message(&body(&format!("return wp.float32({line})"))), takes);
    }
    assert_eq!(
        first_message(&body("return wp.float32(j.label(jar, 65536))")),
        "error[integer-too-large]: 65536 isn't a `uint16`"
    );
    assert_eq!(
        first_message(&body("return wp.float32(j.label(jar, x))")),
        "error[type-mismatch]: an integer is needed here, found `float32`"
    );
}

#[test]
fn a_wanted_function_has_the_wanted_signature() {
    let help = "help: write `def count(jar: j.Jar, x: wp.float32) -> wp.float32`";
    for (text, what) in [
        ("@wp.func\ndef count(jar: j.Jar):\n    return 1.0\n", "takes other parameters"),
        ("@wp.func\ndef count(jar: j.Jar, x: int):\n    return 1.0\n", "takes other parameters"),
        (
            "@wp.func\ndef count(x: wp.float32, jar: j.Jar):\n    return x\n",
            "takes other parameters",
        ),
        ("def count(jar: j.Jar, x: wp.float32):\n    return x\n", "has to be a `@wp.func`"),
        ("@wp.func\ndef count(jar: j.Jar, x: wp.float32):\n    return 1\n", "gives another result"),
    ] {
        assert_eq!(first_message(text), format!("error[type-mismatch]: `count` {what}; {help}"));
    }
    assert_eq!(
        first_message(
            "@wp.kernel\ndef k(jar: j.Jar):\n    pass\n@wp.func\ndef count(jar: j.Jar, x: wp.float32):\n    return k(jar)\n"
        ),
        "error[not-callable]: `k` is a kernel: kernels are launched, not called"
    );
}
