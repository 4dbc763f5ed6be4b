//! The interpreter: the meaning of IR, as code. It is slow, deterministic and checked; the other
//! ways of running a program are compared with it.
//!
//! An [`Interpreter`] owns buffers; [`Interpreter::launch`] launches kernels over them, and
//! [`Interpreter::call`] runs functions. Threads run one after the other in row-major order. No
//! program can hang or crash the host: steps are counted, and every access is checked.

mod failure;
mod frame;
mod memory;
mod operation;
mod perturbation;
mod place;
mod print;
mod thread;

pub use failure::{Failure, Fault};
pub use memory::{Array, Buffer, Memory, Number, Pointer};
pub use perturbation::Perturbation;

use frame::Frames;
use gbxcule_ir::check::Valid;
use gbxcule_ir::function::{FunctionId, FunctionKind, PassMode};
use gbxcule_ir::module::Module;
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::Shape;
use std::collections::HashMap;

/// Greatest number of steps of a launch unless [`Interpreter::budget`] is set.
pub const BUDGET: u64 = 100_000_000;

/// A module ready to run, with memory of its own.
#[derive(Debug)]
pub struct Interpreter<'m> {
    /// The buffers.
    pub memory: Memory,
    /// Text that the program printed, up to the line that exceeds 1 MiB.
    pub output: String,
    /// Number of statements that the next launches and calls may execute together.
    pub budget: u64,
    /// Change of natives' results that another library might make.
    pub perturbation: Option<Perturbation>,
    /// Outcomes of comparisons, if the caller wants them.
    pub outcomes: Option<Outcomes>,
    module: &'m Valid<Module>,
    frames: Frames,
    stack: Vec<u8>,
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
            outcomes: None,
            module,
            frames: Frames::new(module),
            stack: Vec::new(),
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
        self.arguments_fit(kernel, FunctionKind::Kernel, args)?;
        if dims.len() > 4 || dims.iter().any(|&dim| i32::try_from(dim).is_err()) {
            let message = "a grid has up to 4 dimensions of at most 2147483647 threads";
            return Err(self.refusal(kernel, message.into()));
        }
        let mut extents = [1; 4];
        extents.iter_mut().zip(dims).for_each(|(extent, &dim)| *extent = dim);
        let mut index = Some([0; 4]).filter(|_| !extents.contains(&0));
        while let Some(thread) = index {
            self.run(kernel, args, thread)?;
            index = next_index(thread, extents);
        }
        Ok(())
    }

    /// Runs a kernel at one point of a grid.
    pub fn launch_point(
        &mut self,
        kernel: FunctionId,
        point: [u32; 4],
        args: &[Argument],
    ) -> Result<(), Failure> {
        self.arguments_fit(kernel, FunctionKind::Kernel, args)?;
        self.run(kernel, args, point).map(|_| ())
    }

    /// Runs a function once, at the origin of the grid; returns the memory image of its result. A
    /// tuple's image is that of a struct with the same fields.
    pub fn call(&mut self, function: FunctionId, args: &[Argument]) -> Result<Vec<u8>, Failure> {
        self.arguments_fit(function, FunctionKind::Callable, args)?;
        self.run(function, args, [0; 4])
    }

    fn arguments_fit(
        &self,
        function: FunctionId,
        kind: FunctionKind,
        args: &[Argument],
    ) -> Result<(), Failure> {
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
        Ok(())
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

/// Example of the README, run as a test of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExample;
