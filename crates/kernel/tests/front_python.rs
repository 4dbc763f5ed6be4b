//! The Python front end on texts nobody would write: it answers, and whatever it takes is valid IR.

use gbxcule_kernel::back::cxx::{self, Dialect, Options};
use gbxcule_kernel::check;
use gbxcule_kernel::diagnostic::{Diagnostic, render};
use gbxcule_kernel::front::python::Program;
use gbxcule_kernel::grad::reverses;
use gbxcule_kernel::ir::{FunctionId, Module};
use gbxcule_kernel::source::SourceMap;
use gbxcule_kernel::survey::survey;
use proptest::prelude::*;
use std::path::Path;

/// Programs that mutations begin from: one of each feature.
const SEED: &str = include_str!("front_python/seed.py");

fn faults(text: &str) -> Vec<Diagnostic> {
    let mut sources = SourceMap::new();
    let id = sources.add("random.py", text);
    let outcome =
        Program::parse(&sources, id).and_then(|program| check::module(program.compile("random")?));
    let faults = outcome.err().unwrap_or_default();
    assert_eq!(render(&faults, &sources).is_empty(), faults.is_empty());
    faults
}

/// What the front end takes must satisfy the checker.
fn hold(text: &str) {
    for fault in faults(text) {
        assert!(!fault.code.starts_with("ir-"), "{}: {}\n{text}", fault.code, fault.message);
    }
}

/// Both texts of each kernel that compiles by itself.
fn texts(text: &str) -> Vec<String> {
    let mut sources = SourceMap::new();
    let id = sources.add("random.py", text);
    let Ok(program) = Program::parse(&sources, id) else { return Vec::new() };
    let reader = program.reader();
    let mut texts = Vec::new();
    for kernel in reader.kernels() {
        let mut module = Module::new("random");
        let lowered = reader.lower(kernel.position, &mut module);
        let Ok(module) = lowered.and_then(|()| check::module(module)) else { continue };
        for dialect in [Dialect::Host, Dialect::Cuda] {
            let options = Options { sources: Some(&sources), ..Options::new(dialect) };
            texts.push(cxx::write(&module, &options).source);
        }
    }
    texts
}

#[test]
fn the_seed_compiles() {
    assert_eq!(faults(SEED), []);
}

#[test]
fn deep_nesting_is_refused_or_taken_but_never_overflows() {
    let kernel = |body: &str| {
        format!("import warp as wp\n@wp.kernel\ndef k(x: wp.array(dtype=float)):\n    {body}\n")
    };
    for depth in [50, 300, 5_000, 100_000] {
        let (open, close) = ("(".repeat(depth), ")".repeat(depth));
        hold(&kernel(&format!("x[0] = {open}1.0{close}")));
        hold(&kernel(&format!("x[0] = {}1.0", "-".repeat(depth))));
        hold(&kernel(&format!("x[0] = {}1.0", "not ".repeat(depth))));
        hold(&kernel(&format!("x[0] = {}x[0]", "x[0] + ".repeat(depth))));
        hold(&kernel(&format!("x[0] = {}1.0", "1.0 if x else ".repeat(depth))));
        hold(&kernel(&format!("x{} = 1.0", ".x".repeat(depth))));
        hold(&kernel(&format!("x{} = 1.0", "[0]".repeat(depth))));
        hold(&kernel(&format!("x[0] = {}1.0{close}", "wp.sin(".repeat(depth))));
        let nested: String = (0..depth.min(300))
            .map(|level| format!("{}if x:\n", "    ".repeat(level + 1)))
            .collect();
        hold(&format!(
            "import warp as wp\n@wp.kernel\ndef k(x: wp.array(dtype=float)):\n{nested}{}pass\n",
            "    ".repeat(depth.min(300) + 1)
        ));
    }
}

#[test]
fn unrolled_loops_in_loops_end() {
    let loops: String = (0..12)
        .map(|level| format!("{}for i{level} in range(16):\n", "    ".repeat(level + 1)))
        .collect();
    let text = format!(
        "import warp as wp\n@wp.kernel\ndef k(x: wp.array(dtype=float)):\n{loops}{}x[0] = 1.0\n",
        "    ".repeat(13)
    );
    assert_eq!(faults(&text)[0].code, "too-complex");
}

#[test]
fn definitions_in_a_circle_are_refused() {
    let text = "import warp as wp\nA = B\nB = A\n@wp.kernel\ndef k(x: wp.array(dtype=float)):\n    x[0] = A\n";
    assert_eq!(faults(text)[0].code, "needs-python-evaluation");
    let text = "import warp as wp\n@wp.struct\nclass S:\n    s: 'S'\n@wp.kernel\ndef k(x: wp.array(dtype=S)):\n    pass\n";
    assert!(!faults(text).is_empty());
}

