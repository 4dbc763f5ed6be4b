//! Snapshots of the text, in both dialects.

use gbxcule_back_cxx::{self as cxx, Dialect, Options, Text};
use gbxcule_ir::abi::Checks;
use gbxcule_ir::check;
use gbxcule_testkit::sample::{self, Sample};

pub(crate) fn text(sample: &Sample, dialect: Dialect) -> Text {
    let options = Options { sources: Some(&sample.sources), ..Options::new(dialect) };
    cxx::write(&sample.module, &options)
}

fn both(sample: &Sample) -> String {
    let [host, cuda] = [Dialect::Host, Dialect::Cuda].map(|dialect| text(sample, dialect).source);
    format!("{host}\n{cuda}")
}

#[test]
fn saxpy() {
    insta::assert_snapshot!(both(&sample::saxpy()));
}

#[test]
fn loops_and_branches() {
    insta::assert_snapshot!(text(&sample::collatz(), Dialect::Cuda).source);
}

#[test]
fn structs_tables_and_references() {
    insta::assert_snapshot!(text(&sample::machine(), Dialect::Cuda).source);
}

#[test]
fn small_and_large_floats() {
    insta::assert_snapshot!(text(&sample::halves(), Dialect::Host).source);
}

#[test]
fn integers() {
    insta::assert_snapshot!(text(&sample::integers(), Dialect::Host).source);
}

#[test]
fn faults() {
    insta::assert_snapshot!(text(&sample::faults(), Dialect::Host).source);
}

#[test]
fn ways_out_of_loops() {
    insta::assert_snapshot!(text(&sample::leaving(), Dialect::Host).source);
}

#[test]
fn loads_stay_before_writes() {
    insta::assert_snapshot!(text(&sample::order(), Dialect::Host).source);
}

#[test]
fn the_same_module_gives_the_same_bytes() {
    for sample in sample::all() {
        assert_eq!(both(&sample), both(&sample), "{}", sample.name);
    }
}

#[test]
fn a_line_that_may_fault_leads_back_to_the_source() {
    let sample = sample::saxpy();
    let text = text(&sample, Dialect::Cuda);
    let line = 1 + text.source.lines().position(|line| line.contains("y(i) =")).expect("the store");
    let site = text.site(line as u32).expect("a site");
    assert_eq!(sample.sources.text(site.span).trim(), "y[i] = a * x[i] + y[i]");
    assert_eq!(text.site(1), None);
}

#[test]
fn only_calls_of_trusted_functions_do_without_checks() {
    let mut module = sample::faults().module.into_inner();
    let kernel = module.find("faults").expect("the kernel");
    for (trusted, checks, vouched) in [
        (true, Checks::Untrusted, true),
        (false, Checks::Untrusted, false),
        (true, Checks::All, false),
        (true, Checks::None, false),
    ] {
        module.functions[kernel].trusted = trusted;
        let valid = check::module(module.clone()).expect("valid");
        let source = cxx::write(&valid, &Options { checks, ..Options::new(Dialect::Host) }).source;
        assert_eq!(source.contains("out(n, gbx::trusted())"), vouched);
        assert_eq!(source.contains("gbx::div(1, n, gbx::trusted())"), vouched);
        assert_eq!(source.contains("#define GBX_UNCHECKED"), checks == Checks::None);
    }
}
