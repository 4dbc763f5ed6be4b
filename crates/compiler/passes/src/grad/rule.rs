//! Reverses single statements: what each operation adds to the adjoints of its operands.
//!
//! The derivatives of builtins such as `atan2` stand in their rows in `ir/src/builtin`, the
//! derivatives of natives in `native_derivative.rs`.

use super::adjoint::{OptionalName, accumulate_shared, clear, take};
use super::reverse::{Reverser, SavedValues};
use gbxcule_ir::arena::List;
use gbxcule_ir::build::Builder;
use gbxcule_ir::builtin::{Derivative, Native};
use gbxcule_ir::function::{FunctionId, Inline, Param, PassMode};
use gbxcule_ir::op::{Arg, AtomicOp, BinaryOp, Op, UnaryOp, Value};
use gbxcule_ir::place::{PlaceId, Root};
use gbxcule_ir::stmt::StmtKind;
use gbxcule_ir::ty::{Shape, Type};

impl Reverser<'_, '_> {
    /// Writes the reverse of a statement without blocks.
    pub(super) fn simple(&mut self, stmt: &StmtKind, keep: &SavedValues) {
        match *stmt {
            StmtKind::Store { place, value } => {
                if let Some(handle) = keep.handle {
                    let amount = self.taken_from_memory(handle, place, true);
                    self.add(value, amount);
                } else {
                    let place = self.adjoint_place(place);
                    let amount = take(&mut self.b, place);
                    self.add(value, amount);
                }
            }
            StmtKind::Return(Some(value)) => self.result(value),
            StmtKind::Let(value) => match self.scan.body.values[value].op {
                Op::Call { function: callee, args } => {
                    self.call(value, callee, args, keep);
                }
                Op::Atomic { op, place, value, .. } => self.atomic(op, place, value, keep),
                Op::Construct(parts) if self.is_tuple(value) => self.tuple(value, parts),
                _ => {
                    if let Some(adjoint) = self.adjoints.take(&mut self.b, value, 0) {
                        if let Some(name) = self.name(value) {
                            self.b.rename(adjoint, &format!("adj_{name}"));
                        }
                        self.operation(value, adjoint, keep);
                    }
                }
            },
            _ => {}
        }
    }

    /// Adds the adjoints that the caller passes to the adjoints of the function's results.
    fn result(&mut self, value: Value) {
        let tuple = self.is_tuple(value);
        for (part, amount) in (0..).zip(self.results.clone()) {
            let Some(amount) = amount else { continue };
            if tuple {
                self.add_part(value, part, amount);
            } else {
                self.add(value, amount);
            }
        }
    }

    fn is_tuple(&self, value: Value) -> bool {
        let ty = self.scan.body.type_of(value);
        matches!(self.program.types[ty], Shape::Tuple(_))
    }

    fn add_part(&mut self, value: Value, part: u32, amount: Value) {
        let (ty, name) = (self.scan.body.type_of(value), self.name(value));
        let called = OptionalName(name.as_deref());
        self.adjoints.add_part(&mut self.b, value, (ty, part), called, amount);
    }

    /// Adds the adjoint of each part of a tuple to the adjoint of the value in that part.
    fn tuple(&mut self, value: Value, parts: List<Value>) {
        for (position, &part) in (0..).zip(&self.scan.body.value_lists[parts]) {
            if let Some(amount) = self.adjoints.take(&mut self.b, value, position) {
                self.add(part, amount);
            }
        }
    }

