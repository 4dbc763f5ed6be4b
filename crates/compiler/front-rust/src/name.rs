//! Resolves paths to items, and written types to types.

use super::item::{Def, Field, Items, Owner, Param, Refused, Scope, Signature};
use super::ty::{Int, Ty};
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use std::rc::Rc;
use syn::spanned::Spanned;

/// Greatest length of a chain of `use`.
const MAX_USES: usize = 32;

/// Namespace of a module: types or values.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Space {
    Types,
    Values,
}

/// A value that a path names.
pub(super) enum Named {
    Const(usize),
    Function(usize),
    /// A variant of an enum: which enum and its discriminant.
    Variant(usize, i128),
}

impl Items<'_> {
    /// Returns the type or module that a path names.
    pub(super) fn type_named(&self, path: &syn::Path, scope: Scope) -> Result<Def, Refused> {
        let names = self.plain(path, scope)?;
        self.resolve(&names, scope.module, Space::Types, MAX_USES)
            .ok_or_else(|| self.unknown(scope, path, "type"))
    }

    /// Returns the constant, function or variant that a path names.
    pub(super) fn value_named(&self, path: &syn::Path, scope: Scope) -> Result<Named, Refused> {
        let names = self.plain(path, scope)?;
        self.find_value(&names, scope).ok_or_else(|| self.unknown(scope, path, "name"))
    }

    /// Looks a value up; an unknown name is `None`, not a fault.
    pub(super) fn find_value(&self, names: &[&syn::Ident], scope: Scope) -> Option<Named> {
        match self.resolve(names, scope.module, Space::Values, MAX_USES) {
            Some(Def::Const(id)) => return Some(Named::Const(id)),
            Some(Def::Function(id)) => return Some(Named::Function(id)),
            _ => {}
        }
        let (last, before) = names.split_last()?;
        let last = last.to_string();
        match self.resolve(before, scope.module, Space::Types, MAX_USES)? {
            Def::Enum(id) => {
                let variant = self.enums[id].variants.iter().find(|variant| variant.0 == last);
                let method = || self.methods.get(&(Owner::Enum(id), last.clone()));
                match variant {
                    Some(variant) => Some(Named::Variant(id, variant.1)),
                    None => method().map(|&id| Named::Function(id)),
                }
            }
            Def::Struct(id) => {
                self.methods.get(&(Owner::Struct(id), last)).map(|&id| Named::Function(id))
            }
            _ => None,
        }
    }

    /// Returns the function that an entry point's path names: searched from the root, or by the
    /// path's last names if they are unique.
    pub(super) fn entry(&self, path: &str) -> Option<usize> {
        let candidates = self.functions.iter().enumerate().filter(|(_, function)| {
            let full = self.full_name(function.scope.module, &function.name);
            full == path || full.ends_with(&format!("::{path}"))
        });
        let matching: Vec<usize> = candidates.map(|(id, _)| id).collect();
        match matching[..] {
            [id] => Some(id),
            _ => None,
        }
    }

    /// Returns the path of an item from the root.
    pub(super) fn full_name(&self, module: usize, name: &str) -> String {
        let mut full = name.to_string();
        let mut inner = module;
        while let Some(parent) = self.modules[inner].parent {
            let entry =
                self.modules[parent].types.iter().find(|(_, def)| **def == Def::Module(inner));
            full = format!("{}::{full}", entry.map_or("?", |(name, _)| name));
            inner = parent;
        }
        full
    }

    fn plain<'p>(&self, path: &'p syn::Path, scope: Scope) -> Result<Vec<&'p syn::Ident>, Refused> {
        let plain = path.segments.iter().all(|segment| segment.arguments.is_none());
        if !plain || path.leading_colon.is_some() {
            return Err(self.refuse_construct(scope, path, "a path with arguments"));
        }
        Ok(path.segments.iter().map(|segment| &segment.ident).collect())
    }

    fn unknown(&self, scope: Scope, at: &impl Spanned, what: &str) -> Refused {
        let span = self.span(scope, at);
        let message = format!("this {what} is defined in none of the texts");
        self.fault(Diagnostic::error(Code::RustName, span, message));
        Refused
    }

    fn resolve(
        &self,
        names: &[&syn::Ident],
        from: usize,
        space: Space,
        hops: usize,
    ) -> Option<Def> {
        let (mut module, mut remaining) = (from, names);
        let mut began = false;
        while let Some((first, after)) = remaining.split_first() {
            let name = first.to_string();
            match name.as_str() {
                "crate" => module = 0,
                "self" => {}
                "super" => module = self.modules[module].parent?,
                _ if after.is_empty() => return self.lookup(module, &name, space, hops),
                _ => match self.lookup(module, &name, Space::Types, hops)? {
                    Def::Module(inner) => module = inner,
                    _ => return None,
                },
            }
            began = true;
            remaining = after;
        }
        began.then_some(Def::Module(module))
    }

    fn lookup(&self, module: usize, name: &str, space: Space, hops: usize) -> Option<Def> {
        let definition = match space {
            Space::Types => self.modules[module].types.get(name),
            Space::Values => self.modules[module].values.get(name),
        };
        if let Some(&def) = definition {
            return Some(def);
        }
        let path = self.modules[module].imports.get(name)?;
        self.resolve(path, module, space, hops.checked_sub(1)?)
    }

    /// Returns the type that syntax stands for.
    pub(super) fn ty(&self, ty: &syn::Type, scope: Scope) -> Result<Ty, Refused> {
        match ty {
            syn::Type::Paren(inner) => self.ty(&inner.elem, scope),
            syn::Type::Group(inner) => self.ty(&inner.elem, scope),
            syn::Type::Array(array) => {
                let len = self.length(&array.len, scope)?;
                Ok(Ty::Array(Rc::new(self.ty(&array.elem, scope)?), len))
            }
            syn::Type::Slice(slice) => Ok(Ty::Slice(Rc::new(self.ty(&slice.elem, scope)?))),
            syn::Type::Reference(to) if to.lifetime.is_none() => {
                Ok(Ty::reference(to.mutability.is_some(), self.ty(&to.elem, scope)?))
            }
            syn::Type::Tuple(tuple) if tuple.elems.is_empty() => Ok(Ty::Unit),
            syn::Type::Tuple(tuple) => {
                let parts = tuple.elems.iter().map(|part| self.ty(part, scope));
                Ok(Ty::Tuple(parts.collect::<Result<_, _>>()?))
            }
            syn::Type::Never(_) => Ok(Ty::Never),
            syn::Type::Path(path) if path.qself.is_none() => {
                if let Some(name) = path.path.get_ident().map(ToString::to_string) {
                    if name == "bool" {
                        return Ok(Ty::Bool);
                    }
                    if let Some(int) = Int::named(&name) {
                        return Ok(Ty::Int(int));
                    }
                    if matches!(name.as_str(), "f32" | "f64" | "i128" | "u128" | "char" | "str") {
                        return Err(self.refuse_construct(scope, ty, &format!("type `{name}`")));
                    }
                }
                match self.type_named(&path.path, scope)? {
                    Def::Struct(id) => Ok(Ty::Struct(id)),
                    Def::Enum(id) => Ok(Ty::Enum(id)),
                    _ => Err(self.unknown(scope, ty, "type")),
                }
            }
            other => Err(self.refuse_construct(scope, other, "this type")),
        }
    }

    /// Returns the fields of a struct.
    pub(super) fn fields(&self, id: usize) -> &[Field] {
        let item = &self.structs[id];
        if let Some(fields) = item.fields.get() {
            return fields;
        }
        // This is outside of `get_or_init`, because a length may ask for the fields again.
        let fields = item.syntax.named.iter().map(|field| {
            self.attributes(&field.attrs, item.scope);
            let mut ty = self.ty(&field.ty, item.scope).unwrap_or(Ty::Wrong);
            if matches!(ty, Ty::Ref { .. } | Ty::Slice(_)) {
                self.refuse_construct(item.scope, field, "a reference in a struct");
                ty = Ty::Wrong;
            }
            let name = field.ident.as_ref().map(ToString::to_string).unwrap_or_default();
            Field { name, ty, span: self.span(item.scope, field) }
        });
        let fields = fields.collect();
        item.fields.get_or_init(|| fields)
    }

    /// Returns the type of a constant.
    pub(super) fn const_type(&self, id: usize) -> Ty {
        let item = &self.consts[id];
        if let Some(ty) = item.ty.get() {
            return ty.clone();
        }
        let ty = self.ty(&item.syntax.ty, item.scope).unwrap_or(Ty::Wrong);
        item.ty.get_or_init(|| ty).clone()
    }

    /// Returns the types of a function.
    pub(super) fn signature(&self, id: usize) -> Rc<Signature> {
        let function = &self.functions[id];
        if let Some(types) = function.types.get() {
            return Rc::clone(types);
        }
        let scope = function.scope;
        let inputs = function.signature.inputs.iter();
        let params = inputs.map(|input| self.param(input, function.owner, scope)).collect();
        let result = match &function.signature.output {
            syn::ReturnType::Default => Ty::Unit,
            syn::ReturnType::Type(_, ty) => match self.ty(ty, scope) {
                Ok(Ty::Ref { .. }) => {
                    self.refuse_construct(scope, ty, "a reference as result");
                    Ty::Wrong
                }
                Ok(ty) => ty,
                Err(Refused) => Ty::Wrong,
            },
        };
        Rc::clone(function.types.get_or_init(|| Rc::new(Signature { params, result })))
    }

    fn param(&self, input: &syn::FnArg, owner: Option<Owner>, scope: Scope) -> Param {
        let span = self.span(scope, input);
        match input {
            syn::FnArg::Receiver(receiver) => {
                let self_ty = match owner {
                    Some(Owner::Struct(id)) => Ty::Struct(id),
                    Some(Owner::Enum(id)) => Ty::Enum(id),
                    None => Ty::Wrong,
                };
                let ty = match &receiver.kind {
                    syn::ReceiverKind::Value => self_ty,
                    syn::ReceiverKind::Reference(_, None, mutable) => {
                        Ty::reference(mutable.is_some(), self_ty)
                    }
                    _ => {
                        self.refuse_construct(scope, receiver, "a `self` of this kind");
                        Ty::Wrong
                    }
                };
                Param { name: "self".into(), ty, mutable: receiver.mutability.is_some(), span }
            }
            syn::FnArg::Typed(param) => {
                let ty = self.ty(&param.ty, scope).unwrap_or(Ty::Wrong);
                match &*param.pat {
                    syn::Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => {
                        let mutable = name.mutability.is_some();
                        Param { name: name.ident.to_string(), ty, mutable, span }
                    }
                    syn::Pat::Wild(_) => Param { name: "_".into(), ty, mutable: false, span },
                    other => {
                        self.refuse_construct(scope, other, "a pattern as parameter");
                        Param { name: "_".into(), ty: Ty::Wrong, mutable: false, span }
                    }
                }
            }
        }
    }

    /// Returns a type as the user writes it.
    pub(super) fn show(&self, ty: &Ty) -> String {
        match ty {
            Ty::Int(int) => int.name().into(),
            Ty::Bool => "bool".into(),
            Ty::Unit => "()".into(),
            Ty::Never => "!".into(),
            Ty::Struct(id) => self.structs[*id].name.clone(),
            Ty::Enum(id) => self.enums[*id].name.clone(),
            Ty::Array(of, len) => format!("[{}; {len}]", self.show(of)),
            Ty::Slice(of) => format!("[{}]", self.show(of)),
            Ty::Tuple(of) => {
                let parts: Vec<String> = of.iter().map(|ty| self.show(ty)).collect();
                format!("({})", parts.join(", "))
            }
            Ty::Ref { mutable: true, to } => format!("&mut {}", self.show(to)),
            Ty::Ref { mutable: false, to } => format!("&{}", self.show(to)),
            Ty::Var(_) => "integer".into(),
            Ty::Wrong => "?".into(),
        }
    }
}
