//! The right results for a row: those of its program on the stored inputs and on fresh ones, and
//! how far from them an answer may be.
//!
//! An answer may compute in another order, so its numbers may differ by what rounding does to the
//! row. That is measured: four times the largest difference between an array's results and those in
//! 64 bits, plus what [`AllowedErrors`] allows for mathematics that libraries compute differently,
//! plus four units in the last place of the array's largest number. Integers must be equal unless
//! [`AllowedErrors`] moves them.

use crate::FRESH_INPUTS;
use gbxcule_grammar::input::{ArgumentInput, is_small, leaves};
use gbxcule_grammar::random;
use gbxcule_ir::Scalar;
use gbxcule_rows::allowed_error::{AllowedErrors, Runner};
use gbxcule_rows::distance::exact;
use gbxcule_rows::execute::{self, ArgumentBytes, LaunchInputs};
use gbxcule_rows::row::{Results, Row, results};
use gbxcule_rows::row_program::{RowProgram, element};
use gbxcule_rows::tensor::{self, Tensor};
use gbxcule_rows::{rounding, widen};
use std::cell::OnceCell;

/// Factor on the largest difference that rounding makes.
const FACTOR: f64 = 4.0;
/// Units in the last place of an array's largest number.
const UNITS: f64 = 4.0;
/// Draws among which fresh inputs are looked for.
const TRIES: u64 = 40;
/// Bytes that outputs are filled with, of one draw and of the next: each is a finite number of
/// every type.
const POISONS: [u8; 2] = [0x5a, 0xc3];
/// Mixed into seeds, so that no seed of fresh inputs is one by which a row was made.
const FRESH_STREAM: u64 = 0x6672_6573_6820_696e;

/// A row, ready to grade answers.
pub(crate) struct GradedRow {
    pub(crate) program: RowProgram,
    dims: Vec<u32>,
    inputs: Vec<ArgumentInput>,
    /// The wide program, where there is one.
    wide: Option<RowProgram>,
    pub(crate) draws: Vec<FreshInputs>,
}

/// Inputs, and what the row makes of them.
pub(crate) struct FreshInputs {
    /// Name in messages.
    pub(crate) name: String,
    seed: u64,
    /// Arguments before the launch.
    pub(crate) data: Vec<Vec<u8>>,
    /// Arguments after it.
    after: Vec<Vec<u8>>,
    /// Gradients before the reverse runs.
    pub(crate) cotangents: Vec<Vec<u8>>,
    results: Results,
    tolerances: OnceCell<Tolerances>,
}

/// Allowed error of each number, forward and backward.
struct Tolerances {
    outputs: Vec<Vec<f64>>,
    gradients: Vec<Vec<f64>>,
}

impl GradedRow {
    /// Makes the problem of a row; the error is the reason for which answers about it can't be
    /// graded.
    pub(crate) fn of(row: &Row, seed: u64) -> Result<Self, String> {
        let program = RowProgram::read(&row.source).map_err(|faults| {
            format!("row {}: its source is refused: {}", row.id, first(&faults))
        })?;
        let inputs =
            row.inputs().ok_or_else(|| format!("row {}: its inputs aren't sound", row.id))?;
        if !program.takes(&inputs) || !is_small(&row.launch_dims) {
            return Err(format!("row {}: its inputs don't fit its kernel", row.id));
        }
        let wide = widen::program(&program);
        let dims = row.launch_dims.clone();
        let mut problem = Self { program, dims, inputs, wide, draws: Vec::new() };
        let stored = problem
            .draw("the stored inputs".into(), row.input_seed)
            .map_err(|reason| format!("row {}: it doesn't run: {reason}", row.id))?;
        let holds = row.outputs_json.as_ref().is_none_or(|text| {
            let distance = exact(text, &stored.results.outputs);
            distance.units == 0.0
        });
        if !holds {
            return Err(format!("row {}: its stored results aren't those of its source", row.id));
        }
        problem.draws.push(stored);
        problem.add_fresh_draws(random::seed(row.input_seed ^ FRESH_STREAM, seed));
        Ok(problem)
    }

