//! Kernels in NVIDIA Warp's dialect, compiled from text and launched on other people's arrays.

// PyO3 hands arguments over by value.
#![allow(clippy::needless_pass_by_value)]

mod argument;

use std::sync::Arc;

use gbxcule_kernel::check::{self, Valid};
use gbxcule_kernel::diagnostic::{Diagnostic, render};
use gbxcule_kernel::front::python::Program;
use gbxcule_kernel::grad::{grad, reverse_name};
use gbxcule_kernel::ir::Module;
use gbxcule_kernel::source::SourceMap;
use gbxcule_runtime::{Build, Device, Error, Kernel, compile};
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use argument::Arguments;

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

/// A kernel of a text, compiled for the CPU.
#[pyclass(frozen, module = "gbxcule._native")]
pub(crate) struct CompiledKernel {
    sources: SourceMap,
    module: Valid<Module>,
    forward: Kernel,
    /// Made when it is first asked for.
    backward: std::sync::OnceLock<Result<Kernel, String>>,
}

impl CompiledKernel {
    fn refused(sources: &SourceMap, faults: &[Diagnostic]) -> PyErr {
        CompileError::new_err(render(faults, sources))
    }

    fn reverse(&self) -> &Result<Kernel, String> {
        self.backward.get_or_init(|| {
            let name = &self.forward.reflection().name;
            let mut functions = self.module.functions.iter();
            let Some((id, _)) = functions.find(|(_, function)| function.name == *name) else {
                unreachable!("a compiled kernel is in its module");
            };
            let rendered = |faults: Vec<Diagnostic>| render(&faults, &self.sources);
            let module = grad(&self.module, id).and_then(check::module).map_err(rendered)?;
            let compiled = compile(&module, Device::Cpu, Build::default());
            let reverse = compiled.and_then(|compiled| compiled.kernel(&reverse_name(name)));
            reverse.map_err(|error| error.to_string())
        })
    }

    fn run(
        &self,
        py: Python<'_>,
        kernel: &Kernel,
        grid: &[usize],
        args: &Arguments,
    ) -> PyResult<()> {
        let list = args.list();
        py.detach(|| kernel.launch(grid, list)).map_err(|error| match error {
            Error::Fault(fault) => {
                LaunchError::new_err(render(&[fault.diagnostic()], &self.sources))
            }
            error => LaunchError::new_err(error.to_string()),
        })
    }
}

#[pymethods]
impl CompiledKernel {
    /// The kernel's name.
    #[getter]
    fn name(&self) -> &str {
        &self.forward.reflection().name
    }

    /// Its parameters: names and types as messages show them, and whether a launch may write there.
    #[getter]
    fn parameters(&self) -> Vec<(String, String, bool)> {
        let parameters = self.forward.reflection().parameters.iter();
        parameters.map(|it| (it.name.clone(), it.type_name.clone(), it.written)).collect()
    }

    /// Run once for each point of a grid and wait for the end.
    fn launch(&self, py: Python<'_>, grid: Vec<usize>, args: &Bound<'_, PyTuple>) -> PyResult<()> {
        let args = Arguments::of(&self.module, &self.forward, args, None)?;
        self.run(py, &self.forward, &grid, &args)
    }

    /// Run the reverse over a grid: gradients by name, arrays as those of the arguments.
    fn backward(
        &self,
        py: Python<'_>,
        grid: Vec<usize>,
        args: &Bound<'_, PyTuple>,
        gradients: &Bound<'_, PyDict>,
    ) -> PyResult<()> {
        let reverse = match py.detach(|| self.reverse()) {
            Ok(kernel) => kernel,
            Err(message) => return Err(CompileError::new_err(message.clone())),
        };
        let args = Arguments::of(&self.module, &self.forward, args, Some(gradients))?;
        self.run(py, reverse, &grid, &args)
    }
}

/// Compile a text: all its kernels, or those named.
#[pyfunction]
#[pyo3(signature = (text, file, names = None))]
pub(crate) fn compile_kernels(
    py: Python<'_>,
    text: String,
    file: String,
    names: Option<Vec<String>>,
) -> PyResult<Vec<CompiledKernel>> {
    let mut sources = SourceMap::new();
    let id = sources.add(file, text);
    let outcome = py.detach(|| {
        let program = Program::parse(&sources, id)?;
        let reader = program.reader();
        let mut module = Module::new("kernels");
        let mut faults = Vec::new();
        let wanted = |name: &String| names.as_ref().is_none_or(|names| names.contains(name));
        for kernel in reader.kernels().iter().filter(|kernel| wanted(&kernel.name)) {
            if let Err(found) = reader.lower(kernel.position, &mut module) {
                faults.extend(found);
            }
        }
        if faults.is_empty() { check::module(module) } else { Err(faults) }
    });
    let module = outcome.map_err(|faults| CompiledKernel::refused(&sources, &faults))?;
    let compiled = py
        .detach(|| compile(&module, Device::Cpu, Build::default()))
        .map_err(|error| CompileError::new_err(error.to_string()))?;
    let kernels: Vec<String> = module
        .functions
        .iter()
        .filter(|(_, function)| function.kind == gbxcule_kernel::ir::Kind::Kernel)
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
        let (sources, module) = (sources.clone(), module.clone());
        Ok(CompiledKernel { sources, module, forward, backward: std::sync::OnceLock::new() })
    });
    kernels.collect()
}
