//! Inputs from a launch that a program made. A row holds few numbers, so the grid is made smaller,
//! and then arrays are cut, each only where the threads that remain do the same on the rest.

use super::Refusal;
use super::input::{Data, RECORDED_BUDGET, check_parameters};
use crate::execute::{self, LaunchInputs, Variation};
use crate::row_program::{RowProgram, element};
use gbxcule_grammar::input::{ArgumentInput, Number, RECORDED_SEED, rank};
use gbxcule_ir::layout::leaves;
use serde::Deserialize;

/// Greatest number of threads of a row's grid.
const MAX_THREADS: u32 = 256;
/// Greatest number of numbers in all inputs of a row.
const MAX_NUMBERS: usize = 1 << 14;
/// Arguments with fewer numbers in all are not cut.
const FEW_NUMBERS: usize = 256;

/// A launch of a kernel.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct RecordedLaunch {
    /// The grid.
    pub dims: Vec<u32>,
    /// An argument for each parameter.
    pub inputs: Vec<RecordedArgument>,
}

/// An argument of a launch.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct RecordedArgument {
    /// Name of the parameter.
    pub name: String,
    /// Extents, empty for an argument that is no array; `None` for an array without memory.
    pub shape: Option<Vec<u32>>,
    /// The numbers in the order of memory.
    pub values: Vec<Number>,
}

/// Returns true if some input has recorded numbers.
pub(super) fn is_recorded(inputs: &[ArgumentInput]) -> bool {
    inputs.iter().any(|it| !it.values.is_empty())
}

/// Dimension of a grid that is made smaller first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shrink {
    /// The largest.
    Largest,
    /// The last that has several threads.
    Last,
    /// The first that has several threads.
    First,
}

/// Returns a grid and inputs for a row.
pub(super) fn fitted(
    program: &RowProgram,
    launch: &RecordedLaunch,
    shrink: Shrink,
) -> Result<(Vec<u32>, Vec<ArgumentInput>), Refusal> {
    check_parameters(program)?;
    let inputs = inputs(program, launch).map_err(Refusal::Recording)?;
    let mut cutter = Cutter { program, shrink, dims: launch.dims.clone(), inputs };
    if cutter.threads() == 0 || !(1..=4).contains(&launch.dims.len()) {
        let reason = format!(
            "its grid is {:?}, and a row has from one to four extents above 0",
            launch.dims
        );
        return Err(Refusal::Recording(reason));
    }
    let mut after = cutter.with_fewer_threads()?;
    for argument in 0..cutter.inputs.len() {
        for dim in 0..cutter.inputs[argument].shape.len() {
            if cutter.numbers() > FEW_NUMBERS {
                cutter.cut(argument, dim, &mut after);
            }
        }
    }
    let numbers = cutter.numbers();
    if numbers > MAX_NUMBERS {
        let reason = format!(
            "{numbers} numbers affect its first threads, and a row has at most {MAX_NUMBERS}"
        );
        return Err(Refusal::Recording(reason));
    }
    let inputs = cutter.inputs.into_iter();
    let of_range = |it: ArgumentInput| ArgumentInput {
        name: it.name,
        ..ArgumentInput::recorded(it.shape, it.values)
    };
    Ok((cutter.dims, inputs.map(of_range).collect()))
}

/// Returns the arguments as inputs, if they fit the parameters.
fn inputs(program: &RowProgram, launch: &RecordedLaunch) -> Result<Vec<ArgumentInput>, String> {
    let (params, types) = (program.params(), &program.forward.types);
    if params.len() != launch.inputs.len() {
        let (has, given) = (params.len(), launch.inputs.len());
        return Err(format!("the kernel has {has} parameters, the recorded launch {given}"));
    }
    let one = |(param, given): (&gbxcule_ir::Param, &RecordedArgument)| {
        let of = element(&program.forward, param.ty).unwrap_or(param.ty);
        let shape = given.shape.clone().unwrap_or_else(|| vec![0; rank(types, param.ty)]);
        let count = shape.iter().fold(1_usize, |count, &it| count.saturating_mul(it as usize));
        let wanted = count.saturating_mul(leaves(types, of).len());
        let name = &*param.name;
        if *name != *given.name || shape.len() != rank(types, param.ty) {
            return Err(format!("the recorded argument `{}` doesn't fit `{name}`", given.name));
        }
        if wanted != given.values.len() {
            let has = given.values.len();
            return Err(format!("`{name}` takes {wanted} numbers, and {has} were recorded"));
        }
        let input = ArgumentInput::recorded(shape, given.values.clone());
        Ok(ArgumentInput { name: given.name.clone(), ..input })
    };
    params.iter().zip(&launch.inputs).map(one).collect()
}

