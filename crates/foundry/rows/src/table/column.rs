//! The columns of a Parquet file, in order: the name, the storage and the row's field of each.

use super::leaf::{ColumnValues, Reading};
use crate::row::Row;
use parquet::column::reader::ColumnReader;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::writer::SerializedColumnWriter;
use std::fmt::Write;

type Get = fn(&Row) -> Option<&str>;
pub(super) type Set = fn(&mut Row, Option<String>);

/// Storage of a column, with the functions that move its values out of a row and into it.
pub(super) enum Cell {
    Long(fn(&Row) -> u64, fn(&mut Row) -> &mut u64),
    /// A number of 64 bits as text: readers whose numbers are doubles would round it.
    Seed(fn(&Row) -> u64, fn(&mut Row) -> &mut u64),
    Word(fn(&Row) -> u32, fn(&mut Row) -> &mut u32),
    Mark(fn(&Row) -> bool, fn(&mut Row) -> &mut bool),
    Text(Get, Set),
    Words(fn(&Row) -> &[u32], fn(&mut Row) -> &mut Vec<u32>),
    Texts(fn(&Row) -> &[String], fn(&mut Row) -> &mut Vec<String>),
}

impl Cell {
    /// Returns true if two rows have different values in this column.
    pub(super) fn differs(&self, one: &Row, other: &Row) -> bool {
        match self {
            Long(get, _) | Seed(get, _) => get(one) != get(other),
            Word(get, _) => get(one) != get(other),
            Mark(get, _) => get(one) != get(other),
            Text(get, _) => get(one) != get(other),
            Words(get, _) => get(one) != get(other),
            Texts(get, _) => get(one) != get(other),
        }
    }
}

