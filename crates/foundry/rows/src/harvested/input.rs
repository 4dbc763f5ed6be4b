//! Inputs for a kernel without a description: shapes and ranges are drawn until the kernel runs
//! without a fault and its results are finite and depend on its inputs.

use super::{Refusal, recorded};
use crate::execute::{self, BUDGET, LaunchInputs, Variation};
use crate::geometry::{self, GeometrySize};
use crate::row::{Results, results};
use crate::row_program::{RowProgram, element};
use gbxcule_grammar::input::{ArgumentInput, Arrangement, RECORDED_SEED, rank};
use gbxcule_grammar::random::{self, Random};
use gbxcule_ir::layout::leaves;
use gbxcule_ir::op::Op;
use gbxcule_ir::{Param, Scalar, Type};

/// Greatest number of shapes and ranges that are tried.
const ATTEMPTS: u64 = 60;
/// Number of further attempts with large arrays, if all of the others fault.
const LARGE_ATTEMPTS: u64 = 24;
/// Number of draws, which must all run.
const DRAWS: u64 = 3;
/// Greatest number of statements of a launch during the search: a row's budget must also hold for
/// its reverse.
pub(crate) const SEARCH_BUDGET: u64 = BUDGET / 8;
/// Greatest number of statements of a launch that was recorded, or has large arrays: few are tried.
pub(super) const RECORDED_BUDGET: u64 = BUDGET / 2;
/// Greatest extent of a drawn array.
const LONGEST: u32 = 1024;
/// Largest float of a result; larger ones count as a diverging sum.
const LARGEST: f64 = 1e6;

/// Inputs that were found.
pub(crate) struct FoundInputs {
    pub(super) dims: Vec<u32>,
    pub(super) inputs: Vec<ArgumentInput>,
    pub(super) seed: u64,
    pub(super) attempt: u32,
    /// True if each input changes a result.
    pub(super) inputs_matter: bool,
    /// True if each comparison comes out both ways.
    pub(super) comparisons_vary: bool,
    /// Results on these inputs.
    pub(super) results: Results,
}

/// Threads of the launches that are tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Threads {
    Any,
    One,
}

/// Finds inputs for a kernel.
pub(super) fn find(
    program: &RowProgram,
    seed: u64,
    threads: Threads,
) -> Result<FoundInputs, Refusal> {
    check_parameters(program)?;
    // The reported refusal is that of the attempt that passed the most checks.
    let mut nearest = Refusal::Faults;
    let mut best: Option<FoundInputs> = None;
    for attempt in 0..ATTEMPTS + LARGE_ATTEMPTS {
        let mut random = Random::new(random::seed(seed, attempt));
        // A launch of few threads would hide a race.
        let needs_large = nearest == Refusal::Faults && threads == Threads::Any;
        if attempt >= ATTEMPTS && (best.is_some() || !needs_large) {
            break;
        }
        let (budget, (dims, inputs)) = match attempt {
            0..ATTEMPTS => (SEARCH_BUDGET, shapes(program, &mut random, attempt, threads)),
            _ => (RECORDED_BUDGET, large_shapes(program, &mut random, attempt)),
        };
        let seed = random::seed(seed, attempt + ATTEMPTS);
        match try_inputs(program, dims, inputs, seed, budget) {
            Ok(given) => {
                let given = FoundInputs { attempt: attempt as u32, ..given };
                if given.inputs_matter && given.comparisons_vary {
                    return Ok(given);
                }
                let score =
                    |it: &FoundInputs| u8::from(it.inputs_matter) + u8::from(it.comparisons_vary);
                if best.as_ref().is_none_or(|best| score(&given) > score(best)) {
                    best = Some(given);
                }
                // Real code may fail checks of sampled rows, so only a few more attempts are made
                // to pass them.
                if attempt > ATTEMPTS / 3 {
                    break;
                }
            }
            Err(refusal) => nearest = nearest.max(refusal),
        }
    }
    best.ok_or(nearest)
}

