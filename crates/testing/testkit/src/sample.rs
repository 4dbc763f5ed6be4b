//! Sample programs and their expected outcomes: the files of `samples`.
//!
//! A file holds a program in Python, in the subset of Rust (its entry point is `run`), or as IR.
//! The outcomes of the program follow, each as comments below a line `#= STEPS` (`//= STEPS` in
//! Rust and IR). STEPS are passes, `reverse`, and last a printer: `ir`, `cpp`, `cuda` or `plain`.
//! If the program is refused, its outcome is the rendered refusal. The test `samples` of this
//! crate compares all outcomes; with `GBXCULE_BLESS=1` it writes them anew, so a new file needs
//! only the program and the lines of steps.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use gbxcule_back_cxx::{self as cxx, Dialect, Options};
use gbxcule_front_warp::Program;
use gbxcule_ir::check::{self, Valid};
use gbxcule_ir::diagnostic::{Diagnostic, render};
use gbxcule_ir::source::SourceMap;
use gbxcule_ir::{FunctionId, Inline, Module, parse, print};
use gbxcule_passes::grad::reverses;
use gbxcule_passes::pass::{self, dce, exit, fold, inline, promote, widen};

/// A program of a file.
#[derive(Debug, Clone)]
pub struct Sample {
    /// Name of the file without its folder.
    pub name: String,
    /// The program's text.
    pub program: String,
    outcomes: Vec<Outcome>,
}

/// Text that a program gives after some steps.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Outcome {
    steps: String,
    text: String,
}

/// Folder of the files.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("samples")
}

/// Returns all samples, sorted by name.
pub fn all() -> Vec<Sample> {
    let files = std::fs::read_dir(folder()).expect("the folder of samples");
    let names = files.map(|file| file.expect("a file").file_name());
    let mut names: Vec<_> = names.map(|name| name.into_string().expect("a name")).collect();
    names.sort();
    names.iter().map(|name| of(name)).collect()
}

/// Returns the samples that are not refused, with their modules.
pub fn modules() -> Vec<(Sample, Valid<Module>)> {
    let lowered = all().into_iter().filter_map(|sample| {
        let module = sample.lower(&mut SourceMap::new()).ok()?;
        Some((sample, module))
    });
    lowered.collect()
}

/// Returns the sample of a file.
pub fn of(name: &str) -> Sample {
    let path = folder().join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let comment = comment(name);
    let mark = format!("\n{comment}= ");
    let mut parts = text.split(&mark);
    let program = parts.next().expect("a first part").trim_end().to_owned() + "\n";
    let outcome = |part: &str| {
        let (steps, lines) = part.split_once('\n').unwrap_or((part, ""));
        let lines = lines.lines().map(|line| line.strip_prefix(comment).unwrap_or(line));
        let text = lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>();
        Outcome { steps: steps.trim().to_owned(), text: text.join("\n").trim_end().to_owned() }
    };
    Sample { name: name.to_owned(), program, outcomes: parts.map(outcome).collect() }
}

fn comment(name: &str) -> &'static str {
    if name.ends_with(".py") { "#" } else { "//" }
}

impl Sample {
    /// Returns the program's module.
    ///
    /// # Panics
    /// The program is refused.
    pub fn module(&self) -> Valid<Module> {
        self.lower(&mut SourceMap::new()).unwrap_or_else(|refusal| panic!("{refusal}"))
    }

    /// Lowers the program; a refusal is rendered.
    ///
    /// # Errors
    /// The program is refused.
    pub fn lower(&self, sources: &mut SourceMap) -> Result<Valid<Module>, String> {
        let lowered = match self.name.rsplit_once('.').expect("an ending").1 {
            "py" => {
                let id = sources.add(&*self.name, &*self.program);
                let program = Program::parse(sources, id);
                program.and_then(|program| program.reader().with_gradients().compile(&self.name))
            }
            "rs" => gbxcule_front_rust::lower(&[(&self.name, &self.program)], &["run"], sources),
            _ => Ok(parse::module(self.code()).map_err(|error| error.to_string())?),
        };
        lowered.and_then(check::module).map_err(|faults| render(&faults, sources))
    }

    /// Returns the program without the comments before it, which printed IR doesn't have.
    pub fn code(&self) -> &str {
        let lines = self.program.split_inclusive('\n');
        let comments = lines.take_while(|line| line.starts_with("//")).map(str::len).sum();
        &self.program[comments..]
    }

    /// Returns a description of each outcome that differs from the file.
    pub fn surprises(&self) -> Vec<String> {
        let differs = |outcome: &&Outcome| self.outcome(&outcome.steps) != outcome.text;
        let described = |outcome: &Outcome| {
            format!(
                "{}, {}:\n{}\n-- in place of\n{}",
                self.name,
                outcome.steps,
                self.outcome(&outcome.steps),
                outcome.text
            )
        };
        self.outcomes.iter().filter(differs).map(described).collect()
    }

