//! Rows beside NVIDIA Warp, in the Python that `GBXCULE_PYTHON` names: Warp's results, and the text
//! that it writes.

use gbxcule_oracle::Python;
use gbxcule_rows::batch::{Manifest, Work, batch, read};
use gbxcule_rows::external_column::Tools;
use gbxcule_rows::row::{Mode, Plan, Row, Texts, make};
use gbxcule_rows::shard::Shard;
use gbxcule_rows::skeleton::KnownSkeletons;
use gbxcule_rows::template_row::{self, Algorithm};
use gbxcule_rows::validate::{Checks, count_verdicts, validate};
use gbxcule_rows::verdict::{Check, Verdict};
use gbxcule_templates::{COMPOSITIONS, Instance, LIBRARY};
use gbxcule_testkit::switch::Share;
use std::path::{Path, PathBuf};

const PLAN: Plan =
    Plan { seed: 11, mode: Mode::Run, device: Texts::Both, host_every: 0, sampled: 100 };

#[test]
#[ignore = "needs NVIDIA Warp"]
fn nvidia_warp_computes_the_same_and_its_wrong_gradients_are_labelled() {
    let mut rows: Vec<Row> = (0..36).map(|id| make(PLAN, id)).collect();
    let wanted = Checks { warp: Some(Python::find()), ..Checks::default() };
    let verdicts = validate(&rows, &wanted).expect("verdicts");
    for (row, checks) in rows.iter_mut().zip(&verdicts) {
        for check in checks.iter().flatten().filter(|check| check.check.starts_with("warp")) {
            println!("{} {check:?}", row.id);
            assert_ne!(check.verdict, Verdict::Fail, "row {}\n{}", row.id, row.source);
        }
        row.record_verdicts(checks);
    }
    println!("{:?}", count_verdicts(&verdicts));
    let labelled =
        |label: &str| rows.iter().filter(|row| row.warp_gradient.as_deref() == Some(label)).count();
    assert!(labelled("right") >= 20 && labelled("wrong") >= 1, "{verdicts:?}");
}

/// Algorithms and compositions of the library, an instance of each: every twelfth, or with
/// `GBXCULE_SHARE=1/1` all. NVIDIA Warp runs host code unchanged.
#[test]
#[ignore = "needs NVIDIA Warp"]
fn nvidia_warp_agrees_with_the_algorithms() {
    let share = Share::or_one_in(12);
    let plan = Plan { sampled: 0, ..PLAN };
    let is_chosen = |at: usize| share.has(at as u64);
    let row = |at: usize, algorithm: Algorithm<'_>, instance: Option<Result<Instance, String>>| {
        let instance = instance.expect("an instance").expect("a text");
        let row = template_row::row(plan, algorithm, &instance, at as u64);
        Row { id: at as u64, ..row.unwrap_or_else(|fault| panic!("{algorithm:?}: {fault}")) }
    };
    let mut rows = Vec::new();
    for (at, it) in LIBRARY.iter().enumerate().filter(|it| is_chosen(it.0)) {
        rows.push(row(at, Algorithm::of(it), it.instance(at as u64, 3)));
    }
    for (at, it) in COMPOSITIONS.iter().enumerate().filter(|it| is_chosen(it.0)) {
        let algorithm = Algorithm { topic: &it.topic, name: &it.name };
        rows.push(row(LIBRARY.len() + at, algorithm, it.instance(&LIBRARY, at as u64, 3)));
    }
    let wanted = Checks { warp: Some(Python::find()), ..Checks::default() };
    let verdicts = validate(&rows, &wanted).expect("verdicts");
    let mut faults = Vec::new();
    for (row, checks) in rows.iter().zip(&verdicts) {
        for check in checks.iter().flatten().filter(|check| check.check.starts_with("warp")) {
            println!("{}/{} {check:?}", row.family, row.kernel);
            if check.verdict == Verdict::Fail {
                faults.push(format!("{}/{} {check:?}\n{}", row.family, row.kernel, row.source));
            }
        }
    }
    println!("{:?}", count_verdicts(&verdicts));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// A change of the IR changes skeletons; then `gbxcule synth skeletons` must make the list again.
#[test]
#[ignore = "needs NVIDIA Warp"]
fn the_list_of_its_kernels_is_what_this_compiler_makes_of_its_package() {
    let print =
        "import importlib.util as i; print(i.find_spec('warp').submodule_search_locations[0])";
    let output = Python::find().command().args(["-c", print]).output().expect("Python");
    let package = String::from_utf8(output.stdout).expect("a path");
    let found = KnownSkeletons::of_folder(Path::new(package.trim())).expect("the package");
    println!("{} kernels, {} compiled, {} skeletons", found.kernels, found.compiled, found.len());
    assert!(
        found.to_text() == KnownSkeletons::of_warp().to_text(),
        "the list is of another compiler: make it anew by `gbxcule synth skeletons {} > \
         crates/foundry/rows/src/warp_skeletons.txt`",
        package.trim()
    );
}

