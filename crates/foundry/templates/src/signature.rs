//! Writes the text of an instance: decides conditions, fills holes, writes the signature.
//!
//! Holes: `$params` is the list of parameters, `$tid(i, j)` the thread's indices and its guard,
//! `$0.5` a number of the instance's floats, `$real`, `$vec3` and their like are types, `$(n-1)` is
//! the value of a size, and any other `$name` a text of the header.

use crate::instance::Filling;
use crate::parameter::Parameter;
use crate::rename::{renamed_code, renamed_text};
use crate::style::ArrayForm;
use std::fmt::Write as _;

/// Greatest number of columns of a signature in one line.
const COLUMNS: usize = 100;

/// Greatest length of a literal that stays as it is for all types.
const MAX_DIGITS: usize = 10;

/// Writes the text of an instance.
pub(crate) fn text(filling: &Filling<'_>) -> Result<String, String> {
    let mut out = String::new();
    let (mut in_docstring, mut blank) = (false, 0);
    for line in filling.template.lines.iter().filter(|line| filling.holds(&line.condition)) {
        let text = fill(filling, &line.text)?;
        let quotes = text.matches("\"\"\"").count();
        let is_docstring = in_docstring || quotes > 0;
        in_docstring ^= quotes % 2 == 1;
        if is_docstring {
            if filling.style.has_docstring {
                _ = writeln!(out, "{}", renamed_text(&text, &filling.names));
            }
            continue;
        }
        blank = if text.is_empty() { blank + 1 } else { 0 };
        let (code, comment) = text.split_once('#').unwrap_or((&text, ""));
        let has_comment = filling.style.has_comments && !comment.is_empty();
        if blank > 2 || (code.trim().is_empty() && !text.is_empty() && !has_comment) {
            continue;
        }
        let code =
            renamed_code(code.trim_end_matches(|it| it == ' ' && !has_comment), &filling.names);
        match has_comment {
            true => _ = writeln!(out, "{code}#{}", renamed_text(comment, &filling.names)),
            false => _ = writeln!(out, "{code}"),
        }
    }
    Ok(out)
}

/// Fills the holes of a text.
pub(crate) fn fill(filling: &Filling<'_>, text: &str) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        rest = if after.starts_with(|it: char| it.is_ascii_digit()) {
            let length = after
                .find(|it: char| !(it.is_ascii_alphanumeric() || it == '.'))
                .unwrap_or(after.len());
            let mut length = length;
            // The sign of an exponent belongs to the number.
            if after[..length].ends_with('e') && after[length..].starts_with('-') {
                let rest = &after[length + 1..];
                length += 1 + rest.find(|it: char| !it.is_ascii_digit()).unwrap_or(rest.len());
            }
            out.push_str(&number(filling, &after[..length]));
            &after[length..]
        } else if after.starts_with('(') {
            let end = after.find(')').ok_or_else(|| format!("`{text}` lacks a `)`"))?;
            let value = crate::expression::Expression::parse(&after[1..end])?;
            let value = value.value(&|name| filling.size(name, false))?;
            _ = write!(out, "{value}");
            &after[end + 1..]
        } else {
            let is_name = |it: char| it.is_ascii_alphanumeric() || it == '_';
            let length = after.find(|it| !is_name(it)).unwrap_or(after.len());
            let (name, after) = after.split_at(length);
            match name {
                "params" => {
                    parameters(filling, &mut out)?;
                    after
                }
                "tid" => {
                    let end = after.find(')').ok_or_else(|| format!("`{text}` lacks a `)`"))?;
                    let margin = before.len() - before.trim_start().len();
                    threads(filling, &mut out, &after[1..end], margin);
                    &after[end + 1..]
                }
                _ => {
                    out.push_str(&hole(filling, name)?);
                    after
                }
            }
        };
    }
    out.push_str(rest);
    Ok(out)
}

/// Returns the text of a named hole.
fn hole(filling: &Filling<'_>, name: &str) -> Result<String, String> {
    if let Some(ty) = type_text(filling, name) {
        return Ok(ty);
    }
    let texts = filling.template.texts.iter();
    let given_text =
        texts.clone().find(|(key, condition, _)| key == name && filling.holds(condition));
    match (given_text, filling.chosen(name)) {
        (Some((_, _, text)), _) => fill(filling, text),
        (None, Some(word)) => Ok(word.into()),
        (None, None) => Err(format!("nothing says what `${name}` is")),
    }
}

