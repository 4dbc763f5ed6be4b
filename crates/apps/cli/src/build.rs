//! `gbxcule build`.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};
use clap::Args;
use gbxcule_back_cxx::{self as cxx, Dialect};
use gbxcule_files::TemporaryFolder;
use gbxcule_ir::abi::{Arguments, Checks, Grid};
use gbxcule_ir::check::{self, Valid};
use gbxcule_ir::diagnostic::Diagnostic;
use gbxcule_ir::source::SourceMap;
use gbxcule_ir::{FunctionId, Module};
use gbxcule_lab::artifact::{sha256, write_json, write_whole};
use gbxcule_passes::grad::reverses;
use gbxcule_runtime::nvrtc::{Arch, CodeFormat, Nvrtc};
use gbxcule_runtime::reflect;
use gbxcule_sandbox::host_compiler;
use indicatif::ProgressBar;
use serde_json::{Value, json};

use crate::kernel_file::{Imports, Lowered, Wanted};
use crate::print::{self, say};
use crate::progress;

/// Version of the manifest's format.
const MANIFEST_VERSION: u32 = 1;

/// Build kernels into libraries that C, C++ and Rust call, and into code for GPUs
///
/// The folder gets a static and a shared library for the CPU, their C header and Rust module, PTX
/// and machine code for GPUs, the C++ and CUDA sources of this code, and a manifest that names each
/// kernel, its parameters and its reverse. A program that links the library needs neither Python
/// nor gbxcule, and compiles nothing when it runs. Building needs a C++17 compiler: `c++`, or the
/// compiler that CXX names.
#[derive(Args)]
#[command(after_long_help = "\
EXAMPLES
  gbxcule build heat.py --out heat                   libheat.a, libheat.so, heat.h, heat.rs, heat.json, ..
  gbxcule build heat.py --out heat --cpu x86-64-v3   for other CPUs than this one
  gbxcule build heat.py --out heat --arch sm_90      code for one GPU architecture alone

  cc main.c -Iheat heat/libheat.a -lstdc++ -lm       a program in C")]
pub(crate) struct Build {
    /// The Python file
    #[arg(value_name = "FILE.py")]
    file: PathBuf,

    /// Folder for the built files; replaces files of the same names
    #[arg(short, long, value_name = "DIR")]
    out: PathBuf,

    /// Build only this kernel; may be given several times; by default all kernels
    #[arg(long, value_name = "NAME")]
    kernel: Vec<String>,

    /// Name of the library and beginning of its functions' names; by default the file's name
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// The CPU, as the C++ compiler's `-march` names it; `native` is this computer's
    #[arg(long, value_name = "CPU", default_value = "native")]
    cpu: String,

    /// GPU architecture of machine code; may be given several times; by default sm_80, sm_90 and
    /// sm_100, if NVRTC is installed
    #[arg(long, value_name = "ARCH")]
    arch: Vec<Arch>,

    /// Leave out the reverses, which compute gradients
    #[arg(long)]
    no_grad: bool,

    /// Leave out the checks of indices and divisors
    #[arg(long)]
    unchecked: bool,

    #[command(flatten)]
    imports: Imports,
}

/// Number of files from the host's compiler, which the progress bar counts.
const HOST_STEPS: u64 = 2;

/// Greatest number of bytes of a library.
const MAX_LIBRARY_BYTES: u64 = 1 << 32;

/// Kernels of a library, each with its reverse or the reason of a refusal.
struct Kernels {
    module: Valid<Module>,
    kernels: Vec<(FunctionId, Reverse)>,
}

enum Reverse {
    Function(FunctionId),
    /// Reason of the refusal.
    Refused(String),
    NotWanted,
}

