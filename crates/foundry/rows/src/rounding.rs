//! Checks that a row's results don't depend on rounding: the program in 64 bits, on unrounded
//! inputs, must give the same results and gradients. A row fails if numbers cancel, or a comparison
//! depends on the last digit.

use crate::row::Results;
use crate::tensor::{Tensor, epsilon};

/// Tolerance in units in the last place of the array's largest number. Nearly all rows stay below
/// 16 units; rows beyond 32 are off by thousands.
const UNITS: f64 = 32.0;

/// Returns true if a row's results equal those of its program in 64 bits up to some units in the
/// last place.
pub fn is_harmless(results: &Results, wide: &Results) -> bool {
    let near = |narrow: &[Tensor], wide: &[Tensor]| {
        narrow.len() == wide.len()
            && narrow.iter().zip(wide).all(|(one, other)| units(one, other) <= UNITS)
    };
    // An infinite or NaN gradient in 64 bits is not compared.
    near(&results.outputs, &wide.outputs)
        && (wide.gradients.is_none() || near(results.slopes(), wide.slopes()))
}

/// Returns the largest difference between two arrays, in units in the last place of the largest
/// number; integers must be equal.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execute::LaunchInputs;
    use crate::row::results;
    use crate::row_program::RowProgram;
    use crate::widen;
    use gbxcule_grammar::input::ArgumentInput;

    fn harmless(value: &str) -> bool {
        let source = format!(
            "import warp as wp\n\n\n@wp.kernel\ndef k(x: wp.array(dtype=wp.vec3), y: wp.array(dtype=wp.vec3)):\n    \
             i = wp.tid()\n    a = x[i]\n    y[i] = {value}\n"
        );
        let program = RowProgram::read(&source).expect("a kernel");
        let named = |name: &str, given: ArgumentInput| ArgumentInput { name: name.into(), ..given };
        let inputs = [
            named("x", ArgumentInput::integers(vec![8], 0, 0)),
            named("y", ArgumentInput::zeros(vec![8])),
        ];
        let grid = LaunchInputs { dims: &[8], inputs: &inputs };
        let wide = widen::program(&program).expect("floats alone");
        let run = |program: &RowProgram| results(program, grid, 7).expect("results");
        is_harmless(&run(&program), &run(&wide))
    }

    #[test]
    fn a_direction_of_what_cancels_is_decided_by_rounding() {
        assert!(harmless("wp.normalize(a * 0.3 + wp.vec3(2.0, 0.0, 0.0))"));
        assert!(!harmless("wp.normalize(a * 0.3 - a * 0.1 * 3.0)"));
    }
}
