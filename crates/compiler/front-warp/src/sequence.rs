//! Known lists, tuples and dictionaries: Python's functions on them, and their slices.

use super::annotation::Annotation;
use super::arithmetic::{MAX_RANGE, as_int, compared};
use super::constant::KnownValue;
use gbxcule_python_names::syntax::CmpOp;

/// Python's functions on sequences.
pub(super) fn sequence_function<'a>(path: &str, args: &[KnownValue<'a>]) -> Option<KnownValue<'a>> {
    Some(match (path, args.len()) {
        ("builtins.len", 1) => KnownValue::Int(len(&args[0])? as i128),
        ("builtins.min" | "builtins.max", 1) => extreme(path, &iterated(&args[0])?)?,
        ("builtins.min" | "builtins.max", 2..) => extreme(path, args)?,
        ("builtins.range", 1..=3) => range(args)?,
        ("builtins.zip", 1..) => {
            let lists: Vec<&[KnownValue<'a>]> = args.iter().map(parts).collect::<Option<_>>()?;
            let len = lists.iter().map(|list| list.len()).min()?;
            let row = |at: usize| -> KnownValue<'a> {
                KnownValue::Sequence(lists.iter().map(|list| list[at].clone()).collect())
            };
            KnownValue::Sequence((0..len).map(row).collect())
        }
        ("builtins.enumerate", 1 | 2) => {
            let first = if args.len() == 2 { as_int(&args[1])? } else { 0 };
            let rows = parts(&args[0])?.iter().zip(first..);
            let row = |(part, at): (&KnownValue<'a>, i128)| {
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

/// Values that a loop over a value gives.
pub(super) fn iterated<'a>(value: &KnownValue<'a>) -> Option<Vec<KnownValue<'a>>> {
    match value {
        KnownValue::Sequence(parts) => Some(parts.to_vec()),
        KnownValue::Dict(items) => {
            let mut keys: Vec<KnownValue<'a>> = Vec::new();
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
pub(super) fn len(value: &KnownValue<'_>) -> Option<usize> {
    match value {
        KnownValue::Text(text) => Some(text.chars().count()),
        KnownValue::Composite(Annotation::Matrix(rows, ..), _) => rows.map(usize::from),
        KnownValue::Composite(_, parts) => Some(parts.len()),
        value => Some(iterated(value)?.len()),
    }
}

/// The first of the least, or greatest, of some numbers, compared as Python does.
fn extreme<'a>(path: &str, parts: &[KnownValue<'a>]) -> Option<KnownValue<'a>> {
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

/// `parts[start:stop:step]`, as Python counts; `None` if the step is 0.
pub(super) fn sliced<'a>(
    parts: &[KnownValue<'a>],
    [start, stop, step]: [Option<i128>; 3],
) -> Option<Vec<KnownValue<'a>>> {
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

/// The parts of a sequence.
fn parts<'a, 'b>(value: &'b KnownValue<'a>) -> Option<&'b [KnownValue<'a>]> {
    match value {
        KnownValue::Sequence(parts) => Some(parts),
        _ => None,
    }
}

/// The numbers of a `range`.
fn range<'a>(args: &[KnownValue<'a>]) -> Option<KnownValue<'a>> {
    let bounds: Vec<i128> = args.iter().map(as_int).collect::<Option<_>>()?;
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
