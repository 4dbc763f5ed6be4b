//! `and` and `or`. The front end evaluates a later condition by statements, only if the earlier
//! ones don't decide; the text has one expression with `&&` or `||`.

use super::super::expr::{Expr, Level};
use super::super::function::MAX_EXPRESSION;
use super::super::hoist::Declaration;
use super::super::statement::Statements;
use gbxcule_ir::arena::Handle;
use gbxcule_ir::function::{Body, LocalId};
use gbxcule_ir::op::{Op, UnaryOp, Value};
use gbxcule_ir::place::{PlaceId, Root};
use gbxcule_ir::stmt::{BlockId, Stmt, StmtKind};
use gbxcule_ir::ty::Type;
use gbxcule_ir::walk::{Use, walk_uses};

/// Statements that compute an `and` or `or`: a store, then a load and an `if` for each later
/// condition, then a load of the result.
pub(in super::super) struct Connective {
    local: LocalId,
    is_or: bool,
    first: Value,
    /// Blocks that compute the later conditions; each ends with a store.
    later: Vec<BlockId>,
    result: Value,
    /// Number of the statements.
    pub(in super::super) count: usize,
}

impl Connective {
    /// Finds the connective that begins with a statement, among statements that follow each other.
    fn begins(body: &Body, stmts: &[Stmt]) -> Option<Self> {
        let &StmtKind::Store { place, value: first } = &stmts.first()?.kind else { return None };
        let local = whole_local(body, place).filter(|&it| body.locals[it].ty == Type::BOOL)?;
        let load = |at: usize| match stmts.get(at)?.kind {
            StmtKind::Let(value) => match body.values[value].op {
                Op::Load(place) if whole_local(body, place) == Some(local) => Some(value),
                _ => None,
            },
            _ => None,
        };
        let (mut is_or, mut later, mut at) = (None, Vec::new(), 1);
        loop {
            let result = load(at)?;
            let negation = match stmts.get(at + 1).map(|stmt| &stmt.kind) {
                Some(&StmtKind::Let(value)) => match body.values[value].op {
                    Op::Unary(UnaryOp::Not, of) if of == result => Some(value),
                    _ => None,
                },
                _ => None,
            };
            let (test, next) = negation.map_or((result, at + 1), |it| (it, at + 2));
            match stmts.get(next).map(|stmt| &stmt.kind) {
                Some(&StmtKind::If { condition, accept, reject })
                    if condition == test
                        && is_or.unwrap_or(negation.is_some()) == negation.is_some()
                        && body.blocks[reject].stmts.is_empty()
                        && ends_with_store(body, accept, local).is_some() =>
                {
                    is_or = Some(negation.is_some());
                    later.push(accept);
                    at = next + 1;
                }
                _ => {
                    let uses = 2 * (1 + later.len());
                    let found = Self { local, is_or: is_or?, first, later, result, count: at + 1 };
                    return (uses_of(body, local) == uses).then_some(found);
                }
            }
        }
    }
}

/// Returns the local that a place is the whole of.
fn whole_local(body: &Body, place: PlaceId) -> Option<LocalId> {
    match body.places[place].root {
        Root::Local(local) if body.path(place).is_empty() => Some(local),
        _ => None,
    }
}

/// Returns the value that the last statement of a block stores in a local, if the others only
/// compute values.
fn ends_with_store(body: &Body, block: BlockId, local: LocalId) -> Option<Value> {
    let (last, others) = body.blocks[block].stmts.split_last()?;
    let is_let = |stmt: &Stmt| matches!(stmt.kind, StmtKind::Let(_)) || is_connective_part(stmt);
    match last.kind {
        StmtKind::Store { place, value } if whole_local(body, place) == Some(local) => {
            others.iter().all(is_let).then_some(value)
        }
        _ => None,
    }
}

/// Returns true for a statement that a connective inside a condition may consist of.
fn is_connective_part(stmt: &Stmt) -> bool {
    matches!(stmt.kind, StmtKind::Store { .. } | StmtKind::If { .. })
}

/// Counts reads and writes of a local.
fn uses_of(body: &Body, local: LocalId) -> usize {
    let mut count = 0;
    walk_uses(body, body.root, |used| {
        let (Use::Read(place) | Use::Write(place) | Use::Change(place)) = used else { return };
        count += usize::from(body.places[place].root == Root::Local(local));
    });
    count
}

impl Statements<'_, '_, '_> {
    /// Returns the connective that begins at a position of a block, before statement `count`.
    pub(in super::super) fn connective_at(
        &self,
        block: BlockId,
        position: usize,
        count: usize,
    ) -> Option<Connective> {
        if !self.writer.items.is_plain() || self.work.is_shared() {
            return None;
        }
        let body = self.writer.exprs.body;
        let found = Connective::begins(body, &body.blocks[block].stmts[position..count])?;
        let declared = self.writer.declarations[Handle::index(found.local)];
        (declared == Declaration::Store(block, position)).then_some(found)
    }

    /// Writes a connective. A condition that needs lines of its own is computed in an `if`.
    pub(in super::super) fn connective(&mut self, connective: &Connective) {
        let Connective { local, is_or, first, ref later, result, .. } = *connective;
        let body = self.writer.exprs.body;
        let (level, sign) = if is_or { (Level::Or, "||") } else { (Level::And, "&&") };
        let mut value = self.writer.exprs.values.take(first);
        let mut variable: Option<String> = None;
        for &block in later {
            self.writer.name_all_waiting();
            let mark = self.writer.lines.mark();
            self.writer.names.open();
            if variable.is_none() {
                // The condition's own lines must leave the name alone.
                self.declare(local);
            }
            self.writer.lines.depth += 1;
            let stmts = &body.blocks[block].stmts;
            self.stmts(block, stmts.len() - 1);
            let next = ends_with_store(body, block, local);
            let next = next.map_or_else(|| value.clone(), |it| self.writer.exprs.values.take(it));
            self.writer.names.close();
            if self.writer.lines.is_at(mark) {
                self.writer.lines.depth -= 1;
                value = Expr { compound: None, ..Expr::infix(level, sign, &value, &next) };
                continue;
            }
            let word = if variable.is_none() { "bool " } else { "" };
            let name = variable.take().unwrap_or_else(|| self.declare(local));
            let not = if is_or { "!" } else { "" };
            self.writer.lines.insert(mark, &format!("if ({not}{name}) {{"));
            if value.text != name {
                self.writer.lines.insert(mark, &format!("{word}{name} = {};", value.text));
            }
            self.line(&format!("{name} = {};", next.text));
            self.writer.lines.depth -= 1;
            self.line("}");
            value = Expr::new(&name, Level::Primary);
            variable = Some(name);
            value.needs.locals.push(local);
        }
        let uses = self.writer.uses[result.index()];
        let has_name = body.values[result].name.is_some();
        if uses > 1 || has_name || value.text.len() > MAX_EXPRESSION {
            self.writer.materialize(result, &value);
        } else if uses == 1 {
            self.writer.exprs.values.wait(result, value);
        }
    }
}
