//! Messages about modules and files that an import doesn't find, and their advice.

use crate::file::Files;
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::source::Span;

/// Folders in which files are looked for without any option.
const BESIDE: &str = "modules are files beside this one or its package";

impl Files {
    /// Returns advice on how to give a value that only Python knows.
    pub fn value_advice(&self, path: &str) -> Option<String> {
        if self.takes_options {
            let option = format!("`--define {path}=VALUE` gives it on the command line");
            return Some(option + ", or `gbxcule.kernel` reads it in Python");
        }
        self.is_beside.then(|| "write the value itself into the text".to_owned())
    }

    /// Diagnostic for an import with dots, in a text, that found no file.
    pub fn not_found(&self, text: usize, level: u32, module: &str, span: Span) -> Box<Diagnostic> {
        let name = format!("{}{module}", ".".repeat(level as usize));
        Box::new(match self.target(text, level, module) {
            Some(Err(looked)) => self.missing(&name, looked, span),
            _ => self.foreign_name(&format!("`{name}`"), span),
        })
    }

    /// Diagnostic for a name for which a folder has no file.
    pub fn not_in_folder(&self, folder: &str, name: &str, span: Span) -> Box<Diagnostic> {
        let folder = if folder.is_empty() { "." } else { folder };
        let message = format!("there is no `{name}.py` in `{folder}`");
        Box::new(Diagnostic::error(Code::ImportedName, span, message).help(BESIDE))
    }

    /// Diagnostic for a name of a module that is neither Warp's nor beside the text.
    pub fn unknown_module(&self, path: &str, span: Span) -> Box<Diagnostic> {
        if path.starts_with("warp.") {
            let message = format!("nothing is known of `{path}` here");
            let mut fault = Diagnostic::error(Code::ImportedName, span, message);
            fault.help = self.value_advice(path);
            return Box::new(fault);
        }
        let Some((module, looked)) = self.looked_for(path) else {
            return Box::new(self.foreign_name(&format!("`{path}`"), span));
        };
        let mut fault = self.missing(module, looked, span);
        if path != module && self.takes_options {
            let advice = format!("; `--define {path}=VALUE` gives a constant");
            fault.help = fault.help.map(|help| help + &advice);
        }
        Box::new(fault)
    }

    fn foreign_name(&self, what: &str, span: Span) -> Diagnostic {
        let message = format!("{what} comes from another module");
        let fault = Diagnostic::error(Code::ImportedName, span, message);
        if self.takes_options {
            let given = "a constant can be given by `--define NAME=VALUE`";
            fault.help(format!("{}; {given}", self.folders()))
        } else if self.is_beside {
            fault.help(self.folders())
        } else {
            fault.help("only a text in a file can import from files beside it")
        }
    }

    fn missing(&self, module: &str, looked: &[String], span: Span) -> Diagnostic {
        let looked: Vec<String> = looked.iter().map(|path| format!("`{path}`")).collect();
        let message = format!("no module `{module}` was found: looked for {}", looked.join(", "));
        Diagnostic::error(Code::ImportedName, span, message).help(self.folders())
    }

    /// Folders in which files are looked for, as messages name them.
    fn folders(&self) -> String {
        let option = if self.takes_options { ", or in a folder that `--path` names" } else { "" };
        format!("{BESIDE}{option}")
    }
}
