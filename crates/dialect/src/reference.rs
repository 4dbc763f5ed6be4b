//! Functions that may take arguments by reference, found by their names before anything is lowered:
//! only what is handed to one of them needs a variable.

use super::file::Files;
use super::syntax::{self, Expr, ExprCall, StmtFunctionDef};
use rustc_hash::FxHashMap;

/// Python's own functions, which change nothing.
const PYTHON: [&str; 9] = ["abs", "bool", "float", "int", "len", "max", "min", "range", "round"];

/// Functions of a program's texts by their names: true for those with a parameter that is a
/// reference. Empty if no text mentions one.
#[derive(Default)]
pub(super) struct References<'a> {
    functions: FxHashMap<&'a str, bool>,
}

impl<'a> References<'a> {
    pub(super) fn read(files: &'a Files) -> Self {
        let mut functions = FxHashMap::default();
        let mut texts = files.texts.iter().enumerate();
        if texts.any(|(number, text)| text.has_references && files.geometry != Some(number)) {
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
        let of_text = self.functions.get(name).copied();
        !self.functions.is_empty() && of_text.unwrap_or(!PYTHON.contains(&name))
    }
}

fn takes_one(files: &Files, def: &StmtFunctionDef) -> bool {
    def.parameters
        .iter()
        .filter_map(|param| param.annotation())
        .any(|annotation| files.quote(files.span(annotation)).contains("ref["))
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
