//! The program `gbxcule`. Its code is in the library, which the command of the Python package
//! calls, too.

use mimalloc::MiMalloc;
use std::process::ExitCode;

/// Allocator of the program. Compilers allocate often; with the system's allocator, allocation took
/// a quarter of the foundry's time.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    gbxcule_cli::run(std::env::args_os()).code().into()
}
