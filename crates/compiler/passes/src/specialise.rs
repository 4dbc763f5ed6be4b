//! Specialisation: runs calls of a function on partly known arguments, and leaves the operations
//! that it can't compute as code (partial evaluation; for an interpreter, the first Futamura
//! projection).
//!
//! [`Specialiser::call`] runs a function on [`PartialValue`] values. It computes what it can, and
//! the other operations become code of a [`Residual`]. Two arguments are passed by reference: the
//! *registers*, a struct whose fields are all values of the [`State`], and the *memory*, a struct
//! that code reads and writes in place. Some places of the memory have a known value
//! ([`KnownPlace`]), until a call that is left in the code may have changed it; then the state is
//! *touched*.
//!
//! Where a condition isn't known, both ways are followed. If the ways differ in values only, they
//! meet again after the branch; otherwise they meet at the end of the call, where a [`Policy`]
//! first checks touched states. Ways that the policy keeps apart never meet.

mod arithmetic;
mod frame;
mod memory;
mod merge;
mod policy;
mod residual;
#[cfg(test)]
mod tests;

pub use policy::{Changes, Policy, Progress, Treatment};
pub use residual::Residual;

use frame::{Bound, Frame};
use gbxcule_ir::constant::Literal;
use gbxcule_ir::eval;
use gbxcule_ir::function::FunctionId;
use gbxcule_ir::module::Module;
use gbxcule_ir::op::{BinaryOp, CompareOp, Op, Value};
use gbxcule_ir::stmt::{BlockId, StmtKind};
use gbxcule_ir::ty::{Scalar, Shape, Type};

/// Greatest number of ways that one call may have at once.
const MAX_WAYS: usize = 64;
/// Greatest number of statements that one call may run.
const MAX_STEPS: usize = 20_000;

/// Scalar that is known, unknown, or an unknown value plus a constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PartialValue {
    /// Known number.
    Literal(Literal),
    /// Value that the residual code computes.
    Value(Value),
    /// Sum of an integer value of the residual code and a constant, which is never 0.
    Sum(Value, Literal),
}

impl PartialValue {
    /// Returns the number, if it is known.
    pub fn literal(self) -> Option<Literal> {
        match self {
            Self::Literal(literal) => Some(literal),
            _ => None,
        }
    }
}

/// Value that a call takes or returns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PassedValue {
    /// A scalar.
    Scalar(PartialValue),
    /// Array, by its position among the specialiser's arrays.
    Array(usize),
}

/// An argument of a specialised call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Input {
    /// Argument passed by value.
    Passed(PassedValue),
    /// The registers.
    Registers,
    /// The memory.
    Memory,
}

/// An array that the residual code gets as a parameter.
#[derive(Clone, Copy, Debug)]
pub struct ArrayInput<'m> {
    /// The position of the parameter.
    pub param: u32,
    /// The type of the handle.
    pub ty: Type,
    /// Elements of an array of bytes that never change.
    pub bytes: Option<&'m [u8]>,
}

/// Place of the memory, by field numbers and indices from the outside in, whose value is known when
/// the residual code begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KnownPlace {
    /// Fields and indices from the outside in.
    pub path: Vec<u64>,
    /// Value of the place.
    pub literal: Literal,
}

/// Reason why something can't be specialised.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unsupported(pub &'static str);

/// Everything that is known on one way.
#[derive(Clone, Debug)]
pub struct State {
    /// The registers, by field.
    pub registers: Vec<PartialValue>,
    /// The block to which code is added.
    pub block: BlockId,
    /// The result of the last call.
    pub result: Option<PassedValue>,
    /// Values of the facts that still hold.
    facts: Vec<Option<PartialValue>>,
    /// Places of the memory whose content was read or written on this way and has not changed.
    contents: Vec<(Vec<u64>, PartialValue)>,
    /// Conditions that hold, or do not hold, on this way.
    decided: Vec<(Value, bool)>,
    progress: Progress,
    frames: Vec<Frame>,
}

