//! A grader that stays: its compilers and its problems are made once.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use gbxcule_rows::error::SynthError;
use gbxcule_rows::row::Row;
use gbxcule_rows::sandboxed_program;
use gbxcule_rows::worker_threads::on_threads;

use crate::answer::Answer;
use crate::graded_row::GradedRow;
use crate::task::Language;
use crate::{CudaRunner, Grade, GradeOptions, grade_one};

/// Problems that are kept. When there are more, all are worked out anew.
const KEPT_PROBLEMS: usize = 512;

/// A row's right results, or why there are none.
type Problem = Arc<Result<GradedRow, String>>;

/// Grades answers about the rows of one dataset, as often as it is asked.
pub struct Grader<Rows> {
    rows: Rows,
    options: GradeOptions,
    cuda: OnceLock<CudaRunner>,
    problems: Mutex<BTreeMap<u64, Problem>>,
}

impl<Rows: Borrow<BTreeMap<u64, Row>> + Sync> Grader<Rows> {
    /// Makes a grader for such rows.
    pub fn new(rows: Rows, options: GradeOptions) -> Self {
        Self { rows, options, cuda: OnceLock::new(), problems: Mutex::default() }
    }

    /// Returns the rows, by number.
    pub fn rows(&self) -> &BTreeMap<u64, Row> {
        self.rows.borrow()
    }

    /// Grades answers, in their order; `graded` hears of each.
    ///
    /// # Errors
    /// The host's compiler, or a program that it makes, can't be started.
    pub fn grade(
        &self,
        answers: &[Answer],
        graded: &(dyn Fn() + Sync),
    ) -> Result<Vec<Grade>, SynthError> {
        let needs = |language| answers.iter().any(|it| it.task.answered_in() == language);
        let needs_cuda = needs(Language::Cuda);
        if needs_cuda && self.cuda.get().is_none() {
            _ = self.cuda.set(CudaRunner::find(&self.options));
        }
        let cuda = self.cuda.get().unwrap_or(&CudaRunner::Host);
        if needs(Language::Cpp) || needs_cuda && matches!(cuda, CudaRunner::Host) {
            sandboxed_program::check(&self.options.work, self.options.limits)?;
        }
        // Answers about one row are one thread's, which works out once what is right.
        let mut by_row: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (at, answer) in answers.iter().enumerate() {
            by_row.entry(answer.row).or_default().push(at);
        }
        let by_row: Vec<(u64, Vec<usize>)> = by_row.into_iter().collect();
        let next = AtomicUsize::new(0);
        let work = || -> Result<Vec<(usize, Grade)>, SynthError> {
            let mut grades = Vec::new();
            while let Some((id, own)) = by_row.get(next.fetch_add(1, Ordering::Relaxed)) {
                let problem = self.problem(*id);
                for &at in own {
                    let grade = match &*problem {
                        Ok(problem) => grade_one(problem, &answers[at], &self.options, cuda)?,
                        Err(reason) => Grade::NotGraded(reason.clone()),
                    };
                    grades.push((at, grade));
                    graded();
                }
            }
            Ok(grades)
        };
        let parts: Result<Vec<Vec<(usize, Grade)>>, SynthError> =
            on_threads(self.options.workers.min(by_row.len().max(1)), work).into_iter().collect();
        let mut grades: Vec<(usize, Grade)> = parts?.into_iter().flatten().collect();
        grades.sort_by_key(|(at, _)| *at);
        Ok(grades.into_iter().map(|(_, grade)| grade).collect())
    }

    fn problem(&self, id: u64) -> Problem {
        let lock = || self.problems.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(problem) = lock().get(&id) {
            return Arc::clone(problem);
        }
        let row = self.rows().get(&id).ok_or_else(|| "the dataset has no such row".to_owned());
        let problem = Arc::new(row.and_then(|row| GradedRow::of(row, self.options.seed)));
        let mut problems = lock();
        if problems.len() >= KEPT_PROBLEMS {
            problems.clear();
        }
        problems.insert(id, Arc::clone(&problem));
        problem
    }
}
