//! Operands and bindings of the functions that are lowered, and the reasons why lowering ends.

use super::tile::{Tile, TileParam};
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::function::LocalId;
use gbxcule_ir::op::Value;
use gbxcule_ir::source::Span;
use gbxcule_warp_types::value::KnownValue;
use std::rc::Rc;

/// Reason why lowering of a statement ended.
pub(crate) enum LoweringError {
    Fault(Box<Diagnostic>),
    /// The reason was reported elsewhere.
    Reported,
}

impl From<Box<Diagnostic>> for LoweringError {
    fn from(fault: Box<Diagnostic>) -> Self {
        Self::Fault(fault)
    }
}

impl From<Diagnostic> for LoweringError {
    fn from(fault: Diagnostic) -> Self {
        Self::Fault(Box::new(fault))
    }
}

pub(crate) type LoweringResult<T> = Result<T, LoweringError>;

/// A fault at a place.
pub(super) fn fault<T>(code: Code, span: Span, message: impl Into<String>) -> LoweringResult<T> {
    Err(Diagnostic::error(code, span, message).into())
}

/// Result of an expression.
#[derive(Clone, Debug)]
pub(crate) enum Operand<'a> {
    Value(Value),
    KnownValue(KnownValue<'a>),
    Tuple(Rc<[Operand<'a>]>),
    /// `array.shape`
    Extents(Value),
    Tile(Rc<Tile>),
}

impl Operand<'_> {
    /// Result of a call that is used as a statement: no value.
    pub(super) fn nothing() -> Self {
        Self::Tuple(Rc::new([]))
    }
}

impl From<Value> for Operand<'_> {
    fn from(value: Value) -> Self {
        Self::Value(value)
    }
}

impl<'a> From<KnownValue<'a>> for Operand<'a> {
    fn from(known: KnownValue<'a>) -> Self {
        Self::KnownValue(known)
    }
}

impl From<Tile> for Operand<'_> {
    fn from(tile: Tile) -> Self {
        Self::Tile(Rc::new(tile))
    }
}

/// Binding of a name at a point of a function.
#[derive(Clone, Debug)]
pub(crate) enum Binding<'a> {
    Value(Value),
    Local(LocalId),
    /// A parameter, by value or by reference.
    Param(u32),
    /// A value known from the text; it also has a variable if other bindings may join it.
    KnownValue(KnownValue<'a>, Option<LocalId>),
    Tuple(Rc<[Operand<'a>]>),
    /// A parameter that is a tuple; later a `Tuple`.
    Parts(Rc<[Binding<'a>]>),
    Extents(Value),
    Tile(Rc<Tile>),
    /// A parameter that is a tile; later a `Tile`.
    TileParam(TileParam),
    /// The binding was refused.
    Refused,
}
