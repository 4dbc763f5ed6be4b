//! Programs of several files: where imports are found, which values they have, and how a missing
//! one is refused.

use gbxcule_back_cxx::{self as cxx, Dialect, Options};
use gbxcule_front_warp::{FileText, ImportOptions, Program, Texts};
use gbxcule_interp::{Array, Interpreter};
use gbxcule_ir::Module;
use gbxcule_ir::check::{self, Valid};
use gbxcule_ir::diagnostic::render;
use gbxcule_ir::source::SourceMap;
use std::cell::RefCell;
use std::path::{Path, PathBuf};

/// A file: its path and its text.
type File<'f> = (&'f str, &'f str);

/// Compiles the first file with the others beside it; returns the message of a refusal.
fn compile(files: &[File<'_>]) -> Result<Valid<Module>, String> {
    let mut sources = SourceMap::new();
    let id = sources.add(files[0].0, format!("import warp as wp\n{}", files[0].1));
    let read = |path: &Path| {
        let found = files[1..].iter().find(|(known, _)| Path::new(known) == path);
        found.map(|(_, text)| format!("import warp as wp\n{text}")).into()
    };
    let program = Program::load(&mut Texts::default(), &mut sources, id, Some(&read));
    let module = program.and_then(|program| check::module(program.compile("import")?));
    module.map_err(|faults| render(&faults, &sources))
}

/// Runs the only kernel of the first file on `x[0]`.
fn run(files: &[File<'_>], x: i32) -> i32 {
    let module = compile(files).unwrap_or_else(|message| panic!("{message}"));
    let kernel = module.kernels().next().expect("a kernel").0;
    let mut interpreter = Interpreter::new(&module);
    let buffer = interpreter.memory.add_slice(&[x]);
    interpreter.launch(kernel, &[1], &[Array::dense(buffer, 4, &[1]).into()]).expect("it runs");
    let after: Vec<i32> = interpreter.memory.read(buffer);
    after[0]
}

/// A kernel that stores an expression, after some lines.
fn kernel(lines: &str, expression: &str) -> String {
    format!("{lines}\n@wp.kernel\ndef k(x: wp.array(dtype=int)):\n    x[0] = {expression}\n")
}

/// A function that multiplies.
fn times(name: &str, by: i32) -> String {
    format!("@wp.func\ndef {name}(x: int):\n    return x * {by}\n")
}

#[test]
fn a_package_imports_its_own_modules() {
    let main = kernel("import package", "package.part.f(x[0]) + package.g(x[0])");
    let package = "from . import part\nfrom .part import f as g\n";
    let files =
        [("k.py", &*main), ("package/__init__.py", package), ("package/part.py", &times("f", 3))];
    assert_eq!(run(&files, 5), 30);
}

#[test]
fn a_name_comes_from_the_folder_of_the_compiled_file_for_every_importer() {
    let main = kernel("from a.b import f", "f(x[0])");
    let inner = "from c import g\n@wp.func\ndef f(x: int):\n    return g(x)\n";
    let (right, wrong) = (times("g", 2), times("g", 3));
    let files = [("dir/k.py", &*main), ("dir/a/b.py", inner), ("dir/c.py", &right)];
    assert_eq!(run(&files, 5), 10);
    let files = [files[0], files[1], files[2], ("dir/a/c.py", &wrong), ("c.py", &wrong)];
    assert_eq!(run(&files, 5), 10);
}

#[test]
fn dots_count_from_the_folder_of_the_file_that_imports() {
    let main = kernel("from .sub.deep import f", "f(x[0])");
    let deep = "from ..near import g\nfrom . import beside\n@wp.func\ndef f(x: int):\n    return g(x) + beside.h(x)\n";
    let (near, beside) = (times("g", 2), times("h", 100));
    let files = [
        ("pkg/k.py", &*main),
        ("pkg/sub/deep.py", deep),
        ("pkg/near.py", &near),
        ("pkg/sub/beside.py", &beside),
    ];
    assert_eq!(run(&files, 5), 510);
}

#[test]
fn a_file_in_a_package_finds_what_lies_beside_the_package() {
    let main = kernel("from pkg.sub import other", "other.f(x[0])");
    let other = times("f", 7);
    let files = [("root/pkg/sub/k.py", &*main), ("root/pkg/sub/other.py", &other)];
    assert!(compile(&files).is_err(), "no package yet");
    let files =
        [files[0], files[1], ("root/pkg/sub/__init__.py", ""), ("root/pkg/__init__.py", "")];
    assert_eq!(run(&files, 5), 35);
}

#[test]
fn a_package_is_taken_before_a_file_of_its_name() {
    let main = kernel("import a", "a.f(x[0])");
    let (package, file) = (times("f", 2), times("f", 3));
    let files = [("k.py", &*main), ("a.py", &*file), ("a/__init__.py", &package)];
    assert_eq!(run(&files, 1), 2);
    assert_eq!(run(&files[..2], 1), 3);
}

#[test]
fn a_file_named_as_its_package_is_taken_only_for_names_that_it_binds() {
    let main = kernel("from utils import helper, near", "helper.f(near(x[0]))");
    let files = [
        ("root/utils/k.py", &*main),
        ("root/utils/utils.py", &*times("g", 7)),
        ("root/utils/__init__.py", &*times("near", 2)),
        ("root/utils/helper.py", &*times("f", 3)),
    ];
    assert_eq!(run(&files, 5), 30);
    let own = kernel("from utils import g", "g(x[0])");
    assert_eq!(run(&[("root/utils/k.py", &*own), files[1], files[2], files[3]], 5), 35);
}

#[test]
fn a_module_is_one_however_it_is_reached() {
    let lines = "import a.b\nimport a.b as c\nfrom a import b\nfrom a.b import S\n\
                 @wp.func\ndef f(s: S):\n    return s.n";
    let main = kernel(lines, "f(a.b.make(x[0])) + f(c.make(1)) + f(b.make(2))");
    let file = "@wp.struct\nclass S:\n    n: int\n@wp.func\ndef make(n: int):\n    s = S()\n    s.n = n\n    return s\n";
    assert_eq!(run(&[("k.py", &main), ("a/b.py", file)], 5), 8);
}

#[test]
fn stars_bring_what_is_public() {
    let first = "def helper():\n    pass\nONE = 1\n_TWO = 2\nTHREE = 3\n";
    let second = "__all__ = ['_FOUR', 'THREE']\n_FOUR = 4\nTHREE = 33\nFIVE = 5\n";
    let files = |expression: &str| {
        let main = kernel("from a import *\nfrom b import *", expression);
        compile(&[("k.py", &main), ("a.py", first), ("b.py", second)]).map(|_| ())
    };
    assert_eq!(files("ONE + _FOUR"), Ok(()));
    for hidden in ["_TWO", "FIVE"] {
        let message = files(hidden).expect_err("not public");
        assert!(message.contains(&format!("`{hidden}` isn't defined")), "{message}");
    }
    let main = kernel("from a import *\nfrom b import *", "THREE");
    assert_eq!(run(&[("k.py", &main), ("a.py", first), ("b.py", second)], 0), 33);
    let main = kernel("from a import _TWO", "_TWO");
    assert_eq!(run(&[("k.py", &main), ("a.py", first)], 0), 2);
}

#[test]
fn stars_go_through_files_and_end_in_circles() {
    let main = kernel("from a import *", "f(x[0])");
    let two = format!("from a import *\n{}", times("f", 2));
    let files = [("k.py", &*main), ("a.py", "from b import *\n"), ("b.py", &two)];
    assert_eq!(run(&files, 3), 6);
    let main = kernel("from a import *", "g(x[0])");
    let message = compile(&[("k.py", &main), files[1], files[2]]).expect_err("no `g`");
    assert!(message.contains("`g` isn't defined"), "{message}");
}

#[test]
fn files_may_import_each_other_but_names_may_not() {
    let main = kernel("from a import f", "f(x[0])");
    let one = "from b import g\nN = 3\n@wp.func\ndef f(x: int):\n    return g(x) + 1\n";
    let two = "import a\n@wp.func\ndef g(x: int):\n    return x * a.N\n";
    assert_eq!(run(&[("k.py", &main), ("a.py", one), ("b.py", two)], 4), 13);
    let files = [("k.py", &*main), ("a.py", "from b import f\n"), ("b.py", "from a import f\n")];
    let message = compile(&files).expect_err("nothing is bound");
    assert!(message.contains("`f` is imported in a circle"), "{message}");
}

#[test]
fn functions_of_one_name_stay_apart_and_each_sees_its_own_file() {
    let main =
        kernel(&format!("import a, b\n{}", times("f", 5)), "a.g(x[0]) + b.g(x[0]) + f(x[0])");
    let with = |by| format!("{}@wp.func\ndef g(x: int):\n    return f(x)\n", times("f", by));
    let (one, two) = (with(10), with(100));
    let files = [("k.py", &*main), ("a.py", &*one), ("b.py", &*two)];
    assert_eq!(run(&files, 2), 230);
    let text = |files: &[File<'_>]| {
        let module = compile(files).expect("right");
        cxx::write(&module, &Options::new(Dialect::Cuda)).source
    };
    assert_eq!(text(&files), text(&files), "names are made up the same way again");
}

#[test]
fn a_module_that_another_file_imports_is_found_behind_its_package() {
    let main = kernel("import package\nimport helper", "package.part.f(x[0]) + helper.g(x[0])");
    let helper =
        "import package.part\n@wp.func\ndef g(x: int):\n    return package.part.f(x) * 100\n";
    let part = times("f", 3);
    let files = [
        ("k.py", &*main),
        ("helper.py", helper),
        ("package/__init__.py", ""),
        ("package/part.py", &*part),
    ];
    assert_eq!(run(&files, 5), 1515);
}

#[test]
fn a_module_that_is_handed_on_has_all_its_names() {
    let lines = "import package.part as part\n\
                 def make(tools):\n    @wp.func\n    def f(x: int):\n        \
                 return tools.g(x) + tools.deep.h(x)\n    return f\n\
                 made = make(part)";
    let part = format!("from . import deep\n{}", times("g", 2));
    let (main, deep) = (kernel(lines, "made(x[0])"), times("h", 100));
    let files = [
        ("k.py", &*main),
        ("package/__init__.py", ""),
        ("package/part.py", &*part),
        ("package/deep.py", &*deep),
    ];
    assert_eq!(run(&files, 5), 510);
}

#[test]
fn words_of_docstrings_and_messages_lead_to_no_file() {
    let read_paths = RefCell::new(Vec::new());
    let main = "import warp as wp\nimport package\nHELP = 'call g or h of other'\n\
                @wp.kernel\ndef k(x: wp.array(dtype=int)):\n    '''Unlike other, g.'''\n    \
                x[0] = package.f(x[0])\n";
    let package = format!("import warp as wp\nfrom .other import g, h\n{}", times("f", 2));
    let read = |path: &Path| {
        read_paths.borrow_mut().push(path.to_owned());
        (path == Path::new("package/__init__.py")).then(|| package.clone()).into()
    };
    let mut sources = SourceMap::new();
    let id = sources.add("k.py", main);
    let program =
        Program::load(&mut Texts::default(), &mut sources, id, Some(&read)).expect("Python");
    assert!(program.compile("k").is_ok());
    assert!(!read_paths.into_inner().iter().any(|path| path.starts_with("package/other.py")));
}

#[test]
fn only_what_kernels_need_is_read() {
    let read_paths = RefCell::new(Vec::new());
    let main = "import warp as wp\nimport math\nimport big\nimport numpy as np\nfrom a import f\n\
                def main():\n    big.run()\n@wp.kernel\ndef k(x: wp.array(dtype=int)):\n    x[0] = f(x[0])\n";
    let file = "import warp as wp\nimport huge\nfrom deep import g\ndef other():\n    return huge\n\
                @wp.func\ndef f(x: int):\n    return g(x)\n";
    let read = |path: &Path| {
        read_paths.borrow_mut().push(path.to_owned());
        match path.to_str() {
            Some("a.py") => Some(file.to_owned()),
            Some("deep.py") => Some(format!("import warp as wp\n{}", times("g", 2))),
            _ => None,
        }
        .into()
    };
    let mut sources = SourceMap::new();
    let id = sources.add("k.py", main);
    let program =
        Program::load(&mut Texts::default(), &mut sources, id, Some(&read)).expect("Python");
    assert!(program.compile("k").is_ok());
    let stems: Vec<PathBuf> =
        read_paths.into_inner().iter().map(|path| path.with_extension("")).collect();
    for (stem, wanted) in
        [("a", true), ("deep", true), ("big", false), ("huge", false), ("math", false)]
    {
        assert_eq!(stems.contains(&PathBuf::from(stem)), wanted, "{stem}: {stems:?}");
    }
}

#[test]
fn errors_in_a_file_matter_only_to_its_users() {
    let broken = "def f(x:\n    return x\n";
    let main =
        kernel("import broken\nfrom broken import f\nimport gone\nfrom .gone import g", "x[0] + 1");
    assert_eq!(run(&[("k.py", &main), ("broken.py", broken)], 1), 2);
    let message = |line: &str, expression: &str| {
        let main = kernel(line, expression);
        let wrong = "\n\n@wp.func\ndef wrong(x: int):\n    return x.nope\n";
        compile(&[("k.py", &main), ("broken.py", broken), ("a.py", wrong)]).expect_err("refused")
    };
    assert!(message("from broken import f", "f(x[0])").contains("broken.py:3:"));
    assert!(message("from a import wrong", "wrong(x[0])").contains("a.py:6:12"));
    let gone = message("from .gone import f", "f(x[0])");
    assert!(
        gone.contains("no module `.gone` was found: looked for `gone.py`, `gone/__init__.py`"),
        "{gone}"
    );
    let gone = message("from . import gone", "gone.f(x[0])");
    assert!(gone.contains("there is no `gone.py` in `.`"), "{gone}");
    let missing = message("import a", "a.wrogn(x[0])");
    assert!(
        missing.contains("`a.py` has no `wrogn`") && missing.contains("it has `wrong`"),
        "{missing}"
    );
}

#[test]
fn files_that_may_not_be_read_are_named_with_the_reason() {
    let mut sources = SourceMap::new();
    let main = kernel("import warp as wp\nfrom sh import root", "root");
    let id = sources.add("k.py", main);
    let read = |path: &Path| match path == Path::new("sh.py") {
        true => FileText::Refused("it leads out of `here`".to_owned()),
        false => FileText::Nothing,
    };
    let program =
        Program::load(&mut Texts::default(), &mut sources, id, Some(&read)).expect("Python");
    let message = render(&program.compile("k").expect_err("refused"), &sources);
    assert!(message.contains("`sh.py` isn't read: it leads out of `here`"), "{message}");
}

/// Runs the first file on `x[0]` with values given by the user, and modules of a folder `stubs`.
fn given(files: &[File<'_>], defines: &[(&str, &str)], x: i32) -> Result<i32, String> {
    let defines = defines.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let import_options = ImportOptions {
        folders: vec![PathBuf::from("stubs")],
        defines: defines.collect(),
        ..ImportOptions::default()
    };
    let (mut sources, mut texts) = (SourceMap::new(), Texts::new(import_options));
    let id = sources.add(files[0].0, format!("import warp as wp\n{}", files[0].1));
    let read = |path: &Path| {
        let found = files[1..].iter().find(|(known, _)| Path::new(known) == path);
        found.map(|(_, text)| (*text).to_owned()).into()
    };
    let program = Program::load(&mut texts, &mut sources, id, Some(&read));
    let module = program.and_then(|program| check::module(program.compile("import")?));
    let module = module.map_err(|faults| render(&faults, &sources))?;
    let kernel = module.kernels().next().expect("a kernel").0;
    let mut interpreter = Interpreter::new(&module);
    let buffer = interpreter.memory.add_slice(&[x]);
    interpreter.launch(kernel, &[1], &[Array::dense(buffer, 4, &[1]).into()]).expect("it runs");
    let after: Vec<i32> = interpreter.memory.read(buffer);
    Ok(after[0])
}

#[test]
fn messages_name_no_option_where_no_command_line_takes_it() {
    let options = ImportOptions { without_command_line: true, ..ImportOptions::default() };
    let heads = "import os\nimport mujoco\nfrom .gone import g\nimport warp.fem as fem\n\
                 LIMIT = int(os.environ['X'])\n";
    for name in ["LIMIT", "mujoco.mjMAX", "fem.FIRST", "g", "os.environ", "wp.fem.FIRST"] {
        let message = |options: ImportOptions| {
            let (mut sources, mut texts) = (SourceMap::new(), Texts::new(options));
            let text = format!("import warp as wp\n{}", kernel(heads, name));
            let id = sources.add("k.py", text);
            let read = |_: &Path| FileText::Nothing;
            let program = Program::load(&mut texts, &mut sources, id, Some(&read));
            render(&program.expect("Python").compile("import").expect_err("unknown"), &sources)
        };
        let (python, command) = (message(options.clone()), message(ImportOptions::default()));
        for option in ["--define", "--path", "--types"] {
            assert!(!python.contains(option), "{name}: {python}");
        }
        assert!(python.contains("= help: "), "{name}: {python}");
        assert!(command.contains("--define") || command.contains("--path"), "{name}: {command}");
    }
}

#[test]
fn values_that_only_python_knows_can_be_given() {
    let geom = "import enum\nimport mujoco\nfrom mujoco import mjMAX\n\
                class Geom(enum.IntEnum):\n    BOX = mujoco.mjtGeom.mjGEOM_BOX\n";
    let main = kernel(geom, "x[0] + Geom.BOX + mujoco.mjtGeom.mjGEOM_BOX * mjMAX");
    let defines = [("mujoco.mjtGeom.mjGEOM_BOX", "6"), ("mujoco.mjMAX", "10 * 10")];
    assert_eq!(given(&[("k.py", &main)], &defines, 1), Ok(607));
    let stub = "class mjtGeom:\n    mjGEOM_BOX = 6\nmjMAX = 100\n";
    assert_eq!(given(&[("k.py", &main), ("stubs/mujoco.py", stub)], &[], 1), Ok(607));
    let message = given(&[("k.py", &main)], &defines[..1], 1).expect_err("not all are given");
    assert!(message.contains("no module `mujoco` was found"), "{message}");
    assert!(message.contains("`--define mujoco.mjMAX=VALUE` gives a constant"), "{message}");

    let inner = kernel("", "dtype(x[0] * by)").replace('\n', "\n    ");
    let main = format!("def make(dtype, by):\n    {inner}");
    let defines = [("make.dtype", "wp.int32"), ("make.by", "3")];
    assert_eq!(given(&[("k.py", &main)], &defines, 4), Ok(12));
    let message = given(&[("k.py", &main)], &defines[..1], 4).expect_err("not all are given");
    assert!(message.contains("`--define make.by=VALUE` gives it on the command line"), "{message}");
    let message = given(&[("k.py", &main)], &[("make.by", "3 +")], 4).expect_err("no Python");
    assert!(message.contains("--define"), "{message}");
}

#[test]
fn a_class_that_is_said_to_be_a_type_is_that_type() {
    let lines = "class vec5(wp.types.vector(length=5, dtype=int)):\n    pass\nAlias = vec5\n\
                 class Named(Alias):\n    \"\"\"Five numbers.\"\"\"\n\
                 class Box:\n    SIDES = 4\n    TOP = 2\n\
                 @wp.func\ndef last(v: vec5):\n    return v[4]\n";
    let main = kernel(lines, "last(Named(1, 2, 3, 4, x[0])) + Alias(7)[2] + Box.SIDES * Box.TOP");
    assert_eq!(run(&[("k.py", &main)], 5), 20);
}

#[test]
fn a_folder_without_a_file_of_its_own_is_in_the_package_around_it() {
    let main = kernel("from pkg._src.sub import other", "other.f(x[0])");
    let other = times("f", 7);
    let files = [
        ("root/pkg/_src/deep/k.py", &*main),
        ("root/pkg/_src/deep/__init__.py", ""),
        ("root/pkg/_src/sub/other.py", &other),
        ("root/pkg/__init__.py", ""),
    ];
    assert_eq!(run(&files, 2), 14);
}

#[test]
fn names_that_a_loop_bound_before_its_break_are_read_after_it() {
    let main = "@wp.kernel\ndef k(x: wp.array(dtype=int)):\n    for i in range(x[0]):\n        \
                if i * i > 50:\n            f = i\n            break\n    x[0] = f\n";
    assert_eq!(run(&[("k.py", main)], 100), 8);
}

#[test]
fn a_byte_order_mark_moves_no_place() {
    let file = "\u{feff}import warp as wp\n@wp.func\ndef f(x: int):\n    return x.nope\n";
    let mut sources = SourceMap::new();
    let main = kernel("import warp as wp\nfrom a import f", "f(x[0])");
    let id = sources.add("k.py", main);
    let read = |path: &Path| (path == Path::new("a.py")).then(|| file.to_owned()).into();
    let program =
        Program::load(&mut Texts::default(), &mut sources, id, Some(&read)).expect("Python");
    let faults = program.compile("k").expect_err("no such attribute");
    assert_eq!(sources.text(faults[0].span()), "x.nope");
}

#[test]
fn a_text_alone_says_that_it_has_no_files() {
    let mut sources = SourceMap::new();
    let id = sources.add("<text>", kernel("import warp as wp\nfrom a import f", "f(x[0])"));
    let program = Program::parse(&sources, id).expect("Python");
    let message = render(&program.compile("k").expect_err("no files"), &sources);
    assert!(message.contains("`a.f` comes from another module"), "{message}");
    assert!(message.contains("only a text in a file can import"), "{message}");
}

#[test]
fn our_own_face_has_the_names_of_warp() {
    let main = "from gbxcule.kernel import kernel, wp as w\nfrom a import f\n\
                @kernel\ndef k(x: w.array(dtype=w.int32)):\n    x[0] = f(x[0])\n";
    let file = "from gbxcule.kernel import func, wp as v\n@func\ndef f(x: v.int32):\n    return v.abs(x)\n";
    assert_eq!(run(&[("k.py", main), ("a.py", file)], -3), 3);
}

#[test]
fn dictionaries_of_other_files_count_unless_something_changes_them() {
    let table =
        "SIZES = {\"small\": 3, \"large\": 7}\nLIST = [1, 2]\nclass Names:\n    OF = {1: 20}\n";
    let expression = "wp.static(SIZES[\"large\"] + table.LIST[1] + table.Names.OF[1] + (4 if \"tiny\" in SIZES else 0))";
    let main = kernel("import table\nfrom table import SIZES", expression);
    assert_eq!(run(&[("k.py", &main), ("table.py", table)], 0), 29);
    for change in [
        "SIZES[\"large\"] = 8\n",
        "def grow():\n    SIZES.update(large=8)\n",
        "def grow():\n    for n in range(3):\n        LIST.append(n)\n",
        "def grow(it):\n    it.OF[1] += 1\n",
        "LIST += [3]\n",
    ] {
        let changed = format!("{table}{change}");
        let message = compile(&[("k.py", &main), ("table.py", &changed)]).expect_err(change);
        assert!(message.contains("needs-python-evaluation"), "{message}");
    }
    // A third file may change a variable of its own, but not a list that it imports.
    let third = |text: &str| {
        let main = kernel(
            "import table\nimport third\nfrom table import SIZES",
            &format!("{expression} + third.N"),
        );
        compile(&[("k.py", &main), ("table.py", table), ("third.py", text)])
    };
    third("N = 1\ndef f(SIZES):\n    SIZES[1] = 2\n").unwrap_or_else(|message| panic!("{message}"));
    let message = third("from table import SIZES\nN = 1\nSIZES[1] = 2\n").expect_err("it changes");
    assert!(message.contains("is changed after it is made"), "{message}");
}

#[test]
fn a_package_that_takes_all_of_a_module_has_the_modules_that_this_one_asks_it_for() {
    let part = format!("from . import material\n{}", "B = material.A + 1\n");
    let files = [
        ("k.py", &*kernel("from solver import B, material", "B * 10 + material.A")),
        ("solver/__init__.py", "from .part import *\n"),
        ("solver/part.py", &*part),
        ("solver/material.py", "A = 4\n"),
    ];
    assert_eq!(run(&files, 0), 54);
}
