//! Texts, and the kernels compiled from them.

use crate::error::Error;
use crate::kernel::Kernel;
use gbxcule_back_cxx::{Dialect, Options, write};
use gbxcule_front_warp::{self as front_warp, ImportOptions, Texts};
use gbxcule_ir::check::{self, Valid};
use gbxcule_ir::diagnostic::{Diagnostic, render};
use gbxcule_ir::source::SourceMap;
use gbxcule_ir::{FunctionId, FunctionKind, Module, print};
use gbxcule_passes::grad::{grad, reverse_name};
use gbxcule_runtime::nvrtc::{Arch, CodeFormat, Nvrtc};
use gbxcule_runtime::{Build, Device, ProgramFiles, compile};
use std::path::{Path, PathBuf};

/// A text in NVIDIA Warp's dialect of Python, compiled to the typed IR from which each device's
/// code is made. Python never runs.
pub struct Program {
    sources: SourceMap,
    module: Valid<Module>,
}

/// Facts that a text doesn't state, as `gbxcule compile` takes them.
///
/// ```
/// let text = "
/// import warp as wp
/// from typing import Any
///
/// @wp.kernel
/// def fill(x: wp.array(dtype=Any), value: Any):
///     x[wp.tid()] = value
/// ";
/// let types = "[wp.array(dtype=wp.vec3), wp.vec3]";
/// let options = gbxcule::ProgramOptions::new().types("fill", types);
/// assert!(options.text("fill.py", text)?.cpp().contains("fill"));
/// # Ok::<(), gbxcule::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ProgramOptions {
    facts: ImportOptions,
}

impl Default for ProgramOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl ProgramOptions {
    /// Makes options that state nothing.
    pub fn new() -> Self {
        let facts = ImportOptions { without_command_line: true, ..ImportOptions::default() };
        Self { facts }
    }

    /// Adds the types of a generic kernel's parameters, in order (`[wp.array(dtype=wp.vec3),
    /// wp.vec3]`) or by name as a dictionary. Several calls for one kernel make several kernels.
    #[must_use]
    pub fn types(mut self, kernel: &str, types: &str) -> Self {
        self.facts.types.push((kernel.into(), types.into()));
        self
    }

    /// Adds the value of a name that only a run of Python would show: a constant of a compiled
    /// module (`mujoco.mjtGeom.mjGEOM_BOX`, `6`), or an argument of a function around a kernel
    /// (`make.dtype`, `wp.float64`).
    #[must_use]
    pub fn define(mut self, name: &str, value: &str) -> Self {
        self.facts.defines.push((name.into(), value.into()));
        self
    }

    /// Adds a folder in which imported modules are looked for.
    #[must_use]
    pub fn path(mut self, folder: impl Into<PathBuf>) -> Self {
        self.facts.folders.push(folder.into());
        self
    }

    /// Compiles a text as [`Program::from_text`] does; it may import files of the added folders.
    ///
    /// # Errors
    /// As [`Program::from_text`]; also types for a kernel that the text doesn't have.
    pub fn text(self, name: &str, text: &str) -> Result<Program, Error> {
        let mut sources = SourceMap::new();
        let id = sources.add(name, text);
        let mut texts = Texts::new(self.facts.clone());
        let parsed = match &self.facts.folders[..] {
            [] => front_warp::Program::load(&mut texts, &mut sources, id, None),
            [first, others @ ..] => {
                let files = with_folders(ProgramFiles::below(first), others);
                let read = |path: &Path| files.find(path);
                front_warp::Program::load(&mut texts, &mut sources, id, Some(&read))
            }
        };
        self.checked(sources, parsed)
    }

    /// Compiles a file as [`Program::from_file`] does; it may also import files of the added
    /// folders.
    ///
    /// # Errors
    /// As [`Program::from_file`]; also types for a kernel that the file doesn't have.
    pub fn file(self, path: &Path) -> Result<Program, Error> {
        let files = with_folders(ProgramFiles::of(path), &self.facts.folders);
        let text = files.text(path).map_err(|error| {
            let path = path.display().to_string();
            Error::File { path, reason: error.to_string() }
        })?;
        let mut sources = SourceMap::new();
        let id = sources.add(path.display().to_string(), text);
        let mut texts = Texts::new(self.facts.clone());
        let read = |path: &Path| files.find(path);
        let parsed = front_warp::Program::load(&mut texts, &mut sources, id, Some(&read));
        self.checked(sources, parsed)
    }

    fn checked(
        &self,
        sources: SourceMap,
        parsed: Result<front_warp::Program, Vec<Diagnostic>>,
    ) -> Result<Program, Error> {
        let refused = |faults: Vec<Diagnostic>| Error::Text(render(&faults, &sources));
        let parsed = parsed.map_err(refused)?;
        let reader = parsed.reader().with_gradients();
        let known: Vec<String> = reader.kernels().into_iter().map(|kernel| kernel.name).collect();
        if let Some((name, _)) = self.facts.types.iter().find(|(name, _)| !known.contains(name)) {
            return Err(Error::UnknownKernel { name: name.clone(), known });
        }
        let module = reader.compile("program").and_then(check::module).map_err(refused)?;
        Ok(Program { module, sources })
    }
}

