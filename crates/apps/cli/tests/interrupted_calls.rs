//! A system that interrupts every call of one kind: each verb ends with an error that says so, and
//! no file is incomplete.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::Command;

/// Makes a call fail with `EINTR` by a filter of seccomp, and starts a program below it.
const LAUNCHER: &str = r#"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int number(const char* name)
{
    if (!strcmp(name, "write")) return SYS_write;
    if (!strcmp(name, "fsync")) return SYS_fsync;
    if (!strcmp(name, "mkdirat")) return SYS_mkdirat;
    return SYS_renameat;
}

int main(int count, char** words)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number(words[1]), 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINTR),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return 77;
    execv(words[2], words + 2);
    return 78;
}
"#;

fn launcher(folder: &Path) -> std::path::PathBuf {
    let (source, program) = (folder.join("launcher.c"), folder.join("launcher"));
    fs::write(&source, LAUNCHER).expect("a file");
    let mut compiler = Command::new("cc");
    let compiled = compiler.arg(&source).arg("-o").arg(&program).status();
    assert!(compiled.expect("a C compiler").success());
    program
}

#[test]
fn a_call_that_is_interrupted_for_ever_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let launcher = launcher(folder.path());
    for (call, line) in [
        ("write", "roms"),
        ("write", "roms --out out"),
        ("fsync", "roms --out out"),
        ("renameat", "roms --out out"),
        ("mkdirat", "roms --out out"),
    ] {
        let mut command = Command::new("timeout");
        command.args(["300"]).arg(&launcher).args([call, env!("CARGO_BIN_EXE_gbxcule")]);
        let output = command.args(line.split_whitespace()).current_dir(&folder).output();
        let output = output.expect("it runs");
        let stderr = String::from_utf8_lossy(&output.stderr);
        if output.status.code() == Some(77) {
            eprintln!("skipped: no seccomp here");
            return;
        }
        assert_eq!(output.status.code(), Some(2), "{call}, {line}: {stderr}");
        // Without `write` no message can be printed.
        assert!(call == "write" || stderr.contains("EINTR"), "{call}, {line}: {stderr}");
        let left = fs::read_dir(folder.path().join("out")).into_iter().flatten().count();
        assert_eq!(left, 0, "{call}, {line}");
        _ = fs::remove_dir_all(folder.path().join("out"));
    }
}
