//! The right results for a row: its program's results on the stored inputs and on fresh inputs, and
//! an answer's tolerances.
//!
//! An answer may compute in another order, so its numbers may differ by rounding. The tolerance is
//! measured: four times the largest difference between an array's results and those in 64 bits,
//! plus the errors that [`AllowedErrors`] allows for functions that libraries compute differently,
//! plus four units in the last place of the array's largest number (64 for doubles; none if the
//! program only selects floats). Integers must be equal unless [`AllowedErrors`] moves them.

use crate::fresh_inputs::{DrawKind, FreshInputs, Tolerances};
use crate::probe::{outputs, rounds};
use crate::shape::Shaped;
use gbxcule_gpu_check::cost::Cost;
use gbxcule_grammar::input::{ArgumentInput, is_small};
use gbxcule_grammar::random::{self, Random};
use gbxcule_interp::Refusals;
use gbxcule_ir::layout::leaves;
use gbxcule_ir::source::Span;
use gbxcule_ir::{FunctionId, Literal, Scalar};
use gbxcule_rows::allowed_error::{AllowedErrors, Runner};
use gbxcule_rows::distance::exact;
use gbxcule_rows::execute::{self, ArgumentBytes, BUDGET, LaunchInputs, Variation};
use gbxcule_rows::row::{Results, Row, results};
use gbxcule_rows::row_program::{RowProgram, element};
use gbxcule_rows::tensor::{self, Tensor};
use gbxcule_rows::{rounding, widen};
use std::collections::HashSet;
use std::sync::OnceLock;

/// Factor on the largest difference that rounding causes.
const FACTOR: f64 = 4.0;
/// Units in the last place of an array's largest number.
const UNITS: f64 = 4.0;
/// Units in the last place of an array's largest double, for sums of a thousand terms in any order.
const UNITS_OF_DOUBLES: f64 = 64.0;
/// Number of draws with the same shape and range.
const DRAWS_OF_A_SHAPE: u64 = 2;
/// Tolerance for sums in other orders, as a fraction of the largest number.
const ORDER_ERROR: f64 = 1e-4;
/// Seeds of the thread orders for which a row's results are compared; [`AllowedErrors`] uses them,
/// too.
pub(crate) const OTHER_ORDERS: [u64; 2] = [1, 2];
/// In an output that begins at zero, one element of this number stays zero; all others get random
/// bytes.
const ZEROS: usize = 8;
/// Number that is mixed into the seeds of fresh inputs, so that they differ from the seeds of rows.
const FRESH_STREAM: u64 = 0x6672_6573_6820_696e;

/// A row that is prepared for grading: for answers that compute its results, or its gradients.
pub(crate) struct GradedRow {
    pub(crate) program: RowProgram,
    /// The row's program in 64 bits, if it has one.
    pub(crate) wide: Option<RowProgram>,
    pub(crate) draws: Vec<FreshInputs>,
    /// A launch of many points, made at its first use.
    pub(crate) large: OnceLock<Option<FreshInputs>>,
    /// Cost of the row's text from our compiler.
    pub(crate) own_cost: OnceLock<Option<Cost>>,
    /// Shape and stored inputs of the row.
    pub(crate) own: Shaped,
    /// Seed of the fresh inputs.
    pub(crate) seed: u64,
    /// Strict checks that the row passes on its stored inputs. Fresh inputs must pass them, too,
    /// because an answer with raw pointers can't count an index from an array's end.
    refusals: Refusals,
    /// Calls whose tiles lie in their arrays on the stored inputs. So they must on fresh inputs,
    /// because an answer need not check what always holds.
    pub(crate) whole_tiles: HashSet<(FunctionId, Span)>,
}

impl GradedRow {
    /// Prepares a row, or the gradients of a row; the error says why answers can't be graded.
    pub(crate) fn of(row: &Row, seed: u64, backward: bool) -> Result<Self, String> {
        let read = if backward { RowProgram::read } else { RowProgram::read_forward };
        let program = read(&row.source).map_err(|faults| {
            format!("row {}: its source is refused: {}", row.id, first(&faults))
        })?;
        Self::of_program(program, row, seed)
    }

