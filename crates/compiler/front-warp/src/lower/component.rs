//! Components, rows and slices of vectors and matrices.

use super::Expressions;
use super::access::Access;
use super::operand::{LoweringResult, Operand, fault};
use super::writer::Writer;
use gbxcule_ir::diagnostic::Code;
use gbxcule_ir::op::Value;
use gbxcule_ir::place::PlaceId;
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::Scalar;
use gbxcule_python_names::syntax::{Expr, ExprSlice};
use gbxcule_warp_types::value::KnownValue;

impl<'a> Expressions<'_, 'a> {
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
            let value = base.read(&mut self.b);
            let value = self.b.value(value, span)?;
            return gather_components(&mut self.b, value, &positions, span)
                .map(|v| Access::Operand(Operand::Value(v)));
        }
        match self.component_index(index, len)? {
            Ok(at) => base.component(&mut self.b, at, span),
            Err(index) => {
                let place = base.spill(&mut self.b, span)?;
                Ok(Access::Place(self.b.at(place, index)))
            }
        }
    }

    /// A component's index: a number known to be inside, or a value.
    fn component_index(&mut self, index: &'a Expr, len: u32) -> LoweringResult<Result<u32, Value>> {
        let operand = self.expr(index)?;
        let position = match &operand {
            Operand::KnownValue(KnownValue::Int(at)) => Some(*at),
            Operand::KnownValue(KnownValue::Typed(literal)) => literal.as_int(),
            _ => None,
        };
        if let Some(at) = position {
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
        let value = self.b.value(operand, self.span(index))?;
        let ty = self.b.ty(value);
        if !ty.as_scalar().is_some_and(Scalar::is_int) {
            let found = self.b.shown(ty);
            let message = format!("an index is an integer, found `{found}`");
            return fault(Code::TypeMismatch, self.span(index), message);
        }
        Ok(Err(value))
    }

    fn constant_slice(&mut self, slice: &'a ExprSlice, len: u32) -> LoweringResult<Vec<u32>> {
        let span = self.unit.span(slice);
        let bound = |this: &mut Self, part: Option<&'a Expr>| -> LoweringResult<Option<i128>> {
            let Some(part) = part else { return Ok(None) };
            match this.expr(part)? {
                Operand::KnownValue(KnownValue::Int(position)) => Ok(Some(position)),
                _ => fault(
                    Code::NeedsConstant,
                    this.span(part),
                    "the bounds of a slice of components are numbers written in the text",
                ),
            }
        };
        let lower = bound(self, slice.lower.as_deref())?;
        let upper = bound(self, slice.upper.as_deref())?;
        let step = bound(self, slice.step.as_deref())?;
        let Some((start, count, step)) = python_slice([lower, upper, step], len) else {
            return fault(Code::WrongArguments, span, "the step of a slice can't be 0");
        };
        if count == 0 {
            return fault(Code::WrongArguments, span, "an empty slice can't be a vector");
        }
        Ok((0..count).map(|position| (start + position * step) as u32).collect())
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
                    return base.component(&mut self.b, row * cols + col, span);
                }
                let place = base.spill(&mut self.b, span)?;
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
                let place = base.spill(&mut self.b, span)?;
                let row = match row {
                    Ok(at) => self.b.i32(at as i32),
                    Err(index) => index,
                };
                Ok(Access::Place(self.b.at(place, row)))
            }
            [row] | [row, _] => {
                let rows = self.selection(row, rows)?;
                let columns = match indices.get(1) {
                    Some(col) => self.selection(col, cols)?,
                    None => Selection::Known((0..cols).collect(), true),
                };
                let part = match (rows, columns) {
                    (Selection::Known(rows, row_keeps), Selection::Known(columns, col_keeps)) => {
                        let value = base.value(&mut self.b, span)?;
                        let (rows, columns) = ((rows, row_keeps), (columns, col_keeps));
                        matrix_part(&mut self.b, value, cols, rows, columns, span)?
                    }
                    (rows, columns) => {
                        let place = base.spill(&mut self.b, span)?;
                        let places = selected_places(&mut self.b, place, &rows, &columns);
                        vector_of(&mut self.b, &places, span)?
                    }
                };
                Ok(Access::Operand(Operand::Value(part)))
            }
            _ => fault(Code::WrongArguments, span, "a matrix has one or two indices"),
        }
    }

    /// Returns the rows or columns that a slice or an index selects.
    pub(super) fn selection(&mut self, index: &'a Expr, len: u32) -> LoweringResult<Selection> {
        if let Expr::Slice(slice) = index {
            return Ok(Selection::Known(self.constant_slice(slice, len)?, true));
        }
        Ok(match self.component_index(index, len)? {
            Ok(at) => Selection::Known(vec![at], false),
            Err(value) => Selection::Computed(value),
        })
    }
}

