//! A row's program: everything that the compiler makes of the source text.

use crate::row::{Row, Texts};
use gbxcule_back_cxx::{self as cxx, Dialect, Options};
use gbxcule_grammar::input::{ArgumentInput, rank};
use gbxcule_ir::check::{self, Valid};
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::source::SourceMap;
use gbxcule_ir::{FunctionId, Module, Param, Shape, Type, print};
use gbxcule_passes::grad;

/// Bytes of one value, at most. The interpreter copies values and counts statements, and what draws
/// inputs has several numbers for each element of an array.
const MAX_VALUE_BYTES: u64 = 64 << 10;
/// Bytes of one element of an array that is a parameter, at most.
const MAX_ELEMENT_BYTES: u64 = 4 << 10;
/// Bytes of all variables and values of one function, at most: each call clears them.
const MAX_FRAME_BYTES: u64 = 256 << 10;

/// Bytes of all inputs of a launch, at most: a row's JSON is as long, and each number of it is
/// there many times while checks run.
const MAX_INPUT_BYTES: u64 = 16 << 20;

/// The one kernel of a text, and its reverse.
#[derive(Clone, Debug)]
pub struct RowProgram {
    /// The module.
    pub forward: Valid<Module>,
    /// The kernel.
    pub kernel: FunctionId,
    /// The module with the reverse added, or the code with which it is refused.
    pub reverse: Result<Reverse, String>,
}

/// A kernel's reverse.
#[derive(Clone, Debug)]
pub struct Reverse {
    /// The module.
    pub module: Valid<Module>,
    /// The kernel that computes gradients.
    pub kernel: FunctionId,
}

/// Texts that the back ends print.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Emitted {
    /// Printed IR.
    pub ir: String,
    /// Printed IR of the reverse.
    pub ir_backward: Option<String>,
    /// C++.
    pub cpp: Option<String>,
    /// C++ of the reverse.
    pub cpp_backward: Option<String>,
    /// CUDA C++.
    pub cuda: Option<String>,
    /// CUDA C++ of the reverse.
    pub cuda_backward: Option<String>,
    /// CUDA without the header, if the kernel has such a text.
    pub cuda_plain: Option<String>,
    /// CUDA of the reverse without the header.
    pub cuda_plain_backward: Option<String>,
}

impl Emitted {
    /// Puts the texts into a row.
    pub(crate) fn fill(self, row: Row) -> Row {
        Row {
            ir: self.ir,
            ir_backward: self.ir_backward,
            cpp: self.cpp,
            cpp_backward: self.cpp_backward,
            cuda: self.cuda,
            cuda_backward: self.cuda_backward,
            cuda_plain: self.cuda_plain,
            cuda_plain_backward: self.cuda_plain_backward,
            ..row
        }
    }
}

/// The first code of some diagnostics.
pub fn code(faults: &[Diagnostic]) -> String {
    faults.first().map_or_else(|| "refused".into(), |fault| fault.code.to_string())
}

/// The module, unless a launch of it would take more memory than a row's may. Texts come from
/// anybody: eight structs, each of 16 of the one before, are 4 GiB.
pub fn within_limits(module: Valid<Module>) -> Result<Valid<Module>, Vec<Diagnostic>> {
    match excess(&module) {
        None => Ok(module),
        Some(message) => {
            let span = gbxcule_ir::source::Span::NONE;
            Err(vec![Diagnostic::error(Code::TooComplex, span, message)])
        }
    }
}

/// Description of what is larger in a module than rows may have it.
fn excess(module: &Module) -> Option<String> {
    let size = |ty| module.types.layout(ty).map_or(0, |layout| layout.size);
    for (_, function) in module.functions.iter() {
        let name = &function.name;
        for param in &function.params {
            let bytes = element(module, param.ty).map_or(0, size);
            if bytes > MAX_ELEMENT_BYTES {
                let param = &param.name;
                return Some(format!(
                    "an element of `{param}` has {bytes} bytes, and in a row at most {MAX_ELEMENT_BYTES}"
                ));
            }
        }
        let body = &function.body;
        let locals = body.locals.iter().map(|(_, local)| local.ty);
        let values = body.values.iter().map(|(_, value)| value.ty);
        let sizes: Vec<u64> = locals.chain(values).map(size).collect();
        let largest = sizes.iter().copied().max().unwrap_or(0);
        let all = sizes.iter().copied().fold(0, u64::saturating_add);
        if largest > MAX_VALUE_BYTES || all > MAX_FRAME_BYTES {
            return Some(format!(
                "the variables of `{name}` have {all} bytes, the largest {largest}; in a row these are at most \
                 {MAX_FRAME_BYTES} and {MAX_VALUE_BYTES}"
            ));
        }
    }
    None
}

