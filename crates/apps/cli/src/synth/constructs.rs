//! `gbxcule synth constructs`: constructs of rows beside those of real code.

use std::path::PathBuf;

use clap::Args;
use gbxcule_rows::construct_table::{ConstructCounts, table};

use crate::print;

/// Print how many kernels have comments, guards, tiles, branches or loops
///
/// A kernel's text begins at `@wp.kernel` and ends with its body, both in rows and in files.
#[derive(Args)]
pub(crate) struct Constructs {
    /// Datasets, and folders of Python files such as `warp/examples` of a wheel; each makes a
    /// column
    #[arg(value_name = "DIR", required = true)]
    folders: Vec<PathBuf>,
}

impl Constructs {
    pub(crate) fn run(self) -> anyhow::Result<bool> {
        let column = |folder: PathBuf| {
            let counts = ConstructCounts::of_folder(&folder)?;
            anyhow::ensure!(counts.kernels() > 0, "{} has no kernel", folder.display());
            Ok((folder.display().to_string(), counts))
        };
        let columns = self.folders.into_iter().map(column).collect::<anyhow::Result<Vec<_>>>()?;
        print::bytes(table(&columns).as_bytes());
        Ok(true)
    }
}
