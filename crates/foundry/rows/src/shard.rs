//! Work that several processes do together: divides the blocks among the processes, and merges the
//! results that they write into one folder.
//!
//! Block `b` belongs to shard `b % n` of `n`. Blocks of rows are files of the dataset
//! ([`crate::batch`]). Other results are files `blocks/000003.json` of the output folder; the
//! process that finds the results of all blocks there merges them.

use crate::error::SynthError;
use crate::table::write_whole;
use gbxcule_files::write_new;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The part of one of several processes, numbered from 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shard {
    index: u64,
    count: u64,
}

impl Shard {
    /// The part of a process that works alone.
    pub const WHOLE: Self = Self { index: 0, count: 1 };

    /// Returns true if this process makes a block.
    pub fn owns(self, block: u64) -> bool {
        block % self.count == self.index
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/');
        let parts = parts.and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
        let shard = parts.filter(|(i, n): &(u64, u64)| i < n);
        let shard = shard.map(|(index, count)| Self { index, count });
        shard.ok_or_else(|| "a shard is I/N with I below N, such as 0/8".into())
    }
}

impl std::fmt::Display for Shard {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(to, "{}/{}", self.index, self.count)
    }
}

/// Folder of the results of blocks.
const FOLDER: &str = "blocks";
/// Name of the file that describes the work.
const WORK: &str = "work.json";

/// Results of blocks in an output folder.
pub struct BlockResults {
    out: PathBuf,
    blocks: u64,
}

impl BlockResults {
    /// Returns true if a folder has results of blocks.
    pub fn are_in(out: &Path) -> bool {
        out.join(FOLDER).join(WORK).exists()
    }

    /// Claims a folder for the results of a work with `blocks` blocks. A folder with results of
    /// other work is refused.
    pub fn begin(out: &Path, work: &Value, blocks: u64) -> Result<Self, SynthError> {
        let results = Self { out: out.into(), blocks };
        let path = out.join(FOLDER).join(WORK);
        let text = format!("{work}\n");
        let written = write_new(out, format!("{FOLDER}/{WORK}"), text.as_bytes());
        written.map_err(SynthError::file(&path))?;
        let claimed = gbxcule_files::read_text(&path, gbxcule_files::MAX_TEXT_BYTES)
            .map_err(SynthError::file(&path))?;
        if claimed == text {
            return Ok(results);
        }
        let reason = format!(
            "the folder has results of `{}`, and these would be of `{work}`: name another folder, give the same options, or remove `{FOLDER}` from it",
            claimed.trim_end()
        );
        Err(SynthError::data(&path, reason))
    }

    /// Returns the blocks of a process whose results are missing.
    pub fn missing(&self, shard: Shard) -> Vec<u64> {
        let is_missing = |block: &u64| shard.owns(*block) && !self.path(*block).exists();
        (0..self.blocks).filter(is_missing).collect()
    }

    /// Returns the blocks of a process that have no results, or a result that isn't final.
    pub fn unfinished<T: DeserializeOwned>(
        &self,
        shard: Shard,
        is_final: impl Fn(&T) -> bool,
    ) -> Result<Vec<u64>, SynthError> {
        let mut unfinished = Vec::new();
        for block in (0..self.blocks).filter(|block| shard.owns(*block)) {
            let results: Option<Vec<T>> = self.read(block)?;
            if !results.is_some_and(|it| it.iter().all(&is_final)) {
                unfinished.push(block);
            }
        }
        Ok(unfinished)
    }

    /// Writes the results of a block.
    pub fn write<T: Serialize>(&self, block: u64, results: &[T]) -> Result<(), SynthError> {
        let path = self.path(block);
        let text = serde_json::to_string(results);
        let text = text.map_err(|error| SynthError::data(&path, error))?;
        write_whole(&self.out, &Self::name(block), text.as_bytes())
    }

    /// Returns the results of all blocks, in order, or `None` while a block is missing.
    pub fn merged<T: DeserializeOwned>(&self) -> Result<Option<Vec<T>>, SynthError> {
        let mut all: Vec<T> = Vec::new();
        for block in 0..self.blocks {
            let Some(own) = self.read(block)? else { return Ok(None) };
            all.extend(own);
        }
        Ok(Some(all))
    }

    /// Removes the results, which were merged.
    pub fn remove(self) -> Result<(), SynthError> {
        let folder = self.out.join(FOLDER);
        for path in (0..self.blocks).map(|it| self.path(it)).chain([folder.join(WORK)]) {
            std::fs::remove_file(&path).map_err(SynthError::file(&path))?;
        }
        // Files of others stay, and their folder with them.
        _ = std::fs::remove_dir(&folder);
        Ok(())
    }

    /// Returns the results of a block, if it has any.
    fn read<T: DeserializeOwned>(&self, block: u64) -> Result<Option<Vec<T>>, SynthError> {
        let path = self.path(block);
        if !path.exists() {
            return Ok(None);
        }
        let bytes = gbxcule_files::read(&path, MAX_BLOCK_BYTES);
        let bytes = bytes.map_err(SynthError::file(&path))?;
        let results = serde_json::from_slice(&bytes);
        Ok(Some(results.map_err(|error| SynthError::data(&path, error))?))
    }

    fn path(&self, block: u64) -> PathBuf {
        self.out.join(Self::name(block))
    }

    fn name(block: u64) -> String {
        format!("{FOLDER}/{block:06}.json")
    }
}

/// Greatest number of bytes of the results of a block.
const MAX_BLOCK_BYTES: u64 = 1 << 30;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_shard_is_a_number_below_their_count() {
        assert_eq!("3/16".parse().map(|shard: Shard| shard.to_string()), Ok("3/16".into()));
        for text in ["", "1", "1/1", "2/1", "-1/2", "0/0", "a/b", "0/1/2"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }

    #[test]
    fn each_block_has_one_owner() {
        let shards: Vec<Shard> =
            ["0/3", "1/3", "2/3"].iter().map(|it| it.parse().expect("a shard")).collect();
        for block in 0..20 {
            assert_eq!(shards.iter().filter(|shard| shard.owns(block)).count(), 1, "{block}");
        }
    }

    #[test]
    fn results_are_merged_in_the_order_of_blocks_when_all_are_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let work = json!({"verb": "count", "seed": 1});
        let begin = || BlockResults::begin(folder.path(), &work, 3).expect("a folder of ours");
        let one: Shard = "1/2".parse().expect("a shard");
        let [first, second] = [begin(), begin()];
        first.write(2, &[5]).expect("a file");
        first.write(0, &[1, 2]).expect("a file");
        assert_eq!(first.merged::<i32>().expect("files"), None);
        assert_eq!((second.missing(one), second.missing(Shard::WHOLE)), (vec![1], vec![1]));
        second.write(1, &[3, 4]).expect("a file");
        assert_eq!(begin().merged().expect("files"), Some(vec![1, 2, 3, 4, 5]));
        let unfinished = |shard| begin().unfinished(shard, |it: &i32| *it != 3).expect("files");
        assert_eq!(
            (unfinished(Shard::WHOLE), unfinished("0/2".parse().expect("a shard"))),
            (vec![1], vec![])
        );
        let other = BlockResults::begin(folder.path(), &json!({"verb": "count", "seed": 2}), 3);
        let message = other.err().expect("another seed").to_string();
        assert!(
            message.contains("\"seed\":1") && message.contains("name another folder"),
            "{message}"
        );
        begin().remove().expect("files of ours");
        assert!(!BlockResults::are_in(folder.path()) && !folder.path().join(FOLDER).exists());
    }
}
