//! Stored rows pass every check, and rows made wrong on purpose don't.

use gbxcule_rows::batch::Manifest;
use gbxcule_rows::external_column::Tools;
use gbxcule_rows::mutate::{Mutation, score};
use gbxcule_rows::row::{Mode, Plan, Row, Texts, make};
use gbxcule_rows::validate::{Checks, Provenance, count_verdicts, validate};
use gbxcule_rows::verdict::{Check, CheckOutcome, Verdict};
use std::path::{Path, PathBuf};

fn rows(range: std::ops::Range<u64>) -> Vec<Row> {
    let plan = Plan { seed: 11, mode: Mode::Run, device: Texts::Both, host_every: 0, sampled: 100 };
    range.map(|id| make(plan, id)).collect()
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("synth").join(name)
}

#[test]
fn every_row_passes_every_check_that_can_run_here() {
    let rows = rows(0..24);
    let verdicts = validate(&rows, &Checks { host: Some(folder("checks")), ..Checks::default() })
        .expect("a C++ compiler");
    for (row, checks) in rows.iter().zip(&verdicts) {
        for check in checks {
            let fails = check.as_ref().is_ok_and(|check| check.verdict == Verdict::Fail);
            assert!(!fails, "row {} {check:?}\n{}", row.id, row.source);
        }
    }
    let counts = count_verdicts(&verdicts);
    println!("{counts:?}");
    for name in ["parses", "texts", "outputs", "machine_code", "cpp", "cuda_on_host"] {
        assert!(counts.iter().any(|count| count.check == name && count.pass == 24), "{name}");
    }
}

/// Mutated rows that pass the checks compute the same on other inputs, too.
#[test]
fn mutated_rows_are_caught() {
    let mut missed = |_: Mutation, row: &Row, wrong: &Row| {
        println!("row {}\n{}\n{}", row.id, row.source, wrong.source);
    };
    let folder = folder("mutants");
    let scores = score(&rows(100..124), 3, Some(&folder), None, &mut missed);
    for score in scores.expect("a C++ compiler") {
        println!("{score:?}");
        assert!(score.made >= 12, "{score:?}");
        assert!(score.caught * 100 >= (score.made - score.equal) * 99, "{score:?}");
        assert!(score.equal * 10 <= score.made, "{score:?}");
    }
}

/// The manifest says for which rows the host's compiler was asked.
#[test]
fn another_number_of_compiled_rows_in_the_manifest_is_found_without_a_compiler() {
    let rows = rows(0..4);
    let asked = Checks { host: Some(folder("sampled")), ..Checks::default() };
    let cpp = |row: &Row| -> Row {
        let found = validate(std::slice::from_ref(row), &asked).expect("a C++ compiler").remove(0);
        let cpp: Vec<_> =
            found.into_iter().filter(|it| it.as_ref().is_ok_and(|it| it.check == "cpp")).collect();
        let mut row = row.clone();
        row.record_verdicts(&cpp);
        row
    };
    let sampled: Vec<Row> =
        rows.iter().map(|row| if row.id % 2 == 0 { cpp(row) } else { row.clone() }).collect();
    let failing = |host_every| -> Vec<u64> {
        let plan =
            Plan { seed: 11, mode: Mode::Run, device: Texts::Both, host_every, sampled: 100 };
        let manifest = Manifest::new(4, plan, &Tools::default());
        let dataset = Some(Provenance::of(manifest, &sampled));
        let found = validate(&sampled, &Checks { dataset, ..Checks::default() })
            .expect("no program is asked");
        let fails = |(row, checks): (&Row, &Vec<CheckOutcome>)| {
            let is_failed = |it: &Check| it.check == "verdicts" && it.verdict == Verdict::Fail;
            checks.iter().flatten().any(is_failed).then_some(row.id)
        };
        sampled.iter().zip(&found).filter_map(fails).collect()
    };
    let wanted: [(u64, &[u64]); 4] = [(2, &[]), (0, &[0, 2]), (1, &[1, 3]), (3, &[2, 3])];
    for (host_every, rows) in wanted {
        assert_eq!(failing(host_every), rows, "{host_every}");
    }
}
