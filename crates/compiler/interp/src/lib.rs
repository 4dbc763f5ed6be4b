//! The interpreter: the meaning of IR, as code. It is slow, deterministic and checked, and it is
//! the reference for the other ways of running a program.
//!
//! An [`Interpreter`] owns buffers; [`Interpreter::launch`] launches kernels over them, and
//! [`Interpreter::call`] runs functions. Threads run one after the other in row-major order. No
//! program can hang or crash the host: steps are counted, and every access is checked.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod failure;
mod frame;
mod memory;
mod operation;
mod perturbation;
mod place;
mod print;
mod race;
mod thread;

pub use failure::{Failure, Fault};
pub use memory::{Array, Buffer, Memory, Number, Pointer};
pub use perturbation::Perturbation;
pub use race::{Access, Manner, Race, RaceLog};

use frame::Frames;
use gbxcule_ir::check::Valid;
use gbxcule_ir::function::{FunctionId, FunctionKind, PassMode};
use gbxcule_ir::module::Module;
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::Shape;
use std::collections::HashMap;
use std::sync::Arc;
use thread::Unfinished;

/// Greatest number of steps of a launch unless [`Interpreter::budget`] is set.
pub const BUDGET: u64 = 100_000_000;

/// A module ready to run, with its own memory.
#[derive(Debug)]
pub struct Interpreter<'m> {
    /// The buffers.
    pub memory: Memory,
    /// Text that the program printed, up to the line that exceeds 1 MiB.
    pub output: String,
    /// Number of statements that the next launches and calls may execute together.
    pub budget: u64,
    /// Change of natives' results, within the error that another library might make.
    pub perturbation: Option<Perturbation>,
    /// Operations that are faults here, although the dialect defines them.
    pub refusals: Refusals,
    /// Outcomes of comparisons, if the caller wants them.
    pub outcomes: Option<Outcomes>,
    /// Accesses of the next launch to watched buffers, if the caller looks for races.
    pub races: Option<RaceLog>,
    module: &'m Valid<Module>,
    frames: Arc<Frames>,
    stack: Vec<u8>,
    unfinished: Unfinished<'m>,
}

/// Operations that mean something else in other languages; each refused operation is a fault.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Refusals {
    /// Indices that count from the end of an array.
    pub negative_indices: bool,
    /// Sums, differences and products of signed integers that wrap.
    pub wrapping: bool,
}

/// Outcomes of comparisons, by function and place: the first is true if the comparison was ever
/// false, the second if it was ever true.
pub type Outcomes = HashMap<(FunctionId, Span), [bool; 2]>;

/// An argument of a launch or call.
#[derive(Clone, PartialEq, Debug)]
pub enum Argument {
    /// The memory image of a value, laid out as `Types::layout` says.
    Bytes(Vec<u8>),
    /// An array.
    Array(Array),
    /// Address of a place, for a parameter passed by reference.
    Place(Pointer),
}

impl<T: Number> From<T> for Argument {
    fn from(number: T) -> Self {
        let mut bytes = Vec::new();
        number.append(&mut bytes);
        Self::Bytes(bytes)
    }
}

impl From<Array> for Argument {
    fn from(array: Array) -> Self {
        Self::Array(array)
    }
}

impl<'m> Interpreter<'m> {
    /// Makes an interpreter without buffers.
    pub fn new(module: &'m Valid<Module>) -> Self {
        Self {
            memory: Memory::default(),
            output: String::new(),
            budget: BUDGET,
            perturbation: None,
            refusals: Refusals::default(),
            outcomes: None,
            races: None,
            module,
            frames: Arc::new(Frames::new(module)),
            stack: Vec::new(),
            unfinished: Unfinished::default(),
        }
    }