fn with_folders(files: ProgramFiles, folders: &[PathBuf]) -> ProgramFiles {
    folders.iter().fold(files, |files, folder| files.and_below(folder))
}

impl Program {
    /// Compiles a text that imports none of the user's files; messages contain `name`.
    ///
    /// # Errors
    /// [`Error::Text`] with all faults of the text.
    pub fn from_text(name: &str, text: &str) -> Result<Self, Error> {
        ProgramOptions::new().text(name, text)
    }

    /// Compiles a file and the files beside it that it imports.
    ///
    /// # Errors
    /// As [`Self::from_text`]; also a file that can't be read.
    pub fn from_file(path: &Path) -> Result<Self, Error> {
        ProgramOptions::new().file(path)
    }

    /// Returns the names of the kernels, in the order of the text; a reverse follows them.
    pub fn kernels(&self) -> Vec<&str> {
        let functions = self.module.functions.iter();
        let kernels = functions.filter(|(_, it)| it.kind == FunctionKind::Kernel);
        kernels.map(|(_, it)| it.name.as_str()).collect()
    }

    /// Makes a kernel's code for a device.
    ///
    /// The first call for a device compiles all kernels of the program. As long as a [`Kernel`] of
    /// it is alive, further calls, for any name, only compare programs, which takes about as long
    /// as printing the IR. When the last kernel is dropped, so is the code.
    ///
    /// # Errors
    /// No kernel has this name, or the device is missing or refuses the code.
    pub fn kernel(&self, name: &str, device: Device) -> Result<Kernel, Error> {
        self.find(name)?;
        let compiled = compile(&self.module, device, Build::default())?;
        Ok(Kernel::new(compiled.kernel(name)?))
    }

    /// Makes a kernel's reverse: a kernel with the same parameters, whose arrays carry gradients.
    ///
    /// Before the reverse's launch an array's gradient is the derivative of some number with
    /// respect to the array after the kernel's launch. After the reverse's launch it is the
    /// derivative with respect to the array before the kernel's launch.
    ///
    /// Each call derives the reverse anew; for several devices or texts take
    /// [`Self::with_reverse`].
    ///
    /// # Errors
    /// As [`Self::kernel`]; [`Error::Text`] for a kernel that can't be reversed, with the line.
    pub fn reverse(&self, name: &str, device: Device) -> Result<Kernel, Error> {
        self.with_reverse(name)?.kernel(&reverse_name(name), device)
    }

    /// Makes the program that also has the reverse of a kernel, as the kernel `adj_NAME`, in its
    /// texts too.
    ///
    /// # Errors
    /// A name that no kernel has; [`Error::Text`] for a kernel that can't be reversed, with the
    /// line.
    pub fn with_reverse(&self, name: &str) -> Result<Self, Error> {
        let reversed = grad(&self.module, self.find(name)?).and_then(check::module);
        let module = reversed.map_err(|it| Error::Text(render(&it, &self.sources)))?;
        Ok(Self { sources: self.sources.clone(), module })
    }

    /// Writes all kernels as CUDA C++, which includes the header [`HEADER`](crate::HEADER) under
    /// the name [`HEADER_NAME`](crate::HEADER_NAME).
    pub fn cuda(&self) -> String {
        self.text(Dialect::Cuda)
    }

    /// Writes all kernels as C++17 for the CPU, which includes the same header.
    pub fn cpp(&self) -> String {
        self.text(Dialect::Host)
    }

    /// Writes all kernels as typed, structured IR.
    pub fn ir(&self) -> String {
        print::module(&self.module)
    }

    /// Compiles all kernels to PTX, by NVRTC and without a GPU. It runs on this architecture
    /// and newer ones.
    ///
    /// # Errors
    /// NVRTC is missing or doesn't know the architecture.
    pub fn ptx(&self, arch: Arch) -> Result<Vec<u8>, Error> {
        self.code(arch, CodeFormat::Ptx)
    }

    /// Compiles all kernels to machine code of one architecture, by NVRTC and without a GPU.
    ///
    /// # Errors
    /// NVRTC is missing or doesn't know the architecture.
    pub fn cubin(&self, arch: Arch) -> Result<Vec<u8>, Error> {
        self.code(arch, CodeFormat::Cubin)
    }

    fn text(&self, dialect: Dialect) -> String {
        let options = Options { sources: Some(&self.sources), ..Options::new(dialect) };
        write(&self.module, &options).source
    }

    fn code(&self, arch: Arch, format: CodeFormat) -> Result<Vec<u8>, Error> {
        Ok(Nvrtc::find()?.compile(&self.cuda(), "program.cu", arch, format)?)
    }

    fn find(&self, name: &str) -> Result<FunctionId, Error> {
        let mut functions = self.module.functions.iter();
        let kernel = functions.find(|(_, it)| it.kind == FunctionKind::Kernel && it.name == name);
        kernel.map(|(id, _)| id).ok_or_else(|| Error::UnknownKernel {
            name: name.to_owned(),
            known: self.kernels().into_iter().map(str::to_owned).collect(),
        })
    }
}