    fn operation(&mut self, value: Value, adjoint: Value, keep: &SavedValues) {
        let body = self.scan.body;
        match body.values[value].op {
            Op::Unary(UnaryOp::Negate, operand) => {
                let amount = self.b.neg(adjoint);
                self.add(operand, amount);
            }
            Op::Binary(op, left, right) => self.binary(op, [left, right], value, adjoint),
            Op::Select { condition, accept, reject } => {
                let ty = body.type_of(value);
                let condition = self.copy.value(condition);
                let zero = self.b.zero(ty);
                let (first, second) = (
                    self.b.select(condition, adjoint, zero),
                    self.b.select(condition, zero, adjoint),
                );
                self.add(accept, first);
                self.add(reject, second);
            }
            Op::Convert(operand) => {
                let ty = body.type_of(operand);
                if let (true, Some((scalar, _))) =
                    (self.adjoints.is_active(operand), self.program.types.components(ty))
                {
                    let amount = self.b.convert(adjoint, scalar);
                    self.add(operand, amount);
                }
            }
            Op::Construct(parts) => {
                for (position, &part) in (0..).zip(&body.value_lists[parts]) {
                    if self.adjoints.is_active(part) {
                        let amount = self.b.extract(adjoint, position);
                        self.add(part, amount);
                    }
                }
            }
            Op::Splat(part) => self.splat(part, adjoint),
            Op::Extract { from, index } => self.add_part(from, index, adjoint),
            Op::Load(place) => self.load(place, adjoint, keep),
            Op::Native { native, args } => {
                if let Derivative::Partials(partials) = native.row().derivative {
                    let args = &body.value_lists[args];
                    let copies: Vec<Value> = args.iter().map(|&arg| self.copy.value(arg)).collect();
                    let partials = partials(&mut self.b, &copies, self.copy.value(value));
                    for (&arg, partial) in args.iter().zip(partials) {
                        if self.adjoints.is_active(arg) {
                            let amount = self.chain_rule(adjoint, partial, false);
                            self.add(arg, amount);
                        }
                    }
                }
            }
            _ => {}
        }
    }

    fn binary(&mut self, op: BinaryOp, operands: [Value; 2], value: Value, adjoint: Value) {
        let [left, right] = operands;
        let [left_active, right_active] = operands.map(|value| self.adjoints.is_active(value));
        match op {
            BinaryOp::Add => {
                self.add(left, adjoint);
                self.add(right, adjoint);
            }
            BinaryOp::Subtract => {
                self.add(left, adjoint);
                if right_active {
                    let amount = self.b.neg(adjoint);
                    self.add(right, amount);
                }
            }
            BinaryOp::Multiply => {
                if left_active {
                    let amount = self.chain_rule(adjoint, self.copy.value(right), false);
                    self.add(left, amount);
                }
                if right_active {
                    let amount = self.chain_rule(adjoint, self.copy.value(left), false);
                    self.add(right, amount);
                }
            }
            BinaryOp::Divide => {
                let amount = self.chain_rule(adjoint, self.copy.value(right), true);
                self.add(left, amount);
                if right_active {
                    let amount = self.chain_rule(amount, self.copy.value(value), false);
                    let amount = self.b.neg(amount);
                    self.add(right, amount);
                }
            }
            BinaryOp::Remainder => {
                self.add(left, adjoint);
                if right_active {
                    let quotient = self.whole_quotient([left, right], value);
                    let amount = self.chain_rule(adjoint, quotient, false);
                    let amount = self.b.neg(amount);
                    self.add(right, amount);
                }
            }
            _ => {}
        }
    }

    /// Returns the whole number of times that a remainder operation took the right operand away
    /// from the left one.
    fn whole_quotient(&mut self, operands: [Value; 2], remainder: Value) -> Value {
        let [left, right] = operands.map(|value| self.copy.value(value));
        let away = self.b.sub(left, self.copy.value(remainder));
        let quotient = self.b.div(away, right);
        let ty = self.b.body().type_of(quotient);
        let parts: Vec<Value> = self
            .b
            .parts(quotient)
            .into_iter()
            .map(|part| self.b.native(Native::Rint, &[part]))
            .collect();
        self.b.assemble(ty, &parts)
    }

    fn splat(&mut self, part: Value, adjoint: Value) {
        if !self.adjoints.is_active(part) {
            return;
        }
        let ty = self.b.body().type_of(adjoint);
        let count = match self.program.types[ty] {
            Shape::Fixed { len, .. } => len,
            _ => self.program.types.components(ty).map_or(0, |(_, count)| count),
        };
        for index in 0..count {
            let amount = self.b.extract(adjoint, index);
            self.add(part, amount);
        }
    }

    fn load(&mut self, place: PlaceId, adjoint: Value, keep: &SavedValues) {
        let Some(handle) = keep.handle else {
            let place = self.adjoint_place(place);
            super::adjoint::accumulate(&mut self.b, place, adjoint);
            return;
        };
        let (gradient, present) = self.gradient(handle, place);
        self.b.open_block();
        let target = self.corresponding_place(gradient, place);
        accumulate_shared(&mut self.b, target, adjoint);
        let accept = self.b.close_block();
        let reject = self.b.empty_block();
        self.b.if_blocks(present, accept, reject);
    }

