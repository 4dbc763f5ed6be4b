//! Lowering to cranelift IR, for machine code in this process.
//!
//! Pure: this crate makes `ir::Function`s and lists the items that they refer to; `gbxcule-runtime`
//! compiles, maps and runs them. Each kernel becomes one function that runs a *range* of the launch
//! grid:
//!
//! `fn(record, arguments, begin: i64, end: i64) -> i32`
//!
//! so that array descriptors are read once and the loop over threads is compiled code. The function
//! returns 0, or the number of the [`Site`] that faulted plus 1, after it wrote details to the
//! [`RangeRecord`](gbxcule_ir::abi::RangeRecord). Small functions are lowered in place at their
//! calls; by-reference parameters then *are* the caller's variables.
//!
//! Five layers write a function. Each owns the layer below, dereferences to it, and adds knowledge;
//! no layer sees one above it: [`code`] (instructions, slots, faults), [`typed`] (values of the
//! IR's types), [`thread`] (frames and places of a thread), [`group`] (several threads at once),
//! [`lowerer`] (statements, calls, loops).
//!
//! A value of up to [`shape::MAX_LEAVES`] scalars is split into them; larger values lie in stack
//! slots. No function here recurses over statements: bodies may be large and nest deeply.

mod access;
mod code;
mod exclusive;
mod group;
mod lowered_module;
mod lowerer;
mod order;
mod plan;
mod proven;
mod result;
mod shape;
mod sum;
mod thread;
mod typed;
mod uniform;
mod unused;

pub use access::ParamArray;
pub use code::Site;
pub use exclusive::MAX_SMALL;
pub use lowered_module::{Emitted, Entry, Import, LaunchFacts, LoweredModule, Printed};
pub use order::{Apart, GroupOrder, UsedArray};

use cranelift_codegen::isa::TargetFrontendConfig;
use cranelift_frontend::FunctionBuilderContext;
use gbxcule_ir::abi::Checks;
use gbxcule_ir::check::Valid;
use gbxcule_ir::{FunctionId, Module};

/// Assumption about the memory of threads that run at the same time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sharing {
    /// No two threads run at the same time: no operation is atomic.
    Alone,
    /// No two elements of the arrays that [`Entry::exclusive`] names share memory with each other
    /// or with another array: operations on a thread's own elements aren't atomic.
    Exclusive,
    /// Threads may share any memory.
    Any,
}

/// Options of the lowering.
#[derive(Clone, Copy)]
pub struct Options {
    /// Functions that check indices, divisors and views.
    pub checks: Checks,
    /// Assumption about threads that run at the same time.
    pub sharing: Sharing,
    /// Facts about the machine, such as C's calling convention.
    pub target: TargetFrontendConfig,
}

/// Functions of a module that are called from outside, or that are defined outside.
///
/// Both have the signature of a function called out of line: the record, a pointer for the result
/// unless a register holds it, the parameters. Places are pointers; values of few scalars, array
/// handles included, are passed as scalars. Such functions don't fault.
#[derive(Clone, Copy, Default, Debug)]
pub struct Boundary<'b> {
    /// Functions that are lowered even if no kernel calls them.
    pub exports: &'b [FunctionId],
    /// Functions that the caller defines elsewhere: their bodies are ignored.
    pub externals: &'b [FunctionId],
}

/// Lowers all kernels of a module, the functions that are called from outside, and those that they
/// need.
pub fn lower(module: &Valid<Module>, boundary: Boundary<'_>, options: Options) -> LoweredModule {
    let flats = shape::Flats::new(module);
    let plan = plan::Plan::new(module, &flats, boundary, options.checks);
    let cx = code::Context { module, plan: &plan, flats: &flats, options };
    let mut program = LoweredModule::default();
    let mut buffers = FunctionBuilderContext::new();
    for &function in plan.emitted() {
        let ir = lowerer::lower(cx, &mut program, &mut buffers, function);
        program.functions.push(Emitted { function, ir });
    }
    program.facts.entries = plan.entries(module);
    program
}
