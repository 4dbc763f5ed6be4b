//! Machine code on disk: made once, found by other processes, never trusted when it is damaged.

use crate::child;
use std::path::Path;

/// Compiles one module and launches a kernel of it.
const TEST: &str = "needs_cuda::a_kernel_without_arrays_is_waited_for";

/// Runs the test with a cache and gives how often it compiled.
fn compilations(cache: &Path, log: &Path) -> usize {
    _ = std::fs::remove_file(log);
    run(cache, log);
    count(log)
}

fn run(cache: &Path, log: &Path) {
    let run = child(TEST, cache, &[("HOST_GPU_LOG", &log.to_string_lossy())]);
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}

fn count(log: &Path) -> usize {
    let text = std::fs::read_to_string(log).expect("the stand-in's log");
    text.lines().filter(|line| line.starts_with("compile")).count()
}

#[test]
fn a_second_process_finds_what_the_first_compiled_unless_it_is_damaged() {
    let folder = tempfile::tempdir().expect("a folder");
    let (cache, log) = (folder.path().join("cache"), folder.path().join("log"));
    assert_eq!([(); 3].map(|()| compilations(&cache, &log)), [1, 0, 0]);
    let entries = || std::fs::read_dir(&cache).expect("the cache").flatten().map(|it| it.path());
    let path = entries().next().expect("an entry");
    assert_eq!(entries().count(), 1);
    let whole = std::fs::read(&path).expect("its bytes");
    let mut changed = whole.clone();
    changed[whole.len() / 2] ^= 1;
    for damaged in [&changed[..], &whole[..whole.len() - 1], &[]] {
        std::fs::write(&path, damaged).expect("a file");
        assert_eq!([(); 2].map(|()| compilations(&cache, &log)), [1, 0]);
        assert_eq!(std::fs::read(&path).expect("its bytes").len(), whole.len());
    }
}

#[test]
fn processes_that_compile_at_once_do_not_disturb_each_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let (cache, log) = (folder.path().join("cache"), folder.path().join("log"));
    std::thread::scope(|scope| {
        (0..3).for_each(|_| _ = scope.spawn(|| run(&cache, &log)));
    });
    assert!((1..=3).contains(&count(&log)));
    assert_eq!(compilations(&cache, &log), 0);
    assert_eq!(std::fs::read_dir(&cache).expect("the cache").count(), 1);
}
