//! The CUDA texts of rows, forward and backward, on the simulator: all of them are right.

use gbxcule_grading::answer::Answer;
use gbxcule_grading::stand_in::StandIn;
use gbxcule_grading::task::Task;
use gbxcule_grading::{Grade, GradeOptions, grade};
use gbxcule_rows::row::{Mode, Plan, Row, Texts, make};
use gbxcule_rows::template_row::{self, Algorithm};
use gbxcule_templates::{COMPOSITIONS, Composition, LIBRARY};
use gbxcule_testkit::switch::{Share, is_chosen, shows};
use std::collections::BTreeMap;
use std::path::Path;

/// Reads a number: `GRADED_ROWS=1000` asks for more rows, `GRADED_FROM` for others.
fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).map_or(otherwise, |it| it.parse().expect("a number"))
}

#[test]
#[ignore = "needs NVRTC and nvdisasm: run by `make corpus-share`"]
fn own_texts_are_right() {
    let tasks = [Task::PythonToCuda, Task::ForwardToBackward];
    grade_own("own-cuda", 100, |row| {
        tasks.iter().filter_map(|&it| StandIn::own(row, it)).collect()
    });
}

#[test]
#[ignore = "needs NVRTC and nvdisasm: run by `make corpus-share`"]
fn texts_without_the_header_are_right() {
    let plain = |row: &Row| {
        let texts = [
            (Task::PythonToCuda, &row.cuda_plain),
            (Task::ForwardToBackward, &row.cuda_plain_backward),
        ];
        let stand_in = |(task, text): (Task, &Option<String>)| {
            Some(StandIn { row: row.id, task, text: text.clone()?, is_right: true })
        };
        texts.into_iter().filter_map(stand_in).collect()
    };
    grade_own("plain-cuda", 30, plain);
}

/// Returns one instance of a composition of two kernels; with `GBXCULE_SHARE=1/1` one of each
/// composition that `GBXCULE_ONLY` takes.
fn compositions() -> BTreeMap<u64, Row> {
    let plan = Plan { seed: 5, mode: Mode::Run, device: Texts::Both, host_every: 0, sampled: 0 };
    let all = Share::or_one_in(32).is_whole();
    let is_asked = |it: &&Composition| match all {
        true => is_chosen(&it.name),
        false => it.name == "loss_of_logits",
    };
    let rows = COMPOSITIONS.iter().filter(is_asked).zip(0..).map(|(it, id)| {
        let algorithm = Algorithm { topic: &it.topic, name: &it.name };
        let instance = it.instance(&LIBRARY, 0, 7).expect("an instance").expect("a text");
        let row = template_row::row(plan, algorithm, &instance, 0).expect("a row");
        (id, Row { id, ..row })
    });
    rows.collect()
}

#[test]
#[ignore = "needs NVRTC and nvdisasm: run by `make corpus-share`"]
fn texts_of_several_kernels_are_right_and_changed_ones_wrong() {
    let rows = compositions();
    // Some have kernels for which no text without the header exists.
    assert!(2 * rows.values().filter(|row| row.cuda_plain.is_some()).count() > rows.len());
    let plain = |row: &Row| {
        let texts = [
            (Task::PythonToCuda, &row.cuda_plain),
            (Task::ForwardToBackward, &row.cuda_plain_backward),
        ];
        let stand_in = |(task, text): (Task, &Option<String>)| {
            Some(StandIn { row: row.id, task, text: text.clone()?, is_right: true })
        };
        texts.into_iter().filter_map(stand_in).collect()
    };
    grade_rows("several-plain", &rows, plain);
    let tasks: Vec<Task> =
        Task::ALL.into_iter().filter(|it| rows.values().any(|row| it.is_of(row))).collect();
    // The task about gradients is missing if no row has them.
    assert!(tasks.len() >= 4, "{tasks:?}");
    let own = |row: &Row| tasks.iter().filter_map(|&it| StandIn::own(row, it)).collect();
    grade_rows("several", &rows, own);
    let changed = |row: &Row| {
        let wrong = |task: &Task| StandIn::changed(row, *task, 3).filter(|it| !it.is_right);
        tasks.iter().filter_map(wrong).collect()
    };
    grade_rows("several-changed", &rows, changed);
}

/// The right answer is known before the kernel runs: `no`, or the line that was changed.
#[test]
#[ignore = "needs NVRTC and nvdisasm: run by `make corpus-share`"]
fn races_are_where_questions_put_them() {
    let tasks = [Task::FindRace, Task::RepairCuda];
    let own = |row: &Row| tasks.iter().filter_map(|&it| StandIn::own(row, it)).collect();
    let all = grade_own("races", 40, own);
    let races = all.iter().filter(|it| it.task == Task::FindRace);
    let (no, lines): (Vec<_>, Vec<_>) = races.partition(|it| it.text.ends_with("no"));
    assert!(no.len() >= 2 && lines.len() >= 2, "{no:?} {lines:?}");
}

/// Grades texts of rows, of which `sampled` per cent are sampled kernels.
fn grade_own(name: &str, sampled: u32, texts: impl Fn(&Row) -> Vec<StandIn>) -> Vec<StandIn> {
    let plan =
        Plan { seed: 1414, mode: Mode::Meaning, device: Texts::Both, host_every: 0, sampled };
    let from = number("GRADED_FROM", 0);
    let ids = from..from + number("GRADED_ROWS", 12);
    let rows: BTreeMap<u64, Row> = ids.map(|id| (id, make(plan, id))).collect();
    grade_rows(name, &rows, texts)
}

/// Grades texts of rows, of which it is known whether they are right.
fn grade_rows(
    name: &str,
    rows: &BTreeMap<u64, Row>,
    texts: impl Fn(&Row) -> Vec<StandIn>,
) -> Vec<StandIn> {
    let all: Vec<StandIn> = rows.values().flat_map(texts).collect();
    let answers: Vec<Answer> =
        all.iter().map(|it| Answer::new(it.row, it.task, it.text.clone(), 1)).collect();
    let work = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&work).expect("a folder");
    let limits = GradeOptions::LIMITS;
    let options = GradeOptions { seed: 5, work, workers: 2, limits, cuda_on_host: false };
    let grades = grade(rows, &answers, &options, &|| ()).expect("it grades");
    let is_off = |(it, grade): &(&StandIn, &Grade)| it.is_right != (**grade == Grade::Right);
    let off: Vec<_> = all.iter().zip(&grades).filter(is_off).collect();
    for (it, grade) in &off {
        eprintln!("{} {}: {grade:?}", it.task.name(), it.row);
        if shows() {
            eprintln!("{}", it.text);
        }
    }
    eprintln!("{} of {} are misjudged", off.len(), all.len());
    assert!(off.is_empty());
    all
}
