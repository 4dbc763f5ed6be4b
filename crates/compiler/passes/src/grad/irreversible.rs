//! Refusal of kernels that can't be reversed.
//!
//! A reverse kernel finds the arrays as the forward launch left them. If it needs a number that
//! was read from an array, the number must still be there: no statement that may run after the
//! read may write that element.

use super::activity::Activity;
use super::need::Need;
use super::origin;
use super::scan::{Definitions, Scan};
use super::sequence::{is_read_last, loops};
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::op::{AtomicOp, Op};
use gbxcule_ir::place::PlaceId;
use gbxcule_ir::source::Span;
use gbxcule_ir::stmt::StmtKind;

const LOCAL_ARRAY: Code = Code::GradLocalArray;

/// Access to memory by a statement.
struct Access {
    place: PlaceId,
    /// Position among all statements.
    position: usize,
    span: Span,
}

/// Accesses to memory by all statements.
#[derive(Default)]
struct Accesses {
    /// Reads of numbers that the gradient needs.
    reads: Vec<Access>,
    writes: Vec<Access>,
    /// Faults of accesses that can't be reversed, wherever they stand.
    faults: Vec<Diagnostic>,
}

/// Refuses the kernel, or returns the pairs of parameters whose arrays must not overlap: the
/// array that is read, and the array that is written.
pub(super) fn check(
    program: Definitions<'_>,
    scan: &Scan<'_>,
    activity: &Activity,
    need: &Need,
) -> Result<Vec<(u32, u32)>, Vec<Diagnostic>> {
    let Accesses { reads, writes, mut faults } = accesses(program, scan, activity, need);
    // A fault about an array made of a variable replaces all other faults: the analysis took the
    // array's elements for memory, so the other faults would mislead.
    if faults.iter().any(|fault| fault.code == LOCAL_ARRAY) {
        return Err(faults);
    }
    let mut apart = Vec::new();
    for read in &reads {
        let later: Vec<&Access> =
            writes.iter().filter(|write| may_overwrite(scan, read, write)).collect();
        let hit = later.iter().find(|write| origin::may_meet(scan, read.place, write.place));
        faults.extend(hit.map(|write| overwritten(scan, read, write)));
        let other = writes.iter().find(|write| may_mix_operations(scan, read, write));
        faults.extend(other.map(|write| unknown_winner(read, write)));
        let region = origin::region(scan, read.place);
        for write in later {
            let both = (&region, origin::region(scan, write.place));
            if let (Some(one), Some(other)) = both
                && *one != other
            {
                apart.push((one.param(), other.param()));
            }
        }
    }
    apart.sort_unstable();
    apart.dedup();
    if faults.is_empty() { Ok(apart) } else { Err(faults) }
}

fn accesses(
    program: Definitions<'_>,
    scan: &Scan<'_>,
    activity: &Activity,
    need: &Need,
) -> Accesses {
    let mut accesses = Accesses::default();
    for (position, site) in scan.stmts.iter().enumerate() {
        let span = site.stmt.span;
        let access = |place| Access { place, position, span };
        let value = match site.stmt.kind {
            StmtKind::Store { place, value } if scan.is_memory(place) => {
                accesses.writes.push(access(place));
                let stored = scan.body.type_of(value);
                accesses
                    .faults
                    .extend(program.types.holds_array(stored).then(|| stored_handle(span)));
                continue;
            }
            StmtKind::Let(value) => value,
            _ => continue,
        };
        match scan.body.values[value].op {
            Op::Load(place) if scan.is_memory(place) && need.value(value) => {
                accesses.reads.push(access(place));
            }
            Op::Atomic { op, place, .. } => {
                accesses.writes.push(access(place));
                let float = program.types.has_float(scan.body.places[place].ty);
                if float && is_extreme(op) {
                    // The winner of a minimum or maximum is recognised by the final value in the
                    // array.
                    accesses.reads.push(access(place));
                }
                let old_used = need.value(value) || activity.value(value);
                accesses.faults.extend(atomic(op, float, old_used, span));
            }
            Op::Bitcast(_) if !activity.floats_from_bits().contains(&value) => {}
            op => accesses.faults.extend(irreversible(op, span)),
        }
    }
    accesses
}

