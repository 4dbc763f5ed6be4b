//! Allowed difference between two correct runs of a row, number by number, measured by several
//! runs. Results of functions that libraries compute differently are perturbed by the units in the
//! last place that the builtin table allows: up, down and at random. Threads that add to the same
//! element run in other orders. If numbers cancel, or a loop amplifies errors, the results change
//! more, and the allowed difference is larger. Integers and exact arithmetic don't change, so they
//! must be equal.

use crate::execute::{LaunchInputs, Variation};
use crate::row::{Results, results_in};
use crate::row_program::RowProgram;
use crate::tensor::{self, Tensor};
use gbxcule_grammar::random;
use gbxcule_interp::Perturbation;
use gbxcule_ir::op::Op;
use gbxcule_ir::{Literal, Module};

/// Factor on the largest deviation in the runs: a few runs don't include the worst one.
const FACTOR: f64 = 4.0;
/// Number of runs with random perturbations, besides one with all results up and one with all down.
const RANDOM_WAYS: u64 = 4;
/// Number of thread orders that are tried.
const ORDERS: u64 = 8;

/// Runner of a row. It determines which differences from the interpreter are allowed in addition to
/// those of mathematical functions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Runner {
    /// A host compiler's program: no further differences.
    Text,
    /// A device of the runtime: threads come in any order.
    Device,
    /// NVIDIA Warp on the CPU: products of matrices are fused with their sums, and determinants are
    /// formed in another order.
    Warp,
}

/// Allowed error of each number of a row's results.
#[derive(Clone, PartialEq, Debug)]
pub struct AllowedErrors {
    /// Allowed error of each number of each result.
    pub outputs: Vec<Vec<f64>>,
    /// Allowed error of each number of each gradient.
    pub gradients: Vec<Vec<f64>>,
}

/// Returns true if a text calls a function that libraries compute differently.
pub fn is_inexact(module: &Module) -> bool {
    let mut ops = module.functions.iter().flat_map(|(_, it)| it.body.values.iter());
    ops.any(|(_, value)| match value.op {
        Op::Native { native, .. } => native.row().ulps > 0,
        _ => false,
    })
}

/// Returns true if threads add floats to one element.
pub fn adds_floats(module: &Module) -> bool {
    let functions = module.functions.iter();
    functions.into_iter().any(|(_, it)| {
        it.body.values.iter().any(|(_, value)| match value.op {
            Op::Atomic { .. } => {
                module.types.components(value.ty).is_some_and(|(of, _)| of.is_float())
            }
            _ => false,
        })
    })
}

impl AllowedErrors {
    /// Finds the bounds of a row whose results are `exact`; `None` if one of the other runs fails.
    pub fn find(
        program: &RowProgram,
        grid: LaunchInputs<'_>,
        seed: u64,
        exact: &Results,
        runner: Runner,
    ) -> Option<Self> {
        let modules = || {
            let reverse = program.reverse.as_ref().ok().map(|it| &*it.module);
            std::iter::once(&*program.forward).chain(reverse)
        };
        let mut ways = Vec::new();
        if modules().any(is_inexact) {
            let random = (0..RANDOM_WAYS).map(|way| Perturbation::Random(random::seed(seed, way)));
            ways.extend([Perturbation::Up, Perturbation::Down].into_iter().chain(random).map(Some));
        }
        let mut ways: Vec<Variation> = ways
            .into_iter()
            .map(|perturbation| Variation { perturbation, ..Variation::default() })
            .collect();
        if runner == Runner::Device && modules().any(adds_floats) {
            let in_order = |order| Variation { order_seed: Some(order), ..Variation::default() };
            ways.extend((0..ORDERS).map(in_order));
            // Threads that run in parallel may add in orders that no sequential run has.
            let sums = Some(Perturbation::AtomicSums);
            ways.push(Variation { perturbation: sums, ..Variation::default() });
        }
        if runner == Runner::Warp {
            let others = [Perturbation::Fused, Perturbation::FusedProducts];
            ways.extend(others.map(|perturbation| Variation {
                perturbation: Some(perturbation),
                ..Variation::default()
            }));
        }
        let others = ways.iter().map(|&way| results_in(way, program, grid, seed).ok());
        let others: Vec<Results> = others.collect::<Option<_>>()?;
        let spread = |of: fn(&Results) -> &[Tensor]| {
            let arrays = of(exact).iter().enumerate();
            arrays
                .map(|(at, tensor)| {
                    let largest = tensor::largest(&tensor.numbers);
                    let numbers = tensor.numbers.iter().enumerate();
                    numbers
                        .map(|(place, &number)| {
                            let moved = others.iter().map(|it| of(it)[at].numbers[place]);
                            allowed(number, largest, moved)
                        })
                        .collect()
                })
                .collect()
        };
        Some(Self { outputs: spread(|it| &it.outputs), gradients: spread(Results::slopes) })
    }
}

/// Computes the allowed error of a number from its values in the other runs; `largest` is the
/// largest number of its array. A run in which the number becomes infinite or NaN, or ceases to be,
/// measures no error and is left out.
fn allowed(exact: Literal, largest: f64, others: impl Iterator<Item = Literal>) -> f64 {
    let (mut most, mut any) = (0.0f64, false);
    for other in others {
        any = true;
        let error = (other.as_f64() - exact.as_f64()).abs();
        most = if error.is_finite() { most.max(error) } else { most };
    }
    // All runs may have been rounded to the same number.
    let unit = tensor::epsilon(exact.scalar()).unwrap_or(0.0) * largest;
    if any { FACTOR * most + unit } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gbxcule_ir::Scalar;

    #[test]
    fn runs_that_leave_the_finite_numbers_measure_no_error() {
        let number = |it| Literal::float(Scalar::F32, it);
        let allowed = |exact, others: &[f64]| {
            super::allowed(number(exact), 3.0, others.iter().map(|it| number(*it)))
        };
        let (near, by_near) = (1.0 + 1e-5, allowed(1.0, &[1.0 + 1e-5]));
        assert!(by_near > 1e-5 && by_near < 1e-4, "{by_near}");
        for end in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            assert_eq!(allowed(1.0, &[near, end]), by_near, "{end}");
            assert!(allowed(end, &[near, 2.0]) < 1e-6, "{end}");
        }
    }
}
