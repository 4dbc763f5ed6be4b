//! Every kernel of NVIDIA Warp's own tests and examples that compiles, run by Warp on the CPU and
//! in each of our ways, on random inputs:
//!
//! `GBXCULE_PYTHON=.. GBXCULE_THREADS=1 cargo nextest run -p gbxcule-runtime --run-ignored only -E
//! 'binary(warp)' --no-capture`. `GBXCULE_SHARE=1/8` takes every eighth kernel, `GBXCULE_ONLY=text`
//! those whose file and name have the text. `gpu` hands their CUDA text to NVRTC.
//!
//! Integers must be equal, and floats as near as `comparison` allows. `explained` lists the kernels
//! that differ with the reasons, and those must differ. Warp runs threads one after another on the
//! CPU, so these tests do too.

mod comparison;
mod explained;
mod gpu;
#[allow(dead_code, reason = "gradients are asked about on moderate inputs only")]
mod input;
mod native;
mod report;
mod subject;

use comparison::{Worst, worst};
use gbxcule_back_cxx::Dialect;
use gbxcule_testkit::arbitrary::RandomProgram;
use gbxcule_testkit::host;
use gbxcule_testkit::switch::{Share, is_chosen};
use gbxcule_testkit::warp::{Launch, Memory, Warp};
use input::Run;
use report::{Comparison, Report};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use subject::{Subject, Tree};

/// Number of kernels in a module of Warp's.
const BATCH: usize = 24;
/// Number of kernels in a program of the host's compiler.
const TEXTS: usize = 32;

#[test]
#[ignore = "needs NVIDIA Warp"]
fn every_kernel_of_warps_own_sources_agrees_with_warp() {
    let mut warp = Warp::find();
    let (package, tree) = sources(&mut warp);
    let report = compare(&mut warp, &package, &tree, chosen(&tree.compiled, &package));
    println!("{}", report.text());
    assert!(report.surprises.is_empty(), "{:#?}", report.surprises);
}

/// These constructs occur too seldom in Warp's own sources.
#[test]
#[ignore = "needs NVIDIA Warp"]
fn a_kernel_with_functions_of_other_files_agrees_with_warp() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/warp/beside");
    let mut tree = Tree::default();
    tree.add(&folder);
    let all = tree.compiled.iter().collect();
    let report = compare(&mut Warp::find(), &folder, &tree, all);
    assert!(report.surprises.is_empty(), "{:#?}", report.surprises);
    assert_eq!((tree.found, report.compared), (19, 19), "{}", report.text());
}

/// The sources are other people's, in `GBXCULE_SOURCES=FOLDER`, which the report names.
#[test]
#[ignore = "needs NVIDIA Warp and a folder of programs"]
fn every_kernel_of_a_folder_agrees_with_warp_or_is_printed() {
    let Some(folder) = std::env::var_os("GBXCULE_SOURCES").map(PathBuf::from) else {
        println!("GBXCULE_SOURCES names no folder: nothing was compared");
        return;
    };
    let mut tree = Tree::within(&folder);
    tree.add(&folder);
    let report = compare(&mut Warp::find(), &folder, &tree, chosen(&tree.compiled, &folder));
    println!("{}", report.text());
    assert!(report.surprises.is_empty(), "{:#?}", report.surprises);
}

/// Code of each kernel is found on disk and leaves, bit for bit, what freshly compiled code leaves.
#[test]
#[ignore = "needs NVIDIA Warp, whose sources it takes"]
fn every_kernel_of_warps_own_sources_is_the_same_from_disk() {
    let cache = tempfile::tempdir().expect("a folder");
    let mut child = std::process::Command::new(std::env::current_exe().expect("this program"));
    child.args(["every_kernel_from_disk", "--exact", "--ignored"]);
    let ran = child.env("GBXCULE_CACHE", cache.path()).output().expect("it starts");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
    let files = std::fs::read_dir(cache.path()).expect("the folder").count();
    assert!(files >= 10, "{files} kernels were compared");
}

#[test]
#[ignore = "needs a cache of its own: run by the test above"]
fn every_kernel_from_disk() {
    let (package, tree) = sources(&mut Warp::find());
    for subject in chosen(&tree.compiled, &package) {
        let Ok(runs) = input::runs(subject, key(&subject.title(&package))) else { continue };
        for run in runs.iter().filter(|run| !run.races) {
            _ = native::run_kept(&run.program, true);
        }
    }
}

fn compare(warp: &mut Warp, package: &Path, tree: &Tree, subjects: Vec<&Subject>) -> Report {
    assert_eq!(
        std::env::var("GBXCULE_THREADS").as_deref(),
        Ok("1"),
        "threads that race leave what Warp leaves only if they take turns: set GBXCULE_THREADS=1"
    );
    let mut report = Report::new(tree);
    let mut pairs = Vec::new();
    for subject in subjects {
        let title = subject.title(package);
        match input::runs(subject, key(&title)) {
            Ok(runs) => pairs.push(Pair { subject, title, runs }),
            Err(refusal) => report.cannot(&title, &refusal),
        }
    }
    let compared = answered(warp, &pairs, &mut report);
    for batch in compared.chunks(TEXTS) {
        let programs: Vec<RandomProgram> = batch
            .iter()
            .flat_map(|(pair, _)| pair.runs.iter().map(|run| run.program.clone()))
            .collect();
        let (outcomes, _) = host::run("warp", Dialect::Host, &programs);
        let mut outcomes = outcomes.into_iter();
        for (pair, theirs) in batch {
            let verdicts = verdicts(pair, theirs, &mut outcomes);
            report.compared(&Comparison {
                title: &pair.title,
                transcendental: pair.subject.is_transcendental(),
                writes: pair.runs.iter().any(|run| run.after != run.program.buffers),
                races: pair.runs.iter().any(|run| run.races),
                verdicts: &verdicts,
            });
        }
    }
    report
}

