//! Writes the CUDA text of a swarm's kernels into a folder: one file for each stage.
//!
//! `cargo run -p gbxcule-swarm --example step_text -- FOLDER`

use std::path::PathBuf;

use gbxcule_kernel::back::cxx::{self, Dialect, Options};
use gbxcule_swarm::Stage;
use gbxcule_swarm::compiled::{Programs, machine_module, step_module};

fn main() -> std::io::Result<()> {
    let folder = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("."), PathBuf::from);
    std::fs::create_dir_all(&folder)?;
    for stage in Stage::ALL {
        let mut module = machine_module();
        let programs = Programs::built_in(&mut module);
        let module = step_module(module, programs, stage);
        let kernel = module.kernels().next().map(|(id, _)| id);
        let options = Options { checked: false, kernel, ..Options::new(Dialect::Cuda) };
        let text = cxx::write(&module, &options).source;
        let file = folder.join(format!("{stage}.cu"));
        std::fs::write(&file, text)?;
        println!("{}", file.display());
    }
    Ok(())
}
