//! NVRTC's compilation of the step kernel, without a GPU. `make nvrtc` installs NVRTC and runs
//! this.

use gbxcule_back_cxx::{self as cxx, Dialect, Options};
use gbxcule_ir::abi::Checks;
use gbxcule_runtime::nvrtc::{Arch, CodeFormat, Nvrtc};
use gbxcule_swarm::device::step_module;
use gbxcule_swarm::{Model, Programs, Stage};

fn text(stage: Stage, model: Model) -> String {
    let module = step_module(&Programs::default(), stage, model);
    let options = Options { checks: Checks::Untrusted, ..Options::new(Dialect::Cuda) };
    cxx::write(&module, &options).source
}

#[test]
#[ignore = "needs NVRTC"]
fn the_step_leaves_room_for_24_warps() {
    leaves_room(Model::Original);
}

#[test]
#[ignore = "needs NVRTC"]
fn the_step_of_the_color_leaves_room_for_24_warps() {
    leaves_room(Model::Color);
}

fn leaves_room(model: Model) {
    let text = text(Stage::FullStep, model);
    let nvrtc = Nvrtc::find().unwrap_or_else(|error| panic!("{error}"));
    let (_, usages) = nvrtc.measure(&text, "step.cu", Arch::new(90)).expect("machine code");
    let kernel = usages.iter().find(|usage| usage.registers.is_some()).expect("a kernel");
    assert!(kernel.registers <= Some(65_536 / (24 * 32) / 8 * 8), "{kernel}");
}

/// The gates compile `emulate_only`. PTX is enough: when NVRTC once hung, its assembler hadn't run
/// yet.
#[test]
#[ignore = "needs NVRTC"]
fn the_steps_of_the_other_stages_compile_to_as_much() {
    let nvrtc = Nvrtc::find().unwrap_or_else(|error| panic!("{error}"));
    let mut lines = Vec::new();
    for stage in [Stage::EmulateOnly, Stage::RewardOnly, Stage::ObsOnly] {
        let ptx = nvrtc.compile(
            &text(stage, Model::Original),
            stage.name(),
            Arch::new(90),
            CodeFormat::Ptx,
        );
        let ptx = ptx.unwrap_or_else(|error| panic!("{stage}: {error}"));
        lines.push(ptx.iter().filter(|&&it| it == b'\n').count());
    }
    // Each stage inlines the same functions, so only the programs make a difference.
    let (least, most) = (lines.iter().min(), lines.iter().max());
    let (least, most) = (least.expect("stages"), most.expect("stages"));
    assert!(most - least < least / 10, "{lines:?}");
}
