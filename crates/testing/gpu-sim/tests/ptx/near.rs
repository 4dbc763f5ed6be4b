//! Floats that are rounded in a direction, or of 16 bits, by exact arithmetic on `f64`.

/// A directed rounding.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Zero,
    Down,
    Up,
}

/// Sum of two numbers and what its rounding left out, exactly (Knuth's TwoSum).
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let of_b = sum - a;
    (sum, (a - (sum - of_b)) + (b - of_b))
}

/// `value + rest`, of which `nearest` is a neighbour, rounded in a direction.
fn directed<T: Copy>(
    nearest: T,
    difference: f64,
    is_positive: bool,
    direction: Direction,
    up: impl Fn(T) -> T,
    down: impl Fn(T) -> T,
) -> T {
    let upwards = match direction {
        Direction::Up => true,
        Direction::Down => false,
        Direction::Zero => !is_positive,
    };
    // `difference` is what is exact less `nearest`.
    if upwards && difference > 0.0 {
        up(nearest)
    } else if !upwards && difference < 0.0 {
        down(nearest)
    } else {
        nearest
    }
}

/// `a + b` where both are exact, as an `f32`.
pub(crate) fn sum_f32(a: f64, b: f64, direction: Direction) -> f32 {
    let (value, rest) = two_sum(a, b);
    if !value.is_finite() {
        return value as f32;
    }
    if value == 0.0 && rest == 0.0 {
        return zero(a, b, direction) as f32;
    }
    let nearest = value as f32;
    let difference = value - f64::from(nearest);
    let difference = if difference == 0.0 { rest } else { difference };
    directed(nearest, difference, value > 0.0, direction, f32::next_up, f32::next_down)
}

/// `a + b` as an `f64`.
pub(crate) fn sum_f64(a: f64, b: f64, direction: Direction) -> f64 {
    let (value, rest) = two_sum(a, b);
    if value == 0.0 {
        return zero(a, b, direction);
    }
    if a.is_infinite() || b.is_infinite() || value.is_nan() {
        return value;
    }
    let difference = if value.is_infinite() { -value } else { rest };
    directed(value, difference, value > 0.0, direction, f64::next_up, f64::next_down)
}

/// `a * b` as an `f32`; the product of two `f32` is an `f64`.
pub(crate) fn product_f32(a: f32, b: f32, direction: Direction) -> f32 {
    let exact = f64::from(a) * f64::from(b);
    if exact == 0.0 { exact as f32 } else { sum_f32(exact, 0.0, direction) }
}

/// Sum of opposite numbers: IEEE 754 gives -0 only where it rounds down.
fn zero(a: f64, b: f64, direction: Direction) -> f64 {
    let both_negative = a.is_sign_negative() && b.is_sign_negative();
    let is_negative = both_negative || a != b.abs() && direction == Direction::Down;
    let of_zeros = a == 0.0 && b == 0.0 && a.is_sign_negative() == b.is_sign_negative();
    if of_zeros {
        a
    } else if is_negative || direction == Direction::Down {
        -0.0
    } else {
        0.0
    }
}

/// Bits of the nearest float of 16 bits, ties to even.
pub(crate) fn half(value: f64) -> u16 {
    let sign = u16::from(value.is_sign_negative()) << 15;
    let size = value.abs();
    if size.is_nan() {
        return 0x7FFF;
    }
    if size >= 65520.0 {
        return sign | 0x7C00;
    }
    // Steps of 2^-24 below the normal numbers, of 2^-10 of the leading power of two above.
    let exponent = if size < 2_f64.powi(-14) { -14 } else { size.log2().floor() as i32 };
    let steps = (size / 2_f64.powi(exponent - 10)).round_ties_even();
    let base = ((exponent + 14) as u16) << 10;
    sign | (base + steps as u16)
}

/// Value of a float of 16 bits.
pub(crate) fn of_half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 0x3FF));
    let size = match exponent {
        0 => fraction * 2_f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2_f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -size } else { size }
}
