//! Branches and loops.

use super::expression::Typed;
use super::{Infer, Loop};
use crate::item::Refused;
use crate::tree::{Arm, Expr, ExprKind};
use crate::ty::Ty;

impl Infer<'_, '_> {
    fn condition(&mut self, expr: &syn::Expr) -> Box<Expr> {
        let condition = self.expr(expr);
        Box::new(self.coerce(condition, &Ty::Bool))
    }

    pub(super) fn choice(&mut self, choice: &syn::ExprIf) -> Typed {
        let condition = self.condition(&choice.cond);
        let span = self.span(&choice.then_branch);
        let (accept, ty) = self.block(&choice.then_branch);
        let mut accept = Expr { kind: ExprKind::Block(accept), ty, span };
        let Some((_, otherwise)) = &choice.else_branch else {
            accept = self.coerce(accept, &Ty::Unit);
            return Ok((ExprKind::If(condition, Box::new(accept), None), Ty::Unit));
        };
        let mut reject = self.expr(otherwise);
        let ty = if self.diverges(&reject) {
            accept.ty.clone()
        } else {
            let one = accept.ty.clone();
            self.join(&one, &mut reject)
        };
        Ok((ExprKind::If(condition, Box::new(accept), Some(Box::new(reject))), ty))
    }

    pub(super) fn matches(&mut self, choice: &syn::ExprMatch) -> Typed {
        let value = self.expr(&choice.expr);
        let value = self.referred(value);
        let matched = self.types.resolve_outermost(&value.ty);
        if !self.types.is_integer(&matched) && !matches!(matched, Ty::Bool | Ty::Enum(_)) {
            let message = format!(
                "`match` takes integers, enums and `bool`, found a `{}`",
                self.show(&matched)
            );
            return Err(self.mismatch(value.span, &message));
        }
        let mut arms: Vec<Arm> = Vec::new();
        let mut ty = Ty::Never;
        for arm in &choice.arms {
            self.program.attributes(&arm.attrs, self.scope);
            let ranges = self.ranges(&arm.pat, &matched).unwrap_or(None);
            let mut body = self.expr(&arm.body);
            if !self.diverges(&body) {
                ty = self.join(&ty, &mut body);
            }
            arms.push(Arm { ranges, body });
        }
        Ok((ExprKind::Match(Box::new(value), arms), ty))
    }

    fn label(&self, label: Option<&syn::Label>) -> Result<(), Refused> {
        label.map_or(Ok(()), |label| Err(self.refuse_construct(label, "a label")))
    }

    pub(super) fn while_loop(&mut self, repeat: &syn::ExprWhile) -> Typed {
        self.label(repeat.label.as_ref())?;
        let condition = self.condition(&repeat.cond);
        self.loops.push(Loop { value: None, left: false });
        let (body, ty) = self.block(&repeat.body);
        self.loops.pop();
        self.unit_body(&ty, repeat)?;
        Ok((ExprKind::While(condition, body), Ty::Unit))
    }

    fn unit_body(&mut self, ty: &Ty, at: &impl syn::spanned::Spanned) -> Result<(), Refused> {
        match self.types.resolve_outermost(ty) {
            Ty::Unit | Ty::Never | Ty::Wrong => Ok(()),
            _ => Err(self.mismatch(self.span(at), "the body of a loop has no value")),
        }
    }

    pub(super) fn infinite_loop(&mut self, repeat: &syn::ExprLoop) -> Typed {
        self.label(repeat.label.as_ref())?;
        let value = self.types.any();
        self.loops.push(Loop { value: Some(value), left: false });
        let (body, ty) = self.block(&repeat.body);
        let ended = self.loops.pop();
        self.unit_body(&ty, repeat)?;
        let ty = match ended {
            Some(Loop { value: Some(value), left: true }) => value,
            _ => Ty::Never,
        };
        Ok((ExprKind::Loop(body), ty))
    }

    pub(super) fn for_loop(&mut self, each: &syn::ExprForLoop) -> Typed {
        self.label(each.label.as_ref())?;
        let range = match &*each.expr {
            syn::Expr::Range(range) => range,
            syn::Expr::Paren(inner) => match &*inner.expr {
                syn::Expr::Range(range) => range,
                other => {
                    return Err(self.refuse_construct(other, "a loop over anything but a range"));
                }
            },
            other => return Err(self.refuse_construct(other, "a loop over anything but a range")),
        };
        let (Some(start), Some(end)) = (&range.start, &range.end) else {
            return Err(self.refuse_construct(range, "a loop over a range without ends"));
        };
        let start = self.expr(start);
        let ty = start.ty.clone();
        let end = self.expr(end);
        let end = self.coerce(end, &ty);
        if !self.types.is_integer(&ty) {
            return Err(self.mismatch(start.span, "the ends of a range are integers"));
        }
        let mark = self.names.len();
        let name = match &*each.pat {
            syn::Pat::Ident(name) if name.mutability.is_none() => name.ident.to_string(),
            syn::Pat::Wild(_) => "_".to_string(),
            other => return Err(self.refuse_construct(other, "this pattern of a loop")),
        };
        let span = self.span(&each.pat);
        let var = self.declare(&name, ty, true, span);
        self.loops.push(Loop { value: None, left: false });
        let (body, ty) = self.block(&each.body);
        self.loops.pop();
        self.names.truncate(mark);
        self.unit_body(&ty, each)?;
        let inclusive = matches!(range.limits, syn::RangeLimits::Closed(_));
        let (start, end) = (Box::new(start), Box::new(end));
        Ok((ExprKind::For { var, start, end, inclusive, body }, Ty::Unit))
    }

    pub(super) fn leave(&mut self, leave: &syn::ExprBreak) -> Typed {
        if leave.label.is_some() {
            return Err(self.refuse_construct(leave, "a label"));
        }
        let Some(inner) = self.loops.last_mut() else {
            return Err(self.refuse_construct(leave, "`break` outside a loop"));
        };
        inner.left = true;
        let wanted = inner.value.clone();
        let value = match (&leave.expr, wanted) {
            (None, wanted) => {
                if wanted.is_some_and(|wanted| !self.types.unify(&wanted, &Ty::Unit)) {
                    return Err(self.mismatch(self.span(leave), "this loop has a value"));
                }
                None
            }
            (Some(_), None) => {
                return Err(self.refuse_construct(leave, "`break` with a value in this loop"));
            }
            (Some(value), Some(wanted)) => {
                let value = self.expr(value);
                Some(Box::new(self.coerce(value, &wanted)))
            }
        };
        Ok((ExprKind::Break(value), Ty::Never))
    }

    pub(super) fn next(&mut self, next: &syn::ExprContinue) -> Typed {
        if next.label.is_some() || self.loops.is_empty() {
            return Err(self.refuse_construct(next, "`continue` with a label or outside a loop"));
        }
        Ok((ExprKind::Continue, Ty::Never))
    }

    pub(super) fn give(&mut self, leave: &syn::ExprReturn) -> Typed {
        let wanted = self.result.clone();
        let value = match &leave.expr {
            Some(value) => {
                let value = self.expr(value);
                Some(Box::new(self.coerce(value, &wanted)))
            }
            None => {
                if !self.types.unify(&wanted, &Ty::Unit) {
                    self.mismatch(self.span(leave), "this function has a result");
                }
                None
            }
        };
        Ok((ExprKind::Return(value), Ty::Never))
    }
}
