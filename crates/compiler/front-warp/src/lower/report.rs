//! Faults of a kernel that is lowered, and the number of its statements.

use super::operand::LoweringError;
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::source::Span;

/// Greatest number of statements of one kernel after unrolling.
const MAX_WORK: usize = 50_000;

/// Faults of a kernel and of the functions that it calls.
#[derive(Clone)]
pub(crate) struct Report {
    faults: Vec<Diagnostic>,
    /// True if lowering ends at the first fault.
    is_brief: bool,
    is_refused: bool,
    /// Statements lowered so far; the limit ends nested unrolled loops.
    work: usize,
    /// True if some of these statements are rounds of a loop.
    has_unrolled: bool,
}

impl Report {
    pub(super) fn new(is_brief: bool) -> Self {
        Self { faults: Vec::new(), is_brief, is_refused: false, work: 0, has_unrolled: false }
    }

    pub(crate) fn faults(&self) -> &[Diagnostic] {
        &self.faults
    }

    pub(crate) fn into_faults(self) -> Vec<Diagnostic> {
        self.faults
    }

    pub(crate) fn push(&mut self, fault: Diagnostic) {
        self.faults.push(fault);
    }

    /// Adds a fault once.
    pub(super) fn add(&mut self, fault: Diagnostic) {
        if !self.faults.contains(&fault) {
            self.faults.push(fault);
        }
    }

    /// Notes that a statement was refused.
    pub(super) fn refuse(&mut self, stop: LoweringError) {
        self.is_refused = true;
        if let LoweringError::Fault(fault) = stop {
            self.add(*fault);
        }
    }

    /// Returns true if a statement was refused.
    pub(crate) fn is_refused(&self) -> bool {
        self.is_refused
    }

    /// Notes that a loop is unrolled.
    pub(super) fn unroll(&mut self) {
        self.has_unrolled = true;
    }

    /// Counts a statement; returns false if lowering must end here.
    pub(super) fn spend(&mut self, span: Span) -> bool {
        if self.is_brief && !self.faults.is_empty() {
            return false;
        }
        self.work += 1;
        if self.work == MAX_WORK + 1 {
            let what = match self.has_unrolled {
                true => "with its loops unrolled",
                false => "with functions for each type they take",
            };
            let comma = if self.has_unrolled { "" } else { "," };
            let message = format!("this kernel has more than {MAX_WORK} statements{comma} {what}");
            self.push(Diagnostic::error(Code::TooComplex, span, message));
        }
        self.work <= MAX_WORK
    }
}
