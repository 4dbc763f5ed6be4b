//! Rows as Parquet; a file is whole or not there.

use crate::error::SynthError;
use crate::row::Row;
use arrow::array::{
    Array, ArrayRef, BooleanArray, ListArray, ListBuilder, RecordBatch, StringArray, StringBuilder,
    UInt32Array, UInt32Builder, UInt64Array,
};
use arrow::datatypes::{Field, Schema};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::arrow::{ArrowWriter, ProjectionMask};
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// Changes when a reader would have to.
pub const SCHEMA_VERSION: u32 = 2;
const VERSION_KEY: &str = "gbxcule_schema_version";

/// Writes a file beside its place, then moves it there.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), SynthError> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(SynthError::file(folder))?;
    }
    let partial = path.with_extension(format!("partial-{}", std::process::id()));
    let written = fs::write(&partial, bytes).and_then(|()| fs::rename(&partial, path));
    written.map_err(|error| {
        // A disk that is full is not to be kept full; it may not even have been made.
        let _ = fs::remove_file(&partial);
        SynthError::file(path)(error)
    })
}

/// Rows as a Parquet file's bytes: the same rows, the same bytes.
pub fn to_parquet(rows: &[Row]) -> Result<Vec<u8>, SynthError> {
    let failed = |reason: String| SynthError::data(Path::new("parquet"), reason);
    let batch = batch(rows).map_err(|error| failed(error.to_string()))?;
    let level = ZstdLevel::try_new(3).map_err(|error| failed(error.to_string()))?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(level))
        .set_created_by(crate::row::COMPILER_VERSION.into())
        .build();
    let mut bytes = Vec::new();
    let writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties));
    let mut writer = writer.map_err(|error| failed(error.to_string()))?;
    writer.write(&batch).map_err(|error| failed(error.to_string()))?;
    writer.close().map_err(|error| failed(error.to_string()))?;
    Ok(bytes)
}

fn batch(rows: &[Row]) -> Result<RecordBatch, arrow::error::ArrowError> {
    let mut columns: Vec<(&str, ArrayRef)> = Vec::new();
    let text = |get: fn(&Row) -> Option<&str>| -> ArrayRef {
        Arc::new(rows.iter().map(get).collect::<StringArray>())
    };
    let long = |get: fn(&Row) -> u64| -> ArrayRef {
        Arc::new(UInt64Array::from_iter_values(rows.iter().map(get)))
    };
    let word = |get: fn(&Row) -> u32| -> ArrayRef {
        Arc::new(UInt32Array::from_iter_values(rows.iter().map(get)))
    };
    columns.push(("id", long(|row| row.id)));
    for &(name, get, _) in TEXTS {
        columns.push((name, text(get)));
    }
    let mut dims = ListBuilder::new(UInt32Builder::new());
    rows.iter()
        .for_each(|row| dims.append_value(row.launch_dims.iter().map(|&extent| Some(extent))));
    columns.push(("launch_dims", Arc::new(dims.finish())));
    let mut features = ListBuilder::new(StringBuilder::new());
    rows.iter().for_each(|row| features.append_value(row.features.iter().map(Some)));
    columns.push(("features", Arc::new(features.finish())));
    columns.push(("input_seed", long(|row| row.input_seed)));
    columns.push(("seed", long(|row| row.seed)));
    columns.push(("attempt", word(|row| row.attempt)));
    columns.push(("generator_version", word(|row| row.generator_version)));
    let marks: BooleanArray = rows.iter().map(|row| Some(row.in_warp)).collect();
    columns.push(("in_warp", Arc::new(marks)));
    let field =
        |(name, column): &(&str, ArrayRef)| Field::new(*name, column.data_type().clone(), true);
    let fields: Vec<Field> = columns.iter().map(field).collect();
    let metadata = HashMap::from([(VERSION_KEY.to_owned(), SCHEMA_VERSION.to_string())]);
    let schema = Schema::new_with_metadata(fields, metadata);
    RecordBatch::try_new(Arc::new(schema), columns.into_iter().map(|(_, column)| column).collect())
}

type Get = fn(&Row) -> Option<&str>;
type Set = fn(&mut Row, Option<String>);

/// The columns of text, in order.
#[rustfmt::skip]
static TEXTS: &[(&str, Get, Set)] = &[
    ("family", |row| Some(&row.family), |row, it| row.family = it.unwrap_or_default()),
    ("kernel", |row| Some(&row.kernel), |row, it| row.kernel = it.unwrap_or_default()),
    ("source", |row| Some(&row.source), |row, it| row.source = it.unwrap_or_default()),
    ("ir", |row| Some(&row.ir), |row, it| row.ir = it.unwrap_or_default()),
    ("ir_backward", |row| row.ir_backward.as_deref(), |row, it| row.ir_backward = it),
    ("cpp", |row| row.cpp.as_deref(), |row, it| row.cpp = it),
    ("cpp_backward", |row| row.cpp_backward.as_deref(), |row, it| row.cpp_backward = it),
    ("cuda", |row| row.cuda.as_deref(), |row, it| row.cuda = it),
    ("cuda_backward", |row| row.cuda_backward.as_deref(), |row, it| row.cuda_backward = it),
    ("ptx", |row| row.ptx.as_deref(), |row, it| row.ptx = it),
    ("ptx_backward", |row| row.ptx_backward.as_deref(), |row, it| row.ptx_backward = it),
    ("warp_cpp", |row| row.warp_cpp.as_deref(), |row, it| row.warp_cpp = it),
    ("warp_cuda", |row| row.warp_cuda.as_deref(), |row, it| row.warp_cuda = it),
    ("warp_origin_json", |row| row.warp_origin_json.as_deref(), |row, it| row.warp_origin_json = it),
    ("gradient_refused", |row| row.gradient_refused.as_deref(), |row, it| row.gradient_refused = it),
    ("signature_json", |row| Some(&row.signature_json), |row, it| row.signature_json = it.unwrap_or_default()),
    ("inputs_json", |row| Some(&row.inputs_json), |row, it| row.inputs_json = it.unwrap_or_default()),
    ("outputs_json", |row| row.outputs_json.as_deref(), |row, it| row.outputs_json = it),
    ("gradients_json", |row| row.gradients_json.as_deref(), |row, it| row.gradients_json = it),
    ("structure", |row| Some(&row.structure), |row, it| row.structure = it.unwrap_or_default()),
    ("split", |row| Some(&row.split), |row, it| row.split = it.unwrap_or_default()),
    ("checks_json", |row| Some(&row.checks_json), |row, it| row.checks_json = it.unwrap_or_default()),
    ("warp_gradient", |row| row.warp_gradient.as_deref(), |row, it| row.warp_gradient = it),
    ("compiler", |row| Some(&row.compiler), |row, it| row.compiler = it.unwrap_or_default()),
];

