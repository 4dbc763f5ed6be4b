//! Attacks by a text on the compiler that reads it.

use super::{LIMITS, compile, compile_within, whole};
use gbxcule_sandbox::{ChildEnd, Limits, Outcome};
use std::fs;

fn compiled(limits: Limits, text: &str) -> Outcome {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("text.cpp");
    fs::write(&source, text).expect("a file");
    compile_within(limits, "c++", &source, folder.path())
}

#[test]
fn an_ordinary_text_compiles_and_a_wrong_one_says_why() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("text.cpp");
    fs::write(&source, "#include <cmath>\nint main() { return (int)std::sin(0.0); }")
        .expect("a file");
    assert!(compile("c++", &source, folder.path()).ended.is_success());
    let wrong = compiled(Limits::COMPILER, "int main() { return x; }");
    assert_eq!(wrong.ended, ChildEnd::Exited(1));
    assert!(wrong.stderr.contains("text.cpp:1"), "{}", wrong.stderr);
}

#[test]
fn a_text_that_never_compiles_is_ended_with_a_sentence() {
    let text = "template<int N, int S> struct T { static const long v = T<N - 1, 2 * S>::v + T<N - 1, 2 * S + 1>::v; };\n\
                template<int S> struct T<0, S> { static const long v = S; };\n\
                int main() { return T<24, 1>::v & 1; }";
    let outcome = compiled(Limits { cpu: LIMITS.cpu, ..Limits::COMPILER }, text);
    // The ended process is not the driver but a process below it, which the driver reports.
    assert!(!outcome.ended.is_success(), "{outcome:?}");
    assert!(outcome.stderr.contains("CPU time limit"), "{outcome:?}");
}

#[test]
fn a_text_cannot_make_the_compiler_read_what_is_not_its_own() {
    if !whole() {
        return;
    }
    let secret = tempfile::NamedTempFile::new().expect("a file");
    fs::write(secret.path(), "int secret_word;").expect("a file");
    let path = secret.path().display();
    for text in [
        format!("#include \"{path}\"\nint main() {{ return secret_word; }}"),
        "#include \"/etc/shadow\"\nint main() {}".into(),
        "#include \"/dev/zero\"\nint main() {}".into(),
        "#include \"/proc/self/environ\"\nint main() {}".into(),
        format!("__asm__(\".incbin \\\"{path}\\\"\"); int main() {{}}"),
    ] {
        let outcome = compiled(Limits::COMPILER, &text);
        assert_eq!(outcome.ended, ChildEnd::Exited(1), "{text}");
        assert!(!outcome.stderr.contains("root:"), "{}", outcome.stderr);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_compiler_that_wants_all_memory_is_ended() {
    let text = "struct S { char data[1 << 30] = {1}; }; S all[3] = {}; int main() { return all[1].data[0]; }";
    let limits = Limits { memory_bytes: 512 << 20, file_bytes: 16 << 20, ..Limits::COMPILER };
    assert!(!compiled(limits, text).ended.is_success());
}
