//! Parts of known lists, tuples and dictionaries.

use crate::value::{DialectValue, KnownValue};

/// Values that a loop over a value binds.
pub fn iterated<'a, F: DialectValue>(value: &KnownValue<'a, F>) -> Option<Vec<KnownValue<'a, F>>> {
    match value {
        KnownValue::Sequence(parts) => Some(parts.to_vec()),
        KnownValue::Dict(items) => {
            let mut keys: Vec<KnownValue<'a, F>> = Vec::new();
            for (key, _) in items.iter() {
                if !keys.contains(key) {
                    keys.push(key.clone());
                }
            }
            Some(keys)
        }
        _ => None,
    }
}

/// Number of parts of a value.
pub fn len<F: DialectValue>(value: &KnownValue<'_, F>) -> Option<usize> {
    match value {
        KnownValue::Text(text) => Some(text.chars().count()),
        KnownValue::Dialect(value) => value.part_count(),
        value => Some(iterated(value)?.len()),
    }
}

/// Part of a sequence at a position, which counts from the end if it is negative.
pub fn part<'a, F: Clone>(
    parts: &[KnownValue<'a, F>],
    position: i128,
) -> Option<KnownValue<'a, F>> {
    let len = parts.len() as i128;
    let position = if position < 0 { position.saturating_add(len) } else { position };
    parts.get(usize::try_from(position).ok()?).cloned()
}
