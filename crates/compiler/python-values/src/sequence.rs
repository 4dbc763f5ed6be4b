//! Python's functions on known lists, tuples and dictionaries, and slices of these.

use crate::arithmetic::{MAX_RANGE, compared};
use crate::value::{Foreign, KnownValue};
use gbxcule_python_names::syntax::CmpOp;

/// Result of Python's function on sequences, by its path.
pub(crate) fn sequence_function<'a, F: Foreign>(
    path: &str,
    args: &[KnownValue<'a, F>],
) -> Option<KnownValue<'a, F>> {
    Some(match (path, args.len()) {
        ("builtins.len", 1) => KnownValue::Int(len(&args[0])? as i128),
        ("builtins.min" | "builtins.max", 1) => extreme(path, &iterated(&args[0])?)?,
        ("builtins.min" | "builtins.max", 2..) => extreme(path, args)?,
        ("builtins.range", 1..=3) => range(args)?,
        ("builtins.zip", 1..) => {
            let lists: Vec<&[KnownValue<'a, F>]> = args.iter().map(parts).collect::<Option<_>>()?;
            let len = lists.iter().map(|list| list.len()).min()?;
            let row = |at: usize| -> KnownValue<'a, F> {
                KnownValue::Sequence(lists.iter().map(|list| list[at].clone()).collect())
            };
            KnownValue::Sequence((0..len).map(row).collect())
        }
        ("builtins.enumerate", 1 | 2) => {
            let first = if args.len() == 2 { args[1].as_int()? } else { 0 };
            let rows = parts(&args[0])?.iter().zip(first..);
            let row = |(part, at): (&KnownValue<'a, F>, i128)| {
                KnownValue::Sequence([KnownValue::Int(at), part.clone()].into())
            };
            KnownValue::Sequence(rows.map(row).collect())
        }
        ("builtins.reversed", 1) => {
            KnownValue::Sequence(parts(&args[0])?.iter().rev().cloned().collect())
        }
        ("builtins.tuple" | "builtins.list", 1) => match &args[0] {
            KnownValue::Sequence(parts) => KnownValue::Sequence(parts.clone()),
            _ => return None,
        },
        _ => return None,
    })
}

/// Values that a loop over a value binds.
pub fn iterated<'a, F: Foreign>(value: &KnownValue<'a, F>) -> Option<Vec<KnownValue<'a, F>>> {
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
pub fn len<F: Foreign>(value: &KnownValue<'_, F>) -> Option<usize> {
    match value {
        KnownValue::Text(text) => Some(text.chars().count()),
        KnownValue::Foreign(value) => value.part_count(),
        value => Some(iterated(value)?.len()),
    }
}

/// The least or greatest of some numbers, and the first of equal ones.
fn extreme<'a, F: Foreign>(path: &str, parts: &[KnownValue<'a, F>]) -> Option<KnownValue<'a, F>> {
    let op = if path.ends_with("min") { CmpOp::Lt } else { CmpOp::Gt };
    let (first, rest) = parts.split_first()?;
    first.as_f64()?;
    rest.iter()
        .try_fold(first, |best, part| {
            part.as_f64()?;
            Some(if compared(op, part, best)? { part } else { best })
        })
        .cloned()
}

/// Parts of `parts[start:stop:step]`; `None` if the step is 0.
pub(crate) fn sliced<'a, F: Foreign>(
    parts: &[KnownValue<'a, F>],
    [start, stop, step]: [Option<i128>; 3],
) -> Option<Vec<KnownValue<'a, F>>> {
    let (len, step) = (parts.len() as i128, step.unwrap_or(1));
    let (low, high) = if step < 0 { (-1, len - 1) } else { (0, len) };
    let bound = |at: i128| (if at < 0 { at.saturating_add(len) } else { at }).clamp(low, high);
    let (first, last) = if step < 0 { (high, low) } else { (low, high) };
    let (mut at, stop) = (start.map_or(first, bound), stop.map_or(last, bound));
    let mut found = Vec::new();
    while step != 0 && (if step > 0 { at < stop } else { at > stop }) {
        found.push(parts[usize::try_from(at).ok()?].clone());
        at = at.saturating_add(step);
    }
    (step != 0).then_some(found)
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

/// The parts of a sequence.
fn parts<'a, 'b, F>(value: &'b KnownValue<'a, F>) -> Option<&'b [KnownValue<'a, F>]> {
    match value {
        KnownValue::Sequence(parts) => Some(parts),
        _ => None,
    }
}

/// The numbers of a `range`.
fn range<'a, F: Foreign>(args: &[KnownValue<'a, F>]) -> Option<KnownValue<'a, F>> {
    let bounds: Vec<i128> = args.iter().map(KnownValue::as_int).collect::<Option<_>>()?;
    let (start, stop, step) = match bounds[..] {
        [stop] => (0, stop, 1),
        [start, stop] => (start, stop, 1),
        [start, stop, step] => (start, stop, step),
        _ => return None,
    };
    let mut numbers = Vec::new();
    let mut next = start;
    while step != 0 && (if step > 0 { next < stop } else { next > stop }) {
        if numbers.len() == MAX_RANGE {
            return None;
        }
        numbers.push(KnownValue::Int(next));
        next = next.checked_add(step)?;
    }
    (step != 0).then(|| KnownValue::Sequence(numbers.into()))
}
