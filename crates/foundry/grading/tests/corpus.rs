//! The corpus of answers in CUDA (`tests/corpus`): wrong ones by kind and right rewritings, graded
//! by NVRTC and the simulator. Those in Python, which have `import warp`, and in IR, which begin
//! with `kernel`, are read and interpreted.
//!
//! A file holds one kernel and its answers, in sections with a head line `===`: `=== kernel`, its
//! Python; `=== launch 24 3`, then a line for each argument: name, extents in brackets, least and
//! greatest number, and `out` for what begins at zero and is written, `inout` for what is read and
//! written, then `offsets` or `permutation` for its arrangement; `=== right: name` and `=== wrong:
//! kind: name`, an answer each.

use gbxcule_grading::answer::Answer;
use gbxcule_grading::task::Task;
use gbxcule_grading::{Grade, GradeOptions, grade};
use gbxcule_grammar::input::{ArgumentInput, Arrangement};
use gbxcule_grammar::random;
use gbxcule_rows::row::Row;
use gbxcule_testkit::switch::{is_chosen, shows};
use std::collections::BTreeMap;
use std::path::Path;

/// Name of all right answers in the table of rates.
const RIGHT: &str = "right rewritings";

/// An answer of the corpus.
#[derive(Clone, Debug)]
struct Case {
    /// `saxpy.txt: no guard`
    name: String,
    /// Kind of a wrong answer; empty for a right one.
    kind: String,
    task: Task,
    row: u64,
    text: String,
}

struct Corpus {
    rows: BTreeMap<u64, Row>,
    cases: Vec<Case>,
}

fn argument(line: &str) -> ArgumentInput {
    let (name, rest) = line.split_once(" [").expect("extents in brackets");
    let (extents, rest) = rest.split_once(']').expect("extents in brackets");
    let shape = extents.split_whitespace().map(|it| it.parse().expect("an extent")).collect();
    let words: Vec<&str> = rest.split_whitespace().collect();
    let number = |at: usize| words.get(at).map_or(0.0, |it| it.parse::<f64>().expect("a number"));
    let is_out = words.first() == Some(&"out");
    let arrangement = match words.last() {
        Some(&"offsets") => Arrangement::Offsets,
        Some(&"permutation") => Arrangement::Permutation,
        _ => Arrangement::Free,
    };
    let (low, high) = if is_out { (0.0, 0.0) } else { (number(0), number(1)) };
    ArgumentInput {
        name: name.into(),
        zero: is_out,
        written: is_out || words.contains(&"inout"),
        low,
        high,
        arrangement,
        ..ArgumentInput::integers(shape, low as i64, high as i64)
    }
}

