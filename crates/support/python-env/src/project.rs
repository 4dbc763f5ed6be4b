//! The user's project: the nearest folder above a start that has a `pyproject.toml` or a `.git` and
//! belongs to the user.
//!
//! The folders above may belong to other users: below a shared folder, `.venv/bin/python` may be a
//! program of another user's. So code is run from a project only if this user owns the project's
//! folder, the file that marks it, the program, and every folder between, and if none of them is
//! writable by everybody.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

const MARKS: [&str; 2] = ["pyproject.toml", ".git"];

/// Returns the folders from which a project is searched upwards: the working folder, then the
/// folder of this program.
#[must_use]
pub fn search_starts() -> Vec<PathBuf> {
    [std::env::current_dir().ok(), std::env::current_exe().ok()].into_iter().flatten().collect()
}

/// Finds the file at the path `relative` in the project above one of `starts`, tried in order.
///
///
/// # Errors
/// The reason why a file that exists is not used: another user may have put it there.
pub fn find_in_project(starts: &[PathBuf], relative: &Path) -> Result<Option<PathBuf>, String> {
    let mut refused = None;
    for start in starts {
        let Some(root) = project(start) else { continue };
        let path = root.join(relative);
        if !path.exists() {
            continue;
        }
        match distrusted(&root, relative) {
            None => return Ok(Some(path)),
            Some(why) => {
                refused = refused.or(Some(format!("{} is not run: {why}", path.display())));
            }
        }
    }
    refused.map_or(Ok(None), Err)
}

/// Returns true if a program that the user did not name may be run: this user or root owns the
/// program and its folder, and neither is writable by everybody.
#[must_use]
pub fn is_trusted(program: &Path) -> bool {
    [Some(program), program.parent()].into_iter().flatten().all(|path| {
        let there = path.metadata();
        there.is_ok_and(|there| {
            owner::is_ours_or_the_systems(&there) && !owner::is_world_writable(&there)
        })
    })
}

fn project(start: &Path) -> Option<PathBuf> {
    let is_marked = |folder: &&Path| MARKS.iter().any(|mark| folder.join(mark).exists());
    start.ancestors().find(is_marked).map(Path::to_owned)
}

/// Returns the reason why a file of a project is not trusted, if there is one.
fn distrusted(root: &Path, relative: &Path) -> Option<String> {
    let marks = MARKS.map(|mark| root.join(mark));
    let marks = marks.into_iter().filter(|mark| mark.exists());
    let between = relative.ancestors().filter(|part| !part.as_os_str().is_empty());
    let between = between.map(|part| root.join(part));
    marks.chain([root.to_owned()]).chain(between).find_map(|path| {
        // The target of a link was chosen by the owner of the link.
        let link = path.symlink_metadata().ok().filter(Metadata::is_symlink);
        let link = link.and_then(|link| (!owner::is_ours(&link)).then(|| other_owner(&path)));
        let whole = path.metadata().map_err(|error| format!("{}: {error}", path.display()));
        link.or_else(|| match whole {
            Err(error) => Some(error),
            Ok(there) if !owner::is_ours_or_system_file(&there) => Some(other_owner(&path)),
            Ok(there) if owner::is_world_writable(&there) => {
                Some(format!("everybody may write to {}", path.display()))
            }
            Ok(_) => None,
        })
    })
}

fn other_owner(path: &Path) -> String {
    format!("{} belongs to another user", path.display())
}

#[cfg(unix)]
mod owner {
    use std::fs::Metadata;
    use std::os::unix::fs::MetadataExt;

    /// Returns true if the file belongs to the user of this process.
    pub(super) fn is_ours(there: &Metadata) -> bool {
        there.uid() == rustix::process::geteuid().as_raw()
    }

    /// Returns true if a file belongs to this user or to root, who has all rights anyway: an
    /// environment's interpreter is often a link to the system's.
    pub(super) fn is_ours_or_system_file(there: &Metadata) -> bool {
        is_ours(there) || !there.is_dir() && there.uid() == 0
    }

    pub(super) fn is_ours_or_the_systems(there: &Metadata) -> bool {
        is_ours(there) || there.uid() == 0
    }

