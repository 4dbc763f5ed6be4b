//! A grader for many calls, which keeps its compilers and prepared rows.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use gbxcule_gpu_check::cost::Cost;
use gbxcule_rows::error::SynthError;
use gbxcule_rows::row::Row;
use gbxcule_rows::sandboxed_program;
use gbxcule_rows::worker_threads::in_order;

use crate::answer::Answer;
use crate::graded_row::GradedRow;
use crate::task::{Language, Task};
use crate::{Costs, CudaRunner, Grade, GradeOptions, Judged, grade_one, simulated};

/// Greatest number of prepared rows that are kept. Beyond this number all are dropped and prepared
/// again.
const KEPT_PROBLEMS: usize = 512;

/// Greatest number of bytes of answers whose grades are kept. An equal answer then gets the kept
/// grade.
const KEPT_BYTES: usize = 64 << 20;

/// Grades of answers by row, task and text.
#[derive(Default)]
struct KnownGrades {
    grades: BTreeMap<(u64, Task, String), (Grade, Option<Cost>)>,
    bytes: usize,
}

impl KnownGrades {
    fn add(&mut self, answer: &Answer, (grade, cost): &(Grade, Option<Cost>)) {
        // A failure of this machine may not recur.
        if matches!(grade, Grade::NotGraded(_)) {
            return;
        }
        self.bytes += answer.text.len();
        if self.bytes > KEPT_BYTES {
            (self.grades, self.bytes) = (BTreeMap::new(), answer.text.len());
        }
        let key = (answer.row, answer.task, answer.text.clone());
        self.grades.insert(key, (grade.clone(), *cost));
    }
}

/// A prepared row, or the reason why it can't be prepared; the first thread that needs the row
/// prepares it.
type Problem = Arc<OnceLock<Result<GradedRow, String>>>;

/// Grades answers about the rows of one dataset, in any number of calls.
pub struct Grader<Rows> {
    rows: Rows,
    options: GradeOptions,
    cuda: OnceLock<CudaRunner>,
    /// Prepared rows, by number and by whether they are for gradients.
    problems: Mutex<BTreeMap<(u64, bool), Problem>>,
    known: Mutex<KnownGrades>,
}

impl<Rows: Borrow<BTreeMap<u64, Row>> + Sync> Grader<Rows> {
    /// Makes a grader for these rows.
    pub fn new(rows: Rows, options: GradeOptions) -> Self {
        let (cuda, problems, known) = (OnceLock::new(), Mutex::default(), Mutex::default());
        Self { rows, options, cuda, problems, known }
    }

    /// Returns the rows, by number.
    pub fn rows(&self) -> &BTreeMap<u64, Row> {
        self.rows.borrow()
    }

    /// Grades answers in their order, and calls `graded` after each.
    ///
    /// # Errors
    /// The host's compiler, or a program that it makes, can't be started.
    pub fn grade(
        &self,
        answers: &[Answer],
        graded: &(dyn Fn() + Sync),
    ) -> Result<Vec<Grade>, SynthError> {
        let one = |answer: &Answer, cuda: &CudaRunner| Ok(self.grade_or_recall(answer, cuda)?.0);
        let graded = |_: usize, _: &Grade| {
            graded();
            Ok(())
        };
        self.for_each(answers, &graded, &one)
    }

    /// Grades answers, and compares the costs of right answers in CUDA with the costs of our
    /// compiler's texts. Calls `judged` with the place of each answer and its verdict, as soon as
    /// there is one; the first error stops the work.
    ///
    /// # Errors
    /// Those of [`Grader::grade`] and of `judged`.
    pub fn judge(
        &self,
        answers: &[Answer],
        judged: &(dyn Fn(usize, &Judged) -> Result<(), SynthError> + Sync),
    ) -> Result<Vec<Judged>, SynthError> {
        let one = |answer: &Answer, cuda: &CudaRunner| {
            let (grade, cost) = self.grade_or_recall(answer, cuda)?;
            let own = || self.own_cost(answer, cuda);
            Ok(Judged { grade, costs: cost.map(|cost| Costs { answer: cost, own: own() }) })
        };
        self.for_each(answers, judged, &one)
    }

