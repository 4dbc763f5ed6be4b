//! Kernels in NVIDIA Warp's dialect, compiled from text and launched on arrays of other libraries
//! and on those of `array.rs`. A launch runs on the device of its arrays.

// PyO3 passes arguments by value.
#![allow(clippy::needless_pass_by_value)]

mod argument;
pub(crate) mod builtin;
pub(crate) mod launch_target;
mod text;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use gbxcule_front_warp::Reader;
use gbxcule_ir::Module;
use gbxcule_ir::check::{self, Valid};
use gbxcule_ir::diagnostic::{Diagnostic, render};
use gbxcule_passes::grad::{grad, reverse_name};
use gbxcule_runtime::{Build, Device, Kernel, compile};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use argument::Arguments;
use launch_target::LaunchTarget;
use text::Given;

pyo3::create_exception!(
    gbxcule._native,
    CompileError,
    PyRuntimeError,
    "The program is refused; the message shows every place where, and what is allowed there."
);
pyo3::create_exception!(
    gbxcule._native,
    LaunchError,
    PyRuntimeError,
    "A launch was refused, or stopped at a thread of the kernel."
);

/// Kernel of a text, compiled for the CPU, and for other devices at its first launch there.
#[pyclass(frozen, module = "gbxcule._native")]
pub(crate) struct CompiledKernel {
    module: Valid<Module>,
    forward: Kernel,
    /// Module with the reverse, or the message of its refusal; made at the first use.
    reverse: OnceLock<Result<Valid<Module>, String>>,
    made: Mutex<BTreeMap<(Device, Direction), Kernel>>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Direction {
    Forward,
    Backward,
}

fn refused(faults: &[Diagnostic]) -> String {
    render(faults, &text::all())
}

impl CompiledKernel {
    fn reverse(&self) -> &Result<Valid<Module>, String> {
        self.reverse.get_or_init(|| {
            let name = &self.forward.reflection().name;
            let mut functions = self.module.functions.iter();
            let Some((id, _)) = functions.find(|(_, function)| function.name == *name) else {
                unreachable!("a compiled kernel is in its module");
            };
            let reverse = grad(&self.module, id).and_then(check::module);
            reverse.map_err(|faults| refused(&faults))
        })
    }

    fn kernel(&self, device: Device, way: Direction) -> PyResult<Kernel> {
        if (device, way) == (Device::Cpu, Direction::Forward) {
            return Ok(self.forward.clone());
        }
        let kernels = || self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernel) = kernels().get(&(device, way)) {
            return Ok(kernel.clone());
        }
        let name = &self.forward.reflection().name;
        let (module, name) = match way {
            Direction::Forward => (&self.module, name.clone()),
            Direction::Backward => match self.reverse() {
                Ok(module) => (module, reverse_name(name)),
                Err(message) => return Err(CompileError::new_err(message.clone())),
            },
        };
        let compiled = compile(module, device, Build::default());
        let kernel = compiled.and_then(|compiled| compiled.kernel(&name));
        let kernel = kernel.map_err(|error| match device {
            Device::Cpu => CompileError::new_err(error.to_string()),
            Device::Cuda(_) => launch_target::failed(&error),
        })?;
        kernels().insert((device, way), kernel.clone());
        Ok(kernel)
    }

    fn run(
        &self,
        grid: &[usize],
        args: &Bound<'_, PyTuple>,
        gradients: Option<&Bound<'_, PyDict>>,
        device: Option<&str>,
        stream: Option<u64>,
    ) -> PyResult<()> {
        let py = args.py();
        let device = match device {
            Some(name) => launch_target::named(name)?,
            None => self.device_of(args)?,
        };
        let place = py.detach(|| LaunchTarget::new(device, stream))?;
        let way = if gradients.is_some() { Direction::Backward } else { Direction::Forward };
        let kernel = py.detach(|| self.kernel(device, way))?;
        let args = Arguments::of(&self.module, &self.forward, &place, args, gradients)?;
        let list = args.list();
        let mut raised = None;
        let mut go_on = || {
            raised = Python::attach(|py| py.check_signals()).err();
            raised.is_none()
        };
        let launched = py.detach(|| kernel.launch_while(grid, list, &mut go_on));
        // Arrays return to their owners' streams before they are released, even if the launch
        // failed.
        args.make_owners_wait(&place)
            .and(launched)
            .map_err(|error| launch_target::failed(&error))?;
        raised.map_or(Ok(()), Err)
    }

    fn device_of(&self, args: &Bound<'_, PyTuple>) -> PyResult<Device> {
        for (parameter, value) in self.forward.reflection().parameters.iter().zip(args.iter()) {
            if let Some(device) = launch_target::of_arrays(&self.module, parameter.ty, &value)? {
                return Ok(device);
            }
        }
        Ok(Device::Cpu)
    }
}

#[pymethods]
impl CompiledKernel {
    /// Name of the kernel.
    #[getter]
    fn name(&self) -> &str {
        &self.forward.reflection().name
    }

    /// Parameters of the kernel: names, types as messages show them, and whether a launch may write
    /// there.
    #[getter]
    fn parameters(&self) -> Vec<(String, String, bool)> {
        let parameters = self.forward.reflection().parameters.iter();
        parameters.map(|it| (it.name.clone(), it.type_name.clone(), it.written)).collect()
    }

    /// Runs the kernel once for each point of a grid: on the CPU to its end, on a CUDA device
    /// without waiting.
    #[pyo3(signature = (grid, args, device = None, stream = None))]
    fn launch(
        &self,
        grid: Vec<usize>,
        args: &Bound<'_, PyTuple>,
        device: Option<&str>,
        stream: Option<u64>,
    ) -> PyResult<()> {
        self.run(&grid, args, None, device, stream)
    }

