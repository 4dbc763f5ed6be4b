//! `gbxcule report`.

use std::path::PathBuf;

use anyhow::ensure;
use clap::Args;
use gbxcule_lab::{gpu_report, report};

use crate::print::say;

/// Turn a folder of bench artifacts into summary.md and scaling.png, or the results of run.py on a
/// GPU computer into gpu.md and gpu.png
#[derive(Args)]
#[command(
    after_long_help = "EXAMPLES\n  gbxcule report runs/reports/20261121T031500Z\n  What run.py of the GPU folder wrote, \
                       beside the issues that `make gpu-counts` counts:\n    gbxcule report out --counts \
                       docs/gpu-results.md"
)]
pub(crate) struct Report {
    /// The folder; every *.json in it that `gbxcule bench` wrote becomes a section and a line of
    /// the plot. A folder with bench.jsonl has the results of a GPU computer
    folder: PathBuf,

    /// A page with the table that `make gpu-counts` prints, for the results of a GPU computer
    #[arg(long, value_name = "FILE")]
    counts: Option<PathBuf>,
}

impl Report {
    pub(crate) fn run(self) -> anyhow::Result<bool> {
        let report = if self.folder.join(gpu_report::ROWS).exists() {
            gpu_report::write(&self.folder, self.counts.as_deref())?
        } else {
            ensure!(self.counts.is_none(), "--counts is for a folder with {}", gpu_report::ROWS);
            report::write(&self.folder)?
        };
        say!("{}", report.text);
        say!("summary: {}", report.summary.display());
        say!("plot:    {}", report.plot.display());
        Ok(true)
    }
}
