//! Kernels in NVIDIA Warp's dialect, compiled from text and launched on arrays of other libraries
//! or of `array.rs`. A launch runs on the device of its arrays.

// PyO3 passes arguments by value.
#![allow(clippy::needless_pass_by_value)]

mod argument;
pub(crate) mod builtin;
pub(crate) mod launch_target;
mod request;
mod text;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use gbxcule_ir::check::{self, Valid};
use gbxcule_ir::diagnostic::{Diagnostic, render};
use gbxcule_ir::{FunctionId, Module};
use gbxcule_passes::grad::{grad, reads_before_writes, reverse_name, with_copies};
use gbxcule_runtime::{Build, Device, Kernel, MadeModule, Recipe, compile, read_parameters};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use argument::Arguments;
use launch_target::LaunchTarget;
use request::{KernelNames, Refusal, Request, kernel_names};
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
    recipe: Recipe,
    forward: Kernel,
    /// Message about refused hand-written gradients, if there are any.
    no_reverse: Option<String>,
    /// Module of a kernel that was found on disk, made at its first use.
    remade: OnceLock<Result<Valid<Module>, String>>,
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

/// Makes the module with the reverse of a kernel.
fn reverse_of(module: &Valid<Module>, name: &str) -> Result<Valid<Module>, String> {
    let reverse = grad(module, kernel_id(module, name)).and_then(check::module);
    reverse.map_err(|faults| refused(&faults))
}

fn kernel_id(module: &Module, kernel: &str) -> FunctionId {
    module.find(kernel).unwrap_or_else(|| unreachable!("a compiled kernel is in its module"))
}

impl CompiledKernel {
    fn new(recipe: Recipe, forward: Kernel, no_reverse: Option<String>) -> Self {
        let (remade, reverse) = (OnceLock::new(), OnceLock::new());
        Self { recipe, forward, no_reverse, remade, reverse, made: Mutex::default() }
    }

    fn name_of_kernel(&self) -> &str {
        &self.forward.reflection().name
    }

    /// Returns the whole module of the kernel.
    fn module(&self) -> Result<&Valid<Module>, &String> {
        match self.forward.whole_module() {
            Some(module) => Ok(module),
            None => self.remade.get_or_init(|| self.recipe.module()).as_ref(),
        }
    }

    fn reverse(&self) -> Result<&Valid<Module>, &String> {
        let make = || reverse_of(self.module().map_err(Clone::clone)?, self.name_of_kernel());
        self.reverse.get_or_init(make).as_ref()
    }

