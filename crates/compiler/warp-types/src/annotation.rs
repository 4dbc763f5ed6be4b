//! Types as the dialect writes them, before a module has interned them: they may be generic.

use crate::indexed_array;
use gbxcule_ir::builtin::Domain;
use gbxcule_ir::diagnostic::Code;
use gbxcule_ir::ty::{Field, Scalar, Shape, Struct, Type, Types};
use gbxcule_python_names::ScopeId;
use gbxcule_python_values::FrameId;
use std::rc::Rc;

/// A `@wp.struct`: the scope of its class, and the call of the function that makes the class.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct StructKey {
    /// Scope of the class.
    pub class: ScopeId,
    /// Call of the function that makes the class.
    pub frame: FrameId,
}

/// A type, or a pattern of types.
#[derive(Clone, PartialEq, Debug)]
pub enum Annotation {
    /// `Any`
    Any,
    /// Any scalar of a family: `wp.Float`, `wp.Int`, `wp.Scalar`.
    Family(Domain),
    /// `wp.float32`
    Scalar(Scalar),
    /// A vector; `None` stands for any length.
    Vector(Option<u16>, Rc<Annotation>),
    /// `wp.mat33`; `None` stands for any number of rows or columns.
    Matrix(Option<u16>, Option<u16>, Rc<Annotation>),
    /// `wp.quat`
    Quaternion(Rc<Annotation>),
    /// `wp.transform`
    Transform(Rc<Annotation>),
    /// `wp.array(dtype, ndim)`
    Array(Rc<Annotation>, u8),
    /// `wp.indexedarray(dtype, ndim)`
    Indexed(Rc<Annotation>, u8),
    /// `wp.fixedarray(shape, dtype)`
    Fixed(Rc<Annotation>, Rc<[u32]>),
    /// `wp.tile[dtype, M, N]`; `None` stands for any shape.
    Tile(Rc<Annotation>, Option<Rc<[u32]>>),
    /// A `@wp.struct`.
    Struct(StructKey),
    /// `tuple[..]`; `None` stands for any parts.
    Tuple(Option<Rc<[Annotation]>>),
    /// `wp.ref[..]`
    Reference(Rc<Annotation>),
    /// The library's type.
    Handle,
    /// A function passed as an argument.
    Callable,
    /// A feature of Warp that this compiler lacks: its code and its name.
    Unsupported(Code, &'static str),
}

impl Annotation {
    /// A scalar type as a part of another type.
    pub fn scalar(scalar: Scalar) -> Rc<Self> {
        Rc::new(Self::Scalar(scalar))
    }

    /// Returns true if the annotation stands for more than one type.
    pub fn is_generic(&self) -> bool {
        match self {
            Self::Any | Self::Family(_) | Self::Callable | Self::Tuple(None) => true,
            Self::Vector(len, of) => len.is_none() || of.is_generic(),
            Self::Matrix(rows, cols, of) => rows.is_none() || cols.is_none() || of.is_generic(),
            Self::Quaternion(of) | Self::Transform(of) => of.is_generic(),
            Self::Array(of, _)
            | Self::Indexed(of, _)
            | Self::Reference(of)
            | Self::Fixed(of, _) => of.is_generic(),
            Self::Tile(of, extents) => extents.is_none() || of.is_generic(),
            Self::Tuple(Some(of)) => of.iter().any(Self::is_generic),
            Self::Scalar(_) | Self::Struct(_) | Self::Handle | Self::Unsupported(..) => false,
        }
    }

    /// Returns the missing feature that the annotation names, if it names one.
    pub fn unsupported(&self) -> Option<(Code, &'static str)> {
        match self {
            Self::Unsupported(code, what) => Some((*code, *what)),
            Self::Array(of, _)
            | Self::Indexed(of, _)
            | Self::Reference(of)
            | Self::Fixed(of, _) => of.unsupported(),
            _ => None,
        }
    }

