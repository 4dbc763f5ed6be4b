//! Names of Python's own scopes, read without running anything: what a name in a module, function
//! or class was bound to by its text.

use super::frame::FrameId;
use super::syntax::{
    Expr, MatchCase, Ranged, Stmt, StmtClassDef, StmtFunctionDef, StmtIf, StmtImport,
    StmtImportFrom, StmtMatch, end, start,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// A scope by its position in [`Scopes`]; 0 is the program's own file.
pub(super) type ScopeId = usize;

/// All scopes of a program's texts.
pub(super) struct Scopes<'a> {
    scopes: Vec<Scope<'a>>,
    /// The scope of each text.
    roots: Vec<ScopeId>,
    /// All function definitions of the program's own file with the scopes they stand in, in order
    /// of the text.
    pub(super) functions: Vec<(&'a StmtFunctionDef, ScopeId)>,
    guards: Vec<Guard<'a>>,
    /// The scopes of functions' bodies.
    bodies: FxHashMap<*const StmtFunctionDef, ScopeId>,
    /// Names of what the program's own file changes in place.
    changed: FxHashSet<&'a str>,
    /// Stores to attributes of names, by the attribute.
    attributes: FxHashMap<&'a str, Vec<AttributeStore<'a>>>,
    /// Modules of each text from which `*` is imported: dots and name.
    stars: Vec<Vec<(u32, &'a str)>>,
    /// Where the outermost loop around what is read now begins.
    loop_begin: u32,
    /// First bytes of the statements at the top of the text that is read now that are needed, if
    /// not all are.
    needed: Option<&'a FxHashSet<u32>>,
}

/// A scope.
pub(super) struct Scope<'a> {
    parent: Option<ScopeId>,
    /// The number of its text.
    text: usize,
    /// Owner of the scope, for messages.
    pub(super) owner: Owner<'a>,
    names: FxHashMap<&'a str, Vec<Definition<'a>>>,
}

/// Owner of a scope.
#[derive(Clone, Copy)]
pub(super) enum Owner<'a> {
    Module,
    Function(&'a StmtFunctionDef),
    Class(&'a StmtClassDef),
}

/// One binding of a name.
#[derive(Clone, Copy)]
pub(super) struct Definition<'a> {
    pub(super) source: BindingSource<'a>,
    /// Position in the text.
    pub(super) at: u32,
    /// First byte at which the name means this: a value isn't bound yet while it is worked out.
    pub(super) since: u32,
    /// Condition that it stands under, if any.
    pub(super) guard: Option<GuardId>,
    /// Where the outermost loop around it begins; behind every text if there is none.
    pub(super) loop_begin: u32,
}

/// A condition by its position in [`Scopes`].
pub(super) type GuardId = usize;

/// A condition that definitions stand under.
#[derive(Clone, Copy)]
pub(super) struct Guard<'a> {
    /// Question and answer; `None` in loops and in `try`.
    pub(super) test: Option<(Question<'a>, bool)>,
    /// The condition around it.
    pub(super) outer: Option<GuardId>,
}

/// A question whose answer decides whether definitions count.
#[derive(Clone, Copy)]
pub(super) enum Question<'a> {
    /// A condition.
    Holds(&'a Expr),
    /// A case of a `match` over a subject.
    Fits(&'a Expr, &'a MatchCase),
}

/// `name.attribute = value` in a scope.
#[derive(Clone, Copy)]
pub(super) struct AttributeStore<'a> {
    pub(super) scope: ScopeId,
    pub(super) name: &'a str,
    /// `None` if only Python knows it.
    pub(super) value: Option<&'a Expr>,
    pub(super) guard: Option<GuardId>,
}

