//! Rows from real code: extracted from their files, run, checked, and loaded together with sampled
//! rows.

use gbxcule_front_warp::ImportOptions;
use gbxcule_harvest::{FAMILY, FoundKernels, Harvested, Recordings, UNMARKED, harvest};
use gbxcule_rows::batch::read;
use gbxcule_rows::row::{Mode, Plan, Row, Texts, make};
use gbxcule_rows::table::{read_parquet, to_parquet};
use gbxcule_rows::validate::{Checks, has_failed, validate};
use gbxcule_rows::verdict::Verdict;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

const PLAN: Plan =
    Plan { seed: 1, mode: Mode::Run, device: Texts::Both, host_every: 0, sampled: 100 };

const LIBRARY: &str = "import warp as wp\n\nSCALE = wp.constant(2.5)\n\n@wp.struct\nclass Body:\n    mass: float\n    at: wp.vec3\n\n\
    @wp.func\ndef energy(body: Body):\n    return SCALE * body.mass * wp.length_sq(body.at)\n\ndef marked(function):\n    return function\n\nraise RuntimeError(\"executed\")\n";
const CODE: &str = r#"# Kernels of a person.
import os
import warp as wp
from library import Body, energy, marked

os.system("touch executed")
UNUSED = open("/etc/passwd").read()
GAIN = 3.0


@wp.func
def clip(x: float):
    return wp.min(x, GAIN)


@wp.kernel
def sum_energy(bodies: wp.array(dtype=Body), out: wp.array(dtype=float)):
    """Adds up energies."""
    i = wp.tid()
    wp.atomic_add(out, 0, clip(energy(bodies[i])))


class Test:
    def test(self):
        STEPS = 3

        @wp.kernel
        def blur(x: wp.array2d(dtype=float), y: wp.array2d(dtype=float)):
            i, j = wp.tid()
            total = float(0.0)
            for k in range(STEPS):
                total += x[i, wp.min(j + k, x.shape[1] - 1)]
            y[i, j] = total / float(STEPS)

        wp.launch(blur, dim=(3, 3), inputs=[], device=self.device)


@wp.kernel
def nothing(x: wp.array(dtype=float)):
    i = wp.tid()
    wp.expect_near(x[i], x[i])


@wp.kernel
def constant(x: wp.array(dtype=float)):
    x[wp.tid()] = 1.0


