//! What can go wrong outside the text of a program.

use crate::device::Device;
use gbxcule_kernel::diagnostic::Diagnostic;
use gbxcule_kernel::source::Span;

/// Why something could not be compiled or launched, or why a launch stopped.
#[derive(Clone, PartialEq, Eq, thiserror::Error, Debug)]
pub enum Error {
    /// Not the name of a device.
    #[error("`{0}` is no device: use `cpu`, `cuda` or `cuda:N`")]
    UnknownDevice(String),
    /// A device this build can't use.
    #[error(
        "can't run on `{0}`: this build runs kernels on the CPU only; use device `cpu`, or emit CUDA text and build it with NVCC or NVRTC"
    )]
    NoCuda(Device),
    /// The machine this runs on is unknown to the code generator.
    #[error("can't make machine code here: {0}")]
    Host(String),
    /// The code generator refused a function.
    #[error("can't make machine code of `{function}`: {reason}")]
    Code {
        /// Which function.
        function: String,
        /// What the code generator says.
        reason: String,
    },
    /// Variables that don't fit into a thread's stack.
    #[error("kernel `{kernel}` needs {bytes} bytes for its variables, but a thread has {limit}")]
    Stack {
        /// Which kernel.
        kernel: String,
        /// What it needs.
        bytes: u64,
        /// What there is.
        limit: u64,
    },
    /// A kernel that the module doesn't have.
    #[error("no kernel is called `{name}`; there are {known}")]
    NoKernel {
        /// The name asked for.
        name: String,
        /// The kernels there are.
        known: String,
    },
    /// A grid that can't be launched.
    #[error("kernel `{kernel}`: {reason}")]
    Grid {
        /// Which kernel.
        kernel: String,
        /// What is wrong.
        reason: String,
    },
    /// Not as many arguments as the kernel takes.
    #[error("kernel `{kernel}` takes {wanted} arguments ({names}), found {found}")]
    ArgumentCount {
        /// Which kernel.
        kernel: String,
        /// How many it takes.
        wanted: usize,
        /// Their names.
        names: String,
        /// How many there were.
        found: usize,
    },
    /// An argument that doesn't fit.
    #[error("argument `{argument}` of kernel `{kernel}`: {reason}")]
    Argument {
        /// Which kernel.
        kernel: String,
        /// Which argument.
        argument: String,
        /// What was found and what is needed.
        reason: String,
    },
    /// Two arguments that share memory, but must not.
    #[error(
        "arguments `{one}` and `{other}` of kernel `{kernel}` must not share memory: the gradient needs what `{one}` held, and the launch wrote to `{other}`"
    )]
    Overlap {
        /// Which kernel.
        kernel: String,
        /// The argument that is read.
        one: String,
        /// The argument that was written.
        other: String,
    },
    /// An array that can't be made.
    #[error("{0}")]
    Array(String),
    /// A launch that stopped.
    #[error("{0}")]
    Fault(Box<Fault>),
}

/// Where and why a launch stopped.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The kernel that was launched.
    pub kernel: String,
    /// The function it happened in.
    pub function: String,
    /// A stable name such as `index`.
    pub code: &'static str,
    /// What happened.
    pub message: String,
    /// The thread's launch index in the dimensions that the kernel asks for.
    pub thread: Vec<i64>,
    /// Where in the source.
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
    /// As users of the program see it, with its place in the source.
    pub fn diagnostic(&self) -> Diagnostic {
        Diagnostic::error(self.code, self.span, self.to_string())
    }
}
