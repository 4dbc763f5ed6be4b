//! Strings that the text says: f-strings, and methods of strings. Programs name tables and
//! variants of kernels by them.

use super::arithmetic::as_int;
use super::constant::{Evaluation, KnownValue, Unit};
use super::scope::ScopeId;
use super::syntax::{self, Expr, FormattedPart};

impl<'a> Unit<'a> {
    /// Value of an f-string.
    pub(super) fn formatted(&self, expr: &'a Expr, scope: ScopeId) -> Evaluation<'a> {
        let unknown = || self.needs_python(expr, "this string is only known when Python runs");
        let mut text = String::new();
        for part in syntax::formatted_parts(expr).ok_or_else(unknown)? {
            match part {
                FormattedPart::Text(part) => text += part,
                FormattedPart::Value(value) => {
                    text += &written(&self.known(value, scope)?).ok_or_else(unknown)?;
                }
            }
        }
        Ok(KnownValue::Text(text.into()))
    }
}

/// Text that `str` makes of a value.
pub(super) fn written(value: &KnownValue<'_>) -> Option<String> {
    Some(match value {
        KnownValue::Text(text) => text.to_string(),
        KnownValue::Bool(true) => "True".into(),
        KnownValue::Bool(false) => "False".into(),
        KnownValue::None => "None".into(),
        value => as_int(value)?.to_string(),
    })
}

/// Result of a method of a string.
pub(super) fn method<'a>(
    text: &str,
    name: &str,
    args: &[KnownValue<'a>],
) -> Option<KnownValue<'a>> {
    let new = |text: String| Some(KnownValue::Text(text.into()));
    match (name, args) {
        ("upper", []) => new(text.to_uppercase()),
        ("lower", []) => new(text.to_lowercase()),
        ("strip", []) => new(text.trim().to_owned()),
        ("startswith", [KnownValue::Text(part)]) => {
            Some(KnownValue::Bool(text.starts_with(&**part)))
        }
        ("endswith", [KnownValue::Text(part)]) => Some(KnownValue::Bool(text.ends_with(&**part))),
        ("format", values) => {
            let mut values = values.iter();
            let mut parts = text.split("{}");
            let mut made = parts.next().unwrap_or_default().to_owned();
            for part in parts {
                made += &written(values.next()?)?;
                made += part;
            }
            (!made.contains(['{', '}'])).then(|| new(made))?
        }
        _ => None,
    }
}
