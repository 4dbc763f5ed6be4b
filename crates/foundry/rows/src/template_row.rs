//! Rows of the library's algorithms (`gbxcule_templates`), which are checked like harvested rows.
//! Their inputs are given, and failed checks that only sampled rows must pass are marked.
//!
//! These rows go through the templates and compositions in turn, in an order that depends on the
//! dataset, and through the instances of each template. Templates with tiles, of which the library
//! has few, take several turns in each round. No instance is repeated: if a template has no further
//! instance, the row is sampled.

use crate::harvested::{Refusal, SEARCH_BUDGET, checked, judge};
use crate::labels::Labels;
use crate::row::{COMPILER_VERSION, GENERATOR_VERSION, Mode, Plan, Row};
use crate::row_program::RowProgram;
use crate::verdict::Check;
use gbxcule_grammar::random::{Random, seed};
use gbxcule_templates::{COMPOSITIONS, Instance, LIBRARY, Template};
use serde_json::json;

/// Turns of a template with tiles in each round. With a single turn 3 % of a dataset's kernels have
/// tiles; in NVIDIA Warp's sources 6 % have.
const TILE_TURNS: u64 = 3;

/// Greatest number of draws of inputs that are tried.
const ATTEMPTS: u64 = 8;

/// Makes row `id` of a dataset, if it is an algorithm of the library.
pub(crate) fn make(plan: Plan, id: u64) -> Option<Row> {
    let share = u64::from(100_u32.saturating_sub(plan.sampled));
    let rank = id * share / 100;
    if (id + 1) * share / 100 == rank || LIBRARY.is_empty() {
        return None;
    }
    let (at, number) = place(plan.seed, rank);
    let stream = seed(plan.seed, at as u64);
    let (algorithm, instance) = match LIBRARY.get(at) {
        Some(template) => (Algorithm::of(template), template.instance(number, stream)?),
        None => {
            let composition = &COMPOSITIONS[at - LIBRARY.len()];
            let instance = composition.instance(&LIBRARY, number, stream)?;
            (Algorithm { topic: &composition.topic, name: &composition.name }, instance)
        }
    };
    let row = row(plan, algorithm, &instance.ok()?, seed(stream, number)).ok()?;
    Some(Row { id, ..row })
}

/// Name and field of an algorithm.
#[derive(Clone, Copy, Debug)]
pub struct Algorithm<'a> {
    /// Field.
    pub topic: &'a str,
    /// Name.
    pub name: &'a str,
}

impl<'a> Algorithm<'a> {
    /// Returns the algorithm of a template.
    pub fn of(template: &'a Template) -> Self {
        Self { topic: &template.topic, name: &template.name }
    }
}

/// Returns the template of a row and the number of the instance; each round goes through all
/// templates.
fn place(stream: u64, rank: u64) -> (usize, u64) {
    let turns = |at: usize| match LIBRARY.get(at) {
        Some(template) if template.has_tiles() => TILE_TURNS,
        _ => 1,
    };
    let all = 0..LIBRARY.len() + COMPOSITIONS.len();
    let mut order: Vec<(usize, u64)> =
        all.flat_map(|at| (0..turns(at)).map(move |turn| (at, turn))).collect();
    let count = order.len() as u64;
    let (round, place) = (rank / count, (rank % count) as usize);
    let mut random = Random::new(seed(stream, round));
    for last in (1..order.len()).rev() {
        order.swap(last, random.below(last + 1));
    }
    let (at, turn) = order[place];
    (at, round * turns(at) + turn)
}

/// Makes the row of an instance. The error is a message of the compiler, or of a check that no draw
/// of the inputs passes.
pub fn row(
    plan: Plan,
    algorithm: Algorithm<'_>,
    instance: &Instance,
    stream: u64,
) -> Result<Row, String> {
    let read = RowProgram::read(&instance.source);
    let program = read.map_err(|faults| {
        faults
            .iter()
            .map(|it| format!("{}: {}", it.code, it.message))
            .collect::<Vec<_>>()
            .join("; ")
    })?;
    if !program.takes(&instance.inputs) {
        return Err("the kernels, or their host code, don't take the inputs".into());
    }
    let attempt = |attempt: u64| {
        let (dims, inputs) = (instance.dims.clone(), instance.inputs.clone());
        let seed = seed(stream, attempt);
        let row = match plan.mode {
            Mode::Text => text_row(plan, instance, &program, seed),
            Mode::Meaning => {
                judge(&program, dims, inputs, seed, SEARCH_BUDGET)?;
                let mut row = text_row(plan, instance, &program, seed);
                row.add_check(Check::passed("meaningful"));
                row
            }
            Mode::Run => {
                let found_inputs = judge(&program, dims, inputs, seed, SEARCH_BUDGET)?;
                checked(&instance.source, &program, plan, found_inputs)?.0
            }
        };
        Ok(Row { attempt: attempt as u32, ..row })
    };
    let mut row: Result<Row, Refusal> = attempt(0);
    for number in 1..ATTEMPTS {
        if row.is_err() {
            row = attempt(number);
        }
    }
    let row = row.map_err(|refusal| refusal.text())?;
    let words = &instance.descriptions;
    let row = Row {
        family: algorithm.topic.into(),
        template: Some(algorithm.name.into()),
        summary: Some(words.summary.clone()),
        description: Some(words.paragraph.clone()),
        specification: Some(words.specification.clone()),
        real_launch_dims: instance.real_dims.clone(),
        block_dims: instance.block.clone(),
        ..row
    };
    Ok(Labels::of(&instance.source, &program, &instance.inputs).label(row))
}

/// Makes the row of an instance without running it.
fn text_row(plan: Plan, instance: &Instance, program: &RowProgram, input_seed: u64) -> Row {
    let row = Row {
        source: instance.source.clone(),
        gradient_refused: program.reverse.as_ref().err().cloned(),
        launch_dims: instance.dims.clone(),
        inputs_json: json!(instance.inputs).to_string(),
        input_seed,
        checks_json: json!([Check::passed("parses"), Check::passed("compiles")]).to_string(),
        seed: plan.seed,
        generator_version: GENERATOR_VERSION,
        compiler: COMPILER_VERSION.into(),
        ..Row::default()
    };
    program.emit(plan.device, instance.dims.len()).fill(row)
}
