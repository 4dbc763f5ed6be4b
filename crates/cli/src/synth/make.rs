//! `gbxcule synth generate`, `batch`, `card`, `dedupe`: the verbs that write datasets.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use gbxcule_lab::artifact::write_whole;
use gbxcule_oracle::Python;
use gbxcule_runtime::nvrtc::Arch;
use gbxcule_synth::batch::{MAX_ROWS, Manifest, Work, extent, finish, is_whole, read_brief};
use gbxcule_synth::card;
use gbxcule_synth::external_column::Tools;
use gbxcule_synth::feature_count::Usage;
use gbxcule_synth::jsonl::to_jsonl;
use gbxcule_synth::leak::unique;
use gbxcule_synth::row::{Mode, Plan, Row, Texts};
use gbxcule_synth::skeleton::{KnownSkeletons, is_known};
use gbxcule_synth::table::to_parquet;

use super::{Dataset, RowDevice};
use crate::print::{self, say};
use crate::progress;
use crate::run_options::workers;

/// Options of a dataset that is made.
#[derive(Args)]
struct DatasetOptions {
    /// Rows of the whole dataset
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MAX_ROWS))]
    count: u64,

    /// The dataset's seed
    #[arg(long, default_value_t = 0)]
    seed: u64,

    /// `text` runs no kernel; `meaning` runs it only to see that it means something; `run` makes
    /// all checks
    #[arg(long, value_enum, default_value = "run")]
    mode: Depth,

    /// Have the C++ text of one in N rows compiled by the host's compiler and run, too
    #[arg(long, value_name = "N", default_value_t = 0)]
    host_every: u64,

    /// Add the PTX that NVRTC makes of the CUDA texts, forward and backward; no GPU is needed
    #[arg(long)]
    ptx: bool,

    /// GPU architecture of the PTX
    #[arg(long, value_name = "ARCH", default_value = "sm_90")]
    arch: Arch,

    /// Add the C++ and CUDA text that NVIDIA Warp writes for the same source, by the `warp-lang` of
    /// the Python that `GBXCULE_PYTHON` names; no GPU is needed
    #[arg(long)]
    warp_text: bool,

    /// The folder to write
    #[arg(long, value_name = "DIR")]
    out: PathBuf,

    /// Threads; without it, one for each core
    #[arg(long, value_name = "W", value_parser = workers)]
    workers: Option<NonZeroUsize>,

    /// Write each block as JSON lines, too
    #[arg(long)]
    jsonl: bool,

    /// Keep the blocks that are there
    #[arg(long)]
    resume: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Depth {
    /// Read, lowered, differentiated and printed, not run
    Text,
    /// Run to know that results are finite and differ, inputs matter, and no statement can be left
    /// out
    Meaning,
    /// Run, too: meaning, expected results, gradients against finite differences
    Run,
}

impl DatasetOptions {
    fn tools(&self, device: RowDevice) -> anyhow::Result<Tools> {
        if self.ptx && device == RowDevice::Cpu {
            bail!("PTX is made of CUDA text: add --device cuda or --device both");
        }
        let python = self.warp_text.then(Python::find);
        Ok(Tools::find(self.ptx.then_some(self.arch), python.as_ref())?)
    }

    fn manifest(&self, device: Texts, tools: &Tools) -> Manifest {
        let mode = match self.mode {
            Depth::Text => Mode::Text,
            Depth::Meaning => Mode::Meaning,
            Depth::Run => Mode::Run,
        };
        let plan = Plan { seed: self.seed, mode, device, host_every: self.host_every };
        Manifest::new(self.count, plan, tools)
    }

