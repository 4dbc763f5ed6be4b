//! How fast text is written. Measures; decides nothing.

use gbxcule_kernel::arbitrary;
use gbxcule_kernel::back::cxx::{self, Dialect, Options};
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
    let sample = crate::sample::saxpy();
    let start = Instant::now();
    for _ in 0..2000 {
        crate::snapshot::text(&sample, Dialect::Cuda);
    }
    println!("saxpy with comments: {:.0} kernels/s", 2000.0 / start.elapsed().as_secs_f64());
}
