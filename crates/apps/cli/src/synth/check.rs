//! `gbxcule synth validate`, `mutate`, `leakage`: the verbs that read datasets.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use gbxcule_oracle::Python;
use gbxcule_rows::batch::{BLOCK_ROWS, Manifest, read, read_some};
use gbxcule_rows::folder_fault::faults;
use gbxcule_rows::leak;
use gbxcule_rows::mutate::{Mutation, Score, score};
use gbxcule_rows::row::{Row, Texts};
use gbxcule_rows::validate::{
    CheckCount, Checks, Provenance, count_verdicts, has_failed, units, validate,
};
use gbxcule_rows::verdict::{Check, CheckOutcome, NotRun, Verdict};
use gbxcule_sandbox::Protection;

use super::make::{read_rows, shard};
use super::new_dataset::NewDataset;
use super::{Dataset, LaunchDevice};
use crate::print::{self, say};
use crate::progress;

/// Number of rows in one executable of the host's compiler.
const HOST_ROWS: usize = 32;

/// Options of the checks with the host's compiler.
#[derive(Args)]
struct Host {
    /// Leave out the checks that need the host's C++ compiler
    #[arg(long)]
    no_host: bool,

    /// Parent folder of the compiler's scratch folder, which is removed at the end
    #[arg(long, value_name = "DIR", default_value = "runs/synth-host", conflicts_with = "no_host")]
    work: PathBuf,
}

impl Host {
    fn folder(&self) -> Option<PathBuf> {
        (!self.no_host).then(|| {
            if let Some(warning) = Protection::here().warning() {
                print::error(&format!("{warning}\n"));
            }
            self.work.clone()
        })
    }
}

/// Run every check on every row and print how many rows pass each
#[derive(Args)]
pub(crate) struct Validate {
    #[command(flatten)]
    dataset: Dataset,

    #[command(flatten)]
    launch: LaunchDevice,

    #[command(flatten)]
    host: Host,

    /// Compile CUDA texts to machine code with NVRTC, and stored PTX with `ptxas`
    #[arg(long)]
    nvrtc: bool,

    /// Ask NVIDIA Warp, in the Python that GBXCULE_PYTHON names (else the active one)
    #[arg(long)]
    warp: bool,

    /// Check only the rows of every N-th block of 500, from the I-th: the part of one of N
    /// processes
    #[arg(long, value_name = "I/N", value_parser = shard, allow_hyphen_values = true)]
    shard: Option<(u64, u64)>,

    /// Write the rows with these verdicts, as a dataset of its own: rows in which NVIDIA Warp's
    /// gradient is wrong are labelled, and the card counts them
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Validate {
    pub(crate) fn run(self) -> anyhow::Result<bool> {
        let gpu = self.launch.device.gpu()?;
        let out = self.out.as_deref().map(NewDataset::at).transpose()?;
        let dataset = &self.dataset.folder;
        let manifest = Manifest::read(dataset)?;
        let all = read_rows(dataset, &manifest)?;
        let faults = faults(dataset, &manifest, &all)?;
        let mut rows = match self.shard {
            None => read(dataset)?,
            Some((shard, shards)) => {
                let is_own = |id: u64| id / BLOCK_ROWS % shards == shard;
                read_some(dataset, &is_own)?.into_values().collect()
            }
        };
        rows.truncate(self.dataset.limit.map_or(usize::MAX, NonZeroUsize::get));
        let folder = self.host.folder();
        let bar = progress::bar(rows.len() as u64, "rows").with_message("checking");
        let mut verdicts = Vec::new();
        let warp = self.warp.then(Python::find);
        let (host, host_texts) = (folder, Texts::Both);
        let dataset = Some(Provenance::of(manifest.clone(), &all));
        let nvrtc = self.nvrtc;
        let wanted = Checks { dataset, host, host_texts, host_altered: false, nvrtc, warp, gpu };
        for rows in rows.chunks(HOST_ROWS) {
            verdicts.extend(validate(rows, &wanted)?);
            bar.inc(rows.len() as u64);
        }
        bar.finish_and_clear();
        if let Some(out) = out {
            rows.iter_mut().zip(&verdicts).for_each(|(row, checks)| row.record_verdicts(checks));
            out.write(&manifest, &rows, false, None)?;
        }
        print_counts(&rows, &verdicts);
        for fault in &faults {
            say!("the folder: {fault}");
        }
        Ok(faults.is_empty() && !verdicts.iter().any(|checks| has_failed(checks)))
    }
}

/// Ranges in which differences are counted together: above the first number, up to the second.
const LEVELS: [(f64, f64); 6] =
    [(-1.0, 0.0), (0.0, 1.0), (1.0, 2.0), (2.0, 4.0), (4.0, 16.0), (16.0, f64::INFINITY)];

fn print_counts(rows: &[Row], verdicts: &[Vec<CheckOutcome>]) {
    for (row, checks) in rows.iter().zip(verdicts) {
        for check in checks.iter().flatten().filter(|check| check.verdict == Verdict::Fail) {
            let (id, name) = (row.id, &check.check);
            match (check.detail.as_str(), check.number) {
                ("", None) => say!("row {id}: {name} fails"),
                ("", Some(number)) => say!("row {id}: {name} fails: {number}"),
                (detail, _) => say!("row {id}: {name} fails: {detail}"),
            }
        }
    }
    say!(
        "{:<14} {:>8} {:>8} {:>8} {:>8} {:>8}   largest number of a pass",
        "experiment",
        "pass",
        "fail",
        "not run",
        "neither",
        "pass %"
    );
    let counts = count_verdicts(verdicts);
    for CheckCount { check, pass, fail, neither, not_run, most } in &counts {
        let not_run: usize = not_run.values().sum();
        let (percent, most) = match pass + fail {
            0 => ("-".into(), "-".into()),
            run => (format!("{:.2}", 100.0 * *pass as f64 / run as f64), format!("{most:.3e}")),
        };
        say!("{check:<14} {pass:>8} {fail:>8} {not_run:>8} {neither:>8} {percent:>8}   {most}");
    }
    // A check that no option asked for needs no explanation.
    let explained = |(reason, _): &(&NotRun, &usize)| **reason != NotRun::NotAsked;
    for count in &counts {
        for (reason, rows) in count.not_run.iter().filter(explained) {
            say!("{} was not run for {rows} rows: {reason}", count.check);
        }
    }
    say!(
        "\n{:<14} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}   rows that differ by so many units in the last place",
        "experiment",
        "0",
        "1",
        "2",
        "3..4",
        "5..16",
        "more"
    );
    for (name, units) in units(verdicts).into_iter().filter(|(_, units)| !units.is_empty()) {
        let count = |(above, to): (f64, f64)| {
            let count = units.iter().filter(|&&it| above < it && it <= to).count();
            format!(" {count:>8}")
        };
        let counts: String = LEVELS.map(count).concat();
        say!("{name:<14}{counts}   at most {:.0}", units.last().copied().unwrap_or(0.0));
    }
    let is_wrong = |check: &&Check| check.verdict == Verdict::Wrong;
    let wrong = verdicts.iter().flatten().flatten().filter(is_wrong).count();
    if wrong > 0 {
        say!("NVIDIA Warp's gradient is wrong in {wrong} rows: they count as neither");
    }
}

/// Make rows wrong on purpose and print how many are caught, by kind
#[derive(Args)]
pub(crate) struct Mutate {
    #[command(flatten)]
    dataset: Dataset,

