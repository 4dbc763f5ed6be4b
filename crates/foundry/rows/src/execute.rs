//! Runs rows on the reference interpreter.
//!
//! A row of one kernel is one launch. The launches of a row of several kernels run in order, each
//! on the memory after the launch before it; their reverses run from the last to the first.

use crate::geometry;
use crate::host::Launch;
use crate::part::{Composite, Part, parts};
use crate::row_program::{RowProgram, element};
use gbxcule_grammar::input::{ArgumentInput, cotangent};
use gbxcule_grammar::random::Random;
use gbxcule_interp::{
    Access, Argument, Array, Interpreter, Outcomes, Perturbation, RaceLog, Refusals,
};
use gbxcule_ir::check::Valid;
use gbxcule_ir::layout::{Leaf, leaves};
use gbxcule_ir::{FunctionId, Literal, Module, Type};

/// Greatest number of statements of a launch, also of a reverse.
pub const BUDGET: u64 = 400_000;

/// The bytes of every argument, and of its gradient if it is an array with one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ArgumentBytes {
    /// Bytes of each argument.
    pub data: Vec<Vec<u8>>,
    /// Bytes of the gradient of each argument; empty for a forward launch.
    pub gradients: Vec<Vec<u8>>,
}

/// Size of a launch, and its inputs.
#[derive(Clone, Copy, Debug)]
pub struct LaunchInputs<'a> {
    /// The grid.
    pub dims: &'a [u32],
    /// An input for each parameter.
    pub inputs: &'a [ArgumentInput],
}

/// Draws the arguments from an input seed.
pub fn arguments(program: &RowProgram, inputs: &[ArgumentInput], seed: u64) -> Vec<Vec<u8>> {
    let mut data = each_argument(program, inputs, |at, param, given| {
        let module = &program.forward;
        given.bytes(&module.types, element(module, param).unwrap_or(param), seed, at)
    });
    geometry::build(program, inputs, &mut data);
    data
}

/// Draws the gradients with which a row's reverse begins.
pub fn cotangents(program: &RowProgram, inputs: &[ArgumentInput], seed: u64) -> Vec<Vec<u8>> {
    each_argument(program, inputs, |at, param, given| {
        let Some(of) = element(&program.forward, param) else { return Vec::new() };
        let count = given.shape.iter().product::<u32>() as usize;
        let drawn = cotangent(&program.forward.types, of, count, seed, at);
        // An array that no kernel writes is not a result: its gradient begins at 0.
        if given.written { drawn } else { vec![0; drawn.len()] }
    })
}

/// Returns bytes for each argument, made from its number, its type and its input.
fn each_argument(
    program: &RowProgram,
    inputs: &[ArgumentInput],
    bytes: impl Fn(u64, Type, &ArgumentInput) -> Vec<u8>,
) -> Vec<Vec<u8>> {
    let params = program.params().iter().zip(inputs).enumerate();
    params.map(|(at, (param, given))| bytes(at as u64, param.ty, given)).collect()
}

/// Returns the size of a value of a type in bytes.
fn cell_bytes(module: &Module, ty: Type) -> usize {
    match module.types.layout(ty) {
        Some(layout) => layout.size as usize,
        None => unreachable!("arguments and elements have a layout"),
    }
}

/// Variation of a launch within the freedom of a correct implementation.
#[derive(Clone, Copy, Debug)]
pub struct Variation {
    /// Greatest number of statements of all threads together.
    pub budget: u64,
    /// Perturbation of mathematical functions, as between two libraries.
    pub perturbation: Option<Perturbation>,
    /// Seed of a random order of the threads.
    pub order_seed: Option<u64>,
    /// Operations that count as faults in addition to the ordinary faults.
    pub refusals: Refusals,
}

impl Default for Variation {
    fn default() -> Self {
        Self { budget: BUDGET, perturbation: None, order_seed: None, refusals: Refusals::default() }
    }
}

/// Runs a kernel; returns the memory after it, or the fault that stopped it.
pub fn launch(
    module: &Valid<Module>,
    kernel: FunctionId,
    grid: LaunchInputs<'_>,
    memory: &ArgumentBytes,
) -> Result<ArgumentBytes, String> {
    launch_varied(Variation::default(), module, kernel, grid, memory)
}

/// Runs a kernel as [`launch`] does, with another budget, other mathematics or another order of
/// threads.
pub fn launch_varied(
    variation: Variation,
    module: &Valid<Module>,
    kernel: FunctionId,
    grid: LaunchInputs<'_>,
    memory: &ArgumentBytes,
) -> Result<ArgumentBytes, String> {
    let mut interpreter = varied(variation, module);
    let order = variation.order_seed.map(|seed| shuffled(points(grid.dims), seed));
    run_interpreter(&mut interpreter, order, kernel, grid, memory)
}

