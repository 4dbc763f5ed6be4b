//! Turns syntax into [`tree`](super::tree): resolves names and infers types as rustc does, in the
//! order of the text.
//!
//! A body is inferred when it is first needed. A text that rustc accepts gets the same types
//! here. A text that rustc refuses may get fewer messages here, but never another meaning.

mod block;
mod call;
mod control;
mod expression;
mod operator;
mod pattern;

use super::item::{Items, Refused, Scope};
use super::tree::{Block, Body, Expr, ExprKind, Var, VarId};
use super::ty::{Ty, Unifier};
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::source::Span;
use std::rc::Rc;
use syn::spanned::Spanned;

/// Infers the types of one body.
pub(super) struct Infer<'p, 'a> {
    program: &'p Items<'a>,
    scope: Scope,
    types: Unifier,
    vars: Vec<Var>,
    /// Visible names, innermost last.
    names: Vec<(String, VarId)>,
    result: Ty,
    loops: Vec<Loop>,
    calls: Vec<(usize, Span)>,
}

/// Loop around the current expression.
struct Loop {
    /// Type of the values that `break` gives, if the loop can have a value.
    value: Option<Ty>,
    left: bool,
}

impl<'a> Items<'a> {
    /// Returns the body of a function.
    pub(super) fn body(&self, id: usize) -> Rc<Body> {
        let function = &self.functions[id];
        if let Some(body) = function.body.get() {
            return Rc::clone(body);
        }
        let signature = self.signature(id);
        let mut infer = Infer::new(self, function.scope, signature.result.clone());
        for param in &signature.params {
            let fixed = !param.mutable;
            infer.declare(&param.name, param.ty.clone(), fixed, param.span);
        }
        let block = infer.block(function.block);
        let span = self.span(function.scope, function.block);
        let value = infer.coerced(block.0, block.1, span, &signature.result);
        Rc::clone(function.body.get_or_init(|| Rc::new(infer.finish(value))))
    }

    /// Infers an expression of a constant or of a length, which must have the given type.
    pub(super) fn constant_body(&self, expr: &syn::Expr, ty: &Ty, scope: Scope) -> Body {
        let mut infer = Infer::new(self, scope, Ty::Wrong);
        let value = infer.expr(expr);
        let value = infer.coerce(value, ty);
        infer.finish(value)
    }
}

impl<'p, 'a> Infer<'p, 'a> {
    fn new(program: &'p Items<'a>, scope: Scope, result: Ty) -> Self {
        Self {
            program,
            scope,
            types: Unifier::default(),
            vars: Vec::new(),
            names: Vec::new(),
            result,
            loops: Vec::new(),
            calls: Vec::new(),
        }
    }

    fn finish(self, value: Expr) -> Body {
        for var in &self.vars {
            if self.types.resolve(&var.ty).is_none() {
                let message = format!("nothing says of which type `{}` is", var.name);
                self.program.fault(Diagnostic::error(Code::RustType, var.span, message));
            }
        }
        Body { vars: self.vars, value, types: self.types, calls: self.calls }
    }

    fn span(&self, at: &impl Spanned) -> Span {
        self.program.span(self.scope, at)
    }

    fn refuse_construct(&self, at: &impl Spanned, what: &str) -> Refused {
        self.program.refuse_construct(self.scope, at, what)
    }

    fn refuse(&self, code: Code, span: Span, message: impl Into<String>) -> Refused {
        self.program.fault(Diagnostic::error(code, span, message));
        Refused
    }

    /// Declares a variable that is visible from here on.
    fn declare(&mut self, name: &str, ty: Ty, fixed: bool, span: Span) -> VarId {
        self.vars.push(Var { name: name.to_string(), ty, fixed, span });
        self.names.push((name.to_string(), self.vars.len() - 1));
        self.vars.len() - 1
    }

    fn find(&self, name: &syn::Ident) -> Option<VarId> {
        self.names.iter().rev().find(|(known, _)| name == known).map(|(_, var)| *var)
    }

    fn show(&self, ty: &Ty) -> String {
        let resolved = self.types.resolve(ty).unwrap_or(Ty::Wrong);
        if self.types.is_open_integer(ty) { "integer".into() } else { self.program.show(&resolved) }
    }

    /// Converts an expression to a type, or refuses it.
    fn coerce(&mut self, expr: Expr, to: &Ty) -> Expr {
        let (from, wanted) =
            (self.types.resolve_outermost(&expr.ty), self.types.resolve_outermost(to));
        if from == Ty::Never {
            return Expr { ty: to.clone(), ..expr };
        }
        if let (Ty::Ref { mutable: is, to: from }, Ty::Ref { mutable: wants, to: wanted }) =
            (&from, &wanted)
            && (*is || !wants)
        {
            let (held, slice) =
                (self.types.resolve_outermost(from), self.types.resolve_outermost(wanted));
            if let (Ty::Array(of, _), Ty::Slice(element)) = (&held, &slice)
                && self.types.unify(of, element)
            {
                let (span, ty) = (expr.span, to.clone());
                return Expr { kind: ExprKind::Unsize(Box::new(expr)), ty, span };
            }
            if self.types.unify(from, wanted) {
                return expr;
            }
        } else if self.types.unify(&from, &wanted) {
            return expr;
        }
        let message =
            format!("a `{}` is needed here, found a `{}`", self.show(to), self.show(&expr.ty));
        self.refuse(Code::RustType, expr.span, message);
        Expr { kind: ExprKind::Wrong, ty: Ty::Wrong, span: expr.span }
    }

    /// Converts a block to a value of a type.
    fn coerced(&mut self, block: Block, ty: Ty, span: Span, to: &Ty) -> Expr {
        self.coerce(Expr { kind: ExprKind::Block(block), ty, span }, to)
    }

    /// Returns the type that two alternative values have in common.
    fn join(&mut self, one: &Ty, other: &mut Expr) -> Ty {
        if self.types.resolve_outermost(one) == Ty::Never {
            return other.ty.clone();
        }
        let taken = std::mem::replace(&mut other.kind, ExprKind::Wrong);
        let expr = Expr { kind: taken, ty: other.ty.clone(), span: other.span };
        *other = self.coerce(expr, one);
        one.clone()
    }
}
