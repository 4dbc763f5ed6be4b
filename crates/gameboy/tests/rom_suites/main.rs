//! Public test ROM suites, read from the folder `GBXCULE_TEST_ROMS` (see `docs/testing.md` for what
//! goes where). Each ROM is a row; a known failure is a row of `known_failure` with its reason, and
//! passing it unexpectedly is an error.

mod console;
mod known_failure;
mod picture;
mod suite;

use gbxcule_gameboy as gameboy;
use suite::Suite;

/// Runs a suite and compares what fails with what is known to.
fn assert_suite(suite: &Suite) {
    let rows = suite.run("");
    assert!(!rows.is_empty(), "no ROM found in {}: is GBXCULE_TEST_ROMS complete?", suite.folder);
    let mut wrong = Vec::new();
    for row in &rows {
        match (row.passes, known_failure::reason(suite.folder, &row.name)) {
            (false, None) => wrong.push(format!("{} fails: {}", row.name, row.seen)),
            (true, Some(reason)) => wrong.push(format!("{} passes, known as: {reason}", row.name)),
            _ => {}
        }
    }
    for name in known_failure::names(suite.folder) {
        if !rows.iter().any(|row| row.name == name) {
            wrong.push(format!("{name}, a known failure, is no ROM of the suite"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {} ROMs in {}:\n{}",
        wrong.len(),
        rows.len(),
        suite.folder,
        wrong.join("\n")
    );
}

#[test]
#[ignore = "needs GBXCULE_TEST_ROMS"]
fn blargg_cpu_timing_halt_oam_and_sound_roms_pass() {
    assert_suite(&suite::BLARGG);
}

#[test]
#[ignore = "needs GBXCULE_TEST_ROMS"]
fn mooneye_acceptance_and_mapper_roms_for_a_dmg_pass() {
    assert_suite(&suite::MOONEYE);
}

#[test]
#[ignore = "needs GBXCULE_TEST_ROMS"]
fn wilbertpols_mooneye_roms_for_a_dmg_pass() {
    assert_suite(&suite::MOONEYE_WILBERTPOL);
}

#[test]
#[ignore = "needs GBXCULE_TEST_ROMS"]
fn gbmicrotest_roms_with_a_verdict_pass() {
    assert_suite(&suite::GBMICROTEST);
}

#[test]
#[ignore = "needs GBXCULE_TEST_ROMS"]
fn gambatte_roms_print_the_digits_of_a_dmg() {
    assert_suite(&suite::GAMBATTE_DIGITS);
}

#[test]
#[ignore = "needs GBXCULE_TEST_ROMS"]
fn gambatte_roms_show_the_pictures_of_a_dmg() {
    assert_suite(&suite::GAMBATTE_PICTURES);
}

#[test]
#[ignore = "needs GBXCULE_TEST_ROMS"]
fn gambatte_roms_are_heard_as_on_a_dmg() {
    assert_suite(&suite::GAMBATTE_SOUND);
}

#[test]
#[ignore = "needs GBXCULE_TEST_ROMS"]
fn age_roms_for_a_dmg_pass() {
    assert_suite(&suite::AGE);
}

#[test]
#[ignore = "needs GBXCULE_TEST_ROMS"]
fn mealybug_pictures_with_mid_scanline_changes_are_exact() {
    assert_suite(&suite::MEALYBUG);
}

#[test]
#[ignore = "needs GBXCULE_TEST_ROMS"]
fn dmg_acid2_is_pixel_exact() {
    assert_suite(&suite::ACID);
}

/// Prints how many ROMs of each suite pass, and which don't (`make rom-suites`). With
/// `GBXCULE_ONLY=text` only those run whose path holds the text.
#[test]
#[ignore = "prints a table; needs GBXCULE_TEST_ROMS"]
fn table() {
    let only = std::env::var("GBXCULE_ONLY").unwrap_or_default();
    let mut failures = Vec::new();
    println!("| suite | passes | of |\n|---|---|---|");
    for suite in suite::ALL {
        let rows = suite.run(&only);
        let passed = rows.iter().filter(|row| row.passes).count();
        println!("| {} | {passed} | {} |", suite.title, rows.len());
        failures.extend(rows.into_iter().filter(|row| !row.passes).map(|row| (suite.folder, row)));
    }
    for (folder, row) in failures {
        println!("{folder} {}: {}", row.name, row.seen);
    }
}
