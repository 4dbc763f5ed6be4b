//! Verdicts on wrong answers depend on no seed: mutants of rows, in Python, are graded with several
//! seeds of fresh inputs, and all seeds give the same verdict.
//!
//! A few rows by default; `GBXCULE_MUTANT_ROWS=300` asks for more, `GBXCULE_MUTANT_FIRST` for
//! others. `make attack` runs 20.

use gbxcule_grading::answer::Answer;
use gbxcule_grading::stand_in::StandIn;
use gbxcule_grading::task::Task;
use gbxcule_grading::{Grade, GradeOptions, grade};
use gbxcule_rows::mutate::same_outputs;
use gbxcule_rows::row::{Mode, Plan, Row, Texts, make};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Number of changes drawn for a row; most rows have fewer different ones.
const CHANGES: u64 = 40;
/// Seeds of fresh inputs.
const SEEDS: u64 = 6;
/// One wrong mutant in this many may have a verdict that depends on the seed.
const ALLOWED: usize = 500;
/// Half of the rows are sampled, half are algorithms of the library.
const PLAN: Plan =
    Plan { seed: 11, mode: Mode::Run, device: Texts::Both, host_every: 0, sampled: 50 };

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).map_or(otherwise, |it| it.parse().expect("a number"))
}

/// Changed texts of a row's source, with the verdict by each seed.
fn verdicts(row: &Row) -> Vec<(String, Vec<Grade>)> {
    let changed = (0..CHANGES).filter_map(|seed| StandIn::changed_text(row, seed));
    let texts: BTreeSet<String> = changed.collect();
    let answer = |text: &String| Answer::new(row.id, Task::CudaToPython, text.clone(), 1);
    let answers: Vec<Answer> = texts.iter().map(answer).collect();
    let rows = BTreeMap::from([(row.id, row.clone())]);
    let of_seed = |seed| {
        let work = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mutants");
        let limits = GradeOptions::LIMITS;
        let options = GradeOptions { seed, work, workers: 2, limits, cuda_on_host: true };
        grade(&rows, &answers, &options, &|| ()).expect("no compiler is needed")
    };
    let all: Vec<Vec<Grade>> = (0..SEEDS).map(of_seed).collect();
    let of_text = |at: usize| all.iter().map(|grades| grades[at].clone()).collect();
    let by_text = |(at, text)| (text, of_text(at));
    texts.into_iter().enumerate().map(by_text).collect()
}

#[test]
fn verdicts_on_mutants_depend_on_no_seed() {
    let (first, count) = (number("GBXCULE_MUTANT_FIRST", 0), number("GBXCULE_MUTANT_ROWS", 3));
    let (mut wrong, mut right, mut by_seed) = (0, 0, 0);
    for id in first..first + count {
        let row = make(PLAN, id);
        let source = &row.source;
        for (text, grades) in verdicts(&row) {
            match grades.iter().filter(|it| **it == Grade::Right).count() {
                0 => wrong += 1,
                all if all == grades.len() => right += 1,
                // A mutant may differ only by rounding: then it is no wrong answer.
                _ if same_outputs(&row, &Row { source: text.clone(), ..row.clone() }) => right += 1,
                _ => {
                    by_seed += 1;
                    let mut lines = source.lines().zip(text.lines());
                    let changed = lines.find(|(one, other)| one != other);
                    println!("row {id}: {changed:?}\n{grades:#?}\n{source}");
                }
            }
        }
        if (id + 1 - first).is_multiple_of(10) {
            println!("{id}: {wrong} wrong, {right} right, {by_seed} by the seed");
        }
    }
    println!("{count} rows: {wrong} wrong, {right} right, {by_seed} by the seed");
    assert!(wrong > 0 && by_seed * ALLOWED <= wrong + by_seed, "{by_seed} of {wrong}");
}
