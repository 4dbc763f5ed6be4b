//! `gbxcule synth validate`, `mutate`, `leakage`: the verbs that read datasets.

use std::collections::BTreeMap;
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
use serde_json::json;

use super::make::read_rows;
use super::new_dataset::NewDataset;
use super::sharding::ShardOption;
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

    /// Also compile CUDA texts to machine code with NVRTC, and stored PTX with `ptxas`
    #[arg(long)]
    nvrtc: bool,

    /// Also compare with NVIDIA Warp, in the Python that `GBXCULE_PYTHON` names, by default the
    /// active one
    #[arg(long)]
    warp: bool,

    #[command(flatten)]
    shard: ShardOption,

    /// Write the rows with these verdicts as another dataset, which labels rows with a wrong
    /// gradient of NVIDIA Warp; the card counts such rows
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// A row's number, and its verdicts, each with the detail for reports.
type RowVerdicts = (u64, Vec<(CheckOutcome, String)>);

impl Validate {
    pub(crate) fn run(self) -> anyhow::Result<bool> {
        let gpu = self.launch.device.gpu()?;
        let new = |out| NewDataset::at(out, self.shard.is_shared());
        let out = self.out.as_deref().map(new).transpose()?;
        let folder = &self.dataset.folder;
        let manifest = Manifest::read(folder)?;
        let all = read_rows(folder, &manifest)?;
        let faults = faults(folder, &manifest, &all)?;
        let limit = self.dataset.limit.map_or(all.len(), NonZeroUsize::get).min(all.len());
        let work = json!({
            "verb": "validate", "dataset": manifest, "rows": limit, "host": !self.host.no_host,
            "nvrtc": self.nvrtc, "warp": self.warp, "gpu": gpu.is_some(),
        });
        let mut blocks = self.blocks(&all[..limit])?;
        let checks = Checks {
            dataset: Some(Provenance::of(manifest.clone(), &all)),
            host: self.host.folder(),
            host_texts: Texts::Both,
            host_altered: false,
            nvrtc: self.nvrtc,
            warp: self.warp.then(Python::find),
            gpu,
        };
        let count = blocks.values().map(|rows| rows.len() as u64).sum();
        let bar = progress::bar(count, "rows").with_message("checking");
        let of_block = |block: u64| {
            let mut results: Vec<RowVerdicts> = Vec::new();
            for rows in blocks.remove(&block).unwrap_or_default().chunks(HOST_ROWS) {
                for (row, verdicts) in rows.iter().zip(validate(rows, &checks)?) {
                    let detail = |it: &CheckOutcome| {
                        it.as_ref().map_or(String::new(), |it| it.detail.clone())
                    };
                    let detailed = verdicts.into_iter().map(|it| (it.clone(), detail(&it)));
                    results.push((row.id, detailed.collect()));
                }
                bar.inc(rows.len() as u64);
            }
            Ok(results)
        };
        let shared = (self.out.as_deref(), &work);
        let results = self.shard.results(shared, (limit as u64).div_ceil(BLOCK_ROWS), of_block)?;
        bar.finish_and_clear();
        for fault in &faults {
            say!("the folder: {fault}");
        }
        let Some(results) = results else { return Ok(faults.is_empty()) };
        let (ids, verdicts): (Vec<u64>, Vec<Vec<CheckOutcome>>) =
            results.into_iter().map(with_details).unzip();
        if let Some(out) = out {
            let mut rows = read(folder)?;
            rows.truncate(limit);
            rows.iter_mut().zip(&verdicts).for_each(|(row, checks)| row.record_verdicts(checks));
            out.write(&manifest, &rows, false, None)?;
        }
        print_counts(&ids, &verdicts);
        Ok(faults.is_empty() && !verdicts.iter().any(|checks| has_failed(checks)))
    }

    /// Returns this process's rows of the dataset, by their blocks.
    fn blocks(&self, all: &[Row]) -> anyhow::Result<BTreeMap<u64, Vec<Row>>> {
        let folder = &self.dataset.folder;
        let block_of = |position: usize| position as u64 / BLOCK_ROWS;
        let mut blocks: BTreeMap<u64, Vec<Row>> = BTreeMap::new();
        if !self.shard.is_shared() {
            let rows = read(folder)?.into_iter().take(all.len()).enumerate();
            rows.for_each(|(at, row)| blocks.entry(block_of(at)).or_default().push(row));
            return Ok(blocks);
        }
        let numbered = all.iter().enumerate().map(|(at, row)| (row.id, block_of(at)));
        let block_of_row: BTreeMap<u64, u64> =
            numbered.filter(|(_, block)| self.shard.blocks().owns(*block)).collect();
        for (id, row) in read_some(folder, &|id| block_of_row.contains_key(&id))? {
            blocks.entry(block_of_row[&id]).or_default().push(row);
        }
        Ok(blocks)
    }
}

