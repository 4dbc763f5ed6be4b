//! Machine code on disk: made once, taken by other processes, and made again when it is damaged.

use crate::child;
use gbxcule_testkit::stand_in;
use std::path::Path;

/// The test that compiles one module and launches a kernel of it.
const TEST: &str = "needs_cuda::a_kernel_without_arrays_is_waited_for";

/// Runs the test with a cache, and returns how many times it compiled.
fn compilations(cache: &Path, log: &Path) -> usize {
    compilations_with(cache, log, &[])
}

fn compilations_with(cache: &Path, log: &Path, settings: &[(&str, &str)]) -> usize {
    _ = std::fs::remove_file(log);
    run(cache, log, settings);
    count(log)
}

fn run(cache: &Path, log: &Path, settings: &[(&str, &str)]) {
    let log = log.to_string_lossy();
    let settings = [&[("HOST_GPU_LOG", &*log)], settings].concat();
    let run = child(TEST, cache, &settings);
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}

fn count(log: &Path) -> usize {
    let text = std::fs::read_to_string(log).unwrap_or_default();
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
        (0..3).for_each(|_| _ = scope.spawn(|| run(&cache, &log, &[])));
    });
    assert!((1..=3).contains(&count(&log)));
    assert_eq!(compilations(&cache, &log), 0);
    assert_eq!(std::fs::read_dir(&cache).expect("the cache").count(), 1);
}

/// The setting without a path of NVRTC, for which the runtime looks.
const NOT_NAMED: (&str, &str) = ("GBXCULE_NVRTC", "");

#[test]
fn code_on_disk_needs_no_nvrtc() {
    let folder = tempfile::tempdir().expect("a folder");
    let (cache, log) = (folder.path().join("cache"), folder.path().join("log"));
    // One folder has the driver without NVRTC. The interpreter, which would be asked for NVRTC's
    // folder, leaves a file when it runs.
    let (driver, python) = (folder.path().join("driver"), folder.path().join("python"));
    std::fs::create_dir(&driver).expect("a folder");
    for library in ["libcuda.so", "libcuda.so.1"] {
        std::fs::copy(stand_in::folder().join(library), driver.join(library)).expect("a file");
    }
    let asked = folder.path().join("asked");
    std::fs::write(&python, format!("#!/bin/sh\ntouch {}\n", asked.display())).expect("a file");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&python, mode).expect("ours to change");
    let (driver, python) = (driver.to_string_lossy(), python.to_string_lossy());
    let without = [NOT_NAMED, ("LD_LIBRARY_PATH", &*driver), ("GBXCULE_PYTHON", &*python)];
    assert_eq!(compilations(&cache, &log), 1);
    assert_eq!(compilations_with(&cache, &log, &without), 0);
    assert!(!asked.exists(), "NVRTC was looked for");
    // A path of NVRTC that the user names must exist even if the cache has the code.
    let named = [&without[..], &[("GBXCULE_NVRTC", "/nowhere")]].concat();
    let run = child(TEST, &cache, &named);
    let message = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(!run.status.success() && message.contains("GBXCULE_NVRTC is `/nowhere`"), "{message}");
}

#[test]
fn another_nvrtc_makes_its_own_code_if_it_is_named_and_none_if_it_is_only_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let (cache, log) = (folder.path().join("cache"), folder.path().join("log"));
    let with = |settings: &[(&str, &str)]| compilations_with(&cache, &log, settings);
    let version = |version| ("HOST_NVRTC_VERSION", version);
    assert_eq!(with(&[version("13.0")]), 1);
    // The system's folders have NVRTC beside the driver's stand-in.
    let found = [NOT_NAMED, ("GBXCULE_PYTHON", "/nowhere")];
    assert_eq!(with(&[&found[..], &[version("13.9")]].concat()), 0);
    assert_eq!(
        [version("13.9"), version("13.9"), version("13.0")].map(|it| with(&[it])),
        [1, 0, 0]
    );
    assert_eq!(std::fs::read_dir(&cache).expect("the cache").count(), 2);
    // All code in the cache is too new for this driver.
    let old = [&found[..], &[version("12.8"), ("HOST_GPU_DRIVER", "12080")]].concat();
    assert_eq!([with(&old), with(&old), with(&found)], [1, 0, 0]);
}

#[test]
fn older_code_is_loaded_if_the_driver_refuses_the_newest() {
    let folder = tempfile::tempdir().expect("a folder");
    let (cache, log) = (folder.path().join("cache"), folder.path().join("log"));
    let with = |settings: &[(&str, &str)]| compilations_with(&cache, &log, settings);
    let version = |version| ("HOST_NVRTC_VERSION", version);
    assert_eq!([with(&[version("13.0")]), with(&[version("13.5")])], [1, 1]);
    let found = [NOT_NAMED, ("GBXCULE_PYTHON", "/nowhere"), version("13.0")];
    let up_to = |newest| [&found[..], &[("HOST_GPU_NEWEST_CODE", newest)]].concat();
    assert_eq!([with(&up_to("13050")), with(&up_to("13000"))], [0, 0]);
    // This driver takes neither version of the cached code, nor the code that NVRTC makes now.
    let child = super::child(TEST, &cache, &up_to("12080"));
    let message = String::from_utf8_lossy(&child.stderr).into_owned();
    assert!(
        !child.status.success() && message.contains("device kernel image is invalid"),
        "{message}"
    );
}

#[test]
fn code_under_the_name_of_other_code_is_made_anew() {
    let folder = tempfile::tempdir().expect("a folder");
    let (cache, log) = (folder.path().join("cache"), folder.path().join("log"));
    let on = |arch: &str| compilations_with(&cache, &log, &[("HOST_GPU_ARCH", arch)]);
    let entries = || {
        let entries = std::fs::read_dir(&cache).expect("the cache").flatten();
        entries.map(|entry| entry.path()).collect::<Vec<_>>()
    };
    assert_eq!(on("80"), 1);
    let first = entries().remove(0);
    assert_eq!(on("90"), 1);
    let second = entries().into_iter().find(|path| *path != first).expect("another entry");
    std::fs::copy(&first, &second).expect("a file");
    assert_eq!([on("90"), on("90"), on("80")], [1, 0, 0]);
}
