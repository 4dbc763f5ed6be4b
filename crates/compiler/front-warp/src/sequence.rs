//! Known lists, tuples and dictionaries: Python's functions on them, and their slices.

use super::annotation::Annotation;
use super::arithmetic::{MAX_RANGE, arithmetic, as_int, compared, exact};
use super::constant::KnownValue;
use super::fold::python_value;
use super::syntax::{CmpOp, Operator};
use std::cmp::Ordering;

/// Python's functions on sequences.
pub(super) fn sequence_function<'a>(path: &str, args: &[KnownValue<'a>]) -> Option<KnownValue<'a>> {
    Some(match (path, args.len()) {
        ("builtins.sum", 1 | 2) => {
            let first = args.get(1).cloned().unwrap_or(KnownValue::Int(0));
            let mut parts = iterated(&args[0])?.into_iter();
            parts.try_fold(first, |sum, part| arithmetic(Operator::Add, &sum, &part))?
        }
        ("math.prod", 1) => {
            let mut parts = iterated(&args[0])?.into_iter();
            parts
                .try_fold(KnownValue::Int(1), |all, part| arithmetic(Operator::Mult, &all, &part))?
        }
        ("builtins.min" | "builtins.max", 1) => extreme(path, &iterated(&args[0])?)?,
        ("builtins.min" | "builtins.max", 2..) => extreme(path, args)?,
        ("builtins.sorted", 1) => KnownValue::Sequence(sorted(&args[0], false)?.into()),
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
        ("itertools.product", 1..) => product(args)?,
        ("builtins.any" | "builtins.all", 1) => {
            let any = path.ends_with("any");
            let mut truths = Vec::new();
            for part in iterated(&args[0])? {
                truths.push(part.truth()?);
            }
            KnownValue::Bool(truths.contains(&any) == any)
        }
        ("builtins.tuple" | "builtins.list", 1) => match &args[0] {
            KnownValue::Sequence(parts) => KnownValue::Sequence(parts.clone()),
            KnownValue::Dict(items) => {
                KnownValue::Sequence(items.iter().map(|(key, _)| key.clone()).collect())
            }
            value @ (KnownValue::Composite(..) | KnownValue::NumberArray(_)) => {
                KnownValue::Sequence(iterated(value)?.into())
            }
            _ => return None,
        },
        _ => return collection_function(path, args),
    })
}

/// Python's sets, dictionaries and pairs.
fn collection_function<'a>(path: &str, args: &[KnownValue<'a>]) -> Option<KnownValue<'a>> {
    Some(match (path, args.len()) {
        ("builtins.set" | "builtins.frozenset", 1) => {
            each_once(KnownValue::Sequence(iterated(&args[0])?.into()))
        }
        ("builtins.divmod", 2) => {
            let parts = [Operator::FloorDiv, Operator::Mod];
            let parts = parts.map(|op| arithmetic(op, &args[0], &args[1]));
            KnownValue::Sequence(parts.into_iter().collect::<Option<_>>()?)
        }
        ("builtins.dict", 0) => KnownValue::Dict(Vec::new().into()),
        ("builtins.dict", 1) => match &args[0] {
            dict @ KnownValue::Dict(_) => dict.clone(),
            pairs => KnownValue::Dict(
                iterated(pairs)?
                    .iter()
                    .map(|pair| match pair {
                        KnownValue::Sequence(pair) => match &**pair {
                            [key, value] => Some((key.clone(), value.clone())),
                            _ => None,
                        },
                        _ => None,
                    })
                    .collect::<Option<_>>()?,
            ),
        },
        _ => return None,
    })
}

/// Values that a loop over a value gives.
pub(super) fn iterated<'a>(value: &KnownValue<'a>) -> Option<Vec<KnownValue<'a>>> {
    match value {
        KnownValue::Sequence(parts) => Some(parts.to_vec()),
        KnownValue::Dict(items) => match dictionary_method(items, "keys", &[])? {
            KnownValue::Sequence(keys) => Some(keys.to_vec()),
            _ => None,
        },
        KnownValue::NumberArray(array) => Some(array.rows()),
        KnownValue::Composite(Annotation::Vector(..) | Annotation::Quaternion(_), parts) => {
            Some(parts.iter().map(|part| python_value(*part)).collect())
        }
        _ => None,
    }
}