    fn make(&self, device: RowDevice, shard: u64, shards: u64) -> anyhow::Result<()> {
        let cores = std::thread::available_parallelism().ok();
        let workers = self.workers.or(cores).map_or(1, NonZeroUsize::get);
        let work = Work { shard, shards, workers, resume: self.resume, jsonl: self.jsonl };
        let tools = self.tools(device)?;
        let manifest = self.manifest(device.texts(), &tools);
        let extent = extent(&self.out, &manifest, &work);
        let (all, there) = (extent.rows, extent.there);
        for path in &extent.damaged {
            print::error(&format!("{}: not a whole block: made again\n", path.display()));
        }
        let bar = progress::bar(all, "rows").with_message(format!("shard {shard}/{shards}"));
        bar.set_position(if self.resume { there } else { 0 });
        let start = std::time::Instant::now();
        finish(&self.out, &manifest, (&work, &extent), &tools, &|| bar.inc(1))?;
        bar.finish_and_clear();
        let (made, seconds) = (all - there, start.elapsed().as_secs_f64());
        say!(
            "{made} rows in {seconds:.1} s: {:.0} rows/s with {workers} workers",
            made as f64 / seconds.max(1e-9)
        );
        Ok(())
    }
}

/// Make a dataset and its card
#[derive(Args)]
pub(crate) struct Generate {
    #[command(flatten)]
    what: DatasetOptions,
}

impl Generate {
    pub(crate) fn run(self, device: RowDevice) -> anyhow::Result<bool> {
        self.what.make(device, 0, 1)?;
        write_card(&self.what.out, &Usage::of_warp())?;
        Ok(true)
    }
}

/// Make one shard of a dataset; the process that makes the last missing block also writes the card
#[derive(Args)]
pub(crate) struct Batch {
    #[command(flatten)]
    what: DatasetOptions,

    /// This process's number and the number of processes, from 0
    #[arg(long, value_name = "I/N", default_value = "0/1", value_parser = shard)]
    shard: (u64, u64),
}

fn shard(text: &str) -> Result<(u64, u64), String> {
    let parts = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
    parts.filter(|(i, n)| i < n).ok_or_else(|| "a shard is I/N with I below N, such as 0/8".into())
}

impl Batch {
    pub(crate) fn run(self, device: RowDevice) -> anyhow::Result<bool> {
        self.what.make(device, self.shard.0, self.shard.1)?;
        let tools = self.what.tools(device)?;
        let manifest = self.what.manifest(device.texts(), &tools);
        if is_whole(&self.what.out, &manifest) {
            write_card(&self.what.out, &Usage::of_warp())?;
        }
        Ok(true)
    }
}

/// Write the dataset card of what is there, with its pictures
#[derive(Args)]
pub(crate) struct Card {
    /// The dataset's folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// Count features in these Python files, such as `warp/tests` of a wheel, instead of taking the
    /// counts of Warp 1.19's tests, and write the counts to statistics/usage.csv
    #[arg(long, value_name = "FOLDER")]
    warp_tests: Option<PathBuf>,
}

impl Card {
    pub(crate) fn run(self) -> anyhow::Result<bool> {
        let Some(tests) = &self.warp_tests else {
            write_card(&self.folder, &Usage::of_warp())?;
            return Ok(true);
        };
        let warp = Usage::of_folder(tests)?;
        write(&self.folder.join("statistics/usage.csv"), warp.to_csv().as_bytes())?;
        write_card(&self.folder, &warp)?;
        Ok(true)
    }
}

/// A dataset of rows that are there already, with a file beside them if there is one. It is made in
/// a folder of its own, so that a full disk leaves no data without a card.
pub(super) fn write_rows(
    out: &Path,
    manifest: &Manifest,
    rows: &[Row],
    jsonl: bool,
    beside: Option<(&str, &[u8])>,
) -> anyhow::Result<()> {
    if out.join("data").exists() {
        bail!("{} holds data already: choose another folder", out.display());
    }
    // A link is followed: its folder is on the disk that takes the rows.
    let out = &out.canonicalize().unwrap_or_else(|_| out.to_owned());
    let parent = out.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let within = |folder: &Path| format!("writing a dataset in {}", folder.display());
    std::fs::create_dir_all(parent).with_context(|| within(parent))?;
    let made = tempfile::Builder::new().prefix(".gbxcule-").tempdir_in(parent);
    let made = made.with_context(|| within(parent))?;
    fill(made.path(), manifest, rows, jsonl)?;
    if let Some((name, bytes)) = beside {
        write(&made.path().join(name), bytes)?;
    }
    move_into(made.path(), out).with_context(|| within(out))
}

