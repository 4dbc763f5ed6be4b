//! Finds the array to which a place in memory belongs.
//!
//! The gradient assumes that arrays of different parameters, or of different fields of a
//! parameter, share no memory where one of them is written. The code that launches a reverse
//! kernel must check this.

use super::scan::Scan;
use gbxcule_ir::op::{BinaryOp, Op, Value};
use gbxcule_ir::place::{PlaceId, Projection, Root};
use gbxcule_ir::ty::Type;
use gbxcule_ir::walk::place_values;

/// Array of a kernel's parameters: the parameter, and the fields that lead to the array.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Origin {
    param: u32,
    fields: Vec<u32>,
}

impl Origin {
    pub(super) fn param(&self) -> u32 {
        self.param
    }
}

/// Step of an origin that stands for the handles in all rows of a table.
const ROWS: u32 = u32::MAX;

/// Returns the origin of a place in memory; `None` if the origin isn't known, or is one of a
/// table's rows.
pub(super) fn of_place(scan: &Scan<'_>, place: PlaceId) -> Option<Origin> {
    region(scan, place).filter(|origin| !origin.fields.contains(&ROWS))
}

/// Returns the origin of a place in memory, with all rows of a table taken as one; `None` if the
/// origin isn't known. No handle may be stored in memory.
pub(super) fn region(scan: &Scan<'_>, place: PlaceId) -> Option<Origin> {
    let steps = scan.handle_steps(place)?;
    let fields = fields(scan, place, steps)?;
    of_root(scan, scan.body.places[place].root, fields)
}

/// Returns the fields and rows that the first steps of a place take; `None` if there are other
/// steps.
fn fields(scan: &Scan<'_>, place: PlaceId, steps: usize) -> Option<Vec<u32>> {
    scan.body.path(place)[..steps]
        .iter()
        .map(|step| match *step {
            Projection::Field(field) => Some(field),
            Projection::Element(_) => Some(ROWS),
            _ => None,
        })
        .collect()
}

fn of_root(scan: &Scan<'_>, root: Root, fields: Vec<u32>) -> Option<Origin> {
    match root {
        Root::Param(param) => Some(Origin { param, fields }),
        Root::Array(value) => of_value(scan, value, fields),
        Root::Local(local) => {
            // A variable to which only one handle is stored; zero is not an array.
            let (place, value) = scan.only_store(local)?;
            if scan.body.path(place).is_empty() { of_value(scan, value, fields) } else { None }
        }
        Root::Table(_) => None,
    }
}

fn of_value(scan: &Scan<'_>, mut value: Value, mut fields: Vec<u32>) -> Option<Origin> {
    loop {
        match scan.body.values[value].op {
            Op::View { array, .. } => value = array,
            Op::Extract { from, index } => {
                fields.insert(0, index);
                value = from;
            }
            Op::Load(place) => {
                let len = scan.body.path(place).len();
                let mut all = self::fields(scan, place, len)?;
                all.extend(fields);
                return of_root(scan, scan.body.places[place].root, all);
            }
            _ => return None,
        }
    }
}

/// Returns true if two places in memory may overlap. No handle may be stored in memory.
pub(super) fn may_meet(scan: &Scan<'_>, one: PlaceId, other: PlaceId) -> bool {
    let (Some(left), Some(right)) = (region(scan, one), region(scan, other)) else {
        return true;
    };
    left == right && (left.fields.contains(&ROWS) || !differ(scan, one, other))
}

/// Dimension of a launch index, if there is one, and the number that is added.
pub(super) type KnownIndex = (Option<u8>, i128);

/// Returns an element's indices, unless it is an element of a view of the array.
pub(super) fn indices<'a>(scan: &Scan<'a>, place: PlaceId) -> Option<&'a [Value]> {
    let step = scan.body.path(place)[scan.handle_steps(place)?];
    let Projection::Element(indices) = step else { return None };
    let is_whole = !is_view(scan, scan.body.places[place].root);
    is_whole.then(|| &scan.body.value_lists[indices])
}

