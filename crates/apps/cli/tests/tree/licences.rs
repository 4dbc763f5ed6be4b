//! Licences of all dependencies against the list in `deny.toml`: what `make deny` looks at first,
//! without cargo-deny.

use crate::files::root;
use serde_json::Value;
use std::collections::BTreeSet;

/// Expressions like `(MIT OR Apache-2.0) AND Unicode-DFS-2016`, read from the left.
struct Expression<'a> {
    words: Vec<String>,
    at: usize,
    allowed: &'a BTreeSet<String>,
}

impl<'a> Expression<'a> {
    fn holds(text: &str, allowed: &'a BTreeSet<String>) -> bool {
        // Old manifests write `MIT/Apache-2.0`.
        let text = text.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        let mut expression = Expression { words, at: 0, allowed };
        expression.either() && expression.at == expression.words.len()
    }

    fn next_is(&mut self, word: &str) -> bool {
        let found = self.words.get(self.at).is_some_and(|it| it == word);
        self.at += usize::from(found);
        found
    }

    fn either(&mut self) -> bool {
        let mut holds = self.both();
        while self.next_is("OR") {
            holds |= self.both();
        }
        holds
    }

    fn both(&mut self) -> bool {
        let mut holds = self.one();
        while self.next_is("AND") {
            holds &= self.one();
        }
        holds
    }

    fn one(&mut self) -> bool {
        if self.next_is("(") {
            let holds = self.either();
            return self.next_is(")") && holds;
        }
        let Some(name) = self.words.get(self.at) else { return false };
        self.at += 1;
        let mut name = name.clone();
        if self.next_is("WITH") {
            name = format!("{name} WITH {}", self.words.get(self.at).map_or("", String::as_str));
            self.at += 1;
        }
        self.allowed.contains(&name)
    }
}

/// The target that rustc compiles for by default.
fn native_target() -> String {
    let output = std::process::Command::new("rustc").arg("-vV").output().expect("rustc runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.expect("rustc names its target").to_owned()
}

#[test]
fn every_dependency_has_a_licence_that_is_allowed() {
    let deny = std::fs::read_to_string(root().join("deny.toml")).expect("a file");
    let list = deny.split("[licenses]").nth(1).and_then(|it| it.split(']').next());
    let allowed: BTreeSet<String> =
        list.expect("a list").split('"').skip(1).step_by(2).map(str::to_owned).collect();
    assert!(allowed.contains("MIT"), "{allowed:?}");
    // Dependencies of other platforms may not have been downloaded; `make deny` reads those, too.
    let output = std::process::Command::new(env!("CARGO"))
        .args(["metadata", "--offline", "--locked", "--format-version", "1"])
        .args(["--filter-platform", &native_target()])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let foreign = found["packages"].as_array().expect("packages").iter();
    let foreign: Vec<&Value> = foreign.filter(|it| !it["source"].is_null()).collect();
    assert!(foreign.len() > 100, "{}", foreign.len());
    for package in foreign {
        let licence = package["license"].as_str().unwrap_or("none");
        let name = package["name"].as_str().unwrap_or_default();
        assert!(Expression::holds(licence, &allowed), "{name}: {licence} isn't in deny.toml");
    }
}

#[test]
fn expressions_are_read_as_spdx_says() {
    let allowed = BTreeSet::from(["A", "B", "C WITH E"].map(str::to_owned));
    for text in
        ["A", "A OR X", "X OR A AND B", "(X OR A) AND B", "C WITH E", "X/A", "X OR C WITH E"]
    {
        assert!(Expression::holds(text, &allowed), "{text}");
    }
    for text in ["", "X", "A AND X", "(A OR X) AND X", "C", "C WITH F", "A B", "(A"] {
        assert!(!Expression::holds(text, &allowed), "{text}");
    }
}
