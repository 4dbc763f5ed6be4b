//! Binary operators.

use super::{FunctionLowering, LoweringResult, Operand, fault};
use crate::decorator::Role;
use crate::scope::{BindingSource, OverloadSet};
use crate::syntax::Operator;
use gbxcule_ir::build::Builder;
use gbxcule_ir::builtin;
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::op::{Arg, BinaryOp, Value};
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::{Scalar, Shape, Type};

impl<'a> FunctionLowering<'_, '_, 'a, '_> {
    pub(super) fn binary(
        &mut self,
        op: Operator,
        left: Operand<'a>,
        right: Operand<'a>,
        span: Span,
    ) -> LoweringResult<Operand<'a>> {
        if let Some(result) = self.user_operator(op, &left, &right, span)? {
            return Ok(result);
        }
        if matches!(left, Operand::Tile(_)) || matches!(right, Operand::Tile(_)) {
            return self.tile_operator(op, &left, &right, span);
        }
        let left = self.value(left, span)?;
        let right = self.value(right, span)?;
        match operate(&mut self.b, op, left, right) {
            Some(value) => Ok(Operand::Value(value)),
            None => {
                let (l, r) = (self.ty(left), self.ty(right));
                let (l_name, r_name) = (self.shown(l), self.shown(r));
                let message =
                    format!("`{}` isn't defined for `{l_name}` and `{r_name}`", op.as_str());
                let fault = Diagnostic::error(Code::TypeMismatch, span, message);
                let fault = if l.as_scalar().is_some() && r.as_scalar().is_some() && l != r {
                    fault.help(format!("numbers are never converted by themselves: write `{l_name}(..)` or `{r_name}(..)`"))
                } else {
                    match self.number_beside_composite(l, r) {
                        Some(help) => fault.help(help),
                        None => fault,
                    }
                };
                Err(super::LoweringError::Fault(Box::new(fault)))
            }
        }
    }

    /// Advice for a number beside a vector or matrix of another scalar, and for one that would be
    /// added to each component.
    fn number_beside_composite(&self, left: Type, right: Type) -> Option<String> {
        let (number, composite) = match (left.as_scalar(), right.as_scalar()) {
            (Some(number), None) => (number, right),
            (None, Some(number)) => (number, left),
            _ => return None,
        };
        let (of, _) = self.b.module.types.components(composite)?;
        let name = self.shown(composite);
        Some(match of == number {
            true => format!("a `{name}` of equal components is written `{name}(..)`"),
            false => format!("convert the number: write `{}(..)`", self.shown(Type::scalar(of))),
        })
    }

    /// A `@wp.func` named like the operator, such as `add`, takes its place.
    pub(super) fn user_operator(
        &mut self,
        op: Operator,
        left: &Operand<'a>,
        right: &Operand<'a>,
        span: Span,
    ) -> LoweringResult<Option<Operand<'a>>> {
        let name = operator_name(op);
        let Some((definitions, home)) = self.unit.scopes.lookup(self.scope, name) else {
            return Ok(None);
        };
        let Some(&definition) = definitions.last() else { return Ok(None) };
        let BindingSource::Function(def) = definition.source else { return Ok(None) };
        if self.unit.role(def, home) != Role::Func {
            return Ok(None);
        }
        let family = OverloadSet::all(home, def.name.as_str(), self.unit.frame_of(home));
        let given = vec![(None, left.clone(), None), (None, right.clone(), None)];
        match self.call_user(family, &given, span) {
            // No overload takes these: the operator is the usual one.
            Err(super::LoweringError::Fault(fault)) if fault.code == Code::TypeMismatch => Ok(None),
            Err(super::LoweringError::Fault(fault)) if fault.code == Code::Recursion => {
                let help = format!(
                    "`{}` means a function named `{name}`, as in NVIDIA Warp: give it another name",
                    op.as_str()
                );
                Err(super::LoweringError::Fault(Box::new(fault.help(help))))
            }
            other => other.map(Some),
        }
    }

    /// Adds, subtracts and so on under the name the operator has as a function: `wp.add(a, b)`.
    pub(super) fn named_operator(
        &mut self,
        name: &str,
        args: &[Operand<'a>],
        span: Span,
    ) -> Option<LoweringResult<Operand<'a>>> {
        let op = match name {
            "add" => Operator::Add,
            "sub" => Operator::Sub,
            "mul" => Operator::Mult,
            "div" => Operator::Div,
            "mod" => Operator::Mod,
            "floordiv" => Operator::FloorDiv,
            "bit_and" => Operator::BitAnd,
            "bit_or" => Operator::BitOr,
            "bit_xor" => Operator::BitXor,
            "lshift" => Operator::LShift,
            "rshift" => Operator::RShift,
            _ => return None,
        };
        let [left, right] = args else { return None };
        let values =
            self.value(left.clone(), span).and_then(|l| Ok((l, self.value(right.clone(), span)?)));
        Some(match values {
            Err(stop) => Err(stop),
            Ok((left, right)) => match operate(&mut self.b, op, left, right) {
                Some(value) => Ok(Operand::Value(value)),
                None => {
                    let (l, r) = (self.shown(self.ty(left)), self.shown(self.ty(right)));
                    fault(
                        Code::TypeMismatch,
                        span,
                        format!("`wp.{name}` isn't defined for `{l}` and `{r}`"),
                    )
                }
            },
        })
    }

    /// A value converted to a scalar type, by component.
    pub(super) fn converted(&mut self, value: Value, to: Scalar) -> Option<Value> {
        let ty: Type = self.ty(value);
        self.b.module.types.components(ty)?;
        Some(self.b.convert(value, to))
    }
}

