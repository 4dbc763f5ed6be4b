//! Names of Python's own scopes, read without running anything: what a name in a module, function
//! or class was bound to by its text.

mod reader;

use super::file::Files;
use super::frame::FrameId;
use super::syntax::{Expr, StmtClassDef, StmtFunctionDef, end, start};
use reader::ScopeReader;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::OnceCell;

/// A scope by the number of its text and its position there ([`id_of`]); 0 is the program's own
/// file.
pub(super) type ScopeId = u64;

/// Number of the scope or condition at a position in a text.
fn id_of(text: usize, position: usize) -> u64 {
    (text as u64) << 32 | position as u64
}

/// Position in its text of a scope or condition.
fn local(id: u64) -> usize {
    id as u32 as usize
}

/// Number of the text of a scope or condition.
fn text_of(id: u64) -> usize {
    (id >> 32) as usize
}

/// All scopes of a program's texts, each text's read when something leads there.
pub(super) struct Scopes<'a> {
    files: &'a Files,
    texts: Vec<OnceCell<TextScopes<'a>>>,
    /// Texts that see the names of the program's own file.
    nested: Vec<usize>,
}

/// Scopes of a text, the outermost first.
#[derive(Default)]
struct TextScopes<'a> {
    scopes: Vec<Scope<'a>>,
    /// All function definitions of the program's own file with the scopes they stand in, in order
    /// of the text.
    functions: Vec<(&'a StmtFunctionDef, ScopeId)>,
    guards: Vec<Guard<'a>>,
    /// The scopes of functions' bodies.
    bodies: FxHashMap<*const StmtFunctionDef, ScopeId>,
    /// Names of what the program's own file changes in place.
    changed: FxHashSet<&'a str>,
    /// Stores to attributes of names, by the attribute.
    attributes: FxHashMap<&'a str, Vec<AttributeStore<'a>>>,
    /// Modules from which `*` is imported: dots and name.
    stars: Vec<(u32, &'a str)>,
}

/// A scope.
pub(super) struct Scope<'a> {
    parent: Option<ScopeId>,
    /// Owner of the scope, for messages.
    pub(super) owner: Owner<'a>,
    names: FxHashMap<&'a str, Vec<Definition<'a>>>,
}

/// Owner of a scope.
#[derive(Clone, Copy)]
pub(super) enum Owner<'a> {
    Module,
    Function(&'a StmtFunctionDef),
    Class(&'a StmtClassDef),
}

/// One binding of a name.
#[derive(Clone, Copy)]
pub(super) struct Definition<'a> {
    pub(super) source: BindingSource<'a>,
    /// Position in the text.
    pub(super) at: u32,
    /// First byte at which the name means this: a value isn't bound yet while it is worked out.
    pub(super) since: u32,
    /// Condition that it stands under, if any.
    pub(super) guard: Option<GuardId>,
    /// Where the outermost loop around it begins; behind every text if there is none.
    pub(super) loop_begin: u32,
}

/// A condition by the number of its text and its position there.
pub(super) type GuardId = u64;

/// A condition that definitions stand under.
#[derive(Clone, Copy)]
pub(super) struct Guard<'a> {
    /// Question and answer; `None` in loops and in `try`.
    pub(super) test: Option<(Question<'a>, bool)>,
    /// The condition around it.
    pub(super) outer: Option<GuardId>,
}

/// A question whose answer decides whether definitions count.
#[derive(Clone, Copy)]
pub(super) enum Question<'a> {
    /// A condition.
    Holds(&'a Expr),
    /// One that is never so.
    Never,
}

/// `name.attribute = value` in a scope.
#[derive(Clone, Copy)]
pub(super) struct AttributeStore<'a> {
    pub(super) scope: ScopeId,
    pub(super) name: &'a str,
    /// `None` if only Python knows it.
    pub(super) value: Option<&'a Expr>,
    pub(super) guard: Option<GuardId>,
}

