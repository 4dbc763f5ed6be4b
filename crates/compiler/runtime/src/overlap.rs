//! Checks that arguments share no memory that must not be shared: a reverse kernel reads numbers
//! that the forward launch must not have overwritten.
//!
//! Arrays count as sharing memory if the ranges from the first to the last element of each
//! overlap. So two columns of one matrix count as sharing memory, though they have no element in
//! common.

use crate::argument::Argument;
use crate::array::Array;
use crate::error::Error;
use crate::reflection::Reflection;

/// Checks that arrays which the kernel takes to be disjoint don't overlap.
pub(crate) fn check(reflection: &Reflection, args: &[Argument]) -> Result<(), Error> {
    for &(one, other) in &reflection.disjoint {
        let arrays = [one, other].map(|at| {
            let mut arrays = Vec::new();
            collect(&args[at as usize], &mut arrays);
            arrays
        });
        // Within one argument each array is compared with the arrays after it.
        let behind = |position: usize| {
            if one == other { &arrays[1][position + 1..] } else { &arrays[1][..] }
        };
        let mut lefts = arrays[0].iter().enumerate();
        if lefts
            .any(|(position, left)| behind(position).iter().any(|right| left.shares_memory(right)))
        {
            let name = |position: u32| reflection.parameters[position as usize].name.clone();
            let (one, other) = (name(one), name(other));
            return Err(Error::Overlap { kernel: reflection.name.clone(), one, other });
        }
    }
    Ok(())
}

/// Collects all arrays in an argument.
pub(crate) fn collect<'a>(arg: &'a Argument, arrays: &mut Vec<&'a Array>) {
    match arg {
        Argument::Array(array) => arrays.push(array),
        Argument::Struct(fields) => fields.iter().for_each(|(_, field)| collect(field, arrays)),
        Argument::Rows(rows) => rows.iter().for_each(|row| collect(row, arrays)),
        _ => {}
    }
}

impl Array {
    /// Returns true if memory or gradients of two arrays overlap. The addresses decide, because a
    /// caller may have lent the same memory more than once.
    fn shares_memory(&self, other: &Self) -> bool {
        let others = other.extents();
        let meets = |[low, high]: &[i128; 2]| {
            others.iter().any(|[first, last]| low.max(first) < high.min(last))
        };
        self.extents().iter().any(meets)
    }

    /// Returns the ranges of the array's elements and of their gradients.
    fn extents(&self) -> Vec<[i128; 2]> {
        let buffers = [Some(&self.data), self.gradient.as_ref()].into_iter().flatten();
        buffers.map(|buffer| self.span().map(|at| at + i128::from(buffer.address()))).collect()
    }
}
