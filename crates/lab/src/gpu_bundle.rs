//! A folder for a GPU machine: everything that the gates there need, found on this one.
//! `gbxcule doctor --collect` makes it; `gates.sh` in it runs on the other side, without Rust,
//! `make` or a network.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use gbxcule_files::NewFile;
use gbxcule_oracle::Python;
use gbxcule_runtime::nvrtc::Nvrtc;

use crate::artifact::{entries, write_whole};
use crate::{LabError, command};

/// Script that runs on the machine with the GPU.
const GATES: &str = include_str!("gpu_bundle/gates.sh");
/// Packages that PyBoy needs, with hashes.
const REQUIREMENTS: &str = include_str!("../../../requirements/oracle.txt");

/// Fills a folder: this program, NVRTC, the oracle's Python package, what PyBoy needs, and the
/// script of the gates. Gives what was written.
///
/// # Errors
/// NVRTC or the package is not here, or a file can't be written.
pub fn collect(folder: &Path) -> Result<Vec<PathBuf>, LabError> {
    // All is found before the first of it is copied.
    let program = command::program()?;
    let nvrtc = Nvrtc::find().map_err(gbxcule_swarm::SwarmError::from)?;
    let package = Python::find().package_folder.ok_or(LabError::NoPackage)?;
    let mut bundle = GpuBundle { folder, written: Vec::new() };
    bundle.copy(&program, "gbxcule")?;
    bundle.nvrtc(nvrtc.path())?;
    bundle.package(&package.join("gbxcule"), Path::new("python/gbxcule"))?;
    for (name, text) in [("gates.sh", GATES), ("oracle.txt", REQUIREMENTS)] {
        write_whole(&folder.join(name), text.as_bytes())?;
        bundle.written.push(name.into());
    }
    Ok(bundle.written)
}

struct GpuBundle<'a> {
    folder: &'a Path,
    written: Vec<PathBuf>,
}

impl GpuBundle<'_> {
    /// The library, and what it loads from beside it.
    fn nvrtc(&mut self, library: &Path) -> Result<(), LabError> {
        let (Some(folder), Some(name)) = (library.parent(), library.file_name()) else {
            return Ok(());
        };
        if !library.is_absolute() {
            return Err(LabError::NvrtcBySystem);
        }
        self.copy(library, Path::new("nvrtc").join(name))?;
        for entry in entries(folder)? {
            let name = entry.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.starts_with("libnvrtc-builtins") || name.starts_with("nvrtc-builtins") {
                self.copy(&entry, Path::new("nvrtc").join(name))?;
            }
        }
        Ok(())
    }

    /// The Python files of a package.
    fn package(&mut self, from: &Path, to: &Path) -> Result<(), LabError> {
        for entry in entries(from)? {
            let Some(name) = entry.file_name() else { continue };
            if entry.is_dir() {
                self.package(&entry, &to.join(name))?;
            } else if entry.extension() == Some(OsStr::new("py")) {
                self.copy(&entry, to.join(name))?;
            }
        }
        Ok(())
    }

    fn copy(&mut self, from: &Path, to: impl Into<PathBuf>) -> Result<(), LabError> {
        let to = to.into();
        let path = self.folder.join(&to);
        let mut source = fs::File::open(from).map_err(LabError::file(from))?;
        let mut file = NewFile::create(&path).map_err(LabError::file(&path))?;
        let copied = std::io::copy(&mut source, &mut file)
            .and_then(|_| fs::set_permissions(file.path(), source.metadata()?.permissions()))
            .and_then(|()| file.commit());
        copied.map_err(LabError::file(&path))?;
        self.written.push(to);
        Ok(())
    }
}
