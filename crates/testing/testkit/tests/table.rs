//! Every row of the builtin table, for every type it takes, is valid IR that runs.

use gbxcule_ir::builtin;
use gbxcule_testkit::arbitrary;

#[test]
fn every_row_builds_and_runs_for_every_type_it_takes() {
    let cases = arbitrary::cases();
    for (id, row) in builtin::rows() {
        for signature in 0..row.signatures.len() {
            let found =
                cases.iter().any(|case| case.row == id && usize::from(case.signature) == signature);
            assert!(found, "no types for signature {signature} of `{}`", row.name);
        }
    }
    for case in cases {
        let program = case.program(1);
        if let Err(failure) = program.interpret() {
            panic!("{}: {failure}", case.name());
        }
    }
}
