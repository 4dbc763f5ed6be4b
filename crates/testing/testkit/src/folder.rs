//! Files of folders that tests compare.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Returns the bytes of all files below a folder, by their paths in it.
pub fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut contents, mut folders) = (BTreeMap::new(), vec![folder.to_path_buf()]);
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let inside = path.strip_prefix(folder).expect("a path in it").to_path_buf();
                contents.insert(inside, std::fs::read(&path).expect("a file"));
            }
        }
    }
    contents
}
