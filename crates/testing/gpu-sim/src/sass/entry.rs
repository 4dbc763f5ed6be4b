//! Functions that the stand-in for NVIDIA's driver calls (`testkit/src/stand_in/module.cpp`).
//!
//! Variables change what they do: `HOST_NVDISASM` names the disassembler, `HOST_GPU_COUNTS` a
//! folder for the counts ([`report`]). `HOST_GPU_POLICY=lanes` selects [`Policy::MostLanes`],
//! `HOST_GPU_TURN=N` lets the warps of a block take turns of N instructions, and with
//! `HOST_GPU_BARRIERS=shared` the lanes of a warp share its barriers of convergence ([`RunOrder`]).
#![allow(unsafe_code, reason = "C calls these functions with what it has")]

use super::module::{LoadedCubin, disassemble};
use super::report;
use super::run_order::{Policy, RunOrder};
use gbxcule_files::{TemporaryFolder, write_scratch};
use std::ffi::{CStr, c_char, c_void};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Greatest number of parameters of a kernel.
const MAX_PARAMETERS: usize = 255;

/// Loads a cubin. If the cubin is refused, returns null and prints the reason on stderr.
///
/// # Safety
/// `image` points to a complete cubin.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpu_sim_load(image: *const u8) -> Option<Box<LoadedCubin>> {
    // SAFETY: the caller's promise; the file's header gives its size.
    let file = unsafe { whole_file(image) };
    match load(file) {
        Ok(module) => Some(Box::new(module)),
        Err(error) => {
            // A failed write to stderr can't be reported.
            _ = writeln!(std::io::stderr(), "gpu-sim: {error}");
            None
        }
    }
}

fn load(file: &[u8]) -> Result<LoadedCubin, Box<dyn std::error::Error>> {
    let program = std::env::var_os("HOST_NVDISASM").ok_or("HOST_NVDISASM names no nvdisasm")?;
    let folder = TemporaryFolder::inside(&std::env::temp_dir())?;
    let path = folder.path().join("code.cubin");
    write_scratch(&path, file)?;
    Ok(LoadedCubin::load(file, &disassemble(Path::new(&program), &path)?)?)
}

/// Returns the file that begins at an address.
///
/// # Safety
/// A complete 64-bit ELF file lies there.
unsafe fn whole_file<'a>(image: *const u8) -> &'a [u8] {
    let number = |at: usize, size: usize| {
        let mut bytes = [0; 8];
        // SAFETY: the bytes lie inside of the header, or of the table of sections that the header
        // names.
        unsafe { std::ptr::copy_nonoverlapping(image.add(at), bytes.as_mut_ptr(), size) };
        u64::from_le_bytes(bytes) as usize
    };
    const NO_BITS: usize = 8;
    let (table, size, count) = (number(40, 8), number(58, 2), number(60, 2));
    let end = |at: usize| match number(at + 4, 4) {
        NO_BITS => 0,
        _ => number(at + 24, 8) + number(at + 32, 8),
    };
    let sections = (0..count).map(|section| end(table + section * size)).max().unwrap_or(0);
    let programs = number(32, 8) + number(54, 2) * number(56, 2);
    let end = sections.max(table + size * count).max(programs);
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(image, end) }
}

/// Ends a module.
#[unsafe(no_mangle)]
pub extern "C" fn gpu_sim_unload(module: Option<Box<LoadedCubin>>) {
    drop(module);
}

/// Finds a variable's address and size; returns false if there is no variable of that name.
///
/// # Safety
/// `name` ends in a zero, and `address` and `size` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpu_sim_variable(
    module: &LoadedCubin,
    name: *const c_char,
    address: &mut u64,
    size: &mut u64,
) -> bool {
    // SAFETY: the caller's promise.
    let name = unsafe { CStr::from_ptr(name) };
    let variable = name.to_str().ok().and_then(|name| module.variables.get(name));
    variable.is_some_and(|it| {
        (*address, *size) = (it.0, it.1 as u64);
        true
    })
}

/// Finds the sizes of a kernel's parameters, with a zero after the last, and its greatest number of
/// threads.
///
/// # Safety
/// `name` ends in a zero, and `sizes` has room for 256 numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpu_sim_kernel(
    module: &LoadedCubin,
    name: *const c_char,
    sizes: *mut u32,
    threads: &mut u32,
) -> bool {
    // SAFETY: the caller's promise.
    let name = unsafe { CStr::from_ptr(name) };
    let Some(code) = name.to_str().ok().and_then(|name| module.kernels.get(name)) else {
        return false;
    };
    *threads = code.kernel.max_threads.unwrap_or(1024);
    let all = code.kernel.parameters.iter().take(MAX_PARAMETERS).map(|(_, size)| *size as u32);
    for (at, size) in all.chain([0]).enumerate() {
        // SAFETY: the kernel has fewer than 256 parameters.
        unsafe { sizes.add(at).write(size) };
    }
    true
}

/// Runs a kernel to its end.
///
/// # Safety
/// `name` ends in a zero, and each parameter has as many bytes as the kernel says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpu_sim_launch(
    module: &mut LoadedCubin,
    name: *const c_char,
    blocks: u32,
    threads: u32,
    parameters: *const *const c_void,
) {
    // SAFETY: the caller's promise.
    let name = unsafe { CStr::from_ptr(name) }.to_str().expect("a name that was found");
    let sizes = module.kernels[name].kernel.parameters.iter().map(|(_, size)| *size).enumerate();
    // SAFETY: the caller passes as many parameters as the kernel has, of the sizes that the
    // kernel states.
    let bytes = |(at, size)| unsafe {
        std::slice::from_raw_parts((*parameters.add(at)).cast::<u8>(), size)
    };
    let parameters: Vec<&[u8]> = sizes.map(bytes).collect();
    let is_set = |name, value| std::env::var(name).is_ok_and(|it| it == value);
    let by_lanes = is_set("HOST_GPU_POLICY", "lanes");
    let order = RunOrder {
        policy: if by_lanes { Policy::MostLanes } else { Policy::LowestAddress },
        turn: std::env::var("HOST_GPU_TURN").map_or(u64::MAX, |it| it.parse().expect("a number")),
        shares_barriers: is_set("HOST_GPU_BARRIERS", "shared"),
    };
    let folder = std::env::var_os("HOST_GPU_COUNTS").map(PathBuf::from);
    let counts = &mut module.kernels.get_mut(name).expect("a kernel that was found").counts;
    let before = counts.totals();
    module.launch(name, (blocks, threads), &parameters, order);
    if let Some(folder) = folder {
        let code = &module.kernels[name];
        let written = report::write(&folder, code, before, (blocks, threads));
        written.unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    }
}
