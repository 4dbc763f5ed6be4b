//! Rows of a dataset's folder, for `gbxcule.dataset`.

// PyO3 passes arguments by value.
#![allow(clippy::needless_pass_by_value)]

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use gbxcule_rows::batch::{Manifest, read_file, read_file_brief};
use gbxcule_rows::data_file::{Format, files};
use gbxcule_rows::error::SynthError;
use gbxcule_rows::jsonl::to_jsonl;
use gbxcule_rows::row::Row;
use gbxcule_rows::row_array::{ArrayKind, RowArray, arrays, executed};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Number of files whose rows stay in memory; a block of rows has three.
const KEPT_FILES: usize = 4;

/// Rows of a file, by the file's number.
type FileRows = (usize, Arc<Vec<Row>>);

/// Data files of a dataset; the rows of the last used files stay in memory.
#[pyclass(frozen)]
pub(crate) struct StoredRows {
    format: Format,
    files: Vec<PathBuf>,
    read: Mutex<Vec<FileRows>>,
}

/// An array: name, type of an element as JSON, extents, memory.
type PyArray<'py> = (String, String, Vec<u32>, Bound<'py, PyBytes>);

#[pymethods]
impl StoredRows {
    #[new]
    fn new(folder: PathBuf) -> PyResult<Self> {
        Manifest::read(&folder).map_err(refused)?;
        let (format, files) = files(&folder).map_err(refused)?;
        Ok(Self { format, files, read: Mutex::default() })
    }

    /// Paths of the data files.
    #[getter]
    fn files(&self) -> Vec<PathBuf> {
        self.files.clone()
    }

    /// Returns file, number and split of each row.
    fn index(&self, py: Python<'_>) -> PyResult<Vec<(usize, u64, String)>> {
        py.detach(|| {
            let mut index = Vec::new();
            for (at, path) in self.files.iter().enumerate() {
                let rows = read_file_brief(self.format, path)?;
                index.extend(rows.into_iter().map(|row| (at, row.id, row.split)));
            }
            Ok(index)
        })
        .map_err(refused)
    }

    /// Returns a row's columns as JSON.
    fn columns(&self, py: Python<'_>, file: usize, row: u64) -> PyResult<String> {
        self.row(py, file, row, |row| to_jsonl(std::slice::from_ref(row)))?.map_err(refused)
    }

    /// Returns a row's arrays of a kind: inputs, cotangents, outputs or gradients.
    fn arrays<'py>(
        &self,
        py: Python<'py>,
        file: usize,
        row: u64,
        kind: &str,
    ) -> PyResult<Vec<PyArray<'py>>> {
        let kind = match kind {
            "inputs" => ArrayKind::Inputs,
            "cotangents" => ArrayKind::Cotangents,
            "outputs" => ArrayKind::Outputs,
            _ => ArrayKind::Gradients,
        };
        let arrays = self.row(py, file, row, |row| arrays(row, kind))?;
        Ok(to_python(py, arrays.map_err(PyValueError::new_err)?))
    }

    /// Runs a row's machine code, and returns its outputs and gradients.
    fn executed<'py>(
        &self,
        py: Python<'py>,
        file: usize,
        row: u64,
    ) -> PyResult<[Vec<PyArray<'py>>; 2]> {
        let results = self.row(py, file, row, executed)?;
        Ok(results.map_err(PyValueError::new_err)?.map(|arrays| to_python(py, arrays)))
    }
}

impl StoredRows {
    /// Calls a function with a row, whose file is read if it isn't in memory.
    fn row<T: Send>(
        &self,
        py: Python<'_>,
        file: usize,
        id: u64,
        with: impl FnOnce(&Row) -> T + Send,
    ) -> PyResult<T> {
        let path = self.files.get(file).ok_or_else(|| PyValueError::new_err("no such file"))?;
        py.detach(|| {
            let rows = self.rows(file, path)?;
            let row = rows.iter().find(|row| row.id == id);
            let missing = || SynthError::data(path, format!("row {id} is gone: open it anew"));
            row.map(with).ok_or_else(missing)
        })
        .map_err(refused)
    }

    fn rows(&self, file: usize, path: &Path) -> Result<Arc<Vec<Row>>, SynthError> {
        let read = || self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, rows)) = read().iter().find(|(at, _)| *at == file) {
            return Ok(Arc::clone(rows));
        }
        let rows = Arc::new(read_file(self.format, path)?);
        let mut read = read();
        if read.len() >= KEPT_FILES {
            read.remove(0);
        }
        read.push((file, Arc::clone(&rows)));
        Ok(rows)
    }
}

fn to_python(py: Python<'_>, arrays: Vec<RowArray>) -> Vec<PyArray<'_>> {
    let one = |RowArray { name, format, shape, bytes }: RowArray| {
        (name, format.to_string(), shape, PyBytes::new(py, &bytes))
    };
    arrays.into_iter().map(one).collect()
}

fn refused(error: SynthError) -> PyErr {
    PyValueError::new_err(error.to_string())
}
