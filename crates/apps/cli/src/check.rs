//! `gbxcule check`: races and other faults of kernels, found without a GPU.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, bail, ensure};
use clap::Args;
use gbxcule_files::{MAX_TEXT_BYTES, TemporaryFolder, read_text};
use gbxcule_gpu_check::compiler::CudaCompiler;
use gbxcule_gpu_check::source_check::{SourceOptions, check};
use gbxcule_grading::race::races;
use gbxcule_ir::diagnostic::render;
use gbxcule_rows::row_program::RowProgram;

use crate::kernel_file::{Imports, Lowered, Wanted};
use crate::print::{self, say};

/// Find races, barriers in divergent code, uninitialised shared reads and accesses outside of
/// arrays in the kernels of a file, without a GPU
///
/// NVRTC always compiles the file for sm_80, and a simulator runs the machine code, with warps, in
/// orders that the seed chooses. A kernel in CUDA gets arrays of N elements (see `--count`), N for
/// integers and 0.5 for floats; a kernel in NVIDIA Warp's dialect gets random inputs on which it
/// runs. A fault is reported with its line and threads.
#[derive(Args)]
#[command(after_long_help = "\
EXAMPLES
  gbxcule check reduce.cu
  gbxcule check reduce.cu --count 5000 --set bins=64
  gbxcule check kernels.py
  gbxcule check generic.py --types 'fill=[wp.array(dtype=wp.vec3), wp.vec3]'

EXIT STATUS
  0  no fault was found
  1  a kernel has a fault, or the file is refused
  2  no result: NVRTC or nvdisasm is missing, or no inputs were found")]
pub(crate) struct Check {
    /// The file: CUDA C++, or Python with NVIDIA Warp's kernels
    #[arg(value_name = "FILE.cu|FILE.py")]
    file: PathBuf,

    /// Look for races and the other faults; this is the default
    #[arg(long)]
    race: bool,

    /// Number of elements of each array, and value of each integer, for kernels in CUDA; by default
    /// 1000
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1 << 20))]
    count: Option<u32>,

    /// Value of an integer, or number of elements of an array, by the parameter's name, for kernels
    /// in CUDA
    #[arg(long = "set", value_name = "NAME=N", value_parser = named_number)]
    values: Vec<(String, i64)>,

    /// Seed of the inputs and of the orders of threads
    #[arg(long, default_value_t = 0)]
    seed: u64,

    #[command(flatten)]
    imports: Imports,
}

fn named_number(text: &str) -> Result<(String, i64), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=N")?;
    let value = value.parse().map_err(|_| format!("`{value}` is no integer"))?;
    Ok((name.into(), value))
}

/// Elements of arrays, and integers, of kernels in CUDA.
const DEFAULT_COUNT: u32 = 1000;

/// Each kernel's name, and its fault if it has one.
type Reports = Vec<(String, Option<String>)>;

impl Check {
    pub(crate) fn run(self) -> anyhow::Result<bool> {
        let reports = match self.file.extension().and_then(|it| it.to_str()) {
            Some("py") => self.python()?,
            Some("cu" | "cuh" | "cc" | "cpp") => Some(self.cuda()?),
            _ => bail!("{}: a file in CUDA (.cu) or Python (.py) is checked", self.file.display()),
        };
        let Some(reports) = reports else { return Ok(false) };
        for (kernel, fault) in &reports {
            say!("{kernel}: {}", fault.as_deref().unwrap_or("no fault"));
        }
        Ok(reports.iter().all(|(_, fault)| fault.is_none()))
    }

    /// Checks kernels in NVIDIA Warp's dialect; if the file is refused, prints why and returns
    /// `None`.
    fn python(&self) -> anyhow::Result<Option<Reports>> {
        ensure!(
            self.count.is_none() && self.values.is_empty(),
            "--count and --set are for kernels in CUDA; inputs of a kernel in Python are drawn: leave them out"
        );
        let wanted = Wanted { kernels: &[], gradients: false };
        let Some(Lowered { module, sources }) = self.imports.lower(&self.file, wanted)? else {
            return Ok(None);
        };
        let text = self.text()?;
        let program = match RowProgram::of_module(&text, module) {
            Ok(program) => program,
            Err(faults) => {
                print::error(&render(&faults, &sources));
                return Ok(None);
            }
        };
        let folder = TemporaryFolder::inside(&std::env::temp_dir())?;
        let compiler = CudaCompiler::find(folder.path())?;
        Ok(Some(races(&text, &program, &compiler, self.seed)?))
    }

    fn cuda(self) -> anyhow::Result<Reports> {
        ensure!(
            !self.imports.is_given(),
            "--path, --define and --types are for a file in Python: leave them out"
        );
        let text = self.text()?;
        let folder = TemporaryFolder::inside(&std::env::temp_dir())?;
        let compiler = CudaCompiler::find(folder.path())?;
        let values: BTreeMap<String, i64> = self.values.into_iter().collect();
        let count = self.count.unwrap_or(DEFAULT_COUNT);
        let options = SourceOptions { count, values, seed: self.seed, launches: 4 };
        let checked = check(&text, &compiler, &options).map_err(anyhow::Error::msg)?;
        let outcomes = checked.into_iter().map(|it| {
            let (blocks, threads) = it.shape;
            let place = format!("<<<{blocks}, {threads}>>>");
            (it.kernel, it.fault.map(|fault| format!("{fault}, {place}")))
        });
        Ok(outcomes.collect())
    }

    fn text(&self) -> anyhow::Result<String> {
        read_text(&self.file, MAX_TEXT_BYTES)
            .with_context(|| format!("reading {}", self.file.display()))
    }
}