    /// Returns the gradient of the array behind a handle, and whether the array has one.
    fn gradient(&mut self, handle: Value, place: PlaceId) -> (Value, Value) {
        let gradient = self.b.gradient(handle);
        let name = match self.scan.body.places[place].root {
            Root::Param(position) => Some(self.function.params[position as usize].name.clone()),
            Root::Local(local) => Some(self.scan.body.locals[local].name.clone()),
            Root::Array(value) => self.name(value),
            Root::Table(_) => None,
        };
        if let Some(name) = name {
            self.b.rename(gradient, &format!("adj_{name}"));
        }
        (gradient, self.b.present(gradient))
    }

    /// Returns the place, in another array of the same shape, that corresponds to a place in
    /// memory.
    fn corresponding_place(&mut self, array: Value, place: PlaceId) -> PlaceId {
        let steps = self.scan.handle_steps(place).unwrap_or_default();
        let len = self.scan.body.path(place).len();
        let root = self.b.array_place(array);
        self.copy.path(&mut self.b, root, place, steps..len)
    }

    /// Returns the adjoint of the value that was stored to memory. If `gone` is true the old
    /// value of the element had no effect, so its gradient becomes 0.
    fn taken_from_memory(&mut self, handle: Value, place: PlaceId, gone: bool) -> Value {
        let ty = self.scan.body.places[place].ty;
        let local = self.b.local("adj_stored", ty);
        let stored = self.b.local_place(local);
        let zero = self.b.zero(ty);
        self.b.store(stored, zero);
        let (gradient, present) = self.gradient(handle, place);
        self.b.open_block();
        let target = self.corresponding_place(gradient, place);
        let old = self.b.load(target);
        self.b.store(stored, old);
        if gone {
            clear(&mut self.b, target);
        }
        let accept = self.b.close_block();
        let reject = self.b.empty_block();
        self.b.if_blocks(present, accept, reject);
        self.b.load(stored)
    }

    fn atomic(&mut self, op: AtomicOp, place: PlaceId, value: Value, keep: &SavedValues) {
        let Some(handle) = keep.handle else { return };
        match op {
            AtomicOp::Add => {
                let amount = self.taken_from_memory(handle, place, false);
                self.add(value, amount);
            }
            AtomicOp::Subtract => {
                let amount = self.taken_from_memory(handle, place, false);
                let amount = self.b.neg(amount);
                self.add(value, amount);
            }
            AtomicOp::Min | AtomicOp::Max => self.extreme(handle, place, value),
            _ => {}
        }
    }

