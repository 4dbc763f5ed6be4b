//! Literals: `true`, `-3i32`, `0.1f32`, `inff64`, `nan:7fc00001f32`.

use crate::constant::Literal;
use crate::ty::Scalar;

/// Returns the literal that a word writes, if its type has such a value.
pub(super) fn literal(word: &str) -> Option<Literal> {
    match word {
        "true" => return Some(Literal::bool(true)),
        "false" => return Some(Literal::bool(false)),
        _ => {}
    }
    // `bf16` ends like `f16`: if two names fit, the longer one is right.
    let fits = Scalar::ALL.into_iter().filter(|scalar| word.ends_with(scalar.name()));
    let scalar = fits.max_by_key(|scalar| scalar.name().len())?;
    let digits = word.strip_suffix(scalar.name())?;
    if scalar.is_float() {
        return float(scalar, digits);
    }
    let literal = Literal::int(scalar, digits.parse().ok()?);
    // A number that is out of the type's range would wrap to another number.
    (scalar.is_int() && literal.as_int() == digits.parse().ok()).then_some(literal)
}

fn float(scalar: Scalar, digits: &str) -> Option<Literal> {
    match digits {
        "nan" => return Some(Literal::float(scalar, f64::NAN)),
        "inf" => return Some(Literal::float(scalar, f64::INFINITY)),
        "-inf" => return Some(Literal::float(scalar, f64::NEG_INFINITY)),
        _ => {}
    }
    if let Some(bits) = digits.strip_prefix("nan:") {
        let literal = Literal::from_bits(scalar, u64::from_str_radix(bits, 16).ok()?);
        return literal.as_f64().is_nan().then_some(literal);
    }
    if !digits.ends_with(|last: char| last.is_ascii_digit()) {
        return None;
    }
    // An f32 is rounded once, from its digits and not by way of an f64.
    if scalar == Scalar::F32 {
        return Some(Literal::from_bits(scalar, u64::from(digits.parse::<f32>().ok()?.to_bits())));
    }
    Some(Literal::float(scalar, digits.parse().ok()?))
}
