//! Arrays and matrices that calls make: `wp.zeros(..)`, `wp.identity(..)`, `wp.quat_identity(..)`.

use super::BuiltinCall;
use crate::lower::operand::{LoweringResult, Operand, fault};
use crate::lower::struct_type::fits_in_memory;
use gbxcule_ir::constant::Literal;
use gbxcule_ir::diagnostic::Code;
use gbxcule_ir::op::Value;
use gbxcule_ir::ty::{Scalar, Shape, Type};
use gbxcule_python_names::syntax;
use gbxcule_warp_types::annotation::Annotation;
use gbxcule_warp_types::type_expr;
use gbxcule_warp_types::value::{KnownValue, WarpValue};

impl<'a> BuiltinCall<'_, '_, 'a> {
    /// `wp.zeros(shape=.., dtype=..)`: makes an array that lies in the function.
    pub(super) fn zeros(&mut self) -> LoweringResult<Operand<'a>> {
        let (call, span) = (self.call, self.span);
        let named = |name, position| syntax::argument(&call.arguments, name, position);
        let Some(shape) = named("shape", 0) else {
            return fault(Code::WrongArguments, span, "`wp.zeros` needs a shape");
        };
        let extents = self.known_shape(shape)?;
        let annotation = match named("dtype", 1) {
            Some(dtype) => match self.e.expr(dtype)? {
                Operand::KnownValue(known) => type_expr::as_type(self.e.unit, &known, dtype)?,
                _ => return fault(Code::UnknownType, self.e.span(dtype), "a type is needed here"),
            },
            None => Annotation::Scalar(Scalar::F32),
        };
        let mut ty = self.e.b.concrete(&annotation, span)?;
        for &extent in extents.iter().rev() {
            ty = self.e.b.module.types.fixed(ty, extent);
            fits_in_memory(self.e.b.module, ty, span)?;
        }
        let place = self.e.b.temporary("zeros", ty);
        let zero = self.e.b.zero(ty);
        self.e.b.store(place, zero);
        Ok(Operand::Value(self.e.b.as_array(place, extents.len() as u8)))
    }

    /// `wp.identity(n=3, dtype=float)`
    pub(super) fn identity(&mut self) -> LoweringResult<Operand<'a>> {
        let (call, span) = (self.call, self.span);
        let named = |name, position| syntax::argument(&call.arguments, name, position);
        let Some(n) = named("n", 0) else {
            return fault(Code::WrongArguments, span, "`wp.identity` needs a size");
        };
        let extents = self.known_shape(n)?;
        let scalar = match named("dtype", 1) {
            Some(dtype) => match self.e.expr(dtype)? {
                Operand::KnownValue(KnownValue::Dialect(WarpValue::Type(Annotation::Scalar(
                    scalar,
                )))) => scalar,
                _ => {
                    let message = "a scalar type is needed here";
                    return fault(Code::UnknownType, self.e.span(dtype), message);
                }
            },
            None => Scalar::F32,
        };
        let [n @ 1..=64] = extents[..] else {
            return fault(Code::WrongArguments, span, "the size is one number up to 64");
        };
        let one = self.e.b.literal(Literal::int(scalar, 1));
        let zero = self.e.b.literal(Literal::from_bits(scalar, 0));
        let parts: Vec<Value> =
            (0..n * n).map(|at| if at % (n + 1) == 0 { one } else { zero }).collect();
        let ty = self.e.b.module.types.matrix(n as u16, n as u16, scalar);
        Ok(Operand::Value(self.e.b.construct(ty, &parts)))
    }

    /// `wp.quat_identity(dtype)`, `wp.transform_identity(dtype)`
    pub(super) fn neutral(&mut self, name: &str) -> LoweringResult<Operand<'a>> {
        let (call, span) = (self.call, self.span);
        let keyword = call.arguments.keywords.first().map(|keyword| &keyword.value);
        let scalar = match keyword.or(call.arguments.args.first()) {
            Some(dtype) => match self.e.expr(dtype)? {
                Operand::KnownValue(KnownValue::Dialect(WarpValue::Type(Annotation::Scalar(
                    scalar,
                )))) if scalar.is_float() => scalar,
                _ => {
                    let message = "a float type is needed here";
                    return fault(Code::UnknownType, self.e.span(dtype), message);
                }
            },
            None => Scalar::F32,
        };
        let (ty, count) = match name {
            "quat_identity" => (self.e.b.module.types.quaternion(scalar), 4),
            _ => (self.e.b.module.types.transform(scalar), 7),
        };
        self.e.b.set_span(span);
        let parts: Vec<Value> = (1..=count)
            .map(|at| self.e.b.literal(Literal::int(scalar, i128::from(at == count))))
            .collect();
        Ok(Operand::Value(self.e.b.construct(ty, &parts)))
    }

    /// `wp.matrix_from_rows(..)`, `wp.matrix_from_cols(..)`
    pub(super) fn matrix_from(&mut self, by_rows: bool) -> LoweringResult<Operand<'a>> {
        let (call, span) = (self.call, self.span);
        let mut vectors = Vec::new();
        for (_, operand, expr) in self.e.call_arguments(&call.arguments)? {
            vectors.push(self.e.b.value(operand, expr.map_or(span, |expr| self.e.span(expr)))?);
        }
        let shapes: Vec<Type> = vectors.iter().map(|&vector| self.e.b.ty(vector)).collect();
        let first = shapes.first().map(|&ty| self.e.b.shape(ty).clone());
        let (Some(Shape::Vector { len, of }), true) =
            (first, shapes.windows(2).all(|pair| pair[0] == pair[1]))
        else {
            return fault(Code::TypeMismatch, span, "vectors of one type are needed here");
        };
        let count = vectors.len() as u16;
        let columns: Vec<Vec<Value>> =
            vectors.iter().map(|&vector| self.e.b.parts(vector)).collect();
        let (rows, cols) = if by_rows { (count, len) } else { (len, count) };
        let at = |row: u16, col: u16| if by_rows { (row, col) } else { (col, row) };
        let cells = (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col)));
        let parts: Vec<Value> = cells
            .map(|(row, col)| {
                let (vector, component) = at(row, col);
                columns[usize::from(vector)][usize::from(component)]
            })
            .collect();
        let ty = self.e.b.module.types.matrix(rows, cols, of);
        Ok(Operand::Value(self.e.b.construct(ty, &parts)))
    }
}
