//! Texts, and the kernels compiled from them.

use crate::error::Error;
use crate::kernel::Kernel;
use gbxcule_back_cxx::{Dialect, Options, write};
use gbxcule_front_warp as front_warp;
use gbxcule_ir::check::{self, Valid};
use gbxcule_ir::diagnostic::{Diagnostic, render};
use gbxcule_ir::source::SourceMap;
use gbxcule_ir::{FunctionId, FunctionKind, Module};
use gbxcule_passes::grad::{grad, reverse_name};
use gbxcule_runtime::{Build, Device, ProgramFiles, compile};
use std::path::Path;

/// A text in NVIDIA Warp's dialect of Python, compiled to the typed IR from which each device's
/// code is made. Python never runs.
pub struct Program {
    sources: SourceMap,
    module: Valid<Module>,
}

impl Program {
    /// Compiles a text that imports none of the user's files; messages contain `name`.
    ///
    /// # Errors
    /// [`Error::Text`] with all faults of the text.
    pub fn from_text(name: &str, text: &str) -> Result<Self, Error> {
        let mut sources = SourceMap::new();
        let id = sources.add(name, text);
        let parsed = front_warp::Program::parse(&sources, id);
        Self::checked(sources, parsed)
    }

    /// Compiles a file and the files beside it that it imports.
    ///
    /// # Errors
    /// As [`Self::from_text`]; also a file that can't be read.
    pub fn from_file(path: &Path) -> Result<Self, Error> {
        let files = ProgramFiles::of(path);
        let text = files.text(path).map_err(|error| {
            let path = path.display().to_string();
            Error::File { path, reason: error.to_string() }
        })?;
        let mut sources = SourceMap::new();
        let id = sources.add(path.display().to_string(), text);
        let parsed = front_warp::Program::parse_beside(&mut sources, id, &|path| files.find(path));
        Self::checked(sources, parsed)
    }

    fn checked(
        sources: SourceMap,
        parsed: Result<front_warp::Program, Vec<Diagnostic>>,
    ) -> Result<Self, Error> {
        let module = parsed.and_then(|it| it.reader().with_gradients().compile("program"));
        match module.and_then(check::module) {
            Ok(module) => Ok(Self { sources, module }),
            Err(faults) => Err(Error::Text(render(&faults, &sources))),
        }
    }

    /// Returns the names of the kernels, in the order of the text.
    pub fn kernels(&self) -> Vec<&str> {
        let functions = self.module.functions.iter();
        let kernels = functions.filter(|(_, it)| it.kind == FunctionKind::Kernel);
        kernels.map(|(_, it)| it.name.as_str()).collect()
    }

    /// Makes a kernel's code for a device.
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
    /// # Errors
    /// As [`Self::kernel`]; [`Error::Text`] for a kernel that can't be reversed, with the line.
    pub fn reverse(&self, name: &str, device: Device) -> Result<Kernel, Error> {
        let reversed = grad(&self.module, self.find(name)?).and_then(check::module);
        let module = reversed.map_err(|it| Error::Text(render(&it, &self.sources)))?;
        let compiled = compile(&module, device, Build::default())?;
        Ok(Kernel::new(compiled.kernel(&reverse_name(name))?))
    }

    /// Writes all kernels as CUDA C++, which includes the header `gbxcule.h`.
    pub fn cuda(&self) -> String {
        write(&self.module, &Options::new(Dialect::Cuda)).source
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
