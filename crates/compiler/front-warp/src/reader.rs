//! Kernels of a program, and the modules that are made of them.

use crate::module_builder::ModuleBuilder;
use gbxcule_ir::diagnostic::Diagnostic;
use gbxcule_ir::module::Module;
use gbxcule_ir::source::Span;
use gbxcule_python_names::syntax::{self, StmtFunctionDef};
use gbxcule_python_names::{Files, ScopeId};
use gbxcule_warp_types::annotation::Annotation;
use gbxcule_warp_types::decorator::{self, Role};
use gbxcule_warp_types::library::Library;
use gbxcule_warp_types::overload::KernelCalls;
use gbxcule_warp_types::signature::{self, Formal};
use gbxcule_warp_types::trial;
use gbxcule_warp_types::undecided;
use gbxcule_warp_types::unit::{Unit, Warp};

/// A kernel of a program, by its position in the text.
#[derive(Clone, Debug)]
pub struct KernelName {
    /// Name.
    pub name: String,
    /// Place of its name.
    pub span: Span,
    /// Number, counted from 0 in the order of the text.
    pub position: usize,
}

/// A parameter of a kernel that stands for more than one type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GenericParameter {
    /// Number among the parameters, from 0.
    pub position: usize,
    /// Name.
    pub name: String,
    /// Dimensions, if it is an array of anything.
    pub dims: Option<u8>,
}

/// A program with its names resolved.
pub struct Reader<'a> {
    pub(crate) unit: Unit<'a>,
    pub(crate) kernels: Vec<(&'a StmtFunctionDef, ScopeId)>,
    pub(crate) kernel_calls: KernelCalls<'a>,
    pub(crate) gradients: bool,
    pub(crate) trial_types: bool,
}

impl<'a> Reader<'a> {
    /// Resolves the names of a program that may import a library.
    pub(crate) fn new(files: &'a Files, library: Option<&'a Library>) -> Self {
        let unit = Warp::unit(files, library);
        let kernel_calls = KernelCalls::read(&files.texts[0].tree.body);
        let defined = unit.scopes.functions().iter().copied();
        let defined = defined.filter(|&(_, scope)| unit.scopes.text(scope) == 0);
        let mut kernels: Vec<_> = defined
            .filter(|&(def, scope)| decorator::role(&unit, def, scope) == Role::Kernel)
            .collect();
        kernels.extend(kernel_calls.kernels(&unit));
        kernels.sort_by_key(|(def, _)| syntax::start(*def));
        Self { unit, kernels, kernel_calls, gradients: false, trial_types: false }
    }

    /// Compiles each generic kernel without given types for the first trial types that fit. This
    /// is for a caller that counts kernels, or compares one way of running with another.
    #[must_use]
    pub fn with_trial_types(self) -> Self {
        Self { trial_types: true, ..self }
    }

    /// Gives functions the gradients of `@wp.func_grad` and `@wp.func_replay`, for a caller that
    /// differentiates. By default these decorators are ignored.
    #[must_use]
    pub fn with_gradients(self) -> Self {
        Self { gradients: true, ..self }
    }

    /// All kernels, in the order of the text.
    pub fn kernels(&self) -> Vec<KernelName> {
        let kernels = self.kernels.iter().enumerate();
        kernels
            .map(|(position, (def, _))| KernelName {
                name: def.name.to_string(),
                span: self.unit.span(&def.name),
                position,
            })
            .collect()
    }

    /// Warnings of functions that look like kernels, but whose decorators only Python knows:
    /// [`Self::kernels`] leaves these functions out. If there are wanted names, of these alone.
    pub fn undecided(&self, wanted: &[String]) -> Vec<Diagnostic> {
        let is_wanted =
            |def: &StmtFunctionDef| wanted.is_empty() || wanted.iter().any(|it| def.name == *it);
        let functions = self.unit.scopes.functions().iter().filter(|(def, _)| is_wanted(def));
        let kernels: Vec<*const StmtFunctionDef> =
            self.kernels.iter().map(|(def, _)| std::ptr::from_ref(*def)).collect();
        let others = functions.filter(|(def, _)| !kernels.contains(&std::ptr::from_ref(*def)));
        others.filter_map(|&(def, scope)| undecided::undecided(&self.unit, def, scope)).collect()
    }