/// Two threads of a launch that touch one number of an argument with nothing between them that
/// orders the two.
#[derive(Clone, Debug)]
pub struct FoundRace {
    /// Name of the argument.
    pub argument: String,
    /// Number of the element.
    pub element: usize,
    /// The two accesses, in the order in which they ran.
    pub accesses: [Access; 2],
}

/// Runs a kernel as [`launch_varied`] does, with the threads in their own order, and looks for
/// races.
pub fn launch_watched(
    variation: Variation,
    module: &Valid<Module>,
    kernel: FunctionId,
    grid: LaunchInputs<'_>,
    memory: &ArgumentBytes,
) -> (Result<ArgumentBytes, String>, Option<FoundRace>) {
    let mut interpreter = varied(variation, module);
    run_watched(&mut interpreter, RaceLog::new(false), kernel, grid, memory)
}

fn run_watched(
    interpreter: &mut Interpreter<'_>,
    log: RaceLog,
    kernel: FunctionId,
    grid: LaunchInputs<'_>,
    memory: &ArgumentBytes,
) -> (Result<ArgumentBytes, String>, Option<FoundRace>) {
    let module = interpreter.module();
    interpreter.races = Some(log);
    let ran = run_interpreter(interpreter, None, kernel, grid, memory);
    let race = interpreter.races.take().and_then(|it| it.first);
    let race = race.map(|race| {
        let parts = parts(&module.types, &module.functions[kernel].params);
        let arrays = parts.iter().map(|it| &it.of);
        let mut arrays = arrays.filter_map(|it| Some((&it.name, element(module, it.ty)?)));
        // Buffers have the order of the arrays.
        let array = arrays.nth(race.buffer.index());
        let (argument, bytes) = array
            .map_or((String::new(), 1), |(name, of)| (name.to_string(), cell_bytes(module, of)));
        FoundRace { argument, element: race.offset / bytes.max(1), accesses: race.accesses }
    });
    (ran, race)
}

fn varied(variation: Variation, module: &Valid<Module>) -> Interpreter<'_> {
    let mut interpreter = Interpreter::new(module);
    interpreter.perturbation = variation.perturbation;
    interpreter.budget = variation.budget;
    interpreter.refusals = variation.refusals;
    interpreter
}

/// Returns the arguments whose memory these images are, with tables for geometry.
fn arguments_of(
    interpreter: &mut Interpreter<'_>,
    composites: &[Option<Composite>],
    mut images: Vec<Vec<u8>>,
) -> Vec<Argument> {
    for (image, composite) in images.iter_mut().zip(composites) {
        if composite.is_some_and(|it| it.in_table) {
            // A table has no object with the id 0.
            let size = image.len();
            let table = interpreter.memory.add([vec![0; size], image.clone()].concat());
            *image = Array::dense(table, size as u32, &[2]).image().to_vec();
        }
    }
    images.into_iter().map(Argument::Bytes).collect()
}

fn run_interpreter(
    interpreter: &mut Interpreter<'_>,
    points: Option<Vec<[u32; 4]>>,
    kernel: FunctionId,
    grid: LaunchInputs<'_>,
    memory: &ArgumentBytes,
) -> Result<ArgumentBytes, String> {
    let module = interpreter.module();
    let backward = !memory.gradients.is_empty();
    let params = &module.functions[kernel].params;
    let composites: Vec<Option<Composite>> =
        params.iter().map(|it| Composite::of(&module.types, it)).collect();
    let images = params.iter().zip(&composites);
    let mut images: Vec<Vec<u8>> = images
        .map(|(param, composite)| {
            vec![0; cell_bytes(module, composite.map_or(param.ty, |it| it.ty))]
        })
        .collect();
    let (mut data, mut gradients) = (Vec::new(), Vec::new());
    for (at, Part { param, offset, of }) in parts(&module.types, params).into_iter().enumerate() {
        let mut put = |bytes: &[u8]| images[param][offset..][..bytes.len()].copy_from_slice(bytes);
        let Some(of) = element(module, of.ty) else {
            put(&memory.data[at]);
            data.push(None);
            gradients.push(None);
            continue;
        };
        let buffer = interpreter.memory.add(memory.data[at].as_slice());
        let size = cell_bytes(module, of);
        if let Some(races) = &mut interpreter.races {
            let numbers = leaves(&module.types, of);
            let number = numbers.iter().map(|it| it.scalar.bytes() as usize).min();
            races.watch(buffer, memory.data[at].len(), number.unwrap_or(size).max(1));
        }
        let mut array = Array::dense(buffer, size as u32, &grid.inputs[at].shape);
        data.push(Some(buffer));
        gradients.push(None);
        if backward {
            let gradient = interpreter.memory.add(memory.gradients[at].as_slice());
            array = array.with_gradient(gradient);
            gradients[at] = Some(gradient);
        }
        put(&array.image());
    }
    let args = arguments_of(interpreter, &composites, images);
    let ran = match points {
        None => interpreter.launch(kernel, grid.dims, &args),
        Some(points) => interpreter.launch_points(kernel, points, &args),
    };
    ran.map_err(|failure| failure.to_string())?;
    let read = |buffer: &Option<_>, before: &Vec<u8>| match buffer {
        Some(buffer) => interpreter.memory.bytes(*buffer).to_vec(),
        None => before.clone(),
    };
    Ok(ArgumentBytes {
        data: data.iter().zip(&memory.data).map(|(buffer, before)| read(buffer, before)).collect(),
        gradients: gradients
            .iter()
            .zip(&memory.gradients)
            .map(|(b, before)| read(b, before))
            .collect(),
    })
}

