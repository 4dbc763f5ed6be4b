//! Loops that go through an array in one direction: no later iteration writes the elements that
//! were read.
//!
//! `for k in range(1, n): o[k] = o[k - 1] * x[k]` writes each element before it reads the element,
//! so that after the loop the array still holds every number that was read. The proof covers
//! elements whose indices are the loop's index plus a constant and never count from the end.

use super::origin::{self, Origin, literal_sum};
use super::scan::{Scan, StmtSite};
use gbxcule_ir::op::{BinaryOp, Op, Value};
use gbxcule_ir::place::PlaceId;
use gbxcule_ir::stmt::{Stmt, StmtKind};

/// Returns the loops around a statement, from the innermost to the outermost.
pub(super) fn loops<'a>(scan: &Scan<'a>, position: usize) -> Vec<&'a Stmt> {
    let mut enclosing = Vec::new();
    let mut owner: Option<StmtSite<'a>> = Some(scan.stmts[position]);
    while let Some(at) = owner {
        owner = scan.owner(at.block);
        if let Some(StmtSite { stmt, .. }) = owner
            && matches!(stmt.kind, StmtKind::For { .. } | StmtKind::While { .. })
        {
            enclosing.push(stmt);
        }
    }
    enclosing
}

/// Returns true if no write by one statement follows a read of the same element by the other. An
/// access is a place and the position of its statement.
pub(super) fn is_read_last(
    scan: &Scan<'_>,
    read: (PlaceId, usize),
    write: (PlaceId, usize),
) -> bool {
    let (Some((array, from)), Some((other, to))) = (element(scan, read.0), element(scan, write.0))
    else {
        return false;
    };
    let around = loops(scan, write.1);
    let shared: Vec<&Stmt> = loops(scan, read.1)
        .into_iter()
        .filter(|stmt| around.iter().any(|other| std::ptr::eq(*stmt, *other)))
        .collect();
    if array != other || from.len() != to.len() || shared.is_empty() {
        return false;
    }
    let steps: Vec<Vec<i128>> = shared.iter().map(|stmt| offsets(scan, stmt, from, to)).collect();
    // In each of the loops, a later iteration writes another element.
    let later = shared.iter().zip(&steps).all(|(stmt, ahead)| {
        let up = step(scan, stmt).unwrap_or_default() > 0;
        ahead.iter().any(|&ahead| if up { ahead >= 0 } else { ahead <= 0 })
    });
    // Only the same iteration, or an iteration before the read, writes this element.
    later && (write.1 < read.1 || steps.iter().flatten().any(|&ahead| ahead != 0))
}

/// Splits an element of a parameter's array into the array and the indices.
fn element<'a>(scan: &Scan<'a>, place: PlaceId) -> Option<(Origin, &'a [Value])> {
    Some((origin::of_place(scan, place)?, origin::indices(scan, place)?))
}

/// Returns how far the written index lies beyond the index that is read, in each dimension in which
/// both are the loop's index plus a constant and never negative.
fn offsets(scan: &Scan<'_>, stmt: &Stmt, from: &[Value], to: &[Value]) -> Vec<i128> {
    let (StmtKind::For { index, start, end, .. }, Some(step)) = (&stmt.kind, step(scan, stmt))
    else {
        return Vec::new();
    };
    // Smallest index of all iterations.
    let least = if step > 0 {
        literal_sum(scan, *start)
    } else {
        literal_sum(scan, *end).map(|end| end + 1)
    };
    let Some(least) = least else { return Vec::new() };
    let pairs = from.iter().zip(to).filter_map(|(&from, &to)| {
        let [from, to] = [from, to].map(|value| added(scan, value, *index));
        from.zip(to).filter(|&(from, to)| least + from >= 0 && least + to >= 0)
    });
    pairs.map(|(from, to)| to - from).collect()
}

/// Returns the constant that is added to a loop's index, if a value is such a sum.
fn added(scan: &Scan<'_>, value: Value, index: Value) -> Option<i128> {
    if value == index {
        return Some(0);
    }
    match scan.body.values[value].op {
        Op::Binary(BinaryOp::Add, left, right) if left == index => literal_sum(scan, right),
        Op::Binary(BinaryOp::Add, left, right) if right == index => literal_sum(scan, left),
        Op::Binary(BinaryOp::Subtract, left, right) if left == index => {
            literal_sum(scan, right).map(|number| -number)
        }
        _ => None,
    }
}

/// Returns the step of a `For`, if it is a literal other than 0.
fn step(scan: &Scan<'_>, stmt: &Stmt) -> Option<i128> {
    let StmtKind::For { step, .. } = stmt.kind else { return None };
    literal_sum(scan, step).filter(|&step| step != 0)
}
