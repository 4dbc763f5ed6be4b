//! `gbxcule check`: races and other faults of kernels, found without a GPU.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, bail, ensure};
use clap::Args;
use gbxcule_files::{MAX_TEXT_BYTES, TemporaryFolder, read_text};
use gbxcule_gpu_check::compiler::CudaCompiler;
use gbxcule_gpu_check::source_check::{SourceOptions, check};
use gbxcule_grading::race::races;

use crate::print::say;

/// Find races, barriers in divergent code, uninitialised shared reads and accesses outside of
/// arrays in the kernels of a file, without a GPU
///
/// NVRTC compiles the file, and a simulator runs its machine code for sm_80, with warps, in orders
/// that the seed chooses. Kernels in CUDA get arrays of N elements, N for integers and 0.5 for
/// floats; a kernel in NVIDIA Warp's dialect gets random inputs on which it runs. A fault is
/// reported with its line and threads.
#[derive(Args)]
#[command(after_long_help = "\
EXAMPLES
  gbxcule check reduce.cu --race
  gbxcule check reduce.cu --race --count 5000 --set bins=64
  gbxcule check kernels.py --race")]
pub(crate) struct Check {
    /// The file: CUDA C++, or Python with NVIDIA Warp's kernels
    #[arg(value_name = "FILE.cu|FILE.py")]
    file: PathBuf,

    /// Look for races and the other faults
    #[arg(long, required = true)]
    race: bool,

    /// Number of elements of each array, and value of each integer, for kernels in CUDA
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(0..=1 << 20))]
    count: u32,

    /// Value of an integer, or number of elements of an array, by the parameter's name
    #[arg(long = "set", value_name = "NAME=N", value_parser = named)]
    values: Vec<(String, i64)>,

    /// Seed of inputs and orders
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

fn named(text: &str) -> Result<(String, i64), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=N")?;
    let value = value.parse().map_err(|_| format!("`{value}` is no integer"))?;
    Ok((name.into(), value))
}

impl Check {
    pub(crate) fn run(self) -> anyhow::Result<bool> {
        ensure!(self.race, "say what to look for: --race");
        let text = read_text(&self.file, MAX_TEXT_BYTES)
            .with_context(|| format!("reading {}", self.file.display()))?;
        let folder = TemporaryFolder::inside(&std::env::temp_dir())?;
        let compiler = CudaCompiler::find(folder.path())?;
        let reports = match self.file.extension().and_then(|it| it.to_str()) {
            Some("py") => races(&text, &compiler, self.seed)?,
            Some("cu" | "cuh" | "cc" | "cpp") => {
                let values: BTreeMap<String, i64> = self.values.into_iter().collect();
                let options =
                    SourceOptions { count: self.count, values, seed: self.seed, launches: 4 };
                let checked = check(&text, &compiler, &options).map_err(anyhow::Error::msg)?;
                let outcomes = checked.into_iter().map(|it| {
                    let (blocks, threads) = it.shape;
                    let place = format!("<<<{blocks}, {threads}>>>");
                    (it.kernel, it.fault.map(|fault| format!("{fault}, {place}")))
                });
                outcomes.collect()
            }
            _ => bail!("{}: a file in CUDA (.cu) or Python (.py) is checked", self.file.display()),
        };
        for (kernel, fault) in &reports {
            say!("{kernel}: {}", fault.as_deref().unwrap_or("no fault"));
        }
        Ok(reports.iter().all(|(_, fault)| fault.is_none()))
    }
}