impl State {
    fn innermost(&mut self) -> &mut Frame {
        self.frames.last_mut().unwrap_or_else(|| unreachable!("a statement is in a function"))
    }

    /// A state in which all facts hold.
    pub fn new(facts: &[KnownPlace], registers: Vec<PartialValue>, block: BlockId) -> Self {
        let facts = facts.iter().map(|fact| Some(PartialValue::Literal(fact.literal))).collect();
        Self {
            registers,
            block,
            result: None,
            facts,
            contents: Vec::new(),
            decided: Vec::new(),
            progress: Progress::default(),
            frames: Vec::new(),
        }
    }

    /// Returns a condition as a literal, if a branch on this way has decided it.
    fn decision(&self, condition: PartialValue) -> PartialValue {
        let decided = self.decided.iter().find(|(it, _)| condition == PartialValue::Value(*it));
        decided.map_or(condition, |(_, holds)| PartialValue::Literal(Literal::bool(*holds)))
    }

    /// Keeps the contents of the memory that all ways have.
    fn keep_common_contents(&mut self, ways: &[State]) {
        self.contents.clone_from(&ways[0].contents);
        let rest = &ways[1..];
        self.contents.retain(|it| rest.iter().all(|way| way.contents.contains(it)));
    }

    /// Returns true if the way ends with the outermost call.
    pub fn is_last(&self) -> bool {
        self.progress.is_last
    }

    /// Returns true if a call that is left in the code may have changed known or watched places.
    pub fn is_touched(&self) -> bool {
        self.progress.is_touched
    }
}

/// End of a way.
enum Way {
    /// The way reached the statement at which it should stop.
    Joined(State),
    /// The way left the function that holds this statement.
    Left(State),
    /// The call has ended: all its ways, each settled by the policy.
    Ended(Vec<State>),
}

/// Place in the middle of a call.
#[derive(Clone, Copy, PartialEq, Eq)]
struct ResumePoint {
    frames: usize,
    tasks: usize,
}

/// A specialisation in progress.
pub struct Specialiser<'m> {
    module: &'m Module,
    /// The code so far.
    pub residual: Residual,
    arrays: Vec<ArrayInput<'m>>,
    /// The position of the memory's parameter.
    memory: u32,
    memory_type: Type,
    facts: Vec<KnownPlace>,
    /// Places that touch the state when they are written.
    watched: Vec<Vec<u64>>,
    used: Vec<bool>,
    steps: usize,
    ways: usize,
}

impl<'m> Specialiser<'m> {
    /// Begins a specialisation over functions of a module.
    pub fn new(
        module: &'m Module,
        (memory, memory_type): (u32, Type),
        arrays: Vec<ArrayInput<'m>>,
        facts: Vec<KnownPlace>,
        watched: Vec<Vec<u64>>,
    ) -> Self {
        let used = vec![false; facts.len()];
        let residual = Residual::default();
        Self {
            module,
            residual,
            arrays,
            memory,
            memory_type,
            facts,
            watched,
            used,
            steps: 0,
            ways: 0,
        }
    }

    /// Makes the code rely on the fact about a place, if there is one.
    pub fn rely_on(&mut self, path: &[u64]) {
        for (fact, used) in self.facts.iter().zip(&mut self.used) {
            *used |= fact.path == path;
        }
    }

    /// Returns the facts that the code relies on.
    pub fn used_facts(&self) -> impl Iterator<Item = &KnownPlace> {
        self.facts.iter().zip(&self.used).filter(|(_, used)| **used).map(|(fact, _)| fact)
    }

    /// Returns the facts that may no longer hold on a way.
    pub fn lost_facts(&self, state: &State) -> Vec<KnownPlace> {
        let facts = self.facts.iter().zip(&state.facts);
        facts.filter(|(_, value)| value.is_none()).map(|(fact, _)| fact.clone()).collect()
    }

    /// Makes all facts hold again, on a way on which code has checked them.
    pub fn restore(&self, state: &mut State) {
        let facts = self.facts.iter().map(|fact| Some(PartialValue::Literal(fact.literal)));
        state.facts = facts.collect();
        state.progress.is_touched = false;
    }

