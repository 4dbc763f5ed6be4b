//! Text that `Print` writes: values as NVIDIA Warp prints them, or by a C format.

use crate::constant::Literal;
use crate::ty::Shape;

/// Greatest width and precision of a conversion: a format may ask for any number of characters.
const MAX_WIDTH: usize = 512;

/// Prints a value with these components on one line, and a matrix with a line for each row.
pub fn print_line(shape: &Shape, parts: &[Literal]) -> String {
    // Warp prints components of composites as floats, for all their types.
    let short = |part: &Literal| general(f64::from(part.as_f64() as f32), 6);
    let joined = |parts: &[Literal]| parts.iter().map(short).collect::<Vec<_>>().join(" ");
    match *shape {
        Shape::Scalar(_) => scalar(parts[0]) + "\n",
        Shape::Vector { .. } => joined(parts) + " \n",
        Shape::Matrix { cols, .. } => {
            parts.chunks(usize::from(cols)).map(|row| joined(row) + " \n").collect()
        }
        Shape::Quaternion(_) => joined(parts) + "\n",
        Shape::Transform(_) => format!("({}) ({})\n", joined(&parts[..3]), joined(&parts[3..])),
        _ => "<type without print implementation>\n".into(),
    }
}

fn scalar(literal: Literal) -> String {
    match literal.as_int() {
        Some(_) if literal == Literal::bool(true) => "True".into(),
        Some(_) if literal == Literal::bool(false) => "False".into(),
        Some(value) => value.to_string(),
        None => general(literal.as_f64(), 6),
    }
}

/// C's `printf` with the conversions `d i u x X o c f F e E g G` and `%`, flags, width and
/// precision; arguments that are missing or of the wrong kind print as 0.
pub fn printf(format: &str, args: &[Option<Literal>]) -> String {
    let mut text = String::new();
    let mut args = args.iter();
    let mut remaining = format;
    while let Some(at) = remaining.find('%') {
        text.push_str(&remaining[..at]);
        let after = &remaining[at + 1..];
        let end =
            after.find(|c: char| c.is_ascii_alphabetic() && !"hlLqjzt".contains(c) || c == '%');
        let Some(end) = end else {
            remaining = &remaining[at..];
            break;
        };
        let (spec, conversion) = (&after[..end], after.as_bytes()[end] as char);
        if conversion == '%' {
            text.push('%');
        } else {
            let arg = args.next().copied().flatten().unwrap_or(Literal::bool(false));
            text.push_str(&converted(spec, conversion, arg));
        }
        remaining = &after[end + 1..];
    }
    text + remaining
}

fn converted(spec: &str, conversion: char, arg: Literal) -> String {
    let spec = spec.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let digits = spec.trim_start_matches(['-', '+', ' ', '#', '0']);
    let flags = &spec[..spec.len() - digits.len()];
    let (width, precision) = digits.split_once('.').map_or((digits, None), |(w, p)| (w, Some(p)));
    let number = |digits: &str| digits.parse::<usize>().unwrap_or(0).min(MAX_WIDTH);
    let (width, precision) = (number(width), precision.map(number));
    let (real, int) = (arg.as_f64(), arg.as_int().unwrap_or_default());
    let mut text = match conversion {
        'd' | 'i' => int.to_string(),
        'u' => arg.bits().to_string(),
        'x' => format!("{:x}", arg.bits()),
        'X' => format!("{:X}", arg.bits()),
        'o' => format!("{:o}", arg.bits()),
        'c' => char::from(int as u8).to_string(),
        'f' | 'F' => format!("{real:.*}", precision.unwrap_or(6)),
        'e' | 'E' => exponential(real, precision.unwrap_or(6)),
        _ => general(real, precision.unwrap_or(6)),
    };
    if real.is_nan() || real.is_infinite() {
        text = text.to_lowercase();
    }
    if conversion.is_ascii_uppercase() {
        text = text.to_uppercase();
    }
    let signed = "diFfeEgG".contains(conversion) && !text.starts_with('-');
    if signed && flags.contains('+') {
        text.insert(0, '+');
    } else if signed && flags.contains(' ') {
        text.insert(0, ' ');
    }
    let missing = usize::saturating_sub(width, text.chars().count());
    if flags.contains('-') {
        text + &" ".repeat(missing)
    } else if flags.contains('0') && real.is_finite() {
        let sign = usize::from(text.starts_with(['-', '+', ' ']));
        text[..sign].to_string() + &"0".repeat(missing) + &text[sign..]
    } else {
        " ".repeat(missing) + &text
    }
}

/// Formats a float for `%e`.
fn exponential(value: f64, precision: usize) -> String {
    if !value.is_finite() {
        return value.to_string().to_lowercase();
    }
    let text = format!("{value:.precision$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ('-', exponent),
        None => ('+', exponent),
    };
    format!("{digits}e{sign}{exponent:0>2}")
}

/// Formats a float for `%g`.
fn general(value: f64, precision: usize) -> String {
    if !value.is_finite() {
        return value.to_string().to_lowercase();
    }
    let precision = precision.max(1);
    let text = exponential(value, precision - 1);
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trimmed = |digits: &str| match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => digits.to_string(),
    };
    if exponent < -4 || exponent >= precision as i32 {
        let tail = &text[digits.len()..];
        return trimmed(digits) + tail;
    }
    let decimals = (precision as i32 - 1 - exponent).max(0) as usize;
    trimmed(&format!("{value:.decimals$}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ty::Scalar;

    #[test]
    fn general_is_cs_percent_g() {
        let cases = [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (0.1, "0.1"),
            (123_456.0, "123456"),
            (1_234_567.0, "1.23457e+06"),
            (1e-5, "1e-05"),
            (0.000_123_456_7, "0.000123457"),
            (999_999.5, "1e+06"),
            (1e100, "1e+100"),
            (f64::INFINITY, "inf"),
            (f64::NAN, "nan"),
        ];
        for (value, text) in cases {
            assert_eq!(general(value, 6), text);
        }
    }

    #[test]
    fn printf_knows_flags_width_and_precision() {
        let int = |value| Some(Literal::int(Scalar::I32, value));
        let real = |value| Some(Literal::float(Scalar::F64, value));
        assert_eq!(
            printf("a %d, %5d|%-5d|%05d\n", &[int(-1), int(42), int(42), int(-42)]),
            "a -1,    42|42   |-0042\n"
        );
        assert_eq!(
            printf("%.2f %8.3f %e %g %%", &[real(1.005), real(-2.5), real(12345.678), real(0.5)]),
            "1.00   -2.500 1.234568e+04 0.5 %"
        );
        assert_eq!(printf("%llx %+d %u", &[int(-1), int(3), int(-1)]), "ffffffff +3 4294967295");
        assert_eq!(printf("100%", &[]), "100%");
    }
}
