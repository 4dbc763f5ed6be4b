//! Rejects expressions that a person wouldn't write because they can be simplified.
//!
//! An expression is *senseless* if it simplifies to a part of itself (`wp.max(u, u)`, `wp.abs(x *
//! x)`, an inverse of an inverse), has the same value for all inputs (`x - x`, `wp.sin(x) < 2.0`),
//! is an arithmetic of constants (`2.0 * 0.5`), or computes a value twice. The generator draws such
//! an expression again; a text that still contains one is rejected (`is_sound`).

use super::range::{KnownRanges, Range, range};
use crate::ast::{Expr, Function, Stmt, Text};
use std::collections::{HashMap, HashSet};

/// Returns true for an expression as short as a name: a name, a component, an element at indices
/// that are names or numbers.
pub(super) fn is_name_like(expr: &Expr) -> bool {
    match expr {
        Expr::Name(_) | Expr::Int(_) | Expr::Float(_) => true,
        Expr::Attr(of, _) => is_name_like(of),
        Expr::Index(of, indices) => is_name_like(of) && indices.iter().all(is_name_like),
        _ => is_literal(expr),
    }
}

/// Returns true for a literal, also one with a sign or in a conversion to its type.
fn is_literal(expr: &Expr) -> bool {
    match expr {
        Expr::Int(_) | Expr::Float(_) => true,
        Expr::Unary("-", of) => is_literal(of),
        Expr::Call(name, args) => is_cast(name) && args.iter().all(is_literal),
        _ => false,
    }
}

/// Returns true if a function of this name converts a scalar to a type.
fn is_cast(name: &str) -> bool {
    let name = name.strip_prefix("wp.").unwrap_or(name);
    ["float", "int", "uint", "bfloat", "bool"].iter().any(|of| {
        name.strip_prefix(of).is_some_and(|width| width.bytes().all(|it| it.is_ascii_digit()))
    })
}

/// Returns true if an expression reads a variable or an element. Constants of the text, in
/// capitals, do not count.
pub(super) fn reads(expr: &Expr) -> bool {
    match expr {
        Expr::Name(name) => name.chars().any(char::is_lowercase),
        Expr::Index(..) => true,
        Expr::Keyword(..) => false,
        _ => expr.parts().into_iter().any(reads),
    }
}

/// Returns the number of nodes of an expression; an element or a component counts as one node.
pub(super) fn size(expr: &Expr) -> usize {
    if is_name_like(expr) { 1 } else { 1 + expr.parts().into_iter().map(size).sum::<usize>() }
}

/// Returns true if two expressions are the same text up to the order of operands of sums and
/// products.
fn same(one: &Expr, other: &Expr) -> bool {
    let (Expr::Binary(a, op, b), Expr::Binary(c, also, d)) = (one, other) else {
        return one == other;
    };
    op == also && (same(a, c) && same(b, d) || matches!(*op, "+" | "*") && same(a, d) && same(b, c))
}

/// Returns true if two expressions have a common part that is larger than a name.
fn share(one: &Expr, other: &Expr) -> bool {
    if is_name_like(one) || !reads(one) {
        return false;
    }
    holds(other, one) || one.parts().into_iter().any(|part| share(part, other))
}

fn holds(expr: &Expr, wanted: &Expr) -> bool {
    same(expr, wanted)
        || !is_name_like(expr) && expr.parts().into_iter().any(|it| holds(it, wanted))
}

/// Returns true if `expr` reads one of the wanted expressions.
pub(super) fn holds_any(expr: &Expr, wanted: &[Expr]) -> bool {
    wanted.contains(expr) || expr.parts().into_iter().any(|part| holds_any(part, wanted))
}

/// Collects the operands of a chain of the same operators.
fn chain<'e>(expr: &'e Expr, ops: &[&str], found: &mut Vec<&'e Expr>) {
    match expr {
        Expr::Binary(left, op, right) if ops.contains(op) => {
            chain(left, ops, found);
            chain(right, ops, found);
        }
        _ => found.push(expr),
    }
}

/// Returns how often the most frequent expression occurs.
fn most_alike(terms: &[&Expr]) -> usize {
    terms
        .iter()
        .map(|one| terms.iter().filter(|other| reads(one) && same(one, other)).count())
        .max()
        .unwrap_or(0)
}

/// Returns true if this node of an expression is senseless; its parts were judged before.
pub(super) fn is_senseless(expr: &Expr, known: &KnownRanges) -> bool {
    let parts = expr.parts();
    let repeats = parts
        .iter()
        .enumerate()
        .any(|(at, one)| parts[at + 1..].iter().any(|other| share(one, other)));
    repeats
        || match expr {
            Expr::Binary(left, op, right) => operation(expr, left, op, right, known),
            Expr::Unary("not", of) => matches!(**of, Expr::Unary("not", _) | Expr::Binary(..)),
            Expr::Unary(op, of) => {
                matches!(**of, Expr::Unary(inner, _) if inner == *op)
                    || !reads(of) && !is_literal(of)
            }
            Expr::If(condition, accept, reject) => !reads(condition) || same(accept, reject),
            Expr::Call(name, args) => call(name, args, known),
            _ => false,
        }
}

