//! Gradients: reverse mode, IR to IR.
//!
//! [`grad`] adds to a module the *reverse* of a kernel, an ordinary kernel with the same
//! parameters, and the reverses of the functions that it calls. They are checked, printed,
//! interpreted and compiled like everything else.
//!
//! # What a reverse kernel does
//! A kernel turns the arrays before its launch into the arrays after it. When its reverse begins,
//! each array's gradient holds the derivative of some number with respect to the array *after*
//! the launch; when the reverse ends, the gradient holds the derivative with respect to the array
//! *before* the launch. So the reverse adds to the gradients of inputs. The gradient of an
//! element that was stored becomes 0, because its old value had no effect. The gradient of an
//! element that was added to stays. To reverse several kernels, launch their reverses from the
//! last to the first; nothing else is needed. Arrays without a gradient, and parameters that are
//! numbers, are constants.
//!
//! The arrays keep the contents that the forward launch left in them: the reverse reads them and
//! changes only gradients.
//!
//! # How
//! 1. [`normal`]: callees that use memory are inlined, every body gets one exit;
//!    [`store_forwarding`]: a load of an element that was just stored becomes the stored value.
//! 2. [`activity`]: which values and variables carry derivatives.
//! 3. [`need`]: which numbers the reverse uses. Only those are computed again: the operands of a
//!    product are used, the operands of a sum are not.
//! 4. [`irreversible`]: refuses kernels whose reverse would need a number that memory no longer
//!    holds.
//! 5. [`reverse`]: runs each block forward as far as needed, then backwards with the rules of
//!    [`rule`]. Only loops save state, in a fixed number of places. So the reverse computes a
//!    statement inside `d` blocks up to `d + 1` times again, and a few times more in a long loop
//!    with carried state ([`loop_reverse`], [`checkpoint`]). At the end unused values are
//!    dropped.
//!
//! # Exactness
//! Derivatives are exact up to rounding, or the kernel is refused. Where a function has only
//! one-sided derivatives, the reverse takes one of them: `abs` at 0 goes up; of equal operands
//! `min` and `max` take the first; `floor` and comparisons are flat even where they jump. An
//! An operation that had no effect on the result contributes nothing, even if its own derivative
//! is infinite ([`rule`]). A forward launch whose threads race has no gradient: if two threads
//! store to one element, or one thread stores where another adds, only the program's author can
//! say which came first.
//!
//! # Memory
//! The gradient assumes that arrays of different parameters share no memory where one array is
//! written and the other is needed. The reverse kernel's
//! [`Function::disjoint`](gbxcule_ir::Function) lists these pairs, and the code that launches the
//! reverse must check them.
//!
//! # A gradient by hand
//! If [`Function::adjoint`](gbxcule_ir::Function) of a function names another function, the
//! reverse calls that other function instead of differentiating the first. It has the signature
//! of a derived reverse, see [`signature`]. A function with a
//! [`Function::replay`](gbxcule_ir::Function) is replaced by the function that `replay` names.

mod activity;
mod adjoint;
mod adjoint_content;
mod checkpoint;
mod copy;
mod counter;
mod dependence;
mod exit;
mod in_place;
mod inline;
mod irreversible;
mod loop_reverse;
mod merge_repeats;
mod need;
mod normal;
mod origin;
mod replay;
mod reverse;
mod rule;
mod scan;
mod sequence;
mod signature;
mod store_forwarding;
mod trip_count;

use crate::pass::dce;
use activity::Activity;
use dependence::{Dependence, Dependences};
use gbxcule_ir::build::Builder;
use gbxcule_ir::check::Valid;
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::function::{Body, Function, FunctionId, FunctionKind};
use gbxcule_ir::module::Module;
use need::Need;
use reverse::{Plan, Reverser, Shared};
use scan::{Definitions, Scan};
use std::rc::Rc;

pub use in_place::{ReadsBeforeWrites, reads_before_writes, with_copies};
pub use signature::{Signature, signature};

/// Returns the module with the reverse of a kernel added, under the name that [`reverse_name`]
/// gives.
pub fn grad(source: &Valid<Module>, kernel: FunctionId) -> Result<Module, Vec<Diagnostic>> {
    reverses(source, &[kernel]).map(|(module, _)| module)
}

/// Adds the reverse of a function that uses no arrays. [`signature`] gives the parameters and the
/// result of the reverse, whose name is `grad_` and the function's name. An error without faults
/// means that no derivative flows through the function.
pub fn function_reverse(
    source: &Valid<Module>,
    function: FunctionId,
) -> Result<(Module, FunctionId), Vec<Diagnostic>> {
    let owner = &source.functions[function];
    if let Some(by_hand) = owner.adjoint {
        let faults = signature::check(source, function, by_hand);
        return if faults.is_empty() { Ok(((**source).clone(), by_hand)) } else { Err(faults) };
    }
    if !signature::has_reverse(source, function) {
        return Err(Vec::new());
    }
    if inline::choose(source)[function.index()] {
        let message = format!(
            "`{}` uses arrays, prints or may stop the launch: only kernels have such a derivative",
            owner.name
        );
        return Err(vec![Diagnostic::error(Code::UnsupportedGradientCall, owner.span, message)]);
    }
    let (mut module, mut reverses) = reverses(source, &[function])?;
    let Some(made) = reverses.pop() else { unreachable!("there is one for each function") };
    module.functions[made].name = format!("grad_{}", owner.name);
    Ok((module, made))
}

