//! Whether threads of a launch have elements of arrays for themselves, so that nothing need be done to them
//! atomically: each thread keeps to elements of its own, as the compiler saw; here it is seen that no two elements
//! share memory, and none does with anything else.

use crate::apart::collect;
use crate::argument::Argument;
use crate::array::Array;
use crate::buffer::Buffer;
use gbxcule_kernel::back::clif::{Owned, SMALL_MAX};
use std::sync::Arc;

/// Whether all of a kernel's arrays that must be are so.
pub(crate) fn hold(owned: &[Owned], grid: &[usize], args: &[Argument]) -> bool {
    if owned.is_empty() {
        return true;
    }
    if grid.iter().any(|&extent| extent as i64 > SMALL_MAX) {
        return false;
    }
    let mut all = Vec::new();
    args.iter().for_each(|arg| collect(arg, &mut all));
    owned.iter().all(|owned| {
        let Some(arg) = find(owned, args) else { return false };
        let Argument::Array(array) = arg else { return matches!(arg, Argument::Absent) };
        let Some(own) = buffer(array, owned.gradient) else { return true };
        let [low, high] = extent(array, own);
        let meets = |[first, last]: [i128; 2]| low.max(first) < high.min(last);
        let mut others = 0;
        for &other in &all {
            for gradient in [false, true] {
                let memory = buffer(other, gradient).map(|memory| extent(other, memory));
                others += usize::from(memory.is_some_and(meets));
            }
        }
        // It meets itself.
        others <= 1 && has_elements_apart(array)
    })
}

fn buffer(array: &Array, gradient: bool) -> Option<&Arc<Buffer>> {
    if gradient { array.gradient.as_ref() } else { Some(&array.data) }
}

/// Where its elements lie in a buffer that is laid out as its own.
fn extent(array: &Array, buffer: &Buffer) -> [i128; 2] {
    array.span().map(|at| at + i128::from(buffer.address()))
}

fn find<'a>(owned: &Owned, args: &'a [Argument]) -> Option<&'a Argument> {
    let mut arg = args.get(owned.param as usize)?;
    for &field in &owned.fields {
        let Argument::Struct(fields) = arg else { return None };
        arg = &fields.get(field as usize)?.1;
    }
    Some(arg)
}

/// Whether no two elements share a byte: in each dimension a step goes beyond all that those of shorter steps reach.
fn has_elements_apart(array: &Array) -> bool {
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
    fn memory_that_others_have_too_is_nobodys_own() {
        let owned = |param, fields: &[u32]| Owned { param, fields: fields.into(), gradient: true };
        let array = || Array::from_slice(&[1.0f32; 8]).with_gradient().expect("small");
        let whole = array();
        let part = |from: usize| whole.slice(0, from..from + 4, 1).expect("a part");
        let (x, y) = (array(), array());
        let gradient = x.gradient().expect("it has one");
        let shared = array().with_gradient_in(&gradient).expect("as large");
        let constant = Array::from_slice(&[1.0f32; 8]);
        let first = [owned(0, &[])];
        for (args, expected) in [
            ([&x, &y], true),
            ([&x, &x], false),
            ([&x, &shared], false),
            ([&x, &gradient], false),
            ([&part(0), &part(4)], true),
            ([&part(0), &part(3)], false),
            ([&constant, &constant], true),
        ] {
            assert_eq!(hold(&first, &[8], &args.map(Argument::from)), expected, "{args:?}");
        }
        let args = [Argument::from(&x), Argument::Struct(vec![("f".into(), (&x).into())])];
        assert!(!hold(&[owned(1, &[0])], &[8], &args));
        assert!(hold(&[owned(1, &[0])], &[8], &[5.into(), args[1].clone()]));
        assert!(!hold(&[owned(1, &[1])], &[8], &args));
        assert!(hold(&first, &[8], &[Argument::Absent]));
        assert!(!hold(&first, &[1 << 30, 1 << 31], &[(&x).into(), (&y).into()]));
        assert!(hold(&[], &[1 << 31], &args));
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
            assert!(has_elements_apart(&array(shape, strides)), "{shape:?} {strides:?}");
        }
        for (shape, strides) in
            [(&[4usize, 3][..], &[8isize, 4][..]), (&[4, 3], &[0, 4]), (&[3, 3], &[4, -4])]
        {
            assert!(!has_elements_apart(&array(shape, strides)), "{shape:?} {strides:?}");
        }
    }
}
