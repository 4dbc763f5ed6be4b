//! Operators, assignments and casts.

use super::Infer;
use super::expression::Typed;
use crate::item::Refused;
use crate::tree::{Expr, ExprKind};
use crate::ty::Ty;
use gbxcule_ir::op::{BinaryOp, CompareOp, UnaryOp};
use syn::BinOp;

/// Meaning of an operator of Rust.
enum Operator {
    Logic(bool),
    Compare(CompareOp),
    Binary(BinaryOp),
    Update(BinaryOp),
}

fn operator(op: &BinOp) -> Option<Operator> {
    use Operator::{Binary, Compare, Logic, Update};
    Some(match op {
        BinOp::Add(_) => Binary(BinaryOp::Add),
        BinOp::Sub(_) => Binary(BinaryOp::Subtract),
        BinOp::Mul(_) => Binary(BinaryOp::Multiply),
        BinOp::Div(_) => Binary(BinaryOp::Divide),
        BinOp::Rem(_) => Binary(BinaryOp::Remainder),
        BinOp::BitXor(_) => Binary(BinaryOp::Xor),
        BinOp::BitAnd(_) => Binary(BinaryOp::And),
        BinOp::BitOr(_) => Binary(BinaryOp::Or),
        BinOp::Shl(_) => Binary(BinaryOp::ShiftLeft),
        BinOp::Shr(_) => Binary(BinaryOp::ShiftRight),
        BinOp::AddAssign(_) => Update(BinaryOp::Add),
        BinOp::SubAssign(_) => Update(BinaryOp::Subtract),
        BinOp::MulAssign(_) => Update(BinaryOp::Multiply),
        BinOp::DivAssign(_) => Update(BinaryOp::Divide),
        BinOp::RemAssign(_) => Update(BinaryOp::Remainder),
        BinOp::BitXorAssign(_) => Update(BinaryOp::Xor),
        BinOp::BitAndAssign(_) => Update(BinaryOp::And),
        BinOp::BitOrAssign(_) => Update(BinaryOp::Or),
        BinOp::ShlAssign(_) => Update(BinaryOp::ShiftLeft),
        BinOp::ShrAssign(_) => Update(BinaryOp::ShiftRight),
        BinOp::And(_) => Logic(true),
        BinOp::Or(_) => Logic(false),
        BinOp::Eq(_) => Compare(CompareOp::Equal),
        BinOp::Ne(_) => Compare(CompareOp::NotEqual),
        BinOp::Lt(_) => Compare(CompareOp::Less),
        BinOp::Le(_) => Compare(CompareOp::LessEqual),
        BinOp::Gt(_) => Compare(CompareOp::Greater),
        BinOp::Ge(_) => Compare(CompareOp::GreaterEqual),
        _ => return None,
    })
}

fn is_shift(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::ShiftLeft | BinaryOp::ShiftRight)
}

/// Returns true if `as` decides the type of its operand: `!0 as u8` is computed in `u8`, `(1 << 3)
/// as u8` in `i32`.
fn is_literal(expr: &syn::Expr) -> bool {
    match expr {
        syn::Expr::Lit(_) => true,
        syn::Expr::Paren(inner) => is_literal(&inner.expr),
        syn::Expr::Unary(unary) => is_literal(&unary.expr),
        _ => false,
    }
}

impl Infer<'_, '_> {
    pub(super) fn unary(&mut self, unary: &syn::ExprUnary) -> Typed {
        let op = match unary.op {
            syn::UnOp::Deref(_) => {
                let inner = self.expr(&unary.expr);
                return match self.types.resolve_outermost(&inner.ty) {
                    Ty::Ref { to, .. } => Ok((ExprKind::Deref(Box::new(inner)), (*to).clone())),
                    _ => Err(self.mismatch(inner.span, "only a reference can be followed")),
                };
            }
            syn::UnOp::Not(_) => UnaryOp::Not,
            syn::UnOp::Neg(_) => UnaryOp::Negate,
            _ => return Err(self.refuse_construct(unary, "this operator")),
        };
        let operand = self.expr(&unary.expr);
        let operand = self.referred(operand);
        let ty = operand.ty.clone();
        let is_bool = self.types.resolve_outermost(&ty) == Ty::Bool;
        if !(self.types.is_integer(&ty) || is_bool && op == UnaryOp::Not) {
            let message = format!("this operator takes integers, found a `{}`", self.show(&ty));
            return Err(self.mismatch(operand.span, &message));
        }
        Ok((ExprKind::Unary(op, Box::new(operand)), ty))
    }