/// A column: its name and its storage.
pub(super) type Column = (&'static str, Cell);

use Cell::{Long, Mark, Seed, Text, Texts, Word, Words};

/// All columns. Each is one leaf of the file's schema.
#[rustfmt::skip]
pub(super) static COLUMNS: &[Column] = &[
    ("id", Long(|row| row.id, |row| &mut row.id)),
    ("family", Text(|row| Some(&row.family), |row, it| row.family = it.unwrap_or_default())),
    ("kernel", Text(|row| Some(&row.kernel), |row, it| row.kernel = it.unwrap_or_default())),
    ("kernels", Texts(|row| &row.kernels, |row| &mut row.kernels)),
    ("source", Text(|row| Some(&row.source), |row, it| row.source = it.unwrap_or_default())),
    ("ir", Text(|row| Some(&row.ir), |row, it| row.ir = it.unwrap_or_default())),
    ("ir_backward", Text(|row| row.ir_backward.as_deref(), |row, it| row.ir_backward = it)),
    ("cpp", Text(|row| row.cpp.as_deref(), |row, it| row.cpp = it)),
    ("cpp_backward", Text(|row| row.cpp_backward.as_deref(), |row, it| row.cpp_backward = it)),
    ("cuda", Text(|row| row.cuda.as_deref(), |row, it| row.cuda = it)),
    ("cuda_backward", Text(|row| row.cuda_backward.as_deref(), |row, it| row.cuda_backward = it)),
    ("cuda_plain", Text(|row| row.cuda_plain.as_deref(), |row, it| row.cuda_plain = it)),
    ("cuda_plain_backward", Text(|row| row.cuda_plain_backward.as_deref(), |row, it| row.cuda_plain_backward = it)),
    ("ptx", Text(|row| row.ptx.as_deref(), |row, it| row.ptx = it)),
    ("ptx_backward", Text(|row| row.ptx_backward.as_deref(), |row, it| row.ptx_backward = it)),
    ("warp_cpp", Text(|row| row.warp_cpp.as_deref(), |row, it| row.warp_cpp = it)),
    ("warp_cuda", Text(|row| row.warp_cuda.as_deref(), |row, it| row.warp_cuda = it)),
    ("warp_origin_json", Text(|row| row.warp_origin_json.as_deref(), |row, it| row.warp_origin_json = it)),
    ("gradient_refused", Text(|row| row.gradient_refused.as_deref(), |row, it| row.gradient_refused = it)),
    ("launches_json", Text(|row| row.launches_json.as_deref(), |row, it| row.launches_json = it)),
    ("signature_json", Text(|row| Some(&row.signature_json), |row, it| row.signature_json = it.unwrap_or_default())),
    ("inputs_json", Text(|row| Some(&row.inputs_json), |row, it| row.inputs_json = it.unwrap_or_default())),
    ("outputs_json", Text(|row| row.outputs_json.as_deref(), |row, it| row.outputs_json = it)),
    ("gradients_json", Text(|row| row.gradients_json.as_deref(), |row, it| row.gradients_json = it)),
    ("structure", Text(|row| Some(&row.structure), |row, it| row.structure = it.unwrap_or_default())),
    ("split", Text(|row| Some(&row.split), |row, it| row.split = it.unwrap_or_default())),
    ("checks_json", Text(|row| Some(&row.checks_json), |row, it| row.checks_json = it.unwrap_or_default())),
    ("warp_gradient", Text(|row| row.warp_gradient.as_deref(), |row, it| row.warp_gradient = it)),
    ("origin_json", Text(|row| row.origin_json.as_deref(), |row, it| row.origin_json = it)),
    ("template", Text(|row| row.template.as_deref(), |row, it| row.template = it)),
    ("summary", Text(|row| row.summary.as_deref(), |row, it| row.summary = it)),
    ("description", Text(|row| row.description.as_deref(), |row, it| row.description = it)),
    ("specification", Text(|row| row.specification.as_deref(), |row, it| row.specification = it)),
    ("compiler", Text(|row| Some(&row.compiler), |row, it| row.compiler = it.unwrap_or_default())),
    ("launch_dims", Words(|row| &row.launch_dims, |row| &mut row.launch_dims)),
    ("real_launch_dims", Words(|row| &row.real_launch_dims, |row| &mut row.real_launch_dims)),
    ("block_dims", Words(|row| &row.block_dims, |row| &mut row.block_dims)),
    ("features", Texts(|row| &row.features, |row| &mut row.features)),
    ("input_seed", Seed(|row| row.input_seed, |row| &mut row.input_seed)),
    ("seed", Seed(|row| row.seed, |row| &mut row.seed)),
    ("attempt", Word(|row| row.attempt, |row| &mut row.attempt)),
    ("generator_version", Word(|row| row.generator_version, |row| &mut row.generator_version)),
    ("in_warp", Mark(|row| row.in_warp, |row| &mut row.in_warp)),
];

/// Columns that make up most of a row's size and that statistics don't need.
pub(super) const BULKY: [&str; 17] = [
    "ir",
    "ir_backward",
    "cpp",
    "cpp_backward",
    "cuda",
    "cuda_backward",
    "cuda_plain",
    "cuda_plain_backward",
    "ptx",
    "ptx_backward",
    "warp_cpp",
    "warp_cuda",
    "launches_json",
    "signature_json",
    "inputs_json",
    "outputs_json",
    "gradients_json",
];

/// Returns the schema of a file as Parquet's own text; every column may be null, as readers of the
/// format expect.
pub(super) fn schema() -> String {
    let mut text = String::from("message row {\n");
    for (name, cell) in COLUMNS {
        let line = match cell {
            Long(..) => format!("optional int64 {name} (INTEGER(64,false));"),
            Word(..) => format!("optional int32 {name} (INTEGER(32,false));"),
            Mark(..) => format!("optional boolean {name};"),
            Seed(..) | Text(..) => format!("optional binary {name} (STRING);"),
            Words(..) => list(name, "optional int32 item (INTEGER(32,false));"),
            Texts(..) => list(name, "optional binary item (STRING);"),
        };
        _ = writeln!(text, "  {line}");
    }
    text + "}"
}

fn list(name: &str, item: &str) -> String {
    format!("optional group {name} (LIST) {{ repeated group list {{ {item} }} }}")
}

/// Writes the values of some rows as the next column of a file.
pub(super) fn write(
    cell: &Cell,
    rows: &[Row],
    writer: &mut SerializedColumnWriter<'_>,
) -> Result<()> {
    // The format has no unsigned numbers: their bits are stored, and the schema marks them as
    // unsigned.
    let (rows, bytes) = (rows.iter(), |text: &str| ByteArray::from(text.as_bytes().to_vec()));
    match cell {
        Long(get, _) => ColumnValues::flat(rows.map(|row| Some(get(row).cast_signed())))
            .write::<Int64Type>(writer),
        Seed(get, _) => ColumnValues::flat(rows.map(|row| Some(bytes(&get(row).to_string()))))
            .write::<ByteArrayType>(writer),
        Word(get, _) => ColumnValues::flat(rows.map(|row| Some(get(row).cast_signed())))
            .write::<Int32Type>(writer),
        Mark(get, _) => {
            ColumnValues::flat(rows.map(|row| Some(get(row)))).write::<BoolType>(writer)
        }
        Text(get, _) => {
            ColumnValues::flat(rows.map(|row| get(row).map(bytes))).write::<ByteArrayType>(writer)
        }
        Words(get, _) => {
            ColumnValues::lists(rows.map(|row| get(row).iter().map(|word| word.cast_signed())))
                .write::<Int32Type>(writer)
        }
        Texts(get, _) => {
            ColumnValues::lists(rows.map(|row| get(row).iter().map(|text| bytes(text))))
                .write::<ByteArrayType>(writer)
        }
    }
}

/// Puts a column's values into the rows; a null leaves the row's default.
pub(super) fn read(cell: &Cell, reader: ColumnReader, reading: Reading<'_>) -> Result<()> {
    use ColumnReader::{
        BoolColumnReader, ByteArrayColumnReader, Int32ColumnReader, Int64ColumnReader,
    };
    let budget = reading.budget;
    let text = |it: &ByteArray| {
        budget.take(it.len() + size_of::<String>())?;
        it.as_utf8().map(str::to_owned)
    };
    let word = |it: &i32| {
        budget.take(size_of::<u32>())?;
        Ok(it.cast_unsigned())
    };
    let another_type = || ParquetError::General("is of another type".into());
    if reading.column.max_rep_level() != i16::from(matches!(cell, Words(..) | Texts(..))) {
        return Err(another_type());
    }
    match (cell, reader) {
        (Long(_, place), Int64ColumnReader(reader)) => {
            reading.each(reader, |it| Ok(it.cast_unsigned()), |row, it| *place(row) = it)
        }
        (Seed(_, place), ByteArrayColumnReader(reader)) => {
            let number = |it: &ByteArray| {
                let text = it.as_utf8()?;
                let fault = || ParquetError::General(format!("`{text}` is no number of 64 bits"));
                text.parse().map_err(|_| fault())
            };
            reading.each(reader, number, |row, it| *place(row) = it)
        }
        (Word(_, place), Int32ColumnReader(reader)) => {
            reading.each(reader, |it| Ok(it.cast_unsigned()), |row, it| *place(row) = it)
        }
        (Mark(_, place), BoolColumnReader(reader)) => {
            reading.each(reader, |it| Ok(*it), |row, it| *place(row) = it)
        }
        (Text(_, set), ByteArrayColumnReader(reader)) => {
            reading.each(reader, text, |row, it| set(row, Some(it)))
        }
        (Words(_, place), Int32ColumnReader(reader)) => {
            reading.each(reader, word, |row, it| place(row).push(it))
        }
        (Texts(_, place), ByteArrayColumnReader(reader)) => {
            reading.each(reader, text, |row, it| place(row).push(it))
        }
        _ => Err(another_type()),
    }
}
