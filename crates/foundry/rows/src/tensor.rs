//! Numbers of an array as JSON, from which the same bits can be read.

use gbxcule_ir::{Literal, Scalar};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// An array's numbers in the order of memory.
#[derive(Clone, PartialEq, Debug)]
pub struct Tensor {
    /// The parameter.
    pub name: String,
    /// Elements in each dimension; an element may be several numbers.
    pub shape: Vec<u32>,
    /// The numbers.
    pub numbers: Vec<Literal>,
}

/// Returns `[{"name": .., "shape": .., "values": ..}, ..]`, with floats in as many digits as their
/// width needs.
pub fn to_json(tensors: &[Tensor]) -> String {
    let mut out = String::from("[");
    for (at, tensor) in tensors.iter().enumerate() {
        let comma = if at == 0 { "" } else { ", " };
        _ = write!(
            out,
            "{comma}{{\"name\": {}, \"shape\": {:?}, \"values\": [",
            json!(tensor.name),
            tensor.shape
        );
        for (at, number) in tensor.numbers.iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            _ = write!(out, "{comma}{}", spelled(*number));
        }
        out += "]}";
    }
    out + "]"
}

/// Returns a number in as many digits as its width needs.
pub fn spelled(number: Literal) -> String {
    match number.scalar() {
        Scalar::F32 => format!("{:?}", number.as_f64() as f32),
        scalar if scalar.is_float() => format!("{:?}", number.as_f64()),
        _ => number.as_int().unwrap_or_default().to_string(),
    }
}

/// Reads the values by name from a text.
pub fn from_json(text: &str) -> Option<Vec<(String, Vec<Value>)>> {
    let arrays: Vec<Map<String, Value>> = serde_json::from_str(text).ok()?;
    let one = |array: Map<String, Value>| {
        let name = array.get("name")?.as_str()?.to_owned();
        Some((name, array.get("values")?.as_array()?.clone()))
    };
    arrays.into_iter().map(one).collect()
}

/// Converts a number of a text to a scalar; `None` if it doesn't fit the type.
pub fn literal(value: &Value, scalar: Scalar) -> Option<Literal> {
    if scalar.is_float() {
        return Some(Literal::float(scalar, value.as_f64()?));
    }
    let signed = value.as_i64().map(i128::from);
    Some(Literal::int(scalar, signed.or_else(|| value.as_u64().map(i128::from))?))
}

/// Returns the unit in the last place of a float of size 1.
pub fn epsilon(of: Scalar) -> Option<f64> {
    match of {
        Scalar::F64 => Some(f64::EPSILON),
        Scalar::F32 => Some(f64::from(f32::EPSILON)),
        Scalar::F16 => Some(2f64.powi(-10)),
        Scalar::Bf16 => Some(2f64.powi(-7)),
        _ => None,
    }
}

/// Returns the size of the largest finite number.
pub fn largest(numbers: &[Literal]) -> f64 {
    let sizes = numbers.iter().map(|it| it.as_f64().abs());
    sizes.filter(|it| it.is_finite()).fold(0.0, f64::max)
}

/// Returns the distance of two numbers in units in the last place. For floats the unit is that of
/// the largest of both numbers and 1; for integers the distance is 0 or infinity.
pub fn units(left: Literal, right: Literal) -> f64 {
    let (l, r) = (left.as_f64(), right.as_f64());
    if left == right || left.scalar().is_float() && l == r {
        return 0.0;
    }
    let Some(epsilon) = epsilon(left.scalar()) else { return f64::INFINITY };
    let units = (l - r).abs() / (epsilon * l.abs().max(r.abs()).max(1.0));
    if units.is_nan() { f64::INFINITY } else { units }
}
