//! `gpu-sim FOLDER IN.ptx OUT.so`: a shared object of a PTX text, kept in the folder. The stand-in
//! for NVIDIA's driver starts it when it is given PTX.

use gbxcule_gpu_sim::object;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "usage: gpu-sim FOLDER IN.ptx OUT.so";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let result = match words.as_slice() {
        [folder, ptx, out] => build(folder.as_ref(), ptx.as_ref(), out.as_ref()),
        _ => Err(USAGE.into()),
    };
    let Err(error) = result else { return ExitCode::SUCCESS };
    // Nobody is left to tell if that fails.
    _ = writeln!(std::io::stderr(), "gpu-sim: {error}");
    ExitCode::FAILURE
}

fn build(folder: &Path, ptx: &Path, out: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let object = object::build(&std::fs::read_to_string(ptx)?, folder)?;
    std::fs::copy(object, out)?;
    Ok(())
}
