//! Expressions whose values are numbers and bools.
//!
//! Floats keep a moderate size: arguments of divisions, roots and logarithms are kept away from
//! huge or undefined results.

use super::Expressions;
use crate::ast::{Expr, Ty};
use crate::draft::plausibility::{is_name_like, reads};
use crate::draft::range::Range;
use crate::draft::scope::Scope;
use crate::spell;
use gbxcule_ir::Scalar;

/// Returns true for an expression that people give a name before they compare it.
fn is_choosy(expr: &Expr) -> bool {
    let names =
        ["wp.where", "wp.round", "wp.smoothstep", "wp.sign", "wp.lerp", "wp.floor", "wp.clamp"];
    match expr {
        Expr::If(..) => true,
        Expr::Call(name, _) if names.contains(&&**name) => true,
        _ => expr.parts().into_iter().any(is_choosy),
    }
}

impl Expressions {
    pub(in crate::draft) fn float(&mut self, of: Scalar, depth: usize) -> Expr {
        self.sound(Ty::Scalar(of), |m| m.some_float_of(of, depth))
    }

    fn some_float_of(&mut self, of: Scalar, depth: usize) -> Expr {
        let ty = Ty::Scalar(of);
        if depth == 0 || self.random().chance(12) {
            return self.float_leaf(of);
        }
        let weights = self.weights;
        let geometry = if of == self.real() { weights.geometry } else { 0 };
        let calls = if self.callable(ty) { 8 } else { 0 };
        match self.random().weighted([
            22,
            14,
            6,
            weights.math,
            weights.math / 2,
            weights.select,
            geometry,
            calls,
            2,
        ]) {
            0 => {
                let op = self.random().pick(&["+", "-", "+", "*"]);
                let left = self.varying(of, depth - 1);
                Expr::binary(left, op, self.float(of, depth - 1))
            }
            1 => self.varying(of, depth - 1).mul(self.float(of, depth.saturating_sub(2))),
            2 => self.quotient(of, depth),
            3 => self.smooth(of, depth),
            4 => self.bounded(of, depth),
            5 => self.choice(ty, depth),
            6 => self.geometric(of, depth),
            7 => self.call(ty, depth).unwrap_or_else(|| self.float_leaf(of)),
            _ => {
                let word = self.random().pick(&["min", "max", "clamp"]);
                let first = self.varying(of, depth - 1);
                match word {
                    "clamp" => {
                        let (low, high) = self.limits(of);
                        Expr::wp(word, vec![first, low, high])
                    }
                    _ => {
                        let second = self.float(of, depth - 1);
                        Expr::wp(word, vec![first, second])
                    }
                }
            }
        }
    }

    /// Returns a variable, an element, a literal, or a value of another type converted to a float.
    fn float_leaf(&mut self, of: Scalar) -> Expr {
        let literal = self.random().chance(10);
        if !literal && let Some(found) = self.read(Ty::Scalar(of)) {
            return found;
        }
        if !literal && let Some((found, ty)) = self.read_any() {
            return self.as_scalar(found, ty, of);
        }
        self.some_float(of)
    }

    /// Makes an expression that is never negative from another one, in a typical way.
    pub(in crate::draft) fn never_negative(&mut self, of: Scalar, from: Expr) -> Expr {
        if self.range_of(&from).least >= 0.0 {
            return from;
        }
        match self.random().weighted([8, 87, 5]) {
            0 => Expr::wp("abs", vec![from]),
            1 => {
                let from = self.named(Ty::Scalar(of), from);
                from.clone().mul(from)
            }
            _ => {
                let zero = self.literal(of, 0.0);
                Expr::wp("max", vec![from, zero])
            }
        }
    }

    /// Returns a float that depends on a variable or element, if one can be read.
    pub(in crate::draft) fn varying(&mut self, of: Scalar, depth: usize) -> Expr {
        for _ in 0..6 {
            let found = self.float(of, depth);
            if reads(&found) {
                return found;
            }
        }
        self.float(of, depth)
    }

