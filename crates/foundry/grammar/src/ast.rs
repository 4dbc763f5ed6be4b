//! Syntax trees of kernels: the part of Python's syntax that the dialect has, with types where the
//! grammar needs them.
//!
//! The grammar builds the tree and `spell` prints it. A tree may be wrong: the front end checks the
//! printed text like any other text.

use gbxcule_ir::Scalar;
use std::rc::Rc;

/// A name in the text.
pub(crate) type Name = Rc<str>;

/// A type of the dialect other than arrays.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Ty {
    Scalar(Scalar),
    Vec(u8, Scalar),
    Mat(u8, u8, Scalar),
    Quat,
    Transform,
    /// Position of a struct in [`Text`].
    Struct(usize),
}

pub(crate) const FLOAT: Ty = Ty::Scalar(Scalar::F32);
pub(crate) const INT: Ty = Ty::Scalar(Scalar::I32);
pub(crate) const VEC2: Ty = Ty::Vec(2, Scalar::F32);
pub(crate) const VEC3: Ty = Ty::Vec(3, Scalar::F32);
pub(crate) const VEC4: Ty = Ty::Vec(4, Scalar::F32);
pub(crate) const MAT22: Ty = Ty::Mat(2, 2, Scalar::F32);
pub(crate) const MAT33: Ty = Ty::Mat(3, 3, Scalar::F32);

impl Ty {
    /// Returns the scalar that the type is made of; `None` for a struct.
    pub(crate) fn scalar(self) -> Option<Scalar> {
        match self {
            Self::Scalar(of) | Self::Vec(_, of) | Self::Mat(_, _, of) => Some(of),
            Self::Quat | Self::Transform => Some(Scalar::F32),
            Self::Struct(_) => None,
        }
    }
}

/// An expression.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Expr {
    Name(Name),
    Int(i64),
    Float(f64),
    /// `-x`, `~x`, `not x`.
    Unary(&'static str, Box<Expr>),
    /// Arithmetic, a comparison, `and` or `or`.
    Binary(Box<Expr>, &'static str, Box<Expr>),
    /// `accept if condition else reject`: condition, accept, reject.
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// A call of a builtin with its `wp.`, of a type, or of a function of the text.
    Call(Name, Vec<Expr>),
    Index(Box<Expr>, Vec<Expr>),
    Attr(Box<Expr>, Name),
    /// `name=value` in a call.
    Keyword(&'static str, Box<Expr>),
}

/// A statement.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Stmt {
    /// An assignment; several targets take the parts of one result.
    Assign(Vec<Expr>, Expr),
    /// `target op= value`.
    Augment(Expr, &'static str, Expr),
    /// Arms with their conditions, and the statements of `else`.
    If(Vec<(Expr, Vec<Stmt>)>, Vec<Stmt>),
    /// `for name in range(..)`.
    For(Name, Vec<Expr>, Vec<Stmt>),
    While(Expr, Vec<Stmt>),
    Break,
    Continue,
    Return(Vec<Expr>),
    /// A call whose result is not used.
    Do(Expr),
}

/// A parameter: its name, and its type or, unless `dims` is 0, the element type of its array.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Param {
    pub(crate) name: Name,
    pub(crate) ty: Ty,
    pub(crate) dims: u8,
}

/// A struct.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Struct {
    pub(crate) name: Name,
    pub(crate) fields: Vec<(Name, Ty)>,
}

/// A function or the kernel.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Function {
    pub(crate) name: Name,
    pub(crate) params: Vec<Param>,
    pub(crate) body: Vec<Stmt>,
    /// Description of the function, in words.
    pub(crate) docstring: Option<String>,
    /// Comments, each before the statement with this position in the body.
    pub(crate) comments: Vec<(usize, String)>,
}

/// A text with one kernel.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Text {
    pub(crate) constants: Vec<(Name, Expr)>,
    pub(crate) structs: Vec<Struct>,
    pub(crate) functions: Vec<Function>,
    pub(crate) kernel: Function,
}

impl Function {
    pub(crate) fn new(name: Name, params: Vec<Param>, body: Vec<Stmt>) -> Self {
        Self { name, params, body, docstring: None, comments: Vec::new() }
    }
}

impl Expr {
    /// Joins two expressions by an operator. Sums and products group to the left, as people write
    /// them.
    pub(crate) fn binary(left: Self, op: &'static str, right: Self) -> Self {
        match right {
            Self::Binary(first, inner, second)
                if inner == op && matches!(op, "+" | "*" | "and" | "or" | "&" | "|" | "^")
                    || op == "+" && inner == "-" =>
            {
                Self::binary(Self::binary(left, op, *first), inner, *second)
            }
            right => Self::Binary(Box::new(left), op, Box::new(right)),
        }
    }

    pub(crate) fn unary(op: &'static str, of: Self) -> Self {
        Self::Unary(op, Box::new(of))
    }

    /// Returns the call of a builtin of Warp.
    pub(crate) fn wp(name: &str, args: Vec<Self>) -> Self {
        Self::Call(format!("wp.{name}").into(), args)
    }

    pub(crate) fn call(name: impl Into<Name>, args: Vec<Self>) -> Self {
        Self::Call(name.into(), args)
    }

    pub(crate) fn index(self, indices: Vec<Self>) -> Self {
        Self::Index(Box::new(self), indices)
    }

    pub(crate) fn attr(self, name: impl Into<Name>) -> Self {
        Self::Attr(Box::new(self), name.into())
    }

    /// Returns the direct parts of an expression, in the order of the text.
    pub(crate) fn parts(&self) -> Vec<&Self> {
        match self {
            Self::Name(_) | Self::Int(_) | Self::Float(_) => Vec::new(),
            Self::Unary(_, of) | Self::Attr(of, _) | Self::Keyword(_, of) => vec![of],
            Self::Binary(left, _, right) => vec![left, right],
            Self::If(condition, accept, reject) => vec![condition, accept, reject],
            Self::Call(_, args) => args.iter().collect(),
            Self::Index(of, indices) => std::iter::once(&**of).chain(indices).collect(),
        }
    }

    pub(crate) fn select(condition: Self, accept: Self, reject: Self) -> Self {
        Self::If(Box::new(condition), Box::new(accept), Box::new(reject))
    }

    pub(crate) fn add(self, other: Self) -> Self {
        Self::binary(self, "+", other)
    }

    pub(crate) fn sub(self, other: Self) -> Self {
        Self::binary(self, "-", other)
    }

    pub(crate) fn mul(self, other: Self) -> Self {
        Self::binary(self, "*", other)
    }
}

impl From<&Name> for Expr {
    fn from(name: &Name) -> Self {
        Self::Name(name.clone())
    }
}
