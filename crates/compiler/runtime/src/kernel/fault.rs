//! Converts the fault record of a device to an error for users, with the same words for every
//! device.

use super::{Kernel, Plan, Target};
use crate::error::{Error, Fault};
use gbxcule_back_cxx::Site;
use gbxcule_ir::FunctionId;
use gbxcule_ir::abi::{Cause, FaultKind, FaultRecord, RangeRecord};
use gbxcule_ir::diagnostic::Code;
use gbxcule_ir::source::Span;

/// Fault as a device records it.
pub(crate) struct RawFault {
    position: Position,
    found: i64,
    limit: i64,
    pub(super) thread: i64,
}

/// Place of a fault, as a device reports it.
enum Position {
    /// Site of the program's machine code.
    Site(usize),
    /// Kind and line of the text.
    Line { kind: FaultKind, line: u32 },
}

/// Place and cause of a stopped launch.
struct Origin {
    function: FunctionId,
    span: Span,
    cause: Cause,
}

impl RawFault {
    /// Returns the fault of a range from the status and the record that machine code left; `None`
    /// if the range ran to its end.
    pub(super) fn of_range(status: i32, record: &RangeRecord) -> Option<Self> {
        let site = usize::try_from(status).ok()?.checked_sub(1)?;
        let RangeRecord { fault_found: found, fault_limit: limit, fault_thread: thread, .. } =
            *record;
        Some(Self { position: Position::Site(site), found, limit, thread })
    }

    /// Returns the fault in a record on a device, at a thread of the grid; `None` if the record
    /// holds no fault.
    pub(crate) fn of_record(record: &FaultRecord, thread: i64) -> Option<Self> {
        if record.kind == 0 {
            return None;
        }
        let Some(kind) = FaultKind::from_number(record.kind) else {
            unreachable!("a kind of fault that no text has: {}", record.kind)
        };
        let position = Position::Line { kind, line: record.line.unsigned_abs() };
        Some(Self { position, found: record.index, limit: record.extent, thread })
    }
}

impl Kernel {
    /// Makes the error of a launch over a grid on a device that numbers all of its threads.
    pub(crate) fn stopped(&self, raw: &RawFault, grid: &[usize]) -> Error {
        let plan = match self.plan(grid) {
            Ok(plan) => plan,
            Err(error) => return error,
        };
        let thread = raw.thread / plan.repeats.max(1);
        Error::Fault(Box::new(self.explain(raw, thread, &plan)))
    }

    /// Describes a fault of one of the plan's threads.
    pub(super) fn explain(&self, raw: &RawFault, thread: i64, plan: &Plan) -> Fault {
        let module = self.compiled.module();
        let Origin { function, span, cause } = self.origin(raw);
        let text = cause.message.map_or("", |message| module.text(message));
        let message = cause.kind.message(text, raw.found.into(), raw.limit);
        let index = if cause.kind == FaultKind::Index { raw.found } else { 0 };
        let code = Code::Fault(cause.kind);
        let dims = usize::from(self.reflection().dims).max(1);
        let mut quotient = thread;
        let mut thread = vec![0; dims];
        for dim in (1..dims).rev() {
            thread[dim] = quotient % plan.extents[dim];
            quotient /= plan.extents[dim];
        }
        thread[0] = quotient;
        Fault {
            kernel: self.reflection().name.clone(),
            function: module.functions[function].name.clone(),
            code,
            message,
            index,
            thread,
            span,
        }
    }

    fn origin(&self, raw: &RawFault) -> Origin {
        match (&raw.position, &self.target) {
            (&Position::Site(site), Target::Cpu { native, .. }) => {
                let site = &native.facts.sites[site];
                Origin { function: site.function, span: site.span, cause: site.cause }
            }
            (&Position::Line { kind, line }, Target::Cuda { image, .. }) => {
                let site = Site::of_line(&image.table.sites, line);
                let cause = Cause { kind, message: site.and_then(|site| site.message) };
                let (function, span) =
                    site.map_or((self.id, Span::NONE), |site| (site.function, site.span));
                Origin { function, span, cause }
            }
            _ => unreachable!("each device reports faults in a form of its own"),
        }
    }
}
