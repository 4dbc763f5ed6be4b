//! Statements: variables, branches, loops over counts, tables and rows, loops that end by a
//! condition.
//!
//! Each motif leaves a pending definition: its result.

use super::KernelBuilder;
use super::plausibility::{holds_any, is_name_like, reads};
use super::scope::Scope;
use crate::ast::{Expr, INT, Name, Stmt, Ty};
use gbxcule_ir::Scalar;

impl KernelBuilder {
    /// Defines up to `most` variables of some of the types.
    pub(super) fn bindings(&mut self, types: &[Ty], most: i64) {
        for _ in 0..self.random().between(0, most) {
            let ty = self.random().pick(types);
            let depth = self.random().between(1, 2) as usize;
            let value = self.named_if(ty, depth, |_| true);
            if let Some(value) = value {
                self.define(ty, value);
            }
        }
    }

    /// Draws an expression that reads a variable and is `wanted`, and gives it a name.
    fn named_if(&mut self, ty: Ty, depth: usize, wanted: impl Fn(&Expr) -> bool) -> Option<Expr> {
        let bare = |_: &Scope, expr: &Expr| is_name_like(expr) || !reads(expr) || !wanted(expr);
        let mark = self.mark();
        let found = self.drawn(|m| m.expr(ty, depth), bare).ok();
        if found.is_none() {
            self.reset(&mark);
        }
        found
    }

    /// Defines variables of a loop whose values change with the loop.
    fn bindings_of_loop(&mut self, ty: Ty, most: i64, total: &Name, since: usize) {
        for _ in 0..self.random().between(0, most) {
            let moving = [self.names_since(since), vec![Expr::from(total)]].concat();
            if let Some(value) = self.named_if(ty, 2, |expr| holds_any(expr, &moving)) {
                self.define(ty, value);
            }
        }
    }

    /// Returns an expression of a block that absorbs the block's pending definitions.
    pub(super) fn local_expr(&mut self, ty: Ty, depth: usize, since: usize) -> Expr {
        let value = self.expr(ty, depth);
        self.absorb_pending(value, ty, since)
    }

    /// Defines a variable that a condition changes, in one to three arms.
    pub(super) fn branch(&mut self, ty: Ty) {
        let start = self.expr(ty, 1);
        let name = if self.random().chance(40)
            || matches!(start, Expr::Float(_) | Expr::Int(_) | Expr::Name(_))
        {
            let value = self.absorb_one(&start, ty);
            self.define(ty, value)
        } else {
            self.define(ty, start)
        };
        self.branch_on(&name, ty);
    }

    fn absorb_one(&mut self, value: &Expr, ty: Ty) -> Expr {
        if let Ty::Scalar(of) = ty
            && of.is_int()
        {
            let with = self.integer(of, 1);
            return self.absorb(value, ty, &with, ty);
        }
        let real = self.real();
        let with = self.float(real, 1);
        let from = self.float_type();
        self.absorb(value, ty, &with, from)
    }

    /// Writes arms that change a variable.
    pub(super) fn branch_on(&mut self, name: &Name, ty: Ty) {
        let count = 1 + self.random().weighted([5, 3, 1]);
        let mut arms = Vec::new();
        for _ in 0..count {
            let condition = self.truth(2);
            arms.push((condition, self.arm(name, ty)));
        }
        let rest = if self.random().chance(60) { self.arm(name, ty) } else { Vec::new() };
        self.push(Stmt::If(arms, rest));
        self.touch(name);
    }

    fn arm(&mut self, name: &Name, ty: Ty) -> Vec<Stmt> {
        let name = name.clone();
        self.block(|m| {
            let since = m.next_var();
            if m.random().chance(30) {
                let float = m.float_type();
                m.bindings(&[float, ty], 1);
            }
            if m.random().chance(12) {
                let inner = m.truth(1);
                let body = m.block(|m| m.change(&name, ty, m.next_var()));
                m.push(Stmt::If(vec![(inner, body)], vec![]));
            }
            m.change(&name, ty, since);
        })
    }

