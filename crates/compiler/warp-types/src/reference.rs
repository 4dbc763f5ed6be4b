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
    /// The texts, the geometry library's too; empty if no text mentions a reference.
    texts: Vec<&'a Text>,
    /// The geometry library's text: `wp.f` may be a function of it.
    library: Option<&'a Text>,
    /// Answers so far, by a function's name.
    known: RefCell<FxHashMap<String, Option<bool>>>,
}

impl<'a> References<'a> {
    /// Reads the texts of a program.
    pub fn read(files: &'a Files) -> Self {
        if !files.texts.iter().any(|text| text.has_references) {
            return Self::default();
        }
        let texts = files.texts.iter().map(|text| &**text).collect();
        let library = files.library.map(|number| &*files.texts[number]);
        Self { texts, library, known: RefCell::default() }
    }

    /// Returns true if a function of this name takes a reference; `None` if the name may stand for
    /// a function of another name, or if no function has the name.
    fn takes_one(&self, name: &str) -> Option<bool> {
        if let Some(answer) = self.known.borrow().get(name) {
            return *answer;
        }
        let named = self.texts.iter().filter_map(|text| text.functions().get(name).copied());
        let answer = if self.is_alias(name) {
            None
        } else {
            named.reduce(|any, one| any || one).or(PYTHON.contains(&name).then_some(false))
        };
        self.known.borrow_mut().insert(name.to_owned(), answer);
        answer
    }

    fn is_alias(&self, name: &str) -> bool {
        let is_library = |text| self.library.is_some_and(|it| std::ptr::eq(it, text));
        self.texts.iter().any(|text| !is_library(*text) && text.aliases().contains(name))
    }

    /// Returns true if a call may change its arguments. A name of which nothing is known may stand
    /// for any of the functions; `wp.f` stands only for functions of the geometry library.
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
                    let library = self.library.map(|it| it.functions());
                    return library
                        .is_some_and(|it| it.get(attribute.attr.as_str()) == Some(&true));
                }
                _ => attribute.attr.as_str(),
            },
            _ => return true,
        };
        self.takes_one(name).unwrap_or(true)
    }
}
