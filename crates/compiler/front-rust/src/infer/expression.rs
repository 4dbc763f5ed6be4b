//! Expressions: literals, names, parts of values, composites.

use super::Infer;
use crate::item::{Def, Refused};
use crate::name::Named;
use crate::tree::{Expr, ExprKind};
use crate::ty::{Int, Ty};
use gbxcule_ir::diagnostic::Code;
use gbxcule_ir::source::Span;
use std::rc::Rc;

/// Expression with its type.
pub(super) type Typed = Result<(ExprKind, Ty), Refused>;

impl Infer<'_, '_> {
    pub(super) fn expr(&mut self, expr: &syn::Expr) -> Expr {
        let span = self.span(expr);
        let (kind, ty) = self.try_expr(expr).unwrap_or((ExprKind::Wrong, Ty::Wrong));
        Expr { kind, ty, span }
    }

    fn try_expr(&mut self, expr: &syn::Expr) -> Typed {
        match expr {
            syn::Expr::Paren(inner) => self.try_expr(&inner.expr),
            syn::Expr::Group(inner) => self.try_expr(&inner.expr),
            syn::Expr::Lit(literal) => self.literal(&literal.lit),
            syn::Expr::Path(path) if path.qself.is_none() => self.path(&path.path),
            syn::Expr::Field(field) => self.field(field),
            syn::Expr::Index(index) => self.index(index),
            syn::Expr::Reference(reference) => {
                let to = self.expr(&reference.expr);
                let ty = Ty::reference(reference.mutability.is_some(), to.ty.clone());
                Ok((ExprKind::Ref(Box::new(to)), ty))
            }
            syn::Expr::Struct(literal) => self.structure(literal),
            syn::Expr::Array(array) => self.array(array),
            syn::Expr::Repeat(repeat) => self.repeat(repeat),
            syn::Expr::Tuple(tuple) if tuple.elems.is_empty() => Ok((ExprKind::Unit, Ty::Unit)),
            syn::Expr::Tuple(tuple) => {
                let parts: Vec<Expr> = tuple.elems.iter().map(|part| self.expr(part)).collect();
                let ty = Ty::Tuple(parts.iter().map(|part| part.ty.clone()).collect());
                Ok((ExprKind::Parts(parts), ty))
            }
            syn::Expr::Unary(unary) => self.unary(unary),
            syn::Expr::Binary(binary) => self.binary(binary),
            syn::Expr::Assign(assign) => self.assign(assign),
            syn::Expr::Cast(cast) => self.cast(cast),
            syn::Expr::Call(call) => self.call(call),
            syn::Expr::MethodCall(call) => self.method_call(call),
            syn::Expr::Block(block) if block.label.is_none() => {
                let (block, ty) = self.block(&block.block);
                Ok((ExprKind::Block(block), ty))
            }
            syn::Expr::If(choice) => self.choice(choice),
            syn::Expr::Match(choice) => self.matches(choice),
            syn::Expr::While(repeat) => self.while_loop(repeat),
            syn::Expr::Loop(repeat) => self.infinite_loop(repeat),
            syn::Expr::ForLoop(each) => self.for_loop(each),
            syn::Expr::Break(leave) => self.leave(leave),
            syn::Expr::Continue(next) => self.next(next),
            syn::Expr::Return(leave) => self.give(leave),
            other => Err(self.refuse_construct(other, construct(other))),
        }
    }

    fn literal(&mut self, literal: &syn::Lit) -> Typed {
        match literal {
            syn::Lit::Bool(value) => Ok((ExprKind::Bool(value.value), Ty::Bool)),
            syn::Lit::Int(number) => {
                let ty = match number.suffix() {
                    "" => self.types.integer(),
                    suffix => match Int::named(suffix) {
                        Some(int) => Ty::Int(int),
                        None => return Err(self.refuse_construct(number, "a literal of this type")),
                    },
                };
                // In a pattern the sign is part of the literal.
                match number.base10_parse::<i128>() {
                    Ok(value) if value <= i128::from(u64::MAX) => Ok((ExprKind::Number(value), ty)),
                    _ => Err(self.refuse_construct(number, "a literal of more than 64 bits")),
                }
            }
            other => {
                Err(self.refuse_construct(other, "a literal that is neither integer nor `bool`"))
            }
        }
    }

    fn path(&mut self, path: &syn::Path) -> Typed {
        if let Some(name) = path.get_ident()
            && let Some(var) = self.find(name)
        {
            return Ok((ExprKind::Var(var), self.vars[var].ty.clone()));
        }
        match self.program.value_named(path, self.scope)? {
            Named::Const(id) => Ok((ExprKind::Const(id), self.program.const_type(id))),
            Named::Variant(id, number) => Ok((ExprKind::Number(number), Ty::Enum(id))),
            Named::Function(_) => Err(self.refuse_construct(path, "a function as a value")),
        }
    }

