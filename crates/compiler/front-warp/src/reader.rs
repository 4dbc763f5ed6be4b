//! Kernels of a program, and their lowering for the values and types that the text or the caller
//! gives.

use crate::lower::{LoweringError, Session};
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::module::Module;
use gbxcule_ir::source::Span;
use gbxcule_python_names::syntax::{self, StmtFunctionDef};
use gbxcule_python_names::{Files, ScopeId};
use gbxcule_python_values::CallFrames;
use gbxcule_warp_types::annotation::Annotation;
use gbxcule_warp_types::decorator::{self, Role};
use gbxcule_warp_types::library::Library;
use gbxcule_warp_types::overload::KernelCalls;
use gbxcule_warp_types::signature::{self, Formal};
use gbxcule_warp_types::trial;
use gbxcule_warp_types::undecided;
use gbxcule_warp_types::unit::{Unit, Warp};
use gbxcule_warp_types::unknown_name;

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
    kernels: Vec<(&'a StmtFunctionDef, ScopeId)>,
    kernel_calls: KernelCalls<'a>,
    pub(crate) gradients: bool,
    trial_types: bool,
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
        let mut module = Module::new(name);
        let mut faults = Vec::new();
        for kernel in self.kernels() {
            if let Err(found) = self.lower(kernel.position, &mut module) {
                for fault in found {
                    if !faults.contains(&fault) {
                        faults.push(fault);
                    }
                }
            }
        }
        if faults.is_empty() { Ok(module) } else { Err(faults) }
    }

    /// Lowers one kernel, with the functions it calls, into a module; does nothing if there is no
    /// kernel at this position. A kernel that an enclosing function makes, and that uses this
    /// function's arguments, is lowered once for each call of the function. A generic kernel is
    /// lowered once for each overload. If the kernel is refused, the module may hold parts of it
    /// and can't be used.
    pub fn lower(&self, position: usize, module: &mut Module) -> Result<(), Vec<Diagnostic>> {
        let Some(&(def, scope)) = self.kernels.get(position) else { return Ok(()) };
        let frames = CallFrames::new(&self.unit, &self.kernel_calls.sites).of(scope);
        let frames = frames.map_err(|fault| vec![*fault])?;
        let before = (!frames.is_empty()).then(|| module.clone());
        let lowered = self.overloads(def, scope, module);
        match (lowered, before) {
            // The kernel uses arguments of the function around it.
            (Err(_), Some(before)) => {
                *module = before;
                frames.into_iter().try_for_each(|frame| {
                    self.unit.frames.run(frame, || self.overloads(def, scope, module))
                })
            }
            (lowered, _) => lowered,
        }
    }

    /// Lowers a kernel that [`Self::lower`] refused because of values that only Python knows,
    /// such as arguments of the enclosing function. Tries values and takes the first values that
    /// fit; if no values fit, returns the faults of the last try. This is for a caller that only
    /// counts kernels.
    pub fn lower_with_trials(
        &self,
        position: usize,
        module: &mut Module,
    ) -> Result<(), Vec<Diagnostic>> {
        let before = module.clone();
        let mut attempt = |which: usize, value: usize| {
            *module = before.clone();
            self.unit.dialect.trials.choose(which, value);
            self.unit.frames.forget();
            self.lower(position, module)
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
                    if next.as_ref().map_or_else(|it| self::reached(it) > reached, |()| true) {
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

    /// Lowers a kernel for all types that it is compiled for.
    fn overloads(
        &self,
        def: &'a StmtFunctionDef,
        scope: ScopeId,
        module: &mut Module,
    ) -> Result<(), Vec<Diagnostic>> {
        let formals = signature::formals(&self.unit, def, scope);
        let formals = formals
            .map_err(|faults| unknown_name::with_names_of_body(&self.unit, def, scope, faults))?;
        if let Some(formal) = formals.iter().find(|formal| formal.variadic) {
            let message = "a kernel takes a fixed number of arguments";
            return Err(vec![Diagnostic::error(Code::UnsupportedVariadic, formal.span, message)]);
        }
        if !formals.iter().any(|formal| formal.annotation.is_generic()) {
            let types: Vec<Annotation> = formals.iter().map(|it| it.annotation.clone()).collect();
            return self.typed(def, scope, &formals, &types, module);
        }
        let overloads = self.kernel_calls.overloads(&self.unit, def, &formals);
        let overloads = overloads.map_err(|fault| vec![*fault])?;
        if overloads.is_empty() {
            return self.untyped(def, scope, &formals, module);
        }
        overloads.iter().try_for_each(|types| self.typed(def, scope, &formals, types, module))
    }

    /// Lowers a generic kernel for which no types are given. It tries the trial types, if the
    /// caller asks for them.
    fn untyped(
        &self,
        def: &'a StmtFunctionDef,
        scope: ScopeId,
        formals: &[Formal<'a>],
        module: &mut Module,
    ) -> Result<(), Vec<Diagnostic>> {
        let mut first = Vec::new();
        let before = module.clone();
        if self.unit.dialect.trials.is_on() {
            let f32 = Annotation::trials()[0].clone();
            let chosen = |formal: &Formal<'a>| match formal.annotation.has_any() {
                true => self
                    .unit
                    .dialect
                    .trials
                    .generic_type(formal.name)
                    .unwrap_or_else(|| f32.clone()),
                false => f32.clone(),
            };
            let types: Vec<_> =
                formals.iter().map(|it| it.annotation.chosen(&chosen(it))).collect();
            return self.typed(def, scope, formals, &types, module);
        }
        let trials = if self.trial_types { &Annotation::trials()[..] } else { &[] };
        for any in trials {
            let types: Vec<_> = formals.iter().map(|it| it.annotation.chosen(any)).collect();
            let lowered = self.typed(def, scope, formals, &types, module);
            let Err(faults) = lowered else { return Ok(()) };
            *module = before.clone();
            if first.is_empty() {
                first = faults;
            }
            if !formals.iter().any(|formal| formal.annotation.has_any()) {
                break;
            }
        }
        Err(vec![self.no_types(def, formals, &first)])
    }

    /// Diagnostic for a generic kernel without given types, or for which no trial types fit.
    fn no_types(
        &self,
        def: &StmtFunctionDef,
        formals: &[Formal<'a>],
        faults: &[Diagnostic],
    ) -> Diagnostic {
        let name = &def.name;
        let message =
            format!("nothing says for which types the generic kernel `{name}` is compiled");
        let fault = Diagnostic::error(Code::GenericKernel, self.unit.span(name), message);
        let fault = match faults.first() {
            Some(first) if first.span().is_some() => {
                fault.label(first.span(), format!("with `float32` for `Any`: {}", first.message))
            }
            _ => fault,
        };
        let names: Vec<&str> = formals.iter().map(|formal| formal.name).collect();
        let overload =
            format!("`wp.overload({name}, [..])` does, with types for ({})", names.join(", "));
        if !self.unit.files.takes_options {
            return fault.help(overload);
        }
        let by_caller =
            format!("{overload}, and so does `--types '{name}=[..]'` on the command line");
        // Types alone don't help where a value is missing too.
        let value = faults.first().filter(|it| it.code == Code::NeedsPythonEvaluation);
        fault.help(match value.and_then(|it| it.help.as_ref()) {
            Some(value) => format!("{by_caller}; {value}"),
            None => by_caller,
        })
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

    /// Lowers a kernel for parameters of these types.
    fn typed(
        &self,
        def: &'a StmtFunctionDef,
        scope: ScopeId,
        formals: &[Formal<'a>],
        annotations: &[Annotation],
        module: &mut Module,
    ) -> Result<(), Vec<Diagnostic>> {
        let mut session = Session::new(&self.unit, self.gradients);
        let mut types = Vec::with_capacity(formals.len());
        for (formal, annotation) in formals.iter().zip(annotations) {
            match session.structs.concrete(&self.unit, module, annotation, formal.span) {
                Ok(ty) => types.push(ty),
                Err(LoweringError::Fault(fault)) => session.report.push(*fault),
                Err(LoweringError::Reported) => {}
            }
        }
        if types.len() == formals.len() {
            session.kernel(&self.unit, module, (def, scope), formals, &types);
        }
        if session.report.faults().is_empty()
            && (session.report.is_refused() || types.len() < formals.len())
        {
            let span = self.unit.span(&def.name);
            let message = "this kernel is refused";
            session.report.push(Diagnostic::error(Code::Refused, span, message));
        }
        let faults = session.report.into_faults();
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }
}

/// Returns the furthest position of some faults in their text. Parts of an expression come before
/// the whole.
fn reached(faults: &[Diagnostic]) -> u32 {
    faults.first().map_or(0, |first| first.span().end)
}
