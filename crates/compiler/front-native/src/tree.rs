//! Statements and expressions of a snippet.

use gbxcule_ir::op::{BinaryOp, CompareOp};
use gbxcule_ir::ty::Scalar;

/// A type that a snippet names.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum SnippetType {
    /// `auto`
    Auto,
    Scalar(Scalar),
    /// `wp::vec_t<3, wp::float32>`
    Vector(u16, Scalar),
    /// `wp::mat_t<2, 2, wp::float32>`
    Matrix(u16, u16, Scalar),
}

/// A statement.
#[derive(Debug)]
pub(crate) enum Stmt {
    Block(Vec<Stmt>),
    /// `int a = 1;`
    Declare(SnippetType, String, Option<Expr>),
    /// `a = b`, `a += b`
    Assign(Expr, Option<BinaryOp>, Expr),
    If(Expr, Box<Stmt>, Option<Box<Stmt>>),
    /// The condition, the body, and the statement after each round.
    While(Option<Expr>, Box<Stmt>, Option<Box<Stmt>>),
    Return(Option<Expr>),
    Break,
    /// An expression whose value is dropped.
    Drop(Expr),
}

/// An expression.
#[derive(Debug)]
pub(crate) enum Expr {
    Bool(bool),
    Int(Scalar, i128),
    Float(Scalar, f64),
    Name(String),
    Element(Box<Expr>, Box<Expr>),
    Member(Box<Expr>, String),
    /// A function by its name without `wp::`.
    Call(String, Vec<Expr>),
    /// `(float)x`, `wp::vec3(x, y, z)`
    Make(SnippetType, Vec<Expr>),
    /// `reinterpret_cast<float&>(x)`
    Bits(Scalar, Box<Expr>),
    Negate(Box<Expr>),
    /// `!x`
    Not(Box<Expr>),
    /// `~x`
    Invert(Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    Compare(CompareOp, Box<Expr>, Box<Expr>),
    /// `&&` if the flag is true, `||` if it is false.
    Both(bool, Box<Expr>, Box<Expr>),
    Choose(Box<Expr>, Box<Expr>, Box<Expr>),
}