    /// Prepares a row whose program was read.
    pub(crate) fn of_program(program: RowProgram, row: &Row, seed: u64) -> Result<Self, String> {
        let inputs =
            row.inputs().ok_or_else(|| format!("row {}: its inputs aren't sound", row.id))?;
        if !program.takes(&inputs) || !is_small(&row.launch_dims) {
            return Err(format!("row {}: its inputs don't fit its kernel", row.id));
        }
        if program.queries_geometry() {
            let id = row.id;
            return Err(format!("row {id}: answers to kernels that query geometry aren't graded"));
        }
        let wide = widen::program(&program);
        let stored_shape = Shaped { dims: row.launch_dims.clone(), inputs };
        let fresh = random::seed(row.input_seed ^ FRESH_STREAM, seed);
        let mut problem = Self {
            program,
            wide,
            draws: Vec::new(),
            large: OnceLock::new(),
            own_cost: OnceLock::new(),
            own: stored_shape.clone(),
            seed: fresh,
            refusals: Refusals::default(),
            whole_tiles: HashSet::new(),
        };
        let stored = problem
            .draw("the stored inputs".into(), &stored_shape, row.input_seed)
            .map_err(|reason| format!("row {}: it doesn't run: {reason}", row.id))?;
        let equals = |text: &String| exact(text, &stored.results.outputs).units == 0.0;
        let holds = row.outputs_json.as_ref().is_none_or(equals);
        if !holds {
            return Err(format!("row {}: its stored results aren't those of its source", row.id));
        }
        problem.refusals = problem.refusals_on(&stored);
        problem.whole_tiles = problem.whole_tiles_on(&stored, &row.source);
        problem.draws.push(stored);
        problem.add_fresh_draws(&stored_shape, fresh);
        problem.add_draws_for_mutants(&row.source, &stored_shape, fresh);
        Ok(problem)
    }

    /// Returns the strict checks that the row's program passes on a draw.
    fn refusals_on(&self, draw: &FreshInputs) -> Refusals {
        let does_without = |refusals| {
            let way = Variation { refusals, ..Variation::default() };
            execute::forward_varied(way, &self.program, draw.grid(), &draw.data).is_ok()
        };
        let none = Refusals::default();
        Refusals {
            negative_indices: does_without(Refusals { negative_indices: true, ..none }),
            wrapping: does_without(Refusals { wrapping: true, ..none }),
        }
    }

    /// Runs the row's program on fresh inputs, and returns the arguments after it and the number of
    /// executed statements.
    pub(crate) fn run(
        &self,
        budget: u64,
        grid: LaunchInputs<'_>,
        data: &[Vec<u8>],
    ) -> (Result<Vec<Vec<u8>>, String>, u64) {
        let way = Variation { budget, refusals: self.refusals, ..Variation::default() };
        let (after, statements) = execute::forward_counted(way, &self.program, grid, data);
        let is_whole = after.is_err() || self.keeps_tiles_whole(grid, data);
        let cut = || Err("a tile ends outside of its array".to_owned());
        (if is_whole { after } else { cut() }, statements)
    }

    /// Returns the inputs on which an answer runs, forward or backward.
    pub(crate) fn draws(&self, backward: bool) -> impl Iterator<Item = &FreshInputs> {
        self.draws.iter().filter(move |it| !backward || it.kind == DrawKind::Plain)
    }

    /// Returns a draw on which the row's results are finite and depend neither on rounding nor on
    /// the order of threads.
    pub(crate) fn sound_draw(&self, shaped: &Shaped, seed: u64) -> Option<FreshInputs> {
        if !self.program.takes(&shaped.inputs) {
            return None;
        }
        let name = format!("fresh inputs {}", self.draws.len());
        (0..DRAWS_OF_A_SHAPE).find_map(|number| {
            let draw = self.draw(name.clone(), shaped, random::seed(seed, number)).ok()?;
            let finite = |it: &Tensor| it.numbers.iter().all(|it| it.as_f64().is_finite());
            let all = draw.results.outputs.iter().chain(draw.results.slopes()).all(finite);
            (all && self.is_harmless(&draw) && self.is_order_independent(&draw)).then_some(draw)
        })
    }

    /// Returns true if threads in [`OTHER_ORDERS`] give the same results, up to rounding.
    pub(crate) fn is_order_independent(&self, draw: &FreshInputs) -> bool {
        *draw.is_order_independent.get_or_init(|| self.is_equal_in_other_orders(draw))
    }