/// Number of parts of a value.
pub(super) fn len(value: &KnownValue<'_>) -> Option<usize> {
    match value {
        KnownValue::Text(text) => Some(text.chars().count()),
        KnownValue::Composite(Annotation::Matrix(rows, ..), _) => rows.map(usize::from),
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

/// Result of `index` and `count` of a list.
pub(super) fn found<'a>(
    parts: &[KnownValue<'a>],
    name: &str,
    args: &[KnownValue<'a>],
) -> Option<KnownValue<'a>> {
    let [wanted] = args else { return None };
    let is_equal = |part: &KnownValue<'a>| compared(CmpOp::Eq, part, wanted);
    let equal: Vec<bool> = parts.iter().map(is_equal).collect::<Option<_>>()?;
    let number = match name {
        "index" => equal.iter().position(|is| *is)?,
        _ => equal.iter().filter(|is| **is).count(),
    };
    Some(KnownValue::Int(number as i128))
}

/// Values in the order of their numbers or texts.
pub(super) fn sorted_by<'a>(
    mut pairs: Vec<(KnownValue<'a>, KnownValue<'a>)>,
) -> Option<Vec<KnownValue<'a>>> {
    let texts = |key: &KnownValue<'a>| matches!(key, KnownValue::Text(_));
    if pairs.iter().all(|(_, key)| texts(key)) {
        pairs.sort_by(|(_, one), (_, other)| match (one, other) {
            (KnownValue::Text(one), KnownValue::Text(other)) => one.cmp(other),
            _ => Ordering::Equal,
        });
    } else {
        let is_number = |key: &KnownValue<'a>| key.as_f64().is_some_and(|it| !it.is_nan());
        if !pairs.iter().all(|(_, key)| is_number(key)) {
            return None;
        }
        pairs.sort_by(|(_, one), (_, other)| {
            one.as_f64().partial_cmp(&other.as_f64()).unwrap_or(Ordering::Equal)
        });
    }
    Some(pairs.into_iter().map(|(part, _)| part).collect())
}

/// Numbers in order; equal ones keep theirs.
pub(super) fn sorted<'a>(value: &KnownValue<'a>, reverse: bool) -> Option<Vec<KnownValue<'a>>> {
    let mut parts = iterated(value)?;
    let turned = |order: Ordering| if reverse { order.reverse() } else { order };
    if parts.iter().all(|part| as_int(part).is_some()) {
        parts.sort_by(|one, other| turned(as_int(one).cmp(&as_int(other))));
        return Some(parts);
    }
    let float = |part: &KnownValue<'_>| {
        let number = as_int(part).map_or_else(|| part.as_f64(), exact);
        number.filter(|number| !number.is_nan())
    };
    if parts.iter().any(|part| float(part).is_none()) {
        return None;
    }
    parts.sort_by(|one, other| {
        turned(float(one).partial_cmp(&float(other)).unwrap_or(Ordering::Equal))
    });
    Some(parts)
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

/// All combinations of the parts of several sequences.
fn product<'a>(lists: &[KnownValue<'a>]) -> Option<KnownValue<'a>> {
    let mut rows = vec![Vec::new()];
    for list in lists {
        let list = parts(list)?;
        if rows.len() * list.len() > MAX_RANGE {
            return None;
        }
        let longer = |row: &Vec<KnownValue<'a>>, part: &KnownValue<'a>| {
            row.iter().chain([part]).cloned().collect::<Vec<_>>()
        };
        rows = rows.iter().flat_map(|row| list.iter().map(move |part| longer(row, part))).collect();
    }
    Some(KnownValue::Sequence(
        rows.into_iter().map(|row| KnownValue::Sequence(row.into())).collect(),
    ))
}

/// The parts of a sequence.
fn parts<'a, 'b>(value: &'b KnownValue<'a>) -> Option<&'b [KnownValue<'a>]> {
    match value {
        KnownValue::Sequence(parts) => Some(parts),
        _ => None,
    }
}

/// Result of a method of a dictionary, for a dictionary that nothing changes.
pub(super) fn dictionary_method<'a>(
    items: &[(KnownValue<'a>, KnownValue<'a>)],
    name: &str,
    args: &[KnownValue<'a>],
) -> Option<KnownValue<'a>> {
    // A key that is written twice has its last value, at its first place.
    let mut unique: Vec<(KnownValue<'a>, KnownValue<'a>)> = Vec::new();
    for (key, value) in items {
        match unique.iter_mut().find(|(known, _)| known == key) {
            Some((_, known)) => *known = value.clone(),
            None => unique.push((key.clone(), value.clone())),
        }
    }
    Some(KnownValue::Sequence(match (name, args) {
        ("keys", []) => unique.into_iter().map(|(key, _)| key).collect(),
        ("values", []) => unique.into_iter().map(|(_, value)| value).collect(),
        ("items", []) => unique
            .into_iter()
            .map(|(key, value)| KnownValue::Sequence([key, value].into()))
            .collect(),
        ("get", [key, rest @ ..]) if rest.len() < 2 => {
            let found = unique.into_iter().find(|(known, _)| known == key);
            let missing = || rest.first().cloned().unwrap_or(KnownValue::None);
            return Some(found.map_or_else(missing, |(_, value)| value));
        }
        _ => return None,
    }))
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

/// The parts of a set.
pub(super) fn each_once(set: KnownValue<'_>) -> KnownValue<'_> {
    let KnownValue::Sequence(parts) = &set else { return set };
    let mut unique: Vec<KnownValue<'_>> = Vec::new();
    for part in parts.iter() {
        if !unique.iter().any(|known| compared(CmpOp::Eq, known, part) == Some(true)) {
            unique.push(part.clone());
        }
    }
    KnownValue::Sequence(unique.into())
}
