//! Gradients against central differences, in 64 bits, along random directions.
//!
//! The objective is the sum of everything that the kernel writes, weighted by the row's cotangents. Two step widths
//! must agree about a slope, and both sides of the point, else there is nothing to compare with: the place is
//! *rough*, and another direction is tried.

use crate::execute::{self, Grid, Memory};
use crate::program::{Program, Reverse};
use crate::random::Random;
use crate::widen::widen;
use gbxcule_kernel::check::Valid;
use gbxcule_kernel::ir::{FunctionId, Module};

/// Relative error that differences in 64 bits allow.
pub(crate) const TOLERANCE: f64 = 1e-5;
/// Directions tried for an array until one is smooth.
const TRIES: usize = 4;

/// What came of it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Slope {
    /// The largest relative error among arrays.
    Measured(f64),
    /// Nowhere smooth.
    Rough,
    /// The program can't be taken to 64 bits, or stopped there.
    Unable,
}

/// Compares a kernel's reverse with differences.
pub(crate) fn compare(program: &Program, reverse: &Reverse, grid: Grid<'_>, seed: u64) -> Slope {
    let (Some(forward), Some(backward)) = (widen(&program.forward), widen(&reverse.module)) else {
        return Slope::Unable;
    };
    let wide = Wide { forward: &forward, kernel: program.kernel, grid, weights: Vec::new() };
    wide.compare(&backward, reverse.kernel, seed)
}

/// A kernel in 64 bits.
struct Wide<'a> {
    forward: &'a Valid<Module>,
    kernel: FunctionId,
    grid: Grid<'a>,
    weights: Vec<Vec<u8>>,
}

impl Wide<'_> {
    fn compare(mut self, backward: &Valid<Module>, reverse: FunctionId, seed: u64) -> Slope {
        let data = execute::arguments(self.forward, self.kernel, self.grid.inputs, seed);
        self.weights = execute::cotangents(self.forward, self.kernel, self.grid.inputs, seed);
        let Some(after) = self.after(&data) else { return Slope::Unable };
        let memory = Memory { data: after, gradients: self.weights.clone() };
        let Ok(found) = execute::launch(backward, reverse, self.grid, &memory) else {
            return Slope::Unable;
        };
        let mut random = Random::new(seed);
        let (mut worst, mut smooth, mut tried) = (0.0f64, false, false);
        for at in 0..data.len() {
            let gradient = self.floats(at, &found.gradients[at]);
            if self.grid.inputs[at].zero || gradient.is_empty() {
                continue;
            }
            tried = true;
            for _ in 0..TRIES {
                let direction: Vec<f64> =
                    gradient.iter().map(|_| random.fraction() * 2.0 - 1.0).collect();
                let Some(wanted) = self.slope(&data, at, &direction) else { continue };
                let have: f64 = gradient.iter().zip(&direction).map(|(slope, by)| slope * by).sum();
                let error = (have - wanted).abs() / wanted.abs().max(1.0);
                worst = if error.is_nan() { f64::INFINITY } else { worst.max(error) };
                smooth = true;
                break;
            }
        }
        if smooth || !tried { Slope::Measured(worst) } else { Slope::Rough }
    }

    fn after(&self, data: &[Vec<u8>]) -> Option<Vec<Vec<u8>>> {
        let memory = Memory { data: data.to_vec(), gradients: Vec::new() };
        execute::launch(self.forward, self.kernel, self.grid, &memory).ok().map(|after| after.data)
    }

    /// The floats of an argument, in order.
    fn floats(&self, at: usize, bytes: &[u8]) -> Vec<f64> {
        let numbers = execute::numbers(self.forward, self.kernel, at, bytes);
        numbers
            .into_iter()
            .filter(|number| number.scalar().is_float())
            .map(|it| it.as_f64())
            .collect()
    }

    fn objective(&self, data: &[Vec<u8>]) -> Option<f64> {
        let after = self.after(data)?;
        let terms = (0..after.len()).filter(|&at| self.grid.inputs[at].written).map(|at| {
            let weights = self.floats(at, &self.weights[at]);
            self.floats(at, &after[at])
                .iter()
                .zip(weights)
                .map(|(value, weight)| value * weight)
                .sum::<f64>()
        });
        Some(terms.sum())
    }

    /// The slope in a direction of one argument, if there is one.
    fn slope(&self, data: &[Vec<u8>], at: usize, direction: &[f64]) -> Option<f64> {
        let numbers = execute::numbers(self.forward, self.kernel, at, &data[at]);
        let value = |by: f64| {
            let mut directions = direction.iter();
            let moved: Vec<f64> = numbers
                .iter()
                .map(|number| match number.scalar().is_float() {
                    true => number.as_f64() + by * directions.next().copied().unwrap_or_default(),
                    false => number.as_f64(),
                })
                .collect();
            let mut data = data.to_vec();
            data[at] = execute::image(self.forward, self.kernel, at, &moved);
            self.objective(&data)
        };
        let slope = |step: f64| {
            let (near, far) =
                (value(step)? - value(-step)?, value(2.0 * step)? - value(-2.0 * step)?);
            Some((8.0 * near - far) / (12.0 * step))
        };
        let (wide, narrow) = (slope(1e-4)?, slope(2e-5)?);
        let middle = value(0.0)?;
        let sides = ((value(1e-6)? - middle) - (middle - value(-1e-6)?)) / 1e-6;
        let scale = narrow.abs().max(1.0);
        let smooth = (wide - narrow).abs() <= 1e-6 * scale && sides.abs() <= 1e-4 * scale;
        (smooth && narrow.abs() < 1e7).then_some(narrow)
    }
}
