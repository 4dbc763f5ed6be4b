//! Compares gradients with central differences, in 64 bits, along random directions.
//!
//! The objective is the sum of everything that the kernel writes, weighted by the row's cotangents.
//! Two step widths, and both sides of the point, must give the same slope. Otherwise the point is
//! *rough*, and another direction is tried.

use crate::execute::{self, LaunchInputs};
use crate::geometry;
use crate::row_program::RowProgram;
use crate::tensor::Tensor;
use gbxcule_grammar::random::Random;
use gbxcule_ir::Literal;

/// Allowed relative error of differences in 64 bits.
pub(crate) const TOLERANCE: f64 = 1e-5;
/// The smaller of the two step widths.
const STEP: f64 = 2e-5;
/// Greatest number of directions that are tried for an array.
const TRIES: usize = 4;

/// Result of a comparison with differences.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum SlopeCheck {
    /// The largest relative error among arrays.
    Measured(f64),
    /// No direction was smooth.
    Rough,
}

/// Compares the gradients of a wide program's reverse with differences.
pub(crate) fn compare(
    wide: &RowProgram,
    found: &[Tensor],
    grid: LaunchInputs<'_>,
    seed: u64,
) -> SlopeCheck {
    let weights = execute::cotangents(wide, grid.inputs, seed);
    WideKernel { program: wide, grid, weights }.compare(found, seed)
}

fn floats(numbers: &[Literal]) -> Vec<f64> {
    numbers.iter().filter(|number| number.scalar().is_float()).map(|it| it.as_f64()).collect()
}

/// A kernel in 64 bits.
struct WideKernel<'a> {
    program: &'a RowProgram,
    grid: LaunchInputs<'a>,
    weights: Vec<Vec<u8>>,
}

impl WideKernel<'_> {
    fn compare(&self, found: &[Tensor], seed: u64) -> SlopeCheck {
        let data = execute::arguments(self.program, self.grid.inputs, seed);
        let Some(middle) = self.objective(&data) else { return SlopeCheck::Rough };
        let mut random = Random::new(seed);
        let (mut worst, mut smooth, mut tried) = (0.0f64, false, false);
        for at in 0..data.len() {
            let tensor = found.iter().find(|it| it.name == self.grid.inputs[at].name);
            let Some(gradient) = tensor.map(|it| floats(&it.numbers)) else { continue };
            tried = true;
            for _ in 0..TRIES {
                let direction: Vec<f64> =
                    gradient.iter().map(|_| random.fraction() * 2.0 - 1.0).collect();
                let Some(wanted) = self.slope((&data, middle), at, &direction) else { continue };
                let have: f64 = gradient.iter().zip(&direction).map(|(slope, by)| slope * by).sum();
                let error = (have - wanted).abs() / wanted.abs().max(1.0);
                worst = if error.is_nan() { f64::INFINITY } else { worst.max(error) };
                smooth = true;
                break;
            }
        }
        if smooth || !tried { SlopeCheck::Measured(worst) } else { SlopeCheck::Rough }
    }

    fn after(&self, data: &[Vec<u8>]) -> Option<Vec<Vec<u8>>> {
        execute::forward(self.program, self.grid, data).ok()
    }

    /// Returns the floats of an argument, in order.
    fn floats(&self, at: usize, bytes: &[u8]) -> Vec<f64> {
        floats(&execute::numbers(self.program, at, bytes))
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

    /// Returns the slope in a direction of one argument, or `None` at a rough point.
    fn slope(
        &self,
        (data, middle): (&[Vec<u8>], f64),
        at: usize,
        direction: &[f64],
    ) -> Option<f64> {
        let numbers = execute::numbers(self.program, at, &data[at]);
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
            data[at] = execute::image(self.program, at, &moved);
            geometry::build(self.program, self.grid.inputs, &mut data);
            self.objective(&data)
        };
        let (near, far) =
            ([value(STEP)?, value(-STEP)?], [value(2.0 * STEP)?, value(-2.0 * STEP)?]);
        let rise = |[up, down]: [f64; 2]| up - down;
        let slope = (8.0 * rise(near) - rise(far)) / (12.0 * STEP);
        let scale = slope.abs().max(1.0);
        let differ = rise(near) / (2.0 * STEP) - rise(far) / (4.0 * STEP);
        // The second difference grows with the square of the step on a smooth curve, and with the
        // step at a kink.
        let bend = |[up, down]: [f64; 2]| up - middle - (middle - down);
        let kink = (2.0 * bend(near) - bend(far) / 2.0) / STEP;
        let smooth = differ.abs() <= 1e-6 * scale && kink.abs() <= 1e-4 * scale;
        (smooth && slope.abs() < 1e7).then_some(slope)
    }
}