    /// Returns true if the row's own threads race on a draw.
    pub(crate) fn has_race(&self, draw: &FreshInputs) -> bool {
        *draw.has_race.get_or_init(|| {
            let race = execute::race(&self.program, draw.grid(), &draw.data, false);
            !race.is_ok_and(|race| race.is_none())
        })
    }

    fn is_equal_in_other_orders(&self, draw: &FreshInputs) -> bool {
        OTHER_ORDERS.into_iter().all(|seed| {
            let way = Variation { order_seed: Some(seed), ..Variation::default() };
            let found = execute::forward_varied(way, &self.program, draw.grid(), &draw.data);
            found.is_ok_and(|found| {
                let arguments = draw.after.iter().zip(&found).enumerate();
                arguments.into_iter().all(|(at, (one, other))| {
                    let [one, other] =
                        [one, other].map(|it| execute::numbers(&self.program, at, it));
                    is_alike(&one, &other)
                })
            })
        })
    }

    pub(crate) fn draw(
        &self,
        name: String,
        shaped: &Shaped,
        seed: u64,
    ) -> Result<FreshInputs, String> {
        let Shaped { dims, inputs } = shaped.clone();
        let grid = LaunchInputs { dims: &dims, inputs: &inputs };
        let data = execute::arguments(&self.program, grid.inputs, seed);
        let (after, statements) = self.run(BUDGET, grid, &data);
        let after = after?;
        let poison = random::seed(self.seed, self.draws.len() as u64);
        let data = self.poisoned(grid, &data, &after, poison);
        let (results, cotangents) = match self.program.reverse {
            Ok(_) => {
                let cotangents = execute::cotangents(&self.program, grid.inputs, seed);
                (results(&self.program, grid, seed)?, cotangents)
            }
            Err(_) => (
                Results {
                    outputs: outputs(&self.program, &inputs, &after),
                    gradients: None,
                    consumed: Vec::new(),
                },
                vec![],
            ),
        };
        let tolerances = OnceLock::new();
        let kind = DrawKind::Plain;
        Ok(FreshInputs {
            name,
            seed,
            dims,
            inputs,
            data,
            after,
            statements,
            cotangents,
            results,
            tolerances,
            kind,
            pads_to_nan: false,
            is_order_independent: OnceLock::new(),
            has_race: OnceLock::new(),
        })
    }

    /// Returns the arguments with random bytes in place of zeros in outputs, where the row's
    /// results don't depend on them. So an answer is found that adds to an output or doesn't write
    /// it. Some elements stay zero, so that an answer can't detect that it is graded.
    pub(crate) fn poisoned(
        &self,
        grid: LaunchInputs<'_>,
        data: &[Vec<u8>],
        after: &[Vec<u8>],
        seed: u64,
    ) -> Vec<Vec<u8>> {
        let mut random = Random::new(seed);
        let (module, params) = (&self.program.forward, self.program.params());
        let mut poisoned = data.to_vec();
        for (at, given) in grid.inputs.iter().enumerate() {
            let of = element(module, params[at].ty).unwrap_or(params[at].ty);
            // A bool allows only the bytes 0 and 1.
            let takes_bytes = leaves(&module.types, of).iter().all(|it| it.scalar != Scalar::Bool);
            if !given.zero || !given.written || !takes_bytes {
                continue;
            }
            let elements = given.shape.iter().product::<u32>().max(1) as usize;
            let noise = noise(data[at].len(), elements, &mut random);
            let zeros = std::mem::replace(&mut poisoned[at], noise);
            let found = execute::forward(&self.program, grid, &poisoned);
            if found.ok().as_deref() != Some(after) {
                poisoned[at] = zeros;
            }
        }
        poisoned
    }

    /// Returns the results in 64 bits, if rounding affects only the last digits.
    fn wide_results(&self, draw: &FreshInputs) -> Option<Results> {
        let found = results(self.wide.as_ref()?, draw.grid(), draw.seed).ok()?;
        rounding::is_harmless(&draw.results, &found).then_some(found)
    }

    pub(crate) fn is_harmless(&self, draw: &FreshInputs) -> bool {
        self.wide.is_none() || self.wide_results(draw).is_some()
    }

