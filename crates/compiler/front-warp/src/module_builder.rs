//! Lowering of kernels into one module, for the values and types that the text or the caller gives.

use crate::lower::{LoweringError, Session};
use crate::reader::Reader;
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::module::Module;
use gbxcule_python_names::ScopeId;
use gbxcule_python_names::syntax::StmtFunctionDef;
use gbxcule_python_values::CallFrames;
use gbxcule_warp_types::annotation::Annotation;
use gbxcule_warp_types::signature::{self, Formal};
use gbxcule_warp_types::unknown_name;

/// A module under construction, whose kernels share functions and structs.
pub(crate) struct ModuleBuilder<'r, 'a> {
    reader: &'r Reader<'a>,
    made: Made<'a>,
}

/// The module, and what its functions and structs were made for.
#[derive(Clone)]
struct Made<'a> {
    module: Module,
    session: Session<'a>,
}

impl<'r, 'a> ModuleBuilder<'r, 'a> {
    pub(crate) fn new(reader: &'r Reader<'a>, name: &str) -> Self {
        let session = Session::new(&reader.unit, reader.gradients);
        Self { reader, made: Made { module: Module::new(name), session } }
    }

    pub(crate) fn module(self) -> Module {
        self.made.module
    }

    /// Lowers one kernel with the functions it calls; does nothing if there is no kernel at this
    /// position. If the kernel is refused, the module may hold parts of it and can't be used.
    pub(crate) fn kernel(&mut self, position: usize) -> Result<(), Vec<Diagnostic>> {
        let reader = self.reader;
        let Some(&(def, scope)) = reader.kernels.get(position) else { return Ok(()) };
        let frames = CallFrames::new(&reader.unit, &reader.kernel_calls.sites).of(scope);
        let frames = frames.map_err(|fault| vec![*fault])?;
        let before = (!frames.is_empty()).then(|| self.made.clone());
        let lowered = self.overloads(def, scope);
        match (lowered, before) {
            // The kernel uses arguments of the function around it.
            (Err(_), Some(before)) => {
                self.made = before;
                frames.into_iter().try_for_each(|frame| {
                    reader.unit.frames.run(frame, || self.overloads(def, scope))
                })
            }
            (lowered, _) => lowered,
        }
    }

    /// Lowers a kernel for all types that it is compiled for.
    fn overloads(
        &mut self,
        def: &'a StmtFunctionDef,
        scope: ScopeId,
    ) -> Result<(), Vec<Diagnostic>> {
        let unit = &self.reader.unit;
        let formals = signature::formals(unit, def, scope)
            .map_err(|faults| unknown_name::with_names_of_body(unit, def, scope, faults))?;
        if let Some(formal) = formals.iter().find(|formal| formal.variadic) {
            let message = "a kernel takes a fixed number of arguments";
            return Err(vec![Diagnostic::error(Code::UnsupportedVariadic, formal.span, message)]);
        }
        if !formals.iter().any(|formal| formal.annotation.is_generic()) {
            let types: Vec<Annotation> = formals.iter().map(|it| it.annotation.clone()).collect();
            return self.typed(def, scope, &formals, &types);
        }
        let overloads = self.reader.kernel_calls.overloads(unit, def, &formals);
        let overloads = overloads.map_err(|fault| vec![*fault])?;
        if overloads.is_empty() {
            return self.untyped(def, scope, &formals);
        }
        overloads.iter().try_for_each(|types| self.typed(def, scope, &formals, types))
    }

    /// Lowers a generic kernel for which no types are given. It tries the trial types, if the
    /// caller asks for them.
    fn untyped(
        &mut self,
        def: &'a StmtFunctionDef,
        scope: ScopeId,
        formals: &[Formal<'a>],
    ) -> Result<(), Vec<Diagnostic>> {
        let trials = &self.reader.unit.dialect.trials;
        if trials.is_on() {
            let f32 = &Annotation::trials()[0];
            let chosen = |formal: &Formal<'a>| match formal.annotation.has_any() {
                true => trials.generic_type(formal.name).unwrap_or_else(|| f32.clone()),
                false => f32.clone(),
            };
            let types: Vec<_> =
                formals.iter().map(|it| it.annotation.chosen(&chosen(it))).collect();
            return self.typed(def, scope, formals, &types);
        }
        let mut first = Vec::new();
        let before = self.made.clone();
        let trials = if self.reader.trial_types { &Annotation::trials()[..] } else { &[] };
        for any in trials {
            let types: Vec<_> = formals.iter().map(|it| it.annotation.chosen(any)).collect();
            let Err(faults) = self.typed(def, scope, formals, &types) else { return Ok(()) };
            self.made = before.clone();
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
        let fault = Diagnostic::error(Code::GenericKernel, self.reader.unit.span(name), message);
        let fault = match faults.first() {
            Some(first) if first.span().is_some() => {
                fault.label(first.span(), format!("with `float32` for `Any`: {}", first.message))
            }
            _ => fault,
        };
        let names: Vec<&str> = formals.iter().map(|formal| formal.name).collect();
        let overload =
            format!("`wp.overload({name}, [..])` does, with types for ({})", names.join(", "));
        if !self.reader.unit.files.takes_options {
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

    /// Lowers a kernel for parameters of these types.
    fn typed(
        &mut self,
        def: &'a StmtFunctionDef,
        scope: ScopeId,
        formals: &[Formal<'a>],
        annotations: &[Annotation],
    ) -> Result<(), Vec<Diagnostic>> {
        let (unit, Made { module, session }) = (&self.reader.unit, &mut self.made);
        session.begin_kernel(unit);
        let mut types = Vec::with_capacity(formals.len());
        for (formal, annotation) in formals.iter().zip(annotations) {
            match session.structs.concrete(unit, module, annotation, formal.span) {
                Ok(ty) => types.push(ty),
                Err(LoweringError::Fault(fault)) => session.report.push(*fault),
                Err(LoweringError::Reported) => {}
            }
        }
        if types.len() == formals.len() {
            session.kernel(unit, module, (def, scope), formals, &types);
        }
        if session.report.faults().is_empty()
            && (session.report.is_refused() || types.len() < formals.len())
        {
            let span = unit.span(&def.name);
            let message = "this kernel is refused";
            session.report.push(Diagnostic::error(Code::Refused, span, message));
        }
        if session.report.faults().is_empty() {
            return Ok(());
        }
        // The next kernel meets refused functions and structs itself, and says why.
        let refused = std::mem::replace(session, Session::new(unit, self.reader.gradients));
        Err(refused.report.into_faults())
    }
}
