//! Leaves of expressions: variables, elements, components and literals. Also the absorption of
//! pending definitions by an expression.

use super::Expressions;
use crate::ast::{Expr, Ty, VEC3};
use crate::draft::plausibility::{reads, size};
use crate::draft::scope::Scope;
use crate::spell;
use gbxcule_ir::Scalar;
use std::f64::consts::{FRAC_1_SQRT_2, PI, SQRT_2, TAU};

/// The size of an expression that fills a line.
const MAX_LINE_SIZE: usize = 14;

impl Expressions {
    /// Returns an expression of a type with about `depth` levels.
    pub(in crate::draft) fn expr(&mut self, ty: Ty, depth: usize) -> Expr {
        match ty {
            Ty::Scalar(Scalar::Bool) => self.truth(depth),
            Ty::Scalar(of) if of.is_float() => self.float(of, depth),
            Ty::Scalar(of) => self.integer(of, depth),
            Ty::Vec(len, of) => self.vector(len, of, depth),
            Ty::Mat(rows, cols, of) => self.matrix(rows, cols, of, depth),
            Ty::Quat => self.quaternion(depth),
            Ty::Transform => self.transform(depth),
            Ty::Struct(_) => {
                self.read(ty).unwrap_or_else(|| unreachable!("structs are read, not made"))
            }
        }
    }

    /// Returns a literal of a scalar type in the dialect's spelling.
    pub(in crate::draft) fn literal(&mut self, of: Scalar, value: f64) -> Expr {
        let number = if of.is_float() { Expr::Float(value) } else { Expr::Int(value as i64) };
        match of {
            Scalar::F32 | Scalar::I32 => number,
            _ => Expr::call(spell::plain(Ty::Scalar(of)), vec![number]),
        }
    }

    /// Returns a typical float literal.
    pub(in crate::draft) fn some_float(&mut self, of: Scalar) -> Expr {
        let numbers =
            [0.5, 2.0, 0.25, 1.5, 0.1, 0.2, 3.0, 0.75, 0.3, 4.0, 0.05, 0.8, 0.01, 1.1, 0.9];
        let value = match self.random().weighted([60, 20, 15, 5]) {
            0 => self.random().pick(&numbers),
            1 => self.random().between(1, 39) as f64 / 10.0,
            2 => self.random().between(1, 199) as f64 / 100.0,
            _ => {
                let number =
                    self.random().pick(&[PI, TAU, FRAC_1_SQRT_2, SQRT_2, 9.81, 0.125, 1.618]);
                (number * 1e5).round() / 1e5
            }
        };
        if of == Scalar::F32 && self.random().chance(4) {
            return self.constant(value);
        }
        self.literal(of, value)
    }

    pub(in crate::draft) fn some_int(&mut self, of: Scalar) -> Expr {
        let value = self.random().between(1, 13) as f64;
        self.literal(of, value)
    }

    /// Returns `value` combined with all pending definitions from variable `since` on.
    pub(in crate::draft) fn absorb_pending(
        &mut self,
        mut value: Expr,
        ty: Ty,
        since: usize,
    ) -> Expr {
        while let Some((expr, from)) = self.pending(since) {
            value = self.absorb_in_line(&value, ty, &expr, from);
        }
        value
    }

    /// Absorbs an expression; a value that fills a line first gets a name.
    fn absorb_in_line(&mut self, value: &Expr, ty: Ty, with: &Expr, from: Ty) -> Expr {
        if size(value) < MAX_LINE_SIZE || !reads(value) {
            return self.absorb(value, ty, with, from);
        }
        let value = self.named(ty, value.clone());
        self.absorb(&value, ty, with, from)
    }

    /// Returns `value`, of a type, combined with an expression of any type.
    pub(in crate::draft) fn absorb(&mut self, value: &Expr, ty: Ty, with: &Expr, from: Ty) -> Expr {
        let draw = |m: &mut Self| m.absorbed(value.clone(), ty, with.clone(), from);
        self.drawn(draw, Scope::is_senseless).unwrap_or_else(|expr| expr)
    }

    fn absorbed(&mut self, value: Expr, ty: Ty, with: Expr, from: Ty) -> Expr {
        match (ty, from) {
            (Ty::Scalar(Scalar::Bool), _) => {
                let real = self.real();
                let (with, limit) = (self.as_scalar(with, from, real), self.some_float(real));
                let op = self.random().pick(&["and", "or"]);
                Expr::binary(value, op, Expr::binary(with, ">", limit))
            }
            (Ty::Scalar(of), _) if of.is_float() => self.absorbed_by_float(value, of, with, from),
            (Ty::Scalar(of), _) => {
                let with = self.as_integer(with, from, of);
                let op = self.random().pick(&["+", "-", "^", "+"]);
                Expr::binary(value, op, with)
            }
            (Ty::Vec(..) | Ty::Mat(..), _) if from == ty => {
                let op = self.random().pick(&["+", "-"]);
                Expr::binary(value, op, with)
            }
            (Ty::Vec(_, of), _) if !of.is_float() => {
                let with = self.as_integer(with, from, of);
                value.mul(with)
            }
            (Ty::Vec(_, of) | Ty::Mat(_, _, of), _) => {
                let whole = from.scalar().is_some_and(Scalar::is_int);
                let with = self.as_scalar(with, from, of);
                let one = self.literal(of, 1.0);
                let plain = !whole && self.random().chance(60);
                if plain { value.mul(with) } else { value.mul(one.add(with)) }
            }
            (Ty::Quat, Ty::Quat) | (Ty::Transform, Ty::Transform) => value.mul(with),
            (Ty::Quat, _) => {
                let angle = self.as_scalar(with, from, Scalar::F32);
                value.mul(self.axis_angle(angle))
            }
            (Ty::Transform, _) => {
                let shift = if from == VEC3 {
                    with
                } else {
                    let by = self.as_scalar(with, from, Scalar::F32);
                    let axis = self.unit_axis();
                    axis.mul(by)
                };
                let still = Expr::wp("quat_identity", vec![]);
                value.mul(Expr::wp("transform", vec![shift, still]))
            }
            (Ty::Struct(_), _) => unreachable!("a struct's fields are closed, not the struct"),
        }
    }

