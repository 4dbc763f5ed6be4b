//! Literals and constant tables.

use super::arena::Handle;
use super::half;
use super::ty::{Scalar, Type};
use crate::source::Span;
use std::fmt;

/// Scalar constant: its type and its bits, zero-extended to 64. Literals are compared by their
/// bits, so `-0.0` and `0.0` differ and a NaN equals itself.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Literal {
    scalar: Scalar,
    bits: u64,
}

impl Literal {
    /// Makes the literal with these bits; bits beyond the type's width are dropped.
    #[inline]
    pub const fn from_bits(scalar: Scalar, bits: u64) -> Self {
        let width = scalar.bits();
        let mask = if width == 64 { u64::MAX } else { (1 << width) - 1 };
        Self { scalar, bits: bits & mask }
    }

    /// Makes `true` or `false`.
    pub const fn bool(value: bool) -> Self {
        Self { scalar: Scalar::Bool, bits: value as u64 }
    }

    /// Makes a literal of an integer, wrapped to the type's width. A float type gets the nearest
    /// value; `bool` gets true unless the integer is 0.
    #[inline]
    pub fn int(scalar: Scalar, value: i128) -> Self {
        match scalar {
            Scalar::Bool => Self::bool(value != 0),
            // Rounds once; by way of f64 it would round twice.
            Scalar::F32 => Self::float(scalar, f64::from(value as f32)),
            Scalar::F16 | Scalar::Bf16 => Self::float(scalar, f64::from(value as f32)),
            Scalar::F64 => Self::float(scalar, value as f64),
            _ => Self::from_bits(scalar, value as u64),
        }
    }

    /// Makes a literal of a float, rounded to the type (to f16 and bf16 by way of f32, as NVIDIA
    /// Warp does). Integer types truncate and saturate; `bool` gets true unless the float is 0.
    pub fn float(scalar: Scalar, value: f64) -> Self {
        let bits = match scalar {
            Scalar::F64 => value.to_bits(),
            Scalar::F32 => u64::from((value as f32).to_bits()),
            Scalar::F16 => u64::from(half::f16_from_f32(value as f32)),
            Scalar::Bf16 => u64::from(half::bf16_from_f32(value as f32)),
            Scalar::Bool => u64::from(value != 0.0),
            Scalar::I8 => value as i8 as u64,
            Scalar::I16 => value as i16 as u64,
            Scalar::I32 => value as i32 as u64,
            Scalar::I64 => value as i64 as u64,
            Scalar::U8 => value as u8 as u64,
            Scalar::U16 => value as u16 as u64,
            Scalar::U32 => value as u32 as u64,
            Scalar::U64 => value as u64,
        };
        Self::from_bits(scalar, bits)
    }

    /// Returns the type.
    pub const fn scalar(self) -> Scalar {
        self.scalar
    }

    /// Returns the bits, zero-extended.
    pub const fn bits(self) -> u64 {
        self.bits
    }

    /// Returns the value of an integer or `bool`; `None` for floats.
    #[inline]
    pub fn as_int(self) -> Option<i128> {
        if self.scalar.is_float() {
            return None;
        }
        if !self.scalar.is_signed_int() {
            return Some(i128::from(self.bits));
        }
        let unused = 64 - self.scalar.bits();
        Some(i128::from(((self.bits << unused) as i64) >> unused))
    }

    /// Returns the value as f64, which is exact for all types but 64-bit integers.
    #[inline]
    pub fn as_f64(self) -> f64 {
        match self.scalar {
            Scalar::F64 => f64::from_bits(self.bits),
            Scalar::F32 => f64::from(f32::from_bits(self.bits as u32)),
            Scalar::F16 => f64::from(half::f32_from_f16(self.bits as u16)),
            Scalar::Bf16 => f64::from(half::f32_from_bf16(self.bits as u16)),
            _ => self.as_int().unwrap_or_default() as f64,
        }
    }
}

impl Literal {
    /// Writes the text of [`fmt::Display`] directly, because texts have thousands of literals.
    pub(super) fn put(self, f: &mut impl fmt::Write) -> fmt::Result {
        let name = self.scalar.name();
        match self.scalar {
            Scalar::Bool => f.write_str(if self.bits != 0 { "true" } else { "false" }),
            Scalar::F32 if !f32::from_bits(self.bits as u32).is_nan() => {
                write!(f, "{:?}{name}", f32::from_bits(self.bits as u32))
            }
            scalar if scalar.is_float() && !self.as_f64().is_nan() => {
                write!(f, "{:?}{name}", self.as_f64())
            }
            scalar if scalar.is_float() => {
                if self == Self::float(scalar, f64::NAN) {
                    write!(f, "nan{name}")
                } else {
                    write!(f, "nan:{:x}{name}", self.bits)
                }
            }
            _ => {
                f.write_str(itoa::Buffer::new().format(self.as_int().unwrap_or_default()))?;
                f.write_str(name)
            }
        }
    }
}

impl fmt::Display for Literal {
    /// Writes `true`, `-3i32`, `0.1f32`, `inff64`, `nanf32`; a NaN with other bits shows its bits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.put(f)
    }
}

impl fmt::Debug for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A table that never changes, such as a `const` array of the Rust subset.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Table {
    /// Name in the source.
    pub name: String,
    /// Type: anything storable without array handles.
    pub ty: Type,
    /// Memory image, little-endian, laid out as `Types::layout` says; padding is 0.
    pub bytes: Box<[u8]>,
    /// Place of the definition.
    pub span: Span,
}

/// A table of a module.
pub type TableId = Handle<Table>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_wrap_and_come_back_signed() {
        assert_eq!(Literal::int(Scalar::I8, 255).as_int(), Some(-1));
        assert_eq!(Literal::int(Scalar::U8, -1).as_int(), Some(255));
        assert_eq!(
            Literal::int(Scalar::I64, i128::from(i64::MIN)).to_string(),
            format!("{}i64", i64::MIN)
        );
    }

    #[test]
    fn floats_round_to_their_width() {
        assert_eq!(Literal::float(Scalar::F16, 65520.0).as_f64(), f64::INFINITY);
        assert_eq!(Literal::float(Scalar::F16, 1.0 / 3.0).bits(), 0x3555);
        assert_eq!(Literal::float(Scalar::Bf16, 1.0 / 3.0).bits(), 0x3eab);
        assert_eq!(Literal::float(Scalar::F32, 0.1).to_string(), "0.1f32");
        assert_eq!(Literal::float(Scalar::F64, f64::NAN).to_string(), "nanf64");
        assert_eq!(Literal::float(Scalar::U8, 300.7).as_int(), Some(255));
    }
}
