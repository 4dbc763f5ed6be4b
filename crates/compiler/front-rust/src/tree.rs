//! Bodies with names resolved and types known: the result of `infer`, which `lower` and `constant`
//! read.

use super::ty::{Int, Ty, Unifier};
use gbxcule_ir::op::{BinaryOp, CompareOp, UnaryOp};
use gbxcule_ir::source::Span;

/// Names a variable of a body.
pub(super) type VarId = usize;

/// The body of a function or constant.
#[derive(Debug)]
pub(super) struct Body {
    /// All variables; parameters come first.
    pub(super) vars: Vec<Var>,
    /// Expression that the body computes.
    pub(super) value: Expr,
    /// Types of the body's type variables.
    pub(super) types: Unifier,
    /// Functions that the body calls.
    pub(super) calls: Vec<(usize, Span)>,
}

/// A variable.
#[derive(Debug)]
pub(super) struct Var {
    pub(super) name: String,
    pub(super) ty: Ty,
    /// True if the variable keeps its first value.
    pub(super) fixed: bool,
    pub(super) span: Span,
}

/// An expression.
#[derive(Debug)]
pub(super) struct Expr {
    pub(super) kind: ExprKind,
    pub(super) ty: Ty,
    pub(super) span: Span,
}

#[derive(Debug)]
pub(super) enum ExprKind {
    /// An integer, or an enum's discriminant.
    Number(i128),
    Bool(bool),
    Unit,
    Var(VarId),
    Const(usize),
    /// A field of a struct or tuple.
    Field(Box<Expr>, u32),
    /// An element of an array or slice.
    Index(Box<Expr>, Box<Expr>),
    Deref(Box<Expr>),
    Ref(Box<Expr>),
    /// A reference to an array as a slice.
    Unsize(Box<Expr>),
    Unary(UnaryOp, Box<Expr>),
    /// A binary operation; the amount of a shift may have another type.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    Compare(CompareOp, Box<Expr>, Box<Expr>),
    /// `&&` and `||`.
    Logic {
        and: bool,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    Cast(Box<Expr>),
    Call(usize, Vec<Expr>),
    Method(Method, Vec<Expr>),
    /// `len()` of a reference to an array or slice.
    Len(Box<Expr>),
    /// A struct with all its fields, in the order of the text.
    Struct(Vec<(u32, Expr)>),
    /// An array or tuple.
    Parts(Vec<Expr>),
    Repeat(Box<Expr>, u32),
    Block(Block),
    If(Box<Expr>, Box<Expr>, Option<Box<Expr>>),
    Match(Box<Expr>, Vec<Arm>),
    While(Box<Expr>, Block),
    Loop(Block),
    For {
        var: VarId,
        start: Box<Expr>,
        end: Box<Expr>,
        inclusive: bool,
        body: Block,
    },
    Break(Option<Box<Expr>>),
    Continue,
    Return(Option<Box<Expr>>),
    Assign(Box<Expr>, Box<Expr>),
    Update(BinaryOp, Box<Expr>, Box<Expr>),
    /// An expression that was refused.
    Wrong,
}

#[derive(Debug)]
pub(super) struct Block {
    pub(super) stmts: Vec<Stmt>,
    pub(super) tail: Option<Box<Expr>>,
}

#[derive(Debug)]
pub(super) enum Stmt {
    Let(Pattern, Option<Expr>),
    Expr(Expr),
}

/// Pattern that `let` binds.
#[derive(Debug)]
pub(super) enum Pattern {
    Var(VarId),
    Tuple(Vec<Pattern>),
    Ignore,
}

/// An arm of a `match`.
#[derive(Debug)]
pub(super) struct Arm {
    /// Inclusive ranges, which may exceed their type; `None` matches all values.
    pub(super) ranges: Option<Vec<(i128, i128)>>,
    pub(super) body: Expr,
}

/// Methods of integers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Method {
    WrappingAdd,
    WrappingSub,
    WrappingMul,
    WrappingNeg,
    WrappingShl,
    WrappingShr,
    RotateLeft,
    RotateRight,
    ReverseBits,
    SwapBytes,
    CountOnes,
    LeadingZeros,
    TrailingZeros,
    Min,
    Max,
    Abs,
    SaturatingAdd,
    SaturatingSub,
}

/// The type of an argument or result of a [`Method`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum MethodTy {
    Own,
    U32,
}

impl Method {
    #[rustfmt::skip]
    const ALL: [(Self, &'static str, Option<MethodTy>, MethodTy); 18] = [
        (Self::WrappingAdd, "wrapping_add", Some(MethodTy::Own), MethodTy::Own),
        (Self::WrappingSub, "wrapping_sub", Some(MethodTy::Own), MethodTy::Own),
        (Self::WrappingMul, "wrapping_mul", Some(MethodTy::Own), MethodTy::Own),
        (Self::WrappingNeg, "wrapping_neg", None, MethodTy::Own),
        (Self::WrappingShl, "wrapping_shl", Some(MethodTy::U32), MethodTy::Own),
        (Self::WrappingShr, "wrapping_shr", Some(MethodTy::U32), MethodTy::Own),
        (Self::RotateLeft, "rotate_left", Some(MethodTy::U32), MethodTy::Own),
        (Self::RotateRight, "rotate_right", Some(MethodTy::U32), MethodTy::Own),
        (Self::ReverseBits, "reverse_bits", None, MethodTy::Own),
        (Self::SwapBytes, "swap_bytes", None, MethodTy::Own),
        (Self::CountOnes, "count_ones", None, MethodTy::U32),
        (Self::LeadingZeros, "leading_zeros", None, MethodTy::U32),
        (Self::TrailingZeros, "trailing_zeros", None, MethodTy::U32),
        (Self::Min, "min", Some(MethodTy::Own), MethodTy::Own),
        (Self::Max, "max", Some(MethodTy::Own), MethodTy::Own),
        (Self::Abs, "abs", None, MethodTy::Own),
        (Self::SaturatingAdd, "saturating_add", Some(MethodTy::Own), MethodTy::Own),
        (Self::SaturatingSub, "saturating_sub", Some(MethodTy::Own), MethodTy::Own),
    ];

    /// Returns a method by its name, with the type of its argument, if it takes one, and of its
    /// result.
    pub(super) fn named(name: &str) -> Option<(Self, Option<MethodTy>, MethodTy)> {
        Self::ALL.iter().find(|row| row.1 == name).map(|row| (row.0, row.2, row.3))
    }
}

impl MethodTy {
    pub(super) fn of(self, own: &Ty) -> Ty {
        match self {
            Self::Own => own.clone(),
            Self::U32 => Ty::Int(Int::U32),
        }
    }
}

impl Body {
    /// Returns the final form of a type; inference has made sure that the type is known.
    pub(super) fn ty(&self, ty: &Ty) -> Ty {
        self.types.resolve(ty).unwrap_or(Ty::Unit)
    }

    /// Returns the type of an expression.
    pub(super) fn type_of(&self, expr: &Expr) -> Ty {
        self.ty(&expr.ty)
    }
}
