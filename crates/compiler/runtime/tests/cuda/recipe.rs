//! Modules found by their recipes launch like modules that were made.

use crate::child;
use gbxcule_front_warp::Program;
use gbxcule_ir::check::{self, Valid};
use gbxcule_ir::source::SourceMap;
use gbxcule_ir::{Module, Scalar};
use gbxcule_runtime::{Argument, Build, Compiled, DataType, Device, Error, Stream};
use gbxcule_runtime::{MadeModule, Parameter, Reflection, compile_recipe};
use std::path::Path;
use std::sync::Arc;

const TEXT: &str = "
import warp as wp


@wp.func
def quotient(x: wp.int32, n: wp.int32):
    return x / n


@wp.kernel
def divide(into: wp.array2d(dtype=wp.int32), by: wp.array(dtype=wp.int32), more: wp.float64):
    i, j = wp.tid()
    assert j < 4, \"few columns\"
    into[i, j] = quotient(100 * i + j, by[i]) + int(more)


@wp.kernel
def clear(of: wp.array(dtype=wp.int32)):
    of[wp.tid()] = 0
";
const NOTES: &str = "of the maker, on\ntwo lines";

/// Returns the module of `TEXT`, or one with structs.
fn made(has_struct: bool) -> MadeModule {
    let more = if has_struct {
        "
@wp.struct
class Body:
    mass: float


@wp.kernel
def move(body: Body):
    print(body.mass)
"
    } else {
        ""
    };
    let mut sources = SourceMap::new();
    let id = sources.add("recipe.py", format!("{TEXT}{more}"));
    let module = Program::parse(&sources, id).and_then(|program| program.compile("recipe"));
    let module: Valid<Module> = module.and_then(check::module).expect("a right program");
    MadeModule { module, notes: NOTES.into() }
}

/// Returns everything that callers see of a compiled module.
fn outcome(compiled: &Arc<Compiled>) -> String {
    let stream = Stream::new(Device::Cuda(0)).expect("a device");
    let kernel = compiled.kernel("divide").expect("it is there");
    let into = stream.zeros(DataType::Scalar(Scalar::I32), &[2, 4]).expect("small");
    let Reflection { name, parameters, dims, disjoint } = kernel.reflection();
    let mut report = format!("{name} {dims} {disjoint:?} {}\n", compiled.notes());
    for Parameter { name, type_name, written, .. } in parameters {
        report += &format!("{name}: {type_name} {written}\n");
    }
    for (by, columns) in [([7, 9], 4), ([7, 0], 4), ([7, 9], 5)] {
        let by = stream.from_slice(&by).expect("small");
        let args: [Argument; 3] = [(&into).into(), (&by).into(), 2.5f64.into()];
        kernel.launch(&[2, columns], &args).expect("queued");
        let end = stream.synchronize().map_err(|error| match error {
            Error::Fault(fault) => format!("{fault:?}"),
            error => error.to_string(),
        });
        report += &format!("{end:?} {:?}\n", into.to_vec::<i32>().expect("its numbers"));
    }
    let wrong = kernel.launch(&[2, 4], &[(&into).into(), (&into).into(), 2.5f64.into()]);
    report += &format!("{}\n", wrong.expect_err("an array of another shape"));
    let other = compiled.kernel("divided").map(drop);
    report + &other.expect_err("no such kernel").to_string()
}

fn compiled(recipe: &str, makes: bool, has_struct: bool) -> Arc<Compiled> {
    let mut times = 0;
    let compiled = compile_recipe(recipe, Device::Cuda(0), Build::default(), || {
        times += 1;
        made(has_struct)
    });
    assert_eq!(times, usize::from(makes), "{recipe}");
    compiled.expect("compiles")
}

#[test]
#[ignore = "needs the stand-in and a cache of its own: run by the test below"]
fn needs_a_stand_in() {
    let first = compiled("one", true, false);
    let same = compiled("one", false, false);
    assert!(Arc::ptr_eq(&first, &same));
    let expected = outcome(&first);
    for part in ["few columns", "quotient", "`divide`, `clear`"] {
        assert!(expected.contains(part), "{expected}");
    }
    drop((first, same));
    assert_eq!(outcome(&compiled("one", false, false)), expected);
    // Another recipe gives the same module: its code is in the cache, but the recipe's own file is
    // not.
    assert_eq!(outcome(&compiled("two", true, false)), expected);
    // Without the code, the file of a recipe doesn't give a module, which is made again.
    let cache = std::env::var("GBXCULE_CACHE").expect("a cache of its own");
    remove(Path::new(&cache), ".cubin");
    assert_eq!(outcome(&compiled("one", true, false)), expected);
    // A damaged signature is made again.
    for path in files(Path::new(&cache), ".signature") {
        let mut bytes = std::fs::read(&path).expect("a signature");
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        std::fs::write(&path, bytes).expect("ours to change");
    }
    assert_eq!(outcome(&compiled("one", true, false)), expected);
    assert_eq!(outcome(&compiled("one", false, false)), expected);
    for makes in [true, false] {
        drop(compiled("with a struct", makes, true));
    }
}

fn files(folder: &Path, end: &str) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the cache").flatten().map(|it| it.path());
    entries.filter(|path| path.to_string_lossy().ends_with(end)).collect()
}

fn remove(folder: &Path, end: &str) {
    let paths = files(folder, end);
    assert!(!paths.is_empty(), "{end}");
    paths.iter().for_each(|path| std::fs::remove_file(path).expect("ours to remove"));
}

#[test]
fn a_module_that_is_found_is_launched_as_one_that_was_made() {
    let cache = tempfile::tempdir().expect("a folder");
    let run = child("recipe::needs_a_stand_in", cache.path(), &[]);
    let text = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(run.status.success(), "{}{text}", String::from_utf8_lossy(&run.stdout));
}