    /// Returns the module that the interpreter runs.
    pub fn module(&self) -> &'m Valid<Module> {
        self.module
    }

    /// Runs a kernel at each point of a grid of up to 4 dimensions, last dimension fastest.
    pub fn launch(
        &mut self,
        kernel: FunctionId,
        dims: &[u32],
        args: &[Argument],
    ) -> Result<(), Failure> {
        let image = self.image(kernel, FunctionKind::Kernel, args)?;
        if dims.len() > 4 || dims.iter().any(|&dim| i32::try_from(dim).is_err()) {
            let message = "a grid has up to 4 dimensions of at most 2147483647 threads";
            return Err(self.refusal(kernel, message.into()));
        }
        let mut extents = [1; 4];
        extents.iter_mut().zip(dims).for_each(|(extent, &dim)| *extent = dim);
        let mut index = Some([0; 4]).filter(|_| !extents.contains(&0));
        while let Some(thread) = index {
            self.run(kernel, &image, thread)?;
            index = next_index(thread, extents);
        }
        Ok(())
    }

    /// Runs a kernel at some points of a grid, in their order.
    pub fn launch_points(
        &mut self,
        kernel: FunctionId,
        points: impl IntoIterator<Item = [u32; 4]>,
        args: &[Argument],
    ) -> Result<(), Failure> {
        let image = self.image(kernel, FunctionKind::Kernel, args)?;
        points.into_iter().try_for_each(|point| self.run(kernel, &image, point).map(|_| ()))
    }

    /// Runs a function once, at the origin of the grid; returns the memory image of its result.
    /// The image of a tuple is the image of a struct with the same fields.
    pub fn call(&mut self, function: FunctionId, args: &[Argument]) -> Result<Vec<u8>, Failure> {
        let image = self.image(function, FunctionKind::Callable, args)?;
        self.run(function, &image, [0; 4])
    }

    /// Returns the bytes with which a frame of a function begins: its arguments.
    fn image(
        &self,
        function: FunctionId,
        kind: FunctionKind,
        args: &[Argument],
    ) -> Result<Vec<u8>, Failure> {
        let callee = &self.module.functions[function];
        let refuse = |message: String| self.refusal(function, message);
        if callee.kind != kind {
            return Err(refuse("kernels are launched, functions called".into()));
        }
        if callee.params.len() != args.len() {
            let (wanted, found) = (callee.params.len(), args.len());
            return Err(refuse(format!("{wanted} arguments are needed, found {found}")));
        }
        for (param, arg) in callee.params.iter().zip(args) {
            let size = self.module.types.layout(param.ty).map(|layout| layout.size);
            let fits = match (arg, &self.module.types[param.ty]) {
                (Argument::Place(_), _) => param.mode != PassMode::Value,
                _ if param.mode != PassMode::Value => false,
                (Argument::Array(array), Shape::Array { dims, .. }) => array.dims == *dims,
                (Argument::Array(_), _) => false,
                (Argument::Bytes(bytes), _) => size == Some(bytes.len() as u64),
            };
            if !fits {
                let ty = self.module.types.spelled(param.ty);
                return Err(refuse(format!("`{}` needs a `{ty}`", param.name)));
            }
        }
        let frame = self.frames.of(function);
        let mut image = vec![0; frame.param_bytes as usize];
        for (position, arg) in args.iter().enumerate() {
            let at = frame.param(position as u32) as usize;
            let mut put = |bytes: &[u8]| image[at..][..bytes.len()].copy_from_slice(bytes);
            match arg {
                Argument::Bytes(bytes) => put(bytes),
                Argument::Array(array) => put(&array.image()),
                Argument::Place(pointer) => put(&pointer.address().to_le_bytes()),
            }
        }
        Ok(image)
    }

    fn refusal(&self, function: FunctionId, message: String) -> Failure {
        let callee = &self.module.functions[function];
        Failure {
            fault: Fault::Arguments(message),
            function: callee.name.clone(),
            thread: [0; 4],
            span: callee.span,
        }
    }
}

/// Returns the next point of a grid in row-major order.
fn next_index(mut index: [u32; 4], extents: [u32; 4]) -> Option<[u32; 4]> {
    for dim in (0..4).rev() {
        index[dim] += 1;
        if index[dim] < extents[dim] {
            return Some(index);
        }
        index[dim] = 0;
    }
    None
}
