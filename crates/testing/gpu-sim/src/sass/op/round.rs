//! Rounding of NVIDIA's instructions: in four directions, with subnormals flushed if the form
//! says so, and with a single NaN.

/// Direction of a rounding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Rounding {
    Nearest,
    Zero,
    Down,
    Up,
}

impl Rounding {
    /// Finds the rounding by its number in the patterns that end in `.RZ,.RM,.RP`.
    pub(super) fn of(modifier: u8) -> Self {
        [Self::Nearest, Self::Zero, Self::Down, Self::Up][usize::from(modifier)]
    }

    /// Finds the rounding by its number in patterns that end in `.RP,.RZ,.RM`.
    pub(super) fn of_conversion(modifier: u8) -> Self {
        [Self::Nearest, Self::Up, Self::Zero, Self::Down][usize::from(modifier)]
    }
}

/// The NaN of 32 bits that every operation gives.
pub(super) const NAN: u32 = 0x7FFF_FFFF;
/// The NaN of 64 bits.
const NAN_DOUBLE: u64 = 0xFFF8_0000_0000_0000;

pub(super) fn bits(value: f32) -> u32 {
    if value.is_nan() { NAN } else { value.to_bits() }
}

pub(super) fn long_bits(value: f64) -> u64 {
    if value.is_nan() { NAN_DOUBLE } else { value.to_bits() }
}

/// Returns a zero of the same sign for a subnormal number, if `flushes`.
pub(super) fn flushed(value: f32, flushes: bool) -> f32 {
    if flushes && value.is_subnormal() { 0.0_f32.copysign(value) } else { value }
}

/// Returns the rounded sum of two numbers and its exact error (Knuth's TwoSum).
pub(super) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let of_b = sum - a;
    (sum, (a - (sum - of_b)) + (b - of_b))
}

/// Returns `a + b`, both exact, as an `f32`.
pub(super) fn sum(a: f64, b: f64, rounding: Rounding) -> f32 {
    let (value, rest) = two_sum(a, b);
    if !value.is_finite() || rounding == Rounding::Nearest && rest == 0.0 {
        return value as f32;
    }
    if value == 0.0 {
        return zero(a, b, rounding) as f32;
    }
    let near = value as f32;
    let over = f64::from(near) - value;
    // `over` is the excess of `near` over the exact sum. If the rounded sum is a float itself,
    // the rounding error of the sum decides.
    let over = if over == 0.0 { -rest } else { over };
    match rounding {
        Rounding::Nearest => nearest(near, value, rest),
        Rounding::Up if over < 0.0 => near.next_up(),
        Rounding::Down if over > 0.0 => near.next_down(),
        Rounding::Zero if over < 0.0 && value < 0.0 => near.next_up(),
        Rounding::Zero if over > 0.0 && value > 0.0 => near.next_down(),
        _ => near,
    }
}

/// Rounds `value + rest` to the nearest float; `rest` breaks a tie that the rounding to an `f64`
/// made.
fn nearest(near: f32, value: f64, rest: f64) -> f32 {
    let (down, up) = (f64::from(near.next_down()), f64::from(near.next_up()));
    let half_up = (f64::from(near) + up) / 2.0;
    let half_down = (f64::from(near) + down) / 2.0;
    if value == half_up && rest > 0.0 {
        near.next_up()
    } else if value == half_down && rest < 0.0 {
        near.next_down()
    } else if value == half_up && rest < 0.0 || value == half_down && rest > 0.0 {
        near
    } else {
        value as f32
    }
}

/// Returns the sum of opposite numbers: -0 if the sum is rounded down, else +0.
fn zero(a: f64, b: f64, rounding: Rounding) -> f64 {
    let both_negative = a.is_sign_negative() && b.is_sign_negative();
    let both_positive = a.is_sign_positive() && b.is_sign_positive();
    if both_negative || !both_positive && rounding == Rounding::Down { -0.0 } else { 0.0 }
}

/// Returns the `f64` in a direction; `near` is the nearest `f64`, and `over` its excess over the
/// exact value.
pub(super) fn directed(near: f64, over: f64, rounding: Rounding) -> f64 {
    match rounding {
        Rounding::Up if over < 0.0 => near.next_up(),
        Rounding::Down if over > 0.0 => near.next_down(),
        Rounding::Zero if over < 0.0 && near < 0.0 => near.next_up(),
        Rounding::Zero if over > 0.0 && near > 0.0 => near.next_down(),
        _ => near,
    }
}

/// Returns `a + b` as an `f64`.
pub(super) fn sum_double(a: f64, b: f64, rounding: Rounding) -> f64 {
    let (value, rest) = two_sum(a, b);
    if value == 0.0 {
        zero(a, b, rounding)
    } else if value.is_finite() {
        directed(value, -rest, rounding)
    } else {
        value
    }
}

/// Returns `a * b + c` as an `f64`.
pub(super) fn multiply_add_double(a: f64, b: f64, c: f64, rounding: Rounding) -> f64 {
    let value = a.mul_add(b, c);
    if rounding == Rounding::Nearest || !value.is_finite() {
        return value;
    }
    // `a * b` is exactly `product + low`; then the excess of `value` over the sum of three.
    let product = a * b;
    let low = a.mul_add(b, -product);
    let (sum, rest) = two_sum(product, c);
    let over = (value - sum) - (rest + low);
    directed(value, over, rounding)
}
