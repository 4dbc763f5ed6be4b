//! Floats as NVIDIA's instructions round them: in four directions, without subnormals if the form
//! says so, with one NaN for all.

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
    pub(super) fn of(choice: u8) -> Self {
        [Self::Nearest, Self::Zero, Self::Down, Self::Up][usize::from(choice)]
    }

    /// Finds the rounding by its number in patterns that end in `.RP,.RZ,.RM`.
    pub(super) fn of_conversion(choice: u8) -> Self {
        [Self::Nearest, Self::Up, Self::Zero, Self::Down][usize::from(choice)]
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

/// A subnormal number becomes a zero of its sign.
pub(super) fn flushed(value: f32, flushes: bool) -> f32 {
    if flushes && value.is_subnormal() { 0.0_f32.copysign(value) } else { value }
}

/// Sum of two numbers and what its rounding left out, exactly (Knuth's TwoSum).
pub(super) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let of_b = sum - a;
    (sum, (a - (sum - of_b)) + (b - of_b))
}

/// `a + b`, of which each is exact, as an `f32`.
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
    // The excess of `near`; the rest decides where the sum itself is a float.
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

/// `value + rest` to the nearest: the rest breaks a tie that rounding to an `f64` made.
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

/// Sum of opposite numbers: -0 only where it rounds down.
fn zero(a: f64, b: f64, rounding: Rounding) -> f64 {
    let both_negative = a.is_sign_negative() && b.is_sign_negative();
    let both_positive = a.is_sign_positive() && b.is_sign_positive();
    if both_negative || !both_positive && rounding == Rounding::Down { -0.0 } else { 0.0 }
}

/// A value in 64 bits as the `f64` in a direction: `near` is the nearest, `over` what it has too
/// much.
pub(super) fn directed(near: f64, over: f64, rounding: Rounding) -> f64 {
    match rounding {
        Rounding::Up if over < 0.0 => near.next_up(),
        Rounding::Down if over > 0.0 => near.next_down(),
        Rounding::Zero if over < 0.0 && near < 0.0 => near.next_up(),
        Rounding::Zero if over > 0.0 && near > 0.0 => near.next_down(),
        _ => near,
    }
}

/// `a + b` as an `f64`.
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

/// `a * b + c` as an `f64`.
pub(super) fn multiply_add_double(a: f64, b: f64, c: f64, rounding: Rounding) -> f64 {
    let value = a.mul_add(b, c);
    if rounding == Rounding::Nearest || !value.is_finite() {
        return value;
    }
    // a * b = product + low, exactly; then what the sum of three has less than `value`.
    let product = a * b;
    let low = a.mul_add(b, -product);
    let (sum, rest) = two_sum(product, c);
    let over = (value - sum) - (rest + low);
    directed(value, over, rounding)
}