    pub(super) fn binary(&mut self, binary: &syn::ExprBinary) -> Typed {
        let Some(operator) = operator(&binary.op) else {
            return Err(self.refuse_construct(binary, "this operator"));
        };
        match operator {
            Operator::Logic(and) => {
                let left = self.expr(&binary.left);
                let left = Box::new(self.coerce(left, &Ty::Bool));
                let right = self.expr(&binary.right);
                let right = Box::new(self.coerce(right, &Ty::Bool));
                Ok((ExprKind::Logic { and, left, right }, Ty::Bool))
            }
            Operator::Compare(op) => {
                let left = self.expr(&binary.left);
                let right = self.expr(&binary.right);
                self.unify_operands(&left, &right)?;
                let ty = self.types.resolve_outermost(&left.ty);
                let equality = matches!(op, CompareOp::Equal | CompareOp::NotEqual);
                let ordered = self.types.is_integer(&ty);
                if !(ordered || equality && matches!(ty, Ty::Bool | Ty::Enum(_))) {
                    let message = format!("a `{}` can't be compared so", self.show(&ty));
                    return Err(self.mismatch(left.span, &message));
                }
                Ok((ExprKind::Compare(op, Box::new(left), Box::new(right)), Ty::Bool))
            }
            Operator::Binary(op) => {
                let left = self.expr(&binary.left);
                let left = self.referred(left);
                let right = self.operand(&binary.right, op, &left)?;
                let ty = left.ty.clone();
                Ok((ExprKind::Binary(op, Box::new(left), Box::new(right)), ty))
            }
            Operator::Update(op) => {
                let left = self.expr(&binary.left);
                let right = self.operand(&binary.right, op, &left)?;
                Ok((ExprKind::Update(op, Box::new(left), Box::new(right)), Ty::Unit))
            }
        }
    }

    /// Infers the right operand of an operator.
    fn operand(&mut self, expr: &syn::Expr, op: BinaryOp, left: &Expr) -> Result<Expr, Refused> {
        let right = self.expr(expr);
        let right = self.referred(right);
        let bits = matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Xor);
        let ty = self.types.resolve_outermost(&left.ty);
        if !(self.types.is_integer(&ty) || bits && ty == Ty::Bool) {
            let message = format!("this operator takes integers, found a `{}`", self.show(&ty));
            return Err(self.mismatch(left.span, &message));
        }
        if !is_shift(op) {
            self.unify_operands(left, &right)?;
        } else if !self.types.is_integer(&right.ty) {
            return Err(self.mismatch(right.span, "an amount to shift by is an integer"));
        }
        Ok(right)
    }

    fn unify_operands(&mut self, left: &Expr, right: &Expr) -> Result<(), Refused> {
        if self.types.unify(&left.ty, &right.ty) {
            return Ok(());
        }
        let message = format!(
            "both operands must have one type, found `{}` and `{}`",
            self.show(&left.ty),
            self.show(&right.ty)
        );
        Err(self.mismatch(left.span.to(right.span), &message))
    }

    pub(super) fn assign(&mut self, assign: &syn::ExprAssign) -> Typed {
        let place = self.expr(&assign.left);
        if let Ty::Ref { .. } = self.types.resolve_outermost(&place.ty) {
            return Err(self.refuse_construct(assign, "a reference that changes"));
        }
        let value = self.expr(&assign.right);
        let value = self.coerce(value, &place.ty);
        Ok((ExprKind::Assign(Box::new(place), Box::new(value)), Ty::Unit))
    }

    pub(super) fn cast(&mut self, cast: &syn::ExprCast) -> Typed {
        let to = self.program.ty(&cast.ty, self.scope)?;
        let value = self.expr(&cast.expr);
        if is_literal(&cast.expr) && self.types.is_open_integer(&value.ty) {
            self.types.unify(&value.ty, &to);
        }
        let from = self.types.resolve_outermost(&value.ty);
        let castable = self.types.is_integer(&from) || matches!(from, Ty::Bool | Ty::Enum(_));
        if !castable || !matches!(to, Ty::Int(_)) {
            let (from, to) = (self.show(&from), self.show(&to));
            let message = format!(
                "`as` takes integers, enums and `bool` to integers, found `{from}` to `{to}`"
            );
            return Err(self.mismatch(value.span, &message));
        }
        Ok((ExprKind::Cast(Box::new(value)), to))
    }
}
