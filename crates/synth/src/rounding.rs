//! Whether rounding alone decides a row's results: the same program in 64 bits, on inputs that aren't rounded either, has to
//! come to the same, results and gradients. Where numbers cancel, or a comparison hangs on the last digit, it doesn't.

use crate::row::Results;
use crate::tensor::{Tensor, epsilon};

/// Units in the last place, of the number or of the largest one beside it in its array, by which rounding may move it.
const UNITS: f64 = 256.0;

/// Whether a row's results are those of its program in 64 bits but for some units in the last place.
pub(crate) fn is_harmless(results: &Results, wide: &Results) -> bool {
    let near = |narrow: &[Tensor], wide: &[Tensor]| {
        narrow.len() == wide.len()
            && narrow.iter().zip(wide).all(|(one, other)| units(one, other) <= UNITS)
    };
    // A gradient of 64 bits that isn't finite is none.
    near(&results.outputs, &wide.outputs)
        && (wide.gradients.is_none() || near(results.slopes(), wide.slopes()))
}

/// The largest difference between two arrays, in units of the largest number there; of integers there is none or all.
fn units(narrow: &Tensor, wide: &Tensor) -> f64 {
    let largest = wide.numbers.iter().map(|it| it.as_f64().abs()).fold(0.0, f64::max);
    let pairs = narrow.numbers.iter().zip(&wide.numbers);
    pairs
        .filter(|(one, other)| one.as_f64() != other.as_f64())
        .map(|(one, other)| {
            let Some(unit) = epsilon(one.scalar()) else { return f64::INFINITY };
            (one.as_f64() - other.as_f64()).abs() / (unit * largest)
        })
        .fold(0.0, f64::max)
}
