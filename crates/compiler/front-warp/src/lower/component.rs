//! Components, rows and slices of vectors and matrices.

use super::access::Access;
use super::{FunctionLowering, LoweringResult, Operand, fault};
use crate::constant::KnownValue;
use crate::syntax::{Expr, ExprSlice};
use gbxcule_ir::diagnostic::Code;
use gbxcule_ir::op::Value;
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::Scalar;

impl<'a> FunctionLowering<'_, '_, 'a, '_> {
    pub(super) fn vector_index(
        &mut self,
        base: Access<'a>,
        len: u32,
        indices: &[&'a Expr],
        expr: &'a Expr,
    ) -> LoweringResult<Access<'a>> {
        let span = self.span(expr);
        let [index] = indices else {
            return fault(Code::WrongArguments, span, "a vector has one index");
        };
        if let Expr::Slice(slice) = index {
            let positions = self.constant_slice(slice, len)?;
            let value = self.read(base);
            let value = self.value(value, span)?;
            return self
                .gather_components(value, &positions, span)
                .map(|v| Access::Operand(Operand::Value(v)));
        }
        match self.component_index(index, len)? {
            Ok(at) => self.component(base, at, span),
            Err(index) => {
                let place = self.spill(base, span)?;
                Ok(Access::Place(self.b.at(place, index)))
            }
        }
    }

    /// A component's index: a number known to be inside, or a value.
    fn component_index(&mut self, index: &'a Expr, len: u32) -> LoweringResult<Result<u32, Value>> {
        let operand = self.expr(index)?;
        let known = match &operand {
            Operand::KnownValue(KnownValue::Int(at)) => Some(*at),
            Operand::KnownValue(KnownValue::Typed(literal)) => literal.as_int(),
            _ => None,
        };
        if let Some(at) = known {
            let wrapped = if at < 0 { at + i128::from(len) } else { at };
            return match u32::try_from(wrapped) {
                Ok(at) if at < len => Ok(Ok(at)),
                _ => fault(
                    Code::IndexOutOfRange,
                    self.span(index),
                    format!("index {at} of {len} components"),
                ),
            };
        }
        let value = self.value(operand, self.span(index))?;
        let ty = self.ty(value);
        if !ty.as_scalar().is_some_and(Scalar::is_int) {
            let found = self.shown(ty);
            return fault(
                Code::TypeMismatch,
                self.span(index),
                format!("an index is an integer, found `{found}`"),
            );
        }
        Ok(Err(value))
    }

    fn constant_slice(&mut self, slice: &'a ExprSlice, len: u32) -> LoweringResult<Vec<u32>> {
        let span = self.unit.span(slice);
        let bound = |this: &mut Self, part: Option<&'a Expr>| -> LoweringResult<Option<i128>> {
            let Some(part) = part else { return Ok(None) };
            match this.expr(part)? {
                Operand::KnownValue(KnownValue::Int(at)) => Ok(Some(at)),
                _ => fault(
                    Code::NeedsConstant,
                    this.span(part),
                    "a slice of components has numbers written in the text",
                ),
            }
        };
        let lower = bound(self, slice.lower.as_deref())?;
        let upper = bound(self, slice.upper.as_deref())?;
        let step = bound(self, slice.step.as_deref())?.unwrap_or(1);
        if step == 0 {
            return fault(Code::WrongArguments, span, "the step of a slice can't be 0");
        }
        let len = i128::from(len);
        let (low, high) = if step > 0 { (0, len) } else { (-1, len - 1) };
        let inside = |at: i128| (if at < 0 { at + len } else { at }).clamp(low, high);
        let start = lower.map_or(if step > 0 { 0 } else { len - 1 }, inside);
        let stop = upper.map_or(if step > 0 { len } else { -1 }, inside);
        let mut positions = Vec::new();
        let mut next = start;
        while if step > 0 { next < stop } else { next > stop } {
            positions.push(next as u32);
            next += step;
        }
        if positions.is_empty() {
            return fault(Code::WrongArguments, span, "an empty slice is no vector");
        }
        Ok(positions)
    }

    /// A vector of some components.
    fn gather_components(
        &mut self,
        value: Value,
        positions: &[u32],
        span: Span,
    ) -> LoweringResult<Value> {
        let Some((scalar, _)) = self.b.module.types.components(self.ty(value)) else {
            return fault(Code::TypeMismatch, span, "this has no components");
        };
        let parts: Vec<Value> = positions.iter().map(|&at| self.b.extract(value, at)).collect();
        let ty = self.b.module.types.vector(parts.len() as u16, scalar);
        Ok(self.b.construct(ty, &parts))
    }

    pub(super) fn matrix_index(
        &mut self,
        base: Access<'a>,
        rows: u32,
        cols: u32,
        indices: &[&'a Expr],
        expr: &'a Expr,
    ) -> LoweringResult<Access<'a>> {
        let span = self.span(expr);
        let sliced = indices.iter().any(|index| matches!(index, Expr::Slice(_)));
        match indices {
            [row, col] if !sliced => {
                let row = self.component_index(row, rows)?;
                let col = self.component_index(col, cols)?;
                if let (Ok(row), Ok(col)) = (row, col) {
                    return self.component(base, row * cols + col, span);
                }
                let place = self.spill(base, span)?;
                let row = match row {
                    Ok(at) => self.b.i32(at as i32),
                    Err(index) => index,
                };
                let place = self.b.at(place, row);
                match col {
                    Ok(at) => Ok(Access::Place(self.b.component(place, at))),
                    Err(index) => Ok(Access::Place(self.b.at(place, index))),
                }
            }
            [row] if !sliced => {
                let row = self.component_index(row, rows)?;
                let place = self.spill(base, span)?;
                let row = match row {
                    Ok(at) => self.b.i32(at as i32),
                    Err(index) => index,
                };
                Ok(Access::Place(self.b.at(place, row)))
            }
            [row] | [row, _] => {
                let rows = self.positions(row, rows)?;
                let columns = match indices.get(1) {
                    Some(col) => self.positions(col, cols)?,
                    None => ((0..cols).collect(), true),
                };
                let value = self.read(base);
                let value = self.value(value, span)?;
                let part = self.matrix_part(value, cols, rows, columns, span)?;
                Ok(Access::Operand(Operand::Value(part)))
            }
            _ => fault(Code::WrongArguments, span, "a matrix has one or two indices"),
        }
    }

    /// Some rows and columns of a matrix with so many columns: a matrix if both dimensions stay,
    /// else a vector.
    fn matrix_part(
        &mut self,
        value: Value,
        cols: u32,
        (row_at, row_keeps): (Vec<u32>, bool),
        (col_at, col_keeps): (Vec<u32>, bool),
        span: Span,
    ) -> LoweringResult<Value> {
        let all: Vec<u32> =
            row_at.iter().flat_map(|r| col_at.iter().map(move |c| r * cols + c)).collect();
        if !(row_keeps && col_keeps) {
            return self.gather_components(value, &all, span);
        }
        let Some((scalar, _)) = self.b.module.types.components(self.ty(value)) else {
            return fault(Code::TypeMismatch, span, "this has no components");
        };
        let parts: Vec<Value> = all.iter().map(|&at| self.b.extract(value, at)).collect();
        let ty = self.b.module.types.matrix(row_at.len() as u16, col_at.len() as u16, scalar);
        Ok(self.b.construct(ty, &parts))
    }

    /// Rows or columns by a slice or number, and whether the dimension stays.
    pub(super) fn positions(
        &mut self,
        index: &'a Expr,
        len: u32,
    ) -> LoweringResult<(Vec<u32>, bool)> {
        if let Expr::Slice(slice) = index {
            return Ok((self.constant_slice(slice, len)?, true));
        }
        match self.component_index(index, len)? {
            Ok(at) => Ok((vec![at], false)),
            Err(_) => fault(
                Code::NeedsConstant,
                self.span(index),
                "beside a slice an index is a number written in the text",
            ),
        }
    }
}
