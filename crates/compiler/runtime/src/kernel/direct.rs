//! Calls of a kernel in the caller's own thread, over memory that the caller lends for the call,
//! without copies, locks or allocations. They are for callers that run one small kernel very
//! often, such as a swarm that runs programs after each step.
#![allow(unsafe_code, reason = "calling compiled code")]

use super::{Kernel, Plan, RawFault, Target};
use crate::code::{Record, RunningLaunch};
use crate::compile_cache::Native;
use crate::error::Error;
use crate::output::Output;
use crate::worker_threads::MAX_CALLER_STACK;
use bytemuck::Pod;
use gbxcule_ir::Shape;
use gbxcule_ir::abi::GRID_DIMS;
use gbxcule_ir::layout::descriptor;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Kernel whose parameters are all arrays of one dimension, with its own block of arguments.
pub struct DirectKernel {
    kernel: Kernel,
    native: Arc<Native>,
    /// Position of the kernel among the program's functions.
    position: usize,
    params: Vec<Param>,
    words: Vec<u64>,
}

/// Stop flag of launches that are never stopped.
static NEVER: AtomicBool = AtomicBool::new(false);

/// Requirements on a lent slice.
#[derive(Clone, Copy)]
struct Param {
    /// Offset from the beginning of the arguments, a multiple of 8.
    offset: usize,
    element_bytes: usize,
    align: usize,
    written: bool,
}

/// Elements that the caller lends for one call.
pub struct SliceArgument<'m> {
    address: u64,
    len: usize,
    element_bytes: usize,
    align: usize,
    writable: bool,
    memory: PhantomData<&'m mut [u8]>,
}

impl<'m> SliceArgument<'m> {
    /// Lends elements for reading.
    pub fn read<T>(elements: &'m [T]) -> Self {
        Self::new::<T>(elements.as_ptr() as u64, elements.len(), false)
    }

    /// Lends the first bytes of a value for reading, as one element.
    ///
    /// # Panics
    /// The value has fewer bytes.
    pub fn read_beginning<T>(value: &'m T, bytes: usize) -> Self {
        assert!(bytes <= size_of::<T>(), "{bytes} bytes of {}", size_of::<T>());
        Self { element_bytes: bytes, ..Self::read(std::slice::from_ref(value)) }
    }

    /// Lends elements for reading and writing.
    pub fn write<T: Pod>(elements: &'m mut [T]) -> Self {
        Self::new::<T>(elements.as_mut_ptr() as u64, elements.len(), true)
    }

    fn new<T>(address: u64, len: usize, writable: bool) -> Self {
        let (element_bytes, align) = (size_of::<T>(), align_of::<T>());
        Self { address, len, element_bytes, align, writable, memory: PhantomData }
    }
}

impl DirectKernel {
    /// Prepares a kernel whose parameters are arrays of one dimension.
    pub fn new(kernel: Kernel) -> Result<Self, Error> {
        let module = kernel.compiled.module();
        let name = || kernel.reflection().name.clone();
        let Target::Cpu { native, entry } = &kernel.target else {
            return Err(Error::NotOnHost { kernel: name(), device: kernel.device() });
        };
        let (bytes, limit) = (entry.stack_bytes, MAX_CALLER_STACK);
        if bytes > limit {
            return Err(Error::Stack { kernel: name(), bytes, limit });
        }
        let layout = &kernel.layout;
        let mut params = Vec::new();
        for (param, &offset) in kernel.reflection().parameters.iter().zip(&layout.offsets) {
            let element = match module.types[param.ty] {
                // Handles in lent memory could point anywhere.
                Shape::Array { of, dims: 1 } if !module.types.holds_array(of) => {
                    module.types.layout(of)
                }
                _ => None,
            };
            let Some(element) = element else {
                let reason = "an array of one dimension is needed here, of elements without arrays"
                    .to_string();
                let argument = param.name.clone();
                return Err(Error::Argument { kernel: name(), argument, reason });
            };
            params.push(Param {
                offset: offset as usize,
                element_bytes: element.size as usize,
                align: element.align as usize,
                written: param.written,
            });
        }
        let words = vec![0; (layout.size as usize).div_ceil(8)];
        let (native, position) = (Arc::clone(native), entry.position);
        Ok(Self { kernel, native, position, params, words })
    }

    /// Runs the kernel once, as thread 0 of a grid of one.
    pub fn run(&mut self, args: &mut [SliceArgument<'_>]) -> Result<(), Error> {
        self.check(args)?;
        for (param, arg) in self.params.iter().zip(&*args) {
            let at = |field: u32| (param.offset + field as usize) / 8;
            // Extents and strides are pairs of `i32`; `check` makes sure that both numbers are
            // small.
            self.words[at(descriptor::DATA)] = arg.address;
            self.words[at(descriptor::SHAPE)] = arg.len as u64;
            self.words[at(descriptor::STRIDES)] = param.element_bytes as u64;
            self.words[at(descriptor::NDIM)] = 1;
        }
        let (module, facts) = (self.kernel.compiled.module(), &self.native.facts);
        let running = RunningLaunch { module, facts, output: Output::Standard };
        let mut record = Record::new([1; GRID_DIMS], &running, &NEVER, false);
        // SAFETY: the words hold handles as this kernel's layout says, over slices borrowed for
        // the call. `check` has checked that the elements have the size and alignment that the
        // kernel expects, and that each slice which the kernel may write was lent for writing, as
        // plain bytes. `running` outlives the call.
        let status = unsafe { self.native.code.run(self.position, &mut record, &self.words, 0, 1) };
        let Some(fault) = RawFault::of_range(status, &record.range) else { return Ok(()) };
        let plan = Plan { extents: [1; GRID_DIMS], threads: 1, repeats: 1 };
        Err(Error::Fault(Box::new(self.kernel.explain(&fault, fault.thread, &plan))))
    }

    fn check(&self, args: &[SliceArgument<'_>]) -> Result<(), Error> {
        let reflection = self.kernel.reflection();
        if args.len() != self.params.len() {
            let names: Vec<&str> =
                reflection.parameters.iter().map(|param| param.name.as_str()).collect();
            return Err(Error::ArgumentCount {
                kernel: reflection.name.clone(),
                wanted: names.len(),
                names: names.join(", "),
                found: args.len(),
            });
        }
        for (position, (param, arg)) in self.params.iter().zip(args).enumerate() {
            let reason = if arg.element_bytes != param.element_bytes || arg.align < param.align {
                let (wanted, found) = (param.element_bytes, arg.element_bytes);
                format!("elements have {wanted} bytes, found {found}")
            } else if param.written && !arg.writable {
                "the kernel writes it, but it was given for reading only".to_string()
            } else if i32::try_from(arg.len).is_err() {
                format!("an array has at most 2147483647 elements, found {}", arg.len)
            } else {
                continue;
            };
            let kernel = reflection.name.clone();
            let argument = reflection.parameters[position].name.clone();
            return Err(Error::Argument { kernel, argument, reason });
        }
        Ok(())
    }
}