/// Rows or columns of a matrix.
pub(super) enum Selection {
    /// Positions, and true if the dimension stays.
    Known(Vec<u32>, bool),
    /// One position that the launch computes.
    Computed(Value),
}

impl Selection {
    fn positions(&self) -> Vec<Result<u32, Value>> {
        match self {
            Self::Known(positions, _) => positions.iter().map(|&at| Ok(at)).collect(),
            Self::Computed(index) => vec![Err(*index)],
        }
    }
}

/// Returns the places of the selected components of a matrix, row by row.
pub(super) fn selected_places(
    b: &mut Writer<'_, '_>,
    matrix: PlaceId,
    rows: &Selection,
    columns: &Selection,
) -> Vec<PlaceId> {
    let mut places = Vec::new();
    for row in rows.positions() {
        let row = row.map_or_else(|index| index, |at| b.i32(at as i32));
        let row = b.at(matrix, row);
        places.extend(columns.positions().into_iter().map(|column| match column {
            Ok(at) => b.component(row, at),
            Err(index) => b.at(row, index),
        }));
    }
    places
}

fn vector_of<'a>(b: &mut Writer<'_, 'a>, places: &[PlaceId], span: Span) -> LoweringResult<Value> {
    let parts: Vec<Value> = places.iter().map(|&place| b.load(place)).collect();
    let Some(scalar) = parts.first().and_then(|&part| b.scalar_in(b.ty(part))) else {
        return fault(Code::TypeMismatch, span, "this has no components");
    };
    let ty = b.module.types.vector(parts.len() as u16, scalar);
    Ok(b.construct(ty, &parts))
}

/// A vector of some components.
fn gather_components<'a>(
    b: &mut Writer<'_, 'a>,
    value: Value,
    positions: &[u32],
    span: Span,
) -> LoweringResult<Value> {
    let Some((scalar, _)) = b.module.types.components(b.ty(value)) else {
        return fault(Code::TypeMismatch, span, "this has no components");
    };
    let parts: Vec<Value> = positions.iter().map(|&at| b.extract(value, at)).collect();
    let ty = b.module.types.vector(parts.len() as u16, scalar);
    Ok(b.construct(ty, &parts))
}

/// Selects rows and columns of a matrix with `cols` columns: a matrix if both dimensions stay, else
/// a vector.
fn matrix_part<'a>(
    b: &mut Writer<'_, 'a>,
    value: Value,
    cols: u32,
    (row_at, row_keeps): (Vec<u32>, bool),
    (col_at, col_keeps): (Vec<u32>, bool),
    span: Span,
) -> LoweringResult<Value> {
    let all: Vec<u32> =
        row_at.iter().flat_map(|r| col_at.iter().map(move |c| r * cols + c)).collect();
    if !(row_keeps && col_keeps) {
        return gather_components(b, value, &all, span);
    }
    let Some((scalar, _)) = b.module.types.components(b.ty(value)) else {
        return fault(Code::TypeMismatch, span, "this has no components");
    };
    let parts: Vec<Value> = all.iter().map(|&at| b.extract(value, at)).collect();
    let ty = b.module.types.matrix(row_at.len() as u16, col_at.len() as u16, scalar);
    Ok(b.construct(ty, &parts))
}

/// Start, count and step of a slice, as Python counts them; `None` if the step is 0.
pub(super) fn python_slice(
    [lower, upper, step]: [Option<i128>; 3],
    len: u32,
) -> Option<(i128, i128, i128)> {
    let (len, step) = (i128::from(len), step.unwrap_or(1));
    if step == 0 {
        return None;
    }
    let (low, high) = if step > 0 { (0, len) } else { (-1, len - 1) };
    let inside = |at: i128| (if at < 0 { at + len } else { at }).clamp(low, high);
    let (first, last) = if step > 0 { (low, high) } else { (high, low) };
    let (start, stop) = (lower.map_or(first, inside), upper.map_or(last, inside));
    let count = (stop - start + step - step.signum()) / step;
    Some((start, count.max(0), step))
}
