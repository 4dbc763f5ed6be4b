//! Conditional compilation: removes the code that `#[cfg(...)]` excludes before any other part
//! reads it, and replaces `cfg!(...)` by `true` or `false`, as rustc does.

use syn::punctuated::Punctuated;
use syn::visit_mut::{self, VisitMut};

/// Applies every condition in a text. A condition of an unknown form stays, and is refused like any
/// other attribute.
pub(super) fn apply(file: &mut syn::File, flags: &[&str]) {
    let mut conditions = Conditions { flags };
    if !conditions.keep(&mut file.attrs) {
        file.items.clear();
    }
    conditions.visit_file_mut(file);
}

struct Conditions<'a> {
    flags: &'a [&'a str],
}

impl Conditions<'_> {
    /// Removes conditions of a known form, and returns true if all of them hold.
    fn keep(&self, attributes: &mut Vec<syn::Attribute>) -> bool {
        let mut holds = true;
        attributes.retain(|attribute| {
            if !attribute.path().is_ident("cfg") {
                return true;
            }
            let condition = attribute.parse_args().ok();
            let Some(value) = condition.and_then(|it: syn::Meta| self.value(&it)) else {
                return true;
            };
            holds &= value;
            false
        });
        holds
    }

    /// Returns the value of a condition made of flags, `not`, `all` and `any`.
    fn value(&self, condition: &syn::Meta) -> Option<bool> {
        match condition {
            syn::Meta::Path(flag) => {
                let name = flag.get_ident()?.to_string();
                Some(self.flags.contains(&name.as_str()))
            }
            syn::Meta::List(list) => {
                type Parts = Punctuated<syn::Meta, syn::Token![,]>;
                let parts = list.parse_args_with(Parts::parse_terminated).ok()?;
                let values: Option<Vec<bool>> = parts.iter().map(|it| self.value(it)).collect();
                let values = values?;
                match list.path.get_ident()?.to_string().as_str() {
                    "not" => values.first().map(|value| !value),
                    "all" => Some(values.iter().all(|value| *value)),
                    "any" => Some(values.iter().any(|value| *value)),
                    _ => None,
                }
            }
            syn::Meta::NameValue(_) => None,
        }
    }

    /// Removes from a list separated by commas the items that conditions exclude.
    fn retain<T>(
        &self,
        list: &mut Punctuated<T, syn::Token![,]>,
        attributes: impl Fn(&mut T) -> &mut Vec<syn::Attribute>,
    ) {
        let all = std::mem::take(list);
        let enabled =
            all.into_iter().filter_map(|mut it| self.keep(attributes(&mut it)).then_some(it));
        *list = enabled.collect();
    }
}

fn item_attributes(item: &mut syn::Item) -> Option<&mut Vec<syn::Attribute>> {
    match item {
        syn::Item::Const(it) => Some(&mut it.attrs),
        syn::Item::Enum(it) => Some(&mut it.attrs),
        syn::Item::Fn(it) => Some(&mut it.attrs),
        syn::Item::Impl(it) => Some(&mut it.attrs),
        syn::Item::Mod(it) => Some(&mut it.attrs),
        syn::Item::Struct(it) => Some(&mut it.attrs),
        syn::Item::Use(it) => Some(&mut it.attrs),
        _ => None,
    }
}

fn expression_attributes(expression: &mut syn::Expr) -> Option<&mut Vec<syn::Attribute>> {
    match expression {
        syn::Expr::Assign(it) => Some(&mut it.attrs),
        syn::Expr::Binary(it) => Some(&mut it.attrs),
        syn::Expr::Block(it) => Some(&mut it.attrs),
        syn::Expr::Call(it) => Some(&mut it.attrs),
        syn::Expr::If(it) => Some(&mut it.attrs),
        syn::Expr::Match(it) => Some(&mut it.attrs),
        syn::Expr::MethodCall(it) => Some(&mut it.attrs),
        syn::Expr::Return(it) => Some(&mut it.attrs),
        syn::Expr::While(it) => Some(&mut it.attrs),
        _ => None,
    }
}

fn statement_attributes(statement: &mut syn::Stmt) -> Option<&mut Vec<syn::Attribute>> {
    match statement {
        syn::Stmt::Local(it) => Some(&mut it.attrs),
        syn::Stmt::Item(item) => item_attributes(item),
        syn::Stmt::Expr(it, _) => expression_attributes(it),
        syn::Stmt::Macro(it) => Some(&mut it.attrs),
    }
}

impl VisitMut for Conditions<'_> {
    fn visit_file_mut(&mut self, file: &mut syn::File) {
        file.items.retain_mut(|item| item_attributes(item).is_none_or(|it| self.keep(it)));
        visit_mut::visit_file_mut(self, file);
    }

    fn visit_item_mod_mut(&mut self, module: &mut syn::ItemMod) {
        if let Some((_, items)) = &mut module.content {
            items.retain_mut(|item| item_attributes(item).is_none_or(|it| self.keep(it)));
        }
        visit_mut::visit_item_mod_mut(self, module);
    }

    fn visit_item_impl_mut(&mut self, block: &mut syn::ItemImpl) {
        block.items.retain_mut(|item| match item {
            syn::ImplItem::Fn(function) => self.keep(&mut function.attrs),
            _ => true,
        });
        visit_mut::visit_item_impl_mut(self, block);
    }

    fn visit_fields_named_mut(&mut self, fields: &mut syn::FieldsNamed) {
        self.retain(&mut fields.named, |field| &mut field.attrs);
        visit_mut::visit_fields_named_mut(self, fields);
    }

    fn visit_expr_struct_mut(&mut self, value: &mut syn::ExprStruct) {
        self.retain(&mut value.fields, |field| &mut field.attrs);
        visit_mut::visit_expr_struct_mut(self, value);
    }

    fn visit_expr_match_mut(&mut self, choice: &mut syn::ExprMatch) {
        choice.arms.retain_mut(|arm| self.keep(&mut arm.attrs));
        visit_mut::visit_expr_match_mut(self, choice);
    }

    fn visit_block_mut(&mut self, block: &mut syn::Block) {
        block.stmts.retain_mut(|it| statement_attributes(it).is_none_or(|it| self.keep(it)));
        visit_mut::visit_block_mut(self, block);
    }

    fn visit_expr_mut(&mut self, expression: &mut syn::Expr) {
        if let syn::Expr::Macro(call) = expression
            && call.mac.path.is_ident("cfg")
            && let Ok(condition) = call.mac.parse_body::<syn::Meta>()
            && let Some(value) = self.value(&condition)
        {
            let span = syn::spanned::Spanned::span(&call.mac.path);
            let lit = syn::Lit::Bool(syn::LitBool { value, span });
            *expression = syn::Expr::Lit(syn::ExprLit { attrs: Vec::new(), lit });
        }
        visit_mut::visit_expr_mut(self, expression);
    }
}
