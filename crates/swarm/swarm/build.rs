//! Hashes the sources that decide what a kernel is, so that kernels on disk of another version are
//! not used.

use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Crates whose sources make kernels, or are compiled into them.
const CRATES: [&str; 13] = [
    "compiler/back-cxx",
    "compiler/front-rust",
    "compiler/front-native",
    "compiler/front-warp",
    "compiler/ir",
    "compiler/passes",
    "compiler/python-names",
    "compiler/python-values",
    "compiler/warp-types",
    "compiler/runtime",
    "machine/gameboy",
    "swarm/recompiler",
    "swarm/swarm",
];

fn main() -> io::Result<()> {
    let mut hashers = [0, 1].map(|salt| {
        let mut hasher = DefaultHasher::new();
        hasher.write_u8(salt);
        hasher
    });
    for name in CRATES {
        let folder = Path::new("../..").join(name).join("src");
        println!("cargo::rerun-if-changed={}", folder.display());
        for file in files(&folder)? {
            let content = fs::read(&file)?;
            for hasher in &mut hashers {
                for part in [file.to_string_lossy().as_bytes(), &content] {
                    hasher.write_usize(part.len());
                    hasher.write(part);
                }
            }
        }
    }
    let [low, high] = hashers.map(|hasher| hasher.finish());
    println!("cargo::rustc-env=GBXCULE_SOURCES={low:016x}{high:016x}");
    Ok(())
}

/// All files in a folder and its folders, in one order on all systems.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder)? {
        entries.push(entry?.path());
    }
    entries.sort();
    let mut paths = Vec::new();
    for path in entries {
        if path.is_dir() {
            paths.extend(files(&path)?);
        } else {
            paths.push(path);
        }
    }
    Ok(paths)
}
