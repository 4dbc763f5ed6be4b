//! Layouts in memory: C's natural layout, the same on CPU, on CUDA and in NVIDIA Warp.
//!
//! Vectors, matrices (row-major), quaternions and transforms are packed scalars aligned like one
//! scalar. Struct fields lie in order, each at its alignment; the size is rounded up to the
//! alignment. An array handle is a [`descriptor`].

use super::ty::{Scalar, Shape, Struct, Types};

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
    use super::super::ty::{Field, Type};
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
