//! Literals.

use super::expr::{Expr, Level};
use gbxcule_ir::constant::Literal;
use gbxcule_ir::ty::Scalar;

/// Writes a literal as an operand: an integer without its type, if C++ makes the value right
/// anyway.
pub(super) fn literal(literal: Literal) -> Expr {
    match literal.scalar() {
        Scalar::Bool => Expr::atom(if literal.bits() != 0 { "true" } else { "false" }),
        Scalar::F32 | Scalar::F64 => float(literal),
        Scalar::F16 | Scalar::Bf16 => small_float(literal),
        scalar => integer(scalar, literal.as_int().unwrap_or_default()),
    }
}

fn integer(scalar: Scalar, value: i128) -> Expr {
    let exact = matches!(scalar, Scalar::I32 | Scalar::U32);
    let lowest = match scalar {
        Scalar::I32 => Some(i128::from(i32::MIN)),
        Scalar::I64 => Some(i128::from(i64::MIN)),
        _ => None,
    };
    if Some(value) == lowest {
        // C++ has no negative literals, and no literal for 2^31 as an int.
        let text = format!("(-{} - 1)", -(value + 1));
        return Expr::atom(text).exact_if(exact);
    }
    let suffix = if matches!(scalar, Scalar::U32 | Scalar::U64) { "u" } else { "" };
    signed([itoa::Buffer::new().format(value), suffix].concat()).exact_if(exact)
}

fn float(literal: Literal) -> Expr {
    let (name, suffix, value) = match literal.scalar() {
        Scalar::F32 => ("float", "f", f64::from(f32::from_bits(literal.bits() as u32))),
        _ => ("double", "", literal.as_f64()),
    };
    if value.is_nan() {
        let usual = Literal::float(literal.scalar(), f64::NAN) == literal;
        let word = if name == "float" { "uint32_t" } else { "uint64_t" };
        return Expr::atom(if usual {
            format!("gbx::nan<{name}>()")
        } else {
            format!("gbx::bits<{name}>({word}({:#x}u))", literal.bits())
        });
    }
    if value.is_infinite() {
        let minus = if value < 0.0 { "-" } else { "" };
        return signed(format!("{minus}gbx::infinity<{name}>()"));
    }
    let digits = match literal.scalar() {
        Scalar::F32 => format!("{:?}", f32::from_bits(literal.bits() as u32)),
        _ => format!("{value:?}"),
    };
    signed(digits + suffix)
}

fn small_float(literal: Literal) -> Expr {
    let value = literal.as_f64();
    let (name, convert) = match literal.scalar() {
        Scalar::F16 => ("Half", "gbx::to_half"),
        _ => ("Bfloat16", "gbx::to_bfloat16"),
    };
    Expr::atom(if value.is_finite() {
        // The conversion is exact: every f16 and bf16 is an f32.
        format!("{convert}({:?}f)", value as f32)
    } else {
        format!("{name}{{{:#x}}}", literal.bits())
    })
}

fn signed(text: String) -> Expr {
    let level = if text.starts_with('-') { Level::Unary } else { Level::Primary };
    Expr { level, ..Expr::atom(text) }
}

/// Writes a text as a C string.
pub(super) fn string(text: &str) -> String {
    let mut quoted = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => quoted.extend(['\\', char::from(byte)]),
            b'\n' => quoted.push_str("\\n"),
            b' '..=b'~' => quoted.push(char::from(byte)),
            // An octal escape of three digits can't run into the next character, as a hexadecimal
            // one can.
            _ => quoted.push_str(&format!("\\{byte:03o}")),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_what_cxx_reads_back() {
        let int = |scalar, value| literal(Literal::int(scalar, value)).text;
        let float = |scalar, value| literal(Literal::float(scalar, value)).text;
        assert_eq!(int(Scalar::I32, i128::from(i32::MIN)), "(-2147483647 - 1)");
        assert_eq!(
            (int(Scalar::I32, -5), int(Scalar::U32, 5), int(Scalar::U8, 5)),
            ("-5".into(), "5u".into(), "5".into())
        );
        assert_eq!(
            (float(Scalar::F32, 0.1), float(Scalar::F64, 1e300)),
            ("0.1f".into(), "1e300".into())
        );
        assert_eq!(
            (float(Scalar::F32, 1.0), float(Scalar::F32, 1e-8)),
            ("1.0f".into(), "1e-8f".into())
        );
        assert_eq!(float(Scalar::F32, f64::NEG_INFINITY), "-gbx::infinity<float>()");
        assert_eq!(float(Scalar::F16, 0.5), "gbx::to_half(0.5f)");
    }

    #[test]
    fn strings_are_escaped() {
        assert_eq!(string("a\"\\\n\u{e9}1"), "\"a\\\"\\\\\\n\\303\\2511\"");
    }
}
