//! Surveys: their counts, the values that they try, and their messages.

use gbxcule_front_warp::ImportOptions;
use gbxcule_survey::{Outcome, Survey, survey, survey_with_texts};
use std::path::{Path, PathBuf};

const HEAD: &str = "from typing import Any\nimport warp as wp\n";

fn survey_of(texts: &[(&str, &str)]) -> Survey {
    let files = texts.iter().map(|(path, text)| ((*path).to_owned(), format!("{HEAD}{text}")));
    let files: Vec<_> = files.collect();
    survey(files, &ImportOptions::default(), &|_| None.into())
}

#[test]
fn values_that_only_python_knows_are_tried_and_counted_apart() {
    let text = "import engine
def make(wide: bool, block: int, dtype, m):
    T = m.size_type
    @wp.kernel
    def k(x: wp.array(dtype=dtype), y: wp.array(dtype=T)):
        i = wp.tid()
        for n in range(wp.static(block)):
            if wp.static(wide and m.is_sparse):
                x[i] += dtype(n)
        y[i] = T(engine.Kind.BOX + 1)
    return k
def move(self, speed):
    @wp.kernel
    def k(x: wp.array(dtype=float)):
        x[0] = x[0] * speed
@wp.kernel
def limits(x: wp.array(dtype=float)):
    x[0] = wp.max(x[0], engine.MINVAL) + float(int(engine.Kind.BOX))
@wp.kernel
def plain(x: wp.array(dtype=float)):
    x[0] = 1.0
@wp.kernel
def copy(a: wp.array(dtype=Any), b: wp.array(dtype=Any), at: wp.array(dtype=Any)):
    b[at[0]] = wp.length(a[at[0]])
";
    let result = survey_of(&[("k.py", text)]);
    assert_eq!((result.compiled(), result.tried()), (5, 4), "{}", result.refusals());
    assert!(matches!(result.entries[3].outcome, Outcome::Compiled));
    let row = "  only with --define, --types       4  80.0 %";
    assert!(result.to_string().contains(row), "{result}");
}

#[test]
fn refusals_that_no_value_mends_are_listed_with_their_places() {
    let text = "def make(n: int):
    @wp.kernel
    def k(x: wp.array(dtype=float)):
        x[0] = x[0] + float(wp.static(n))
        wp.tile_slice_indexed(x)
    return k
def other(word):
    @wp.kernel
    def l(x: wp.array(dtype=float)):
        x[0] = wp.static(word) + \"a\"
";
    let result = survey_of(&[("k.py", text)]);
    assert_eq!((result.compiled(), result.tried()), (0, 0));
    // A missing feature is reported before a value that the caller could give.
    assert_eq!(result.refused(), [("needs-python-evaluation", 1), ("unsupported-tile", 1)]);
    assert_eq!(result.wants_values(), 1, "`word` may have a value that fits");
    let refusals = result.refusals();
    assert!(refusals.contains("k.py:5: `k`\nerror[unsupported-tile]"), "{refusals}");
    assert!(
        refusals.contains("k.py:11: `l`\nerror[needs-python-evaluation]: `word` is an argument"),
        "{refusals}"
    );
    let reasons = result.reasons();
    assert_eq!((reasons.len(), reasons[0].1, reasons[0].2.line), (2, 1, 11));
    assert!(result.to_string().contains("\n         k.py:11: `l`\n"), "{result}");
}

#[test]
fn values_tried_for_one_kernel_do_not_stay_for_another() {
    let text = "import os
N = int(os.environ['N'])
@wp.kernel
def a(x: wp.array(dtype=float)):
    x[0] = float(N)
@wp.kernel
def b(x: wp.array(dtype=float)):
    x[0] = float(wp.static(N + 1))
";
    let result = survey_of(&[("k.py", text), ("l.py", text)]);
    assert_eq!((result.compiled(), result.tried()), (4, 4), "{}", result.refusals());
}

#[test]
fn texts_are_written_where_they_are_asked_for() {
    let text = "@wp.kernel\ndef k(x: wp.array(dtype=float)):\n    x[0] = 1.0\n";
    let files = || [("k.py".to_owned(), format!("{HEAD}{text}"))];
    let options = ImportOptions::default();
    let bare = survey(files(), &options, &|_| None.into());
    let full = survey_with_texts(files(), &options, &|_| None.into());
    assert_eq!((bare.compiled(), bare.text_bytes), (1, 0));
    assert!(full.compiled() == 1 && full.text_bytes > 100, "{full}");
    assert!(!bare.to_string().contains("text") && full.to_string().contains("CUDA text"));
}

