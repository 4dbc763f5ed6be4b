//! The length of functions. A function that is longer than a screen hides what it does; cut into
//! pieces, each piece has a name that says it. Dense tables are named here, with the reason.

use std::path::Path;

use proc_macro2::Span;
use syn::visit::{self, Visit};

use super::files::{crate_folders, files_below, root};

const MAX_FUNCTION_LINES: usize = 60;

/// A function that may be longer: its crate, its name, and the reason.
type Exception = (&'static str, &'static str, &'static str);

const EXCEPTIONS: [Exception; 8] = [
    ("front-warp", "stmt", "one arm for each kind of Python's statements"),
    ("gameboy", "a_write_finds_the_fetcher_at_any_step", "a table of pictures"),
    ("gameboy", "execute", "the table of opcodes"),
    ("gameboy", "power_on_with", "one field of the machine in each line"),
    ("gameboy", "the_pipeline_stands_within_a_line", "one row for each field"),
    ("gameboy", "the_ppu_stands_within_a_frame", "one row for each field"),
    ("gameboy", "write_ppu", "one arm for each register"),
    ("gpu-sim", "rows", "the table of instructions"),
];

/// A function, and the lines from its name's to its last brace's.
struct Function {
    name: String,
    line: usize,
    lines: usize,
}

#[derive(Default)]
struct Functions(Vec<Function>);

impl Functions {
    fn add(&mut self, signature: &syn::Signature, body: &syn::Block) {
        let first: Span = signature.fn_token.span;
        let line = first.start().line;
        let lines = body.brace_token.span.close().end().line + 1 - line;
        self.0.push(Function { name: signature.ident.to_string(), line, lines });
    }

    fn of(text: &str) -> Vec<Function> {
        let mut functions = Self::default();
        functions.visit_file(&syn::parse_file(text).expect("Rust"));
        functions.0
    }
}

impl<'ast> Visit<'ast> for Functions {
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.add(&function.sig, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.add(&function.sig, &function.block);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        if let Some(body) = &function.default {
            self.add(&function.sig, body);
        }
        visit::visit_trait_item_fn(self, function);
    }
}

/// Functions of a crate that are too long, with the files that they are in.
fn long_functions(folder: &Path) -> Vec<(String, Function)> {
    let sources = files_below(folder, &["rs"]).into_iter();
    let long = sources.flat_map(|path| {
        let text = std::fs::read_to_string(&path).expect("a readable source");
        let name = path.strip_prefix(root()).unwrap_or(&path).display().to_string();
        let long = |function: &Function| function.lines > MAX_FUNCTION_LINES;
        Functions::of(&text).into_iter().filter(long).map(move |function| (name.clone(), function))
    });
    long.collect()
}

#[test]
fn a_function_fits_a_screen() {
    let mut long = Vec::new();
    let mut needed = Vec::new();
    for folder in crate_folders().into_iter().chain([root().join("fuzz")]) {
        let own = folder.file_name().expect("a name").to_string_lossy().into_owned();
        for (path, Function { name, line, lines }) in long_functions(&folder) {
            match EXCEPTIONS.iter().position(|it| (it.0, it.1) == (&*own, &*name)) {
                Some(exception) => needed.push(exception),
                None => long.push(format!("{path}:{line}: `{name}` has {lines} lines")),
            }
        }
    }
    assert!(
        long.is_empty(),
        "a function has at most {MAX_FUNCTION_LINES} lines; cut out what has a name:\n{}",
        long.join("\n")
    );
    for (position, (own, name, _)) in EXCEPTIONS.iter().enumerate() {
        let count = needed.iter().filter(|&&it| it == position).count();
        assert_eq!(count, 1, "{own}: `{name}` stands in the list for one function that is long");
    }
}

#[test]
fn the_rule_counts_lines_of_all_kinds_of_functions() {
    let text = "struct S;\nimpl S {\n    /// Docs.\n    fn one(&self) {\n    }\n}\n\
                trait T {\n    fn two() {\n        fn three() {}\n    }\n    fn none();\n}\n";
    let found = Functions::of(text);
    let found: Vec<_> = found.iter().map(|it| (&*it.name, it.line, it.lines)).collect();
    assert_eq!(found, [("one", 4, 2), ("two", 8, 3), ("three", 9, 1)]);
}
