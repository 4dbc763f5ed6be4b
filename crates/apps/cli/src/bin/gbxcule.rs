//! The program `gbxcule`. All of its code is in the library, which the command of the Python
//! package calls as well.

use mimalloc::MiMalloc;
use std::process::ExitCode;

/// Allocator of the program. Compilers allocate often, and the system's allocator took a quarter of
/// the foundry's time.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    gbxcule_cli::run(std::env::args_os()).code().into()
}
