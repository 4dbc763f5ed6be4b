//! Draws with inputs as large, as small and as far from zero as possible while the row's results
//! stay finite and exact. Such draws expose answers whose intermediate numbers overflow or cancel:
//! a softmax without its maximum, a logistic function by `exp(x) / (1 + exp(x))`, a variance by the
//! mean of squares, a mean of 16-bit floats by their sum.
//!
//! The code does not recognise these functions. It runs the row's program on each magnitude, in its
//! own width and in 64 bits, and uses the draw if both agree.

use crate::fresh_inputs::{DrawKind, FreshInputs};
use crate::graded_row::GradedRow;
use crate::probe::{loose, outputs, propagates};
use crate::shape::Shaped;
use crate::unusual::{Decision, decides_exactly};
use gbxcule_grammar::input::ArgumentInput;
use gbxcule_grammar::random::{self, Random};
use gbxcule_ir::layout::leaves;
use gbxcule_ir::{Module, Op, Scalar};
use gbxcule_rows::execute::{self, BUDGET};
use gbxcule_rows::row_program::element;

/// Largest floats, in the order in which they are tried. At these sizes exponentials overflow, and
/// so do sums and squares of 16-bit floats, but not polynomials of `float32`.
const FLOATS: [f64; 6] = [3000.0, 1000.0, 300.0, 100.0, 30.0, 10.0];
/// Largest float at which the small constant that keeps a divisor from zero still matters.
const SMALL: f64 = 3e-3;
/// Float whose square overflows. Used only for rows that branch or select by a float, because other
/// rows' products and quotients may be computed in any order.
const HUGE: f64 = 1e20;
/// Float whose square underflows to zero. Used for such rows if they have no constants of another
/// scale, beside which it would be negligible.
const TINY: f64 = 1e-25;
/// Distances from zero, as multiples of the row's largest float.
const DISTANCES: [f64; 3] = [1000.0, 300.0, 30.0];
/// Distance at which differences of squares of doubles cancel.
const FAR: f64 = 1e7;
/// Greatest float whose square doesn't overflow.
const MAX_SQUARABLE: f64 = 1e19;
/// Largest integers; the sum of two of the first overflows.
const INTEGERS: [i64; 4] = [(1 << 31) - 1, 1 << 27, 1 << 20, 1 << 15];
/// Largest integers of arrays of 64 bits alone, which 32 bits can't hold.
const WIDE_INTEGERS: [i64; 2] = [1 << 52, 1 << 33];
/// Number of draws of floats: the largest floats may saturate a row, so a draw with smaller floats
/// follows.
const DRAWS: usize = 2;
/// Constant that separates this file's seeds from others.
const STREAM: u64 = 0x6d61_676e_6974_7564;

/// Change of the ranges of arrays.
#[derive(Clone, Copy)]
enum Magnitude {
    /// The largest float.
    Float(f64),
    /// Distance of all floats from zero, above or below it.
    Distance(f64),
    /// The largest integer.
    Integer(i64),
}

impl Magnitude {
    /// Changes the range of an argument.
    fn apply(self, given: &mut ArgumentInput) {
        let largest = given.low.abs().max(given.high.abs());
        match self {
            Self::Float(size) if largest > 0.0 => {
                let factor = size / largest;
                (given.low, given.high) = (given.low * factor, given.high * factor);
            }
            // Numbers that can't be negative stay as they are.
            Self::Distance(times) if times > 0.0 || given.low < 0.0 => {
                let distance = times * largest;
                (given.low, given.high) = (given.low + distance, given.high + distance);
            }
            Self::Integer(size) => {
                given.most = if given.most > 0 { given.most.max(size) } else { given.most };
                given.least = if given.least < 0 { given.least.min(-size) } else { given.least };
            }
            Self::Float(_) | Self::Distance(_) => {}
        }
    }
}

