//! Arithmetic over numbers and names, a tree until all labels are known.

use std::ops::RangeInclusive;

use crate::error::Complaint;
use crate::lex::{SourcePosition, Token};

#[derive(Clone, Debug)]
pub(crate) enum Expression {
    Number(i64),
    Name {
        name: String,
        column: u32,
    },
    /// ROM bank in which a label lies: `bank(Label)`.
    Bank {
        name: String,
        column: u32,
    },
    /// `@`, the address of the statement.
    Here,
    Unary {
        operator: Unary,
        value: Box<Expression>,
    },
    Binary {
        operator: &'static str,
        column: u32,
        left: Box<Expression>,
        right: Box<Expression>,
    },
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Unary {
    Minus,
    Not,
    Low,
    High,
}

/// Values of names.
pub(crate) trait Names {
    fn value(&self, name: &str, column: u32) -> Result<i64, Complaint>;
    fn bank(&self, name: &str, column: u32) -> Result<i64, Complaint>;
    fn here(&self) -> i64;
}

impl Expression {
    /// Evaluates a number, and refuses it outside of a range.
    pub(crate) fn within(
        &self,
        range: RangeInclusive<i64>,
        what: &str,
        column: u32,
        names: &impl Names,
    ) -> Result<i64, Complaint> {
        let found = self.evaluate(names)?;
        if range.contains(&found) {
            return Ok(found);
        }
        let message = format!("{what} is {} to {}, found {found}", range.start(), range.end());
        Err(Complaint::new(column, message))
    }

    pub(crate) fn evaluate(&self, names: &impl Names) -> Result<i64, Complaint> {
        match self {
            Expression::Number(value) => Ok(*value),
            Expression::Name { name, column } => names.value(name, *column),
            Expression::Bank { name, column } => names.bank(name, *column),
            Expression::Here => Ok(names.here()),
            Expression::Unary { operator, value } => {
                let value = value.evaluate(names)?;
                Ok(match operator {
                    Unary::Minus => value.wrapping_neg(),
                    Unary::Not => !value,
                    Unary::Low => value & 0xFF,
                    Unary::High => value >> 8 & 0xFF,
                })
            }
            Expression::Binary { operator, column, left, right } => {
                combine(operator, left.evaluate(names)?, right.evaluate(names)?, *column)
            }
        }
    }
}

fn combine(operator: &str, left: i64, right: i64, column: u32) -> Result<i64, Complaint> {
    let shift = u32::try_from(right).ok().filter(|shift| *shift < 32);
    let no_shift = || Complaint::new(column, format!("shift by {right}; 0 to 31 are allowed"));
    let by_zero = || Complaint::new(column, "division by zero");
    match operator {
        "+" => Ok(left.wrapping_add(right)),
        "-" => Ok(left.wrapping_sub(right)),
        "*" => Ok(left.wrapping_mul(right)),
        "/" => left.checked_div(right).ok_or_else(by_zero),
        "%" => left.checked_rem(right).ok_or_else(by_zero),
        "&" => Ok(left & right),
        "|" => Ok(left | right),
        "^" => Ok(left ^ right),
        "<<" => shift.map(|shift| left.wrapping_shl(shift)).ok_or_else(no_shift),
        ">>" => shift.map(|shift| left.wrapping_shr(shift)).ok_or_else(no_shift),
        _ => unreachable!("the parser makes no other operator"),
    }
}

/// Binary operators by precedence, loosest first.
const LEVELS: [&[&str]; 6] = [&["|"], &["^"], &["&"], &["<<", ">>"], &["+", "-"], &["*", "/", "%"]];

/// Greatest depth of nesting, chosen so that no source can exhaust the stack.
const MAX_DEPTH: usize = 64;

/// Reader of the tokens of a line.
pub(crate) struct Reader<'a> {
    spots: &'a [SourcePosition],
    at: usize,
    end_column: u32,
    depth: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(spots: &'a [SourcePosition], end_column: u32) -> Reader<'a> {
        Reader { spots, at: 0, end_column, depth: 0 }
    }

    pub(crate) fn peek(&self, ahead: usize) -> Option<&'a Token> {
        self.spots.get(self.at + ahead).map(|spot| &spot.token)
    }

