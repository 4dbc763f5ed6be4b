//! Central differences along directions, on programs whose floats are 64 bits wide.

use crate::numbers::{self, Numbers};
use gbxcule_interp::Interpreter;
use gbxcule_testkit::arbitrary::RandomProgram;

/// The most statements that a launch may take.
const BUDGET: u64 = 2_000_000;

/// The weighted sum of all numbers that a launch leaves, as a function of the numbers before it.
pub(crate) struct Objective<'a> {
    program: &'a RandomProgram,
    before: Numbers,
    /// Weights of the numbers after the launch; 0 for numbers that are not finite.
    pub(crate) weights: Numbers,
    /// Memory after the launch.
    pub(crate) after: Vec<Vec<u8>>,
}

impl<'a> Objective<'a> {
    /// Makes the function of a program that runs without a fault.
    pub(crate) fn new(program: &'a RandomProgram, mut weights: Numbers) -> Option<Self> {
        let after = run(program)?;
        for (weights, numbers) in weights.iter_mut().zip(numbers::read(program, &after)) {
            for (weight, number) in weights.iter_mut().zip(numbers) {
                *weight = if number.is_finite() { *weight } else { 0.0 };
            }
        }
        let before = numbers::read(program, &program.buffers);
        Some(Self { program, before, weights, after })
    }

    /// Returns the value of the function when the numbers of one buffer move along a direction.
    fn at(&self, buffer: usize, direction: &[f64], step: f64) -> Option<f64> {
        let moved = self.before[buffer].iter().zip(direction).map(|(x, d)| x + step * d);
        let moved: Vec<f64> = moved.collect();
        let mut program = self.program.clone();
        let bytes = &self.program.buffers[buffer];
        program.buffers[buffer] = numbers::with(self.program, buffer, bytes, &moved);
        let after = numbers::read(&program, &run(&program)?);
        let terms = after.iter().flatten().zip(self.weights.iter().flatten());
        let weighted = terms.filter(|(_, weight)| **weight != 0.0);
        Some(weighted.map(|(number, weight)| number * weight).sum())
    }

    /// Returns the slope along a direction; `None` if differences don't settle, as at jumps, at
    /// kinks and where numbers grow without bound.
    pub(crate) fn slope(&self, buffer: usize, direction: &[f64]) -> Option<f64> {
        let at = |step: f64| self.at(buffer, direction, step);
        let slope = |step: f64| {
            let near = at(step)? - at(-step)?;
            let far = at(2.0 * step)? - at(-2.0 * step)?;
            Some((8.0 * near - far) / (12.0 * step))
        };
        let (wide, narrow) = (slope(1e-4)?, slope(2e-5)?);
        let here = at(0.0)?;
        let side = |step: f64| Some((at(step)? - here) / step);
        let kink = (side(1e-6)? - side(-1e-6)?).abs() > 1e-4 * narrow.abs().max(1.0);
        let tame = narrow.abs() < 1e7 && here.abs() < 1e7;
        let same = (wide - narrow).abs() <= 1e-6 * narrow.abs().max(1.0);
        (same && tame && !kink).then_some(narrow)
    }
}

/// Returns the memory after a launch.
pub(crate) fn run(program: &RandomProgram) -> Option<Vec<Vec<u8>>> {
    let mut interpreter = Interpreter::new(&program.module);
    interpreter.budget = BUDGET;
    let buffers: Vec<_> =
        program.buffers.iter().map(|bytes| interpreter.memory.add(bytes.as_slice())).collect();
    let args: Vec<_> = program.args.iter().map(|actual| actual.argument(&buffers)).collect();
    interpreter.launch(program.kernel, &program.dims, &args).ok()?;
    Some(buffers.into_iter().map(|buffer| interpreter.memory.bytes(buffer).to_vec()).collect())
}
