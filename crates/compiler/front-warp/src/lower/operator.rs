//! Binary operators.

use super::operand::{LoweringError, LoweringResult, Operand, fault};
use super::writer::Writer;
use super::{Expressions, tile};
use gbxcule_ir::build::Builder;
use gbxcule_ir::builtin;
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::op::{Arg, BinaryOp, CompareOp, Value};
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::{Scalar, Shape, Type};
use gbxcule_python_names::BindingSource;
use gbxcule_python_names::syntax::{CmpOp, Operator, UnaryOp};
use gbxcule_warp_types::decorator::{self, Role};
use gbxcule_warp_types::value::{KnownValue, OverloadSet};

impl<'a> Expressions<'_, 'a> {
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
            return tile::operator(self, op, &left, &right, span);
        }
        let left = self.b.value(left, span)?;
        let right = self.b.value(right, span)?;
        match operate(&mut self.b, op, left, right) {
            Some(value) => Ok(Operand::Value(value)),
            None => {
                let (l, r) = (self.b.ty(left), self.b.ty(right));
                let (l_name, r_name) = (self.b.shown(l), self.b.shown(r));
                let message =
                    format!("`{}` isn't defined for `{l_name}` and `{r_name}`", op.as_str());
                let fault = Diagnostic::error(Code::TypeMismatch, span, message);
                let fault = if l.as_scalar().is_some() && r.as_scalar().is_some() && l != r {
                    fault.help(format!("numbers are never converted by themselves: write `{l_name}(..)` or `{r_name}(..)`"))
                } else {
                    match number_beside_composite(&self.b, l, r) {
                        Some(help) => fault.help(help),
                        None => fault,
                    }
                };
                Err(fault.into())
            }
        }
    }

    /// Calls a `@wp.func` named like the operator, such as `add`, in place of the operator.
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
        if decorator::role(self.unit, def, home) != Role::Func {
            return Ok(None);
        }
        let family = OverloadSet::all(home, def.name.as_str(), self.unit.frame_of(home));
        let given = vec![(None, left.clone(), None), (None, right.clone(), None)];
        match self.call_user(family, &given, span) {
            // No overload takes these operands, so the operator keeps its usual meaning.
            Err(LoweringError::Fault(fault)) if fault.code == Code::TypeMismatch => Ok(None),
            Err(LoweringError::Fault(fault)) if fault.code == Code::Recursion => {
                let help = format!(
                    "`{}` means a function named `{name}`, as in NVIDIA Warp: give it another name",
                    op.as_str()
                );
                Err(fault.help(help).into())
            }
            other => other.map(Some),
        }
    }
}

/// Advice for a number beside a vector or matrix, if its scalar type differs or the operator would
/// add it to each component.
fn number_beside_composite<'a>(b: &Writer<'_, 'a>, left: Type, right: Type) -> Option<String> {
    let (number, composite) = match (left.as_scalar(), right.as_scalar()) {
        (Some(number), None) => (number, right),
        (None, Some(number)) => (number, left),
        _ => return None,
    };
    let (of, _) = b.module.types.components(composite)?;
    let name = b.shown(composite);
    Some(match of == number {
        true => format!("a `{name}` of equal components is written `{name}(..)`"),
        false => format!("convert the number: write `{}(..)`", b.shown(Type::scalar(of))),
    })
}

/// Applies an operator by its name as a function: `wp.add(a, b)`.
pub(super) fn named_operator<'a>(
    b: &mut Writer<'_, 'a>,
    name: &str,
    args: &[Operand<'a>],
    span: Span,
) -> Option<LoweringResult<Operand<'a>>> {
    let op = function_operator(name)?;
    let [left, right] = args else { return None };
    Some(b.value(left.clone(), span).and_then(|left| {
        let right = b.value(right.clone(), span)?;
        if let Some(value) = operate(b, op, left, right) {
            return Ok(value.into());
        }
        let (l, r) = (b.shown(b.ty(left)), b.shown(b.ty(right)));
        fault(Code::TypeMismatch, span, format!("`wp.{name}` isn't defined for `{l}` and `{r}`"))
    }))
}

pub(super) fn check_same_type<'a>(
    b: &mut Writer<'_, 'a>,
    accept: Value,
    reject: Value,
    span: Span,
) -> LoweringResult<()> {
    let (left, right) = (b.ty(accept), b.ty(reject));
    if left == right && b.module.types.layout(left).is_some() {
        return Ok(());
    }
    let (left, right) = (b.shown(left), b.shown(right));
    let message = format!("both values of a choice are of one type, found `{left}` and `{right}`");
    fault(Code::TypeMismatch, span, message)
}

