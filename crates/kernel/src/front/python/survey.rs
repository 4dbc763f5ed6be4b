//! How much of a body of Python files compiles, and what stands in the way of the rest.
//!
//! Pure: takes paths and texts, gives counts and a table. Walking directories is for others.

use super::Program;
use crate::check;
use crate::diagnostic::{Diagnostic, Severity};
use crate::ir::module::Module;
use crate::source::SourceMap;
use std::collections::BTreeMap;
use std::fmt;

/// What came of one kernel.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The file.
    pub path: String,
    /// The kernel.
    pub kernel: String,
    /// Line of its name.
    pub line: usize,
    /// What refuses it; empty if it compiled.
    pub faults: Vec<Diagnostic>,
}

/// The outcome for many files.
#[derive(Default, Debug)]
pub struct Survey {
    /// All kernels.
    pub entries: Vec<Entry>,
    /// Files that are no Python, with the first error.
    pub unparsed: Vec<(String, Diagnostic)>,
    /// How many files were read.
    pub files: usize,
    /// The texts, for rendering.
    pub sources: SourceMap,
}

/// Compiles every kernel of every text by itself: front end and checker.
pub fn survey(files: impl IntoIterator<Item = (String, String)>) -> Survey {
    let mut survey = Survey::default();
    for (path, text) in files {
        survey.add(path, text);
    }
    survey
}

impl Survey {
    fn add(&mut self, path: String, text: String) {
        self.files += 1;
        let id = self.sources.add(path.clone(), text);
        let program = match Program::parse(&self.sources, id) {
            Ok(program) => program,
            Err(mut faults) => {
                if !faults.is_empty() {
                    self.unparsed.push((path, faults.remove(0)));
                }
                return;
            }
        };
        let reader = program.reader();
        for kernel in reader.kernels() {
            let mut module = Module::new("survey");
            let faults = match reader.lower(kernel.position, &mut module) {
                Ok(()) => check::module(module).err().unwrap_or_default(),
                Err(faults) => {
                    faults.into_iter().filter(|fault| fault.severity == Severity::Error).collect()
                }
            };
            let (line, _) = self.sources.get(id).line_column(kernel.span.start);
            self.entries.push(Entry { path: path.clone(), kernel: kernel.name, line, faults });
        }
    }

    /// Kernels that compiled to valid IR.
    pub fn compiled(&self) -> usize {
        self.entries.iter().filter(|entry| entry.faults.is_empty()).count()
    }

    /// Refused kernels by the code of their first fault, most frequent first.
    pub fn refused(&self) -> Vec<(&'static str, usize)> {
        let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
        for entry in &self.entries {
            if let Some(first) = entry.faults.first() {
                *counts.entry(first.code).or_default() += 1;
            }
        }
        let mut rows: Vec<_> = counts.into_iter().collect();
        rows.sort_by_key(|&(code, count)| (std::cmp::Reverse(count), code));
        rows
    }
}

impl fmt::Display for Survey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (all, compiled) = (self.entries.len(), self.compiled());
        let percent = |count: usize| 100.0 * count as f64 / all.max(1) as f64;
        writeln!(f, "{:<28} {:>6}", "files", self.files)?;
        writeln!(f, "{:<28} {:>6}", "files that don't parse", self.unparsed.len())?;
        writeln!(f, "{:<28} {:>6}", "kernels", all)?;
        writeln!(f, "{:<28} {:>6} {:>5.1} %", "compiled", compiled, percent(compiled))?;
        writeln!(f, "{:<28} {:>6} {:>5.1} %", "refused", all - compiled, percent(all - compiled))?;
        for (code, count) in self.refused() {
            writeln!(f, "  {code:<26} {count:>6} {:>5.1} %", percent(count))?;
        }
        Ok(())
    }
}
