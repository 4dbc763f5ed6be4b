//! The commit of a folder that is a checkout, read from git's files.

use gbxcule_files::MAX_TEXT_BYTES;
use std::path::{Component, Path};

/// Greatest number of bytes of a git file that names a commit or a branch.
const MAX_GIT_BYTES: u64 = 1 << 12;

/// Returns the commit of the checkout that contains a folder, read from git's files without running
/// git.
///
/// The files are of unknown origin, and the commit is published with the rows. So the function
/// follows a name in such a file only to a file below git's `refs`, and reads only a hash from it.
pub(crate) fn commit(folder: &Path) -> Option<String> {
    let folder = folder.canonicalize().ok()?;
    let git = folder.ancestors().map(|it| it.join(".git")).find(|it| it.exists())?;
    let git = match read(&git, MAX_GIT_BYTES) {
        // The file `.git` of a worktree names the folder that has its state.
        Some(text) if git.is_file() => git.parent()?.join(text.trim().strip_prefix("gitdir: ")?),
        _ => git,
    };
    let head = read_below(&git, Path::new("HEAD"), MAX_GIT_BYTES)?;
    let Some(name) = head.trim().strip_prefix("ref: ") else { return hash(head.trim()) };
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    if !name.starts_with("refs/") || !Path::new(name).components().all(is_plain) {
        return None;
    }
    let common = read_below(&git, Path::new("commondir"), MAX_GIT_BYTES);
    let common = common.map_or(git.clone(), |text| git.join(text.trim()));
    let loose = || {
        let mut places = [&git, &common].into_iter();
        places.find_map(|it| read_below(it, Path::new(name), MAX_GIT_BYTES))
    };
    let packed = || {
        let text = read_below(&common, Path::new("packed-refs"), MAX_TEXT_BYTES)?;
        let line = text.lines().find(|line| line.ends_with(&format!(" {name}")))?;
        Some(line.split(' ').next()?.to_owned())
    };
    hash(loose().or_else(packed)?.trim())
}

fn read(path: &Path, most_bytes: u64) -> Option<String> {
    gbxcule_files::read_text(path, most_bytes).ok()
}

/// Reads a file that lies below a folder after all links are followed.
fn read_below(folder: &Path, name: &Path, most_bytes: u64) -> Option<String> {
    let path = folder.join(name).canonicalize().ok()?;
    path.starts_with(folder.canonicalize().ok()?).then(|| read(&path, most_bytes))?
}

/// Returns a text if it is a git hash, of 40 or 64 hexadecimal digits.
fn hash(text: &str) -> Option<String> {
    let fits = [40, 64].contains(&text.len()) && text.bytes().all(|it| it.is_ascii_hexdigit());
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

    /// A harvested folder may hold any text; only a real hash may be published as a commit.
    #[cfg(unix)]
    #[test]
    fn files_of_git_that_lie_lead_to_no_other_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let (own, secret) = (folder.path().join("own"), folder.path().join("token"));
        let git = own.join(".git");
        std::fs::create_dir_all(git.join("refs/heads")).expect("a folder");
        std::fs::write(&secret, "deadbeef".repeat(8)).expect("a file");
        let says = |head: &str| {
            std::fs::write(git.join("HEAD"), head).expect("a file");
            commit(&own)
        };
        let place = secret.display();
        for name in [&*format!("{place}"), "../../token", "refs/../../../token", "refs/heads/link"]
        {
            let link = git.join("refs/heads/link");
            _ = std::os::unix::fs::symlink(&secret, link);
            assert_eq!(says(&format!("ref: {name}\n")), None, "{name}");
        }
        assert_eq!(says(&"a".repeat(100_000)), None, "no hash is so long");
        assert_eq!(says(&"a".repeat(41)), None);
        assert_eq!(says(&"a".repeat(64)).map(|it| it.len()), Some(64));
        std::fs::remove_file(git.join("HEAD")).expect("ours");
        std::os::unix::fs::symlink(&secret, git.join("HEAD")).expect("a link");
        assert_eq!(commit(&own), None);
        std::fs::remove_file(git.join("HEAD")).expect("ours");
        let made = std::process::Command::new("mkfifo").arg(git.join("HEAD")).status();
        assert!(made.expect("mkfifo runs").success());
        assert_eq!(commit(&own), None);
    }
}
