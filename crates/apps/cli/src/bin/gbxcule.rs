//! The program `gbxcule`. All it does is in the library, which the Python package's command calls,
//! too.

use mimalloc::MiMalloc;
use std::process::ExitCode;

/// Compilers allocate often: a quarter of what the foundry did was the system's allocator.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    gbxcule_cli::run(std::env::args_os()).code().into()
}