    /// Returns true if the annotation stands for a type. `structs` gives the type of a struct.
    pub fn takes(
        &self,
        ty: Type,
        types: &Types,
        structs: &dyn Fn(StructKey) -> Option<Type>,
    ) -> bool {
        let scalar = |of: &Self, found: Scalar| match of {
            Self::Any => true,
            Self::Family(domain) => domain.contains(found),
            Self::Scalar(wanted) => *wanted == found,
            _ => false,
        };
        match (self, &types[ty]) {
            (Self::Any, _) => true,
            (Self::Family(_) | Self::Scalar(_), &Shape::Scalar(found)) => scalar(self, found),
            (Self::Vector(len, of), Shape::Vector { len: l, of: found }) => {
                len.is_none_or(|len| len == *l) && scalar(of, *found)
            }
            (Self::Matrix(rows, cols, of), Shape::Matrix { rows: r, cols: c, of: found }) => {
                rows.is_none_or(|rows| rows == *r)
                    && cols.is_none_or(|cols| cols == *c)
                    && scalar(of, *found)
            }
            (Self::Quaternion(of), Shape::Quaternion(found))
            | (Self::Transform(of), Shape::Transform(found)) => scalar(of, *found),
            // No overload takes a quaternion for a vector of four, or a vector for a quaternion.
            (Self::Array(of, dims), &Shape::Array { of: found, dims: d }) => {
                *dims == d && of.takes(found, types, structs)
            }
            (Self::Array(of, dims), Shape::Fixed { .. }) => {
                fixed_element(ty, *dims, types).is_some_and(|found| of.takes(found, types, structs))
            }
            (Self::Fixed(of, extents), Shape::Fixed { .. }) => {
                let mut inner = ty;
                for extent in extents.iter() {
                    match types[inner] {
                        Shape::Fixed { of, len } if len == *extent => inner = of,
                        _ => return false,
                    }
                }
                of.takes(inner, types, structs)
            }
            (Self::Indexed(of, dims), Shape::Struct(_)) => indexed_array::element(types, ty)
                .is_some_and(|(found, d)| *dims == d && of.takes(found, types, structs)),
            (Self::Struct(class), Shape::Struct(_)) => structs(*class) == Some(ty),
            (Self::Tuple(None), Shape::Tuple(_)) => true,
            (Self::Tuple(Some(of)), Shape::Tuple(found)) => {
                // A result with tuples in it is one flat tuple.
                let of: Vec<&Self> = of.iter().flat_map(Self::flat).collect();
                of.len() == found.len()
                    && of.iter().zip(found.iter()).all(|(of, &ty)| of.takes(ty, types, structs))
            }
            (Self::Reference(of), _) => of.takes(ty, types, structs),
            _ => false,
        }
    }

    /// Returns the parts of a tuple and of the tuples in it, or the annotation itself.
    fn flat(&self) -> Vec<&Self> {
        match self {
            Self::Tuple(Some(of)) => of.iter().flat_map(Self::flat).collect(),
            one => vec![one],
        }
    }

    /// Returns true if the annotation stands for tiles of these elements and extents.
    pub fn takes_tile(
        &self,
        of: Type,
        extents: &[u32],
        types: &Types,
        structs: &dyn Fn(StructKey) -> Option<Type>,
    ) -> bool {
        match self {
            Self::Any => true,
            Self::Tile(wanted, shape) => {
                wanted.takes(of, types, structs)
                    && shape.as_ref().is_none_or(|shape| **shape == *extents)
            }
            _ => false,
        }
    }

    /// Returns true if the annotation stands for the type of another annotation.
    pub(crate) fn admits(&self, of: &Self) -> bool {
        match (self, of) {
            (Self::Any, _) => true,
            (Self::Family(domain), Self::Scalar(scalar)) => domain.contains(*scalar),
            (Self::Vector(len, inner), Self::Vector(found, of)) => {
                (len.is_none() || len == found) && inner.admits(of)
            }
            (Self::Matrix(rows, cols, inner), Self::Matrix(r, c, of)) => {
                (rows.is_none() || rows == r) && (cols.is_none() || cols == c) && inner.admits(of)
            }
            (Self::Quaternion(inner), Self::Quaternion(of))
            | (Self::Transform(inner), Self::Transform(of)) => inner.admits(of),
            (Self::Indexed(inner, dims), Self::Indexed(of, found))
            | (Self::Array(inner, dims), Self::Array(of, found)) => {
                dims == found && inner.admits(of)
            }
            (Self::Fixed(inner, extents), Self::Fixed(of, found)) => {
                extents == found && inner.admits(of)
            }
            (one, other) => one == other,
        }
    }

    /// Returns true if the annotation contains `Any`.
    pub fn has_any(&self) -> bool {
        match self {
            Self::Any => true,
            Self::Array(of, _)
            | Self::Indexed(of, _)
            | Self::Reference(of)
            | Self::Fixed(of, _) => of.has_any(),
            _ => false,
        }
    }

    /// Types to try for `Any`, in this order, where the text doesn't tell the type.
    pub fn trials() -> [Self; 4] {
        let of = || Self::scalar(Scalar::F32);
        [
            Self::Scalar(Scalar::F32),
            Self::Vector(Some(3), of()),
            Self::Matrix(Some(3), Some(3), of()),
            Self::Array(of(), 1),
        ]
    }

