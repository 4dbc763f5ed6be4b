//! Counts how many kernels of a tree of Python files pass the front end and the checker, with the
//! speed and the reasons of refusals; [`survey_with_texts`] also writes C++ and CUDA texts.
//!
//! The functions take paths and texts and return counts and a table; callers walk the directories.
//! Every kernel is counted: as compiled, as refused, or as a bug of the compiler.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

use gbxcule_back_cxx::{self as cxx, Dialect, Options};
use gbxcule_front_warp::{ImportOptions, Program, ReadFile, Texts};
use gbxcule_ir::check::{self, Valid};
use gbxcule_ir::diagnostic::{Code, Diagnostic, Severity, render};
use gbxcule_ir::module::Module;
use gbxcule_ir::source::{SourceId, SourceMap};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

/// Result for one kernel.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Path of the file.
    pub path: String,
    /// Name of the kernel.
    pub kernel: String,
    /// Line of the kernel's name.
    pub line: usize,
    /// Outcome of the compilation.
    pub outcome: Outcome,
}

/// Stage that a kernel reached.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The kernel passed all stages.
    Compiled,
    /// The kernel passed all stages with guessed values in place of values that only Python knows.
    Tried,
    /// The front end or the checker refused it for these reasons.
    Refused(Vec<Diagnostic>),
    /// A stage stopped with this message, which means a bug of the compiler.
    Bug(String),
}

/// A part of the compiler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CompilerStage {
    /// Text to IR.
    Front,
    /// IR to valid IR.
    Check,
    /// Valid IR to C++.
    Host,
    /// Valid IR to CUDA C++.
    Cuda,
}

/// Number of kernels that passed a stage, and its time.
#[derive(Clone, Copy, Default, Debug)]
pub struct StageTotal {
    /// Number of kernels that passed the stage.
    pub kernels: usize,
    /// Time of the stage, including refused kernels.
    pub time: Duration,
}

/// Outcome of many files.
#[derive(Default, Debug)]
pub struct Survey {
    /// All kernels.
    pub entries: Vec<Entry>,
    /// Files that are not Python, with the first error.
    pub unparsed: Vec<(String, Diagnostic)>,
    /// Number of files read.
    pub files: usize,
    /// Totals, by [`CompilerStage`].
    pub stage_totals: [StageTotal; 4],
    /// Bytes of all text.
    pub text_bytes: usize,
    /// Texts, for rendering.
    pub sources: SourceMap,
    /// True if the texts of each kernel are written as well.
    writes_texts: bool,
}

/// Greatest number of bytes of text that are kept for later files.
const MAX_TEXTS: usize = 256 << 20;

/// Compiles every kernel of every text by itself; `read` returns the texts of imported files. It
/// writes no C++ and CUDA texts, because every valid module has them.
pub fn survey(
    files: impl IntoIterator<Item = (String, String)>,
    import_options: &ImportOptions,
    read: ReadFile<'_>,
) -> Survey {
    Survey::default().of(files, import_options, read)
}

/// Compiles as [`survey`] does, and writes both texts of each kernel, which measures the writers
/// and finds their bugs.
pub fn survey_with_texts(
    files: impl IntoIterator<Item = (String, String)>,
    import_options: &ImportOptions,
    read: ReadFile<'_>,
) -> Survey {
    Survey { writes_texts: true, ..Survey::default() }.of(files, import_options, read)
}

/// Returns those modules of the files that a line of an import mentions.
fn imported_names(files: &[(String, String)]) -> FxHashSet<String> {
    let modules: FxHashSet<&str> = files.iter().filter_map(|(path, _)| module_name(path)).collect();
    let mut imported = FxHashSet::default();
    for (_, text) in files {
        for line in text.split('\n').filter(|line| line.contains("import ")) {
            let words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
            imported.extend(words.filter(|word| modules.contains(word)).map(str::to_owned));
        }
    }
    imported
}

/// Returns the last part of the module name of a file.
fn module_name(path: &str) -> Option<&str> {
    let path = Path::new(path);
    let stem = path.file_stem()?;
    let name = if stem == "__init__" { path.parent()?.file_name()? } else { stem };
    name.to_str()
}

impl Survey {
    fn of(
        mut self,
        files: impl IntoIterator<Item = (String, String)>,
        import_options: &ImportOptions,
        read: ReadFile<'_>,
    ) -> Self {
        let mut texts = Texts::new(import_options.clone());
        let files: Vec<_> = files.into_iter().collect();
        let imported = imported_names(&files);
        for (path, text) in files {
            self.add(&mut texts, path.clone(), text, read);
            // Syntax trees take most of a survey's memory, and few files of kernels are imported.
            if !module_name(&path).is_some_and(|name| imported.contains(name)) {
                texts.forget(Path::new(&path));
            }
            if texts.len_bytes() > MAX_TEXTS {
                texts = Texts::new(import_options.clone());
            }
        }
        self
    }