    /// Adds draws on which rounding decides nothing; if there are too few, others on which the row
    /// runs.
    fn add_fresh_draws(&mut self, seed: u64) {
        let mut rough = Vec::new();
        for number in 0..TRIES {
            if self.draws.len() as u64 > FRESH_INPUTS {
                return;
            }
            let name = format!("fresh inputs {}", self.draws.len());
            let Ok(draw) = self.draw(name, random::seed(seed, number)) else { continue };
            match self.is_harmless(&draw) {
                true => self.draws.push(draw),
                false => rough.push(draw),
            }
        }
        let missing = (1 + FRESH_INPUTS as usize).saturating_sub(self.draws.len());
        for mut draw in rough.into_iter().take(missing) {
            draw.name = format!("fresh inputs {}", self.draws.len());
            self.draws.push(draw);
        }
    }

    pub(crate) fn grid(&self) -> LaunchInputs<'_> {
        LaunchInputs { dims: &self.dims, inputs: &self.inputs }
    }

    fn draw(&self, name: String, seed: u64) -> Result<FreshInputs, String> {
        let (grid, kernel) = (self.grid(), self.program.kernel);
        let data = execute::arguments(&self.program.forward, kernel, grid.inputs, seed);
        let after = execute::forward(&self.program, grid, &data)?;
        let data = self.poisoned(&data, &after, POISONS[self.draws.len() % POISONS.len()]);
        let results = results(&self.program, grid, seed)?;
        let cotangents = execute::cotangents(&self.program.forward, kernel, grid.inputs, seed);
        Ok(FreshInputs {
            name,
            seed,
            data,
            after,
            cotangents,
            results,
            tolerances: OnceCell::new(),
        })
    }

    /// The arguments with a pattern in the place of zeros, where the row's results don't depend on
    /// them: an answer that adds to an output, or leaves it as it is, is wrong.
    fn poisoned(&self, data: &[Vec<u8>], after: &[Vec<u8>], pattern: u8) -> Vec<Vec<u8>> {
        let (module, params) = (&self.program.forward, self.program.params());
        let mut poisoned = data.to_vec();
        for (at, given) in self.inputs.iter().enumerate() {
            let of = element(module, params[at].ty).unwrap_or(params[at].ty);
            // Some bytes are no bool.
            let takes_bytes = leaves(&module.types, of).iter().all(|it| it.scalar != Scalar::Bool);
            if !given.zero || !given.written || !takes_bytes {
                continue;
            }
            let zeros = std::mem::replace(&mut poisoned[at], vec![pattern; data[at].len()]);
            let found = execute::forward(&self.program, self.grid(), &poisoned);
            if found.ok().as_deref() != Some(after) {
                poisoned[at] = zeros;
            }
        }
        poisoned
    }

    /// The results in 64 bits, if rounding changes nothing but last digits.
    fn wide_results(&self, draw: &FreshInputs) -> Option<Results> {
        let found = results(self.wide.as_ref()?, self.grid(), draw.seed).ok()?;
        rounding::is_harmless(&draw.results, &found).then_some(found)
    }

    fn is_harmless(&self, draw: &FreshInputs) -> bool {
        self.wide.is_none() || self.wide_results(draw).is_some()
    }

    fn tolerances<'d>(&self, draw: &'d FreshInputs) -> &'d Tolerances {
        draw.tolerances.get_or_init(|| {
            let exact = &draw.results;
            let bounds =
                AllowedErrors::find(&self.program, self.grid(), draw.seed, exact, Runner::Device);
            let wide = self.wide_results(draw);
            let of =
                |narrow: &[Tensor], wide: Option<&[Tensor]>, bounds: Option<&Vec<Vec<f64>>>| {
                    let arrays = narrow.iter().enumerate();
                    let one = |(at, tensor): (usize, &Tensor)| {
                        let wide = wide.and_then(|wide| wide.get(at));
                        allowed(tensor, wide, bounds.map(|bounds| bounds[at].as_slice()))
                    };
                    arrays.map(one).collect()
                };
            Tolerances {
                outputs: of(
                    &exact.outputs,
                    wide.as_ref().map(|it| it.outputs.as_slice()),
                    bounds.as_ref().map(|it| &it.outputs),
                ),
                gradients: of(
                    exact.slopes(),
                    wide.as_ref().and_then(|it| it.gradients.as_deref()),
                    bounds.as_ref().map(|it| &it.gradients),
                ),
            }
        })
    }

    /// Description of the first place in which memory after a launch of an answer is not what it
    /// should be.
    pub(crate) fn forward_difference(
        &self,
        draw: &FreshInputs,
        found: &ArgumentBytes,
    ) -> Option<String> {
        for (at, given) in self.inputs.iter().enumerate() {
            if !given.written && found.data.get(at) != Some(&draw.after[at]) {
                return Some(format!("`{}` is changed, on {}", given.name, draw.name));
            }
        }
        let tolerances = |place: usize| &self.tolerances(draw).outputs[place];
        self.difference(draw, &draw.results.outputs, &found.data, &tolerances)
    }

    /// Description of the first gradient that is not what it should be.
    pub(crate) fn backward_difference(
        &self,
        draw: &FreshInputs,
        found: &ArgumentBytes,
    ) -> Option<String> {
        let tolerances = |place: usize| &self.tolerances(draw).gradients[place];
        let place = self.difference(draw, draw.results.slopes(), &found.gradients, &tolerances)?;
        Some(format!("the gradient of {place}"))
    }

    fn difference<'t>(
        &self,
        draw: &FreshInputs,
        wanted: &[Tensor],
        found: &[Vec<u8>],
        tolerances: &dyn Fn(usize) -> &'t Vec<f64>,
    ) -> Option<String> {
        for (place, tensor) in wanted.iter().enumerate() {
            let own = |it: &ArgumentInput| it.name == tensor.name;
            let Some(at) = self.inputs.iter().position(own) else { continue };
            let numbers =
                execute::numbers(&self.program.forward, self.program.kernel, at, &found[at]);
            for (index, (&wanted, &found)) in tensor.numbers.iter().zip(&numbers).enumerate() {
                let (right, is) = (wanted.as_f64(), found.as_f64());
                // Bits of a NaN are nobody's promise.
                if tensor::units(wanted, found) == 0.0 || right.is_nan() && is.is_nan() {
                    continue;
                }
                // What isn't a number is off by more than anything.
                let is_near = (right - is).abs() <= tolerances(place)[index];
                if !is_near {
                    let element = index / (tensor.numbers.len() / elements(tensor)).max(1);
                    return Some(format!(
                        "`{}` at {element}: {is:?} instead of {right:?}, on {}",
                        tensor.name, draw.name
                    ));
                }
            }
        }
        None
    }
}

