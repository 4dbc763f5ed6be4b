//! Draws for mistakes that only unusual numbers expose: equal floats, rows of zeros, negative
//! integers, unsigned integers with their highest bit, and outputs that hold numbers before the
//! launch.
//!
//! Each draw changes the stored inputs. It is used if the row's program passes on it the strict
//! checks that it passes on the stored inputs.

use crate::fresh_inputs::{DrawKind, FreshInputs};
use crate::graded_row::GradedRow;
use crate::shape::Shaped;
use gbxcule_grammar::input::{ArgumentInput, Arrangement};
use gbxcule_grammar::random;
use gbxcule_ir::layout::leaves;
use gbxcule_ir::walk::{Use, op_uses};
use gbxcule_ir::{
    BinaryOp, Function, FunctionKind, Literal, Module, Op, Root, Scalar, StmtKind, Type, Value,
};
use gbxcule_rows::execute;
use gbxcule_rows::row_program::element;
use std::collections::BTreeSet;

/// Number of distinct floats of an argument in a draw of equal floats.
const LEVELS: f64 = 4.0;
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
        if decides_exactly(&self.program.forward) {
            draws.extend(self.changed_draw(shaped, seed, equal_floats));
        }
        draws.extend(self.changed_draw(shaped, seed, zero_runs));
        draws.extend(self.negative_draws(shaped, seed));
        draws.extend(self.high_draws(shaped, seed));
        draws.extend(self.started_draw(shaped, seed));
        draws
    }

    /// Makes a draw in which a function changes the floats of each argument.
    fn changed_draw(
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
        (data != before).then_some(())?;
        let draw = self.probe(DrawKind::SpecialValues, shaped, &data, seed)?;
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

    /// Makes for each argument of unsigned integers a draw in which every second number has its
    /// highest bit set: an answer that takes the numbers as signed finds negative ones.
    fn high_draws(&self, shaped: &Shaped, seed: u64) -> Vec<FreshInputs> {
        let module = &self.program.forward;
        let draw = |at: usize| {
            let (given, ty) = (&shaped.inputs[at], self.program.params()[at].ty);
            let of = element(module, ty).unwrap_or(ty);
            let leaves = leaves(&module.types, of);
            let is_drawn = !given.zero && given.arrangement.is_free();
            let unsigned: Vec<_> =
                leaves.iter().filter(|it| is_drawn && it.scalar.is_unsigned_int()).collect();
            let size = module.types.layout(of).map_or(1, |it| it.size as usize).max(1);
            let mut data = execute::arguments(&self.program, &shaped.inputs, seed);
            let before = data.clone();
            for cell in data[at].chunks_exact_mut(size).step_by(2) {
                for leaf in &unsigned {
                    let number = leaf.read(cell).as_int().unwrap_or_default();
                    let bits = 8 * leaf.scalar.bytes();
                    // The row's program in 64 bits gets its inputs as doubles.
                    let number = if bits > 32 { number << (bits - 24) } else { number };
                    leaf.write(cell, Literal::int(leaf.scalar, number | 1 << (bits - 1)));
                }
            }
            (data[at] != before[at]).then_some(())?;
            let draw = self.probe(DrawKind::SpecialValues, shaped, &data, seed)?;
            self.is_order_independent(&draw).then_some(draw)
        };
        (0..shaped.inputs.len()).filter_map(draw).collect()
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

/// Rounds floats to [`LEVELS`] numbers of few bits, so that many are equal and their sums and
/// products are exact; a scalar argument is rounded to a power of two.
fn equal_floats(given: &ArgumentInput, numbers: &mut [f64]) {
    let power = |it: f64| it.abs().log2().round().exp2().copysign(it);
    let step = power((given.high - given.low).abs().max(given.low.abs()) / LEVELS);
    for number in numbers.iter_mut().filter(|it| **it != 0.0) {
        *number = match given.shape.is_empty() {
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

/// Returns true if a module compares floats, and computes every compared float from its inputs by
/// sums, products and selections: equal floats are then equal in any order of computation.
fn decides_exactly(module: &Module) -> bool {
    let is_float =
        |ty| module.types.components(ty).is_some_and(|(of, _): (Scalar, u32)| of.is_float());
    let mut compares = false;
    for (_, function) in module.functions.iter() {
        let rounded = rounded(function, &is_float);
        for (_, value) in function.body.values.iter() {
            let Op::Compare(_, one, other) = value.op else { continue };
            if is_float(function.body.values[one].ty) {
                compares = true;
                if rounded.contains(&one) || rounded.contains(&other) {
                    return false;
                }
            }
        }
    }
    compares
}

/// Returns the values of a function that may be rounded on inputs of few bits.
fn rounded(function: &Function, is_float: &dyn Fn(Type) -> bool) -> BTreeSet<Value> {
    let body = &function.body;
    let (mut values, mut roots) = (BTreeSet::new(), Vec::new());
    if function.kind == FunctionKind::Callable && function.instance.is_none() {
        roots.extend((0..function.params.len() as u32).map(Root::Param));
    }
    loop {
        let before = (values.len(), roots.len());
        for (at, value) in body.values.iter().filter(|(_, it)| is_float(it.ty)) {
            let is_rounded = match value.op {
                Op::Literal(it) => (it.as_f64() * 64.0).fract() != 0.0,
                Op::Binary(BinaryOp::Divide | BinaryOp::Remainder, ..) | Op::Call { .. } => true,
                Op::Native { native, .. } if native.row().ulps > 0 => true,
                Op::Load(place) => roots.contains(&body.places[place].root),
                op => {
                    let mut is_rounded = false;
                    op_uses(
                        body,
                        &op,
                        |_| false,
                        |it| {
                            is_rounded |= matches!(it, Use::Value(it) if values.contains(&it));
                        },
                    );
                    is_rounded
                }
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
