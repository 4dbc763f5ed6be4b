//! Writes the table of the library's files: each is compiled into the crate.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let folder = PathBuf::from(env::var("CARGO_MANIFEST_DIR").unwrap_or_default()).join("library");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut table = String::from("[\n");
    for topic in sorted(&folder)? {
        println!("cargo::rerun-if-changed={}", topic.display());
        for file in sorted(&topic)? {
            println!("cargo::rerun-if-changed={}", file.display());
            let name = |path: &Path| path.file_stem().map(|it| it.to_string_lossy().into_owned());
            let (topic, name) = (name(&topic).unwrap_or_default(), name(&file).unwrap_or_default());
            let kind = file.extension().map(|it| it.to_string_lossy().into_owned());
            let kind = kind.unwrap_or_default();
            let path = file.display().to_string();
            _ = writeln!(table, "    ({topic:?}, {name:?}, {kind:?}, include_str!({path:?})),");
        }
    }
    table.push(']');
    fs::write(PathBuf::from(env::var("OUT_DIR").unwrap_or_default()).join("library.rs"), table)
}

/// Returns the entries of a folder in the same order on all systems.
fn sorted(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut entries = entries.collect::<io::Result<Vec<PathBuf>>>()?;
    entries.sort();
    Ok(entries)
}
