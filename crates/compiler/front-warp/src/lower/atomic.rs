//! `wp.atomic_add(array, i, value)` and the other atomic operations.

use super::operand::{LoweringResult, Operand, fault};
use super::writer::Writer;
use super::{Expressions, indexed_array};
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::op::{AtomicOp, Value};
use gbxcule_ir::place::{PlaceId, Root};
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::{Scalar, Shape, Type};
use gbxcule_python_names::syntax::{Expr, ExprCall};

/// Returns the operation that a name stands for, and the number of values after the indices.
pub(super) fn operation_of(name: &str) -> Option<(AtomicOp, usize)> {
    Some(match name {
        "atomic_add" => (AtomicOp::Add, 1),
        "atomic_sub" => (AtomicOp::Subtract, 1),
        "atomic_min" => (AtomicOp::Min, 1),
        "atomic_max" => (AtomicOp::Max, 1),
        "atomic_and" => (AtomicOp::And, 1),
        "atomic_or" => (AtomicOp::Or, 1),
        "atomic_xor" => (AtomicOp::Xor, 1),
        "atomic_exch" => (AtomicOp::Exchange, 1),
        "atomic_cas" => (AtomicOp::CompareExchange, 2),
        _ => return None,
    })
}

impl<'a> Expressions<'_, 'a> {
    pub(super) fn atomic(
        &mut self,
        op: AtomicOp,
        operands: usize,
        call: &'a ExprCall,
        span: Span,
    ) -> LoweringResult<Operand<'a>> {
        let arguments: Vec<&'a Expr> = call
            .arguments
            .args
            .iter()
            .chain(call.arguments.keywords.iter().map(|keyword| &keyword.value))
            .collect();
        let Some((array, operands_after)) = arguments.split_first() else {
            let message = "an atomic operation needs an array, indices and a value";
            return fault(Code::WrongArguments, span, message);
        };
        let access = self.access(array)?;
        let indexed = access.ty(&mut self.b).and_then(|ty| self.b.indexed_element(ty));
        if let Some((of, dims)) = indexed {
            let operand = access.read(&mut self.b);
            let indexed = self.b.value(operand, self.span(array))?;
            let dims = usize::from(dims);
            let values = self.atomic_values(operands_after, dims, operands, span)?;
            operands_fit(&mut self.b, op, of, &values[dims..], span)?;
            let element = indexed_array::place(&mut self.b, indexed, &values[..dims]);
            return Ok(changed(&mut self.b, op, element, &values[dims..], span));
        }
        let place = access.spill(&mut self.b, self.unit.span(array))?;
        let array_type = array_type(&self.b, place);
        let (of, dims) = match *self.b.shape(array_type) {
            Shape::Array { of, dims } => (of, usize::from(dims)),
            Shape::Fixed { .. } => {
                let message = "atomic operations on fixed arrays aren't supported";
                return fault(Code::UnsupportedAtomic, span, message);
            }
            _ => {
                let found = self.b.shown(array_type);
                let message = format!("an array is needed here, found `{found}`");
                return fault(Code::TypeMismatch, self.span(array), message);
            }
        };
        let values = self.atomic_values(operands_after, dims, operands, span)?;
        operands_fit(&mut self.b, op, of, &values[dims..], span)?;
        let element = self.b.element(place, &values[..dims]);
        Ok(changed(&mut self.b, op, element, &values[dims..], span))
    }

    /// Indices and values after the array.
    fn atomic_values(
        &mut self,
        expressions: &[&'a Expr],
        dims: usize,
        operands: usize,
        span: Span,
    ) -> LoweringResult<Vec<Value>> {
        if expressions.len() != dims + operands {
            let message = format!(
                "an array of {dims} dimensions needs {dims} indices and {operands} more, found {}",
                expressions.len()
            );
            return fault(Code::WrongArguments, span, message);
        }
        let mut values = Vec::with_capacity(expressions.len());
        for &arg in expressions {
            let operand = self.expr(arg)?;
            values.push(self.b.value(operand, self.span(arg))?);
        }
        for &index in &values[..dims] {
            let ty = self.b.ty(index);
            if !ty.as_scalar().is_some_and(Scalar::is_int) {
                let found = self.b.shown(ty);
                let message = format!("an index is an integer, found `{found}`");
                return fault(Code::TypeMismatch, span, message);
            }
        }
        Ok(values)
    }
}

/// The type of the value that a place holds, or of the array that the place is.
fn array_type<'a>(b: &Writer<'_, 'a>, place: PlaceId) -> Type {
    match b.body().places[place].root {
        Root::Array(value) if b.body().path(place).is_empty() => b.ty(value),
        _ => b.place_type(place),
    }
}

/// Changes an element; returns its old value.
fn changed<'a>(
    b: &mut Writer<'_, 'a>,
    op: AtomicOp,
    element: PlaceId,
    values: &[Value],
    span: Span,
) -> Operand<'a> {
    b.set_span(span);
    Operand::Value(match op {
        AtomicOp::CompareExchange => b.compare_exchange(element, values[0], values[1]),
        _ => b.atomic(op, element, values[0]),
    })
}

fn operands_fit<'a>(
    b: &mut Writer<'_, 'a>,
    op: AtomicOp,
    of: Type,
    values: &[Value],
    span: Span,
) -> LoweringResult<()> {
    for &value in values {
        if b.ty(value) != of {
            let (wanted, found) = (b.shown(of), b.shown(b.ty(value)));
            let fault = Diagnostic::error(
                Code::TypeMismatch,
                span,
                format!("the elements are `{wanted}`, found `{found}`"),
            );
            return Err(fault.help(format!("convert it first: `{wanted}(..)`")).into());
        }
    }
    let fits = match b.module.types.components(of) {
        None => false,
        Some((scalar, count)) => match op {
            AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => scalar.is_int(),
            AtomicOp::CompareExchange => count == 1,
            AtomicOp::Exchange => true,
            _ => scalar != Scalar::Bool,
        },
    };
    if fits {
        return Ok(());
    }
    let found = b.shown(of);
    let message = format!("this atomic operation isn't defined for `{found}`");
    fault(Code::UnsupportedAtomic, span, message)
}
