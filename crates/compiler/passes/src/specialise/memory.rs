//! Loads, stores and calls while a function is specialised.

use super::frame::{Bound, Frame, Step};
use super::{
    Changes, PartialValue, PassedValue, Policy, Specialiser, State, Treatment, Unsupported,
};
use gbxcule_ir::arena::List;
use gbxcule_ir::constant::Literal;
use gbxcule_ir::function::{FunctionId, LocalId, PassMode};
use gbxcule_ir::op::{Arg, Op, Value};
use gbxcule_ir::place::{PlaceId, Projection, Root};
use gbxcule_ir::stmt::{BlockId, StmtKind};
use gbxcule_ir::ty::{Scalar, Shape, Type};

/// Location of a place during specialisation: a register of the CPU, all its registers, a local, a
/// parameter, the machine's memory, or an element of an array.
enum Target {
    Register(usize),
    Registers,
    Local(LocalId),
    /// A parameter passed by value.
    Value(PassedValue),
    Memory(Vec<Step>),
    Element {
        array: usize,
        index: PartialValue,
    },
}

impl Specialiser<'_> {
    fn target(&self, frame: &Frame, place: PlaceId) -> Result<Target, Unsupported> {
        let body = &self.module.functions[frame.function].body;
        let path = body.path(place);
        match (body.places[place].root, path) {
            (Root::Local(local), []) => Ok(Target::Local(local)),
            (Root::Param(at), _) => match (&frame.params[at as usize], path) {
                (Bound::Value(passed), []) => Ok(Target::Value(*passed)),
                (Bound::Value(PassedValue::Array(array)), [Projection::Element(indices)]) => {
                    match body.value_lists[*indices] {
                        [index] => {
                            Ok(Target::Element { array: *array, index: frame.scalar(index)? })
                        }
                        _ => Err(Unsupported("an array of several dimensions")),
                    }
                }
                (Bound::Registers, []) => Ok(Target::Registers),
                (Bound::Registers, [Projection::Field(field)]) => {
                    Ok(Target::Register(*field as usize))
                }
                (Bound::Memory(before), _) => {
                    let mut steps = before.clone();
                    for step in path {
                        steps.push(match *step {
                            Projection::Field(field) => Step::Field(field),
                            Projection::At(index) => Step::At(frame.scalar(index)?),
                            _ => return Err(Unsupported("an array in the memory")),
                        });
                    }
                    Ok(Target::Memory(steps))
                }
                _ => Err(Unsupported("a part of a parameter")),
            },
            (Root::Array(value), [Projection::Element(indices)]) => {
                match (frame.passed(value)?, &body.value_lists[*indices]) {
                    (PassedValue::Array(array), [index]) => {
                        Ok(Target::Element { array, index: frame.scalar(*index)? })
                    }
                    _ => Err(Unsupported("an array of several dimensions")),
                }
            }
            _ => Err(Unsupported("a part of a variable, or a table")),
        }
    }

    pub(super) fn load(
        &mut self,
        state: &mut State,
        place: PlaceId,
    ) -> Result<PassedValue, Unsupported> {
        let Some(frame) = state.frames.last() else { unreachable!("statements are in a function") };
        let ty = self.module.functions[frame.function].body.places[place].ty;
        let scalar = match self.target(frame, place)? {
            Target::Register(at) => state.registers[at],
            Target::Local(local) => {
                frame.locals[local.index()].ok_or(Unsupported("a composite variable"))?
            }
            Target::Value(passed) => return Ok(passed),
            Target::Memory(steps) => {
                if !self.is_scalar(ty) {
                    return Err(Unsupported("a composite of the memory"));
                }
                match self.fact(state, &steps) {
                    Some(scalar) => scalar,
                    None => self.content(state, &steps, ty),
                }
            }
            Target::Element { array, index } => self.element(state.block, array, index, ty),
            Target::Registers => return Err(Unsupported("all registers as a value")),
        };
        Ok(PassedValue::Scalar(scalar))
    }

    fn element(
        &mut self,
        block: BlockId,
        array: usize,
        index: PartialValue,
        ty: Type,
    ) -> PartialValue {
        let input = self.arrays[array];
        if let (Some(bytes), Some(index)) = (input.bytes, index.literal())
            && let Some(&byte) = bytes.get(index.bits() as usize)
        {
            return PartialValue::Literal(Literal::from_bits(Scalar::U8, u64::from(byte)));
        }
        let index = self.residual.value(block, index);
        let indices = self.residual.body.value_lists.add([index]);
        let path = vec![Projection::Element(indices)];
        let place = self.residual.place(Root::Param(input.param), path, ty);
        PartialValue::Value(self.residual.emit(block, Op::Load(place), ty))
    }

    pub(super) fn extent(
        &mut self,
        state: &State,
        array: Value,
    ) -> Result<PartialValue, Unsupported> {
        let Some(frame) = state.frames.last() else { unreachable!("statements are in a function") };
        let PassedValue::Array(array) = frame.passed(array)? else {
            return Err(Unsupported("the extent of a scalar"));
        };
        if let Some(bytes) = self.arrays[array].bytes {
            return Ok(PartialValue::Literal(Literal::int(Scalar::I32, bytes.len() as i128)));
        }
        let array = self.handle(state.block, array);
        let op = Op::Extent { array, dim: 0 };
        Ok(PartialValue::Value(self.residual.emit(state.block, op, Type::I32)))
    }

    fn handle(&mut self, block: BlockId, array: usize) -> Value {
        let input = self.arrays[array];
        let place = self.residual.place(Root::Param(input.param), Vec::new(), input.ty);
        self.residual.emit(block, Op::Load(place), input.ty)
    }

    /// Returns the known value of a place of the memory.
    fn fact(&mut self, state: &State, steps: &[Step]) -> Option<PartialValue> {
        let path = known_path(steps)?;
        let position = self.facts.iter().position(|fact| fact.path == path)?;
        let value = state.facts[position]?;
        self.used[position] = true;
        Some(value)
    }

    /// Returns the content of a place of the memory, which is loaded unless this way knows it.
    fn content(&mut self, state: &mut State, steps: &[Step], ty: Type) -> PartialValue {
        state.progress.has_read = true;
        let path = known_path(steps);
        let known = path.as_ref().and_then(|path| state.contents.iter().find(|it| it.0 == *path));
        if let Some(&(_, content)) = known {
            return content;
        }
        let place = self.memory_place(state.block, steps, ty);
        let content = PartialValue::Value(self.residual.emit(state.block, Op::Load(place), ty));
        state.contents.extend(path.map(|path| (path, content)));
        content
    }

    /// Adds a load of a scalar of the memory to a block. The path has field numbers and indices
    /// from the outside in.
    pub fn load_memory(&mut self, block: BlockId, path: &[u64]) -> PartialValue {
        let (steps, ty) = self.steps(path);
        let place = self.memory_place(block, &steps, ty);
        PartialValue::Value(self.residual.emit(block, Op::Load(place), ty))
    }

    /// Returns the content of a scalar of the memory, which is loaded unless the way knows it.
    pub fn content_at(&mut self, state: &mut State, path: &[u64]) -> PartialValue {
        let (steps, ty) = self.steps(path);
        self.content(state, &steps, ty)
    }

    /// Returns the steps of a path, and the type of the place.
    fn steps(&self, path: &[u64]) -> (Vec<Step>, Type) {
        let (mut ty, mut steps) = (self.memory_type, Vec::with_capacity(path.len()));
        for &part in path {
            let types = &self.module.types;
            ty = match types[ty] {
                Shape::Struct(id) => {
                    steps.push(Step::Field(part as u32));
                    types.structure(id).fields[part as usize].ty
                }
                Shape::Fixed { of, .. } => {
                    let index = Literal::from_bits(Scalar::U64, part);
                    steps.push(Step::At(PartialValue::Literal(index)));
                    of
                }
                _ => unreachable!("a path through structs and arrays"),
            };
        }
        (steps, ty)
    }

    fn memory_place(&mut self, block: BlockId, steps: &[Step], ty: Type) -> PlaceId {
        let mut path = Vec::with_capacity(steps.len());
        for step in steps {
            path.push(match *step {
                Step::Field(field) => Projection::Field(field),
                Step::At(index) => Projection::At(self.residual.value(block, index)),
            });
        }
        self.residual.place(Root::Param(self.memory), path, ty)
    }

    pub(super) fn store(
        &mut self,
        state: &mut State,
        place: PlaceId,
        value: Value,
    ) -> Result<(), Unsupported> {
        let Some(frame) = state.frames.last_mut() else {
            unreachable!("statements are in a function")
        };
        let scalar = frame.scalar(value)?;
        let ty = self.module.functions[frame.function].body.places[place].ty;
        match self.target(frame, place)? {
            Target::Register(at) => state.registers[at] = scalar,
            Target::Local(local) => frame.locals[local.index()] = Some(scalar),
            Target::Memory(steps) => {
                let place = self.memory_place(state.block, &steps, ty);
                let value = self.residual.value(state.block, scalar);
                self.residual.push(state.block, StmtKind::Store { place, value });
                state.progress.has_stored = true;
                self.record_write(state, &steps, scalar);
            }
            _ => return Err(Unsupported("a write to an array")),
        }
        Ok(())
    }

    /// Records that a place of the memory was written.
    fn record_write(&self, state: &mut State, steps: &[Step], scalar: PartialValue) {
        for (fact, holds) in self.facts.iter().zip(&mut state.facts) {
            if overlap(steps, &fact.path) {
                let is_whole = known_path(steps).is_some_and(|path| path == fact.path);
                *holds = is_whole.then_some(scalar);
                state.progress.is_touched = true;
            }
        }
        state.progress.is_touched |= self.watched.iter().any(|path| overlap(steps, path));
        state.contents.retain(|(path, _)| !overlap(steps, path));
        state.contents.extend(known_path(steps).map(|path| (path, scalar)));
    }

    pub(super) fn enter(
        &mut self,
        state: &mut State,
        value: Value,
        function: FunctionId,
        args: List<Arg>,
        policy: &mut dyn Policy,
    ) -> Result<(), Unsupported> {
        let Some(frame) = state.frames.last() else { unreachable!("statements are in a function") };
        let body = &self.module.functions[frame.function].body;
        let mut bound = Vec::with_capacity(args.len());
        for arg in &body.arg_lists[args] {
            bound.push(match *arg {
                Arg::Value(value) => Bound::Value(frame.passed(value)?),
                Arg::Place(place) => match self.target(frame, place)? {
                    Target::Registers => Bound::Registers,
                    Target::Memory(steps) => Bound::Memory(steps),
                    _ => return Err(Unsupported("a variable passed by reference")),
                },
            });
        }
        let literals = bound.iter().map(|bound| match bound {
            Bound::Value(PassedValue::Scalar(known)) => known.literal(),
            _ => None,
        });
        match policy.treatment(function, &literals.collect::<Vec<_>>(), state.progress) {
            Treatment::Unfold => {
                let body = &self.module.functions[function].body;
                let result =
                    (self.module.functions[function].result != Type::UNIT).then_some(value);
                state.frames.push(Frame::new(function, body, bound, result));
                Ok(())
            }
            Treatment::Call(changes) => self.call_left(state, value, (function, changes), &bound),
            Treatment::LastCall => {
                state.progress.is_last = true;
                self.call_left(state, value, (function, Changes::Any), &bound)
            }
            Treatment::Leave => {
                policy.leave(self, state);
                state.progress.has_left = true;
                Ok(())
            }
            Treatment::Refuse => Err(Unsupported("a call that may not be left")),
        }
    }

    /// Adds the call itself to the code.
    fn call_left(
        &mut self,
        state: &mut State,
        value: Value,
        (function, changes): (FunctionId, Changes),
        bound: &[Bound],
    ) -> Result<(), Unsupported> {
        let callee = &self.module.functions[function];
        let result = callee.result;
        if result != Type::UNIT && !self.is_scalar(result) {
            return Err(Unsupported("a call that gives a composite"));
        }
        let mut gets_memory = false;
        let mut args = Vec::with_capacity(bound.len());
        for (bound, param) in bound.iter().zip(&callee.params) {
            args.push(match bound {
                Bound::Value(PassedValue::Scalar(known)) => {
                    Arg::Value(self.residual.value(state.block, *known))
                }
                Bound::Value(PassedValue::Array(array)) => {
                    Arg::Value(self.handle(state.block, *array))
                }
                Bound::Memory(steps) => {
                    gets_memory |= param.mode == PassMode::Mutable;
                    Arg::Place(self.memory_place(state.block, steps, param.ty))
                }
                Bound::Registers => return Err(Unsupported("registers passed to a call")),
            });
        }
        let args = self.residual.body.arg_lists.add(args);
        let given = self.residual.emit(state.block, Op::Call { function, args }, result);
        if gets_memory {
            state.progress.has_read = true;
            state.progress.has_stored = true;
            state.contents.clear();
            state.progress.is_touched |= changes != Changes::Others;
            if changes == Changes::Any {
                state.facts.fill(None);
            }
        }
        if result != Type::UNIT
            && let Some(frame) = state.frames.last_mut()
        {
            frame.define(value, PassedValue::Scalar(PartialValue::Value(given)));
        }
        Ok(())
    }
}

/// Returns the fields and indices of a place, if all are known.
fn known_path(steps: &[Step]) -> Option<Vec<u64>> {
    steps.iter().map(step_number).collect()
}

fn step_number(step: &Step) -> Option<u64> {
    match step {
        Step::Field(field) => Some(u64::from(*field)),
        Step::At(index) => index.literal().map(Literal::bits),
    }
}

/// Returns true if two places may overlap.
fn overlap(steps: &[Step], path: &[u64]) -> bool {
    steps.iter().zip(path).all(|(step, part)| step_number(step).is_none_or(|it| it == *part))
}
