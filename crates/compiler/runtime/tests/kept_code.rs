//! Machine code for CPUs on disk does what freshly compiled code does, and whatever else lies in
//! its place is made anew.
//!
//! Each test runs ignored ones of this program in child processes, with a cache of their own.

#[path = "warp/native.rs"]
mod native;

use gbxcule_front_warp::Program;
use gbxcule_ir::check;
use gbxcule_ir::source::{SourceId, SourceMap};
use gbxcule_passes::grad::reverses;
use gbxcule_runtime::{
    Argument, Array, Build, CodeFolder, Compiled, Element, Error, MadeModule, Output, Recipe,
};
use gbxcule_testkit::arbitrary::{self, Options, RandomProgram};
use gbxcule_testkit::pattern::patterns;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

/// Prepares a child process that runs an ignored test of this program.
fn child(test: &str, cache: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args([test, "--exact", "--ignored", "--nocapture", "--test-threads=1"]);
    command.env("GBXCULE_CACHE", cache).env("GBXCULE_THREADS", "2");
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs an ignored test in a child process; returns what it wrote to standard error.
fn passes(command: &mut Command) -> String {
    let ran = command.output().expect("it starts");
    let message = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(ran.status.success(), "{}\n{message}", String::from_utf8_lossy(&ran.stdout));
    message
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    entries.map(|entry| entry.expect("a file").path()).collect()
}

fn cache_of_child() -> PathBuf {
    std::env::var_os("GBXCULE_CACHE").expect("a cache of its own").into()
}

const TEXT: &str = "
import warp as wp


@wp.struct
class Body:
    mass: float
    at: wp.vec3
    trail: wp.array(dtype=wp.int32)


@wp.func
def quotient(x: wp.int32, n: wp.int32):
    return x / n


@wp.func
def nearest(x: float):
    return wp.sin(x) ** 1.5 + wp.erf(x) + float(wp.mod(x, 0.7))


@wp.kernel
def move(bodies: wp.array(dtype=Body), one: Body, by: wp.int32, into: wp.array2d(dtype=float)):
    i, j = wp.tid()
    assert j < 4, \"few columns\"
    table = wp.vec4(0.5, 1.5, 2.5, 3.5)
    into[i, j] = bodies[i].mass * nearest(table[j]) + one.at[2]
    one.trail[i] = quotient(100 * i, by)
    if i == 1 and j == 0:
        wp.printf(\"mass %g of %d\\n\", bodies[i].mass, i)
        print(one.at)


@wp.kernel
def add(into: wp.array(dtype=float), of: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(into, i, of[i])
";

/// Recipe of `TEXT`, whose name is a file's, behind other texts of the process.
fn recipe(name: &str, others: usize) -> (Recipe, SourceMap) {
    let mut sources = SourceMap::new();
    (0..others).for_each(|number| _ = sources.add(format!("{number}.py"), "X = 1\n"));
    let id = sources.add("kept.py", TEXT);
    let recipe = Recipe::new(&CodeFolder::key(&[name.as_bytes()]), &[id], made_again);
    (recipe, sources)
}

fn made_again() -> Result<check::Valid<gbxcule_ir::Module>, String> {
    Ok(made(&mut SourceMap::new()).module)
}

fn made(sources: &mut SourceMap) -> MadeModule {
    let id: SourceId = sources.add("kept.py", TEXT);
    let module = Program::parse(sources, id).and_then(|program| program.compile("kept"));
    let module = module.and_then(check::module).expect("a right program");
    MadeModule { module, notes: "of the maker".into() }
}

/// Returns everything that callers see of launches: memory, printed text, faults with their lines.
fn outcome(compiled: &Arc<Compiled>, sources: &SourceMap) -> String {
    let kernel = compiled.kernel("move").expect("it is there");
    let mut report = format!("{} {:?}\n", compiled.notes(), kernel.reflection());
    for (by, columns, mass) in [(3, 4, 1.5f32), (0, 4, 1.5), (3, 5, f32::NAN)] {
        let trail = Array::from_slice(&[0i32; 3]);
        let into = Array::zeros(f32::data_type(), &[3, 4]).expect("small");
        let body = |mass: f32| {
            let at = [1.0, 2.0, mass].into();
            let fields = [("mass", mass.into()), ("at", at), ("trail", (&trail).into())];
            Argument::Struct(fields.map(|(name, value)| (name.to_string(), value)).into())
        };
        let bodies = Argument::Rows((0..3).map(|at| body(mass * at as f32)).collect());
        let printed = Arc::new(Mutex::new(String::new()));
        let args = [bodies, body(mass), by.into(), (&into).into()];
        let ended = kernel.launch_with_output(&[3, columns], &args, Output::Text(printed.clone()));
        let ended = ended.map_err(|error| match error {
            Error::Fault(fault) => gbxcule_ir::diagnostic::render(&[fault.diagnostic()], sources),
            error => error.to_string(),
        });
        let printed = printed.lock().expect("no panic").clone();
        let (into, trail) = (into.memory_bytes(), trail.to_vec::<i32>());
        report += &format!("{ended:?} {printed:?} {into:?} {trail:?}\n");
    }
    report
}

fn compiled(recipe: &Recipe, sources: &mut SourceMap) -> Arc<Compiled> {
    recipe.compile(made(sources), Build::default()).expect("it compiles")
}

fn found(recipe: &Recipe) -> Option<Arc<Compiled>> {
    recipe.find(Build::default())
}

#[test]
#[ignore = "needs a cache of its own: run by the test below"]
fn every_program() {
    let agree = |program: &RandomProgram, checked| {
        native::run_kept(program, checked).expect("it never faults");
    };
    let small = Options { statements: 12, ..Options::default() };
    for seed in 0..8 {
        agree(&arbitrary::program_with(seed, small), seed % 3 > 0);
    }
    agree(&arbitrary::program_with(7, Options { statements: 100, functions: 6, ..small }), true);
    for pattern in patterns().into_iter().step_by(3) {
        let module = check::module(pattern.case.module.clone()).expect("valid");
        let program = pattern.case.forward(module);
        agree(&program, true);
        if let Ok((module, _)) = reverses(&program.module, &[program.kernel]) {
            // The module's kernels are the forward one and the reverse.
            let module = check::module(module).expect("valid");
            agree(&RandomProgram { module, ..program }, true);
        }
    }
}

#[test]
fn programs_leave_the_same_memory_from_disk() {
    let cache = tempfile::tempdir().expect("a folder");
    passes(&mut child("every_program", cache.path()));
    assert!(files(cache.path()).len() > 20);
}

#[test]
#[ignore = "needs a cache of its own: run by the tests below"]
fn one_recipe() {
    let (recipe, mut sources) = recipe("one", 0);
    let is_there = found(&recipe).is_some();
    let expected = outcome(&compiled(&recipe, &mut sources), &sources);
    for part in ["few columns", "an integer divided by zero", "kept.py:25:5", "mass 1.5 of 1"] {
        assert!(expected.contains(part), "{part}: {expected}");
    }
    // The texts of another process have other numbers.
    for others in [0, 5] {
        let (recipe, sources) = self::recipe("one", others);
        assert_eq!(outcome(&found(&recipe).expect("it is kept"), &sources), expected);
    }
    eprintln!("was there: {is_there}");
}

#[test]
fn faults_and_printed_text_are_the_same_from_disk_in_any_process() {
    let cache = tempfile::tempdir().expect("a folder");
    assert!(passes(&mut child("one_recipe", cache.path())).contains("was there: false"));
    assert!(passes(&mut child("one_recipe", cache.path())).contains("was there: true"));
    // Other threads make other code.
    let alone = passes(child("one_recipe", cache.path()).env("GBXCULE_THREADS", "1"));
    assert!(alone.contains("was there: false"));
    assert_eq!(files(cache.path()).len(), 2);
}

#[test]
fn several_processes_make_whole_files_at_once() {
    let cache = tempfile::tempdir().expect("a folder");
    let start = |_| child("one_recipe", cache.path()).spawn().expect("it starts");
    let children: Vec<_> = (0..4).map(start).collect();
    for child in children {
        let ended = child.wait_with_output().expect("it ends");
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stdout));
    }
    assert_eq!(files(cache.path()).len(), 1, "nothing is left half written");
}

#[test]
#[ignore = "needs a cache of its own: run by the test below"]
fn damaged_code() {
    let (recipe, mut sources) = recipe("damaged", 0);
    assert!(found(&recipe).is_none());
    let expected = outcome(&compiled(&recipe, &mut sources), &sources);
    let [file] = &files(&cache_of_child())[..] else { panic!("one file") };
    let whole = std::fs::read(file).expect("a record");
    let is_found = || found(&recipe).is_some();
    assert!(is_found());
    let refused = |damaged: &[u8], what: &str| {
        std::fs::write(file, damaged).expect("ours to change");
        assert!(found(&recipe).is_none(), "{what}");
    };
    for at in (0..whole.len()).step_by(whole.len() / 97) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        refused(&damaged, &format!("a bit of byte {at}"));
        refused(&whole[..at], &format!("the first {at} bytes"));
    }
    refused(&[&whole[..], b"\0"].concat(), "a byte more");
    // Code is made anew in its place, and no other file is written.
    let again = compiled(&recipe, &mut sources);
    assert_eq!(outcome(&again, &sources), expected);
    drop(again);
    assert_eq!(std::fs::read(file).expect("a record"), whole);
    // A file that others may write to is somebody else's: one of a group puts a second name of any
    // such file of ours here.
    let mode = |mode| std::os::unix::fs::PermissionsExt::from_mode(mode);
    for others in [0o646, 0o664] {
        std::fs::set_permissions(file, mode(others)).expect("ours");
        assert!(!is_found(), "{others:o}");
    }
    std::fs::set_permissions(file, mode(0o644)).expect("ours");
    assert!(is_found());
    // Code of another recipe is refused under this one's name.
    let (other, mut texts) = self::recipe("another", 0);
    drop(compiled(&other, &mut texts));
    let all = files(&cache_of_child());
    let other = all.iter().find(|path| *path != file).expect("two files");
    std::fs::copy(other, file).expect("ours");
    assert!(!is_found());
}