    /// Specialises a call that has only one way and touches nothing.
    pub fn call_straight(
        &mut self,
        state: State,
        policy: &mut dyn Policy,
        function: FunctionId,
        inputs: &[Input],
    ) -> Result<State, Unsupported> {
        let was_touched = state.is_touched();
        let state = self.entered(state, function, inputs);
        let stop = ResumePoint { frames: 0, tasks: 0 };
        match self.run(state, Some(stop), policy)? {
            Way::Joined(state) if state.is_touched() == was_touched => Ok(state),
            _ => Err(Unsupported("a call with several ways")),
        }
    }

    /// Specialises a call; returns the ways on which the call ended, each settled by the policy.
    pub fn call(
        &mut self,
        state: State,
        policy: &mut dyn Policy,
        function: FunctionId,
        inputs: &[Input],
    ) -> Result<Vec<State>, Unsupported> {
        let state = self.entered(state, function, inputs);
        (self.steps, self.ways) = (0, 0);
        match self.run(state, None, policy)? {
            Way::Ended(states) => Ok(states),
            Way::Joined(_) | Way::Left(_) => unreachable!("nothing to stop at"),
        }
    }

    /// Computes an operation in a block.
    pub fn binary(
        &mut self,
        block: BlockId,
        op: BinaryOp,
        left: PartialValue,
        right: PartialValue,
    ) -> PartialValue {
        self.residual.binary(block, op, left, right)
    }

    /// Compares in a block.
    pub fn compare(
        &mut self,
        block: BlockId,
        op: CompareOp,
        left: PartialValue,
        right: PartialValue,
    ) -> PartialValue {
        self.residual.compare(block, op, left, right)
    }

    /// Converts in a block.
    pub fn convert(&mut self, block: BlockId, of: PartialValue, to: Scalar) -> PartialValue {
        self.residual.convert(block, of, to)
    }

    fn entered(&self, mut state: State, function: FunctionId, inputs: &[Input]) -> State {
        let params = inputs.iter().map(|input| match *input {
            Input::Passed(passed) => Bound::Value(passed),
            Input::Registers => Bound::Registers,
            Input::Memory => Bound::Memory(Vec::new()),
        });
        let body = &self.module.functions[function].body;
        state.frames.push(Frame::new(function, body, params.collect(), None));
        (state.progress.has_read, state.progress.has_stored) = (false, false);
        state
    }

    fn run(
        &mut self,
        mut state: State,
        stop: Option<ResumePoint>,
        policy: &mut dyn Policy,
    ) -> Result<Way, Unsupported> {
        loop {
            if state.progress.has_left {
                return Ok(Way::Ended(Vec::new()));
            }
            let Some(frame) = state.frames.last() else {
                return self.returned(state, stop, policy);
            };
            let (tasks, frames) = (frame.tasks.len(), state.frames.len());
            match stop {
                Some(stop) if frames < stop.frames => return Ok(Way::Left(state)),
                Some(stop) if stop == ResumePoint { frames, tasks } => {
                    return Ok(Way::Joined(state));
                }
                _ => {}
            }
            let frame = state.innermost();
            let Some((block, position)) = frame.tasks.last_mut() else {
                self.leave(&mut state, None);
                continue;
            };
            let body = &self.module.functions[frame.function].body;
            let Some(stmt) = body.blocks[*block].stmts.get(*position) else {
                frame.tasks.pop();
                continue;
            };
            *position += 1;
            self.count_step()?;
            match &stmt.kind {
                StmtKind::If { condition, accept, reject } => {
                    let condition = frame.scalar(*condition)?;
                    let condition = state.decision(condition);
                    let frame = state.innermost();
                    if let PartialValue::Literal(condition) = condition {
                        let block = if condition.bits() != 0 { *accept } else { *reject };
                        frame.tasks.push((block, 0));
                        continue;
                    }
                    let blocks = [*accept, *reject];
                    match self.fork(state, condition, blocks, policy)? {
                        Way::Joined(joined) => state = joined,
                        other => return Ok(other),
                    }
                }
                StmtKind::Switch { selector, cases, default } => {
                    frame.switch(*selector, cases, *default)?;
                }
                StmtKind::Return(value) => {
                    let value = value.map(|value| frame.passed(value)).transpose()?;
                    self.leave(&mut state, value);
                }
                StmtKind::Let(value) => self.define(&mut state, *value, policy)?,
                StmtKind::Store { place, value } => self.store(&mut state, *place, *value)?,
                _ => return Err(Unsupported("a loop, a trap or a print")),
            }
        }
    }

