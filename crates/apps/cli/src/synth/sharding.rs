//! Options by which several processes divide work and write their results into one folder.

use std::path::Path;

use clap::Args;
use gbxcule_rows::shard::{BlockResults, Shard};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::print::say;

/// The part of one of several processes.
#[derive(Args)]
pub(super) struct ShardOption {
    /// Number of this process, from 0, and number of processes: do only blocks I, I+N, I+2N and so
    /// on. All processes write into the folder `blocks` of one `--out`. A process that is started
    /// again continues, and the process that ends last merges the results. By default 0/1, the
    /// whole work
    #[arg(long, value_name = "I/N", allow_hyphen_values = true)]
    shard: Option<Shard>,
}

impl ShardOption {
    /// Returns the blocks of this process.
    pub(super) fn blocks(&self) -> Shard {
        self.shard.unwrap_or(Shard::WHOLE)
    }

    /// Returns true if there are other processes.
    pub(super) fn is_shared(&self) -> bool {
        self.shard.is_some()
    }

    /// Makes the blocks of this process. Returns the results of all blocks, in order, unless
    /// results of other processes are missing; without a folder for results returns the results of
    /// this process.
    pub(super) fn results<T: Serialize + DeserializeOwned>(
        &self,
        (out, work): (Option<&Path>, &Value),
        blocks: u64,
        mut results_of: impl FnMut(u64) -> anyhow::Result<Vec<T>>,
    ) -> anyhow::Result<Option<Vec<T>>> {
        let Some(out) = out.filter(|_| self.is_shared()) else {
            let mut all = Vec::new();
            for block in (0..blocks).filter(|block| self.blocks().owns(*block)) {
                all.extend(results_of(block)?);
            }
            return Ok(Some(all));
        };
        let results = BlockResults::begin(out, work, blocks)?;
        for block in results.missing(self.blocks()) {
            results.write(block, &results_of(block)?)?;
        }
        self.merged(&results, blocks)
    }

    /// Returns the results of all blocks, in order, or says how many are missing.
    pub(super) fn merged<T: DeserializeOwned>(
        &self,
        results: &BlockResults,
        blocks: u64,
    ) -> anyhow::Result<Option<Vec<T>>> {
        let merged = results.merged()?;
        if merged.is_none() {
            let missing = results.missing(Shard::WHOLE).len();
            say!(
                "shard {} is done; {missing} of {blocks} blocks are left to other processes",
                self.blocks()
            );
        }
        Ok(merged)
    }
}
