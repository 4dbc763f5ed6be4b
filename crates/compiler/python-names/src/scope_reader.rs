//! Reads the scopes of one text: what its statements bind, and under which conditions.

use crate::binding::{
    AttributeStore, BindingSource, Definition, Guard, GuardId, Owner, Question, Scope, ScopeId,
    TextScopes, id_of, local,
};
use crate::syntax::{
    ExceptHandler, Expr, Ranged, Stmt, StmtFunctionDef, StmtIf, StmtImport, StmtImportFrom,
    StmtMatch, end, path, start,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// Reader of a text.
pub(crate) struct ScopeReader<'a> {
    /// The number of the text.
    text: usize,
    read: TextScopes<'a>,
    /// First byte of the outermost loop around the statement that is read now.
    loop_begin: u32,
    /// First bytes of the statements at the top that kernels need; `None` means all.
    needed: Option<FxHashSet<u32>>,
}

impl<'a> ScopeReader<'a> {
    /// Reads a text's statements in a new scope, which may lie in the scope `parent`.
    pub(crate) fn read(
        text: usize,
        body: &'a [Stmt],
        needed: Option<FxHashSet<u32>>,
        parent: Option<ScopeId>,
    ) -> TextScopes<'a> {
        let read = TextScopes::default();
        let mut reader = Self { text, read, loop_begin: u32::MAX, needed };
        let module = reader.open(parent, Owner::Module);
        reader.suite(body, module, None);
        reader.read
    }

    fn open(&mut self, parent: Option<ScopeId>, owner: Owner<'a>) -> ScopeId {
        self.read.scopes.push(Scope { parent, owner, names: FxHashMap::default() });
        id_of(self.text, self.read.scopes.len() - 1)
    }

    fn bind(
        &mut self,
        scope: ScopeId,
        name: &'a str,
        at: u32,
        guard: Option<GuardId>,
        source: BindingSource<'a>,
    ) {
        let since = match source {
            BindingSource::Value(value) | BindingSource::Part(value, _) => end(value).max(at + 1),
            _ => at + 1,
        };
        let definition = Definition { source, at, since, guard, loop_begin: self.loop_begin };
        self.read.scopes[local(scope)].names.entry(name).or_default().push(definition);
    }

    fn suite(&mut self, body: &'a [Stmt], scope: ScopeId, under: Option<GuardId>) {
        for stmt in body {
            self.stmt(stmt, scope, under);
        }
    }

    #[expect(clippy::too_many_lines, reason = "one arm for each kind of Python's statements")]
    fn stmt(&mut self, stmt: &'a Stmt, scope: ScopeId, under: Option<GuardId>) {
        match stmt {
            Stmt::FunctionDef(def) => self.function(def, scope, under),
            Stmt::ClassDef(def) => {
                let inner = self.open(Some(scope), Owner::Class(def));
                self.bind(scope, &def.name, start(def), under, BindingSource::Class(def, inner));
                if self.is_needed(scope, def) {
                    self.suite(&def.body, inner, None);
                }
            }
            Stmt::Import(import) => self.import(import, scope, under),
            Stmt::ImportFrom(import) => self.import_from(import, scope, under),
            Stmt::Assign(assign) => {
                for target in &assign.targets {
                    self.target(target, Some(&assign.value), scope, under);
                }
            }
            Stmt::AnnAssign(assign) => {
                self.target(&assign.target, assign.value.as_deref(), scope, under);
            }
            Stmt::AugAssign(assign) => self.target(&assign.target, None, scope, under),
            Stmt::If(branch) => self.branch(branch, scope, under),
            Stmt::Match(choice) => self.choice(choice, scope, under),
            Stmt::For(each) => {
                let under = self.guard(None, under);
                let around = self.enter_loop(each);
                self.target(&each.target, None, scope, under);
                self.suite(&each.body, scope, under);
                self.loop_begin = around;
                self.suite(&each.orelse, scope, under);
            }
            Stmt::While(each) => {
                let under = self.guard(None, under);
                let around = self.enter_loop(each);
                self.suite(&each.body, scope, under);
                self.loop_begin = around;
                self.suite(&each.orelse, scope, under);
            }
            Stmt::With(with) => {
                for item in &with.items {
                    if let Some(target) = &item.optional_vars {
                        self.target(target, None, scope, under);
                    }
                }
                self.suite(&with.body, scope, under);
            }
            Stmt::Try(attempt) => {
                let (under, otherwise) = if attempt.body.iter().all(surely_succeeds) {
                    (under, self.guard(Some((Question::Never, true)), under))
                } else {
                    let unknown = self.guard(None, under);
                    (unknown, unknown)
                };
                self.suite(&attempt.body, scope, under);
                for handler in &attempt.handlers {
                    let ExceptHandler::ExceptHandler(handler) = handler;
                    self.suite(&handler.body, scope, otherwise);
                }
                self.suite(&attempt.orelse, scope, under);
                self.suite(&attempt.finalbody, scope, under);
            }
            Stmt::Delete(delete) => {
                delete.targets.iter().for_each(|target| self.target(target, None, scope, under));
            }
            Stmt::Expr(expr) => {
                if let Expr::Call(call) = &*expr.value
                    && let Expr::Attribute(method) = &*call.func
                    && let Expr::Name(name) = &*method.value
                {
                    self.change(name.id.as_str());
                }
            }
            _ => {}
        }
    }

    fn import(&mut self, import: &'a StmtImport, scope: ScopeId, under: Option<GuardId>) {
        for alias in &import.names {
            let path = alias.name.as_str();
            let root = path.split('.').next().unwrap_or(path);
            let (name, path) = match &alias.asname {
                Some(name) => (name.as_str(), path),
                None => (root, root),
            };
            self.bind(scope, name, start(import), under, BindingSource::Import(path));
        }
    }

    fn import_from(&mut self, import: &'a StmtImportFrom, scope: ScopeId, under: Option<GuardId>) {
        let module = import.module.as_ref().map_or("", |module| module.as_str());
        for alias in &import.names {
            if alias.name.as_str() == "*" {
                self.read.stars.push((import.level, module));
            }
            let name = alias.asname.as_ref().unwrap_or(&alias.name);
            let source = BindingSource::ImportFrom(import.level, module, alias.name.as_str());
            self.bind(scope, name.as_str(), start(import), under, source);
        }
    }

    /// Binds the names of each arm of an `if` under the answers that lead to the arm.
    fn branch(&mut self, branch: &'a StmtIf, scope: ScopeId, under: Option<GuardId>) {
        let test = |holds| Some((Question::Holds(&branch.test), holds));
        let accept = self.guard(test(true), under);
        self.suite(&branch.body, scope, accept);
        let mut otherwise = self.guard(test(false), under);
        for clause in &branch.elif_else_clauses {
            let test = |holds| clause.test.as_ref().map(|test| (Question::Holds(test), holds));
            let accept = match test(true) {
                Some(_) => self.guard(test(true), otherwise),
                None => otherwise,
            };
            self.suite(&clause.body, scope, accept);
            otherwise = self.guard(test(false), otherwise);
        }
    }

    /// Binds the names of each case of a `match`: only Python knows which case is taken.
    fn choice(&mut self, choice: &'a StmtMatch, scope: ScopeId, under: Option<GuardId>) {
        for case in &choice.cases {
            let accept = self.guard(None, under);
            self.suite(&case.body, scope, accept);
        }
    }

    /// Notes a change in place in the program's main file. `Text::changes` has the changes in
    /// other files.
    fn change(&mut self, name: &'a str) {
        if self.text == 0 {
            self.read.changed.insert(name);
        }
    }

    /// Returns true if kernels may need a function or class.
    fn is_needed(&self, scope: ScopeId, def: &impl Ranged) -> bool {
        let is_top = local(scope) == 0;
        !is_top || self.needed.as_ref().is_none_or(|needed| needed.contains(&start(def)))
    }

    /// Enters a loop; returns the first byte of the outermost loop around the loop.
    fn enter_loop(&mut self, each: &impl Ranged) -> u32 {
        let begin = self.loop_begin.min(start(each));
        std::mem::replace(&mut self.loop_begin, begin)
    }

    fn guard(
        &mut self,
        test: Option<(Question<'a>, bool)>,
        outer: Option<GuardId>,
    ) -> Option<GuardId> {
        self.read.guards.push(Guard { test, outer });
        Some(id_of(self.text, self.read.guards.len() - 1))
    }

    fn function(&mut self, def: &'a StmtFunctionDef, scope: ScopeId, under: Option<GuardId>) {
        self.bind(scope, &def.name, start(def), under, BindingSource::Function(def));
        if self.text == 0 {
            self.read.functions.push((def, scope));
        } else if is_of_kernels(def) || !self.is_needed(scope, def) {
            // Python doesn't evaluate a function of another text that only kernels call.
            return;
        }
        let inner = self.open(Some(scope), Owner::Function(def));
        self.read.bodies.insert(def, inner);
        let around = std::mem::replace(&mut self.loop_begin, u32::MAX);
        for parameter in &def.parameters {
            let parameter = parameter.as_parameter();
            self.bind(
                inner,
                parameter.name.as_str(),
                start(parameter),
                None,
                BindingSource::Argument,
            );
        }
        self.suite(&def.body, inner, None);
        self.loop_begin = around;
    }

    fn target(
        &mut self,
        target: &'a Expr,
        value: Option<&'a Expr>,
        scope: ScopeId,
        under: Option<GuardId>,
    ) {
        match (target, value) {
            (Expr::Name(name), Some(value)) => {
                self.bind(scope, name.id.as_str(), start(name), under, BindingSource::Value(value));
            }
            (Expr::Name(name), None) => {
                self.bind(scope, name.id.as_str(), start(name), under, BindingSource::Runtime);
            }
            (Expr::Tuple(tuple), value) => {
                for (position, part) in tuple.elts.iter().enumerate() {
                    match (part, value) {
                        (Expr::Name(name), Some(value)) => {
                            let source = BindingSource::Part(value, position);
                            self.bind(scope, name.id.as_str(), start(name), under, source);
                        }
                        _ => self.target(part, None, scope, under),
                    }
                }
            }
            (Expr::Starred(starred), _) => self.target(&starred.value, None, scope, under),
            (Expr::Attribute(attribute), value) => {
                if let Expr::Name(name) = &*attribute.value {
                    let (name, guard) = (name.id.as_str(), under);
                    let store = AttributeStore { scope, name, value, guard };
                    self.read.attributes.entry(attribute.attr.as_str()).or_default().push(store);
                }
            }
            (Expr::Subscript(subscript), _) => {
                if let Expr::Name(name) = &*subscript.value {
                    self.change(name.id.as_str());
                }
            }
            _ => {}
        }
    }
}

