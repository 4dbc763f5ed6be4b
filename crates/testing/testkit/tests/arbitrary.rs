//! Random programs are as the module `arbitrary` promises.

use gbxcule_ir::print;
use gbxcule_testkit::arbitrary::{self, Options};

#[test]
fn random_programs_are_valid_end_and_never_fault() {
    for seed in 0..400 {
        let program = arbitrary::program(seed);
        let memory = program.interpret();
        let memory = memory.unwrap_or_else(|failure| {
            panic!("seed {seed}: {failure}\n{}", print::module(&program.module))
        });
        assert_eq!(program.difference(&memory, &memory, 0), None);
    }
}

#[test]
fn a_seed_gives_the_same_program_and_memory_again() {
    for seed in 0..20 {
        let [one, two] = [arbitrary::program(seed), arbitrary::program(seed)];
        assert_eq!(print::module(&one.module), print::module(&two.module));
        assert_eq!(one.interpret(), two.interpret());
    }
}

#[test]
fn most_programs_change_memory_and_seeds_differ() {
    let programs: Vec<_> = (0..50).map(arbitrary::program).collect();
    let changed = programs
        .iter()
        .filter(|program| program.interpret().is_ok_and(|memory| memory != program.buffers))
        .count();
    assert!(changed > 45, "{changed} of 50 change memory");
    let texts: std::collections::HashSet<_> =
        programs.iter().map(|program| print::module(&program.module)).collect();
    assert_eq!(texts.len(), 50);
}

#[test]
fn options_leave_floats_out() {
    let options = Options { floats: false, ..Options::default() };
    for seed in 0..20 {
        let text = print::module(&arbitrary::program_with(seed, options).module);
        assert!(!text.contains("f32") && !text.contains("f64"), "{text}");
    }
}

#[test]
fn a_changed_byte_and_a_missing_buffer_are_differences() {
    let program = arbitrary::program_with(3, Options { floats: false, ..Options::default() });
    let memory = program.interpret().expect("random programs don't fault");
    let mut changed = memory.clone();
    changed[4][0] ^= 1;
    assert!(program.difference(&memory, &changed, 0).is_some());
    assert!(program.difference(&memory, &memory[..2], 0).is_some());
    assert_eq!(program.difference(&memory, &memory, 0), None);
}
