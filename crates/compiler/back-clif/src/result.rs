//! Results and signatures of functions that are called out of line.
//!
//! A function out of line takes the record, a pointer for its results unless a register holds them,
//! the launch index in the dimensions that it asks for, and its parameters: places as pointers,
//! values of few scalars as scalars, larger values as pointers to their memory image. Its first
//! result is a status, if it can fault.

use crate::code::Context;
use crate::shape::clif_type;
use crate::typed::LoweredValue;
use cranelift_codegen::ir::{AbiParam, Signature, Value, types};
use gbxcule_ir::{FunctionId, PassMode, Scalar, Shape, Type};

/// Greatest number of scalars of a value that is passed as scalars.
pub(crate) const MAX_PASSED: u64 = 8;

/// A result split into the parts that go through registers or block parameters, and those that go
/// through memory.
#[derive(Debug)]
pub(crate) enum ResultParts {
    Leaves(Vec<Scalar>),
    Memory { size: u64, align: u64 },
    Parts(Vec<Self>),
}

impl ResultParts {
    pub(crate) fn new(cx: Context<'_>, ty: Type) -> Self {
        if let Shape::Tuple(parts) = &cx.module.types[ty] {
            return Self::Parts(parts.iter().map(|&part| Self::new(cx, part)).collect());
        }
        let flat = cx.flats.of(ty);
        if flat.is_large() {
            let align = cx.module.types.layout(ty).map_or(1, |layout| u64::from(layout.align));
            return Self::Memory { size: flat.size, align };
        }
        Self::Leaves(flat.leaves.iter().map(|leaf| leaf.scalar).collect())
    }

    /// Visits all parts except tuples, in order.
    pub(crate) fn each(&self, visit: &mut impl FnMut(&Self)) {
        match self {
            Self::Parts(parts) => parts.iter().for_each(|part| part.each(visit)),
            other => visit(other),
        }
    }

    /// Returns the only scalar, if there is nothing else.
    pub(crate) fn single(&self) -> Option<Scalar> {
        let (mut scalars, mut others) = (Vec::new(), false);
        self.each(&mut |part| match part {
            Self::Leaves(leaves) => scalars.extend(leaves),
            _ => others = true,
        });
        (scalars.len() == 1 && !others).then(|| scalars[0])
    }

    /// Returns the number of bytes for all parts, with 8 for a scalar.
    pub(crate) fn size(&self) -> u64 {
        let mut size = 0;
        self.each(&mut |part| {
            size += match part {
                Self::Leaves(leaves) => 8 * leaves.len() as u64,
                Self::Memory { size, .. } => size.next_multiple_of(16),
                Self::Parts(_) => 0,
            };
        });
        size
    }

    /// Assembles a value from its scalars and addresses in order.
    pub(crate) fn assemble(
        &self,
        next: &mut impl FnMut(Option<Scalar>, u64) -> Value,
    ) -> LoweredValue {
        match self {
            Self::Leaves(leaves) => {
                LoweredValue::from_leaves(leaves.iter().map(|&leaf| next(Some(leaf), 8)).collect())
            }
            Self::Memory { size, .. } => {
                LoweredValue::Memory(next(None, size.next_multiple_of(16)))
            }
            Self::Parts(parts) => {
                LoweredValue::Parts(parts.iter().map(|part| part.assemble(next)).collect())
            }
        }
    }

    /// Splits a value into scalars and addresses, and passes each with its part to `visit`.
    pub(crate) fn take_apart(&self, val: &LoweredValue, visit: &mut impl FnMut(&Self, Value)) {
        match (self, val) {
            (Self::Parts(parts), LoweredValue::Parts(vals)) => {
                parts.iter().zip(vals.iter()).for_each(|(part, val)| part.take_apart(val, visit));
            }
            (Self::Memory { .. }, LoweredValue::Memory(address)) => visit(self, *address),
            _ => val.leaves().iter().for_each(|&leaf| visit(self, leaf)),
        }
    }
}

/// Returns the signature of a function out of line.
pub(crate) fn signature(cx: Context<'_>, id: FunctionId) -> Signature {
    let (function, decided) = (&cx.module.functions[id], cx.plan.of(id));
    let mut signature = Signature::new(cx.options.target.default_call_conv);
    let result = ResultParts::new(cx, function.result);
    signature.params.push(AbiParam::new(types::I64));
    if result.single().is_none() && result.size() > 0 {
        signature.params.push(AbiParam::new(types::I64));
    }
    signature.params.extend((0..decided.dims).map(|_| AbiParam::new(types::I64)));
    for param in &function.params {
        let flat = cx.flats.of(param.ty);
        if param.mode == PassMode::Value && flat.count <= MAX_PASSED {
            let leaves = flat.leaves.iter().map(|leaf| AbiParam::new(clif_type(leaf.scalar)));
            signature.params.extend(leaves);
        } else {
            signature.params.push(AbiParam::new(types::I64));
        }
    }
    if decided.can_fault {
        signature.returns.push(AbiParam::new(types::I32));
    }
    signature.returns.extend(result.single().map(|of| AbiParam::new(clif_type(of))));
    signature
}