fn dataset(name: &str, plan: Plan, count: u64) -> (Manifest, Vec<Row>) {
    let folder: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join("synth").join(name);
    _ = std::fs::remove_dir_all(&folder);
    let tools = Tools::find(None, Some(&Python::find())).expect("NVIDIA Warp");
    let manifest = Manifest::new(count, plan, &tools);
    let work = Work { shard: Shard::WHOLE, workers: 1, resume: false, jsonl: false };
    batch(&folder, &manifest, &work, &tools, &|| ()).expect("a dataset");
    let stored = Manifest::read(&folder).expect("a manifest");
    assert_eq!(stored, manifest);
    (stored, read(&folder).expect("rows"))
}

/// Prints what NVIDIA Warp itself writes when it compiles the text of standard input ahead of time
/// for both devices.
const COMPILED_AHEAD: &str = r#"
import importlib.util, json, pathlib, sys, tempfile
import warp as wp
wp.config.quiet = True
folder = pathlib.Path(tempfile.mkdtemp())
path = folder / "row.py"
path.write_text(sys.stdin.read())
spec = importlib.util.spec_from_file_location("row", path)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
wp.compile_aot_module(module, device="cpu", module_dir=folder)
wp.compile_aot_module(module, arch=90, module_dir=folder)
texts = {it.suffix: it.read_text().replace(f"{folder}/", "") for it in folder.iterdir() if it.suffix in (".cpp", ".cu")}
print("\n" + json.dumps([texts[".cpp"], texts[".cu"]]))
"#;

fn compiled_ahead(source: &str) -> [String; 2] {
    use std::io::Write as _;
    use std::process::Stdio;
    let mut command = Python::find().command();
    command.args(["-c", COMPILED_AHEAD]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("Python");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(source.as_bytes()).expect("the source");
    drop(input);
    let output = child.wait_with_output().expect("an end");
    let printed = String::from_utf8(output.stdout).expect("text");
    serde_json::from_str(printed.lines().last().expect("a line")).expect("two texts")
}

#[test]
#[ignore = "needs NVIDIA Warp"]
fn its_own_texts_are_those_that_it_compiles() {
    let (manifest, rows) = dataset("warp_text", PLAN, 8);
    let origin = manifest.warp.expect("an origin");
    assert!(origin["version"].is_string() && origin["record_sha256"].is_string(), "{origin}");
    for row in &rows {
        let (cpp, cuda) =
            (row.warp_cpp.as_ref().expect("C++"), row.warp_cuda.as_ref().expect("CUDA"));
        for kernel in ["_cpu_kernel_forward", "_cpu_kernel_backward"] {
            assert!(cpp.contains(&row.kernel) && cpp.contains(kernel), "{cpp}");
        }
        for kernel in ["_cuda_kernel_forward", "_cuda_kernel_backward"] {
            assert!(cuda.contains(&row.kernel) && cuda.contains(kernel), "{cuda}");
        }
        assert_eq!(row.warp_origin_json.as_deref(), Some(origin.to_string().as_str()));
    }
    // Warp adds numbers to functions' names, so one row with a function is compiled by Warp itself.
    let function = rows.iter().position(|row| row.source.contains("@wp.func"));
    for row in [0, function.unwrap_or(1)].map(|at| &rows[at]) {
        let found = [&row.warp_cpp, &row.warp_cuda].map(|text| text.clone().expect("a text"));
        assert_eq!(found, compiled_ahead(&row.source), "row {}", row.id);
    }
    assert_eq!(rows, dataset("warp_text_again", PLAN, 8).1);
    let mut forged = rows[..2].to_vec();
    let cuda = forged[1].warp_cuda.as_mut().expect("CUDA");
    *cuda =
        cuda.replacen("1.0f", "2.0f", 1).replacen("wp::add", "wp::sub", 1).replacen(';', " ;", 1);
    let wanted = Checks { warp: Some(Python::find()), ..Checks::default() };
    let verdicts = validate(&forged, &wanted).expect("NVIDIA Warp");
    let of = |at: usize| verdicts[at].iter().flatten().find(|it| it.check == "warp_text").cloned();
    assert_eq!(of(0).map(|it| it.verdict), Some(Verdict::Pass));
    let failed = of(1).expect("a verdict");
    assert_eq!((failed.verdict, &*failed.detail), (Verdict::Fail, "warp_cuda"));
}

/// Warp executes a row's source as a program, so it runs in the sandbox.
#[test]
#[ignore = "needs NVIDIA Warp"]
fn effects_of_a_source_beside_its_kernel_stay_in_the_sandbox() {
    let folder = tempfile::tempdir().expect("a folder");
    let mark = folder.path().join("mark");
    let mut row = make(PLAN, 1);
    let beside = format!(
        "import os\nos.system('touch {0}')\ntry:\n    open('{0}', 'w')\nexcept OSError:\n    pass\n",
        mark.display()
    );
    row.source =
        row.source.replacen("import warp as wp\n", &format!("import warp as wp\n{beside}"), 1);
    let wanted = Checks { warp: Some(Python::find()), ..Checks::default() };
    let verdicts = validate(&[row], &wanted).expect("NVIDIA Warp");
    let passes = |check: &Check| check.check == "warp" && check.verdict == Verdict::Pass;
    assert!(verdicts[0].iter().flatten().any(passes));
    assert!(!mark.exists(), "a source wrote a file outside of its folder");
}
