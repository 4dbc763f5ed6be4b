//! Checks before a launch that elements of the given arrays don't share memory.
//!
//! The compiler has proven that each thread accesses only its own elements. Together the two facts
//! allow plain additions instead of atomic ones, and threads that run side by side in groups.

use crate::argument::Argument;
use crate::array::Array;
use crate::buffer::Buffer;
use crate::overlap::collect;
use gbxcule_back_clif::{Apart, GroupOrder, MAX_SMALL, ParamArray};
use std::sync::Arc;

/// Returns true if all arrays that must be exclusive are exclusive.
pub(crate) fn are_exclusive(exclusive: &[ParamArray], grid: &[usize], args: &[Argument]) -> bool {
    if exclusive.is_empty() {
        return true;
    }
    if grid.iter().any(|&extent| extent as i64 > MAX_SMALL) {
        return false;
    }
    let mut all = Vec::new();
    args.iter().for_each(|arg| collect(arg, &mut all));
    exclusive.iter().all(|exclusive| {
        let Some(arg) = find(exclusive, args) else { return false };
        let Argument::Array(array) = arg else { return matches!(arg, Argument::Absent) };
        let Some(own_buffer) = buffer(array, exclusive.gradient) else { return true };
        let [low, high] = extent(array, own_buffer);
        let meets = |[first, last]: [i128; 2]| low.max(first) < high.min(last);
        let mut others = 0;
        for &other in &all {
            for gradient in [false, true] {
                let memory = buffer(other, gradient).map(|memory| extent(other, memory));
                others += usize::from(memory.is_some_and(meets));
            }
        }
        // The count includes the array itself.
        others <= 1 && has_distinct_elements(array)
    })
}

/// Returns true if groups of threads that run side by side leave the same memory as threads in
/// order: written arrays have no overlapping elements, and share memory only with arrays that are
/// equal and used in the same way.
pub(crate) fn may_group(order: &GroupOrder, args: &[Argument]) -> bool {
    let mut arrays = Vec::with_capacity(order.arrays.len());
    for used in &order.arrays {
        let memory = match find(&used.array, args) {
            Some(Argument::Array(array)) => buffer(array, used.array.gradient)
                .map(|own_buffer| (array, extent(array, own_buffer))),
            Some(Argument::Absent) => None,
            // Rows of structs are copied for the launch, so no other array shares their memory.
            Some(Argument::Rows(_)) if !used.written => None,
            _ => return false,
        };
        if let Some((array, _)) = memory
            && let Some(apart) = used.apart
            && !(is_wider(array, apart) && has_distinct_elements(array))
        {
            return false;
        }
        arrays.push(memory);
    }
    let mut pairs = (0..arrays.len()).flat_map(|other| (0..other).map(move |one| (one, other)));
    pairs.all(|(one, other)| {
        let (Some((array, [low, high])), Some((twin, [first, last]))) =
            (arrays[one], arrays[other])
        else {
            return true;
        };
        let written = order.arrays[one].written || order.arrays[other].written;
        if !written || low.max(first) >= high.min(last) {
            return true;
        }
        let apart = order.same.iter().find(|&&(left, right, _)| (left, right) == (one, other));
        let same = low == first
            && array.shape() == twin.shape()
            && array.strides() == twin.strides()
            && array.data_type().layout() == twin.data_type().layout();
        apart.is_some_and(|&(_, _, apart)| {
            same && is_wider(array, apart) && has_distinct_elements(array)
        })
    })
}

/// Returns true if different indices of threads of a group always name different elements.
fn is_wider(array: &Array, apart: Apart) -> bool {
    array.shape().get(apart.dim).is_some_and(|&extent| extent as i64 > apart.reach)
}

fn buffer(array: &Array, gradient: bool) -> Option<&Arc<Buffer>> {
    if gradient { array.gradient.as_ref() } else { Some(&array.data) }
}

