//! Environment variables that choose what tests do.
//!
//! | variable | effect |
//! |---|---|
//! | `GBXCULE_ONLY=text,text` | takes the cases whose name contains one of the texts |
//! | `GBXCULE_SHARE=i/n` | takes each `n`-th case; `1/1` takes all |
//! | `GBXCULE_SHOW=1` | prints each case |
//! | `GBXCULE_BLESS=1` | writes the expected text anew where a test compares a file |
//!
//! A test that reads one of them says so.

use std::env;
use std::path::Path;

/// Returns true if the name of a case contains one of the texts of `GBXCULE_ONLY`, or if that isn't
/// set.
pub fn is_chosen(name: &str) -> bool {
    env::var("GBXCULE_ONLY").map_or(true, |only| only.split(',').any(|text| name.contains(text)))
}

/// Returns true if `GBXCULE_ONLY` isn't set.
pub fn takes_all_names() -> bool {
    env::var_os("GBXCULE_ONLY").is_none()
}

/// Share of all cases.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    part: u64,
    of: u64,
}

impl Share {
    /// Returns the share of `GBXCULE_SHARE`, or one case in `of`.
    pub fn or_one_in(of: u64) -> Self {
        let Ok(text) = env::var("GBXCULE_SHARE") else { return Self { part: 0, of } };
        let share = text.split_once('/').and_then(|(part, of)| {
            Some(Self { part: part.parse().ok()?, of: of.parse().ok().filter(|&of| of > 0)? })
        });
        share.unwrap_or_else(|| panic!("GBXCULE_SHARE is `{text}`; give i/n, such as 1/20"))
    }

    /// Returns true if the case with this number belongs to the share.
    pub fn has(self, number: u64) -> bool {
        number % self.of == self.part % self.of
    }

    /// Returns true if all cases belong to the share.
    pub fn is_whole(self) -> bool {
        self.of == 1
    }
}

/// Returns true if a test is to print its cases.
pub fn shows() -> bool {
    env::var_os("GBXCULE_SHOW").is_some()
}

/// Returns true if a test is to write what it otherwise compares.
pub fn blesses() -> bool {
    env::var_os("GBXCULE_BLESS").is_some()
}

/// Compares a file with the text that it should have; `GBXCULE_BLESS=1` writes the text.
pub fn hold_text(path: &Path, wanted: &str) {
    if blesses() {
        std::fs::write(path, wanted).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        return;
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(found, wanted, "{} is out of date: GBXCULE_BLESS=1 writes it", path.display());
}