    /// Lowers all kernels into one module called `name`.
    pub fn compile(&self, name: &str) -> Result<Module, Vec<Diagnostic>> {
        self.compile_kernels(name, |_| true)
    }

    /// Lowers the kernels that are wanted, with the functions that they call, into one module
    /// called `name`. Kernels share functions and structs. A kernel that an enclosing function
    /// makes, and that uses this function's arguments, is lowered once for each call of the
    /// function. A generic kernel is lowered once for each overload.
    pub fn compile_kernels(
        &self,
        name: &str,
        wanted: impl Fn(&KernelName) -> bool,
    ) -> Result<Module, Vec<Diagnostic>> {
        let mut builder = ModuleBuilder::new(self, name);
        let mut faults = Vec::new();
        for kernel in self.kernels().iter().filter(|kernel| wanted(kernel)) {
            for fault in builder.kernel(kernel.position).err().unwrap_or_default() {
                if !faults.contains(&fault) {
                    faults.push(fault);
                }
            }
        }
        if faults.is_empty() { Ok(builder.module()) } else { Err(faults) }
    }

    /// Lowers one kernel into a module of its own called `name`, which is empty if there is no
    /// kernel at this position.
    pub fn lower(&self, position: usize, name: &str) -> Result<Module, Vec<Diagnostic>> {
        let mut builder = ModuleBuilder::new(self, name);
        builder.kernel(position)?;
        Ok(builder.module())
    }

    /// Lowers a kernel that [`Self::lower`] refused because of values that only Python knows,
    /// such as arguments of the enclosing function. Tries values and takes the first values that
    /// fit; if no values fit, returns the faults of the last try. This is for a caller that only
    /// counts kernels.
    pub fn lower_with_trials(
        &self,
        position: usize,
        name: &str,
    ) -> Result<Module, Vec<Diagnostic>> {
        let attempt = |which: usize, value: usize| {
            self.unit.dialect.trials.choose(which, value);
            self.unit.frames.forget();
            self.lower(position, name)
        };
        self.unit.dialect.trials.set(true);
        let mut lowered = attempt(0, 0);
        let mut attempts = 1;
        // With trial values for some names, lowering may reach further names. One name's value is
        // changed at a time, and the name met last comes first. A value stays if lowering gets
        // further with it.
        'further: while let Err(faults) = &lowered {
            let reached = reached(faults);
            let counts = self.unit.dialect.trials.counts();
            for (which, count) in counts.into_iter().enumerate().rev() {
                for value in 1..count {
                    if attempts == trial::MAX_ATTEMPTS {
                        break 'further;
                    }
                    attempts += 1;
                    let next = attempt(which, value);
                    if next.as_ref().map_or_else(|it| self::reached(it) > reached, |_| true) {
                        self.unit.dialect.trials.keep();
                        lowered = next;
                        continue 'further;
                    }
                }
            }
            break;
        }
        if lowered.is_err() {
            self.unit.dialect.trials.ask_for_all();
            lowered = attempt(0, 0);
        }
        self.unit.dialect.trials.set(false);
        self.unit.frames.clear();
        lowered
    }

    /// Returns the parameters of a kernel that stand for more than one type. A caller that launches
    /// the kernel knows their types, and gives them by [`ImportOptions::types`].
    pub fn generic_parameters(
        &self,
        position: usize,
    ) -> Result<Vec<GenericParameter>, Vec<Diagnostic>> {
        let Some(&(def, scope)) = self.kernels.get(position) else { return Ok(Vec::new()) };
        let formals = signature::formals(&self.unit, def, scope)?;
        let generic = formals.into_iter().enumerate().filter(|(_, it)| it.annotation.is_generic());
        let parameter = |(position, formal): (usize, Formal<'_>)| GenericParameter {
            position,
            name: formal.name.to_owned(),
            dims: match formal.annotation {
                Annotation::Array(_, dims) | Annotation::Indexed(_, dims) => Some(dims),
                _ => None,
            },
        };
        Ok(generic.map(parameter).collect())
    }
}

/// Returns the furthest position of some faults in their text. Parts of an expression come before
/// the whole.
fn reached(faults: &[Diagnostic]) -> u32 {
    faults.first().map_or(0, |first| first.span().end)
}
