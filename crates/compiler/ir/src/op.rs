//! Operations: everything that makes a value.
//!
//! The set is closed: an operation that can be a builtin is a row of [`super::builtin`] instead.
//! Each variant names the operands that it takes; `check` enforces this, and [`super`] defines the
//! meaning.

use super::arena::{Handle, List};
use super::builtin::Native;
use super::constant::Literal;
use super::function::{FunctionId, Name};
use super::place::PlaceId;
use super::ty::{Scalar, Type};
use crate::source::Span;

/// A value of a function body: one operation, evaluated once each time its `Let` is reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ValueData {
    /// Operation that makes the value.
    pub op: Op,
    /// Type.
    pub ty: Type,
    /// Name that the user gave it.
    pub name: Option<Name>,
    /// Place in the source.
    pub span: Span,
}

/// Names a value of the same body.
pub type Value = Handle<ValueData>;

/// An operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    /// A scalar constant.
    Literal(Literal),
    /// Zero of any storable type: all bits are 0. An array handle made so is absent and empty.
    Zero,
    /// The index of a `For`: defined by the loop, not by a `Let`.
    Index,
    /// Operator on a scalar, or on each component.
    Unary(UnaryOp, Value),
    /// Operator on two operands of one type, component by component: `Mul` of matrices is not the
    /// product.
    Binary(BinaryOp, Value, Value),
    /// Comparison of two scalars of one type; the result is a `bool`. Two `bool`s can only be
    /// compared by `Equal` and `NotEqual`.
    Compare(CompareOp, Value, Value),
    /// Choice between two values of one type, both evaluated before.
    Select {
        /// A `bool`.
        condition: Value,
        /// The result if it is true.
        accept: Value,
        /// The result if it is false.
        reject: Value,
    },
    /// Conversion to the scalar of the value's type, component by component.
    Convert(Value),
    /// Bits of a value, read as another scalar type of the same size; neither type is `bool`.
    Bitcast(Value),
    /// Value made of all parts in order: components (row-major), fields, elements, results.
    Construct(List<Value>),
    /// A vector, matrix, quaternion or transform with this scalar in every component, or a fixed
    /// array with this value in every element.
    Splat(Value),
    /// One part by its position: a component (row-major), field, element, result.
    Extract {
        /// Value to take the part from.
        from: Value,
        /// Number of the part.
        index: u32,
    },
    /// Reads the value that a place holds now.
    Load(PlaceId),
    /// A native builtin: pure, scalars in, scalar out.
    Native {
        /// The row.
        native: Native,
        /// The operands.
        args: List<Value>,
    },
    /// Call of another function of the module.
    Call {
        /// Function that is called.
        function: FunctionId,
        /// A value for each `PassMode::Value` parameter, a place for the others.
        args: List<Arg>,
    },
    /// Changes array memory in one indivisible step (a component at a time) and gives the old
    /// value.
    Atomic {
        /// Operation that changes the element.
        op: AtomicOp,
        /// Array memory that is changed.
        place: PlaceId,
        /// The operand.
        value: Value,
        /// Value that `CompareExchange` expects to find; `None` for all others.
        expected: Option<Value>,
    },
    /// This thread's coordinate in a dimension of the launch grid, 0 to 3: an `i32`.
    LaunchIndex(u8),
    /// An array handle to part of an array.
    View {
        /// The array.
        array: Value,
        /// One for each leading dimension; further dimensions are kept whole.
        selectors: List<Selector>,
    },
    /// An array handle to a fixed array in place; nested arrays give more dimensions. The handle
    /// must not outlive the place: it may be indexed and passed to calls, but not stored or
    /// returned.
    AsArray(PlaceId),
    /// Elements of an array in one dimension: an `i32`.
    Extent {
        /// The array.
        array: Value,
        /// Number of the dimension, from 0.
        dim: u8,
    },
    /// Asks whether an array has memory: a `bool`.
    Present(Value),
    /// The array of gradients beside an array: same shape and strides; absent if the array has
    /// no gradients.
    Gradient(Value),
    /// The least of a `u32` over the threads that run together: see the semantics in [`super`].
    Lowest(Value),
    /// A `u32`, unchanged, of which compilers of printed text can assume nothing: neither its
    /// origin, nor that it may be computed elsewhere.
    Opaque(Value),
}

