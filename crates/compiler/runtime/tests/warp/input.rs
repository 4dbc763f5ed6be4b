//! Random inputs that a kernel can run on.
//!
//! The test knows only a kernel's types; that an integer is an index shows when the interpreter
//! faults. So inputs are drawn in several ways, from the one with the most variety to the plainest,
//! until the interpreter ends without a fault.

use crate::subject::Subject;
use gbxcule_interp::{Failure, Interpreter};
use gbxcule_ir::layout::leaves;
use gbxcule_ir::walk::any_stmt;
use gbxcule_ir::{Literal, Op, Root, Scalar, Shape, StmtKind, Type, Types};
use gbxcule_testkit::arbitrary::{Actual, Random, RandomProgram, number};

/// The most statements that a launch may take.
const BUDGET: u64 = 3_000_000;

/// A way of drawing inputs.
#[derive(Clone, Copy, Debug)]
struct Way {
    /// Range of the integers; `None` for any integers.
    ints: Option<(i128, i128)>,
    /// Floats lie between plus and minus this number; `None` for any floats, NaN included.
    floats: Option<f64>,
    /// Number of elements in each dimension of an array, by the number of dimensions.
    extents: [u32; 4],
    /// Number of threads in each dimension of the grid, by the number of dimensions.
    grid: [u32; 4],
}

const SMALL: [u32; 4] = [64, 9, 5, 4];
const LARGE: [u32; 4] = [2048, 64, 16, 8];
const THREADS: [u32; 4] = [16, 5, 3, 2];

const CALM: Way = Way { ints: Some((0, 4)), floats: Some(2.0), extents: SMALL, grid: THREADS };
const WIDE: Way = Way { extents: LARGE, ..CALM };
const SINGLE: Way = Way { grid: [1; 4], ..WIDE };
const ONES: Way = Way { ints: Some((1, 1)), ..SINGLE };
const ZEROS: Way = Way { ints: Some((0, 0)), ..SINGLE };
const SIGNED: Way = Way { ints: Some((-4, 9)), floats: Some(50.0), ..CALM };
const POSITIVE: Way = Way { ints: Some((1, 4)), ..CALM };
const WILD: Way = Way { ints: None, floats: None, ..CALM };
const WILD_FLOATS: Way = Way { floats: None, ..CALM };
const WILD_INTS: Way = Way { ints: None, ..CALM };

/// Ways that each round tries, in order.
const ROUNDS: [&[Way]; 3] = [
    &[CALM, POSITIVE, WIDE, SINGLE, ONES, ZEROS],
    &[SIGNED, POSITIVE, CALM, WIDE, SINGLE, ONES, ZEROS],
    &[WILD, WILD_FLOATS, WILD_INTS, SIGNED],
];

/// A program that runs without a fault, with the memory that it leaves.
pub(crate) struct Run {
    pub(crate) program: RandomProgram,
    pub(crate) after: Vec<Vec<u8>>,
    /// True if threads read elements that other threads write, so that a run on several threads may
    /// leave other memory.
    pub(crate) races: bool,
}

/// Reason for which no memory of a kernel can be compared.
pub(crate) enum Refusal {
    /// The kernel takes structs with arrays in them, or arrays of arrays.
    Handles,
    /// The kernel takes no array, so it leaves no memory.
    NoArray,
    /// The kernel faults with all inputs.
    Faults(Failure),
}

/// Returns inputs for a kernel: at most one of each round, and one for a single thread if its
/// threads race.
pub(crate) fn runs(subject: &Subject, seed: u64) -> Result<Vec<Run>, Refusal> {
    runs_in(&ROUNDS, subject, seed)
}

/// Returns inputs of moderate size.
pub(crate) fn calm_run(subject: &Subject, seed: u64) -> Result<Run, Refusal> {
    runs_in(&ROUNDS[..1], subject, seed).and_then(|mut runs| runs.pop().ok_or(Refusal::NoArray))
}

fn runs_in(rounds: &[&[Way]], subject: &Subject, seed: u64) -> Result<Vec<Run>, Refusal> {
    let types = &subject.module.types;
    let params = &subject.module.functions[subject.kernel].params;
    let plain = |ty: Type| match types[ty] {
        Shape::Array { of, .. } => !types.holds_array(of),
        _ => !types.holds_array(ty),
    };
    if !params.iter().all(|param| plain(param.ty)) {
        return Err(Refusal::Handles);
    }
    if !params.iter().any(|param| matches!(types[param.ty], Shape::Array { .. })) {
        return Err(Refusal::NoArray);
    }
    let mut runs = Vec::new();
    let mut first = None;
    for (round, ways) in rounds.iter().enumerate() {
        for (at, &way) in ways.iter().enumerate() {
            let seed = seed ^ (round as u64 + 1) << 40 ^ (at as u64) << 48;
            let program = draw(subject, way, &mut Random::new(seed));
            let mut order = points(&program.dims);
            match interpret(&program, &order) {
                Ok(after) => {
                    order.reverse();
                    let races = interpret(&program, &order).as_ref() != Ok(&after)
                        || if changes_atomically(subject) {
                            stores_where_it_changes(subject)
                        } else {
                            !adds_up(&program, &after)
                        };
                    let alone =
                        RandomProgram { dims: vec![1; program.dims.len()], ..program.clone() };
                    runs.push(Run { program, after, races });
                    if races && let Ok(after) = interpret(&alone, &[[0; 4]]) {
                        runs.push(Run { program: alone, after, races: false });
                    }
                    break;
                }
                Err(failure) => _ = first.get_or_insert(failure),
            }
        }
    }
    match first {
        Some(failure) if runs.is_empty() => Err(Refusal::Faults(failure)),
        _ => Ok(runs),
    }
}

