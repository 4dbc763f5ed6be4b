//! Counters: variables to which each round of a loop adds the same number; the last round may add
//! nothing. The round's number gives a counter's value at the beginning of the round.

use gbxcule_ir::constant::Literal;
use gbxcule_ir::function::{Body, LocalId};
use gbxcule_ir::op::{BinaryOp, Op, Value};
use gbxcule_ir::place::{PlaceId, Root};
use gbxcule_ir::stmt::{BlockId, StmtKind};
use gbxcule_ir::walk::{Use, any_stmt, walk_uses};

/// Returns the number that each round adds to a variable, if all rounds add the same number.
/// `flag` is the variable that is false when no further round follows.
pub(super) fn step(
    body: &Body,
    round: BlockId,
    local: LocalId,
    flag: Option<LocalId>,
) -> Option<Literal> {
    let scalar = body.locals[local].ty.as_scalar()?;
    let mut writes = 0;
    walk_uses(body, round, |used| match used {
        Use::Write(place) if is_of(body, place, local) => writes += 1,
        Use::Change(place) | Use::Expose(place) if is_of(body, place, local) => writes += 2,
        _ => {}
    });
    if writes != 1 || !scalar.is_int() {
        return None;
    }
    let finder = Finder { body, round, local, flag };
    finder.step_in(round, &mut Vec::new())
}

/// Returns the variable that decides a `While`, if the header only reads that variable.
pub(super) fn flag(body: &Body, stmt: &StmtKind) -> Option<LocalId> {
    let StmtKind::While { condition, .. } = stmt else { return None };
    let Op::Load(place) = body.values[*condition].op else { return None };
    match body.places[place].root {
        Root::Local(local) if is_whole(body, place) => Some(local),
        _ => None,
    }
}

fn is_of(body: &Body, place: PlaceId, local: LocalId) -> bool {
    body.places[place].root == Root::Local(local)
}

fn is_whole(body: &Body, place: PlaceId) -> bool {
    body.paths[body.places[place].path].is_empty()
}

struct Finder<'a> {
    body: &'a Body,
    round: BlockId,
    local: LocalId,
    flag: Option<LocalId>,
}

impl Finder<'_> {
    /// Returns the number that a block adds each time it runs; `loads` are the values that the
    /// variable had when the round began.
    fn step_in(&self, block: BlockId, loads: &mut Vec<Value>) -> Option<Literal> {
        let body = self.body;
        for stmt in &body.blocks[block].stmts {
            match &stmt.kind {
                StmtKind::Let(value) => {
                    if let Op::Load(place) = body.values[*value].op
                        && is_of(body, place, self.local)
                    {
                        loads.push(*value);
                    }
                }
                StmtKind::Store { place, value } if is_of(body, *place, self.local) => {
                    return self.added(*value, loads).filter(|_| is_whole(body, *place));
                }
                StmtKind::If { accept, reject, .. } => {
                    for (arm, other) in [(*accept, *reject), (*reject, *accept)] {
                        let load_count = loads.len();
                        if self.ends(other)
                            && let Some(step) = self.step_in(arm, loads)
                        {
                            return Some(step);
                        }
                        loads.truncate(load_count);
                    }
                }
                _ => {}
            }
        }
        None
    }

    fn added(&self, value: Value, loads: &[Value]) -> Option<Literal> {
        let values = &self.body.values;
        let literal = |value| self.body.literal(value);
        match values[value].op {
            Op::Binary(BinaryOp::Add, one, other) if loads.contains(&one) => literal(other),
            Op::Binary(BinaryOp::Add, one, other) if loads.contains(&other) => literal(one),
            Op::Binary(BinaryOp::Subtract, one, other) if loads.contains(&one) => {
                let by = literal(other)?;
                Some(Literal::int(by.scalar(), -by.as_int()?))
            }
            _ => None,
        }
    }

    /// True if no round follows the one in which this block runs.
    fn ends(&self, block: BlockId) -> bool {
        let Some(flag) = self.flag else { return false };
        let is_false = |value| self.body.integer(value) == Some(0);
        let stays = any_stmt(self.body, self.round, |stmt| match stmt.kind {
            StmtKind::Store { place, value } => is_of(self.body, place, flag) && !is_false(value),
            _ => false,
        });
        let stores = self.body.blocks[block].stmts.iter().any(|stmt| match stmt.kind {
            StmtKind::Store { place, value } => {
                is_of(self.body, place, flag) && is_whole(self.body, place) && is_false(value)
            }
            _ => false,
        });
        stores && !stays
    }
}
