//! `gbxcule compile`.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use clap::{Args, ValueEnum};
use gbxcule_back_cxx::{self as cxx, Dialect};
use gbxcule_files::{check_writable, python_files};
use gbxcule_front_warp::ImportOptions;
use gbxcule_ir::abi::Checks;
use gbxcule_ir::check::{self, Valid};
use gbxcule_ir::diagnostic::{Diagnostic, render};
use gbxcule_ir::source::SourceMap;
use gbxcule_ir::{FunctionId, module::Module, print as ir_text};
use gbxcule_lab::artifact::write_whole;
use gbxcule_passes::grad::reverses;
use gbxcule_runtime::ProgramFiles;
use gbxcule_runtime::nvrtc::{Arch, CodeFormat, Nvrtc};
use gbxcule_survey::{survey, survey_with_texts};

use crate::kernel_file::{Imports, Lowered, Wanted};
use crate::print::{self, say};

/// Compile kernels written in NVIDIA Warp's Python dialect, without Python and without a GPU
///
/// The file, and the files beside it that it imports, are read as text. A refusal names its line
/// and the allowed forms. The printed text includes one small header, which `--header` writes.
/// Equal files give equal bytes.
#[derive(Args)]
#[command(after_long_help = "\
EXAMPLES
  gbxcule compile saxpy.py                            C++ for the CPU
  gbxcule compile saxpy.py --emit cuda                CUDA C++
  gbxcule compile saxpy.py --emit ir --kernel saxpy   one kernel as the compiler sees it
  gbxcule compile saxpy.py --emit cuda --grad         and the reverse of each kernel
  gbxcule compile saxpy.py --emit ptx --arch sm_90    PTX, by NVRTC and without a GPU
  gbxcule compile saxpy.py --emit cubin --out saxpy.cubin   machine code for sm_90
  gbxcule compile --survey path/to/warp               how much of a tree of files compiles, and what is refused")]
pub(crate) struct Compile {
    /// The Python file
    #[arg(value_name = "FILE.py", required_unless_present_any = ["survey", "header"])]
    file: Option<PathBuf>,

    /// Device for which text is written without `--emit`: `cpu` writes C++, `cuda` CUDA C++; by
    /// default cpu
    #[arg(long, value_enum)]
    device: Option<TextTarget>,

    /// Output to write; by default the text for `--device`
    #[arg(long, value_enum)]
    emit: Option<Emit>,

    /// GPU architecture of `ptx` and `cubin`; by default sm_90
    #[arg(long, value_name = "ARCH")]
    arch: Option<Arch>,

    /// Write only this kernel and the functions that it calls; by default all kernels
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,

    /// Add the reverse of each kernel `k`, as `adj_k`: it reads the gradients of the arrays that
    /// `k` writes, and adds to the gradients of the arrays that `k` reads
    #[arg(long)]
    grad: bool,

    /// Leave out the checks of indices and divisors
    #[arg(long)]
    unchecked: bool,

    #[command(flatten)]
    imports: Imports,

    /// Write to this file instead of standard output; with `--survey`, write every refusal in full
    /// to this file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Write the header that the text includes into this folder
    #[arg(long, value_name = "DIR")]
    header: Option<PathBuf>,

    /// Compile every kernel below this folder; print the number of refused kernels by reason, and
    /// the speed
    #[arg(long, value_name = "DIR", conflicts_with_all = ["file", "emit", "kernel", "header"])]
    survey: Option<PathBuf>,

    /// With `--survey`, also make the C++ and CUDA text of each kernel; the speed then includes
    /// this
    #[arg(long, requires = "survey")]
    texts: bool,
}

/// Stages of the compiler whose output can be written.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Emit {
    /// The typed, structured IR
    Ir,
    /// C++17 for the CPU
    Cpp,
    /// CUDA C++ for NVRTC or nvcc
    Cuda,
    /// PTX, made by NVRTC; no GPU is needed
    Ptx,
    /// Machine code for one architecture, made by NVRTC; no GPU is needed
    Cubin,
}

/// Device for which a text is written.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TextTarget {
    /// The host, by a C++ compiler
    Cpu,
    /// An NVIDIA GPU
    #[value(alias = "cuda:0")]
    Cuda,
}

impl Compile {
    pub(crate) fn run(self) -> anyhow::Result<bool> {
        self.check_options()?;
        if let Some(folder) = &self.survey {
            return self.survey(folder);
        }
        if let Some(folder) = &self.header {
            let path = folder.join(cxx::HEADER_NAME);
            write_whole(&path, cxx::HEADER.as_bytes())
                .with_context(|| format!("writing {}", path.display()))?;
        }
        match &self.file {
            Some(file) => self.compile(file),
            None => Ok(true),
        }
    }

