//! The licence of a folder's files, read from licence texts, the line `license` of
//! `pyproject.toml`, and `SPDX-License-Identifier` lines of Python files.
//!
//! Rows are published with this licence, so a user's statement can't replace it: a folder whose
//! files name no licence gives no rows.

use gbxcule_files::{MAX_TEXT_BYTES, python_files, read_text};
use gbxcule_rows::error::SynthError;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// SPDX identifiers of licences, each with words by which the licence's text is recognised; white
/// space is ignored. The first entry whose words all occur counts.
const TEXTS: [(&str, &[&str]); 14] = [
    ("Apache-2.0", &["Apache License", "Version 2.0"]),
    ("MPL-2.0", &["Mozilla Public License", "2.0"]),
    ("AGPL-3.0-only", &["GNU AFFERO GENERAL PUBLIC LICENSE", "Version 3"]),
    ("LGPL-3.0-only", &["GNU LESSER GENERAL PUBLIC LICENSE", "Version 3"]),
    ("LGPL-2.1-only", &["GNU LESSER GENERAL PUBLIC LICENSE", "Version 2.1"]),
    ("GPL-3.0-only", &["GNU GENERAL PUBLIC LICENSE", "Version 3"]),
    ("GPL-2.0-only", &["GNU GENERAL PUBLIC LICENSE", "Version 2"]),
    ("BSL-1.0", &["Boost Software License", "Version 1.0"]),
    ("BSD-3-Clause", &["Redistribution and use in source and binary forms", "endorse or promote"]),
    ("BSD-2-Clause", &["Redistribution and use in source and binary forms"]),
    ("ISC", &["Permission to use, copy, modify, and/or distribute this software"]),
    ("MIT", &["Permission is hereby granted, free of charge", "without restriction"]),
    ("Unlicense", &["released into the public domain", "unlicense"]),
    ("CC0-1.0", &["CC0 1.0 Universal"]),
];
/// Beginnings of the names of licence files, in small letters.
const NAMES: [&str; 4] = ["license", "licence", "copying", "unlicense"];
/// Words before an SPDX identifier in a source file.
const HEADER: &str = "SPDX-License-Identifier:";
/// Number of lines at the beginning of a file in which the header is looked for.
const HEADER_LINES: usize = 40;

/// Licences that the files of a folder name.
#[derive(Default)]
struct Named {
    /// SPDX identifiers.
    identifiers: BTreeSet<String>,
    /// Licence files whose text fits no entry of [`TEXTS`].
    unknown: Vec<PathBuf>,
}

/// Returns the licence that a folder's files name. If they name several licences, or a licence text
/// is unknown, the user has to state the licence.
///
/// # Errors
/// The files name no licence, or name several and none is stated, or do not name the stated
/// licence.
pub fn licence_of(folder: &Path, stated: Option<&str>) -> Result<String, SynthError> {
    let Named { identifiers, unknown } = named(folder)?;
    let wrong = |reason: String| Err(SynthError::data(folder, reason));
    let list = || identifiers.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ");
    match (stated, identifiers.len()) {
        (_, 0) if unknown.is_empty() => wrong(
            "its files name no licence, so nobody may publish rows made of them: ask its authors for a file LICENSE, or \
             harvest another folder"
                .into(),
        ),
        (None, 0) => {
            wrong(format!("{} is a licence that is unknown here: name it by --license", unknown[0].display()))
        }
        (None, 1) => Ok(identifiers.iter().next().cloned().unwrap_or_default()),
        (None, _) => wrong(format!(
            "its files name the licences {}: say by --license which the rows are under, such as `A OR B`",
            list()
        )),
        (Some(stated), _) if unknown.is_empty() => {
            match words(stated).find(|it| !identifiers.contains(*it)) {
                None => Ok(stated.into()),
                Some(word) => {
                    wrong(format!("--license says `{word}`, and its files name {}", list()))
                }
            }
        }
        (Some(stated), _) => Ok(stated.into()),
    }
}

/// Returns the licence that a file's header names if it differs from `licence`.
pub(crate) fn other_licence(text: &str, licence: &str) -> Option<String> {
    let identifiers = header(text)?;
    words(identifiers)
        .any(|word| words(licence).all(|it| it != word))
        .then(|| identifiers.to_owned())
}

/// Returns the identifiers of an SPDX expression.
fn words(expression: &str) -> impl Iterator<Item = &str> {
    let parts = expression.split([' ', '(', ')']);
    parts.filter(|it| !["", "OR", "AND", "WITH"].contains(it))
}

fn header(text: &str) -> Option<&str> {
    let line = text.lines().take(HEADER_LINES).find_map(|line| line.split_once(HEADER))?;
    let expression = line.1.trim();
    super::is_licence(expression).then_some(expression)
}

