//! Items of all texts: modules, structs, enums, constants, functions. Items outside the subset are
//! refused here, even if they have no use.

use super::constant::Const;
use super::text::File;
use super::tree::Body;
use super::ty::{Int, Ty};
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::function::Inline;
use gbxcule_ir::source::Span;
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use syn::spanned::Spanned;

/// Definitions of all texts. The types of each definition are determined when it is first needed.
pub(super) struct Items<'a> {
    pub(super) files: &'a [File],
    pub(super) modules: Vec<Module<'a>>,
    pub(super) structs: Vec<Struct<'a>>,
    pub(super) enums: Vec<Enum>,
    pub(super) consts: Vec<Constant<'a>>,
    pub(super) functions: Vec<Function<'a>>,
    /// Functions of `impl` blocks by type and name.
    pub(super) methods: HashMap<(Owner, String), usize>,
    pub(super) faults: RefCell<Vec<Diagnostic>>,
}

/// A type with an `impl` block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Owner {
    Struct(usize),
    Enum(usize),
}

/// Definition that a name refers to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Def {
    Module(usize),
    Struct(usize),
    Enum(usize),
    Const(usize),
    Function(usize),
}

#[derive(Default)]
pub(super) struct Module<'a> {
    pub(super) parent: Option<usize>,
    pub(super) types: HashMap<String, Def>,
    pub(super) values: HashMap<String, Def>,
    pub(super) imports: HashMap<String, Vec<&'a syn::Ident>>,
}

pub(super) struct Struct<'a> {
    pub(super) name: String,
    pub(super) scope: Scope,
    pub(super) syntax: &'a syn::FieldsNamed,
    pub(super) span: Span,
    pub(super) fields: OnceCell<Vec<Field>>,
}

#[derive(Clone)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) ty: Ty,
    pub(super) span: Span,
}

pub(super) struct Enum {
    pub(super) name: String,
    pub(super) repr: Int,
    pub(super) variants: Vec<(String, i128)>,
}

pub(super) struct Constant<'a> {
    pub(super) name: String,
    pub(super) scope: Scope,
    pub(super) syntax: &'a syn::ItemConst,
    pub(super) span: Span,
    pub(super) ty: OnceCell<Ty>,
    /// Set while the constant is evaluated: a second request at that time means that the constant
    /// refers to itself.
    pub(super) open: OnceCell<()>,
    pub(super) value: OnceCell<Option<Rc<Const>>>,
}

pub(super) struct Function<'a> {
    /// Name; for a function of an `impl` block, after the type's name.
    pub(super) name: String,
    pub(super) scope: Scope,
    pub(super) owner: Option<Owner>,
    pub(super) signature: &'a syn::Signature,
    pub(super) block: &'a syn::Block,
    pub(super) inline: Inline,
    pub(super) span: Span,
    pub(super) types: OnceCell<Rc<Signature>>,
    pub(super) body: OnceCell<Rc<Body>>,
}

/// Types of a function's parameters and result.
pub(super) struct Signature {
    pub(super) params: Vec<Param>,
    pub(super) result: Ty,
}

pub(super) struct Param {
    pub(super) name: String,
    pub(super) ty: Ty,
    /// True if the variable itself may be changed.
    pub(super) mutable: bool,
    pub(super) span: Span,
}

/// Module in which names are looked up, and the text of that module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Scope {
    pub(super) module: usize,
    pub(super) file: usize,
}

/// Mark of a refused item, which was reported; the caller goes on without the item.
pub(super) struct Refused;

impl<'a> Items<'a> {
    pub(super) fn collect(files: &'a [File]) -> Self {
        let mut program = Self {
            files,
            modules: vec![Module::default()],
            structs: Vec::new(),
            enums: Vec::new(),
            consts: Vec::new(),
            functions: Vec::new(),
            methods: HashMap::new(),
            faults: RefCell::default(),
        };
        let mut blocks = Vec::new();
        for (file, parsed) in files.iter().enumerate() {
            let modules = parsed.modules.iter();
            let module = modules.fold(0, |parent, name| program.child(parent, name));
            program.items(&parsed.syntax.items, Scope { module, file }, &mut blocks);
        }
        for (block, scope) in blocks {
            program.methods_of(block, scope);
        }
        (0..program.structs.len()).for_each(|id| _ = program.fields(id));
        (0..program.consts.len()).for_each(|id| _ = program.const_type(id));
        (0..program.functions.len()).for_each(|id| _ = program.signature(id));
        program
    }

    pub(super) fn span(&self, scope: Scope, at: &impl Spanned) -> Span {
        self.files[scope.file].span(at)
    }

