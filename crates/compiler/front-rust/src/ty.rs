//! Types of the subset, and unification: the type of an integer literal follows from its use.

use gbxcule_ir::ty::Scalar;
use std::rc::Rc;

/// A type as the sources write it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Ty {
    Int(Int),
    Bool,
    Unit,
    /// The type `!`: an expression that does not return.
    Never,
    Struct(usize),
    Enum(usize),
    Array(Rc<Ty>, u32),
    Slice(Rc<Ty>),
    Tuple(Rc<[Ty]>),
    Ref {
        mutable: bool,
        to: Rc<Ty>,
    },
    /// A type variable: a type that is not known yet.
    Var(usize),
    /// The type of a refused expression. It fits every type, so that one error doesn't cause a
    /// second one.
    Wrong,
}

/// The integer types. `usize` and `isize` have 64 bits on every device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Int {
    I8,
    I16,
    I32,
    I64,
    Isize,
    U8,
    U16,
    U32,
    U64,
    Usize,
}

impl Int {
    const ALL: [(Self, &'static str, Scalar); 10] = [
        (Self::I8, "i8", Scalar::I8),
        (Self::I16, "i16", Scalar::I16),
        (Self::I32, "i32", Scalar::I32),
        (Self::I64, "i64", Scalar::I64),
        (Self::Isize, "isize", Scalar::I64),
        (Self::U8, "u8", Scalar::U8),
        (Self::U16, "u16", Scalar::U16),
        (Self::U32, "u32", Scalar::U32),
        (Self::U64, "u64", Scalar::U64),
        (Self::Usize, "usize", Scalar::U64),
    ];

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    pub(super) fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    pub(super) fn scalar(self) -> Scalar {
        Self::ALL[self as usize].2
    }

    /// Returns the smallest and the greatest number.
    pub(super) fn range(self) -> (i128, i128) {
        let bits = self.scalar().bits();
        let least = if self.scalar().is_signed_int() { -(1 << (bits - 1)) } else { 0 };
        (least, least + (1 << bits) - 1)
    }

    /// Returns true if this type holds a number.
    pub(super) fn contains(self, number: i128) -> bool {
        let (least, greatest) = self.range();
        (least..=greatest).contains(&number)
    }
}

impl Ty {
    pub(super) const USIZE: Self = Self::Int(Int::Usize);

    pub(super) fn reference(mutable: bool, to: Self) -> Self {
        Self::Ref { mutable, to: Rc::new(to) }
    }

    /// Returns the type behind one or more references; a type that is no reference is returned
    /// itself.
    pub(super) fn referred(&self) -> &Self {
        match self {
            Self::Ref { to, .. } => to.referred(),
            other => other,
        }
    }
}

/// Types of one body, as far as they are known.
#[derive(Clone, Default, Debug)]
pub(super) struct Unifier {
    vars: Vec<Var>,
}

#[derive(Clone, Debug)]
enum Var {
    Any,
    Integer,
    Is(Ty),
}

impl Unifier {
    /// Makes a variable for any type.
    pub(super) fn any(&mut self) -> Ty {
        self.vars.push(Var::Any);
        Ty::Var(self.vars.len() - 1)
    }

    /// Makes a variable for an integer type: `i32` unless a use decides otherwise.
    pub(super) fn integer(&mut self) -> Ty {
        self.vars.push(Var::Integer);
        Ty::Var(self.vars.len() - 1)
    }

    /// Resolves a variable to the type that it stands for; parts inside may stay unknown.
    pub(super) fn resolve_outermost(&self, ty: &Ty) -> Ty {
        let mut ty = ty;
        while let Ty::Var(var) = ty {
            match &self.vars[*var] {
                Var::Is(known) => ty = known,
                Var::Any | Var::Integer => break,
            }
        }
        ty.clone()
    }

    /// Returns true if a type is an integer type that is not known yet.
    pub(super) fn is_open_integer(&self, ty: &Ty) -> bool {
        matches!(self.resolve_outermost(ty), Ty::Var(var) if matches!(self.vars[var], Var::Integer))
    }

    /// Returns true if a type is an integer type, known or not.
    pub(super) fn is_integer(&self, ty: &Ty) -> bool {
        matches!(self.resolve_outermost(ty), Ty::Int(_) | Ty::Wrong) || self.is_open_integer(ty)
    }

    /// Returns the type after inference; `None` if a part of it was never determined.
    pub(super) fn resolve(&self, ty: &Ty) -> Option<Ty> {
        Some(match self.resolve_outermost(ty) {
            Ty::Var(var) => match self.vars[var] {
                Var::Integer => Ty::Int(Int::I32),
                _ => return None,
            },
            Ty::Array(of, len) => Ty::Array(Rc::new(self.resolve(&of)?), len),
            Ty::Slice(of) => Ty::Slice(Rc::new(self.resolve(&of)?)),
            Ty::Ref { mutable, to } => Ty::Ref { mutable, to: Rc::new(self.resolve(&to)?) },
            Ty::Tuple(of) => {
                Ty::Tuple(of.iter().map(|ty| self.resolve(ty)).collect::<Option<_>>()?)
            }
            known => known,
        })
    }

    /// Makes two types one; returns false if they differ.
    pub(super) fn unify(&mut self, one: &Ty, other: &Ty) -> bool {
        let (one, other) = (self.resolve_outermost(one), self.resolve_outermost(other));
        match (&one, &other) {
            (Ty::Var(var), Ty::Wrong) | (Ty::Wrong, Ty::Var(var)) => {
                self.vars[*var] = Var::Is(Ty::Wrong);
                true
            }
            (Ty::Wrong, _) | (_, Ty::Wrong) => true,
            (Ty::Var(a), Ty::Var(b)) if a == b => true,
            (Ty::Var(a), Ty::Var(b)) => {
                // Keep the more specific of the two.
                let (from, to) =
                    if matches!(self.vars[*a], Var::Integer) { (*b, &one) } else { (*a, &other) };
                self.vars[from] = Var::Is(to.clone());
                true
            }
            (Ty::Var(var), known) | (known, Ty::Var(var)) => {
                let fits = matches!(self.vars[*var], Var::Any) || matches!(known, Ty::Int(_));
                if fits {
                    self.vars[*var] = Var::Is(known.clone());
                }
                fits
            }
            (Ty::Array(a, n), Ty::Array(b, m)) => n == m && self.unify(a, b),
            (Ty::Tuple(a), Ty::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| self.unify(a, b))
            }
            (Ty::Ref { mutable: a, to: x }, Ty::Ref { mutable: b, to: y }) => {
                a == b && self.unify(x, y)
            }
            _ => one == other,
        }
    }
}
