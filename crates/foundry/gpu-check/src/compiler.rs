//! NVRTC and NVIDIA's disassembler as a child in the sandbox: a CUDA text becomes machine code that
//! the simulator can run.
//!
//! The child is a program of a hundred lines (`driver.cpp`) that the host's compiler makes once. So
//! a text that hangs or crashes NVRTC ends only the child. The child writes no file and starts no
//! process; the disassembler runs as a child of a process that is held ([`crate::held`]). If none
//! can be held, or code must be read as a whole, another child becomes the disassembler.

use crate::held::{self, HeldDisassemblers};
use gbxcule_back_cxx::{HEADER, HEADER_NAME};
use gbxcule_files::{TemporaryFolder, allow_execution, read, write_scratch};
use gbxcule_gpu_sim::sass::bare_listing;
use gbxcule_gpu_sim::sass::module::{LoadError, LoadedCubin};
use gbxcule_runtime::nvrtc::Nvrtc;
use gbxcule_sandbox::{ChildEnd, Limits, Policy, host_compiler};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Source of the child.
const DRIVER: &str = include_str!("driver.cpp");
/// Header that is included before every text.
const PRELUDE: &str = include_str!("prelude.h");
/// Architecture of the machine code: the oldest that the simulator and every NVRTC since CUDA 11
/// know.
pub const ARCH: &str = "sm_80";
/// Folder of the headers that texts may include, beside the folders of the texts.
const HEADER_FOLDER: &str = "headers";
/// Headers of the host that texts include without need; they are empty.
const EMPTY_HEADERS: [&str; 13] = [
    "assert.h",
    "cassert",
    "cmath",
    "cstddef",
    "cstdio",
    "cstdlib",
    "cstring",
    "cuda_runtime.h",
    "device_launch_parameters.h",
    "math.h",
    "stdio.h",
    "stdlib.h",
    "string.h",
];
/// Headers of the host, reduced to the names that kernels use.
const HEADERS: [(&str, &str); 6] = [
    ("stdint.h", include_str!("header/stdint.h")),
    ("cstdint", "#include \"stdint.h\"\n"),
    ("float.h", include_str!("header/float.h")),
    ("cfloat", "#include \"float.h\"\n"),
    ("limits.h", include_str!("header/limits.h")),
    ("climits", "#include \"limits.h\"\n"),
];
/// Limits of the child.
const LIMITS: Limits = Limits {
    wall: Duration::from_secs(300),
    cpu: Duration::from_secs(20),
    memory_bytes: 4 << 30,
    file_bytes: 16 << 20,
    written_bytes: 64 << 20,
    output_bytes: 32 << 20,
    ..Limits::COMPILER
};
/// Limits of the child that only compiles.
const LIMITS_ALONE: Limits = Limits {
    file_bytes: 0,
    written_bytes: 0,
    output_bytes: MAX_CUBIN_BYTES as usize,
    tasks: 1,
    ..LIMITS
};
/// Status of the child for a text that NVRTC refuses.
const REFUSED: i32 = 3;
/// Greatest number of bytes of machine code.
const MAX_CUBIN_BYTES: u64 = 16 << 20;
/// Greatest number of bytes of a thread's local memory; the simulator allocates as many for each
/// lane of a block's 32 warps.
const MAX_LOCAL_BYTES: usize = 64 << 10;
/// Greatest number of bytes of a thread's local memory on a GPU.
const MAX_LOCAL_BYTES_OF_GPU: usize = 512 << 10;

/// Reason why no CUDA text can be compiled on this machine.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// NVRTC is missing.
    #[error(transparent)]
    Nvrtc(#[from] gbxcule_runtime::Error),
    /// The disassembler is missing.
    #[error(
        "no nvdisasm beside {0} and none on PATH: install the wheels nvidia-cuda-nvrtc, \
         nvidia-cuda-nvdisasm and nvidia-cuda-runtime"
    )]
    Disassembler(PathBuf),
    /// The host's compiler is missing or refuses the child's text.
    #[error("{0}; set CXX to a C++17 compiler")]
    HostCompiler(String),
    /// A folder or file can't be made.
    #[error(transparent)]
    File(#[from] std::io::Error),
    /// The sandbox can't start a program.
    #[error(transparent)]
    Sandbox(#[from] gbxcule_sandbox::SandboxError),
}

/// Reason why a text gave no machine code that can run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// NVRTC refuses the text, with its log.
    Text(String),
    /// NVRTC runs for too long, needs too much memory, or crashes.
    Limit(String),
    /// The simulator does not know an instruction, or has too little memory.
    Unknown(String),
    /// This machine failed.
    Machine(String),
}

/// NVRTC, the disassembler and the child that runs both.
#[derive(Debug)]
pub struct CudaCompiler {
    folder: TemporaryFolder,
    nvrtc: PathBuf,
    builtins: Option<PathBuf>,
    disassembler: PathBuf,
    held: Option<Box<HeldDisassemblers>>,
    include: Option<PathBuf>,
}

