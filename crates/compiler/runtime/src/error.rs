//! Errors outside the text of a program.

use crate::device::Device;
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::source::Span;
use std::path::PathBuf;

/// Reason for which code could not be compiled or launched, or for which a launch stopped.
#[derive(Clone, PartialEq, Eq, thiserror::Error, Debug)]
pub enum Error {
    /// A text that names no device.
    #[error("`{0}` is not a device: use `cpu`, `cuda` or `cuda:N`")]
    UnknownDevice(String),
    /// A number of threads that the process can't start.
    #[error("GBXCULE_THREADS is `{found}`: it takes a number of threads, 1 to {most}")]
    Threads {
        /// Value of the variable.
        found: String,
        /// Greatest number of threads.
        most: usize,
    },
    /// A machine that the code generator doesn't support.
    #[error("can't make machine code here: {0}")]
    Host(String),
    /// The code generator refused a function.
    #[error("can't make machine code of `{function}`: {reason}")]
    Code {
        /// Name of the function.
        function: String,
        /// Message of the code generator.
        reason: String,
    },
    /// Variables that don't fit into a thread's stack.
    #[error("kernel `{kernel}` needs {bytes} bytes for its variables, but a thread has {limit}")]
    Stack {
        /// Name of the kernel.
        kernel: String,
        /// Number of bytes that it needs.
        bytes: u64,
        /// Number of bytes that a thread has.
        limit: u64,
    },
    /// A kernel that the module doesn't have.
    #[error("no kernel is called `{name}`; there are {known}")]
    NoKernel {
        /// Name that was asked for.
        name: String,
        /// Kernels that the module has.
        known: String,
    },
    /// A grid that can't be launched.
    #[error("kernel `{kernel}`: {reason}")]
    Grid {
        /// Name of the kernel.
        kernel: String,
        /// Description of the fault.
        reason: String,
    },
    /// A wrong number of arguments.
    #[error("kernel `{kernel}` takes {wanted} arguments ({names}), found {found}")]
    ArgumentCount {
        /// Name of the kernel.
        kernel: String,
        /// Number of arguments that it takes.
        wanted: usize,
        /// Names of the kernel's parameters.
        names: String,
        /// Number of arguments found.
        found: usize,
    },
    /// An argument that doesn't fit.
    #[error("argument `{argument}` of kernel `{kernel}`: {reason}")]
    Argument {
        /// Name of the kernel.
        kernel: String,
        /// Name of the argument.
        argument: String,
        /// Description of what was found and what is needed.
        reason: String,
    },
    /// Two arguments that share memory but must not.
    #[error(
        "{} of kernel `{kernel}` must not share memory: the gradient needs what `{one}` held, and the launch wrote to `{other}`",
        names_of_both(one, other)
    )]
    Overlap {
        /// Name of the kernel.
        kernel: String,
        /// Argument that is read.
        one: String,
        /// Argument that was written.
        other: String,
    },
    /// An array that can't be made.
    #[error("{0}")]
    Array(String),
    /// No driver is installed.
    #[error(
        "no NVIDIA driver: its library `libcuda` can't be loaded; install NVIDIA's driver, or use device `cpu`"
    )]
    NoDriver,
    /// The driver sees no device.
    #[error(
        "the NVIDIA driver sees no GPU: look at `nvidia-smi` and CUDA_VISIBLE_DEVICES, or use device `cpu`"
    )]
    NoGpu,
    /// An ordinal that is too high.
    #[error(
        "there is no device `cuda:{ordinal}`: the driver sees {devices}, the first is `cuda:0`"
    )]
    NoSuchGpu {
        /// Ordinal that was asked for.
        ordinal: u32,
        /// Number of devices.
        devices: u32,
    },
    /// A kernel of a GPU, called where only a kernel of the CPU can be called.
    #[error(
        "kernel `{kernel}` runs on `{device}`, but here it is called in place: compile it for `cpu`"
    )]
    NotOnHost {
        /// Name of the kernel.
        kernel: String,
        /// Device that it was compiled for.
        device: Device,
    },
    /// Printed text of a kernel on a GPU, which can't be collected in a string.
    #[error(
        "the text that kernel `{kernel}` prints on `{device}` goes to standard output: it can't be collected"
    )]
    Printing {
        /// Name of the kernel.
        kernel: String,
        /// Device on which it runs.
        device: Device,
    },
    /// An allocation that exceeds the device's free memory.
    #[error(
        "`{device}` has too little memory: {} wanted, {} free; make fewer or smaller arrays, or end other programs on it (`nvidia-smi`)",
        mebibytes(*wanted), mebibytes(*free)
    )]
    DeviceMemory {
        /// Device.
        device: Device,
        /// Bytes asked for.
        wanted: u64,
        /// Bytes free.
        free: u64,
    },
    /// A driver that is too old for the machine code of this NVRTC.
    #[error(
        "the NVIDIA driver supports CUDA {}.{}, but NVRTC {}.{} makes code for CUDA {}: install a newer driver, or `pip install nvidia-cuda-nvrtc-cu{}`",
        driver.0, driver.1, nvrtc.0, nvrtc.1, nvrtc.0, driver.0
    )]
    DriverTooOld {
        /// Newest CUDA that the driver supports.
        driver: (u32, u32),
        /// NVRTC's version.
        nvrtc: (u32, u32),
    },
    /// Machine code that the driver refuses.
    #[error(
        "the driver doesn't take machine code for `{device}` ({arch}): {reason}; install a newer driver, or an NVRTC as old as the driver"
    )]
    CodeRefused {
        /// Device.
        device: Device,
        /// Architecture.
        arch: String,
        /// Message of the driver.
        reason: String,
    },
    /// A failure after which the device can't be used.
    #[error(
        "`{device}` stopped: {reason}; its arrays are lost, and this process can't use it any more: start it again. An unchecked build reached outside its arrays, or the device failed: a checked build says where, `compute-sanitizer` and `dmesg` more"
    )]
    ContextLost {
        /// Device.
        device: Device,
        /// Message of the driver.
        reason: String,
    },
    /// A forked process, in which CUDA does not work.
    #[error(
        "`{0}` was used before this process was forked, and CUDA does not work in it: start it with `spawn` instead"
    )]
    Forked(Device),
    /// A folder in `GBXCULE_CACHE` that can't be written.
    #[error("GBXCULE_CACHE is `{path}`, where machine code can't be kept: {reason}")]
    Cache {
        /// Folder.
        path: PathBuf,
        /// Message of the operating system.
        reason: String,
    },
    /// A call that the driver refused.
    #[error("CUDA: {call}: {reason}")]
    Cuda {
        /// Function that was called.
        call: &'static str,
        /// Message of the driver.
        reason: String,
    },
    /// A text that names no GPU architecture.
    #[error("`{0}` is not a GPU architecture: use one such as `sm_90`, `sm_90a` or `sm_100f`")]
    UnknownArch(String),
    /// NVRTC was not found.
    #[error(
        "no NVRTC, which compiles CUDA text: `pip install nvidia-cuda-nvrtc` into the active Python environment, or set GBXCULE_NVRTC to libnvrtc.so or a folder above it"
    )]
    NoNvrtc,
    /// `GBXCULE_NVRTC` names a place without NVRTC.
    #[error(
        "GBXCULE_NVRTC is `{0}`, but there is no libnvrtc there: it names the library or a folder above it"
    )]
    NvrtcVariable(PathBuf),
    /// An NVRTC that can't be loaded or lacks functions.
    #[error("NVRTC at `{path}` can't be used: {reason}")]
    NvrtcUnusable {
        /// Path of the library.
        path: PathBuf,
        /// Message of the loader.
        reason: String,
    },
    /// An architecture for which this NVRTC is too old or too new.
    #[error(
        "NVRTC {version} doesn't compile for `{arch}`, only for {known}: an older GPU needs an older one, a newer GPU a newer one"
    )]
    NvrtcArch {
        /// Name of the architecture.
        arch: String,
        /// NVRTC's version.
        version: String,
        /// Architectures that it compiles for.
        known: String,
    },
    /// A function of NVRTC failed.
    #[error("NVRTC: `{function}` says {reason}")]
    Nvrtc {
        /// Name of the function.
        function: &'static str,
        /// Message of the library.
        reason: String,
    },
    /// CUDA text that NVRTC refuses.
    #[error("NVRTC refuses the CUDA text `{name}` for {arch}:\n{log}")]
    CudaText {
        /// Name of the text.
        name: String,
        /// Architecture asked for.
        arch: String,
        /// The compiler's log.
        log: String,
    },
    /// `ptxas` was not found.
    #[error(
        "no `ptxas` beside NVRTC or on PATH: `pip install nvidia-cuda-nvcc` into the same Python environment brings it"
    )]
    NoPtxas,
    /// PTX that `ptxas` refuses.
    #[error("`ptxas` refuses `{path}` for {arch}:\n{log}")]
    Ptxas {
        /// Path of the file.
        path: PathBuf,
        /// Architecture asked for.
        arch: String,
        /// Log of the compiler.
        log: String,
    },
    /// A launch that stopped.
    #[error("{0}")]
    Fault(Box<Fault>),
}

