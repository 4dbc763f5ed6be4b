//! Parameters of functions and fields of structs, read from the text.

use crate::annotation::{Annotation, StructKey};
use crate::decorator::{self, Role};
use crate::type_expr;
use crate::unit::Unit;
use crate::value::OverloadSet;
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::source::Span;
use gbxcule_python_names::ScopeId;
use gbxcule_python_names::syntax::{Expr, Stmt, StmtFunctionDef};
use gbxcule_python_names::{BindingSource, Owner};

/// A parameter as it is written.
#[derive(Clone)]
pub struct Formal<'a> {
    /// Name.
    pub name: &'a str,
    /// Type, which may be generic.
    pub annotation: Annotation,
    /// Value in a call without this argument.
    pub default: Option<&'a Expr>,
    /// Place in the text.
    pub span: Span,
    /// `*args`: takes all further arguments.
    pub variadic: bool,
}

/// A field of a struct as it is written.
pub struct FieldSpec<'a> {
    /// Name.
    pub name: &'a str,
    /// Type.
    pub annotation: Annotation,
    /// Place in the text.
    pub span: Span,
}

/// The parameters of a function that stands in `scope`.
pub fn formals<'a>(
    unit: &Unit<'a>,
    def: &'a StmtFunctionDef,
    scope: ScopeId,
) -> Result<Vec<Formal<'a>>, Vec<Diagnostic>> {
    if def.is_async {
        let message = "`async def` isn't part of the dialect";
        let span = unit.span(&def.name);
        return Err(vec![Diagnostic::error(Code::UnsupportedSyntax, span, message)]);
    }
    let mut formals = Vec::new();
    let mut faults = Vec::new();
    for parameter in &def.parameters {
        let default = parameter.default();
        let variadic = parameter.is_variadic();
        let parameter = parameter.as_parameter();
        let annotation = match &parameter.annotation {
            Some(written) => type_expr::annotation(unit, written, scope),
            None if variadic => Ok(Annotation::Any),
            None => {
                let message = format!("`{}` needs an annotation", parameter.name);
                let span = unit.span(parameter);
                Err(Box::new(Diagnostic::error(Code::MissingAnnotation, span, message)))
            }
        };
        match annotation {
            Ok(annotation) => formals.push(Formal {
                name: parameter.name.as_str(),
                annotation,
                default,
                span: unit.span(parameter),
                variadic,
            }),
            Err(fault) => faults.push(*fault),
        }
    }
    if faults.is_empty() { Ok(formals) } else { Err(faults) }
}

/// The definitions of a family, in order; the flag is true for a definition under a condition.
pub fn overloads<'a>(unit: &Unit<'a>, family: OverloadSet<'a>) -> Vec<(&'a StmtFunctionDef, bool)> {
    let scope = family.home;
    let definitions = unit.scopes.bindings_in(scope, family.name).unwrap_or_default();
    definitions
        .iter()
        .filter(|definition| family.before.is_none_or(|before| definition.at < before))
        .map(|definition| (definition, unit.condition(definition.guard, scope)))
        .filter(|(_, holds)| *holds != Some(false))
        .filter_map(|(definition, holds)| match definition.source {
            BindingSource::Function(def)
                if matches!(decorator::role(unit, def, scope), Role::Func | Role::Native) =>
            {
                Some((def, holds.is_none()))
            }
            _ => None,
        })
        .collect()
}

/// Name, place and fields of a struct.
pub fn fields<'a>(
    unit: &Unit<'a>,
    key: StructKey,
) -> Result<(&'a str, Span, Vec<FieldSpec<'a>>), Box<Diagnostic>> {
    let Owner::Class(def) = unit.scopes.owner(key.class) else {
        return Ok(("", Span::NONE, Vec::new()));
    };
    let mut fields = Vec::new();
    for stmt in &def.body {
        let Stmt::AnnAssign(field) = stmt else { continue };
        let Expr::Name(name) = &*field.target else { continue };
        let annotation = unit
            .frames
            .run(key.frame, || type_expr::annotation(unit, &field.annotation, key.class))?;
        fields.push(FieldSpec { name: name.id.as_str(), annotation, span: unit.span(field) });
    }
    Ok((def.name.as_str(), unit.span(&def.name), fields))
}
