//! Uses of names in a function, found before it is lowered.

use gbxcule_python_names::syntax::{Expr, ExprCall, ExprContext, Stmt, StmtFunctionDef};
use gbxcule_warp_types::reference::References;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Uses of all names of a function.
#[derive(Default)]
pub(super) struct Usage<'a> {
    references: Rc<References<'a>>,
    names: FxHashMap<&'a str, Uses>,
    blocks: Vec<usize>,
    next_block: usize,
    /// Targets of the enclosing loops.
    targets: Vec<&'a str>,
}

#[derive(Default, Clone, Copy)]
struct Uses {
    /// Number of bindings in the text.
    stores: usize,
    /// The block of the first binding.
    block: usize,
    /// True if the name is read where its first binding may not be visible.
    escapes: bool,
    /// True if a component, field or element is written.
    mutated: bool,
    /// True if it is an argument of a call.
    passed: bool,
    /// True if it is an argument of a function that may take it by reference.
    passed_by_reference: bool,
    /// Number of loops whose target the name is.
    loops: usize,
    /// True if the name is read outside of these loops, or one of the loops is inside another.
    leaves_loops: bool,
}

impl<'a> Usage<'a> {
    pub(super) fn of(def: &'a StmtFunctionDef, references: Rc<References<'a>>) -> Self {
        let mut usage = Self { references, blocks: vec![0], next_block: 1, ..Self::default() };
        for stmt in &def.body {
            usage.stmt(stmt);
        }
        usage
    }

    /// Returns true if the name needs a variable: it has several bindings, or is written in part.
    /// Writes through a handle, and calls that change nothing, need no variable.
    pub(super) fn needs_variable(&self, name: &str, is_handle: bool, is_changed: bool) -> bool {
        self.names.get(name).is_some_and(|uses| {
            uses.stores > 1
                || uses.escapes
                || (uses.mutated && !is_handle)
                || (uses.passed && is_changed)
        })
    }

    /// Returns true if a parameter of this name is written.
    pub(super) fn changes(&self, name: &str, is_handle: bool, is_changed: bool) -> bool {
        self.names.get(name).is_some_and(|uses| {
            uses.stores > 0 || (uses.mutated && !is_handle) || (uses.passed && is_changed)
        })
    }

    /// Returns true if only loops bind a name, and the name is read only inside of them: then the
    /// index of each loop stands for the name.
    pub(super) fn is_loop_index(&self, name: &str) -> bool {
        self.names.get(name).is_some_and(|uses| {
            uses.loops == uses.stores
                && !(uses.leaves_loops || uses.mutated || uses.passed_by_reference)
        })
    }

    /// Returns true if a name is an argument of a function that may take it by reference.
    pub(super) fn is_passed_by_reference(&self, name: &str) -> bool {
        self.names.get(name).is_some_and(|uses| uses.passed_by_reference)
    }

    /// Returns true if a name whose value is known from the text needs a variable beside it.
    pub(super) fn is_rebound(&self, name: &str) -> bool {
        self.names.get(name).is_some_and(|uses| uses.stores > 1 || uses.mutated)
    }

    /// Returns true if a name is bound somewhere in the function.
    pub(super) fn is_bound(&self, name: &str) -> bool {
        self.names.get(name).is_some_and(|uses| uses.stores > 0)
    }