#[test]
fn a_survey_counts_what_compiles_and_names_what_does_not() {
    let good = "import warp as wp\n@wp.kernel\ndef a(x: wp.array(dtype=float)):\n    x[0] = 1.0\n";
    let bad =
        "import warp as wp\n@wp.kernel\ndef b(x: wp.array(dtype=float)):\n    wp.tile_load(x, 1)\n";
    let files = [("good.py", good), ("bad.py", bad), ("broken.py", "def f(:")];
    let files = files.map(|(path, text)| (path.to_owned(), text.to_owned()));
    let result = survey(files, &|_| None);
    assert_eq!((result.entries.len(), result.compiled(), result.unparsed.len()), (2, 1, 1));
    assert_eq!(result.refused(), [("unsupported-tile", 1)]);
    assert_eq!((result.bugs().count(), result.passages.map(|stage| stage.kernels)), (0, [1; 4]));
    assert_eq!((result.entries[1].kernel.as_str(), result.entries[1].line), ("b", 3));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_answered(text in "\\PC*") {
        faults(&text);
    }

    #[test]
    fn any_text_beside_is_answered(text in "\\PC*", at in any::<prop::sample::Index>()) {
        let mutated = format!("{}{text}", &SEED[..SEED.floor_char_boundary(at.index(SEED.len()))]);
        let main = "import warp as wp\nimport other\nfrom other import *\n@wp.kernel\n\
                    def k(x: wp.array(dtype=float)):\n    x[0] = other.f(x[0]) + scale(x[0])\n";
        for text in [text, mutated] {
            let mut sources = SourceMap::new();
            let id = sources.add("main.py", main);
            let read = |path: &Path| (path == Path::new("other.py")).then(|| text.clone());
            let program = Program::parse_beside(&mut sources, id, &read);
            let outcome = program.and_then(|program| check::module(program.compile("random")?));
            let faults = outcome.err().unwrap_or_default();
            prop_assert_eq!(render(&faults, &sources).is_empty(), faults.is_empty());
        }
    }

    #[test]
    fn any_bytes_in_a_kernel_are_answered(body in "[ -~\n\t]{0,80}") {
        hold(&format!("import warp as wp\n@wp.kernel\ndef k(x: wp.array(dtype=float)):\n    {body}\n"));
    }

    #[test]
    fn mutated_programs_are_answered(edits in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..5u8), 1..6)) {
        let mut words = words(SEED);
        for (at, other, kind) in edits {
            let (at, other) = (at.index(words.len()), other.index(words.len()));
            match kind {
                0 => _ = words.remove(at),
                1 => words.swap(at, other),
                2 => words[at] = words[other].clone(),
                3 => { let word = words[other].clone(); words.insert(at, word); }
                _ => words[at] = ["0", "1.5", "-1", "wp", "None", "x", "[", ")", "\"a\""][other % 9].to_owned(),
            }
        }
        hold(&words.concat());
    }

    #[test]
    fn mutated_programs_give_the_same_text_twice(at in any::<prop::sample::Index>(), other in any::<prop::sample::Index>()) {
        let mut words = words(SEED);
        let (at, other) = (at.index(words.len()), other.index(words.len()));
        words.swap(at, other);
        let text = words.concat();
        prop_assert_eq!(texts(&text), texts(&text));
    }
}

/// Words, numbers, spaces and symbols, one after the other.
fn words(text: &str) -> Vec<String> {
    let kind = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' => 0,
        ' ' => 1,
        _ => 2,
    };
    let mut words: Vec<String> = Vec::new();
    for c in text.chars() {
        match words.last_mut() {
            Some(word) if kind(c) != 2 && word.ends_with(|last| kind(last) == kind(c)) => {
                word.push(c);
            }
            _ => words.push(c.to_string()),
        }
    }
    words
}

#[test]
fn room_asked_for_a_kernel_is_in_its_cuda_text_and_that_of_its_reverse() {
    let head = |options: &str| {
        let text = format!(
            "import warp as wp\nTHREADS = 64\n@wp.kernel({options})\ndef k(x: wp.array(dtype=float)):\n    \
             x[wp.tid()] = 2.0 * x[wp.tid()]\n"
        );
        let mut sources = SourceMap::new();
        let id = sources.add("room.py", text);
        let module = Program::parse(&sources, id).and_then(|program| program.compile("room"));
        let module = module.and_then(check::module).expect("a kernel");
        let kernels: Vec<FunctionId> = module.kernels().map(|(id, _)| id).collect();
        let (module, _) = reverses(&module, &kernels).expect("its reverse");
        let module = check::module(module).expect("a reverse");
        let text = |dialect| cxx::write(&module, &Options::new(dialect)).source;
        assert!(
            !text(Dialect::Host).contains("__launch") && !text(Dialect::Host).contains("__maxnreg")
        );
        let cuda = text(Dialect::Cuda);
        let lines =
            cuda.lines().filter_map(|line| line.strip_prefix("extern \"C\" __global__ void "));
        lines.map(|line| line.split_once("k(").expect("a name").0.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(
        head("launch_bounds=THREADS"),
        ["__launch_bounds__(64) ", "__launch_bounds__(64) adj_"]
    );
    assert_eq!(
        head("launch_bounds=(THREADS, 2), name=\"double\""),
        ["__launch_bounds__(64, 2) ", "__launch_bounds__(64, 2) adj_"]
    );
    assert_eq!(head("cuda_max_registers=32"), ["__maxnreg__(32) ", "__maxnreg__(32) adj_"]);
    assert_eq!(head("launch_bounds=None, cuda_max_registers=None, **more"), ["", "adj_"]);
}

#[test]
fn room_that_no_gpu_has_is_refused() {
    for (options, said) in [
        ("launch_bounds=0", "1 to 1024"),
        ("launch_bounds=1025", "1 to 1024"),
        ("launch_bounds=(32, 33)", "1 to 32"),
        ("launch_bounds=(32, 1, 1)", "or a tuple"),
        ("launch_bounds=1.5", "1 to 1024"),
        ("cuda_max_registers=0", "1 to 255"),
        ("cuda_max_registers=256", "1 to 255"),
        ("launch_bounds=32, cuda_max_registers=32", "exclude each other"),
        ("threads=32", "no option `threads`"),
    ] {
        let text = format!("import warp as wp\n@wp.kernel({options})\ndef k():\n    pass\n");
        let faults = faults(&text);
        let [fault] = &faults[..] else { panic!("{options}: {faults:?}") };
        assert!(
            fault.code == "wrong-arguments" && fault.message.contains(said),
            "{options}: {fault:?}"
        );
    }
}
