//! Operations: read values on the stack and write one more.

use super::frame::{self, Slot};
use super::memory::Handle as ArrayHandle;
use super::perturbation::{self, Perturbation};
use super::place::moved;
use super::thread::{Passed, Thread};
use super::{Fault, Manner};
use gbxcule_ir::arena::List;
use gbxcule_ir::builtin::Native;
use gbxcule_ir::constant::Literal;
use gbxcule_ir::eval;
use gbxcule_ir::op::{Arg, AtomicOp, BinaryOp, CompareOp, Op, Selector, Value};
use gbxcule_ir::place::PlaceId;
use gbxcule_ir::ty::{Scalar, Shape};

/// Returns true if the sum, difference or product of signed integers didn't fit their type.
fn wraps(op: BinaryOp, left: Literal, right: Literal, result: Literal) -> bool {
    if !result.scalar().is_signed_int() {
        return false;
    }
    let [left, right] = [left, right].map(|it| it.as_int().unwrap_or_default());
    let exact = match op {
        BinaryOp::Add => left + right,
        BinaryOp::Subtract => left - right,
        BinaryOp::Multiply => left * right,
        _ => return false,
    };
    result.as_int() != Some(exact)
}

impl Thread<'_, '_> {
    /// Evaluates a value's operation. A call is only begun, and its callee runs later.
    pub(super) fn operation(&mut self, value: Value) -> Result<(), Fault> {
        let op = self.body.values[value].op;
        match op {
            Op::Literal(literal) => self.put(value, literal),
            Op::Zero => self.clear(value),
            Op::Index => {}
            Op::Unary(op, operand) => {
                self.by_component(value, [operand], |[it]| Ok(eval::unary(op, it)))?;
            }
            Op::Binary(op, left, right) => self.binary(value, op, left, right)?,
            Op::Compare(op, left, right) => self.compare(value, op, left, right),
            Op::Select { condition, accept, reject } => {
                let chosen = if self.get(condition).bits() != 0 { accept } else { reject };
                self.move_value(value, self.slot(chosen), self.size_of(value));
            }
            Op::Convert(operand) => {
                let to = self.scalar_of(value);
                self.by_component(value, [operand], |[it]| Ok(eval::convert(it, to)))?;
            }
            Op::Bitcast(operand) => {
                let bits = self.get(operand).bits();
                self.put(value, Literal::from_bits(self.scalar_of(value), bits));
            }
            // Each thread runs alone, so that the minimum is its own value.
            Op::Lowest(same) | Op::Opaque(same) => self.put(value, self.get(same)),
            Op::Construct(parts) => self.construct(value, parts),
            Op::Splat(part) => self.splat(value, part),
            Op::Extract { from, index } => {
                let at = self.slot(from) + self.part_offset(from, index);
                self.move_value(value, at, self.size_of(value));
            }
            Op::Load(place) => {
                let address = self.place(place)?;
                self.fetch(self.slot(value), address, self.size_of(value))?;
            }
            Op::Native { native, args } => self.native(value, native, args),
            Op::Call { function, args } => {
                let passed = self.passed(args)?;
                self.call(function, &passed, value)?;
            }
            Op::Atomic { op, place, value: operand, expected } => {
                self.atomic(value, op, place, operand, expected)?;
            }
            Op::LaunchIndex(dim) => {
                let index = self.index[usize::from(dim)];
                self.put(value, Literal::int(Scalar::I32, i128::from(index)));
            }
            Op::View { .. }
            | Op::AsArray(_)
            | Op::Extent { .. }
            | Op::Present(_)
            | Op::Gradient(_) => self.of_array(value, op)?,
        }
        Ok(())
    }

    /// Evaluates an operation that makes an array handle or reads one.
    fn of_array(&mut self, value: Value, op: Op) -> Result<(), Fault> {
        match op {
            Op::View { array, selectors } => {
                let handle = self.view(array, &self.body.selector_lists[selectors])?;
                self.put_handle(value, &handle);
            }
            Op::AsArray(place) => {
                let handle = self.array_of(place, self.type_of(value))?;
                self.put_handle(value, &handle);
            }
            Op::Extent { array, dim } => {
                let extent = self.handle(array).shape[usize::from(dim)];
                self.put(value, Literal::int(Scalar::I32, i128::from(extent)));
            }
            Op::Present(array) => {
                let present = self.handle(array).data != 0;
                self.put(value, Literal::bool(present));
            }
            Op::Gradient(array) => {
                let handle = self.handle(array);
                let gradient = ArrayHandle { data: handle.gradient, gradient: 0, ..handle };
                self.put_handle(value, &gradient);
            }
            _ => unreachable!("`operation` evaluates all other operations"),
        }
        Ok(())
    }

