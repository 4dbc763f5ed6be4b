//! Types, interned: a [`Type`] is a small handle, and equal types have equal handles.
//!
//! Handles belong to one [`Types`]; scalars and the unit type have the same handles in all of them.

use super::arena::{Arena, Handle};
use super::layout::{self, Layout};
use crate::source::Span;
use rustc_hash::FxHashMap;
use std::fmt;

crate::named! {
    /// A number or a truth value, in the order of the handles. The names are those of printed IR.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
    #[allow(missing_docs, reason = "the names say it")]
    pub enum Scalar {
        Bool = "bool",
        I8 = "i8",
        I16 = "i16",
        I32 = "i32",
        I64 = "i64",
        U8 = "u8",
        U16 = "u16",
        U32 = "u32",
        U64 = "u64",
        F16 = "f16",
        Bf16 = "bf16",
        F32 = "f32",
        F64 = "f64",
    }
}

impl Scalar {
    /// Returns the size and alignment in bytes; a `bool` takes one.
    pub const fn bytes(self) -> u32 {
        match self {
            Self::Bool | Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 | Self::F16 | Self::Bf16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    /// Returns the width in bits; a `bool` has one.
    pub const fn bits(self) -> u32 {
        if matches!(self, Self::Bool) { 1 } else { self.bytes() * 8 }
    }

    /// Returns true for `f16`, `bf16`, `f32`, `f64`.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::Bf16 | Self::F32 | Self::F64)
    }

    /// Returns true for the eight integer types, without `bool`.
    pub const fn is_int(self) -> bool {
        !self.is_float() && !matches!(self, Self::Bool)
    }

    /// Returns true for `i8` .. `i64`.
    pub const fn is_signed_int(self) -> bool {
        matches!(self, Self::I8 | Self::I16 | Self::I32 | Self::I64)
    }

    /// Returns true for `u8` .. `u64`.
    pub const fn is_unsigned_int(self) -> bool {
        matches!(self, Self::U8 | Self::U16 | Self::U32 | Self::U64)
    }
}

/// Structure of a [`Type`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Shape {
    /// A number or a truth value.
    Scalar(Scalar),
    /// `len` scalars.
    Vector {
        /// Number of components, at least 1.
        len: u16,
        /// Type of a component.
        of: Scalar,
    },
    /// `rows * cols` scalars, row-major.
    Matrix {
        /// Number of rows, at least 1.
        rows: u16,
        /// Number of columns, at least 1.
        cols: u16,
        /// Type of a component.
        of: Scalar,
    },
    /// A quaternion of floats: components x, y, z, w.
    Quaternion(Scalar),
    /// A rigid transformation of floats: translation x, y, z, then rotation x, y, z, w.
    Transform(Scalar),
    /// Named fields.
    Struct(StructId),
    /// A handle to strided memory elsewhere, 1 to 4 dimensions. A copy of the handle shares the
    /// memory.
    Array {
        /// The element type.
        of: Type,
        /// Number of dimensions, 1 to 4.
        dims: u8,
    },
    /// `len` elements in place; a copy has elements of its own. Fixed arrays of fixed arrays nest.
    Fixed {
        /// The element type.
        of: Type,
        /// Number of elements.
        len: u32,
    },
    /// Results of a function; the empty tuple is the result of a function that returns nothing.
    /// Tuples are never stored.
    Tuple(Box<[Type]>),
    /// Type of a wrong operation, with which the builder goes on. `check` refuses it.
    Invalid,
}

/// An interned type.
pub type Type = Handle<Shape>;
/// A struct of a module.
pub type StructId = Handle<Struct>;

#[allow(missing_docs, reason = "the names say it")]
impl Handle<Shape> {
    pub const BOOL: Self = Self::scalar(Scalar::Bool);
    pub const I8: Self = Self::scalar(Scalar::I8);
    pub const I16: Self = Self::scalar(Scalar::I16);
    pub const I32: Self = Self::scalar(Scalar::I32);
    pub const I64: Self = Self::scalar(Scalar::I64);
    pub const U8: Self = Self::scalar(Scalar::U8);
    pub const U16: Self = Self::scalar(Scalar::U16);
    pub const U32: Self = Self::scalar(Scalar::U32);
    pub const U64: Self = Self::scalar(Scalar::U64);
    pub const F16: Self = Self::scalar(Scalar::F16);
    pub const BF16: Self = Self::scalar(Scalar::Bf16);
    pub const F32: Self = Self::scalar(Scalar::F32);
    pub const F64: Self = Self::scalar(Scalar::F64);
    pub const UNIT: Self = Self::from_index(Scalar::ALL.len());
    pub const INVALID: Self = Self::from_index(Scalar::ALL.len() + 1);

