//! Attacks as files: the first line of each says by which policies it is run, and what must come of
//! it: `// POLICY, POLICY: prints "TEXT"`, or `ends "SENTENCE"`. No attack leaves a file or a
//! process.

use super::whole;
use gbxcule_files::TemporaryFolder;
use gbxcule_sandbox::{Limits, Outcome, Policy, run};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/attack/programs")
}

/// Limits that an attack reaches early.
fn short(limits: Limits) -> Limits {
    Limits {
        wall: Duration::from_secs(60),
        cpu: Duration::from_secs(5),
        memory_bytes: limits.memory_bytes.min(512 << 20),
        file_bytes: limits.file_bytes.min(4 << 20),
        written_bytes: limits.written_bytes.min(8 << 20),
        output_bytes: 1 << 16,
        tasks: limits.tasks.min(16),
        ..limits
    }
}

fn attacked(name: &str, folder: &Path, program: &Path) -> Outcome {
    let policy = match name {
        "program" => Policy::program(folder).within(short(Limits::PROGRAM)),
        // Programs that a compiler wrote aren't run by its policy: this one lies elsewhere.
        "compiler" => Policy::compiler(Path::new("cc"), folder).within(short(Limits::COMPILER)),
        "interpreter" => Policy::interpreter(folder, []).within(short(Limits::INTERPRETER)),
        _ => panic!("`{name}` is no policy"),
    };
    let policy = policy.reading(program.parent().map(Path::to_owned));
    run::<&str>(program, &[], &policy).expect("it starts")
}

#[test]
fn every_attack_of_the_corpus_comes_to_the_end_that_it_names() {
    if !whole() {
        return;
    }
    let mut failures = Vec::new();
    let mut count = 0;
    for entry in std::fs::read_dir(corpus()).expect("the corpus") {
        let source = entry.expect("an entry").path();
        if source.extension().is_none_or(|it| it != "c") {
            continue;
        }
        let text = std::fs::read_to_string(&source).expect("a text");
        let claim = text.lines().next().and_then(|line| line.strip_prefix("// "));
        let (policies, claim) = claim.and_then(|it| it.split_once(": ")).expect("a claim");
        let (way, wanted) = claim.split_once(' ').expect("a way and a text");
        let wanted = wanted.trim_matches('"');
        let made = tempfile::tempdir().expect("a folder");
        let program = made.path().join("program");
        std::fs::copy(&source, made.path().join("program.c")).expect("a file");
        let mut compiler = Command::new("cc");
        let compiled = compiler.arg("-w").arg(&source).arg("-o").arg(&program).status();
        assert!(compiled.expect("a C compiler").success(), "{}", source.display());
        for name in policies.split(", ") {
            count += 1;
            // Bytes in memory, on a `tmpfs`, are the harder ones to count.
            let places = [PathBuf::from("/dev/shm"), std::env::temp_dir()];
            let parent = places.iter().find_map(|it| tempfile::tempdir_in(it).ok());
            let parent = parent.expect("a folder");
            let scratch = TemporaryFolder::inside(parent.path()).expect("a folder");
            let folder = if name == "program" { made.path() } else { scratch.path() };
            let outcome = attacked(name, folder, &program);
            let output = match way {
                "prints" => String::from_utf8_lossy(&outcome.stdout).trim().to_owned(),
                "ends" => outcome.ended.to_string(),
                _ => panic!("`{way}` is no way"),
            };
            let is_kept = if way == "ends" { output.contains(wanted) } else { output == wanted };
            if !is_kept {
                failures.push(format!("{} by {name}: {output:?}, {outcome:?}", source.display()));
            }
            drop(scratch);
            let left = std::fs::read_dir(parent.path()).expect("a folder").count();
            assert_eq!(left, 0, "{} by {name} left its folder", source.display());
        }
    }
    assert!(count >= 20, "{count}");
    assert!(failures.is_empty(), "{failures:#?}");
}
