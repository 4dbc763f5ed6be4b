//! `gpu-sim FOLDER IN.ptx OUT.so` makes a shared object of a PTX text, and caches it in the folder.
//! The stand-in for NVIDIA's driver starts this program when it loads PTX.

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
    // A failed write to stderr can't be reported.
    _ = writeln!(std::io::stderr(), "gpu-sim: {error}");
    ExitCode::FAILURE
}

fn build(folder: &Path, ptx: &Path, out: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let object = object::build(&std::fs::read_to_string(ptx)?, folder)?;
    std::fs::copy(object, out)?;
    Ok(())
}
