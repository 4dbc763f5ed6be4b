//! Answers in Python and in IR, which are read as text and run on the interpreter. No Python is
//! executed.

use crate::Grade;
use crate::fresh_inputs::{DrawKind, FreshInputs};
use crate::graded_row::{GradedRow, OTHER_ORDERS, first};
use gbxcule_interp::Manner;
use gbxcule_ir::check::{self, Valid};
use gbxcule_ir::diagnostic::Diagnostic;
use gbxcule_ir::source::{SourceMap, Span};
use gbxcule_ir::{FunctionId, Module, Op, Shape, Type, Types, parse};
use gbxcule_rows::execute::{self, ArgumentBytes, BUDGET, FoundRace, Variation};
use gbxcule_rows::row_program::RowProgram;

/// Greatest number of statements of an answer's launch, which may need more than the row's program.
const ANSWER_BUDGET: u64 = 4 * BUDGET;
/// Greatest number of bytes of a function's variables and values. The interpreter's work depends on
/// them, but only statements are counted.
const MAX_FRAME_BYTES: u64 = 32 << 10;

/// Grades Python.
pub(crate) fn python(problem: &GradedRow, text: &str) -> Grade {
    let mut sources = SourceMap::new();
    let id = sources.add("answer.py", text);
    let module = match gbxcule_front_warp::Program::parse(&sources, id) {
        Ok(program) => program.compile("answer"),
        Err(faults) => return Grade::DoesNotParse(located(&faults, &sources)),
    };
    match module.and_then(check::module) {
        Ok(module) => run(problem, &module, &sources),
        Err(faults) => Grade::DoesNotCompile(located(&faults, &sources)),
    }
}

/// Grades IR.
pub(crate) fn ir(problem: &GradedRow, text: &str) -> Grade {
    match parse::module(text) {
        Err(error) => Grade::DoesNotParse(error.to_string()),
        Ok(module) => match check::module(module) {
            Ok(module) => run(problem, &module, &SourceMap::new()),
            Err(faults) => Grade::DoesNotCompile(first(&faults)),
        },
    }
}

/// Returns the first diagnostic with its line.
fn located(faults: &[Diagnostic], sources: &SourceMap) -> String {
    let span = faults.first().map_or(Span::NONE, Diagnostic::span);
    match span.source() {
        Some(source) => {
            let (line, column) = sources.get(source).line_column(span.start);
            format!("{line}:{column}: {}", first(faults))
        }
        None => first(faults),
    }
}

fn run(problem: &GradedRow, module: &Valid<Module>, sources: &SourceMap) -> Grade {
    let row_kernels = problem.program.kernels();
    let entries: Result<Vec<FunctionId>, String> =
        row_kernels.iter().map(|kernel| entry(&problem.program, *kernel, module)).collect();
    let entries = match entries {
        Ok(entries) => entries,
        Err(reason) => return Grade::DoesNotCompile(reason),
    };
    let run = |draw: &FreshInputs, order_seed: Option<u64>| {
        let way = Variation { budget: ANSWER_BUDGET, order_seed, ..Variation::default() };
        let mut race = None;
        let ran = problem.program.launches(draw.grid()).and_then(|launches| {
            execute::executed(&launches, &draw.inputs, draw.data.clone(), |each, grid, memory| {
                let at = row_kernels
                    .iter()
                    .position(|kernel| *kernel == each.kernel)
                    .unwrap_or_default();
                if order_seed.is_some() {
                    return execute::launch_varied(way, module, entries[at], grid, memory);
                }
                let (ran, found) = execute::launch_watched(way, module, entries[at], grid, memory);
                race = race.take().or(found);
                ran
            })
        });
        let described =
            |reason: &dyn std::fmt::Display| format!("{reason}, on {}", draw.described());
        let data = match ran {
            Ok(ran) => ran.after,
            Err(fault) => return Some(described(&fault)),
        };
        if let Some(race) = race.filter(|_| !problem.has_race(draw)) {
            return Some(described(&race_message(&race, sources)));
        }
        problem.forward_difference(draw, &ArgumentBytes { data, gradients: Vec::new() })
    };
    for draw in problem.draws(false) {
        if let Some(wrong) = run(draw, None) {
            return Grade::WrongResult(wrong);
        }
    }
    // Threads that don't race may still use the old values that atomic operations return. If the
    // row's results don't depend on the order of threads, the answer's must not depend on it.
    let has_atomics = has_atomic_operations(module);
    let plain = problem.draws(false).filter(|draw| draw.kind == DrawKind::Plain);
    let plain = plain.filter(|draw| has_atomics || problem.has_race(draw));
    for draw in plain.filter(|draw| problem.is_order_independent(draw)) {
        let wrong = OTHER_ORDERS.into_iter().find_map(|order| run(draw, Some(order)));
        if let Some(wrong) = wrong {
            return Grade::WrongResult(format!("in another order of threads: {wrong}"));
        }
    }
    Grade::Right
}

