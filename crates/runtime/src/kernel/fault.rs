//! From what a device notes of a fault to what is said of it: the same words for every device.

use super::{Kernel, Plan, Target};
use crate::error::{Error, Fault};
use gbxcule_kernel::back::clif;
use gbxcule_kernel::ir::{FunctionId, Name};
use gbxcule_kernel::source::Span;

/// A fault as a device notes it.
pub(crate) struct Noted {
    place: Place,
    found: i64,
    limit: i64,
    pub(super) thread: i64,
}

/// How a device says where.
enum Place {
    /// A site of the program's machine code.
    Site(usize),
    /// A kind and a line of the text.
    Line { kind: i32, line: u32 },
}

/// Where and why a launch stopped.
struct Cause {
    function: FunctionId,
    span: Span,
    fault: clif::Fault,
}

impl Noted {
    /// At a site of machine code: what was asked for, how much there is, the number of the thread.
    pub(super) fn at_site(site: usize, [found, limit, thread]: [i64; 3]) -> Self {
        Self { place: Place::Site(site), found, limit, thread }
    }

    /// At a line of a text, of a `gbx::FaultKind`.
    pub(crate) fn in_text(kind: i32, line: i32, [found, limit, thread]: [i64; 3]) -> Self {
        Self { place: Place::Line { kind, line: line.unsigned_abs() }, found, limit, thread }
    }
}

impl Kernel {
    /// A fault of a launch over a grid on a device that counts all of its threads.
    pub(crate) fn stopped(&self, noted: &Noted, grid: &[usize]) -> Error {
        let plan = match self.plan(grid) {
            Ok(plan) => plan,
            Err(error) => return error,
        };
        let thread = noted.thread / plan.repeats.max(1);
        Error::Fault(Box::new(self.explain(noted, thread, &plan)))
    }

    /// A fault of one of the plan's threads.
    pub(super) fn explain(&self, noted: &Noted, thread: i64, plan: &Plan) -> Fault {
        let module = self.compiled.module();
        let Cause { function, span, fault } = self.cause(noted);
        let (found, limit) = (noted.found, noted.limit);
        let (code, message) = match fault {
            clif::Fault::Index => {
                ("index", format!("index {found} where there are {limit} elements"))
            }
            clif::Fault::View => {
                ("view", format!("a view reaches index {found} where there are {limit} elements"))
            }
            clif::Fault::Absent => {
                ("absent-array", "an element of an array without memory".to_string())
            }
            clif::Fault::Division => ("division-by-zero", "an integer divided by zero".to_string()),
            clif::Fault::Assert(text) => {
                ("assert", format!("assertion failed: {}", module.text(text)))
            }
            clif::Fault::Trap(text) => ("trap", format!("trap: {}", module.text(text))),
        };
        let dims = usize::from(self.reflection().dims).max(1);
        let mut rest = thread;
        let mut thread = vec![0; dims];
        for dim in (1..dims).rev() {
            thread[dim] = rest % plan.extents[dim];
            rest /= plan.extents[dim];
        }
        thread[0] = rest;
        Fault {
            kernel: self.reflection().name.clone(),
            function: module.functions[function].name.clone(),
            code,
            message,
            thread,
            span,
        }
    }

    fn cause(&self, noted: &Noted) -> Cause {
        match (&noted.place, &self.target) {
            (&Place::Site(site), Target::Cpu { native, .. }) => {
                let site = &native.program.sites[site];
                Cause { function: site.function, span: site.span, fault: site.fault }
            }
            (&Place::Line { kind, line }, Target::Cuda { image, .. }) => {
                let site = image.text.site(line);
                let message: Option<Name> = site.and_then(|site| site.message);
                // The order of `gbx::FaultKind`.
                let fault = match (kind, message) {
                    (1, Some(text)) => clif::Fault::Trap(text),
                    (2, Some(text)) => clif::Fault::Assert(text),
                    (3, _) => clif::Fault::Division,
                    (4, _) => clif::Fault::Index,
                    (5, _) => clif::Fault::Absent,
                    (6, _) => clif::Fault::View,
                    _ => unreachable!("a kind of fault that no text has: {kind}"),
                };
                let (function, span) =
                    site.map_or((self.id, Span::NONE), |site| (site.function, site.span));
                Cause { function, span, fault }
            }
            _ => unreachable!("a device notes faults in its own way"),
        }
    }
}
