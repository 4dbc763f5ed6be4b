//! Patterns of types in signatures, and the match of arguments against them.
//!
//! A signature has one scalar variable `T`, one variable `A` for a whole type, and the dimensions
//! `N`, `M`, `K`. The first parameter in which a variable occurs binds it.

use crate::dialect_name;
use crate::ty::{Scalar, Shape, Type, Types};
use std::fmt;

/// Set of scalar types that the scalar variable may stand for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Domain {
    /// `f16`, `bf16`, `f32`, `f64`.
    Float,
    /// The eight integer types.
    Int,
    /// Integers and floats.
    Number,
    /// Integers, floats and `bool`.
    Any,
    /// `f32` only.
    F32,
    /// `bool` only.
    Bool,
}

impl Domain {
    /// Returns true if the variable may stand for this scalar.
    pub const fn contains(self, scalar: Scalar) -> bool {
        match self {
            Self::Float => scalar.is_float(),
            Self::Int => scalar.is_int(),
            Self::Number => !matches!(scalar, Scalar::Bool),
            Self::Any => true,
            Self::F32 => matches!(scalar, Scalar::F32),
            Self::Bool => matches!(scalar, Scalar::Bool),
        }
    }
}

/// A dimension: a variable or a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dim {
    /// First variable.
    N,
    /// Second variable.
    M,
    /// Third variable.
    K,
    /// Exactly this length.
    Is(u16),
}

/// A type with variables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pattern {
    /// The scalar variable.
    T,
    /// One scalar type.
    Is(Scalar),
    /// Any storable type: the type variable.
    A,
    /// A vector of `T`.
    Vector(Dim),
    /// A vector of one scalar type.
    VectorOf(Dim, Scalar),
    /// A matrix of `T`.
    Matrix(Dim, Dim),
    /// A quaternion of `T`.
    Quaternion,
    /// A quaternion of one scalar type.
    QuaternionOf(Scalar),
    /// A transform of `T`.
    Transform,
    /// A transform of one scalar type.
    TransformOf(Scalar),
    /// An array of `T` with this number of dimensions.
    Array(u8),
    /// An array of one scalar type with this number of dimensions.
    ArrayOf(u8, Scalar),
    /// An array of any element type, which binds no variable.
    AnyArray,
    /// A place that holds one scalar type, passed by reference.
    Reference(Scalar),
    /// A place that holds any storable type, the type variable, passed by reference.
    ReferenceA,
    /// A place that holds another pattern's type, passed by reference.
    Place(&'static Pattern),
    /// Two results.
    Pair(&'static Pattern, &'static Pattern),
    /// Three results.
    Triple(&'static Pattern, &'static Pattern, &'static Pattern),
    /// No result.
    Unit,
}

impl Pattern {
    /// Returns true if the argument is a place.
    pub const fn is_reference(&self) -> bool {
        matches!(self, Self::Reference(_) | Self::ReferenceA | Self::Place(_))
    }
}

/// Types and lengths to which the variables of patterns are bound.
#[derive(Clone, Copy, Default, Debug)]
pub struct Bindings {
    scalar: Option<Scalar>,
    whole: Option<Type>,
    dims: [Option<u16>; 3],
}

/// Matches argument types against the parameters of a signature.
pub(super) fn bind(
    domain: Domain,
    params: &[Pattern],
    args: &[Type],
    types: &Types,
) -> Option<Bindings> {
    if params.len() != args.len() {
        return None;
    }
    let mut bindings = Bindings::default();
    let fit = params.iter().zip(args).all(|(&param, &arg)| bindings.fit(param, arg, types));
    let in_domain = bindings.scalar.is_none_or(|scalar| domain.contains(scalar));
    (fit && in_domain).then_some(bindings)
}

impl Bindings {
    /// Binds all variables.
    pub const fn new(scalar: Scalar, whole: Type, dims: [u16; 3]) -> Self {
        let [n, m, k] = dims;
        Self { scalar: Some(scalar), whole: Some(whole), dims: [Some(n), Some(m), Some(k)] }
    }

    fn fit(&mut self, pattern: Pattern, ty: Type, types: &Types) -> bool {
        match (pattern, &types[ty]) {
            (Pattern::T, &Shape::Scalar(of)) => self.scalar(of),
            (Pattern::Is(wanted) | Pattern::Reference(wanted), &Shape::Scalar(of)) => wanted == of,
            (Pattern::A | Pattern::ReferenceA, _) => {
                types.layout(ty).is_some() && *self.whole.get_or_insert(ty) == ty
            }
            (Pattern::Vector(dim), &Shape::Vector { len, of }) => {
                self.dim(dim, len) && self.scalar(of)
            }
            (Pattern::VectorOf(dim, wanted), &Shape::Vector { len, of }) => {
                self.dim(dim, len) && wanted == of
            }
            (Pattern::Matrix(r, c), &Shape::Matrix { rows, cols, of }) => {
                self.dim(r, rows) && self.dim(c, cols) && self.scalar(of)
            }
            (Pattern::Quaternion, &Shape::Quaternion(of))
            | (Pattern::Transform, &Shape::Transform(of)) => self.scalar(of),
            (Pattern::QuaternionOf(wanted), &Shape::Quaternion(of))
            | (Pattern::TransformOf(wanted), &Shape::Transform(of)) => wanted == of,
            (Pattern::Place(inner), _) => self.fit(*inner, ty, types),
            (Pattern::Array(wanted), &Shape::Array { of, dims }) => {
                wanted == dims && of.as_scalar().is_some_and(|of| self.scalar(of))
            }
            (Pattern::ArrayOf(wanted, scalar), &Shape::Array { of, dims }) => {
                wanted == dims && of == Type::scalar(scalar)
            }
            (Pattern::AnyArray, Shape::Array { .. }) => true,
            _ => false,
        }
    }

    fn scalar(&mut self, scalar: Scalar) -> bool {
        *self.scalar.get_or_insert(scalar) == scalar
    }

    fn dim(&mut self, dim: Dim, value: u16) -> bool {
        match dim {
            Dim::Is(wanted) => wanted == value,
            variable => *self.dims[variable.index()].get_or_insert(value) == value,
        }
    }

    fn dim_of(&self, dim: Dim) -> Option<u16> {
        match dim {
            Dim::Is(value) => Some(value),
            variable => self.dims[variable.index()],
        }
    }

    /// Returns the type that a pattern stands for; `None` if it stands for many.
    pub fn apply(&self, pattern: Pattern, types: &mut Types) -> Option<Type> {
        Some(match pattern {
            Pattern::T => Type::scalar(self.scalar?),
            Pattern::Is(of) | Pattern::Reference(of) => Type::scalar(of),
            Pattern::A | Pattern::ReferenceA => self.whole?,
            Pattern::Vector(dim) => types.vector(self.dim_of(dim)?, self.scalar?),
            Pattern::VectorOf(dim, of) => types.vector(self.dim_of(dim)?, of),
            Pattern::Matrix(r, c) => types.matrix(self.dim_of(r)?, self.dim_of(c)?, self.scalar?),
            Pattern::Quaternion => types.quaternion(self.scalar?),
            Pattern::Transform => types.transform(self.scalar?),
            Pattern::QuaternionOf(of) => types.quaternion(of),
            Pattern::TransformOf(of) => types.transform(of),
            Pattern::Place(inner) => self.apply(*inner, types)?,
            Pattern::Array(dims) => types.array(Type::scalar(self.scalar?), dims),
            Pattern::ArrayOf(dims, of) => types.array(Type::scalar(of), dims),
            Pattern::AnyArray => return None,
            Pattern::Pair(a, b) => {
                let parts = [self.apply(*a, types)?, self.apply(*b, types)?];
                types.tuple(&parts)
            }
            Pattern::Triple(a, b, c) => {
                let parts =
                    [self.apply(*a, types)?, self.apply(*b, types)?, self.apply(*c, types)?];
                types.tuple(&parts)
            }
            Pattern::Unit => Type::UNIT,
        })
    }
}

impl Dim {
    const fn index(self) -> usize {
        match self {
            Self::N => 0,
            Self::M => 1,
            Self::K | Self::Is(_) => 2,
        }
    }
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::N => f.write_str("n"),
            Self::M => f.write_str("m"),
            Self::K => f.write_str("k"),
            Self::Is(value) => write!(f, "{value}"),
        }
    }
}

