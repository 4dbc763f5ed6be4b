//! The CUDA texts of rows, forward and backward, on the simulator: all of them are right.

use gbxcule_grading::answer::Answer;
use gbxcule_grading::stand_in::StandIn;
use gbxcule_grading::task::Task;
use gbxcule_grading::{Grade, GradeOptions, grade};
use gbxcule_rows::row::{Mode, Plan, Row, Texts, make};
use std::collections::BTreeMap;
use std::path::Path;

/// `GRADED_ROWS=1000` asks for more rows, `GRADED_FROM` for others.
fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).map_or(otherwise, |it| it.parse().expect("a number"))
}

#[test]
#[ignore = "needs NVRTC and nvdisasm: run by `make corpus-share`"]
fn own_texts_are_right() {
    let plan =
        Plan { seed: 1414, mode: Mode::Meaning, device: Texts::Both, host_every: 0, sampled: 100 };
    let from = number("GRADED_FROM", 0);
    let ids = from..from + number("GRADED_ROWS", 12);
    let rows: BTreeMap<u64, Row> = ids.map(|id| (id, make(plan, id))).collect();
    let tasks = [Task::PythonToCuda, Task::ForwardToBackward];
    let own = |row: &Row| tasks.map(|task| StandIn::own(row, task));
    let all: Vec<StandIn> = rows.values().flat_map(own).flatten().collect();
    let answers: Vec<Answer> =
        all.iter().map(|it| Answer::new(it.row, it.task, it.text.clone(), 1)).collect();
    let work = Path::new(env!("CARGO_TARGET_TMPDIR")).join("own-cuda");
    std::fs::create_dir_all(&work).expect("a folder");
    let limits = GradeOptions::LIMITS;
    let options = GradeOptions { seed: 5, work, workers: 2, limits, cuda_on_host: false };
    let grades = grade(&rows, &answers, &options, &|| ()).expect("it grades");
    let off: Vec<_> = all.iter().zip(&grades).filter(|(_, it)| **it != Grade::Right).collect();
    for (it, grade) in &off {
        eprintln!("{} {}: {grade:?}", it.task.name(), it.row);
    }
    eprintln!("{} of {} are not right", off.len(), all.len());
    assert!(off.is_empty());
}
