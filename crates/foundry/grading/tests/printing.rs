//! Rows whose kernels print: the printed text is not part of their results.

use gbxcule_grading::answer::Answer;
use gbxcule_grading::stand_in::StandIn;
use gbxcule_grading::task::Task;
use gbxcule_grading::{Grade, GradeOptions, grade};
use gbxcule_harvest::harvest;
use gbxcule_rows::row::{Mode, Plan, Row, Texts};
use gbxcule_rows::validate::{Checks, has_failed, validate};
use gbxcule_rows::verdict::Verdict;
use std::collections::BTreeMap;

const KERNELS: &str = "import warp as wp\n\n\n@wp.kernel\ndef loud(x: wp.array(dtype=float), y: wp.array(dtype=float)):\n    \
    i = wp.tid()\n    y[i] = x[i] * 2.0\n    wp.printf(\"%f\\n\", x[i])\n    print(y[i])\n\n\n@wp.kernel\n\
    def expects(x: wp.array(dtype=int), y: wp.array(dtype=int)):\n    i = wp.tid()\n    wp.expect_eq(x[i], 3)\n    \
    y[i] = x[i] + 1\n";

/// Two rows, with the checks of the host's compiler, graded by their own texts.
#[test]
fn kernels_that_print_pass_every_check_and_are_right() {
    let folder = tempfile::tempdir().expect("a folder");
    let (code, work) = (folder.path().join("code"), folder.path().join("work"));
    std::fs::create_dir(&code).expect("a folder");
    std::fs::write(code.join("loud.py"), KERNELS).expect("a file");
    let plan = Plan { seed: 1, mode: Mode::Run, device: Texts::Both, host_every: 0, sampled: 100 };
    let rows = harvest(&code, "MIT", plan, 1, &|| ()).expect("rows").rows;
    assert_eq!(rows.len(), 2);
    let wanted = Checks { host: Some(work.clone()), ..Checks::default() };
    for checks in validate(&rows, &wanted).expect("a C++ compiler") {
        assert!(!has_failed(&checks), "{checks:?}");
        let passed = |name| {
            checks.iter().flatten().any(|it| it.check == name && it.verdict == Verdict::Pass)
        };
        assert!(passed("cpp") && passed("cuda_on_host"), "{checks:?}");
    }
    let by_id: BTreeMap<u64, Row> = rows.iter().map(|row| (row.id, row.clone())).collect();
    let answer = |row: &Row, task| {
        let StandIn { text, .. } = StandIn::own(row, task)?;
        Some(Answer::new(row.id, task, text, 1))
    };
    let tasks = || Task::ALL.into_iter().take(5);
    let answers: Vec<Answer> =
        rows.iter().flat_map(|row| tasks().filter_map(move |task| answer(row, task))).collect();
    assert_eq!(answers.len(), 10);
    let options = GradeOptions {
        seed: 5,
        work,
        workers: 2,
        limits: GradeOptions::LIMITS,
        cuda_on_host: true,
    };
    let grades = grade(&by_id, &answers, &options, &|| ()).expect("a C++ compiler");
    assert!(grades.iter().all(|it| *it == Grade::Right), "{grades:?}");
}
