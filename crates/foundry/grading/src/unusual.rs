//! Draws for mistakes that only unusual numbers expose: equal floats, floats halfway between two
//! integers, rows of zeros, negative integers, unsigned integers with their highest bit, threads
//! that all change one element, and outputs that hold numbers before the launch.
//!
//! Each draw changes the stored inputs. It is used if the row's program passes on it the strict
//! checks that it passes on the stored inputs.

use crate::fresh_inputs::{DrawKind, FreshInputs};
use crate::graded_row::GradedRow;
use crate::shape::{Reshaping, Shaped};
use gbxcule_grammar::input::{ArgumentInput, Arrangement};
use gbxcule_grammar::random::{self, Random};
use gbxcule_ir::layout::leaves;
use gbxcule_ir::walk::{Use, op_uses};
use gbxcule_ir::{
    BinaryOp, Body, Function, FunctionKind, Literal, Module, Native, Op, Root, Scalar, StmtKind,
    Type, Value,
};
use gbxcule_rows::execute::{self, BUDGET, LaunchInputs};
use gbxcule_rows::row_program::element;
use std::collections::BTreeSet;

/// Numbers of distinct floats of an argument, used in turn, in a draw of equal floats.
const LEVELS: [f64; 2] = [4.0, 2.0];
/// Numbers of distinct floats, used in turn, in a draw for programs that round floats to integers:
/// many of their floats are then halfway between two integers.
const FINE_LEVELS: [f64; 5] = [4.0, 16.0, 64.0, 256.0, 1024.0];
/// Factor by which integers grow in a draw of crowded threads.
const CROWDED: i64 = 21;
/// Length of a run of zeros in an array without rows.
const RUN: usize = 4;
/// Greatest magnitude of negative integers.
const NEGATIVE: i64 = 40;
/// Range of outputs that hold numbers before the launch.
const START: (f64, i64) = (4.0, 9);
/// Constant that separates this file's seeds from others.
const STREAM: u64 = 0x756e_7573_7561_6c00;

impl GradedRow {
    /// Makes the draws of unusual numbers on which the row's program runs.
    pub(crate) fn unusual_draws(&self, own: &Shaped, seed: u64) -> Vec<FreshInputs> {
        let seed = random::seed(seed, STREAM);
        let shaped = &self.grown(own, seed);
        let mut draws = Vec::new();
        let is_exact = |decision| decides_exactly(&self.program.forward, decision);
        // A sum of products is seldom zero, so there are many points.
        let mut rounded = |levels: &[f64]| {
            let many = own.reshaped(Reshaping::Even(Reshaping::EVEN[0]), &mut Random::new(seed));
            let shapes = many.iter().chain([shaped]);
            let mut drawn = shapes.map(|shaped| {
                self.changed_draw(shaped, seed, |given, to| round(given, levels, to))
            });
            draws.extend(drawn.find_map(|it| it));
        };
        let comparisons = is_exact(Decision::Comparison);
        if comparisons == Some(true) {
            rounded(&LEVELS);
        }
        if comparisons != Some(false) && is_exact(Decision::WholeNumber) == Some(true) {
            rounded(&FINE_LEVELS);
        }
        draws.extend(self.changed_draw(shaped, seed, zero_runs));
        draws.extend(self.negative_draws(shaped, seed));
        draws.extend(self.high_draws(shaped, seed));
        draws.extend(self.gathered_draw(shaped, seed));
        draws.extend(self.crowded_draw(own, seed));
        draws.extend(self.started_draw(shaped, seed));
        draws.extend(self.edge_draws(own, shaped, seed));
        draws
    }

