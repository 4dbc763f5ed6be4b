//! Rounding to floats of 16 bits by comparison of exact numbers: the oracle of [`super::packed`].

use super::near::Direction;
use std::cmp::Ordering;

/// A format of 16 bits: bits of its fraction, exponent of its least normal number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Format {
    fraction: u32,
    least: i32,
}

/// IEEE 754's.
pub(crate) const F16: Format = Format { fraction: 10, least: -14 };
/// The upper half of a float of 32 bits.
pub(crate) const BF16: Format = Format { fraction: 7, least: -126 };

/// `digits * 2^exponent`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exact {
    digits: i128,
    exponent: i32,
}

impl Exact {
    /// An integer.
    pub(crate) fn integer(digits: i128) -> Self {
        Self { digits, exponent: 0 }
    }

    /// A finite number.
    pub(crate) fn number(value: f64) -> Self {
        let (bits, sign) = (value.abs().to_bits(), if value < 0.0 { -1 } else { 1 });
        let (field, fraction) = ((bits >> 52) as i32, i128::from(bits & ((1 << 52) - 1)));
        let digits = if field == 0 { fraction } else { fraction | 1 << 52 };
        let zeros = if digits == 0 { 0 } else { digits.trailing_zeros() };
        Self { digits: sign * (digits >> zeros), exponent: field.max(1) - 1075 + zeros as i32 }
    }

    pub(crate) fn times(self, other: Self) -> Self {
        Self { digits: self.digits * other.digits, exponent: self.exponent + other.exponent }
    }

    /// The sum; of a number that is far below the other, only that it is not zero.
    pub(crate) fn plus(self, other: Self) -> Self {
        if self.digits == 0 || other.digits == 0 {
            return if self.digits == 0 { other } else { self };
        }
        let (high, low) =
            if self.exponent > other.exponent { (self, other) } else { (other, self) };
        let gap = high.exponent - low.exponent;
        if gap <= 90 {
            let digits = (high.digits << gap) + low.digits;
            return Self { digits, exponent: low.exponent };
        }
        Self { digits: (high.digits << 60) + low.digits.signum(), exponent: high.exponent - 60 }
    }

    fn size(self) -> Self {
        Self { digits: self.digits.abs(), ..self }
    }

    /// Compares numbers that are not negative.
    fn compare(self, other: Self) -> Ordering {
        if self.digits == 0 || other.digits == 0 {
            return self.digits.cmp(&other.digits);
        }
        let top = |it: Self| it.exponent + 128 - it.digits.leading_zeros() as i32;
        let gap = self.exponent - other.exponent;
        top(self).cmp(&top(other)).then_with(|| {
            let [a, b] =
                [(self, gap.max(0)), (other, (-gap).max(0))].map(|(it, shift)| it.digits << shift);
            a.cmp(&b)
        })
    }
}

impl Format {
    fn infinity(self) -> u16 {
        0x7FFF >> self.fraction << self.fraction
    }

    /// Value of bits without a sign; of infinity, what a number of one more exponent would be.
    fn size(self, bits: u16) -> Exact {
        let (field, fraction) = (bits >> self.fraction, bits & ((1 << self.fraction) - 1));
        let whole = if field == 0 { 0 } else { 1 << self.fraction };
        let exponent = self.least - self.fraction as i32 + i32::from(field.max(1)) - 1;
        Exact { digits: i128::from(fraction | whole), exponent }
    }

    /// Value of bits.
    pub(crate) fn value(self, bits: u16) -> f64 {
        let size = match (bits & 0x7FFF).cmp(&self.infinity()) {
            Ordering::Greater => f64::NAN,
            Ordering::Equal => f64::INFINITY,
            Ordering::Less => {
                let Exact { digits, exponent } = self.size(bits & 0x7FFF);
                digits as f64 * 2_f64.powi(exponent)
            }
        };
        if bits >> 15 == 1 { -size } else { size }
    }

    /// Bits of 1.0.
    pub(crate) fn one(self) -> u16 {
        ((-self.least + 1) as u16) << self.fraction
    }

    /// Rounds a number, to the nearest if no direction is given. `sign` is that of a zero.
    pub(crate) fn round(self, number: Exact, sign: bool, direction: Option<Direction>) -> u16 {
        if number.digits == 0 {
            return u16::from(sign) << 15;
        }
        let is_negative = number.digits < 0;
        let size = number.size();
        // The greatest float that is not greater.
        let (mut low, mut high) = (0, self.infinity());
        while high - low > 1 {
            let middle = (low + high) / 2;
            let is_below = self.size(middle).compare(size) != Ordering::Greater;
            *(if is_below { &mut low } else { &mut high }) = middle;
        }
        let is_exact = self.size(low).compare(size) == Ordering::Equal;
        let [below, above] = [low, low + 1].map(|bits| self.size(bits));
        let middle = below.plus(above);
        let is_up = match direction {
            _ if is_exact => false,
            Some(Direction::Zero) => false,
            Some(Direction::Up) => !is_negative,
            Some(Direction::Down) => is_negative,
            None => match size.times(Exact::integer(2)).compare(middle) {
                Ordering::Less => false,
                Ordering::Equal => low % 2 == 1,
                Ordering::Greater => true,
            },
        };
        u16::from(is_negative) << 15 | (low + u16::from(is_up))
    }

    /// Rounds what a calculation gives whose value in 64 bits tells a NaN and an infinity.
    pub(crate) fn result(self, value: f64, exact: impl Fn() -> Exact) -> u16 {
        if value.is_nan() {
            0x7FFF
        } else if value.is_infinite() {
            u16::from(value < 0.0) << 15 | self.infinity()
        } else {
            self.round(exact(), value.is_sign_negative(), None)
        }
    }
}
