//! Grades: stored texts and equivalent rewritings are right, changed ones are wrong, and hostile
//! ones do no harm.

use gbxcule_grading::answer::Answer;
use gbxcule_grading::stand_in::StandIn;
use gbxcule_grading::task::{Language, Task};
use gbxcule_grading::{Grade, GradeOptions, grade};
use gbxcule_ir::{parse, print};
use gbxcule_rows::row::{Mode, Plan, Row, Texts, make};
use gbxcule_rows::sandboxed_program::HostLimits;
use gbxcule_sandbox::{Limits, Protection};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

fn rows(mode: Mode, range: Range<u64>) -> BTreeMap<u64, Row> {
    let plan = Plan { seed: 11, mode, device: Texts::Both, host_every: 0, sampled: 100 };
    range.map(|id| (id, make(plan, id))).collect()
}

fn options(name: &str) -> GradeOptions {
    GradeOptions {
        seed: 5,
        work: Path::new(env!("CARGO_TARGET_TMPDIR")).join("grade").join(name),
        workers: 2,
        limits: GradeOptions::LIMITS,
        cuda_on_host: true,
    }
}

fn answer(it: &StandIn) -> Answer {
    Answer::new(it.row, it.task, it.text.clone(), 1)
}

/// Grades stand-ins; returns those whose grade isn't the known one.
fn misjudged(rows: &BTreeMap<u64, Row>, all: &[StandIn], name: &str) -> Vec<(StandIn, Grade)> {
    let answers: Vec<Answer> = all.iter().map(answer).collect();
    let grades = grade(rows, &answers, &options(name), &|| ()).expect("a C++ compiler");
    assert_eq!(grades.len(), all.len());
    let pairs = all.iter().cloned().zip(grades);
    pairs.filter(|(it, grade)| it.is_right != (*grade == Grade::Right)).collect()
}

