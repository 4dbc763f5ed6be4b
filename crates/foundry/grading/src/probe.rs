//! Draws for mistakes that random numbers don't expose: with special values of floats, with a
//! maximum or minimum in a chosen element, and with more points than 16 bits can count.
//!
//! On such a draw only those elements are compared in which the row's program gives the same result
//! in 64 bits, with a much wider tolerance than on other draws. If the row's result isn't finite,
//! an answer may give any non-finite number: `x / y` and `x * (1 / y)` differ there.

use crate::fresh_inputs::{DrawKind, FreshInputs, Tolerances};
use crate::graded_row::GradedRow;
use crate::shape::{MANY_POINTS, Reshaping, Shaped};
use gbxcule_grammar::input::ArgumentInput;
use gbxcule_grammar::random::{self, Random};
use gbxcule_ir::layout::leaves;
use gbxcule_ir::op::{AtomicOp, BinaryOp, Op};
use gbxcule_ir::{Literal, Module, Native, Scalar};
use gbxcule_rows::execute::{self, LaunchInputs, Variation};
use gbxcule_rows::row::Results;
use gbxcule_rows::row_program::{RowProgram, element};
use gbxcule_rows::tensor::{self, Tensor};
use std::sync::OnceLock;

/// Tolerance, as a fraction of an array's largest number.
const TOLERANCE: f64 = 1e-3;
/// Tolerance in units in the last place of that number, if this is larger.
const UNITS: f64 = 2.0;
/// Relative difference from the results in 64 bits up to which an element is compared.
const ROUNDING: f64 = 1e-4;
/// Greatest number of statements of a launch of many points.
const BUDGET: u64 = 5_000_000;
/// Numbers of points of a launch of several blocks, each one more than the size of a block; the
/// first on which the row is cheap enough is taken.
const LENGTHS: [u32; 2] = [1025, 257];
/// Elements between two special values, on average.
const DISTANCE: usize = 8;
/// Number of draws for each array of a row that computes a maximum or minimum. An answer that
/// ignores a third of the elements passes all draws once in 600 times.
const PEAKS: usize = 16;
/// Number of the draw in which the last element decides. The number is even, so the launch is long.
const LAST_PEAK: usize = PEAKS - 2;
/// Constant that separates this file's seeds from others.
const STREAM: u64 = 0x7370_6563_6961_6c73;

/// Returns lists of special values, one list for each draw, on which arithmetic alone determines a
/// row's results. No list has both infinities and NaN: `hypot` of both is infinite, while the root
/// of the sum of squares is NaN.
fn values(module: &Module) -> Vec<Vec<f64>> {
    let (mut has_quotient, mut has_sign) = (false, false);
    for op in module.functions.iter().flat_map(|(_, it)| it.body.values.iter()) {
        has_quotient |= matches!(op.1.op, Op::Binary(BinaryOp::Divide, ..) | Op::Native { .. });
        has_sign |= matches!(
            op.1.op,
            Op::Bitcast(_) | Op::Native { native: Native::Copysign | Native::Atan2, .. }
        );
    }
    if !propagates(module) {
        // The greater of two zeros may have either sign.
        return vec![if has_sign { vec![0.0] } else { vec![0.0, -0.0] }];
    }
    let mut values = vec![0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY];
    if !has_quotient {
        values.extend([1e-40, -1e-40]);
    }
    vec![values, vec![f64::NAN]]
}

/// Returns true if no branch or selection depends on a float, so that every result that is computed
/// from a NaN is NaN.
pub(crate) fn propagates(module: &Module) -> bool {
    module.functions.iter().all(|(_, function)| {
        let values = &function.body.values;
        let is_float =
            |ty| module.types.components(ty).is_some_and(|(of, _): (Scalar, u32)| of.is_float());
        values.iter().all(|(_, value)| match value.op {
            Op::Compare(_, one, _) => !is_float(values[one].ty),
            Op::Convert(from) => is_float(value.ty) || !is_float(values[from].ty),
            Op::Bitcast(_) => false,
            Op::Binary(BinaryOp::FloorDivide | BinaryOp::Remainder, ..) => !is_float(value.ty),
            Op::Atomic { op, .. } => {
                matches!(op, AtomicOp::Add | AtomicOp::Subtract) || !is_float(value.ty)
            }
            Op::Native { native, .. } => {
                matches!(native, Native::Abs | Native::Sqrt | Native::Exp | Native::Log)
                    || !is_float(value.ty)
            }
            _ => true,
        })
    })
}

