//! NVRTC's compilation of the step kernel, without a GPU. `make nvrtc` installs NVRTC and runs
//! this.

use gbxcule_codegen_cxx::{self as cxx, Dialect, Options};
use gbxcule_ir::abi::Checks;
use gbxcule_runtime::nvrtc::{Arch, Nvrtc};
use gbxcule_swarm::device::step_module;
use gbxcule_swarm::{Model, Programs, Stage};

/// `docs/gpu-results.md` says why: what a machine has must stay in registers between opcodes.
#[test]
#[ignore = "needs NVRTC"]
fn the_step_spills_nothing_and_leaves_room_for_twelve_warps() {
    leaves_room(Model::Original);
}

#[test]
#[ignore = "needs NVRTC"]
fn the_step_of_the_color_spills_nothing_and_leaves_room_for_twelve_warps() {
    leaves_room(Model::Color);
}

fn leaves_room(model: Model) {
    let module = step_module(&Programs::default(), Stage::FullStep, model);
    let options = Options { checks: Checks::Untrusted, ..Options::new(Dialect::Cuda) };
    let text = cxx::write(&module, &options).source;
    let nvrtc = Nvrtc::find().unwrap_or_else(|error| panic!("{error}"));
    let (_, usages) = nvrtc.measure(&text, "step.cu", Arch::new(90)).expect("machine code");
    let kernel = usages.iter().find(|usage| usage.registers.is_some()).expect("a kernel");
    assert!(kernel.registers <= Some(65_536 / (12 * 32) / 8 * 8), "{kernel}");
    for usage in &usages {
        assert_eq!((usage.spill_store_bytes, usage.spill_load_bytes), (0, 0), "{usage}");
    }
}