/// Source of a name's value.
#[derive(Clone, Copy)]
pub(super) enum BindingSource<'a> {
    /// `import path`; the path the name stands for.
    Import(&'a str),
    /// `from ..module import name`, with the number of dots.
    ImportFrom(u32, &'a str, &'a str),
    /// `name = value`.
    Value(&'a Expr),
    /// `a, name, c = value`: the position.
    Part(&'a Expr, usize),
    Function(&'a StmtFunctionDef),
    /// A class and the scope of its body.
    Class(&'a StmtClassDef, ScopeId),
    /// An argument of a Python function.
    Argument,
    /// Value that only running Python can tell: loop targets, `with`, `except`, in-place changes.
    Runtime,
}

/// The `@wp.func` of one name in a scope.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct OverloadSet<'a> {
    pub(super) home: ScopeId,
    pub(super) name: &'a str,
    /// The call of a Python function that they were defined in.
    pub(super) frame: FrameId,
    /// Byte of the text before which an overload must be defined to belong to the set: a second
    /// name of functions goes on to mean the same ones when the first name is defined anew.
    pub(super) before: Option<u32>,
}

impl<'a> OverloadSet<'a> {
    /// All of a name.
    pub(super) fn all(home: ScopeId, name: &'a str, frame: FrameId) -> Self {
        Self { home, name, frame, before: None }
    }
}

impl<'a> Scopes<'a> {
    /// Reads the texts of a program, its own file first: each with the first bytes of the
    /// statements at its top that are needed, if not all are.
    pub(super) fn read(
        texts: impl Iterator<Item = (&'a [Stmt], Option<&'a FxHashSet<u32>>)>,
    ) -> Self {
        let mut scopes = Self {
            scopes: Vec::new(),
            roots: Vec::new(),
            functions: Vec::new(),
            guards: Vec::new(),
            bodies: FxHashMap::default(),
            changed: FxHashSet::default(),
            attributes: FxHashMap::default(),
            stars: Vec::new(),
            loop_begin: u32::MAX,
            needed: None,
        };
        for (body, needed) in texts {
            scopes.stars.push(Vec::new());
            let module = scopes.open(None, Owner::Module);
            scopes.roots.push(module);
            scopes.needed = needed;
            scopes.suite(body, module, None);
        }
        scopes
    }

    /// The scope of a text.
    pub(super) fn root(&self, text: usize) -> ScopeId {
        self.roots[text]
    }

    /// The number of the text that a scope is in.
    pub(super) fn text(&self, scope: ScopeId) -> usize {
        self.scopes[scope].text
    }

    /// The modules all of whose names a text imports.
    pub(super) fn stars(&self, text: usize) -> &[(u32, &'a str)] {
        &self.stars[text]
    }

    /// The public names that a text binds.
    pub(super) fn names(&self, text: usize) -> impl Iterator<Item = &'a str> {
        self.scopes[self.roots[text]].names.keys().copied()
    }

    /// The bindings of a name as code in `scope` sees them, and the scope they are in.
    pub(super) fn lookup(
        &self,
        scope: ScopeId,
        name: &str,
    ) -> Option<(&[Definition<'a>], ScopeId)> {
        let mut next = Some(scope);
        while let Some(id) = next {
            let found = &self.scopes[id];
            let visible = id == scope || !matches!(found.owner, Owner::Class(_));
            if visible && let Some(definitions) = found.names.get(name) {
                return Some((definitions, id));
            }
            next = found.parent;
        }
        None
    }

    /// The bindings of a name in one scope.
    pub(super) fn bindings_in(&self, scope: ScopeId, name: &str) -> Option<&[Definition<'a>]> {
        self.scopes[scope].names.get(name).map(Vec::as_slice)
    }

    /// A name of one scope as the text spells it, with its bindings.
    pub(super) fn own_entry(
        &self,
        scope: ScopeId,
        name: &str,
    ) -> Option<(&'a str, &[Definition<'a>])> {
        let (name, definitions) = self.scopes[scope].names.get_key_value(name)?;
        Some((name, definitions))
    }

    /// Value assigned to an attribute of a name, if that happened once and unconditionally.
    pub(super) fn attribute_value(
        &self,
        scope: ScopeId,
        name: &str,
        attribute: &str,
    ) -> Option<&'a Expr> {
        let of_name = |it: &&AttributeStore<'a>| (it.scope, it.name) == (scope, name);
        let mut stores = self.attribute_stores(attribute).iter().filter(of_name);
        match (stores.next(), stores.next()) {
            (Some(AttributeStore { value, guard: None, .. }), None) => *value,
            _ => None,
        }
    }

    /// All stores to attributes of a name.
    pub(super) fn attribute_stores(&self, attribute: &str) -> &[AttributeStore<'a>] {
        self.attributes.get(attribute).map_or(&[], Vec::as_slice)
    }

    /// Returns true if something of this name is changed in place.
    pub(super) fn is_changed(&self, name: &str) -> bool {
        self.changed.contains(name)
    }

    /// The scope of a function's body, if something leads into it.
    pub(super) fn body(&self, def: &StmtFunctionDef) -> Option<ScopeId> {
        self.bodies.get(&std::ptr::from_ref(def)).copied()
    }

    /// A condition.
    pub(super) fn guard_at(&self, guard: GuardId) -> Guard<'a> {
        self.guards[guard]
    }

    /// The innermost scope of the program's own file around a byte.
    pub(super) fn at(&self, byte: u32) -> ScopeId {
        let own = self.scopes.iter().enumerate().take_while(|(_, scope)| scope.text == 0);
        let around = own.filter(|(_, scope)| match scope.owner {
            Owner::Module => true,
            Owner::Function(def) => (start(def)..end(def)).contains(&byte),
            Owner::Class(def) => (start(def)..end(def)).contains(&byte),
        });
        // A scope is opened after those around it.
        around.last().map_or(0, |(scope, _)| scope)
    }

    /// Makes the names of the program's own file visible in another text too.
    pub(super) fn nest(&mut self, text: usize) {
        let root = self.roots[text];
        self.scopes[root].parent = Some(self.roots[0]);
    }

    /// Returns true if a scope is another one or in it.
    pub(super) fn is_within(&self, scope: ScopeId, around: ScopeId) -> bool {
        let mut next = Some(scope);
        while let Some(id) = next {
            if id == around {
                return true;
            }
            next = self.scopes[id].parent;
        }
        false
    }

    /// The scope around one.
    pub(super) fn around(&self, scope: ScopeId) -> ScopeId {
        self.scopes[scope].parent.unwrap_or(scope)
    }

    pub(super) fn owner(&self, scope: ScopeId) -> Owner<'a> {
        self.scopes[scope].owner
    }

    fn open(&mut self, parent: Option<ScopeId>, owner: Owner<'a>) -> ScopeId {
        // Texts are read one after the other.
        let text = self.stars.len() - 1;
        self.scopes.push(Scope { parent, text, owner, names: FxHashMap::default() });
        self.scopes.len() - 1
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
        self.scopes[scope].names.entry(name).or_default().push(definition);
    }

    fn suite(&mut self, body: &'a [Stmt], scope: ScopeId, under: Option<GuardId>) {
        for stmt in body {
            self.stmt(stmt, scope, under);
        }
    }

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
                let under = self.guard(None, under);
                self.suite(&attempt.body, scope, under);
                for handler in &attempt.handlers {
                    let super::syntax::ExceptHandler::ExceptHandler(handler) = handler;
                    self.suite(&handler.body, scope, under);
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
                let text = self.scopes[scope].text;
                self.stars[text].push((import.level, module));
            }
            let name = alias.asname.as_ref().unwrap_or(&alias.name);
            let source = BindingSource::ImportFrom(import.level, module, alias.name.as_str());
            self.bind(scope, name.as_str(), start(import), under, source);
        }
    }

    /// Binds the names of each arm of an `if` under the answers that lead there.
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

    /// Binds the names of each case of a `match` under the answers that lead there.
    fn choice(&mut self, choice: &'a StmtMatch, scope: ScopeId, under: Option<GuardId>) {
        let mut otherwise = under;
        for case in &choice.cases {
            let test = |holds| Some((Question::Fits(&choice.subject, case), holds));
            let accept = self.guard(test(true), otherwise);
            self.suite(&case.body, scope, accept);
            otherwise = self.guard(test(false), otherwise);
        }
    }

    /// Notes a change in place. Those of other files are found when they are asked for.
    fn change(&mut self, name: &'a str) {
        if self.stars.len() == 1 {
            self.changed.insert(name);
        }
    }

    /// Returns true if something may lead into a function or class.
    fn is_needed(&self, scope: ScopeId, def: &impl Ranged) -> bool {
        let is_top = self.scopes[scope].parent.is_none();
        !is_top || self.needed.is_none_or(|needed| needed.contains(&start(def)))
    }

    /// Goes into a loop; gives where the outermost loop around it begins.
    fn enter_loop(&mut self, each: &impl Ranged) -> u32 {
        let begin = self.loop_begin.min(start(each));
        std::mem::replace(&mut self.loop_begin, begin)
    }

    fn guard(
        &mut self,
        test: Option<(Question<'a>, bool)>,
        outer: Option<GuardId>,
    ) -> Option<GuardId> {
        self.guards.push(Guard { test, outer });
        Some(self.guards.len() - 1)
    }

    fn function(&mut self, def: &'a StmtFunctionDef, scope: ScopeId, under: Option<GuardId>) {
        self.bind(scope, &def.name, start(def), under, BindingSource::Function(def));
        if self.scopes[scope].text == 0 {
            self.functions.push((def, scope));
        } else if is_of_kernels(def) || !self.is_needed(scope, def) {
            // Nothing leads into a function of another text that only kernels call.
            return;
        }
        let inner = self.open(Some(scope), Owner::Function(def));
        self.bodies.insert(def, inner);
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
            (Expr::Attribute(attribute), value) => {
                if let Expr::Name(name) = &*attribute.value {
                    let (name, guard) = (name.id.as_str(), under);
                    let store = AttributeStore { scope, name, value, guard };
                    self.attributes.entry(attribute.attr.as_str()).or_default().push(store);
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

/// Returns true for a function that only kernels call, and that defines nothing.
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