    pub(crate) fn column(&self) -> u32 {
        self.spots.get(self.at).map_or(self.end_column, |spot| spot.column)
    }

    pub(crate) fn advance(&mut self) {
        self.at += 1;
    }

    /// Consumes a sign and returns true, if this sign comes next.
    pub(crate) fn accept(&mut self, sign: &str) -> bool {
        let is_next = matches!(self.peek(0), Some(Token::Sign(next)) if *next == sign);
        self.at += usize::from(is_next);
        is_next
    }

    pub(crate) fn expect(&mut self, sign: &str) -> Result<(), Complaint> {
        match self.accept(sign) {
            true => Ok(()),
            false => Err(self.unexpected(&format!("`{sign}`"))),
        }
    }

    /// Makes the complaint that names what is allowed here.
    pub(crate) fn unexpected(&self, wanted: &str) -> Complaint {
        let found = match self.peek(0) {
            None => "the end of the line".to_string(),
            Some(Token::Word(word)) => format!("`{word}`"),
            Some(Token::Number(number)) => format!("`{number}`"),
            Some(Token::Text(text)) => format!("\"{text}\""),
            Some(Token::Sign(sign)) => format!("`{sign}`"),
        };
        Complaint::new(self.column(), format!("expected {wanted}, found {found}"))
    }

    pub(crate) fn expression(&mut self) -> Result<Expression, Complaint> {
        self.level(0)
    }

    fn level(&mut self, level: usize) -> Result<Expression, Complaint> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.level(level + 1)?;
        loop {
            let column = self.column();
            let Some(operator) = operators.iter().find(|operator| self.accept(operator)) else {
                return Ok(left);
            };
            let right = Box::new(self.level(level + 1)?);
            left = Expression::Binary { operator, column, left: Box::new(left), right };
        }
    }

    fn unary(&mut self) -> Result<Expression, Complaint> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Complaint::new(self.column(), "an expression nested too deeply"));
        }
        let value = match (self.accept("-"), self.accept("~")) {
            (true, _) => self.applied(Unary::Minus),
            (_, true) => self.applied(Unary::Not),
            _ => self.atom(),
        };
        self.depth -= 1;
        value
    }

    fn applied(&mut self, operator: Unary) -> Result<Expression, Complaint> {
        Ok(Expression::Unary { operator, value: Box::new(self.unary()?) })
    }

    fn atom(&mut self) -> Result<Expression, Complaint> {
        let column = self.column();
        match self.peek(0) {
            Some(Token::Number(number)) => {
                self.advance();
                Ok(Expression::Number(*number))
            }
            Some(Token::Sign("@")) => {
                self.advance();
                Ok(Expression::Here)
            }
            Some(Token::Sign("(")) => self.parenthesised(),
            Some(Token::Word(word)) => {
                let is_call = matches!(self.peek(1), Some(Token::Sign("(")));
                self.advance();
                match word.to_ascii_lowercase().as_str() {
                    "low" if is_call => self.half(Unary::Low),
                    "high" if is_call => self.half(Unary::High),
                    "bank" if is_call => self.bank(),
                    _ => Ok(Expression::Name { name: word.clone(), column }),
                }
            }
            _ => Err(self.unexpected("a number, a name or `(`")),
        }
    }

    fn parenthesised(&mut self) -> Result<Expression, Complaint> {
        self.expect("(")?;
        let inside = self.expression()?;
        self.expect(")")?;
        Ok(inside)
    }

    fn half(&mut self, operator: Unary) -> Result<Expression, Complaint> {
        Ok(Expression::Unary { operator, value: Box::new(self.parenthesised()?) })
    }

    fn bank(&mut self) -> Result<Expression, Complaint> {
        self.expect("(")?;
        let column = self.column();
        let Some(Token::Word(name)) = self.peek(0) else {
            return Err(self.unexpected("a label"));
        };
        self.advance();
        self.expect(")")?;
        Ok(Expression::Bank { name: name.clone(), column })
    }
}
