//! Functions of one name, as a kernel calls them.

use crate::frame::FrameId;
use gbxcule_python_names::ScopeId;
use gbxcule_python_names::syntax::StmtFunctionDef;

/// The `@wp.func` of one name in a scope, or a function that `wp.func(f)` was given.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct OverloadSet<'a> {
    pub(crate) home: ScopeId,
    pub(crate) name: &'a str,
    /// The call of a Python function that they were defined in.
    pub(crate) frame: FrameId,
    /// Byte of the text before which an overload must be defined to belong to the set: a second
    /// name of functions goes on to mean the same ones when the first name is defined anew.
    pub(crate) before: Option<u32>,
    /// The function of `wp.func(f)`: the only one of the set.
    pub(crate) given: Option<&'a StmtFunctionDef>,
}

impl<'a> OverloadSet<'a> {
    /// All of a name.
    pub(crate) fn all(home: ScopeId, name: &'a str, frame: FrameId) -> Self {
        Self { home, name, frame, before: None, given: None }
    }

    /// A function that `wp.func(f)` was given.
    pub(crate) fn of_one(def: &'a StmtFunctionDef, home: ScopeId, frame: FrameId) -> Self {
        Self { home, name: def.name.as_str(), frame, before: None, given: Some(def) }
    }
}
