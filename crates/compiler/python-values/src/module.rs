//! Members of modules in files beside the text: the meaning of `area` in `from shape import area`
//! and in `shape.area`.

use crate::dialect::{Dialect, Evaluation};
use crate::evaluator::Evaluator;
use crate::value::KnownValue;
use gbxcule_ir::builtin::nearest_of;
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_python_names::syntax::Expr;
use gbxcule_python_names::{BindingSource, Content, Definition, ScopeId};

impl<'a, D: Dialect<'a>> Evaluator<'a, D> {
    /// Member of a module in a file: a name that the file binds, or else a submodule.
    pub(crate) fn member(&self, module: usize, name: &str, expr: &Expr) -> Evaluation<'a, D> {
        let target = &self.files.imported_modules[module];
        if let Content::Faulty(fault) = &target.content {
            let mut fault = fault.clone();
            if !fault.span().is_some() {
                fault.labels[0].span = self.span(expr);
            }
            return Err(fault);
        }
        let child = target.children.get(name).copied().map(KnownValue::ImportedModule);
        if let Some(value) = self.within(module, name, expr) {
            // In a circle of imports, the package's `__init__.py` may not have bound the name
            // yet.
            return value.or_else(|fault| match child {
                Some(child) if fault.code == Code::UndefinedName => Ok(child),
                _ => Err(fault),
            });
        }
        if let Some(child) = child {
            return Ok(child);
        }
        if matches!(target.content, Content::Folder) {
            return Err(self.files.not_in_folder(&target.name, name, self.span(expr)));
        }
        let message = format!("`{}` has no `{name}`", target.name);
        let fault = Diagnostic::error(Code::UndefinedName, self.span(expr), message);
        let near = match target.content {
            Content::Text(text) => nearest_of(name, self.scopes.names(text)),
            _ => None,
        };
        Err(Box::new(match near {
            Some(near) => fault.help(format!("it has `{near}`")),
            None => fault,
        }))
    }

    /// Value of a name in a module's own file.
    fn within(&self, module: usize, name: &str, expr: &Expr) -> Option<Evaluation<'a, D>> {
        let Content::Text(text) = self.files.imported_modules[module].content else {
            return None;
        };
        let root = self.scopes.root(text);
        let Some(definitions) = self.scopes.bindings_in(root, name) else {
            return self.starred(text, name, expr);
        };
        let run = || self.bound(definitions, name, expr, root);
        Some(self.unchanged(self.with_depth_limit(self.span(expr), run), name, root, expr))
    }

    /// Returns the value of a name of a scope, unless the value is a list or dictionary that a text
    /// changes in place.
    pub(crate) fn unchanged(
        &self,
        value: Evaluation<'a, D>,
        name: &str,
        home: ScopeId,
        expr: &Expr,
    ) -> Evaluation<'a, D> {
        if matches!(value, Ok(KnownValue::Sequence(_) | KnownValue::Dict(_)))
            && self.is_changed(name, self.scopes.text(home))
        {
            let message =
                format!("`{name}` is changed after it is made: only Python knows its value");
            return Err(self.needs_python(expr, message));
        }
        value
    }

    /// Returns true if a value that the text `home` binds to a name is changed in place. The
    /// change may stand in that text, in a text that imports the name, or may be a change of an
    /// attribute of any value.
    fn is_changed(&self, name: &str, home: usize) -> bool {
        if self.scopes.is_changed(name) {
            return true;
        }
        let imports = |text: usize| {
            let bound = self.scopes.bindings_in(self.scopes.root(text), name);
            let is_import =
                |it: &Definition<'_>| matches!(it.source, BindingSource::ImportFrom(..));
            bound.map_or(!self.scopes.stars(text).is_empty(), |all| all.iter().any(is_import))
        };
        self.files.texts.iter().enumerate().any(|(text, it)| {
            let changes = it.changes();
            let by_name = text != 0 && changes.names.contains(name);
            changes.attributes.contains(name) || by_name && (text == home || imports(text))
        })
    }

    /// Value of a name that a text has by `from module import *`, directly or through other
    /// modules. The last import counts.
    pub(crate) fn starred(
        &self,
        text: usize,
        name: &str,
        expr: &Expr,
    ) -> Option<Evaluation<'a, D>> {
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
                let module = *self.files.target(next, level, module)?.as_ref().ok()?;
                match self.files.imported_modules[module].content {
                    Content::Text(text) if self.is_public(text, name) => Some(text),
                    _ => None,
                }
            }));
        }
        None
    }

    /// Returns true if `*` imports a name of a text: a name in `__all__`, or without `__all__` a
    /// name that doesn't begin with `_`.
    fn is_public(&self, text: usize, name: &str) -> bool {
        let root = self.scopes.root(text);
        let all = self.scopes.bindings_in(root, "__all__").and_then(|all| all.last());
        if let Some(BindingSource::Value(all)) = all.map(|all| all.source)
            && let Ok(KnownValue::Sequence(names)) = self.known(all, root)
        {
            let is_name = |each: &_| matches!(each, KnownValue::Text(text) if **text == *name);
            return names.iter().any(is_name);
        }
        !name.starts_with('_')
    }
}