/// Returns the range of an array's elements in a buffer that has the layout of the array's own
/// buffer.
fn extent(array: &Array, buffer: &Buffer) -> [i128; 2] {
    array.span().map(|at| at + i128::from(buffer.address()))
}

fn find<'a>(exclusive: &ParamArray, args: &'a [Argument]) -> Option<&'a Argument> {
    let mut arg = args.get(exclusive.param as usize)?;
    for &field in &exclusive.fields {
        let Argument::Struct(fields) = arg else { return None };
        arg = &fields.get(field as usize)?.1;
    }
    Some(arg)
}

/// Returns true if no two elements share a byte: each stride is at least as long as the memory that
/// the dimensions with shorter strides span.
fn has_distinct_elements(array: &Array) -> bool {
    let dims = array.shape().iter().zip(array.strides());
    let dims = dims.filter(|&(&extent, _)| extent > 1);
    let mut dims: Vec<(u128, u128)> =
        dims.map(|(&extent, stride)| (stride.unsigned_abs() as u128, extent as u128)).collect();
    dims.sort_unstable();
    let mut reach = array.data_type().layout().0 as u128;
    dims.into_iter().all(|(stride, extent)| {
        let beyond = stride >= reach;
        reach += stride * (extent - 1);
        beyond
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data_type::Element;

    #[test]
    fn memory_shared_with_another_array_is_not_exclusive() {
        let exclusive =
            |param, fields: &[u32]| ParamArray { param, fields: fields.into(), gradient: true };
        let array = || Array::from_slice(&[1.0f32; 8]).with_gradient().expect("small");
        let whole = array();
        let part = |from: usize| whole.slice(0, from..from + 4, 1).expect("a part");
        let (x, y) = (array(), array());
        let gradient = x.gradient().expect("it has one");
        let shared = array().with_gradient_in(&gradient).expect("as large");
        let constant = Array::from_slice(&[1.0f32; 8]);
        let first = [exclusive(0, &[])];
        for (args, expected) in [
            ([&x, &y], true),
            ([&x, &x], false),
            ([&x, &shared], false),
            ([&x, &gradient], false),
            ([&part(0), &part(4)], true),
            ([&part(0), &part(3)], false),
            ([&constant, &constant], true),
        ] {
            assert_eq!(
                are_exclusive(&first, &[8], &args.map(Argument::from)),
                expected,
                "{args:?}"
            );
        }
        let args = [Argument::from(&x), Argument::Struct(vec![("f".into(), (&x).into())])];
        assert!(!are_exclusive(&[exclusive(1, &[0])], &[8], &args));
        assert!(are_exclusive(&[exclusive(1, &[0])], &[8], &[5.into(), args[1].clone()]));
        assert!(!are_exclusive(&[exclusive(1, &[1])], &[8], &args));
        assert!(are_exclusive(&first, &[8], &[Argument::Absent]));
        assert!(!are_exclusive(&first, &[1 << 30, 1 << 31], &[(&x).into(), (&y).into()]));
        assert!(are_exclusive(&[], &[1 << 31], &args));
    }

    #[test]
    fn elements_lie_apart_unless_steps_are_too_short() {
        let array = |shape: &[usize], strides: &[isize]| {
            Array::from_bytes(&[0; 256], f32::data_type(), 128, shape, strides).expect("inside")
        };
        for (shape, strides) in [
            (&[4usize, 3][..], &[12isize, 4][..]),
            (&[4, 3], &[4, 16]),
            (&[4, 3], &[-12, 4]),
            (&[1, 3], &[0, 4]),
            (&[5], &[-8]),
        ] {
            assert!(has_distinct_elements(&array(shape, strides)), "{shape:?} {strides:?}");
        }
        for (shape, strides) in
            [(&[4usize, 3][..], &[8isize, 4][..]), (&[4, 3], &[0, 4]), (&[3, 3], &[4, -4])]
        {
            assert!(!has_distinct_elements(&array(shape, strides)), "{shape:?} {strides:?}");
        }
    }
}