    #[command(flatten)]
    launch: LaunchDevice,

    #[command(flatten)]
    host: Host,

    /// The seed of the changes
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

impl Mutate {
    pub(crate) fn run(self) -> anyhow::Result<bool> {
        let gpu = self.launch.device.gpu()?;
        let (_, rows) = self.dataset.read()?;
        let folder = self.host.folder();
        let bar = progress::bar(rows.len() as u64, "rows").with_message("checking");
        let mut totals: Vec<Score> = Vec::new();
        let mut missed = |kind: Mutation, row: &Row, wrong: &Row| {
            bar.suspend(|| say!("row {}, {}: passes\n{}", row.id, kind.name(), wrong.source));
        };
        for rows in rows.chunks(HOST_ROWS) {
            let scores = score(rows, self.seed, folder.as_deref(), gpu, &mut missed)?;
            totals = match totals.as_slice() {
                [] => scores,
                totals => totals.iter().zip(scores).map(|(all, one)| all.and(one)).collect(),
            };
            bar.inc(rows.len() as u64);
        }
        bar.finish_and_clear();
        say!(
            "{:<20} {:>7} {:>7} {:>7} {:>7} {:>8} {:>12}",
            "made wrong",
            "rows",
            "equal",
            "caught",
            "missed",
            "caught %",
            "by running %"
        );
        for score in &totals {
            let wrong = (score.made - score.equal).max(1) as f64;
            say!(
                "{:<20} {:>7} {:>7} {:>7} {:>7} {:>8.2} {:>12.2}",
                score.kind.name(),
                score.made,
                score.equal,
                score.caught,
                score.missed(),
                100.0 * score.caught as f64 / wrong,
                100.0 * score.ran as f64 / wrong,
            );
        }
        Ok(totals.iter().all(|score| score.caught * 100 >= (score.made - score.equal) * 99))
    }
}

/// Print how near rows of the test and validation splits are to their nearest training row
#[derive(Args)]
pub(crate) struct Leakage {
    #[command(flatten)]
    dataset: Dataset,
}

impl Leakage {
    pub(crate) fn run(self) -> anyhow::Result<bool> {
        let folder = &self.dataset.folder;
        let mut rows = read_rows(folder, &Manifest::read(folder)?)?;
        rows.truncate(self.dataset.limit.map_or(usize::MAX, NonZeroUsize::get));
        let bar = progress::late_bar(rows.len() as u64, "rows").with_message("comparing");
        let found = leak::leakage(&rows, usize::MAX, &|rows| progress::advance(&bar, rows as u64));
        bar.finish_and_clear();
        say!(
            "{:<8} {:>8} {:>8} {:>10} {:>10} {:>10}",
            "split",
            "rows",
            "median",
            ">= 0.8",
            ">= 0.9",
            "1.0"
        );
        for leakage in found {
            let [most, nearly, all] =
                leak::Leakage::LEVELS.map(|least| format!("{:.2} %", leakage.share(least)));
            say!(
                "{:<8} {:>8} {:>8.2} {most:>10} {nearly:>10} {all:>10}",
                leakage.split,
                leakage.nearest.len(),
                leakage.median(),
            );
        }
        Ok(true)
    }
}