/// Adds the reverses of several kernels to the module and returns their handles, or the reasons for
/// which kernels are refused.
pub fn reverses(
    source: &Valid<Module>,
    kernels: &[FunctionId],
) -> Result<(Module, Vec<FunctionId>), Vec<Diagnostic>> {
    let mut module: Module = (**source).clone();
    let replayed = replay::replayed(source)?;
    let source = replayed.as_ref().unwrap_or(source);
    let inline = inline::choose(source);
    let mut shared = Shared { droppable: dce::droppable(source), ..Shared::default() };
    let mut finished = FinishedFunctions::default();
    let mut faults: Vec<Diagnostic> = Vec::new();
    // Kernels may inline one function: its faults are reported once.
    let refuse = |faults: &mut Vec<Diagnostic>, refused: Vec<Diagnostic>| {
        let new = refused.into_iter().filter(|fault| !faults.contains(fault));
        let new: Vec<Diagnostic> = new.collect();
        faults.extend(new);
    };
    for function in inline::called(source, kernels, &inline) {
        finished.finish(&module, function);
        if let Some(by_hand) = source.functions[function].adjoint {
            refuse(&mut faults, signature::check(source, function, by_hand));
            shared.reverses.insert(function, by_hand);
            finished.add(&module, function, by_hand);
        } else if signature::has_reverse(source, function) {
            match differentiate(source, &mut module, function, (&inline, &finished), &mut shared) {
                Ok(reverse) => {
                    shared.reverses.insert(function, reverse);
                    finished.add(&module, function, reverse);
                }
                Err(refused) => refuse(&mut faults, refused),
            }
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let mut reverses = Vec::with_capacity(kernels.len());
    for &kernel in kernels {
        match differentiate(source, &mut module, kernel, (&inline, &finished), &mut shared) {
            Ok(reverse) => reverses.push(reverse),
            Err(refused) => refuse(&mut faults, refused),
        }
    }
    if faults.is_empty() { Ok((module, reverses)) } else { Err(faults) }
}

/// Name of the reverse of a kernel or function.
pub fn reverse_name(name: &str) -> String {
    format!("adj_{name}")
}

/// Dependences of finished functions and of their reverses.
#[derive(Default)]
struct FinishedFunctions {
    dependences: Dependences,
    /// Dependence of each reverse, by the function that it reverses.
    reverses: Dependences,
}

impl FinishedFunctions {
    fn finish(&mut self, module: &Module, function: FunctionId) {
        let dependence = Dependence::of(module, &self.dependences, function);
        self.dependences.insert(function, dependence);
    }

    fn add(&mut self, module: &Module, function: FunctionId, reverse: FunctionId) {
        self.finish(module, reverse);
        self.reverses.insert(function, self.dependences[&reverse].clone());
    }
}

fn differentiate(
    source: &Valid<Module>,
    module: &mut Module,
    id: FunctionId,
    (inline, finished): (&[bool], &FinishedFunctions),
    shared: &mut Shared,
) -> Result<FunctionId, Vec<Diagnostic>> {
    let function = &source.functions[id];
    let into = module.functions.push(Function {
        name: reverse_name(&function.name),
        body: Body::default(),
        instance: None,
        adjoint: None,
        replay: None,
        trusted: false,
        disjoint: Vec::new(),
        ..function.clone()
    });
    normal::build(source, module, id, into, inline);
    let mut body = std::mem::take(&mut module.functions[into].body);
    store_forwarding::rewrite(&mut body, &module.types);
    let types = module.types.clone();
    let program =
        Definitions { types: &types, functions: &source.functions, reverses: &finished.reverses };
    let scan = Scan::new(&body);
    let activity = Activity::new(program, function, &scan);
    let need = Need::new(program, &scan, &activity);
    let apart = irreversible::check(program, &scan, &activity, &need)?;
    if function.kind == FunctionKind::Kernel {
        module.functions[into].disjoint = apart;
    } else {
        let Signature { params, result } = signature(module, function);
        module.functions[into].params = params;
        module.functions[into].result = result;
    }
    let plan = Plan { scan: &scan, activity: &activity, need: Rc::new(need), program };
    let b = Builder::new(module, into);
    let adjoints = Reverser::new(plan, b, function, shared).run();
    adjoint_content::run(&mut module.functions[into].body, &adjoints);
    dce::clean(module, into, &shared.droppable);
    // Only the functions that multiply adjoints are known to have neither effects nor faults.
    let chains: Vec<FunctionId> = shared.chains.values().copied().collect();
    merge_repeats::run(module, into, &|function| chains.contains(&function));
    dce::clean(module, into, &shared.droppable);
    Ok(into)
}