    /// Returns the handle of a scalar type, which is the same in every module.
    pub const fn scalar(scalar: Scalar) -> Self {
        Self::from_index(scalar as usize)
    }

    /// Returns the scalar that this type is, if it is one.
    pub fn as_scalar(self) -> Option<Scalar> {
        Scalar::ALL.get(self.index()).copied()
    }
}

/// A struct definition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Struct {
    /// Name in the source.
    pub name: String,
    /// Fields, in the order in which they lie in memory.
    pub fields: Vec<Field>,
    /// Place of the definition.
    pub span: Span,
}

/// A field of a struct.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Field {
    /// Name in the source.
    pub name: String,
    /// Type.
    pub ty: Type,
    /// Place of the definition.
    pub span: Span,
}

/// All types and structs of a module, each interned once.
#[derive(Clone, Debug)]
pub struct Types {
    shapes: Arena<Shape>,
    facts: Vec<Facts>,
    index: FxHashMap<Shape, Type>,
    structs: Arena<Struct>,
}

/// Facts about a type that are asked often, computed once when the type is interned: types nest,
/// and a walk down the tree for each question could take exponential time.
#[derive(Clone, Copy, Debug)]
struct Facts {
    layout: Option<Layout>,
    holds_array: bool,
}

impl Default for Types {
    fn default() -> Self {
        let mut types = Self {
            shapes: Arena::default(),
            facts: Vec::new(),
            index: FxHashMap::default(),
            structs: Arena::default(),
        };
        for scalar in Scalar::ALL {
            types.intern(Shape::Scalar(scalar));
        }
        types.intern(Shape::Tuple(Box::new([])));
        types.intern(Shape::Invalid);
        types
    }
}

impl Types {
    /// Returns the handle of a type, which is added if it is new.
    pub fn intern(&mut self, shape: Shape) -> Type {
        if let Some(&ty) = self.index.get(&shape) {
            return ty;
        }
        let holds_array = match &shape {
            Shape::Array { .. } => true,
            Shape::Fixed { of, .. } => self.holds_array(*of),
            Shape::Struct(id) => self.structs[*id].fields.iter().any(|f| self.holds_array(f.ty)),
            Shape::Tuple(of) => of.iter().any(|&ty| self.holds_array(ty)),
            _ => false,
        };
        self.facts.push(Facts { layout: layout::of_shape(self, &shape), holds_array });
        let ty = self.shapes.push(shape.clone());
        self.index.insert(shape, ty);
        ty
    }

    /// Returns the handle of a type, if it was interned before.
    pub fn find(&self, shape: &Shape) -> Option<Type> {
        self.index.get(shape).copied()
    }

    /// Returns the type `vec<len, of>`.
    pub fn vector(&mut self, len: u16, of: Scalar) -> Type {
        self.intern(Shape::Vector { len, of })
    }

    /// Returns the type `mat<rows, cols, of>`.
    pub fn matrix(&mut self, rows: u16, cols: u16, of: Scalar) -> Type {
        self.intern(Shape::Matrix { rows, cols, of })
    }

    /// Returns the type `quat<of>`.
    pub fn quaternion(&mut self, of: Scalar) -> Type {
        self.intern(Shape::Quaternion(of))
    }

    /// Returns the type `transform<of>`.
    pub fn transform(&mut self, of: Scalar) -> Type {
        self.intern(Shape::Transform(of))
    }

    /// Returns the type `array<of, dims>`.
    pub fn array(&mut self, of: Type, dims: u8) -> Type {
        self.intern(Shape::Array { of, dims })
    }

    /// Returns the type `[of; len]`.
    pub fn fixed(&mut self, of: Type, len: u32) -> Type {
        self.intern(Shape::Fixed { of, len })
    }

    /// Returns the type `(a, b, ..)`; without elements that is [`Type::UNIT`].
    pub fn tuple(&mut self, of: &[Type]) -> Type {
        self.intern(Shape::Tuple(of.into()))
    }

    /// Defines a struct. Two definitions are two types, even if their names are equal.
    pub fn define_struct(&mut self, definition: Struct) -> Type {
        let id = self.structs.push(definition);
        self.intern(Shape::Struct(id))
    }

    /// Returns a struct's definition.
    pub fn structure(&self, id: StructId) -> &Struct {
        &self.structs[id]
    }

    /// Returns all structs.
    pub fn structs(&self) -> &Arena<Struct> {
        &self.structs
    }

    /// Returns all types.
    pub fn shapes(&self) -> &Arena<Shape> {
        &self.shapes
    }

    /// Returns size and alignment; `None` for types that can't be stored: tuples and the invalid
    /// type.
    pub fn layout(&self, ty: Type) -> Option<Layout> {
        self.facts.get(ty.index()).and_then(|facts| facts.layout)
    }