    fn count_step(&mut self) -> Result<(), Unsupported> {
        self.steps += 1;
        if self.steps > MAX_STEPS { Err(Unsupported("too many steps")) } else { Ok(()) }
    }

    /// Ends a way that returned from the outermost function.
    fn returned(
        &mut self,
        state: State,
        stop: Option<ResumePoint>,
        policy: &mut dyn Policy,
    ) -> Result<Way, Unsupported> {
        match stop {
            Some(ResumePoint { frames: 0, .. }) => Ok(Way::Joined(state)),
            Some(_) => Ok(Way::Left(state)),
            None => Ok(Way::Ended(policy.recheck_facts(self, state)?.into_iter().collect())),
        }
    }

    /// Ends the innermost function.
    fn leave(&self, state: &mut State, value: Option<PassedValue>) {
        let Some(frame) = state.frames.pop() else { return };
        match (state.frames.last_mut(), frame.result, value) {
            (Some(caller), Some(result), Some(value)) => caller.define(result, value),
            (None, _, value) => state.result = value,
            _ => {}
        }
    }

    /// Follows both ways of a branch.
    fn fork(
        &mut self,
        state: State,
        condition: PartialValue,
        blocks: [BlockId; 2],
        policy: &mut dyn Policy,
    ) -> Result<Way, Unsupported> {
        self.ways += 1;
        if self.ways > MAX_WAYS {
            return Err(Unsupported("too many ways"));
        }
        let mut base = state;
        let tasks = base.frames.last().map_or(0, |frame| frame.tasks.len());
        let stop = ResumePoint { frames: base.frames.len(), tasks };
        let condition = self.residual.value(base.block, condition);
        let arms = [(); 2].map(|()| self.residual.open(base.block));
        let [accept, reject] = arms;
        self.residual.push(base.block, StmtKind::If { condition, accept, reject });
        let mut ways = Vec::with_capacity(2);
        for (arm, block) in arms.into_iter().zip(blocks) {
            let mut state = base.clone();
            state.block = arm;
            state.decided.push((condition, arm == accept));
            let Some(frame) = state.frames.last_mut() else { unreachable!("a branch is in one") };
            frame.tasks.push((block, 0));
            ways.push(self.run(state, Some(stop), policy)?);
        }
        if let [Way::Joined(left), Way::Joined(right)] = &ways[..]
            && left.is_touched() == right.is_touched()
            && left.is_last() == right.is_last()
            && left.facts == right.facts
            && policy.may_meet(left, right)
        {
            let meeting: Vec<State> = ways.into_iter().filter_map(Way::joined).collect();
            base.facts.clone_from(&meeting[0].facts);
            base.keep_common_contents(&meeting);
            base.progress = meeting[0].progress.of_both(meeting[1].progress);
            self.meet(&mut base, &meeting)?;
            return Ok(Way::Joined(base));
        }
        for way in &mut ways {
            if let Way::Joined(state) = way
                && state.is_last()
            {
                *way = self.run(state.clone(), None, policy)?;
            }
        }
        // If the policy ended a way, the other ways go on alone.
        let is_over = |way: &Way| matches!(way, Way::Ended(states) if states.is_empty());
        if ways.iter().any(is_over) {
            ways.retain(|way| !is_over(way));
            return Ok(ways.pop().unwrap_or_else(|| Way::Ended(Vec::new())));
        }
        let mut ends = self.ends(ways, policy)?;
        if ends.len() > 1 && ends[1..].iter().all(|end| policy.may_meet(&ends[0], end)) {
            base.frames.clear();
            base.facts.clone_from(&ends[0].facts);
            base.keep_common_contents(&ends);
            base.progress = Progress::default();
            base.result = ends[0].result;
            self.meet(&mut base, &ends)?;
            ends = vec![base];
        }
        Ok(Way::Ended(ends))
    }

