//! A row's program: the modules and texts that the compiler makes from the source.

use crate::execute::LaunchInputs;
use crate::host::{Host, Launch};
use crate::part::{Composite, Part, has_tables, parts};
use crate::row::{Row, Texts};
use gbxcule_back_cxx::{self as cxx, Dialect, Options};
use gbxcule_grammar::input::{ArgumentInput, rank};
use gbxcule_ir::check::{self, Valid};
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::source::SourceMap;
use gbxcule_ir::{FunctionId, Module, Param, Shape, Type, print};
use gbxcule_passes::grad;

/// Greatest number of bytes of a value. The interpreter copies values but counts only statements,
/// and drawing inputs takes several numbers for each element.
const MAX_VALUE_BYTES: u64 = 64 << 10;
/// Greatest number of bytes of an element of an array parameter.
const MAX_ELEMENT_BYTES: u64 = 4 << 10;
/// Greatest number of bytes of a function's variables and values, because each call clears them.
const MAX_FRAME_BYTES: u64 = 256 << 10;

/// Greatest number of bytes of all inputs of a launch. The row's JSON grows with this number, and
/// checks hold each number many times.
const MAX_INPUT_BYTES: u64 = 16 << 20;

/// The kernel of a text, or its kernels with the host code that launches them, and their reverses.
#[derive(Clone, Debug)]
pub struct RowProgram {
    /// The module.
    pub forward: Valid<Module>,
    /// The first kernel.
    pub kernel: FunctionId,
    /// The parts of the first kernel's arguments.
    pub(crate) parts: Vec<Param>,
    /// Host code of a text with several kernels.
    pub host: Option<Host>,
    /// The module with the reverse added, or the code of its refusal.
    pub reverse: Result<Reverse, String>,
}

/// The reverses of a text's kernels.
#[derive(Clone, Debug)]
pub struct Reverse {
    /// The module.
    pub module: Valid<Module>,
    /// The kernel that computes gradients of the first kernel.
    pub kernel: FunctionId,
    /// The reverse of each kernel, in the order of the text.
    pub kernels: Vec<FunctionId>,
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
    /// CUDA in the header-free form, if the kernel has this form.
    pub cuda_plain: Option<String>,
    /// CUDA of the reverse in the header-free form.
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

/// Returns the code of the first diagnostic.
pub fn code(faults: &[Diagnostic]) -> String {
    faults.first().map_or_else(|| "refused".into(), |fault| fault.code.to_string())
}

/// Refuses a module whose launch would take more memory than a row may. Texts are of unknown
/// origin: eight structs, each with 16 fields of the preceding struct, take 4 GiB.
pub fn within_limits(module: Valid<Module>) -> Result<Valid<Module>, Vec<Diagnostic>> {
    match excess(&module) {
        None => Ok(module),
        Some(message) => {
            let span = gbxcule_ir::source::Span::NONE;
            Err(vec![Diagnostic::error(Code::TooComplex, span, message)])
        }
    }
}

/// Describes an element or variables of a module that exceed a row's limits.
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
    /// Returns the module and the first kernel, forward or reverse.
    ///
    /// # Errors
    /// The row has no reverse; the error is the code of its refusal.
    pub fn first_kernel(&self, backward: bool) -> Result<(&Valid<Module>, FunctionId), &str> {
        match (backward, &self.reverse) {
            (false, _) => Ok((&self.forward, self.kernel)),
            (true, Ok(reverse)) => Ok((&reverse.module, reverse.kernel)),
            (true, Err(code)) => Err(code),
        }
    }

    /// Compiles a text like any file, and differentiates its first kernel, or all kernels that its
    /// host code launches.
    pub fn read(source: &str) -> Result<Self, Vec<Diagnostic>> {
        Self::read_forward(source).map(Self::with_reverse)
    }

