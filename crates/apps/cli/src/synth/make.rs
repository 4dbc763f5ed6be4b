//! `gbxcule synth generate`, `batch`, `card`, `dedupe`: the verbs that write datasets.

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::{Args, ValueEnum};
use gbxcule_oracle::Python;
use gbxcule_rows::batch::{MAX_ROWS, Manifest, Work, begin, finish, is_whole, read_brief};
use gbxcule_rows::card;
use gbxcule_rows::external_column::Tools;
use gbxcule_rows::feature_count::Usage;
use gbxcule_rows::leak::unique;
use gbxcule_rows::row::{Mode, Plan, Row};
use gbxcule_rows::shard::Shard;
use gbxcule_rows::skeleton::{KnownSkeletons, is_known};
use gbxcule_rows::table::write_whole;
use gbxcule_runtime::nvrtc::Arch;

use super::new_dataset::NewDataset;
use super::{Dataset, RowDevice, TextDevice, WorkersOption, check_has_rows};
use crate::print::{self, say};
use crate::progress;

/// Options of a new dataset.
#[derive(Args)]
struct DatasetOptions {
    #[command(flatten)]
    texts: TextDevice,

    /// Number of rows of the whole dataset
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MAX_ROWS))]
    count: u64,

    /// Seed of the dataset
    #[arg(long, default_value_t = 0)]
    seed: u64,

    /// Work for each row: compile the kernel (text), also run it for checks of its meaning
    /// (meaning), or make all checks, results and gradients (run)
    #[arg(long, value_enum, default_value = "run")]
    mode: Depth,

    /// Percentage of the rows that a grammar samples; the others are algorithms of the library
    #[arg(long, value_name = "PERCENT", default_value_t = 30, value_parser = clap::value_parser!(u32).range(0..=100))]
    sampled: u32,

    /// Also compile the C++ text of one in N rows by the host's compiler and run it; 0 does so for
    /// no row
    #[arg(long, value_name = "N", default_value_t = 0)]
    host_every: u64,

    /// Add the PTX of the CUDA texts, forward and backward, which NVRTC makes without a GPU
    #[arg(long)]
    ptx: bool,

    /// GPU architecture of the PTX
    #[arg(long, value_name = "ARCH", default_value = "sm_90", requires = "ptx")]
    arch: Arch,

    /// Add the C++ and CUDA text that NVIDIA Warp writes for the same source, without a GPU; the
    /// Python that `GBXCULE_PYTHON` names must have `warp-lang`
    #[arg(long)]
    warp_text: bool,

    /// The folder to write
    #[arg(long, value_name = "DIR")]
    out: PathBuf,

    #[command(flatten)]
    workers: WorkersOption,

    /// Also write each block of rows as JSON lines into the folder `jsonl`
    #[arg(long)]
    jsonl: bool,

    /// Keep existing blocks of rows and make the missing blocks
    #[arg(long)]
    resume: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Depth {
    /// Compiles, differentiates and prints the kernel, but does not run it
    Text,
    /// Also runs the kernel, to check that results are finite and differ, and that each input and
    /// each statement changes a result
    Meaning,
    /// Also computes expected results and gradients, and compares gradients with finite differences
    Run,
}

impl DatasetOptions {
    fn tools(&self) -> anyhow::Result<Tools> {
        let device = self.texts.device;
        if self.ptx && device == RowDevice::Cpu {
            bail!("PTX is made of CUDA text: add --device cuda or --device both");
        }
        if self.host_every > 0 && device == RowDevice::Cuda {
            bail!("--host-every compiles C++ text: add --device cpu or --device both");
        }
        let python = self.warp_text.then(Python::find);
        Ok(Tools::find(self.ptx.then_some(self.arch), python.as_ref())?)
    }

    fn manifest(&self, tools: &Tools) -> Manifest {
        let device = self.texts.device.texts();
        let mode = match self.mode {
            Depth::Text => Mode::Text,
            Depth::Meaning => Mode::Meaning,
            Depth::Run => Mode::Run,
        };
        let plan = Plan {
            seed: self.seed,
            mode,
            device,
            host_every: self.host_every,
            sampled: self.sampled,
        };
        Manifest::new(self.count, plan, tools)
    }

    fn make(&self, shard: Shard) -> anyhow::Result<Manifest> {
        let workers = self.workers.count();
        let work = Work { shard, workers, resume: self.resume, jsonl: self.jsonl };
        let tools = self.tools()?;
        let manifest = self.manifest(&tools);
        let extent = begin(&self.out, &manifest, &work)?;
        let (all, there) = (extent.rows, extent.there);
        for path in &extent.damaged {
            print::error(&format!("{}: not a whole block: made again\n", path.display()));
        }
        let bar = progress::bar(all, "rows").with_message(format!("shard {shard}"));
        bar.set_position(if self.resume { there } else { 0 });
        let start = std::time::Instant::now();
        finish(&self.out, &manifest, (&work, &extent), &tools, &|| bar.inc(1))?;
        bar.finish_and_clear();
        let (made, seconds) = (all - there, start.elapsed().as_secs_f64());
        say!(
            "{made} rows in {seconds:.1} s: {:.0} rows/s with {workers} workers",
            made as f64 / seconds.max(1e-9)
        );
        Ok(manifest)
    }
}

