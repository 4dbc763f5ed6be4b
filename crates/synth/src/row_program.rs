//! A row's program: everything that the compiler makes of the source text.

use crate::row::Texts;
use gbxcule_codegen_cxx::{self as cxx, Dialect, Options};
use gbxcule_ir::check::{self, Valid};
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::source::SourceMap;
use gbxcule_ir::{FunctionId, Module, Param, Shape, Type, print};
use gbxcule_transform::grad;

/// The one kernel of a text, and its reverse.
#[derive(Clone, Debug)]
pub(crate) struct RowProgram {
    pub(crate) forward: Valid<Module>,
    pub(crate) kernel: FunctionId,
    /// The module with the reverse added, or the code with which it is refused.
    pub(crate) reverse: Result<Reverse, String>,
}

/// A kernel's reverse.
#[derive(Clone, Debug)]
pub(crate) struct Reverse {
    pub(crate) module: Valid<Module>,
    pub(crate) kernel: FunctionId,
}

/// Texts that the back ends print.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Emitted {
    pub(crate) ir: String,
    pub(crate) ir_backward: Option<String>,
    pub(crate) cpp: Option<String>,
    pub(crate) cpp_backward: Option<String>,
    pub(crate) cuda: Option<String>,
    pub(crate) cuda_backward: Option<String>,
}

/// The first code of some diagnostics.
pub(crate) fn code(faults: &[Diagnostic]) -> String {
    faults.first().map_or_else(|| "refused".into(), |fault| fault.code.to_string())
}

impl RowProgram {
    /// Reads a text as the front end reads any file, and differentiates its first kernel.
    pub(crate) fn read(source: &str) -> Result<Self, Vec<Diagnostic>> {
        let mut program = Self::read_forward(source)?;
        program.reverse = reverse(&program.forward, program.kernel);
        Ok(program)
    }

    /// Reads a source without deriving its reverse.
    pub(crate) fn read_forward(source: &str) -> Result<Self, Vec<Diagnostic>> {
        let mut sources = SourceMap::new();
        let id = sources.add("kernel.py", source);
        let module = gbxcule_dialect::Program::parse(&sources, id)?.compile("kernel")?;
        let forward = check::module(module)?;
        let Some((kernel, _)) = forward.kernels().next() else {
            let message = "there is no kernel in this text";
            let span = gbxcule_ir::source::Span::NONE;
            return Err(vec![Diagnostic::error(Code::NoKernel, span, message)]);
        };
        Ok(Self { forward, kernel, reverse: Err("not-asked".into()) })
    }

    /// The kernel's name.
    pub(crate) fn name(&self) -> &str {
        &self.forward.functions[self.kernel].name
    }

    /// Returns the kernel's parameters.
    pub(crate) fn params(&self) -> &[Param] {
        &self.forward.functions[self.kernel].params
    }

    /// The IR, and the texts for some devices.
    pub(crate) fn emit(&self, texts: Texts) -> Emitted {
        let reverse = self.reverse.as_ref().ok();
        let text = |dialect| {
            texts.have(dialect).then(|| write(&self.forward, self.kernel, dialect).source)
        };
        let back = |dialect| {
            let reverse = reverse.filter(|_| texts.have(dialect))?;
            Some(write(&reverse.module, reverse.kernel, dialect).source)
        };
        Emitted {
            ir: print::module(&self.forward),
            ir_backward: reverse.map(|it| print::module(&it.module)),
            cpp: text(Dialect::Host),
            cpp_backward: back(Dialect::Host),
            cuda: text(Dialect::Cuda),
            cuda_backward: back(Dialect::Cuda),
        }
    }
}

/// One kernel and what it calls, in a dialect.
pub(crate) fn write(module: &Valid<Module>, kernel: FunctionId, dialect: Dialect) -> cxx::Text {
    cxx::write(module, &Options { kernel: Some(kernel), ..Options::new(dialect) })
}

fn reverse(forward: &Valid<Module>, kernel: FunctionId) -> Result<Reverse, String> {
    let (module, reverses) = grad::reverses(forward, &[kernel]).map_err(|faults| code(&faults))?;
    let module = check::module(module).map_err(|faults| code(&faults))?;
    let &[kernel] = reverses.as_slice() else { unreachable!("one kernel has one reverse") };
    Ok(Reverse { module, kernel })
}

/// Returns the element type of an array parameter; `None` for values.
pub(crate) fn element(module: &Module, ty: Type) -> Option<Type> {
    match module.types[ty] {
        Shape::Array { of, .. } => Some(of),
        _ => None,
    }
}
