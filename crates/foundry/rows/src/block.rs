//! Checks of blocks on disk: a killed machine, a full disk or an interrupted copy leaves only a
//! part of a block.

use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::batch::Manifest;
use crate::row::Row;
use crate::split::SPLITS;
use crate::table::read_brief;

/// First and last four bytes of a Parquet file. The last ones follow the footer, which is written
/// last.
const MAGIC: [u8; 4] = *b"PAR1";

/// Returns true if a file begins and ends like a table; reads only these eight bytes.
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

/// Returns true if the files of a block hold exactly these rows of a dataset, in order and each in
/// its split. Only footers and short columns are read.
pub(crate) fn holds(paths: &[PathBuf; 3], rows: &Range<u64>, manifest: &Manifest) -> bool {
    if !paths.iter().all(|path| has_ends(path)) {
        return false;
    }
    let made_by = (manifest.plan.seed, manifest.generator_version);
    let mut numbers = Vec::new();
    for (path, split) in paths.iter().zip(SPLITS) {
        let is_own = |row: &Row| row.split == split && (row.seed, row.generator_version) == made_by;
        match read_brief(path) {
            Ok(own) if own.iter().all(is_own) && own.is_sorted_by_key(|row| row.id) => {
                numbers.extend(own.iter().map(|row| row.id));
            }
            _ => return false,
        }
    }
    numbers.sort_unstable();
    numbers.into_iter().eq(rows.clone())
}

/// Returns true if the files of JSON lines have `count` lines together, all of them complete.
pub(crate) fn have_lines(paths: &[PathBuf; 3], count: u64) -> bool {
    let lines: Option<u64> = paths.iter().map(|path| lines(path)).sum();
    lines == Some(count)
}

/// Returns the number of lines of a file, or `None` if its last line is cut.
fn lines(path: &Path) -> Option<u64> {
    let mut file = BufReader::new(gbxcule_files::open(path).ok()?);
    let (mut lines, mut last) = (0, b'\n');
    loop {
        let bytes = file.fill_buf().ok()?;
        let Some(&end) = bytes.last() else { return (last == b'\n').then_some(lines) };
        lines += bytes.iter().filter(|&&byte| byte == b'\n').count() as u64;
        last = end;
        let read = bytes.len();
        file.consume(read);
    }
}