    /// Follows ways to their ends.
    fn ends(&mut self, ways: Vec<Way>, policy: &mut dyn Policy) -> Result<Vec<State>, Unsupported> {
        let mut ends = Vec::new();
        for way in ways {
            match way {
                Way::Ended(states) => ends.extend(states),
                Way::Joined(state) | Way::Left(state) => match self.run(state, None, policy)? {
                    Way::Ended(states) => ends.extend(states),
                    Way::Joined(_) | Way::Left(_) => unreachable!("nothing to stop at"),
                },
            }
        }
        Ok(ends)
    }

    /// Evaluates an operation.
    fn define(
        &mut self,
        state: &mut State,
        value: Value,
        policy: &mut dyn Policy,
    ) -> Result<(), Unsupported> {
        let Some(frame) = state.frames.last() else { unreachable!("statements are in a function") };
        let body = &self.module.functions[frame.function].body;
        let data = &body.values[value];
        let (block, residual) = (state.block, &mut self.residual);
        let result = match data.op {
            Op::Literal(literal) => PartialValue::Literal(literal),
            Op::Zero => match data.ty.as_scalar() {
                Some(scalar) => PartialValue::Literal(Literal::from_bits(scalar, 0)),
                None => return Err(Unsupported("a composite")),
            },
            Op::Unary(op, of) => residual.unary(block, op, frame.scalar(of)?),
            Op::Binary(op, left, right) => {
                residual.binary(block, op, frame.scalar(left)?, frame.scalar(right)?)
            }
            Op::Compare(op, left, right) => {
                residual.compare(block, op, frame.scalar(left)?, frame.scalar(right)?)
            }
            Op::Select { condition, accept, reject } => {
                let parts = [condition, accept, reject];
                let mut scalars = [PartialValue::Literal(Literal::bool(false)); 3];
                for (scalar, part) in scalars.iter_mut().zip(parts) {
                    *scalar = frame.scalar(part)?;
                }
                residual.select(block, scalars)
            }
            Op::Convert(of) => match data.ty.as_scalar() {
                Some(to) => residual.convert(block, frame.scalar(of)?, to),
                None => return Err(Unsupported("a composite")),
            },
            Op::Bitcast(of) => match data.ty.as_scalar() {
                Some(to) => residual.bitcast(block, frame.scalar(of)?, to),
                None => return Err(Unsupported("a composite")),
            },
            Op::Native { native, args } => PartialValue::Literal(eval::native(
                native,
                &frame.literals(&body.value_lists[args])?,
            )),
            Op::Extent { array, dim: 0 } => self.extent(state, array)?,
            Op::Load(place) => {
                let passed = self.load(state, place)?;
                let Some(frame) = state.frames.last_mut() else { unreachable!("seen above") };
                frame.define(value, passed);
                return Ok(());
            }
            Op::Call { function, args } => {
                return self.enter(state, value, function, args, policy);
            }
            _ => return Err(Unsupported("an operation on arrays or composites")),
        };
        let Some(frame) = state.frames.last_mut() else { unreachable!("seen above") };
        frame.define(value, PassedValue::Scalar(result));
        Ok(())
    }

    fn is_scalar(&self, ty: Type) -> bool {
        matches!(self.module.types[ty], Shape::Scalar(_))
    }
}

impl Way {
    fn joined(self) -> Option<State> {
        match self {
            Self::Joined(state) => Some(state),
            _ => None,
        }
    }
}