    /// Follows references to the expression that they refer to.
    pub(super) fn referred(&mut self, mut expr: Expr) -> Expr {
        while let Ty::Ref { to, .. } = self.types.resolve_outermost(&expr.ty) {
            let span = expr.span;
            expr = Expr { kind: ExprKind::Deref(Box::new(expr)), ty: (*to).clone(), span };
        }
        expr
    }

    fn field(&mut self, field: &syn::ExprField) -> Typed {
        let base = self.expr(&field.base);
        let base = self.referred(base);
        let span = self.span(&field.member);
        let member = match (&field.member, self.types.resolve_outermost(&base.ty)) {
            (_, Ty::Wrong) => return Err(Refused),
            (syn::Member::Named(name), Ty::Struct(id)) => {
                let fields = self.program.fields(id).iter().enumerate();
                let mut named = fields.filter(|(_, field)| name == field.name.as_str());
                named.next().map(|(position, field)| (position as u32, field.ty.clone()))
            }
            (syn::Member::Unnamed(index), Ty::Tuple(of)) => {
                of.get(index.index as usize).map(|ty| (index.index, ty.clone()))
            }
            _ => None,
        };
        let Some((position, ty)) = member else {
            let message = format!("a `{}` has no such field", self.show(&base.ty));
            return Err(self.refuse(Code::RustName, span, message));
        };
        Ok((ExprKind::Field(Box::new(base), position), ty))
    }

    fn index(&mut self, index: &syn::ExprIndex) -> Typed {
        let base = self.expr(&index.expr);
        let base = self.referred(base);
        let of = match self.types.resolve_outermost(&base.ty) {
            Ty::Array(of, _) | Ty::Slice(of) => of,
            Ty::Wrong => return Err(Refused),
            _ => {
                let message = format!("a `{}` has no elements", self.show(&base.ty));
                return Err(self.refuse(Code::RustType, base.span, message));
            }
        };
        let at = self.expr(&index.index);
        let at = self.coerce(at, &Ty::USIZE);
        Ok((ExprKind::Index(Box::new(base), Box::new(at)), (*of).clone()))
    }

    fn structure(&mut self, literal: &syn::ExprStruct) -> Typed {
        if literal.rest.is_some() {
            return Err(self.refuse_construct(literal, "a struct made from another one"));
        }
        let Def::Struct(id) = self.program.type_named(&literal.path, self.scope)? else {
            return Err(self.refuse_construct(literal, "a struct expression for this"));
        };
        let mut fields = Vec::new();
        for value in &literal.fields {
            let syn::Member::Named(name) = &value.member else { continue };
            let all = self.program.fields(id).iter().enumerate();
            let mut named = all.filter(|(_, field)| name == field.name.as_str());
            let Some((position, field)) = named.next() else {
                let message = format!("`{}` has no such field", self.program.structs[id].name);
                return Err(self.refuse(Code::RustName, self.span(name), message));
            };
            let part = self.expr(&value.expr);
            let part = self.coerce(part, &field.ty);
            fields.push((position as u32, part));
        }
        if fields.len() != self.program.fields(id).len() {
            let message = format!("`{}` needs all its fields", self.program.structs[id].name);
            return Err(self.refuse(Code::RustType, self.span(literal), message));
        }
        Ok((ExprKind::Struct(fields), Ty::Struct(id)))
    }

    fn array(&mut self, array: &syn::ExprArray) -> Typed {
        let of = self.types.any();
        let mut parts = Vec::new();
        for part in &array.elems {
            let part = self.expr(part);
            parts.push(self.coerce(part, &of));
        }
        let ty = Ty::Array(Rc::new(of), parts.len() as u32);
        Ok((ExprKind::Parts(parts), ty))
    }

    fn repeat(&mut self, repeat: &syn::ExprRepeat) -> Typed {
        let part = self.expr(&repeat.expr);
        let len = self.program.length(&repeat.len, self.scope)?;
        let ty = Ty::Array(Rc::new(part.ty.clone()), len);
        Ok((ExprKind::Repeat(Box::new(part), len), ty))
    }

    /// Reports types that don't fit.
    pub(super) fn mismatch(&mut self, span: Span, message: &str) -> Refused {
        self.refuse(Code::RustType, span, message)
    }
}

/// Names a construct outside the subset.
fn construct(expr: &syn::Expr) -> &'static str {
    match expr {
        syn::Expr::Closure(_) => "a closure",
        syn::Expr::Macro(_) => "a macro",
        syn::Expr::Unsafe(_) => "`unsafe`",
        syn::Expr::Let(_) => "`let` in a condition",
        syn::Expr::Try(_) => "the `?` operator",
        syn::Expr::Async(_) | syn::Expr::Await(_) | syn::Expr::Yield(_) => "`async`",
        syn::Expr::RawAddr(_) => "a raw pointer",
        syn::Expr::Range(_) => "a range outside `for` and `match`",
        syn::Expr::Block(_) => "a label",
        _ => "this expression",
    }
}
