//! Values that are known without running Python.

use crate::frame::FrameId;
use gbxcule_ir::constant::Literal;
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::Scalar;
use gbxcule_python_names::ScopeId;
use gbxcule_python_names::syntax::StmtFunctionDef;
use std::fmt::Debug;
use std::rc::Rc;

/// Greatest number of parts of a value.
const MAX_PARTS: usize = 1 << 14;

/// Greatest depth of a value's parts.
const MAX_NESTING: usize = 32;

/// A value known without running Python; `F` holds the values of the dialect.
#[derive(Clone, PartialEq, Debug)]
pub enum KnownValue<'a, F> {
    /// `None`
    None,
    /// `True` or `False`
    Bool(bool),
    /// A whole number.
    Int(i128),
    /// A number.
    Float(f64),
    /// A string.
    Text(Rc<str>),
    /// A number of a given type: `wp.uint8(3)`.
    Typed(Literal),
    /// A tuple or list.
    Sequence(Rc<[Self]>),
    /// `{key: value}`
    Dict(Rc<[(Self, Self)]>),
    /// A module without a file beside the text, by its path: `warp`, `math`, `numpy` and others.
    Module(Rc<str>),
    /// A module in a file beside the text, by its number.
    ImportedModule(usize),
    /// A member of a module by its path, mostly a function.
    Member(Rc<str>),
    /// A function that Python runs: its definition, the scope around it, and the call of the
    /// enclosing function that defined it.
    Python(&'a StmtFunctionDef, ScopeId, FrameId),
    /// A class of Python, used as a namespace.
    Class(ScopeId),
    /// A value of the dialect.
    Dialect(F),
}

/// A value of the dialect: a type, a function that kernels call.
pub trait DialectValue: Clone + PartialEq + Debug {
    /// Truth of the value in Python, if the text says it.
    fn truth(&self) -> Option<bool>;

    /// Number of the value's parts, if it has parts.
    fn part_count(&self) -> Option<usize>;

    /// Answer to `==`; `None` if only Python knows it.
    fn equals(&self, other: &Self) -> Option<bool>;

    /// Returns functions of a scope as they are at a place of the scope, without the definitions
    /// behind the place.
    #[must_use]
    fn defined_before(self, place: u32, scope: ScopeId) -> Self;

    /// Returns true if a path belongs to the dialect, so that no text can change its meaning.
    fn is_own(path: &str) -> bool;
}

impl<F: DialectValue> KnownValue<'_, F> {
    /// Truth of the value in Python, if the text says it.
    pub fn truth(&self) -> Option<bool> {
        Some(match self {
            Self::None => false,
            Self::Bool(value) => *value,
            Self::Int(value) => *value != 0,
            Self::Float(value) => *value != 0.0,
            Self::Text(text) => !text.is_empty(),
            Self::Typed(literal) => literal.as_f64() != 0.0,
            Self::Sequence(parts) => !parts.is_empty(),
            Self::Dict(items) => !items.is_empty(),
            Self::Module(_) | Self::ImportedModule(_) | Self::Python(..) | Self::Class(_) => true,
            Self::Member(_) => return None,
            Self::Dialect(value) => return value.truth(),
        })
    }

    /// Returns the value as a number, if it is one.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Bool(value) => Some(f64::from(u8::from(*value))),
            Self::Int(value) => Some(*value as f64),
            Self::Float(value) => Some(*value),
            Self::Typed(literal) => Some(literal.as_f64()),
            _ => None,
        }
    }

    /// Returns the value as a whole number, if it is one.
    pub fn as_int(&self) -> Option<i128> {
        match self {
            Self::Int(value) => Some(*value),
            Self::Bool(value) => Some(i128::from(*value)),
            _ => None,
        }
    }

    /// Converts a number to a scalar type.
    pub fn literal(&self, scalar: Scalar) -> Option<Literal> {
        match self {
            Self::Bool(value) => Some(Literal::int(scalar, i128::from(*value))),
            Self::Int(value) => Some(Literal::int(scalar, *value)),
            Self::Float(value) => Some(Literal::float(scalar, *value)),
            Self::Typed(literal) => Some(match literal.as_int() {
                Some(value) => Literal::int(scalar, value),
                None => Literal::float(scalar, literal.as_f64()),
            }),
            _ => None,
        }
    }

    /// Returns functions as they are at a place of the scope that defines them. A text defines
    /// nothing behind a `return`.
    pub(crate) fn defined_before(self, place: u32, scope: ScopeId) -> Self {
        match self {
            Self::Dialect(value) => Self::Dialect(value.defined_before(place, scope)),
            Self::Sequence(parts) => Self::Sequence(
                parts.iter().map(|it| it.clone().defined_before(place, scope)).collect(),
            ),
            Self::Dict(items) => {
                let item = |(key, value): &(Self, Self)| {
                    (key.clone(), value.clone().defined_before(place, scope))
                };
                Self::Dict(items.iter().map(item).collect())
            }
            other => other,
        }
    }

    /// Returns the value, unless it is too large.
    pub(crate) fn checked(self, span: Span) -> Result<Self, Box<Diagnostic>> {
        if self.fits(&mut MAX_PARTS.clone(), MAX_NESTING) { Ok(self) } else { Err(too_large(span)) }
    }

    fn fits(&self, parts: &mut usize, levels: usize) -> bool {
        match self {
            Self::Sequence(inner) => {
                let room = parts.checked_sub(inner.len()).filter(|_| levels > 0);
                *parts = room.unwrap_or(0);
                room.is_some() && inner.iter().all(|part| part.fits(parts, levels - 1))
            }
            Self::Dict(items) => {
                let room = parts.checked_sub(2 * items.len()).filter(|_| levels > 0);
                *parts = room.unwrap_or(0);
                room.is_some()
                    && items.iter().all(|(key, value)| {
                        key.fits(parts, levels - 1) && value.fits(parts, levels - 1)
                    })
            }
            _ => true,
        }
    }
}

/// Diagnostic for a value that is too large.
pub(crate) fn too_large(span: Span) -> Box<Diagnostic> {
    let message =
        format!("a constant has at most {MAX_PARTS} parts, which nest at most {MAX_NESTING} deep");
    Box::new(Diagnostic::error(Code::TooComplex, span, message))
}
