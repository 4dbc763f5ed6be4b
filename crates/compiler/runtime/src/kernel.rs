//! Kernels and their launches.

mod direct;
mod fault;
mod host;

pub use direct::{DirectKernel, SliceArgument};
pub(crate) use fault::RawFault;

use crate::argument::Argument;
use crate::argument_block::{DeviceBlock, lay_out};
use crate::code::RunningLaunch;
use crate::compile_cache::{Compiled, Native};
use crate::cuda::Image;
use crate::device::Device;
use crate::error::Error;
use crate::exclusive;
use crate::output::Output;
use crate::reflection::Reflection;
use crate::stream::Stream;
use gbxcule_back_clif::Entry;
use gbxcule_ir::abi::{Arguments, GRID_DIMS};
use gbxcule_ir::check::Valid;
use gbxcule_ir::{FunctionId, Module};
use host::HostLaunch;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Kernel that is ready to be launched. Clones are cheap.
///
/// ```
/// use gbxcule_front_warp::Program;
/// use gbxcule_ir::{check, source::SourceMap};
/// use gbxcule_runtime::{Array, Build, Device, compile};
///
/// let text = "
/// import warp as wp
///
/// @wp.kernel
/// def scale(x: wp.array(dtype=wp.float32), factor: float):
///     i = wp.tid()
///     x[i] = factor * x[i]
/// ";
/// let mut sources = SourceMap::new();
/// let id = sources.add("scale.py", text);
/// let module = Program::parse(&sources, id).and_then(|program| program.compile("scale"));
/// let module = module.and_then(check::module).expect("a right program");
///
/// let kernel = compile(&module, Device::Cpu, Build::default())?.kernel("scale")?;
/// let x = Array::from_slice(&[1.0f32, 2.0, 3.0]);
/// kernel.launch(&[3], &[(&x).into(), 2.0f32.into()])?;
/// assert_eq!(x.to_vec::<f32>()?, [2.0, 4.0, 6.0]);
/// # Ok::<(), gbxcule_runtime::Error>(())
/// ```
#[derive(Clone)]
pub struct Kernel {
    compiled: Arc<Compiled>,
    id: FunctionId,
    layout: Arc<Arguments>,
    target: Target,
}

