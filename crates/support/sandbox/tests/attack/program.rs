//! Attacks by a compiled program.

use super::{Hostile, LIMITS, whole};
use gbxcule_sandbox::{ChildEnd, Limits};
use std::time::Duration;

#[test]
fn a_harmless_program_runs_and_its_status_and_output_are_told() {
    let hostile = Hostile::new();
    assert_eq!(hostile.says(&["nothing"]), "done");
    assert_eq!(hostile.attack(&["no such attack"]).ended, ChildEnd::Exited(99));
    assert!(matches!(hostile.attack(&["crash"]).ended, ChildEnd::Signal(_)));
}

#[test]
fn a_program_that_never_ends_is_ended_with_a_sentence() {
    let hostile = Hostile::new();
    let computed = hostile.attack(&["compute"]).ended;
    assert_eq!(computed, ChildEnd::Cpu(LIMITS.cpu));
    assert_eq!(computed.to_string(), "computed for more than 1 s and was ended");
    assert_eq!(hostile.attack(&["deaf"]).ended, ChildEnd::Cpu(LIMITS.cpu));
    let wall = Duration::from_millis(300);
    let slept = hostile.within(Limits { wall, ..LIMITS }, &["sleep"]).ended;
    assert_eq!(slept.to_string(), "ran for more than 0.3 s and was ended");
}

#[test]
fn a_program_that_writes_without_end_is_ended() {
    let outcome = Hostile::new().attack(&["flood"]);
    assert_eq!(outcome.ended, ChildEnd::Output(LIMITS.output_bytes));
    assert_eq!(outcome.stdout.len(), LIMITS.output_bytes);
}

#[cfg(target_os = "linux")]
#[test]
fn a_program_gets_no_more_memory_than_its_limit_and_cannot_raise_it() {
    let hostile = Hostile::new();
    assert_eq!(hostile.says(&["memory"]), "refused");
    if whole() {
        assert_eq!(hostile.says(&["limits"]), "refused");
    }
}

#[test]
fn a_program_sees_no_variable_of_the_users() {
    let (hostile, secret) = (Hostile::new(), "CARGO_MANIFEST_DIR");
    assert!(std::env::var(secret).is_ok(), "cargo sets it for tests");
    assert_eq!(hostile.says(&["environment", secret]), "refused");
    assert_eq!(hostile.says(&["environment", "PATH"]), "done");
}

#[test]
fn a_program_reads_nothing_outside_of_its_folder() {
    if !whole() {
        return;
    }
    let hostile = Hostile::new();
    let outside = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(outside.path(), "secret").expect("a file");
    let outside = outside.path().to_str().expect("UTF-8");
    for path in [outside, "/etc/shadow", "/etc/passwd", "/proc/self/environ", "/proc/cpuinfo"] {
        assert_eq!(hostile.says(&["read", path]), "refused", "{path}");
    }
    assert_eq!(hostile.says(&["parent"]), "refused");
}

#[test]
fn a_program_writes_nothing_anywhere() {
    if !whole() {
        return;
    }
    let hostile = Hostile::new();
    let outside = tempfile::NamedTempFile::new().expect("a file");
    let inside = hostile.folder.path().join("file");
    std::fs::write(&inside, "text").expect("a file");
    for path in [outside.path(), &inside] {
        let path = path.to_str().expect("UTF-8");
        for attack in ["write", "remove", "chmod", "chown"] {
            assert_eq!(hostile.says(&[attack, path]), "refused", "{attack} {path}");
        }
    }
    let new = hostile.folder.path().join("new");
    assert_eq!(hostile.says(&["write", new.to_str().expect("UTF-8")]), "refused");
}

#[test]
fn a_program_reaches_no_network_and_no_other_process() {
    if !whole() {
        return;
    }
    let hostile = Hostile::new();
    for attack in ["socket", "signal", "leave", "fork", "exec"] {
        assert_eq!(hostile.says(&[attack]), "refused", "{attack}");
    }
}