    /// Makes a draw in which a function changes the floats of each argument.
    pub(crate) fn changed_draw(
        &self,
        shaped: &Shaped,
        seed: u64,
        change: impl Fn(&ArgumentInput, &mut [f64]),
    ) -> Option<FreshInputs> {
        let module = &self.program.forward;
        let mut data = execute::arguments(&self.program, &shaped.inputs, seed);
        let before = data.clone();
        for (at, given) in shaped.inputs.iter().enumerate() {
            let ty = self.program.params()[at].ty;
            let of = element(module, ty).unwrap_or(ty);
            let leaves = leaves(&module.types, of);
            let is_float = !leaves.is_empty() && leaves.iter().all(|it| it.scalar.is_float());
            if given.zero || !is_float || given.arrangement != Arrangement::Free {
                continue;
            }
            let size = module.types.layout(of).map_or(1, |it| it.size as usize).max(1);
            let cells = data[at].chunks_exact(size);
            let mut numbers: Vec<f64> =
                cells.flat_map(|it| leaves.iter().map(|leaf| leaf.read(it).as_f64())).collect();
            change(given, &mut numbers);
            let cells = data[at].chunks_exact_mut(size);
            for (cell, numbers) in cells.zip(numbers.chunks(leaves.len())) {
                for (leaf, number) in leaves.iter().zip(numbers) {
                    leaf.write(cell, Literal::float(leaf.scalar, *number));
                }
            }
        }
        let is_fit = data != before && self.program.takes(&shaped.inputs);
        let draw = is_fit.then(|| self.probe(DrawKind::SpecialValues, shaped, &data, seed))??;
        self.is_order_independent(&draw).then_some(draw)
    }

    /// Makes one draw in which the integers of all arrays may be negative, and for each scalar
    /// argument draws in which it is negative, more negative than the row's range is positive, and
    /// -1: quotients that are rounded towards zero differ from those that are rounded down.
    fn negative_draws(&self, shaped: &Shaped, seed: u64) -> Vec<FreshInputs> {
        // A shift by a negative number is undefined in CUDA.
        if shifts(&self.program.forward) {
            return Vec::new();
        }
        let module = &self.program.forward;
        let can = |at: &usize| {
            let (given, ty) = (&shaped.inputs[*at], self.program.params()[*at].ty);
            let leaves = leaves(&module.types, element(module, ty).unwrap_or(ty));
            let is_range = given.least >= 0 && given.most > given.least;
            let is_drawn = !given.zero && given.arrangement.is_free() && is_range;
            is_drawn && leaves.iter().any(|it| it.scalar.is_signed_int())
        };
        let draw = |places: &[usize], least: fn(i64) -> i64| {
            let mut shaped = shaped.clone();
            for at in places {
                let given = &mut shaped.inputs[*at];
                let most = if given.shape.is_empty() { -1 } else { given.most };
                *given = ArgumentInput { least: least(given.most), most, ..given.clone() };
            }
            let data = execute::arguments(&self.program, &shaped.inputs, seed);
            let draw = self.probe(DrawKind::SpecialValues, &shaped, &data, seed)?;
            (!places.is_empty() && self.is_order_independent(&draw)).then_some(draw)
        };
        let places = (0..shaped.inputs.len()).filter(can);
        let (values, arrays): (Vec<usize>, Vec<usize>) =
            places.partition(|at| shaped.inputs[*at].shape.is_empty());
        let within: fn(i64) -> i64 = |most| -most.min(NEGATIVE);
        let of_value = |at| [within, |_| -NEGATIVE, |_| -1].map(|least| draw(&[at], least));
        let of_values = values.into_iter().flat_map(of_value).flatten();
        draw(&arrays, within).into_iter().chain(of_values).collect()
    }

