//! Launches rows through the runtime: as machine code of this CPU, or on a GPU.

use crate::allowed_error::AllowedErrors;
use crate::distance::{Distance, to_memory};
use crate::error::SynthError;
use crate::execute::{self, ArgumentBytes, Data, LaunchInputs};
use crate::host::Launch;
use crate::part::{Composite, parts, struct_with_arrays};
use crate::row::Results;
use crate::row_program::{RowProgram, element};
use gbxcule_ir::{Field, FunctionId, Module, Type};
use gbxcule_runtime::{
    Argument, Array, Build, Compiled, DataType, Device, Error, Output, Stream, compile,
};
use std::sync::Arc;

/// A row compiled for a device.
struct Launcher {
    compiled: Arc<Compiled>,
    stream: Stream,
}

/// Checks that a device is present and runs kernels; the error says what is missing.
pub fn check_gpu(device: Device) -> Result<(), SynthError> {
    let source = "import warp as wp\n\n\n@wp.kernel\ndef probe(out: wp.array(dtype=int)):\n    out[wp.tid()] = 1\n";
    let Ok(program) = RowProgram::read_forward(source) else {
        unreachable!("it is in the dialect")
    };
    let compiled = compile(&program.forward, device, Build::default());
    compiled.map(drop).map_err(|error| SynthError::Device { reason: error.to_string() })
}

impl Launcher {
    /// Compiles the kernel and its reverse, if it has one.
    fn new(program: &RowProgram, device: Device) -> Result<Self, Error> {
        let module = program.reverse.as_ref().map_or(&program.forward, |it| &it.module);
        let compiled = compile(module, device, Build::default())?;
        Ok(Self { compiled, stream: Stream::new(device)? })
    }

    /// Launches the kernel and returns the memory after it.
    fn launch(
        &self,
        module: &Module,
        kernel: FunctionId,
        grid: LaunchInputs<'_>,
        memory: &ArgumentBytes,
    ) -> Result<ArgumentBytes, Error> {
        let function = &module.functions[kernel];
        let mut arrays: Vec<Option<Array>> = Vec::new();
        let mut args = Vec::new();
        for (at, part) in parts(&module.types, &function.params).into_iter().enumerate() {
            let of = element(module, part.of.ty);
            let Some(ty) = DataType::of(module, of.unwrap_or(part.of.ty)) else {
                unreachable!("rows have no arrays in arrays")
            };
            let bytes = &memory.data[at];
            if of.is_none() {
                args.push(Argument::Value(ty, bytes.clone()));
                arrays.push(None);
                continue;
            }
            let mut array = self.dense(bytes, &ty, &grid.inputs[at].shape)?;
            if let Some(gradient) = memory.gradients.get(at) {
                array = array.with_gradient_in(&self.dense(
                    gradient,
                    &ty,
                    &grid.inputs[at].shape,
                )?)?;
            }
            args.push(Argument::Array(array.clone()));
            arrays.push(Some(array));
        }
        let mut args = args.into_iter();
        let args: Vec<Argument> = function
            .params
            .iter()
            .map(|param| match Composite::of(&module.types, param) {
                Some(Composite { ty, in_table: true }) => {
                    Argument::Rows(vec![Argument::Absent, assembled(module, ty, &mut args)])
                }
                _ => assembled(module, param.ty, &mut args),
            })
            .collect();
        let dims: Vec<usize> = grid.dims.iter().map(|&extent| extent as usize).collect();
        // A GPU's driver always prints to standard output.
        let output = match self.stream.device() {
            Device::Cpu => Output::Nowhere,
            Device::Cuda(_) => Output::Standard,
        };
        self.compiled.kernel(&function.name)?.launch_with_output(&dims, &args, output)?;
        let data = |(at, array): (usize, &Option<Array>)| match array {
            Some(array) => array.memory_bytes(),
            None => Ok(memory.data[at].clone()),
        };
        let gradient = |array: &Option<Array>| match array.as_ref().and_then(Array::gradient) {
            Some(gradient) => gradient.memory_bytes(),
            None => Ok(Vec::new()),
        };
        Ok(ArgumentBytes {
            data: arrays.iter().enumerate().map(data).collect::<Result<_, _>>()?,
            gradients: match memory.gradients.is_empty() {
                true => Vec::new(),
                false => arrays.iter().map(gradient).collect::<Result<_, _>>()?,
            },
        })
    }