impl CudaCompiler {
    /// Finds the parts, and makes the child in a folder below `parent`.
    pub fn find(parent: &Path) -> Result<Self, SetupError> {
        let nvrtc = Nvrtc::find()?.path().to_owned();
        let disassembler = disassembler(&nvrtc)?;
        let include = nvrtc.parent().and_then(Path::parent).map(|root| root.join("include"));
        let include = include.filter(|folder| folder.join("cuda_fp16.h").is_file());
        let folder = TemporaryFolder::inside(parent)?;
        make_driver(folder.path())?;
        write_headers(&folder.path().join(HEADER_FOLDER))?;
        let builtins = builtins(&nvrtc);
        let arch = ARCH.replace("sm_", "SM");
        let library = make_library(folder.path());
        let held = library
            .and_then(|it| HeldDisassemblers::find(&disassembler, &it, folder.path(), &arch));
        let held = held.map(Box::new);
        Ok(Self { folder, nvrtc, builtins, disassembler, held, include })
    }

    /// Returns true if a disassembler is held, so that its tables are built once.
    pub fn is_held(&self) -> bool {
        self.held.is_some()
    }

    /// Returns a compiler that starts the disassembler anew for each text.
    #[must_use]
    pub fn without_held(self) -> Self {
        Self { held: None, ..self }
    }

    /// Compiles a text to machine code.
    pub fn compile(&self, text: &str) -> Result<LoadedCubin, Refusal> {
        let failed = |error: std::io::Error| Refusal::Machine(error.to_string());
        let folder = TemporaryFolder::inside(self.folder.path()).map_err(failed)?;
        let path = folder.path();
        write_scratch(&path.join("answer.cu"), text.as_bytes()).map_err(failed)?;
        let bare = match &self.held {
            Some(held) => {
                let cubin = self.run_driver(path, false)?;
                let listing = bare_listing::listing(&cubin, |code| held.disassembled(code));
                listing.map(|listing| (cubin, listing))
            }
            None => None,
        };
        // Code that a relocation changes can't be read alone.
        let whole = || {
            let listing = self.run_driver(path, true)?;
            let cubin = read(&path.join("answer.cubin"), MAX_CUBIN_BYTES).map_err(failed)?;
            Ok((cubin, String::from_utf8_lossy(&listing).into_owned()))
        };
        let (cubin, listing) = bare.map_or_else(whole, Ok)?;
        let loaded = LoadedCubin::load(&cubin, &listing).map_err(|error| match error {
            LoadError::Refused(forms) => {
                let first = forms.lines().next().unwrap_or_default();
                Refusal::Unknown(format!("the simulator does not know {first}"))
            }
            other => Refusal::Unknown(other.to_string()),
        })?;
        match loaded.kernels.values().map(|it| it.kernel.stack_bytes).max() {
            Some(bytes) if bytes > MAX_LOCAL_BYTES_OF_GPU => Err(Refusal::Limit(format!(
                "{bytes} bytes of local memory for each thread, a GPU has {MAX_LOCAL_BYTES_OF_GPU}"
            ))),
            Some(bytes) if bytes > MAX_LOCAL_BYTES => Err(Refusal::Unknown(format!(
                "{bytes} bytes of local memory for each thread, {MAX_LOCAL_BYTES} are simulated"
            ))),
            _ => Ok(loaded),
        }
    }

