//! Files that the rules are about.

use std::path::{Path, PathBuf};

/// Returns the repository's own folder.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").canonicalize().expect("the repository")
}

/// Returns the folders of our crates, in order; `gameboy/color` among them has no sources.
pub(crate) fn crate_folders() -> Vec<PathBuf> {
    let parts = ["crates", "games"].iter();
    let manifests = parts.flat_map(|part| files_below(&root().join(part), &["toml"]));
    let manifests = manifests.filter(|path| path.ends_with("Cargo.toml"));
    manifests.map(|path| path.parent().expect("a folder").to_owned()).collect()
}

/// Returns the files in and below a folder whose names end in one of `extensions`, without build
/// outputs.
pub(crate) fn files_below(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let mut files = Vec::new();
    collect(folder, extensions, &mut files);
    files.sort();
    assert!(!files.is_empty(), "no file that ends in {extensions:?} below {}", folder.display());
    files
}

fn collect(folder: &Path, extensions: &[&str], found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if path.is_dir() {
            let is_built = ["target", "runs", "node_modules"].contains(&name.as_str());
            if !name.starts_with('.') && !is_built {
                collect(&path, extensions, found);
            }
        } else if extensions.iter().any(|extension| name.ends_with(&format!(".{extension}"))) {
            found.push(path);
        }
    }
}

/// Returns the lines of a file with their numbers, from 1.
pub(crate) fn lines_of(path: &Path) -> Vec<(usize, String)> {
    let text = std::fs::read_to_string(path).expect("a readable source");
    text.lines().enumerate().map(|(index, line)| (index + 1, line.to_owned())).collect()
}
