//! Writes the CUDA text of a swarm's step into a folder, a file for each stage, and says what NVRTC
//! makes of it for the architectures that are named: a table, from the sources to machine code.
//! Progress goes to stderr; each row is printed as soon as it is known.
//!
//! `cargo run --release -p gbxcule-swarm --example step_text -- FOLDER [STAGE...] [ARCH...]
//! [FILE.py...] [cgb] [OPTION...]`
//!
//! `... -- runs/cuda sm_80 sm_90 sm_100`, `... -- runs/cuda full_step sm_90 --maxrregcount=128`
//!
//! `cgb` stands for machines of the Color, not the original.
//! With files of programs, the first one's reward and the last one's observation take the place of
//! the built-in ones. Without stages it is all of them, with files `full_step`. Options are
//! NVRTC's. The machine code lies beside the text, for `nvdisasm`.

use std::path::{Path, PathBuf};
use std::time::Instant;

use gbxcule_back_cxx::{self as cxx, Dialect, Options};
use gbxcule_ir::abi::Checks;
use gbxcule_runtime::nvrtc::{Arch, CodeFormat, Nvrtc};
use gbxcule_runtime::ptxas::Usage;
use gbxcule_swarm::device::step_module;
use gbxcule_swarm::{Model, Programs, Stage};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// The arguments of the command line.
struct Request {
    folder: PathBuf,
    stages: Vec<Stage>,
    archs: Vec<Arch>,
    files: Vec<String>,
    model: Model,
    options: Vec<String>,
}

impl Request {
    fn read(mut arguments: impl Iterator<Item = String>) -> Outcome<Self> {
        let folder = arguments.next().map_or("runs/cuda".into(), PathBuf::from);
        let (mut stages, mut archs, mut files) = (Vec::new(), Vec::new(), Vec::new());
        let (mut options, mut model) = (Vec::new(), Model::Original);
        for argument in arguments {
            if argument.starts_with('-') {
                options.push(argument);
            } else if argument == "cgb" {
                model = Model::Color;
            } else if argument.ends_with(".py") {
                files.push(argument);
            } else if argument.starts_with("sm_") {
                archs.push(argument.parse()?);
            } else {
                stages.push(argument.parse()?);
            }
        }
        if stages.is_empty() {
            stages = if files.is_empty() { Stage::ALL.to_vec() } else { vec![Stage::FullStep] };
        }
        Ok(Self { folder, stages, archs, files, model, options })
    }

    fn programs(&self) -> Outcome<Programs> {
        Ok(match (self.files.first(), self.files.last()) {
            (Some(reward), Some(obs)) => Programs::find(reward, obs)?,
            _ => Programs::default(),
        })
    }
}

fn main() -> Outcome<()> {
    let request = Request::read(std::env::args().skip(1))?;
    let programs = request.programs()?;
    std::fs::create_dir_all(&request.folder)?;
    let nvrtc = if request.archs.is_empty() { None } else { Some(Nvrtc::find()?) };
    if let Some(nvrtc) = &nvrtc {
        let (major, minor) = nvrtc.version();
        eprintln!("NVRTC {major}.{minor}, {}", nvrtc.path().display());
        println!("| stage | arch | registers | stack | spill stores | spill loads | seconds |");
        println!("|---|---|---|---|---|---|---|");
    }
    for &stage in &request.stages {
        let began = Instant::now();
        let text = text(&programs, stage, request.model);
        let made = began.elapsed().as_secs_f64();
        let file = request.folder.join(format!("{stage}.cu"));
        std::fs::write(&file, &text)?;
        eprintln!("{}: {} lines, {made:.1} s", file.display(), text.lines().count());
        for arch in &request.archs {
            let Some(nvrtc) = &nvrtc else { break };
            eprintln!("{stage} for {arch} ...");
            measure(nvrtc, &text, &file, *arch, &request.options)?;
        }
    }
    Ok(())
}

fn text(programs: &Programs, stage: Stage, model: Model) -> String {
    let module = step_module(programs, stage, model);
    let kernel = module.kernels().next().map(|(id, _)| id);
    let options = Options { checks: Checks::Untrusted, kernel, ..Options::new(Dialect::Cuda) };
    cxx::write(&module, &options).source
}

/// Prints a row: the kernel, and the spills of the functions it calls.
fn measure(nvrtc: &Nvrtc, text: &str, file: &Path, arch: Arch, options: &[String]) -> Outcome<()> {
    let stage = file.file_stem().unwrap_or_default().to_string_lossy();
    let mut more = vec!["--ptxas-options=-v"];
    more.extend(options.iter().map(String::as_str));
    let began = Instant::now();
    let (code, log) = nvrtc.compile_with(text, &stage, arch, CodeFormat::Cubin, &more)?;
    let seconds = began.elapsed().as_secs_f64();
    std::fs::write(file.with_extension(format!("{arch}.cubin")), code)?;
    let usage = Usage::parse(&log);
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