/// Finds the licences named in the folder, in the folders above it up to the root of its
/// repository, and in its Python files.
fn named(folder: &Path) -> Result<Named, SynthError> {
    let mut named = Named::default();
    let absolute = folder.canonicalize().map_err(SynthError::file(folder))?;
    let is_root = |it: &Path| [".git", "pyproject.toml"].iter().any(|name| it.join(name).exists());
    let depth = absolute.ancestors().position(is_root).unwrap_or(0);
    for above in absolute.ancestors().take(depth + 1) {
        let entries = std::fs::read_dir(above).map_err(SynthError::file(above))?;
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
            if name == "pyproject.toml" {
                named.identifiers.extend(of_project(&path));
            } else if NAMES.iter().any(|it| name.starts_with(it))
                && !name.ends_with(".py")
                && path.is_file()
            {
                match read_text(&path, MAX_TEXT_BYTES).ok().as_deref().and_then(of_text) {
                    Some(identifier) => _ = named.identifiers.insert(identifier.to_owned()),
                    None => named.unknown.push(path),
                }
            }
        }
    }
    if named.identifiers.is_empty() && named.unknown.is_empty() {
        for path in python_files(folder)? {
            let Ok(text) = read_text(&path, MAX_TEXT_BYTES) else { continue };
            named.identifiers.extend(header(&text).into_iter().flat_map(words).map(str::to_owned));
        }
    }
    Ok(named)
}

/// Returns the SPDX identifier of a licence's text.
fn of_text(text: &str) -> Option<&'static str> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let holds = |words: &[&str]| words.iter().all(|it| text.contains(it));
    TEXTS.iter().find(|(_, words)| holds(words)).map(|(identifier, _)| *identifier)
}

/// Returns the identifiers in the line `license = "MIT"` of a project.
fn of_project(path: &Path) -> Vec<String> {
    let text = read_text(path, MAX_TEXT_BYTES).unwrap_or_default();
    let line =
        text.lines().find_map(|line| line.strip_prefix("license")?.trim_start().strip_prefix('='));
    let value = line.and_then(|line| line.split('"').nth(1)).filter(|it| super::is_licence(it));
    value.into_iter().flat_map(words).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIT: &str = "MIT License\n\nPermission is hereby granted, free of charge, to any\nperson .. without\nrestriction";

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        }
        folder
    }

    fn of(files: &[(&str, &str)], stated: Option<&str>) -> Result<String, String> {
        let folder = folder(files);
        let said =
            |error: SynthError| error.to_string().split_once(": ").expect("a path").1.to_owned();
        licence_of(&folder.path().join("code"), stated).map_err(said)
    }

    #[test]
    fn the_licence_is_what_the_files_name() {
        let code = ("code/a.py", "x = 1\n");
        let header = ("code/a.py", "# SPDX-License-Identifier: Apache-2.0\n");
        let found = |it: &str| Ok(it.to_owned());
        assert_eq!(of(&[code, ("code/LICENSE", MIT)], None), found("MIT"));
        assert_eq!(of(&[header], None), found("Apache-2.0"));
        assert_eq!(of(&[code, (".git/HEAD", ""), ("COPYING.txt", MIT)], Some("MIT")), found("MIT"));
        let project = ("code/pyproject.toml", "[project]\nlicense = \"BSD-3-Clause\"\n");
        assert_eq!(of(&[code, project], None), found("BSD-3-Clause"));
        let files = [code, ("code/LICENSE", "Do as you please.")];
        assert_eq!(of(&files, Some("LicenseRef-Own")), found("LicenseRef-Own"));
        assert!(of(&files, None).expect_err("unknown").contains("name it by --license"));
        let both = [code, project, ("code/LICENSE", MIT)];
        assert!(of(&both, None).expect_err("two").contains("`BSD-3-Clause`, `MIT`"));
        assert_eq!(of(&both, Some("MIT AND BSD-3-Clause")), found("MIT AND BSD-3-Clause"));
    }

    /// Otherwise a user could publish rows under a licence that no author gave.
    #[test]
    fn a_folder_without_a_licence_is_refused_whatever_is_stated() {
        let code = ("code/a.py", "x = 1\n");
        for stated in [None, Some("MIT")] {
            let said = of(&[code], stated).expect_err("no licence");
            assert!(said.contains("name no licence"), "{said}");
            // Files above a folder that is not a checkout may be unrelated.
            assert_eq!(of(&[code, ("LICENSE", MIT)], stated), Err(said));
        }
        let said = of(&[code, ("code/LICENSE", MIT)], Some("Apache-2.0")).expect_err("another");
        assert!(said.contains("--license says `Apache-2.0`, and its files name `MIT`"), "{said}");
    }
}