    /// Writes a statement that changes a variable.
    pub(super) fn change(&mut self, name: &Name, ty: Ty, since: usize) {
        self.forget(name);
        let place = Expr::from(name);
        let component = match ty {
            Ty::Vec(len, of) if self.random().chance(30) => {
                let at = self.random().below(usize::from(len));
                let part = if self.random().chance(50) {
                    place.clone().attr(["x", "y", "z", "w"][at])
                } else {
                    place.clone().index(vec![Expr::Int(at as i64)])
                };
                Some((part, Ty::Scalar(of)))
            }
            _ => None,
        };
        let (place, ty) = component.unwrap_or((place, ty));
        let value = self.local_expr(ty, 2, since);
        let ops: &[&'static str] = match ty {
            Ty::Scalar(of) if of.is_float() => &["+", "-", "*"],
            Ty::Scalar(_) | Ty::Vec(..) | Ty::Mat(..) => &["+", "-"],
            _ => &["*"],
        };
        if matches!(ty, Ty::Quat | Ty::Transform) || self.random().chance(35) {
            let value = match ty {
                Ty::Quat | Ty::Transform => place.clone().mul(value),
                _ => value,
            };
            self.push(Stmt::Assign(vec![place], value));
        } else {
            let op = self.random().pick(ops);
            self.push(Stmt::Augment(place, op, value));
        }
    }

    /// Writes a loop that gathers a value of a type: over a count, a table, or numbers of the text.
    pub(super) fn gather(&mut self, ty: Ty) -> Name {
        let float = ty.scalar().is_some_and(Scalar::is_float);
        let product = float && matches!(ty, Ty::Scalar(_)) && self.random().chance(25);
        let total = self.accumulator(ty, if product { 1.0 } else { 0.0 });
        let index = self.name_from(&["k", "j", "m", "t", "it", "iter", "term"]);
        let (range, table) = self.range(ty, &index);
        let body = self.block(|m| {
            let since = m.next_var();
            if let Some((element, of)) = table {
                m.reveal(element, of);
                m.offer(&index, INT);
            } else {
                m.reveal(&index, INT);
            }
            m.write_update(&total, ty, product, since);
        });
        self.push(Stmt::For(index, range, body));
        self.reveal(&total, ty);
        total
    }

    /// Returns a loop's range, and the element read at its index if there is one.
    fn range(&mut self, ty: Ty, index: &Name) -> (Vec<Expr>, Option<(Expr, Ty)>) {
        let element = match ty {
            Ty::Scalar(_) | Ty::Vec(..) if self.random().chance(60) => ty,
            Ty::Scalar(of) | Ty::Vec(_, of) | Ty::Mat(_, _, of) => Ty::Scalar(of),
            _ => self.float_type(),
        };
        let at = Expr::from(index);
        match self.random().weighted([4, 4, 3, 2]) {
            0 => {
                let count = self.count(3, 9);
                let range = if self.random().chance(20) {
                    vec![Expr::Int(1), Expr::from(&count)]
                } else {
                    vec![Expr::from(&count)]
                };
                (range, None)
            }
            1 => {
                let len = self.random().between(3, 9) as u32;
                let table = self.side_table(element, vec![len]);
                let extent = Expr::from(&table).attr("shape").index(vec![Expr::Int(0)]);
                (vec![extent], Some((Expr::from(&table).index(vec![at]), element)))
            }
            2 if self.dims().len() == 1 => {
                let len = self.random().between(3, 7) as u32;
                let shape = vec![self.dims()[0], len];
                let table = self.side_table(element, shape);
                let extent = Expr::from(&table).attr("shape").index(vec![Expr::Int(1)]);
                let row = self.index(0);
                (vec![extent], Some((Expr::from(&table).index(vec![row, at]), element)))
            }
            _ => {
                let most = if self.random().chance(70) {
                    self.random().between(3, 8)
                } else {
                    self.random().between(17, 24)
                };
                let range = if self.random().chance(25) {
                    vec![Expr::Int(1), Expr::Int(most), Expr::Int(2)]
                } else {
                    vec![Expr::Int(most)]
                };
                (range, None)
            }
        }
    }

    /// Writes the update of a total in one iteration of a loop.
    pub(super) fn write_update(&mut self, total: &Name, ty: Ty, product: bool, since: usize) {
        let place = Expr::from(total);
        let Ty::Scalar(of) = ty else {
            self.bindings_of_loop(ty, 1, total, since);
            let value = self.local_expr(ty, 2, since);
            match ty {
                Ty::Quat | Ty::Transform => {
                    self.push(Stmt::Assign(vec![place.clone()], place.mul(value)));
                }
                _ => self.push(Stmt::Augment(place, "+", value)),
            }
            return;
        };
        if self.random().chance(35) {
            self.bindings_of_loop(ty, 2, total, since);
        }
        if self.random().chance(18) {
            self.maybe_continue(&place, since);
        }
        if !of.is_float() {
            let value = self.local_expr(ty, 2, since);
            let op = self.random().pick(&["+", "+", "^", "-"]);
            self.push(match op {
                "^" => Stmt::Assign(vec![place.clone()], Expr::binary(place.clone(), "^", value)),
                op => Stmt::Augment(place.clone(), op, value),
            });
        } else if product {
            let value = self.local_expr(ty, 1, since);
            let value = self.named(ty, value);
            let part = self.random().pick(&[0.1, 0.2, 0.25, 0.05]);
            let (one, part) = (self.literal(of, 1.0), self.literal(of, part));
            self.push(Stmt::Augment(place.clone(), "*", one.add(part.mul(value))));
        } else {
            let value = self.local_expr(ty, 2, since);
            let stmt = self.float_update(place.clone(), of, value);
            self.push(stmt);
        }
        if self.random().chance(15) && of.is_float() {
            let limit = self.some_float(of);
            let op = self.random().pick(&[">", "<"]);
            let limit = if op == "<" { Expr::unary("-", limit) } else { limit };
            let condition = Expr::binary(place, op, limit);
            self.push(Stmt::If(vec![(condition, vec![Stmt::Break])], vec![]));
        }
    }

