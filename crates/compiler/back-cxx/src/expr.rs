//! Expressions under construction: text, precedence, and the memory and variables that they depend
//! on.

use gbxcule_ir::function::LocalId;
use std::borrow::Cow;

/// Precedence of an expression, from loosest to tightest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Level {
    Choice,
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Equality,
    Relation,
    Shift,
    Sum,
    Product,
    Unary,
    Primary,
}

/// An expression.
#[derive(Clone, Debug)]
pub(super) struct Expr {
    pub(super) text: String,
    pub(super) level: Level,
    /// True if C++ gives the expression exactly its type. Otherwise the value is right, but in a
    /// narrower or promoted integer type.
    pub(super) exact: bool,
    /// True for a literal, a name, or a component of a name: it may be written twice.
    pub(super) atom: bool,
    pub(super) needs: MoveBarriers,
    /// Operator and operands of `left op right`, if `left op= right` would mean the same.
    pub(super) compound: Option<Compound>,
    /// Scalar of a composite whose parts are all equal.
    pub(super) splat: Option<Box<Expr>>,
}

/// Operator of an infix expression, and the positions of its operands in the expression's text,
/// without their parentheses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Compound {
    left: (usize, usize),
    pub(super) op: &'static str,
    right: (usize, usize),
}

impl Compound {
    pub(super) fn left(self, text: &str) -> &str {
        &text[self.left.0..self.left.1]
    }

    pub(super) fn right(self, text: &str) -> &str {
        &text[self.right.0..self.right.1]
    }

    /// Returns the positions after `by` bytes of text were inserted before the expression.
    pub(super) fn moved(self, by: usize) -> Self {
        let moved = |(start, end)| (start + by, end + by);
        Self { left: moved(self.left), op: self.op, right: moved(self.right) }
    }
}

/// Reasons for which an expression can't be moved behind later statements.
#[derive(Clone, Default, Debug)]
pub(super) struct MoveBarriers {
    /// True if the expression reads memory that other code may write.
    pub(super) memory: bool,
    /// True if the expression may fault.
    pub(super) faults: bool,
    /// Variables that the expression reads.
    pub(super) locals: Vec<LocalId>,
}

impl MoveBarriers {
    pub(super) fn join(&mut self, other: &Self) {
        self.memory |= other.memory;
        self.faults |= other.faults;
        for &local in &other.locals {
            if !self.locals.contains(&local) {
                self.locals.push(local);
            }
        }
    }
}

impl Expr {
    pub(super) fn new(text: impl Into<String>, level: Level) -> Self {
        Self {
            text: text.into(),
            level,
            exact: true,
            atom: false,
            needs: MoveBarriers::default(),
            compound: None,
            splat: None,
        }
    }

    pub(super) fn atom(text: impl Into<String>) -> Self {
        Self { atom: true, ..Self::new(text, Level::Primary) }
    }

    /// Makes a call.
    pub(super) fn call(name: &str, args: &[&Self]) -> Self {
        Self::call_ending(name, args, "")
    }

    /// Makes a call with more text after its arguments.
    pub(super) fn call_ending(name: &str, args: &[&Self], end: &str) -> Self {
        let length: usize = args.iter().map(|arg| arg.text.len() + 2).sum();
        let mut text = String::with_capacity(name.len() + length + end.len() + 2);
        text.push_str(name);
        text.push('(');
        push_list(&mut text, args.iter().map(|arg| arg.text.as_str()));
        text.push_str(end);
        text.push(')');
        Self::new(text, Level::Primary).of(args)
    }

    /// Makes `left op right`. A side stands in parentheses if it binds less tightly than the
    /// operator, or if the text without them would be correct but hard to read.
    pub(super) fn infix(level: Level, op: &'static str, left: &Self, right: &Self) -> Self {
        let length = left.text.len() + op.len() + right.text.len() + 6;
        let mut text = String::with_capacity(length);
        let first = left.put_at(left.stands_without_parentheses(level, false), &mut text);
        text.push(' ');
        text.push_str(op);
        text.push(' ');
        let second = right.put_at(right.stands_without_parentheses(level, true), &mut text);
        let compound = Some(Compound { left: first, op, right: second });
        Self { compound, ..Self::new(text, level).of(&[left, right]) }
    }

