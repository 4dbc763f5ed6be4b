//! Names that come from files beside the text: what `area` of `from shape import area` and of
//! `shape.area` is, and what is said when there is no such file or name.

use super::constant::{Evaluation, KnownValue, Unit};
use gbxcule_ir::builtin::nearest_of;
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::source::Span;
use gbxcule_python_names::Content;
use gbxcule_python_names::syntax::Expr;
use gbxcule_python_names::{BindingSource, Definition, ScopeId};

/// Folders in which files are looked for without any option.
const BESIDE: &str = "modules are files beside this one or its package";

impl<'a> Unit<'a> {
    /// A name of a module beside the text: what its file binds, else a module in it.
    pub(super) fn member(&self, imported_module: usize, name: &str, expr: &Expr) -> Evaluation<'a> {
        let module = &self.files.imported_modules[imported_module];
        if let Content::Faulty(fault) = &module.content {
            let mut fault = fault.clone();
            if !fault.span().is_some() {
                fault.labels[0].span = self.span(expr);
            }
            return Err(fault);
        }
        let child = module.children.get(name).copied().map(KnownValue::ImportedModule);
        if let Some(known) = self.within(imported_module, name, expr) {
            // A name that the package's own file gets from the importing file isn't there yet.
            return known.or_else(|fault| match child {
                Some(child) if fault.code == Code::UndefinedName => Ok(child),
                _ => Err(fault),
            });
        }
        if let Some(child) = child {
            return Ok(child);
        }
        if matches!(module.content, Content::Folder) {
            let folder = if module.name.is_empty() { "." } else { &module.name };
            let message = format!("there is no `{name}.py` in `{folder}`");
            let fault = Diagnostic::error(Code::ImportedName, self.span(expr), message);
            return Err(Box::new(fault.help(BESIDE)));
        }
        let message = format!("`{}` has no `{name}`", module.name);
        let fault = Diagnostic::error(Code::UndefinedName, self.span(expr), message);
        let near = match module.content {
            Content::Text(text) => nearest_of(name, self.scopes.names(text)),
            _ => None,
        };
        Err(Box::new(match near {
            Some(near) => fault.help(format!("it has `{near}`")),
            None => fault,
        }))
    }

    /// Looks up a name in a module's own file.
    fn within(&self, imported_module: usize, name: &str, expr: &Expr) -> Option<Evaluation<'a>> {
        let Content::Text(text) = self.files.imported_modules[imported_module].content else {
            return None;
        };
        let root = self.scopes.root(text);
        let Some(definitions) = self.scopes.bindings_in(root, name) else {
            return self.starred(text, name, expr);
        };
        let run = || self.bound(definitions, name, expr, root);
        Some(self.unchanged(self.with_depth_limit(self.span(expr), run), name, root, expr))
    }

    /// The value of a name of a scope, unless that is a list or dictionary which a text changes in
    /// place.
    pub(super) fn unchanged(
        &self,
        known: Evaluation<'a>,
        name: &str,
        home: ScopeId,
        expr: &Expr,
    ) -> Evaluation<'a> {
        if matches!(known, Ok(KnownValue::Sequence(_) | KnownValue::Dict(_)))
            && self.is_changed(name, self.scopes.text(home))
        {
            let message =
                format!("`{name}` is changed after it is made: only Python knows its value");
            return Err(self.needs_python(expr, message));
        }
        known
    }

    /// Returns true if something that a text binds to a name is changed in place: there, in a text
    /// that imports the name, or as an attribute of anything.
    fn is_changed(&self, name: &str, home: usize) -> bool {
        if self.scopes.is_changed(name) {
            return true;
        }
        let imports = |text: usize| {
            let bound = self.scopes.bindings_in(self.scopes.root(text), name);
            let imported = |it: &Definition<'_>| matches!(it.source, BindingSource::ImportFrom(..));
            bound.map_or(!self.scopes.stars(text).is_empty(), |all| all.iter().any(imported))
        };
        self.files.texts.iter().enumerate().any(|(text, it)| {
            let changes = it.changes();
            let by_name = text != 0 && changes.names.contains(name);
            changes.attributes.contains(name) || by_name && (text == home || imports(text))
        })
    }

    /// A name that a text has by `from module import *`, directly or not; what was imported last
    /// counts.
    pub(super) fn starred(&self, text: usize, name: &str, expr: &Expr) -> Option<Evaluation<'a>> {
        let (mut todo, mut seen) = (vec![text], Vec::new());
        while let Some(next) = todo.pop() {
            if seen.contains(&next) {
                continue;
            }
            let root = self.scopes.root(next);
            if let Some(definitions) = self.scopes.bindings_in(root, name).filter(|_| next != text)
            {
                let run = || self.bound(definitions, name, expr, root);
                return Some(self.with_depth_limit(self.span(expr), run));
            }
            seen.push(next);
            todo.extend(self.scopes.stars(next).iter().filter_map(|&(level, module)| {
                let imported_module = *self.files.target(next, level, module)?.as_ref().ok()?;
                match self.files.imported_modules[imported_module].content {
                    Content::Text(text) if self.is_public(text, name) => Some(text),
                    _ => None,
                }
            }));
        }
        None
    }

    /// Returns true if `*` brings a name: one in `__all__` if there is one, else one without `_`
    /// before it.
    fn is_public(&self, text: usize, name: &str) -> bool {
        let root = self.scopes.root(text);
        let all =
            self.scopes.bindings_in(root, "__all__").and_then(|definitions| definitions.last());
        match all.map(|all| all.source) {
            Some(BindingSource::Value(all)) => match self.known(all, root) {
                Ok(KnownValue::Sequence(names)) => names
                    .iter()
                    .any(|each| matches!(each, KnownValue::Text(text) if &**text == name)),
                _ => !name.starts_with('_'),
            },
            _ => !name.starts_with('_'),
        }
    }

    /// Diagnostic for an import with dots that led to no file.
    pub(super) fn not_found(
        &self,
        home: ScopeId,
        level: u32,
        module: &str,
        span: Span,
    ) -> Box<Diagnostic> {
        let module_name = format!("{}{module}", ".".repeat(level as usize));
        let target = self.files.target(self.scopes.text(home), level, module);
        Box::new(match target {
            Some(Err(looked)) => self.missing(&module_name, looked, span),
            _ => self.imported_name_fault(&format!("`{module_name}`"), span),
        })
    }

    /// Diagnostic for a name of a module that is neither Warp's nor beside the text.
    pub(super) fn unknown_module(&self, path: &str, span: Span) -> Box<Diagnostic> {
        if path.starts_with("warp.") {
            let message = format!("nothing is known of `{path}` here");
            let fault = Diagnostic::error(Code::ImportedName, span, message);
            return Box::new(match self.value_advice(path) {
                Some(help) => fault.help(help),
                None => fault,
            });
        }
        Box::new(match self.files.looked_for(path) {
            Some((module, looked)) => {
                let fault = self.missing(module, looked, span);
                let name = path.strip_prefix(module).unwrap_or("").trim_start_matches('.');
                let given = format!("; `--define {path}=VALUE` gives a constant");
                match fault.help.clone() {
                    Some(help) if !name.is_empty() && self.files.takes_options => {
                        fault.help(help + &given)
                    }
                    _ => fault,
                }
            }
            None => self.imported_name_fault(&format!("`{path}`"), span),
        })
    }

    fn imported_name_fault(&self, what: &str, span: Span) -> Diagnostic {
        let fault = Diagnostic::error(
            Code::ImportedName,
            span,
            format!("{what} comes from another module"),
        );
        if self.files.takes_options {
            let given = "a constant can be given by `--define NAME=VALUE`";
            fault.help(format!("{}; {given}", self.folders()))
        } else if self.files.is_beside {
            fault.help(self.folders())
        } else {
            fault.help("a text that is no file has none beside it to import from")
        }
    }

    fn missing(&self, module: &str, looked: &[String], span: Span) -> Diagnostic {
        let looked: Vec<String> = looked.iter().map(|path| format!("`{path}`")).collect();
        let message = format!("no module `{module}` was found: looked for {}", looked.join(", "));
        Diagnostic::error(Code::ImportedName, span, message).help(self.folders())
    }

    /// The folders in which files are looked for, as messages name them.
    fn folders(&self) -> String {
        let named =
            if self.files.takes_options { ", or in a folder that `--path` names" } else { "" };
        format!("{BESIDE}{named}")
    }
}