    pub(crate) fn tolerances<'d>(&self, draw: &'d FreshInputs) -> &'d Tolerances {
        draw.tolerances.get_or_init(|| {
            let exact = &draw.results;
            let bounds =
                AllowedErrors::find(&self.program, draw.grid(), draw.seed, exact, Runner::Device);
            let wide = self.wide_results(draw);
            let rounds = rounds(&self.program.forward);
            let of = |narrow: &[Tensor],
                      wide: Option<&[Tensor]>,
                      bounds: Option<&Vec<Vec<f64>>>,
                      rounds: bool| {
                let arrays = narrow.iter().enumerate();
                let one = |(at, tensor): (usize, &Tensor)| {
                    let wide = wide.and_then(|wide| wide.get(at));
                    allowed(tensor, wide, bounds.map(|bounds| bounds[at].as_slice()), rounds)
                };
                arrays.map(one).collect()
            };
            Tolerances {
                outputs: of(
                    &exact.outputs,
                    wide.as_ref().map(|it| it.outputs.as_slice()),
                    bounds.as_ref().map(|it| &it.outputs),
                    rounds,
                ),
                gradients: of(
                    exact.slopes(),
                    wide.as_ref().and_then(|it| it.gradients.as_deref()),
                    bounds.as_ref().map(|it| &it.gradients),
                    true,
                ),
            }
        })
    }

    /// Describes the first number that is wrong after an answer's launch.
    pub(crate) fn forward_difference(
        &self,
        draw: &FreshInputs,
        found: &ArgumentBytes,
    ) -> Option<String> {
        for (at, given) in draw.inputs.iter().enumerate() {
            if !given.written && found.data.get(at) != Some(&draw.after[at]) {
                let reason = "is changed, which the row only reads";
                return Some(format!("`{}` {reason}, on {}", given.name, draw.described()));
            }
        }
        let tolerances = |place: usize| &self.tolerances(draw).outputs[place];
        self.difference(draw, &draw.results.outputs, &found.data, &tolerances)
    }

    pub(crate) fn difference<'t>(
        &self,
        draw: &FreshInputs,
        wanted: &[Tensor],
        found: &[Vec<u8>],
        tolerances: &dyn Fn(usize) -> &'t Vec<f64>,
    ) -> Option<String> {
        for (place, tensor) in wanted.iter().enumerate() {
            let is_named = |it: &ArgumentInput| it.name == tensor.name;
            let Some(at) = draw.inputs.iter().position(is_named) else { continue };
            if found.get(at).is_some_and(|it| it.is_empty()) {
                continue;
            }
            let numbers = execute::numbers(&self.program, at, &found[at]);
            for (index, (&wanted, &found)) in tensor.numbers.iter().zip(&numbers).enumerate() {
                let (right, is) = (wanted.as_f64(), found.as_f64());
                // The bits of a NaN are unspecified.
                if tensor::units(wanted, found) == 0.0 || right.is_nan() && is.is_nan() {
                    continue;
                }
                let tolerance = tolerances(place)[index];
                let is_free = tolerance == f64::INFINITY;
                let is_probe = draw.kind != DrawKind::Plain;
                // A tile with zeros around it multiplies them with numbers that aren't finite.
                let is_padded = draw.pads_to_nan && is.is_nan();
                let is_alike = is_probe && !is.is_finite() && (!right.is_finite() || is_padded);
                if is_free || is_alike {
                    continue;
                }
                // A NaN is never near a number: the comparison is false.
                let is_near = (right - is).abs() <= tolerance;
                if !is_near {
                    let element = index / (tensor.numbers.len() / elements(tensor)).max(1);
                    let [is, right] = [found, wanted].map(tensor::spelled);
                    let (name, draw) = (place_name(tensor, element), draw.described());
                    return Some(format!("`{name}`: {is} instead of {right}, on {draw}"));
                }
            }
        }
        None
    }
}

/// Draws bytes that are finite numbers in every type; some elements are zero.
fn noise(bytes: usize, elements: usize, random: &mut Random) -> Vec<u8> {
    let size = (bytes / elements).max(1);
    let mut noise = Vec::with_capacity(bytes);
    while noise.len() < bytes {
        let is_zero = elements >= ZEROS && random.below(ZEROS) == 0;
        for _ in 0..size.min(bytes - noise.len()) {
            // Unless these five bits of a float's exponent are all set, the float is finite.
            let byte = match 1 + random.below(255) as u8 {
                byte if byte & 0x7C == 0x7C => byte ^ 0x40,
                byte => byte,
            };
            noise.push(if is_zero { 0 } else { byte });
        }
    }
    noise
}