    fn add(&mut self, texts: &mut Texts, path: String, text: String, read: ReadFile<'_>) {
        self.files += 1;
        let already_read = texts.source(Path::new(&path));
        let id = already_read.unwrap_or_else(|| self.sources.add(path.clone(), text));
        let begin = Instant::now();
        // Imports are followed only for kernels.
        if !texts.may_hold_kernels(&self.sources, id) {
            return;
        }
        let parsed = Program::load(texts, &mut self.sources, id, Some(read));
        let program = match parsed {
            Ok(program) => program,
            Err(mut faults) => {
                if !faults.is_empty() {
                    self.unparsed.push((path, faults.remove(0)));
                }
                return;
            }
        };
        let reader = program.reader().with_trial_types();
        self.stage_totals[CompilerStage::Front as usize].time += begin.elapsed();
        for kernel in reader.kernels() {
            let compiling = AssertUnwindSafe(|| {
                let strict = self.compile(id, |name| reader.lower(kernel.position, name));
                match strict {
                    Ok(()) => Ok(Outcome::Compiled),
                    Err(faults) if !faults.iter().any(asks_for_values) => Err(faults),
                    Err(faults) => {
                        let tried = |name: &str| reader.lower_with_trials(kernel.position, name);
                        match self.compile(id, tried) {
                            Ok(()) => Ok(Outcome::Tried),
                            // A missing feature refuses the kernel for all values.
                            Err(left) if left.iter().any(lacks_a_feature) => Err(left),
                            Err(_) => Err(faults),
                        }
                    }
                }
            });
            let outcome = match catch_unwind(compiling) {
                Ok(Ok(outcome)) => outcome,
                Ok(Err(faults)) => Outcome::Refused(faults),
                Err(panic) => {
                    let text = panic.downcast_ref::<String>().map(String::as_str);
                    let text = text.or(panic.downcast_ref::<&str>().copied());
                    Outcome::Bug(text.unwrap_or("a panic").to_owned())
                }
            };
            let (line, _) = self.sources.get(id).line_column(kernel.span.start);
            self.entries.push(Entry { path: path.clone(), kernel: kernel.name, line, outcome });
        }
    }

    fn compile(
        &mut self,
        id: SourceId,
        lower: impl FnOnce(&str) -> Result<Module, Vec<Diagnostic>>,
    ) -> Result<(), Vec<Diagnostic>> {
        let lowered =
            self.timed(CompilerStage::Front, |survey| lower(&survey.sources.get(id).name));
        let module = lowered.map_err(|faults| {
            faults.into_iter().filter(|fault| fault.severity == Severity::Error).collect::<Vec<_>>()
        })?;
        let module = self.timed(CompilerStage::Check, |_| check::module(module))?;
        // No writer refuses a valid module.
        let texts = [(CompilerStage::Host, Dialect::Host), (CompilerStage::Cuda, Dialect::Cuda)];
        let written = if self.writes_texts { &texts[..] } else { &[] };
        for &(stage, dialect) in written {
            self.text_bytes += self.timed(stage, |survey| survey.write(&module, dialect))?;
        }
        Ok(())
    }

    fn write(&self, module: &Valid<Module>, dialect: Dialect) -> Result<usize, Vec<Diagnostic>> {
        let options = Options { sources: Some(&self.sources), ..Options::new(dialect) };
        Ok(cxx::write(module, &options).source.len())
    }

    /// Runs a stage on a kernel and adds its time.
    fn timed<T>(
        &mut self,
        stage: CompilerStage,
        work: impl FnOnce(&Self) -> Result<T, Vec<Diagnostic>>,
    ) -> Result<T, Vec<Diagnostic>> {
        let begin = Instant::now();
        let result = work(self);
        let passage = &mut self.stage_totals[stage as usize];
        passage.time += begin.elapsed();
        passage.kernels += usize::from(result.is_ok());
        result
    }

    /// Returns the number of kernels that passed all stages, also with tried values.
    pub fn compiled(&self) -> usize {
        let compiled = |it: &&Entry| matches!(it.outcome, Outcome::Compiled | Outcome::Tried);
        self.entries.iter().filter(compiled).count()
    }

    /// Returns the number of kernels that passed only with tried values.
    pub fn tried(&self) -> usize {
        self.entries.iter().filter(|entry| matches!(entry.outcome, Outcome::Tried)).count()
    }

    /// Returns the number of refused kernels that lack only values or types. The guessed values
    /// don't fit, but `--define` and `--types` may give others.
    pub fn wants_values(&self) -> usize {
        let wants = |entry: &&Entry| match &entry.outcome {
            Outcome::Refused(faults) => faults.iter().all(asks_for_values),
            _ => false,
        };
        self.entries.iter().filter(wants).count()
    }

    /// Returns the kernels that showed a bug of the compiler.
    pub fn bugs(&self) -> impl Iterator<Item = (&Entry, &str)> {
        self.entries.iter().filter_map(|entry| match &entry.outcome {
            Outcome::Bug(what) => Some((entry, what.as_str())),
            _ => None,
        })
    }

