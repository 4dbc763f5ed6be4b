//! The skeletons of a kernel: its text, and its IR, with names and literals erased.
//!
//! Texts of the same kernel may differ in style: `float` and `wp.float32`, `wp.array(dtype=float)`
//! and `wp.array[float]`, one expression or three variables. The IR does not differ in style, but
//! it differs in the length of short loops over literals, which are unrolled. Two kernels count as
//! alike if either skeleton is equal. This finds rows that exist elsewhere ([`KnownSkeletons`]),
//! above all in NVIDIA Warp's package.
//!
//! Printing a module takes longer than all other work for a row's text. So modules are first
//! compared by their outlines, which need no printing and are equal if the skeletons are equal.

use crate::error::SynthError;
use crate::feature_count::kernels;
use crate::structure::{Token, digest, erased_of, tokens};
use gbxcule_files::python_files;
use gbxcule_front_warp::Program;
use gbxcule_grammar::random::mix;
use gbxcule_ir::check::{self, Valid};
use gbxcule_ir::op::Op;
use gbxcule_ir::source::SourceMap;
use gbxcule_ir::walk::{Step, walk};
use gbxcule_ir::{FunctionKind, Literal, Module, StmtKind, print};
use std::collections::{BTreeSet, HashSet};
use std::io::ErrorKind;
use std::ops::Range;
use std::path::Path;

/// Bytes of a hash; outlines are shorter.
const HASH_BYTES: usize = 8;
/// Seed of an outline's hash.
const OUTLINE_SEED: u64 = 0x6762_7863_756c_6521;

/// Skeletons of kernels that exist.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct KnownSkeletons {
    hashes: BTreeSet<String>,
    /// Outlines of the known modules.
    outlines: BTreeSet<String>,
    /// Number of kernels that were read.
    pub kernels: usize,
    /// Number of kernels that compile; of other kernels only the skeleton of the text is known.
    pub compiled: usize,
}

impl KnownSkeletons {
    /// Reads the skeletons of the tests, examples and modules in the package of NVIDIA Warp 1.19.0.
    pub fn of_warp() -> Self {
        let lines = include_str!("warp_skeletons.txt").lines().map(str::to_owned);
        let (hashes, outlines) = lines.partition(|line| line.len() == 2 * HASH_BYTES);
        Self { hashes, outlines, ..Self::default() }
    }

    /// Finds the skeletons of a folder of Python files: of every kernel that the front end finds,
    /// anywhere in a file.
    pub fn of_folder(folder: &Path) -> Result<Self, SynthError> {
        let mut skeletons = Self::default();
        for path in python_files(folder)? {
            match gbxcule_files::read_text(&path, gbxcule_files::MAX_TEXT_BYTES) {
                Ok(text) => skeletons.add(text),
                Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                    return Err(SynthError::file(&path)(error));
                }
                // A file that is too large, or not UTF-8, counts as a file without kernels.
                Err(_) => {}
            }
        }
        Ok(skeletons)
    }

    fn add(&mut self, text: String) {
        let tokens = tokens(&text);
        self.hashes.extend(kernels(&tokens).into_iter().map(|kernel| of_text(&tokens[kernel])));
        let mut sources = SourceMap::new();
        let id = sources.add("kernels.py", text);
        let Ok(program) = Program::parse(&sources, id) else { return };
        let reader = program.reader();
        for kernel in reader.kernels() {
            self.kernels += 1;
            let lowered = reader.lower(kernel.position, "kernels");
            let Ok(module) = lowered.and_then(check::module) else { continue };
            self.compiled += 1;
            self.hashes.insert(of_module(&module));
            self.outlines.insert(outline(&module));
        }
    }

    /// Returns true if the kernel of a text has a known skeleton.
    pub(crate) fn has(&self, tokens: &[(usize, Token<'_>)], module: &Valid<Module>) -> bool {
        let text = |kernel: Range<usize>| self.hashes.contains(&of_text(&tokens[kernel]));
        self.outlines.contains(&outline(module)) && self.hashes.contains(&of_module(module))
            || kernels(tokens).into_iter().any(text)
    }

    /// Returns the text that [`KnownSkeletons::of_warp`] reads: sorted hashes, one a line, then the
    /// outlines.
    pub fn to_text(&self) -> String {
        self.hashes.iter().chain(&self.outlines).map(|hash| format!("{hash}\n")).collect()
    }

    /// Returns the number of skeletons.
    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Returns true if no skeleton is known.
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }
}

/// Returns true if the kernel of a source text has a known skeleton; false if the compiler refuses
/// the text.
pub fn is_known(source: &str, known: &KnownSkeletons) -> bool {
    let program = crate::row_program::RowProgram::read_forward(source);
    program.is_ok_and(|it| known.has(&tokens(source), &it.forward))
}