impl Corpus {
    fn read() -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
        let files = std::fs::read_dir(folder).expect("the corpus");
        let mut paths: Vec<_> = files.flatten().map(|it| it.path()).collect();
        paths.sort();
        let mut corpus = Self { rows: BTreeMap::new(), cases: Vec::new() };
        for (id, path) in (1..).zip(&paths) {
            let text = std::fs::read_to_string(path).expect("a file");
            let file = path.file_stem().expect("a name").to_string_lossy();
            // Other files don't change the inputs of this one.
            let input_seed = file.bytes().fold(77, |seed, it| random::seed(seed, it.into()));
            corpus.add(Row { id, input_seed, ..Row::default() }, &file, &text);
        }
        corpus
    }

    fn add(&mut self, mut row: Row, file: &str, text: &str) {
        for section in text.split("=== ").skip(1) {
            let (head, body) = section.split_once('\n').expect("a section has lines");
            let (word, rest) = head.split_once([' ', ':']).unwrap_or((head, ""));
            match word {
                "kernel" => {
                    row.source = format!("import warp as wp\n\n\n{body}");
                    let name = body.split_once("def ").expect("a kernel").1;
                    row.kernel = name.split_once('(').expect("parameters").0.into();
                }
                "launch" => {
                    let extents = rest.split_whitespace();
                    row.launch_dims = extents.map(|it| it.parse().expect("an extent")).collect();
                    let lines = body.lines().filter(|it| !it.trim().is_empty());
                    let inputs: Vec<ArgumentInput> = lines.map(argument).collect();
                    row.inputs_json = serde_json::to_string(&inputs).expect("inputs");
                }
                "right" | "wrong" => {
                    let rest = rest.trim_start();
                    let (kind, name) = match word {
                        "wrong" => rest.split_once(": ").expect("kind and name"),
                        _ => ("", rest),
                    };
                    let task = match () {
                        () if body.contains("import warp") => Task::CudaToPython,
                        () if body.starts_with("kernel ") => Task::PythonToIr,
                        () if body.contains("grad_") => Task::ForwardToBackward,
                        () => Task::PythonToCuda,
                    };
                    self.cases.push(Case {
                        name: format!("{file}: {name}"),
                        kind: kind.into(),
                        task,
                        row: row.id,
                        text: body.into(),
                    });
                }
                other => panic!("{file}: a section `{other}`"),
            }
        }
        self.rows.insert(row.id, row);
    }

    /// Grades cases, prints the rates of each kind, and returns those that are misjudged.
    fn misjudged(&self, cases: &[Case]) -> Vec<String> {
        let of = |it: &Case| Answer::new(it.row, it.task, it.text.clone(), 1);
        let answers: Vec<Answer> = cases.iter().map(of).collect();
        let work = Path::new(env!("CARGO_TARGET_TMPDIR")).join("corpus");
        std::fs::create_dir_all(&work).expect("a folder");
        let limits = GradeOptions::LIMITS;
        let options = GradeOptions { seed: 5, work, workers: 2, limits, cuda_on_host: false };
        let grades = grade(&self.rows, &answers, &options, &|| ()).expect("it grades");
        let mut rates: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        let mut misjudged = Vec::new();
        for (case, grade) in cases.iter().zip(grades) {
            let is_known = (grade == Grade::Right) == case.kind.is_empty();
            let has_failed = grade.reason().is_some_and(|it| it.contains("the simulator failed"));
            let is_graded = !matches!(grade, Grade::NotGraded(_)) && !has_failed;
            let kind = if case.kind.is_empty() { RIGHT } else { &case.kind };
            let rate = rates.entry(kind).or_default();
            rate.0 += 1;
            if !is_known || !is_graded {
                rate.1 += 1;
                misjudged.push(format!("{} ({kind}): {grade:?}", case.name));
            } else if shows() {
                eprintln!("{} ({kind}): {grade:?}", case.name);
            }
        }
        misjudged.iter().for_each(|it| eprintln!("MISJUDGED {it}"));
        for (kind, (all, off)) in &rates {
            eprintln!("{kind}: {off} of {all} misjudged");
        }
        for (is_right, what) in [(false, "wrong answers that pass"), (true, "right ones refused")] {
            let own = rates.iter().filter(|(kind, _)| (**kind == RIGHT) == is_right);
            let (all, off) = own.fold((0, 0), |sum, (_, it)| (sum.0 + it.0, sum.1 + it.1));
            let share = 100.0 * off as f64 / f64::from(all.max(1) as u32);
            eprintln!("{what}: {off} of {all} ({share:.1} %)");
        }
        misjudged
    }
}

#[test]
fn the_corpus_has_three_hundred_answers_of_each_sort() {
    let corpus = Corpus::read();
    let right = corpus.cases.iter().filter(|it| it.kind.is_empty()).count();
    let wrong = corpus.cases.len() - right;
    assert!(right >= 400 && wrong >= 400, "{right} right, {wrong} wrong");
}

#[test]
fn answers_in_python_and_ir_are_judged_as_they_are() {
    let corpus = Corpus::read();
    for (task, least) in [(Task::CudaToPython, 16), (Task::PythonToIr, 6)] {
        assert!(corpus.cases.iter().filter(|it| it.task == task).count() >= least);
    }
    let is_read = |it: &&Case| [Task::CudaToPython, Task::PythonToIr].contains(&it.task);
    let cases: Vec<Case> = corpus.cases.iter().filter(is_read).cloned().collect();
    assert_eq!(corpus.misjudged(&cases).len(), 0);
}

/// One answer in sixteen.
#[test]
#[ignore = "needs NVRTC and nvdisasm: run by `make corpus-share`"]
fn a_share_of_the_corpus_is_judged_as_it_is() {
    let corpus = Corpus::read();
    let cases: Vec<Case> = corpus.cases.iter().step_by(16).cloned().collect();
    assert_eq!(corpus.misjudged(&cases).len(), 0);
}

#[test]
#[ignore = "needs NVRTC and nvdisasm, some minutes: run by `make corpus`"]
fn all_of_the_corpus_is_judged_as_it_is() {
    let corpus = Corpus::read();
    let cases: Vec<Case> = corpus.cases.iter().filter(|it| is_chosen(&it.name)).cloned().collect();
    assert_eq!(corpus.misjudged(&cases).len(), 0);
}
