//! Runs a program with results moved by the error that libraries may make. A native's result
//! moves within the units in the last place that its row of the builtin table allows; results of
//! exact operations don't move. So the program's results move as far as two correct ways of
//! running the program may differ. Other variants round a sum with a product once, form sums of
//! products in another order, or let threads add to one place in any order.

use gbxcule_ir::builtin::Native;
use gbxcule_ir::constant::Literal;
use gbxcule_ir::splitmix;
use gbxcule_ir::ty::Scalar;

/// Kind of perturbation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Perturbation {
    /// Every result is moved one allowed error up.
    Up,
    /// Every result is moved one allowed error down.
    Down,
    /// Every result is moved by a random number of units, drawn from this state.
    Random(u64),
    /// No result is moved; a sum with a product is rounded once, as a fused multiply-add does.
    Fused,
    /// No result is moved; a sum with a product is off by a unit of its largest operand, as in a
    /// library that forms the sums of a determinant in another order.
    FusedProducts,
    /// No result is moved; every atomic sum is off by a unit of its largest operand. Together
    /// these errors are as large as the error that another order of rounding can make.
    AtomicSums,
}

impl Perturbation {
    /// Returns a result that another library might give instead of the exact one.
    pub(super) fn moved(&mut self, native: Native, exact: Literal) -> Literal {
        let units = i64::from(native.row().ulps);
        let value = exact.as_f64();
        if units == 0 || !exact.scalar().is_float() || !value.is_finite() {
            return exact;
        }
        // 16-bit floats are computed in f32 and rounded once, so they are off by one unit at most.
        let units = if exact.scalar().bytes() == 2 { 1 } else { units };
        let by = match self {
            Self::Up => units,
            Self::Down => -units,
            Self::Random(state) => (splitmix::next(state) % (2 * units as u64 + 1)) as i64 - units,
            Self::Fused | Self::FusedProducts | Self::AtomicSums => 0,
        };
        let moved = step(exact, by);
        // No library gives 0 the wrong sign, or leaves the range of a sine, though the result may
        // reach the end of the range.
        if value == 0.0 {
            exact
        } else if value.abs() <= 1.0 && moved.as_f64().abs() > 1.0 {
            Literal::float(exact.scalar(), value.signum())
        } else {
            moved
        }
    }
}

/// Returns a number that may replace the sum of two numbers: a unit up or down. Integers stay
/// unchanged.
pub(super) fn perturbed_sum([left, right, sum]: [Literal; 3], up: bool) -> Literal {
    if !sum.scalar().is_float() || !sum.as_f64().is_finite() {
        return sum;
    }
    let sizes = [left, right, sum].map(|it| Literal::float(it.scalar(), it.as_f64().abs()));
    let largest = sizes.into_iter().max_by(|one, other| one.as_f64().total_cmp(&other.as_f64()));
    let largest = largest.unwrap_or(sum);
    let unit = step(largest, 1).as_f64() - largest.as_f64();
    Literal::float(sum.scalar(), sum.as_f64() + if up { unit } else { -unit })
}

/// Returns a number that may replace a sum. The parity of the operands' bits decides whether it
/// lies above or below the sum: if all sums moved up, their differences would not move.
pub(super) fn perturbed_by_bits([left, right, sum]: [Literal; 3]) -> Literal {
    perturbed_sum([left, right, sum], (left.bits() ^ right.bits()).count_ones().is_multiple_of(2))
}

/// Returns the float that is `by` floats away from a finite float, but not beyond 0.
fn step(from: Literal, by: i64) -> Literal {
    let sign = 1u64 << (from.scalar().bits() - 1);
    let (negative, magnitude) = (from.bits() & sign, from.bits() & !sign);
    let by = if negative == 0 { by } else { -by };
    let moved = magnitude.saturating_add_signed(by);
    let scalar: Scalar = from.scalar();
    Literal::from_bits(scalar, negative | moved.min(sign - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_move_within_their_units_and_exact_ones_stay() {
        let f32 = |value: f32| Literal::float(Scalar::F32, f64::from(value));
        let bits = |value: f32| i64::from(value.to_bits());
        for value in [0.25f32, -0.75, 3.5e-7] {
            let up = Perturbation::Up.moved(Native::Sin, f32(value));
            assert_eq!((bits(up.as_f64() as f32) - bits(value)).abs(), 2);
            assert!(up.as_f64() > f64::from(value));
            assert!(Perturbation::Down.moved(Native::Sin, f32(value)).as_f64() < f64::from(value));
        }
        let nearly = f32(1.0 - f32::EPSILON / 2.0);
        assert_eq!(Perturbation::Up.moved(Native::Tanh, nearly), f32(1.0));
        let mut random = Perturbation::Random(1);
        let offs: std::collections::BTreeSet<i64> = (0..100)
            .map(|_| bits(random.moved(Native::Pow, f32(2.5)).as_f64() as f32) - bits(2.5))
            .collect();
        assert_eq!(offs, (-4..=4).collect());
        for (native, value) in [(Native::Sqrt, 2.5), (Native::Sin, 1.0), (Native::Sin, 0.0)] {
            assert_eq!(Perturbation::Up.moved(native, f32(value)), f32(value));
        }
    }

    #[test]
    fn sums_are_off_by_a_unit_of_what_was_added() {
        let f32 = |value: f32| Literal::float(Scalar::F32, f64::from(value));
        let unit = f32::EPSILON;
        for (old, operand, wanted) in [(1.0, 0.5, 1.5 + unit), (3.0, -3.0, 2.0 * unit)] {
            let sum = f32(old + operand);
            assert_eq!(perturbed_sum([f32(old), f32(operand), sum], true), f32(wanted));
        }
        let [one, two, three] = [1, 2, 3].map(|value| Literal::int(Scalar::I32, value));
        assert_eq!(perturbed_sum([one, two, three], true), three);
        let moved: Vec<bool> = (1..40)
            .map(|value| (f32(value as f32), f32(0.75)))
            .map(|(one, two)| (one, two, f32((one.as_f64() + two.as_f64()) as f32)))
            .map(|(one, two, sum)| perturbed_by_bits([one, two, sum]).as_f64() > sum.as_f64())
            .collect();
        assert!(moved.contains(&true) && moved.contains(&false));
    }
}