/// Refuses a kernel with a parameter whose inputs a row can't hold.
pub(super) fn check_parameters(program: &RowProgram) -> Result<(), Refusal> {
    let types = &program.forward.types;
    for param in program.params() {
        let of = element(&program.forward, param.ty).unwrap_or(param.ty);
        if types.holds_array(of) || leaves(types, of).is_empty() {
            return Err(Refusal::Parameters(param.name.to_string()));
        }
    }
    Ok(())
}

/// Returns the number of dimensions of the launch, from the kernel's calls of `wp.tid`.
fn dimensions(program: &RowProgram) -> usize {
    let mut dims = 1;
    for (_, function) in program.forward.functions.iter() {
        for (_, value) in function.body.values.iter() {
            if let Op::LaunchIndex(dim) = value.op {
                dims = dims.max(usize::from(dim) + 1);
            }
        }
    }
    dims
}

/// Draws a launch and shapes: the first attempts have equal extents, later ones different extents.
fn shapes(
    program: &RowProgram,
    random: &mut Random,
    attempt: u64,
    threads: Threads,
) -> (Vec<u32>, Vec<ArgumentInput>) {
    let count = dimensions(program);
    let most = if count > 2 { 4 } else { 9 };
    let extent = random.between(1, most) as u32;
    let dims: Vec<u32> = match attempt % 4 {
        _ if threads == Threads::One => vec![1; count],
        0 | 1 => vec![extent; count],
        2 => (0..count).map(|_| random.between(1, most) as u32).collect(),
        _ => vec![1; count],
    };
    let larger = extent * random.pick(&[1, 1, 2, 3, 4]) + random.pick(&[0, 0, 1, 2]);
    let types = &program.forward.types;
    let inputs = program.params().iter().map(|param| {
        let rank = rank(types, param.ty);
        let side = if rank > 2 { larger.min(8) } else { larger };
        let shape: Vec<u32> = match attempt % 3 {
            0 => (0..rank).map(|at| dims.get(at).copied().unwrap_or(extent)).collect(),
            1 => vec![side; rank],
            _ => vec![side.max(if rank > 1 { 8 } else { 64 }); rank],
        };
        let mut given = ArgumentInput::spread(random, shape);
        // Integers of real code are indices, counts and sizes.
        let last = i64::from(extent.max(1)) - 1;
        (given.least, given.most) = random.pick(&[(0, last), (0, last), (0, 1), (1, 4), (0, 9)]);
        if random.chance(20) {
            (given.least, given.most) = random.pick(&[(1, 1), (0, 0), (2, 2), (-4, 4), (0, 100)]);
        }
        given.name.clone_from(&param.name);
        given
    });
    let mut inputs: Vec<ArgumentInput> = inputs.collect();
    if program.queries_geometry() {
        draw_geometry(program, random, &mut inputs);
    }
    (dims, inputs)
}

/// Draws one or few threads and large arrays, as kernels of tiles have; every other draw makes the
/// square matrices ones that can be solved.
fn large_shapes(
    program: &RowProgram,
    random: &mut Random,
    attempt: u64,
) -> (Vec<u32>, Vec<ArgumentInput>) {
    let (mut dims, mut inputs) = shapes(program, random, 3, Threads::Any);
    let side = random.pick(&[32, 64, 128]);
    let rows = random.pick(&[1, 2, 8, side, side]);
    dims[0] = random.pick(&[1, 1, 2]);
    for given in &mut inputs {
        given.shape = match given.shape.len() {
            0 => Vec::new(),
            1 => vec![if rows == side { side } else { LONGEST }],
            2 if rows == side => vec![side; 2],
            2 => vec![rows, 512],
            rank => vec![8; rank],
        };
        if attempt.is_multiple_of(2) && given.shape.len() == 2 && rows == side {
            given.arrangement = Arrangement::Definite;
        }
    }
    if program.queries_geometry() {
        draw_geometry(program, random, &mut inputs);
    }
    (dims, inputs)
}