/// Returns true for a function that only kernels call, and that defines no function or class.
fn is_of_kernels(def: &StmtFunctionDef) -> bool {
    let decorates = |decorator: &Expr| {
        let decorator = match decorator {
            Expr::Call(call) => &*call.func,
            other => other,
        };
        matches!(decorator, Expr::Attribute(it)
            if matches!(it.attr.as_str(), "func" | "kernel" | "func_native" | "func_grad"))
    };
    let defines = |stmt: &Stmt| matches!(stmt, Stmt::FunctionDef(_) | Stmt::ClassDef(_));
    def.decorator_list.iter().any(|it| decorates(&it.expression)) && !def.body.iter().any(defines)
}

/// Returns true for statements of a `try` that can't fail: imports of modules that are installed
/// wherever kernels run, `wp.init()`, and assignments of literals.
fn surely_succeeds(stmt: &Stmt) -> bool {
    let is_there = |module: &str| matches!(module, "warp" | "numpy" | "math" | "typing" | "enum");
    match stmt {
        Stmt::Import(import) => import.names.iter().all(|alias| is_there(alias.name.as_str())),
        Stmt::ImportFrom(import) => {
            import.level == 0 && import.module.as_ref().is_some_and(|module| module == "typing")
        }
        Stmt::Assign(assign) => assign.value.is_literal_expr(),
        Stmt::Expr(expr) => matches!(&*expr.value, Expr::Call(call)
            if call.arguments.is_empty()
                && matches!(path(&call.func).as_deref(), Some(["wp" | "warp", "init"]))),
        _ => false,
    }
}
