//! Rules of the PTX ISA document for each form, written down a second time: integers in 128 bits,
//! bits one by one, floats in Rust's own arithmetic or with the error that the document states.

use super::near::{Direction, half, of_half, product_f32, sum_f32, sum_f64};
use super::ty::{Kind, Type};

/// Bits of the operands, then the carry.
pub(crate) type Arguments = [u64; 5];

/// Result that a form must have.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Expected {
    /// These bits.
    Bits(u64),
    /// These bits, and a carry.
    WithCarry(u64, bool),
    /// Some NaN of so many bits.
    Nan(u32),
    /// An `f32` that is so far from a value at most.
    Near(f64, f64),
    /// An `f64` that is so far from a value at most.
    NearF64(f64, f64),
    /// The document doesn't say.
    Open,
}

impl Expected {
    pub(crate) fn holds(&self, value: u64, carry: bool, register_bits: u32) -> bool {
        match *self {
            Self::Bits(bits) => value == bits & ones(register_bits),
            Self::WithCarry(bits, wanted) => value == bits && carry == wanted,
            Self::Nan(16) => of_half(value as u16).is_nan(),
            Self::Nan(32) => f32::from_bits(value as u32).is_nan(),
            Self::Nan(_) => f64::from_bits(value).is_nan(),
            Self::Near(wanted, error) => {
                (f64::from(f32::from_bits(value as u32)) - wanted).abs() <= error
            }
            Self::NearF64(wanted, error) => (f64::from_bits(value) - wanted).abs() <= error,
            Self::Open => true,
        }
    }
}

