//! Scopes of a program, read without running anything: the bindings of each name in a module,
//! function or class.

use crate::binding::{
    AttributeStore, Definition, Guard, GuardId, Owner, Scope, ScopeId, TextScopes, id_of, local,
    text_of,
};
use crate::file::Files;
use crate::scope_reader::ScopeReader;
use crate::syntax::{Expr, StmtFunctionDef, end, start};
use std::cell::OnceCell;

/// All scopes of a program's texts. The scopes of a text are read at the first request.
pub struct Scopes<'a> {
    files: &'a Files,
    texts: Vec<OnceCell<TextScopes<'a>>>,
    /// Texts that also see the names of the program's main file.
    nested: Vec<usize>,
}

impl<'a> Scopes<'a> {
    /// Prepares the scopes of a program's texts. The texts `nested` also see the names of the
    /// program's main file.
    pub fn new(files: &'a Files, nested: Vec<usize>) -> Self {
        let texts = files.texts.iter().map(|_| OnceCell::new()).collect();
        Self { files, texts, nested }
    }

    /// Scopes of a text.
    fn of(&self, text: usize) -> &TextScopes<'a> {
        self.texts[text].get_or_init(|| {
            let parent = self.nested.contains(&text).then_some(0);
            let body = &self.files.texts[text].tree.body;
            ScopeReader::read(text, body, self.files.needed_begins(text), parent)
        })
    }

    fn scope(&self, scope: ScopeId) -> &Scope<'a> {
        &self.of(text_of(scope)).scopes[local(scope)]
    }

    /// All function definitions of the program's own file with the scopes around them, in the order
    /// of the text.
    pub fn functions(&self) -> &[(&'a StmtFunctionDef, ScopeId)] {
        &self.of(0).functions
    }

    /// Returns the scope of a text.
    pub fn root(&self, text: usize) -> ScopeId {
        id_of(text, 0)
    }

    /// Returns the number of the text that a scope is in.
    pub fn text(&self, scope: ScopeId) -> usize {
        text_of(scope)
    }

    /// Modules from which a text imports `*`: dots and name.
    pub fn stars(&self, text: usize) -> &[(u32, &'a str)] {
        &self.of(text).stars
    }

    /// Names that a text binds.
    pub fn names(&self, text: usize) -> impl Iterator<Item = &'a str> {
        self.scope(self.root(text)).names.keys().copied()
    }

    /// Bindings of a name as code in `scope` sees them, and the scope that has them.
    pub fn lookup(&self, scope: ScopeId, name: &str) -> Option<(&[Definition<'a>], ScopeId)> {
        let mut next = Some(scope);
        while let Some(id) = next {
            let current = self.scope(id);
            let visible = id == scope || !matches!(current.owner, Owner::Class(_));
            if visible && let Some(definitions) = current.names.get(name) {
                return Some((definitions, id));
            }
            next = current.parent;
        }
        None
    }

    /// Bindings of a name in one scope.
    pub fn bindings_in(&self, scope: ScopeId, name: &str) -> Option<&[Definition<'a>]> {
        self.scope(scope).names.get(name).map(Vec::as_slice)
    }

    /// Value assigned to an attribute of a name, if one statement assigns it, under no condition.
    pub fn attribute_value(&self, scope: ScopeId, name: &str, attribute: &str) -> Option<&'a Expr> {
        let of_name = |it: &&AttributeStore<'a>| (it.scope, it.name) == (scope, name);
        let stores = self.of(text_of(scope)).attributes.get(attribute)?;
        let mut stores = stores.iter().filter(of_name);
        match (stores.next(), stores.next()) {
            (Some(AttributeStore { value, guard: None, .. }), None) => *value,
            _ => None,
        }
    }

    /// Returns true if the program's own file changes a value of this name in place.
    pub fn is_changed(&self, name: &str) -> bool {
        self.of(0).changed.contains(name)
    }

    /// Scope of a function's body; `None` if kernels don't need the function.
    pub fn body(&self, def: &StmtFunctionDef) -> Option<ScopeId> {
        let text = self.files.text_at(start(def));
        self.of(text).bodies.get(&std::ptr::from_ref(def)).copied()
    }

    /// Returns a condition.
    pub fn guard_at(&self, guard: GuardId) -> Guard<'a> {
        self.of(text_of(guard)).guards[local(guard)]
    }

    /// Innermost scope of the program's own file around a byte.
    pub fn at(&self, byte: u32) -> ScopeId {
        let mut around =
            self.of(0).scopes.iter().enumerate().filter(|(_, scope)| match scope.owner {
                Owner::Module => true,
                Owner::Function(def) => (start(def)..end(def)).contains(&byte),
                Owner::Class(def) => (start(def)..end(def)).contains(&byte),
            });
        // Outer scopes are opened before inner ones.
        around.next_back().map_or(0, |(position, _)| id_of(0, position))
    }

    /// Returns true if a scope is `around` itself or lies in it.
    pub fn is_within(&self, scope: ScopeId, around: ScopeId) -> bool {
        let mut next = Some(scope);
        while let Some(id) = next {
            if id == around {
                return true;
            }
            next = self.scope(id).parent;
        }
        false
    }

    /// Scope around a scope; for a module the module itself.
    pub fn around(&self, scope: ScopeId) -> ScopeId {
        self.scope(scope).parent.unwrap_or(scope)
    }

    /// Owner of a scope.
    pub fn owner(&self, scope: ScopeId) -> Owner<'a> {
        self.scope(scope).owner
    }
}
