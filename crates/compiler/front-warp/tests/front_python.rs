//! The Python front end on random texts: it answers, and all that it takes becomes valid IR.

use gbxcule_back_cxx::{self as cxx, Dialect, Options};
use gbxcule_front_warp::{Program, Texts};
use gbxcule_ir::FunctionId;
use gbxcule_ir::check;
use gbxcule_ir::diagnostic::{Diagnostic, render};
use gbxcule_ir::source::SourceMap;
use gbxcule_passes::grad::reverses;
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

/// Asserts that the checker accepts what the front end takes.
fn hold(text: &str) {
    for fault in faults(text) {
        assert!(!fault.code.name().starts_with("ir-"), "{}: {}\n{text}", fault.code, fault.message);
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
        let lowered = reader.lower(kernel.position, "random");
        let Ok(module) = lowered.and_then(check::module) else { continue };
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
fn chains_of_branches_are_refused_in_words_of_the_language() {
    let branches = |links: usize, test: &dyn Fn(usize) -> String| -> String {
        let link = |at| format!("    elif {}:\n        x[0] = {at}.0\n", test(at));
        let links: String = (0..links).map(link).collect();
        format!(
            "import warp as wp\n@wp.kernel\ndef k(x: wp.array(dtype=float), n: int):\n    \
             if n == -1:\n        x[0] = 0.5\n{links}"
        )
    };
    for links in [50, 158, 159, 200, 10_000] {
        let found = faults(&branches(links, &|at| format!("n == {at}")));
        assert_eq!(found.is_empty(), links < 159, "{links}: {found:?}");
        assert!(found.iter().all(|fault| fault.code == "too-complex"), "{found:?}");
        assert!(faults(&branches(links, &|_| "False".to_owned())).is_empty());
    }
    let lines: String = (0..200).map(|_| "    t = (t, t)\n").collect();
    let text = format!(
        "import warp as wp\n@wp.kernel\ndef k(x: wp.array(dtype=float)):\n    t = (x[0], x[0])\n{lines}    x[0] = t[0]\n"
    );
    assert_eq!(faults(&text)[0].code, "too-complex");
}

#[test]
fn types_that_nest_too_deep_or_grow_too_large_are_refused_in_words_of_the_language() {
    let structs = |count: usize, fields: &str| -> String {
        let first = "import warp as wp\n@wp.struct\nclass S0:\n    a: float\n".to_owned();
        let text = (1..count).fold(first, |text, at| {
            let fields = fields.replace("OLD", &format!("S{}", at - 1));
            text + &format!("@wp.struct\nclass S{at}:\n{fields}")
        });
        text + &format!("@wp.kernel\ndef k(s: S{}):\n    pass\n", count - 1)
    };
    assert_eq!(faults(&structs(64, "    a: OLD\n")), []);
    for text in [structs(65, "    a: OLD\n"), structs(20_000, "    a: OLD\n")] {
        assert_eq!(faults(&text)[0].code, "too-complex");
    }
    assert_eq!(faults(&structs(29, "    a: OLD\n    b: OLD\n")), []);
    assert_eq!(faults(&structs(40, "    a: OLD\n    b: OLD\n"))[0].code, "too-complex");
    let kernel = |line: &str| {
        let head = "import warp as wp\n@wp.kernel\ndef k(x: wp.array(dtype=float)):\n";
        faults(&format!("{head}    t = {line}\n    x[0] = 1.0\n"))[0].code
    };
    let large = "shape=(1000, 1000, 1000, 1000), dtype=float)";
    for line in [
        format!("wp.zeros({large}"),
        format!("wp.tile_zeros({large}"),
        "wp.tile_ones(shape=(65536, 65536), dtype=float)".into(),
        "wp.tile_load(x, shape=4294967295)".into(),
    ] {
        assert_eq!(kernel(&line), "too-complex", "{line}");
    }
    let huge = "9".repeat(30);
    let reshaped = format!("wp.tile_reshape(wp.tile_load(x, shape=4), shape=({huge}, {huge}))");
    assert_eq!(kernel(&reshaped), "wrong-arguments");
}

/// With quadratic time these texts would take minutes.
#[test]
fn long_bodies_and_long_lists_of_faults_take_time_by_their_length() {
    let head = "import warp as wp\n@wp.kernel\ndef k(x: wp.array(dtype=float)):\n";
    let lines = |count: usize, line: &dyn Fn(usize) -> String| -> String {
        (0..count).map(|at| format!("    {}\n", line(at))).collect()
    };
    let unknown = format!("{head}{}", lines(10_000, &|at| format!("unknown{at}()")));
    assert_eq!(faults(&unknown).len(), 10_000);
    let bound = lines(30_000, &|at| format!("a{at} = x[0]"));
    assert_eq!(faults(&format!("{head}{bound}")), []);
    let branch = |at| format!("elif x:\n        b{at} = x[0]");
    let branches = lines(20_000, &branch);
    assert!(!faults(&format!("{head}    if x:\n        pass\n{branches}")).is_empty());
}

/// Codes of the diagnostics about a kernel that stores `value`, after lines that bind it.
fn said_of(lines: &str, value: &str) -> Vec<&'static str> {
    let text = format!(
        "import warp as wp\nimport unknown\n{lines}\n@wp.kernel\ndef k(x: wp.array(dtype=float)):\n    x[0] = float({value})\n"
    );
    faults(&text).iter().map(|fault| fault.code.name()).collect()
}

#[test]
fn each_binding_is_worked_out_once() {
    let chain = |link: &str, links: usize| -> String {
        let first = "C0 = 1\n".to_owned();
        (0..links).fold(first, |text, at| {
            let link =
                link.replace("NEW", &format!("C{}", at + 1)).replace("OLD", &format!("C{at}"));
            text + &link + "\n"
        })
    };
    // Without the memo this would be 2^60 evaluations.
    assert!(said_of(&chain("NEW = OLD and OLD and OLD", 60), "C60").is_empty());
    assert!(
        said_of(&chain("NEW = (OLD if OLD else OLD) * (OLD if OLD else OLD)", 60), "C60")
            .is_empty()
    );
    let sums = said_of(&chain("NEW = OLD + OLD - 1 + 1", 60), "wp.static(C60 > 0)");
    assert!(sums.is_empty(), "{sums:?}");
    let tuples = said_of(&chain("NEW = (OLD, OLD)", 60), "C60[0]");
    assert_eq!(tuples, ["too-complex"]);
    let types = chain("NEW = wp.array(dtype=OLD)", 60).replace("C0 = 1", "C0 = float");
    assert!(!said_of(&types, "C60(1.0)").is_empty());
    let endless = said_of(&chain("NEW = OLD + unknown.one + OLD", 60), "C60");
    assert_eq!(endless, ["needs-python-evaluation"]);
    let long = said_of(&chain("NEW = OLD + 1", 100_000), "C100000");
    assert_eq!(long, ["too-complex"]);
}

#[test]
fn conditional_bindings_that_mention_themselves_end() {
    let text = "import warp as wp\ndef make(block):\n    shape = block.shape\n\
        \x20   if isinstance(shape, int):\n        shape = (shape, shape)\n\
        \x20   elif len(shape) == 1:\n        shape = (1, shape[0])\n\
        \x20   rows = shape\n    if block:\n        rows = (rows, shape, rows)\n\
        \x20   elif rows:\n        rows = (rows[0], rows[1], shape)\n\
        \x20   @wp.kernel\n    def k(x: wp.array(dtype=float)):\n        x[0] = float(wp.static(rows[0]))\n";
    assert_eq!(faults(text)[0].code, "needs-python-evaluation");
    // A value isn't bound yet where it is worked out.
    assert!(said_of("N = 2\nN = N + 1\nN = N * N\n", "wp.static(N == 9)").is_empty());
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
            let read = |path: &Path| (path == Path::new("other.py")).then(|| text.clone()).into();
            let program = Program::load(&mut Texts::default(), &mut sources, id, Some(&read));
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
    for (options, message) in [
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
            fault.code == "wrong-arguments" && fault.message.contains(message),
            "{options}: {fault:?}"
        );
    }
}