/// Returns the argument of a call to an inverse function.
fn undoes(expr: &Expr) -> Option<&Expr> {
    match expr {
        Expr::Call(name, args) if name.ends_with("inverse") => args.first(),
        _ => None,
    }
}

fn operation(
    whole: &Expr,
    left: &Expr,
    op: &'static str,
    right: &Expr,
    known: &KnownRanges,
) -> bool {
    let kin: &[&str] = match op {
        "+" | "-" => &["+", "-"],
        "*" => &["*"],
        "and" => &["and"],
        "or" => &["or"],
        "&" => &["&"],
        "|" => &["|"],
        "^" => &["^"],
        // Examples: `x << 2 << 1`, `x % 9 % 5`, `q @ q @ q`.
        _ => {
            let again =
                matches!(left, Expr::Binary(_, inner, by) if *inner == op && is_literal(by));
            let compared = matches!(op, "<" | ">" | "<=" | ">=" | "==" | "!=");
            return again
                || !reads(left) && !reads(right)
                || op != "@" && same(left, right)
                || compared && range(left, known).is_apart(range(right, known));
        }
    };
    let mut terms = Vec::new();
    chain(whole, kin, &mut terms);
    let literals = terms.iter().filter(|term| is_literal(term)).count();
    let neutral = |it: &Expr| {
        let only = |value: f64| range(it, known) == Range::only(value) && is_literal(it);
        only(0.0) || op == "*" && only(1.0)
    };
    let undone = |it: &&Expr| undoes(it).is_some_and(|of| terms.contains(&of));
    // A factor may occur three times, as in a cube; a term once, because its double is `2.0 * x`.
    let most = if op == "*" { 3 } else { 1 };
    let identity = |it: &&Expr| matches!(it, Expr::Call(name, _) if &**name == "wp.identity");
    literals > 1
        || !terms.iter().any(|term| reads(term) || identity(term))
        || most_alike(&terms) > most
        || terms.iter().any(undone)
        || op != "and" && op != "or" && terms.iter().any(|term| neutral(term))
}

fn call(name: &str, args: &[Expr], known: &KnownRanges) -> bool {
    let is_call_of =
        |by: &[&str], it: &Expr| matches!(it, Expr::Call(name, _) if by.contains(&&**name));
    if is_cast(name) {
        return args.iter().any(|it| matches!(it, Expr::Call(of, _) if is_cast(of) && reads(it)));
    }
    let alike = args
        .iter()
        .enumerate()
        .any(|(at, one)| reads(one) && args[at + 1..].iter().any(|other| same(one, other)));
    if args.iter().any(|it| undoes(it).is_some_and(|of| args.contains(of))) {
        return true;
    }
    // Arguments may repeat in squares and in the numbers of a small matrix.
    let may_repeat = matches!(name, "wp.dot" | "wp.outer" | "wp.ddot" | "wp.cw_mul")
        || name.starts_with("wp.mat2")
        || name.starts_with("wp.mat3");
    if alike && !may_repeat || most_alike(&args.iter().collect::<Vec<_>>()) > 2 {
        return true;
    }
    let range_of = |at: usize| args.get(at).map_or(Range::ALL, |it| range(it, known));
    match name {
        "wp.abs" | "wp.sign" => {
            range_of(0).least >= 0.0 || range_of(0).most <= 0.0 || is_call_of(&[name], &args[0])
        }
        "wp.min" | "wp.max" => {
            range_of(0).is_apart(range_of(1))
                || args.iter().any(|it| {
                    matches!(it, Expr::Call(inner, terms)
                        if **inner == *name && terms.iter().any(|term| args.contains(term)))
                })
                || !args.iter().any(reads)
        }
        "wp.clamp" => {
            let (low, high) = (range_of(1).least, range_of(2).most);
            range_of(0).least >= low
                || range_of(0).most <= high
                || is_call_of(&[name], &args[0])
                || !reads(&args[0])
        }
        "wp.where" => !reads(&args[0]),
        "wp.length" | "wp.length_sq" => is_call_of(&["wp.normalize"], &args[0]) || !reads(&args[0]),
        "wp.normalize" => {
            is_call_of(&[name, "wp.quat_from_axis_angle", "wp.quat_rpy"], &args[0])
                || !reads(&args[0])
        }
        "wp.tid" | "wp.identity" | "wp.quat_identity" => false,
        _ if name.starts_with("wp.vec") || name.starts_with("wp.mat") => false,
        _ if name.starts_with("wp.") => {
            !args.is_empty() && !args.iter().any(reads)
                || args.len() == 1 && is_call_of(&[name], &args[0])
        }
        _ => false,
    }
}

