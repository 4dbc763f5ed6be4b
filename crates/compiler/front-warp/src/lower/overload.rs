//! Finds the overload of a function that takes the arguments of a call.

use super::call::CallArgument;
use super::operand::{LoweringError, LoweringResult, Operand, fault};
use super::writer::Writer;
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::source::Span;
use gbxcule_python_names::ScopeId;
use gbxcule_python_names::syntax::StmtFunctionDef;
use gbxcule_warp_types::annotation::Annotation;
use gbxcule_warp_types::signature::{self, Formal};
use gbxcule_warp_types::value::{KnownValue, OverloadSet, WarpValue};

/// An overload whose parameters take the arguments.
pub(super) struct MatchingOverload<'a> {
    pub(super) def: &'a StmtFunctionDef,
    pub(super) formals: Vec<Formal<'a>>,
    /// Argument of each formal parameter.
    pub(super) passed: Vec<CallArgument<'a>>,
}

/// The overload that takes the arguments. Overloads with known types come first, then generic
/// ones.
pub(super) fn matching<'a>(
    b: &mut Writer<'_, 'a>,
    family: OverloadSet<'a>,
    given: &[CallArgument<'a>],
    span: Span,
) -> LoweringResult<MatchingOverload<'a>> {
    let OverloadSet { home, name, .. } = family;
    let defs = signature::overloads(b.unit(), family);
    let (mut known, mut generic) = (None, None);
    let mut taken: Vec<String> = Vec::new();
    for (def, conditional) in defs.into_iter().rev() {
        let formals = match signature::formals(b.unit(), def, home) {
            Ok(formals) => formals,
            Err(faults) => {
                let report = &mut b.session().report;
                faults.into_iter().for_each(|fault| report.add(fault));
                return Err(LoweringError::Reported);
            }
        };
        check_supported(&formals, name, span)?;
        let names: Vec<String> = formals.iter().map(|formal| written_type(b, formal)).collect();
        taken.push(format!("({})", names.join(", ")));
        let Some(passed) = match_arguments(b, &formals, given, home)? else { continue };
        if !fits(b, &formals, &passed)? {
            continue;
        }
        let overload = MatchingOverload { def, formals, passed };
        let is_generic = overload.formals.iter().any(|formal| formal.annotation.is_generic());
        let kind = if is_generic { &mut generic } else { &mut known };
        match kind {
            None => *kind = Some((overload, conditional)),
            // The last definition counts if the call can't mean any other definition.
            Some((_, true)) => {
                let what =
                    format!("which definition of `{name}` counts is only known when Python runs");
                return fault(Code::NeedsPythonEvaluation, span, what);
            }
            Some((_, false)) => {}
        }
    }
    if let Some((overload, _)) = known.or(generic) {
        return Ok(overload);
    }
    let arguments: Vec<String> =
        given.iter().map(|(_, operand, _)| shown_argument(b, operand)).collect();
    let message = if arguments.is_empty() {
        format!("`{name}` needs arguments")
    } else {
        format!("no `{name}` takes {}", arguments.join(", "))
    };
    let fault = Diagnostic::error(Code::TypeMismatch, span, message);
    Err(fault.help(format!("it takes {}", taken.join(" or "))).into())
}

/// Argument of each formal parameter; `None` if the arguments don't fit in number or name.
fn match_arguments<'a>(
    b: &mut Writer<'_, 'a>,
    formals: &[Formal<'a>],
    given: &[CallArgument<'a>],
    home: ScopeId,
) -> LoweringResult<Option<Vec<CallArgument<'a>>>> {
    let positional = given.iter().filter(|(keyword, ..)| keyword.is_none()).count();
    if given.len() > formals.len() {
        return Ok(None);
    }
    let mut passed = Vec::with_capacity(formals.len());
    let mut used = 0;
    for (position, formal) in formals.iter().enumerate() {
        let by_keyword = given.iter().find(|(keyword, ..)| *keyword == Some(formal.name));
        let one = if position < positional { given.get(position) } else { by_keyword };
        match (one, formal.default) {
            (Some(one), _) => {
                used += 1;
                passed.push(one.clone());
            }
            (None, Some(default)) => {
                let default_value = b.unit().known(default, home)?;
                let default_value = match (&formal.annotation, default_value.as_f64()) {
                    // A default takes the parameter's type.
                    (Annotation::Scalar(scalar), Some(_)) => {
                        default_value.literal(*scalar).map_or(default_value, KnownValue::Typed)
                    }
                    _ => default_value,
                };
                passed.push((None, Operand::KnownValue(default_value), None));
            }
            (None, None) => return Ok(None),
        }
    }
    Ok((used == given.len()).then_some(passed))
}