/// An argument of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arg {
    /// Passed by value.
    Value(Value),
    /// Passed by reference.
    Place(PlaceId),
}

/// Selection of a view in one dimension.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Selector {
    /// One index of any integer type: the dimension is dropped.
    At(Value),
    /// `len` indices from `start` on, `step` apart, all `i32`: the dimension stays.
    Range {
        /// The first index.
        start: Value,
        /// Number of elements.
        len: Value,
        /// Step from one index to the next; may be negative.
        step: Value,
    },
}

impl Selector {
    /// Returns the operation with its operands replaced by `map`.
    #[must_use]
    pub fn map(self, mut map: impl FnMut(Value) -> Value) -> Self {
        match self {
            Self::At(index) => Self::At(map(index)),
            Self::Range { start, len, step } => {
                Self::Range { start: map(start), len: map(len), step: map(step) }
            }
        }
    }
}

crate::named! {
    /// Operations with one operand. The names of these four enums are those of printed IR.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub enum UnaryOp {
        /// Negation of an integer or float.
        Negate = "neg",
        /// Negation of a `bool`, or of all bits of an integer.
        Not = "not",
    }
}

crate::named! {
    /// Operations whose two operands and result have one type. [`BinaryOp::of`] lists them by
    /// type.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    #[allow(missing_docs, reason = "the names say it")]
    pub enum BinaryOp {
        Add = "add",
        Subtract = "sub",
        Multiply = "mul",
        /// Quotient; an integer quotient is truncated.
        Divide = "div",
        /// Quotient rounded towards minus infinity.
        FloorDivide = "floordiv",
        /// Remainder with the sign of the left operand, as C's `%` and `fmod`.
        Remainder = "rem",
        And = "and",
        Or = "or",
        Xor = "xor",
        ShiftLeft = "shl",
        /// Shift that fills with copies of the sign if the type is signed, else with zeros.
        ShiftRight = "shr",
    }
}

crate::named! {
    /// Comparisons.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    #[allow(missing_docs, reason = "the names say it")]
    pub enum CompareOp {
        Equal = "eq",
        NotEqual = "ne",
        Less = "lt",
        LessEqual = "le",
        Greater = "gt",
        GreaterEqual = "ge",
    }
}

crate::named! {
    /// Kind of an atomic operation: the value that it leaves in memory.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub enum AtomicOp {
        /// Old plus operand.
        Add = "add",
        /// Old minus operand.
        Subtract = "sub",
        /// The smaller, as the builtin `min(old, operand)`.
        Min = "min",
        /// The larger, as the builtin `max(old, operand)`.
        Max = "max",
        /// Bits of both, for integers.
        And = "and",
        /// Bits of either, for integers.
        Or = "or",
        /// Bits that differ, for integers.
        Xor = "xor",
        /// The operand.
        Exchange = "exch",
        /// The operand if the old value has the bits of the expected one, else the old value; for
        /// scalars.
        CompareExchange = "cas",
    }
}

impl BinaryOp {
    /// Returns the operations that take operands, or components, of a scalar type.
    pub const fn of(scalar: Scalar) -> &'static [Self] {
        use BinaryOp::{Add, And, Divide, FloorDivide, Multiply, Or, Remainder, Subtract, Xor};
        match scalar {
            Scalar::Bool => &[And, Or, Xor],
            float if float.is_float() => &[Add, Subtract, Multiply, Divide, FloorDivide, Remainder],
            _ => &Self::ALL,
        }
    }
}