fn ones(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// The value of bits as an integer type.
fn integer(bits: u64, ty: Type) -> i128 {
    let low = i128::from(bits & ones(ty.bits));
    let is_negative = ty.kind == Kind::Signed && low >> (ty.bits - 1) == 1;
    if is_negative { low - (1_i128 << ty.bits) } else { low }
}

fn f32_of(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

fn of_f32(value: f32) -> Expected {
    if value.is_nan() { Expected::Nan(32) } else { Expected::Bits(u64::from(value.to_bits())) }
}

fn of_f64(value: f64) -> Expected {
    if value.is_nan() { Expected::Nan(64) } else { Expected::Bits(value.to_bits()) }
}

/// The value of bits as a float type.
fn float(bits: u64, ty: Type) -> f64 {
    match ty.bits {
        16 => of_half(bits as u16),
        32 => f64::from(f32_of(bits)),
        _ => f64::from_bits(bits),
    }
}

/// A float that a type holds exactly.
fn of_float(value: f64, ty: Type) -> Expected {
    if ty.bits == 32 { of_f32(value as f32) } else { of_f64(value) }
}

/// Result of a mnemonic with these operands, as the document says.
pub(crate) fn expected(mnemonic: &str, arguments: &Arguments) -> Expected {
    let parts: Vec<&str> = mnemonic.split('.').collect();
    let ty = Type::named(parts[parts.len() - 1]).expect("a type");
    match (parts[0], ty.kind) {
        ("cvt", _) => conversion(&parts, ty, arguments[0]),
        ("setp", _) => Expected::Bits(u64::from(comparison(parts[1], ty, arguments))),
        ("selp", _) => {
            Expected::Bits(arguments[if arguments[2] == 0 { 1 } else { 0 }] & ones(ty.bits))
        }
        (_, Kind::Predicate) => Expected::Bits(bitwise(parts[0], arguments, 1)),
        (_, Kind::Float) if parts.contains(&"approx") => approximate(&parts, ty, arguments),
        (_, Kind::Float) => exact_float(&parts, ty, arguments),
        ("addc" | "subc" | "madc", _) => with_carry(&parts, arguments),
        _ if parts.contains(&"cc") => with_carry(&parts, arguments),
        ("and" | "or" | "xor" | "not", _) => Expected::Bits(bitwise(parts[0], arguments, ty.bits)),
        ("shl" | "shr" | "shf" | "bfe" | "bfi" | "prmt" | "popc" | "clz" | "brev", _) => {
            Expected::Bits(bit_by_bit(&parts, ty, arguments))
        }
        _ => arithmetic(&parts, ty, arguments),
    }
}

fn arithmetic(parts: &[&str], ty: Type, arguments: &Arguments) -> Expected {
    let [a, b, c] = [0, 1, 2].map(|at| integer(arguments[at], ty));
    // Exact, but for the sign of unsigned products of 64 bits, which the mask hides.
    let product = || {
        let whole = a.unsigned_abs().wrapping_mul(b.unsigned_abs());
        if (a < 0) != (b < 0) { whole.wrapping_neg() } else { whole }
    };
    let value: u128 = match (parts[0], parts[1]) {
        ("add", _) => (a + b) as u128,
        ("sub", _) => (a - b) as u128,
        ("mul", "lo") => product(),
        ("mul", "hi") if ty.kind == Kind::Signed => (product() as i128 >> ty.bits) as u128,
        ("mul", "hi") => product() >> ty.bits,
        ("mul", _) => return Expected::Bits(product() as u64 & ones(2 * ty.bits)),
        ("mad", "lo") => product().wrapping_add(c as u128),
        ("mad", _) => {
            let wide = integer(arguments[2], ty.wide());
            return Expected::Bits(product().wrapping_add(wide as u128) as u64 & ones(2 * ty.bits));
        }
        ("div" | "rem", _) if b == 0 || a == -(1 << (ty.bits - 1)) && b == -1 => {
            return Expected::Open;
        }
        ("div", _) => (a / b) as u128,
        ("rem", _) => (a % b) as u128,
        ("neg", _) => (-a) as u128,
        ("abs", _) => a.unsigned_abs(),
        ("min", _) => a.min(b) as u128,
        ("max", _) => a.max(b) as u128,
        (other, _) => panic!("no rule for {other}"),
    };
    Expected::Bits(value as u64 & ones(ty.bits))
}

/// `add.cc`, `madc.hi.cc` and the like: the carry is bit 32 of an exact sum.
fn with_carry(parts: &[&str], arguments: &Arguments) -> Expected {
    let [a, b, c] = [0, 1, 2].map(|at| i128::from(arguments[at] as u32));
    let before = i128::from(arguments[4] as u32 != 0);
    let used = if parts[0].ends_with('c') { before } else { 0 };
    let exact = match (parts[0], parts[1]) {
        ("add" | "addc", _) => a + b + used,
        ("sub" | "subc", _) => a - b - used,
        (_, "lo") => (a * b) % (1 << 32) + c + used,
        _ => ((a * b) >> 32) + c + used,
    };
    let carry = if parts.contains(&"cc") { !(0..1 << 32).contains(&exact) } else { before != 0 };
    Expected::WithCarry(exact as u64 & ones(32), carry)
}

fn bitwise(operation: &str, arguments: &Arguments, bits: u32) -> u64 {
    let [a, b, ..] = *arguments;
    let value = match operation {
        "and" => a & b,
        "or" => a | b,
        "xor" => a ^ b,
        _ => !a,
    };
    value & ones(bits)
}

/// The bits `from..` of a number whose higher bits are all `sign`.
fn bit(value: u64, at: u64, bits: u32, sign: bool) -> bool {
    if at < u64::from(bits) { value >> at & 1 == 1 } else { sign }
}

fn of_bits(bits: u32, bit: impl Fn(u64) -> bool) -> u64 {
    (0..u64::from(bits)).fold(0, |value, at| value | u64::from(bit(at)) << at)
}

fn bit_by_bit(parts: &[&str], ty: Type, arguments: &Arguments) -> u64 {
    let [a, b, c, d, _] = *arguments;
    let (bits, wide) = (ty.bits, u64::from(ty.bits));
    let sign = ty.kind == Kind::Signed && bit(a, wide - 1, bits, false);
    match parts[0] {
        // Amounts of 32 bits; beyond the width nothing is left but the sign.
        "shl" => {
            let by = b & ones(32);
            of_bits(bits, |at| at >= by && bit(a, at - by, bits, false))
        }
        "shr" => of_bits(bits, |at| bit(a, at + (b & ones(32)), bits, sign)),
        "shf" => {
            let amount = c & ones(32);
            let by = if parts[2] == "wrap" { amount % 32 } else { amount.min(32) };
            let both = (b & ones(32)) << 32 | a & ones(32);
            let from = if parts[1] == "l" { 32 - by } else { by };
            of_bits(32, |at| bit(both, at + from, 64, false))
        }
        "bfe" => {
            let (from, length) = (b & 255, c & 255);
            // Without any bits there is no sign, either.
            let last = (from + length).saturating_sub(1).min(wide - 1);
            let sign = ty.kind == Kind::Signed && length > 0 && bit(a, last, bits, false);
            of_bits(bits, |at| {
                if at < length && from + at < wide { bit(a, from + at, bits, false) } else { sign }
            })
        }
        "bfi" => {
            let (from, length) = (c & 255, d & 255);
            let is_new = |at: u64| at >= from && at < from + length;
            of_bits(bits, |at| {
                if is_new(at) { bit(a, at - from, bits, false) } else { bit(b, at, bits, false) }
            })
        }
        "prmt" => {
            let bytes = ((b & ones(32)) << 32 | a & ones(32)).to_le_bytes();
            let chosen = |at: u64| {
                let selector = c >> (4 * at) & 15;
                let byte = bytes[(selector & 7) as usize];
                let repeated = if byte >= 128 { 255 } else { 0 };
                u64::from(if selector >= 8 { repeated } else { byte })
            };
            (0..4).fold(0, |value, at| value | chosen(at) << (8 * at))
        }
        "popc" => (0..wide).filter(|at| bit(a, *at, bits, false)).count() as u64,
        "clz" => (0..wide).rev().take_while(|at| !bit(a, *at, bits, false)).count() as u64,
        "brev" => of_bits(bits, |at| bit(a, wide - 1 - at, bits, false)),
        other => panic!("no rule for {other}"),
    }
}

fn comparison(operation: &str, ty: Type, arguments: &Arguments) -> bool {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let order = if ty.kind == Kind::Float {
        float(arguments[0], ty).partial_cmp(&float(arguments[1], ty))
    } else {
        Some(integer(arguments[0], ty).cmp(&integer(arguments[1], ty)))
    };
    // The forms with `u` are true of a NaN, the others false.
    let Some(order) = order else { return operation.len() == 3 && operation != "num" };
    match operation.get(..2).expect("two letters") {
        "eq" => order == Equal,
        "ne" => order != Equal,
        "lt" => order == Less,
        "le" => order != Greater,
        "gt" => order == Greater,
        "ge" => order != Less,
        _ => operation == "num",
    }
}

fn conversion(parts: &[&str], from: Type, bits: u64) -> Expected {
    let to = Type::named(parts[parts.len() - 2]).expect("a type");
    match (to.kind, from.kind) {
        (Kind::Float, Kind::Float) => between_floats(parts[1], to, from, bits),
        (Kind::Float, _) if to.bits == 32 => of_f32(integer(bits, from) as f32),
        (Kind::Float, _) => of_f64(integer(bits, from) as f64),
        (_, Kind::Float) => to_integer(parts[1], to, from, bits),
        // The low bits; their sign fills what is above them in the register.
        _ => Expected::Bits(integer(integer(bits, from) as u64, to) as u64),
    }
}

fn rounded(value: f64, rounding: &str) -> f64 {
    match rounding {
        "rni" => value.round_ties_even(),
        "rzi" => value.trunc(),
        "rmi" => value.floor(),
        _ => value.ceil(),
    }
}

fn between_floats(rounding: &str, to: Type, from: Type, bits: u64) -> Expected {
    let value = float(bits, from);
    match rounding {
        "rni" | "rzi" | "rmi" | "rpi" => of_float(rounded(value, rounding), to),
        "sat" if value > 0.0 => of_float(value.min(1.0), to),
        "sat" => Expected::Bits(0),
        _ if to.bits == 16 && value.is_nan() => Expected::Nan(16),
        _ if to.bits == 16 => Expected::Bits(u64::from(half(value))),
        _ => of_float(value, to),
    }
}

fn to_integer(rounding: &str, to: Type, from: Type, bits: u64) -> Expected {
    let value = float(bits, from);
    if value.is_nan() {
        let is_zero = from.bits < 64 && to.bits < 64;
        return Expected::Bits(if is_zero { 0 } else { 1 << (to.bits - 1) });
    }
    let (least, greatest) = match to.kind {
        Kind::Signed => (-(1_i128 << (to.bits - 1)), (1 << (to.bits - 1)) - 1),
        _ => (0, (1 << to.bits) - 1),
    };
    Expected::Bits((rounded(value, rounding) as i128).clamp(least, greatest) as u64 & ones(to.bits))
}

fn exact_float(parts: &[&str], ty: Type, arguments: &Arguments) -> Expected {
    let direction = match parts[1] {
        "rz" => Some(Direction::Zero),
        "rm" => Some(Direction::Down),
        "rp" => Some(Direction::Up),
        _ => None,
    };
    let sign = 1_u64 << (ty.bits - 1);
    let [a, b, c] = [0, 1, 2].map(|at| arguments[at] & ones(ty.bits));
    match parts[0] {
        "neg" => return Expected::Bits(a ^ sign),
        "abs" => return Expected::Bits(a & !sign),
        "copysign" => return Expected::Bits(a & sign | b & !sign),
        "min" | "max" => return extreme(parts[0] == "min", ty, a, b),
        _ => {}
    }
    let [x, y, z] = [a, b, c].map(|bits| float(bits, ty));
    if ty.bits == 64 {
        return of_f64(match (parts[0], direction) {
            ("add", Some(direction)) => sum_f64(x, y, direction),
            ("add", None) => x + y,
            ("sub", None) => x - y,
            ("mul", None) => x * y,
            ("div", None) => x / y,
            ("fma", None) => x.mul_add(y, z),
            ("rcp", None) => 1.0 / x,
            ("sqrt", None) => x.sqrt(),
            (other, _) => panic!("no rule for {other}"),
        });
    }
    let [p, q, r] = [a, b, c].map(f32_of);
    of_f32(match (parts[0], direction) {
        ("add", None) => p + q,
        ("sub", None) => p - q,
        ("mul", None) => p * q,
        ("div", None) => p / q,
        ("fma", None) => p.mul_add(q, r),
        ("rcp", None) => 1.0 / p,
        ("sqrt", None) => p.sqrt(),
        ("add", Some(direction)) => sum_f32(x, y, direction),
        ("sub", Some(direction)) => sum_f32(x, -y, direction),
        ("mul", Some(direction)) => product_f32(p, q, direction),
        ("fma", Some(direction)) => sum_f32(x * y, z, direction),
        (other, _) => panic!("no rule for {other}"),
    })
}

/// The number, if the other one is a NaN; -0 is less than +0.
fn extreme(is_least: bool, ty: Type, a: u64, b: u64) -> Expected {
    let (x, y) = (float(a, ty), float(b, ty));
    let first = match (x.is_nan(), y.is_nan()) {
        (true, true) => return Expected::Nan(ty.bits),
        (is_nan, false) if is_nan => false,
        (_, true) => true,
        _ => x.total_cmp(&y).is_lt() == is_least,
    };
    Expected::Bits(if first { a } else { b })
}

fn flushed(value: f64, ty: Type) -> f64 {
    let least = if ty.bits == 32 { f64::from(f32::MIN_POSITIVE) } else { f64::MIN_POSITIVE };
    if value.abs() < least { 0_f64.copysign(value) } else { value }
}

/// Within the error that the document states; special values and flushed results are exact.
fn approximate(parts: &[&str], ty: Type, arguments: &Arguments) -> Expected {
    let ftz = parts.contains(&"ftz");
    let flush = |value: f64| if ftz { flushed(value, ty) } else { value };
    let [a, b] = [0, 1].map(|at| flush(float(arguments[at], ty)));
    if ty.bits == 64 {
        return approximate_f64(parts[0], ftz, arguments[0]);
    }
    // The error relative to the value, and the absolute one.
    let (value, relative, absolute) = match parts[0] {
        "div" if a.is_infinite() && b.abs() > 2_f64.powi(126) => return Expected::Nan(32),
        "div" if b.abs() > 2_f64.powi(126) && !a.is_nan() => return of_f32((0.0 * a / b) as f32),
        "div" if b.abs() < 2_f64.powi(-126) && b != 0.0 => return Expected::Open,
        "div" => (a / b, 2_f64.powi(-22), 0.0),
        "rcp" => (1.0 / a, 2_f64.powi(-23), 0.0),
        "rsqrt" => (1.0 / a.sqrt(), 2_f64.powf(-22.9), 0.0),
        // The document has a table: -0 is a zero like +0.
        "ex2" => (a.exp2(), 2_f64.powi(-22), 0.0),
        "lg2" if a > 0.5 && a < 2.0 => (a.log2(), 0.0, 2_f64.powi(-22)),
        "lg2" => (if a == 0.0 { f64::NEG_INFINITY } else { a.log2() }, 2_f64.powi(-22), 0.0),
        // No error is stated beyond two turns.
        "sin" | "cos" if a.is_finite() && a.abs() > std::f64::consts::TAU => return Expected::Open,
        "sin" => (a.sin(), 0.0, 2_f64.powf(-20.5)),
        "cos" => (a.cos(), 0.0, 2_f64.powf(-20.5)),
        other => panic!("no rule for {other}"),
    };
    let value = if ftz { flushed(value, ty) } else { value };
    let nearest = value as f32;
    if !nearest.is_finite() || nearest == 0.0 {
        return of_f32(nearest);
    }
    // Subnormal results have fewer bits.
    let error = (value.abs() * relative).max(absolute).max(f64::from(f32::from_bits(1)));
    Expected::Near(value, error)
}

/// The upper halves of operand and result are all that counts with `.ftz`; no error is stated, so
/// 20 bits of the fraction are asked for. `rsqrt.approx.f64` has one of 2 units.
fn approximate_f64(operation: &str, ftz: bool, bits: u64) -> Expected {
    let ty = Type { kind: Kind::Float, bits: 64 };
    let a = f64::from_bits(bits);
    let a = if ftz { flushed(f64::from_bits(bits & !ones(32)), ty) } else { a };
    let value = if operation == "rcp" { flushed(1.0 / a, ty) } else { 1.0 / a.sqrt() };
    // A NaN whose payload was in the lower half.
    if f64::from_bits(bits).is_nan() {
        return if a.is_nan() { Expected::Nan(64) } else { Expected::Open };
    }
    if !value.is_finite() || value == 0.0 {
        return of_f64(value);
    }
    Expected::NearF64(value, value.abs() * if ftz { 2_f64.powi(-20) } else { 2_f64.powi(-51) })
}