/// Returns true if a module computes a float by an operation that may round. A program without
/// one, such as a median, moves its inputs' floats, and so does a right answer.
pub(crate) fn rounds(module: &Module) -> bool {
    computes_float(module, |op| match op {
        Op::Binary(..) | Op::Atomic { op: AtomicOp::Add | AtomicOp::Subtract, .. } => true,
        Op::Native { native, .. } => !matches!(native, Native::Min | Native::Max | Native::Abs),
        _ => false,
    })
}

/// Returns true if a module multiplies floats.
fn multiplies(module: &Module) -> bool {
    computes_float(module, |op| matches!(op, Op::Binary(BinaryOp::Multiply, ..)))
}

/// Returns true if one of a module's operations gives a float and is of a kind.
fn computes_float(module: &Module, is_such: fn(&Op) -> bool) -> bool {
    let is_float =
        |ty| module.types.components(ty).is_some_and(|(of, _): (Scalar, u32)| of.is_float());
    let mut values = module.functions.iter().flat_map(|(_, it)| it.body.values.iter());
    values.any(|(_, value)| is_float(value.ty) && is_such(&value.op))
}

impl GradedRow {
    /// Returns draws with special values, if the row has floats that may have them.
    pub(crate) fn special_draws(&self, own: &Shaped, seed: u64) -> Vec<FreshInputs> {
        let lists = values(&self.program.forward);
        lists.iter().filter_map(|values| self.special_draw(own, values, seed)).collect()
    }

    /// Returns draws in which one element is greater, or less, than all others, if the row's
    /// threads compute a maximum or minimum. Each draw chooses another element, because an answer
    /// may ignore any element.
    pub(crate) fn peak_draws(&self, own: &Shaped, seed: u64) -> Vec<FreshInputs> {
        let (mut greatest, mut least) = (false, false);
        for op in self.program.forward.functions.iter().flat_map(|(_, it)| it.body.values.iter()) {
            greatest |= matches!(op.1.op, Op::Atomic { op: AtomicOp::Max, .. });
            least |= matches!(op.1.op, Op::Atomic { op: AtomicOp::Min, .. });
        }
        let signs = [(greatest, 1.0), (least, -1.0)].into_iter().filter(|(is_asked, _)| *is_asked);
        let signs: Vec<f64> = signs.map(|(_, sign)| sign).collect();
        let is_list = |it: &ArgumentInput| !it.written && it.shape.iter().product::<u32>() > 1;
        let arrays = (0..own.inputs.len()).filter(|at| is_list(&own.inputs[*at]));
        let all = arrays.flat_map(|at| signs.iter().map(move |sign| (at, *sign)));
        let draws = all.flat_map(|peak| (0..PEAKS).map(move |number| (peak, number)));
        draws.filter_map(|(peak, number)| self.peak_draw(own, peak, number, seed)).collect()
    }

    fn peak_draw(
        &self,
        own: &Shaped,
        (at, sign): (usize, f64),
        number: usize,
        seed: u64,
    ) -> Option<FreshInputs> {
        let module = &self.program.forward;
        let seed = random::seed(seed, (PEAKS * at + number) as u64);
        let mut random = Random::new(random::seed(seed, STREAM));
        // Half of the launches have several blocks.
        let way = if number.is_multiple_of(2) { Reshaping::Long } else { Reshaping::Same };
        let shaped = own.reshaped(way, &mut random).filter(|it| self.program.takes(&it.inputs))?;
        let mut data = execute::arguments(&self.program, &shaped.inputs, seed);
        let numbers = execute::numbers(&self.program, at, &data[at]);
        let largest = numbers.iter().map(|it| it.as_f64().abs()).fold(0.0, f64::max);
        let leaves = leaves(&module.types, element(module, self.program.params()[at].ty)?);
        let size = data[at].len() / (numbers.len() / leaves.len().max(1)).max(1);
        // Each draw chooses an element in another part of the array.
        let elements = data[at].len() / size.max(1);
        let place = match number {
            // In a long launch an answer may ignore last elements that don't fill a vector.
            LAST_PEAK => elements.checked_sub(1)?,
            _ => (number * elements + random.below(elements)) / PEAKS,
        };
        let cell = data[at].chunks_exact_mut(size.max(1)).nth(place)?;
        for leaf in leaves {
            let peak = sign * (2.0 * largest + 1.0);
            let value = match leaf.scalar.is_float() {
                true => Literal::float(leaf.scalar, peak),
                false => Literal::int(leaf.scalar, peak as i128),
            };
            leaf.write(cell, value);
        }
        let draw = self.probe(DrawKind::SpecialValues, &shaped, &data, seed)?;
        self.is_order_independent(&draw).then_some(draw)
    }

