//! Rows as Parquet, by the column writers and readers of the `parquet` crate. A file is complete or
//! missing.

mod column;
mod guard;
mod leaf;
mod source;
#[cfg(test)]
mod tests;

use crate::error::SynthError;
use crate::row::Row;
use column::{BULKY, COLUMNS, Cell};
use leaf::{MemoryBudget, Reading};
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use source::Source;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// Version of the columns, which changes when readers must change. Since version 8 a struct with
/// arrays, and geometry, have an input for each of their [parts](crate::part).
pub const SCHEMA_VERSION: u32 = 9;
const VERSION_KEY: &str = "gbxcule_schema_version";

/// Writes a complete file into a folder of unknown origin, so links in the folder are not followed.
pub fn write_whole(folder: &Path, inside: &str, bytes: &[u8]) -> Result<(), SynthError> {
    let written = gbxcule_files::replace(folder, inside, bytes);
    written.map_err(|error| SynthError::file(&folder.join(inside))(error))
}

/// Number of rows in a row group, which a reader decodes at once.
const GROUP_ROWS: usize = 1 << 20;

/// Returns rows as a Parquet file's bytes; equal rows give equal bytes.
pub fn to_parquet(rows: &[Row]) -> Result<Vec<u8>, SynthError> {
    let zstd = ZstdLevel::try_new(3).map(Compression::ZSTD);
    let bytes = zstd.and_then(|zstd| encode(rows, GROUP_ROWS, zstd));
    bytes.map_err(|error| SynthError::data(Path::new("parquet"), error))
}

fn encode(
    rows: &[Row],
    group_rows: usize,
    compression: Compression,
) -> Result<Vec<u8>, ParquetError> {
    let version = KeyValue::new(VERSION_KEY.into(), SCHEMA_VERSION.to_string());
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .set_created_by(crate::row::COMPILER_VERSION.into())
        .set_key_value_metadata(Some(vec![version]))
        .build();
    let schema = Arc::new(parse_message_type(&column::schema())?);
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties))?;
    for rows in rows.chunks(group_rows) {
        let mut group = writer.next_row_group()?;
        for (_, cell) in COLUMNS {
            let mut column =
                group.next_column()?.unwrap_or_else(|| unreachable!("a leaf for each column"));
            column::write(cell, rows, &mut column)?;
            column.close()?;
        }
        group.close()?;
    }
    writer.close()?;
    Ok(bytes)
}

/// Returns the columns of a Parquet file, in order.
pub fn column_names(path: &Path) -> Result<Vec<String>, SynthError> {
    with_reader(path, |reader, _| {
        let schema = reader.metadata().file_metadata().schema();
        Ok(schema.get_fields().iter().map(|field| field.name().to_owned()).collect())
    })
}

/// Returns the columns of a Parquet file that no row has.
pub(crate) fn foreign_columns(path: &Path) -> Result<BTreeSet<String>, SynthError> {
    Ok(column_names(path)?.into_iter().filter(|name| !is_column(name)).collect())
}

/// Returns true for the name of a row's column.
pub(crate) fn is_column(name: &str) -> bool {
    COLUMNS.iter().any(|(own, _)| *own == name)
}

/// Opens a Parquet file and reads it; a panic of the `parquet` crate becomes an error.
fn with_reader<T>(
    path: &Path,
    read: impl FnOnce(&SerializedFileReader<Source>, &MemoryBudget) -> Result<T, SynthError>,
) -> Result<T, SynthError> {
    let file = gbxcule_files::open(path).map_err(SynthError::file(path))?;
    let bytes = file.get().metadata().map_err(SynthError::file(path))?.len();
    let outcome = guard::catch_panic(|| {
        let reader = SerializedFileReader::new(Source(file)).map_err(|error| {
            let remedy = "get the whole file, or remove it and make its block again with --resume";
            SynthError::data(path, format!("{error}: {remedy}"))
        })?;
        read(&reader, &MemoryBudget::of(bytes))
    });
    outcome.unwrap_or_else(|panic| {
        Err(SynthError::data(
            path,
            format!("the file is damaged: the Parquet reader stopped: {panic}"),
        ))
    })
}

/// Reads the rows of a Parquet file.
pub fn read_parquet(path: &Path) -> Result<Vec<Row>, SynthError> {
    read_columns(path, &[])
}

