//! Compares the samples under `docs/samples`: each source has its text beside it.
//!
//! `GBXCULE_BLESS=1 cargo test -p gbxcule-back-cxx --test cxx samples` writes the texts
//! again.

use gbxcule_back_cxx::{self as cxx, Dialect, Options};
use gbxcule_front_warp::Program;
use gbxcule_ir::check;
use gbxcule_ir::source::SourceMap;
use gbxcule_testkit::switch::hold_text;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/samples")
}

/// Returns the names of the Python files, without their ending.
fn names() -> Vec<String> {
    let files = std::fs::read_dir(folder()).expect("docs/samples");
    let paths = files.map(|file| file.expect("a file").path());
    let mut names: Vec<String> = paths
        .filter(|path| path.extension().is_some_and(|ending| ending == "py"))
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_string()))
        .collect();
    names.sort();
    names
}

/// Writes the text of a sample.
pub(crate) fn text(name: &str, dialect: Dialect) -> String {
    let file = format!("{name}.py");
    let source = std::fs::read_to_string(folder().join(&file)).expect("a sample");
    let mut sources = SourceMap::new();
    let id = sources.add(file, source);
    let program =
        Program::parse(&sources, id).unwrap_or_else(|faults| panic!("{name}: {faults:#?}"));
    let module = program.compile(name).unwrap_or_else(|faults| panic!("{name}: {faults:#?}"));
    let module = check::module(module).unwrap_or_else(|faults| panic!("{name}: {faults:#?}"));
    let options = Options { sources: Some(&sources), ..Options::new(dialect) };
    cxx::write(&module, &options).source
}

#[test]
fn samples_are_what_is_written_today() {
    assert!(names().len() >= 5);
    for name in names() {
        let mut files = vec![(format!("{name}.cu"), text(&name, Dialect::Cuda))];
        // One pair of texts is enough for docs/cpu-vs-cuda.md.
        if name == "particles" {
            files.push((format!("{name}.cpp"), text(&name, Dialect::Host)));
        }
        for (file, text) in files {
            hold_text(&folder().join(&file), &text);
        }
    }
}
