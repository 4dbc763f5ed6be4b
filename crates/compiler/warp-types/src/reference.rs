//! Functions that may take arguments by reference, found by their names before anything is lowered:
//! only an argument of such a function needs a variable.

use gbxcule_python_names::syntax::{Expr, ExprCall};
use gbxcule_python_names::{Files, Text};
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// Python's own functions, which change nothing.
const PYTHON: [&str; 9] = ["abs", "bool", "float", "int", "len", "max", "min", "range", "round"];

/// Functions of a program's texts that have parameters that are references.
#[derive(Default)]
pub struct References<'a> {
    /// The texts, each with true for the geometry library; empty if no text mentions a reference.
    texts: Vec<(&'a Text, bool)>,
    /// Answers so far, by a function's name.
    known: RefCell<FxHashMap<String, Option<bool>>>,
}

impl<'a> References<'a> {
    /// Reads the texts of a program.
    pub fn read(files: &'a Files) -> Self {
        let mut texts = files.texts.iter().enumerate();
        if !texts.any(|(number, text)| text.has_references && files.library != Some(number)) {
            return Self::default();
        }
        // `Names::is_query_result` knows what functions of the geometry library change.
        let texts = files.texts.iter().enumerate();
        let texts = texts.map(|(number, text)| (&**text, files.library == Some(number))).collect();
        Self { texts, known: RefCell::default() }
    }

    /// Returns true if a function of this name takes a reference; `None` if the name may stand for
    /// a function of another name, or if no function has the name.
    fn takes_one(&self, name: &str) -> Option<bool> {
        if let Some(answer) = self.known.borrow().get(name) {
            return *answer;
        }
        let named = self.texts.iter().filter_map(|(text, is_geometry)| {
            text.functions().get(name).map(|takes_one| *takes_one && !is_geometry)
        });
        let answer = if self.is_alias(name) {
            None
        } else {
            named.reduce(|any, one| any || one).or(PYTHON.contains(&name).then_some(false))
        };
        self.known.borrow_mut().insert(name.to_owned(), answer);
        answer
    }

    fn is_alias(&self, name: &str) -> bool {
        self.texts.iter().any(|(text, is_geometry)| !is_geometry && text.aliases().contains(name))
    }

    /// Returns true if a call may change its arguments. A name of which nothing is known may
    /// stand for any of the functions; `wp.f` stands for none of these functions.
    pub fn may_change(&self, call: &ExprCall) -> bool {
        if self.texts.is_empty() {
            return false;
        }
        let name = match &*call.func {
            Expr::Name(name) => name.id.as_str(),
            Expr::Attribute(attribute) => match &*attribute.value {
                Expr::Name(module)
                    if matches!(module.id.as_str(), "wp" | "warp")
                        && !self.is_alias(&module.id) =>
                {
                    return false;
                }
                _ => attribute.attr.as_str(),
            },
            _ => return true,
        };
        self.takes_one(name).unwrap_or(true)
    }
}
