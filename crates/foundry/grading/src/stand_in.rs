//! Answers with known grades, which test a grading: a dataset's texts, some of them made wrong on
//! purpose.

use crate::task::{Language, Task};
use gbxcule_grammar::random;
use gbxcule_rows::mutate::{Mutation, same_gradients, same_outputs};
use gbxcule_rows::row::Row;
use serde_json::json;

/// Greatest number of seeds that are tried to find a change that gives another program.
const TRIES: u64 = 8;

/// An answer whose grade is known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StandIn {
    /// Number of the row.
    pub row: u64,
    /// Task.
    pub task: Task,
    /// The answer.
    pub text: String,
    /// False for a text that was changed so that its results differ.
    pub is_right: bool,
}

impl StandIn {
    /// Returns the row's text for a task, unchanged.
    pub fn own(row: &Row, task: Task) -> Option<Self> {
        let text = task.stored(row)?.into_owned();
        Some(Self { row: row.id, task, text, is_right: true })
    }

    /// Returns our compiler's text for the row's source with one operator, function or number
    /// changed; for a task whose answer is a word, another word. `None` if the source has nothing
    /// to change, or the changed source has no such text.
    pub fn changed(row: &Row, task: Task, seed: u64) -> Option<Self> {
        if task.answered_in() == Language::Word {
            let text = other_word(&task.stored(row)?);
            return Some(Self { row: row.id, task, text, is_right: false });
        }
        (0..TRIES).find_map(|attempt| {
            let wrong = Mutation::SourceAndTexts.apply(row, random::seed(seed, attempt))?;
            // A change of the host code may leave the kernels as they are.
            let text = task.stored(&wrong).filter(|it| Some(it) != task.stored(row).as_ref())?;
            let text = text.into_owned();
            let is_right = match task {
                Task::ForwardToBackward => same_gradients(row, &wrong),
                _ => same_outputs(row, &wrong),
            };
            Some(Self { row: row.id, task, text, is_right })
        })
    }

    /// Returns a row's source with one operator, function or number changed, even if the results
    /// stay the same; `None` if there is nothing to change, or the changed source doesn't compile.
    pub fn changed_text(row: &Row, seed: u64) -> Option<String> {
        Some(Mutation::SourceAndTexts.apply(row, seed)?.source)
    }

    /// Returns the answer as a line of an answers file, in a fence as models write it.
    pub fn line(&self) -> String {
        let fence = self.task.answered_in().fences()[0];
        let answer = format!("```{fence}\n{}\n```", self.text.trim_end());
        let (row, task) = (self.row, self.task.name());
        format!(
            "{}\n",
            json!({ "row": row, "task": task, "answer": answer, "is_right": self.is_right })
        )
    }
}

/// Returns a word that differs from this number or `no`.
fn other_word(own: &str) -> String {
    let number = own.trim_start_matches("answer: ").parse::<f64>();
    number.map_or("answer: 1".into(), |number| format!("answer: {}", 2.0 * number.abs() + 1.0))
}
