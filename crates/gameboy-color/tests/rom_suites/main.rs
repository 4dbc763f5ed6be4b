//! Public test ROM suites on the Color, read from the folder `GBXCULE_TEST_ROMS` (see
//! `docs/testing.md`). Each ROM is a row; a known failure is a row of `known_failure` with its
//! reason, and passing it unexpectedly is an error.

#[path = "../../../gameboy/tests/rom_suites/console.rs"]
mod console;
mod known_failure;
mod picture;
mod suite;

use gbxcule_gameboy_color as gameboy;
use suite::Suite;

/// Runs a suite and compares what fails with what is known to.
fn assert_suite(suite: &Suite) {
    let rows = suite.run("");
    assert!(!rows.is_empty(), "no ROM found in {}: is GBXCULE_TEST_ROMS complete?", suite.folder);
    let mut wrong = Vec::new();
    for row in &rows {
        match (&row.fault, known_failure::reason(suite.folder, &row.name)) {
            (Some(seen), None) => wrong.push(format!("{} fails: {seen}", row.name)),
            (None, Some(reason)) => wrong.push(format!("{} passes, known as: {reason}", row.name)),
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
fn blargg_roms_pass_on_a_color() {
    assert_suite(&suite::BLARGG);
}

#[test]
#[ignore = "needs GBXCULE_TEST_ROMS"]
fn mooneye_roms_for_a_color_pass() {
    assert_suite(&suite::MOONEYE);
}

#[test]
#[ignore = "needs GBXCULE_TEST_ROMS"]
fn cgb_acid2_and_cgb_acid_hell_are_pixel_exact() {
    assert_suite(&suite::ACID);
}

#[test]
#[ignore = "needs GBXCULE_TEST_ROMS"]
fn mealybug_pictures_of_a_cgb_c_are_exact() {
    assert_suite(&suite::MEALYBUG);
}

#[test]
#[ignore = "needs GBXCULE_TEST_ROMS"]
fn gambatte_roms_print_the_digits_of_a_color() {
    assert_suite(&suite::GAMBATTE_DIGITS);
}

#[test]
#[ignore = "needs GBXCULE_TEST_ROMS"]
fn gambatte_roms_show_the_pictures_of_a_color() {
    assert_suite(&suite::GAMBATTE_PICTURES);
}

#[test]
#[ignore = "needs GBXCULE_TEST_ROMS"]
fn age_roms_for_a_cgb_c_pass() {
    assert_suite(&suite::AGE);
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
        let passed = rows.iter().filter(|row| row.fault.is_none()).count();
        println!("| {} | {passed} | {} |", suite.title, rows.len());
        failures
            .extend(rows.into_iter().filter_map(|row| Some((suite.folder, row.name, row.fault?))));
    }
    for (folder, name, seen) in failures {
        println!("{folder} {name}: {seen}");
    }
}