@wp.kernel
def outside(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    y[wp.tid()] = x[1000000]


@wp.kernel
def gather(index: wp.array(dtype=int), x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = x[index[i]] * 2.0


@wp.kernel
def another_gather(at: wp.array(dtype=int), a: wp.array(dtype=float), b: wp.array(dtype=float)):
    t = wp.tid()
    b[t] = a[at[t]] * 7.0


@marked
def perhaps(x: wp.array(dtype=float)):
    x[wp.tid()] = 1.0


@wp.kernel
def refused(x: wp.array(dtype=float)):
    wp.no_such_builtin(x)
"#;

#[test]
fn kernels_of_a_folder_become_rows_that_pass_every_check() {
    let folder = tempfile::tempdir().expect("a folder");
    let code = folder.path().join("code");
    std::fs::create_dir(&code).expect("a folder");
    std::fs::write(code.join("library.py"), LIBRARY).expect("a file");
    std::fs::write(code.join("code.py"), CODE).expect("a file");
    std::fs::write(code.join("broken.py"), "def (:\n").expect("a file");
    let harvested = harvest(&code, "MIT", PLAN, 2, &|| ()).expect("rows");
    let Harvested { rows, harvest: found, refused: kernels } = harvested;
    let names: Vec<&str> = rows.iter().map(|row| &*row.kernel).collect();
    assert_eq!(names, ["sum_energy", "blur", "constant", "gather", "another_gather"], "{found:?}");
    assert_eq!((found.files, found.kernels, found.repeated), (2, 8, 1));
    assert!(matches!(&found.unread[..], [one] if one.starts_with("broken.py:1:5: ")), "{found:?}");
    let refused: Vec<(&str, usize)> = found.refused.iter().map(|(it, &n)| (&**it, n)).collect();
    assert_eq!(refused.len(), 3, "{refused:?}");
    let told: Vec<(&str, &str)> = kernels.iter().map(|it| (&*it.kernel, &*it.reason)).collect();
    assert!(told.contains(&("nothing", "writes nothing")) && told.len() == 4, "{told:?}");
    assert!(told.contains(&("perhaps", UNMARKED)) && found.unmarked == 1, "{told:?}");
    assert!(!code.join("executed").exists() && !Path::new("executed").exists());

    let sum = &rows[0].source;
    for part in ["SCALE = ", "class Body", "def energy", "GAIN = ", "def clip", "Adds up"] {
        assert!(sum.contains(part), "{part}\n{sum}");
    }
    for part in ["os.", "open(", "raise", "from library"] {
        assert!(!sum.contains(part), "{part}\n{sum}");
    }
    assert!(rows[1].source.contains("\nSTEPS = 3\n"), "{}", rows[1].source);
    let origin: Value =
        serde_json::from_str(rows[4].origin_json.as_ref().expect("an origin")).expect("JSON");
    assert_eq!(origin["file"], "code.py");
    assert_eq!(origin["license"], "MIT");
    assert_eq!(origin["same_structure_as"], 3);
    let line =
        CODE.lines().position(|line| line.starts_with("def another_gather")).expect("a line");
    assert_eq!(origin["line"], line + 1);
    assert_eq!(rows[3].split, rows[4].split, "one structure is in one part");
    for row in &rows {
        assert_eq!(
            (&*row.family, row.gradients_json.is_some()),
            (FAMILY, row.gradient_refused.is_none())
        );
        assert!(row.checks().iter().all(|it| it.verdict != Verdict::Fail), "{}", row.checks_json);
    }
    for (row, checks) in rows.iter().zip(validate(&rows, &Checks::default()).expect("checks")) {
        assert!(!has_failed(&checks), "{}\n{checks:?}", row.source);
    }
    let again = harvest(&code, "MIT", PLAN, 1, &|| ()).expect("rows").rows;
    assert_eq!(rows, again, "the same folder gives the same rows");

    // Sampled and harvested rows have one schema.
    let mut mixed: Vec<Row> = [make(PLAN, 1)].into_iter().chain(rows).collect();
    let file = folder.path().join("mixed/data/rows.parquet");
    std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
    std::fs::write(&file, to_parquet(&mixed).expect("a table")).expect("a file");
    assert_eq!(read_parquet(&file).expect("rows"), mixed);
    // A folder's rows come in the order of their numbers.
    mixed.sort_by_key(|row| row.id);
    assert_eq!(read(&folder.path().join("mixed")).expect("rows"), mixed);
}

const SHAPES: &str = "import warp as wp\n\nBIAS = 0.5\n\n\n@wp.func\ndef ball(x: float):\n    return x * x + BIAS\n\n\n\
    @wp.func\ndef lend(x: wp.ref[float]):\n    x += 1.0\n\n\nclass Plain:\n    pass\n";
const USERS: &str = r#"import shapes
import shapes as sh
import warp as wp
from shapes import *
from shapes import ball as round_thing
from typing import Any


@wp.kernel
def renamed(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = round_thing(x[i])


@wp.kernel
def starred(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = ball(x[i]) - BIAS * 3.0


@wp.kernel
def dotted(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    value = x[i] * 3.0
    y[i] = wp.max(shapes.ball(value), sh.BIAS)


@wp.kernel
def generic(x: wp.array(dtype=Any), y: wp.array(dtype=Any)):
    i = wp.tid()
    y[i] = x[i] + x[i] * x[i]


@wp.kernel
def counted(y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = float(i) * 0.25


@wp.kernel
def shifted(x: wp.array(dtype=float)):
    i = wp.tid()
    if i > 0:
        x[i] = x[i - 1] * 0.5


wp.overload(generic, [wp.array(dtype=wp.float64), wp.array(dtype=wp.float64)])
"#;

const GIVEN: &str = r#"import os
from typing import Any
import warp as wp
import compiled
from pkg.inner.base import BIAS

STEPS = int(os.environ["STEPS"])


def launch():
    wp.launch(other_kernel, dim=1)


def make(gain):
    @wp.kernel
    def made(x: wp.array(dtype=float), y: wp.array(dtype=float)):
        i = wp.tid()
        y[i] = x[i] * gain + BIAS
        for k in range(STEPS):
            y[i] += float(compiled.Kind.BOX) * x[i]

    launch()
    return made


@wp.kernel
def double(x: wp.array(dtype=Any)):
    i = wp.tid()
    x[i] = x[i] + x[i]
"#;

#[test]
fn what_imports_and_launches_say_goes_along() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("shapes.py"), SHAPES).expect("a file");
    std::fs::write(folder.path().join("users.py"), USERS).expect("a file");
    let found = harvest(folder.path(), "MIT", PLAN, 1, &|| ()).expect("rows");
    let names: Vec<&str> = found.rows.iter().map(|row| &*row.kernel).collect();
    assert_eq!(names, ["renamed", "starred", "dotted", "generic", "counted"], "{found:?}");
    let text = |at: usize| &*found.rows[at].source;
    assert!(text(0).contains("round_thing = ball"), "{}", text(0));
    assert!(text(1).contains("BIAS = 0.5"), "{}", text(1));
    assert!(text(2).contains("wp.max(ball(value), BIAS)"), "{}", text(2));
    assert!(text(3).contains("wp.overload(generic, [wp.array(dtype=wp.float64"), "{}", text(3));
    assert!((0..5).all(|at| !text(at).contains("class Plain")));
    let verdict = |row: &Row| row.checks().into_iter().find(|it| it.check == "inputs");
    assert_eq!(verdict(&found.rows[4]).map(|it| it.verdict), Some(Verdict::Waived));
    let [shifted] = &found.refused[..] else { panic!("{:?}", found.refused) };
    assert_eq!(shifted.reason, "results that depend on the order of threads");
}

#[test]
fn what_only_python_knows_is_given_by_options() {
    let folder = tempfile::tempdir().expect("a folder");
    let (code, given) = (folder.path().join("code"), folder.path().join("given"));
    // A folder without an `__init__.py` is in the package around it.
    std::fs::create_dir_all(code.join("pkg/inner")).expect("folders");
    std::fs::create_dir(&given).expect("a folder");
    let write = |path: std::path::PathBuf, text: &str| std::fs::write(path, text).expect("a file");
    write(code.join("pkg/__init__.py"), "");
    write(code.join("pkg/inner/base.py"), "BIAS = 0.5\n");
    write(code.join("pkg/inner/made.py"), GIVEN);
    write(given.join("compiled.py"), "# SPDX-License-Identifier: MIT\nclass Kind:\n    BOX = 6\n");
    let outcome = |options: &ImportOptions| {
        let found = FoundKernels::below(&code, "MIT", options, Recordings::default())?;
        let outcomes = found.outcomes(0..found.count(), PLAN, 1, &|| ())?;
        found.harvested(outcomes)
    };
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let options = ImportOptions {
        folders: vec![given.clone()],
        // The value that is given for `BIAS` takes the place of the text's own.
        defines: vec![pair("make.gain", "3.0"), pair("STEPS", "4"), pair("BIAS", "9.0")],
        ..ImportOptions::default()
    };
    let found = outcome(&options).expect("rows");
    let [made, any] = &found.rows[..] else { panic!("{:?}", found.refused) };
    for part in ["gain = 3.0\n", "STEPS = 4\n", "BIAS = 9.0\n", "class Kind"] {
        assert!(made.source.contains(part), "{part}\n{}", made.source);
    }
    let origin: Value =
        serde_json::from_str(made.origin_json.as_deref().unwrap_or_default()).expect("JSON");
    assert_eq!(origin["given"], serde_json::json!(["BIAS", "STEPS", "gain"]));
    assert!(!made.source.contains("other_kernel"), "{}", made.source);
    assert!(any.source.contains("wp.overload(double, [wp.array"), "{}", any.source);

    let found = outcome(&ImportOptions::default()).expect("rows");
    let refused = found.refused.iter().find(|it| it.kernel == "made").expect("a refusal");
    assert!(
        refused.message.as_ref().is_some_and(|it| it.contains("`gain` is an argument of `make`")),
        "{refused:?}"
    );
    write(
        given.join("compiled.py"),
        "# SPDX-License-Identifier: BSD-2-Clause\nclass Kind:\n    BOX = 6\n",
    );
    let refusal = outcome(&options).expect_err("another licence").to_string();
    assert!(refusal.contains("its licence is BSD-2-Clause, and rows are under MIT"), "{refusal}");
}

/// The environment variable GBXCULE_WARP_PACKAGE names the package's folder.
#[test]
#[ignore = "needs NVIDIA Warp's package, and minutes"]
fn the_package_of_warp_gives_a_thousand_rows() {
    let folder =
        std::env::var("GBXCULE_WARP_PACKAGE").expect("the folder of NVIDIA Warp's package");
    let harvested = harvest(Path::new(&folder), "Apache-2.0", PLAN, 2, &|| ()).expect("rows");
    let Harvested { rows, harvest: found, .. } = harvested;
    println!("{} rows of {} kernels, {} repeated", rows.len(), found.kernels, found.repeated);
    for (reason, count) in &found.refused {
        println!("{count:>6} {reason}");
    }
    let mut checks: BTreeMap<(String, String), usize> = BTreeMap::new();
    for check in rows.iter().flat_map(Row::checks) {
        *checks.entry((check.check, check.verdict.into())).or_default() += 1;
    }
    println!("{checks:?}");
    assert!(rows.len() >= 1000, "{}", rows.len());
}

/// Each of these files once took hours or all memory, because each statement stored the names used
/// inside it and every name was searched in every statement of every file.
#[test]
fn files_that_were_made_to_last_forever_are_read_to_their_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: String| {
        std::fs::write(folder.path().join(name), text).expect("a file");
    };
    let kernel = |name: &str| {
        format!(
            "@wp.kernel\ndef {name}(x: wp.array(dtype=float), y: wp.array(dtype=float)):\n    i = wp.tid()\n    \
             y[i] = x[i] * 2.0\n"
        )
    };
    write("long.py", format!("import warp as wp\n{}{}", "z = 1\n".repeat(200_000), kernel("long")));
    let classes: String =
        (0..50).map(|depth| format!("{}class C{depth}:\n", " ".repeat(depth))).collect();
    let names: String = (0..50_000).map(|name| format!("n{name}; ")).collect();
    let inner = format!("{}{names}\n", " ".repeat(50));
    write("deep.py", format!("import warp as wp\n{classes}{inner}{}", kernel("deep")));
    let stars: String = (0..40).map(|from| format!("from m{from} import *\n")).collect();
    (0..40).for_each(|module| write(&format!("m{module}.py"), stars.clone()));
    write("star.py", format!("import warp as wp\n{stars}{}", kernel("star")));
    // Each struct is 16 times as large as the one before. The last one has 1 GiB, which no variable
    // of a row may have.
    let structs: String = (1..7)
        .map(|at| {
            let fields: String =
                (0..16).map(|field| format!("    f{field}: S{}\n", at - 1)).collect();
            format!("@wp.struct\nclass S{at}:\n{fields}")
        })
        .collect();
    let first = "import warp as wp\n@wp.struct\nclass S0:\n    f0: wp.mat44\n    f1: wp.mat44\n";
    let copies =
        "    s = S3()\n    t = S3()\n    for j in range(1000):\n        t = s\n        s = t\n";
    let copies = format!("{}{copies}", kernel("copies"));
    let elements = kernel("elements").replace("y: wp.array(dtype=float)", "y: wp.array(dtype=S3)");
    let elements = elements.replace("y[i] = x[i] * 2.0", "y[i].f0.f0.f0.f0[0, 0] = x[i]");
    write("structs.py", format!("{first}{structs}{copies}{elements}"));
    let Harvested { rows, harvest, .. } =
        harvest(folder.path(), "MIT", PLAN, 1, &|| ()).expect("a folder");
    assert_eq!(harvest.kernels, 5, "{harvest:?}");
    assert_eq!(
        harvest.refused.get("refused by the compiler: `too-complex`"),
        Some(&2),
        "{harvest:?}"
    );
    assert!(rows.iter().any(|row| row.kernel == "long"), "{harvest:?}");
    assert!(rows.iter().any(|row| row.kernel == "deep"), "{harvest:?}");
    assert_eq!(harvest.refused.values().sum::<usize>() + rows.len(), 5);
}

#[test]
fn a_static_kernel_of_a_class_is_a_plain_kernel_in_its_row() {
    let folder = tempfile::tempdir().expect("a folder");
    let code = "import warp as wp\n\nclass Solver:\n    @staticmethod\n    @wp.func\n    def twice(x: float):\n        return 2.0 * x\n\n    \
                @staticmethod\n    @wp.kernel\n    def run(x: wp.array(dtype=float), y: wp.array(dtype=float)):\n        \
                y[wp.tid()] = x[wp.tid()] + 1.0\n";
    std::fs::write(folder.path().join("code.py"), code).expect("a file");
    let made = harvest(folder.path(), "MIT", PLAN, 1, &|| ()).expect("rows");
    let [row] = &made.rows[..] else { panic!("{:?}", made.refused) };
    assert!(row.source.contains("\n@wp.kernel\ndef run("), "{}", row.source);
    assert!(!row.source.contains("staticmethod"), "{}", row.source);
}
