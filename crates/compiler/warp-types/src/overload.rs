//! Functions that are kernels without a decorator, and the types for which generic kernels are
//! compiled.

use crate::annotation::Annotation;
use crate::decorator::{self, Role};
use crate::signature::Formal;
use crate::type_expr;
use crate::unit::Unit;
use crate::value::KnownValue;
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_python_names::syntax::{self, CallSite, Expr, ExprCall, Stmt, StmtFunctionDef};
use gbxcule_python_names::{BindingSource, Owner, ScopeId};
use gbxcule_python_values::FrameId;

/// Calls of a text that make kernels, or give types and values for them.
pub struct KernelCalls<'a> {
    /// All calls of the text.
    pub sites: Vec<CallSite<'a>>,
}

impl<'a> KernelCalls<'a> {
    /// Reads the calls of a text.
    pub fn read(body: &'a [Stmt]) -> Self {
        Self { sites: syntax::calls(body) }
    }

    /// Functions of which a call makes kernels: `wp.Kernel(func=f)`, `wp.kernel(f)`,
    /// `getkernel(f, ..)`, or a call of a decorator that makes kernels.
    pub fn kernels(&self, unit: &Unit<'a>) -> Vec<(&'a StmtFunctionDef, ScopeId)> {
        let mut kernels: Vec<(&'a StmtFunctionDef, ScopeId)> = Vec::new();
        for CallSite { call, .. } in &self.sites {
            let Some(Expr::Name(name)) = syntax::argument(&call.arguments, "func", 0) else {
                continue;
            };
            let at = syntax::start(*call);
            let visible = |scope: ScopeId| match unit.scopes.owner(scope) {
                Owner::Module => true,
                Owner::Function(def) => (syntax::start(def)..syntax::end(def)).contains(&at),
                Owner::Class(_) => false,
            };
            let named = unit.scopes.functions().iter().rev().find(|(def, scope)| {
                let is_main_file = unit.scopes.text(*scope) == 0;
                is_main_file && *def.name == *name.id && syntax::start(*def) < at && visible(*scope)
            });
            let maker = called(call);
            let is_made = || {
                matches!(maker, "Kernel" | "kernel")
                    || maker.contains("getkernel")
                    || decorator::role_given_by(unit, &call.func, unit.scopes.at(at))
                        == Some(Role::Kernel)
            };
            if let Some(&(def, scope)) = named
                && decorator::role(unit, def, scope) == Role::Python
                && is_made()
                && !kernels.iter().any(|(other, _)| std::ptr::eq(*other, def))
            {
                kernels.push((def, scope));
            }
        }
        kernels
    }

    /// The types for which a generic kernel is compiled, one list for each overload: the user's
    /// types, or the text's types if the user gives none.
    pub fn overloads(
        &self,
        unit: &Unit<'a>,
        def: &'a StmtFunctionDef,
        formals: &[Formal<'a>],
    ) -> Result<Vec<Vec<Annotation>>, Box<Diagnostic>> {
        if let Some((text, place)) = unit.files.types_of(&def.name) {
            return Ok(vec![given_types(unit, *text, place, &def.name, formals)?]);
        }
        let mut overloads: Vec<Vec<Annotation>> = Vec::new();
        let mut add = |types: Option<Vec<Annotation>>| {
            overloads.extend(types.filter(|types| !overloads.contains(types)));
        };
        for site in self.sites.iter().filter(|site| called(site.call) == "overload") {
            let [Expr::Name(name), types, ..] = &site.call.arguments.args[..] else { continue };
            if name.id != def.name.id {
                continue;
            }
            let at = unit.scopes.at(syntax::start(site.call));
            for round in unit.rounds(site, at, FrameId::NONE)? {
                add(unit.frames.run(round, || types_of(unit, types, formals, at)));
            }
        }
        Ok(overloads)
    }
}

/// Types that the user gives for a kernel.
fn given_types<'a>(
    unit: &Unit<'a>,
    text: usize,
    place: &str,
    kernel: &str,
    formals: &[Formal<'a>],
) -> Result<Vec<Annotation>, Box<Diagnostic>> {
    let root = unit.scopes.root(text);
    let binding = unit.scopes.bindings_in(root, place).and_then(|definitions| definitions.last());
    let Some(BindingSource::Value(types)) = binding.map(|it| it.source) else {
        unreachable!("the values of a user are bound by name in a text of their own");
    };
    types_of(unit, types, formals, root).ok_or_else(|| {
        let names: Vec<&str> = formals.iter().map(|formal| formal.name).collect();
        let message = format!("these aren't types that the parameters of `{kernel}` take");
        let help = format!("it takes a list of types for ({})", names.join(", "));
        let fault = Diagnostic::error(Code::GenericKernel, unit.span(types), message);
        Box::new(fault.help(help + ", or a dictionary for those that are generic"))
    })
}

/// Types as `wp.overload` takes them: a list for all parameters, or a dictionary by their
/// names.
fn types_of<'a>(
    unit: &Unit<'a>,
    expr: &'a Expr,
    formals: &[Formal<'a>],
    scope: ScopeId,
) -> Option<Vec<Annotation>> {
    let types = match expr {
        Expr::List(list) => list
            .elts
            .iter()
            .map(|it| type_expr::annotation(unit, it, scope).ok())
            .collect::<Option<_>>()?,
        Expr::Dict(dict) => {
            let of = |formal: &Formal<'a>| {
                let mut items = dict.items.iter();
                let named = items.find(|item| {
                    let key = item.key.as_ref().map(|key| unit.known(key, scope));
                    matches!(key, Some(Ok(KnownValue::Text(text))) if &*text == formal.name)
                });
                match named {
                    Some(item) => type_expr::annotation(unit, &item.value, scope).ok(),
                    None => Some(formal.annotation.clone()),
                }
            };
            formals.iter().map(of).collect::<Option<_>>()?
        }
        _ => return None,
    };
    fitting(types, formals)
}

/// Returns the types if there is one type for each parameter, and each parameter takes its type.
pub(crate) fn fitting(types: Vec<Annotation>, formals: &[Formal<'_>]) -> Option<Vec<Annotation>> {
    let takes =
        |(formal, of): (&Formal<'_>, &Annotation)| !of.is_generic() && formal.annotation.admits(of);
    (types.len() == formals.len() && formals.iter().zip(&types).all(takes)).then_some(types)
}

/// Returns the last name of the function that is called.
pub fn called(call: &ExprCall) -> &str {
    match &*call.func {
        Expr::Name(name) => name.id.as_str(),
        Expr::Attribute(attribute) => attribute.attr.as_str(),
        _ => "",
    }
}
