//! The kernel that begins episodes. A thread is an env: if the mask marks it, the programs' `begin`
//! runs and the observation before the first step is computed. If no program writes to memory, the
//! module holds only those functions of the machine that programs call.

use gbxcule_ir::Module;
use gbxcule_ir::check::Valid;

use super::column::Columns;
use super::kernel::{self, EnvSelection, KernelPart};
use super::machine_ir::{arrange, arrange_view, finished, machine_module, machine_type, trusted};
use crate::kernel_source::{self, MachineAccess};
use crate::program::view_module_of;
use crate::{MachineSources, Programs, Stage};

/// The kernel's name.
pub(crate) const KERNEL: &str = "begin";

/// Makes the kernel for a stage, its programs and a machine. The programs must have work at the
/// beginning of an episode.
pub fn begin_module(
    programs: &Programs,
    stage: Stage,
    machine: impl Into<MachineSources>,
) -> Valid<Module> {
    let machine = machine.into();
    // Programs that write need further functions of the machine.
    let writes = programs.writes_memory();
    let machine = if writes { machine_module(machine) } else { trusted(view_module_of(machine)) };
    let mut fused = programs.fuse(machine);
    let mut called = fused.functions();
    let calls = programs.calls(&fused, stage);
    let mut module = std::mem::take(&mut fused.module);
    module.name = format!("begin_{stage}_{}", programs.obs_dim());
    let work = kernel_source::lower(
        &mut module,
        &["begin_episode", "observe_first"],
        MachineAccess::Change,
        &calls,
    );
    called.extend(&work);
    let (mut module, machine) = if writes {
        let module = arrange(module, &called);
        let machine = machine_type(&module);
        (module, machine)
    } else {
        arrange_view(module, &called)
    };
    let columns = Columns::new(&module.types, machine);
    let work = [
        KernelPart { function: work[0], changes: writes },
        KernelPart { function: work[1], changes: false },
    ];
    kernel::kernel(&mut module, &columns, KERNEL, EnvSelection::Marked, &work);
    finished(module)
}