/// Draws the size of the geometry that a kernel queries; its ids are 1.
fn draw_geometry(program: &RowProgram, random: &mut Random, inputs: &mut [ArgumentInput]) {
    let (module, params) = (&program.forward, program.params());
    let of = |param: &Param| element(module, param.ty).unwrap_or(param.ty);
    let sorted = geometry::positions(program, inputs).map_or(0, |at| inputs[at].shape[0]);
    let (points, boxes) = (random.between(3, 9) as u32, random.between(1, 12) as u32);
    let size = GeometrySize { points, boxes, sorted };
    for (param, given) in params.iter().zip(inputs) {
        if let Some(part) = size.input(param, given) {
            *given = part;
        } else if of(param) == Type::scalar(Scalar::U64) {
            (given.least, given.most) = (1, 1);
        }
    }
}

/// Tries inputs: several draws must run, and the results must depend on them.
pub(super) fn try_inputs(
    program: &RowProgram,
    dims: Vec<u32>,
    mut inputs: Vec<ArgumentInput>,
    seed: u64,
    budget: u64,
) -> Result<FoundInputs, Refusal> {
    let trial = Trial::of(program, (&dims, &inputs), seed, budget);
    trial.mark_written(&mut inputs)?;
    trial.mark_zero(&mut inputs)?;
    judge(program, dims, inputs, seed, budget)
}

/// Judges given inputs: several draws must run, and the results must depend on them.
pub(crate) fn judge(
    program: &RowProgram,
    dims: Vec<u32>,
    inputs: Vec<ArgumentInput>,
    seed: u64,
    budget: u64,
) -> Result<FoundInputs, Refusal> {
    let trial = Trial::of(program, (&dims, &inputs), seed, budget);
    let seed = trial.seeds[0];
    let draws = trial.draws(&inputs)?;
    let (before, after) = &draws[0];
    let written: Vec<usize> = (0..inputs.len()).filter(|&at| inputs[at].written).collect();
    // A kernel without inputs gives one result, which must not be all zeros.
    let without_inputs = inputs.iter().all(|given| given.zero);
    // An input of one possible value, such as the size of a grid, is not drawn.
    let is_drawn = |it: &ArgumentInput| !it.zero && (it.low, it.least) != (it.high, it.most);
    let changes_results = |data: &Data| {
        let results = trial.run(&inputs, data);
        results.map_or(true, |results| written.iter().any(|&out| results[out] != after[out]))
    };
    // Draws of a recorded input differ in floats alone.
    let is_used = |at: usize| {
        let mut zeroed = before.clone();
        zeroed[at].fill(0);
        zeroed[at] != before[at] && changes_results(&zeroed)
    };
    let is_something = if without_inputs {
        before != after
    } else {
        written.iter().any(|&at| varies(&draws, at))
            || trial.is_recorded && (0..inputs.len()).any(|at| !inputs[at].zero && is_used(at))
    };
    if !is_something {
        return Err(Refusal::Constant);
    }
    let grid = LaunchInputs { dims: &dims, inputs: &inputs };
    let results = results(program, grid, seed).map_err(|_| Refusal::NotFinite)?;
    let matters = |at: usize| {
        draws.iter().skip(1).any(|(other, _)| {
            let mut mixed = before.clone();
            mixed[at].clone_from(&other[at]);
            changes_results(&mixed)
        }) || trial.is_recorded && is_used(at)
    };
    let inputs_matter =
        !without_inputs && (0..inputs.len()).filter(|&at| is_drawn(&inputs[at])).all(matters);
    let outcomes = execute::forward_with_outcomes(program, grid, before);
    let comparisons_vary =
        outcomes.is_ok_and(|(_, outcomes)| outcomes.values().all(|seen| *seen == [true; 2]));
    Ok(FoundInputs { dims, inputs, seed, attempt: 0, inputs_matter, comparisons_vary, results })
}

/// Bytes of each argument.
pub(super) type Data = Vec<Vec<u8>>;

/// A kernel with a launch size and the seeds of its draws.
struct Trial<'a> {
    program: &'a RowProgram,
    dims: &'a [u32],
    seeds: Vec<u64>,
    /// True if an input has recorded values; the first draw then has exactly these.
    is_recorded: bool,
    /// Greatest number of statements of a launch with drawn inputs.
    budget: u64,
}

