//! Statements: a structured tree of blocks. The only jumps end the innermost loop or its iteration.

use super::arena::{Handle, List};
use super::function::Name;
use super::op::Value;
use super::place::PlaceId;
use crate::source::Span;

/// Statements, in order. Every block has exactly one owner: a statement or the function.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Block {
    /// The statements.
    pub stmts: Vec<Stmt>,
}

/// Names a block of the same body.
pub type BlockId = Handle<Block>;

/// A statement and its place in the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stmt {
    /// Action of the statement.
    pub kind: StmtKind,
    /// Place in the source.
    pub span: Span,
}

/// Action of a statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StmtKind {
    /// Evaluates an operation at this point; calls and atomics have their effects. The value is
    /// visible in the rest of this block and in the blocks inside it.
    Let(Value),
    /// Writes a place.
    Store {
        /// Place that is stored to.
        place: PlaceId,
        /// Value to store, of the place's type.
        value: Value,
    },
    /// Runs one of two blocks.
    If {
        /// A `bool`.
        condition: Value,
        /// Block that runs if it is true.
        accept: BlockId,
        /// Block that runs if it is false; may be empty.
        reject: BlockId,
    },
    /// Runs the case that lists the selector, or the default. Cases do not fall through; a `Break`
    /// inside leaves the loop around the switch.
    Switch {
        /// An integer.
        selector: Value,
        /// All cases; a label occurs once.
        cases: Box<[Case]>,
        /// Block that runs if no case lists the selector; may be empty.
        default: BlockId,
    },
    /// Runs the body for each of `start, start + step, ..` up to and without `end`; see the
    /// semantics in [`super`]. The operands are evaluated before.
    For {
        /// Index, visible in the body: an `Op::Index`.
        index: Value,
        /// The first index.
        start: Value,
        /// The bound, excluded.
        end: Value,
        /// Distance to the next index: upwards if positive, downwards if negative, no iteration if
        /// 0.
        step: Value,
        /// Block to repeat.
        body: BlockId,
    },
    /// Runs `header`; if the condition holds, runs `body` and begins again. `Continue` in the body
    /// goes to the header. Values of the header are visible in the body.
    While {
        /// Block that computes the condition. It holds no `Break`, `Continue` or `Return` of this
        /// loop.
        header: BlockId,
        /// A `bool` visible at the end of the header.
        condition: Value,
        /// Block to repeat.
        body: BlockId,
    },
    /// Leaves the innermost loop.
    Break,
    /// Goes to the next iteration of the innermost loop.
    Continue,
    /// Leaves the function. A kernel's thread ends.
    Return(Option<Value>),
    /// Prints a line.
    Print {
        /// Format of C's `printf`, without an added newline; `None` prints as Python's `print`
        /// does.
        format: Option<Name>,
        /// Values to print.
        args: List<Value>,
    },
    /// Traps if the condition is false.
    Assert {
        /// A `bool`.
        condition: Value,
        /// Message of the assertion.
        message: Name,
    },
    /// Ends the thread with a fault; on the CPU the launch ends as well.
    Trap {
        /// Message of the trap.
        message: Name,
    },
}

/// A case of a switch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Case {
    /// Selector values. Those of a `u64` selector are its bits.
    pub labels: Box<[i64]>,
    /// Block to run in this case.
    pub body: BlockId,
}

impl StmtKind {
    /// Returns true if no statement may follow this one in its block.
    pub const fn is_terminator(&self) -> bool {
        matches!(self, Self::Break | Self::Continue | Self::Return(_) | Self::Trap { .. })
    }
}
