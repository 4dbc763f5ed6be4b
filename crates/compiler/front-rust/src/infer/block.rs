//! Blocks and the variables that `let` declares.

use super::Infer;
use crate::item::Refused;
use crate::tree::{Block, Expr, Pattern, Stmt};
use crate::ty::Ty;
use gbxcule_ir::diagnostic::Code;
use syn::spanned::Spanned;

impl Infer<'_, '_> {
    /// Infers a block and its type.
    pub(super) fn block(&mut self, block: &syn::Block) -> (Block, Ty) {
        let mark = self.names.len();
        let mut stmts = Vec::new();
        let (mut tail, mut diverges) = (None, false);
        for (position, stmt) in block.stmts.iter().enumerate() {
            let last = position + 1 == block.stmts.len();
            match stmt {
                syn::Stmt::Local(local) => stmts.push(self.local(local)),
                syn::Stmt::Expr(expr, None) if last => {
                    tail = Some(Box::new(self.expr(expr)));
                }
                syn::Stmt::Expr(expr, _) => {
                    let expr = self.expr(expr);
                    diverges |= self.diverges(&expr);
                    stmts.push(Stmt::Expr(expr));
                }
                syn::Stmt::Item(item) => _ = self.refuse_construct(item, "an item in a function"),
                syn::Stmt::Macro(call) => _ = self.refuse_construct(call, "a macro"),
            }
        }
        self.names.truncate(mark);
        let ty = match &tail {
            Some(tail) if !diverges => tail.ty.clone(),
            None if !diverges => Ty::Unit,
            _ => Ty::Never,
        };
        (Block { stmts, tail }, ty)
    }

    pub(super) fn diverges(&self, expr: &Expr) -> bool {
        self.types.resolve_outermost(&expr.ty) == Ty::Never
    }

    fn local(&mut self, local: &syn::Local) -> Stmt {
        self.program.attributes(&local.attrs, self.scope);
        let (pattern, ty) = match &local.pat {
            syn::Pat::Type(typed) => {
                (&*typed.pat, self.program.ty(&typed.ty, self.scope).unwrap_or(Ty::Wrong))
            }
            other => (other, self.types.any()),
        };
        let Some(init) = &local.init else {
            return Stmt::Let(self.bind(pattern, &ty, false), None);
        };
        if init.diverge.is_some() {
            self.refuse_construct(local, "`let` with `else`");
        }
        let value = self.expr(&init.expr);
        let value = self.coerce(value, &ty);
        Stmt::Let(self.bind(pattern, &ty, true), Some(value))
    }

    /// Declares the names in a pattern of `let`.
    fn bind(&mut self, pattern: &syn::Pat, ty: &Ty, has_value: bool) -> Pattern {
        match self.try_bind(pattern, ty, has_value) {
            Ok(pattern) => pattern,
            Err(Refused) => Pattern::Ignore,
        }
    }

    fn try_bind(
        &mut self,
        pattern: &syn::Pat,
        ty: &Ty,
        has_value: bool,
    ) -> Result<Pattern, Refused> {
        match pattern {
            syn::Pat::Wild(_) => Ok(Pattern::Ignore),
            syn::Pat::Paren(inner) => self.try_bind(&inner.pat, ty, has_value),
            syn::Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => {
                let fixed = name.mutability.is_none() && has_value;
                let span = self.span(&name.ident);
                Ok(Pattern::Var(self.declare(&name.ident.to_string(), ty.clone(), fixed, span)))
            }
            syn::Pat::Tuple(tuple) => {
                let wrong = self.types.resolve_outermost(ty) == Ty::Wrong;
                let part = |_| if wrong { Ty::Wrong } else { self.types.any() };
                let parts: Vec<Ty> = tuple.elems.iter().map(part).collect();
                if !self.types.unify(ty, &Ty::Tuple(parts.as_slice().into())) {
                    let message = format!("this takes a tuple apart, found a `{}`", self.show(ty));
                    return Err(self.refuse(Code::RustType, self.span(tuple), message));
                }
                let elems = tuple.elems.iter().zip(&parts);
                let elems = elems.map(|(part, ty)| self.try_bind(part, ty, has_value));
                Ok(Pattern::Tuple(elems.collect::<Result<_, _>>()?))
            }
            other => Err(self.refuse_construct(&other.span(), "this pattern")),
        }
    }
}