/// Elements of an array; 1 of a value.
fn elements(tensor: &Tensor) -> usize {
    tensor.shape.iter().product::<u32>().max(1) as usize
}

/// The first of some diagnostics.
pub(crate) fn first(faults: &[gbxcule_ir::diagnostic::Diagnostic]) -> String {
    faults.first().map_or_else(|| "no reason".into(), |fault| fault.message.clone())
}

fn allowed(narrow: &Tensor, wide: Option<&Tensor>, bounds: Option<&[f64]>) -> Vec<f64> {
    let numbers = || narrow.numbers.iter();
    let largest = numbers().map(|it| it.as_f64().abs()).fold(0.0, f64::max);
    let rounding = wide.map_or(0.0, |wide| {
        let pairs = numbers().zip(&wide.numbers);
        pairs.map(|(one, other)| (one.as_f64() - other.as_f64()).abs()).fold(0.0, f64::max)
    });
    let one = |(at, number): (usize, &gbxcule_ir::Literal)| {
        let bound = bounds.map_or(0.0, |bounds| bounds[at]);
        let unit = tensor::epsilon(number.scalar()).map_or(0.0, |unit| UNITS * unit * largest);
        let rounding = if number.scalar().is_float() { FACTOR * rounding } else { 0.0 };
        bound + rounding + unit
    };
    numbers().enumerate().map(one).collect()
}
