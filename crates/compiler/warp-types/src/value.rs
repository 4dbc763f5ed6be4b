//! Values of Warp's dialect that are known without running Python.

use crate::annotation::Annotation;
use gbxcule_ir::constant::Literal;
use gbxcule_python_names::ScopeId;
use gbxcule_python_values::{DialectValue, FrameId};
use std::rc::Rc;

/// A value known without running Python.
pub type KnownValue<'a> = gbxcule_python_values::KnownValue<'a, WarpValue<'a>>;

/// A value of Warp.
#[derive(Clone, PartialEq, Debug)]
pub enum WarpValue<'a> {
    /// A type.
    Type(Annotation),
    /// `wp.vec3(1.0, 2.0, 3.0)`: its type and its components.
    Composite(Annotation, Rc<[Literal]>),
    /// Functions that kernels call.
    Function(OverloadSet<'a>),
    /// `wp.grad(f)`: the derivative of a function of the text or of the dialect.
    Gradient(Rc<KnownValue<'a>>),
    /// A value of the library's type, by the first parameter that stands for the value.
    Handle(u32),
}

impl<'a> From<WarpValue<'a>> for KnownValue<'a> {
    fn from(value: WarpValue<'a>) -> Self {
        Self::Dialect(value)
    }
}

/// A type as a value.
pub(crate) fn type_value<'a>(ty: Annotation) -> KnownValue<'a> {
    KnownValue::Dialect(WarpValue::Type(ty))
}

impl DialectValue for WarpValue<'_> {
    fn truth(&self) -> Option<bool> {
        matches!(self, Self::Type(_) | Self::Function(_) | Self::Gradient(_)).then_some(true)
    }

    fn part_count(&self) -> Option<usize> {
        match self {
            Self::Composite(Annotation::Matrix(rows, ..), _) => rows.map(usize::from),
            Self::Composite(_, parts) => Some(parts.len()),
            _ => None,
        }
    }

    fn equals(&self, other: &Self) -> Option<bool> {
        match (self, other) {
            // A second name of a function may stand for fewer of its overloads.
            (Self::Function(one), Self::Function(other))
                if one != other
                    && (one.home, one.name, one.frame) == (other.home, other.name, other.frame) =>
            {
                None
            }
            (one, other) => Some(one == other),
        }
    }

    fn defined_before(self, place: u32, scope: ScopeId) -> Self {
        match self {
            Self::Function(set) if set.home == scope && set.before.is_none() => {
                Self::Function(OverloadSet { before: Some(place), ..set })
            }
            other => other,
        }
    }

    fn is_own(path: &str) -> bool {
        path.starts_with("warp.")
    }
}

/// The `@wp.func` of one name in a scope.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct OverloadSet<'a> {
    /// Scope that defines the functions.
    pub home: ScopeId,
    /// Name of the functions.
    pub name: &'a str,
    /// Call of the Python function that defined the functions.
    pub frame: FrameId,
    /// Byte of the text before which an overload must be defined to belong to the set. A second
    /// name of functions keeps its meaning when the first name is defined anew.
    pub before: Option<u32>,
}

impl<'a> OverloadSet<'a> {
    /// All functions of a name.
    pub fn all(home: ScopeId, name: &'a str, frame: FrameId) -> Self {
        Self { home, name, frame, before: None }
    }
}