    /// Adds the dependences of the operands.
    pub(super) fn of(mut self, operands: &[&Self]) -> Self {
        operands.iter().for_each(|operand| self.needs.join(&operand.needs));
        self
    }

    pub(super) fn inexact(self) -> Self {
        Self { exact: false, ..self }
    }

    pub(super) fn exact_if(self, exact: bool) -> Self {
        Self { exact, ..self }
    }

    pub(super) fn faulting(mut self, faults: bool) -> Self {
        self.needs.faults |= faults;
        self
    }

    /// Returns the text as an operand that must bind at least as tightly as `level`.
    pub(super) fn at(&self, level: Level) -> Cow<'_, str> {
        if self.level >= level {
            Cow::Borrowed(&self.text)
        } else {
            Cow::Owned(["(", &self.text, ")"].concat())
        }
    }

    /// Appends the text, with parentheses unless `bare`; returns the positions of the text's begin
    /// and end.
    fn put_at(&self, bare: bool, text: &mut String) -> (usize, usize) {
        if !bare {
            text.push('(');
        }
        let start = text.len();
        text.push_str(&self.text);
        let end = text.len();
        if !bare {
            text.push(')');
        }
        (start, end)
    }

    /// Returns true if the expression needs no parentheses beside an operator.
    fn stands_without_parentheses(&self, level: Level, right: bool) -> bool {
        // A minus after a minus would read as a decrement.
        if right && self.text.starts_with('-') && level >= Level::Sum {
            return false;
        }
        let chained = !right && self.level == level;
        let chains = !matches!(level, Level::Equality | Level::Relation | Level::Shift);
        chained && chains || self.level >= operand_level(level)
    }

    /// Makes `type(expression)`.
    pub(super) fn cast(&self, ty: &str) -> Self {
        Self::new([ty, "(", &self.text, ")"].concat(), Level::Primary).of(&[self])
    }
}

/// Appends parts with commas between them.
pub(super) fn push_list<'a>(text: &mut String, parts: impl Iterator<Item = &'a str>) {
    for (position, part) in parts.enumerate() {
        if position > 0 {
            text.push_str(", ");
        }
        text.push_str(part);
    }
}

/// Returns the precedence that an operand needs: readers know `a * b + c`, `a + b < c` and `a < b
/// && c`; all other combinations get parentheses.
fn operand_level(level: Level) -> Level {
    match level {
        Level::Choice | Level::Or | Level::And => Level::Equality,
        Level::Equality | Level::Relation => Level::Sum,
        Level::Sum => Level::Product,
        _ => Level::Unary,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn infix(level: Level, op: &'static str, left: &Expr, right: &Expr) -> Expr {
        Expr::infix(level, op, left, right)
    }

    #[test]
    fn parentheses_stand_where_they_are_needed_or_help() {
        let (a, b, minus) = (Expr::atom("a"), Expr::atom("b"), Expr::new("-c", Level::Unary));
        let sum = infix(Level::Sum, "+", &a, &b);
        let cases = [
            (infix(Level::Sum, "-", &sum, &sum), "a + b - (a + b)"),
            (infix(Level::Product, "*", &sum, &minus), "(a + b) * (-c)"),
            (infix(Level::Sum, "+", &infix(Level::Product, "*", &a, &b), &sum), "a * b + (a + b)"),
            (infix(Level::Relation, "<", &sum, &b), "a + b < b"),
            (infix(Level::BitAnd, "&", &sum, &b), "(a + b) & b"),
            (infix(Level::BitOr, "|", &infix(Level::BitAnd, "&", &a, &b), &b), "(a & b) | b"),
            (infix(Level::Shift, "<<", &a, &sum), "a << (a + b)"),
            (infix(Level::And, "&&", &infix(Level::Relation, "<", &a, &b), &a), "a < b && a"),
            (infix(Level::Or, "||", &infix(Level::And, "&&", &a, &b), &a), "(a && b) || a"),
            (
                infix(Level::Equality, "==", &infix(Level::Equality, "==", &a, &b), &a),
                "(a == b) == a",
            ),
        ];
        for (expr, expected) in cases {
            assert_eq!(expr.text, expected);
        }
    }
}
