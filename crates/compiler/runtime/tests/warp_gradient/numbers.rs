//! The floats in a program's memory.

use gbxcule_ir::check::Valid;
use gbxcule_ir::layout::{Leaf, leaves};
use gbxcule_ir::{FunctionId, Literal, Module, Type, Types};
use gbxcule_testkit::arbitrary::{Actual, RandomProgram};

/// Floats of each buffer of a program.
pub(crate) type Numbers = Vec<Vec<f64>>;

/// Returns the element types of a program's arrays, by buffer. Each array has a buffer of its own.
pub(crate) fn arrays(program: &RandomProgram) -> Vec<Type> {
    let arrays = program.args.iter().filter_map(|actual| match actual {
        Actual::Array { of, .. } => Some(*of),
        Actual::Bytes(_) => None,
    });
    arrays.collect()
}

/// Returns the floats in a buffer of elements of a type.
fn floats(types: &Types, of: Type, bytes: usize) -> impl Iterator<Item = Leaf> {
    let size = types.layout(of).map_or(1, |layout| layout.size.max(1)) as usize;
    let leaves = leaves(types, of).into_iter().filter(|leaf| leaf.scalar.is_float());
    (0..bytes / size).flat_map(move |element| {
        leaves.clone().map(move |leaf| Leaf { offset: element * size + leaf.offset, ..leaf })
    })
}

/// Returns all floats of buffers.
pub(crate) fn read(program: &RandomProgram, buffers: &[Vec<u8>]) -> Numbers {
    let types = &program.module.types;
    let each = arrays(program).into_iter().zip(buffers).map(|(of, bytes)| {
        let floats = floats(types, of, bytes.len());
        floats.map(|leaf| leaf.read(bytes).as_f64()).collect()
    });
    each.collect()
}

/// Returns the buffer with other floats.
pub(crate) fn with(
    program: &RandomProgram,
    buffer: usize,
    bytes: &[u8],
    numbers: &[f64],
) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let of = arrays(program)[buffer];
    let places: Vec<_> = floats(&program.module.types, of, bytes.len()).collect();
    for (leaf, &number) in places.into_iter().zip(numbers) {
        leaf.write(&mut bytes, Literal::float(leaf.scalar, number));
    }
    bytes
}

/// Returns a launch of the reverse kernel, with these gradients and the arrays as the forward
/// launch left them. The buffers of the gradients follow those of the arrays.
pub(crate) fn backward(
    program: &RandomProgram,
    (module, kernel): (Valid<Module>, FunctionId),
    after: &[Vec<u8>],
    gradients: &Numbers,
) -> RandomProgram {
    let count = program.buffers.len();
    let beside = (0..count).map(|buffer| {
        let zeros = vec![0; after[buffer].len()];
        with(program, buffer, &zeros, &gradients[buffer])
    });
    let buffers = after.iter().cloned().chain(beside).collect();
    let args = program.args.iter().cloned().map(|mut actual| {
        if let Actual::Array { buffer, gradient, .. } = &mut actual {
            *gradient = Some(count + *buffer);
        }
        actual
    });
    RandomProgram { module, kernel, dims: program.dims.clone(), buffers, args: args.collect() }
}
