//! A launch on the simulator: takes arrays and parameters, returns arrays or a fault.

use gbxcule_gpu_sim::sass::device_memory::DeviceMemory;
use gbxcule_gpu_sim::sass::fault::{Fault, FaultKind};
use gbxcule_gpu_sim::sass::module::LoadedCubin;
use gbxcule_gpu_sim::sass::schedule::Shape;
use gbxcule_gpu_sim::sass::suspect::{Replacement, StoppedLaunch, Suspects, VALUES};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// An array in the memory of the device.
#[derive(Clone, Debug)]
pub struct LaunchArray<'a> {
    /// Name in messages.
    pub name: String,
    /// Bytes of an element.
    pub element_bytes: usize,
    /// Contents before the launch.
    pub bytes: &'a [u8],
}

/// A parameter: bytes that may contain addresses of arrays.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// Bytes.
    pub bytes: Vec<u8>,
    /// Offsets in `bytes` of the addresses of arrays, each with the array's index.
    pub addresses: Vec<(usize, usize)>,
}

impl Parameter {
    /// Makes the parameter for a value.
    pub fn value(bytes: &[u8]) -> Self {
        Self { bytes: bytes.to_vec(), addresses: Vec::new() }
    }

    /// Makes the parameter for the address of an array, or for a null pointer.
    pub fn pointer(array: Option<usize>) -> Self {
        Self { bytes: vec![0; 8], addresses: array.into_iter().map(|array| (0, array)).collect() }
    }
}

/// Result of a launch.
#[derive(Debug)]
pub struct Launched {
    /// Contents of the arrays.
    pub arrays: Vec<Vec<u8>>,
    /// Memory after the launch.
    pub memory: DeviceMemory,
    /// Contents of `gbx_fault`, in which text of our compiler records a fault; `None` if the module
    /// lacks the variable.
    pub own_fault: Option<Vec<u8>>,
}

/// Finds a kernel by its plain or mangled name, or returns the only kernel.
pub fn kernel<'c>(cubin: &'c LoadedCubin, name: &str) -> Option<&'c str> {
    let mangled = format!("_Z{}{name}", name.len());
    let mut names = cubin.kernels.keys().map(String::as_str);
    let named = names.clone().find(|it| *it == name);
    let named = named.or_else(|| names.clone().find(|it| it.starts_with(&mangled)));
    named.or_else(|| names.next().filter(|_| names.next().is_none()))
}

/// Returns the sizes of a kernel's parameters.
pub fn parameter_sizes(cubin: &LoadedCubin, kernel: &str) -> Vec<usize> {
    cubin.kernels[kernel].kernel.parameters.iter().map(|(_, size)| *size).collect()
}

/// Limits of a launch, and the faults that the simulator looks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LaunchLimits {
    /// Greatest number of instructions that warps execute.
    pub instructions: u64,
    /// True if the simulator looks for races.
    pub finds_races: bool,
}

/// Runs a kernel to its end or its first fault. If loads of shared memory read unwritten or racing
/// words, the kernel runs again with other values in these words, which shows whether the kernel
/// uses them, and whether they led to the fault.
pub fn launch(
    cubin: &mut LoadedCubin,
    kernel: &str,
    shape: Shape,
    arrays: &[LaunchArray<'_>],
    parameters: &[Parameter],
    limits: LaunchLimits,
) -> Result<Launched, Fault> {
    let before = cubin.kernels[kernel].counts.clone();
    let mut ran = launch_once(cubin, (kernel, shape), arrays, parameters, (limits, None));
    let suspects = match &mut ran {
        Ok(memory) => std::mem::take(&mut memory.suspects),
        Err(stopped) => std::mem::take(&mut stopped.suspects),
    };
    if limits.finds_races && suspects.first().is_some() {
        let counts = cubin.kernels[kernel].counts.clone();
        let mut are_used = |suspects: &Suspects| {
            VALUES.into_iter().any(|value| {
                // The order of threads depends on the counts of issued instructions, so both runs
                // begin with the same counts.
                cubin.kernels.get_mut(kernel).expect("it ran").counts = before.clone();
                let replacement = Some(suspects.replaced_by(value));
                let again =
                    launch_once(cubin, (kernel, shape), arrays, parameters, (limits, replacement));
                !match (&again, &ran) {
                    (Ok(again), Ok(memory)) => again.is_same(memory),
                    (Err(again), Err(stopped)) => again.fault == stopped.fault,
                    _ => false,
                }
            })
        };
        if are_used(&suspects) {
            let cause = suspects.of_each_line().find(|it| are_used(it));
            let first = cause.as_ref().unwrap_or(&suspects).first().expect("a suspect").clone();
            return Err(match ran {
                Ok(_) => first,
                Err(StoppedLaunch { fault, .. }) => {
                    let message = format!("{}; what it reads leads to: {fault}", first.message);
                    Fault { message, ..first }
                }
            });
        }
        cubin.kernels.get_mut(kernel).expect("it ran").counts = counts;
    }
    let memory = ran.map_err(|stopped| stopped.fault)?;
    Ok(Launched {
        arrays: (0..arrays.len()).map(|array| memory.bytes(array).to_vec()).collect(),
        own_fault: memory.variable("gbx_fault").map(<[u8]>::to_vec),
        memory,
    })
}

fn launch_once(
    cubin: &mut LoadedCubin,
    (kernel, shape): (&str, Shape),
    arrays: &[LaunchArray<'_>],
    parameters: &[Parameter],
    (limits, replacement): (LaunchLimits, Option<Replacement>),
) -> Result<DeviceMemory, StoppedLaunch> {
    let mut memory = DeviceMemory::new();
    (memory.budget, memory.finds_races) = (limits.instructions, limits.finds_races);
    memory.replacement = replacement;
    let add = |it: &LaunchArray<'_>| memory.add(&it.name, it.element_bytes, it.bytes.to_vec());
    let addresses: Vec<u64> = arrays.iter().map(add).collect();
    let filled = |parameter: &Parameter| {
        let mut bytes = parameter.bytes.clone();
        for &(at, array) in &parameter.addresses {
            bytes[at..at + 8].copy_from_slice(&addresses[array].to_le_bytes());
        }
        bytes
    };
    let filled: Vec<Vec<u8>> = parameters.iter().map(filled).collect();
    let filled: Vec<&[u8]> = filled.iter().map(Vec::as_slice).collect();
    // If foreign machine code makes the simulator panic, the process must go on.
    let ran = catch_unwind(AssertUnwindSafe(|| cubin.launch_on(kernel, shape, &filled, memory)));
    ran.unwrap_or_else(|_| {
        let message = "the simulator failed".to_owned();
        let fault = Fault { kind: FaultKind::Unknown, line: None, message };
        Err(StoppedLaunch { fault, suspects: Suspects::default() })
    })
}