pub(super) fn compared<'a>(
    b: &mut Writer<'_, 'a>,
    op: CmpOp,
    left: Operand<'a>,
    right: Operand<'a>,
    span: Span,
) -> LoweringResult<Value> {
    let op = match op {
        CmpOp::Eq => CompareOp::Equal,
        CmpOp::NotEq => CompareOp::NotEqual,
        CmpOp::Lt => CompareOp::Less,
        CmpOp::LtE => CompareOp::LessEqual,
        CmpOp::Gt => CompareOp::Greater,
        CmpOp::GtE => CompareOp::GreaterEqual,
        CmpOp::Is | CmpOp::IsNot | CmpOp::In | CmpOp::NotIn => {
            let message = format!("`{}` isn't part of the dialect", op.as_str());
            let fault = Diagnostic::error(Code::UnsupportedSyntax, span, message);
            let is_none = |it: &Operand<'a>| matches!(it, Operand::KnownValue(KnownValue::None));
            let asked = if op == CmpOp::Is { "if not x:" } else { "if x:" };
            return Err(match is_none(&right) {
                true => {
                    fault.help(format!("`{asked}` asks whether a launch gave an array, not `None`"))
                }
                false => fault,
            }
            .into());
        }
    };
    let left = b.value(left, span)?;
    let right = b.value(right, span)?;
    let (l, r) = (b.ty(left), b.ty(right));
    if let (Some(one), Some(other)) = (l.as_scalar(), r.as_scalar()) {
        let common = promoted(one, other, op);
        let (left, right) = (b.convert(left, common), b.convert(right, common));
        return Ok(b.compare(op, left, right));
    }
    let comparable = l == r
        && matches!(op, CompareOp::Equal | CompareOp::NotEqual)
        && b.module.types.components(l).is_some();
    if comparable {
        let equal = b.named("equal", &[left, right]);
        return Ok(if op == CompareOp::Equal { equal } else { b.not(equal) });
    }
    if l == r && matches!(b.shape(l), Shape::Vector { .. }) {
        return fault(Code::TypeMismatch, span, "vectors are only compared by `==` and `!=`");
    }
    let (l, r) = (b.shown(l), b.shown(r));
    fault(Code::TypeMismatch, span, format!("`{l}` and `{r}` can't be compared"))
}

/// The type in which C++ compares two scalars.
fn promoted(left: Scalar, right: Scalar, op: CompareOp) -> Scalar {
    if left == right
        && (left != Scalar::Bool || matches!(op, CompareOp::Equal | CompareOp::NotEqual))
    {
        return left;
    }
    if left.is_float() || right.is_float() {
        return match (left.is_float(), right.is_float()) {
            (true, false) => left,
            (false, true) => right,
            _ if left.bytes() == right.bytes() => Scalar::F32,
            _ if left.bytes() > right.bytes() => left,
            _ => right,
        };
    }
    let wide = |scalar: Scalar| if scalar.bytes() < 4 { Scalar::I32 } else { scalar };
    let (left, right) = (wide(left), wide(right));
    match left.bytes().cmp(&right.bytes()) {
        std::cmp::Ordering::Greater => left,
        std::cmp::Ordering::Less => right,
        std::cmp::Ordering::Equal if left.is_unsigned_int() => left,
        std::cmp::Ordering::Equal => right,
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
            let is_componentwise = scalar_left || matches!(b.module.types[l], Shape::Vector { .. });
            is_componentwise.then(|| {
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

/// Operators with the names that they have as functions.
const NAMES: [(&str, Operator); 13] = [
    ("add", Operator::Add),
    ("sub", Operator::Sub),
    ("mul", Operator::Mult),
    ("mul", Operator::MatMult),
    ("div", Operator::Div),
    ("mod", Operator::Mod),
    ("pow", Operator::Pow),
    ("lshift", Operator::LShift),
    ("rshift", Operator::RShift),
    ("bit_or", Operator::BitOr),
    ("bit_xor", Operator::BitXor),
    ("bit_and", Operator::BitAnd),
    ("floordiv", Operator::FloorDiv),
];

fn operator_name(op: Operator) -> &'static str {
    NAMES.iter().find(|(_, named)| *named == op).map_or("", |(name, _)| name)
}

/// The operator of a function such as `wp.add`; `wp.pow` is a builtin.
pub(super) fn function_operator(name: &str) -> Option<Operator> {
    let named = NAMES.iter().find(|(listed, _)| *listed == name);
    named.map(|&(_, op)| op).filter(|op| *op != Operator::Pow)
}

/// Result of an operator with one operand: a number, vector or matrix. Messages call the operator
/// `name`.
pub(super) fn operate_one<'a>(
    b: &mut Writer<'_, 'a>,
    op: UnaryOp,
    operand: Operand<'a>,
    span: Span,
    name: &str,
) -> LoweringResult<Operand<'a>> {
    if op == UnaryOp::Not {
        let truth = b.truth(operand, span)?;
        return Ok(b.not(truth).into());
    }
    let value = b.value(operand, span)?;
    let ty = b.ty(value);
    Ok(match (op, b.scalar_in(ty)) {
        (UnaryOp::USub, Some(of)) if of != Scalar::Bool => b.neg(value),
        (UnaryOp::UAdd, Some(of)) if of != Scalar::Bool => value,
        (UnaryOp::Invert, Some(of)) if of.is_int() => b.not(value),
        _ => {
            let message = format!("`{name}` isn't defined for `{}`", b.shown(ty));
            return fault(Code::TypeMismatch, span, message);
        }
    }
    .into())
}
