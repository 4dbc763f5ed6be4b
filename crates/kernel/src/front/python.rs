//! The Python front end: NVIDIA Warp's dialect, read as text.
//!
//! A text is parsed once ([`Program::parse`]); each of its kernels is then lowered into a module of its
//! own or of several. Python never runs: what only running it could tell is refused, at the line, with
//! a stable code. Nothing here panics on any text.
//!
//! # Generic kernels
//! A kernel with `Any` in its signature is compiled for the types of the first `wp.overload(kernel, ..)`
//! in the text, else for defaults: `int32` where only integers fit, length 3, and for all `Any` at once the first
//! of `float32`, `vec3f`, `mat33f` and an array of `float32` with which it is no error.

mod annotation;
mod arithmetic;
mod constant;
mod file;
mod kernel_option;
mod library;
mod loader;
mod lower;
mod neighbour;
mod overload;
mod role;
mod scope;
mod signature;
mod syntax;
mod wanted;
mod warp;

use crate::diagnostic::Diagnostic;
use crate::ir::module::Module;
use crate::source::{SourceId, SourceMap, Span};
use annotation::Annotation;
use constant::Unit;
use file::Files;
pub use library::Library;
pub use loader::ReadFile;
use lower::{Session, Stop};
use overload::Launches;
use role::Role;
use scope::ScopeId;
use signature::Formal;
use syntax::StmtFunctionDef;
pub use wanted::{Wanted, WantedParam};

/// A parsed text, with those it imports from.
pub struct Program {
    files: Files,
}

/// A kernel of a program, by its position in the text.
#[derive(Clone, Debug)]
pub struct KernelName {
    /// Its name.
    pub name: String,
    /// Where its name stands.
    pub span: Span,
    /// Its number, counted from 0 in the order of the text.
    pub position: usize,
}

impl Program {
    /// Parses a text that the map has; it imports from no file.
    pub fn parse(sources: &SourceMap, id: SourceId) -> Result<Self, Vec<Diagnostic>> {
        Ok(Self { files: Files::alone(sources, id)? })
    }

    /// Parses the text of a file, by the path that is its name, with the files beside it that it imports from, which are
    /// added to the map. Modules are looked for as `python file.py` does: `import a.b` beside the file, as
    /// `a/b/__init__.py` or `a/b.py`, and, if the file is in a package, beside the outermost package too;
    /// names with dots before them from the folder of whoever imports. A file that there isn't, or that is no
    /// Python, matters only to kernels that use a name of it.
    pub fn parse_beside(
        sources: &mut SourceMap,
        id: SourceId,
        read: ReadFile<'_>,
    ) -> Result<Self, Vec<Diagnostic>> {
        Ok(Self { files: Files::beside(sources, id, read)? })
    }

    /// What a session with the program begins with.
    pub fn reader(&self) -> Reader<'_> {
        self.reader_beside(None)
    }

    /// The same for a text that may import a library.
    pub fn reader_with<'a>(&'a self, library: &'a Library) -> Reader<'a> {
        self.reader_beside(Some(library))
    }

    fn reader_beside<'a>(&'a self, library: Option<&'a Library>) -> Reader<'a> {
        let unit = Unit::new(&self.files, library);
        let launches = Launches::read(&self.files.texts[0].tree.body);
        let own = unit.scopes.functions.iter().copied();
        let own = own.filter(|&(_, scope)| unit.scopes.text(scope) == 0);
        let mut kernels: Vec<_> =
            own.filter(|&(def, scope)| unit.role(def, scope) == Role::Kernel).collect();
        kernels.extend(launches.kernels(&unit));
        kernels.sort_by_key(|(def, _)| syntax::start(*def));
        Reader { unit, kernels, launches, gradients: false }
    }

    /// All kernels in one module, or everything that is wrong with them.
    pub fn compile(&self, name: &str) -> Result<Module, Vec<Diagnostic>> {
        self.reader().compile(name)
    }
}

/// A program with its names resolved.
pub struct Reader<'a> {
    unit: Unit<'a>,
    kernels: Vec<(&'a StmtFunctionDef, ScopeId)>,
    launches: Launches<'a>,
    gradients: bool,
}

impl<'a> Reader<'a> {
    /// Functions get the gradients that `@wp.func_grad` and `@wp.func_replay` define: for whoever
    /// differentiates. Without, those aren't looked at.
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

    /// All kernels in one module, or everything that is wrong with them.
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

    /// Lowers one kernel, with the functions it calls, into a module. If it is refused, the module may
    /// hold parts of it and is of no use.
    pub fn lower(&self, position: usize, module: &mut Module) -> Result<(), Vec<Diagnostic>> {
        let Some(&(def, scope)) = self.kernels.get(position) else { return Ok(()) };
        let formals = self.unit.formals(def, scope)?;
        if let Some(formal) = formals.iter().find(|formal| formal.variadic) {
            let message = "a kernel takes a fixed number of arguments";
            return Err(vec![Diagnostic::error("unsupported-variadic", formal.span, message)]);
        }
        let generic = formals.iter().any(|formal| formal.annotation.is_generic());
        let chosen = if generic { self.launches.chosen(&self.unit, def, &formals) } else { None };
        let any = formals.iter().any(|formal| formal.annotation.has_any());
        if let Some(chosen) = chosen {
            return self.typed(def, scope, &formals, &chosen, module);
        }
        let [first, others @ ..] = Annotation::guesses();
        let guess = |any: &Annotation| -> Vec<Annotation> {
            formals.iter().map(|formal| formal.annotation.chosen(any)).collect()
        };
        let before = any.then(|| module.clone());
        let lowered = self.typed(def, scope, &formals, &guess(&first), module);
        let (Err(_), Some(before)) = (&lowered, before) else { return lowered };
        for any in others {
            let mut tried = before.clone();
            if self.typed(def, scope, &formals, &guess(&any), &mut tried).is_ok() {
                *module = tried;
                return Ok(());
            }
        }
        lowered
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
            match session.concrete(module, annotation, formal.span) {
                Ok(ty) => types.push(ty),
                Err(Stop::Fault(fault)) => session.faults.push(*fault),
                Err(Stop::Reported) => {}
            }
        }
        if types.len() == formals.len() {
            session.kernel(module, def, scope, formals, &types);
        }
        if session.faults.is_empty() && (session.refused || types.len() < formals.len()) {
            let span = self.unit.span(&def.name);
            let message = "this kernel is refused";
            session.faults.push(Diagnostic::error("refused", span, message));
        }
        if session.faults.is_empty() { Ok(()) } else { Err(session.faults) }
    }
}
