//! `gbxcule synth harvest`: rows from the kernels of real code.

use std::path::PathBuf;

use anyhow::bail;
use clap::Args;
use gbxcule_harvest::{
    FoundKernels, Harvested, KernelOutcome, Recordings, UNMARKED, is_licence, licence_of,
    manifest_of,
};
use gbxcule_rows::row::{GENERATOR_VERSION, Mode, Plan};
use gbxcule_rows::table::SCHEMA_VERSION;
use serde_json::json;

use super::new_dataset::NewDataset;
use super::sharding::ShardOption;
use super::{TextDevice, WorkersOption};
use crate::kernel_file::Imports;
use crate::print::say;
use crate::progress;

/// Number of kernels in a block; a process makes the rows of one block at a time.
const BLOCK_KERNELS: usize = 64;

/// Make rows of the kernels below a folder of Python files, such as NVIDIA Warp's package
///
/// Each kernel that compiles is cut out of its file with all definitions that it needs. It gets
/// inputs on which it runs and that change its results, and the checks of sampled rows. No Python
/// is executed. The card counts the kernels without a row, by reason.
#[derive(Args)]
pub(crate) struct Harvest {
    #[command(flatten)]
    texts: TextDevice,

    /// Folder of Python files
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,

    /// The licence of the files, as an SPDX expression such as `Apache-2.0`. By default the licence
    /// that the files name; the option is needed if they name several or an unknown one. Files
    /// without a licence are refused
    #[arg(long, value_name = "SPDX")]
    license: Option<String>,

    #[command(flatten)]
    imports: Imports,

    /// For kernels for which no inputs can be drawn, take inputs that programs used: `python -m
    /// gbxcule.warp --record DIR PROGRAM` runs a program and writes them
    #[arg(long, value_name = "DIR")]
    inputs: Option<PathBuf>,

    /// Take recorded inputs for every kernel that has some
    #[arg(long, requires = "inputs")]
    recorded_first: bool,

    /// Seed of the inputs
    #[arg(long, default_value_t = 0)]
    seed: u64,

    #[command(flatten)]
    workers: WorkersOption,

    #[command(flatten)]
    shard: ShardOption,

    /// Write JSON lines instead of Parquet
    #[arg(long)]
    jsonl: bool,

    /// The dataset's folder
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

impl Harvest {
    pub(crate) fn run(self) -> anyhow::Result<bool> {
        if let Some(stated) = self.license.as_deref().filter(|it| !is_licence(it)) {
            bail!("`{stated}` is not an SPDX expression such as `Apache-2.0`");
        }
        let out = NewDataset::at(&self.out, self.shard.is_shared())?;
        let license = licence_of(&self.folder, self.license.as_deref())?;
        let plan = Plan {
            seed: self.seed,
            mode: Mode::Run,
            device: self.texts.device.texts(),
            host_every: 0,
            sampled: 100,
        };
        let options = self.imports.options();
        let below = |folder| Recordings::below(folder, self.recorded_first);
        let recordings = self.inputs.as_deref().map(below).transpose()?.unwrap_or_default();
        let kernels = FoundKernels::below(&self.folder, &license, &options, recordings)?;
        let outcomes = self.outcomes(&kernels, &license, plan)?;
        let Some(outcomes) = outcomes else { return Ok(true) };
        let Harvested { rows, harvest, refused } = kernels.harvested(outcomes)?;
        say!("{} kernels in {} files: {} rows", harvest.kernels, harvest.files, rows.len());
        say!("their licence is {license}");
        if self.inputs.is_some() {
            say!("{} rows have recorded inputs", harvest.recorded);
        }
        for unread in &harvest.unread {
            say!("not read: {unread}");
        }
        say!("{} rows have a structure that an earlier one has", harvest.repeated);
        for (reason, kernels) in &harvest.refused {
            say!("{kernels:>6} kernels without a row: {reason}");
        }
        if harvest.unmarked > 0 {
            say!("{:>6} functions that may be kernels: each {UNMARKED}", harvest.unmarked);
        }
        if harvest.kernels == 0 && harvest.functions > 0 {
            bail!(
                "no kernel below {}: its files have {} functions (`@wp.func`), such as the programs of a swarm, \
                 which nobody launches; a row is made of a `@wp.kernel`",
                self.folder.display(),
                harvest.functions
            );
        }
        if rows.is_empty() {
            bail!("no kernel below {} became a row", self.folder.display());
        }
        let manifest = manifest_of(harvest, rows.len(), plan);
        let mut lines = String::new();
        for kernel in &refused {
            lines += &serde_json::to_string(kernel)?;
            lines.push('\n');
        }
        let beside = Some(("refused.jsonl", lines.as_bytes()));
        out.write(&manifest, &rows, self.jsonl, beside)?;
        Ok(true)
    }

    /// Makes rows of the kernels of this process's blocks; returns the outcomes of all kernels,
    /// unless outcomes of other processes are missing.
    fn outcomes(
        &self,
        found: &FoundKernels<'_>,
        license: &str,
        plan: Plan,
    ) -> anyhow::Result<Option<Vec<KernelOutcome>>> {
        let workers = self.workers.count();
        let kernels = found.count();
        let work = json!({
            "verb": "harvest", "plan": plan, "license": license, "kernels": kernels,
            "imports": [self.imports.path, self.imports.define, self.imports.types],
            "inputs": [json!(self.inputs), json!(self.recorded_first)],
            "version": [GENERATOR_VERSION, SCHEMA_VERSION],
        });
        let bar = progress::late_bar(kernels as u64, "kernels").with_message("harvesting");
        // A process that works alone keeps all its threads busy to the end.
        let block_kernels = if self.shard.is_shared() { BLOCK_KERNELS } else { kernels.max(1) };
        let of_block = |block: u64| {
            let start = block as usize * block_kernels;
            let range = start..(start + block_kernels).min(kernels);
            Ok(found.outcomes(range, plan, workers, &|| progress::advance(&bar, 1))?)
        };
        let blocks = kernels.div_ceil(block_kernels) as u64;
        let outcomes = self.shard.results((Some(&self.out), &work), blocks, of_block)?;
        bar.finish_and_clear();
        Ok(outcomes)
    }
}