    /// Returns the cost of our compiler's text for an answer's task.
    fn own_cost(&self, answer: &Answer, cuda: &CudaRunner) -> Option<Cost> {
        let CudaRunner::Simulator(compiler) = cuda else { return None };
        let problem = self.problem(answer);
        let problem = problem.get_or_init(|| self.graded_row(answer)).as_ref().ok()?;
        let cost = || simulated::own_cost(problem, is_backward(answer), compiler);
        *problem.own_cost.get_or_init(cost)
    }

    /// Calls a function for all answers on several threads, and returns the results in order.
    fn for_each<Outcome: Send>(
        &self,
        answers: &[Answer],
        graded: &(dyn Fn(usize, &Outcome) -> Result<(), SynthError> + Sync),
        one: &(dyn Fn(&Answer, &CudaRunner) -> Result<Outcome, SynthError> + Sync),
    ) -> Result<Vec<Outcome>, SynthError> {
        let needs = |language| answers.iter().any(|it| it.task.answered_in() == language);
        let needs_cuda = answers.iter().any(|it| it.task.needs_cuda());
        if needs_cuda && self.cuda.get().is_none() {
            _ = self.cuda.set(CudaRunner::find(&self.options));
        }
        let cuda = self.cuda.get().unwrap_or(&CudaRunner::Host);
        if needs(Language::Cpp) || needs(Language::Cuda) && matches!(cuda, CudaRunner::Host) {
            sandboxed_program::check(&self.options.work, self.options.limits)?;
        }
        // All answers of a row are graded one after the other, so that the prepared row is kept
        // only for a short time.
        let mut by_row: Vec<usize> = (0..answers.len()).collect();
        by_row.sort_by_key(|answer| answers[*answer].row);
        let workers = self.options.workers.min(by_row.len().max(1));
        let mut outcomes = in_order(workers, by_row.len(), |number| -> Result<_, SynthError> {
            let answer = by_row[number];
            let outcome = one(&answers[answer], cuda)?;
            graded(answer, &outcome)?;
            Ok((answer, outcome))
        })?;
        outcomes.sort_by_key(|(answer, _)| *answer);
        Ok(outcomes.into_iter().map(|(_, outcome)| outcome).collect())
    }

    fn grade_or_recall(
        &self,
        answer: &Answer,
        cuda: &CudaRunner,
    ) -> Result<(Grade, Option<Cost>), SynthError> {
        // A missing answer needs no prepared row.
        if let Some(reason) = &answer.missing
            && self.rows().contains_key(&answer.row)
        {
            return Ok((Grade::DoesNotParse(reason.clone()).shortened(), None));
        }
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (answer.row, answer.task, answer.text.clone());
        if let Some(grade) = known().grades.get(&key) {
            return Ok(grade.clone());
        }
        let problem = self.problem(answer);
        let problem = problem.get_or_init(|| self.graded_row(answer)).as_ref();
        let grade = match (problem, self.rows().get(&answer.row)) {
            (Ok(problem), Some(row)) => grade_one((row, problem), answer, &self.options, cuda)?,
            (Err(reason), _) => (Grade::NotGraded(reason.clone()), None),
            (Ok(_), None) => unreachable!("the problem is made of the row"),
        };
        let grade = (grade.0.shortened(), grade.1);
        known().add(answer, &grade);
        Ok(grade)
    }

    fn problem(&self, answer: &Answer) -> Problem {
        let id = (answer.row, is_backward(answer));
        let mut problems = self.problems.lock().unwrap_or_else(PoisonError::into_inner);
        if problems.len() >= KEPT_PROBLEMS && !problems.contains_key(&id) {
            problems.clear();
        }
        Arc::clone(problems.entry(id).or_default())
    }

    fn graded_row(&self, answer: &Answer) -> Result<GradedRow, String> {
        let row = self.rows().get(&answer.row);
        let row = row.ok_or_else(|| "the dataset has no such row".to_owned());
        row.and_then(|row| GradedRow::of(row, self.options.seed, is_backward(answer)))
    }
}

/// Returns true if an answer should compute gradients.
fn is_backward(answer: &Answer) -> bool {
    answer.task == Task::ForwardToBackward
}
