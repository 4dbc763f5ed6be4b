//! Why a launch ended early.

use crate::diagnostic::Diagnostic;
use crate::source::Span;
use std::fmt;

/// What stopped a launch, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// What happened.
    pub fault: Fault,
    /// In which function.
    pub function: String,
    /// At which thread of the grid.
    pub thread: [u32; 4],
    /// At which place of the source.
    pub span: Span,
}

/// What happened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fault {
    /// A `Trap`, with its message.
    Trap(String),
    /// A failed `Assert`, with its message.
    Assert(String),
    /// An integer divided by zero.
    DivisionByZero,
    /// An index and the extent that it does not lie in.
    Index(i128, i64),
    /// An element of an array without memory.
    AbsentArray,
    /// An address that lies in no buffer: a handle says more than there is.
    Address,
    /// More statements than the budget allows.
    Budget,
    /// More memory for variables than the interpreter has.
    Stack,
    /// Arguments that are not what the function takes.
    Arguments(String),
}

impl Failure {
    /// As users of the program see it.
    pub fn diagnostic(&self) -> Diagnostic {
        let code = match self.fault {
            Fault::Trap(_) => "trap",
            Fault::Assert(_) => "assert",
            Fault::DivisionByZero => "division-by-zero",
            Fault::Index(..) => "index",
            Fault::AbsentArray => "absent-array",
            Fault::Address => "address",
            Fault::Budget => "budget",
            Fault::Stack => "stack",
            Fault::Arguments(_) => "arguments",
        };
        Diagnostic::error(code, self.span, self.to_string())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z, w] = self.thread;
        write!(f, "{} in `{}`, thread ({x}, {y}, {z}, {w})", self.fault, self.function)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Trap(message) => write!(f, "trap: {message}"),
            Self::Assert(message) => write!(f, "assertion failed: {message}"),
            Self::DivisionByZero => f.write_str("an integer divided by zero"),
            Self::Index(index, extent) => {
                write!(f, "index {index} where there are {extent} elements")
            }
            Self::AbsentArray => f.write_str("an element of an array without memory"),
            Self::Address => f.write_str("an array that reaches beyond its buffer"),
            Self::Budget => f.write_str("more steps than the budget allows"),
            Self::Stack => f.write_str("more memory for variables than there is"),
            Self::Arguments(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for Failure {}