    /// Makes a row-major array over a copy of bytes.
    fn dense(&self, bytes: &[u8], ty: &DataType, shape: &[u32]) -> Result<Array, Error> {
        let shape: Vec<usize> = shape.iter().map(|&extent| extent as usize).collect();
        let mut strides = vec![0; shape.len()];
        let mut stride = ty.layout().0 as isize;
        for (dim, &extent) in shape.iter().enumerate().rev() {
            strides[dim] = stride;
            stride *= extent as isize;
        }
        self.stream.from_bytes(bytes, ty.clone(), 0, &shape, &strides)
    }
}

/// Makes an argument of its parts, which come first in `args`.
fn assembled(module: &Module, ty: Type, args: &mut impl Iterator<Item = Argument>) -> Argument {
    let Some(structure) = struct_with_arrays(&module.types, ty) else {
        return args.next().unwrap_or(Argument::Absent);
    };
    let fields = structure.fields.iter();
    let field = |it: &Field| (it.name.clone(), assembled(module, it.ty, args));
    Argument::Struct(fields.map(field).collect())
}

/// Results with which a launch is compared.
#[derive(Clone, Copy)]
pub(crate) struct ExpectedResults<'a> {
    /// Results of the interpreter.
    pub(crate) results: &'a Results,
    /// The results and gradients that a row stores; in place of missing ones the interpreter's are
    /// expected.
    pub(crate) stored: [Option<&'a str>; 2],
}

/// Launches a row, and measures the distance from the expected results, forward and backward.
pub(crate) fn compare<'b>(
    program: &RowProgram,
    grid: LaunchInputs<'_>,
    seed: u64,
    wanted: ExpectedResults<'_>,
    device: Device,
    bounds: impl Fn() -> Option<&'b AllowedErrors>,
) -> Result<Vec<Option<Distance>>, Error> {
    let results = wanted.results;
    let far = |after: &ArgumentBytes, backward: bool| {
        let text = wanted.stored[usize::from(backward)];
        to_memory(text, program, results, after, backward, &bounds)
    };
    let Ok(launches) = program.launches(grid) else { return Ok(vec![Some(Distance::INFINITE)]) };
    let (data, gradients) = run(program, &launches, grid, seed, device)?;
    let after = |data, gradients| ArgumentBytes { data, gradients };
    let mut distances = vec![far(&after(data.clone(), Vec::new()), false)];
    if let (Some(gradients), Some(_)) = (gradients, &results.gradients) {
        distances.push(far(&after(data, gradients), true));
    }
    Ok(distances)
}

/// Makes a row's launches on a device, and returns the memory after them and, if there is a
/// reverse, the gradients.
pub(crate) fn run(
    program: &RowProgram,
    launches: &[Launch],
    grid: LaunchInputs<'_>,
    seed: u64,
    device: Device,
) -> Result<(Data, Option<Data>), Error> {
    let launcher = Launcher::new(program, device)?;
    let data = execute::arguments(program, grid.inputs, seed);
    let ran = execute::executed(launches, grid.inputs, data, |each, own, memory| {
        launcher.launch(&program.forward, each.kernel, own, memory)
    })?;
    let gradients = match &program.reverse {
        Err(_) => None,
        Ok(reverse) => {
            let cotangents = execute::cotangents(program, grid.inputs, seed);
            let run = |each: &Launch, own: LaunchInputs<'_>, memory: &ArgumentBytes| {
                let kernel = program.reverse_of(reverse, each.kernel);
                launcher.launch(&reverse.module, kernel, own, memory)
            };
            Some(execute::reversed(launches, grid.inputs, &ran.states, cotangents, run)?)
        }
    };
    Ok((ran.after, gradients))
}