#[test]
fn printed_ir_of_rows_reads_back() {
    let mut texts = 0;
    // A quarter of the rows are algorithms of the library, of one kernel or several.
    let (mode, device) = (Mode::Text, Texts::Both);
    let plan = Plan { seed: 11, mode, device, host_every: 0, sampled: 75 };
    for row in (0..400).map(|id| make(plan, id)) {
        for text in std::iter::once(&row.ir).chain(&row.ir_backward) {
            let module = parse::module(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
            assert_eq!(print::module(&module), *text);
            let valid = gbxcule_ir::check::module(module);
            assert!(valid.is_ok(), "{text}\n{:?}", valid.err());
            texts += 1;
        }
    }
    assert!(texts > 700, "{texts}");
}

#[test]
fn every_stored_text_is_right() {
    let rows = rows(Mode::Run, 0..3);
    let all: Vec<StandIn> = rows.values().flat_map(|row| on_host(row, &StandIn::own)).collect();
    assert!(all.len() >= 24, "{}", all.len());
    assert_eq!(misjudged(&rows, &all, "stored"), Vec::new());
}

/// Stand-ins for all tasks that need no simulator.
fn on_host(row: &Row, of: &dyn Fn(&Row, Task) -> Option<StandIn>) -> Vec<StandIn> {
    let tasks = Task::ALL.into_iter().filter(|task| *task != Task::FindRace);
    tasks.filter_map(|task| of(row, task)).collect()
}

/// Returns rows of which some are algorithms with descriptions.
fn described() -> BTreeMap<u64, Row> {
    let (mode, device) = (Mode::Meaning, Texts::Both);
    let plan = Plan { seed: 11, mode, device, host_every: 0, sampled: 40 };
    (0..10).map(|id| (id, make(plan, id))).collect()
}

/// Tasks that ask for a repair, a line, a number, or a kernel of a description, on the interpreter.
const ASKED: [Task; 4] =
    [Task::RepairPython, Task::FindBug, Task::PredictValue, Task::DescriptionToPython];

#[test]
fn repairs_lines_numbers_and_described_kernels_are_judged_by_running_them() {
    let rows = described();
    let of_all = |of: &dyn Fn(&Row, Task) -> Option<StandIn>| -> Vec<StandIn> {
        rows.values().flat_map(|row| ASKED.map(|task| of(row, task))).flatten().collect()
    };
    let mut all = of_all(&StandIn::own);
    all.extend(of_all(&|row, task| StandIn::changed(row, task, 3)));
    for task in ASKED {
        for is_right in [true, false] {
            let own = all.iter().filter(|it| it.task == task && it.is_right == is_right);
            assert!(own.count() >= 3, "{task:?} {is_right}");
        }
    }
    let misjudged = misjudged(&rows, &all, "asked");
    assert!(misjudged.iter().all(|(it, _)| !it.is_right), "{misjudged:?}");
    assert!(misjudged.len() * 50 <= all.len(), "{misjudged:?}");
}

/// Returns the question of a prompt.
fn question(task: Task, row: &Row) -> String {
    let prompt = task.prompt(row).expect("a prompt");
    prompt["messages"][1]["content"].as_str().expect("a text").to_owned()
}

#[test]
fn a_question_holds_no_answer_and_the_kernel_that_it_gives_is_wrong() {
    let mut counts = BTreeMap::<Task, usize>::new();
    for row in described().values() {
        for task in [Task::RepairPython, Task::RepairCuda, Task::FindBug, Task::PredictValue] {
            if !task.is_of(row) {
                continue;
            }
            *counts.entry(task).or_default() += 1;
            let question = question(task, row);
            let own = [&row.source, row.cuda_plain.as_ref().or(row.cuda.as_ref()).expect("CUDA")];
            let shows = |text: &str| question.contains(text.trim_end());
            assert_eq!(shows(own[0]), task == Task::PredictValue, "{question}");
            assert!(!question.contains("answer: ") || task.answered_in() == Language::Word);
            if task == Task::RepairPython && counts[&task] <= 3 {
                let given = question.split("```").nth(1).expect("a block");
                let given = given.strip_prefix("python\n").expect("Python").to_owned();
                let answer = Answer::new(row.id, task, given, 1);
                let rows = BTreeMap::from([(row.id, row.clone())]);
                let grades =
                    grade(&rows, &[answer], &options("given"), &|| ()).expect("no compiler");
                assert!(matches!(grades[0], Grade::WrongResult(_)), "{question}: {grades:?}");
            }
        }
    }
    assert!(counts.values().all(|count| *count >= 5) && counts.len() == 4, "{counts:?}");
}

#[test]
fn words_that_are_no_answers_are_told() {
    let rows = described();
    let (&id, row) = rows.iter().find(|(_, row)| Task::FindBug.is_of(row)).expect("a row");
    let graded = |task, text: &str| {
        let answer = Answer::new(id, task, text.into(), 1);
        grade(&rows, &[answer], &options("words"), &|| ()).expect("no compiler").remove(0)
    };
    let lines = row.source.lines().count();
    for (task, text, kind) in [
        (Task::FindBug, "answer: the second", Grade::NAMES[3]),
        (Task::FindBug, "answer: 1", Grade::NAMES[1]),
        (Task::FindBug, "answer: 0", Grade::NAMES[1]),
        (Task::FindBug, "answer: 18446744073709551615", Grade::NAMES[1]),
        (Task::FindBug, &format!("answer: {}", lines + 1), Grade::NAMES[1]),
        (Task::FindRace, "answer: no", Grade::NAMES[4]),
        (Task::PredictValue, "", Grade::NAMES[3]),
        (Task::PredictValue, "answer: NaN", Grade::NAMES[1]),
    ] {
        let grade = graded(task, text);
        assert_eq!(Grade::NAMES[grade.kind()], kind, "{task:?} {text}: {grade:?}");
    }
}

#[test]
fn changed_python_and_ir_is_wrong_unless_it_computes_the_same() {
    let rows = rows(Mode::Run, 40..64);
    let all: Vec<StandIn> = rows
        .values()
        .flat_map(|row| {
            [Task::CudaToPython, Task::PythonToIr].map(|task| StandIn::changed(row, task, 3))
        })
        .flatten()
        .collect();
    let wrong = all.iter().filter(|it| !it.is_right).count();
    assert!(wrong >= 40, "{wrong} of {}", all.len());
    let misjudged = misjudged(&rows, &all, "changed");
    // An answer that computes the right numbers is never called wrong.
    assert!(misjudged.iter().all(|(it, _)| !it.is_right), "{misjudged:?}");
    assert!(misjudged.len() * 100 <= wrong, "{misjudged:?}");
}

#[test]
fn changed_cuda_and_gradients_are_wrong() {
    let rows = rows(Mode::Run, 100..102);
    let all: Vec<StandIn> = rows
        .values()
        .flat_map(|row| {
            let tasks = [Task::PythonToCpp, Task::PythonToCuda, Task::ForwardToBackward];
            tasks.map(|task| StandIn::changed(row, task, 3))
        })
        .flatten()
        .collect();
    assert!(all.iter().filter(|it| !it.is_right).count() >= 4, "{all:?}");
    assert_eq!(misjudged(&rows, &all, "changed-cuda"), Vec::new());
}

/// Outputs that begin at zero would hide `+=` in the place of `=`.
#[test]
fn answers_that_add_to_their_outputs_are_wrong() {
    let rows = rows(Mode::Run, 0..40);
    let adds = |row: &Row| {
        let inputs: serde_json::Value = serde_json::from_str(&row.inputs_json).ok()?;
        let output = inputs.as_array()?.iter().find(|it| it["zero"] == true)?["name"].as_str()?;
        let store = format!("    {output}[");
        let line = row.source.lines().rev().find(|line| line.starts_with(&store))?;
        let (place, value) = line.split_once("] = ")?;
        let text = row.source.replace(line, &format!("{place}] += {value}"));
        Some(Answer::new(row.id, Task::CudaToPython, text, 1))
    };
    let answers: Vec<Answer> = rows.values().filter_map(adds).collect();
    let grades = grade(&rows, &answers, &options("adds"), &|| ()).expect("no compiler is needed");
    let right = grades.iter().filter(|it| **it == Grade::Right).count();
    assert!(answers.len() >= 15, "{}", answers.len());
    assert_eq!(right, 0, "{grades:?}");
}

/// One row for all single answers.
static ROW: LazyLock<BTreeMap<u64, Row>> = LazyLock::new(|| rows(Mode::Run, 3..4));

fn graded(task: Task, text: &str, limits: HostLimits) -> Grade {
    let answer = Answer::new(3, task, text.into(), 1);
    let options = GradeOptions { limits, ..options("one") };
    grade(&ROW, &[answer], &options, &|| ()).expect("a C++ compiler").remove(0)
}

#[test]
fn what_is_no_program_or_another_one_says_where() {
    let own = &ROW[&3];
    let python = |text: &str| graded(Task::CudaToPython, text, GradeOptions::LIMITS);
    let ir = |text: &str| graded(Task::PythonToIr, text, GradeOptions::LIMITS);
    assert_eq!(python(&own.source), Grade::Right);
    let fenced = format!("Sure:\n\n```python\n{}```\nDone!", own.source);
    assert_eq!(python(&fenced), Grade::Right);
    let renamed = own.source.replace(&own.kernel, "another_name");
    assert_eq!(python(&renamed), Grade::Right);
    assert!(matches!(python("def f(:\n"), Grade::DoesNotParse(reason) if reason.starts_with("1:")));
    assert!(
        matches!(python("x = 1\n"), Grade::DoesNotCompile(reason) if reason.contains("no kernel"))
    );
    let other = "import warp as wp\n\n\n@wp.kernel\ndef f(x: int):\n    wp.tid()\n";
    assert!(matches!(python(other), Grade::DoesNotCompile(reason) if reason.contains("parameter")));
    assert_eq!(ir(&own.ir), Grade::Right);
    assert!(matches!(ir("kernel"), Grade::DoesNotParse(reason) if reason.starts_with("1:7: ")));
    let untyped = own.ir.replacen("f32", "i64", 1);
    assert!(matches!(ir(&untyped), Grade::DoesNotCompile(_)), "{untyped}");
    let cuda = graded(Task::PythonToCuda, "int main( {", GradeOptions::LIMITS);
    assert!(matches!(&cuda, Grade::DoesNotCompile(reason) if reason.contains("error")), "{cuda:?}");
}

#[test]
fn cuda_for_a_host_is_no_cuda() {
    let text = ROW[&3].cuda.as_ref().expect("CUDA text").replace("__global__ ", "");
    let found = graded(Task::PythonToCuda, &text, GradeOptions::LIMITS);
    assert!(matches!(&found, Grade::DoesNotCompile(reason) if reason.contains("__global__")));
}

/// Grades the texts of gradients of rows, with a line in front of the loop over the threads, which
/// may name the first array that the row only reads and has a gradient of.
fn gradients_with(line: &dyn Fn(&str) -> String, name: &str) -> Vec<Grade> {
    let rows = rows(Mode::Run, 0..6);
    let changed = |row: &Row| {
        let own = StandIn::own(row, Task::ForwardToBackward)?;
        let inputs: serde_json::Value = serde_json::from_str(&row.inputs_json).ok()?;
        let has_gradient = |it: &&serde_json::Value| {
            let name = it["name"].as_str().unwrap_or_default();
            it["written"] != true && own.text.contains(&format!("gbx::gradient({name})"))
        };
        let name = inputs.as_array()?.iter().find(has_gradient)?["name"].as_str()?;
        let head = own.text.rfind("for (gbx::Thread")?;
        let text = format!("{}{}{}", &own.text[..head], line(name), &own.text[head..]);
        Some(Answer::new(row.id, own.task, text, 1))
    };
    let answers: Vec<Answer> = rows.values().filter_map(changed).collect();
    grade(&rows, &answers, &options(name), &|| ()).expect("a C++ compiler")
}

/// Rows whose arrays the gradient's kernel must not overwrite.
#[test]
fn a_gradient_that_overwrites_what_it_is_of_is_wrong() {
    let line = |name: &str| format!("memset((void*){name}.data, 0x3b, 4);\n");
    let grades = gradients_with(&line, "overwrites");
    let is_told =
        |it: &Grade| matches!(it, Grade::WrongResult(reason) if !reason.contains("fault"));
    assert!(grades.len() >= 2 && grades.iter().all(is_told), "{grades:#?}");
}

/// The pointer of a gradient is null in some launches, on the host, too.
#[test]
fn a_gradient_that_relies_on_all_pointers_is_wrong() {
    let line = |name: &str| format!("if (!gbx::gradient({name}).data) __builtin_trap();\n");
    let grades = gradients_with(&line, "absent");
    let crashes =
        |it: &&Grade| matches!(it, Grade::WrongResult(reason) if reason.contains("signal 4"));
    assert!(grades.iter().filter(crashes).count() >= 2, "{grades:#?}");
}

/// The rows' own gradients also obey the rule for graded ones.
#[test]
fn the_gradient_of_a_row_leaves_its_arrays_as_they_are() {
    use gbxcule_rows::execute::{self, ArgumentBytes, LaunchInputs};
    use gbxcule_rows::row_program::RowProgram;

    let mut count = 0;
    for row in rows(Mode::Run, 0..40).values() {
        let program = RowProgram::read(&row.source).expect("a program");
        let (Ok(reverse), Some(inputs)) = (&program.reverse, row.inputs()) else { continue };
        let grid = LaunchInputs { dims: &row.launch_dims, inputs: &inputs };
        let data = execute::arguments(&program, &inputs, row.input_seed);
        let Ok(data) = execute::forward(&program, grid, &data) else { continue };
        let gradients = execute::cotangents(&program, &inputs, row.input_seed);
        let memory = ArgumentBytes { data, gradients };
        let after = execute::launch(&reverse.module, reverse.kernel, grid, &memory).expect("runs");
        assert_eq!(after.data, memory.data, "row {}\n{}", row.id, row.source);
        count += 1;
    }
    assert!(count >= 10, "{count}");
}

#[test]
fn an_answer_about_a_row_that_does_not_run_has_no_verdict() {
    let mut rows = ROW.clone();
    let own = StandIn::own(&rows[&3], Task::PythonToIr).expect("a text");
    let row = rows.get_mut(&3).expect("a row");
    let stored = row.outputs_json.as_ref().expect("results");
    row.outputs_json = Some(stored.replacen("\"values\": [", "\"values\": [7.5, ", 1));
    let grades = grade(&rows, &[answer(&own)], &options("unsound"), &|| ()).expect("no compiler");
    assert!(matches!(&grades[0], Grade::NotGraded(reason) if reason.contains("stored results")));
}

const SHORT: HostLimits = HostLimits {
    compiler: Limits { cpu: Duration::from_secs(3), ..GradeOptions::LIMITS.compiler },
    program: Limits {
        cpu: Duration::from_secs(1),
        wall: Duration::from_secs(2),
        ..GradeOptions::LIMITS.program
    },
};

/// An interpreted answer ends by itself, or is ended when its budget is used up.
#[test]
fn hostile_python_and_ir_end_with_a_verdict() {
    let own = &ROW[&3];
    let marked = |line: &str| {
        let body = own.source.find("tid()\n").expect("the first line") + "tid()\n".len();
        format!("{}    {line}\n{}", &own.source[..body], &own.source[body..])
    };
    let head = own.ir.find("{\n").expect("a body") + 2;
    let inside = |line: &str| format!("{}  {line}\n{}", &own.ir[..head], &own.ir[head..]);
    let python = [
        marked("while True:\n        wp.printf(\"%999999999d\", 1)"),
        marked("z = wp.zeros(shape=(1000000, 1000), dtype=float)"),
        marked("open(\"/etc/passwd\").read()"),
        marked("__import__(\"os\").system(\"touch /tmp/gbxcule-was-here\")"),
        format!(
            "import os\nos.system(\"touch /tmp/gbxcule-was-here\")\n{}",
            "x = (".repeat(20_000)
        ),
        format!("{}\nY = {}", own.source, "[".repeat(100_000)),
        "\0\u{feff}\u{202e}".repeat(1000),
    ];
    for text in python {
        let found = graded(Task::CudaToPython, &text, SHORT);
        assert_ne!(found, Grade::Right, "{}", &text[..text.len().min(400)]);
        assert!(!matches!(found, Grade::NotGraded(_)), "{found:?}");
    }
    assert!(!Path::new("/tmp/gbxcule-was-here").exists(), "Python was executed");
    let endless = "while {\n  } test true {\n    printf(\"%d %d\\n\", 1i32)\n  }";
    for text in [
        inside(endless),
        inside("var huge: [f32; 400000000]"),
        inside("trap \"stop\""),
        inside(&format!("trap \"{}\"", "so it is ".repeat(20_000))),
        inside(&"if true {\n".repeat(100_000)),
        "%".repeat(500_000),
        "x".repeat(2_000_000),
    ] {
        let found = graded(Task::PythonToIr, &text, SHORT);
        assert_ne!(found, Grade::Right, "{}", &text[..text.len().min(400)]);
        assert!(!matches!(found, Grade::NotGraded(_)), "{found:?}");
        assert!(found.reason().is_some_and(|it| it.len() < 5000), "a reason of any length");
    }
}

/// Declares a constant that a compiler computes for hours.
const LONG_CONSTANT: &str =
    "constexpr long fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static_assert(fib(60) > 0);";

/// Declares four million types.
const MANY_TEMPLATES: &str = "template<int N, int S> struct T { static const long v = T<N - 1, 2 * S>::v + T<N - 1, 2 * S + 1>::v; };
template<int S> struct T<0, S> { static const long v = S; };
static long all = T<22, 1>::v;";

/// Compiled answers run in the sandbox; an answer that exceeds a limit gets a verdict.
#[test]
fn hostile_cpp_and_cuda_end_with_a_verdict() {
    if Protection::here().warning().is_some() {
        return;
    }
    let own = &ROW[&3];
    let text = own.cuda.as_ref().expect("CUDA text");
    let loops = text.find("for (gbx::Thread").expect("the loop over threads");
    let inside = |line: &str| format!("{}{line}\n{}", &text[..loops], &text[loops..]);
    let begun = |line: &str| format!("{line}\n{text}");
    let files = "#include <cstdio>\n#include <cstdlib>\n#include <unistd.h>\n";
    let wrong = |found: &Grade| matches!(found, Grade::WrongResult(_));
    let refused = |found: &Grade| matches!(found, Grade::DoesNotCompile(_));
    type Judge<'a> = &'a dyn Fn(&Grade) -> bool;
    let attacks: [(String, Judge<'_>); 9] = [
        (inside("for (volatile int x = 0;; ++x) {}"), &wrong),
        (
            begun(&format!(
                "{files}static int bomb = [] {{ while (fork() >= 0) {{}} abort(); return 0; }}();"
            )),
            &wrong,
        ),
        (
            begun(&format!(
                "{files}static int spy = fopen(\"/etc/passwd\", \"r\") ? 0 : (abort(), 0);"
            )),
            &wrong,
        ),
        (
            begun(&format!(
                "{files}static int flood = [] {{ for (;;) puts(\"flood\"); return 0; }}();"
            )),
            &wrong,
        ),
        (
            begun(&format!(
                "{files}static int forge = (puts(\"forged\"), fflush(stdout), _exit(0), 0);"
            )),
            &wrong,
        ),
        (begun("#include \"/dev/zero\""), &refused),
        (begun("#include \"/etc/passwd\""), &refused),
        (begun(LONG_CONSTANT), &refused),
        (begun(MANY_TEMPLATES), &refused),
    ];
    for (text, is_expected) in attacks {
        let found = graded(Task::PythonToCuda, &text, SHORT);
        assert!(is_expected(&found), "{found:?}\n{}", &text[..300]);
    }
    let work = options("one").work;
    assert_eq!(std::fs::read_dir(&work).expect("the work folder").count(), 0, "nothing is left");
}

/// Attacks as files: the first line gives the expected verdict, the rest is put before a right
/// text. Right answers graded at the same time stay right, and no file or process is left.
#[test]
fn attacks_of_the_corpus_get_their_verdicts_and_spoil_none_of_others() {
    if Protection::here().warning().is_some() {
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/attacks/answers");
    let right = ROW[&3].cuda.as_ref().expect("CUDA text");
    let answer = |text: String| Answer::new(3, Task::PythonToCuda, text, 1);
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("the corpus")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    // Threads divide the work by rows: with a second number, the same row is graded twice at the
    // same time.
    let mut rows = ROW.clone();
    rows.insert(4, Row { id: 4, ..ROW[&3].clone() });
    let (mut answers, mut expected) = (Vec::new(), Vec::new());
    for path in &paths {
        let attack = std::fs::read_to_string(path).expect("a text");
        let verdict = attack.lines().next().and_then(|line| line.strip_prefix("// "));
        expected.push(verdict.expect("a verdict").to_owned());
        answers.push(answer(format!("{attack}{right}")));
        expected.push("right".to_owned());
        answers.push(Answer { row: 4, ..answer(right.clone()) });
    }
    let options = GradeOptions { limits: SHORT, ..options("corpus") };
    let grades = grade(&rows, &answers, &options, &|| ()).expect("a C++ compiler");
    let other: Vec<_> = grades
        .iter()
        .zip(&expected)
        .enumerate()
        .filter(|(_, (grade, expected))| Grade::NAMES[grade.kind()] != expected.as_str())
        .map(|(at, (grade, _))| (at, &paths[at / 2], grade))
        .collect();
    assert!(other.is_empty(), "{other:#?}");
    assert_eq!(std::fs::read_dir(&options.work).expect("a folder").count(), 0, "nothing is left");
}
