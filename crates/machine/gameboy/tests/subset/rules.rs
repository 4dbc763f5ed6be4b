//! One visitor, one rule a construct: what the subset leaves out.

use std::collections::BTreeSet;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// Methods of integers, arrays and slices that the kernel compiler knows.
const KNOWN_METHODS: [&str; 19] = [
    "wrapping_add",
    "wrapping_sub",
    "wrapping_mul",
    "wrapping_neg",
    "wrapping_shl",
    "wrapping_shr",
    "rotate_left",
    "rotate_right",
    "reverse_bits",
    "swap_bytes",
    "count_ones",
    "leading_zeros",
    "trailing_zeros",
    "min",
    "max",
    "abs",
    "saturating_sub",
    "saturating_add",
    "len",
];

const KNOWN_DERIVES: [&str; 5] = ["Clone", "Copy", "Debug", "PartialEq", "Eq"];
const KNOWN_ATTRIBUTES: [&str; 10] =
    ["cfg", "doc", "inline", "cold", "derive", "repr", "allow", "expect", "rustfmt", "must_use"];
const UNKNOWN_TYPES: [&str; 11] =
    ["f32", "f64", "str", "char", "String", "Option", "Result", "Vec", "Box", "Self", "dyn"];

/// Names of the functions that the sources define in `impl` blocks.
pub(crate) fn methods_of<'a>(files: impl IntoIterator<Item = &'a syn::File>) -> BTreeSet<String> {
    struct Methods(BTreeSet<String>);
    impl Visit<'_> for Methods {
        fn visit_impl_item_fn(&mut self, function: &syn::ImplItemFn) {
            self.0.insert(function.sig.ident.to_string());
        }
    }
    let mut methods = Methods(BTreeSet::new());
    for file in files {
        methods.visit_file(file);
    }
    methods.0
}

/// Every departure from the subset, as `line: what`.
pub(crate) fn check(file: &syn::File, own_methods: &BTreeSet<String>) -> Vec<String> {
    let mut rules = Rules { own_methods, found: Vec::new() };
    rules.visit_file(file);
    rules.found
}

struct Rules<'a> {
    own_methods: &'a BTreeSet<String>,
    found: Vec<String>,
}

impl Rules<'_> {
    fn refuse(&mut self, at: &impl Spanned, what: &str) {
        self.found.push(format!("{}: {what}", at.span().start().line));
    }
}

impl<'ast> Visit<'ast> for Rules<'_> {
    fn visit_generics(&mut self, generics: &'ast syn::Generics) {
        if !generics.params.is_empty() || generics.where_clause.is_some() {
            self.refuse(generics, "generics");
        }
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        let name = &attribute.path().segments[0].ident;
        if !KNOWN_ATTRIBUTES.iter().any(|known| name == known) {
            self.refuse(attribute, &format!("attribute `{name}`"));
        }
        if name == "derive" {
            let _ = attribute.parse_nested_meta(|meta| {
                if !KNOWN_DERIVES.iter().any(|known| meta.path.is_ident(known)) {
                    self.refuse(&meta.path, "an unknown derive");
                }
                Ok(())
            });
        }
    }

    fn visit_item(&mut self, item: &'ast syn::Item) {
        match item {
            syn::Item::Trait(_) | syn::Item::TraitAlias(_) => self.refuse(item, "traits"),
            syn::Item::Static(_) => self.refuse(item, "statics"),
            syn::Item::Macro(_) => self.refuse(item, "macros"),
            syn::Item::Union(_) | syn::Item::ForeignMod(_) | syn::Item::ExternCrate(_) => {
                self.refuse(item, "an item of this kind");
            }
            syn::Item::Impl(block) if block.trait_.is_some() => self.refuse(item, "traits"),
            syn::Item::Fn(function) if !matches!(function.sig.safety, syn::Safety::Default) => {
                self.refuse(item, "unsafe functions");
            }
            _ => visit::visit_item(self, item),
        }
    }

    fn visit_field(&mut self, field: &'ast syn::Field) {
        if matches!(field.ty, syn::Type::Reference(_) | syn::Type::Ptr(_)) {
            self.refuse(field, "references in structs");
        }
        visit::visit_field(self, field);
    }

    fn visit_variant(&mut self, variant: &'ast syn::Variant) {
        if !variant.fields.is_empty() {
            self.refuse(variant, "enums with payload");
        }
        visit::visit_variant(self, variant);
    }

    fn visit_type_path(&mut self, path: &'ast syn::TypePath) {
        if let Some(name) = path.path.segments.last().map(|segment| segment.ident.to_string())
            && UNKNOWN_TYPES.contains(&name.as_str())
        {
            self.refuse(path, &format!("type `{name}`"));
        }
        visit::visit_type_path(self, path);
    }

    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        // Constants are written in capitals; a lower-case name would bind.
        if pattern.ident.to_string().starts_with(char::is_lowercase) {
            self.refuse(pattern, "patterns that bind");
        }
    }

    fn visit_pat_type(&mut self, parameter: &'ast syn::PatType) {
        // A parameter's name may bind.
        self.visit_type(&parameter.ty);
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        if let syn::Pat::Type(pattern) = &local.pat {
            self.visit_type(&pattern.ty);
        }
        if let Some(init) = &local.init {
            self.visit_expr(&init.expr);
            if init.diverge.is_some() {
                self.refuse(local, "let in conditions");
            }
        }
    }

    fn visit_pat_guard(&mut self, pattern: &'ast syn::PatGuard) {
        self.refuse(pattern, "match guards");
    }

    fn visit_label(&mut self, label: &'ast syn::Label) {
        self.refuse(label, "labels");
    }

    fn visit_lit(&mut self, literal: &'ast syn::Lit) {
        match literal {
            syn::Lit::Int(_) | syn::Lit::Bool(_) => {}
            syn::Lit::Float(_) => self.refuse(literal, "floats"),
            _ => self.refuse(literal, "strings and characters"),
        }
    }

    fn visit_expr_for_loop(&mut self, each: &'ast syn::ExprForLoop) {
        if !matches!(*each.expr, syn::Expr::Range(_)) {
            self.refuse(&each.expr, "loops over anything but ranges");
        }
        self.visit_expr(&each.expr);
        self.visit_block(&each.body);
        if let Some(label) = &each.label {
            self.visit_label(label);
        }
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let name = call.method.to_string();
        if !self.own_methods.contains(&name) && !KNOWN_METHODS.contains(&name.as_str()) {
            self.refuse(&call.method, &format!("method `{name}`"));
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr(&mut self, expression: &'ast syn::Expr) {
        let what = match expression {
            syn::Expr::Closure(_) => "closures",
            // Flags, which the kernel compiler knows as rustc does (`cfg!(color)`).
            syn::Expr::Macro(call) if call.mac.path.is_ident("cfg") => return,
            syn::Expr::Macro(_) => "macros",
            syn::Expr::Unsafe(_) => "unsafe",
            syn::Expr::Let(_) => "let in conditions",
            syn::Expr::Try(_) => "the `?` operator",
            syn::Expr::Async(_) | syn::Expr::Await(_) | syn::Expr::Yield(_) => "async",
            syn::Expr::RawAddr(_) => "raw pointers",
            _ => return visit::visit_expr(self, expression),
        };
        self.refuse(expression, what);
    }

    fn visit_stmt_macro(&mut self, invocation: &'ast syn::StmtMacro) {
        self.refuse(invocation, "macros");
    }
}
