//! Formats of `Print`: C's, with lengths and casts that fit the arguments.

use super::expr::Expr;
use gbxcule_ir::ty::Scalar;

/// Returns the format as C's `printf` needs it, and its arguments. An argument that is missing or
/// of the wrong kind becomes 0.
pub(super) fn printf(format: &str, args: &[(Expr, Option<Scalar>)]) -> (String, Vec<String>) {
    let (mut text, mut texts) = (String::new(), Vec::new());
    let mut args = args.iter();
    let mut tail = format;
    while let Some(at) = tail.find('%') {
        text.push_str(&tail[..at]);
        let after = &tail[at + 1..];
        let ends = |c: char| c == '%' || c.is_ascii_alphabetic() && !"hlLqjzt".contains(c);
        let Some(end) = after.find(ends) else {
            // No conversion follows: the rest of the format is plain text.
            return (text + "%%" + &after.replace('%', "%%"), texts);
        };
        let conversion = after.as_bytes()[end] as char;
        if conversion == '%' {
            text.push_str("%%");
        } else {
            let flags: String =
                after[..end].chars().filter(|&c| "-+ #.0123456789".contains(c)).collect();
            let arg = args.next().map(|(expr, scalar)| (expr, *scalar));
            let (conversion, value) = argument(conversion, arg);
            text.push_str(&format!("%{flags}{conversion}"));
            texts.push(value);
        }
        tail = &after[end + 1..];
    }
    (text + tail, texts)
}

fn argument(conversion: char, arg: Option<(&Expr, Option<Scalar>)>) -> (String, String) {
    let arg = arg.and_then(|(expr, scalar)| scalar.map(|scalar| (expr, scalar)));
    match conversion {
        'd' | 'i' | 'u' | 'x' | 'X' | 'o' | 'c' => {
            let Some((expr, of)) = arg.filter(|(_, of)| !of.is_float()) else {
                return (conversion.to_string(), "0".into());
            };
            let plain = match conversion {
                'd' | 'i' => of.bytes() <= 2 || of == Scalar::I32,
                'c' => false,
                _ => of.bytes() <= 4 && !of.is_signed_int(),
            };
            if plain {
                return (conversion.to_string(), expr.text.clone());
            }
            match conversion {
                'c' => ("c".into(), format!("int({})", expr.text)),
                'd' | 'i' => (format!("ll{conversion}"), format!("(long long)({})", expr.text)),
                // The bits are taken in the argument's own width.
                _ => {
                    let unsigned = match of.bytes() {
                        1 => "uint8_t",
                        2 => "uint16_t",
                        4 => "uint32_t",
                        _ => "uint64_t",
                    };
                    (
                        format!("ll{conversion}"),
                        format!("(unsigned long long){unsigned}({})", expr.text),
                    )
                }
            }
        }
        _ => {
            let conversion = if "fFeEgG".contains(conversion) { conversion } else { 'g' };
            let value = arg.map_or("0.0".into(), |(expr, of)| match of {
                Scalar::F16 | Scalar::Bf16 => format!("double(float({}))", expr.text),
                Scalar::F64 => expr.text.clone(),
                _ => format!("double({})", expr.text),
            });
            (conversion.to_string(), value)
        }
    }
}