impl<'a> Trial<'a> {
    fn of(
        program: &'a RowProgram,
        (dims, inputs): (&'a [u32], &[ArgumentInput]),
        seed: u64,
        budget: u64,
    ) -> Self {
        let is_recorded = recorded::is_recorded(inputs);
        let mut seeds: Vec<u64> = (0..DRAWS).map(|draw| random::seed(seed, draw)).collect();
        if is_recorded {
            seeds[0] = RECORDED_SEED;
        }
        Self { program, dims, seeds, is_recorded, budget }
    }

    fn run(&self, inputs: &[ArgumentInput], data: &[Vec<u8>]) -> Result<Data, Refusal> {
        let mut data = data.to_vec();
        geometry::build(self.program, inputs, &mut data);
        let grid = LaunchInputs { dims: self.dims, inputs };
        let budget = if self.is_recorded { RECORDED_BUDGET } else { self.budget };
        let way = Variation { budget, ..Variation::default() };
        execute::forward_varied(way, self.program, grid, &data).map_err(|_| Refusal::Faults)
    }

    fn draw(&self, inputs: &[ArgumentInput], seed: u64) -> Data {
        execute::arguments(self.program, inputs, seed)
    }

    /// Returns the seeds of draws that must run. A program's own numbers may be the only ones on
    /// which a kernel runs.
    fn needed_seeds(&self) -> &[u64] {
        if self.is_recorded { &self.seeds[..1] } else { &self.seeds }
    }

    /// Marks the arguments that some launch changes; there must be at least one.
    fn mark_written(&self, inputs: &mut [ArgumentInput]) -> Result<(), Refusal> {
        for &seed in self.needed_seeds() {
            let data = self.draw(inputs, seed);
            let after = self.run(inputs, &data)?;
            for (given, (before, after)) in inputs.iter_mut().zip(data.iter().zip(&after)) {
                given.written |= before != after;
            }
        }
        let any = inputs.iter().any(|given| given.written);
        any.then_some(()).ok_or(Refusal::NoResult)
    }

    /// Marks the arrays that are written and never read, which begin as zeros.
    fn mark_zero(&self, inputs: &mut [ArgumentInput]) -> Result<(), Refusal> {
        for at in 0..inputs.len() {
            if !inputs[at].written {
                continue;
            }
            let data = self.draw(inputs, self.seeds[0]);
            let mut zeroed = data.clone();
            zeroed[at].fill(0);
            let (one, other) = (self.run(inputs, &data)?, self.run(inputs, &zeroed));
            inputs[at].zero = other.is_ok_and(|other| other == one);
            if inputs[at].zero {
                inputs[at].values.clear();
            }
        }
        Ok(())
    }

    /// Returns the data of every draw, before and after a launch. Results must be finite.
    fn draws(&self, inputs: &[ArgumentInput]) -> Result<Vec<(Data, Data)>, Refusal> {
        let mut draws = Vec::new();
        for (number, &seed) in self.seeds.iter().enumerate() {
            let data = self.draw(inputs, seed);
            let after = match self.run(inputs, &data) {
                Err(_) if number >= self.needed_seeds().len() => continue,
                after => after?,
            };
            for (at, bytes) in after.iter().enumerate().filter(|(at, _)| inputs[*at].written) {
                let numbers = execute::numbers(self.program, at, bytes);
                let is_fine = |number: &gbxcule_ir::Literal| {
                    !number.scalar().is_float() || number.as_f64().abs() <= LARGEST
                };
                if !numbers.iter().all(is_fine) {
                    return Err(Refusal::NotFinite);
                }
            }
            draws.push((data, after));
        }
        Ok(draws)
    }
}

/// Returns true if launches change some byte of an argument, and not to the same value in all
/// draws. Bytes that no launch changes still hold their drawn values.
fn varies(draws: &[(Data, Data)], at: usize) -> bool {
    (0..draws[0].1[at].len()).any(|byte| {
        let changes = draws.iter().any(|(before, after)| before[at][byte] != after[at][byte]);
        changes && draws.iter().any(|(_, after)| after[at][byte] != draws[0].1[at][byte])
    })
}