    /// Makes for each argument of unsigned integers, and for all together, a draw in which every
    /// second number has its highest bit set: an answer that takes the numbers as signed finds
    /// negative ones, and sums of two overflow.
    fn high_draws(&self, shaped: &Shaped, seed: u64) -> Vec<FreshInputs> {
        let module = &self.program.forward;
        let heighten = |at: usize, data: &mut [Vec<u8>]| {
            let (given, ty) = (&shaped.inputs[at], self.program.params()[at].ty);
            let of = element(module, ty).unwrap_or(ty);
            let leaves = leaves(&module.types, of);
            let is_drawn = !given.zero && given.arrangement.is_free();
            let unsigned: Vec<_> =
                leaves.iter().filter(|it| is_drawn && it.scalar.is_unsigned_int()).collect();
            let size = module.types.layout(of).map_or(1, |it| it.size as usize).max(1);
            for cell in data[at].chunks_exact_mut(size).step_by(2) {
                for leaf in &unsigned {
                    let number = leaf.read(cell).as_int().unwrap_or_default();
                    let bits = 8 * leaf.scalar.bytes();
                    // The row's program in 64 bits gets its inputs as doubles.
                    let number = if bits > 32 { number << (bits - 24) } else { number };
                    leaf.write(cell, Literal::int(leaf.scalar, number | 1 << (bits - 1)));
                }
            }
        };
        let before = execute::arguments(&self.program, &shaped.inputs, seed);
        let draw = |places: &[usize]| {
            let mut data = before.clone();
            places.iter().for_each(|at| heighten(*at, &mut data));
            let draw = self.probe(DrawKind::SpecialValues, shaped, &data, seed)?;
            self.is_order_independent(&draw).then_some(draw)
        };
        let is_high = |at: &usize| {
            let mut data = before.clone();
            heighten(*at, &mut data);
            data != before
        };
        let places: Vec<usize> = (0..before.len()).filter(is_high).collect();
        let all = (places.len() > 1).then_some(&places[..]);
        places.chunks(1).chain(all).filter_map(draw).collect()
    }

    /// Makes a draw in which offsets leave all segments empty but one in the middle.
    fn gathered_draw(&self, shaped: &Shaped, seed: u64) -> Option<FreshInputs> {
        let module = &self.program.forward;
        let mut data = execute::arguments(&self.program, &shaped.inputs, seed);
        let before = data.clone();
        for (at, given) in shaped.inputs.iter().enumerate() {
            let Some(of) = element(module, self.program.params()[at].ty) else { continue };
            let leaves = leaves(&module.types, of);
            if let ([leaf], Arrangement::Offsets) = (&leaves[..], given.arrangement) {
                let count = given.shape.iter().product::<u32>().max(1) as usize;
                let size = data[at].len() / count;
                for (number, cell) in data[at].chunks_exact_mut(size.max(1)).enumerate() {
                    let offset = if 2 * number < count { given.least } else { given.most };
                    leaf.write(cell, Literal::int(leaf.scalar, offset.into()));
                }
            }
        }
        (data != before).then_some(())?;
        let draw = self.probe(DrawKind::SpecialValues, shaped, &data, seed)?;
        self.is_order_independent(&draw).then_some(draw)
    }

    /// Makes a draw in which each array of integers holds one number, its greatest, if the row has
    /// atomic operations: many threads change one element, and sums are large.
    fn crowded_draw(&self, own: &Shaped, seed: u64) -> Option<FreshInputs> {
        let module = &self.program.forward;
        let mut values = module.functions.iter().flat_map(|(_, it)| it.body.values.iter());
        let has_atomics = values.any(|(_, value)| matches!(value.op, Op::Atomic { .. }));
        let extent = own.dims.first().filter(|it| has_atomics && **it > 1)?;
        let runs = |shaped: &Shaped| {
            let grid = LaunchInputs { dims: &shaped.dims, inputs: &shaped.inputs };
            let data = || execute::arguments(&self.program, &shaped.inputs, seed);
            self.program.takes(&shaped.inputs) && self.run(BUDGET, grid, &data()).0.is_ok()
        };
        let crowded = |new: u32| {
            let way = Reshaping::Broad(*extent, new);
            let mut shaped = own.reshaped(way, &mut Random::new(seed))?;
            let is_drawn = |it: &ArgumentInput| {
                !it.zero && !it.written && !it.shape.is_empty() && it.arrangement.is_free()
            };
            for given in shaped.inputs.iter_mut().filter(|it| is_drawn(it) && it.most > 0) {
                given.least = given.most;
            }
            runs(&shaped).then_some(shaped)
        };
        let mut shaped = Reshaping::BROAD.into_iter().find_map(crowded)?;
        // An index can't grow, but other integers can.
        for at in 0..shaped.inputs.len() {
            let mut larger = shaped.clone();
            let given = &mut larger.inputs[at];
            if given.least == given.most && !given.shape.is_empty() {
                (given.least, given.most) = (CROWDED * given.least, CROWDED * given.most);
                shaped = if runs(&larger) { larger } else { shaped };
            }
        }
        let data = execute::arguments(&self.program, &shaped.inputs, seed);
        let draw = self.probe(DrawKind::SpecialValues, &shaped, &data, seed)?;
        self.is_order_independent(&draw).then_some(draw)
    }