impl Build {
    pub(crate) fn run(self) -> anyhow::Result<bool> {
        let name = self.library_name()?;
        let wanted = Wanted { kernels: &self.kernel, gradients: !self.no_grad };
        let Some(Lowered { module, sources }) = self.imports.lower(&self.file, wanted)? else {
            return Ok(false);
        };
        let nvrtc = self.nvrtc()?;
        let archs = self.archs(nvrtc.as_ref());
        let bar = progress::late_bar(HOST_STEPS + archs.len() as u64, "files");
        let kernels = self.kernels(module)?;
        let scratch = TemporaryFolder::inside(&self.out)
            .with_context(|| format!("writing into {}", self.out.display()))?;
        let host = self.host_files(&kernels, &sources, &name, scratch.path())?;
        progress::advance(&bar, HOST_STEPS);
        let mut files = host.files;
        let cuda = self.options(Dialect::Cuda, &sources);
        let cuda = cxx::write(&kernels.module, &cxx::Options { embed_header: true, ..cuda });
        files.push((format!("{name}.cu"), cuda.source.clone().into_bytes()));
        if let Some(nvrtc) = nvrtc {
            files.extend(device_files(&cuda, &name, &nvrtc, &archs, &bar)?);
        }
        bar.finish_and_clear();
        for (file, bytes) in &files {
            let path = self.out.join(file);
            write_whole(&path, bytes).with_context(|| format!("writing {}", path.display()))?;
        }
        let manifest = self.manifest(&kernels, (&host.functions, &cuda.kernels), &name, &files);
        // The manifest is written last, so that a folder with a manifest has all files.
        let manifest_file = format!("{name}.json");
        write_json(&self.out.join(&manifest_file), &manifest)?;
        let mut names: Vec<&str> = files.iter().map(|(file, _)| file.as_str()).collect();
        names.push(&manifest_file);
        self.report(&kernels, &host.functions, &names);
        Ok(true)
    }

    fn library_name(&self) -> anyhow::Result<String> {
        if let Some(name) = &self.name {
            let fits = cxx::prefix(name) == *name;
            ensure!(fits, "--name {name}: a library's name is one that C has for functions");
            return Ok(name.clone());
        }
        Ok(self
            .file
            .file_stem()
            .map_or("kernels".into(), |stem| cxx::prefix(&stem.to_string_lossy())))
    }