    /// Writes the file anew, with the present outcomes.
    pub fn accept(&self) {
        let (mut text, comment) = (self.program.clone(), comment(&self.name));
        for Outcome { steps, .. } in &self.outcomes {
            _ = writeln!(text, "\n{comment}= {steps}");
            for line in self.outcome(steps).lines() {
                text += format!("{comment} {line}").trim_end();
                text.push('\n');
            }
        }
        std::fs::write(folder().join(&self.name), text).expect("a file that can be written");
    }

    fn outcome(&self, steps: &str) -> String {
        let mut sources = SourceMap::new();
        let outcome = self.lower(&mut sources).and_then(|module| {
            let mut run = Run { module, kernel: None, sources: &sources };
            let (passes, printer) = steps.rsplit_once(' ').unwrap_or(("", steps));
            passes.split_whitespace().try_for_each(|pass| run.pass(pass))?;
            Ok(run.print(printer))
        });
        let text = outcome.unwrap_or_else(|refusal| refusal);
        text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n").trim_end().to_owned()
    }
}

/// A module between steps.
struct Run<'s> {
    module: Valid<Module>,
    /// The reverse that is printed alone.
    kernel: Option<FunctionId>,
    sources: &'s SourceMap,
}

impl Run<'_> {
    fn pass(&mut self, pass: &str) -> Result<(), String> {
        let mut module = self.module.clone().into_inner();
        let run = module.find("run");
        match pass {
            "reverse" => {
                let kernel = self.module.kernels().next().expect("a kernel").0;
                let reversed = reverses(&self.module, &[kernel]);
                let (reversed, kernels) =
                    reversed.map_err(|faults: Vec<Diagnostic>| render(&faults, self.sources))?;
                (module, self.kernel) = (reversed, Some(kernels[0]));
            }
            "fold" => fold::run(&mut module),
            "dce" => module = dce::run(self.module.clone()),
            "exit" => exit::run(&mut module),
            "inline" => {
                module.functions.iter_mut().for_each(|(_, it)| it.inline = Inline::Always);
                module = inline::run(pass::rechecked(module));
            }
            "simplify" => module = pass::simplify(self.module.clone()).into_inner(),
            "promote" => {
                let all = promote::FieldSelection::All;
                promote::run(&mut module, run.expect("`run`"), 0, all, &[]);
            }
            "widen" => widen::run(&mut module, run.expect("`run`")),
            _ => panic!("`{pass}` is no pass of a sample"),
        }
        self.module = pass::rechecked(module);
        Ok(())
    }

    fn print(&self, printer: &str) -> String {
        let text = |dialect| {
            let options = Options {
                kernel: self.kernel,
                sources: Some(self.sources),
                ..Options::new(dialect)
            };
            cxx::write(&self.module, &options).source
        };
        match printer {
            "ir" => print::module(&self.module),
            "cpp" => text(Dialect::Host),
            "cuda" => text(Dialect::Cuda),
            "plain" => {
                let kernel = self.module.kernels().next().expect("a kernel").0;
                let dims = self.module.facts(kernel).launch_dims.max(1).into();
                let plain = match self.kernel {
                    Some(reverse) => cxx::write_plain_reverse(&self.module, &[(reverse, dims)]),
                    None => cxx::write_plain(&self.module, &[(kernel, dims)]),
                };
                plain.unwrap_or_else(|| "no text without the header".to_owned())
            }
            _ => panic!("`{printer}` is no printer of a sample"),
        }
    }
}

/// Returns a switch like the one in an interpreter of machine code, with long expressions in its
/// cases.
pub fn dispatch(cases: usize) -> Valid<Module> {
    let mut text =
        "kernel dispatch(out: array<i32, 1>, opcode: i32) {\n  %0 = load opcode\n  switch %0 {\n"
            .to_owned();
    let mut value = 0;
    for case in 0..cases {
        value += 1;
        _ = write!(text, "case {case}:\n%{value} = load out[0i32]\n");
        for amount in 0..40 {
            value += 1;
            _ = writeln!(text, "%{value} = add %{}, {amount}i32", value - 1);
        }
        let sum = value;
        value += 1;
        _ = write!(text, "%{value} = lt %0, %{sum}\nif %{value} {{\nout[0i32] = %{sum}\n}}\n");
    }
    text += "default:\ntrap \"no such opcode\"\n}\n}\n";
    let module = parse::module(&text).unwrap_or_else(|error| panic!("{error}"));
    check::module(module).unwrap_or_else(|faults| panic!("{faults:#?}"))
}
