//! Any program is refused, or has a reverse that is valid and runs.

use gbxcule_interp::{Fault, Interpreter};
use gbxcule_ir::check;
use gbxcule_passes::grad::reverses;
use gbxcule_testkit::arbitrary::program;

#[test]
fn reverses_of_random_programs_are_valid_and_never_fault() {
    let (mut reversed, mut refused) = (0, 0);
    for seed in 0..150 {
        let program = program(seed);
        let Ok((found, kernels)) = reverses(&program.module, &[program.kernel]) else {
            refused += 1;
            continue;
        };
        let valid = check::module(found)
            .unwrap_or_else(|faults| panic!("seed {seed}: {:?}", faults.first()));
        let after = program.interpret().expect("programs never fault");
        let mut interpreter = Interpreter::new(&valid);
        let buffers: Vec<_> =
            after.iter().map(|bytes| interpreter.memory.add(bytes.as_slice())).collect();
        let args: Vec<_> = program.args.iter().map(|actual| actual.argument(&buffers)).collect();
        match interpreter.launch(kernels[0], &program.dims, &args) {
            Ok(()) => reversed += 1,
            Err(failure) => assert_eq!(failure.fault, Fault::Budget, "seed {seed}: {failure}"),
        }
        for (buffer, bytes) in buffers.into_iter().zip(after) {
            assert!(interpreter.memory.bytes(buffer) == bytes, "seed {seed}: an array was changed");
        }
    }
    println!("{reversed} reversed, {refused} refused");
    assert!(reversed > 20, "{reversed} reversed, {refused} refused");
}