/// Returns the chosen float: `float32` unless the template varies it.
fn real<'a>(filling: &'a Filling<'_>) -> &'a str {
    filling.chosen("real").unwrap_or("float32")
}

/// Returns a number as a literal of the chosen float.
fn number(filling: &Filling<'_>, literal: &str) -> String {
    let real = real(filling);
    // Digits that the type can't hold would say nothing.
    let is_long = real != "float64" && literal.len() > MAX_DIGITS;
    let short = literal.parse::<f32>().ok().filter(|_| is_long).map(|it| format!("{it:?}"));
    let literal = short.as_deref().unwrap_or(literal);
    if real == "float32" { literal.into() } else { format!("wp.{real}({literal})") }
}

/// Returns the text of a type, if a name denotes a type that depends on the instance.
pub(crate) fn type_text(filling: &Filling<'_>, name: &str) -> Option<String> {
    let is_explicit = filling.style.is_explicit;
    let shapes = [
        "vec2",
        "vec3",
        "vec4",
        "mat22",
        "mat33",
        "mat44",
        "quat",
        "transform",
        "spatial_vector",
        "spatial_matrix",
    ];
    let suffix = match real(filling) {
        "float64" => "d",
        "float16" => "h",
        _ if is_explicit => "f",
        _ => "",
    };
    Some(match name {
        "real" => match real(filling) {
            "float32" if !is_explicit => "float".into(),
            other => format!("wp.{other}"),
        },
        "int" => if is_explicit { "wp.int32" } else { "int" }.into(),
        name if shapes.contains(&name) => format!("wp.{name}{suffix}"),
        _ => return None,
    })
}

/// Returns the type of a parameter's value or element.
pub(crate) fn element_text(filling: &Filling<'_>, parameter: &Parameter) -> Result<String, String> {
    let ty = &parameter.ty;
    let scalars = [
        "int8", "int16", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
        "float64", "bfloat16", "vec2i", "vec3i", "vec4i",
    ];
    match type_text(filling, ty) {
        Some(text) => Ok(text),
        None if scalars.contains(&&**ty) => Ok(format!("wp.{ty}")),
        None if ty.starts_with('$') => fill(filling, ty),
        None => Ok(ty.clone()),
    }
}

fn parameters(filling: &Filling<'_>, out: &mut String) -> Result<(), String> {
    let texts = filling.parameters.iter().map(|it| declaration(filling, it));
    write_list(&texts.collect::<Result<Vec<_>, _>>()?, out);
    Ok(())
}

/// Returns a parameter with its type.
pub(crate) fn declaration(
    filling: &Filling<'_>,
    (parameter, name): &(Parameter, String),
) -> Result<String, String> {
    let element = element_text(filling, parameter)?;
    let dims = parameter.shape.len();
    let array = if dims > 1 { format!("wp.array{dims}d") } else { "wp.array".into() };
    Ok(match filling.style.arrays {
        _ if dims == 0 => format!("{name}: {element}"),
        ArrayForm::Bracket => format!("{name}: {array}[{element}]"),
        ArrayForm::Dimensions if dims > 1 => {
            format!("{name}: wp.array(dtype={element}, ndim={dims})")
        }
        _ => format!("{name}: {array}(dtype={element})"),
    })
}

/// Writes declarations, in one line if they fit.
pub(crate) fn write_list(texts: &[String], out: &mut String) {
    let one_line = texts.join(", ");
    let line = out.rsplit('\n').next().unwrap_or_default().len();
    if line + one_line.len() + 2 <= COLUMNS {
        out.push_str(&one_line);
    } else {
        out.push('\n');
        texts.iter().for_each(|text| _ = writeln!(out, "    {text},"));
    }
}

/// Writes a thread's indices, and its return if it has no work.
fn threads(filling: &Filling<'_>, out: &mut String, indices: &str, margin: usize) {
    _ = write!(out, "{indices} = wp.tid()");
    let names: Vec<&str> = indices.split(", ").collect();
    let guards = filling.guards(&names);
    if guards.is_empty() {
        return;
    }
    let margin = " ".repeat(margin);
    let guard = guards.join(" or ");
    if filling.style.has_comments && names.len() == 1 {
        _ = write!(out, "  # the grid is rounded up to whole blocks");
    }
    _ = write!(out, "\n{margin}if {guard}:\n{margin}    return\n");
}
