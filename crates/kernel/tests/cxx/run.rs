//! The text, compiled by a host compiler, does what the interpreter does: in the host's dialect, and in
//! CUDA's behind the header that makes it host C++.

use crate::host;
use gbxcule_kernel::arbitrary::{self, Program};
use gbxcule_kernel::back::cxx::Dialect;
use gbxcule_kernel::ir::print;

/// Seeds of the programs that every run of the tests tries.
const SEEDS: std::ops::Range<u64> = 0..40;

fn agrees_with_the_interpreter(name: &str, dialect: Dialect, seeds: std::ops::Range<u64>) {
    let programs: Vec<Program> = seeds.clone().map(arbitrary::program).collect();
    let (outcomes, _) = host::run(name, dialect, &programs);
    for ((seed, program), outcome) in seeds.zip(&programs).zip(outcomes) {
        let expected = program.interpret().expect("random programs don't fault");
        let show = || print::module(&program.module);
        assert_eq!(outcome.fault[0], 0, "seed {seed}: {:?}\n{}", outcome.fault, show());
        let difference = program.difference(&expected, &outcome.buffers, 0);
        assert_eq!(difference, None, "seed {seed}\n{}", show());
    }
}

#[test]
fn host_text_of_random_programs_does_what_the_interpreter_does() {
    agrees_with_the_interpreter("random_host", Dialect::Host, SEEDS);
}

#[test]
fn cuda_text_of_random_programs_does_what_the_interpreter_does() {
    agrees_with_the_interpreter("random_cuda", Dialect::Cuda, SEEDS);
}
