//! Measures the processor time of answers in each language, on one thread of a Linux machine. The
//! first answer about a row also makes the row's draws. Answers in CUDA need NVRTC.
//!
//! `cargo run --release -p gbxcule-grading --example answer_time -- 6 21 42`

use gbxcule_grading::answer::Answer;
use gbxcule_grading::stand_in::StandIn;
use gbxcule_grading::task::Task;
use gbxcule_grading::{Grade, GradeOptions, Grader};
use gbxcule_rows::row::{Mode, Plan, Row, Texts, make};
use std::collections::BTreeMap;

/// Number of answers about a row.
const ANSWERS: usize = 12;
/// The rows of `gbxcule synth generate --seed 3701 --device both`.
const PLAN: Plan =
    Plan { seed: 3701, mode: Mode::Run, device: Texts::Both, host_every: 0, sampled: 30 };

/// Milliseconds that this process and its children have run, in steps of 10.
fn milliseconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").expect("Linux");
    let fields = text.rsplit(')').next().expect("a name").split_whitespace();
    let times = fields.skip(11).take(4).map(|it| it.parse::<f64>().expect("a number"));
    10.0 * times.sum::<f64>()
}

/// Returns answers: the row's own text, each time with another comment.
fn answers(row: &Row, task: Task) -> Vec<Answer> {
    let Some(own) = StandIn::own(row, task) else { return Vec::new() };
    let comment = if task == Task::CudaToPython { "#" } else { "//" };
    let text = |number: usize| match (task, number) {
        (_, 0) => own.text.clone(),
        // IR has no comments, so empty lines make the texts differ.
        (Task::PythonToIr, _) => format!("{}{}", own.text, "\n".repeat(number)),
        _ => format!("{}\n{comment} {number}\n", own.text),
    };
    (0..ANSWERS).map(|it| Answer::new(row.id, task, text(it), 1)).collect()
}

fn main() {
    let ids = std::env::args().skip(1).map(|it| it.parse().expect("a row's number"));
    let rows: BTreeMap<u64, Row> = ids.map(|id| (id, make(PLAN, id))).collect();
    assert!(!rows.is_empty(), "name the rows: answer_time 6 21 42");
    let folder = tempfile::tempdir().expect("a folder");
    for task in [Task::CudaToPython, Task::PythonToIr, Task::PythonToCuda] {
        let work = folder.path().to_owned();
        let limits = GradeOptions::LIMITS;
        let options = GradeOptions { seed: 5, work, workers: 1, limits, cuda_on_host: false };
        let created = milliseconds();
        let grader = Grader::new(&rows, options);
        let (mut cold, mut warm, mut right, mut graded) = (Vec::new(), Vec::new(), 0, 0);
        for row in rows.values() {
            let answers = answers(row, task);
            let Some((first, others)) = answers.split_first() else { continue };
            let timed = |answers: &[Answer]| {
                let begun = milliseconds();
                let grades = grader.grade(answers, &|| ()).expect("it grades");
                (milliseconds() - begun, grades)
            };
            let (time, mut grades) = timed(std::slice::from_ref(first));
            cold.push(time);
            let (time, rest) = timed(others);
            warm.push(time / others.len() as f64);
            grades.extend(rest);
            graded += grades.len();
            right += grades.iter().filter(|it| **it == Grade::Right).count();
        }
        let mean = |times: &[f64]| times.iter().sum::<f64>() / times.len().max(1) as f64;
        let greatest = cold.iter().copied().fold(0.0, f64::max);
        let (cold, warm) = (mean(&cold), mean(&warm));
        // Programs that the grader keeps are counted when they end.
        drop(grader);
        let all = (milliseconds() - created) / f64::from(graded.max(1) as u32);
        println!(
            "{}: {all:.0} ms an answer of {ANSWERS} about a row: the first {cold:.0} (at most {greatest:.0}), others \
             {warm:.1}; {right} of {graded} right",
            task.name()
        );
    }
}
