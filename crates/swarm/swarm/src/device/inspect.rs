//! Kernels that read envs and change them for debuggers: registers, memory by address, frames. Each
//! kernel collects the wanted values side by side in memory, so that only these are copied to the
//! host.

use gbxcule_ir::Module;
use gbxcule_ir::check::Valid;

use super::column::Columns;
use super::kernel::{self, EnvSelection, KernelPart};
use super::machine_ir::{arrange, finished, machine_module, machine_type};
use crate::MachineSources;
use crate::kernel_source::{self, MachineAccess};
use crate::program::ProgramCalls;

/// Collects the registers of envs: A F B C D E H L SP PC.
pub(crate) const REGISTERS: &str = "registers";
/// Collects bytes of an env's address space.
pub(crate) const PEEK: &str = "peek";
/// Changes bytes of some envs' address spaces.
pub(crate) const POKE: &str = "poke";
/// Collects the bytes at some addresses of some envs.
pub(crate) const GATHER: &str = "gather";
/// Collects the frames of some envs.
pub(crate) const FRAMES: &str = "frames";

/// Number of 16-bit words that [`REGISTERS`] collects for an env.
pub(crate) const REGISTER_COUNT: usize = 10;

/// The kernels for registers and frames, which are small and often used.
pub(crate) fn registers_module(machine: MachineSources) -> Valid<Module> {
    module(
        machine,
        &[
            (REGISTERS, "read_registers", EnvSelection::From),
            (FRAMES, "read_frame", EnvSelection::Listed),
        ],
    )
}

/// The kernels for memory by address. They hold nearly the whole machine, because reading a chip
/// brings it up to date.
pub(crate) fn memory_module(machine: MachineSources) -> Valid<Module> {
    module(
        machine,
        &[
            (PEEK, "read_byte", EnvSelection::From),
            (POKE, "write_bytes", EnvSelection::Listed),
            (GATHER, "read_bytes", EnvSelection::Listed),
        ],
    )
}

/// Makes kernels, each of which runs one function of the text.
fn module(machine: MachineSources, kernels: &[(&str, &str, EnvSelection<'_>)]) -> Valid<Module> {
    let names: Vec<&str> = kernels.iter().map(|(_, function, _)| *function).collect();
    let mut module = machine_module(machine);
    let functions =
        kernel_source::lower(&mut module, &names, MachineAccess::Change, &ProgramCalls::default());
    let mut module = arrange(module, &functions);
    module.name = kernels[0].0.into();
    let columns = Columns::new(&module.types, machine_type(&module));
    for (&(name, _, envs), &function) in kernels.iter().zip(&functions) {
        let work = [KernelPart { function, changes: name == POKE }];
        kernel::kernel(&mut module, &columns, name, envs, &work);
    }
    finished(module)
}
