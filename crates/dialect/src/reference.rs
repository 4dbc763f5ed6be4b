//! Functions that may take arguments by reference, found by their names before anything is lowered:
//! only what is handed to one of them needs a variable.

use super::file::Files;
use super::syntax::{self, Expr, ExprCall, StmtFunctionDef};
use rustc_hash::FxHashMap;

/// Functions of a program's texts by their names: true for those with a parameter that is a
/// reference. Empty if no text mentions one.
#[derive(Default)]
pub(super) struct References<'a> {
    functions: FxHashMap<&'a str, bool>,
}

impl<'a> References<'a> {
    pub(super) fn read(files: &'a Files) -> Self {
        let mut functions = FxHashMap::default();
        if files.texts.iter().any(|text| text.has_references) {
            for def in files.texts.iter().flat_map(|text| syntax::functions(&text.tree.body)) {
                *functions.entry(def.name.as_str()).or_insert(false) |= takes_one(files, def);
            }
        }
        Self { functions }
    }

    /// Returns true if a call may change its arguments. A name that is no function's may stand for
    /// any of them, and `wp.f` for none.
    pub(super) fn may_change(&self, call: &ExprCall) -> bool {
        let name = match &*call.func {
            Expr::Name(name) => name.id.as_str(),
            Expr::Attribute(attribute) => match &*attribute.value {
                Expr::Name(module) if matches!(module.id.as_str(), "wp" | "warp") => return false,
                _ => attribute.attr.as_str(),
            },
            _ => return !self.functions.is_empty(),
        };
        !self.functions.is_empty() && self.functions.get(name).copied().unwrap_or(true)
    }
}

fn takes_one(files: &Files, def: &StmtFunctionDef) -> bool {
    def.parameters
        .iter()
        .filter_map(|param| param.annotation())
        .any(|annotation| files.quote(files.span(annotation)).contains("ref["))
}