#[test]
fn damaged_and_foreign_files_are_made_anew() {
    let cache = tempfile::tempdir().expect("a folder");
    passes(&mut child("damaged_code", cache.path()));
}

#[test]
#[ignore = "needs a cache of its own: run by the test below"]
fn many_threads() {
    let (recipe, mut sources) = recipe("expected", 0);
    let expected = doubled(&compiled(&recipe, &mut sources)).expect("no faults");
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let expected = &expected;
            scope.spawn(move || {
                for round in 0..6 {
                    let (recipe, mut sources) = self::recipe(&format!("{}", round % 3), thread);
                    let code = found(&recipe);
                    let code = code.unwrap_or_else(|| compiled(&recipe, &mut sources));
                    assert_eq!(doubled(&code).as_ref(), Ok(expected));
                }
            });
        }
    });
}

/// Returns what a launch leaves whose threads touch the elements of one array by two names.
fn doubled(compiled: &Arc<Compiled>) -> Result<Vec<f32>, Error> {
    let array = Array::from_slice(&(0..200_000u32).map(|at| at as f32).collect::<Vec<f32>>());
    compiled.kernel("add")?.launch(&[200_000], &[(&array).into(), (&array).into()])?;
    array.to_vec()
}

#[test]
#[ignore = "needs a cache of its own: run by the test below"]
fn shared_elements() {
    let (recipe, mut sources) = recipe("shared", 0);
    let expected = doubled(&compiled(&recipe, &mut sources)).expect("no faults");
    assert_eq!(expected[7], 14.0);
    let kept = |name: &str| {
        let name = CodeFolder::key(&[name.as_bytes()]);
        found(&Recipe::new(&name, &[], || Err("it is not made again".into()))).expect("it is kept")
    };
    assert_eq!(doubled(&kept("shared")), Ok(expected.clone()), "both codes are on disk");
    // Code for threads that share elements is made when a launch needs it.
    drop(compiled(&self::recipe("later", 0).0, &mut sources));
    let refused = doubled(&kept("later")).expect_err("the module can't be made").to_string();
    assert!(refused.contains("it is not made again"), "{refused}");
    assert_eq!(doubled(&found(&self::recipe("later", 0).0).expect("kept")), Ok(expected.clone()));
    assert_eq!(doubled(&kept("later")), Ok(expected));
    // A recipe that makes another module than before is refused.
    drop(compiled(&self::recipe("changed", 0).0, &mut sources));
    let changed = Recipe::new(&CodeFolder::key(&[b"changed"]), &[], || {
        let mut module = made_again()?.into_inner();
        module.declare_kernel("one_more", vec![]);
        check::module(module).map_err(|_| "invalid".into())
    });
    let refused = doubled(&found(&changed).expect("kept")).expect_err("changed").to_string();
    assert!(refused.contains("has changed"), "{refused}");
}

#[test]
fn code_for_shared_elements_is_kept_as_well() {
    let cache = tempfile::tempdir().expect("a folder");
    passes(&mut child("shared_elements", cache.path()));
}

#[test]
fn threads_of_a_process_find_and_make_code_at_once() {
    let cache = tempfile::tempdir().expect("a folder");
    passes(&mut child("many_threads", cache.path()));
    assert_eq!(files(cache.path()).len(), 8, "each has code for shared elements as well");
}

#[test]
#[ignore = "needs a cache of its own: run by the test below"]
fn without_a_cache() {
    let (recipe, mut sources) = recipe("one", 0);
    drop(compiled(&recipe, &mut sources));
    assert!(found(&recipe).is_none());
}

#[test]
fn a_cache_may_be_off_or_unwritable() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut off = child("without_a_cache", Path::new("off"));
    assert_eq!(passes(off.current_dir(folder.path())), "");
    assert_eq!(files(folder.path()), Vec::<PathBuf>::new());
    let printed = passes(&mut child("without_a_cache", Path::new("/dev/null/cache")));
    assert_eq!(printed.matches("compiled kernels are not kept").count(), 1, "{printed}");
}
