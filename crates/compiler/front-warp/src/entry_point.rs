//! Functions that a text must define with a given signature, such as a program's `reward`, and
//! the text's settings: numbers bound at its top level.

use super::lower::{Binding, Definition, Kind, LoweringError, Session};
use super::reader::Reader;
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::function::{FunctionId, Param};
use gbxcule_ir::module::Module;
use gbxcule_ir::ty::Type;
use gbxcule_python_names::BindingSource;
use gbxcule_python_names::syntax::{Expr, StmtFunctionDef};
use gbxcule_warp_types::annotation::Annotation;
use gbxcule_warp_types::decorator::{self, Role};
use gbxcule_warp_types::signature::{self, Formal};
use gbxcule_warp_types::unit::Unit;
use gbxcule_warp_types::value::{KnownValue, WarpValue};

/// A function that a text may define for others to call.
#[derive(Clone, Copy, Debug)]
pub struct EntryPoint<'w> {
    /// Name.
    pub name: &'w str,
    /// Parameters.
    pub params: &'w [EntryParam],
    /// Further parameters that a function may have, by their names and in any order.
    pub optional: &'w [(&'w str, EntryParam)],
    /// The type of the function's result; `Type::UNIT` for a function without a result.
    pub result: Type,
    /// The signature as users write it: `def reward(machine: gb.Machine) -> wp.float32`.
    pub written: &'w str,
}

/// A parameter of an [`EntryPoint`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EntryParam {
    /// The type of the library.
    Handle,
    /// A type of the module.
    Type(Type),
}

/// The scope of the text itself.
const TOP: gbxcule_python_names::ScopeId = 0;