/// Returns the points of a grid, the last dimension fastest.
fn points(dims: &[u32]) -> Vec<[u32; 4]> {
    let count: u32 = dims.iter().product();
    let point = |mut number: u32| {
        let mut point = [0; 4];
        for (dim, &extent) in dims.iter().enumerate().rev() {
            point[dim] = number % extent;
            number /= extent;
        }
        point
    };
    (0..count).map(point).collect()
}

fn shuffled(mut points: Vec<[u32; 4]>, seed: u64) -> Vec<[u32; 4]> {
    let mut random = Random::new(seed);
    for at in (1..points.len()).rev() {
        points.swap(at, random.below(at + 1));
    }
    points
}

/// Bytes of each argument of a row.
pub type Data = Vec<Vec<u8>>;

/// Memory behind a row's launches.
pub struct Executed {
    /// Memory after each launch.
    pub states: Vec<Data>,
    /// Memory after all launches; without a launch the given memory.
    pub after: Data,
}

/// Executes launches in order by calls of `launch`.
pub fn executed<E>(
    launches: &[Launch],
    inputs: &[ArgumentInput],
    mut data: Data,
    mut launch: impl FnMut(&Launch, LaunchInputs<'_>, &ArgumentBytes) -> Result<ArgumentBytes, E>,
) -> Result<Executed, E> {
    let mut states = Vec::new();
    for each in launches {
        let given = each.inputs(inputs);
        let grid = LaunchInputs { dims: &each.dims, inputs: &given };
        let after = launch(each, grid, &each.memory(&data, &[]))?;
        each.put_back(after.data, &mut data);
        states.push(data.clone());
    }
    Ok(Executed { states, after: data })
}

/// Executes the reverses of launches, from the last to the first, each on the memory after its
/// launch, and returns the gradients of all arguments.
pub fn reversed<E>(
    launches: &[Launch],
    inputs: &[ArgumentInput],
    states: &[Data],
    mut gradients: Data,
    mut launch: impl FnMut(&Launch, LaunchInputs<'_>, &ArgumentBytes) -> Result<ArgumentBytes, E>,
) -> Result<Data, E> {
    for (each, data) in launches.iter().zip(states).rev() {
        let given = each.inputs(inputs);
        let grid = LaunchInputs { dims: &each.dims, inputs: &given };
        let after = launch(each, grid, &each.memory(data, &gradients))?;
        each.put_back(after.gradients, &mut gradients);
    }
    Ok(gradients)
}

/// Runs a row's launches.
pub fn states(
    variation: Variation,
    program: &RowProgram,
    grid: LaunchInputs<'_>,
    data: &[Vec<u8>],
) -> Result<Executed, String> {
    executed(&program.launches(grid)?, grid.inputs, data.to_vec(), |each, own, memory| {
        launch_varied(variation, &program.forward, each.kernel, own, memory)
    })
}

/// Runs the reverses of a row's launches on the memory after each launch.
pub(crate) fn gradients(
    variation: Variation,
    program: &RowProgram,
    grid: LaunchInputs<'_>,
    (states, cotangents): (&[Data], Data),
) -> Result<Data, String> {
    let reverse = program.reverse.as_ref().map_err(Clone::clone)?;
    reversed(&program.launches(grid)?, grid.inputs, states, cotangents, |each, own, memory| {
        let kernel = program.reverse_of(reverse, each.kernel);
        launch_varied(variation, &reverse.module, kernel, own, memory)
    })
}

/// Runs a row's launches and returns the memory after the last.
pub fn forward(
    program: &RowProgram,
    grid: LaunchInputs<'_>,
    data: &[Vec<u8>],
) -> Result<Data, String> {
    forward_varied(Variation::default(), program, grid, data)
}

/// Runs a row's launches as [`forward`] does, with another budget, other mathematics or another
/// order of threads.
pub fn forward_varied(
    variation: Variation,
    program: &RowProgram,
    grid: LaunchInputs<'_>,
    data: &[Vec<u8>],
) -> Result<Data, String> {
    states(variation, program, grid, data).map(|it| it.after)
}

/// Runs a row's launches as [`forward_varied`] does, with the threads in order, and returns also
/// the number of executed statements.
pub fn forward_counted(
    variation: Variation,
    program: &RowProgram,
    grid: LaunchInputs<'_>,
    data: &[Vec<u8>],
) -> (Result<Data, String>, u64) {
    let mut statements = 0;
    let ran = program.launches(grid).and_then(|launches| {
        executed(&launches, grid.inputs, data.to_vec(), |each, own, memory| {
            let mut interpreter = varied(variation, &program.forward);
            let after = run_interpreter(&mut interpreter, None, each.kernel, own, memory);
            statements += variation.budget - interpreter.budget;
            after
        })
    });
    (ran.map(|it| it.after), statements)
}

/// Returns the first race of a row's launches. If `is_strict`, two writes of the same value
/// count as a race.
pub fn race(
    program: &RowProgram,
    grid: LaunchInputs<'_>,
    data: &[Vec<u8>],
    is_strict: bool,
) -> Result<Option<FoundRace>, String> {
    let mut first = None;
    executed(&program.launches(grid)?, grid.inputs, data.to_vec(), |each, own, memory| {
        let mut interpreter = varied(Variation::default(), &program.forward);
        let (after, race) =
            run_watched(&mut interpreter, RaceLog::new(is_strict), each.kernel, own, memory);
        first = first.take().or(race);
        after
    })?;
    Ok(first)
}

/// Runs a row's launches as [`forward`] does, and also returns the outcomes of the source text's
/// comparisons.
pub fn forward_with_outcomes(
    program: &RowProgram,
    grid: LaunchInputs<'_>,
    data: &[Vec<u8>],
) -> Result<(Data, Outcomes), String> {
    let mut outcomes = Outcomes::new();
    let launches = program.launches(grid)?;
    let ran = executed(&launches, grid.inputs, data.to_vec(), |each, own, memory| {
        let mut interpreter = Interpreter::new(&program.forward);
        interpreter.budget = BUDGET;
        interpreter.outcomes = Some(std::mem::take(&mut outcomes));
        let after = run_interpreter(&mut interpreter, None, each.kernel, own, memory);
        outcomes = interpreter.outcomes.unwrap_or_default();
        after
    });
    Ok((ran?.after, outcomes))
}

/// Returns the numbers in an argument's memory.
pub fn numbers(program: &RowProgram, at: usize, bytes: &[u8]) -> Vec<Literal> {
    let (size, leaves) = cell(program, at);
    bytes
        .chunks_exact(size)
        .flat_map(|cell| leaves.iter().map(move |leaf| leaf.read(cell)))
        .collect()
}

/// Returns the size and the scalars of an argument, or of its elements.
fn cell(program: &RowProgram, at: usize) -> (usize, Vec<Leaf>) {
    let (module, ty) = (&program.forward, program.params()[at].ty);
    let of = element(module, ty).unwrap_or(ty);
    (cell_bytes(module, of).max(1), leaves(&module.types, of))
}

/// Returns the memory of an argument that holds these numbers, each converted to its scalar's type.
pub fn image(program: &RowProgram, at: usize, numbers: &[f64]) -> Vec<u8> {
    let (size, leaves) = cell(program, at);
    let mut bytes = vec![0; size * (numbers.len() / leaves.len().max(1))];
    for (cell, numbers) in bytes.chunks_exact_mut(size).zip(numbers.chunks(leaves.len().max(1))) {
        for (leaf, &number) in leaves.iter().zip(numbers) {
            let literal = if leaf.scalar.is_float() {
                Literal::float(leaf.scalar, number)
            } else {
                Literal::int(leaf.scalar, number as i128)
            };
            leaf.write(cell, literal);
        }
    }
    bytes
}
