//! Makes shared objects of translated PTX by the host's C++ compiler, and caches them by a hash of
//! text and compiler.

use crate::ptx::{HEADER, HEADER_NAME, Refusals, translate};
use gbxcule_files::{NewFile, TemporaryFolder, write_scratch};
use sha2::{Digest, Sha256};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Floats are rounded once for each operation; a register may alias any memory.
const FLAGS: [&str; 10] = [
    "-std=c++17",
    "-O1",
    "-ffp-contract=off",
    "-fno-strict-aliasing",
    "-fno-exceptions",
    "-w",
    "-shared",
    "-fPIC",
    "-fno-gnu-unique",
    // A kernel may have the name of a function of the C library, which must not replace it.
    "-Wl,-Bsymbolic",
];

/// Reason why there is no shared object.
#[derive(Debug, thiserror::Error)]
pub enum ObjectError {
    /// The text has an instruction or a directive that is not translated.
    #[error("{0}")]
    Refused(#[from] Refusals),
    /// The host's compiler is missing or refuses the translation.
    #[error("{compiler}: {reason}; set CXX to a C++17 compiler")]
    Compiler {
        /// The compiler's program.
        compiler: String,
        /// Message of the compiler.
        reason: String,
    },
    /// A file can't be read or written.
    #[error(transparent)]
    File(#[from] std::io::Error),
}

/// Returns the path of a shared object for a text; the folder caches it.
pub fn build(ptx: &str, folder: &Path) -> Result<PathBuf, ObjectError> {
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".into());
    let text = translate(ptx)?;
    let path = folder.join(format!("{}.so", digest(&[&text, HEADER, &compiler, &FLAGS.join(" ")])));
    if !path.exists() {
        let object = compile(&text, &compiler)?;
        let mut file = NewFile::create(&path)?;
        file.write_all(&object)?;
        file.commit_unsynced()?;
    }
    Ok(path)
}

fn digest(parts: &[&str]) -> String {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part);
    }
    gbxcule_files::hex(&digest.finalize())
}

fn compile(text: &str, compiler: &str) -> Result<Vec<u8>, ObjectError> {
    let folder = TemporaryFolder::inside(&std::env::temp_dir())?;
    write_scratch(&folder.path().join(HEADER_NAME), HEADER.as_bytes())?;
    write_scratch(&folder.path().join("text.cpp"), text.as_bytes())?;
    let mut command = Command::new(compiler);
    command.args(FLAGS).args(["text.cpp", "-o", "text.so"]).current_dir(folder.path());
    let refused = |reason| ObjectError::Compiler { compiler: compiler.into(), reason };
    let run = command.output().map_err(|error| refused(error.to_string()))?;
    if !run.status.success() {
        let stderr = String::from_utf8_lossy(&run.stderr);
        return Err(refused(stderr.lines().take(20).collect::<Vec<_>>().join("\n")));
    }
    Ok(std::fs::read(folder.path().join("text.so"))?)
}