/// Returns true if numbers are equal up to rounding.
pub(crate) fn is_alike(one: &[Literal], other: &[Literal]) -> bool {
    let largest = one.iter().map(|it| it.as_f64().abs()).fold(1.0, f64::max);
    let is_near = |(a, b): (&Literal, &Literal)| {
        let (a, b) = (a.as_f64(), b.as_f64());
        a == b || (a - b).abs() <= ORDER_ERROR * largest || a.is_nan() && b.is_nan()
    };
    one.iter().zip(other).all(is_near)
}

/// Returns the number of elements of an array, or 1 for a value.
pub(crate) fn elements(tensor: &Tensor) -> usize {
    tensor.shape.iter().product::<u32>().max(1) as usize
}

/// Returns the name of an element by its indices: `out[3, 1]`.
pub(crate) fn place_name(tensor: &Tensor, element: usize) -> String {
    let mut rest = element;
    let mut indices = Vec::new();
    for extent in tensor.shape.iter().rev() {
        let extent = (*extent).max(1) as usize;
        indices.insert(0, rest % extent);
        rest /= extent;
    }
    if indices.is_empty() { tensor.name.clone() } else { format!("{}{indices:?}", tensor.name) }
}

/// Returns the message of the first diagnostic.
pub(crate) fn first(faults: &[gbxcule_ir::diagnostic::Diagnostic]) -> String {
    faults.first().map_or_else(|| "no reason".into(), |fault| fault.message.clone())
}

fn allowed(
    narrow: &Tensor,
    wide: Option<&Tensor>,
    bounds: Option<&[f64]>,
    rounds: bool,
) -> Vec<f64> {
    let numbers = || narrow.numbers.iter();
    let largest = tensor::largest(&narrow.numbers);
    let rounding = wide.map_or(0.0, |wide| {
        let pairs = numbers().zip(&wide.numbers);
        let errors = pairs.map(|(one, other)| (one.as_f64() - other.as_f64()).abs());
        errors.filter(|it| it.is_finite()).fold(0.0, f64::max)
    });
    let one = |(at, number): (usize, &gbxcule_ir::Literal)| {
        let bound = bounds.map_or(0.0, |bounds| bounds[at]);
        // For doubles there is no wider program that measures rounding, and sums in another order
        // differ by more.
        let units = if number.scalar() == Scalar::F64 { UNITS_OF_DOUBLES } else { UNITS };
        let unit = tensor::epsilon(number.scalar()).filter(|_| rounds);
        let unit = unit.map_or(0.0, |unit| units * unit * largest);
        let rounding = if number.scalar().is_float() { FACTOR * rounding } else { 0.0 };
        bound + rounding + unit
    };
    numbers().enumerate().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row over `x` and `y` of 40 floats and `n`, which is 40, with this index.
    fn problem(index: &str) -> GradedRow {
        let source = format!(
            "import warp as wp\n\n\n@wp.kernel\ndef k(x: wp.array(dtype=float), n: int, y: wp.array(dtype=float)):\n    \
             i = wp.tid()\n    y[i] = x[{index}]\n"
        );
        let named = |name: &str, given: ArgumentInput| ArgumentInput { name: name.into(), ..given };
        let inputs = [
            named("x", ArgumentInput::integers(vec![40], 0, 0)),
            named("n", ArgumentInput::integers(vec![], 40, 40)),
            named("y", ArgumentInput::zeros(vec![40])),
        ];
        let inputs_json = serde_json::to_string(&inputs).expect("inputs");
        let row = Row { source, launch_dims: vec![40], inputs_json, ..Row::default() };
        GradedRow::of(&row, 3, false).expect("a problem")
    }

    fn counts_from_the_end(problem: &GradedRow) -> Vec<bool> {
        let refusals = Refusals { negative_indices: true, wrapping: false };
        let way = Variation { refusals, ..Variation::default() };
        let run = |draw: &FreshInputs| {
            execute::forward_varied(way, &problem.program, draw.grid(), &draw.data).is_err()
        };
        problem.draws.iter().map(run).collect()
    }

    #[test]
    fn fresh_inputs_count_from_an_end_only_where_the_row_does() {
        let never = counts_from_the_end(&problem("wp.min(i, n - 12)"));
        assert!(never.len() > 6 && !never.contains(&true), "{never:?}");
        let always = counts_from_the_end(&problem("i - 1"));
        assert!(always.iter().filter(|it| **it).count() > 6, "{always:?}");
    }
}