    /// Replaces `Any` by `any`, a family by `f32` (or `i32` where only integers fit) and an open
    /// length by 3.
    pub fn chosen(&self, any: &Self) -> Self {
        let inner = |of: &Rc<Self>| Rc::new(of.chosen(any));
        match self {
            Self::Any => any.clone(),
            Self::Family(Domain::Float | Domain::Number | Domain::Any | Domain::F32) => {
                Self::Scalar(Scalar::F32)
            }
            Self::Family(_) => Self::Scalar(Scalar::I32),
            Self::Vector(len, of) => Self::Vector(Some(len.unwrap_or(3)), inner(of)),
            Self::Matrix(rows, cols, of) => {
                let side = rows.or(*cols).unwrap_or(3);
                Self::Matrix(Some(rows.unwrap_or(side)), Some(cols.unwrap_or(side)), inner(of))
            }
            Self::Quaternion(of) => Self::Quaternion(inner(of)),
            Self::Transform(of) => Self::Transform(inner(of)),
            Self::Array(of, dims) => Self::Array(inner(of), *dims),
            Self::Indexed(of, dims) => Self::Indexed(inner(of), *dims),
            Self::Reference(of) => Self::Reference(inner(of)),
            Self::Fixed(of, extents) => Self::Fixed(inner(of), extents.clone()),
            Self::Tuple(Some(of)) => {
                Self::Tuple(Some(of.iter().map(|of| of.chosen(any)).collect()))
            }
            other => other.clone(),
        }
    }

    /// Returns the one type that the annotation stands for; `None` if it is generic or unsupported.
    pub fn intern(
        &self,
        types: &mut Types,
        structs: &mut dyn FnMut(StructKey, &mut Types) -> Option<Type>,
    ) -> Option<Type> {
        let scalar = |of: &Self| match of {
            Self::Scalar(scalar) => Some(*scalar),
            _ => None,
        };
        Some(match self {
            Self::Scalar(scalar) => Type::scalar(*scalar),
            Self::Vector(len, of) => types.vector((*len)?, scalar(of)?),
            Self::Matrix(rows, cols, of) => types.matrix((*rows)?, (*cols)?, scalar(of)?),
            Self::Quaternion(of) => types.quaternion(scalar(of)?),
            Self::Transform(of) => types.transform(scalar(of)?),
            Self::Array(of, dims) => {
                let of = of.intern(types, structs)?;
                types.array(of, *dims)
            }
            Self::Indexed(of, dims) => {
                let of = of.intern(types, structs)?;
                indexed_array::interned(types, of, *dims)
            }
            Self::Fixed(of, extents) => {
                let mut ty = of.intern(types, structs)?;
                for &extent in extents.iter().rev() {
                    ty = types.fixed(ty, extent);
                }
                ty
            }
            Self::Struct(class) => structs(*class, types)?,
            Self::Tuple(Some(of)) => {
                let mut parts = Vec::with_capacity(of.len());
                for of in of.iter() {
                    parts.push(of.intern(types, structs)?);
                }
                types.tuple(&parts)
            }
            Self::Reference(of) => of.intern(types, structs)?,
            _ => return None,
        })
    }

    /// The annotation of an interned type; `None` for structs, which need their class.
    pub fn of_type(ty: Type, types: &Types) -> Option<Self> {
        Some(match types[ty] {
            Shape::Scalar(of) => Self::Scalar(of),
            Shape::Vector { len, of } => Self::Vector(Some(len), Self::scalar(of)),
            Shape::Matrix { rows, cols, of } => {
                Self::Matrix(Some(rows), Some(cols), Self::scalar(of))
            }
            Shape::Quaternion(of) => Self::Quaternion(Self::scalar(of)),
            Shape::Transform(of) => Self::Transform(Self::scalar(of)),
            Shape::Array { of, dims } => Self::Array(Rc::new(Self::of_type(of, types)?), dims),
            Shape::Struct(_) => {
                let (of, dims) = indexed_array::element(types, ty)?;
                Self::Indexed(Rc::new(Self::of_type(of, types)?), dims)
            }
            _ => return None,
        })
    }
}

/// The element of a fixed array of `dims` dimensions.
pub(crate) fn fixed_element(ty: Type, dims: u8, types: &Types) -> Option<Type> {
    let mut inner = ty;
    for _ in 0..dims {
        match types[inner] {
            Shape::Fixed { of, .. } => inner = of,
            _ => return None,
        }
    }
    (!matches!(types[inner], Shape::Fixed { .. })).then_some(inner)
}

/// A struct's definition from its parts.
pub fn structure(name: &str, fields: Vec<Field>, span: gbxcule_ir::source::Span) -> Struct {
    Struct { name: name.to_owned(), fields, span }
}