    fn special_draw(&self, own: &Shaped, values: &[f64], seed: u64) -> Option<FreshInputs> {
        let module = &self.program.forward;
        let mut random = Random::new(random::seed(seed, STREAM));
        let shaped = &self.grown(own, seed);
        let mut data = execute::arguments(&self.program, &shaped.inputs, seed);
        let mut count = 0;
        for (at, given) in shaped.inputs.iter().enumerate() {
            let of = self.program.params()[at].ty;
            // A row may race on an array that is no longer sorted.
            let is_drawn = !given.zero && given.arrangement.is_free();
            if let (true, Some(of)) = (is_drawn, element(module, of)) {
                let leaves = leaves(&module.types, of);
                let size = module.types.layout(of).map_or(1, |it| it.size as usize).max(1);
                for cell in data[at].chunks_exact_mut(size) {
                    let floats = leaves.iter().filter(|it| it.scalar.is_float());
                    for leaf in floats.filter(|_| random.below(DISTANCE) == 0) {
                        let value = values[count % values.len()];
                        leaf.write(cell, Literal::float(leaf.scalar, value));
                        count += 1;
                    }
                }
            }
        }
        let draw =
            (count > 0).then(|| self.probe(DrawKind::SpecialValues, shaped, &data, seed))??;
        self.is_order_independent(&draw).then_some(draw)
    }

    /// Returns a launch of 100,000 points, if the row is cheap enough. If all other draws have few
    /// points, returns a launch of several blocks instead.
    pub(crate) fn large_draw(&self) -> Option<&FreshInputs> {
        let make = || {
            if self.draws.len() < 2 || self.program.host.is_some() {
                return None;
            }
            let is_short = |it: &FreshInputs| it.dims.iter().all(|it| *it < LENGTHS[1]);
            let lengths = if self.draws.iter().all(is_short) { &LENGTHS[..] } else { &[] };
            let blocks = || lengths.iter().find_map(|it| self.long_draw(*it, DrawKind::ManyBlocks));
            self.many_points().or_else(blocks)
        };
        self.large.get_or_init(make).as_ref()
    }

    fn many_points(&self) -> Option<FreshInputs> {
        // The statements on the row's own inputs give an estimate.
        let points = self.own.dims.iter().map(|it| u64::from(*it)).product::<u64>().max(1);
        let budget = BUDGET * points / u64::from(MANY_POINTS);
        let way = Variation { budget, ..Variation::default() };
        let small = &self.draws[0];
        execute::forward_varied(way, &self.program, small.grid(), &small.data).ok()?;
        self.long_draw(MANY_POINTS, DrawKind::ManyPoints)
    }

    fn long_draw(&self, points: u32, kind: DrawKind) -> Option<FreshInputs> {
        let shaped = self.own.reshaped(Reshaping::Large(points), &mut Random::new(self.seed))?;
        let probed = |it: &Shaped| {
            let data =
                || self.crowded(execute::arguments(&self.program, &it.inputs, self.seed), it);
            self.program.takes(&it.inputs).then(|| self.probe(kind, it, &data(), self.seed))?
        };
        probed(&shaped).or_else(|| probed(&self.with_room(&shaped, BUDGET, self.seed)?))
    }

    /// Returns the row's inputs with larger extents, or with the stored extents if its program
    /// doesn't run on larger ones.
    pub(crate) fn grown(&self, own: &Shaped, seed: u64) -> Shaped {
        let shaped = [Reshaping::Growing, Reshaping::Scaled].into_iter();
        let shaped = shaped.filter_map(|way| own.reshaped(way, &mut Random::new(seed)));
        let mut sound = shaped.filter(|it| {
            let grid = LaunchInputs { dims: &it.dims, inputs: &it.inputs };
            let data = || execute::arguments(&self.program, &it.inputs, seed);
            self.program.takes(&it.inputs) && self.run(BUDGET, grid, &data()).0.is_ok()
        });
        sound.next().unwrap_or_else(|| own.clone())
    }