fn draw(subject: &Subject, way: Way, random: &mut Random) -> RandomProgram {
    let types = &subject.module.types;
    let dims = subject.dims();
    let mut program = RandomProgram {
        module: subject.module.clone(),
        kernel: subject.kernel,
        dims: vec![way.grid[dims - 1]; dims],
        buffers: Vec::new(),
        args: Vec::new(),
    };
    for param in &subject.module.functions[subject.kernel].params {
        let Shape::Array { of, dims } = types[param.ty] else {
            program.args.push(Actual::Bytes(image(types, param.ty, way, random)));
            continue;
        };
        let shape = vec![way.extents[usize::from(dims) - 1]; usize::from(dims)];
        let count: u32 = shape.iter().product();
        let bytes = (0..count).flat_map(|_| image(types, of, way, random)).collect();
        program.args.push(Actual::dense(types, program.buffers.len(), of, &shape));
        program.buffers.push(bytes);
    }
    program
}

fn image(types: &Types, ty: Type, way: Way, random: &mut Random) -> Vec<u8> {
    let mut bytes = vec![0; types.layout(ty).map_or(0, |layout| layout.size as usize)];
    for leaf in leaves(types, ty) {
        leaf.write(&mut bytes, literal(leaf.scalar, way, random));
    }
    bytes
}

fn literal(scalar: Scalar, way: Way, random: &mut Random) -> Literal {
    match (way.floats, way.ints) {
        (Some(range), _) if scalar.is_float() => {
            let unit = f64::from(random.below(1 << 24)) / f64::from(1 << 23) - 1.0;
            Literal::float(scalar, unit * range)
        }
        (_, Some((low, high))) if scalar.is_int() => {
            let low = if scalar.is_unsigned_int() { low.max(0) } else { low };
            Literal::int(scalar, low + i128::from(random.below((high - low) as u32 + 1)))
        }
        _ => number(random, scalar),
    }
}

/// Returns the memory after a launch whose threads run in this order.
fn interpret(program: &RandomProgram, order: &[[u32; 4]]) -> Result<Vec<Vec<u8>>, Failure> {
    let mut interpreter = Interpreter::new(&program.module);
    interpreter.budget = BUDGET;
    let buffers: Vec<_> =
        program.buffers.iter().map(|bytes| interpreter.memory.add(bytes.as_slice())).collect();
    let args: Vec<_> = program.args.iter().map(|actual| actual.argument(&buffers)).collect();
    interpreter.launch_points(program.kernel, order.iter().copied(), &args)?;
    Ok(buffers.into_iter().map(|buffer| interpreter.memory.bytes(buffer).to_vec()).collect())
}

/// Returns true if the launch leaves the bytes that its threads change when each runs alone on the
/// memory before the launch.
fn adds_up(program: &RandomProgram, after: &[Vec<u8>]) -> bool {
    let mut sum = program.buffers.clone();
    for point in points(&program.dims) {
        let Ok(alone) = interpret(program, &[point]) else { return false };
        for (sum, (before, alone)) in sum.iter_mut().zip(program.buffers.iter().zip(&alone)) {
            for (sum, (before, alone)) in sum.iter_mut().zip(before.iter().zip(alone)) {
                if before != alone {
                    *sum = *alone;
                }
            }
        }
    }
    sum == after
}

fn changes_atomically(subject: &Subject) -> bool {
    let mut values = subject.module.functions.iter().flat_map(|(_, f)| f.body.values.iter());
    values.any(|(_, value)| matches!(value.op, Op::Atomic { .. }))
}

/// Returns true if a kernel stores to an array that it also changes atomically: other threads may
/// store between a thread's store and its atomic change.
fn stores_where_it_changes(subject: &Subject) -> bool {
    let body = &subject.module.functions[subject.kernel].body;
    let changed = body.values.iter().filter_map(|(_, value)| match value.op {
        Op::Atomic { place, .. } => Some(body.places[place].root),
        _ => None,
    });
    let changed: Vec<Root> = changed.collect();
    any_stmt(body, body.root, |stmt| match stmt.kind {
        StmtKind::Store { place, .. } => changed.contains(&body.places[place].root),
        _ => false,
    })
}

/// Returns all points of a grid, the last dimension fastest.
fn points(dims: &[u32]) -> Vec<[u32; 4]> {
    let mut points = vec![[0; 4]];
    for (dim, &extent) in dims.iter().enumerate() {
        let along = |point: [u32; 4]| {
            (0..extent).map(move |index| {
                let mut point = point;
                point[dim] = index;
                point
            })
        };
        points = points.into_iter().flat_map(along).collect();
    }
    points
}