    /// Refuses options that would have no effect.
    fn check_options(&self) -> anyhow::Result<()> {
        let of_text = [
            ("--device", self.device.is_some()),
            ("--arch", self.arch.is_some()),
            ("--grad", self.grad),
            ("--unchecked", self.unchecked),
        ];
        let of_file = [
            ("--emit", self.emit.is_some()),
            ("--kernel", self.kernel.is_some()),
            ("--path", !self.imports.path.is_empty()),
            ("--define", !self.imports.define.is_empty()),
            ("--types", !self.imports.types.is_empty()),
            ("--out", self.out.is_some()),
        ];
        let first = |options: &[(&'static str, bool)]| {
            options.iter().find(|(_, given)| *given).map(|(name, _)| *name)
        };
        if let (Some(_), Some(name)) = (&self.survey, first(&of_text)) {
            bail!(
                "{name} is for a file: leave it out, because --survey compiles every kernel once and prints counts"
            );
        }
        let without_file = self.survey.is_none() && self.file.is_none();
        if let (true, Some(name)) = (without_file, first(&of_text).or(first(&of_file))) {
            bail!("{name} is for a file to compile: name the file, or leave out {name}");
        }
        let is_code = matches!(self.emit, Some(Emit::Ptx | Emit::Cubin));
        ensure!(
            self.arch.is_none() || is_code,
            "--arch is the architecture of PTX and machine code: add --emit ptx or --emit cubin"
        );
        ensure!(
            !(self.emit == Some(Emit::Ir) && self.unchecked),
            "IR contains no checks of indices and divisors to omit: leave out --unchecked"
        );
        Ok(())
    }

    fn compile(&self, file: &Path) -> anyhow::Result<bool> {
        let replaces =
            self.out.as_deref().is_some_and(|out| gbxcule_files::is_same_file(out, file));
        ensure!(!replaces, "--out names the file that is compiled: name another one");
        let wanted = Wanted { kernels: self.kernel.as_slice(), gradients: self.grad };
        let Some(Lowered { module, sources }) = self.imports.lower(file, wanted)? else {
            return Ok(false);
        };
        match if self.grad { differentiated(&module) } else { Ok(module) } {
            Ok(module) => self.write(&self.print(&module, &sources)?).map(|()| true),
            Err(faults) => {
                print::error(&render(&faults, &sources));
                Ok(false)
            }
        }
    }

    fn survey(&self, folder: &Path) -> anyhow::Result<bool> {
        if let Some(out) = &self.out {
            check_writable(out).with_context(|| format!("writing {}", out.display()))?;
        }
        let paths = python_files(folder)?;
        let allowed = self.imports.allowed(ProgramFiles::below(folder));
        let (mut files, mut unread) = (Vec::new(), Vec::new());
        for path in paths {
            match allowed.text(&path) {
                Ok(text) => files.push((path.display().to_string(), text)),
                Err(error) => unread.push(format!("{}: {error}", path.display())),
            }
        }
        if files.is_empty() {
            bail!("no Python file below {}", folder.display());
        }
        let options = ImportOptions { tree: Some(folder.to_owned()), ..self.imports.options() };
        let survey = if self.texts { survey_with_texts } else { survey };
        let survey = survey(files, &options, &|path| allowed.find(path));
        if self.out.is_some() {
            self.write(survey.refusals().as_bytes())?;
        }
        say!("{survey}");
        for file in &unread {
            say!("not read: {file}");
        }
        Ok(survey.bugs().next().is_none())
    }

    fn print(&self, module: &Valid<Module>, sources: &SourceMap) -> anyhow::Result<Vec<u8>> {
        let dialect = match (self.emit, self.device) {
            (Some(Emit::Ir), _) => return Ok(ir_text::module(module).into_bytes()),
            (Some(Emit::Cpp), _) | (None, None | Some(TextTarget::Cpu)) => Dialect::Host,
            (Some(Emit::Cuda | Emit::Ptx | Emit::Cubin), _) | (None, Some(TextTarget::Cuda)) => {
                Dialect::Cuda
            }
        };
        let mut options = cxx::Options::new(dialect);
        options.sources = Some(sources);
        options.checks = if self.unchecked { Checks::None } else { Checks::All };
        let text = cxx::write(module, &options).source;
        let format = match self.emit {
            Some(Emit::Ptx) => CodeFormat::Ptx,
            Some(Emit::Cubin) => CodeFormat::Cubin,
            _ => return Ok(text.into_bytes()),
        };
        let arch = self.arch.unwrap_or(Arch::new(90));
        Ok(Nvrtc::find()?.compile(&text, &format!("{}.cu", module.name), arch, format)?)
    }

    fn write(&self, bytes: &[u8]) -> anyhow::Result<()> {
        match &self.out {
            Some(path) => {
                write_whole(path, bytes).with_context(|| format!("writing {}", path.display()))
            }
            None if self.emit == Some(Emit::Cubin) && print::is_terminal() => {
                bail!("machine code can't be shown in a terminal: name a file by --out")
            }
            None => {
                print::bytes(bytes);
                Ok(())
            }
        }
    }
}

/// Adds the reverse of every kernel to the module.
fn differentiated(module: &Valid<Module>) -> Result<Valid<Module>, Vec<Diagnostic>> {
    let kernels: Vec<FunctionId> = module.kernels().map(|(id, _)| id).collect();
    let (module, _) = reverses(module, &kernels)?;
    check::module(module)
}
