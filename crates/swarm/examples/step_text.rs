//! Writes the CUDA text of a swarm's step into a folder, a file for each stage, and says what NVRTC makes of it
//! for the architectures that are named: a table, from the sources to machine code.
//!
//! `cargo run --release -p gbxcule-swarm --example step_text -- FOLDER sm_80 sm_90 sm_100`

use std::path::Path;
use std::time::Instant;

use gbxcule_kernel::back::cxx::{self, Dialect, Options};
use gbxcule_runtime::nvrtc::{Arch, Nvrtc};
use gbxcule_swarm::Stage;
use gbxcule_swarm::compiled::{Programs, machine_module, step_module};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().unwrap_or_else(|| "runs/cuda".into());
    let archs: Vec<Arch> = arguments.map(|arch| arch.parse()).collect::<Result<_, _>>()?;
    std::fs::create_dir_all(&folder)?;
    let nvrtc = if archs.is_empty() { None } else { Some(Nvrtc::find()?) };
    if nvrtc.is_some() {
        println!("| stage | arch | registers | stack | spill stores | spill loads | seconds |");
        println!("|---|---|---|---|---|---|---|");
    }
    for stage in Stage::ALL {
        let began = Instant::now();
        let text = text(stage);
        let made = began.elapsed().as_secs_f64();
        let file = Path::new(&folder).join(format!("{stage}.cu"));
        std::fs::write(&file, &text)?;
        for arch in &archs {
            let Some(nvrtc) = &nvrtc else { break };
            measure(nvrtc, &text, stage, *arch, made)?;
        }
    }
    Ok(())
}

fn text(stage: Stage) -> String {
    let mut module = machine_module();
    let programs = Programs::built_in(&mut module);
    let module = step_module(module, programs, stage);
    let kernel = module.kernels().next().map(|(id, _)| id);
    let options = Options { checked: false, kernel, ..Options::new(Dialect::Cuda) };
    cxx::write(&module, &options).source
}

/// Prints a row: the kernel, and the spills of the functions it calls.
fn measure(nvrtc: &Nvrtc, text: &str, stage: Stage, arch: Arch, made: f64) -> Outcome<()> {
    let began = Instant::now();
    let (_, usage) = nvrtc.measure(text, stage.name(), arch)?;
    let seconds = made + began.elapsed().as_secs_f64();
    let kernel = usage.iter().find(|it| it.registers.is_some()).ok_or("no kernel in the report")?;
    println!(
        "| {stage} | {arch} | {} | {} | {} | {} | {seconds:.1} |",
        kernel.registers.unwrap_or_default(),
        kernel.total_stack_bytes.unwrap_or(kernel.stack_bytes),
        usage.iter().map(|it| it.spill_store_bytes).sum::<u32>(),
        usage.iter().map(|it| it.spill_load_bytes).sum::<u32>(),
    );
    Ok(())
}