    /// Returns true if the type is an array handle, or contains one in place.
    pub fn holds_array(&self, ty: Type) -> bool {
        self.facts.get(ty.index()).is_some_and(|facts| facts.holds_array)
    }

    /// Returns true if a type has floats in place, which gradients differentiate.
    pub fn has_float(&self, ty: Type) -> bool {
        match &self[ty] {
            Shape::Array { .. } | Shape::Invalid => false,
            Shape::Struct(id) => self.structure(*id).fields.iter().any(|f| self.has_float(f.ty)),
            Shape::Fixed { of, .. } => self.has_float(*of),
            Shape::Tuple(of) => of.iter().any(|&ty| self.has_float(ty)),
            _ => self.components(ty).is_some_and(|(of, _)| of.is_float()),
        }
    }

    /// Returns the scalar type of the components and their number: a scalar has one, a vector
    /// `len`, a matrix `rows * cols`, a quaternion 4, a transform 7; `None` for all other types.
    pub fn components(&self, ty: Type) -> Option<(Scalar, u32)> {
        Some(match self[ty] {
            Shape::Scalar(scalar) => (scalar, 1),
            Shape::Vector { len, of } => (of, u32::from(len)),
            Shape::Matrix { rows, cols, of } => (of, u32::from(rows) * u32::from(cols)),
            Shape::Quaternion(of) => (of, 4),
            Shape::Transform(of) => (of, 7),
            _ => return None,
        })
    }

    /// Returns the type with another scalar type: `vec<3, f32>` with `bool` is `vec<3, bool>`.
    pub fn with_scalar(&mut self, ty: Type, scalar: Scalar) -> Option<Type> {
        Some(match self[ty] {
            Shape::Scalar(_) => Type::scalar(scalar),
            Shape::Vector { len, .. } => self.vector(len, scalar),
            Shape::Matrix { rows, cols, .. } => self.matrix(rows, cols, scalar),
            Shape::Quaternion(_) => self.quaternion(scalar),
            Shape::Transform(_) => self.transform(scalar),
            _ => return None,
        })
    }

    /// Returns the type in the form that the printer and messages of `check` write.
    pub fn display(&self, ty: Type) -> TypeName<'_> {
        TypeName { types: self, ty }
    }
}

impl std::ops::Index<Type> for Types {
    type Output = Shape;

    fn index(&self, ty: Type) -> &Shape {
        self.shapes.get(ty).unwrap_or(&Shape::Invalid)
    }
}

/// Writes a type; see [`Types::display`].
#[derive(Clone, Copy)]
pub struct TypeName<'a> {
    types: &'a Types,
    ty: Type,
}

impl TypeName<'_> {
    /// Writes the text of [`fmt::Display`] directly, because texts have thousands of types.
    pub(super) fn put(self, f: &mut impl fmt::Write) -> fmt::Result {
        let name = |ty| self.types.display(ty);
        let number = |number: u32| itoa::Buffer::new().format(number).to_owned();
        let mut all = |parts: &[&str]| parts.iter().try_for_each(|part| f.write_str(part));
        match self.types.shapes.get(self.ty) {
            Some(Shape::Scalar(scalar)) => f.write_str(scalar.name()),
            Some(Shape::Vector { len, of }) => {
                all(&["vec<", &number(u32::from(*len)), ", ", of.name(), ">"])
            }
            Some(Shape::Matrix { rows, cols, of }) => {
                let [rows, cols] = [*rows, *cols].map(|extent| number(u32::from(extent)));
                all(&["mat<", &rows, ", ", &cols, ", ", of.name(), ">"])
            }
            Some(Shape::Quaternion(of)) => all(&["quat<", of.name(), ">"]),
            Some(Shape::Transform(of)) => all(&["transform<", of.name(), ">"]),
            Some(Shape::Struct(id)) => f.write_str(&self.types.structs[*id].name),
            Some(Shape::Array { of, dims }) => {
                f.write_str("array<")?;
                name(*of).put(f)?;
                f.write_str(", ")?;
                f.write_str(&number(u32::from(*dims)))?;
                f.write_str(">")
            }
            Some(Shape::Fixed { of, len }) => {
                f.write_str("[")?;
                name(*of).put(f)?;
                f.write_str("; ")?;
                f.write_str(&number(*len))?;
                f.write_str("]")
            }
            Some(Shape::Tuple(of)) => {
                f.write_str("(")?;
                for (position, &ty) in of.iter().enumerate() {
                    f.write_str(if position == 0 { "" } else { ", " })?;
                    name(ty).put(f)?;
                }
                f.write_str(")")
            }
            Some(Shape::Invalid) | None => f.write_str("invalid"),
        }
    }
}

impl fmt::Display for TypeName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.put(f)
    }
}