/// Source of a name's value.
#[derive(Clone, Copy)]
pub(super) enum BindingSource<'a> {
    /// `import path`; the path the name stands for.
    Import(&'a str),
    /// `from ..module import name`, with the number of dots.
    ImportFrom(u32, &'a str, &'a str),
    /// `name = value`.
    Value(&'a Expr),
    /// `a, name, c = value`: the position.
    Part(&'a Expr, usize),
    Function(&'a StmtFunctionDef),
    /// A class and the scope of its body.
    Class(&'a StmtClassDef, ScopeId),
    /// An argument of a Python function.
    Argument,
    /// Value that only running Python can tell: loop targets, `with`, `except`, in-place changes.
    Runtime,
}

/// The `@wp.func` of one name in a scope, or a function that `wp.func(f)` was given.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct OverloadSet<'a> {
    pub(super) home: ScopeId,
    pub(super) name: &'a str,
    /// The call of a Python function that they were defined in.
    pub(super) frame: FrameId,
    /// Byte of the text before which an overload must be defined to belong to the set: a second
    /// name of functions goes on to mean the same ones when the first name is defined anew.
    pub(super) before: Option<u32>,
    /// The function of `wp.func(f)`: the only one of the set.
    pub(super) given: Option<&'a StmtFunctionDef>,
}

impl<'a> OverloadSet<'a> {
    /// All of a name.
    pub(super) fn all(home: ScopeId, name: &'a str, frame: FrameId) -> Self {
        Self { home, name, frame, before: None, given: None }
    }

    /// A function that `wp.func(f)` was given.
    pub(super) fn of_one(def: &'a StmtFunctionDef, home: ScopeId, frame: FrameId) -> Self {
        Self { home, name: def.name.as_str(), frame, before: None, given: Some(def) }
    }
}

impl<'a> Scopes<'a> {
    /// Scopes of a program's texts, its own file first; some see that file's names.
    pub(super) fn new(files: &'a Files, nested: Vec<usize>) -> Self {
        let texts = files.texts.iter().map(|_| OnceCell::new()).collect();
        Self { files, texts, nested }
    }

    /// Scopes of a text, read at the first request.
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

    /// All function definitions of the program's own file with the scopes they stand in, in order
    /// of the text.
    pub(super) fn functions(&self) -> &[(&'a StmtFunctionDef, ScopeId)] {
        &self.of(0).functions
    }

    /// The scope of a text.
    pub(super) fn root(&self, text: usize) -> ScopeId {
        id_of(text, 0)
    }

    /// The number of the text that a scope is in.
    pub(super) fn text(&self, scope: ScopeId) -> usize {
        text_of(scope)
    }

    /// The modules all of whose names a text imports.
    pub(super) fn stars(&self, text: usize) -> &[(u32, &'a str)] {
        &self.of(text).stars
    }

    /// The public names that a text binds.
    pub(super) fn names(&self, text: usize) -> impl Iterator<Item = &'a str> {
        self.scope(self.root(text)).names.keys().copied()
    }

    /// The bindings of a name as code in `scope` sees them, and the scope they are in.
    pub(super) fn lookup(
        &self,
        scope: ScopeId,
        name: &str,
    ) -> Option<(&[Definition<'a>], ScopeId)> {
        let mut next = Some(scope);
        while let Some(id) = next {
            let found = self.scope(id);
            let visible = id == scope || !matches!(found.owner, Owner::Class(_));
            if visible && let Some(definitions) = found.names.get(name) {
                return Some((definitions, id));
            }
            next = found.parent;
        }
        None
    }

    /// The bindings of a name in one scope.
    pub(super) fn bindings_in(&self, scope: ScopeId, name: &str) -> Option<&[Definition<'a>]> {
        self.scope(scope).names.get(name).map(Vec::as_slice)
    }

    /// Value assigned to an attribute of a name, if that happened once and unconditionally.
    pub(super) fn attribute_value(
        &self,
        scope: ScopeId,
        name: &str,
        attribute: &str,
    ) -> Option<&'a Expr> {
        let of_name = |it: &&AttributeStore<'a>| (it.scope, it.name) == (scope, name);
        let stores = self.of(text_of(scope)).attributes.get(attribute)?;
        let mut stores = stores.iter().filter(of_name);
        match (stores.next(), stores.next()) {
            (Some(AttributeStore { value, guard: None, .. }), None) => *value,
            _ => None,
        }
    }

    /// Returns true if something of this name is changed in place.
    pub(super) fn is_changed(&self, name: &str) -> bool {
        self.of(0).changed.contains(name)
    }

    /// The scope of a function's body, if something leads into it.
    pub(super) fn body(&self, def: &StmtFunctionDef) -> Option<ScopeId> {
        let text = self.files.text_at(start(def));
        self.of(text).bodies.get(&std::ptr::from_ref(def)).copied()
    }

    /// A condition.
    pub(super) fn guard_at(&self, guard: GuardId) -> Guard<'a> {
        self.of(text_of(guard)).guards[local(guard)]
    }

    /// The innermost scope of the program's own file around a byte.
    pub(super) fn at(&self, byte: u32) -> ScopeId {
        let mut around =
            self.of(0).scopes.iter().enumerate().filter(|(_, scope)| match scope.owner {
                Owner::Module => true,
                Owner::Function(def) => (start(def)..end(def)).contains(&byte),
                Owner::Class(def) => (start(def)..end(def)).contains(&byte),
            });
        // A scope is opened after those around it.
        around.next_back().map_or(0, |(position, _)| id_of(0, position))
    }

    /// Returns true if a scope is another one or in it.
    pub(super) fn is_within(&self, scope: ScopeId, around: ScopeId) -> bool {
        let mut next = Some(scope);
        while let Some(id) = next {
            if id == around {
                return true;
            }
            next = self.scope(id).parent;
        }
        false
    }

    /// The scope around one.
    pub(super) fn around(&self, scope: ScopeId) -> ScopeId {
        self.scope(scope).parent.unwrap_or(scope)
    }

    pub(super) fn owner(&self, scope: ScopeId) -> Owner<'a> {
        self.scope(scope).owner
    }
}
