//! Arguments as data, for tests that launch a program in another way.

use super::random::Random;
use gbxcule_interp::{Argument, Array, Buffer, Pointer};
use gbxcule_ir::constant::Literal;
use gbxcule_ir::layout::leaves;
use gbxcule_ir::ty::{Scalar, Type, Types};

/// An argument of a launch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Actual {
    /// The memory image of a value.
    Bytes(Vec<u8>),
    /// An array over a buffer of the program.
    Array {
        /// Position of the buffer in the program.
        buffer: usize,
        /// Offset of the first element in the buffer, in bytes.
        offset: u32,
        /// Type of an element.
        of: Type,
        /// Number of elements in each dimension.
        shape: Vec<u32>,
        /// Bytes from one index to the next in each dimension.
        strides: Vec<i32>,
        /// Position of the buffer with the gradients, which have the same layout.
        gradient: Option<usize>,
    },
}

impl Actual {
    /// Returns a row-major array without gaps.
    pub fn dense(types: &Types, buffer: usize, of: Type, shape: &[u32]) -> Self {
        let mut stride = types.layout(of).map_or(0, |layout| layout.size as i32);
        let mut strides = Vec::new();
        for &extent in shape.iter().rev() {
            strides.insert(0, stride);
            stride *= extent as i32;
        }
        Self::Array { buffer, offset: 0, of, shape: shape.to_vec(), strides, gradient: None }
    }

    /// Returns the argument in the interpreter's form, over the interpreter's buffers.
    pub fn argument(&self, buffers: &[Buffer]) -> Argument {
        match self {
            Self::Bytes(bytes) => Argument::Bytes(bytes.clone()),
            Self::Array { buffer, offset, shape, strides, gradient, .. } => {
                let data = Pointer { buffer: buffers[*buffer], offset: *offset };
                let mut array = Array::dense(data, 1, shape);
                array.strides[..strides.len()].copy_from_slice(strides);
                Argument::Array(match gradient {
                    Some(gradient) => {
                        array.with_gradient(Pointer { buffer: buffers[*gradient], offset: *offset })
                    }
                    None => array,
                })
            }
        }
    }
}

/// Returns random bytes that are a value of a type. Numbers may be small, large or edge cases; a
/// `bool` is 0 or 1.
pub(super) fn image(random: &mut Random, types: &Types, ty: Type) -> Vec<u8> {
    let size = types.layout(ty).map_or(0, |layout| layout.size);
    let mut bytes = vec![0; size as usize];
    for leaf in leaves(types, ty) {
        leaf.write(&mut bytes, number(random, leaf.scalar));
    }
    bytes
}

/// Draws a scalar, often near an edge case.
pub fn number(random: &mut Random, scalar: Scalar) -> Literal {
    if scalar == Scalar::Bool {
        return Literal::bool(random.chance(50));
    }
    if scalar.is_int() {
        let small = i128::from(random.below(19)) - 9;
        return match random.below(4) {
            0 => Literal::from_bits(scalar, random.bits()),
            1 => Literal::from_bits(scalar, 1 << random.below(scalar.bits())),
            _ => Literal::int(scalar, small),
        };
    }
    const ODD: [f64; 12] = [
        0.0,
        -0.0,
        0.5,
        1e-40,
        65504.0,
        3e38,
        -1e30,
        2.5,
        1e10,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
    ];
    match random.below(8) {
        0 => Literal::float(scalar, random.pick(&ODD)),
        1 => Literal::float(scalar, f64::from(random.below(19)) - 9.0),
        _ => {
            let fraction = random.below(1 << 24);
            Literal::float(scalar, f64::from(fraction) / f64::from(1 << 20) - 8.0)
        }
    }
}