    fn stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Assign(assign) => {
                self.expr(&assign.value);
                assign.targets.iter().for_each(|target| self.target(target));
            }
            Stmt::AnnAssign(assign) => {
                assign.value.iter().for_each(|value| self.expr(value));
                self.target(&assign.target);
            }
            Stmt::AugAssign(assign) => {
                self.expr(&assign.value);
                self.load(&assign.target);
                self.target(&assign.target);
            }
            Stmt::If(branch) => {
                self.expr(&branch.test);
                self.block(&branch.body, None);
                for clause in &branch.elif_else_clauses {
                    clause.test.iter().for_each(|test| self.expr(test));
                    self.block(&clause.body, None);
                }
            }
            Stmt::For(each) => {
                self.expr(&each.iter);
                let Expr::Name(name) = &*each.target else {
                    return self.block(&each.body, Some(&each.target));
                };
                let is_nested = self.targets.contains(&name.id.as_str());
                let uses = self.names.entry(name.id.as_str()).or_default();
                uses.loops += 1;
                uses.leaves_loops |= is_nested;
                self.targets.push(name.id.as_str());
                self.block(&each.body, Some(&each.target));
                self.targets.pop();
            }
            Stmt::While(each) => {
                self.expr(&each.test);
                self.block(&each.body, None);
            }
            Stmt::Return(give) => give.value.iter().for_each(|value| self.expr(value)),
            Stmt::Expr(expr) => self.expr(&expr.value),
            Stmt::Assert(assert) => self.expr(&assert.test),
            _ => {}
        }
    }

    fn block(&mut self, body: &'a [Stmt], target: Option<&'a Expr>) {
        self.blocks.push(self.next_block);
        self.next_block += 1;
        if let Some(target) = target {
            self.target(target);
        }
        body.iter().for_each(|stmt| self.stmt(stmt));
        self.blocks.pop();
    }

    fn target(&mut self, target: &'a Expr) {
        match target {
            Expr::Name(name) => {
                let block = self.blocks.last().copied().unwrap_or(0);
                let uses = self.names.entry(name.id.as_str()).or_default();
                if uses.stores == 0 {
                    uses.block = block;
                }
                uses.stores += 1;
            }
            Expr::Tuple(tuple) => tuple.elts.iter().for_each(|part| self.target(part)),
            Expr::Subscript(_) | Expr::Attribute(_) => {
                if let Some(root) = root(target) {
                    self.names.entry(root).or_default().mutated = true;
                }
                self.expr(target);
            }
            _ => {}
        }
    }

    fn load(&mut self, expr: &'a Expr) {
        if let Expr::Name(name) = expr {
            self.read(name.id.as_str());
        }
    }

    fn read(&mut self, name: &'a str) {
        let blocks = &self.blocks;
        let is_inside = self.targets.contains(&name);
        let uses = self.names.entry(name).or_default();
        uses.leaves_loops |= !is_inside;
        if uses.stores == 0 || !blocks.contains(&uses.block) {
            uses.escapes = true;
        }
    }

    fn expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) if name.ctx == ExprContext::Load => self.read(name.id.as_str()),
            Expr::Attribute(attribute) => self.expr(&attribute.value),
            Expr::Subscript(subscript) => {
                self.expr(&subscript.value);
                self.expr(&subscript.slice);
            }
            Expr::BinOp(binary) => {
                self.expr(&binary.left);
                self.expr(&binary.right);
            }
            Expr::UnaryOp(unary) => self.expr(&unary.operand),
            Expr::BoolOp(operation) => operation.values.iter().for_each(|value| self.expr(value)),
            Expr::Compare(compare) => {
                self.expr(&compare.left);
                compare.comparators.iter().for_each(|value| self.expr(value));
            }
            Expr::If(choice) => {
                self.expr(&choice.test);
                self.expr(&choice.body);
                self.expr(&choice.orelse);
            }
            Expr::Tuple(tuple) => tuple.elts.iter().for_each(|part| self.expr(part)),
            Expr::List(list) => list.elts.iter().for_each(|part| self.expr(part)),
            Expr::Starred(starred) => self.expr(&starred.value),
            Expr::Slice(slice) => {
                [&slice.lower, &slice.upper, &slice.step]
                    .into_iter()
                    .flatten()
                    .for_each(|part| self.expr(part));
            }
            Expr::Call(call) => {
                self.expr(&call.func);
                let keywords = call.arguments.keywords.iter().map(|keyword| &keyword.value);
                results_of(call).iter().for_each(|result| self.target(result));
                let lends = self.references.may_change(call);
                for arg in call.arguments.args.iter().chain(keywords) {
                    self.expr(arg);
                    if let Some(root) = root(arg) {
                        let uses = self.names.entry(root).or_default();
                        (uses.passed, uses.passed_by_reference) =
                            (true, uses.passed_by_reference || lends);
                    }
                }
            }
            _ => {}
        }
    }
}

/// The names that statements assign, without targets of loops.
pub(super) fn assigned(body: &[Stmt]) -> Vec<&str> {
    fn targets<'a>(target: &'a Expr, names: &mut Vec<&'a str>) {
        match target {
            Expr::Name(name) => names.push(name.id.as_str()),
            Expr::Tuple(tuple) => tuple.elts.iter().for_each(|part| targets(part, names)),
            _ => {}
        }
    }
    fn walk<'a>(body: &'a [Stmt], names: &mut Vec<&'a str>) {
        for stmt in body {
            match stmt {
                Stmt::Assign(assign) => {
                    assign.targets.iter().for_each(|target| targets(target, names));
                }
                Stmt::AugAssign(assign) => targets(&assign.target, names),
                Stmt::Expr(expr) => {
                    if let Expr::Call(call) = &*expr.value {
                        results_of(call).iter().for_each(|result| targets(result, names));
                    }
                }
                Stmt::If(branch) => {
                    walk(&branch.body, names);
                    branch.elif_else_clauses.iter().for_each(|clause| walk(&clause.body, names));
                }
                Stmt::For(each) => walk(&each.body, names),
                Stmt::While(each) => walk(&each.body, names),
                _ => {}
            }
        }
    }
    let mut names = Vec::new();
    walk(body, &mut names);
    names
}

/// Returns the arguments that receive the results of a call in the style of older versions of
/// NVIDIA Warp: `wp.qr3(a, q, r)`.
pub(super) fn results_of(call: &ExprCall) -> &[Expr] {
    let Expr::Attribute(attribute) = &*call.func else { return &[] };
    let count = match attribute.attr.as_str() {
        "svd3" | "svd2" => 3,
        "qr3" | "eig3" | "quat_to_axis_angle" => 2,
        _ => return &[],
    };
    match &call.arguments.args[..] {
        [_, results @ ..] if results.len() == count => results,
        _ => &[],
    }
}

/// Returns the name at the beginning of a chain of attributes and subscripts.
pub(super) fn root(expr: &Expr) -> Option<&str> {
    let mut next = expr;
    loop {
        next = match next {
            Expr::Name(name) => return Some(name.id.as_str()),
            Expr::Attribute(attribute) => &attribute.value,
            Expr::Subscript(subscript) => &subscript.value,
            _ => return None,
        };
    }
}
