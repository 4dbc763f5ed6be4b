//! Arguments of a kernel.

use crate::array::Array;
use crate::data_type::{DataType, Element};
use gbxcule_ir::{Literal, Scalar, dialect_name};

/// An argument of a launch.
#[derive(Clone, Debug)]
pub enum Argument {
    /// An array.
    Array(Array),
    /// An absent array, whose extents are 0.
    Absent,
    /// A scalar of exactly this type.
    Scalar(Literal),
    /// A whole number for a scalar parameter of any type that holds it.
    Int(i128),
    /// A number for a float parameter of any width.
    Float(f64),
    /// The memory image of a value without arrays.
    Value(DataType, Vec<u8>),
    /// The fields of a struct in order, by name.
    Struct(Vec<(String, Self)>),
    /// Elements of an array of structs that may hold arrays: structs, or [`Self::Absent`] for a
    /// struct whose fields are 0 and absent. The launch reads a copy of them.
    Rows(Vec<Self>),
}

impl Argument {
    /// Makes a vector, matrix, quaternion or transform of these scalars. The parameter's type
    /// decides which of them it is.
    pub fn value<T: Element>(value: T) -> Self {
        Self::Value(T::data_type(), bytemuck::bytes_of(&value).to_vec())
    }

    /// Describes the argument as messages show it.
    pub(crate) fn describe(&self) -> String {
        let quoted = |text: &str| format!("`{text}`");
        match self {
            Self::Array(array) => {
                quoted(&dialect_name::array(&array.data_type().to_string(), array.shape().len()))
            }
            Self::Absent => "no array".into(),
            Self::Scalar(literal) => quoted(literal.scalar().spelled()),
            Self::Int(value) => quoted(&value.to_string()),
            Self::Float(value) => quoted(&format!("{value:?}")),
            Self::Value(ty, _) => quoted(&ty.to_string()),
            Self::Struct(_) => "a struct".into(),
            Self::Rows(_) => "rows of structs".into(),
        }
    }
}

impl From<Array> for Argument {
    fn from(array: Array) -> Self {
        Self::Array(array)
    }
}

impl From<&Array> for Argument {
    fn from(array: &Array) -> Self {
        Self::Array(array.clone())
    }
}

impl From<bool> for Argument {
    fn from(value: bool) -> Self {
        Self::Scalar(Literal::bool(value))
    }
}

impl<T: Element, const N: usize> From<[T; N]> for Argument {
    fn from(value: [T; N]) -> Self {
        Self::value(value)
    }
}

macro_rules! scalars {
    ($($ty:ident $scalar:ident),*) => {$(
        impl From<$ty> for Argument {
            fn from(value: $ty) -> Self {
                Self::Scalar(Literal::int(Scalar::$scalar, i128::from(value)))
            }
        }
    )*};
}

scalars!(i8 I8, i16 I16, i32 I32, i64 I64, u8 U8, u16 U16, u32 U32, u64 U64);

impl From<f32> for Argument {
    fn from(value: f32) -> Self {
        Self::Scalar(Literal::from_bits(Scalar::F32, u64::from(value.to_bits())))
    }
}

impl From<f64> for Argument {
    fn from(value: f64) -> Self {
        Self::Scalar(Literal::from_bits(Scalar::F64, value.to_bits()))
    }
}