    /// Returns the first messages of refused kernels, most frequent first, each with the first
    /// kernel that has it.
    pub fn reasons(&self) -> Vec<(&str, usize, &Entry)> {
        let mut counts: BTreeMap<&str, (usize, &Entry)> = BTreeMap::new();
        for entry in &self.entries {
            if let Outcome::Refused(faults) = &entry.outcome
                && let Some(first) = faults.first()
            {
                counts.entry(&first.message).or_insert((0, entry)).0 += 1;
            }
        }
        let mut rows: Vec<_> =
            counts.into_iter().map(|(message, (count, entry))| (message, count, entry)).collect();
        rows.sort_by_key(|&(message, count, _)| (std::cmp::Reverse(count), message));
        rows
    }

    /// Describes every kernel that isn't compiled, with all of the compiler's messages.
    pub fn refusals(&self) -> String {
        let mut text = String::new();
        for entry in &self.entries {
            let Entry { path, line, kernel, outcome } = entry;
            let reason = match outcome {
                Outcome::Compiled | Outcome::Tried => continue,
                Outcome::Refused(faults) => render(faults, &self.sources),
                Outcome::Bug(what) => what.clone(),
            };
            text += &format!("{path}:{line}: `{kernel}`\n{}\n\n", reason.trim_end());
        }
        text
    }

    /// Writes a line for each stage.
    fn write_rates(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n{:<30} {:>6} {:>9} {:>11}", "one core", "done", "seconds", "kernels/s")?;
        let names = ["source to IR", "checker", "C++ text", "CUDA text"];
        let [front, check, host, cuda] = self.stage_totals.map(|stage| stage.time);
        let stages = if self.writes_texts { 4 } else { 2 };
        for (name, stage) in names.iter().zip(&self.stage_totals[..stages]) {
            rate(f, name, stage.kernels, stage.time)?;
        }
        if !self.writes_texts {
            return Ok(());
        }
        rate(f, "source to C++ text", self.compiled(), front + check + host)?;
        rate(f, "source to CUDA text", self.compiled(), front + check + cuda)
    }

    /// Counts refused kernels by the code of their first fault, most frequent first.
    pub fn refused(&self) -> Vec<(&'static str, usize)> {
        let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
        for entry in &self.entries {
            if let Outcome::Refused(faults) = &entry.outcome {
                let code = faults.first().map_or("without a reason", |first| first.code.name());
                *counts.entry(code).or_default() += 1;
            }
        }
        let mut rows: Vec<_> = counts.into_iter().collect();
        rows.sort_by_key(|&(code, count)| (std::cmp::Reverse(count), code));
        rows
    }
}

/// Returns true if the reason of a fault is a value that only Python knows.
fn asks_for_values(fault: &Diagnostic) -> bool {
    matches!(fault.code, Code::NeedsPythonEvaluation | Code::ImportedName | Code::GenericKernel)
}

/// Returns true if the reason of a fault is a missing feature of Warp, for all values.
fn lacks_a_feature(fault: &Diagnostic) -> bool {
    let is_small = matches!(
        fault.code,
        Code::UnsupportedValue | Code::UnsupportedIteration | Code::UnsupportedSyntax
    );
    !is_small && fault.code.name().starts_with("unsupported")
}

/// Greatest number of messages in a printed survey.
const REASONS_SHOWN: usize = 20;

impl fmt::Display for Survey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (all, refused) = (self.entries.len(), self.refused());
        let refusals: usize = refused.iter().map(|(_, count)| count).sum();
        let percent = |count: usize| 100.0 * count as f64 / all.max(1) as f64;
        let mut share = |name: &str, count: usize| {
            writeln!(f, "{name:<30} {count:>6} {:>5.1} %", percent(count))
        };
        share("kernels", all)?;
        let taken = if self.writes_texts { "compiled, to all texts" } else { "compiled" };
        share(taken, self.compiled())?;
        if self.tried() > 0 {
            share("  only with --define, --types", self.tried())?;
        }
        share("refused", refusals)?;
        for (code, count) in refused {
            share(&format!("  {code}"), count)?;
        }
        if self.wants_values() > 0 {
            share("  for want of a value or type", self.wants_values())?;
        }
        share("bugs", self.bugs().count())?;
        for (entry, what) in self.bugs() {
            writeln!(f, "  {}:{} {}: {what}", entry.path, entry.line, entry.kernel)?;
        }
        for (message, count, first) in self.reasons().into_iter().take(REASONS_SHOWN) {
            writeln!(f, "  {count:>4} x {message}")?;
            writeln!(f, "         {}:{}: `{}`", first.path, first.line, first.kernel)?;
        }
        writeln!(f, "\n{:<30} {:>6}", "files", self.files)?;
        writeln!(f, "{:<30} {:>6}", "files that don't parse", self.unparsed.len())?;
        if self.writes_texts {
            writeln!(f, "{:<30} {:>6} KiB", "text", self.text_bytes / 1024)?;
        }
        self.write_rates(f)
    }
}

fn rate(f: &mut fmt::Formatter<'_>, name: &str, kernels: usize, time: Duration) -> fmt::Result {
    let seconds = time.as_secs_f64();
    writeln!(
        f,
        "{name:<30} {kernels:>6} {seconds:>9.3} {:>11.0}",
        kernels as f64 / seconds.max(1e-9)
    )
}
