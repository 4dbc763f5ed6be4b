//! Values of one column in Parquet's form: the existing values, in order, and two levels for each
//! position. The definition level counts how much of the path to the value exists; the repetition
//! level says if the value continues a list.

use crate::row::Row;
use parquet::column::page::PageReader;
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::DataType;
use parquet::errors::{ParquetError, Result};
use parquet::file::writer::SerializedColumnWriter;
use parquet::schema::types::ColumnDescriptor;
use std::cell::Cell;

/// Number of records that are read at a time.
const RECORDS: usize = 1024;

/// A column to be written.
pub(super) struct ColumnValues<T> {
    values: Vec<T>,
    definition: Vec<i16>,
    repetition: Option<Vec<i16>>,
}

impl<T> ColumnValues<T> {
    /// Makes a column with at most one value in each row.
    pub(super) fn flat(rows: impl Iterator<Item = Option<T>>) -> Self {
        let mut leaf = Self { values: Vec::new(), definition: Vec::new(), repetition: None };
        for value in rows {
            leaf.definition.push(i16::from(value.is_some()));
            leaf.values.extend(value);
        }
        leaf
    }

    /// Makes a column with a list in each row. On the path to an item the list, its first item or
    /// the value may be missing.
    pub(super) fn lists(rows: impl Iterator<Item: Iterator<Item = T>>) -> Self {
        let (mut values, mut definition, mut repetition) = (Vec::new(), Vec::new(), Vec::new());
        for items in rows {
            let before = values.len();
            values.extend(items);
            let count = values.len() - before;
            definition.resize(definition.len() + count, 3);
            if count == 0 {
                definition.push(1);
            }
            repetition.push(0);
            repetition.resize(definition.len(), 1);
        }
        Self { values, definition, repetition: Some(repetition) }
    }

    pub(super) fn write<D: DataType<T = T>>(
        &self,
        writer: &mut SerializedColumnWriter<'_>,
    ) -> Result<()> {
        let repetition = self.repetition.as_deref();
        writer.typed::<D>().write_batch(&self.values, Some(&self.definition), repetition)?;
        Ok(())
    }
}

/// Least number of bytes that the rows of a file may take in memory.
const MIN_BUDGET_BYTES: u64 = if cfg!(test) { 1 << 24 } else { 1 << 30 };
/// Number of bytes that rows may take for each byte of their file: several times the compression
/// ratio of texts.
const EXPANSION: u64 = 256;
/// Bytes that the levels and the value of one item take while a list is read.
const ITEM_BYTES: u64 = 32;

/// Memory that the rows of a file may still take, because ten kilobytes of a file can expand to
/// terabytes.
pub(super) struct MemoryBudget(Cell<u64>);

impl MemoryBudget {
    /// Returns the budget for a file of this size.
    pub(super) fn of(file_bytes: u64) -> Self {
        Self(Cell::new(file_bytes.saturating_mul(EXPANSION).max(MIN_BUDGET_BYTES)))
    }

    /// Takes some bytes from the budget, or reports that the file can't hold rows.
    pub(super) fn take(&self, bytes: usize) -> Result<()> {
        let left = self.0.get().checked_sub(bytes as u64).ok_or_else(too_much)?;
        self.0.set(left);
        Ok(())
    }

    /// Checks by the headers of a column's pages that the items of all lists fit the budget. A page
    /// is decoded as a whole, which would be too late.
    pub(super) fn check_items(&self, mut pages: Box<dyn PageReader>) -> Result<()> {
        let mut items = 0_u64;
        while let Some(page) = pages.peek_next_page()? {
            items = items.saturating_add(page.num_levels.unwrap_or(0) as u64);
            if items.saturating_mul(ITEM_BYTES) > self.0.get() {
                return Err(too_much());
            }
            pages.skip_next_page()?;
        }
        Ok(())
    }
}

fn too_much() -> ParquetError {
    ParquetError::General(
        "its values take far more memory than the file is long, which is true of no rows of kernels".into(),
    )
}

/// Rows that receive a column's values.
pub(super) struct Reading<'a> {
    pub(super) rows: &'a mut Vec<Row>,
    /// Index of the first row of this part of the file.
    pub(super) first: usize,
    pub(super) column: &'a ColumnDescriptor,
    /// True for the first column, which creates the rows.
    pub(super) makes_rows: bool,
    pub(super) budget: &'a MemoryBudget,
}

impl Reading<'_> {
    /// Reads all values, decodes each and puts it into its row.
    pub(super) fn each<D: DataType, V>(
        self,
        mut reader: ColumnReaderImpl<D>,
        decode: impl Fn(&D::T) -> Result<V>,
        put: impl Fn(&mut Row, V),
    ) -> Result<()> {
        let Self { rows, first, column, makes_rows, budget } = self;
        let (complete, repeats) = (column.max_def_level(), column.max_rep_level() > 0);
        let mut next = first;
        let (mut values, mut definition, mut repetition) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            values.clear();
            definition.clear();
            repetition.clear();
            let (levels, places) = (Some(&mut definition), Some(&mut repetition));
            let (records, _, count) = reader.read_records(RECORDS, levels, places, &mut values)?;
            if records == 0 {
                break;
            }
            let mut value = values.iter();
            for place in 0..count {
                if !repeats || repetition[place] == 0 {
                    next += 1;
                    if makes_rows {
                        budget.take(size_of::<Row>())?;
                        rows.push(Row::default());
                    }
                }
                if next == first {
                    return Err(ParquetError::General("goes on with a list of no row".into()));
                }
                if (complete == 0 || definition[place] == complete)
                    && let (Some(row), Some(value)) = (rows.get_mut(next - 1), value.next())
                {
                    put(row, decode(value)?);
                }
            }
        }
        if next != rows.len() {
            let (found, wanted) = (next - first, rows.len() - first);
            let reason = format!("has {found} rows where the first column has {wanted}");
            return Err(ParquetError::General(reason));
        }
        Ok(())
    }
}
