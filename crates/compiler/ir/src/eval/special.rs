//! Inverses of the error functions, which `libm` lacks: an estimate, refined by Halley's method.

use std::f64::consts::{FRAC_2_SQRT_PI, PI};

/// Computes the inverse of `erf`; infinite at -1 and 1, NaN beyond.
pub(super) fn erfinv(x: f64) -> f64 {
    let size = x.abs();
    if size.is_nan() || size > 1.0 {
        return f64::NAN;
    }
    // For x above one half, 1 - x is exact, and the tail is solved without cancellation.
    let root = if size > 0.5 {
        tail(1.0 - size)
    } else {
        halley_steps(size / FRAC_2_SQRT_PI, |z| (libm::erf(z) - size) / erf_slope(z))
    };
    root.copysign(x)
}

/// Computes the inverse of `erfc`; infinite at 0 and 2, NaN beyond.
pub(super) fn erfcinv(x: f64) -> f64 {
    if x.is_nan() || !(0.0..=2.0).contains(&x) {
        f64::NAN
    } else if x < 0.5 {
        tail(x)
    } else if x <= 1.5 {
        erfinv(1.0 - x)
    } else {
        -tail(2.0 - x)
    }
}

/// Computes the positive root of `erfc(z) == y`, for y below one half.
fn tail(y: f64) -> f64 {
    if y == 0.0 {
        return f64::INFINITY;
    }
    let log = -y.ln();
    let guess = (log - 0.5 * (PI * log).ln()).max(0.1).sqrt();
    halley_steps(guess, |z| (y - libm::erfc(z)) / erf_slope(z))
}

/// Computes the slope of `erf`.
fn erf_slope(z: f64) -> f64 {
    FRAC_2_SQRT_PI * libm::exp(-z * z)
}

/// Refines a root by Halley's method. `error` is the function divided by its slope. The slope's own
/// derivative, divided by the slope, is `-2 z`.
fn halley_steps(mut z: f64, error: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..8 {
        let step = error(z);
        let next = z - step / (1.0 + z * step);
        if !next.is_finite() || next == z {
            break;
        }
        z = next;
    }
    z
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverses_undo_the_error_functions() {
        for k in -590..590 {
            let z = f64::from(k) / 100.0;
            let (x, y) = (libm::erf(z), libm::erfc(z));
            if z.abs() < 2.0 {
                assert!((erfinv(x) - z).abs() <= 1e-13, "{z}");
            }
            if z > -1.0 {
                assert!((erfcinv(y) - z).abs() <= 1e-13 * z.abs().max(0.1), "{z}");
            }
        }
        assert_eq!((erfinv(1.0), erfinv(-1.0)), (f64::INFINITY, f64::NEG_INFINITY));
        assert_eq!((erfcinv(0.0), erfcinv(2.0)), (f64::INFINITY, f64::NEG_INFINITY));
        assert!(erfinv(1.1).is_nan() && erfcinv(-0.1).is_nan());
    }
}
