//! Reasons for which a launch ended early.

use gbxcule_ir::abi::FaultKind;
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::source::Span;
use std::fmt;

/// Fault that stopped a launch, and its location.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// Fault that happened.
    pub fault: Fault,
    /// Name of the function.
    pub function: String,
    /// Thread of the grid.
    pub thread: [u32; 4],
    /// Place in the source.
    pub span: Span,
}

/// Kind of a fault, with its details.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fault {
    /// A `Trap`, with its message.
    Trap(String),
    /// A failed `Assert`, with its message.
    Assert(String),
    /// An integer divided by zero.
    DivisionByZero,
    /// An index, and the extent that it exceeds.
    Index(i128, i64),
    /// An access to an array without memory.
    AbsentArray,
    /// An address outside of every buffer: a handle claims more memory than there is.
    Address,
    /// More statements than the budget allows.
    Budget,
    /// More memory for variables than the interpreter has.
    Stack,
    /// Arguments that don't fit the function's parameters.
    Arguments(String),
}

impl Failure {
    /// Returns the failure as a diagnostic for users of the program.
    pub fn diagnostic(&self) -> Diagnostic {
        Diagnostic::error(self.fault.code(), self.span, self.to_string())
    }
}

impl Fault {
    /// Returns the kind that compiled code reports for the fault; `None` for faults that only the
    /// interpreter has.
    pub fn kind(&self) -> Option<FaultKind> {
        match self {
            Self::Trap(_) => Some(FaultKind::Trap),
            Self::Assert(_) => Some(FaultKind::Assertion),
            Self::DivisionByZero => Some(FaultKind::Division),
            Self::Index(..) => Some(FaultKind::Index),
            Self::AbsentArray => Some(FaultKind::Absent),
            Self::Address | Self::Budget | Self::Stack | Self::Arguments(_) => None,
        }
    }

    fn code(&self) -> Code {
        match self {
            Self::Trap(_) => Code::Fault(FaultKind::Trap),
            Self::Assert(_) => Code::Fault(FaultKind::Assertion),
            Self::DivisionByZero => Code::Fault(FaultKind::Division),
            Self::Index(..) => Code::Fault(FaultKind::Index),
            Self::AbsentArray => Code::Fault(FaultKind::Absent),
            Self::Address => Code::Address,
            Self::Budget => Code::Budget,
            Self::Stack => Code::Stack,
            Self::Arguments(_) => Code::Arguments,
        }
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
        let text = match self {
            Self::Trap(text) => FaultKind::Trap.message(text, 0, 0),
            Self::Assert(text) => FaultKind::Assertion.message(text, 0, 0),
            Self::DivisionByZero => FaultKind::Division.message("", 0, 0),
            Self::Index(index, extent) => FaultKind::Index.message("", *index, *extent),
            Self::AbsentArray => FaultKind::Absent.message("", 0, 0),
            Self::Address => "an array that reaches beyond its buffer".into(),
            Self::Budget => "more steps than the budget allows".into(),
            Self::Stack => "more memory for variables than there is".into(),
            Self::Arguments(message) => message.clone(),
        };
        f.write_str(&text)
    }
}

impl std::error::Error for Failure {}