/// Returns false if a handle is that of a parameter's array, as a whole.
fn is_view(scan: &Scan<'_>, root: Root) -> bool {
    let mut value = match root {
        Root::Param(_) => return false,
        Root::Array(value) => value,
        Root::Local(local) => match scan.only_store(local) {
            Some((_, value)) => value,
            None => return true,
        },
        Root::Table(_) => return true,
    };
    loop {
        match scan.body.values[value].op {
            Op::Extract { from, .. } => value = from,
            Op::Load(place) => return is_view(scan, scan.body.places[place].root),
            _ => return true,
        }
    }
}

/// Returns true if two places are elements of the same handle and one of their indices differs: two
/// different numbers, or one launch index plus two different numbers.
fn differ(scan: &Scan<'_>, one: PlaceId, other: PlaceId) -> bool {
    let indices_of = |place: PlaceId| -> Option<Vec<Option<KnownIndex>>> {
        let indices = indices(scan, place)?.iter();
        Some(indices.map(|&index| launch_index_and_number(scan, index)).collect())
    };
    let (Some(one), Some(other)) = (indices_of(one), indices_of(other)) else { return false };
    one.len() == other.len()
        && one.into_iter().zip(other).any(|pair| match pair {
            (Some((base, number)), Some((other, another))) => base == other && number != another,
            _ => false,
        })
}

/// Returns true if two places name the same element of an array.
pub(super) fn is_same_element(scan: &Scan<'_>, one: PlaceId, other: PlaceId) -> bool {
    let indices = |place| {
        let mut values = Vec::new();
        place_values(scan.body, place, |index| values.push(index));
        values
    };
    let (one, other) = (indices(one), indices(other));
    one.len() == other.len() && one.into_iter().zip(other).all(|(a, b)| is_same(scan, a, b))
}

/// Returns true if two values are the same value or the same expression. Loads of one variable at
/// two points count as the same.
fn is_same(scan: &Scan<'_>, one: Value, other: Value) -> bool {
    let body = scan.body;
    one == other
        || match (body.values[one].op, body.values[other].op) {
            (Op::Load(left), Op::Load(right)) => {
                let (left, right) = (body.places[left], body.places[right]);
                left.root == right.root && left.path == right.path
            }
            (left, right) => left == right,
        }
}

/// Splits an index into a launch index, if it has one, and a number that is added. Neither is
/// negative, so the index doesn't count from the end.
pub(super) fn launch_index_and_number(scan: &Scan<'_>, index: Value) -> Option<KnownIndex> {
    let number = |value| literal_sum(scan, value).filter(|number| *number >= 0);
    if let Some(number) = number(index) {
        return Some((None, number));
    }
    match scan.body.values[index].op {
        Op::LaunchIndex(dim) => Some((Some(dim), 0)),
        Op::Binary(BinaryOp::Add, left, right) => {
            let (of, number) = match (number(left), number(right)) {
                (Some(number), None) => (right, number),
                (None, Some(number)) => (left, number),
                _ => return None,
            };
            let Op::LaunchIndex(dim) = scan.body.values[of].op else { return None };
            Some((Some(dim), number))
        }
        _ => None,
    }
}

/// Returns the number that a value is, if it is a literal, or a sum or difference of literals as
/// unrolled loops leave them. The number is so small that adding it wraps no index inside an array.
pub(super) fn literal_sum(scan: &Scan<'_>, value: Value) -> Option<i128> {
    let number = match scan.body.values[value].op {
        Op::Binary(op, left, right) if scan.body.type_of(value) == Type::I32 => {
            let (left, right) = (literal_sum(scan, left)?, literal_sum(scan, right)?);
            match op {
                BinaryOp::Add => left + right,
                BinaryOp::Subtract => left - right,
                _ => return None,
            }
        }
        _ => scan.body.integer(value)?,
    };
    (number.abs() < 1 << 30).then_some(number)
}
