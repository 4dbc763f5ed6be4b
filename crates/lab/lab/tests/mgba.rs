//! Tests with libmgba itself. They are built only with `--features mgba`, which needs Debian's
//! libmgba-dev.
#![cfg(feature = "mgba")]

use gbxcule_lab::BackendKind;
use gbxcule_lab::suite;

#[test]
fn the_suite_comes_out_as_pinned() {
    for case in suite::cases() {
        let outcome =
            suite::run(case, BackendKind::Libmgba, BackendKind::SwarmCpu, 0).expect("it runs");
        assert!(outcome.is_as_pinned(), "{}: {}", case.rom, outcome.describe());
    }
}
