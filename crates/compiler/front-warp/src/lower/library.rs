//! Calls of a library's functions, and its handles as arguments.

use super::Expressions;
use super::call::CallArgument;
use super::operand::{LoweringResult, Operand, fault};
use super::writer::Writer;
use gbxcule_ir::constant::Literal;
use gbxcule_ir::diagnostic::Code;
use gbxcule_ir::function::{Param, PassMode};
use gbxcule_ir::op::{Arg, Value};
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::{Scalar, Shape, Type};
use gbxcule_python_names::syntax::ExprCall;
use gbxcule_warp_types::library::Library;
use gbxcule_warp_types::value::{KnownValue, WarpValue};

impl<'a> Expressions<'_, 'a> {
    /// `gb.name(machine, ..)`
    pub(super) fn call_library(
        &mut self,
        library: &'a Library,
        name: &str,
        call: &'a ExprCall,
        span: Span,
    ) -> LoweringResult<Operand<'a>> {
        let written = self.unit.quote(self.span(&call.func));
        let Some(function) = library.function(name) else {
            let fault = library.unknown(name, written, self.span(&call.func));
            return Err(fault.into());
        };
        let given = self.call_arguments(&call.arguments)?;
        let params = self.b.module.functions[function].params.clone();
        let asked: Vec<&Param> =
            params.iter().filter(|param| library.part(param).is_none()).collect();
        let Some((first, values)) = matched(&asked, &given) else {
            return misused(library, written, &asked, span);
        };
        let mut values = values.into_iter();
        let mut args = Vec::with_capacity(params.len());
        for param in &params {
            args.push(match library.part(param) {
                Some(part) => handle_part(&mut self.b, first + part, param.mode),
                None => {
                    match values.next().map(|value| {
                        let value = placed(library, value, param, &asked, span)?;
                        library_value(&mut self.b, value, param.ty, span)
                    }) {
                        Some(value) => Arg::Value(value?),
                        None => return misused(library, written, &asked, span),
                    }
                }
            });
        }
        self.b.set_span(span);
        Ok(Operand::Value(self.b.call(function, &args)))
    }
}

/// A part of a handle, as an argument.
fn handle_part<'a>(b: &mut Writer<'_, 'a>, position: u32, mode: PassMode) -> Arg {
    match mode {
        PassMode::Value => Arg::Value(b.arg(position)),
        PassMode::Shared | PassMode::Mutable => Arg::Place(b.param_place(position)),
    }
}

/// All parts of a handle whose first is the parameter `from`, as parameters and arguments of a
/// call.
pub(super) fn handle_parts<'a>(
    b: &mut Writer<'_, 'a>,
    library: &Library,
    from: u32,
) -> Vec<(Param, Arg)> {
    let parts = library.parts.iter().zip(from..);
    parts.map(|(part, at)| (part.clone(), handle_part(b, at, part.mode))).collect()
}

/// Returns the handle, and the argument of each other parameter.
fn matched<'a>(
    asked: &[&Param],
    given: &[CallArgument<'a>],
) -> Option<(u32, Vec<CallArgument<'a>>)> {
    let ((None, Operand::KnownValue(KnownValue::Dialect(WarpValue::Handle(first))), _), others) =
        given.split_first()?
    else {
        return None;
    };
    let positional = others.iter().filter(|(keyword, ..)| keyword.is_none()).count();
    let value = |(at, param): (usize, &&Param)| {
        let by_name = || others.iter().find(|(keyword, ..)| *keyword == Some(param.name.as_str()));
        if at < positional { others.get(at) } else { by_name() }.cloned()
    };
    let values: Option<Vec<CallArgument<'a>>> = asked.iter().enumerate().map(value).collect();
    values.filter(|_| others.len() == asked.len()).map(|values| (*first, values))
}

fn misused<'a>(
    library: &Library,
    written: &str,
    asked: &[&Param],
    span: Span,
) -> LoweringResult<Operand<'a>> {
    let prefix = written.rsplit_once('.').map_or(String::new(), |(base, _)| format!("{base}."));
    let mut wanted = vec![format!("a `{prefix}{}`", library.handle)];
    wanted.extend(asked.iter().map(|param| format!("`{}`", param.name)));
    fault(Code::WrongArguments, span, format!("`{written}` takes {}", wanted.join(", ")))
}

/// Replaces a label by its address.
fn placed<'a>(
    library: &Library,
    (keyword, operand, expr): CallArgument<'a>,
    param: &Param,
    asked: &[&Param],
    call: Span,
) -> LoweringResult<CallArgument<'a>> {
    let operand = match operand {
        Operand::KnownValue(KnownValue::Text(label)) if param.name == "address" => {
            let takes_bank = asked.iter().any(|param| param.name == "bank");
            let address = library.address(&label, takes_bank, call)?;
            Operand::KnownValue(KnownValue::Int(address))
        }
        operand => operand,
    };
    Ok((keyword, operand, expr))
}

/// Converts an argument to a parameter's type: any integer, or a truth value or array of the type.
fn library_value<'a>(
    b: &mut Writer<'_, 'a>,
    (_, operand, expr): CallArgument<'a>,
    ty: Type,
    call: Span,
) -> LoweringResult<Value> {
    let span = expr.map_or(call, |expr| b.unit().span(expr));
    let wanted = match *b.shape(ty) {
        Shape::Scalar(wanted) if wanted.is_int() => wanted,
        _ => {
            let value = b.value(operand, span)?;
            let own = b.ty(value);
            if own == ty {
                return Ok(value);
            }
            let (wanted, found) = (b.shown(ty), b.shown(own));
            let message = format!("a `{wanted}` is needed here, found `{found}`");
            return fault(Code::TypeMismatch, span, message);
        }
    };
    if let Operand::KnownValue(KnownValue::Int(number)) = operand {
        let literal = Literal::int(wanted, number);
        if literal.as_int() != Some(number) {
            let shown = b.shown(ty);
            return fault(Code::IntegerTooLarge, span, format!("{number} isn't a `{shown}`"));
        }
        return Ok(b.literal(literal));
    }
    let value = b.value(operand, span)?;
    let own = b.ty(value);
    if own.as_scalar().is_some_and(Scalar::is_int) {
        return Ok(if own == ty { value } else { b.convert(value, wanted) });
    }
    let found = b.shown(own);
    fault(Code::TypeMismatch, span, format!("an integer is needed here, found `{found}`"))
}
