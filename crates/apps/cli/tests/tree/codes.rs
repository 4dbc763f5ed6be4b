//! Checks that some code gives every code of a diagnostic.

use super::files::{files_below, root};
use gbxcule_ir::diagnostic::Code;

/// Returns the variant of a code: `TypeMismatch` for `type-mismatch`.
fn variant(name: &str) -> String {
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    name.split('-').map(capital).collect()
}

#[test]
fn every_code_is_given_somewhere() {
    let table = root().join("crates/compiler/ir/src/diagnostic/code.rs");
    let sources: Vec<String> = files_below(&root().join("crates"), &["rs"])
        .iter()
        .filter(|path| path.components().any(|part| part.as_os_str() == "src") && **path != table)
        .map(|path| std::fs::read_to_string(path).expect("a source"))
        .collect();
    let given = |code: &Code| {
        let name = format!("Code::{}", variant(code.name()));
        let ends = |rest: &str| !rest.starts_with(|next: char| next.is_alphanumeric());
        sources.iter().any(|text| text.split(&name).skip(1).any(ends))
    };
    let unused: Vec<&Code> = Code::ALL.iter().filter(|code| !given(code)).collect();
    assert!(unused.is_empty(), "nothing gives these codes: {unused:?}");
}
