//! The table of builtins, one row for each.
//!
//! A row has a name, its signatures, a derivative and a line of documentation. A signature is
//! either *native* ([`Native`]: scalars in, scalar out, spelled by every back end) or has a *body*:
//! IR built once for each combination of argument types and called like any function. So a builtin
//! that can be said in terms of others is added in one row, and every back end, the interpreter and
//! `grad` have it.
//!
//! Rows lie in the files below by family, each row above the bodies it names.

mod array;
mod decomposition;
mod formula;
mod geometry;
mod matrix;
mod native;
mod native_derivative;
mod noise;
mod operator;
mod pattern;
mod quaternion;
mod random;
mod sample;
mod scalar;
mod spatial;
mod transform;
mod vector;

pub use native::{Derivative, Native, NativeRow, PartialsFn};
pub use pattern::{Bindings, Dim, Domain, Pattern};

use super::build::Builder;
use super::op::Value;
use super::ty::{Type, Types};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::sync::OnceLock;

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct BuiltinRow {
    /// Name, in NVIDIA Warp's spelling where Warp has it.
    pub name: &'static str,
    /// Front ends that can call it by name.
    pub visibility: Visibility,
    /// Signatures, of which a call takes the first that fits the arguments.
    pub signatures: &'static [Signature],
    /// Derivative that `grad` uses.
    pub derivative: Derivative,
    /// One line for people.
    pub doc: &'static str,
}

/// Front ends that can call a builtin by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Visibility {
    /// Kernels in the Warp dialect, as `wp.name`, and all other callers.
    Dialect,
    /// Front ends, passes and other rows only.
    Inner,
}

/// Argument types, the result's type, and the computation.
#[derive(Clone, Copy, Debug)]
pub struct Signature {
    /// Scalar types that the variable `T` of the patterns may stand for.
    pub domain: Domain,
    /// The parameters.
    pub params: &'static [Pattern],
    /// Names of the parameters, in the same order.
    pub names: &'static [&'static str],
    /// Type of the result.
    pub result: Pattern,
    /// Definition of the result.
    pub definition: Definition,
}

/// Definition of a signature.
#[derive(Clone, Copy, Debug)]
pub enum Definition {
    /// Native operation, which every back end computes by itself.
    Native(Native),
    /// Function of IR that a [`BodyFn`] builds.
    Body(BodyFn),
}

/// Builds the body of a builtin for the types of the function being built. Returns the result, or
/// `None` if the builtin has no result or the body returned it already. Parameters that are
/// references are places to read and write.
pub type BodyFn = fn(&mut Builder<'_>) -> Option<Value>;

/// A row by its position in the table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BuiltinId(u16);

/// Signature from which a function of the module was made.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Instance {
    /// The row.
    pub builtin: BuiltinId,
    /// Position of the signature in the row.
    pub signature: u16,
}

static FAMILIES: [&[BuiltinRow]; 13] = [
    operator::ROWS,
    scalar::ROWS,
    vector::ROWS,
    matrix::ROWS,
    decomposition::ROWS,
    quaternion::ROWS,
    transform::ROWS,
    spatial::ROWS,
    geometry::ROWS,
    array::ROWS,
    random::ROWS,
    sample::ROWS,
    noise::ROWS,
];

struct Table {
    rows: Vec<&'static BuiltinRow>,
    by_name: FxHashMap<&'static str, BuiltinId>,
}

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let rows: Vec<_> = FAMILIES.into_iter().flatten().collect();
        let ids = rows.iter().enumerate();
        let by_name = ids.map(|(id, row)| (row.name, BuiltinId(id as u16))).collect();
        Table { rows, by_name }
    })
}

/// Returns the row with this name.
pub fn find(name: &str) -> Option<BuiltinId> {
    table().by_name.get(name).copied()
}

/// Returns a row.
pub fn row(id: BuiltinId) -> &'static BuiltinRow {
    table().rows[id.0 as usize]
}

/// Returns true if a call with `count` arguments passes the one at `position` by reference.
pub fn takes_place(id: BuiltinId, count: usize, position: usize) -> bool {
    let mut signatures = row(id).signatures.iter().filter(|it| it.params.len() >= count);
    signatures.any(|it| it.params.get(position).is_some_and(|param| param.is_reference()))
}

/// Iterates over all rows, in order.
pub fn rows() -> impl Iterator<Item = (BuiltinId, &'static BuiltinRow)> {
    table().rows.iter().enumerate().map(|(id, &row)| (BuiltinId(id as u16), row))
}

/// Returns the dialect's name nearest to a misspelled one, if the two are close enough.
pub fn nearest(name: &str) -> Option<&'static str> {
    nearest_of(
        name,
        rows().filter(|(_, row)| row.visibility == Visibility::Dialect).map(|(_, row)| row.name),
    )
}

/// Returns the name nearest to a misspelled one, if the two are close enough. Among equally near
/// names it takes the one with the longest common beginning.
pub fn nearest_of<'n>(name: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let alike = |other: &str| name.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    let near = names.into_iter().map(|candidate| (distance(name, candidate), candidate));
    let (distance, candidate) =
        near.min_by_key(|&(distance, candidate)| (distance, Reverse(alike(candidate))))?;
    (distance <= 1 + name.len() / 4).then_some(candidate)
}

/// Counts the insertions, deletions and substitutions that turn one name into the other.
fn distance(from: &str, to: &str) -> usize {
    let to = to.as_bytes();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (line, byte) in from.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], line + 1);
        for column in 0..to.len() {
            let substituted = diagonal + usize::from(to[column] != byte);
            diagonal = row[column + 1];
            row[column + 1] = substituted.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[to.len()]
}

/// Returns the first signature that takes arguments of these types, and the type of its result.
pub fn resolve(id: BuiltinId, args: &[Type], types: &mut Types) -> Option<(u16, Type)> {
    row(id).signatures.iter().enumerate().find_map(|(position, signature)| {
        let bindings = pattern::bind(signature.domain, signature.params, args, types)?;
        Some((position as u16, bindings.apply(signature.result, types)?))
    })
}

/// Makes a row that is computed natively on one scalar of any type in `domain`, and by component on
/// vectors.
const fn row_of(
    name: &'static str,
    signatures: &'static [Signature],
    derivative: Derivative,
    doc: &'static str,
) -> BuiltinRow {
    BuiltinRow { name, visibility: Visibility::Dialect, signatures, derivative, doc }
}

const fn native(
    domain: Domain,
    names: &'static [&'static str],
    params: &'static [Pattern],
    result: Pattern,
    native: Native,
) -> Signature {
    Signature { domain, params, names, result, definition: Definition::Native(native) }
}

const fn body(
    domain: Domain,
    names: &'static [&'static str],
    params: &'static [Pattern],
    result: Pattern,
    body: BodyFn,
) -> Signature {
    Signature { domain, params, names, result, definition: Definition::Body(body) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_rows_are_complete() {
        assert_eq!(table().by_name.len(), table().rows.len());
        for (_, row) in rows() {
            assert!(!row.doc.is_empty() && !row.signatures.is_empty(), "{}", row.name);
            for signature in row.signatures {
                assert_eq!(signature.params.len(), signature.names.len(), "{}", row.name);
            }
        }
    }

    #[test]
    fn a_misspelled_builtin_gets_the_nearest_name() {
        assert_eq!(nearest("normalise"), Some("normalize"));
        assert_eq!(nearest("lenght"), Some("length"));
        assert_eq!(nearest("sinn"), Some("sin"));
        assert_eq!(nearest("quaternions_of_doom"), None);
    }
}