    /// Differentiates the program.
    #[must_use]
    pub fn with_reverse(self) -> Self {
        let reverse = reverse(&self.forward, &self.kernels());
        Self { reverse, ..self }
    }

    /// Reads a source without deriving its reverse.
    pub fn read_forward(source: &str) -> Result<Self, Vec<Diagnostic>> {
        let mut sources = SourceMap::new();
        let id = sources.add("kernel.py", source);
        let module = gbxcule_front_warp::Program::parse(&sources, id)?.compile("kernel")?;
        Self::of_module(source, check::module(module)?)
    }

    /// Takes the kernels that were read from a source, without deriving their reverse.
    pub fn of_module(source: &str, module: Valid<Module>) -> Result<Self, Vec<Diagnostic>> {
        let forward = within_limits(module)?;
        let Some((kernel, _)) = forward.kernels().next() else {
            let message = "there is no kernel in this text";
            let span = gbxcule_ir::source::Span::NONE;
            return Err(vec![Diagnostic::error(Code::NoKernel, span, message)]);
        };
        let host = Host::read(source, &forward);
        let parts = parts_of(&forward, kernel);
        Ok(Self { forward, kernel, parts, host, reverse: Err("not-asked".into()) })
    }

    /// Returns the program of one of the text's kernels, without host code.
    #[must_use]
    pub fn of_kernel(&self, kernel: FunctionId) -> Self {
        let parts = parts_of(&self.forward, kernel);
        Self { kernel, parts, host: None, ..self.clone() }
    }

    /// Returns, for each input that is a part of a struct with arrays, the number of its parameter
    /// and the names of the fields around it.
    pub(crate) fn places(&self) -> Vec<Option<(usize, Vec<String>)>> {
        if self.host.is_some() {
            return vec![None; self.params().len()];
        }
        let (types, params) = (&self.forward.types, &self.forward.functions[self.kernel].params);
        let place = |part: &Part| {
            Composite::of(types, &params[part.param])?;
            let path = part.of.name.split('.').skip(1).map(str::to_owned).collect();
            Some((part.param, path))
        };
        parts(types, params).iter().map(place).collect()
    }

    /// Returns true if the kernel queries geometry by an id.
    pub fn queries_geometry(&self) -> bool {
        has_tables(&self.forward.types, &self.forward.functions[self.kernel].params)
    }

    /// Returns the name of the kernel, or of the host code.
    pub fn name(&self) -> &str {
        match &self.host {
            Some(host) => &host.name,
            None => &self.forward.functions[self.kernel].name,
        }
    }

    /// Returns the kernel, or all kernels that the host code may launch, in the order of the text.
    pub fn kernels(&self) -> Vec<FunctionId> {
        match self.host {
            Some(_) => self.forward.kernels().map(|(id, _)| id).collect(),
            None => vec![self.kernel],
        }
    }

    /// Returns the parameters of the host code, or the [parts](crate::part) of the kernel's
    /// arguments: one for each input of the row.
    pub fn params(&self) -> &[Param] {
        match &self.host {
            Some(host) => &host.params,
            None => &self.parts,
        }
    }

    /// Returns the launches for some inputs: a single launch of `grid.dims`, or the launches of the
    /// host code.
    ///
    /// # Errors
    /// The host code makes a launch that these inputs don't allow.
    pub fn launches(&self, grid: LaunchInputs<'_>) -> Result<Vec<Launch>, String> {
        let Some(host) = &self.host else {
            return Ok(vec![Launch::whole(self.kernel, grid)]);
        };
        let launches = host.launches(&self.forward, grid.inputs);
        launches.ok_or_else(|| format!("`{}` can't be executed on these inputs", host.name))
    }

    /// Returns the reverse of one of the kernels.
    pub fn reverse_of(&self, reverse: &Reverse, kernel: FunctionId) -> FunctionId {
        let at = self.kernels().iter().position(|own| *own == kernel);
        at.and_then(|at| reverse.kernels.get(at)).copied().unwrap_or(reverse.kernel)
    }

