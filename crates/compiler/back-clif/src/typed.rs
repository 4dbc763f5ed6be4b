//! The second layer: code for values of the IR's types, in registers, variables and memory.

mod compound;
mod memory;

use crate::code::ScalarCode;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, StackSlot, Value, types};
use cranelift_frontend::Variable;
use rustc_hash::FxHashMap;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;

/// Number of threads in a group, and of `f32` in a vector.
pub(crate) const GROUP: usize = 4;

/// The scalars of a group, by thread.
pub(crate) type Row = [Value; GROUP];

/// Returns true if all threads have one scalar.
pub(crate) fn is_same(row: Row) -> bool {
    row.iter().all(|&value| value == row[0])
}

/// Returns the flags of an access to four adjacent `f32`, which are aligned to 4 bytes.
pub(crate) fn unaligned() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

/// A value of the IR.
#[derive(Clone, Debug)]
pub(crate) enum LoweredValue {
    /// A single scalar.
    One(Value),
    /// All scalars of a small composite.
    Leaves(Rc<[Value]>),
    /// The address of a large composite, which never changes.
    Memory(Value),
    /// The parts of a tuple.
    Parts(Rc<[Self]>),
}

/// Storage of a variable.
#[derive(Clone, Debug)]
pub(crate) enum Storage {
    Vars(Rc<[Variable]>),
    /// Four `f32`, which are only used together.
    Vector(Variable),
    Slot(StackSlot),
}

/// Place whose indices were computed.
#[derive(Clone, Debug)]
pub(crate) enum LoweredPlace {
    /// Scalars of a variable, from `first` on.
    Vars {
        vars: Rc<[Variable]>,
        first: usize,
    },
    /// Four `f32` in one variable.
    Vector(Variable),
    /// Scalars of a value that is only read, from `first` on.
    Value {
        val: LoweredValue,
        first: usize,
    },
    Memory {
        address: Value,
        offset: i32,
    },
}

impl LoweredValue {
    /// Returns the scalars of a value that isn't in memory.
    pub(crate) fn leaves(&self) -> &[Value] {
        match self {
            Self::One(value) => std::slice::from_ref(value),
            Self::Leaves(leaves) => leaves,
            Self::Memory(_) | Self::Parts(_) => unreachable!("a value of few scalars"),
        }
    }

    pub(crate) fn from_leaves(leaves: Vec<Value>) -> Self {
        match leaves[..] {
            [value] => Self::One(value),
            _ => Self::Leaves(leaves.into()),
        }
    }

    /// Returns true if two values consist of the same scalars, at the same addresses.
    pub(crate) fn same_as(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Memory(left), Self::Memory(right)) => left == right,
            (Self::Parts(left), Self::Parts(right)) => {
                left.len() == right.len()
                    && left.iter().zip(right.iter()).all(|(left, right)| left.same_as(right))
            }
            (Self::One(_) | Self::Leaves(_), Self::One(_) | Self::Leaves(_)) => {
                self.leaves() == other.leaves()
            }
            _ => false,
        }
    }
}

impl LoweredPlace {
    /// Returns a part of a place: `leaves` scalars and `bytes` bytes further.
    pub(crate) fn inside(&self, leaves: u64, bytes: u64) -> Self {
        match self.clone() {
            Self::Vars { vars, first } => Self::Vars { vars, first: first + leaves as usize },
            Self::Vector(_) => unreachable!("the plan found no use of a part"),
            Self::Value { val, first } => Self::Value { val, first: first + leaves as usize },
            Self::Memory { address, offset } => {
                Self::Memory { address, offset: offset + bytes as i32 }
            }
        }
    }
}

/// Code that knows how values of types consist of scalars.
pub(crate) struct TypedCode<'a, 'f> {
    code: ScalarCode<'a, 'f>,
    /// Thread of a group for which code is being written; 0 for control flow.
    lane: usize,
    /// True if `f32` of a group go into vectors.
    is_packed: bool,
    /// Vector and position from which each scalar was taken; a `bool` was taken from a vector of
    /// masks.
    vectors: FxHashMap<Value, (Value, usize)>,
}

impl<'a, 'f> Deref for TypedCode<'a, 'f> {
    type Target = ScalarCode<'a, 'f>;

    fn deref(&self) -> &Self::Target {
        &self.code
    }
}

impl DerefMut for TypedCode<'_, '_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.code
    }
}

impl<'a, 'f> TypedCode<'a, 'f> {
    pub(crate) fn new(code: ScalarCode<'a, 'f>) -> Self {
        Self { code, lane: 0, is_packed: false, vectors: FxHashMap::default() }
    }

    /// Returns the layer below, with the function that was written.
    pub(crate) fn into_code(self) -> ScalarCode<'a, 'f> {
        self.code
    }

    /// Begins code for other threads; `is_packed` puts their `f32` into vectors.
    pub(crate) fn begin_threads(&mut self, is_packed: bool) {
        self.is_packed = is_packed;
        self.vectors.clear();
    }

    /// Returns true if `f32` of a group go into vectors.
    pub(crate) fn is_packed(&self) -> bool {
        self.is_packed
    }

    pub(crate) fn lane(&self) -> usize {
        self.lane
    }

    pub(crate) fn set_lane(&mut self, lane: usize) {
        self.lane = lane;
    }

    /// Takes one of the scalars out of a vector.
    pub(crate) fn lane_of(&mut self, vector: Value, at: usize) -> Value {
        let value = self.b.ins().extractlane(vector, at as u8);
        self.note_lane(value, vector, at);
        value
    }

    /// Records a scalar as one of those in a vector.
    pub(crate) fn note_lane(&mut self, value: Value, vector: Value, at: usize) {
        self.vectors.insert(value, (vector, at));
    }

    /// Returns a vector of four `f32`, or of four 32-bit integers.
    pub(crate) fn vector(&mut self, row: Row) -> Value {
        if let Some(vector) = self.vector_of(row) {
            return vector;
        }
        let ty = self.b.func.dfg.value_type(row[0]);
        let ty = if ty == types::F32 { types::F32X4 } else { types::I32X4 };
        let mut vector = self.b.ins().splat(ty, row[0]);
        for (at, &value) in row.iter().enumerate().filter(|&(_, &value)| value != row[0]) {
            vector = self.b.ins().insertlane(vector, value, at as u8);
        }
        vector
    }

    /// Takes the four numbers out of a vector.
    pub(crate) fn out_of_vector(&mut self, vector: Value) -> Row {
        std::array::from_fn(|lane| self.lane_of(vector, lane))
    }

    /// Returns the vector that consists of exactly these scalars.
    pub(crate) fn vector_of(&self, row: Row) -> Option<Value> {
        let &(vector, 0) = self.vectors.get(&row[0])? else { return None };
        let is_vector =
            (0..GROUP).all(|lane| self.vectors.get(&row[lane]) == Some(&(vector, lane)));
        is_vector.then_some(vector)
    }
}
