//! NVRTC, NVIDIA's compiler as a library: CUDA text to PTX or machine code, without GPU and driver.
//!
//! [`Nvrtc::find`] looks in three places, in this order: the place that `GBXCULE_NVRTC` names,
//! the wheel `nvidia-cuda-nvrtc` of the Python environment, the system. The header that the text
//! includes is passed along, so no other part of CUDA has to be installed.

mod arch;
mod library;
mod locate;

pub use arch::Arch;
pub use locate::Origin;

use crate::error::Error;
use crate::process::PerProcess;
use crate::ptxas::Usage;
use gbxcule_back_cxx::{HEADER, HEADER_NAME};
use library::Library;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Format of the code that NVRTC makes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CodeFormat {
    /// Assembler text for this architecture and newer ones; the driver translates it.
    Ptx,
    /// Machine code for exactly this architecture.
    Cubin,
}

/// Options for C++17, and for floats that are rounded once for each operation, as in every back
/// end.
pub(crate) const OPTIONS: [&str; 2] = ["--std=c++17", "--fmad=false"];
/// Option that compiles a switch to a jump table if at least one in ten numbers of its range is a
/// case; without the option NVRTC makes trees of comparisons. NVRTC 13.0 accepts the option as
/// well, though only 13.5 documents it.
pub(crate) const JUMP_TABLES: &str = "--jump-table-density=10";
const KNOWS_JUMP_TABLES: (u32, u32) = (13, 0);

/// Loaded NVRTC.
#[derive(Clone, Debug)]
pub struct Nvrtc {
    library: Library,
    version: (u32, u32),
    archs: Vec<Arch>,
    path: PathBuf,
    origin: Origin,
}

impl Nvrtc {
    /// Finds and loads NVRTC.
    pub fn find() -> Result<Self, Error> {
        let places = locate::places()?;
        let mut refused = Vec::new();
        for place in &places {
            match Library::open(&place.path) {
                Ok(library) => return Self::new(library, &place.path, place.origin.clone()),
                Err(reason) => refused.push((place, reason)),
            }
        }
        // The error of a library that exists but can't be loaded helps more than the message that
        // no library was found.
        let unusable = refused.into_iter().find(|(place, _)| place.path.is_absolute());
        Err(match unusable {
            Some((place, reason)) => Error::NvrtcUnusable { path: place.path.clone(), reason },
            None => Error::NoNvrtc,
        })
    }

    /// Returns the NVRTC that `GBXCULE_NVRTC` names, if the variable is set: then code of no
    /// other NVRTC is used.
    pub(crate) fn by_variable() -> Result<Option<Self>, Error> {
        locate::variable().map(|_| Self::shared()).transpose()
    }

    /// Returns the NVRTC that this process has found, or finds now.
    pub(crate) fn shared() -> Result<Self, Error> {
        static FOUND: PerProcess<Mutex<Option<Nvrtc>>> = PerProcess::new();
        let mut nvrtc_once = FOUND.get().lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(nvrtc) = &*nvrtc_once {
            return Ok(nvrtc.clone());
        }
        Ok(nvrtc_once.insert(Self::find()?).clone())
    }

    /// Loads the library at a path.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let library = Library::open(path);
        let unusable = |reason| Error::NvrtcUnusable { path: path.into(), reason };
        Self::new(library.map_err(unusable)?, path, Origin::Path)
    }

    fn new(library: Library, path: &Path, origin: Origin) -> Result<Self, Error> {
        let unusable = |reason| Error::NvrtcUnusable { path: path.into(), reason };
        let version = library.version().map_err(unusable)?;
        let archs = library.archs().map_err(unusable)?;
        let archs = archs.into_iter().map(Arch::new).collect();
        Ok(Self { library, version, archs, path: path.into(), origin })
    }

    /// Returns the major and minor version of CUDA.
    pub fn version(&self) -> (u32, u32) {
        self.version
    }

    /// Returns the architectures for which this NVRTC compiles, oldest first.
    pub fn archs(&self) -> &[Arch] {
        &self.archs
    }

    /// Returns the newest of these architectures whose machine code runs on the given GPU: an
    /// architecture of the same generation that is no newer than the GPU.
    pub fn arch_for(&self, gpu: Arch) -> Result<Arch, Error> {
        let runs =
            |arch: &&Arch| arch.number() / 10 == gpu.number() / 10 && arch.number() <= gpu.number();
        let best = self.archs.iter().rfind(runs).copied();
        best.ok_or_else(|| self.unknown(gpu))
    }

    fn unknown(&self, arch: Arch) -> Error {
        let known: Vec<String> = self.archs.iter().map(Arch::to_string).collect();
        Error::NvrtcArch {
            arch: arch.to_string(),
            version: format!("{}.{}", self.version.0, self.version.1),
            known: known.join(", "),
        }
    }

    /// Returns the library's path, or its bare name if the system's loader found it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns how the library was found.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Compiles a text that may include the header; messages call the text `name`.
    pub fn compile(
        &self,
        text: &str,
        name: &str,
        arch: Arch,
        output: CodeFormat,
    ) -> Result<Vec<u8>, Error> {
        self.compile_with(text, name, arch, output, &[]).map(|(bytes, _)| bytes)
    }

    /// Compiles to machine code and returns the resources that each kernel takes.
    pub fn measure(
        &self,
        text: &str,
        name: &str,
        arch: Arch,
    ) -> Result<(Vec<u8>, Vec<Usage>), Error> {
        let verbose = ["--ptxas-options=-v"];
        let (bytes, log) = self.compile_with(text, name, arch, CodeFormat::Cubin, &verbose)?;
        Ok((bytes, Usage::parse(&log)))
    }

    /// Compiles with further options of NVRTC; returns its log as well.
    pub fn compile_with(
        &self,
        text: &str,
        name: &str,
        arch: Arch,
        output: CodeFormat,
        more: &[&str],
    ) -> Result<(Vec<u8>, String), Error> {
        if !self.archs.iter().any(|known| known.number() == arch.number()) {
            return Err(self.unknown(arch));
        }
        let target = match output {
            CodeFormat::Ptx => arch.virtual_name(),
            CodeFormat::Cubin => arch.to_string(),
        };
        let target = format!("--gpu-architecture={target}");
        let mut options = vec![target.as_str()];
        options.extend(OPTIONS);
        options.extend((self.version >= KNOWS_JUMP_TABLES).then_some(JUMP_TABLES));
        options.extend(more);
        let refused = |log| Error::CudaText { name: name.into(), arch: arch.to_string(), log };
        self.library.compile(text, name, (HEADER_NAME, HEADER), &options, output).map_err(
            |failure| match failure {
                library::Failure::Text(log) => refused(log),
                library::Failure::Call { function, reason } => Error::Nvrtc { function, reason },
            },
        )
    }
}