    fn quotient(&mut self, of: Scalar, depth: usize) -> Expr {
        let above = self.varying(of, depth - 1);
        let choice = self.random().below(100);
        if choice < 50
            && let Some(below) = self.positive_leaf(of)
        {
            return Expr::binary(above, "/", below);
        }
        if choice < 85 {
            let below =
                self.random().pick(&[2.0, 3.0, 4.0, 10.0, 5.0, 8.0, 6.0, 1.5, 0.7, 2.5, 12.0]);
            return Expr::binary(above, "/", self.literal(of, below));
        }
        let below = self.varying(of, 0);
        if choice < 90 {
            let least = self.random().pick(&[0.1, 0.5, 0.25, 1.0, 0.2]);
            return Expr::binary(above, "/", Expr::wp("max", vec![below, self.literal(of, least)]));
        }
        let below = self.named(Ty::Scalar(of), below);
        let floor = self.random().pick(&[1.0, 0.5, 2.0, 1.5]);
        let safe = self.literal(of, floor).add(below.clone().mul(below));
        Expr::binary(above, "/", safe)
    }

    /// Returns an argument of a function that takes no negative numbers: a variable that is
    /// positive, or a sum.
    fn positive(&mut self, of: Scalar, arg: Expr) -> Expr {
        if self.random().chance(50)
            && let Some(leaf) = self.positive_leaf(of)
        {
            return leaf;
        }
        let floor = self.some_float(of);
        self.never_negative(of, arg).add(floor)
    }

    /// Returns a call of a function without kinks.
    fn smooth(&mut self, of: Scalar, depth: usize) -> Expr {
        let arg = self.varying(of, depth - 1);
        match self.random().below(10) {
            0 => Expr::wp("sin", vec![arg]),
            1 => Expr::wp("cos", vec![arg]),
            2 => Expr::wp("tanh", vec![arg]),
            3 => Expr::wp("exp", vec![Expr::unary("-", self.never_negative(of, arg))]),
            4 => Expr::wp("log", vec![self.positive(of, arg)]),
            5 => Expr::wp("sqrt", vec![self.positive(of, arg)]),
            6 => Expr::wp("atan", vec![arg]),
            7 => {
                let power = self.random().pick(&[0.5, 1.5, 2.0, 3.0, 0.25, 0.75, 2.2, 1.4]);
                let power = self.literal(of, power);
                Expr::wp("pow", vec![self.positive(of, arg), power])
            }
            8 => {
                let other = self.float(of, depth.saturating_sub(2));
                Expr::wp("atan2", vec![arg, self.positive(of, other)])
            }
            _ => {
                let (arg, scale) = (self.varying(of, 0), self.some_float(of));
                let arg = self.named(Ty::Scalar(of), arg);
                Expr::wp("exp", vec![Expr::unary("-", arg.clone().mul(arg)).mul(scale)])
            }
        }
    }

    /// Returns a call of a function with edges, steps or limits.
    fn bounded(&mut self, of: Scalar, depth: usize) -> Expr {
        let arg = self.varying(of, depth - 1);
        match self.random().below(8) {
            0 => {
                let (low, high) = self.limits(of);
                Expr::wp("smoothstep", vec![low, high, arg])
            }
            1 => {
                let other = self.float(of, depth - 1);
                let at = self.part(of);
                Expr::wp("lerp", vec![arg, other, at])
            }
            2 => {
                let arg = self.varying(of, 0);
                let arg = self.named(Ty::Scalar(of), arg);
                arg.clone().sub(Expr::wp("floor", vec![arg]))
            }
            3 => {
                let other = self.float(of, depth - 1);
                let positive = self.range_of(&arg).least >= 0.0;
                if positive { arg.mul(other) } else { Expr::wp("sign", vec![arg]).mul(other) }
            }
            4 => {
                let (low, high) = self.limits(of);
                Expr::wp("clamp", vec![arg, low, high])
            }
            5 => {
                let zero = self.literal(of, 0.0);
                Expr::wp("max", vec![arg, zero])
            }
            6 => {
                let steps = self.random().pick(&[2.0, 4.0, 8.0, 10.0]);
                let (scale, step) = (self.literal(of, steps), self.literal(of, 1.0 / steps));
                Expr::wp("round", vec![arg.mul(scale)]).mul(step)
            }
            _ => {
                let limit = self.random().pick(&[0.9, 0.95, 0.8]);
                let limit = self.literal(of, limit);
                let word = self.random().pick(&["asin", "acos"]);
                let Range { least, most } = self.range_of(&arg);
                if least >= -1.0 && most <= 1.0 {
                    return Expr::wp(word, vec![arg]);
                }
                let inside = Expr::wp("clamp", vec![arg, Expr::unary("-", limit.clone()), limit]);
                Expr::wp(word, vec![inside])
            }
        }
    }