/// Result of an operator, if it takes such operands.
fn operate(b: &mut Builder<'_>, op: Operator, left: Value, right: Value) -> Option<Value> {
    let (l, r) = (b.body().type_of(left), b.body().type_of(right));
    let of_left = b.module.types.components(l).map(|(scalar, _)| scalar);
    let of_right = b.module.types.components(r).map(|(scalar, _)| scalar);
    let (of_left, of_right) = match (of_left, of_right) {
        (Some(one), Some(other)) => (one, other),
        _ => return None,
    };
    let (scalar_left, scalar_right) = (l.as_scalar().is_some(), r.as_scalar().is_some());
    let numeric = of_left == of_right && of_left != Scalar::Bool;
    let simple = match op {
        Operator::Add => Some(BinaryOp::Add),
        Operator::Sub => Some(BinaryOp::Subtract),
        Operator::Mult => Some(BinaryOp::Multiply),
        Operator::Div => Some(BinaryOp::Divide),
        Operator::FloorDiv => Some(BinaryOp::FloorDivide),
        Operator::Mod => Some(BinaryOp::Remainder),
        Operator::BitAnd => Some(BinaryOp::And),
        Operator::BitOr => Some(BinaryOp::Or),
        Operator::BitXor => Some(BinaryOp::Xor),
        Operator::LShift => Some(BinaryOp::ShiftLeft),
        Operator::RShift => Some(BinaryOp::ShiftRight),
        Operator::Pow | Operator::MatMult => None,
    };
    match op {
        Operator::Add | Operator::Sub if l == r && numeric => Some(b.binary(simple?, left, right)),
        Operator::Mult if numeric => product(b, left, right, scalar_left, scalar_right),
        Operator::Div if numeric => quotient(b, left, right, scalar_left, scalar_right),
        Operator::FloorDiv | Operator::Mod if l == r && numeric => {
            let whole = scalar_left || matches!(b.module.types[l], Shape::Vector { .. });
            whole.then(|| {
                b.binary(
                    if op == Operator::Mod { BinaryOp::Remainder } else { BinaryOp::FloorDivide },
                    left,
                    right,
                )
            })
        }
        Operator::BitAnd | Operator::BitOr | Operator::BitXor if l == r && !of_left.is_float() => {
            Some(b.binary(simple?, left, right))
        }
        Operator::LShift | Operator::RShift if l == r && of_left.is_int() => {
            Some(b.binary(simple?, left, right))
        }
        Operator::Pow if l == r => by_row(b, "pow", left, right),
        Operator::MatMult => by_row(b, "mul", left, right),
        _ => None,
    }
}

fn product(
    b: &mut Builder<'_>,
    left: Value,
    right: Value,
    scalar_left: bool,
    scalar_right: bool,
) -> Option<Value> {
    match (scalar_left, scalar_right) {
        (true, true) => Some(b.mul(left, right)),
        (true, false) => Some(b.scale(right, left)),
        (false, true) => Some(b.scale(left, right)),
        (false, false) => by_row(b, "mul", left, right),
    }
}

fn quotient(
    b: &mut Builder<'_>,
    left: Value,
    right: Value,
    scalar_left: bool,
    scalar_right: bool,
) -> Option<Value> {
    let (l, r) = (b.body().type_of(left), b.body().type_of(right));
    match (scalar_left, scalar_right) {
        (true, true) => Some(b.div(left, right)),
        (false, true) => {
            let below = b.splat(l, right);
            Some(b.div(left, below))
        }
        (true, false) => {
            let above = b.splat(r, left);
            Some(b.div(above, right))
        }
        (false, false) => by_row(b, "div", left, right),
    }
}

/// A builtin of two values by its name, if it takes them.
fn by_row(b: &mut Builder<'_>, name: &str, left: Value, right: Value) -> Option<Value> {
    let row = builtin::find(name)?;
    b.builtin(row, &[Arg::Value(left), Arg::Value(right)])
}

fn operator_name(op: Operator) -> &'static str {
    match op {
        Operator::Add => "add",
        Operator::Sub => "sub",
        Operator::Mult | Operator::MatMult => "mul",
        Operator::Div => "div",
        Operator::Mod => "mod",
        Operator::Pow => "pow",
        Operator::LShift => "lshift",
        Operator::RShift => "rshift",
        Operator::BitOr => "bit_or",
        Operator::BitXor => "bit_xor",
        Operator::BitAnd => "bit_and",
        Operator::FloorDiv => "floordiv",
    }
}