    /// Returns true if the row computes in doubles, which have no wider type.
    pub(crate) fn has_doubles(&self) -> bool {
        let module = &self.program.forward;
        self.program.params().iter().any(|it| {
            let of = element(module, it.ty).unwrap_or(it.ty);
            leaves(&module.types, of).iter().any(|leaf| leaf.scalar == Scalar::F64)
        })
    }

    /// Returns true if an argument holds such a number.
    fn holds(&self, data: &[Vec<u8>], is_such: fn(f64) -> bool) -> bool {
        let numbers = |at: usize| execute::numbers(&self.program, at, &data[at]);
        (0..data.len()).any(|at| numbers(at).iter().any(|it| is_such(it.as_f64())))
    }

    pub(crate) fn probe(
        &self,
        kind: DrawKind,
        shaped: &Shaped,
        data: &[Vec<u8>],
        seed: u64,
    ) -> Option<FreshInputs> {
        let Shaped { dims, inputs } = shaped.clone();
        let grid = LaunchInputs { dims: &dims, inputs: &inputs };
        let wide = self.wide.as_ref()?;
        let numbers = |at: usize| -> Vec<f64> {
            let all = execute::numbers(&self.program, at, &data[at]);
            all.iter().map(|it| it.as_f64()).collect()
        };
        let images: Vec<Vec<u8>> =
            (0..data.len()).map(|at| execute::image(wide, at, &numbers(at))).collect();
        let (after, statements) = self.run(BUDGET, grid, data);
        let after = after.ok()?;
        let narrow = outputs(&self.program, &inputs, &after);
        let way = Variation { budget: BUDGET, ..Variation::default() };
        let exact = execute::forward_varied(way, wide, grid, &images).ok()?;
        let exact = outputs(wide, &inputs, &exact);
        let has_nan = self.holds(data, f64::is_nan);
        let pads_to_nan =
            self.holds(data, |it| !it.is_finite()) && multiplies(&self.program.forward);
        let tolerances =
            narrow.iter().zip(&exact).map(|(one, other)| loose(one, other, has_nan)).collect();

        let data = self.poisoned(grid, data, &after, seed);
        Some(FreshInputs {
            name: match kind {
                DrawKind::ManyPoints => "inputs for 100,000 points".into(),
                DrawKind::ManyBlocks => "inputs for several blocks".into(),
                _ => "inputs with special values".into(),
            },
            seed,
            dims,
            inputs,
            data,
            after,
            statements,
            cotangents: Vec::new(),
            results: Results { outputs: narrow, gradients: None, consumed: Vec::new() },
            tolerances: OnceLock::from(Tolerances { outputs: tolerances, gradients: Vec::new() }),
            kind,
            pads_to_nan,
            is_order_independent: OnceLock::new(),
            has_race: OnceLock::new(),
        })
    }
}

/// Returns the arrays that the kernel writes, after a launch.
pub(crate) fn outputs(
    program: &RowProgram,
    inputs: &[ArgumentInput],
    after: &[Vec<u8>],
) -> Vec<Tensor> {
    let written = inputs.iter().enumerate().filter(|(_, it)| it.written);
    let tensor = |(at, given): (usize, &ArgumentInput)| Tensor {
        name: given.name.clone(),
        shape: given.shape.clone(),
        numbers: execute::numbers(program, at, &after[at]),
    };
    written.map(tensor).collect()
}