fn mebibytes(bytes: u64) -> String {
    let mebibytes = bytes as f64 / f64::from(1 << 20);
    if mebibytes < 1.0 { format!("{bytes} bytes") } else { format!("{mebibytes:.0} MiB") }
}

/// Place and cause of a stopped launch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Name of the launched kernel.
    pub kernel: String,
    /// Name of the function in which the fault happened.
    pub function: String,
    /// Stable name such as `index`.
    pub code: Code,
    /// Message: what happened.
    pub message: String,
    /// Index that the thread asked for; 0 if the fault is not about an index.
    pub index: i64,
    /// The thread's launch index in the dimensions that the kernel asks for.
    pub thread: Vec<i64>,
    /// Place in the source: the operation, or on a CUDA device the statement around it.
    pub span: Span,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { kernel, function, message, .. } = self;
        let thread: Vec<String> = self.thread.iter().map(i64::to_string).collect();
        write!(f, "kernel `{kernel}` stopped at thread ({}): {message}", thread.join(", "))?;
        if function == kernel { Ok(()) } else { write!(f, ", in `{function}`") }
    }
}

impl Fault {
    /// Returns the fault as a diagnostic for users of the program, with its place in the source.
    pub fn diagnostic(&self) -> Diagnostic {
        Diagnostic::error(self.code, self.span, self.to_string())
    }
}

/// Names two arguments, or the arrays of one.
fn names_of_both(one: &str, other: &str) -> String {
    if one == other {
        format!("arrays in argument `{one}`")
    } else {
        format!("arguments `{one}` and `{other}`")
    }
}