/// The columns of a Parquet file, in order.
pub fn column_names(path: &Path) -> Result<Vec<String>, SynthError> {
    let file = fs::File::open(path).map_err(SynthError::file(path))?;
    let reader = ParquetRecordBatchReaderBuilder::try_new(file)
        .map_err(|error| SynthError::data(path, error))?;
    Ok(reader.schema().fields().iter().map(|field| field.name().clone()).collect())
}

/// Columns that make up most of a row, and that statistics don't look at.
const BULKY: [&str; 14] = [
    "ir",
    "ir_backward",
    "cpp",
    "cpp_backward",
    "cuda",
    "cuda_backward",
    "ptx",
    "ptx_backward",
    "warp_cpp",
    "warp_cuda",
    "signature_json",
    "inputs_json",
    "outputs_json",
    "gradients_json",
];

/// The rows of a Parquet file.
pub fn read_parquet(path: &Path) -> Result<Vec<Row>, SynthError> {
    read_columns(path, &[])
}

/// The same without what makes rows long: texts made from the source, inputs and results.
pub fn read_brief(path: &Path) -> Result<Vec<Row>, SynthError> {
    read_columns(path, &BULKY)
}

fn read_columns(path: &Path, left_out: &[&str]) -> Result<Vec<Row>, SynthError> {
    let file = fs::File::open(path).map_err(SynthError::file(path))?;
    let reader = ParquetRecordBatchReaderBuilder::try_new(file)
        .map_err(|error| SynthError::data(path, error))?;
    let found =
        reader.schema().metadata().get(VERSION_KEY).cloned().unwrap_or_else(|| "none".into());
    if found != SCHEMA_VERSION.to_string() {
        return Err(other_schema(path, &found));
    }
    let schema = reader.schema().clone();
    let kept = (0..schema.fields().len())
        .filter(|&at| !left_out.contains(&schema.field(at).name().as_str()));
    let kept = ProjectionMask::roots(reader.parquet_schema(), kept);
    let reader = reader.with_projection(kept);
    let mut rows = Vec::new();
    for batch in reader.build().map_err(|error| SynthError::data(path, error))? {
        let batch = batch.map_err(|error| SynthError::data(path, error))?;
        let missing = || SynthError::data(path, "a column is missing");
        rows.extend(rows_of(&batch, left_out).ok_or_else(missing)?);
    }
    Ok(rows)
}

/// What readers say of files that another program wrote.
pub(crate) fn other_schema(path: &Path, found: &str) -> SynthError {
    let reason = format!("schema version {found}, this program reads {SCHEMA_VERSION}");
    SynthError::data(path, reason)
}

/// Takes out of a row what statistics don't look at.
pub(crate) fn make_brief(row: &mut Row) {
    TEXTS.iter().filter(|it| BULKY.contains(&it.0)).for_each(|&(_, _, set)| set(row, None));
}

fn rows_of(batch: &RecordBatch, left_out: &[&str]) -> Option<Vec<Row>> {
    fn column<'a, T: 'static>(batch: &'a RecordBatch, name: &str) -> Option<&'a T> {
        batch.column_by_name(name)?.as_any().downcast_ref()
    }
    let long = |name| column::<UInt64Array>(batch, name);
    let (id, input_seed, seed) = (long("id")?, long("input_seed")?, long("seed")?);
    let (attempt, version) = (
        column::<UInt32Array>(batch, "attempt")?,
        column::<UInt32Array>(batch, "generator_version")?,
    );
    let in_warp = column::<BooleanArray>(batch, "in_warp")?;
    let (dims, features) =
        (column::<ListArray>(batch, "launch_dims")?, column::<ListArray>(batch, "features")?);
    let mut rows = Vec::with_capacity(batch.num_rows());
    for at in 0..batch.num_rows() {
        let (own_dims, own_features) = (dims.value(at), features.value(at));
        let extents = own_dims.as_any().downcast_ref::<UInt32Array>()?;
        let words = own_features.as_any().downcast_ref::<StringArray>()?;
        rows.push(Row {
            id: id.value(at),
            input_seed: input_seed.value(at),
            seed: seed.value(at),
            attempt: attempt.value(at),
            generator_version: version.value(at),
            in_warp: in_warp.value(at),
            launch_dims: extents.values().to_vec(),
            features: words.iter().flatten().map(str::to_owned).collect(),
            ..Row::default()
        });
    }
    for &(name, _, set) in TEXTS.iter().filter(|it| !left_out.contains(&it.0)) {
        let column: &StringArray = column(batch, name)?;
        for (row, text) in rows.iter_mut().zip(column.iter()) {
            set(row, text.map(str::to_owned));
        }
    }
    Some(rows)
}
