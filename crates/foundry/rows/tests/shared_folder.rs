//! Several processes on one folder, and folders that a killed process left.
//!
//! Threads of this process stand for processes with the same number, as in two containers.

use gbxcule_rows::batch::{Manifest, Work, batch, begin};
use gbxcule_rows::data_file::{Format, block_paths};
use gbxcule_rows::external_column::Tools;
use gbxcule_rows::row::{Mode, Plan, Texts};
use gbxcule_rows::shard::Shard;
use gbxcule_testkit::folder::contents;
use std::fs;
use std::path::Path;

const WORK: Work = Work { shard: Shard::WHOLE, workers: 1, resume: true, jsonl: true };

fn manifest(count: u64, seed: u64, host_every: u64) -> Manifest {
    let plan = Plan { seed, mode: Mode::Text, device: Texts::Cpu, host_every, sampled: 100 };
    Manifest::new(count, plan, &Tools::default())
}

fn make(folder: &Path, manifest: &Manifest) {
    batch(folder, manifest, &WORK, &Tools::default(), &|| ()).expect("a dataset");
}

/// When folder names contained only the process's number, their compilers shared a folder, and
/// right rows were recorded as wrong.
#[test]
fn processes_of_one_number_on_one_folder_make_what_one_makes() {
    let (alone, shared) = (tempfile::tempdir().expect("one"), tempfile::tempdir().expect("two"));
    let manifest = manifest(3, 5, 1);
    make(alone.path(), &manifest);
    std::thread::scope(|scope| {
        (0..4).for_each(|_| _ = scope.spawn(|| make(shared.path(), &manifest)));
    });
    let is_lines = |path: &Path| path.extension().is_some_and(|extension| extension == "jsonl");
    let lines = contents(alone.path()).into_iter().filter(|(path, _)| is_lines(path));
    let checks: String =
        lines.map(|(_, bytes)| String::from_utf8(bytes).expect("JSON lines")).collect();
    assert_eq!(checks.matches(r#"{\"check\":\"cpp\",\"verdict\":\"pass\""#).count(), 3, "{checks}");
    assert_eq!(contents(alone.path()), contents(shared.path()));
}

#[test]
fn going_on_mends_what_a_bad_day_left() {
    let folder = tempfile::tempdir().expect("a folder");
    let (folder, manifest) = (folder.path(), manifest(503, 5, 0));
    make(folder, &manifest);
    let whole = contents(folder);
    let [first, last] = [0, 1].map(|block| block_paths(folder, Format::Parquet, block)[0].clone());
    let bytes = fs::read(&last).expect("a block");
    // Blocks that are cut, cut before the footer, of other rows, and empty.
    let others = fs::read(&first).expect("a block");
    for broken in [&bytes[..bytes.len() / 2], &bytes[..bytes.len() - 1], &others, b""] {
        fs::write(&last, broken).expect("a file");
        let found = begin(folder, &manifest, &WORK).expect("our folder");
        assert_eq!((found.rows, found.there, found.damaged.len()), (503, 500, 3));
        make(folder, &manifest);
        assert_eq!(whole, contents(folder));
    }
    // A JSON file that is missing, one that is cut, and temporary files.
    let [first, last] = [0, 1].map(|block| block_paths(folder, Format::Jsonl, block)[0].clone());
    fs::remove_file(first).expect("a file");
    fs::write(last, "{\"id\": 5").expect("a file");
    fs::write(folder.join("data/.gbxcule-0123456789abcdef.part"), "half").expect("a file");
    fs::create_dir(folder.join(".gbxcule-0123456789abcdef.part")).expect("a folder");
    assert_eq!(begin(folder, &manifest, &WORK).expect("our folder").swept, 2);
    make(folder, &manifest);
    assert_eq!(whole, contents(folder));
}

#[test]
fn of_two_that_begin_at_once_with_other_plans_one_is_told_so() {
    for _ in 0..5 {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path();
        let done = std::thread::scope(|scope| {
            let begin = |seed| {
                scope.spawn(move || {
                    batch(folder, &manifest(1, seed, 0), &WORK, &Tools::default(), &|| ()).is_ok()
                })
            };
            [7, 8].map(begin).map(|it| it.join().expect("no panic"))
        });
        let kept = Manifest::read(folder).expect("a manifest").plan.seed;
        assert_eq!(done, [kept == 7, kept == 8]);
    }
}