/// Compiled code of the kernel for a device.
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
        let id = image.table.kernels[position].kernel;
        Self::new(compiled, id, Target::Cuda { image, position })
    }

    fn new(compiled: Arc<Compiled>, id: FunctionId, target: Target) -> Self {
        let layout = Arc::new(Arguments::new(compiled.module(), id));
        Self { compiled, id, layout, target }
    }

    /// Returns true if both values are the same kernel of the same code.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.id == other.id && Arc::ptr_eq(&self.compiled, &other.compiled)
    }

    /// Returns the kernel's name and parameters.
    pub fn reflection(&self) -> &Reflection {
        self.compiled.reflection(self.id)
    }

    /// Returns the module from which the kernel was compiled; `None` if its code was found on disk.
    pub fn whole_module(&self) -> Option<&Valid<Module>> {
        self.compiled.is_whole().then(|| self.compiled.module())
    }

    /// Returns the types and names of the kernel's module.
    pub fn module(&self) -> &Module {
        self.compiled.module()
    }

    /// Returns the kernel's device.
    pub fn device(&self) -> Device {
        self.compiled.device()
    }

    /// Runs the kernel once for each point of a grid of up to four dimensions.
    ///
    /// On the CPU the launch has ended when this returns, and its first fault is an error. On CUDA:
    /// - The launch is only queued, in the stream of its arrays. The call waits for a launch
    ///   without arrays.
    /// - Its error is returned by the next call that waits for that stream, such as
    ///   [`Array::to_vec`](crate::Array::to_vec) or [`Stream::synchronize`]. Without such a call a
    ///   fault is never reported.
    /// - A thread that faults ends; the other threads go on.
    /// - Printed text appears when a thread waits for the stream.
    ///
    /// # Errors
    /// An argument that doesn't fit its parameter, a grid that is too large, arrays of different
    /// devices or streams; on the CPU also the first fault of a thread.
    pub fn launch(&self, grid: &[usize], args: &[Argument]) -> Result<(), Error> {
        self.launch_with_output(grid, args, Output::Standard)
    }

    /// Launches like [`launch`](Self::launch), with another output for `print`, on the CPU only.
    ///
    /// # Errors
    /// As [`Kernel::launch`]; also an output other than the standard one on a CUDA device, whose
    /// driver prints.
    pub fn launch_with_output(
        &self,
        grid: &[usize],
        args: &[Argument],
        output: Output,
    ) -> Result<(), Error> {
        self.launch_inner(grid, args, output, None).map(drop)
    }

    /// Launches like [`launch`](Self::launch), calls `go_on` several times a second while the
    /// kernel runs on the CPU, and stops when it returns false. Returns true if the launch
    /// finished. If not, some threads have run to their end and some have stopped in the middle.
    /// On CUDA `go_on` is never called, and the launch is queued as by `launch`.
    ///
    /// # Errors
    /// As [`Kernel::launch`].
    pub fn launch_while(
        &self,
        grid: &[usize],
        args: &[Argument],
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<bool, Error> {
        self.launch_inner(grid, args, Output::Standard, Some(go_on))
    }

    fn launch_inner(
        &self,
        grid: &[usize],
        args: &[Argument],
        output: Output,
        go_on: Option<&mut dyn FnMut() -> bool>,
    ) -> Result<bool, Error> {
        let plan = self.plan(grid)?;
        let (module, reflection) = (self.compiled.module(), self.reflection());
        let block = lay_out(module, reflection, &self.layout, self.device(), args)?;
        match &self.target {
            Target::Cpu { native, entry } => {
                // This must come before the arguments are locked, because it reads their addresses.
                let here = host::runs_on_caller(entry, &plan);
                let code = match here || exclusive::are_exclusive(&entry.exclusive, grid, args) {
                    true => &native.code,
                    false => native.shared_code(&self.compiled)?,
                };
                let in_order =
                    entry.order.as_ref().is_some_and(|order| !exclusive::may_group(order, args));
                let packed = block.lock();
                let running = RunningLaunch { module, facts: &native.facts, output };
                let (plan, stop) = (&plan, &AtomicBool::new(false));
                let (packed, running) = (&packed, &running);
                let host = HostLaunch { code, entry, plan, here, in_order, packed, running, stop };
                let fault = host.run(go_on);
                if stop.load(Ordering::Relaxed) {
                    return Ok(false);
                }
                match fault {
                    None => Ok(true),
                    Some(fault) => {
                        let fault = self.explain(&fault, fault.thread, plan);
                        Err(Error::Fault(Box::new(fault)))
                    }
                }
            }
            Target::Cuda { image, position } => {
                if !matches!(output, Output::Standard) {
                    let (kernel, device) = (reflection.name.clone(), self.device());
                    return Err(Error::Printing { kernel, device });
                }
                let DeviceBlock { words, stream, rows } = block.on_device()?;
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
                // The rows' memory is freed in the stream, after the launch.
                drop(rows);
                if wait {
                    stream.synchronize()?;
                }
                Ok(true)
            }
        }
    }

    /// Splits the grid into two parts: the dimensions that the kernel reads with `tid`, which
    /// count its threads, and the other dimensions, for each point of which all threads run
    /// again.
    fn plan(&self, grid: &[usize]) -> Result<Plan, Error> {
        let refuse = |reason: String| {
            let kernel = self.reflection().name.clone();
            Err(Error::Grid { kernel, reason })
        };
        if grid.is_empty() || grid.len() > GRID_DIMS {
            return refuse(format!("a grid has 1 to {GRID_DIMS} dimensions, found {}", grid.len()));
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
        let outer_extents = if dims == 0 { grid } else { &grid[..dims.min(grid.len())] };
        let repeated = if dims == 0 { &[] } else { &grid[dims.min(grid.len())..] };
        let (Some(threads), Some(repeats), Some(_)) =
            (total(outer_extents), total(repeated), total(grid))
        else {
            return refuse("a grid has at most 2^63 - 1 threads".into());
        };
        let mut extents = [1; GRID_DIMS];
        if dims > 0 {
            extents.iter_mut().zip(outer_extents).for_each(|(extent, &dim)| *extent = dim as i64);
        }
        Ok(Plan { extents, threads, repeats })
    }
}

/// A grid as the launch runs it.
struct Plan {
    extents: [i64; GRID_DIMS],
    threads: i64,
    repeats: i64,
}