/// Returns true if no part of a text is senseless.
pub(super) fn is_sound(text: &Text) -> bool {
    text.functions.iter().chain([&text.kernel]).all(|it: &Function| {
        let mut once = HashMap::new();
        visit_assigned(&it.body, &mut |name| *once.entry(name).or_insert(0) += 1);
        let mut walk = Walk {
            sound: true,
            written: HashSet::new(),
            loops: 0,
            once,
            known: KnownRanges::new(),
        };
        walk.block(&it.body);
        walk.sound && !copies(&it.body)
    })
}

/// A walk over the statements of a function.
struct Walk<'t> {
    sound: bool,
    /// Names that the loops around assign.
    written: HashSet<&'t str>,
    loops: usize,
    /// Number of assignments to each name.
    once: HashMap<&'t str, usize>,
    known: KnownRanges,
}

impl<'t> Walk<'t> {
    fn expr(&mut self, expr: &Expr) {
        self.sound &= !is_senseless(expr, &self.known);
        for part in expr.parts() {
            self.expr(part);
        }
    }

    /// Judges a condition or the value of a variable, which in a loop must change with the loop.
    fn moving(&mut self, expr: &Expr) {
        self.expr(expr);
        self.sound &= self.loops == 0 || mentions(expr, &self.written);
    }

    fn block(&mut self, body: &'t [Stmt]) {
        for stmt in body {
            match stmt {
                Stmt::Assign(targets, value) => {
                    let fresh = matches!(targets.as_slice(), [Expr::Name(_)])
                        && reads(value)
                        && !mentions(value, &targets_of(targets));
                    if fresh {
                        self.moving(value);
                    } else {
                        self.expr(value);
                    }
                    if let [Expr::Name(name)] = targets.as_slice()
                        && self.once.get(&**name) == Some(&1)
                    {
                        self.known.insert(name.clone(), range(value, &self.known));
                    }
                }
                Stmt::Augment(_, _, value) | Stmt::Do(value) => self.expr(value),
                Stmt::If(arms, rest) => {
                    for (at, (condition, arm)) in arms.iter().enumerate() {
                        self.moving(condition);
                        let twice = |(also, _): &(Expr, Vec<Stmt>)| same(condition, also);
                        self.sound &= !arms[at + 1..].iter().any(twice) && arm != rest;
                        self.block(arm);
                    }
                    self.block(rest);
                }
                Stmt::For(name, range, body) => {
                    range.iter().for_each(|it| self.expr(it));
                    self.turning(Some(name), body);
                }
                Stmt::While(condition, body) => {
                    self.expr(condition);
                    self.turning(None, body);
                }
                Stmt::Return(values) => values.iter().for_each(|it| self.expr(it)),
                Stmt::Break | Stmt::Continue => {}
            }
        }
    }

    fn turning(&mut self, index: Option<&'t str>, body: &'t [Stmt]) {
        let before = self.written.clone();
        if self.loops == 0 {
            self.written.clear();
        }
        self.written.extend(index);
        visit_assigned(body, &mut |name| _ = self.written.insert(name));
        self.loops += 1;
        self.block(body);
        self.loops -= 1;
        self.written = before;
    }
}

fn targets_of(targets: &[Expr]) -> HashSet<&str> {
    targets.iter().filter_map(root).collect()
}

/// Returns the name that an assignment to a place changes.
fn root(place: &Expr) -> Option<&str> {
    match place {
        Expr::Name(name) => Some(name),
        Expr::Attr(of, _) | Expr::Index(of, _) => root(of),
        _ => None,
    }
}

/// Visits the name of each assignment of the statements, once for each assignment.
fn visit_assigned<'t>(body: &'t [Stmt], visit: &mut dyn FnMut(&'t str)) {
    for stmt in body {
        match stmt {
            Stmt::Assign(targets, _) => targets.iter().filter_map(root).for_each(&mut *visit),
            Stmt::Augment(target, ..) => root(target).into_iter().for_each(&mut *visit),
            Stmt::If(arms, rest) => {
                arms.iter().for_each(|(_, arm)| visit_assigned(arm, visit));
                visit_assigned(rest, visit);
            }
            Stmt::For(name, _, body) => {
                visit(name);
                visit_assigned(body, visit);
            }
            Stmt::While(_, body) => visit_assigned(body, visit),
            _ => {}
        }
    }
}

fn mentions(expr: &Expr, names: &HashSet<&str>) -> bool {
    match expr {
        Expr::Name(name) => names.contains(&**name),
        _ => expr.parts().into_iter().any(|part| mentions(part, names)),
    }
}

