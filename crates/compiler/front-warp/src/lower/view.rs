//! Elements, views and extents of arrays.

use super::Expressions;
use super::access::Access;
use super::operand::{LoweringResult, Operand, fault};
use super::writer::Writer;
use gbxcule_ir::builtin::Native;
use gbxcule_ir::diagnostic::Code;
use gbxcule_ir::op::{Selector, Value};
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::{Scalar, Shape};
use gbxcule_python_names::syntax::{Expr, ExprSlice};
use gbxcule_warp_types::value::KnownValue;

/// One index of a subscript.
enum Index<'a> {
    At(Value),
    Slice(&'a ExprSlice),
}

/// Checks that there are no more indices than dimensions.
pub(super) fn check_count(indices: &[&Expr], dims: u8, span: Span) -> LoweringResult<()> {
    if indices.len() > usize::from(dims) {
        let message = format!("{} indices for an array of {dims} dimensions", indices.len());
        return fault(Code::WrongArguments, span, message);
    }
    Ok(())
}

impl<'a> Expressions<'_, 'a> {
    pub(super) fn extent_at(
        &mut self,
        array: Value,
        indices: &[&'a Expr],
        expr: &'a Expr,
    ) -> LoweringResult<Value> {
        let extents = match *self.b.shape(self.b.ty(array)) {
            Shape::Array { dims, .. } => usize::from(dims),
            _ => 0,
        };
        let [index] = indices else {
            return fault(Code::WrongArguments, self.span(expr), "a shape has one index");
        };
        let operand = self.expr(index)?;
        if let Operand::KnownValue(KnownValue::Int(at)) = operand {
            // NVIDIA Warp stores four lengths whatever the number of dimensions; the lengths of
            // missing dimensions are 0.
            let wrapped = if at < 0 { at + extents as i128 } else { at };
            return match usize::try_from(wrapped) {
                Ok(at) if at < extents => Ok(self.b.extent(array, at as u8)),
                Ok(at) if at < 4 => Ok(self.b.i32(0)),
                _ => fault(
                    Code::IndexOutOfRange,
                    self.span(expr),
                    format!("the array has {extents} dimensions"),
                ),
            };
        }
        let index = self.b.value(operand, self.span(expr))?;
        let index = self.b.convert(index, Scalar::I32);
        let mut result = self.b.i32(0);
        for dim in (0..extents).rev() {
            let (number, extent) = (self.b.i32(dim as i32), self.b.extent(array, dim as u8));
            let here = self.b.eq(index, number);
            result = self.b.select(here, extent, result);
        }
        Ok(result)
    }

    pub(super) fn array_index(
        &mut self,
        base: Access<'a>,
        dims: u8,
        indices: &[&'a Expr],
        expr: &'a Expr,
    ) -> LoweringResult<Access<'a>> {
        let span = self.span(expr);
        check_count(indices, dims, span)?;
        let mut selectors = Vec::with_capacity(indices.len());
        for &index in indices {
            selectors.push(match index {
                Expr::Slice(slice) => Index::Slice(slice),
                index => Index::At(self.index_value(index)?),
            });
        }
        let all: Option<Vec<Value>> = selectors
            .iter()
            .map(|selector| match selector {
                Index::At(value) => Some(*value),
                Index::Slice(_) => None,
            })
            .collect();
        if let Some(values) = all
            && values.len() == usize::from(dims)
        {
            let place = base.spill(&mut self.b, span)?;
            return Ok(Access::Place(self.b.element(place, &values)));
        }
        let array = base.read(&mut self.b);
        let array = self.b.value(array, span)?;
        let mut parts = Vec::with_capacity(selectors.len());
        for (dim, selector) in selectors.into_iter().enumerate() {
            parts.push(match selector {
                Index::At(value) => Selector::At(value),
                Index::Slice(slice) => self.range_selector(array, dim as u8, slice)?,
            });
        }
        Ok(Access::Operand(Operand::Value(self.b.view(array, &parts))))
    }

    /// `start:stop:step` of an array's dimension: bounds are clamped as in Python.
    fn range_selector(
        &mut self,
        array: Value,
        dim: u8,
        slice: &'a ExprSlice,
    ) -> LoweringResult<Selector> {
        let extent = self.b.extent(array, dim);
        let step = match slice.step.as_deref() {
            Some(step) => self.index_value(step)?,
            None => self.b.i32(1),
        };
        let step = self.b.convert(step, Scalar::I32);
        let zero = self.b.i32(0);
        let backwards = match self.b.body().integer(step) {
            Some(0) => {
                let span = self.unit.span(slice);
                return fault(Code::WrongArguments, span, "the step of a slice can't be 0");
            }
            Some(step) => Direction::Constant(step < 0),
            None => Direction::Runtime(self.b.lt(step, zero)),
        };
        let one = self.b.i32(1);
        let last = self.b.sub(extent, one);
        let minus = self.b.i32(-1);
        let (low, high) = (
            backwards.choose(&mut self.b, minus, zero),
            backwards.choose(&mut self.b, last, extent),
        );
        let start = match slice.lower.as_deref() {
            Some(bound) => self.slice_bound(bound, extent, low, high)?,
            None => backwards.choose(&mut self.b, last, zero),
        };
        let stop = match slice.upper.as_deref() {
            Some(bound) => self.slice_bound(bound, extent, low, high)?,
            None => backwards.choose(&mut self.b, minus, extent),
        };
        let distance = self.b.sub(stop, start);
        let len = if self.b.body().integer(step) == Some(1) {
            distance
        } else {
            let rounding = match backwards {
                Direction::Constant(true) => self.b.add(step, one),
                Direction::Constant(false) => self.b.sub(step, one),
                Direction::Runtime(condition) => {
                    let (more, less) = (self.b.add(step, one), self.b.sub(step, one));
                    self.b.select(condition, more, less)
                }
            };
            let sum = self.b.add(distance, rounding);
            self.b.div(sum, step)
        };
        Ok(Selector::Range { start, len, step })
    }

    fn slice_bound(
        &mut self,
        bound: &'a Expr,
        extent: Value,
        low: Value,
        high: Value,
    ) -> LoweringResult<Value> {
        let value = self.index_value(bound)?;
        let value = self.b.convert(value, Scalar::I32);
        let value = match self.b.body().integer(value) {
            Some(number) if number >= 0 => value,
            Some(_) => self.b.add(value, extent),
            None => {
                let zero = self.b.i32(0);
                let negative = self.b.lt(value, zero);
                let wrapped = self.b.add(value, extent);
                self.b.select(negative, wrapped, value)
            }
        };
        let raised = self.b.native(Native::Max, &[value, low]);
        Ok(self.b.native(Native::Min, &[raised, high]))
    }
}

/// Direction of a slice, which is known from the text or only at run time; true means from the
/// end to the beginning.
#[derive(Clone, Copy)]
enum Direction {
    Constant(bool),
    Runtime(Value),
}

impl Direction {
    fn choose(self, b: &mut Writer<'_, '_>, accept: Value, reject: Value) -> Value {
        match self {
            Self::Constant(true) => accept,
            Self::Constant(false) => reject,
            Self::Runtime(condition) => b.select(condition, accept, reject),
        }
    }
}
