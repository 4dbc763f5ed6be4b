//! `gbxcule synth`: datasets of kernels, one file for each group of verbs.

mod check;
mod constructs;
mod grade;
mod harvest;
mod make;
mod new_dataset;
mod sharding;
mod skeletons;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use gbxcule_rows::batch::{self, Manifest};
use gbxcule_rows::launched;
use gbxcule_rows::row::{Row, Texts};

use crate::run_options::workers;

/// Make and check datasets of kernels, whose rows are compiled and run
///
/// A dataset is a folder: `dataset.json` describes it, `data/` holds blocks of rows. Row i depends
/// only on the options, the seed and i, not on workers, shards and interruptions. No GPU is needed.
#[derive(Args)]
#[command(after_long_help = "\
EXAMPLES
  gbxcule synth generate --count 1000 --seed 7 --out runs/kernels      make rows, then the dataset card
  gbxcule synth batch --count 100000 --shard 3/16 --resume --out DIR   run one of 16 processes, or continue it
  gbxcule synth generate --count 1000 --device both --ptx --out DIR    make rows with NVRTC's PTX of each text
  gbxcule synth validate runs/kernels                                  make every check on every row
  gbxcule synth validate runs/kernels --shard 3/16 --out DIR           run one of 16 processes; the last merges the results
  gbxcule synth mutate runs/kernels --limit 100                        count the wrong rows that the checks catch
  gbxcule synth leakage runs/kernels                                   measure how near test rows are to training rows
  gbxcule synth constructs runs/kernels warp/examples                  count constructs in rows and in real code
  gbxcule synth harvest FOLDER --device both --out DIR                 make rows from real code
  gbxcule synth tasks runs/kernels --split test --out tasks.jsonl      write questions about each row to a language model
  gbxcule synth grade answers.jsonl --dataset runs/kernels --out DIR   compile, run and count the model's answers")]
pub(crate) struct Synth {
    #[command(subcommand)]
    verb: Verb,
}

/// Option about the devices for which rows have texts.
#[derive(Args)]
struct TextDevice {
    /// Device for which rows hold C++ or CUDA text
    #[arg(long, value_enum, default_value = "cpu")]
    device: RowDevice,
}

/// Option about the devices on which rows are launched.
#[derive(Args)]
struct LaunchDevice {
    /// Device on which rows are launched: `cuda` and `both` also launch them on a GPU
    #[arg(long, value_enum, default_value = "cpu")]
    device: RowDevice,
}

/// Option about the threads of this process.
#[derive(Args)]
struct WorkersOption {
    /// Threads; by default one for each core
    #[arg(long, value_name = "W", value_parser = workers)]
    workers: Option<NonZeroUsize>,
}

impl WorkersOption {
    /// Returns the number of threads.
    fn count(&self) -> usize {
        gbxcule_runtime::worker_count(self.workers)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RowDevice {
    /// C++ text; the cores of this computer
    Cpu,
    /// CUDA C++ text; an NVIDIA GPU
    Cuda,
    /// Both
    Both,
}

impl RowDevice {
    /// Returns the texts that rows have.
    fn texts(self) -> Texts {
        match self {
            Self::Cpu => Texts::Cpu,
            Self::Cuda => Texts::Cuda,
            Self::Both => Texts::Both,
        }
    }

    /// Returns the GPU on which rows are launched, if the option names one; a missing one is an
    /// error.
    fn gpu(self) -> anyhow::Result<Option<gbxcule_runtime::Device>> {
        if self == Self::Cpu {
            return Ok(None);
        }
        let gpu = gbxcule_runtime::Device::Cuda(0);
        launched::check_gpu(gpu)?;
        Ok(Some(gpu))
    }
}

#[derive(Subcommand)]
enum Verb {
    Generate(make::Generate),
    Batch(make::Batch),
    Card(make::Card),
    Dedupe(make::Dedupe),
    Validate(check::Validate),
    Mutate(check::Mutate),
    Leakage(check::Leakage),
    Constructs(constructs::Constructs),
    Harvest(harvest::Harvest),
    Tasks(grade::Tasks),
    Grade(grade::Grade),
    Skeletons(skeletons::Skeletons),
}

impl Synth {
    pub(crate) fn run(self) -> anyhow::Result<bool> {
        match self.verb {
            Verb::Generate(verb) => verb.run(),
            Verb::Batch(verb) => verb.run(),
            Verb::Card(verb) => verb.run(),
            Verb::Dedupe(verb) => verb.run(),
            Verb::Validate(verb) => verb.run(),
            Verb::Mutate(verb) => verb.run(),
            Verb::Leakage(verb) => verb.run(),
            Verb::Constructs(verb) => verb.run(),
            Verb::Harvest(verb) => verb.run(),
            Verb::Tasks(verb) => verb.run(),
            Verb::Grade(verb) => verb.run(),
            Verb::Skeletons(verb) => verb.run(),
        }
    }
}

/// Arguments that name a dataset on disk.
#[derive(Args)]
struct Dataset {
    /// The dataset's folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// Use only the first N rows; by default all
    #[arg(long, value_name = "N")]
    limit: Option<NonZeroUsize>,
}

impl Dataset {
    fn read(&self) -> anyhow::Result<(Manifest, Vec<Row>)> {
        let manifest = Manifest::read(&self.folder)?;
        let mut rows = batch::read(&self.folder)?;
        check_has_rows(&self.folder, &rows)?;
        rows.truncate(self.limit.map_or(usize::MAX, NonZeroUsize::get));
        Ok((manifest, rows))
    }
}

/// Refuses a dataset whose rows are not made yet.
fn check_has_rows(folder: &Path, rows: &[Row]) -> anyhow::Result<()> {
    anyhow::ensure!(
        !rows.is_empty(),
        "{} holds no rows: make them by `gbxcule synth batch --resume`",
        folder.display()
    );
    Ok(())
}
