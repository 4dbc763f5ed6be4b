//! Origin of a row: file, line, commit, licence.

use super::Harvest;
use crate::batch::Manifest;
use crate::external_column::Tools;
use crate::row::Plan;
use serde::Serialize;
use std::path::Path;

/// Origin of a row, stored as JSON.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub(super) struct Origin {
    /// Name of the harvested folder.
    pub(super) folder: String,
    /// File below it.
    pub(super) file: String,
    /// Line of the kernel's name.
    pub(super) line: usize,
    /// Commit of the folder, if it is a checkout.
    pub(super) commit: Option<String>,
    /// SPDX expression of its licence.
    pub(super) license: String,
    /// The first row with this structure, if it isn't this one.
    pub(super) same_structure_as: Option<u64>,
}

/// The manifest of a harvest.
pub fn manifest_of(harvest: Harvest, rows: usize, plan: Plan) -> Manifest {
    let manifest = Manifest::new(rows as u64, plan, &Tools::default());
    Manifest { harvest: Some(harvest), ..manifest }
}

/// Returns true if a text may be an SPDX expression, such as `Apache-2.0` or `MIT OR Apache-2.0`.
pub fn is_licence(text: &str) -> bool {
    let word = |word: &str| {
        !word.is_empty()
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-+:()".contains(&byte))
    };
    !text.is_empty() && text.split(' ').all(word)
}

/// The commit that a folder, or one above it, is a checkout of: read from git's files, without
/// running it.
pub(super) fn commit(folder: &Path) -> Option<String> {
    let folder = folder.canonicalize().ok()?;
    let read = |path: &Path| gbxcule_files::read_text(path, 1 << 20).ok();
    let git = folder.ancestors().map(|it| it.join(".git")).find(|it| it.exists())?;
    let git = match read(&git) {
        // A worktree names the folder that has its state.
        Some(text) if git.is_file() => git.parent()?.join(text.trim().strip_prefix("gitdir: ")?),
        _ => git,
    };
    let head = read(&git.join("HEAD"))?;
    let Some(name) = head.trim().strip_prefix("ref: ") else { return is_hash(head.trim()) };
    let common = read(&git.join("commondir"));
    let common = common.map_or(git.clone(), |text| git.join(text.trim()));
    let loose = [&git, &common].into_iter().find_map(|it| read(&it.join(name)));
    let packed = || {
        let text = read(&common.join("packed-refs"))?;
        let line = text.lines().find(|line| line.ends_with(&format!(" {name}")))?;
        Some(line.split(' ').next()?.to_owned())
    };
    is_hash(loose.or_else(packed)?.trim())
}

fn is_hash(text: &str) -> Option<String> {
    let fits = text.len() >= 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    fits.then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_read_from_gits_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let (git, inside) = (folder.path().join(".git"), folder.path().join("a/b"));
        std::fs::create_dir_all(git.join("refs/heads")).expect("a folder");
        std::fs::create_dir_all(&inside).expect("a folder");
        let hash = "0123456789abcdef0123456789abcdef01234567";
        std::fs::write(git.join("HEAD"), "ref: refs/heads/main\n").expect("a file");
        assert_eq!(commit(&inside), None);
        std::fs::write(git.join("packed-refs"), format!("# pack\n{hash} refs/heads/main\n"))
            .expect("a file");
        assert_eq!(commit(&inside).as_deref(), Some(hash));
        let other = hash.replace('0', "f");
        std::fs::write(git.join("refs/heads/main"), format!("{other}\n")).expect("a file");
        assert_eq!(commit(&inside), Some(other));
        std::fs::write(git.join("HEAD"), format!("{hash}\n")).expect("a file");
        assert_eq!(commit(&inside).as_deref(), Some(hash));
    }

    #[test]
    fn licences_are_expressions() {
        for text in ["MIT", "Apache-2.0", "MIT OR Apache-2.0", "(GPL-2.0+ WITH x)", "LicenseRef-a"]
        {
            assert!(is_licence(text), "{text}");
        }
        for text in ["", " ", "MIT\n", "MIT\nfoo: bar", "a  b", "\"MIT\""] {
            assert!(!is_licence(text), "{text:?}");
        }
    }
}