/// Moves all that a folder holds into another one, `data` last: where there is data, there is all
/// that describes it.
fn move_into(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    let mut entries = std::fs::read_dir(from)?.collect::<std::io::Result<Vec<_>>>()?;
    entries.sort_by_key(|entry| (entry.file_name() == "data", entry.file_name()));
    for entry in entries {
        let (here, there) = (entry.path(), to.join(entry.file_name()));
        if there.is_dir() {
            move_into(&here, &there)?;
        } else {
            std::fs::rename(here, there)?;
        }
    }
    Ok(())
}

fn fill(out: &Path, manifest: &Manifest, rows: &[Row], jsonl: bool) -> anyhow::Result<()> {
    for (at, rows) in rows.chunks(5000).enumerate() {
        let path = out.join("data").join(format!("part-{at:06}"));
        if jsonl {
            write(&path.with_extension("jsonl"), to_jsonl(rows)?.as_bytes())?;
        } else {
            write(&path.with_extension("parquet"), &to_parquet(rows)?)?;
        }
    }
    let text = serde_json::to_string_pretty(manifest)?;
    write(&out.join("dataset.json"), format!("{text}\n").as_bytes())?;
    describe(out, manifest, rows, &Usage::of_warp())
}

fn write_card(folder: &Path, warp: &Usage) -> anyhow::Result<()> {
    let manifest = Manifest::read(folder)?;
    let rows = read_rows(folder, &manifest)?;
    describe(folder, &manifest, &rows, warp)
}

/// The rows of a folder for statistics.
pub(super) fn read_rows(folder: &Path, manifest: &Manifest) -> anyhow::Result<Vec<Row>> {
    let bar = progress::late_bar(manifest.count, "rows").with_message("reading");
    let rows = read_brief(folder, &|rows| progress::advance(&bar, rows as u64 - bar.position()))?;
    bar.finish_and_clear();
    Ok(rows)
}

fn describe(out: &Path, manifest: &Manifest, rows: &[Row], warp: &Usage) -> anyhow::Result<()> {
    let bar = progress::late_bar(rows.len() as u64, "rows").with_message("comparing for the card");
    card::write(out, manifest, rows, warp, &|rows| progress::advance(&bar, rows as u64))?;
    bar.finish_and_clear();
    Ok(())
}

fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    write_whole(path, bytes).with_context(|| format!("writing {}", path.display()))
}

/// Copy a dataset with one row for each structure, the one with the lowest number
#[derive(Args)]
pub(crate) struct Dedupe {
    #[command(flatten)]
    from: Dataset,

    /// Drop rows that are kernels of these Python files, too, but for names and literals; may be
    /// repeated
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
        let (manifest, rows) = self.from.read()?;
        let all = rows.len();
        let mut rows = unique(rows);
        let first = rows.len();
        let mut dropped = Vec::new();
        for folder in &self.against {
            let known = KnownSkeletons::of_folder(folder)?;
            let before = rows.len();
            rows.retain(|row| !is_known(&row.source, &known));
            dropped.push((before - rows.len(), folder.display()));
        }
        write_rows(&self.out, &manifest, &rows, self.jsonl, None)?;
        say!("{first} of {all} rows have a structure that none before them has");
        for (rows, folder) in dropped {
            say!("{rows} rows are kernels of {folder}, names and literals aside: dropped");
        }
        Ok(true)
    }
}
