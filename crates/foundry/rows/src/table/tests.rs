//! Rows are read as they were written, and a file with other columns is refused with a column's
//! name.

use super::*;
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::file::writer::SerializedColumnWriter;

/// Writes a column's values.
type Values<'a> = &'a dyn Fn(&mut SerializedColumnWriter<'_>);

fn row(id: u64) -> Row {
    Row {
        id,
        source: "x = \"1\"\n\tµ".into(),
        cpp: id.is_multiple_of(2).then(String::new),
        input_seed: u64::MAX - id,
        attempt: u32::MAX,
        launch_dims: (0..id as u32 % 4).map(|extent| u32::MAX - extent).collect(),
        features: (0..id % 3).map(|number| format!("wp.{number}")).collect(),
        in_warp: id.is_multiple_of(3),
        ..Row::default()
    }
}

fn written(
    bytes: &[u8],
    read: fn(&Path) -> Result<Vec<Row>, SynthError>,
) -> Result<Vec<Row>, String> {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), bytes).expect("its bytes");
    let name = format!("{}: ", file.path().display());
    read(file.path()).map_err(|error| error.to_string().replace(&name, ""))
}

/// Writes a file of one or two columns from a schema and the columns' values.
fn file(schema: &str, columns: &[Values<'_>]) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(schema).expect("a schema"));
    let mut bytes = Vec::new();
    let mut writer =
        SerializedFileWriter::new(&mut bytes, schema, Arc::default()).expect("a writer");
    let mut group = writer.next_row_group().expect("a group");
    for write in columns {
        let mut column = group.next_column().expect("a column").expect("one more");
        write(&mut column);
        column.close().expect("its end");
    }
    group.close().expect("its end");
    writer.close().expect("the file's end");
    bytes
}

#[test]
fn rows_come_back_as_they_were_whatever_they_lack_and_however_they_are_grouped() {
    let rows: Vec<Row> = (0..3000).map(row).collect();
    let zstd = Compression::ZSTD(ZstdLevel::default());
    for (count, group_rows, compression) in [
        (1, GROUP_ROWS, zstd),
        (40, 1, Compression::UNCOMPRESSED),
        // Other writers use Snappy by default.
        (2000, 700, Compression::SNAPPY),
        (3000, GROUP_ROWS, zstd),
    ] {
        let bytes = encode(&rows[..count], group_rows, compression).expect("bytes");
        let found = written(&bytes, read_parquet).expect("rows");
        assert!(found == rows[..count], "{count} rows in groups of {group_rows}");
    }
    assert_eq!(written(&to_parquet(&[]).expect("bytes"), read_parquet), Ok(Vec::new()));
}

#[test]
fn brief_rows_lack_what_is_bulky_and_nothing_else() {
    let rows: Vec<Row> = (0..50).map(|id| Row { ir: "kernel".into(), ..row(id) }).collect();
    let mut brief = rows.clone();
    brief.iter_mut().for_each(make_brief);
    assert!(rows[0] != brief[0] && brief[0].source == rows[0].source);
    assert_eq!(written(&to_parquet(&rows).expect("bytes"), read_brief), Ok(brief));
}

#[test]
fn tables_of_another_schema_are_refused_by_their_column() {
    let id = "optional int64 id (INTEGER(64,false));";
    let longs: Values<'_> = &|column: &mut SerializedColumnWriter<'_>| {
        column.typed::<Int64Type>().write_batch(&[1, 2], Some(&[1, 1]), None).expect("values");
    };
    let words: Values<'_> = &|column: &mut SerializedColumnWriter<'_>| {
        column.typed::<Int32Type>().write_batch(&[1, 2], Some(&[1, 1]), None).expect("values");
    };
    let bytes: Values<'_> = &|column: &mut SerializedColumnWriter<'_>| {
        let values = [b"loops".to_vec(), b"\xFF".to_vec()].map(ByteArray::from);
        column.typed::<ByteArrayType>().write_batch(&values, Some(&[1, 1]), None).expect("values");
    };
    let said = |schema: &str, columns: &[Values<'_>]| {
        written(&file(&format!("message row {{ {schema} }}"), columns), read_parquet)
            .expect_err(schema)
    };
    assert_eq!(
        said("optional int32 id;", &[words]),
        "column `id`: Parquet error: is of another type"
    );
    assert_eq!(said(id, &[longs]), "column `family` is missing");
    let utf8 = said(&format!("{id} optional binary family (STRING);"), &[longs, bytes]);
    assert!(utf8.starts_with("column `family`: ") && utf8.contains("utf-8"), "{utf8}");
    let cut = &to_parquet(&[row(0)]).expect("bytes")[..900];
    assert!(written(cut, read_parquet).is_err());
}

#[test]
fn a_flipped_bit_anywhere_gives_rows_or_an_error_and_never_a_panic() {
    let bytes = to_parquet(&[row(1), row(2)]).expect("bytes");
    let mut state = 1_u64;
    // About one flip in 400 makes the `parquet` crate panic; the reader turns that into an error.
    for _ in 0..800 {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let place = (state >> 33) as usize % bytes.len();
        let mut damaged = bytes.clone();
        damaged[place] ^= 1 << (state >> 30 & 7);
        if let Err(said) = written(&damaged, read_parquet) {
            assert!(!said.is_empty(), "byte {place}");
        }
    }
}

/// In tests `MIN_BUDGET_BYTES`, the least limit of memory, is 16 MiB, so a file of some kilobytes
/// is enough.
#[test]
fn a_file_that_would_fill_memory_is_refused() {
    let id = "optional int64 id (INTEGER(64,false));";
    let nulls: Values<'_> = &|column: &mut SerializedColumnWriter<'_>| {
        column.typed::<Int64Type>().write_batch(&[], Some(&[0; 100_000]), None).expect("nulls");
    };
    let zero: Values<'_> = &|column: &mut SerializedColumnWriter<'_>| {
        column.typed::<Int64Type>().write_batch(&[0], Some(&[1]), None).expect("a value");
    };
    let long: Values<'_> = &|column: &mut SerializedColumnWriter<'_>| {
        let text = ByteArray::from(vec![b'x'; 16 << 10]);
        let levels = vec![1; 4096];
        let texts = vec![text; 4096];
        column.typed::<ByteArrayType>().write_batch(&texts, Some(&levels), None).expect("values");
    };
    let longs: Values<'_> = &|column: &mut SerializedColumnWriter<'_>| {
        let ids: Vec<i64> = (0..4096).collect();
        column.typed::<Int64Type>().write_batch(&ids, Some(&[1; 4096]), None).expect("values");
    };
    let items: Values<'_> = &|column: &mut SerializedColumnWriter<'_>| {
        let (column, mut repetition) = (column.typed::<Int32Type>(), vec![1; 1 << 20]);
        repetition[0] = 0;
        let (values, levels) = (vec![0; 1 << 20], vec![3; 1 << 20]);
        column.write_batch(&values, Some(&levels), Some(&repetition)).expect("values");
    };
    let family = "optional binary family (STRING);";
    let dims = "optional group launch_dims (LIST) { repeated group list { optional int32 item (INTEGER(32,false)); } }";
    for (schema, columns) in [
        (id.to_owned(), vec![nulls]),
        (format!("{id} {family}"), vec![longs, long]),
        (format!("{id} {dims}"), vec![zero, items]),
    ] {
        let bytes = file(&format!("message row {{ {schema} }}"), &columns);
        assert!(bytes.len() < 64 << 10, "{schema}: {} bytes", bytes.len());
        let message = written(&bytes, only_these).expect_err(&schema);
        assert!(message.contains("far more memory than the file is long"), "{schema}: {message}");
    }
}

/// Reads the columns that the files above have.
fn only_these(path: &Path) -> Result<Vec<Row>, SynthError> {
    let there = column_names(path)?;
    let missing: Vec<&str> = COLUMNS
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| !there.iter().any(|it| it == name))
        .collect();
    read_columns(path, &missing)
}

#[test]
fn a_table_of_another_compression_says_which_ones_are_read() {
    let said = check_compression(Compression::LZ4_RAW).expect_err("not read here").to_string();
    assert!(said.contains("LZ4_RAW") && said.contains("compression=\"zstd\""), "{said}");
}
