//! Checks modules: only a module that passes becomes a [`Valid`] one, and back ends, gradients and
//! the interpreter take only those. Users of the dialect don't see these messages, because the
//! front end checks types first.
//!
//! The rules, each with the code of its diagnostics:
//!
//! 1. `ir-handle`: every handle names an item of this module and body.
//! 2. `ir-type`: no type is invalid; stored types are storable; dimensions are in range; tables
//!    have the size of their type.
//! 3. `ir-scope`: a value has at most one definition, and is used only where it is visible.
//! 4. `ir-operation`: operands and result of every operation have types that fit it.
//! 5. `ir-place`: roots and projections fit; indices are integers.
//! 6. `ir-store`: a store goes to a writable place, and the value has the place's type.
//! 7. `ir-condition`: conditions are `bool`; selectors are integers, labels fit them and occur
//!    once.
//! 8. `ir-loop`: bounds and index of a `For` are of one integer type; `Break` and `Continue` are in
//!    loops; a `While` header does not end with a terminator, so that its condition is reached.
//! 9. `ir-return`: results are of the function's type; a function with a result returns on every
//!    way.
//! 10. `ir-block`: a block has one owner, no statement follows a terminator, nesting is at most
//!     [`MAX_NESTING`].
//! 11. `ir-call`: arguments fit in number, type and mode; kernels aren't called; no function
//!     reaches itself by calls.
//! 12. `ir-alias`: a `Mutable` place overlaps no other place of its call.
//! 13. `ir-kernel`: kernels have no result, and all their parameters are passed by value.
//! 14. `ir-escape`: `AsArray` handles are only indexed, viewed, measured and passed on.

mod fact;
mod flow;
mod function;
mod module;
mod operation;
mod place;

pub use fact::{Effects, FunctionFacts};

use crate::diagnostic::Diagnostic;
use crate::function::FunctionId;
use crate::module::Module;
use std::ops::Deref;

/// Size of the largest type, chosen so that sizes and offsets in a place fit an `i32` in every back
/// end.
pub const MAX_TYPE_BYTES: u64 = (1 << 31) - 1;

/// Greatest depth of nested blocks. Deeper modules are refused, so that recursive back ends and
/// host compilers do not overflow their stacks.
pub const MAX_NESTING: usize = 200;

/// A module that passed the check, with the facts that the check collected. Only
/// [`check::module`](module()) makes one. Back ends, gradients and the interpreter take nothing
/// else, and rely on the rules that the documentation of [`check`](self) lists.
///
/// ```
/// use gbxcule_ir::{Builder, Module, Param, Type, check};
///
/// let mut module = Module::new("example");
/// let numbers = module.types.array(Type::F32, 1);
/// let kernel = module.declare_kernel("clear", vec![Param::value("x", numbers)]);
/// let mut b = Builder::new(&mut module, kernel);
/// let i = b.launch_index(0);
/// let x = b.param_place(0);
/// let x = b.element(x, &[i]);
/// let zero = b.f32(0.0);
/// b.store(x, zero);
/// b.finish();
///
/// let module = check::module(module).expect("a right module");
/// assert_eq!(module.call_order(), [kernel]);
/// assert!(module.facts(kernel).effects.writes);
/// ```
#[derive(Clone, Debug)]
pub struct Valid<T> {
    inner: T,
    call_order: Vec<FunctionId>,
    facts: Vec<FunctionFacts>,
}

impl Valid<Module> {
    /// Returns all functions, callees before their callers.
    pub fn call_order(&self) -> &[FunctionId] {
        &self.call_order
    }

    /// Returns facts about a function.
    pub fn facts(&self, function: FunctionId) -> &FunctionFacts {
        &self.facts[function.index()]
    }

    /// Returns the module for changes; it must be checked again.
    pub fn into_inner(self) -> Module {
        self.inner
    }
}

impl<T> Deref for Valid<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.inner
    }
}

/// Checks a module.
///
/// # Errors
/// All faults, each with its rule's code from the list in this module's documentation.
pub fn module(module: Module) -> Result<Valid<Module>, Vec<Diagnostic>> {
    let mut faults = Vec::new();
    module::check(&module, &mut faults);
    for (_, function) in module.functions.iter() {
        function::check(&module, function, &mut faults);
    }
    let Some(call_order) = module::call_order(&module, &mut faults) else { return Err(faults) };
    if !faults.is_empty() {
        return Err(faults);
    }
    let facts = fact::collect(&module, &call_order);
    Ok(Valid { inner: module, call_order, facts })
}
