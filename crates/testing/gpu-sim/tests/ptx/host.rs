//! Launches of kernels: a text in PTX becomes machine code by `ptxas`, which the simulator runs.

use super::machine;
use gbxcule_gpu_sim::sass::module::LoadedCubin;
use gbxcule_gpu_sim::sass::run_order::RunOrder;
use std::cell::RefCell;

/// Bytes of a kernel's first parameter.
pub(crate) const GRID_BYTES: usize = 40;

/// A loaded text.
pub(crate) struct Loaded(pub(crate) RefCell<LoadedCubin>);

impl Loaded {
    /// Loads a text whose head is left out.
    pub(crate) fn new(body: &str) -> Self {
        Self::edited(body, str::to_owned)
    }

    /// Loads such a text by an edited listing.
    pub(crate) fn edited(body: &str, edit: impl Fn(&str) -> String) -> Self {
        let arch = machine::arch();
        let text = format!(".version 9.0\n.target {arch}\n.address_size 64\n{body}");
        Self(RefCell::new(machine::assemble(&text, &arch, edit)))
    }

    /// Launches a kernel whose arguments after the grid have 8 bytes each.
    pub(crate) fn launch(&self, kernel: &str, blocks: u32, threads: u32, arguments: &[u64]) {
        self.launch_in(machine::order(), kernel, (blocks, threads), arguments);
    }

    /// Launches a kernel in an order of lanes and warps.
    pub(crate) fn launch_in(
        &self,
        order: RunOrder,
        kernel: &str,
        shape: (u32, u32),
        arguments: &[u64],
    ) {
        machine::launch(&mut self.0.borrow_mut(), kernel, shape, arguments, order);
    }
}

/// Address of an array, for a kernel.
pub(crate) fn address<T>(array: &mut [T]) -> u64 {
    array.as_mut_ptr() as u64
}

/// Head of a kernel with so many addresses after its grid, in `%rd1` and on, and registers for its
/// body.
pub(crate) fn kernel(name: &str, addresses: usize, body: &str) -> String {
    let params = (1..=addresses).map(|at| format!(", .param .u64 {name}_{at}")).collect::<String>();
    let loads = (1..=addresses).map(|at| format!("ld.param.u64 %rd{at}, [{name}_{at}];\n"));
    let loads: String = loads.collect();
    format!(
        ".visible .entry {name}(.param .align 8 .b8 {name}_0[{GRID_BYTES}]{params})\n{{\n\
         .reg .pred %p<8>;\n.reg .b16 %rs<20>;\n.reg .b32 %r<20>;\n.reg .b64 %rd<20>;\n{loads}{body}ret;\n}}\n"
    )
}
