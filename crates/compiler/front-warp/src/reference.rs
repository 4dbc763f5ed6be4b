//! Functions that may take arguments by reference, found by their names before anything is lowered:
//! only what is handed to one of them needs a variable.

use gbxcule_python_names::syntax::{Expr, ExprCall};
use gbxcule_python_names::{Files, Text};
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// Python's own functions, which change nothing.
const PYTHON: [&str; 9] = ["abs", "bool", "float", "int", "len", "max", "min", "range", "round"];

/// Functions of a program's texts that have parameters that are references.
#[derive(Default)]
pub(super) struct References<'a> {
    /// The texts, each with true for the library of geometry; none if no text mentions a reference.
    texts: Vec<(&'a Text, bool)>,
    /// Answers so far, by a function's name: true if one of that name has such a parameter.
    known: RefCell<FxHashMap<String, Option<bool>>>,
}

impl<'a> References<'a> {
    pub(super) fn read(files: &'a Files) -> Self {
        let mut texts = files.texts.iter().enumerate();
        if !texts.any(|(number, text)| text.has_references && files.library != Some(number)) {
            return Self::default();
        }
        // Changes by functions of the geometry library are known otherwise.
        let texts = files.texts.iter().enumerate();
        let texts = texts.map(|(number, text)| (&**text, files.library == Some(number))).collect();
        Self { texts, known: RefCell::default() }
    }

    /// Answer for a function's name, if a function has it.
    fn takes_one(&self, name: &str) -> Option<bool> {
        if let Some(known) = self.known.borrow().get(name) {
            return *known;
        }
        let named = self.texts.iter().filter_map(|(text, is_geometry)| {
            text.functions().get(name).map(|takes_one| *takes_one && !is_geometry)
        });
        let found = named.reduce(|any, one| any || one);
        self.known.borrow_mut().insert(name.to_owned(), found);
        found
    }

    /// Returns true if a call may change its arguments. A name that is not a function's may stand
    /// for any of them, and `wp.f` for none.
    pub(super) fn may_change(&self, call: &ExprCall) -> bool {
        let name = match &*call.func {
            Expr::Name(name) => name.id.as_str(),
            Expr::Attribute(attribute) => match &*attribute.value {
                Expr::Name(module) if matches!(module.id.as_str(), "wp" | "warp") => return false,
                _ => attribute.attr.as_str(),
            },
            _ => return !self.texts.is_empty(),
        };
        !self.texts.is_empty() && self.takes_one(name).unwrap_or_else(|| !PYTHON.contains(&name))
    }
}

#[cfg(test)]
mod tests {
    use crate::Program;
    use gbxcule_ir::print;
    use gbxcule_ir::source::SourceMap;

    const KERNEL: &str = "import warp as wp\n\n@wp.func\ndef twice(x: float):\n    return x + x\n\n\
        @wp.kernel\ndef k(x: wp.array(dtype=float)):\n    a = x[0] * 2.0\n    x[0] = twice(wp.max(a, 1.0)) + CALL(a)\n";
    const LEND: &str = "\n@wp.func\ndef lend(x: wp.ref[float]):\n    x += 1.0\n    return x\n";

    fn ir(text: &str) -> String {
        let mut sources = SourceMap::new();
        let id = sources.add("k.py", text);
        let program = Program::parse(&sources, id).expect("Python");
        print::module(&program.compile("k").expect("a kernel"))
    }

    #[test]
    fn only_what_is_handed_to_a_reference_becomes_a_variable() {
        let kernel = KERNEL.replace("CALL", "twice");
        assert_eq!(ir(&kernel), ir(&format!("{kernel}{LEND}")));
        assert!(!ir(&kernel).contains("var a"));
        for call in ["lend", "second"] {
            let text = format!("{}{LEND}\nsecond = lend\n", KERNEL.replace("CALL", call));
            assert!(ir(&text).contains("var a: f32"), "{}", ir(&text));
        }
    }
}
