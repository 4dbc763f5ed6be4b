//! The statements of a Python text by their indentation, and the names that they define: enough to
//! cut a kernel out of a file with all that it needs. This module doesn't decide what Python means:
//! a text that was cut out wrongly compiles to other IR, or not at all, and is refused.

use gbxcule_rows::structure::{Token, tokens};
use std::collections::BTreeSet;

/// A statement with its decorators and everything that is indented below it.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    /// Range of the statement in the text, in bytes: from the first line's margin to the end of the
    /// last line.
    pub(crate) begin: usize,
    pub(crate) end: usize,
    pub(crate) margin: usize,
    /// Position of the statement below which it is indented.
    pub(crate) parent: Option<usize>,
    /// Names that the statement defines.
    pub(crate) defines: Vec<String>,
    /// Names that an import binds; `defines` holds them too.
    pub(crate) imports: Vec<Import>,
    /// True for a function or class.
    pub(crate) is_definition: bool,
}

/// Names that a statement mentions, its own parts included.
#[derive(Default)]
pub(crate) struct Mentions {
    pub(crate) names: BTreeSet<String>,
    /// Pairs of a name and an attribute of it, as in `module.name`.
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
    /// Reads the names that a statement's text mentions. Outlines don't store them: a statement's
    /// names would be stored again with each statement around it.
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

/// Returns the statements of a text, in order; those indented below a statement follow it.
pub(crate) fn outline(text: &str) -> Vec<Statement> {
    let all = tokens(text);
    let line_begin = |at: usize| text[..at].trim_end_matches([' ', '\t']).len();
    // A token `Line` also follows brackets that span lines, but begins no statement there.
    let begins = |&(at, token): &(usize, Token<'_>)| match token {
        Token::Line(_) => line_begin(at) == 0 || text[..line_begin(at)].ends_with('\n'),
        _ => false,
    };
    let lines: Vec<usize> = (0..all.len()).filter(|&at| begins(&all[at])).collect();
    let mut statements: Vec<Statement> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    // Decorators belong to the definition that follows them.
    let mut decorators: Option<usize> = None;
    for (number, &first) in lines.iter().enumerate() {
        let (at, Token::Line(margin)) = all[first] else { continue };
        let last = lines.get(number + 1).copied().unwrap_or(all.len());
        let words: Vec<Token<'_>> = all[first + 1..last].iter().map(|it| it.1).collect();
        let begin = line_begin(at);
        if words.first() == Some(&Token::Mark("@")) {
            decorators.get_or_insert(begin);
            continue;
        }
        let begin = decorators.take().unwrap_or(begin);
        // A statement ends before the next statement that isn't indented below it.
        while let Some(&above) = open.last()
            && statements[above].margin >= margin
        {
            statements[above].end = begin;
            open.pop();
        }
        let (defines, is_definition) = definitions(&words);
        let imports = imports(&words);
        let defines = match imports.is_empty() {
            true => defines,
            false => imports.iter().map(|it| it.name.clone()).collect(),
        };
        statements.push(Statement {
            begin,
            end: text.len(),
            margin,
            parent: open.last().copied(),
            defines,
            imports,
            is_definition,
        });
        open.push(statements.len() - 1);
    }
    statements
}

fn name_at<'a>(words: &[Token<'a>], at: usize) -> Option<&'a str> {
    match words.get(at) {
        Some(Token::Name(name, false)) => Some(name),
        _ => None,
    }
}

/// Returns the names that a line defines, and whether it begins a function or class.
fn definitions(words: &[Token<'_>]) -> (Vec<String>, bool) {
    if let Some("def" | "class") = name_at(words, 0) {
        return (name_at(words, 1).map(str::to_owned).into_iter().collect(), true);
    }
    let mut names = Vec::new();
    let mut at = 0;
    while let Some(name) = name_at(words, at) {
        match words.get(at + 1) {
            Some(Token::Mark("=" | ":")) => {
                names.push(name.to_owned());
                // `a = b = 1`
                match (words.get(at + 1), words.get(at + 3)) {
                    (Some(Token::Mark("=")), Some(Token::Mark("="))) => at += 2,
                    _ => return (names, false),
                }
            }
            Some(Token::Mark(",")) => {
                names.push(name.to_owned());
                at += 2;
            }
            _ => break,
        }
    }
    let assigns = words.contains(&Token::Mark("="));
    (if assigns { names } else { Vec::new() }, false)
}

/// Returns the names that an import binds.
fn imports(words: &[Token<'_>]) -> Vec<Import> {
    match name_at(words, 0) {
        Some("import") => imported_modules(words),
        Some("from") => imported_names(words),
        _ => Vec::new(),
    }
}

/// Returns the dotted path that begins at a word, and the position of the word after it.
fn path_at(words: &[Token<'_>], mut at: usize) -> (String, usize) {
    let mut path = String::new();
    while let Some(Token::Name(name, _)) = words.get(at) {
        path += name;
        at += 1;
        if words.get(at) != Some(&Token::Mark(".")) {
            break;
        }
        path.push('.');
        at += 1;
    }
    (path, at)
}

/// Returns the name after an `as` at a word.
fn renamed<'a>(words: &[Token<'a>], at: usize) -> Option<&'a str> {
    (name_at(words, at) == Some("as")).then(|| name_at(words, at + 1)).flatten()
}

/// Returns the modules of `import a.b, c as d`.
fn imported_modules(words: &[Token<'_>]) -> Vec<Import> {
    let (mut imports, mut at) = (Vec::new(), 1);
    while at < words.len() {
        let (module, next) = path_at(words, at);
        let first = module.split('.').next().unwrap_or_default().to_owned();
        let (name, next) = match renamed(words, next) {
            Some(name) => (name.to_owned(), next + 2),
            None => (first, next),
        };
        imports.push(Import { name, level: 0, module, original: None });
        at = next + 1;
    }
    imports
}

/// Returns the names of `from .a import b, c as d`.
fn imported_names(words: &[Token<'_>]) -> Vec<Import> {
    let level = words[1..].iter().take_while(|it| **it == Token::Mark(".")).count();
    let (module, mut at) = match name_at(words, 1 + level) {
        Some("import") => (String::new(), 1 + level),
        // The tokenizer marks a name behind a dot.
        _ if words.get(1 + level) == Some(&Token::Name("import", true)) => {
            (String::new(), 1 + level)
        }
        _ => path_at(words, 1 + level),
    };
    at += 1;
    let mut imports = Vec::new();
    while at < words.len() {
        let original = match words.get(at) {
            Some(Token::Name(original, _)) => original,
            Some(Token::Mark("*")) => &"*",
            _ => {
                at += 1;
                continue;
            }
        };
        let (name, next) = match renamed(words, at + 1) {
            Some(name) => (name, at + 3),
            None => (*original, at + 1),
        };
        imports.push(Import {
            name: name.to_owned(),
            level,
            module: module.clone(),
            original: Some((*original).to_owned()),
        });
        at = next + 1;
    }
    imports
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