#[test]
fn values_from_other_files_are_given_to_all_files_of_a_survey() {
    let helpers = format!(
        "{HEAD}def make_helpers(n):\n    @wp.func\n    def add(x: float):\n        return x + float(n)\n    return {{\"add\": add}}\n"
    );
    let text = "def make(f, n: int):
    @wp.kernel
    def k(x: wp.array(dtype=float)):
        x[0] = f(x[0]) + float(n)
";
    // A class of the file itself hides a module of the same name.
    let own = format!("{text}class lib:\n    make_helpers = 1\n");
    let files = [("k.py", text), ("l.py", &own)];
    let files = files.map(|(path, text)| (path.to_owned(), format!("{HEAD}{text}")));
    let define = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let value = "lib.helpers.make_helpers(3)[\"add\"]";
    let defines = vec![define("make.f", value), define("make.n", "2")];
    let options = ImportOptions { defines, ..ImportOptions::default() };
    let read = |path: &Path| (path == Path::new("lib/helpers.py")).then(|| helpers.clone()).into();
    let result = survey(files, &options, &read);
    assert!(matches!(result.entries[0].outcome, Outcome::Compiled), "{}", result.refusals());
    assert!(!matches!(result.entries[1].outcome, Outcome::Compiled), "`lib` is a class there");
}

#[test]
fn a_generic_kernel_that_lacks_a_value_too_says_both_options() {
    let text = "def make(size):
    vector = wp.types.vector(length=size, dtype=float)
    @wp.kernel
    def k(x: wp.array(dtype=Any)):
        v = vector()
        x[0] = x[0] * v[0] * wp.missing(size)
";
    let refusals = survey_of(&[("k.py", text)]).refusals();
    let both = "`--types 'k=[..]'` on the command line; `--define vector=VALUE` gives it on the command line";
    assert!(refusals.contains(both), "{refusals}");
}

#[test]
fn a_survey_of_factories_of_factories_ends() {
    let mut text = String::new();
    for level in 0..40 {
        let below = if level == 0 { "a".to_owned() } else { format!("f{}(a, b, c)", level - 1) };
        text += &format!(
            "def f{level}(a, b, c):\n    shape = a.shape\n    if isinstance(shape, int):\n        shape = (shape, shape)\n    elif len(shape) == 1:\n        shape = (1, shape[0])\n    g = {below}\n    @wp.kernel\n    def k(x: wp.array(dtype=c)):\n        x[0] = wp.static(shape[0]) + wp.static(g) + wp.static(b)\n    return g\n"
        );
    }
    let result = survey_of(&[("k.py", &text)]);
    assert_eq!(result.entries.len(), 40);
}

#[test]
fn kernels_are_found_by_any_name_of_the_decorator() {
    let body = "(x: wp.array(dtype=float)):\n    x[0] = 1.0\n";
    let named = format!("from marks import launchable\n@launchable\ndef f{body}");
    let texts = [
        ("a.py", &*named),
        ("b.py", "@property\ndef f(self):\n    return 1\n"),
        ("c.py", "N = 1\n"),
    ];
    let files = texts.map(|(path, text)| (path.to_owned(), format!("{HEAD}{text}")));
    let marks = format!("{HEAD}launchable = wp.kernel\n");
    let read = |path: &std::path::Path| {
        (path == std::path::Path::new("marks.py")).then(|| marks.clone()).into()
    };
    let result = survey(files, &ImportOptions::default(), &read);
    assert_eq!((result.files, result.entries.len(), result.compiled()), (3, 1, 1));
}

#[test]
fn refusals_say_what_to_do() {
    let text = "import os
LIMIT = int(os.environ['LIMIT'])
@wp.func_native('return __ldg(x);')
def snippet(x: float) -> float: ...
@wp.kernel
def a(x: wp.array(dtype=float)):
    x[0] = wp.static(LIMIT) + x[1]
@wp.kernel
def b(x: wp.array(dtype=float)):
    x[0] = snippet(x[0])
@wp.kernel
def c(x: wp.array(dtype=int)):
    x[0] = wp.fem.FIRST_NODE
";
    let mut texts = gbxcule_front_warp::Texts::default();
    let mut sources = gbxcule_ir::source::SourceMap::new();
    let id = sources.add("k.py", format!("{HEAD}{text}"));
    let program =
        gbxcule_front_warp::Program::load(&mut texts, &mut sources, id, Some(&|_| None.into()));
    let faults = program.and_then(|program| program.compile("k")).expect_err("three faults");
    let helps: Vec<&str> = faults.iter().filter_map(|fault| fault.help.as_deref()).collect();
    assert_eq!(
        helps,
        [
            "`--define LIMIT=VALUE` gives it on the command line, or `gbxcule.kernel` reads it in Python",
            "write what it computes as a `@wp.func`",
            "`--define warp.fem.FIRST_NODE=VALUE` gives it on the command line, or `gbxcule.kernel` reads it in Python",
        ]
    );
}

#[test]
fn a_constant_of_an_absent_module_joins_other_values_of_a_name() {
    let text = "import absent
@wp.kernel
def k(x: wp.array(dtype=float)):
    radius = x[0]
    if radius == 0.0:
        radius = absent.MAX_VAL
    x[0] = radius + 1.0
";
    let files = [("k.py".to_owned(), format!("{HEAD}{text}"))];
    let result = survey(files, &ImportOptions::default(), &|_| None.into());
    assert_eq!((result.compiled(), result.tried()), (1, 1), "{}", result.refusals());
}

