//! Attacks by a text that an interpreter runs; the interpreter's policy allows more than the
//! others.

use super::{compile_within, whole};
use gbxcule_sandbox::{ChildEnd, Limits, Outcome, Policy, run};
use std::path::Path;

/// Runs a text of Python below a folder of its own; the output is what it prints last.
fn python(limits: Limits, text: &str, arguments: &[&str]) -> Outcome {
    let folder = tempfile::tempdir().expect("a folder");
    let asked =
        "import sys; print(sys.executable, sys.prefix, sys.base_prefix, *sys.path, sep='\\n')";
    let printed =
        std::process::Command::new("python3").args(["-c", asked]).output().expect("Python");
    let printed = String::from_utf8(printed.stdout).expect("UTF-8");
    let read =
        printed.lines().map(Into::into).filter(|path: &std::path::PathBuf| path.is_absolute());
    let policy = Policy::interpreter(folder.path(), read).within(limits);
    let program = printed.lines().next().expect("its path");
    run(Path::new(program), &[&["-c", text], arguments].concat(), &policy).expect("it starts")
}

fn says(text: &str, arguments: &[&str]) -> String {
    let outcome = python(Limits::INTERPRETER, text, arguments);
    assert!(outcome.ended.is_success(), "{outcome:?}");
    String::from_utf8_lossy(&outcome.stdout).trim().to_owned()
}

#[test]
fn an_interpreter_computes_and_writes_in_its_folder() {
    let text = "import json, threading, subprocess, tempfile\n\
                thread = threading.Thread(target=lambda: None); thread.start(); thread.join()\n\
                with tempfile.TemporaryFile() as file: file.write(b'text')\n\
                print(subprocess.run(['/bin/sh', '-c', 'echo done'], capture_output=True).stdout)";
    assert_eq!(says(text, &[]), "b'done\\n'");
}

#[test]
fn an_interpreter_changes_no_rights_and_times_and_reads_of_no_other_process() {
    if !whole() {
        return;
    }
    let victim = tempfile::NamedTempFile::new().expect("a file");
    let path = victim.path().to_str().expect("UTF-8");
    let before = victim.as_file().metadata().expect("a file");
    let text = "import ctypes, os, sys\n\
                path, libc, done = sys.argv[1], ctypes.CDLL(None), []\n\
                def tried(name, act):\n    \
                    try: act()\n    \
                    except OSError: return\n    \
                    done.append(name)\n\
                tried('chmod', lambda: os.chmod(path, 0o4777))\n\
                tried('utime', lambda: os.utime(path, (1, 1)))\n\
                tried('affinity', lambda: os.sched_setaffinity(0, [0]))\n\
                for name in ['self', str(os.getppid()), '1', *filter(str.isdigit, ['2', '3'])]:\n    \
                    for of in 'environ', 'cmdline', 'maps', 'status':\n        \
                        tried(name + of, lambda: open(f'/proc/{name}/{of}').read())\n\
                tried('list', lambda: os.listdir('/proc'))\n\
                for call in 452, 463, 467, 469, 999:\n    \
                    if libc.syscall(call, -100, path.encode(), 0o4777, 0, 0) >= 0: done.append(call)\n\
                print(done)";
    assert_eq!(says(text, &[path]), "[]");
    let after = victim.as_file().metadata().expect("a file");
    assert_eq!(after.permissions(), before.permissions());
    assert_eq!(after.modified().expect("a time"), before.modified().expect("a time"));
}

#[test]
fn threads_and_bytes_of_a_whole_tree_have_one_limit() {
    let threads = "import threading, time\n\
                   for _ in range(600): threading.Thread(target=time.sleep, args=(600,)).start()";
    let few = Limits { tasks: 32, ..Limits::INTERPRETER };
    assert_eq!(python(few, threads, &[]).ended, ChildEnd::Tasks(32));
    let files = "import itertools, time\n\
                 for at in itertools.count():\n    \
                     with open(f'file_{at}', 'wb') as file: file.write(bytes(1 << 20))\n    \
                     time.sleep(0.001)";
    let little = Limits { written_bytes: 8 << 20, ..Limits::INTERPRETER };
    assert_eq!(python(little, files, &[]).ended, ChildEnd::Written(8 << 20));
    let empty = "import itertools\nfor at in itertools.count(): open(f'file_{at}', 'wb').close()";
    assert_eq!(python(little, empty, &[]).ended, ChildEnd::Written(8 << 20));
}

/// A text for a compiler can't do this itself, but a compiler that the text has taken over could.
#[test]
fn a_compiler_makes_its_program_executable_by_none_of_its_own_calls() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("text.c");
    std::fs::write(&source, "int main(void) { return 0; }").expect("a file");
    let outcome = compile_within(Limits::COMPILER, "cc", &source, folder.path());
    assert!(outcome.ended.is_success(), "{outcome:?}");
    let policy = Policy::program(folder.path());
    let ran = run::<&str>(&folder.path().join("program"), &[], &policy).expect("it starts");
    assert_eq!(ran.ended, ChildEnd::Exited(0));
}
