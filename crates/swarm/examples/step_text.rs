//! Writes the CUDA text of a swarm's step into a folder, a file for each stage, and says what NVRTC makes of it
//! for the architectures that are named: a table, from the sources to machine code.
//!
//! `cargo run --release -p gbxcule-swarm --example step_text -- FOLDER sm_80 sm_90 sm_100 task.py obs.py`
//!
//! With files of programs, the first one's reward and the last one's observation take the place of the built-in ones,
//! in `full_step` alone.

use std::path::Path;
use std::time::Instant;

use gbxcule_kernel::back::Checks;
use gbxcule_kernel::back::cxx::{self, Dialect, Options};
use gbxcule_runtime::nvrtc::{Arch, Nvrtc};
use gbxcule_swarm::compiled::step_module;
use gbxcule_swarm::{Programs, Stage};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().unwrap_or_else(|| "runs/cuda".into());
    let (files, archs): (Vec<String>, Vec<String>) = arguments.partition(|it| it.ends_with(".py"));
    let archs: Vec<Arch> = archs.iter().map(|arch| arch.parse()).collect::<Result<_, _>>()?;
    let (programs, stages) = match (files.first(), files.last()) {
        (Some(reward), Some(obs)) => (Programs::find(reward, obs)?, &[Stage::FullStep][..]),
        _ => (Programs::default(), &Stage::ALL[..]),
    };
    std::fs::create_dir_all(&folder)?;
    let nvrtc = if archs.is_empty() { None } else { Some(Nvrtc::find()?) };
    if nvrtc.is_some() {
        println!("| stage | arch | registers | stack | spill stores | spill loads | seconds |");
        println!("|---|---|---|---|---|---|---|");
    }
    for &stage in stages {
        let began = Instant::now();
        let text = text(&programs, stage);
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

fn text(programs: &Programs, stage: Stage) -> String {
    let module = step_module(programs, stage);
    let kernel = module.kernels().next().map(|(id, _)| id);
    let options = Options { checks: Checks::Untrusted, kernel, ..Options::new(Dialect::Cuda) };
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