    fn absorbed_by_float(&mut self, value: Expr, of: Scalar, with: Expr, from: Ty) -> Expr {
        let whole = from.scalar().is_some_and(Scalar::is_int);
        let with = self.as_scalar(with, from, of);
        // An int may be 0, so it can't be a divisor.
        match if whole { self.random().below(6) } else { self.random().below(20) } {
            0..=2 => value.add(with),
            3..=5 => value.sub(with),
            6..=13 => value.mul(with),
            14 => Expr::wp("max", vec![value, with]),
            _ => {
                let factor = self.some_float(of);
                value.add(with.mul(factor))
            }
        }
    }

    /// Converts any value to a float.
    pub(in crate::draft) fn as_scalar(&mut self, with: Expr, from: Ty, to: Scalar) -> Expr {
        let of = from.scalar().unwrap_or(to);
        let (scalar, is) = match from {
            Ty::Scalar(_) => (with, of),
            Ty::Vec(_, of) if of.is_float() => {
                let word = self.random().pick(&["length", "x", "x", "length", "length_sq", "x"]);
                (
                    if word == "x" {
                        with.index(vec![Expr::Int(0)])
                    } else {
                        Expr::wp(word, vec![with])
                    },
                    of,
                )
            }
            Ty::Vec(len, of) => {
                let at = self.random().between(0, i64::from(len) - 1);
                (with.index(vec![Expr::Int(at)]), of)
            }
            Ty::Mat(rows, cols, of) if rows == cols => {
                let word = self.random().pick(&["trace", "determinant"]);
                (Expr::wp(word, vec![with]), of)
            }
            Ty::Mat(rows, cols, of) => {
                let row = self.random().between(0, i64::from(rows) - 1);
                let col = self.random().between(0, i64::from(cols) - 1);
                (with.index(vec![Expr::Int(row), Expr::Int(col)]), of)
            }
            Ty::Quat => (with.attr(self.random().pick(&["x", "y", "z", "w"])), Scalar::F32),
            Ty::Transform => {
                let part = Expr::wp("transform_get_translation", vec![with]);
                (Expr::wp("length", vec![part]), Scalar::F32)
            }
            Ty::Struct(at) => {
                let fields = self.declared(at).fields;
                let (name, ty) = fields[self.random().below(fields.len())].clone();
                return self.as_scalar(with.attr(name), ty, to);
            }
        };
        match is {
            is if is == to => scalar,
            Scalar::Bool => {
                let yes = self.random().pick(&[0.5, 1.0, 1.5, 2.0]);
                let (yes, no) = (self.literal(to, yes), self.literal(to, yes * -0.5));
                Expr::wp("where", vec![scalar, yes, no])
            }
            is if is.is_int() => {
                let factor = self.random().pick(&[0.125, 0.1, 0.25, 0.5, 0.2, 0.05]);
                let factor = self.literal(to, factor);
                Expr::call(spell::plain(Ty::Scalar(to)), vec![scalar]).mul(factor)
            }
            _ => Expr::call(spell::plain(Ty::Scalar(to)), vec![scalar]),
        }
    }

    /// Converts any value to an integer.
    pub(in crate::draft) fn as_integer(&mut self, with: Expr, from: Ty, to: Scalar) -> Expr {
        match from {
            Ty::Scalar(of) if of == to => with,
            Ty::Scalar(Scalar::Bool) => {
                let (yes, no) = (self.some_int(to), self.literal(to, 0.0));
                Expr::wp("where", vec![with, yes, no])
            }
            Ty::Scalar(of) if of.is_int() => Expr::call(spell::plain(Ty::Scalar(to)), vec![with]),
            Ty::Vec(len, of) if !of.is_float() => {
                let at = self.random().between(0, i64::from(len) - 1);
                self.as_integer(with.index(vec![Expr::Int(at)]), Ty::Scalar(of), to)
            }
            _ => {
                let real = self.real();
                let scalar = self.as_scalar(with, from, real);
                let scale = self.random().pick(&[4.0, 8.0, 10.0, 16.0]);
                let scale = self.literal(real, scale);
                let wide =
                    if to.is_unsigned_int() { self.never_negative(real, scalar) } else { scalar };
                Expr::call(spell::plain(Ty::Scalar(to)), vec![wide.mul(scale)])
            }
        }
    }
}