    /// Finds NVRTC; it is an error if an architecture was named and NVRTC is missing.
    fn nvrtc(&self) -> anyhow::Result<Option<Nvrtc>> {
        match Nvrtc::find() {
            Ok(nvrtc) => Ok(Some(nvrtc)),
            Err(error) if self.arch.is_empty() => {
                print::error(&format!(
                    "note: no PTX and no machine code for GPUs, only CUDA text: {error}\n"
                ));
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Adds the reverse of each kernel that has one.
    fn kernels(&self, module: Valid<Module>) -> anyhow::Result<Kernels> {
        let ids: Vec<FunctionId> = module.kernels().map(|(id, _)| id).collect();
        if self.no_grad {
            let kernels = ids.into_iter().map(|id| (id, Reverse::NotWanted)).collect();
            return Ok(Kernels { module, kernels });
        }
        let refusal = |id: &FunctionId| reverses(&module, &[*id]).err();
        let refusals: Vec<Option<Vec<Diagnostic>>> = ids.iter().map(refusal).collect();
        let differentiable: Vec<FunctionId> = (ids.iter().zip(&refusals))
            .filter(|(_, refusal)| refusal.is_none())
            .map(|(&id, _)| id)
            .collect();
        let cause = |faults: Vec<Diagnostic>| {
            let messages: Vec<String> = faults.into_iter().map(|fault| fault.message).collect();
            anyhow::anyhow!(messages.join("; "))
        };
        let (module, made) = reverses(&module, &differentiable).map_err(cause)?;
        let module = check::module(module).map_err(cause)?;
        let mut made = made.into_iter();
        let kernels = ids.into_iter().zip(refusals).map(|(id, refusal)| {
            let Some(faults) = refusal else {
                let Some(reverse) = made.next() else { unreachable!("each has its reverse") };
                return (id, Reverse::Function(reverse));
            };
            let reasons: Vec<String> = faults.into_iter().map(|fault| fault.message).collect();
            (id, Reverse::Refused(reasons.join("; ")))
        });
        let kernels = kernels.collect();
        Ok(Kernels { module, kernels })
    }

    fn options<'a>(&self, dialect: Dialect, sources: &'a SourceMap) -> cxx::Options<'a> {
        let checks = if self.unchecked { Checks::None } else { Checks::All };
        cxx::Options { sources: Some(sources), checks, ..cxx::Options::new(dialect) }
    }

    fn host_files(
        &self,
        kernels: &Kernels,
        sources: &SourceMap,
        name: &str,
        folder: &Path,
    ) -> anyhow::Result<HostFiles> {
        let options = cxx::Options {
            library: Some(name),
            embed_header: true,
            ..self.options(Dialect::Host, sources)
        };
        let text = cxx::write(&kernels.module, &options);
        let source = self.file.file_name().unwrap_or_default().to_string_lossy();
        let header = cxx::c_header(&kernels.module, &text.functions, name, &source);
        let rust = cxx::rust_module(&kernels.module, &text.functions, name, &source);
        let mut files = vec![
            (format!("{name}.h"), header.into_bytes()),
            (format!("{name}.rs"), rust.into_bytes()),
            (format!("{name}.cpp"), text.source.into_bytes()),
        ];
        let [cpp, object] =
            ["cpp", "o"].map(|extension| folder.join(format!("{name}.{extension}")));
        let libraries = [format!("lib{name}.a"), format!("lib{name}.so")];
        let [fixed, shared] = libraries.each_ref().map(|library| folder.join(library));
        gbxcule_files::write_scratch(&cpp, &files[2].1)?;
        let compiler = host_compiler();
        let cpu = format!("-march={}", self.cpu);
        let flags =
            ["-std=c++17", "-O2", "-ffp-contract=off", "-fvisibility=hidden", "-fPIC", "-w"];
        let mut compile = Command::new(&compiler);
        compile.args(flags).arg(cpu).arg("-c").arg(&cpp).arg("-o").arg(&object);
        execute(&mut compile)?;
        let archiver = std::env::var_os("AR").unwrap_or_else(|| "ar".into());
        execute(Command::new(archiver).arg("rcsD").arg(&fixed).arg(&object))?;
        let mut link = Command::new(&compiler);
        link.args(["-shared", "-static-libstdc++", "-static-libgcc", "-Wl,--exclude-libs,ALL"]);
        link.arg(format!("-Wl,-soname,lib{name}.so"));
        execute(link.arg(&object).arg("-o").arg(&shared))?;
        for (file, path) in libraries.into_iter().zip([fixed, shared]) {
            let bytes = gbxcule_files::read(&path, MAX_LIBRARY_BYTES)
                .with_context(|| format!("reading {}", path.display()))?;
            files.push((file, bytes));
        }
        Ok(HostFiles { files, functions: text.functions })
    }

    /// Returns the architectures of machine code, ascending.
    fn archs(&self, nvrtc: Option<&Nvrtc>) -> Vec<Arch> {
        let mut archs = self.arch.clone();
        if archs.is_empty() {
            let made_by_nvrtc = nvrtc.map_or(&[][..], Nvrtc::archs);
            archs =
                Arch::DATA_CENTER.into_iter().filter(|arch| made_by_nvrtc.contains(arch)).collect();
        }
        archs.sort_unstable();
        archs.dedup();
        archs
    }

    fn manifest(
        &self,
        kernels: &Kernels,
        (functions, entries): (&[cxx::LibraryFunction], &[cxx::Entry]),
        name: &str,
        files: &[(String, Vec<u8>)],
    ) -> Value {
        let module = &kernels.module;
        let reflections = reflect(module);
        let function = |id: FunctionId| functions.iter().find(|function| function.kernel == id);
        let in_cuda = |id: FunctionId| entries.iter().find(|entry| entry.kernel == id);
        let rows = kernels.kernels.iter().filter_map(|(id, reverse)| {
            let (own, reflection) = (function(*id)?, reflections[id.index()].as_ref()?);
            let arguments = Arguments::new(module, *id);
            let parameters = (reflection.parameters.iter()).zip(&arguments.offsets).map(
                |(parameter, offset)| {
                    json!({
                        "name": parameter.name,
                        "type": parameter.type_name,
                        "bytes": module.types.layout(parameter.ty).map(|layout| layout.size),
                        "offset": offset,
                        "written": parameter.written,
                    })
                },
            );
            let (reverse, refused) = match reverse {
                Reverse::Function(id) => (function(*id).map(|it| it.symbol.clone()), None),
                Reverse::Refused(reason) => (None, Some(reason)),
                Reverse::NotWanted => (None, None),
            };
            Some(json!({
                "name": reflection.name,
                "symbol": own.symbol,
                "cuda_symbol": in_cuda(*id).map(|entry| &entry.symbol),
                "dims": reflection.dims,
                "parameters": parameters.collect::<Vec<_>>(),
                "reverse": reverse,
                "no_reverse": refused,
            }))
        });
        let rows: Vec<Value> = rows.collect();
        let files = files.iter().map(
            |(file, bytes)| json!({ "name": file, "bytes": bytes.len(), "sha256": sha256(bytes) }),
        );
        json!({
            "version": MANIFEST_VERSION,
            "gbxcule": env!("CARGO_PKG_VERSION"),
            "name": name,
            "source": self.file.file_name().unwrap_or_default().to_string_lossy(),
            "cpu": self.cpu,
            "link": ["stdc++", "m"],
            "cuda_grid_bytes": size_of::<Grid>(),
            "kernels": rows,
            "files": files.collect::<Vec<_>>(),
        })
    }

    fn report(&self, kernels: &Kernels, functions: &[cxx::LibraryFunction], files: &[&str]) {
        for (id, reverse) in &kernels.kernels {
            let Some(function) = functions.iter().find(|function| function.kernel == *id) else {
                continue;
            };
            let reverse = match reverse {
                Reverse::Function(_) => ", with its reverse".to_owned(),
                Reverse::Refused(reason) => format!(", without a reverse: {reason}"),
                Reverse::NotWanted => String::new(),
            };
            say!("{}{reverse}", function.symbol);
        }
        say!("wrote {} into {}", files.join(", "), self.out.display());
    }
}

/// Files of the host's libraries, and their functions.
struct HostFiles {
    files: Vec<(String, Vec<u8>)>,
    functions: Vec<cxx::LibraryFunction>,
}

/// Returns PTX for the least of the architectures, and machine code for each.
fn device_files(
    text: &cxx::Text,
    name: &str,
    nvrtc: &Nvrtc,
    archs: &[Arch],
    bar: &ProgressBar,
) -> anyhow::Result<Vec<(String, Vec<u8>)>> {
    let source = format!("{name}.cu");
    let mut files = Vec::new();
    if let Some(&least) = archs.first() {
        let ptx = nvrtc.compile(&text.source, &source, least, CodeFormat::Ptx)?;
        files.push((format!("{name}.ptx"), ptx));
    }
    for &arch in archs {
        let cubin = nvrtc.compile(&text.source, &source, arch, CodeFormat::Cubin)?;
        files.push((format!("{name}.{arch}.cubin"), cubin));
        progress::advance(bar, 1);
    }
    Ok(files)
}

/// Runs a tool of the C++ compiler's; the error has the tool's output.
fn execute(command: &mut Command) -> anyhow::Result<()> {
    let tool = Path::new(command.get_program()).to_owned();
    let run = command.output().with_context(|| {
        format!(
            "{} can't be started; a library needs a C++ compiler and `ar`: install g++, or name \
             them by CXX and AR",
            tool.display()
        )
    })?;
    if !run.status.success() {
        let says = String::from_utf8_lossy(&run.stderr);
        bail!("{} failed: {}", tool.display(), says.trim_end());
    }
    Ok(())
}
