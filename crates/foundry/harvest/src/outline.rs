//! The statements of a Python text with their lines, and the names that they define, by which a
//! kernel is cut out of a file. The outline need not be exact: a wrong cut compiles to other IR, or
//! not at all, and is refused.

use gbxcule_ir::source::Span;
use gbxcule_python_names::syntax::{self, Expr, Stmt, Visitor, walk_stmt};
use gbxcule_rows::structure::{Token, indentation, tokens};
use std::collections::BTreeSet;

/// A statement with its decorators and its indented body.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    /// Range of the statement in the text, in bytes: from the first line's margin to the end of the
    /// last line.
    pub(crate) begin: usize,
    pub(crate) end: usize,
    pub(crate) margin: usize,
    /// Position of the parent statement, below which this one is indented.
    pub(crate) parent: Option<usize>,
    /// Names that the statement defines.
    pub(crate) defines: Vec<String>,
    /// Names that an import binds; `defines` contains them, too.
    pub(crate) imports: Vec<Import>,
    /// True for a function or class.
    pub(crate) is_definition: bool,
}

/// Names that a statement mentions.
#[derive(Default)]
pub(crate) struct Mentions {
    pub(crate) names: BTreeSet<String>,
    /// Pairs of a name and its attribute, as in `module.name`.
    pub(crate) attributes: BTreeSet<(String, String)>,
}

/// A name that an import binds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Import {
    /// The name in the importing file; `*` for all names of the module.
    pub(crate) name: String,
    /// Dots before the module's name.
    pub(crate) level: usize,
    /// The module, `a.b`; empty in `from . import x`.
    pub(crate) module: String,
    /// The name in the imported module; `None` if the import binds the module itself.
    pub(crate) original: Option<String>,
}

impl Mentions {
    /// Reads the names that a statement's text mentions. Outlines don't store these names, because
    /// each enclosing statement would store them again.
    pub(crate) fn of(text: &str) -> Self {
        let mut mentions = Self::default();
        let all = tokens(text);
        for (_, token) in &all {
            if let Token::Name(name, false) = token {
                mentions.names.insert((*name).to_owned());
            }
        }
        for three in all.windows(3) {
            if let [Token::Name(module, false), Token::Mark("."), Token::Name(name, true)] =
                [three[0].1, three[1].1, three[2].1]
            {
                mentions.attributes.insert((module.to_owned(), name.to_owned()));
            }
        }
        mentions
    }
}

/// Returns the statements of a text, in order, each followed by its indented body. A text that
/// isn't Python has no statements.
pub(crate) fn outline(text: &str) -> Vec<Statement> {
    let mut reader = Reader { text, statements: Vec::new(), parent: None };
    if let Ok(tree) = syntax::parse(text, 0, |_, _| Span::NONE) {
        tree.body.iter().for_each(|stmt| reader.visit_stmt(stmt));
    }
    reader.statements
}

/// Reads the statements of a text.
struct Reader<'t> {
    text: &'t str,
    statements: Vec<Statement>,
    /// Position of the parent of the next statements.
    parent: Option<usize>,
}

impl Visitor<'_> for Reader<'_> {
    fn visit_stmt(&mut self, stmt: &Stmt) {
        let (start, end) = (syntax::start(stmt) as usize, syntax::end(stmt) as usize);
        let begin = self.text[..start].rfind('\n').map_or(0, |line| line + 1);
        // A statement after `;` or `:` belongs to the statement that begins the line.
        if !self.text[begin..start].trim_start_matches(['\u{feff}', ' ', '\t', '\u{c}']).is_empty()
        {
            return;
        }
        let imports = imports(stmt);
        let defines = match imports.is_empty() {
            true => definitions(stmt),
            false => imports.iter().map(|it| it.name.clone()).collect(),
        };
        self.statements.push(Statement {
            begin,
            end: self.end_of_lines(end),
            margin: indentation(&self.text.as_bytes()[begin..start], usize::MAX).1,
            parent: self.parent,
            defines,
            imports,
            is_definition: matches!(stmt, Stmt::FunctionDef(_) | Stmt::ClassDef(_)),
        });
        let around = self.parent.replace(self.statements.len() - 1);
        walk_stmt(self, stmt);
        self.parent = around;
    }