/// Make a dataset and its card
#[derive(Args)]
pub(crate) struct Generate {
    #[command(flatten)]
    what: DatasetOptions,
}

impl Generate {
    pub(crate) fn run(self) -> anyhow::Result<bool> {
        self.what.make(Shard::WHOLE)?;
        write_card(&self.what.out, &Usage::of_warp())?;
        Ok(true)
    }
}

/// Make one shard of a dataset; the process that makes the last missing block also writes the card
#[derive(Args)]
pub(crate) struct Batch {
    #[command(flatten)]
    what: DatasetOptions,

    /// Number of this process, from 0, and number of processes
    #[arg(long, value_name = "I/N", default_value = "0/1", allow_hyphen_values = true)]
    shard: Shard,
}

impl Batch {
    pub(crate) fn run(self) -> anyhow::Result<bool> {
        let manifest = self.what.make(self.shard)?;
        if is_whole(&self.what.out, &manifest) {
            write_card(&self.what.out, &Usage::of_warp())?;
        }
        Ok(true)
    }
}

/// Write the dataset card, with its pictures, for the existing rows
#[derive(Args)]
pub(crate) struct Card {
    /// The dataset's folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// Compare rows with these Python files, such as `warp/tests` of a wheel, and write the files'
    /// counts of features to statistics/usage.csv; by default the counts are of Warp 1.19's tests
    #[arg(long, value_name = "FOLDER")]
    warp_tests: Option<PathBuf>,
}

impl Card {
    pub(crate) fn run(self) -> anyhow::Result<bool> {
        let Some(tests) = &self.warp_tests else {
            write_card(&self.folder, &Usage::of_warp())?;
            return Ok(true);
        };
        // A folder that is not a dataset gets no file.
        Manifest::read(&self.folder)?;
        let warp = Usage::of_folder(tests)?;
        if warp.kernels == 0 {
            bail!("no kernel below {}: --warp-tests takes Python files", tests.display());
        }
        write_whole(&self.folder, "statistics/usage.csv", warp.to_csv().as_bytes())?;
        write_card(&self.folder, &warp)?;
        Ok(true)
    }
}

fn write_card(folder: &Path, warp: &Usage) -> anyhow::Result<()> {
    let manifest = Manifest::read(folder)?;
    let rows = read_rows(folder, &manifest)?;
    describe(folder, &manifest, &rows, warp)
}

/// Reads the rows of a folder for statistics.
pub(super) fn read_rows(folder: &Path, manifest: &Manifest) -> anyhow::Result<Vec<Row>> {
    let bar = progress::late_bar(manifest.count, "rows").with_message("reading");
    let rows = read_brief(folder, &|rows| progress::advance(&bar, rows as u64 - bar.position()))?;
    bar.finish_and_clear();
    check_has_rows(folder, &rows)?;
    Ok(rows)
}

pub(super) fn describe(
    out: &Path,
    manifest: &Manifest,
    rows: &[Row],
    warp: &Usage,
) -> anyhow::Result<()> {
    let bar = progress::late_bar(rows.len() as u64, "rows").with_message("comparing for the card");
    card::write(out, manifest, rows, warp, &|rows| progress::advance(&bar, rows as u64))?;
    bar.finish_and_clear();
    Ok(())
}

/// Copy a dataset with one row for each structure: the row with the lowest number
#[derive(Args)]
pub(crate) struct Dedupe {
    #[command(flatten)]
    from: Dataset,

    /// Also drop rows that equal a kernel of these Python files up to names and literals; may be
    /// given several times
    #[arg(long, value_name = "FOLDER")]
    against: Vec<PathBuf>,

    /// The folder to write
    #[arg(long, value_name = "DIR")]
    out: PathBuf,

    /// Write the rows as JSON lines instead of Parquet
    #[arg(long)]
    jsonl: bool,
}

impl Dedupe {
    pub(crate) fn run(self) -> anyhow::Result<bool> {
        let out = NewDataset::at(&self.out, false)?;
        let (manifest, rows) = self.from.read()?;
        let all = rows.len();
        let mut rows = unique(rows);
        let first = rows.len();
        let mut dropped = Vec::new();
        for folder in &self.against {
            let skeletons = KnownSkeletons::of_folder(folder)?;
            let before = rows.len();
            rows.retain(|row| !is_known(&row.source, &skeletons));
            dropped.push((before - rows.len(), folder.display()));
        }
        out.write(&manifest, &rows, self.jsonl, None)?;
        say!("{first} of {all} rows have a structure that none before them has");
        for (rows, folder) in dropped {
            say!("{rows} rows are kernels of {folder}, names and literals aside: dropped");
        }
        Ok(true)
    }
}
