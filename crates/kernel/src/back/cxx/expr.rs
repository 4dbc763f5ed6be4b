//! Expressions being put together: text, how tightly it binds, and what it depends on.

use crate::ir::function::LocalId;

/// How tightly an expression binds, from loosest to tightest.
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
    /// Whether C++ gives it exactly its type. If not, its value is right all the same, as a narrower
    /// or promoted integer.
    pub(super) exact: bool,
    /// A literal, a name, or part of one: as good written twice as once.
    pub(super) atom: bool,
    pub(super) needs: Needs,
    /// The expression as `left op right`, when `left op= right` would say the same.
    pub(super) compound: Option<Box<Compound>>,
    /// Of a composite with one scalar everywhere: the scalar.
    pub(super) splat: Option<Box<Expr>>,
}

/// `left op right`
#[derive(Clone, Debug)]
pub(super) struct Compound {
    pub(super) left: String,
    pub(super) op: &'static str,
    pub(super) right: String,
}

/// What keeps an expression from being moved down.
#[derive(Clone, Default, Debug)]
pub(super) struct Needs {
    /// It reads memory that others may write.
    pub(super) memory: bool,
    /// It may fault.
    pub(super) faults: bool,
    /// Variables that it reads.
    pub(super) locals: Vec<LocalId>,
}

impl Needs {
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
            needs: Needs::default(),
            compound: None,
            splat: None,
        }
    }

    pub(super) fn atom(text: impl Into<String>) -> Self {
        Self { atom: true, ..Self::new(text, Level::Primary) }
    }

    /// A call.
    pub(super) fn call(name: &str, args: &[&Self]) -> Self {
        Self::call_ending(name, args, "")
    }

    /// A call with something behind its arguments.
    pub(super) fn call_ending(name: &str, args: &[&Self], end: &str) -> Self {
        let texts: Vec<&str> = args.iter().map(|arg| arg.text.as_str()).collect();
        Self::new(format!("{name}({}{end})", texts.join(", ")), Level::Primary).of(args)
    }

    /// `left op right`, each side in parentheses if it binds less tightly than the operator, or if
    /// leaving them out is right but hard to read.
    pub(super) fn infix(level: Level, op: &'static str, left: &Self, right: &Self) -> Self {
        let (l, r) = (left.beside(level, false), right.beside(level, true));
        let mut expr = Self::new(format!("{l} {op} {r}"), level).of(&[left, right]);
        expr.compound =
            Some(Box::new(Compound { left: left.text.clone(), op, right: right.text.clone() }));
        expr
    }

    /// Takes over what the operands depend on.
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

    /// The text as an operand that must bind at least so tightly.
    pub(super) fn at(&self, level: Level) -> String {
        if self.level >= level { self.text.clone() } else { format!("({})", self.text) }
    }

    fn beside(&self, level: Level, right: bool) -> String {
        // A minus after a minus would read as a decrement.
        if right && self.text.starts_with('-') && level >= Level::Sum {
            return format!("({})", self.text);
        }
        let chained = !right && self.level == level;
        let chains = !matches!(level, Level::Equality | Level::Relation | Level::Shift);
        if chained && chains { self.text.clone() } else { self.at(operand_level(level)) }
    }

    /// `type(expression)`
    pub(super) fn cast(&self, ty: &str) -> Self {
        Self::new(format!("{ty}({})", self.text), Level::Primary).of(&[self])
    }
}

/// How tightly an operand must bind: people know `a * b + c`, `a + b < c` and `a < b && c`, the rest
/// gets parentheses.
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