    fn kernel(&self, device: Device, way: Direction) -> PyResult<Kernel> {
        if (device, way) == (Device::Cpu, Direction::Forward) {
            return Ok(self.forward.clone());
        }
        let kernels = || self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernel) = kernels().get(&(device, way)) {
            return Ok(kernel.clone());
        }
        let refuse = |message: &String| CompileError::new_err(message.clone());
        let name = self.name_of_kernel();
        let (compiled, name) = match (device, way) {
            (_, Direction::Forward) => {
                let module = self.module().map_err(refuse)?;
                (compile(module, device, Build::default()), name.to_string())
            }
            (_, Direction::Backward) if let Some(message) = &self.no_reverse => {
                return Err(refuse(message));
            }
            (Device::Cpu, Direction::Backward) => {
                let of = name.to_string();
                let derive = move |module: &Valid<Module>| reverse_of(module, &of);
                let recipe = self.recipe.derived(&format!("reverse of {name}"), derive);
                let compiled = match recipe.find(Build::default()) {
                    Some(compiled) => Ok(compiled),
                    None => {
                        let module = self.reverse().map_err(refuse)?.clone();
                        let made = MadeModule { module, notes: String::new() };
                        recipe.compile(made, Build::default())
                    }
                };
                (compiled, reverse_name(name))
            }
            (Device::Cuda(_), Direction::Backward) => {
                let module = self.reverse().map_err(refuse)?;
                (compile(module, device, Build::default()), reverse_name(name))
            }
        };
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
        let args = Arguments::of(self.forward.module(), &self.forward, &place, args, gradients)?;
        let list = args.list();
        let mut raised = None;
        let mut go_on = || {
            raised = Python::attach(|py| py.check_signals()).err();
            raised.is_none()
        };
        let launched = py.detach(|| kernel.launch_while(grid, list, &mut go_on));
        // Even after a failed launch, the owners' streams must wait before the arrays are released.
        args.make_owners_wait(&place)
            .and(launched)
            .map_err(|error| launch_target::failed(&error))?;
        raised.map_or(Ok(()), Err)
    }

    fn device_of(&self, args: &Bound<'_, PyTuple>) -> PyResult<Device> {
        for (parameter, value) in self.forward.reflection().parameters.iter().zip(args.iter()) {
            if let Some(device) =
                launch_target::of_arrays(self.forward.module(), parameter.ty, &value)?
            {
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
        self.name_of_kernel()
    }

    /// Parameters of the kernel: names, types as messages show them, and true for those that a
    /// launch may write.
    #[getter]
    fn parameters(&self) -> Vec<(String, String, bool)> {
        let parameters = self.forward.reflection().parameters.iter();
        parameters.map(|it| (it.name.clone(), it.type_name.clone(), it.written)).collect()
    }

    /// Names of the parameters whose arrays, after the forward launch, the reverse reads.
    #[getter]
    fn read_by_reverse(&self) -> PyResult<Vec<String>> {
        let refuse = |message: &String| CompileError::new_err(message.clone());
        let module = self.reverse().map_err(refuse)?;
        let name = reverse_name(self.name_of_kernel());
        let reverse = module.find(&name).unwrap_or_else(|| unreachable!("it was derived"));
        let parameters = module.functions[reverse].params.iter();
        let read = parameters.zip(read_parameters(module, reverse)).filter(|(_, is_read)| *is_read);
        Ok(read.map(|(parameter, _)| parameter.name.clone()).collect())
    }

    /// Number of leading dimensions of the grid that tell threads apart, and pairs of parameters:
    /// if both are one array, each thread reads from the first before it writes to the second, and
    /// only its own elements.
    #[getter]
    fn reads_before_writes(&self) -> PyResult<(u8, Vec<(String, String)>)> {
        let module = self.module().map_err(|message| CompileError::new_err(message.clone()))?;
        let kernel = kernel_id(module, self.name_of_kernel());
        let order = reads_before_writes(module, kernel);
        let name = |param: u32| module.functions[kernel].params[param as usize].name.clone();
        let pairs = order.pairs.into_iter().map(|(read, written)| (name(read), name(written)));
        Ok((order.dims, pairs.collect()))
    }

    /// Compiles the kernel with one more parameter for each of these, `NAME_before_launch`: a copy
    /// of the array from before the launch.
    fn with_copies(&self, py: Python<'_>, names: Vec<String>) -> PyResult<Self> {
        let name = self.name_of_kernel().to_string();
        let how = format!("copies for {name}: {}", names.join(" "));
        let of = name.clone();
        let recipe = self.recipe.derived(&how, move |module| {
            let kernel = kernel_id(module, &of);
            let params = (0..).zip(&module.functions[kernel].params);
            let params = params.filter(|(_, param)| names.contains(&param.name));
            let params: Vec<u32> = params.map(|(position, _)| position).collect();
            let made = check::module(with_copies(module, kernel, &params));
            made.map_err(|faults| refused(&faults))
        });
        let compiled = py.detach(|| match recipe.find(Build::default()) {
            Some(compiled) => Ok(compiled),
            None => {
                let module = recipe.module().map_err(CompileError::new_err)?;
                let made = MadeModule { module, notes: String::new() };
                let compiled = recipe.compile(made, Build::default());
                compiled.map_err(|error| CompileError::new_err(error.to_string()))
            }
        })?;
        let forward = compiled.kernel(&name);
        let forward = forward.map_err(|error| CompileError::new_err(error.to_string()))?;
        Ok(Self::new(recipe, forward, self.no_reverse.clone()))
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

/// Waits for all launches on a device; raises the first fault among them.
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

/// Returns the kernels of a text, each with its generic parameters.
#[pyfunction]
#[pyo3(signature = (text, file, beside = false))]
pub(crate) fn find_kernels(
    py: Python<'_>,
    text: String,
    file: String,
    beside: bool,
) -> PyResult<KernelNames> {
    let given = Given { file, text, beside, ..Given::default() };
    let names = py.detach(|| kernel_names(&given));
    names.map_err(|faults| CompileError::new_err(refused(&faults)))
}

/// Compiles a text: all its kernels, or those that `names` has. With `beside`, it may import from
/// files beside `file`. `types` has the types of generic kernels, as `wp.overload` takes them.
/// `parts` describes lines that come from other files, to which messages refer: the first line,
/// their number, the file, and the line there.
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
    let given = Given { file, text, beside, types, parts };
    let request = Arc::new(Request { given, names });
    let (compiled, recipe) = py.detach(|| request.compiled()).map_err(|refusal| {
        CompileError::new_err(match refusal {
            Refusal::Text(faults) => refused(&faults),
            Refusal::Code(error) => error.to_string(),
        })
    })?;
    let kernels = compiled.module().kernels().map(|(_, kernel)| kernel.name.as_str());
    let kernels: Vec<&str> = kernels.collect();
    let mut wanted = request.names.iter().flatten();
    if let Some(name) = wanted.find(|name| !kernels.contains(&name.as_str())) {
        return Err(PyTypeError::new_err(format!("the text has no kernel `{name}`")));
    }
    let kernels = kernels.iter().map(|name| {
        let forward = compiled.kernel(name);
        let forward = forward.map_err(|error| CompileError::new_err(error.to_string()))?;
        let notes = compiled.notes();
        let no_reverse = (!notes.is_empty()).then(|| notes.to_string());
        Ok(CompiledKernel::new(recipe.clone(), forward, no_reverse))
    });
    kernels.collect()
}
