//! `gbxcule report`.

use std::path::PathBuf;

use clap::Args;

use crate::print::say;

/// Turn a folder of bench artifacts into summary.md and scaling.png
#[derive(Args)]
#[command(after_long_help = "EXAMPLE\n  gbxcule report runs/reports/20261121T031500Z")]
pub(crate) struct Report {
    /// The folder; every *.json in it that `gbxcule bench` wrote becomes a section and a line of
    /// the plot
    folder: PathBuf,
}

impl Report {
    pub(crate) fn run(self) -> anyhow::Result<bool> {
        let report = gbxcule_lab::report::write(&self.folder)?;
        say!("{}", report.text);
        say!("summary: {}", report.summary.display());
        say!("plot:    {}", report.plot.display());
        Ok(true)
    }
}