/// Returns the fault of an operation that has no reverse.
fn irreversible(op: Op, span: Span) -> Option<Diagnostic> {
    let (code, message, help) = match op {
        Op::Bitcast(_) => (
            Code::GradBits,
            "a float made of the bits of another can't be differentiated",
            "compute it, or write the gradient by hand: `@wp.func_grad`",
        ),
        Op::AsArray(_) => (
            LOCAL_ARRAY,
            "an array made of a variable can't be differentiated",
            "use a vector, or pass an array from outside",
        ),
        Op::Gradient(_) => (
            Code::GradOfGradient,
            "a kernel that uses gradients itself can't be differentiated",
            "pass the gradients as an array of its own",
        ),
        _ => return None,
    };
    Some(Diagnostic::error(code, span, message).help(help))
}

/// Refuses a store of a handle: the memory of an array that was read from memory is known only if
/// no handle is stored there.
fn stored_handle(span: Span) -> Diagnostic {
    let message = "a struct with an array in it is stored: the gradient can't tell which memory its array uses";
    Diagnostic::error(Code::GradStoredArray, span, message)
        .help("store its fields without arrays one by one")
}

fn atomic(op: AtomicOp, float: bool, old_used: bool, span: Span) -> Option<Diagnostic> {
    let message = match op {
        _ if old_used => {
            "the old value of an atomic operation can't be known again for the gradient"
        }
        AtomicOp::Exchange | AtomicOp::CompareExchange if float => {
            "an atomic exchange of floats can't be differentiated: its order isn't known again"
        }
        _ => return None,
    };
    let help = "write what the gradient needs to an array of its own, and read it from there in \
                another kernel";
    Some(Diagnostic::error(Code::GradAtomic, span, message).help(help))
}

/// Returns true if a write may come after a read, and change the element that was read.
fn may_overwrite(scan: &Scan<'_>, read: &Access, write: &Access) -> bool {
    let site = |access: &Access| (access.place, access.position);
    if read.position == write.position
        || extremes_agree(scan, read, write)
        || is_read_last(scan, site(read), site(write))
    {
        return false;
    }
    write.position > read.position || share_loop(scan, read, write)
}

/// Returns the atomic operation that an access does.
fn atomic_op(scan: &Scan<'_>, access: &Access) -> Option<AtomicOp> {
    let StmtKind::Let(value) = scan.stmts[access.position].stmt.kind else { return None };
    match scan.body.values[value].op {
        Op::Atomic { op, .. } => Some(op),
        _ => None,
    }
}

fn extreme_op(scan: &Scan<'_>, access: &Access) -> Option<AtomicOp> {
    atomic_op(scan, access).filter(|op| is_extreme(*op))
}

fn is_extreme(op: AtomicOp) -> bool {
    matches!(op, AtomicOp::Min | AtomicOp::Max)
}

/// Returns true if both accesses are minima, or both are maxima, of one place: then the winner's
/// value is the final value there.
fn extremes_agree(scan: &Scan<'_>, one: &Access, other: &Access) -> bool {
    extreme_op(scan, one).is_some() && extreme_op(scan, one) == extreme_op(scan, other)
}

/// Returns true if another thread may also write the element whose minimum or maximum is read, with
/// another operation.
fn may_mix_operations(scan: &Scan<'_>, read: &Access, write: &Access) -> bool {
    let (Some(extreme), Some(other)) = (extreme_op(scan, read), atomic_op(scan, write)) else {
        return false;
    };
    extreme != other && origin::may_meet(scan, read.place, write.place)
}

/// Returns true if one loop contains both accesses.
fn share_loop(scan: &Scan<'_>, one: &Access, other: &Access) -> bool {
    let around = loops(scan, other.position);
    let mut shared = loops(scan, one.position).into_iter();
    shared.any(|stmt| around.iter().any(|other| std::ptr::eq(stmt, *other)))
}

fn overwritten(scan: &Scan<'_>, read: &Access, write: &Access) -> Diagnostic {
    let message =
        "an array element is overwritten, but the gradient needs the number that was read from it";
    let help = match origin::is_same_element(scan, read.place, write.place) {
        true => "keep the number in a variable and store it once, or write to another array",
        false => {
            "read from one array and write to another, or launch level by level and pass the part \
             that is read and the part that is written as two arguments: `x[a:b]` and `x[b:c]`"
        }
    };
    Diagnostic::error(Code::GradOverwritten, write.span, message)
        .here("written here")
        .label(read.span, "read here")
        .help(help)
}

fn unknown_winner(read: &Access, write: &Access) -> Diagnostic {
    let message = "an atomic minimum or maximum and another atomic operation on one array: the final value \
                   doesn't tell which thread won";
    Diagnostic::error(Code::GradAtomic, read.span, message)
        .label(write.span, "the other one")
        .help("give each an array of its own")
}
