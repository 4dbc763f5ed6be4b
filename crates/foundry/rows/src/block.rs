//! Checks of blocks on disk: a killed machine, a full disk or an interrupted copy leaves only a
//! part of a block.

use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

use crate::batch::Manifest;
use crate::row::Row;
use crate::table::read_brief;

/// First and last four bytes of a Parquet file; the footer, before its end, is written last.
const MAGIC: [u8; 4] = *b"PAR1";

/// Returns true if a file has both ends of a table. Reads eight bytes, however long the file is.
pub(crate) fn has_ends(path: &Path) -> bool {
    let ends = || -> std::io::Result<[[u8; 4]; 2]> {
        let (mut file, mut ends) = (gbxcule_files::open(path)?, [[0; 4]; 2]);
        file.read_exact(&mut ends[0])?;
        file.seek(SeekFrom::End(-4))?;
        file.read_exact(&mut ends[1])?;
        Ok(ends)
    };
    ends().is_ok_and(|ends| ends == [MAGIC; 2])
}

/// Returns true if a file holds these rows of a dataset, all of them, in order, judged by its
/// footer and the columns that are quick to read.
pub(crate) fn holds(path: &Path, rows: &Range<u64>, manifest: &Manifest) -> bool {
    let made_by = (manifest.plan.seed, manifest.generator_version);
    let is_own = |rows: &[Row]| rows.iter().all(|it| (it.seed, it.generator_version) == made_by);
    has_ends(path)
        && read_brief(path)
            .is_ok_and(|found| found.iter().map(|row| row.id).eq(rows.clone()) && is_own(&found))
}

/// Returns true if a file of JSON lines has `count` lines and the last one is complete.
pub(crate) fn has_lines(path: &Path, count: u64) -> bool {
    let lines = || -> std::io::Result<(u64, u8)> {
        let mut file = BufReader::new(gbxcule_files::open(path)?);
        let (mut lines, mut last) = (0, b'\n');
        loop {
            let bytes = file.fill_buf()?;
            let Some(&end) = bytes.last() else { return Ok((lines, last)) };
            lines += bytes.iter().filter(|&&byte| byte == b'\n').count() as u64;
            last = end;
            let read = bytes.len();
            file.consume(read);
        }
    };
    lines().is_ok_and(|found| found == (count, b'\n'))
}
