//! Prints how many mechanical mutants of a dataset's header-free CUDA texts the grader calls right,
//! by kind: a plain addition for an atomic one, `+=` for `=`, an extent as the number of the stored
//! launch, `abs` and `clamp` left out. Needs NVRTC. Survivors are printed, because some compute the
//! same.
//!
//! `cargo run --release -p gbxcule-grading --example mutant_rates -- runs/kernels 100` takes one
//! mutant of a row, and at most 100 of a kind.

use gbxcule_grading::answer::Answer;
use gbxcule_grading::task::Task;
use gbxcule_grading::{Grade, GradeOptions, grade};
use gbxcule_rows::row::Row;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Changes a text at one of its places; `None` beyond the last place.
type Change = fn(&Row, &str, usize) -> Option<String>;
/// Kinds of mutants.
const KINDS: [(&str, Change); 5] = [
    ("atomic to plain", atomic_to_plain),
    ("= to +=", adds_for_stores),
    ("extent hard-coded", extent_hard_coded),
    ("abs dropped", |_, text, at| dropped(text, &["fabsf", "fabs", "abs"], at)),
    ("clamp dropped", |_, text, at| dropped(text, &["clamp"], at)),
];

/// Returns the offset of the body of the first kernel, behind all helpers.
fn body(text: &str) -> usize {
    let head = text.find("__global__").unwrap_or(text.len());
    text[head..].find('{').map_or(text.len(), |at| head + at)
}

/// Returns the arguments of a call, and the offset of the bracket that ends it.
fn arguments(text: &str, open: usize) -> Option<(Vec<&str>, usize)> {
    let (mut depth, mut from, mut all) = (0, open + 1, Vec::new());
    for (at, letter) in text.char_indices().skip_while(|it| it.0 < open) {
        match letter {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 || depth == 1 && letter == ',' {
            all.push(text[from..at].trim());
            from = at + 1;
        }
        if depth == 0 {
            return Some((all, at));
        }
    }
    None
}

/// Returns the calls of functions in the body of a kernel: the offset of the name and of the
/// bracket behind it.
fn calls<'t>(text: &'t str, names: &'t [&str]) -> impl Iterator<Item = (usize, usize)> + 't {
    let is_part = |it: char| it.is_ascii_alphanumeric() || it == '_';
    let opens = text.match_indices('(').filter(move |(at, _)| *at > body(text));
    opens.filter_map(move |(open, _)| {
        let name = text[..open].rsplit(|it| !is_part(it)).next()?;
        names.contains(&name).then_some((open - name.len(), open))
    })
}

fn atomic_to_plain(_: &Row, text: &str, at: usize) -> Option<String> {
    let is_statement = |(name, _): &(usize, usize)| text[..*name].ends_with("    ");
    let (name, open) = calls(text, &["atomicAdd"]).filter(is_statement).nth(at)?;
    let (arguments, end) = arguments(text, open)?;
    let [place, value] = arguments[..] else { return None };
    let place = place.strip_prefix('&')?;
    Some(format!("{}{place} += {value}{}", &text[..name], &text[end + 1..]))
}

fn adds_for_stores(_: &Row, text: &str, at: usize) -> Option<String> {
    let stores = text.match_indices("] = ").filter(|(at, _)| {
        let line = text[..*at].rsplit('\n').next().unwrap_or("").trim_start();
        *at > body(text) && !line.split('[').next().unwrap_or("").contains(' ')
    });
    let (store, _) = stores.clone().nth(at)?;
    Some(format!("{}] += {}", &text[..store], &text[store + 4..]))
}

fn extent_hard_coded(row: &Row, text: &str, at: usize) -> Option<String> {
    let (body, is_part) = (body(text), |it: char| it.is_ascii_alphanumeric() || it == '_');
    let words: BTreeSet<&str> = text[body..].split(|it| !is_part(it)).collect();
    let value = |word: &str| {
        let (array, dim) = word.rsplit_once("dim")?;
        let dim: usize = dim.parse().ok()?;
        if array.is_empty() {
            return row.launch_dims.get(dim).copied();
        }
        let array = array.strip_suffix('_')?;
        row.inputs()?.iter().find(|it| it.name == array)?.shape.get(dim).copied()
    };
    let (word, value) = words.iter().filter_map(|it| Some((*it, value(it)?))).nth(at)?;
    let mut changed = text[..body].to_owned();
    for part in text[body..].split_inclusive(|it| !is_part(it)) {
        match part.strip_prefix(word).filter(|rest| !rest.starts_with(is_part)) {
            Some(rest) => changed += &format!("{value}{rest}"),
            None => changed += part,
        }
    }
    Some(changed)
}

/// Replaces a call by its first argument.
fn dropped(text: &str, names: &[&str], at: usize) -> Option<String> {
    let (name, open) = calls(text, names).nth(at)?;
    let (arguments, end) = arguments(text, open)?;
    Some(format!("{}({}){}", &text[..name], arguments.first()?, &text[end + 1..]))
}

/// Returns one mutant of each row that has any, at most `most`, from rows that lie evenly apart.
fn mutants(rows: &BTreeMap<u64, Row>, change: Change, most: usize) -> Vec<(u64, String)> {
    let one = |(id, row): (&u64, &Row)| {
        let text = row.cuda_plain.as_deref()?;
        // One of the first three places, so that not all are guards.
        let place = |at: &usize| change(row, text, (*id as usize + at) % 3);
        Some((*id, [0, 1, 2].iter().find_map(place)?))
    };
    let all: Vec<(u64, String)> = rows.iter().filter_map(one).collect();
    let step = all.len().div_ceil(most.max(1)).max(1);
    all.into_iter().step_by(step).collect()
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [folder, most] = &words[..] else { panic!("name a dataset and a number of mutants") };
    let most = most.parse().expect("a number");
    let rows = gbxcule_rows::batch::read(Path::new(folder)).expect("a dataset");
    let rows: BTreeMap<u64, Row> = rows.into_iter().map(|row| (row.id, row)).collect();
    let folder = tempfile::tempdir().expect("a folder");
    for (kind, change) in KINDS {
        let mutants = mutants(&rows, change, most);
        let answer =
            |(id, text): &(u64, String)| Answer::new(*id, Task::PythonToCuda, text.clone(), 1);
        let answers: Vec<Answer> = mutants.iter().map(answer).collect();
        let (work, limits) = (folder.path().to_owned(), GradeOptions::LIMITS);
        let options = GradeOptions { seed: 5, work, workers: 2, limits, cuda_on_host: false };
        let grades = grade(&rows, &answers, &options, &|| ()).expect("it grades");
        let mut survive = 0;
        for ((id, text), grade) in mutants.iter().zip(grades) {
            if matches!(grade, Grade::Right | Grade::NotGraded(_)) {
                survive += 1;
                let unchanged = rows[id].cuda_plain.as_deref().unwrap_or_default();
                let changed = text.lines().zip(unchanged.lines()).filter(|(new, old)| new != old);
                let changed: Vec<&str> = changed.map(|(new, _)| new.trim()).collect();
                println!("row {id}, {kind}: {grade:?}: {changed:?}");
            }
        }
        println!("{kind}: {survive} of {} survive", mutants.len());
    }
}