    /// Compiles the text of a folder; returns its machine code, or the listing if the child becomes
    /// the disassembler.
    fn run_driver(&self, folder: &Path, disassembles: bool) -> Result<Vec<u8>, Refusal> {
        let mut options: Vec<String> = [
            "--std=c++17",
            "--fmad=false",
            "--generate-line-info",
            "--pre-include=gbx_prelude.h",
            // Cooperative groups then don't include CUDA's C++ library, which is a separate wheel.
            "--define-macro=_CG_LIMIT_INCLUDED_DEPENDENCIES",
        ]
        .map(str::to_owned)
        .to_vec();
        options.push(format!("--gpu-architecture={ARCH}"));
        options.push(format!("--include-path=../{HEADER_FOLDER}"));
        options.extend(self.include.iter().map(|it| format!("--include-path={}", it.display())));
        let none = Path::new("-");
        let disassembler = if disassembles { &self.disassembler } else { none };
        let parts = [&self.nvrtc, self.builtins.as_deref().unwrap_or(none), disassembler];
        let parts = parts.map(|it| it.display().to_string());
        let arguments: Vec<String> = parts.into_iter().chain(options).collect();
        let program = self.folder.path().join("driver");
        let mut read = vec![program.clone(), self.folder.path().join(HEADER_FOLDER)];
        read.extend(self.nvrtc.parent().filter(|_| self.nvrtc.is_absolute()).map(Path::to_owned));
        read.extend(self.include.clone());
        // A library without a path is found by variables that only a compiler gets.
        let policy = if disassembles || !self.nvrtc.is_absolute() {
            read.push(self.disassembler.clone());
            Policy::compiler(&self.disassembler, folder).within(LIMITS)
        } else {
            Policy::program(folder).within(LIMITS_ALONE)
        };
        let policy = policy.reading(read);
        let ran = gbxcule_sandbox::run(&program, &arguments, &policy)
            .map_err(|error| Refusal::Machine(error.to_string()))?;
        match ran.ended {
            ChildEnd::Exited(0) => Ok(ran.stdout),
            ChildEnd::Exited(REFUSED) => Err(Refusal::Text(first_error(&ran.stderr))),
            ChildEnd::Exited(_) => {
                Err(Refusal::Limit(format!("NVRTC says: {}", first_error(&ran.stderr))))
            }
            // A text can't make NVRTC wait or end by SIGKILL, so this machine is busy or lacks
            // memory.
            ended @ (ChildEnd::Time(_) | ChildEnd::Signal(9)) => {
                Err(Refusal::Machine(format!("NVRTC {ended}")))
            }
            ended => Err(Refusal::Limit(format!("NVRTC {ended}"))),
        }
    }
}

/// Returns the first error of NVRTC's log.
fn first_error(log: &str) -> String {
    let error = log.lines().find(|line| line.contains("error"));
    let line = error.or_else(|| log.lines().next()).unwrap_or("it says nothing");
    line.chars().take(300).collect()
}

/// Finds NVIDIA's disassembler as [`CudaCompiler::find`] does.
///
/// # Errors
/// NVRTC or the disassembler is missing.
pub fn nvdisasm() -> Result<PathBuf, SetupError> {
    disassembler(Nvrtc::find()?.path())
}

/// Finds the disassembler: beside NVRTC in its wheel, else on `PATH`, else in a toolkit.
fn disassembler(nvrtc: &Path) -> Result<PathBuf, SetupError> {
    let beside = nvrtc.parent().and_then(Path::parent).map(|root| root.join("bin/nvdisasm"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).map(|folder| folder.join("nvdisasm"));
    let toolkit = [PathBuf::from("/usr/local/cuda/bin/nvdisasm")];
    let mut all = beside.into_iter().chain(on_path).chain(toolkit);
    let program = all.find(|path| path.is_file());
    program.ok_or_else(|| SetupError::Disassembler(nvrtc.into()))
}

/// Finds NVRTC's builtins, which lie beside it.
fn builtins(nvrtc: &Path) -> Option<PathBuf> {
    let beside = std::fs::read_dir(nvrtc.parent()?).ok()?.flatten();
    let mut libraries = beside.filter(|it| {
        it.file_name().to_str().is_some_and(|name| name.starts_with("libnvrtc-builtins.so"))
    });
    libraries.next().map(|it| it.path())
}

/// Writes the headers that texts may include into a new folder.
fn write_headers(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir(folder)?;
    let headers = EMPTY_HEADERS.iter().map(|name| (*name, "")).chain(HEADERS);
    for (name, header) in headers.chain([(HEADER_NAME, HEADER), ("gbx_prelude.h", PRELUDE)]) {
        write_scratch(&folder.join(name), header.as_bytes())?;
    }
    Ok(())
}

/// Makes the child's program in a folder.
fn make_driver(folder: &Path) -> Result<(), SetupError> {
    make(folder, DRIVER, &["driver.cpp", "-o", "driver", "-ldl"])?;
    Ok(allow_execution(&folder.join("driver"))?)
}

/// Makes the library that holds a disassembler, where the host's compiler makes such libraries.
fn make_library(folder: &Path) -> Option<PathBuf> {
    make(folder, held::LIBRARY, &["held.cpp", "-o", "held.so", "-shared", "-fPIC", "-ldl"]).ok()?;
    Some(folder.join("held.so"))
}

/// Compiles a text in a folder, under the name that is the first argument.
fn make(folder: &Path, text: &str, arguments: &[&str]) -> Result<(), SetupError> {
    write_scratch(&folder.join(arguments[0]), text.as_bytes())?;
    let compiler = host_compiler();
    let policy = Policy::compiler(Path::new(&compiler), folder);
    let arguments = [&["-std=c++17", "-O1"], arguments].concat();
    let made = gbxcule_sandbox::run(Path::new(&compiler), &arguments, &policy)
        .map_err(|error| SetupError::HostCompiler(error.to_string()))?;
    match made.ended.is_success() {
        true => Ok(()),
        false => {
            let error = first_error(&made.stderr);
            Err(SetupError::HostCompiler(format!("{}: {error}", compiler.display())))
        }
    }
}
