//! Measures the time in which text is written, without a limit.

use gbxcule_back_cxx::{self as cxx, Dialect, Options};
use gbxcule_testkit::arbitrary;
use gbxcule_testkit::sample;
use std::time::Instant;

#[test]
#[ignore = "a measurement: run it with --release --nocapture"]
fn kernels_a_second() {
    let programs: Vec<_> = (0..200).map(arbitrary::program).collect();
    for dialect in [Dialect::Host, Dialect::Cuda] {
        let (mut best, mut bytes) = (f64::INFINITY, 0);
        for _ in 0..7 {
            let start = Instant::now();
            bytes = programs
                .iter()
                .map(|program| cxx::write(&program.module, &Options::new(dialect)).source.len())
                .sum();
            best = best.min(start.elapsed().as_secs_f64());
        }
        let count = programs.len() as f64;
        println!(
            "{dialect:?}: {:.0} kernels/s, {:.0} bytes each",
            count / best,
            bytes as f64 / count
        );
    }
}

#[test]
fn large_switches_are_written_with_little_stack() {
    let lines = |cases: usize| {
        let module = sample::dispatch(cases);
        let work = move || cxx::write(&module, &Options::new(Dialect::Cuda)).source.lines().count();
        let thread =
            std::thread::Builder::new().stack_size(256 * 1024).spawn(work).expect("a thread");
        thread.join().expect("no overflow")
    };
    let (few, many) = (lines(500), lines(5000));
    assert!(many > 9 * few && many < 11 * few, "{few} and {many} lines");
}