struct Cutter<'a> {
    program: &'a RowProgram,
    shrink: Shrink,
    dims: Vec<u32>,
    inputs: Vec<ArgumentInput>,
}

impl Cutter<'_> {
    fn threads(&self) -> u32 {
        self.dims.iter().fold(1, |count, &it| count.saturating_mul(it))
    }

    fn numbers(&self) -> usize {
        self.inputs.iter().map(|it| it.values.len()).sum()
    }

    fn halve_grid(&mut self) {
        let mut several = self.dims.iter_mut().filter(|it| **it > 1);
        let extent = match self.shrink {
            Shrink::Largest => several.max(),
            Shrink::Last => several.next_back(),
            Shrink::First => several.next(),
        };
        if let Some(extent) = extent {
            *extent = extent.div_ceil(2);
        }
    }

    fn arguments(&self) -> Data {
        execute::arguments(self.program, &self.inputs, RECORDED_SEED)
    }

    fn run(&self, data: &Data) -> Result<Data, Refusal> {
        let grid = LaunchInputs { dims: &self.dims, inputs: &self.inputs };
        let way = Variation { budget: RECORDED_BUDGET, ..Variation::default() };
        execute::forward_varied(way, self.program, grid, data).map_err(|_| Refusal::Faults)
    }

    /// Makes the grid smaller until its threads execute few statements; returns the memory after
    /// the launch.
    fn with_fewer_threads(&mut self) -> Result<Data, Refusal> {
        while self.threads() > MAX_THREADS {
            self.halve_grid();
        }
        let data = self.arguments();
        loop {
            match self.run(&data) {
                Err(_) if self.threads() > 1 => self.halve_grid(),
                after => return after,
            }
        }
    }

    /// Cuts an array to the first power of two of a dimension's elements with which the launch
    /// gives the same results. `after` is the memory after the launch.
    fn cut(&mut self, argument: usize, dim: usize, after: &mut Data) {
        let before = self.arguments();
        let whole = self.inputs[argument].clone();
        let mut extent = 1;
        while extent < whole.shape[dim] {
            let mut shape = whole.shape.clone();
            shape[dim] = extent;
            extent *= 2;
            let values = Corner { shape: &whole.shape, part: &shape };
            self.inputs[argument].values = values.of(&whole.values);
            self.inputs[argument].shape.clone_from(&shape);
            let Ok(found) = self.run(&self.arguments()) else { continue };
            let bytes = Corner { shape: &whole.shape, part: &shape };
            let is_same = (0..self.inputs.len()).all(|at| match at == argument {
                true => found[at] == bytes.of(&after[at]),
                false => found[at] == after[at],
            });
            if is_same && bytes.is_equal_outside(&before[argument], &after[argument]) {
                *after = found;
                return;
            }
        }
        self.inputs[argument] = whole;
    }
}

/// The first elements of an array in each dimension.
struct Corner<'a> {
    shape: &'a [u32],
    part: &'a [u32],
}

impl Corner<'_> {
    /// Returns the part's items; an element has one or more items.
    fn of<T: Clone>(&self, items: &[T]) -> Vec<T> {
        let per = self.per_element(items.len());
        let inside = items.chunks(per.max(1)).enumerate().filter(|(at, _)| self.holds(*at));
        inside.flat_map(|(_, items)| items.iter().cloned()).collect()
    }

    fn is_equal_outside(&self, one: &[u8], other: &[u8]) -> bool {
        let per = self.per_element(one.len()).max(1);
        let mut pairs = one.chunks(per).zip(other.chunks(per)).enumerate();
        pairs.all(|(at, (one, other))| self.holds(at) || one == other)
    }

    fn per_element(&self, items: usize) -> usize {
        items / self.shape.iter().map(|&it| it as usize).product::<usize>().max(1)
    }

    /// Returns true if an element lies in the part.
    fn holds(&self, mut element: usize) -> bool {
        self.shape.iter().zip(self.part).rev().all(|(&extent, &part)| {
            let index = element % extent.max(1) as usize;
            element /= extent.max(1) as usize;
            index < part as usize
        })
    }
}
