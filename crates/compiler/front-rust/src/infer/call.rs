//! Calls of functions and methods.

use super::Infer;
use super::expression::Typed;
use crate::item::{Owner, Refused};
use crate::name::Named;
use crate::tree::{Expr, ExprKind, Method};
use crate::ty::Ty;
use gbxcule_ir::diagnostic::Code;
use syn::punctuated::Punctuated;

type Args = Punctuated<syn::Expr, syn::Token![,]>;

impl Infer<'_, '_> {
    pub(super) fn call(&mut self, call: &syn::ExprCall) -> Typed {
        let syn::Expr::Path(path) = &*call.func else {
            return Err(self.refuse_construct(call, "a call of this"));
        };
        match self.program.value_named(&path.path, self.scope)? {
            Named::Function(id) => self.call_of(id, Vec::new(), &call.args, call),
            _ => Err(self.refuse_construct(call, "a call of this")),
        }
    }

    /// Infers a call whose first arguments are given.
    fn call_of(
        &mut self,
        id: usize,
        mut args: Vec<Expr>,
        rest: &Args,
        at: &impl syn::spanned::Spanned,
    ) -> Typed {
        let signature = self.program.signature(id);
        let (wanted, found) = (signature.params.len(), args.len() + rest.len());
        if wanted != found {
            let name = &self.program.functions[id].name;
            let message = format!("`{name}` takes {wanted} arguments, found {found}");
            return Err(self.refuse(Code::RustType, self.span(at), message));
        }
        for (arg, param) in rest.iter().zip(&signature.params[args.len()..]) {
            let arg = self.expr(arg);
            args.push(self.coerce(arg, &param.ty));
        }
        self.calls.push((id, self.span(at)));
        Ok((ExprKind::Call(id, args), signature.result.clone()))
    }

    pub(super) fn method_call(&mut self, call: &syn::ExprMethodCall) -> Typed {
        if call.turbofish.is_some() {
            return Err(self.refuse_construct(call, "a method with arguments for generics"));
        }
        let receiver = self.expr(&call.receiver);
        let receiver = self.referred(receiver);
        let name = call.method.to_string();
        let owner = match self.types.resolve_outermost(&receiver.ty) {
            Ty::Struct(id) => Owner::Struct(id),
            Ty::Enum(id) => Owner::Enum(id),
            Ty::Array(..) | Ty::Slice(_) if name == "len" && call.args.is_empty() => {
                return Ok((ExprKind::Len(Box::new(receiver)), Ty::USIZE));
            }
            Ty::Wrong => return Err(Refused),
            _ => return self.integer_method(receiver, call, &name),
        };
        let Some(&id) = self.program.methods.get(&(owner, name)) else {
            let message = format!("`{}` has no such method", self.program.owner_name(owner));
            return Err(self.refuse(Code::RustName, self.span(&call.method), message));
        };
        let signature = self.program.signature(id);
        let span = receiver.span;
        let receiver = match signature.params.first().map(|param| &param.ty) {
            Some(ty @ Ty::Ref { .. }) => {
                Expr { kind: ExprKind::Ref(Box::new(receiver)), ty: ty.clone(), span }
            }
            _ => receiver,
        };
        self.call_of(id, vec![receiver], &call.args, call)
    }

    fn integer_method(&mut self, receiver: Expr, call: &syn::ExprMethodCall, name: &str) -> Typed {
        let receiver_ty = self.types.resolve_outermost(&receiver.ty);
        // A literal of unknown type has only a trait's methods.
        let of_trait = matches!(name, "min" | "max") && self.types.is_open_integer(&receiver_ty);
        let method = Method::named(name).filter(|_| of_trait || matches!(receiver_ty, Ty::Int(_)));
        let Some((method, argument, result)) = method else {
            let span = self.span(&call.method);
            let message = match self.types.is_open_integer(&receiver_ty) {
                true => format!("the integer that `{name}` is called on has no type yet"),
                false => format!("there is no method `{name}` of `{}`", self.show(&receiver_ty)),
            };
            return Err(self.refuse(Code::RustName, span, message));
        };
        if call.args.len() != usize::from(argument.is_some()) {
            let wanted = usize::from(argument.is_some());
            let message = format!("`{name}` takes {wanted} arguments, found {}", call.args.len());
            return Err(self.refuse(Code::RustType, self.span(call), message));
        }
        let mut args = vec![receiver];
        if let (Some(argument), Some(arg)) = (argument, call.args.first()) {
            let wanted = argument.of(&receiver_ty);
            let arg = self.expr(arg);
            args.push(self.coerce(arg, &wanted));
        }
        let result = result.of(&receiver_ty);
        Ok((ExprKind::Method(method, args), result))
    }
}