/// Adds the details for reports to verdicts, whose JSON lacks them.
fn with_details((id, verdicts): RowVerdicts) -> (u64, Vec<CheckOutcome>) {
    let with = |(outcome, detail): (CheckOutcome, String)| outcome.map(|it| Check { detail, ..it });
    (id, verdicts.into_iter().map(with).collect())
}

/// Ranges of differences for counting: above the first number, up to the second.
const LEVELS: [(f64, f64); 6] =
    [(-1.0, 0.0), (0.0, 1.0), (1.0, 2.0), (2.0, 4.0), (4.0, 16.0), (16.0, f64::INFINITY)];

fn print_counts(rows: &[u64], verdicts: &[Vec<CheckOutcome>]) {
    for (id, checks) in rows.iter().zip(verdicts) {
        for check in checks.iter().flatten().filter(|check| check.verdict == Verdict::Fail) {
            let name = &check.check;
            match (check.detail.as_str(), check.number) {
                ("", None) => say!("row {id}: {name} fails"),
                ("", Some(number)) => say!("row {id}: {name} fails: {number}"),
                (detail, _) => say!("row {id}: {name} fails: {detail}"),
            }
        }
    }
    say!("experiment         pass     fail  not run  neither   pass %   largest number of a pass");
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
    say!();
    say!(
        "experiment            0        1        2     3..4    5..16     more   rows that differ by so many units in the last place"
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

/// Change rows so that they are wrong, and print how many of each kind the checks catch
#[derive(Args)]
pub(crate) struct Mutate {
    #[command(flatten)]
    dataset: Dataset,

    #[command(flatten)]
    launch: LaunchDevice,

    #[command(flatten)]
    host: Host,

    /// Seed of the changes
    #[arg(long, default_value_t = 0)]
    seed: u64,

    #[command(flatten)]
    shard: ShardOption,

    /// Folder into which several processes write their counts
    #[arg(long, value_name = "DIR", requires = "shard")]
    out: Option<PathBuf>,
}

impl Mutate {
    pub(crate) fn run(self) -> anyhow::Result<bool> {
        let gpu = self.launch.device.gpu()?;
        let (manifest, rows) = self.dataset.read()?;
        let folder = self.host.folder();
        let bar = progress::bar(rows.len() as u64, "rows").with_message("checking");
        let mut missed = |kind: Mutation, row: &Row, wrong: &Row| {
            bar.suspend(|| say!("row {}, {}: passes\n{}", row.id, kind.name(), wrong.source));
        };
        let work = json!({
            "verb": "mutate", "dataset": manifest, "rows": rows.len(), "seed": self.seed,
            "host": !self.host.no_host, "gpu": gpu.is_some(),
        });
        let blocks: Vec<&[Row]> = rows.chunks(HOST_ROWS).collect();
        let of_block = |block: u64| {
            let rows = blocks[block as usize];
            let scores = score(rows, self.seed, folder.as_deref(), gpu, &mut missed)?;
            bar.inc(rows.len() as u64);
            Ok(scores)
        };
        let shared = (self.out.as_deref(), &work);
        let results = self.shard.results(shared, blocks.len() as u64, of_block)?;
        bar.finish_and_clear();
        let Some(scores) = results else { return Ok(true) };
        let total = |kind| {
            let of_kind = scores.iter().filter(|it: &&Score| it.kind == kind).copied();
            of_kind.reduce(Score::and)
        };
        let totals: Vec<Score> = Mutation::ALL.into_iter().filter_map(total).collect();
        say!("made wrong              rows   equal  caught  missed caught % by running %");
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

/// Print how similar the rows of the test and validation splits are to their nearest training rows
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
        let leakage =
            leak::leakage(&rows, usize::MAX, &|rows| progress::advance(&bar, rows as u64));
        bar.finish_and_clear();
        say!("split        rows   median     >= 0.8     >= 0.9        1.0");
        for leakage in leakage {
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