    /// Runs the reverse over a grid. Gradients are given by name, as arrays like those of the
    /// arguments.
    #[pyo3(signature = (grid, args, gradients, device = None, stream = None))]
    fn backward(
        &self,
        grid: Vec<usize>,
        args: &Bound<'_, PyTuple>,
        gradients: &Bound<'_, PyDict>,
        device: Option<&str>,
        stream: Option<u64>,
    ) -> PyResult<()> {
        self.run(&grid, args, Some(gradients), device, stream)
    }
}

/// Waits for all launches on a device; returns the first fault among them.
#[pyfunction]
pub(crate) fn synchronize(py: Python<'_>, device: &str) -> PyResult<()> {
    let device = launch_target::named(device)?;
    let waited = py.detach(|| launch_target::stream(device)?.synchronize());
    waited.map_err(|error| launch_target::failed(&error))
}

/// Reads a program's file: a regular file of limited size, not reached by a link out of its folder.
#[pyfunction]
pub(crate) fn read_program(path: std::path::PathBuf) -> PyResult<String> {
    gbxcule_runtime::ProgramFiles::of(&path).text(&path).map_err(|error| match error {
        gbxcule_runtime::ReadError::System(error) => error.into(),
        refused => PyValueError::new_err(format!("{} isn't read: {refused}", path.display())),
    })
}

/// Generic parameter: position, name, and dimensions of an array.
type GenericParameter = (usize, String, Option<u8>);

/// Returns the kernels of a text, each with its generic parameters.
#[pyfunction]
#[pyo3(signature = (text, file, beside = false))]
pub(crate) fn find_kernels(
    py: Python<'_>,
    text: String,
    file: String,
    beside: bool,
) -> PyResult<Vec<(String, Vec<GenericParameter>)>> {
    let outcome = py.detach(|| {
        let program = text::parse(Given { file, text, beside, ..Given::default() })?;
        let reader = program.reader();
        let kernels = reader.kernels().into_iter().map(|kernel| {
            // Faults of a signature are reported when the kernel is compiled.
            let generic = reader.generic_parameters(kernel.position).unwrap_or_default();
            let generic = generic.into_iter().map(|it| (it.position, it.name, it.dims));
            (kernel.name, generic.collect())
        });
        Ok(kernels.collect())
    });
    outcome.map_err(|faults: Vec<Diagnostic>| CompileError::new_err(refused(&faults)))
}

/// Compiles a text: all its kernels, or those that `names` has. With `beside`, it may import from
/// files beside `file`. `types` has the types of generic kernels, as `wp.overload` takes them.
/// `parts` has lines that were taken from other files, where messages point: the first one, how
/// many, the file, and the line there.
#[pyfunction]
#[pyo3(signature = (text, file, names = None, beside = false, types = BTreeMap::new(), parts = Vec::new()))]
pub(crate) fn compile_kernels(
    py: Python<'_>,
    text: String,
    file: String,
    names: Option<Vec<String>>,
    beside: bool,
    types: BTreeMap<String, String>,
    parts: Vec<(usize, usize, String, usize)>,
) -> PyResult<Vec<CompiledKernel>> {
    let outcome = py.detach(|| {
        let program = text::parse(Given { file, text, beside, types, parts })?;
        match lower(&program.reader().with_gradients(), names.as_deref()) {
            Ok(module) => Ok((module, None)),
            // Only reverses need gradients by hand, so a refused one is not a fault of the kernels.
            Err(faults) => lower(&program.reader(), names.as_deref())
                .map(|module| (module, Some(refused(&faults)))),
        }
    });
    let (module, no_reverse) =
        outcome.map_err(|faults: Vec<Diagnostic>| CompileError::new_err(refused(&faults)))?;
    let compiled = py
        .detach(|| compile(&module, Device::Cpu, Build::default()))
        .map_err(|error| CompileError::new_err(error.to_string()))?;
    let kernels: Vec<String> = module
        .functions
        .iter()
        .filter(|(_, function)| function.kind == gbxcule_ir::FunctionKind::Kernel)
        .map(|(_, function)| function.name.clone())
        .collect();
    let missing = names.iter().flatten().find(|name| !kernels.contains(name));
    if let Some(name) = missing {
        return Err(PyTypeError::new_err(format!("the text has no kernel `{name}`")));
    }
    let kernels = kernels.iter().map(|name| {
        let forward = Arc::clone(&compiled)
            .kernel(name)
            .map_err(|error| CompileError::new_err(error.to_string()))?;
        let reverse = no_reverse.clone().map_or_else(OnceLock::new, |why| Err(why).into());
        Ok(CompiledKernel { module: module.clone(), forward, reverse, made: Mutex::default() })
    });
    kernels.collect()
}

/// Lowers all kernels of a program, or those that `names` has, into one module.
fn lower(reader: &Reader<'_>, names: Option<&[String]>) -> Result<Valid<Module>, Vec<Diagnostic>> {
    let mut module = Module::new("kernels");
    let mut faults = Vec::new();
    let wanted = |name: &String| names.is_none_or(|names| names.contains(name));
    for kernel in reader.kernels().iter().filter(|kernel| wanted(&kernel.name)) {
        if let Err(found) = reader.lower(kernel.position, &mut module) {
            faults.extend(found);
        }
    }
    if faults.is_empty() { check::module(module) } else { Err(faults) }
}
