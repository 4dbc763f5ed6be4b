//! `wp.atomic_add(array, i, value)` and its kin.

use super::{FunctionLowering, LoweringResult, Operand, fault};
use crate::syntax::{Expr, ExprCall};
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::op::{AtomicOp, Value};
use gbxcule_ir::place::{PlaceId, Root};
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::{Scalar, Shape, Type};

/// The operation a name stands for, and how many values follow the indices.
pub(super) fn named(name: &str) -> Option<(AtomicOp, usize)> {
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

impl<'a> FunctionLowering<'_, '_, 'a, '_> {
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
        let Some((array, rest)) = arguments.split_first() else {
            return fault(
                Code::WrongArguments,
                span,
                "an atomic operation needs an array, indices and a value",
            );
        };
        let access = self.access(array)?;
        let indexed = self.access_type(&access).and_then(|ty| self.indexed_element(ty));
        if let Some((of, dims)) = indexed {
            let operand = self.read(access);
            let indexed = self.value(operand, self.span(array))?;
            let dims = usize::from(dims);
            let values = self.atomic_values(rest, dims, operands, span)?;
            self.operands_fit(op, of, &values[dims..], span)?;
            let element = self.indexed_place(indexed, &values[..dims]);
            return Ok(self.changed(op, element, &values[dims..], span));
        }
        let place = self.spill(access, self.span(array))?;
        let array_type = self.array_type(place);
        let (of, dims) = match *self.shape(array_type) {
            Shape::Array { of, dims } => (of, usize::from(dims)),
            Shape::Fixed { .. } => {
                return fault(
                    Code::UnsupportedAtomic,
                    span,
                    "atomic operations on fixed arrays aren't supported",
                );
            }
            _ => {
                let found = self.shown(array_type);
                return fault(
                    Code::TypeMismatch,
                    self.span(array),
                    format!("an array is needed here, found `{found}`"),
                );
            }
        };
        let values = self.atomic_values(rest, dims, operands, span)?;
        self.operands_fit(op, of, &values[dims..], span)?;
        let element = self.b.element(place, &values[..dims]);
        Ok(self.changed(op, element, &values[dims..], span))
    }

    /// The type of what a place holds, or of the array that it is itself.
    fn array_type(&self, place: PlaceId) -> Type {
        match self.b.body().places[place].root {
            Root::Array(value) if self.b.body().path(place).is_empty() => self.ty(value),
            _ => self.b.place_type(place),
        }
    }

    /// Indices and values after the array.
    fn atomic_values(
        &mut self,
        rest: &[&'a Expr],
        dims: usize,
        operands: usize,
        span: Span,
    ) -> LoweringResult<Vec<Value>> {
        if rest.len() != dims + operands {
            let message = format!(
                "an array of {dims} dimensions needs {dims} indices and {operands} more, found {}",
                rest.len()
            );
            return fault(Code::WrongArguments, span, message);
        }
        let mut values = Vec::with_capacity(rest.len());
        for &arg in rest {
            let operand = self.expr(arg)?;
            values.push(self.value(operand, self.span(arg))?);
        }
        for &index in &values[..dims] {
            let ty = self.ty(index);
            if !ty.as_scalar().is_some_and(Scalar::is_int) {
                let found = self.shown(ty);
                return fault(
                    Code::TypeMismatch,
                    span,
                    format!("an index is an integer, found `{found}`"),
                );
            }
        }
        Ok(values)
    }

    /// Changes an element; gives its old value.
    fn changed(
        &mut self,
        op: AtomicOp,
        element: PlaceId,
        values: &[Value],
        span: Span,
    ) -> Operand<'a> {
        self.b.set_span(span);
        Operand::Value(match op {
            AtomicOp::CompareExchange => self.b.compare_exchange(element, values[0], values[1]),
            _ => self.b.atomic(op, element, values[0]),
        })
    }

    fn operands_fit(
        &mut self,
        op: AtomicOp,
        of: gbxcule_ir::ty::Type,
        values: &[Value],
        span: Span,
    ) -> LoweringResult<()> {
        for &value in values {
            if self.ty(value) != of {
                let (wanted, found) = (self.shown(of), self.shown(self.ty(value)));
                let fault = Diagnostic::error(
                    Code::TypeMismatch,
                    span,
                    format!("the elements are `{wanted}`, found `{found}`"),
                );
                return Err(super::LoweringError::Fault(Box::new(
                    fault.help(format!("convert it first: `{wanted}(..)`")),
                )));
            }
        }
        let fits = match self.b.module.types.components(of) {
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
        let found = self.shown(of);
        fault(
            Code::UnsupportedAtomic,
            span,
            format!("this atomic operation isn't defined for `{found}`"),
        )
    }
}