/// Returns the skeleton of a kernel's text, from its `def` on, at any indentation.
fn of_text(kernel: &[(usize, Token<'_>)]) -> String {
    let text = erased_of(kernel);
    let lines: Vec<&str> =
        text.lines().skip_while(|line| !line.trim_start().starts_with("def ")).collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let margin = lines.first().map_or(0, |line| indent(line));
    let moved = lines.iter().map(|line| line.get(margin.min(indent(line))..).unwrap_or(line));
    digest(&moved.collect::<Vec<_>>().join("\n"), HASH_BYTES)
}

/// Returns a module's outline: its functions, and for each of their statements the beginning of its
/// printed line. Equal skeletons have equal outlines.
fn outline(module: &Module) -> String {
    let mut word = OUTLINE_SEED;
    let mut put = |number: usize| word = mix(word ^ number as u64);
    for (_, function) in module.functions.iter() {
        let body = &function.body;
        put(usize::from(function.kind == FunctionKind::Kernel));
        put(function.params.len());
        put(body.locals.len());
        walk(body, body.root, |step| match step {
            Step::Enter(_) => {}
            Step::Leave(_) => put(0),
            Step::Stmt(stmt) => match stmt.kind {
                // Literals stand where they are used.
                StmtKind::Let(value) if matches!(body.values[value].op, Op::Literal(_)) => {}
                StmtKind::Let(_) => put(1),
                StmtKind::Store { .. } => put(2),
                StmtKind::If { .. } => put(3),
                StmtKind::Switch { .. } => put(4),
                StmtKind::For { .. } => put(5),
                StmtKind::While { .. } => put(6),
                StmtKind::Break | StmtKind::Continue | StmtKind::Return(_) => put(7),
                StmtKind::Print { .. } | StmtKind::Assert { .. } | StmtKind::Trap { .. } => put(8),
            },
        });
    }
    format!("{:08x}", word >> 32)
}

/// Returns the skeleton of a module with one kernel.
fn of_module(module: &Valid<Module>) -> String {
    let mut bare: Module = (**module).clone();
    let mut names: HashSet<String> = HashSet::new();
    for (_, structure) in module.types.structs().iter() {
        names.insert(structure.name.clone());
        names.extend(structure.fields.iter().map(|field| field.name.clone()));
    }
    for (_, function) in bare.functions.iter_mut() {
        function.name = "_".into();
        function.params.iter_mut().for_each(|param| param.name = "_".into());
        function.body.locals.iter_mut().for_each(|(_, local)| local.name = "_".into());
        for (_, value) in function.body.values.iter_mut() {
            value.name = None;
            if let Op::Literal(literal) = value.op {
                value.op = Op::Literal(Literal::from_bits(literal.scalar(), 0));
            }
        }
    }
    digest(&erase(&print::module(&bare), &names), HASH_BYTES)
}

/// Removes the numbers of values and variables, and the names of structs and fields.
fn erase(text: &str, names: &HashSet<String>) -> String {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let starts = first == '%' || word(first);
        let len = first.len_utf8()
            + rest[first.len_utf8()..]
                .find(|c| !starts || !word(c))
                .unwrap_or(rest.len() - first.len_utf8());
        let (token, after) = rest.split_at(len);
        rest = after;
        match token {
            _ if first == '%' => out.push('%'),
            "_" => {
                out.push('_');
                // A second variable of the same name is printed as `_.1`. Components are printed in
                // the same form, so they are removed, too.
                let digits = rest.strip_prefix('.').map_or(0, |it| {
                    it.len() - it.trim_start_matches(|c: char| c.is_ascii_digit()).len()
                });
                rest = if digits > 0 { &rest[digits + 1..] } else { rest };
            }
            name if names.contains(name) => out.push('_'),
            other => out.push_str(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> KnownSkeletons {
        let mut skeletons = KnownSkeletons::default();
        skeletons.add(format!("import warp as wp\n{text}"));
        assert_eq!((skeletons.kernels, skeletons.compiled), (1, 1), "{text}");
        skeletons
    }

    const ONE: &str = "@wp.struct\nclass Body:\n    mass: float\n\n@wp.func\ndef f(a: float):\n    return a * 2.0\n\n\
        @wp.kernel\ndef k(bodies: wp.array(dtype=Body), out: wp.array(dtype=float)):\n    i = wp.tid()\n    total = float(0.0)\n    \
        for j in range(3):\n        total += f(bodies[i].mass)\n    out[i] = wp.sin(total)\n";

    fn alike(one: &str, other: &str) -> bool {
        is_known(&format!("import warp as wp\n{other}"), &of(one))
    }

    #[test]
    fn spelling_names_and_literals_make_no_other_skeleton() {
        let names = ONE.replace("Body", "Grain").replace("mass", "weight").replace("total", "acc");
        assert!(alike(ONE, &names.replace("2.0", "7.5").replace("range(3)", "range(5)")));
        let spelled = names
            .replace("dtype=float)", "dtype=wp.float32)")
            .replace("    return a * 2.0", "    b = a * 7.5\n    return b");
        assert!(spelled.contains("wp.float32") && spelled.contains("return b"));
        assert!(alike(ONE, &spelled));
    }

    #[test]
    fn another_computation_makes_another_skeleton() {
        for (from, to) in
            [("wp.sin", "wp.cos"), ("total += ", "total = "), ("= float(0.0)", "= float(i)")]
        {
            assert!(!alike(ONE, &ONE.replace(from, to)), "{from}");
        }
    }

    #[test]
    fn kernels_are_found_in_functions_and_methods_too() {
        let mut skeletons = KnownSkeletons::default();
        skeletons.add("import warp as wp\nclass T:\n    def test(self):\n        @wp.kernel\n        def k(x: wp.array(dtype=int)):\n            x[0] = 1\n".into());
        assert_eq!((skeletons.kernels, skeletons.len(), skeletons.outlines.len()), (1, 2, 1));
        let source = "import warp as wp\n\n\n@wp.kernel\ndef store(out: wp.array(dtype=wp.int32)):\n    out[0] = 5\n";
        assert!(is_known(source, &skeletons) && !is_known(source, &KnownSkeletons::default()));
    }
}
