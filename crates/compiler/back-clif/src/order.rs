//! Finds kernels that leave the same memory when the threads of a group run side by side as when
//! they run one after the other.
//!
//! Threads of a group differ only in the launch index of the last dimension, by less than
//! [`GROUP`]. Side by side, each statement is executed for all of them, in their order, before the
//! next. So an array that is written gets the same contents if
//! - only one statement touches it, once in each thread, or
//! - all operations on it are integer operations that commute, whose results have no use, or
//! - in one dimension the indices of any two of the threads differ in all accesses.
//!
//! This holds for elements; which arrays share memory is known only at a launch ([`GroupOrder`]).

use super::access::{Access, Accesses, ParamArray, Purpose};
use super::sum::{Atom, Sum};
use super::typed::GROUP;

/// Dimension of an array in which the indices of threads of a group differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Apart {
    /// Number of the dimension.
    pub dim: usize,
    /// Largest difference of the indices. In a dimension with at most this many elements, an index
    /// could equal another thread's index that counts from the end.
    pub reach: i64,
}

/// Array that a kernel uses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UsedArray {
    /// The array.
    pub array: ParamArray,
    /// True if the kernel writes it.
    pub written: bool,
    /// Dimension in which indices differ, if the order of the array's accesses relies on it.
    pub apart: Option<Apart>,
}

/// Requirements on the arrays of a launch under which groups of threads leave the same memory as
/// threads in order.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct GroupOrder {
    /// All arrays that the kernel uses.
    pub arrays: Vec<UsedArray>,
    /// Pairs of these arrays, by position, that may be one array. No other two arrays may share
    /// memory if one of them is written.
    pub same: Vec<(usize, usize, Apart)>,
}

impl GroupOrder {
    /// Analyses a kernel that asks for `dims` dimensions of the grid; `None` if threads may have to
    /// run in order.
    pub(super) fn new(accesses: &Accesses, dims: u8) -> Option<Self> {
        if accesses.prints > 1 {
            return None;
        }
        let mut order = Self::default();
        for access in &accesses.all {
            if order.arrays.iter().any(|used| used.array == access.array) {
                continue;
            }
            let all = accesses_of(accesses, &[&access.array]);
            let written = all.iter().any(|access| access.purpose != Purpose::Read);
            let apart = match !written || keeps_order(&all) {
                true => None,
                false => Some(apart(accesses, &all, dims)?),
            };
            order.arrays.push(UsedArray { array: access.array.clone(), written, apart });
        }
        for (at, one) in order.arrays.iter().enumerate() {
            for (beyond, other) in order.arrays[..at].iter().enumerate() {
                let all = accesses_of(accesses, &[&one.array, &other.array]);
                if (one.written || other.written)
                    && let Some(apart) = apart(accesses, &all, dims)
                {
                    order.same.push((beyond, at, apart));
                }
            }
        }
        Some(order)
    }
}

fn accesses_of<'a>(accesses: &'a Accesses, arrays: &[&ParamArray]) -> Vec<&'a Access> {
    accesses.all.iter().filter(|access| arrays.contains(&&access.array)).collect()
}

/// Returns true if accesses to an array leave the same memory for all indices.
fn keeps_order(all: &[&Access]) -> bool {
    let same = |access: &&Access| match (access.purpose, all[0].purpose) {
        (Purpose::Atomic { op, commutes: true, .. }, Purpose::Atomic { op: first, .. }) => {
            op == first
        }
        _ => false,
    };
    matches!(all, [Access { repeats: false, .. }]) || all.iter().all(same)
}

/// Finds a dimension in which the indices of two threads of a group always differ.
fn apart(accesses: &Accesses, all: &[&Access], dims: u8) -> Option<Apart> {
    let last = Atom::Launch(dims.checked_sub(1)?);
    let count = all.iter().map(|access| access.indices.len()).min()?;
    (0..count).find_map(|dim| {
        let forms = all.iter().map(|access| {
            let index = access.indices[dim].as_ref()?;
            Form::new(accesses, index, &last)
        });
        let forms: Vec<Form> = forms.collect::<Option<_>>()?;
        let first = &forms[0];
        if forms.iter().any(|form| form.step != first.step || form.base != first.base) {
            return None;
        }
        let low = forms.iter().map(|form| form.low).min()?;
        let high = forms.iter().map(|form| form.high).max()?;
        let reach = first.step.abs() * (GROUP as i64 - 1) + (high - low);
        let differ = high - low < first.step.abs() && reach <= i64::from(i32::MAX);
        differ.then_some(Apart { dim, reach })
    })
}

/// Index of the form `step * thread + base + number`, with a number from `low` to `high`, and a
/// base that is the same for all threads of a group as long as they run.
struct Form {
    step: i64,
    base: Sum,
    low: i64,
    high: i64,
}

impl Form {
    fn new(accesses: &Accesses, index: &Sum, last: &Atom) -> Option<Self> {
        let mut form = Self { step: 0, base: Sum::default(), low: 0, high: 0 };
        for (factors, count) in index.terms() {
            let varies = |atom: &Atom| atom == last || matches!(atom, Atom::Index(..));
            let (low, high) = match factors {
                [] => (1, 1),
                [atom] if atom == last => {
                    form.step = count;
                    continue;
                }
                [index @ Atom::Index(..)] => *accesses.loops.get(index)?,
                _ if factors.iter().any(varies) => return None,
                _ => {
                    form.base.add(factors.to_vec(), count as i32);
                    continue;
                }
            };
            form.low = form.low.checked_add((count * low).min(count * high))?;
            form.high = form.high.checked_add((count * low).max(count * high))?;
        }
        (form.step != 0).then_some(form)
    }
}