/// An argument's type, as a message shows it.
fn shown_argument<'a>(b: &mut Writer<'_, 'a>, operand: &Operand<'a>) -> String {
    if let Operand::Tile(tile) = operand {
        return format!("`{}`", tile.shape().shown(b));
    }
    match b.operand_type(operand) {
        Some(ty) => format!("`{}`", b.shown(ty)),
        None => b
            .unit()
            .dialect
            .library
            .filter(|_| {
                matches!(operand, Operand::KnownValue(KnownValue::Dialect(WarpValue::Handle(_))))
            })
            .map_or_else(
                || "a function, type or tuple".to_owned(),
                |library| format!("`{}`", library.handle),
            ),
    }
}

/// A parameter in the form in which its text writes it.
fn written_type<'a>(b: &Writer<'_, 'a>, formal: &Formal<'a>) -> String {
    match b.unit().quote(formal.span) {
        "" => formal.name.to_owned(),
        text => text.to_owned(),
    }
}

fn fits<'a>(
    b: &mut Writer<'_, 'a>,
    formals: &[Formal<'a>],
    passed: &[CallArgument<'a>],
) -> LoweringResult<bool> {
    for (formal, (_, operand, _)) in formals.iter().zip(passed) {
        b.define_structs(&formal.annotation)?;
        if !takes(b, &formal.annotation, operand) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn takes<'a>(b: &mut Writer<'_, 'a>, annotation: &Annotation, operand: &Operand<'a>) -> bool {
    if let Some(ty) = b.operand_type(operand) {
        return *annotation != Annotation::Callable && b.takes(annotation, ty);
    }
    match operand {
        Operand::KnownValue(
            KnownValue::Dialect(WarpValue::Function(..) | WarpValue::Gradient(_))
            | KnownValue::Member(_),
        ) => {
            matches!(annotation, Annotation::Callable | Annotation::Any)
        }
        Operand::KnownValue(KnownValue::Dialect(WarpValue::Type(_))) => {
            *annotation == Annotation::Any
        }
        Operand::KnownValue(KnownValue::Dialect(WarpValue::Handle(_))) => {
            *annotation == Annotation::Handle
        }
        Operand::Tile(tile) => {
            let known = |class| b.structs().known(class);
            let shape = tile.shape();
            annotation.takes_tile(shape.of, &shape.extents, &b.module.types, &known)
        }
        operand => match (annotation, b.tuple_parts(operand)) {
            (Annotation::Any | Annotation::Tuple(None), Some(_)) => true,
            (Annotation::Tuple(Some(of)), Some(parts)) => {
                of.len() == parts.len()
                    && of.iter().zip(&parts).all(|(of, part)| takes(b, of, part))
            }
            _ => false,
        },
    }
}

/// Refuses a definition with parameters that no call can pass.
fn check_supported(formals: &[Formal<'_>], name: &str, span: Span) -> LoweringResult<()> {
    if let Some((code, what)) = formals.iter().find_map(|formal| formal.annotation.unsupported()) {
        return fault(code, span, format!("{what} aren't supported: `{name}` takes some"));
    }
    if formals.iter().any(|formal| formal.variadic) {
        let message = format!("`{name}` takes any number of arguments");
        return fault(Code::UnsupportedVariadic, span, message);
    }
    Ok(())
}
