//! Rows as JSON lines: one object in each line, with the columns of a Parquet file under the same
//! names.
//!
//! Only the manifest has the version of the schema. Files are read line by line, so that an error
//! has a line number.

use crate::error::SynthError;
use crate::row::Row;
use crate::table;
use serde::de::{DeserializeOwned, IgnoredAny};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// Greatest number of bytes of a line, because a file without line ends may exceed the memory.
const MAX_LINE_BYTES: u64 = 256 << 20;

/// Writes rows as text.
pub fn to_jsonl(rows: &[Row]) -> Result<String, SynthError> {
    let mut text = String::new();
    for row in rows {
        text += &serde_json::to_string(row)
            .map_err(|error| SynthError::data(Path::new("row"), error))?;
        text.push('\n');
    }
    Ok(text)
}

/// Returns true if a file holds exactly the lines of these rows.
pub(crate) fn holds(path: &Path, rows: &[Row]) -> Result<bool, SynthError> {
    let file = gbxcule_files::open(path).map_err(SynthError::file(path))?;
    let (mut file, mut bytes) = (BufReader::new(file), Vec::new());
    for row in rows {
        let line = to_jsonl(std::slice::from_ref(row))?;
        bytes.clear();
        let mut part = (&mut file).take(line.len() as u64);
        part.read_to_end(&mut bytes).map_err(SynthError::file(path))?;
        if bytes != line.as_bytes() {
            return Ok(false);
        }
    }
    Ok(file.fill_buf().map_err(SynthError::file(path))?.is_empty())
}

/// Reads the rows of a file and passes each to `keep`, which may shorten it.
pub(crate) fn read_jsonl(path: &Path, keep: fn(&mut Row)) -> Result<Vec<Row>, SynthError> {
    let mut rows = Vec::new();
    each_line(path, |mut row: Row| {
        keep(&mut row);
        rows.push(row);
    })?;
    Ok(rows)
}

/// Returns the columns of a file that no row has.
pub(crate) fn foreign_columns(path: &Path) -> Result<BTreeSet<String>, SynthError> {
    let mut foreign = BTreeSet::new();
    each_line(path, |columns: BTreeMap<String, IgnoredAny>| {
        foreign.extend(columns.into_keys().filter(|name| !table::is_column(name)));
    })?;
    Ok(foreign)
}

/// Reads each line of a file.
fn each_line<T: DeserializeOwned>(path: &Path, mut take: impl FnMut(T)) -> Result<(), SynthError> {
    let file = gbxcule_files::open(path).map_err(SynthError::file(path))?;
    let (mut file, mut bytes) = (BufReader::new(file), Vec::new());
    for line in 1.. {
        bytes.clear();
        let mut part = (&mut file).take(MAX_LINE_BYTES + 1);
        let read = part.read_until(b'\n', &mut bytes).map_err(SynthError::file(path))?;
        if read == 0 {
            break;
        }
        if read as u64 > MAX_LINE_BYTES {
            let (path, column) = (path.to_path_buf(), MAX_LINE_BYTES as usize);
            let reason =
                format!("the line has more than {MAX_LINE_BYTES} bytes, the most of a row");
            return Err(SynthError::Line { path, line, column, reason });
        }
        let text = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
        let value = serde_json::from_slice(text).map_err(|error| {
            let message = error.to_string();
            let position = format!(" at line {} column {}", error.line(), error.column());
            let (path, column) = (path.to_path_buf(), error.column());
            let reason = message.strip_suffix(&position).unwrap_or(&message).to_owned();
            SynthError::Line { path, line, column, reason }
        })?;
        take(value);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> Result<Vec<Row>, String> {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), text).expect("its bytes");
        let name = format!("{}:", file.path().display());
        read_jsonl(file.path(), |_| ()).map_err(|error| error.to_string().replace(&name, ""))
    }

    fn row(id: u64) -> Row {
        // A number that a double can't hold, and characters that JSON escapes.
        let source = "x = \"1\"\n\tµ".into();
        Row { id, source, input_seed: u64::MAX - id, cpp: Some(String::new()), ..Row::default() }
    }

    #[test]
    fn rows_come_back_as_they_were() {
        let rows = [row(0), row(1)];
        assert_eq!(read(to_jsonl(&rows).expect("text").as_bytes()), Ok(rows.into()));
        assert_eq!(read(b""), Ok(Vec::new()));
    }

    #[test]
    fn wrong_lines_are_named_by_number() {
        let text = to_jsonl(&[row(0), row(1)]).expect("text");
        let cut = &text[..text.len() - 10];
        let message = read(cut.as_bytes()).expect_err("the last line is cut");
        assert!(message.starts_with("2:") && message.contains("EOF"), "{message}");
        let named = text.replacen("\"seed\"", "\"sead\"", 1);
        let message = read(named.as_bytes()).expect_err("a column is missing");
        assert!(
            message.starts_with("1:") && message.ends_with("missing field `seed`"),
            "{message}"
        );
        let typed = text.replacen("\"id\":1", "\"id\":\"1\"", 1);
        let message = read(typed.as_bytes()).expect_err("a number is a text");
        assert!(message.starts_with("2:9: ") && message.contains("expected u64"), "{message}");
        let empty = text.replacen('\n', "\n\n", 1);
        assert!(read(empty.as_bytes()).expect_err("an empty line").starts_with("2:"));
        let message = read(b"{\"id\": \"\xff\"}\n").expect_err("no UTF-8");
        assert!(message.starts_with("1:") && message.contains("unicode"), "{message}");
        let folder = tempfile::tempdir().expect("a folder");
        let endless = folder.path().join("part.jsonl");
        let file = std::fs::File::create(&endless).expect("a file");
        file.set_len(1 << 40).expect("a hole");
        let message = read_jsonl(&endless, |_| ()).expect_err("a line of a tebibyte").to_string();
        assert!(
            message.contains("part.jsonl:1:") && message.contains("the line has more than"),
            "{message}"
        );
    }
}