/// Returns the tolerance of each number: infinite if the number depends on rounding, or if it is a
/// NaN and no input is. Such a NaN comes from zero times infinity, and an answer may omit a term of
/// weight 0.
pub(crate) fn loose(narrow: &Tensor, wide: &Tensor, has_nan: bool) -> Vec<f64> {
    let sizes = narrow.numbers.iter().map(|it| it.as_f64().abs()).filter(|it| it.is_finite());
    let largest = sizes.fold(0.0, f64::max);
    let one = |(narrow, wide): (&Literal, &Literal)| {
        let (one, other) = (narrow.as_f64(), wide.as_f64());
        // One unit in the last place of a 16-bit float exceeds the tolerance.
        let unit = tensor::epsilon(narrow.scalar()).unwrap_or(0.0);
        let is_sure = match narrow.scalar().is_float() {
            true if one.is_nan() => has_nan && other.is_nan(),
            true if !one.is_finite() => !other.is_finite(),
            true => (one - other).abs() <= ROUNDING.max(unit) * largest,
            false => one == other,
        };
        match (is_sure, narrow.scalar().is_float()) {
            (false, _) => f64::INFINITY,
            (true, true) => TOLERANCE.max(UNITS * unit) * largest,
            (true, false) => 0.0,
        }
    };
    narrow.numbers.iter().zip(&wide.numbers).map(one).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use gbxcule_rows::execute::ArgumentBytes;
    use gbxcule_rows::row::Row;

    /// A row that computes this expression, over `x` and `y` of 200 floats.
    pub(crate) fn problem(value: &str) -> GradedRow {
        let source = format!(
            "import warp as wp\n\n\n@wp.kernel\ndef k(x: wp.array(dtype=float), y: wp.array(dtype=float)):\n    \
             i = wp.tid()\n    y[i] = {value}\n"
        );
        let named = |name: &str, given: ArgumentInput| ArgumentInput { name: name.into(), ..given };
        let inputs = [
            named("x", ArgumentInput::integers(vec![200], 0, 0)),
            named("y", ArgumentInput::zeros(vec![200])),
        ];
        let inputs_json = serde_json::to_string(&inputs).expect("inputs");
        let row = Row { source, launch_dims: vec![200], inputs_json, ..Row::default() };
        GradedRow::of(&row, 3, false).expect("a problem")
    }

    fn special_numbers(problem: &GradedRow) -> Vec<f64> {
        let draws = problem.draws.iter().filter(|it| it.kind == DrawKind::SpecialValues);
        let numbers = draws.flat_map(|it| it.data[0].chunks_exact(4));
        numbers.map(|it| f64::from(f32::from_le_bytes([it[0], it[1], it[2], it[3]]))).collect()
    }

    #[test]
    fn only_rows_that_decide_by_no_float_see_numbers_that_are_not_finite() {
        let all = special_numbers(&problem("x[i] * x[i] + 1.0"));
        assert!(all.iter().any(|it| it.is_nan()) && all.contains(&f64::INFINITY));
        assert!(all.contains(&0.0) && all.iter().any(|it| 0.0 < *it && *it < 1e-39));
        let all = special_numbers(&problem("wp.max(x[i], 0.5)"));
        assert!(all.iter().all(|it| it.is_finite()) && all.contains(&0.0));
    }

    #[test]
    fn a_row_that_visits_all_pairs_has_a_launch_of_several_blocks() {
        let own = problem("x[i]");
        let source = "import warp as wp\n\n\n@wp.kernel\n\
            def k(x: wp.array(dtype=float), y: wp.array(dtype=float)):\n    \
            i = wp.tid()\n    total = float(0.0)\n    for j in range(x.shape[0]):\n        \
            d = x[j] - x[i]\n        e = d * d + 1.0\n        f = wp.sqrt(e)\n        \
            g = f + e\n        total += d / g\n        total += 1.0\n    y[i] = total\n";
        let named = |name: &str, given: ArgumentInput| ArgumentInput { name: name.into(), ..given };
        let inputs = [
            named("x", ArgumentInput { high: 1.0, ..ArgumentInput::integers(vec![30], 0, 0) }),
            named("y", ArgumentInput::zeros(vec![30])),
        ];
        let inputs_json = serde_json::to_string(&inputs).expect("inputs");
        let source = source.into();
        let row = Row { source, launch_dims: vec![30], inputs_json, ..Row::default() };
        let pairs = GradedRow::of(&row, 3, false).expect("a problem");
        let draw = pairs.large_draw().expect("a draw");
        assert_eq!((draw.kind, draw.dims[0] % 256), (DrawKind::ManyBlocks, 1));
        assert_eq!(own.large_draw().expect("a draw").kind, DrawKind::ManyPoints);
    }

    #[test]
    fn a_cheap_row_has_a_launch_of_many_points() {
        let (cheap, dear) = ("x[i] + 1.0", "wp.abs(".repeat(80) + "x[i]" + &")".repeat(80));
        let cheap = problem(cheap);
        let draw = cheap.large_draw().expect("a draw");
        assert_eq!(draw.dims, [100_003]);
        let launched = ArgumentBytes { data: draw.after.clone(), gradients: Vec::new() };
        assert_eq!(cheap.forward_difference(draw, &launched), None);
        let untouched = ArgumentBytes { data: draw.data.clone(), gradients: Vec::new() };
        assert!(cheap.forward_difference(draw, &untouched).is_some());
        assert!(problem(&dear).large_draw().is_none());
    }
}
