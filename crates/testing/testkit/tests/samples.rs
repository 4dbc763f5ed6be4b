//! Each sample's program gives the outcomes in its file (`gbxcule_testkit::sample`).

use gbxcule_ir::{parse, print};
use gbxcule_testkit::sample;
use gbxcule_testkit::switch::blesses;

#[test]
fn each_program_gives_what_stands_behind_it() {
    if blesses() {
        sample::all().iter().for_each(sample::Sample::accept);
    }
    let samples = sample::all();
    let surprises: Vec<String> = samples.iter().flat_map(sample::Sample::surprises).collect();
    assert!(
        surprises.is_empty(),
        "{}\n\nIf that is right, GBXCULE_BLESS=1 writes it into the files.",
        surprises.join("\n\n")
    );
}

/// Samples of IR are written in the printer's form, which readers know from other outcomes.
#[test]
fn printed_ir_reads_back_as_it_was_written() {
    for sample in sample::all().iter().filter(|sample| sample.name.ends_with(".ir")) {
        if let Ok(module) = parse::module(sample.code()) {
            assert_eq!(print::module(&module), sample.code(), "{}", sample.name);
        }
    }
}
