//! The CPU's translation compared with the single-step cases in `GBXCULE_TEST_DATA`: every
//! register, byte of memory and access, as machine code in this process and as CUDA text run on the
//! host. One launch runs all cases.

mod host;
mod image;
mod kernel;

use gbxcule_ir::check::Valid;
use gbxcule_ir::{Module, Type};
use gbxcule_runtime::{Array, Build, DataType, Device, compile};
use gbxcule_testkit::sm83::{self, Outcome, RecordedInstruction};
use image::Image;

/// Runs a launch over the bytes of cases, and returns their outcomes.
fn outcomes(
    cases: &[RecordedInstruction],
    launch: impl FnOnce(&Valid<Module>, Type, &[u8], usize) -> Vec<u8>,
) -> Vec<Outcome> {
    let (module, case) = kernel::module();
    let image = Image::new(&module.types, case);
    let before: Vec<u8> = cases.iter().flat_map(|it| image.of(it)).collect();
    let after = launch(&module, case, &before, image.size);
    after.chunks_exact(image.size).map(|bytes| image.outcome(bytes)).collect()
}

fn in_machine_code(module: &Valid<Module>, case: Type, bytes: &[u8], size: usize) -> Vec<u8> {
    let data_type = DataType::of(module, case).expect("no arrays inside");
    let count = bytes.len() / size;
    let strides = [size as isize];
    let cases = Array::from_bytes(bytes, data_type, 0, &[count], &strides).expect("an array");
    let nothing = Array::from_slice::<u8>(&[]);
    let compiled = compile(module, Device::Cpu, Build::default()).expect("machine code");
    let kernel = compiled.kernel(kernel::KERNEL).expect("the kernel");
    let args = [(&cases).into(), (&nothing).into(), (&nothing).into()];
    kernel.launch(&[count], &args).expect("no fault");
    cases.memory_bytes().expect("its bytes")
}

#[test]
#[ignore = "needs GBXCULE_TEST_DATA"]
fn every_single_step_case_ends_as_recorded_in_machine_code() {
    let cases = sm83::cases();
    sm83::assert_all(&cases, &outcomes(&cases, in_machine_code));
}

#[test]
#[ignore = "needs GBXCULE_TEST_DATA"]
fn every_single_step_case_ends_as_recorded_in_cuda_text_on_the_host() {
    let cases = sm83::cases();
    let run = |module: &_, _, bytes: &[u8], size| host::run(module, bytes, size);
    sm83::assert_all(&cases, &outcomes(&cases, run));
}

#[test]
fn push_writes_both_bytes_below_the_stack_pointer() {
    let case = RecordedInstruction::of(&serde_json::json!({
        "initial": { "a": 0x12, "f": 0xb0, "pc": 0x100, "sp": 0xd000, "ram": [[0x100, 0xf5]] },
        "final": {
            "a": 0x12, "f": 0xb0, "pc": 0x101, "sp": 0xcffe,
            "ram": [[0x100, 0xf5], [0xcfff, 0x12], [0xcffe, 0xb0]],
        },
        "cycles": [[0x100, 0xf5, "r-m"], [0, 0, "---"], [0xcfff, 0x12, "-wm"], [0xcffe, 0xb0, "-wm"]],
    }));
    let cases = [case];
    sm83::assert_all(&cases, &outcomes(&cases, in_machine_code));
}
