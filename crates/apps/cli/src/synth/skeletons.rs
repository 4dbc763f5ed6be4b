//! `gbxcule synth skeletons`: the kernels of a folder of Python files with names and literals
//! erased, as hashes.

use std::path::PathBuf;

use clap::Args;
use gbxcule_rows::skeleton::KnownSkeletons;

use crate::print;

/// Print hashes of all kernels below a folder of Python files, without their names and literals
///
/// A kernel has a hash of its text and, if it compiles, a hash of its IR. The output for NVIDIA
/// Warp's package is `crates/foundry/rows/src/warp_skeletons.txt`, which decides the column
/// `in_warp`.
#[derive(Args)]
pub(crate) struct Skeletons {
    /// Folder of Python files, such as `warp` of a wheel
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

impl Skeletons {
    pub(crate) fn run(self) -> anyhow::Result<bool> {
        let skeletons = KnownSkeletons::of_folder(&self.folder)?;
        print::bytes(skeletons.to_text().as_bytes());
        print::error(&format!(
            "{} skeletons of {} kernels, {} of which the compiler takes\n",
            skeletons.len(),
            skeletons.kernels,
            skeletons.compiled
        ));
        Ok(!skeletons.is_empty())
    }
}
