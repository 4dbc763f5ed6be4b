//! Kernels and their launches.

mod direct;
mod fault;
mod host;

pub use direct::{DirectKernel, Lent};
pub(crate) use fault::Noted;

use crate::argument::Argument;
use crate::cache::{Compiled, Native};
use crate::code::Running;
use crate::cuda::Image;
use crate::device::Device;
use crate::error::Error;
use crate::launch::lay_out;
use crate::output::Output;
use crate::owned;
use crate::reflection::Reflection;
use crate::stream::Stream;
use gbxcule_kernel::back::clif::{Arguments, Entry, context};
use gbxcule_kernel::ir::FunctionId;
use host::Host;
use std::sync::Arc;

/// A kernel, ready to be launched. Cheap to clone.
#[derive(Clone)]
pub struct Kernel {
    compiled: Arc<Compiled>,
    id: FunctionId,
    layout: Arc<Arguments>,
    target: Target,
}

/// What a device has of it.
#[derive(Clone)]
enum Target {
    Cpu {
        native: Arc<Native>,
        entry: Entry,
    },
    /// One of the image's kernels, by position.
    Cuda {
        image: Arc<Image>,
        position: usize,
    },
}

impl Kernel {
    pub(crate) fn on_cpu(compiled: Arc<Compiled>, native: Arc<Native>, entry: Entry) -> Self {
        let id = entry.kernel;
        Self::new(compiled, id, Target::Cpu { native, entry })
    }

    pub(crate) fn on_cuda(compiled: Arc<Compiled>, image: Arc<Image>, position: usize) -> Self {
        let id = image.text.kernels[position].kernel;
        Self::new(compiled, id, Target::Cuda { image, position })
    }

    fn new(compiled: Arc<Compiled>, id: FunctionId, target: Target) -> Self {
        let layout = Arc::new(Arguments::new(compiled.module(), id));
        Self { compiled, id, layout, target }
    }

    /// Whether it is the same kernel of the same code.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.id == other.id && Arc::ptr_eq(&self.compiled, &other.compiled)
    }

    /// Its name and parameters.
    pub fn reflection(&self) -> &Reflection {
        self.compiled.reflection(self.id)
    }

    /// Where it runs.
    pub fn device(&self) -> Device {
        self.compiled.device()
    }

    /// Runs it once for each point of a grid of up to four dimensions.
    ///
    /// On the CPU it has ended when this returns. On a CUDA device this only asks for it, in the stream that its
    /// arrays were made in: what goes wrong while it runs is the error of whatever waits for that stream
    /// ([`Array::to_vec`](crate::Array::to_vec), [`Stream::synchronize`]). A kernel without arrays is waited for. There a
    /// thread that faults ends, the others go on; what kernels print comes to standard output when the stream is
    /// waited for; and what nobody waits for nobody learns of.
    pub fn launch(&self, grid: &[usize], args: &[Argument]) -> Result<(), Error> {
        self.launch_to(grid, args, Output::Standard)
    }

    /// The same, with what it prints going elsewhere: on the CPU only.
    pub fn launch_to(
        &self,
        grid: &[usize],
        args: &[Argument],
        output: Output,
    ) -> Result<(), Error> {
        let plan = self.plan(grid)?;
        let (module, reflection) = (self.compiled.module(), self.reflection());
        let laid = lay_out(module, reflection, &self.layout, self.device(), args)?;
        match &self.target {
            Target::Cpu { native, entry } => {
                // Before the arguments are locked: addresses are asked for.
                let here = host::runs_here(entry, &plan);
                let code = match here || owned::hold(&entry.owned, grid, args) {
                    true => &native.code,
                    false => native.shared_code(module)?,
                };
                let packed = laid.lock();
                let running = Running { module, program: &native.program, output };
                let (position, plan) = (entry.position, &plan);
                let host = Host { code, position, plan, here, packed: &packed, running: &running };
                match host.run() {
                    None => Ok(()),
                    Some(noted) => {
                        let fault = self.explain(&noted, noted.thread, plan);
                        Err(Error::Fault(Box::new(fault)))
                    }
                }
            }
            Target::Cuda { image, position } => {
                if let Output::Text(_) = output {
                    let (kernel, device) = (reflection.name.clone(), self.device());
                    return Err(Error::Printing { kernel, device });
                }
                let (words, stream) = laid.on_device();
                let wait = stream.is_none();
                let stream = match stream {
                    Some(stream) => stream,
                    None => Stream::of_device(self.device())?,
                };
                let Some(queue) = stream.queue() else {
                    unreachable!("arrays were checked to be the device's")
                };
                let parameters = (words.as_slice(), self.layout.offsets.as_slice());
                queue.launch(image, self, *position, grid, parameters)?;
                if wait { stream.synchronize() } else { Ok(()) }
            }
        }
    }

    /// The grid in the dimensions that the kernel asks for; the others only repeat.
    fn plan(&self, grid: &[usize]) -> Result<Plan, Error> {
        let refuse = |reason: String| {
            let kernel = self.reflection().name.clone();
            Err(Error::Grid { kernel, reason })
        };
        if grid.is_empty() || grid.len() > 4 {
            return refuse(format!("a grid has 1 to 4 dimensions, found {}", grid.len()));
        }
        if let Some(extent) = grid.iter().find(|&&extent| i32::try_from(extent).is_err()) {
            return refuse(format!(
                "a grid has at most 2147483647 threads in a dimension, found {extent}"
            ));
        }
        let dims = usize::from(self.reflection().dims);
        let total = |extents: &[usize]| {
            extents.iter().try_fold(1i64, |all, &extent| all.checked_mul(extent as i64))
        };
        let asked = if dims == 0 { grid } else { &grid[..dims.min(grid.len())] };
        let repeated = if dims == 0 { &[] } else { &grid[dims.min(grid.len())..] };
        let (Some(threads), Some(repeats), Some(_)) = (total(asked), total(repeated), total(grid))
        else {
            return refuse("a grid has at most 2^63 - 1 threads".into());
        };
        let mut extents = [1; 4];
        if dims > 0 {
            extents.iter_mut().zip(asked).for_each(|(extent, &dim)| *extent = dim as i64);
        }
        Ok(Plan { extents, threads, repeats })
    }
}

/// A grid as it is run.
struct Plan {
    extents: [i64; context::DIMS],
    threads: i64,
    repeats: i64,
}