    fn binary(
        &mut self,
        value: Value,
        op: BinaryOp,
        left: Value,
        right: Value,
    ) -> Result<(), Fault> {
        if let Some([a, b]) = self.fused(op, right) {
            return self.by_component(value, [left, a, b], |args| {
                let [left, a, b] = args.map(Literal::as_f64);
                let a = if op == BinaryOp::Subtract { -a } else { a };
                Ok(Literal::float(args[0].scalar(), a.mul_add(b, left)))
            });
        }
        let loose = self.may_round_once(op, left, right);
        let refuses_wrapping = self.interpreter.refusals.wrapping;
        self.by_component(value, [left, right], |[left, right]| {
            let result = eval::binary(op, left, right).map_err(|_| Fault::DivisionByZero)?;
            if refuses_wrapping && wraps(op, left, right, result) {
                return Err(Fault::Trap("a signed integer that wraps".into()));
            }
            Ok(if loose { perturbation::perturbed_by_bits([left, right, result]) } else { result })
        })
    }

    fn compare(&mut self, value: Value, op: CompareOp, left: Value, right: Value) {
        let result = eval::compare(op, self.get(left), self.get(right));
        if let Some(outcomes) = &mut self.interpreter.outcomes {
            let place = (self.function, self.body.values[value].span);
            outcomes.entry(place).or_default()[usize::from(result)] = true;
        }
        self.put(value, Literal::bool(result));
    }

    fn construct(&mut self, value: Value, parts: List<Value>) {
        // Padding is zero, so that images can be compared.
        self.clear(value);
        for (index, &part) in (0..).zip(&self.body.value_lists[parts]) {
            self.set_part(value, index, part);
        }
    }

    /// Makes all parts of a value equal.
    fn splat(&mut self, value: Value, part: Value) {
        let count = match self.interpreter.module.types[self.type_of(value)] {
            Shape::Fixed { len, .. } => len,
            _ => self.components(value).1,
        };
        (0..count).for_each(|index| self.set_part(value, index, part));
    }

    fn native(&mut self, value: Value, native: Native, args: List<Value>) {
        let args = &self.body.value_lists[args];
        let mut given = [Literal::bool(false); 3];
        for (given, &arg) in given.iter_mut().zip(args) {
            *given = self.get(arg);
        }
        let result = eval::native(native, &given[..args.len()]);
        let perturbation = self.interpreter.perturbation.as_mut();
        let result = perturbation.map_or(result, |perturbation| perturbation.moved(native, result));
        self.put(value, result);
    }

    /// Returns the arguments of a call: positions of values, and addresses of places.
    fn passed(&mut self, args: List<Arg>) -> Result<Vec<Passed>, Fault> {
        let mut passed = Vec::new();
        for &arg in &self.body.arg_lists[args] {
            passed.push(match arg {
                Arg::Value(arg) => Passed::Value { at: self.slot(arg), size: self.size_of(arg) },
                Arg::Place(place) => Passed::Place(self.place(place)?),
            });
        }
        Ok(passed)
    }

    /// Fills a value with zeros.
    fn clear(&mut self, value: Value) {
        let (at, size) = (self.slot(value) as usize, self.size_of(value) as usize);
        self.interpreter.stack[at..][..size].fill(0);
    }

    /// Returns the scalar type and the number of a value's components.
    fn components(&self, value: Value) -> (Scalar, u32) {
        let slot = self.frame.value(value);
        (slot.of, slot.count)
    }

    fn by_component<const N: usize>(
        &mut self,
        value: Value,
        operands: [Value; N],
        compute: impl Fn([Literal; N]) -> Result<Literal, Fault>,
    ) -> Result<(), Fault> {
        let Slot { offset, of, count, .. } = self.frame.value(value);
        let operands = operands.map(|it| self.frame.value(it));
        for index in 0..u64::from(count) {
            let result = compute(operands.map(|it| self.part_of(it, index)))?;
            self.put_at(self.base + offset + index * u64::from(of.bytes()), result);
        }
        Ok(())
    }

    /// Returns the factors of a product that is added or subtracted without being rounded first.
    fn fused(&self, op: BinaryOp, right: Value) -> Option<[Value; 2]> {
        let adds = matches!(op, BinaryOp::Add | BinaryOp::Subtract);
        if self.interpreter.perturbation != Some(Perturbation::Fused)
            || !adds
            || !self.components(right).0.is_float()
        {
            return None;
        }
        match self.body.values[right].op {
            Op::Binary(BinaryOp::Multiply, a, b) => Some([a, b]),
            _ => None,
        }
    }