/// Returns true if a module has atomic operations.
fn has_atomic_operations(module: &Module) -> bool {
    let mut values = module.functions.iter().flat_map(|(_, it)| it.body.values.iter());
    values.any(|(_, value)| matches!(value.op, Op::Atomic { .. }))
}

/// Describes a race with the lines and threads of both accesses.
fn race_message(race: &FoundRace, sources: &SourceMap) -> String {
    let [earlier, later] = race.accesses.map(|it| {
        let line = it
            .span
            .source()
            .map(|source| format!(" in line {}", sources.get(source).line_column(it.span.start).0));
        let [x, y, z, w] = it.thread;
        let verb = match it.manner {
            Manner::Read => "reads",
            Manner::Write => "writes",
            Manner::Atomic => "changes",
        };
        (format!("thread ({x}, {y}, {z}, {w}) {verb}"), line.unwrap_or_default())
    });
    let place = format!("`{}`, element {}", race.argument, race.element);
    format!(
        "data race: {} {place}{}, which {}{}; nothing orders the two: each thread needs an element of \
         its own, or both an atomic operation",
        later.0, later.1, earlier.0, earlier.1
    )
}

/// Finds the answer's kernel for a kernel of the row: by name or, if the row has one kernel, the
/// answer's only kernel.
fn entry(
    program: &RowProgram,
    kernel: FunctionId,
    module: &Valid<Module>,
) -> Result<FunctionId, String> {
    let row = &program.forward;
    let row_kernel = &row.functions[kernel];
    let kernels: Vec<FunctionId> = module.kernels().map(|(id, _)| id).collect();
    // In Python a later definition replaces an earlier one.
    let named = kernels.iter().rfind(|&&id| module.functions[id].name == row_kernel.name);
    let kernel = match (named, kernels.as_slice()) {
        (Some(&kernel), _) => kernel,
        (None, &[kernel]) if program.host.is_none() => kernel,
        (None, []) => return Err("there is no kernel in it".into()),
        (None, _) => return Err(format!("none of its kernels is called `{}`", row_kernel.name)),
    };
    let (wanted, found) = (&row_kernel.params, &module.functions[kernel].params);
    if wanted.len() != found.len() {
        let (wanted, found) = (wanted.len(), found.len());
        return Err(format!("the kernel has {found} parameters instead of {wanted}"));
    }
    for (wanted, found) in wanted.iter().zip(found) {
        if !is_same(&row.types, wanted.ty, &module.types, found.ty) {
            return Err(format!(
                "parameter `{}` is a `{}` instead of a `{}`",
                found.name,
                module.types.spelled(found.ty),
                row.types.spelled(wanted.ty)
            ));
        }
    }
    for (_, function) in module.functions.iter() {
        let body = &function.body;
        let types =
            body.locals.iter().map(|it| it.1.ty).chain(body.values.iter().map(|it| it.1.ty));
        let size = |ty| module.types.layout(ty).map_or(0, |layout| layout.size);
        if types.map(size).fold(0, u64::saturating_add) > MAX_FRAME_BYTES {
            let name = &function.name;
            return Err(format!("`{name}` has variables of more than {MAX_FRAME_BYTES} bytes"));
        }
    }
    Ok(kernel)
}

/// Returns true if two types are equal up to the names of structs and fields.
fn is_same(one: &Types, left: Type, other: &Types, right: Type) -> bool {
    match (&one[left], &other[right]) {
        (Shape::Struct(left), Shape::Struct(right)) => {
            let (left, right) = (&one.structure(*left).fields, &other.structure(*right).fields);
            left.len() == right.len()
                && left
                    .iter()
                    .zip(right)
                    .all(|(left, right)| is_same(one, left.ty, other, right.ty))
        }
        (Shape::Array { of: left, dims }, Shape::Array { of: right, dims: extents }) => {
            dims == extents && is_same(one, *left, other, *right)
        }
        (Shape::Fixed { of: left, len }, Shape::Fixed { of: right, len: other_len }) => {
            len == other_len && is_same(one, *left, other, *right)
        }
        (left, right) => left == right,
    }
}