impl GradedRow {
    /// Makes draws of other magnitudes: large floats, floats far from zero, and large integers.
    pub(crate) fn magnitude_draws(&self, own: &Shaped, seed: u64) -> Vec<FreshInputs> {
        let seed = random::seed(seed, STREAM);
        let shaped = &self.grown(own, seed);
        let places: Vec<usize> = (0..shaped.inputs.len()).collect();
        let draw = |magnitude| {
            let mut draw = self.magnitude_draw(&self.sized(shaped, &places, magnitude)?, seed)?;
            if !matches!(magnitude, Magnitude::Float(HUGE)) {
                leave_out_largest(&mut draw);
            }
            is_telling(&draw).then_some(draw)
        };
        let mut draws: Vec<FreshInputs> = Vec::new();
        draws.extend(FLOATS.map(Magnitude::Float).into_iter().filter_map(draw).take(DRAWS));
        draws.extend(draw(Magnitude::Float(SMALL)));
        if self.has_doubles() {
            draws.extend(draw(Magnitude::Distance(FAR)));
        }
        for sign in [1.0, -1.0] {
            let distances = DISTANCES.map(|times| Magnitude::Distance(sign * times));
            draws.extend(distances.into_iter().find_map(draw));
        }
        for sizes in [&INTEGERS[..], &WIDE_INTEGERS] {
            let of = |places: &[usize]| {
                let sized = |size: &i64| {
                    let sized = self.sized(shaped, places, Magnitude::Integer(*size))?;
                    self.magnitude_draw(&sized, seed)
                };
                sizes.iter().find_map(sized)
            };
            let places: Vec<usize> = (0..shaped.inputs.len()).collect();
            // Beside indices, which can't be large, other integers can.
            match of(&places) {
                Some(draw) => draws.push(draw),
                None => draws.extend(places.chunks(1).filter_map(of)),
            }
        }
        let module = &self.program.forward;
        if !propagates(module) {
            // An answer may hold whole numbers in integers.
            let has_whole = decides_exactly(module, Decision::WholeNumber).is_some();
            let huge = Some(Magnitude::Float(HUGE)).filter(|_| !has_whole);
            draws.extend(huge.and_then(draw));
            draws.extend(
                Some(TINY).filter(|_| !has_scale(module)).map(Magnitude::Float).and_then(draw),
            );
        }
        draws
    }

    /// Makes draws of other magnitudes for gradients: of the largest floats at which the row's
    /// results and gradients are finite and rounding decides none, and of small floats.
    pub(crate) fn magnitude_draws_of_gradients(&self, own: &Shaped, seed: u64) -> Vec<FreshInputs> {
        if self.program.reverse.is_err() {
            return Vec::new();
        }
        let seed = random::seed(seed, STREAM);
        let places: Vec<usize> = (0..own.inputs.len()).collect();
        let draw = |size| self.sound_draw(&self.sized(own, &places, Magnitude::Float(size))?, seed);
        [FLOATS.into_iter().find_map(draw), draw(SMALL)].into_iter().flatten().collect()
    }

    /// Returns a row's shape with floats, or integers, of a magnitude in these of its arrays.
    fn sized(&self, own: &Shaped, places: &[usize], magnitude: Magnitude) -> Option<Shaped> {
        let mut shaped = own.clone();
        let is_changed = |scalar: Scalar| match magnitude {
            Magnitude::Integer(size) => {
                scalar.is_int() && (size < WIDE_INTEGERS[1] || scalar.bytes() == 8)
            }
            Magnitude::Float(_) | Magnitude::Distance(_) => scalar.is_float(),
        };
        for at in places.iter().copied().filter(|at| self.is_array_of(*at, is_changed)) {
            let given = &mut shaped.inputs[at];
            if !given.zero {
                magnitude.apply(given);
            }
        }
        (shaped != *own).then_some(shaped)
    }

    /// Makes a draw of such a shape, if the row's results are exact there.
    fn magnitude_draw(&self, shaped: &Shaped, seed: u64) -> Option<FreshInputs> {
        let data = execute::arguments(&self.program, &shaped.inputs, seed);
        let draw = self.probe(DrawKind::SpecialValues, shaped, &data, seed)?;
        let is_exact = !self.has_doubles() || self.is_stable(&draw);
        (is_exact && is_telling(&draw) && self.is_order_independent(&draw)).then_some(draw)
    }

    /// Returns true if the results of a row in doubles, which have no wider type, stay the same
    /// when the last digits of its inputs change.
    fn is_stable(&self, draw: &FreshInputs) -> bool {
        let mut random = Random::new(draw.seed);
        let mut data = draw.data.clone();
        for (at, bytes) in data.iter_mut().enumerate().filter(|(at, _)| !draw.inputs[*at].zero) {
            let numbers = execute::numbers(&self.program, at, bytes);
            if numbers.iter().all(|it| it.scalar() == Scalar::F64) {
                let mut nudge = || 1.0 + (random.below(3) as f64 - 1.0) * f64::EPSILON;
                let numbers: Vec<f64> = numbers.iter().map(|it| it.as_f64() * nudge()).collect();
                *bytes = execute::image(&self.program, at, &numbers);
            }
        }
        self.run(BUDGET, draw.grid(), &data).0.is_ok_and(|after| {
            let found = outputs(&self.program, &draw.inputs, &after);
            let pairs = draw.results.outputs.iter().zip(&found);
            pairs
                .into_iter()
                .all(|(one, other)| loose(one, other, false).iter().all(|by| by.is_finite()))
        })
    }