impl fmt::Display for Pattern {
    /// Writes the pattern as messages show it, in the words of [`crate::dialect_name`]: `vector(n,
    /// T)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::T => f.write_str("T"),
            Self::Is(of) => f.write_str(of.spelled()),
            Self::A => f.write_str("A"),
            Self::Vector(n) => write!(f, "vector({n}, T)"),
            Self::VectorOf(Dim::Is(n), of) => f.write_str(&dialect_name::vector(*n, *of)),
            Self::VectorOf(n, of) => write!(f, "vector({n}, {})", of.spelled()),
            Self::Matrix(r, c) => write!(f, "matrix(({r}, {c}), T)"),
            Self::Quaternion => f.write_str("quaternion(T)"),
            Self::Transform => f.write_str("transformation(T)"),
            Self::QuaternionOf(of) => f.write_str(&dialect_name::quaternion(*of)),
            Self::TransformOf(of) => f.write_str(&dialect_name::transform(*of)),
            Self::Place(inner) => write!(f, "ref[{inner}]"),
            Self::Array(dims) => f.write_str(&dialect_name::array("T", usize::from(*dims))),
            Self::ArrayOf(dims, of) => {
                f.write_str(&dialect_name::array(of.spelled(), usize::from(*dims)))
            }
            Self::AnyArray => f.write_str("array"),
            Self::Reference(of) => write!(f, "ref[{}]", of.spelled()),
            Self::ReferenceA => f.write_str("ref[A]"),
            Self::Pair(a, b) => write!(f, "tuple[{a}, {b}]"),
            Self::Triple(a, b, c) => write!(f, "tuple[{a}, {b}, {c}]"),
            Self::Unit => f.write_str("no value"),
        }
    }
}
