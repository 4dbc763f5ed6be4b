//! Launches of kernels in this process: translated PTX, or, where `GPU_SIM_ARCH` names an
//! architecture, the machine code that `ptxas` makes of it.
#![allow(unsafe_code, reason = "calling what the host's compiler made")]

use super::machine;
use gbxcule_gpu_sim::object;
use gbxcule_gpu_sim::sass::module::LoadedCubin;
use std::cell::RefCell;
use std::ffi::c_void;
use std::path::Path;

/// Bytes of a kernel's first parameter.
pub(crate) const GRID_BYTES: usize = 40;

type Entry = unsafe extern "C" fn(u32, u32, *const c_void, *const *const c_void);

/// A loaded text.
pub(crate) enum Loaded {
    Translated(libloading::Library),
    Machine(RefCell<LoadedCubin>),
}

impl Loaded {
    /// Loads a text whose head is left out.
    pub(crate) fn new(body: &str) -> Self {
        let arch = machine::arch();
        let target = arch.as_deref().unwrap_or("sm_90");
        let text = format!(".version 9.0\n.target {target}\n.address_size 64\n{body}");
        if arch.is_some() {
            return Self::Machine(RefCell::new(machine::assemble(&text, target)));
        }
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("gpu_sim");
        let path = object::build(&text, &folder).unwrap_or_else(|error| panic!("{error}\n{text}"));
        // SAFETY: a library without initialisers.
        Self::Translated(unsafe { libloading::Library::new(path) }.expect("a shared object"))
    }

    /// Launches a kernel whose arguments after the grid have 8 bytes each.
    pub(crate) fn launch(&self, kernel: &str, blocks: u32, threads: u32, arguments: &[u64]) {
        let library = match self {
            Self::Translated(library) => library,
            Self::Machine(module) => {
                machine::launch(&mut module.borrow_mut(), kernel, (blocks, threads), arguments);
                return;
            }
        };
        let grid = [0_u64; GRID_BYTES / 8];
        let places: Vec<*const c_void> =
            arguments.iter().map(|argument| std::ptr::from_ref(argument).cast()).collect();
        let symbol = format!("on_device_{kernel}\0");
        // SAFETY: what `emit` prints for a kernel.
        let entry = unsafe { library.get::<Entry>(symbol.as_bytes()) }.expect("a kernel");
        // SAFETY: a grid, and as many arguments as the kernel takes; the tests' kernels stay inside
        // the arrays that they are given.
        unsafe { entry(blocks, threads, grid.as_ptr().cast(), places.as_ptr()) };
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
