//! Ranges of scalars: the bounds of an expression's value for all inputs, derived from the
//! expression.

use crate::ast::{Expr, Name};
use std::collections::HashMap;
use std::f64::consts::{FRAC_PI_2, PI};

/// All numbers from `least` to `most`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Range {
    pub(super) least: f64,
    pub(super) most: f64,
}

impl Range {
    pub(super) const ALL: Self = Self { least: f64::NEG_INFINITY, most: f64::INFINITY };

    fn new(least: f64, most: f64) -> Self {
        // Infinity times 0 and infinity minus infinity are NaN, which bounds nothing.
        if least.is_nan() || most.is_nan() { Self::ALL } else { Self { least, most } }
    }

    pub(super) fn only(value: f64) -> Self {
        Self::new(value, value)
    }

    /// Returns true if the ranges have at most one number in common, so that a comparison of their
    /// values has a fixed outcome.
    pub(super) fn is_apart(self, other: Self) -> bool {
        self.most <= other.least || other.most <= self.least
    }

    fn or(self, other: Self) -> Self {
        Self::new(self.least.min(other.least), self.most.max(other.most))
    }

    /// Returns the range of a monotonically growing function over this range.
    fn through(self, function: fn(f64) -> f64) -> Self {
        Self::new(function(self.least), function(self.most))
    }

    fn among(candidates: [f64; 4]) -> Self {
        if candidates.iter().any(|it| it.is_nan()) {
            return Self::ALL;
        }
        let least = candidates.into_iter().fold(f64::INFINITY, f64::min);
        Self::new(least, candidates.into_iter().fold(f64::NEG_INFINITY, f64::max))
    }
}

/// Ranges of the names that no statement assigns again.
pub(super) type KnownRanges = HashMap<Name, Range>;

/// Returns the range of an expression. Elements of arrays have the range of all numbers.
pub(super) fn range(expr: &Expr, known: &KnownRanges) -> Range {
    match expr {
        Expr::Name(name) => known.get(name).copied().unwrap_or(Range::ALL),
        Expr::Int(value) => Range::only(*value as f64),
        Expr::Float(value) => Range::only(*value),
        Expr::Unary("-", of) => {
            let of = range(of, known);
            Range::new(-of.most, -of.least)
        }
        Expr::Binary(left, op, right) => binary(left, op, right, known),
        Expr::If(_, accept, reject) => range(accept, known).or(range(reject, known)),
        Expr::Call(name, args) => call(name, args, known),
        _ => Range::ALL,
    }
}

fn binary(left: &Expr, op: &str, right: &Expr, known: &KnownRanges) -> Range {
    let (l, r) = (range(left, known), range(right, known));
    match op {
        "+" => Range::new(l.least + r.least, l.most + r.most),
        "-" if is_floor_of(right, left) => Range::new(0.0, 1.0),
        "-" => Range::new(l.least - r.most, l.most - r.least),
        "*" if left == right => Range::new(0.0, f64::INFINITY),
        "*" if l == Range::ALL || r == Range::ALL => Range::ALL,
        "*" => {
            Range::among([l.least * r.least, l.least * r.most, l.most * r.least, l.most * r.most])
        }
        "/" if r.least > 0.0 && l != Range::ALL => {
            Range::among([l.least / r.least, l.least / r.most, l.most / r.least, l.most / r.most])
        }
        "%" if r.least > 0.0 => Range::new(if l.least >= 0.0 { 0.0 } else { -r.most }, r.most),
        _ => Range::ALL,
    }
}

fn is_floor_of(expr: &Expr, of: &Expr) -> bool {
    matches!(expr, Expr::Call(name, args) if &**name == "wp.floor" && args.first() == Some(of))
}

fn call(name: &str, args: &[Expr], known: &KnownRanges) -> Range {
    let of = |at: usize| args.get(at).map_or(Range::ALL, |it| range(it, known));
    let size = Range::new(0.0, f64::INFINITY);
    match name.strip_prefix("wp.").unwrap_or(name) {
        "sin" | "cos" | "sign" => Range::new(-1.0, 1.0),
        "tanh" => of(0).through(f64::tanh),
        "atan" => of(0).through(f64::atan),
        "asin" => Range::new(-FRAC_PI_2, FRAC_PI_2),
        "acos" => Range::new(0.0, PI),
        "atan2" => Range::new(-PI, PI),
        "exp" => of(0).through(f64::exp),
        "log" if of(0).least > 0.0 => of(0).through(f64::ln),
        "sqrt" if of(0).least >= 0.0 => of(0).through(f64::sqrt),
        "floor" => of(0).through(f64::floor),
        "round" => of(0).through(f64::round),
        "abs" => {
            let of = of(0);
            let most = of.least.abs().max(of.most.abs());
            let crosses = of.least <= 0.0 && of.most >= 0.0;
            Range::new(if crosses { 0.0 } else { of.least.abs().min(of.most.abs()) }, most)
        }
        "pow" | "sqrt" | "length" | "length_sq" => size,
        "smoothstep" => Range::new(0.0, 1.0),
        "min" => Range::new(of(0).least.min(of(1).least), of(0).most.min(of(1).most)),
        "max" => Range::new(of(0).least.max(of(1).least), of(0).most.max(of(1).most)),
        "clamp" => Range::new(of(1).least, of(2).most),
        "where" => of(1).or(of(2)),
        // The names of types convert their argument.
        "float" | "int" | "float16" | "float32" | "float64" | "bfloat16" | "int64" | "int32" => {
            of(0)
        }
        "int8" | "int16" | "uint8" | "uint16" | "uint32" | "uint64"
            if matches!(args, [Expr::Int(_)]) =>
        {
            of(0)
        }
        "uint8" => Range::new(0.0, 255.0),
        "uint16" => Range::new(0.0, 65535.0),
        "uint32" | "uint64" => size,
        _ => Range::ALL,
    }
}
