//! Compiled code compared with the interpreter, on random programs.

#[path = "warp/native.rs"]
mod native;

use gbxcule_ir::print;
use gbxcule_testkit::arbitrary::{self, Options};

fn agree(seeds: std::ops::Range<u64>, options: Options) {
    for seed in seeds {
        let program = arbitrary::program_with(seed, options);
        let expected = program.interpret().expect("ends");
        for checked in [true, false] {
            let found = native::run(&program, checked).expect("never faults");
            if let Some(difference) = program.difference(&expected, &found, 0) {
                panic!(
                    "seed {seed}, checked {checked}: {difference}\n{}",
                    print::module(&program.module)
                );
            }
        }
    }
}

#[test]
fn random_programs_leave_the_same_memory() {
    agree(0..150, Options::default());
}

#[test]
fn random_programs_of_integers_leave_the_same_memory() {
    agree(0..60, Options { floats: false, halves: false, ..Options::default() });
}

#[test]
fn large_random_programs_leave_the_same_memory() {
    agree(0..6, Options { statements: 300, functions: 12, ..Options::default() });
}
