//! Distances of results from the expected results: in units in the last place, and as a fraction of
//! the allowed error.

use crate::allowed_error::AllowedErrors;
use crate::execute::{self, ArgumentBytes};
use crate::row::Results;
use crate::row_program::RowProgram;
use crate::tensor::{self, Tensor};
use crate::verdict::{Check, CheckOutcome, NotRun, skipped};
use gbxcule_ir::Literal;

/// Largest distance between results.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Distance {
    /// Units in the last place, see [`tensor::units`].
    pub units: f64,
    /// The difference divided by the allowed error: at most 1 if the difference is allowed.
    pub share: f64,
}

impl Distance {
    const NONE: Self = Self { units: 0.0, share: 0.0 };
    /// Distance of a result that is missing or has another shape.
    pub const INFINITE: Self = Self { units: f64::INFINITY, share: f64::INFINITY };

    /// Returns the greater of two distances, for each measure separately.
    pub fn max(self, other: Self) -> Self {
        Self { units: self.units.max(other.units), share: self.share.max(other.share) }
    }

    /// Makes a check of the distance, in whole units, because no library guarantees fractions of a
    /// unit.
    pub fn verdict(self, name: &str) -> Check {
        Check::holds(name, self.share <= 1.0, Some(self.units.ceil()))
    }
}

/// Measures the distance of results from the wanted numbers. `allowed` has the allowed error of
/// each number; without it the allowed error is 0.
fn distance(wanted: &[Vec<Literal>], found: &[Tensor], allowed: Option<&[Vec<f64>]>) -> Distance {
    if wanted.len() != found.len() {
        return Distance::INFINITE;
    }
    let mut worst = Distance::NONE;
    for (at, (wanted, found)) in wanted.iter().zip(found).enumerate() {
        if wanted.len() != found.numbers.len() {
            return Distance::INFINITE;
        }
        for (place, (&wanted, &found)) in wanted.iter().zip(&found.numbers).enumerate() {
            let units = tensor::units(wanted, found);
            if units == 0.0 {
                continue;
            }
            let off = (wanted.as_f64() - found.as_f64()).abs();
            let share = off / allowed.map_or(0.0, |allowed| allowed[at][place]);
            let share = if share.is_nan() { f64::INFINITY } else { share };
            worst = worst.max(Distance { units, share });
        }
    }
    worst
}

/// Reads the numbers for these tensors from a text; `None` if their number differs.
fn stored(text: &str, like: &[Tensor]) -> Option<Vec<Vec<Literal>>> {
    let arrays = tensor::from_json(text)?;
    if arrays.len() != like.len() {
        return None;
    }
    let one = |((name, values), tensor): (&(String, Vec<serde_json::Value>), &Tensor)| {
        if *name != tensor.name || values.len() != tensor.numbers.len() {
            return None;
        }
        let numbers = values.iter().zip(&tensor.numbers);
        numbers.map(|(value, number)| tensor::literal(value, number.scalar())).collect()
    };
    arrays.iter().zip(like).map(one).collect()
}

/// Returns the tensors of these names from the memory after a launch.
fn named_tensors(program: &RowProgram, like: &[Tensor], memory: &[Vec<u8>]) -> Option<Vec<Tensor>> {
    let one = |tensor: &Tensor| {
        let at = program.params().iter().position(|param| *param.name == *tensor.name)?;
        let numbers = execute::numbers(program, at, memory.get(at)?);
        Some(Tensor { numbers, ..tensor.clone() })
    };
    like.iter().map(one).collect()
}

/// Returns the greatest distance; `None` if a distance is unknown and all known distances are
/// allowed.
fn worst(distances: &[Option<Distance>]) -> Option<Distance> {
    let known = distances.iter().flatten();
    let worst = known.fold(Distance::NONE, |worst, &one| worst.max(one));
    (worst.share > 1.0 || distances.iter().all(Option::is_some)).then_some(worst)
}

/// Returns the check of measured distances; no verdict if the results depend on rounding.
pub fn settled(name: &str, distances: &[Option<Distance>]) -> CheckOutcome {
    match worst(distances) {
        Some(distance) => Ok(distance.verdict(name)),
        None => skipped(name, NotRun::LastDigit),
    }
}

/// Measures the distance between the results in a row's text and results that must be equal to the
/// bit.
pub fn exact(text: &str, found: &[Tensor]) -> Distance {
    stored(text, found).map_or(Distance::INFINITE, |wanted| distance(&wanted, found, None))
}

/// Measures the distance between wanted results and the memory after a launch, forward or backward.
/// The results in `text` are wanted, or else the row's. `bounds` is called only if they differ.
pub fn to_memory<'b>(
    text: Option<&str>,
    program: &RowProgram,
    results: &Results,
    memory: &ArgumentBytes,
    backward: bool,
    bounds: impl FnOnce() -> Option<&'b AllowedErrors>,
) -> Option<Distance> {
    let like = if backward { results.slopes() } else { &results.outputs };
    let part = if backward { &memory.gradients } else { &memory.data };
    let wanted = match text {
        Some(text) => stored(text, like),
        None => Some(like.iter().map(|tensor| tensor.numbers.clone()).collect()),
    };
    match (wanted, named_tensors(program, like, part)) {
        (Some(wanted), Some(found)) => measured(&wanted, &found, backward, bounds),
        _ => Some(Distance::INFINITE),
    }
}

/// Measures the distance with the row's bounds; `None` if numbers differ and no bounds are known.
fn measured<'b>(
    wanted: &[Vec<Literal>],
    found: &[Tensor],
    backward: bool,
    bounds: impl FnOnce() -> Option<&'b AllowedErrors>,
) -> Option<Distance> {
    let bare = distance(wanted, found, None);
    if bare.units == 0.0 || bare == Distance::INFINITE {
        return Some(bare);
    }
    let bounds = bounds()?;
    let allowed = if backward { &bounds.gradients } else { &bounds.outputs };
    Some(distance(wanted, found, Some(allowed)))
}
