//! Types of array elements and struct arguments, independent of any module.

use gbxcule_ir::{Module, Scalar, Shape, Type, dialect_name};
use std::fmt;
use std::sync::Arc;

/// Type without array handles, which an array's elements may have.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum DataType {
    /// A number or truth value.
    Scalar(Scalar),
    /// A vector of this many scalars.
    Vector(u16, Scalar),
    /// A matrix: rows, columns, scalar; row-major.
    Matrix(u16, u16, Scalar),
    /// A quaternion: components x, y, z, w.
    Quaternion(Scalar),
    /// A transform: a translation and a rotation.
    Transform(Scalar),
    /// An array of this many elements of another type.
    Fixed(Arc<Self>, u32),
    /// A struct, laid out as in C.
    Struct(Arc<StructType>),
}

/// A struct of [`DataType`]s. Two structs with the same fields are the same type, even if their
/// names differ.
#[derive(Clone, Debug)]
pub struct StructType {
    /// Name, for messages.
    pub name: String,
    /// Names and types of the fields.
    pub fields: Vec<(String, DataType)>,
}

impl PartialEq for StructType {
    fn eq(&self, other: &Self) -> bool {
        self.fields == other.fields
    }
}

impl Eq for StructType {}

impl std::hash::Hash for StructType {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.fields.hash(state);
    }
}

impl DataType {
    /// Returns the data type of a module's type; `None` if it holds array handles.
    pub fn of(module: &Module, ty: Type) -> Option<Self> {
        Some(match module.types[ty] {
            Shape::Scalar(of) => Self::Scalar(of),
            Shape::Vector { len, of } => Self::Vector(len, of),
            Shape::Matrix { rows, cols, of } => Self::Matrix(rows, cols, of),
            Shape::Quaternion(of) => Self::Quaternion(of),
            Shape::Transform(of) => Self::Transform(of),
            Shape::Fixed { of, len } => Self::Fixed(Arc::new(Self::of(module, of)?), len),
            Shape::Struct(id) => {
                let structure = module.types.structure(id);
                let fields = structure.fields.iter();
                let fields = fields.map(|f| Some((f.name.clone(), Self::of(module, f.ty)?)));
                let fields = fields.collect::<Option<_>>()?;
                Self::Struct(Arc::new(StructType { name: structure.name.clone(), fields }))
            }
            Shape::Array { .. } | Shape::Tuple(_) | Shape::Invalid => return None,
        })
    }

    /// Returns size and alignment in bytes, as in C.
    pub fn layout(&self) -> (usize, usize) {
        let packed = |of: Scalar, count: usize| (of.bytes() as usize * count, of.bytes() as usize);
        match self {
            Self::Scalar(of) => packed(*of, 1),
            Self::Vector(len, of) => packed(*of, usize::from(*len)),
            Self::Matrix(rows, cols, of) => packed(*of, usize::from(*rows) * usize::from(*cols)),
            Self::Quaternion(of) => packed(*of, 4),
            Self::Transform(of) => packed(*of, 7),
            Self::Fixed(of, len) => {
                let (size, align) = of.layout();
                (size.saturating_mul(*len as usize), align)
            }
            Self::Struct(structure) => {
                let (mut end, mut align) = (0usize, 1);
                for (_, field) in &structure.fields {
                    let (size, field_align) = field.layout();
                    end = end.next_multiple_of(field_align).saturating_add(size);
                    align = align.max(field_align);
                }
                (end.max(1).next_multiple_of(align), align)
            }
        }
    }
}

impl fmt::Display for DataType {
    /// Writes the type as messages show it: `float32`, `vec3f`, `fixedarray((4), uint8)`, a
    /// struct's name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scalar(of) => f.write_str(of.spelled()),
            Self::Vector(len, of) => f.write_str(&dialect_name::vector(*len, *of)),
            Self::Matrix(rows, cols, of) => f.write_str(&dialect_name::matrix(*rows, *cols, *of)),
            Self::Quaternion(of) => f.write_str(&dialect_name::quaternion(*of)),
            Self::Transform(of) => f.write_str(&dialect_name::transform(*of)),
            Self::Fixed(..) => {
                let (mut inner, mut extents) = (self, Vec::new());
                while let Self::Fixed(of, len) = inner {
                    extents.push(*len);
                    inner = of;
                }
                f.write_str(&dialect_name::fixed(&extents, &inner.to_string()))
            }
            Self::Struct(structure) => f.write_str(&structure.name),
        }
    }
}

/// A type of the host with the bits of a [`DataType`].
pub trait Element: bytemuck::Pod {
    /// Returns the data type of the elements.
    fn data_type() -> DataType;

    /// Returns true if elements of a type can be read and written as this one. `bool` is accessed
    /// as `u8`, 16-bit floats as `u16`, and composites also as arrays of their scalars.
    fn stands_for(ty: &DataType) -> bool {
        *ty == Self::data_type()
    }
}

macro_rules! elements {
    ($($ty:ident $scalar:ident $(| $other:ident)*),*) => {$(
        impl Element for $ty {
            fn data_type() -> DataType {
                DataType::Scalar(Scalar::$scalar)
            }

            fn stands_for(ty: &DataType) -> bool {
                matches!(ty, DataType::Scalar(Scalar::$scalar $(| Scalar::$other)*))
            }
        }
    )*};
}

elements!(
    i8 I8, i16 I16, i32 I32, i64 I64, u8 U8 | Bool, u16 U16 | F16 | Bf16, u32 U32, u64 U64,
    f32 F32, f64 F64
);

impl<T: Element, const N: usize> Element for [T; N] {
    fn data_type() -> DataType {
        match T::data_type() {
            DataType::Scalar(of) => DataType::Vector(N as u16, of),
            other => DataType::Fixed(Arc::new(other), N as u32),
        }
    }

    fn stands_for(ty: &DataType) -> bool {
        let scalars =
            |of: &Scalar, count: usize| T::stands_for(&DataType::Scalar(*of)) && N == count;
        match ty {
            DataType::Vector(len, of) => scalars(of, usize::from(*len)),
            DataType::Matrix(rows, cols, of) => {
                scalars(of, usize::from(*rows) * usize::from(*cols))
                    || N == usize::from(*rows) && T::stands_for(&DataType::Vector(*cols, *of))
            }
            DataType::Quaternion(of) => scalars(of, 4),
            DataType::Transform(of) => scalars(of, 7),
            DataType::Fixed(of, len) => N == *len as usize && T::stands_for(of),
            DataType::Scalar(_) | DataType::Struct(_) => false,
        }
    }
}
