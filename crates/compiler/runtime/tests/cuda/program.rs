//! Whole programs compared with the interpreter: random ones, and the reverse kernels of the
//! patterns that are hard for gradients.

use crate::native;
use gbxcule_ir::check;
use gbxcule_ir::print;
use gbxcule_passes::grad::reverses;
use gbxcule_runtime::{Device, Stream};
use gbxcule_testkit::arbitrary::{self, Differentiable, Options, Random, RandomProgram, unit};
use gbxcule_testkit::pattern;

/// Returns how many units in the last place floats may differ: the host has the interpreter's
/// mathematical functions, a GPU has its own.
fn tolerance(device: Device) -> u64 {
    let on_host = device == Device::Cpu || std::env::var_os("HOST_GPU").is_some();
    if on_host { 0 } else { 64 }
}

fn agrees(stream: &Stream, name: &str, program: &RandomProgram) {
    let expected = program.interpret().expect("ends");
    for checked in [true, false] {
        let found = native::run_in(stream, program, checked);
        let found = found.unwrap_or_else(|error| panic!("{name}: {error}"));
        let difference = program.difference(&expected, &found, tolerance(stream.device()));
        if let Some(difference) = difference {
            panic!("{name}, checked {checked}: {difference}\n{}", print::module(&program.module));
        }
    }
}

pub(crate) fn random_programs_leave_the_memory_that_the_interpreter_leaves(device: Device) {
    let stream = Stream::new(device).expect("a device");
    for seed in 0..4 {
        agrees(&stream, &format!("seed {seed}"), &arbitrary::program(seed));
    }
    let whole = Options { floats: false, halves: false, ..Options::default() };
    for seed in 4..8 {
        agrees(&stream, &format!("seed {seed}"), &arbitrary::program_with(seed, whole));
    }
}

pub(crate) fn reverse_kernels_leave_the_gradients_that_the_interpreter_leaves(device: Device) {
    let stream = Stream::new(device).expect("a device");
    let wanted = ["sum_dynamic", "store_load_store", "while_product", "nested_product"];
    let mut run = 0;
    for pattern in pattern::patterns() {
        if let Some(program) =
            backward(&pattern.case).filter(|_| run < 4 || wanted.contains(&&*pattern.name))
        {
            agrees(&stream, &pattern.name, &program);
            run += 1;
        }
    }
    assert!(run >= 4, "{run}");
}

/// Returns a launch of the reverse kernel with random gradients; `None` if the kernel is refused.
fn backward(case: &Differentiable) -> Option<RandomProgram> {
    let valid = check::module(case.module.clone()).expect("valid");
    let (module, kernels) = reverses(&valid, &[case.kernel]).ok()?;
    let after = case.forward(valid).interpret().expect("it runs");
    let mut random = Random::new(5);
    let gradients = case.arrays.iter();
    let gradients = gradients.map(|array| array.iter().map(|_| unit(&mut random)).collect());
    let module = check::module(module).expect("reverses are valid");
    Some(case.backward(module, kernels[0], &after, &gradients.collect::<Vec<Vec<f64>>>()))
}