    /// May write a `continue` under a condition that changes with the iteration.
    fn maybe_continue(&mut self, place: &Expr, since: usize) {
        let moving = [self.names_since(since), vec![place.clone()]].concat();
        let mark = self.mark();
        let still = |_: &Scope, expr: &Expr| !holds_any(expr, &moving);
        match self.drawn(|m| m.truth(1), still) {
            Ok(condition) => {
                let leave = vec![Stmt::Continue];
                self.push(Stmt::If(vec![(condition, leave)], vec![]));
            }
            Err(_) => self.reset(&mark),
        }
    }

    /// Returns the statement that adds a value to a total of floats or mixes it in.
    fn float_update(&mut self, place: Expr, of: Scalar, value: Expr) -> Stmt {
        match self.random().below(6) {
            0 => {
                let keep = self.random().pick(&[0.5, 0.6, 0.75, 0.8, 0.9]);
                let keep = self.literal(of, keep);
                Stmt::Assign(vec![place.clone()], place.mul(keep).add(value))
            }
            1 => {
                let word = self.random().pick(&["sin", "tanh", "cos"]);
                Stmt::Assign(vec![place.clone()], Expr::wp(word, vec![place.add(value)]))
            }
            2 => {
                let word = self.random().pick(&["max", "min"]);
                Stmt::Assign(vec![place.clone()], Expr::wp(word, vec![place, value]))
            }
            _ => Stmt::Augment(place, "+", value),
        }
    }

    /// Writes a `while` loop that ends when a number is small or after a number of steps.
    pub(super) fn while_until_small(&mut self) -> Name {
        let (of, ty) = (self.real(), self.float_type());
        let start = self.float(of, 2);
        let start = self.never_negative(of, start).add(self.literal(of, 1.0));
        let value = self.name_for(ty);
        self.push(Stmt::Assign(vec![Expr::from(&value)], start));
        let turns = self.name_from(&["k", "it", "steps_done", "tries", "pass_no"]);
        self.push(Stmt::Assign(vec![Expr::from(&turns)], Expr::call("int", vec![Expr::Int(0)])));
        let limit = self.random().pick(&[0.25, 0.3, 0.4, 0.5]);
        let limit = self.literal(of, limit);
        let most = if self.random().chance(50) {
            Expr::Int(self.random().between(4, 12))
        } else {
            Expr::from(&self.count(4, 9))
        };
        let small = Expr::binary(Expr::from(&value), ">", limit);
        let often = Expr::binary(Expr::from(&turns), "<", most);
        let leaves_by_break = self.random().chance(30);
        let body = self.block(|m| {
            let since = m.next_var();
            let by = m.local_expr(ty, 2, since);
            let by = m.named(ty, by);
            let (keep, step) =
                (m.random().pick(&[0.5, 0.6, 0.7, 0.75]), m.random().pick(&[0.05, 0.1, 0.2]));
            let (keep, step) = (m.literal(of, keep), m.literal(of, step));
            let place = Expr::from(&value);
            let next = place.clone().mul(keep).add(step.mul(by));
            m.push(Stmt::Assign(vec![place], next));
            m.push(Stmt::Augment(Expr::from(&turns), "+", Expr::Int(1)));
            if leaves_by_break {
                let most = Expr::Int(m.random().between(4, 8));
                m.push(Stmt::If(
                    vec![(Expr::binary(Expr::from(&turns), ">=", most), vec![Stmt::Break])],
                    vec![],
                ));
            }
        });
        let condition = if leaves_by_break { small } else { Expr::binary(small, "and", often) };
        self.push(Stmt::While(condition, body));
        self.reveal(&value, ty);
        if self.random().chance(50) {
            self.reveal(&turns, INT);
        }
        value
    }
}