    /// Makes a draw in which outputs that begin at zero in the row hold numbers.
    fn started_draw(&self, shaped: &Shaped, seed: u64) -> Option<FreshInputs> {
        let mut shaped = shaped.clone();
        for given in shaped.inputs.iter_mut().filter(|it| it.zero && it.written) {
            let (low, high) = (-START.0, START.0);
            *given =
                ArgumentInput { zero: false, low, high, least: 0, most: START.1, ..given.clone() };
        }
        let data = execute::arguments(&self.program, &shaped.inputs, seed);
        let draw = self.probe(DrawKind::SpecialValues, &shaped, &data, seed)?;
        self.is_order_independent(&draw).then_some(draw)
    }
}

/// Rounds floats to numbers of few bits, about `levels` of them, used in turn, so that many are
/// equal and their sums and products are exact; a scalar argument is rounded to a power of two.
fn round(given: &ArgumentInput, levels: &[f64], numbers: &mut [f64]) {
    let power = |it: f64| it.abs().log2().round().exp2().copysign(it);
    let range = (given.high - given.low).abs().max(given.low.abs());
    for (number, levels) in numbers.iter_mut().zip(levels.iter().cycle()) {
        let step = power(range / levels);
        *number = match given.shape.is_empty() {
            _ if *number == 0.0 => 0.0,
            true => power(*number),
            false => (*number / step).round() * step,
        };
    }
}

/// Makes every second row of an array zero, or every second run of an array without rows.
fn zero_runs(given: &ArgumentInput, numbers: &mut [f64]) {
    let elements = given.shape.iter().product::<u32>().max(1) as usize;
    let row = match given.shape[..] {
        [] => return,
        [_] => RUN,
        [.., row] => row as usize,
    };
    let leaves = numbers.len() / elements;
    numbers.chunks_mut((row * leaves).max(1)).step_by(2).for_each(|it| it.fill(0.0));
}

/// Returns true if a module shifts by a number that is not constant.
fn shifts(module: &Module) -> bool {
    module.functions.iter().any(|(_, function)| {
        let values = &function.body.values;
        values.iter().any(|(_, value)| match value.op {
            Op::Binary(BinaryOp::ShiftLeft | BinaryOp::ShiftRight, _, by) => {
                !matches!(values[by].op, Op::Literal(_))
            }
            _ => false,
        })
    })
}

/// Ways in which a program decides by floats.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Comparison of two floats.
    Comparison,
    /// Rounding or conversion of a float to a whole number.
    WholeNumber,
}

impl Decision {
    /// Returns the values by which an operation decides in this way.
    fn operands(self, body: &Body, op: Op) -> Vec<Value> {
        use Native::{Ceil, Floor, Rint, Round, Trunc};
        match (self, op) {
            (Self::Comparison, Op::Compare(_, one, other)) => vec![one, other],
            (Self::WholeNumber, Op::Convert(from)) => vec![from],
            (
                Self::WholeNumber,
                Op::Native { native: Floor | Ceil | Trunc | Round | Rint, args },
            ) => body.value_lists[args].to_vec(),
            _ => Vec::new(),
        }
    }
}