impl<'a> Reader<'a> {
    /// Lowers a function of the text into a module that has the library's functions; `None` if the
    /// text has no function of this name. The IR parameters that stand for the handle replace a
    /// `gb.Machine` parameter.
    pub fn function(
        &self,
        wanted: &EntryPoint<'_>,
        module: &mut Module,
    ) -> Result<Option<FunctionId>, Vec<Diagnostic>> {
        let Some(def) = self.definition(wanted)? else { return Ok(None) };
        let formals = signature::formals(&self.unit, def, TOP)?;
        let mut session = Session::new(&self.unit, self.gradients);
        let optional = |formal: &Formal<'_>| {
            let by_name = wanted.optional.iter().find(|(name, _)| *name == formal.name);
            by_name.map(|&(_, param)| param)
        };
        let (first, more) = formals.split_at(wanted.params.len().min(formals.len()));
        let params: Vec<EntryParam> =
            wanted.params.iter().copied().chain(more.iter().filter_map(optional)).collect();
        let taken = formals.len() == params.len()
            && first.iter().all(|formal| optional(formal).is_none())
            && formals
                .iter()
                .zip(&params)
                .all(|(formal, param)| takes(&self.unit, &mut session, module, formal, *param));
        if !taken {
            return Err(vec![self.misfit(def, wanted, "takes other parameters")]);
        }
        let id = self.lower_entry(&mut session, def, &formals, &params, module);
        if session.report.faults().is_empty() && session.report.is_refused() {
            session.report.push(self.misfit(def, wanted, "is refused"));
        }
        if session.report.faults().is_empty() && module.functions[id].result != wanted.result {
            session.report.push(self.misfit(def, wanted, "gives another result"));
        }
        let faults = session.report.into_faults();
        if faults.is_empty() { Ok(Some(id)) } else { Err(faults) }
    }

    /// Lowers a function of the text with the parameters that it declares, for a caller that wrote
    /// the text itself. A handle becomes the parameters that stand for it.
    ///
    /// # Panics
    /// The text has no such function.
    pub fn declared(&self, name: &str, module: &mut Module) -> Result<FunctionId, Vec<Diagnostic>> {
        let wanted =
            EntryPoint { name, params: &[], optional: &[], result: Type::UNIT, written: name };
        let def = self.definition(&wanted)?;
        let def = def.unwrap_or_else(|| panic!("the text has a function `{name}`"));
        let formals = signature::formals(&self.unit, def, TOP)?;
        let mut session = Session::new(&self.unit, self.gradients);
        let params: Vec<EntryParam> = formals
            .iter()
            .map(|formal| match formal.annotation {
                Annotation::Handle => EntryParam::Handle,
                ref annotation => {
                    let ty = session.structs.concrete(&self.unit, module, annotation, formal.span);
                    EntryParam::Type(ty.unwrap_or(Type::INVALID))
                }
            })
            .collect();
        let id = self.lower_entry(&mut session, def, &formals, &params, module);
        if session.report.faults().is_empty() && session.report.is_refused() {
            session.report.push(self.misfit(def, &wanted, "is refused"));
        }
        let faults = session.report.into_faults();
        if faults.is_empty() { Ok(id) } else { Err(faults) }
    }

    fn lower_entry(
        &self,
        session: &mut Session<'a>,
        def: &'a StmtFunctionDef,
        formals: &[Formal<'a>],
        wanted: &[EntryParam],
        module: &mut Module,
    ) -> FunctionId {
        let (mut params, mut bindings) = (Vec::new(), Vec::new());
        for (formal, param) in formals.iter().zip(wanted) {
            let position = params.len() as u32;
            match param {
                EntryParam::Handle => {
                    params.extend(self.unit.dialect.library.iter().flat_map(|it| it.parts.clone()));
                    bindings.push(Binding::KnownValue(
                        KnownValue::Dialect(WarpValue::Handle(position)),
                        None,
                    ));
                }
                EntryParam::Type(ty) => {
                    params.push(Param::value(formal.name, *ty).at(formal.span));
                    bindings.push(Binding::Param(position));
                }
            }
        }
        let id = module.declare(&*def.name, params, Type::UNIT);
        module.functions[id].span = self.unit.span(&def.name);
        let kind = Kind::Function;
        let definition = Definition { def, scope: TOP, formals, bindings, kind };
        session.body(&self.unit, module, id, definition);
        id
    }

    /// A whole number bound at the top of the text, and its place.
    pub fn setting(
        &self,
        name: &str,
    ) -> Result<Option<(i128, gbxcule_ir::source::Span)>, Diagnostic> {
        let definitions = self.unit.scopes.bindings_in(TOP, name).unwrap_or_default();
        let Some(definition) = definitions.last() else { return Ok(None) };
        if let BindingSource::Value(value) = definition.source {
            let span = self.unit.span(value);
            return match self.unit.known(value, TOP) {
                Ok(KnownValue::Int(number)) => Ok(Some((number, span))),
                Ok(_) => {
                    let message = format!("`{name}` is a whole number");
                    Err(Diagnostic::error(Code::NeedsConstant, span, message))
                }
                Err(fault) => Err(*fault),
            };
        }
        let span = gbxcule_ir::source::Span::NONE;
        let message = format!("`{name}` is a whole number, bound once at the top");
        Err(Diagnostic::error(Code::NeedsConstant, span, message))
    }

    fn definition(
        &self,
        wanted: &EntryPoint<'_>,
    ) -> Result<Option<&'a StmtFunctionDef>, Vec<Diagnostic>> {
        let definitions = self.unit.scopes.bindings_in(TOP, wanted.name).unwrap_or_default();
        let functions = || {
            definitions.iter().filter_map(|definition| match definition.source {
                BindingSource::Function(def) => Some(def),
                _ => None,
            })
        };
        let func =
            functions().filter(|def| decorator::role(&self.unit, def, TOP) == Role::Func).last();
        if let (None, Some(def)) = (func, functions().next()) {
            let fault = self.misfit(def, wanted, "has to be a `@wp.func`");
            let is_named_so = def.decorator_list.iter().any(|decorator| {
                matches!(&decorator.expression, Expr::Attribute(it) if it.attr.as_str() == "func")
            });
            return Err(vec![if is_named_so {
                fault.help("write `import warp as wp` before it")
            } else {
                fault
            }]);
        }
        Ok(func)
    }

    fn misfit(&self, def: &StmtFunctionDef, wanted: &EntryPoint<'_>, what: &str) -> Diagnostic {
        let span = self.unit.span(&def.name);
        let message = format!("`{}` {what}", wanted.name);
        Diagnostic::error(Code::TypeMismatch, span, message)
            .help(format!("write `{}`", wanted.written))
    }
}

fn takes<'a>(
    unit: &Unit<'a>,
    session: &mut Session<'a>,
    module: &mut Module,
    formal: &Formal<'_>,
    param: EntryParam,
) -> bool {
    match (&formal.annotation, param) {
        (Annotation::Handle, param) => param == EntryParam::Handle,
        (_, EntryParam::Handle) => false,
        (annotation, EntryParam::Type(ty)) => {
            let concrete: Result<Type, LoweringError> =
                session.structs.concrete(unit, module, annotation, formal.span);
            !formal.variadic && concrete.is_ok_and(|concrete| concrete == ty)
        }
    }
}