    /// Returns true if everybody may write to the file.
    pub(super) fn is_world_writable(there: &Metadata) -> bool {
        there.mode() & 0o002 != 0
    }
}

/// Owners on systems without Unix's file owners: only a program that the user named is trusted.
#[cfg(not(unix))]
mod owner {
    use std::fs::Metadata;

    pub(super) fn is_ours(_: &Metadata) -> bool {
        false
    }

    pub(super) fn is_ours_or_system_file(_: &Metadata) -> bool {
        false
    }

    pub(super) fn is_ours_or_the_systems(_: &Metadata) -> bool {
        true
    }

    pub(super) fn is_world_writable(_: &Metadata) -> bool {
        true
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    const PYTHON: &str = ".venv/bin/python";

    /// Makes a folder with an environment, and a folder deep inside it.
    fn tree() -> (tempfile::TempDir, PathBuf) {
        let root = tempfile::tempdir().expect("a folder");
        let deep = root.path().join("a/b");
        fs::create_dir_all(&deep).expect("a folder");
        fs::create_dir_all(root.path().join(".venv/bin")).expect("a folder");
        fs::write(root.path().join(PYTHON), "").expect("a file");
        (root, deep)
    }

    fn find(start: &Path) -> Result<Option<PathBuf>, String> {
        find_in_project(&[start.to_owned()], Path::new(PYTHON))
    }

    #[test]
    fn a_folder_above_counts_only_if_it_is_a_project() {
        let (root, deep) = tree();
        // The folder for temporary files may lie inside a project; the test must not find that
        // project's environment.
        assert_ne!(find(&deep), Ok(Some(root.path().join(PYTHON))));
        for mark in MARKS {
            let (root, deep) = tree();
            fs::write(root.path().join(mark), "").expect("a file");
            assert_eq!(find(&deep), Ok(Some(root.path().join(PYTHON))), "{mark}");
        }
        fs::create_dir(deep.join(".git")).expect("a folder");
        fs::create_dir(root.path().join(".git")).expect("a folder");
        assert_eq!(find(&deep), Ok(None), "the nearest project is the one");
    }

    #[test]
    fn a_python_that_everybody_may_write_to_is_not_used_and_the_reason_is_told() {
        for part in [".", ".git", ".venv", ".venv/bin", PYTHON] {
            let (root, deep) = tree();
            fs::create_dir(root.path().join(".git")).expect("a folder");
            let path = root.path().join(part);
            fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).expect("ours to set");
            let message = find(&deep).expect_err("refused");
            assert!(
                message.contains(PYTHON) && message.contains("everybody may write to"),
                "{message}"
            );
        }
    }

    /// Only root can give files to another user, so the test needs root.
    #[test]
    fn a_python_of_another_user_is_not_used() {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        for part in [".", ".git", ".venv", ".venv/bin", PYTHON] {
            let (root, deep) = tree();
            fs::create_dir(root.path().join(".git")).expect("a folder");
            std::os::unix::fs::chown(root.path().join(part), Some(12345), None).expect("root");
            let message = find(&deep).expect_err("refused");
            assert!(message.contains("belongs to another user"), "{message}");
        }
    }

    #[test]
    fn a_program_in_a_folder_that_everybody_may_write_to_is_not_trusted() {
        let (root, _) = tree();
        let (program, folder) = (root.path().join(PYTHON), root.path().join(".venv/bin"));
        assert!(is_trusted(&program) && is_trusted(Path::new("/bin/sh")));
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).expect("ours to set");
        assert!(!is_trusted(&program));
        assert!(!is_trusted(&root.path().join("missing")));
    }

    #[test]
    fn an_interpreter_that_is_a_link_to_the_systems_is_used() {
        let (root, deep) = tree();
        fs::write(root.path().join("pyproject.toml"), "").expect("a file");
        fs::remove_file(root.path().join(PYTHON)).expect("it was there");
        std::os::unix::fs::symlink("/bin/sh", root.path().join(PYTHON)).expect("a link");
        assert_eq!(find(&deep), Ok(Some(root.path().join(PYTHON))));
    }
}