    /// Returns true if these inputs fit a launch: there is one for each parameter, each has the
    /// parameter's rank, and all together are small enough.
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
            && self.host.as_ref().is_none_or(|it| it.launches(&self.forward, inputs).is_some())
    }

    /// Returns the IR, and the texts for some devices and for grids of `dims` dimensions. A row of
    /// several kernels gives one text with all kernels.
    pub fn emit(&self, texts: Texts, dims: usize) -> Emitted {
        let reverse = self.reverse.as_ref().ok();
        let text = |dialect| {
            texts.have(dialect).then(|| self.write(&self.forward, self.kernel, dialect).source)
        };
        let back = |dialect| {
            let reverse = reverse.filter(|_| texts.have(dialect))?;
            Some(self.write(&reverse.module, reverse.kernel, dialect).source)
        };
        let ranks = self.ranks(dims).filter(|_| texts.have(Dialect::Cuda)).unwrap_or_default();
        let has_plain = !ranks.is_empty();
        let plain = || cxx::write_plain(&self.forward, &ranks);
        let plain_reverse = |it: &Reverse| {
            let of = |(kernel, rank): &(FunctionId, usize)| (self.reverse_of(it, *kernel), *rank);
            cxx::write_plain_reverse(&it.module, &ranks.iter().map(of).collect::<Vec<_>>())
        };
        Emitted {
            ir: print::module(&self.forward),
            ir_backward: reverse.map(|it| print::module(&it.module)),
            cpp: text(Dialect::Host),
            cpp_backward: back(Dialect::Host),
            cuda: text(Dialect::Cuda),
            cuda_backward: back(Dialect::Cuda),
            cuda_plain: has_plain.then(plain).flatten(),
            cuda_plain_backward: reverse.filter(|_| has_plain).and_then(plain_reverse),
        }
    }

    /// Returns each kernel with the number of dimensions of its grid, which is `dims` without host
    /// code. Returns `None` if host code launches a kernel with different numbers of dimensions, or
    /// never.
    pub fn ranks(&self, dims: usize) -> Option<Vec<(FunctionId, usize)>> {
        let rank = |kernel| match &self.host {
            Some(host) => host.rank(&self.forward, kernel),
            None => Some(dims),
        };
        self.kernels().into_iter().map(|kernel| Some((kernel, rank(kernel)?))).collect()
    }

    /// Returns the text of a kernel, or of all that the host code launches.
    pub fn write(&self, module: &Valid<Module>, kernel: FunctionId, dialect: Dialect) -> cxx::Text {
        match self.host {
            Some(_) => cxx::write(module, &Options::new(dialect)),
            None => write(module, kernel, dialect),
        }
    }
}

/// Returns the text of a kernel and the functions that it calls, in a dialect.
pub fn write(module: &Valid<Module>, kernel: FunctionId, dialect: Dialect) -> cxx::Text {
    cxx::write(module, &Options { kernel: Some(kernel), ..Options::new(dialect) })
}

fn reverse(forward: &Valid<Module>, kernels: &[FunctionId]) -> Result<Reverse, String> {
    let (module, kernels) = grad::reverses(forward, kernels).map_err(|faults| code(&faults))?;
    let module = check::module(module).map_err(|faults| code(&faults))?;
    Ok(Reverse { module, kernel: kernels[0], kernels })
}

/// Returns the parts of a kernel's arguments as parameters.
pub(crate) fn parts_of(module: &Module, kernel: FunctionId) -> Vec<Param> {
    let parts = parts(&module.types, &module.functions[kernel].params);
    parts.into_iter().map(|it| it.of).collect()
}

/// Returns the element type of an array parameter; `None` for values.
pub fn element(module: &Module, ty: Type) -> Option<Type> {
    match module.types[ty] {
        Shape::Array { of, .. } => Some(of),
        _ => None,
    }
}
