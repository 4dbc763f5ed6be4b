//! The grader of `gbxcule.grade`.

// PyO3 passes arguments by value.
#![allow(clippy::needless_pass_by_value)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use gbxcule_grading::answer::Answer;
use gbxcule_grading::task::Task;
use gbxcule_grading::{Grade, GradeOptions};
use gbxcule_rows::batch::{read_brief, read_some};
use gbxcule_rows::row::Row;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

/// A grader for a dataset, with the compilers that the answers need.
#[pyclass(frozen)]
pub(crate) struct Grader {
    grader: gbxcule_grading::Grader<BTreeMap<u64, Row>>,
}

/// A task: its name, its row, the row's family and split.
type TaskOfRow = (&'static str, u64, String, String);

#[pymethods]
impl Grader {
    #[new]
    fn new(
        py: Python<'_>,
        dataset: PathBuf,
        seed: u64,
        workers: usize,
        work: PathBuf,
        cuda_on_host: bool,
    ) -> PyResult<Self> {
        let limits = GradeOptions::LIMITS;
        let options = GradeOptions { seed, work, workers, limits, cuda_on_host };
        py.detach(|| {
            // A damaged file is reported before all columns are read.
            read_brief(&dataset, &|_| ())?;
            let rows = read_some(&dataset, &|_| true)?;
            Ok(Self { grader: gbxcule_grading::Grader::new(rows, options) })
        })
        .map_err(|error: gbxcule_rows::error::SynthError| PyValueError::new_err(error.to_string()))
    }

    /// Returns the tasks with some names, or all, by row.
    #[pyo3(signature = (names=None))]
    fn tasks(&self, names: Option<BTreeSet<String>>) -> Vec<TaskOfRow> {
        let is_asked = |task: &Task| names.as_ref().is_none_or(|it| it.contains(task.name()));
        let of_row = |row: &Row| {
            let tasks = Task::ALL.into_iter().filter(|it| is_asked(it) && it.is_of(row));
            let named = |task: Task| (task.name(), row.id, row.family.clone(), row.split.clone());
            tasks.map(named).collect::<Vec<_>>()
        };
        self.grader.rows().values().flat_map(of_row).collect()
    }

    /// Returns the prompt of a task, as a line of JSON.
    fn prompt(&self, py: Python<'_>, task: &str, row: u64) -> PyResult<String> {
        let task = named(task)?;
        py.detach(|| {
            let row = self.grader.rows().get(&row);
            row.and_then(|row| task.prompt(row)).map(|prompt| prompt.to_string())
        })
        .ok_or_else(|| PyValueError::new_err(format!("the dataset has no {}", task.custom_id(row))))
    }

    /// Grades answers, each given by task, row and text; returns the names of the verdicts and
    /// their reasons.
    fn grade(
        &self,
        py: Python<'_>,
        answers: Vec<(String, u64, String)>,
    ) -> PyResult<Vec<(&'static str, Option<String>)>> {
        let answers: PyResult<Vec<Answer>> = answers
            .into_iter()
            .enumerate()
            .map(|(at, (task, row, text))| {
                Ok(Answer { row, task: named(&task)?, text, line: at + 1, missing: None })
            })
            .collect();
        let answers = answers?;
        let grades = py
            .detach(|| self.grader.grade(&answers, &|| ()))
            .map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        let verdict =
            |grade: Grade| (Grade::NAMES[grade.kind()], grade.reason().map(str::to_owned));
        Ok(grades.into_iter().map(verdict).collect())
    }
}

fn named(task: &str) -> PyResult<Task> {
    task.parse().map_err(|reason: String| PyValueError::new_err(reason))
}
