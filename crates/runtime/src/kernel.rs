//! Kernels and their launches.
#![allow(unsafe_code, reason = "calling compiled code")]

mod direct;

pub use direct::{DirectKernel, Lent};

use crate::argument::Argument;
use crate::cache::Compiled;
use crate::code::{Code, Record, Running};
use crate::error::{Error, Fault};
use crate::launch::{Packed, pack};
use crate::output::Output;
use crate::owned;
use crate::pool::{CALLER_STACK_MAX, pool};
use crate::reflection::Reflection;
use gbxcule_kernel::back::clif::{self, Entry, context};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Ranges that each thread of the pool gets, about: enough that none waits long for the last.
const RANGES_PER_THREAD: i64 = 8;
/// Launches of less work than this, in operations, stay on the caller's thread.
const SMALL_WORK: u64 = 30_000;

/// A kernel, ready to be launched. Cheap to clone.
#[derive(Clone)]
pub struct Kernel {
    pub(crate) compiled: Arc<Compiled>,
    pub(crate) entry: Entry,
}

/// A fault as compiled code notes it.
struct Noted {
    site: usize,
    found: i64,
    limit: i64,
    thread: i64,
}

impl Kernel {
    /// Its name and parameters.
    pub fn reflection(&self) -> &Reflection {
        self.compiled.reflection(self.entry.kernel)
    }

    /// Runs it once for each point of a grid of up to four dimensions, and waits for the end.
    pub fn launch(&self, grid: &[usize], args: &[Argument]) -> Result<(), Error> {
        self.launch_to(grid, args, Output::Standard)
    }

    /// The same, with what it prints going elsewhere.
    pub fn launch_to(
        &self,
        grid: &[usize],
        args: &[Argument],
        output: Output,
    ) -> Result<(), Error> {
        let plan = self.plan(grid)?;
        let module = self.compiled.module();
        let layout = self.compiled.arguments(self.entry.position);
        let here = self.runs_here(&plan);
        // Before the arguments are locked: addresses are asked for.
        let code = match here || owned::hold(&self.entry.owned, grid, args) {
            true => self.compiled.code(),
            false => self.compiled.shared_code()?,
        };
        let packed = pack(module, self.reflection(), &layout.offsets, layout.size, args)?;
        let running = Running { compiled: &self.compiled, output };
        let range = |begin, end| self.range(code, &plan, &packed, &running, [begin, end]);
        let noted = (0..plan.repeats).find_map(|_| match pool().filter(|_| !here) {
            None => range(0, plan.threads),
            Some(pool) => spread(pool, &plan, range),
        });
        match noted {
            None => Ok(()),
            Some(noted) => Err(Error::Fault(Box::new(self.explain(&noted, &plan)))),
        }
    }

    /// The grid in the dimensions that the kernel asks for; the others only repeat.
    fn plan(&self, grid: &[usize]) -> Result<Plan, Error> {
        let refuse = |reason: String| {
            let kernel = self.reflection().name.clone();
            Err(Error::Grid { kernel, reason })
        };
        if grid.is_empty() || grid.len() > 4 {
            return refuse(format!("a grid has 1 to 4 dimensions, found {}", grid.len()));
        }
        if let Some(extent) = grid.iter().find(|&&extent| i32::try_from(extent).is_err()) {
            return refuse(format!(
                "a grid has at most 2147483647 threads in a dimension, found {extent}"
            ));
        }
        let dims = usize::from(self.entry.dims);
        let total = |extents: &[usize]| {
            extents.iter().try_fold(1i64, |all, &extent| all.checked_mul(extent as i64))
        };
        let asked = if dims == 0 { grid } else { &grid[..dims.min(grid.len())] };
        let repeated = if dims == 0 { &[] } else { &grid[dims.min(grid.len())..] };
        let (Some(threads), Some(repeats)) = (total(asked), total(repeated)) else {
            return refuse("a grid has at most 2^63 - 1 threads".into());
        };
        let mut extents = [1; 4];
        if dims > 0 {
            extents.iter_mut().zip(asked).for_each(|(extent, &dim)| *extent = dim as i64);
        }
        Ok(Plan { extents, threads, repeats })
    }

    /// Whether the caller's thread does all of it.
    fn runs_here(&self, plan: &Plan) -> bool {
        let work = self.entry.work.saturating_mul(plan.threads as u64);
        let small = self.entry.stack_bytes <= CALLER_STACK_MAX && work <= SMALL_WORK;
        small || plan.threads <= 0 || pool().is_none()
    }

    fn range(
        &self,
        code: &Code,
        plan: &Plan,
        packed: &Packed<'_>,
        running: &Running<'_>,
        [begin, end]: [i64; 2],
    ) -> Option<Noted> {
        let mut record = Record {
            fault_found: 0,
            fault_limit: 0,
            fault_thread: 0,
            grid: plan.extents,
            launch: std::ptr::from_ref(running).cast(),
        };
        // SAFETY: `pack` laid the arguments out for this kernel over locked buffers, whose arrays lie
        // inside them; `running` outlives the call. The code is for threads that meet as these do.
        let status =
            unsafe { code.run(self.entry.position, &mut record, &packed.words, begin, end) };
        let site = usize::try_from(status).ok()?.checked_sub(1)?;
        let Record { fault_found: found, fault_limit: limit, fault_thread: thread, .. } = record;
        Some(Noted { site, found, limit, thread })
    }

    fn explain(&self, noted: &Noted, plan: &Plan) -> Fault {
        let module = self.compiled.module();
        let site = &self.compiled.program().sites[noted.site];
        let (found, limit) = (noted.found, noted.limit);
        let (code, message) = match site.fault {
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
        let dims = usize::from(self.entry.dims).max(1);
        let mut rest = noted.thread;
        let mut thread = vec![0; dims];
        for dim in (1..dims).rev() {
            thread[dim] = rest % plan.extents[dim];
            rest /= plan.extents[dim];
        }
        thread[0] = rest;
        Fault {
            kernel: self.reflection().name.clone(),
            function: module.functions[site.function].name.clone(),
            code,
            message,
            thread,
            span: site.span,
        }
    }
}

/// Runs ranges on all threads of the pool; gives the first fault by thread.
fn spread(
    pool: &rayon::ThreadPool,
    plan: &Plan,
    range: impl Fn(i64, i64) -> Option<Noted> + Sync,
) -> Option<Noted> {
    let ranges = (pool.current_num_threads() as i64 * RANGES_PER_THREAD).min(plan.threads);
    let length = plan.threads / ranges + i64::from(plan.threads % ranges != 0);
    let (next, stop) = (AtomicI64::new(0), AtomicBool::new(false));
    let first: Mutex<Option<Noted>> = Mutex::new(None);
    pool.broadcast(|_| {
        while !stop.load(Ordering::Relaxed) {
            let begin = next.fetch_add(length, Ordering::Relaxed);
            if begin >= plan.threads {
                break;
            }
            let end = begin.saturating_add(length).min(plan.threads);
            if let Some(noted) = range(begin, end) {
                stop.store(true, Ordering::Relaxed);
                let mut first = first.lock().unwrap_or_else(PoisonError::into_inner);
                if first.as_ref().is_none_or(|first| noted.thread < first.thread) {
                    *first = Some(noted);
                }
            }
        }
    });
    first.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// A grid as it is run.
struct Plan {
    extents: [i64; context::DIMS],
    threads: i64,
    repeats: i64,
}
