//! Function in the middle of a specialised call.

use super::{PartialValue, PassedValue, Unsupported};
use gbxcule_ir::constant::Literal;
use gbxcule_ir::function::{Body, FunctionId};
use gbxcule_ir::op::Value;
use gbxcule_ir::stmt::{BlockId, Case};
use rustc_hash::FxHashMap;

/// A step from the memory to a part of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    Field(u32),
    At(PartialValue),
}

/// Meaning of a parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Bound {
    Value(PassedValue),
    Registers,
    /// A part of the memory.
    Memory(Vec<Step>),
}

#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub(super) function: FunctionId,
    pub(super) params: Vec<Bound>,
    /// Values of the variables; `None` for variables that aren't scalars.
    pub(super) locals: Vec<Option<PartialValue>>,
    /// Blocks being run, each with the position of its next statement.
    pub(super) tasks: Vec<(BlockId, usize)>,
    /// Value of the caller that gets the result.
    pub(super) result: Option<Value>,
    values: FxHashMap<Value, PassedValue>,
}

impl Frame {
    pub(super) fn new(
        function: FunctionId,
        body: &Body,
        params: Vec<Bound>,
        result: Option<Value>,
    ) -> Self {
        let locals = body.locals.iter().map(|(_, local)| {
            let zero = |scalar| PartialValue::Literal(Literal::from_bits(scalar, 0));
            local.ty.as_scalar().map(zero)
        });
        Self {
            function,
            params,
            locals: locals.collect(),
            tasks: vec![(body.root, 0)],
            result,
            values: FxHashMap::default(),
        }
    }

    pub(super) fn define(&mut self, value: Value, passed: PassedValue) {
        self.values.insert(value, passed);
    }

    pub(super) fn passed(&self, value: Value) -> Result<PassedValue, Unsupported> {
        self.values.get(&value).copied().ok_or(Unsupported("a composite"))
    }

    pub(super) fn scalar(&self, value: Value) -> Result<PartialValue, Unsupported> {
        match self.passed(value)? {
            PassedValue::Scalar(known) => Ok(known),
            PassedValue::Array(_) => Err(Unsupported("an array as a value")),
        }
    }

    /// Returns the arguments of a native builtin, if all are known.
    pub(super) fn literals(&self, args: &[Value]) -> Result<Vec<Literal>, Unsupported> {
        let literal = |&arg: &Value| match self.scalar(arg)? {
            PartialValue::Literal(literal) => Ok(literal),
            _ => Err(Unsupported("a native builtin with an unknown argument")),
        };
        args.iter().map(literal).collect()
    }

    /// Enters the case of a known selector.
    pub(super) fn switch(
        &mut self,
        selector: Value,
        cases: &[Case],
        default: BlockId,
    ) -> Result<(), Unsupported> {
        let PartialValue::Literal(selector) = self.scalar(selector)? else {
            return Err(Unsupported("a switch on an unknown value"));
        };
        let label = selector.as_int().unwrap_or_default() as i64;
        let case = cases.iter().find(|case| case.labels.contains(&label));
        self.tasks.push((case.map_or(default, |case| case.body), 0));
        Ok(())
    }
}