/// Reads rows without the bulky columns: texts made from the source, inputs and results.
pub fn read_brief(path: &Path) -> Result<Vec<Row>, SynthError> {
    read_columns(path, &BULKY)
}

/// Reads only the numbers and the splits of rows.
pub(crate) fn read_splits(path: &Path) -> Result<Vec<Row>, SynthError> {
    let names = COLUMNS.iter().map(|(name, _)| *name);
    let others: Vec<&str> = names.filter(|name| !["id", "split"].contains(name)).collect();
    read_columns(path, &others)
}

fn read_columns(path: &Path, left_out: &[&str]) -> Result<Vec<Row>, SynthError> {
    with_reader(path, |reader, budget| read_rows(path, reader, budget, left_out))
}

fn read_rows(
    path: &Path,
    reader: &SerializedFileReader<Source>,
    budget: &MemoryBudget,
    left_out: &[&str],
) -> Result<Vec<Row>, SynthError> {
    // Files of older programs have no version, so their columns decide.
    if let Some(found) = version(reader)
        && found != SCHEMA_VERSION.to_string()
    {
        return Err(other_schema(path, &found));
    }
    let mut rows = Vec::new();
    for at in 0..reader.num_row_groups() {
        let group = reader.get_row_group(at).map_err(|error| SynthError::data(path, error))?;
        read_group(&*group, budget, left_out, &mut rows)
            .map_err(|reason| SynthError::data(path, reason))?;
    }
    Ok(rows)
}

fn version(reader: &SerializedFileReader<Source>) -> Option<String> {
    let notes = reader.metadata().file_metadata().key_value_metadata()?;
    notes.iter().find(|note| note.key == VERSION_KEY)?.value.clone()
}

/// Adds the rows of a part of a file, or reports which column is wrong.
fn read_group(
    group: &dyn RowGroupReader,
    budget: &MemoryBudget,
    left_out: &[&str],
    rows: &mut Vec<Row>,
) -> Result<(), String> {
    let (metadata, first) = (group.metadata(), rows.len());
    let wanted = COLUMNS.iter().filter(|(name, _)| !left_out.contains(name));
    for (number, (name, cell)) in wanted.enumerate() {
        let is_wanted =
            |leaf: &usize| metadata.schema_descr().get_column_root(*leaf).name() == *name;
        let leaf = (0..metadata.num_columns()).find(is_wanted);
        let leaf = leaf.ok_or_else(|| format!("column `{name}` is missing"))?;
        let column = &metadata.schema_descr().column(leaf);
        let is_list = column.max_rep_level() > 0;
        let reading = Reading { rows, first, column, makes_rows: number == 0, budget };
        let items = || match is_list {
            true => budget.check_items(group.get_column_page_reader(leaf)?),
            false => Ok(()),
        };
        check_compression(metadata.column(leaf).compression())
            .and_then(|()| items())
            .and_then(|()| group.get_column_reader(leaf))
            .and_then(|reader| column::read(cell, reader, reading))
            .map_err(|error| format!("column `{name}`: {error}"))?;
    }
    Ok(())
}

/// Checks that a column's compression can be read; other writers have other defaults.
fn check_compression(found: Compression) -> Result<(), ParquetError> {
    match found {
        Compression::UNCOMPRESSED | Compression::SNAPPY | Compression::ZSTD(_) => Ok(()),
        other => Err(ParquetError::General(format!(
            "it is compressed by {other}, and zstd and Snappy are read here: write the file with zstd, in pyarrow \
             `write_table(.., compression=\"zstd\")`"
        ))),
    }
}

/// Returns the error for a file that another version of the program wrote.
pub(crate) fn other_schema(path: &Path, found: &str) -> SynthError {
    let reason = format!(
        "schema version {found}, this program reads {SCHEMA_VERSION}: make the dataset anew, or use the program that wrote \
         it"
    );
    SynthError::data(path, reason)
}

/// Returns the columns in which two rows differ.
pub(crate) fn differing_columns(one: &Row, other: &Row) -> Vec<&'static str> {
    COLUMNS.iter().filter(|(_, cell)| cell.differs(one, other)).map(|(name, _)| *name).collect()
}

/// Clears the bulky columns of a row.
pub(crate) fn make_brief(row: &mut Row) {
    for (name, cell) in COLUMNS {
        if let Cell::Text(_, set) = cell
            && BULKY.contains(name)
        {
            set(row, None);
        }
    }
}
