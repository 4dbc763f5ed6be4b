//! Checks of blocks on disk: a killed machine, a full disk or an interrupted copy leaves only a
//! part of a block.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

use crate::table::read_brief;

/// First and last four bytes of a Parquet file; the footer, before its end, is written last.
const MAGIC: [u8; 4] = *b"PAR1";

/// Returns true if a file has both ends of a table. Reads eight bytes, however long the file is.
pub(crate) fn has_ends(path: &Path) -> bool {
    let ends = || -> std::io::Result<[[u8; 4]; 2]> {
        let (mut file, mut ends) = (File::open(path)?, [[0; 4]; 2]);
        file.read_exact(&mut ends[0])?;
        file.seek(SeekFrom::End(-4))?;
        file.read_exact(&mut ends[1])?;
        Ok(ends)
    };
    ends().is_ok_and(|ends| ends == [MAGIC; 2])
}

/// Returns true if a file holds these rows, all of them, in order, judged by its footer and the
/// columns that are quick to read.
pub(crate) fn holds(path: &Path, rows: &Range<u64>) -> bool {
    has_ends(path)
        && read_brief(path).is_ok_and(|found| found.iter().map(|row| row.id).eq(rows.clone()))
}

/// Returns true if a file of JSON lines has `count` lines and the last one is complete.
pub(crate) fn has_lines(path: &Path, count: u64) -> bool {
    std::fs::read(path).is_ok_and(|bytes| {
        let lines = bytes.iter().filter(|&&byte| byte == b'\n').count() as u64;
        lines == count && bytes.last().is_none_or(|&last| last == b'\n')
    })
}
