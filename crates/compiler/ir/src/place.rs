//! Places, in which values are stored: a root and a path of projections from it.
//!
//! Indices on the path are values, so a place names the same memory wherever it is used after them;
//! one place may serve both a load and a store.

use super::arena::{Handle, List};
use super::constant::TableId;
use super::function::LocalId;
use super::op::Value;
use super::ty::Type;

/// A place of a function body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// Root of the path.
    pub root: Root,
    /// Projections that lead from the root to the part, outermost first.
    pub path: List<Projection>,
    /// Type of the value that the place holds.
    pub ty: Type,
}

/// Names a place of the same body.
pub type PlaceId = Handle<Place>;

/// Root of a place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Root {
    /// A variable of the function.
    Local(LocalId),
    /// A parameter by its position. Writable only if its mode is `Mutable`.
    Param(u32),
    /// A constant table. Read only.
    Table(TableId),
    /// An array handle; the path goes on with `Element`.
    Array(Value),
}

/// One step from a place to a part of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Projection {
    /// A struct's field; of a transform, 0 is the translation (a vector) and 1 the rotation (a
    /// quaternion).
    Field(u32),
    /// A component of a vector, matrix (row-major), quaternion or transform.
    Component(u32),
    /// A component of a vector, quaternion or transform, a row of a matrix (a vector), an element
    /// of a fixed array.
    At(Value),
    /// Step through an array handle to one of its elements: one index for each dimension.
    Element(List<Value>),
}