    /// Returns true if an argument is an array with a scalar of the wanted type.
    fn is_array_of(&self, at: usize, is_wanted: impl Fn(Scalar) -> bool) -> bool {
        let module = &self.program.forward;
        let Some(of) = element(module, self.program.params()[at].ty) else { return false };
        leaves(&module.types, of).iter().any(|leaf| is_wanted(leaf.scalar))
    }
}

/// Takes the results out of the comparison whose squares overflow: an answer may compute products
/// in another order, and one of them may overflow.
pub(crate) fn leave_out_largest(draw: &mut FreshInputs) {
    let Some(tolerances) = draw.tolerances.get_mut() else { return };
    for (tensor, tolerances) in draw.results.outputs.iter().zip(&mut tolerances.outputs) {
        for (number, tolerance) in tensor.numbers.iter().zip(tolerances) {
            let is_wide = matches!(number.scalar(), Scalar::F32 | Scalar::Bf16);
            if is_wide && number.as_f64().abs() > MAX_SQUARABLE {
                *tolerance = f64::INFINITY;
            }
        }
    }
}

/// Returns true if a module has float constants other than 0 and 1, which set a scale for its
/// numbers.
fn has_scale(module: &Module) -> bool {
    module.functions.iter().flat_map(|(_, it)| it.body.values.iter()).any(|(_, value)| {
        matches!(value.op, Op::Literal(it) if it.scalar().is_float() && ![0.0, 1.0].contains(&it.as_f64()))
    })
}

/// Returns true if more than three quarters of the results are finite and don't depend on rounding.
pub(crate) fn is_telling(draw: &FreshInputs) -> bool {
    let (mut all, mut sure) = (0, 0);
    let Some(tolerances) = draw.tolerances.get() else { return false };
    for (tensor, tolerances) in draw.results.outputs.iter().zip(&tolerances.outputs) {
        all += tensor.numbers.len();
        let pairs = tensor.numbers.iter().zip(tolerances);
        sure += pairs.filter(|(it, by)| it.as_f64().is_finite() && by.is_finite()).count();
    }
    4 * sure > 3 * all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::tests::problem;

    /// Returns the number of `x` with the largest size in each draw of another magnitude.
    fn largest(value: &str) -> Vec<f64> {
        let problem = problem(value);
        let draws = problem.magnitude_draws(&problem.own, 7);
        let of_draw = |draw: &FreshInputs| {
            let numbers = execute::numbers(&problem.program, 0, &draw.data[0]);
            let numbers = numbers.iter().map(|it| it.as_f64());
            numbers.max_by(|one, other| one.abs().total_cmp(&other.abs())).expect("a number")
        };
        draws.iter().map(of_draw).collect()
    }

    #[test]
    fn floats_are_as_large_as_the_row_stays_finite() {
        let is_large = |it: &f64| *it > 900.0;
        assert!(largest("x[i] / (1.0 + wp.exp(-x[i]))").iter().any(|it| it.abs() > 900.0));
        assert!(!largest("wp.exp(x[i])").iter().any(is_large));
        assert!(largest("wp.exp(x[i])").iter().any(|it| *it < -900.0));
        assert!(largest("wp.exp(x[i])").iter().any(|it| (20.0..90.0).contains(&it.abs())));
        assert!(largest("wp.sqrt(1.0 - x[i] * x[i])").iter().all(|it| it.abs() < 0.1));
    }

    #[test]
    fn squares_overflow_where_a_row_decides_by_a_float_alone() {
        let is_extreme = |it: &f64| it.abs() > 1e19 || it.abs() < 1e-20;
        assert_eq!(largest("wp.max(x[i], -x[i])").iter().filter(|it| is_extreme(it)).count(), 2);
        assert!(!largest("x[i] / 3.0 * 5.0").iter().any(is_extreme));
        assert_eq!(largest("wp.max(x[i], 0.5)").iter().filter(|it| is_extreme(it)).count(), 1);
    }
}
