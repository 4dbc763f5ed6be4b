//! Layouts in memory: C's natural layout, the same on CPU, on CUDA and in NVIDIA Warp.
//!
//! Vectors, matrices (row-major), quaternions and transforms are packed scalars aligned like one
//! scalar. Struct fields lie in order, each at its alignment; the size is rounded up to the
//! alignment. An array handle is a [`descriptor`].

use super::constant::Literal;
use super::eval::{from_bytes, to_bytes};
use super::ty::{Scalar, Shape, Struct, Type, Types};

/// Size and alignment in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    /// Bytes from one element to the next.
    pub size: u64,
    /// Alignment: a power of two.
    pub align: u32,
}

/// Byte offsets inside an array handle, the same as in NVIDIA Warp 1.19.
pub mod descriptor {
    use super::Layout;

    /// Pointer to the first element.
    pub const DATA: u32 = 0;
    /// Pointer to the first element's gradient, or null.
    pub const GRAD: u32 = 8;
    /// Four `i32`: elements in each dimension; 0 in unused ones.
    pub const SHAPE: u32 = 16;
    /// Four `i32`: bytes from one index to the next in each dimension.
    pub const STRIDES: u32 = 32;
    /// One `u16`: number of dimensions.
    pub const NDIM: u32 = 48;
    /// One `u16` of flags, 0 for us.
    pub const FLAGS: u32 = 50;
    /// Layout of the whole handle.
    pub const LAYOUT: Layout = Layout { size: 56, align: 8 };
}

/// Returns the layout of a type made of interned types; `None` for tuples and the invalid type. The
/// interner calls this once for each type.
pub(super) fn of_shape(types: &Types, shape: &Shape) -> Option<Layout> {
    let packed = |of: Scalar, count: u64| {
        Some(Layout { size: u64::from(of.bytes()) * count, align: of.bytes() })
    };
    match *shape {
        Shape::Scalar(of) => packed(of, 1),
        Shape::Vector { len, of } => packed(of, u64::from(len)),
        Shape::Matrix { rows, cols, of } => packed(of, u64::from(rows) * u64::from(cols)),
        Shape::Quaternion(of) => packed(of, 4),
        Shape::Transform(of) => packed(of, 7),
        Shape::Array { .. } => Some(descriptor::LAYOUT),
        Shape::Fixed { of, len } => {
            let element = types.layout(of)?;
            let size = element.size.checked_mul(u64::from(len))?;
            Some(Layout { size, align: element.align })
        }
        Shape::Struct(id) => fields(types, types.structure(id), |_| ()),
        Shape::Tuple(_) | Shape::Invalid => None,
    }
}

/// Returns the byte offset of each field.
pub fn field_offsets(types: &Types, structure: &Struct) -> Option<Vec<u64>> {
    let mut offsets = Vec::with_capacity(structure.fields.len());
    fields(types, structure, |offset| offsets.push(offset))?;
    Some(offsets)
}

/// A scalar inside the bytes of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Leaf {
    /// Offset of the scalar in the value, in bytes.
    pub offset: usize,
    /// Type of the scalar.
    pub scalar: Scalar,
    /// True for the first of the four components of a quaternion.
    pub begins_quaternion: bool,
}

impl Leaf {
    /// Reads the scalar from the bytes of a value.
    pub fn read(&self, value: &[u8]) -> Literal {
        from_bytes(self.scalar, &value[self.offset..][..self.scalar.bytes() as usize])
    }

    /// Writes the scalar into the bytes of a value.
    pub fn write(&self, value: &mut [u8], scalar: Literal) {
        to_bytes(scalar, &mut value[self.offset..]);
    }
}

/// Returns the scalars of a type in the order of memory; empty for types with array handles.
pub fn leaves(types: &Types, of: Type) -> Vec<Leaf> {
    let moved = |by: u64, of: Type| {
        let leaves = leaves(types, of).into_iter();
        leaves.map(move |leaf| Leaf { offset: leaf.offset + by as usize, ..leaf })
    };
    match &types[of] {
        Shape::Struct(id) => {
            let structure = types.structure(*id);
            let offsets = field_offsets(types, structure).unwrap_or_default();
            let fields = structure.fields.iter().zip(offsets);
            fields.flat_map(|(field, offset)| moved(offset, field.ty)).collect()
        }
        Shape::Fixed { of, len } => {
            let size = types.layout(*of).map_or(0, |layout| layout.size);
            (0..u64::from(*len)).flat_map(|index| moved(index * size, *of)).collect()
        }
        shape => {
            let quaternion = match shape {
                Shape::Quaternion(_) => Some(0),
                Shape::Transform(_) => Some(3),
                _ => None,
            };
            let (scalar, count) = types.components(of).unwrap_or((Scalar::Bool, 0));
            let leaf = |index: u32| Leaf {
                offset: (index * scalar.bytes()) as usize,
                scalar,
                begins_quaternion: quaternion == Some(index),
            };
            (0..count).map(leaf).collect()
        }
    }
}

fn fields(types: &Types, structure: &Struct, mut at: impl FnMut(u64)) -> Option<Layout> {
    let (mut end, mut align) = (0u64, 1);
    for field in &structure.fields {
        let layout = types.layout(field.ty)?;
        let offset = end.checked_next_multiple_of(u64::from(layout.align))?;
        at(offset);
        end = offset.checked_add(layout.size)?;
        align = align.max(layout.align);
    }
    // An empty struct takes one byte in C++, so it does here.
    Some(Layout { size: end.max(1).checked_next_multiple_of(u64::from(align))?, align })
}

#[cfg(test)]
mod tests {
    use super::super::ty::Field;
    use super::*;
    use crate::source::Span;

    #[test]
    fn structs_are_laid_out_as_in_c() {
        let mut types = Types::default();
        let vec3 = types.vector(3, Scalar::F32);
        let array = types.array(Type::F32, 2);
        let names = [("a", Type::BOOL), ("v", vec3), ("d", Type::F64), ("x", array)];
        let fields = names.map(|(name, ty)| Field { name: name.into(), ty, span: Span::NONE });
        let definition = Struct { name: "S".into(), fields: fields.into(), span: Span::NONE };
        let ty = types.define_struct(definition.clone());
        assert_eq!(field_offsets(&types, &definition), Some(vec![0, 4, 16, 24]));
        assert_eq!(types.layout(ty), Some(Layout { size: 80, align: 8 }));
    }
}