/// Returns true if a module computes each float by which it decides in this way from its inputs by
/// sums, products and selections: equal floats are then equal in any order of computation. `None`
/// if it decides by none.
pub(crate) fn decides_exactly(module: &Module, decision: Decision) -> Option<bool> {
    let is_float = |ty| is_float(module, ty);
    let mut exact = None;
    for (_, function) in module.functions.iter() {
        let (body, rounded) = (&function.body, rounded(module, function));
        for (_, value) in body.values.iter() {
            // A float that becomes a float of another type stays what it is.
            if matches!(value.op, Op::Convert(_)) && is_float(value.ty) {
                continue;
            }
            let operands = decision.operands(body, value.op).into_iter();
            for operand in operands.filter(|it| is_float(body.values[*it].ty)) {
                exact = Some(exact.unwrap_or(true) && !rounded.contains(&operand));
            }
        }
    }
    exact
}

/// Returns true if a type is a float, or has floats as components.
fn is_float(module: &Module, ty: Type) -> bool {
    module.types.components(ty).is_some_and(|(of, _): (Scalar, u32)| of.is_float())
}

/// Returns true if a function, such as `clamp`, returns no rounded value for exact arguments.
fn returns_exactly(module: &Module, function: &Function) -> bool {
    let rounded = rounded(module, function);
    let mut stmts = function.body.blocks.iter().flat_map(|(_, it)| &it.stmts);
    !stmts.any(|it| matches!(it.kind, StmtKind::Return(Some(value)) if rounded.contains(&value)))
}

/// Returns the values of a function that are powers of two if its scalar arguments are.
fn powers(module: &Module, function: &Function) -> BTreeSet<Value> {
    let (body, mut powers) = (&function.body, BTreeSet::new());
    for (at, value) in body.values.iter().filter(|(_, it)| is_float(module, it.ty)) {
        let is_power = match value.op {
            Op::Literal(it) => it.as_f64().abs().log2().fract() == 0.0,
            Op::Load(place) => {
                function.kind == FunctionKind::Kernel
                    && matches!(body.places[place].root, Root::Param(_))
            }
            Op::Binary(BinaryOp::Multiply | BinaryOp::Divide, one, other) => {
                powers.contains(&one) && powers.contains(&other)
            }
            _ => false,
        };
        if is_power {
            powers.insert(at);
        }
    }
    powers
}

/// Returns the values of a function that may be rounded on inputs of few bits.
fn rounded(module: &Module, function: &Function) -> BTreeSet<Value> {
    let is_float = |ty| is_float(module, ty);
    let body = &function.body;
    let powers = powers(module, function);
    let (mut values, mut roots) = (BTreeSet::new(), Vec::new());
    if function.kind == FunctionKind::Callable && function.instance.is_none() {
        roots.extend((0..function.params.len() as u32).map(Root::Param));
    }
    loop {
        let before = (values.len(), roots.len());
        for (at, value) in body.values.iter().filter(|(_, it)| is_float(it.ty)) {
            let uses_rounded = || {
                let mut is_rounded = false;
                op_uses(
                    body,
                    &value.op,
                    |_| false,
                    |it| {
                        is_rounded |= matches!(it, Use::Value(it) if values.contains(&it));
                    },
                );
                is_rounded
            };
            let is_rounded = match value.op {
                Op::Literal(it) => (it.as_f64() * 64.0).fract() != 0.0,
                Op::Binary(BinaryOp::Divide, of, by) if powers.contains(&by) => {
                    values.contains(&of)
                }
                Op::Binary(BinaryOp::Divide | BinaryOp::Remainder, ..) => true,
                Op::Native { native, .. } if native.row().ulps > 0 => true,
                Op::Load(place) => roots.contains(&body.places[place].root),
                Op::Call { function, .. } => {
                    uses_rounded() || !returns_exactly(module, &module.functions[function])
                }
                _ => uses_rounded(),
            };
            if is_rounded {
                values.insert(at);
            }
        }
        for stmt in body.blocks.iter().flat_map(|(_, it)| &it.stmts) {
            if let StmtKind::Store { place, value } = stmt.kind
                && values.contains(&value)
                && !roots.contains(&body.places[place].root)
            {
                roots.push(body.places[place].root);
            }
        }
        if before == (values.len(), roots.len()) {
            return values;
        }
    }
}
