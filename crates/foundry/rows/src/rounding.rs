//! Checks that a row's results don't depend on rounding: the program in 64 bits, on unrounded
//! inputs, must give the same results and gradients. A row fails if numbers cancel, or a comparison
//! depends on the last digit.

use crate::row::Results;
use crate::tensor::{self, Tensor};

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
/// number; integers must be equal, and a number that isn't finite differs from all others.
fn units(narrow: &Tensor, wide: &Tensor) -> f64 {
    let largest = tensor::largest(&wide.numbers);
    let pairs = narrow.numbers.iter().zip(&wide.numbers);
    pairs
        .filter(|(one, other)| {
            let (one, other) = (one.as_f64(), other.as_f64());
            one != other && !(one.is_nan() && other.is_nan())
        })
        .map(|(one, other)| {
            let error = (one.as_f64() - other.as_f64()).abs();
            match tensor::epsilon(one.scalar()) {
                Some(unit) if error.is_finite() => error / (unit * largest),
                _ => f64::INFINITY,
            }
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
    fn a_number_that_is_not_finite_differs_from_all_others() {
        let tensor = |numbers: [f64; 2]| Tensor {
            name: "x".into(),
            shape: vec![2],
            numbers: numbers
                .map(|it| gbxcule_ir::Literal::float(gbxcule_ir::Scalar::F32, it))
                .into(),
        };
        for end in [f64::INFINITY, f64::NAN] {
            assert_eq!(units(&tensor([1.0, end]), &tensor([1.0, end])), 0.0);
            assert!(units(&tensor([1.0, end]), &tensor([2.0, end])) > UNITS);
            assert!(units(&tensor([1.0, end]), &tensor([1.0, 2.0])) > UNITS);
            assert!(units(&tensor([1.0, 2.0]), &tensor([1.0, end])) > UNITS);
        }
    }

    #[test]
    fn a_direction_of_what_cancels_is_decided_by_rounding() {
        assert!(harmless("wp.normalize(a * 0.3 + wp.vec3(2.0, 0.0, 0.0))"));
        assert!(!harmless("wp.normalize(a * 0.3 - a * 0.1 * 3.0)"));
    }
}