    /// Returns true if the perturbation moves the sum with a product.
    fn may_round_once(&self, op: BinaryOp, left: Value, right: Value) -> bool {
        let product =
            |value: Value| matches!(self.body.values[value].op, Op::Binary(BinaryOp::Multiply, ..));
        self.interpreter.perturbation == Some(Perturbation::FusedProducts)
            && matches!(op, BinaryOp::Add | BinaryOp::Subtract)
            && (product(left) || product(right))
    }

    fn move_value(&mut self, value: Value, from: u64, size: u64) {
        let to = self.slot(value) as usize;
        self.interpreter.stack.copy_within(from as usize..(from + size) as usize, to);
    }

    fn set_part(&mut self, value: Value, index: u32, part: Value) {
        let to = (self.slot(value) + self.part_offset(value, index)) as usize;
        let (from, size) = (self.slot(part) as usize, self.size_of(part) as usize);
        self.interpreter.stack.copy_within(from..from + size, to);
    }

    /// Returns the byte offset of a part in a composite.
    fn part_offset(&self, of: Value, index: u32) -> u64 {
        let types = &self.interpreter.module.types;
        let ty = self.type_of(of);
        match &types[ty] {
            Shape::Struct(id) => self.frames.field(*id, index),
            Shape::Tuple(parts) => frame::tuple_offset(types, parts, index as usize),
            Shape::Fixed { of, .. } => u64::from(index) * frame::size(types, *of),
            _ => u64::from(index) * u64::from(self.components(of).0.bytes()),
        }
    }

    fn atomic(
        &mut self,
        value: Value,
        op: AtomicOp,
        place: PlaceId,
        operand: Value,
        expected: Option<Value>,
    ) -> Result<(), Fault> {
        let address = self.place(place)?;
        let (of, count) = self.components(value);
        let width = u64::from(of.bytes());
        if let Some(races) = &mut self.interpreter.races {
            let size = width * u64::from(count);
            races.touch((address, size), Manner::Atomic, true, self.stmt_span);
        }
        for index in 0..u64::from(count) {
            let old = eval::from_bytes(of, self.bytes(address + index * width, width)?);
            let operand = self.scalar_at(self.slot(operand) + index * width, of);
            let new = match expected {
                Some(expected) if self.get(expected) != old => old,
                _ => eval::atomic(op, old, operand),
            };
            let adds = matches!(op, AtomicOp::Add | AtomicOp::Subtract);
            let new = match self.interpreter.perturbation {
                Some(Perturbation::AtomicSums) if adds => {
                    perturbation::perturbed_sum([old, operand, new], true)
                }
                _ => new,
            };
            eval::to_bytes(new, self.bytes_mut(address + index * width, width)?);
            self.put_at(self.slot(value) + index * width, old);
        }
        Ok(())
    }

    fn view(&self, array: Value, selectors: &[Selector]) -> Result<ArrayHandle, Fault> {
        let handle = self.handle(array);
        let mut part = ArrayHandle { shape: [0; 4], strides: [0; 4], dims: 0, ..handle };
        let mut offset = 0i64;
        for dim in 0..usize::from(handle.dims) {
            let (mut extent, mut stride) = (handle.shape[dim], handle.strides[dim]);
            match selectors.get(dim) {
                Some(&Selector::At(index)) => {
                    offset += self.index_within(index, i64::from(extent))? * i64::from(stride);
                    continue;
                }
                Some(&Selector::Range { start, len, step }) => {
                    let [start, len, step] =
                        [start, len, step].map(|value| self.get(value).as_int().unwrap_or(0));
                    let len = len.max(0);
                    for index in [start, start + (len - 1) * step] {
                        if len > 0 && !(0..i128::from(extent)).contains(&index) {
                            return Err(Fault::Index(index, i64::from(extent)));
                        }
                    }
                    offset = offset.wrapping_add(start as i64 * i64::from(stride));
                    stride = stride.wrapping_mul(step as i32);
                    extent = len as i32;
                }
                None => {}
            }
            (part.shape[usize::from(part.dims)], part.strides[usize::from(part.dims)]) =
                (extent, stride);
            part.dims += 1;
        }
        let empty = part.shape[..usize::from(part.dims)].contains(&0);
        for address in [&mut part.data, &mut part.gradient] {
            if *address != 0 && !empty {
                *address = moved(*address, offset)?;
            }
        }
        Ok(part)
    }
}