    /// Records a fault.
    pub(super) fn fault(&self, diagnostic: Diagnostic) {
        let mut faults = self.faults.borrow_mut();
        if !faults.contains(&diagnostic) {
            faults.push(diagnostic);
        }
    }

    /// Refuses a construct of Rust.
    pub(super) fn refuse_construct(&self, scope: Scope, at: &impl Spanned, what: &str) -> Refused {
        let message = format!("{what} is outside the subset of Rust that is translated");
        self.fault(Diagnostic::error(Code::RustSubset, self.span(scope, at), message));
        Refused
    }

    fn child(&mut self, parent: usize, name: &str) -> usize {
        if let Some(&Def::Module(module)) = self.modules[parent].types.get(name) {
            return module;
        }
        let module = self.modules.len();
        self.modules.push(Module { parent: Some(parent), ..Module::default() });
        self.modules[parent].types.insert(name.to_string(), Def::Module(module));
        module
    }

    fn items(
        &mut self,
        items: &'a [syn::Item],
        scope: Scope,
        blocks: &mut Vec<(&'a syn::ItemImpl, Scope)>,
    ) {
        for item in items {
            match item {
                syn::Item::Const(item) => self.constant(item, scope),
                syn::Item::Enum(item) => self.enumeration(item, scope),
                syn::Item::Struct(item) => self.structure(item, scope),
                syn::Item::Fn(item) => {
                    self.attributes(&item.attrs, scope);
                    let name = item.sig.ident.to_string();
                    let id = self.function(&item.sig, &item.block, &item.attrs, scope, None);
                    self.modules[scope.module].values.insert(name, Def::Function(id));
                }
                syn::Item::Impl(item) => {
                    self.attributes(&item.attrs, scope);
                    self.generics(&item.generics, scope);
                    if item.trait_.is_some() {
                        self.refuse_construct(scope, item, "an `impl` of a trait");
                    } else {
                        blocks.push((item, scope));
                    }
                }
                syn::Item::Mod(item) => {
                    self.attributes(&item.attrs, scope);
                    let module = self.child(scope.module, &item.ident.to_string());
                    if let Some((_, items)) = &item.content {
                        self.items(items, Scope { module, ..scope }, blocks);
                    }
                }
                syn::Item::Use(item) => {
                    self.attributes(&item.attrs, scope);
                    self.import(&item.tree, scope, Vec::new());
                }
                syn::Item::Trait(item) => _ = self.refuse_construct(scope, item, "a trait"),
                syn::Item::Static(item) => _ = self.refuse_construct(scope, item, "a `static`"),
                syn::Item::Macro(item) => _ = self.refuse_construct(scope, item, "a macro"),
                other => _ = self.refuse_construct(scope, other, "an item of this kind"),
            }
        }
    }

    fn import(&mut self, tree: &'a syn::UseTree, scope: Scope, mut path: Vec<&'a syn::Ident>) {
        match tree {
            syn::UseTree::Path(step) => {
                path.push(&step.ident);
                self.import(&step.tree, scope, path);
            }
            syn::UseTree::Name(name) => {
                path.push(&name.ident);
                self.modules[scope.module].imports.insert(name.ident.to_string(), path);
            }
            syn::UseTree::Rename(name) => {
                path.push(&name.ident);
                self.modules[scope.module].imports.insert(name.rename.to_string(), path);
            }
            syn::UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.import(tree, scope, path.clone()));
            }
            syn::UseTree::Glob(_) => _ = self.refuse_construct(scope, tree, "`use` of everything"),
        }
    }

    fn constant(&mut self, item: &'a syn::ItemConst, scope: Scope) {
        self.attributes(&item.attrs, scope);
        self.generics(&item.generics, scope);
        let name = item.ident.to_string();
        let id = self.consts.len();
        self.modules[scope.module].values.insert(name.clone(), Def::Const(id));
        self.consts.push(Constant {
            name,
            scope,
            syntax: item,
            span: self.span(scope, &item.ident),
            ty: OnceCell::new(),
            open: OnceCell::new(),
            value: OnceCell::new(),
        });
    }

    fn structure(&mut self, item: &'a syn::ItemStruct, scope: Scope) {
        self.attributes(&item.attrs, scope);
        self.generics(&item.generics, scope);
        let syn::Fields::Named(syntax) = &item.fields else {
            self.refuse_construct(scope, item, "a struct without named fields");
            return;
        };
        let name = item.ident.to_string();
        let def = Def::Struct(self.structs.len());
        self.modules[scope.module].types.insert(name.clone(), def);
        let span = self.span(scope, &item.ident);
        self.structs.push(Struct { name, scope, syntax, span, fields: OnceCell::new() });
    }

    fn enumeration(&mut self, item: &'a syn::ItemEnum, scope: Scope) {
        self.attributes(&item.attrs, scope);
        self.generics(&item.generics, scope);
        let name = item.ident.to_string();
        let (mut variants, mut next) = (Vec::new(), 0);
        for variant in &item.variants {
            if !variant.fields.is_empty() {
                self.refuse_construct(scope, variant, "a variant with payload");
            }
            match &variant.discriminant {
                Some((_, syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(number), .. }))) => {
                    next = number.base10_parse().unwrap_or(next);
                }
                Some((_, other)) => {
                    self.refuse_construct(scope, other, "a discriminant that isn't a literal");
                }
                None => {}
            }
            variants.push((variant.ident.to_string(), next));
            next += 1;
        }
        let def = Def::Enum(self.enums.len());
        self.modules[scope.module].types.insert(name.clone(), def);
        self.enums.push(Enum { name, repr: repr(&item.attrs), variants });
    }

    fn function(
        &mut self,
        signature: &'a syn::Signature,
        block: &'a syn::Block,
        attributes: &[syn::Attribute],
        scope: Scope,
        owner: Option<Owner>,
    ) -> usize {
        self.generics(&signature.generics, scope);
        let plain = matches!(signature.safety, syn::Safety::Default)
            && signature.asyncness.is_none()
            && signature.abi.is_none()
            && signature.variadic.is_none();
        if !plain {
            self.refuse_construct(
                scope,
                signature,
                "a function that is `unsafe`, `async` or `extern`",
            );
        }
        let name = match owner {
            Some(owner) => format!("{}::{}", self.owner_name(owner), signature.ident),
            None => signature.ident.to_string(),
        };
        self.functions.push(Function {
            name,
            scope,
            owner,
            signature,
            block,
            inline: inline(attributes),
            span: self.span(scope, &signature.ident),
            types: OnceCell::new(),
            body: OnceCell::new(),
        });
        self.functions.len() - 1
    }

    fn methods_of(&mut self, block: &'a syn::ItemImpl, scope: Scope) {
        let owner = match &*block.self_ty {
            syn::Type::Path(path) => match self.type_named(&path.path, scope) {
                Ok(Def::Struct(id)) => Owner::Struct(id),
                Ok(Def::Enum(id)) => Owner::Enum(id),
                Ok(_) | Err(Refused) => return,
            },
            other => {
                self.refuse_construct(scope, other, "an `impl` for this type");
                return;
            }
        };
        for item in &block.items {
            let syn::ImplItem::Fn(function) = item else {
                self.refuse_construct(scope, item, "an item of this kind in an `impl` block");
                continue;
            };
            self.attributes(&function.attrs, scope);
            let id =
                self.function(&function.sig, &function.block, &function.attrs, scope, Some(owner));
            self.methods.insert((owner, function.sig.ident.to_string()), id);
        }
    }

    pub(super) fn owner_name(&self, owner: Owner) -> &str {
        match owner {
            Owner::Struct(id) => &self.structs[id].name,
            Owner::Enum(id) => &self.enums[id].name,
        }
    }

    fn generics(&self, generics: &syn::Generics, scope: Scope) {
        if !generics.params.is_empty() {
            self.refuse_construct(scope, generics, "a generic item");
        }
        if let Some(clause) = &generics.where_clause {
            self.refuse_construct(scope, clause, "a `where`");
        }
    }

    /// Refuses attributes, except those without effect and those of a known form.
    pub(super) fn attributes(&self, attributes: &[syn::Attribute], scope: Scope) {
        const KNOWN: [&str; 9] =
            ["doc", "inline", "cold", "derive", "repr", "allow", "expect", "rustfmt", "must_use"];
        for attribute in attributes {
            let path = attribute.path();
            if !path.segments.first().is_some_and(|first| KNOWN.iter().any(|k| first.ident == k)) {
                self.refuse_construct(scope, attribute, "this attribute");
            }
        }
    }
}

fn inline(attributes: &[syn::Attribute]) -> Inline {
    let mut wish = Inline::Auto;
    for attribute in attributes {
        if attribute.path().is_ident("cold") {
            wish = Inline::Never;
        }
        if attribute.path().is_ident("inline") {
            _ = attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("always") {
                    wish = Inline::Always;
                } else if meta.path.is_ident("never") {
                    wish = Inline::Never;
                }
                Ok(())
            });
        }
    }
    wish
}

/// Returns the integer type that holds an enum. Without `repr` it is the type of the enum's
/// discriminants.
fn repr(attributes: &[syn::Attribute]) -> Int {
    let mut repr = Int::Isize;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("repr")) {
        _ = attribute.parse_nested_meta(|meta| {
            let named = meta.path.get_ident().and_then(|name| Int::named(&name.to_string()));
            repr = named.unwrap_or(repr);
            Ok(())
        });
    }
    repr
}