#[test]
fn a_tree_is_looked_through_from_the_file_up_to_its_root_and_no_further() {
    const KERNELS: &str = "from solver.size import N
from size import M
from above import f
@wp.kernel
def k(x: wp.array(dtype=int)):
    x[0] = N + M
@wp.kernel
def l(x: wp.array(dtype=int)):
    x[0] = f(x[0])
";
    let files = [
        ("above.py", "@wp.func\ndef f(x: int):\n    return x\n"),
        ("tree/solver/part/k.py", KERNELS),
        ("tree/solver/size.py", "N = 1\nM = 2\n"),
    ];
    let read = |path: &Path| {
        let found = files.iter().find(|(known, _)| Path::new(known) == path);
        found.map(|(_, text)| format!("{HEAD}{text}")).into()
    };
    let own = || [(files[1].0.to_owned(), format!("{HEAD}{}", files[1].1))];
    let tree = Some(PathBuf::from("tree"));
    let result = survey(own(), &ImportOptions { tree, ..ImportOptions::default() }, &read);
    assert!(matches!(result.entries[0].outcome, Outcome::Compiled), "{}", result.refusals());
    assert!(result.refusals().contains("no module `above` was found"), "{}", result.refusals());
    let alone = survey(own(), &ImportOptions::default(), &read);
    assert!(matches!(alone.entries[0].outcome, Outcome::Tried));
}

#[test]
fn a_file_of_a_package_in_a_tree_means_the_package_by_its_name() {
    const KERNEL: &str = "import utils
@wp.kernel
def k(x: wp.array(dtype=int)):
    x[0] = wp.static(utils.N)
";
    let files = [
        ("tree/utils/k.py", KERNEL),
        ("tree/utils/__init__.py", "N = 1\n"),
        ("tree/utils/utils.py", "M = 2\n"),
    ];
    let read = |path: &Path| {
        let found = files.iter().find(|(known, _)| Path::new(known) == path);
        found.map(|(_, text)| format!("{HEAD}{text}")).into()
    };
    let own = [(files[0].0.to_owned(), format!("{HEAD}{KERNEL}"))];
    let tree = Some(PathBuf::from("tree"));
    let result = survey(own, &ImportOptions { tree, ..ImportOptions::default() }, &read);
    assert!(matches!(result.entries[0].outcome, Outcome::Compiled), "{}", result.refusals());
}

#[test]
fn constants_of_modules_that_warp_has_no_more_are_asked_for_and_tried() {
    let text = "@wp.kernel
def k(x: wp.array(dtype=int)):
    if x[0] == wp.sim.JOINT_FREE:
        x[1] = 1
";
    let result = survey_of(&[("k.py", text)]);
    assert_eq!((result.compiled(), result.tried()), (1, 1), "{}", result.refusals());
}

#[test]
fn only_names_that_come_up_before_a_fault_are_tried_for_it() {
    let text = "def make(n, a, b, c, d):
    @wp.kernel
    def k(x: wp.array(dtype=float)):
        x[0] = wp.vec3(1.0, 2.0, 3.0)[wp.static(n)]
        x[1] = float(wp.static(a))
        x[2] = float(wp.static(b))
        x[3] = float(wp.static(c))
        x[4] = float(wp.static(d))
";
    let result = survey_of(&[("k.py", text)]);
    assert_eq!((result.compiled(), result.tried()), (1, 1), "{}", result.refusals());
}

#[test]
fn a_file_that_another_imports_is_kept_for_it() {
    let own = "N = 1\n@wp.kernel\ndef k(x: wp.array(dtype=int)):\n    x[0] = N\n";
    let other = "from own import N\n@wp.kernel\ndef l(x: wp.array(dtype=int)):\n    x[0] = N\n";
    let files = [("own.py", own), ("part/l.py", other), ("some.py", own)];
    let files = files.map(|(path, text)| (path.to_owned(), format!("{HEAD}{text}")));
    let read = |path: &Path| {
        assert_ne!(path, Path::new("own.py"), "it is read once");
        None.into()
    };
    let tree = Some(PathBuf::new());
    let result = survey(files, &ImportOptions { tree, ..ImportOptions::default() }, &read);
    assert_eq!((result.compiled(), result.tried()), (3, 0), "{}", result.refusals());
}

#[test]
fn a_survey_counts_what_compiles_and_names_what_does_not() {
    let good = "import warp as wp\n@wp.kernel\ndef a(x: wp.array(dtype=float)):\n    x[0] = 1.0\n";
    let bad = "import warp as wp\n@wp.kernel\ndef b(x: wp.array(dtype=float)):\n    wp.tile_slice_indexed(x)\n";
    let files = [("good.py", good), ("bad.py", bad), ("broken.py", "def f(:")];
    let files = files.map(|(path, text)| (path.to_owned(), text.to_owned()));
    let result = survey_with_texts(files, &ImportOptions::default(), &|_| None.into());
    assert_eq!((result.entries.len(), result.compiled(), result.unparsed.len()), (2, 1, 1));
    assert_eq!(result.refused(), [("unsupported-tile", 1)]);
    assert_eq!(
        (result.bugs().count(), result.stage_totals.map(|stage| stage.kernels)),
        (0, [1; 4])
    );
    assert_eq!((result.entries[1].kernel.as_str(), result.entries[1].line), ("b", 3));
}