    /// Returns a literal between 0 and 1.
    pub(in crate::draft) fn part(&mut self, of: Scalar) -> Expr {
        let part = self.random().between(1, 19) as f64 / 20.0;
        self.literal(of, part)
    }

    /// Draws the two numbers between which a value is kept.
    fn limits(&mut self, of: Scalar) -> (Expr, Expr) {
        let most = self.random().pick(&[1.0, 1.0, 2.0, 0.5, 0.9, 1.5, 3.0, 0.8]);
        let low = self.random().pick(&[0.0, -most, -most, 0.05, -0.5, -1.0]);
        (self.literal(of, low), self.literal(of, most))
    }

    /// Returns one of two expressions, chosen by a condition.
    pub(in crate::draft) fn choice(&mut self, ty: Ty, depth: usize) -> Expr {
        let condition = self.truth(1);
        let (accept, reject) = (self.expr(ty, depth - 1), self.expr(ty, depth.saturating_sub(2)));
        if self.random().chance(75) {
            Expr::wp("where", vec![condition, accept, reject])
        } else {
            Expr::select(condition, accept, reject)
        }
    }

    /// Returns a float computed of vectors or matrices that can be read.
    fn geometric(&mut self, of: Scalar, depth: usize) -> Expr {
        let lens: Vec<u8> =
            [2, 3, 4].into_iter().filter(|&len| self.has(Ty::Vec(len, of))).collect();
        let squares: Vec<u8> =
            [2, 3].into_iter().filter(|&n| self.has(Ty::Mat(n, n, of))).collect();
        if lens.is_empty() && squares.is_empty() {
            return self.float(of, depth - 1);
        }
        if lens.is_empty() || !squares.is_empty() && self.random().chance(40) {
            let n = self.random().pick(&squares);
            let of_matrix = self.matrix(n, n, of, depth - 1);
            let word = self.random().pick(&["trace", "determinant", "ddot", "entry"]);
            return match word {
                "ddot" => {
                    let other = self.matrix(n, n, of, 0);
                    Expr::wp(word, vec![of_matrix, other])
                }
                "entry" => {
                    let (row, col) =
                        (self.random().between(0, 1), self.random().between(0, i64::from(n) - 1));
                    match self.read(Ty::Mat(n, n, of)) {
                        Some(it) => it.index(vec![Expr::Int(row), Expr::Int(col)]),
                        None => Expr::wp("trace", vec![of_matrix]),
                    }
                }
                _ => Expr::wp(word, vec![of_matrix]),
            };
        }
        let len = self.random().pick(&lens);
        match self.random().below(5) {
            0 | 1 => {
                let left = self.vector(len, of, depth - 1);
                let right = self.vector(len, of, depth.saturating_sub(2));
                Expr::wp("dot", vec![left, right])
            }
            2 => Expr::wp("length", vec![self.vector(len, of, depth - 1)]),
            3 => Expr::wp("length_sq", vec![self.vector(len, of, depth - 1)]),
            _ => match self.read(Ty::Vec(len, of)) {
                Some(it) if self.random().chance(60) => {
                    it.attr(["x", "y", "z", "w"][self.random().below(usize::from(len))])
                }
                Some(it) => it.index(vec![Expr::Int(self.random().between(0, i64::from(len) - 1))]),
                None => self.some_float(of),
            },
        }
    }

    pub(in crate::draft) fn integer(&mut self, of: Scalar, depth: usize) -> Expr {
        self.sound(Ty::Scalar(of), |m| m.some_integer_of(of, depth))
    }

