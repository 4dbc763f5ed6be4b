//! Stored rows pass every rung, and rows made wrong on purpose don't.

use gbxcule_synth::mutate::{Mutation, score};
use gbxcule_synth::row::{Mode, Plan, Row, Texts, make};
use gbxcule_synth::validate::{Rungs, ladder, validate};
use std::path::{Path, PathBuf};

fn rows(range: std::ops::Range<u64>) -> Vec<Row> {
    let plan = Plan { seed: 11, mode: Mode::Run, device: Texts::Both };
    range.map(|id| make(plan, id)).collect()
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("synth").join(name)
}

#[test]
fn every_row_passes_every_rung_that_can_run_here() {
    let rows = rows(0..24);
    let verdicts = validate(&rows, &Rungs { host: Some(folder("ladder")), ..Rungs::default() })
        .expect("a C++ compiler");
    for (row, checks) in rows.iter().zip(&verdicts) {
        for check in checks {
            assert_ne!(check.verdict, "fail", "row {} {check:?}\n{}", row.id, row.source);
        }
    }
    let ladder = ladder(&verdicts);
    println!("{ladder:?}");
    for name in ["parses", "texts", "outputs", "cpp", "cuda_on_host"] {
        assert!(ladder.iter().any(|rung| rung.0 == name && rung.1 == 24), "{name}");
    }
}

#[test]
fn mutated_rows_are_caught() {
    for (kind, made, caught) in
        score(&rows(100..124), 3, Some(&folder("mutants"))).expect("a C++ compiler")
    {
        println!("{}: {caught} of {made}", kind.name());
        assert!(made >= 12, "{}: only {made}", kind.name());
        // Which wrong sources compute the same is for the full score to say.
        let least = if kind == Mutation::SourceAndTexts { made - made / 8 } else { made };
        assert!(caught >= least, "{}: {caught} of {made}", kind.name());
    }
}