/// Returns true if a variable only copies a name or a number and is never changed.
fn copies(body: &[Stmt]) -> bool {
    body.iter().enumerate().any(|(at, stmt)| {
        let Stmt::Assign(targets, value) = stmt else { return false };
        let [Expr::Name(target)] = targets.as_slice() else { return false };
        if !matches!(value, Expr::Name(_) | Expr::Float(_) | Expr::Int(_)) {
            return false;
        }
        let mut changed = HashSet::new();
        visit_assigned(&body[at + 1..], &mut |name| _ = changed.insert(name));
        !changed.contains(&**target)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn n(name: &str) -> Expr {
        Expr::Name(name.into())
    }

    fn senseless(expr: &Expr) -> bool {
        is_senseless(expr, &KnownRanges::new())
    }

    #[test]
    fn expressions_that_their_parts_make_needless_are_senseless() {
        let (x, y, half) = (n("x"), n("y"), Expr::Float(0.5));
        let sum = x.clone().add(y.clone());
        for expr in [
            x.clone().sub(x.clone()),
            x.clone().add(x.clone()),
            x.clone().sub(y.clone().add(x.clone())),
            sum.clone().mul(sum.clone()),
            sum.clone().add(y.clone().add(x.clone()).mul(half.clone())),
            half.clone().mul(Expr::Float(2.0)),
            half.clone().mul(x.clone()).mul(Expr::Float(2.0)),
            x.clone().mul(Expr::Float(1.0)),
            x.clone().add(Expr::call("wp.float64", vec![Expr::Float(0.0)])),
            Expr::wp("max", vec![x.clone(), x.clone()]),
            Expr::wp("lerp", vec![x.clone(), x.clone(), half.clone()]),
            Expr::wp("abs", vec![x.clone().mul(x.clone())]),
            Expr::wp("transpose", vec![Expr::wp("transpose", vec![x.clone()])]),
            x.clone().mul(Expr::wp("inverse", vec![x.clone()])),
            Expr::wp(
                "clamp",
                vec![Expr::wp("sin", vec![x.clone()]), Expr::Float(-1.0), Expr::Float(2.0)],
            ),
            Expr::binary(Expr::wp("length_sq", vec![x.clone()]), ">", Expr::Float(-0.2)),
            Expr::select(n("flag"), x.clone(), x.clone()),
            Expr::call("int", vec![Expr::call("float", vec![x.clone()])]),
            Expr::call("remap", vec![x.clone(), x.clone()]),
        ] {
            assert!(senseless(&expr), "{}", crate::spell::expr(&expr));
        }
    }

    #[test]
    fn expressions_that_people_write_are_not_senseless() {
        let (x, y, half) = (n("x"), n("y"), Expr::Float(0.5));
        for expr in [
            x.clone().mul(x.clone()),
            x.clone().mul(x.clone()).mul(x.clone()),
            x.clone().sub(Expr::wp("floor", vec![x.clone()])),
            half.clone().add(Expr::wp("abs", vec![x.clone()])),
            Expr::wp("dot", vec![x.clone(), x.clone()]),
            Expr::wp("max", vec![x.clone(), Expr::Float(0.0)]),
            Expr::wp("vec3", vec![Expr::Float(0.0), Expr::Float(1.0), Expr::Float(0.0)]),
            Expr::binary(x.clone().mul(x.clone()), ">", y.clone()),
            Expr::call("wp.uint8", vec![Expr::wp("round", vec![x.mul(Expr::Float(255.0))])]),
        ] {
            assert!(!senseless(&expr), "{}", crate::spell::expr(&expr));
        }
    }

    #[test]
    fn a_loop_holds_what_changes_with_it() {
        let (x, k) = (n("x"), n("k"));
        let text = |inside: Stmt| {
            let total = n("total");
            let body = vec![inside, Stmt::Augment(total.clone(), "+", n("y").mul(n("k")))];
            let body = vec![
                Stmt::Assign(vec![total], Expr::call("float", vec![Expr::Float(0.0)])),
                Stmt::For("k".into(), vec![Expr::Int(4)], body),
            ];
            let kernel = Function::new("kernel".into(), Vec::new(), body);
            Text { constants: Vec::new(), structs: Vec::new(), functions: Vec::new(), kernel }
        };
        let assign = |value: Expr| Stmt::Assign(vec![n("y")], value);
        let leave = |value: Expr| {
            let condition = Expr::binary(value, "<", Expr::Float(0.5));
            Stmt::If(vec![(condition, vec![Stmt::Break])], Vec::new())
        };
        assert!(is_sound(&text(assign(x.clone().mul(k.clone())))));
        assert!(!is_sound(&text(assign(x.clone().mul(n("z"))))));
        assert!(is_sound(&text(leave(x.clone().mul(n("total"))))));
        assert!(!is_sound(&text(leave(x.mul(n("z"))))));
    }
}