    fn some_integer_of(&mut self, of: Scalar, depth: usize) -> Expr {
        let ty = Ty::Scalar(of);
        if depth == 0 || self.random().chance(15) {
            return self.integer_leaf(of);
        }
        let calls = if self.callable(ty) { 8 } else { 0 };
        let (bits, select) = (self.weights.bits, self.weights.select);
        match self.random().weighted([24, 10, bits, bits, select, calls, 6]) {
            0 => {
                let op = self.random().pick(&["+", "-", "+"]);
                let left = self.integer(of, depth - 1);
                Expr::binary(left, op, self.integer(of, depth - 1))
            }
            1 => self.integer(of, depth - 1).mul(self.integer(of, 0)),
            2 => {
                let op = self.random().pick(&["&", "|", "^"]);
                let left = self.integer(of, depth - 1);
                Expr::binary(left, op, self.integer(of, depth - 1))
            }
            3 => {
                let op = self.random().pick(&["%", "//", "<<", ">>"]);
                let amount = match op {
                    "%" | "//" => self.random().between(3, 17),
                    _ => self.random().between(1, 4),
                };
                let amount = self.literal(of, amount as f64);
                Expr::binary(self.integer(of, depth - 1), op, amount)
            }
            4 => self.choice(ty, depth),
            5 => self.call(ty, depth).unwrap_or_else(|| self.some_int(of)),
            _ => {
                let word = self
                    .random()
                    .pick(&["min", "max", "min", "max", "clamp", "clamp", "clamp", "abs"]);
                let first = self.integer(of, depth - 1);
                match word {
                    "abs" if of.is_signed_int() => Expr::wp(word, vec![first]),
                    "clamp" => {
                        let (low, high) = self.random().pick(&[
                            (0.0, 15.0),
                            (1.0, 31.0),
                            (2.0, 40.0),
                            (0.0, 99.0),
                        ]);
                        let (low, high) = (self.literal(of, low), self.literal(of, high));
                        Expr::wp(word, vec![first, low, high])
                    }
                    _ => {
                        let second = self.integer(of, depth - 1);
                        Expr::wp(if word == "min" { "min" } else { "max" }, vec![first, second])
                    }
                }
            }
        }
    }

    /// Returns a variable or an element as an integer, or else a literal.
    fn integer_leaf(&mut self, of: Scalar) -> Expr {
        if !self.random().chance(12)
            && let Some(found) = self.read(Ty::Scalar(of))
        {
            return found;
        }
        if let Some((found, from)) = self.read_any().filter(|(_, from)| from.scalar().is_some()) {
            return self.as_integer(found, from, of);
        }
        self.some_int(of)
    }

    pub(in crate::draft) fn truth(&mut self, depth: usize) -> Expr {
        // A condition gets no name.
        let unsound = |m: &Scope, expr: &Expr| m.is_uniform(expr) || m.is_senseless(expr);
        self.drawn(|m| m.some_truth(depth), unsound).unwrap_or_else(|expr| expr)
    }

    fn some_truth(&mut self, depth: usize) -> Expr {
        if depth > 1 && self.random().chance(25) {
            let op = self.random().pick(&["and", "or"]);
            let left = self.truth(depth - 1);
            return Expr::binary(left, op, self.truth(1));
        }
        if self.has(Ty::Scalar(Scalar::Bool))
            && self.random().chance(40)
            && let Some(found) = self.read(Ty::Scalar(Scalar::Bool))
        {
            let negated = self.random().chance(30) && is_name_like(&found);
            return if negated { Expr::unary("not", found) } else { found };
        }
        let ints: Vec<Scalar> =
            Scalar::ALL.into_iter().filter(|&of| of.is_int() && self.has(Ty::Scalar(of))).collect();
        let floats = [Scalar::F32, Scalar::F64].into_iter().find(|&of| self.has(Ty::Scalar(of)));
        if !ints.is_empty() && (floats.is_none() || self.random().chance(30)) {
            let of = self.random().pick(&ints);
            let left = self.integer(of, 1);
            if self.random().chance(35) {
                let (by, zero) = (self.random().between(2, 4), self.literal(of, 0.0));
                let by = self.literal(of, by as f64);
                return Expr::binary(
                    Expr::binary(left, "%", by),
                    self.random().pick(&["==", "!="]),
                    zero,
                );
            }
            let op = self.random().pick(&["<", ">", "<=", ">=", "!="]);
            let right = self.integer(of, 0);
            return Expr::binary(left, op, right);
        }
        let of = floats.unwrap_or(self.real());
        let left = self.drawn(|m| m.varying(of, depth.min(1)), |_, it| is_choosy(it));
        let left = left.unwrap_or_else(|expr| expr);
        let op = self.random().pick(&["<", ">", "<=", ">="]);
        let right = if self.random().chance(60) {
            let limit = match self.middle(&left) {
                Some(middle) => middle + self.random().pick(&[0.0, 0.0, 0.25, -0.25, 0.1, 0.5]),
                None => self.random().pick(&[0.0, 0.0, 0.5, 1.0, 0.1, 0.2, 0.25, 0.05, 0.75, 0.3]),
            };
            self.literal(of, limit)
        } else {
            self.float(of, 0)
        };
        Expr::binary(left, op, right)
    }

    /// Returns a conversion, such as `int(x)`.
    pub(in crate::draft) fn convert(&mut self, value: Expr, to: Scalar) -> Expr {
        Expr::call(spell::plain(Ty::Scalar(to)), vec![value])
    }
}
