//! Types as users of the dialect write them, without the `wp.` before them: `vec3f`,
//! `array2d[float32]`.
//!
//! All texts for users name types in these words: refusals, launches, reflection. The printer's own
//! words ([`Types::display`]) are for readers of IR.

use super::ty::{Scalar, Shape, Type, Types};

impl Scalar {
    /// Returns the scalar's name in the dialect: `float32`.
    #[must_use]
    pub const fn spelled(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::I8 => "int8",
            Self::I16 => "int16",
            Self::I32 => "int32",
            Self::I64 => "int64",
            Self::U8 => "uint8",
            Self::U16 => "uint16",
            Self::U32 => "uint32",
            Self::U64 => "uint64",
            Self::F16 => "float16",
            Self::Bf16 => "bfloat16",
            Self::F32 => "float32",
            Self::F64 => "float64",
        }
    }

    /// Returns the letters after the name of a vector or matrix.
    #[must_use]
    pub const fn suffix(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::I8 => "b",
            Self::U8 => "ub",
            Self::I16 => "s",
            Self::U16 => "us",
            Self::I32 => "i",
            Self::U32 => "ui",
            Self::I64 => "l",
            Self::U64 => "ul",
            Self::F16 => "h",
            Self::Bf16 => "bf16",
            Self::F32 => "f",
            Self::F64 => "d",
        }
    }
}

/// Spells a vector type.
pub fn vector(len: u16, of: Scalar) -> String {
    match len {
        2..=4 => format!("vec{len}{}", of.suffix()),
        _ => format!("vector({len}, {})", of.spelled()),
    }
}

/// Spells a matrix type.
pub fn matrix(rows: u16, cols: u16, of: Scalar) -> String {
    match rows {
        2..=4 if rows == cols => format!("mat{rows}{cols}{}", of.suffix()),
        _ => format!("matrix(({rows}, {cols}), {})", of.spelled()),
    }
}

/// Spells a quaternion type.
pub fn quaternion(of: Scalar) -> String {
    format!("quat{}", of.suffix())
}

/// Spells a transform type.
pub fn transform(of: Scalar) -> String {
    format!("transform{}", of.suffix())
}

/// Spells an array type, from its element type's spelling.
pub fn array(of: &str, dims: usize) -> String {
    if dims == 1 { format!("array[{of}]") } else { format!("array{dims}d[{of}]") }
}

/// Spells a fixed array type, from its element type's spelling.
pub fn fixed(extents: &[u32], of: &str) -> String {
    let extents: Vec<String> = extents.iter().map(u32::to_string).collect();
    format!("fixedarray(({}), {of})", extents.join(", "))
}

impl Types {
    /// Spells a type.
    pub fn spelled(&self, ty: Type) -> String {
        match &self[ty] {
            Shape::Scalar(of) => of.spelled().to_owned(),
            Shape::Vector { len, of } => vector(*len, *of),
            Shape::Matrix { rows, cols, of } => matrix(*rows, *cols, *of),
            Shape::Quaternion(of) => quaternion(*of),
            Shape::Transform(of) => transform(*of),
            Shape::Struct(id) => self.structure(*id).name.clone(),
            Shape::Array { of, dims } => array(&self.spelled(*of), usize::from(*dims)),
            Shape::Fixed { .. } => {
                let (mut inner, mut extents) = (ty, Vec::new());
                while let Shape::Fixed { of, len } = self[inner] {
                    extents.push(len);
                    inner = of;
                }
                fixed(&extents, &self.spelled(inner))
            }
            Shape::Tuple(of) if of.is_empty() => "no value".to_owned(),
            Shape::Tuple(of) => {
                let parts: Vec<String> = of.iter().map(|&ty| self.spelled(ty)).collect();
                format!("tuple[{}]", parts.join(", "))
            }
            Shape::Invalid => "nothing".to_owned(),
        }
    }
}