    /// Gives the whole adjoint, once, to the thread whose value is now in memory.
    fn extreme(&mut self, handle: Value, place: PlaceId, value: Value) {
        let ty = self.scan.body.places[place].ty;
        let local = self.b.local("adj_won", ty);
        let won = self.b.local_place(local);
        let zero = self.b.zero(ty);
        self.b.store(won, zero);
        let (gradient, present) = self.gradient(handle, place);
        self.b.open_block();
        let target = self.corresponding_place(gradient, place);
        let memory = self.corresponding_place(handle, place);
        let value_now = self.copy.value(value);
        let count = self.program.types.components(ty).map_or(0, |(_, count)| count);
        for part in 0..count {
            let scalar = ty.as_scalar().is_some();
            let at = |b: &mut Builder<'_>, place| {
                if scalar { place } else { b.component(place, part) }
            };
            let (memory, target) = (at(&mut self.b, memory), at(&mut self.b, target));
            let won = at(&mut self.b, won);
            let left = self.b.load(memory);
            let mine = if scalar { value_now } else { self.b.extract(value_now, part) };
            let same = self.b.eq(left, mine);
            self.b.if_then(same, |b| {
                let ty = b.place_type(target);
                let zero = b.zero(ty);
                let all = b.atomic(AtomicOp::Exchange, target, zero);
                b.store(won, all);
            });
        }
        let accept = self.b.close_block();
        let reject = self.b.empty_block();
        self.b.if_blocks(present, accept, reject);
        let amount = self.b.load(won);
        self.add(value, amount);
    }

    fn call(&mut self, value: Value, callee: FunctionId, args: List<Arg>, keep: &SavedValues) {
        let Some(&reverse) = self.shared.reverses.get(&callee) else { return };
        let params = &self.program.functions[callee].params;
        let args = &self.scan.body.arg_lists[args];
        let float = |ty: Type| self.program.types.has_float(ty);
        let mut passed = Vec::new();
        let used = self.finder.args_for_reverse(callee, args);
        for (position, &arg) in args.iter().enumerate() {
            passed.push(match arg {
                Arg::Value(value) if used[position] => self.copy.value(value),
                Arg::Place(_) if used[position] => keep.entries[position]
                    .unwrap_or_else(|| unreachable!("entries are kept of places")),
                // No wanted adjoint depends on the argument.
                Arg::Value(_) | Arg::Place(_) => self.b.zero(params[position].ty),
            });
        }
        for (param, &arg) in params.iter().zip(args) {
            if let (PassMode::Mutable, true, Arg::Place(place)) = (param.mode, float(param.ty), arg)
            {
                let place = self.adjoint_place(place);
                passed.push(take(&mut self.b, place));
            }
        }
        passed.extend(self.result_adjoints(value, self.program.functions[callee].result));
        let passed: Vec<Arg> = passed.into_iter().map(Arg::Value).collect();
        let adjoints = self.b.call(reverse, &passed);
        let floats = params.iter().zip(args).filter(|(param, _)| float(param.ty));
        let floats: Vec<Arg> = floats.map(|(_, &arg)| arg).collect();
        for (position, &arg) in (0..).zip(&floats) {
            let amount =
                if floats.len() == 1 { adjoints } else { self.b.extract(adjoints, position) };
            match arg {
                Arg::Value(value) => self.add(value, amount),
                Arg::Place(place) => {
                    if self.scan.local_of(place).is_none_or(|l| self.finder.activity.local(l)) {
                        let place = self.adjoint_place(place);
                        super::adjoint::accumulate(&mut self.b, place, amount);
                    }
                }
            }
        }
    }

    /// Returns the adjoints of a call's results, in the form in which the call's reverse takes
    /// them.
    fn result_adjoints(&mut self, value: Value, ty: Type) -> Vec<Value> {
        let parts = match &self.program.types[ty] {
            Shape::Tuple(of) => of.to_vec(),
            _ => vec![ty],
        };
        let mut adjoints = Vec::new();
        for (position, ty) in (0..).zip(parts) {
            if self.program.types.has_float(ty) {
                let taken = self.adjoints.take(&mut self.b, value, position);
                adjoints.push(taken.unwrap_or_else(|| self.b.zero(ty)));
            }
        }
        adjoints
    }

    /// Multiplies or divides an adjoint by a factor. An adjoint of 0 stays 0 for any factor: the
    /// operation had no effect on the result, and its derivative may be infinite. A factor of 0
    /// gives 0 for the same reason: so the length of a zero vector has the gradient 0.
    fn chain_rule(&mut self, adjoint: Value, factor: Value, divides: bool) -> Value {
        let ty = self.b.body().type_of(adjoint);
        if self.is_plain_number(factor) {
            return match divides {
                true => self.b.div(adjoint, factor),
                false => self.b.mul(adjoint, factor),
            };
        }
        let key = (divides, ty);
        let function = match self.shared.chains.get(&key) {
            Some(&function) => function,
            None => {
                let function = declare_chain(&mut self.b, ty, divides);
                self.shared.chains.insert(key, function);
                function
            }
        };
        self.b.call(function, &[Arg::Value(adjoint), Arg::Value(factor)])
    }

    /// Returns true for a literal that is neither infinite nor zero.
    fn is_plain_number(&self, factor: Value) -> bool {
        self.b.body().literal(factor).is_some_and(|factor| factor.as_f64().is_normal())
    }
}

fn declare_chain(b: &mut Builder<'_>, ty: Type, divides: bool) -> FunctionId {
    let name = if divides { "chain_by" } else { "chain" };
    let params = vec![Param::value("adjoint", ty), Param::value("factor", ty)];
    let function = b.module.declare(name, params, ty);
    b.module.functions[function].inline = Inline::Always;
    let mut b = Builder::new(b.module, function);
    let (adjoint, factor) = (b.arg(0), b.arg(1));
    let (adjoints, factors) = (b.parts(adjoint), b.parts(factor));
    let products: Vec<Value> = adjoints
        .into_iter()
        .zip(factors)
        .map(|(adjoint, factor)| {
            let of = b.body().type_of(adjoint);
            let zero = b.number(of, 0.0);
            let gone = b.eq(adjoint, zero);
            let gone = match divides {
                true => gone,
                false => {
                    let flat = b.eq(factor, zero);
                    b.or(gone, flat)
                }
            };
            let product = if divides { b.div(adjoint, factor) } else { b.mul(adjoint, factor) };
            b.select(gone, zero, product)
        })
        .collect();
    let result = b.assemble(ty, &products);
    b.ret(Some(result));
    b.finish()
}