    fn visit_expr(&mut self, _: &Expr) {}
}

impl Reader<'_> {
    /// Returns the end of a byte's line, including the empty lines and comments after it.
    fn end_of_lines(&self, byte: usize) -> usize {
        let mut lines = self.text[byte..].split_inclusive('\n');
        let line_bytes = lines.next().map_or(0, str::len);
        let is_beside = |line: &&str| line.trim().is_empty() || line.trim_start().starts_with('#');
        byte + line_bytes + lines.take_while(is_beside).map(str::len).sum::<usize>()
    }
}

/// Returns the names that a statement defines.
fn definitions(stmt: &Stmt) -> Vec<String> {
    let targets = match stmt {
        Stmt::FunctionDef(def) => return vec![def.name.to_string()],
        Stmt::ClassDef(def) => return vec![def.name.to_string()],
        Stmt::Assign(assign) => &assign.targets[..],
        Stmt::AnnAssign(assign) => std::slice::from_ref(&*assign.target),
        _ => &[],
    };
    let parts = targets.iter().flat_map(|target| match target {
        Expr::Tuple(tuple) => &tuple.elts[..],
        target => std::slice::from_ref(target),
    });
    let name = |part: &Expr| part.as_name_expr().map(|name| name.id.to_string());
    parts.filter_map(name).collect()
}

/// Returns the names that an import binds.
fn imports(stmt: &Stmt) -> Vec<Import> {
    match stmt {
        Stmt::Import(import) => import
            .names
            .iter()
            .map(|alias| {
                let first = alias.name.split('.').next().unwrap_or_default();
                let name = alias.asname.as_ref().map_or(first, |name| name.as_str()).to_owned();
                Import { name, level: 0, module: alias.name.to_string(), original: None }
            })
            .collect(),
        Stmt::ImportFrom(import) => import
            .names
            .iter()
            .map(|alias| Import {
                name: alias.asname.as_ref().unwrap_or(&alias.name).to_string(),
                level: import.level as usize,
                module: import.module.as_ref().map_or(String::new(), ToString::to_string),
                original: Some(alias.name.to_string()),
            })
            .collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_know_what_they_define_and_mention() {
        let text = "import a.b as c, d\nfrom ..m import (x as y,\n    z)\nfrom . import w\nA, B = f(C), 2\nD: int = A\nE = F = 3\n@wp.func\n@other(G)\ndef g(x: H):\n    I = x.J\n\n    return I\n\ndef long(\n    L: int,\n):\n    M = L\n\nclass K:\n    def h(self):\n        pass\nprint(A)\n";
        let all = outline(text);
        let named = |name: &str| {
            all.iter()
                .find(|it| it.defines.contains(&name.to_owned()))
                .unwrap_or_else(|| panic!("{name}"))
        };
        let import = |name: &str| {
            named(name).imports.iter().find(|it| it.name == name).cloned().expect(name)
        };
        assert_eq!(
            import("c"),
            Import { name: "c".into(), level: 0, module: "a.b".into(), original: None }
        );
        assert_eq!(import("d").module, "d");
        assert_eq!(
            import("y"),
            Import { name: "y".into(), level: 2, module: "m".into(), original: Some("x".into()) }
        );
        assert_eq!(import("z").original.as_deref(), Some("z"));
        assert_eq!((import("w").level, &*import("w").module), (1, ""));
        assert_eq!(named("B").defines, ["A", "B"]);
        assert_eq!(named("D").defines, ["D"]);
        assert_eq!(named("F").defines, ["E", "F"]);
        let g = named("g");
        assert!(text[g.begin..g.end].starts_with("@wp.func\n@other(G)\ndef g"));
        assert!(text[g.begin..g.end].ends_with("return I\n\n"));
        let names = Mentions::of(&text[g.begin..g.end]).names;
        assert!(names.contains("H") && names.contains("G") && !names.contains("J"));
        let long = named("long");
        assert!(text[long.begin..long.end].ends_with("M = L\n\n"));
        let h = named("h");
        assert_eq!(all[h.parent.expect("a class")].defines, ["K"]);
        assert!(all.last().expect("a line").defines.is_empty());
    }
}