impl RowProgram {
    /// Reads a text as the front end reads any file, and differentiates its first kernel.
    pub fn read(source: &str) -> Result<Self, Vec<Diagnostic>> {
        let mut program = Self::read_forward(source)?;
        program.reverse = reverse(&program.forward, program.kernel);
        Ok(program)
    }

    /// Reads a source without deriving its reverse.
    pub fn read_forward(source: &str) -> Result<Self, Vec<Diagnostic>> {
        let mut sources = SourceMap::new();
        let id = sources.add("kernel.py", source);
        let module = gbxcule_front_warp::Program::parse(&sources, id)?.compile("kernel")?;
        let forward = within_limits(check::module(module)?)?;
        let Some((kernel, _)) = forward.kernels().next() else {
            let message = "there is no kernel in this text";
            let span = gbxcule_ir::source::Span::NONE;
            return Err(vec![Diagnostic::error(Code::NoKernel, span, message)]);
        };
        Ok(Self { forward, kernel, reverse: Err("not-asked".into()) })
    }

    /// The kernel's name.
    pub fn name(&self) -> &str {
        &self.forward.functions[self.kernel].name
    }

    /// Returns the kernel's parameters.
    pub fn params(&self) -> &[Param] {
        &self.forward.functions[self.kernel].params
    }

    /// Returns true if a launch can be given these inputs: one for each parameter, of its rank, and
    /// all of them small enough together.
    pub fn takes(&self, inputs: &[ArgumentInput]) -> bool {
        let (params, types) = (self.params(), &self.forward.types);
        let bytes = |(param, given): (&Param, &ArgumentInput)| {
            let of = element(&self.forward, param.ty).unwrap_or(param.ty);
            let size = types.layout(of).map_or(0, |layout| layout.size);
            given.shape.iter().fold(size, |bytes, &extent| bytes.saturating_mul(extent.into()))
        };
        params.len() == inputs.len()
            && params.iter().zip(inputs).all(|(it, given)| given.shape.len() == rank(types, it.ty))
            && params.iter().zip(inputs).map(bytes).fold(0, u64::saturating_add) <= MAX_INPUT_BYTES
    }

    /// The IR, and the texts for some devices and for grids of so many dimensions.
    pub fn emit(&self, texts: Texts, dims: usize) -> Emitted {
        let reverse = self.reverse.as_ref().ok();
        let text = |dialect| {
            texts.have(dialect).then(|| write(&self.forward, self.kernel, dialect).source)
        };
        let back = |dialect| {
            let reverse = reverse.filter(|_| texts.have(dialect))?;
            Some(write(&reverse.module, reverse.kernel, dialect).source)
        };
        let has_cuda = texts.have(Dialect::Cuda);
        let plain = || cxx::write_plain(&self.forward, self.kernel, dims);
        let plain_reverse = |it: &Reverse| cxx::write_plain_reverse(&it.module, it.kernel, dims);
        Emitted {
            ir: print::module(&self.forward),
            ir_backward: reverse.map(|it| print::module(&it.module)),
            cpp: text(Dialect::Host),
            cpp_backward: back(Dialect::Host),
            cuda: text(Dialect::Cuda),
            cuda_backward: back(Dialect::Cuda),
            cuda_plain: has_cuda.then(plain).flatten(),
            cuda_plain_backward: reverse.filter(|_| has_cuda).and_then(plain_reverse),
        }
    }
}

/// One kernel and what it calls, in a dialect.
pub fn write(module: &Valid<Module>, kernel: FunctionId, dialect: Dialect) -> cxx::Text {
    cxx::write(module, &Options { kernel: Some(kernel), ..Options::new(dialect) })
}

fn reverse(forward: &Valid<Module>, kernel: FunctionId) -> Result<Reverse, String> {
    let (module, reverses) = grad::reverses(forward, &[kernel]).map_err(|faults| code(&faults))?;
    let module = check::module(module).map_err(|faults| code(&faults))?;
    let &[kernel] = reverses.as_slice() else { unreachable!("one kernel has one reverse") };
    Ok(Reverse { module, kernel })
}

/// Returns the element type of an array parameter; `None` for values.
pub fn element(module: &Module, ty: Type) -> Option<Type> {
    match module.types[ty] {
        Shape::Array { of, .. } => Some(of),
        _ => None,
    }
}
