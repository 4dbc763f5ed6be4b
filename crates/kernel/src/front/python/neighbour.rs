//! Names that come from files beside the text: what `area` of `from shape import area` and of `shape.area` is, and what
//! is said when there is no such file or name.

use super::constant::{Known, Static, Unit};
use super::file::Content;
use super::scope::{Meaning, ScopeId};
use super::syntax::Expr;
use crate::diagnostic::Diagnostic;
use crate::ir::builtin::nearest_of;
use crate::source::Span;

/// Where files are looked for, as messages say it.
const BESIDE: &str =
    "modules are files beside this one or its package; what is installed elsewhere isn't read";

impl<'a> Unit<'a> {
    /// A name of a module beside the text: what its file binds, else a module in it.
    pub(super) fn member(&self, neighbour: usize, name: &str, expr: &Expr) -> Known<'a> {
        let module = &self.files.neighbours[neighbour];
        if let Content::Faulty(fault) = &module.content {
            return Err(fault.clone());
        }
        if let Some(known) = self.within(neighbour, name, expr) {
            return known;
        }
        if let Some(&child) = module.children.get(name) {
            return Ok(Static::Neighbour(child));
        }
        if matches!(module.content, Content::Folder) {
            let folder = if module.name.is_empty() { "." } else { &module.name };
            let message = format!("there is no `{name}.py` in `{folder}`");
            let fault = Diagnostic::error("imported-name", self.span(expr), message);
            return Err(Box::new(fault.help(BESIDE)));
        }
        let message = format!("`{}` has no `{name}`", module.name);
        let fault = Diagnostic::error("undefined-name", self.span(expr), message);
        let near = match module.content {
            Content::Text(text) => nearest_of(name, self.scopes.names(text)),
            _ => None,
        };
        Err(Box::new(match near {
            Some(near) => fault.help(format!("it has `{near}`")),
            None => fault,
        }))
    }

    /// What a module's own file makes of a name.
    fn within(&self, neighbour: usize, name: &str, expr: &Expr) -> Option<Known<'a>> {
        let Content::Text(text) = self.files.neighbours[neighbour].content else { return None };
        let root = self.scopes.root(text);
        let Some(definitions) = self.scopes.own(root, name) else {
            return self.starred(text, name, expr);
        };
        let known = self.deeper(|| self.bound(definitions, None, name, expr, root));
        Some(known.unwrap_or_else(|| {
            let message = format!("`{name}` is imported in a circle");
            Err(Box::new(Diagnostic::error("undefined-name", self.span(expr), message)))
        }))
    }

    /// A name that a text has by `from module import *`, directly or not; what was imported last counts.
    pub(super) fn starred(&self, text: usize, name: &str, expr: &Expr) -> Option<Known<'a>> {
        let (mut todo, mut seen) = (vec![text], Vec::new());
        while let Some(next) = todo.pop() {
            if seen.contains(&next) {
                continue;
            }
            let root = self.scopes.root(next);
            if let Some(definitions) = self.scopes.own(root, name).filter(|_| next != text) {
                return self.deeper(|| self.bound(definitions, None, name, expr, root));
            }
            seen.push(next);
            todo.extend(self.scopes.stars(next).iter().filter_map(|&(level, module)| {
                let neighbour = *self.files.target(next, level, module)?.as_ref().ok()?;
                match self.files.neighbours[neighbour].content {
                    Content::Text(text) if self.is_public(text, name) => Some(text),
                    _ => None,
                }
            }));
        }
        None
    }

    /// Whether `*` brings a name: one in `__all__` if there is one, else one without `_` before it.
    fn is_public(&self, text: usize, name: &str) -> bool {
        let root = self.scopes.root(text);
        let all = self.scopes.own(root, "__all__").and_then(|definitions| definitions.last());
        match all.map(|all| all.meaning) {
            Some(Meaning::Value(all)) => match self.known(all, root) {
                Ok(Static::Sequence(names)) => {
                    names.iter().any(|each| matches!(each, Static::Text(text) if &**text == name))
                }
                _ => !name.starts_with('_'),
            },
            _ => !name.starts_with('_'),
        }
    }

    /// What is said of an import with dots that led to no file.
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
            Some(Err(looked)) => missing(&module_name, looked, span),
            _ => self.elsewhere(&format!("`{module_name}`"), span),
        })
    }

    /// What is said of a name of a module that is neither Warp's nor beside the text.
    pub(super) fn foreign(&self, path: &str, span: Span) -> Box<Diagnostic> {
        let module = path.rsplit_once('.').map_or(path, |(module, _)| module);
        Box::new(match self.files.looked_for(module) {
            Some(looked) => missing(module, looked, span),
            None => self.elsewhere(&format!("`{path}`"), span),
        })
    }

    fn elsewhere(&self, what: &str, span: Span) -> Diagnostic {
        let fault =
            Diagnostic::error("imported-name", span, format!("{what} comes from another module"));
        if self.files.is_beside {
            fault.help(BESIDE)
        } else {
            fault.help("a text that is no file has none beside it to import from")
        }
    }
}

fn missing(module: &str, looked: &[String], span: Span) -> Diagnostic {
    let looked: Vec<String> = looked.iter().map(|path| format!("`{path}`")).collect();
    let message = format!("no module `{module}` was found: looked for {}", looked.join(", "));
    Diagnostic::error("imported-name", span, message).help(BESIDE)
}