/// Returns the kernels that Warp runs, with the memory that Warp leaves.
fn answered<'p, 's>(
    warp: &mut Warp,
    pairs: &'p [Pair<'s>],
    report: &mut Report,
) -> Vec<(&'p Pair<'s>, Vec<Memory>)> {
    let by_file = pairs.chunk_by(|one, other| one.subject.file == other.subject.file);
    let mut compared = Vec::new();
    for batch in by_file.flat_map(|pairs| pairs.chunks(BATCH)) {
        for (pair, answer) in batch.iter().zip(ask(warp, batch)) {
            match answer {
                Ok(theirs) => compared.push((pair, theirs)),
                Err(error) => report.refused_by_warp(&pair.title, &error),
            }
        }
    }
    compared
}

/// Returns the greatest distance from Warp of the interpreter, of machine code and of C++ text,
/// over all inputs of a kernel.
fn verdicts(
    pair: &Pair<'_>,
    theirs: &[Memory],
    outcomes: &mut impl Iterator<Item = host::LaunchOutcome>,
) -> [Worst; 3] {
    let mut verdicts = [Worst::default(), Worst::default(), Worst::default()];
    let runs = pair.runs.iter().zip(theirs).zip(outcomes).enumerate();
    for (number, ((run, theirs), outcome)) in runs {
        let text = match outcome.kind() {
            None => Ok(outcome.buffers),
            Some(kind) => Err(format!("fault: {}", kind.code())),
        };
        let native = match run.races {
            // If threads race, several host threads could run them in an order that Warp doesn't
            // have.
            true => Ok(theirs.clone()),
            false => native::run(&run.program, true).map_err(|error| error.to_string()),
        };
        let ways = [Ok(run.after.clone()), native, text];
        for (verdict, ours) in verdicts.iter_mut().zip(ways) {
            let found = match ours {
                Ok(ours) => worst(&run.program, &ours, theirs),
                Err(what) => Worst { ulps: f64::INFINITY, what },
            };
            if found.ulps > verdict.ulps {
                let what = format!("input {number}: {}", found.what);
                *verdict = Worst { what, ..found };
            }
        }
    }
    verdicts
}

/// Returns Warp's folder, and the kernels in it.
fn sources(warp: &mut Warp) -> (PathBuf, Tree) {
    let hello = warp.ask(&json!({"command": "hello"}), &[]).expect("the child answers");
    let package = PathBuf::from(hello.header["package"].as_str().expect("where Warp lies"));
    let mut tree = Tree::default();
    tree.add(&package.join("tests"));
    tree.add(&package.join("examples"));
    (package, tree)
}

/// Returns a number of a title (by FNV-1a): a kernel's inputs and its share stay the same when
/// other kernels come or go.
fn key(title: &str) -> u64 {
    title.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Returns the kernels that the environment chooses.
fn chosen<'a>(subjects: &'a [Subject], package: &Path) -> Vec<&'a Subject> {
    let share = Share::or_one_in(1);
    let is_chosen = |subject: &&Subject| {
        let title = subject.title(package);
        share.has(key(&title) >> 32) && is_chosen(&title)
    };
    subjects.iter().filter(is_chosen).collect()
}

/// A kernel with its inputs.
struct Pair<'a> {
    subject: &'a Subject,
    title: String,
    runs: Vec<Run>,
}

/// Memory after each run of a kernel, or the reason of a refusal.
type Answer = Result<Vec<Memory>, String>;

/// Asks Warp about the kernels of one file together; if it refuses them, about each alone.
fn ask(warp: &mut Warp, batch: &[Pair<'_>]) -> Vec<Answer> {
    let kernels: Vec<Value> = batch
            .iter()
            .map(|Pair { subject, .. }| {
                json!({"line": subject.line, "name": subject.name, "types": subject.types()})
            })
            .collect();
    let launches: Vec<Launch<'_>> = batch
        .iter()
        .flat_map(|pair| {
            pair.runs.iter().map(|Run { program, .. }| Launch {
                kernel: ("line", pair.subject.line.into()),
                program,
            })
        })
        .collect();
    let command = json!({"command": "run_file", "file": batch[0].subject.file, "kernels": kernels});
    match warp.run(command, &launches) {
        Ok((answer, memory)) => {
            let mut memory = memory.into_iter();
            let mut errors = answer["errors"].as_array().cloned().unwrap_or_default().into_iter();
            let answers = batch.iter().map(|pair| {
                let memory: Vec<_> = memory.by_ref().take(pair.runs.len()).collect();
                let errors: Vec<_> = errors.by_ref().take(pair.runs.len()).collect();
                let text = |error: &Value| error.as_str().unwrap_or_default().to_string();
                match errors.iter().map(text).find(|error| !error.is_empty()) {
                    Some(error) => Err(error),
                    None if memory.contains(&Vec::new()) => Err("no memory came back".into()),
                    None => Ok(memory),
                }
            });
            answers.collect()
        }
        Err(error) => match batch {
            [_] => vec![Err(error)],
            _ => batch.chunks(1).flat_map(|one| ask(warp, one)).collect(),
        },
    }
}
