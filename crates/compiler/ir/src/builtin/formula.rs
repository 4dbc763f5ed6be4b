//! Formulas in Rust's own notation, in which bodies of builtins are written.
//!
//! A [`Term`] is a value of the function being built; operators on terms add operations to the
//! function. A scalar or number beside a composite stands for every component.

use super::Native;
use crate::build::Builder;
use crate::op::{Arg, BinaryOp, CompareOp, UnaryOp, Value};
use crate::ty::{Scalar, Shape, Type, Types};
use std::cell::RefCell;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// Builds a body whose result is one formula.
pub(super) fn formula(
    b: &mut Builder<'_>,
    build: impl for<'f> FnOnce(Formula<'f>) -> Term<'f>,
) -> Option<Value> {
    let on = RefCell::new(b);
    let result = build(Formula { on: &on }).value;
    Some(result)
}

/// Access to a builder that terms of a formula share.
trait SharedBuilder {
    fn with_builder(&self, take: &mut dyn FnMut(&mut Builder<'_>));
}

impl SharedBuilder for RefCell<&mut Builder<'_>> {
    fn with_builder(&self, take: &mut dyn FnMut(&mut Builder<'_>)) {
        take(&mut self.borrow_mut());
    }
}

/// The function whose body is being written.
#[derive(Clone, Copy)]
pub(super) struct Formula<'f> {
    on: &'f dyn SharedBuilder,
}

/// A value in a formula.
#[derive(Clone, Copy)]
pub(super) struct Term<'f> {
    on: &'f dyn SharedBuilder,
    /// Value of the term.
    pub(super) value: Value,
}

impl<'f> Formula<'f> {
    /// Makes a term by direct use of the builder.
    pub(super) fn with(self, make: impl FnOnce(&mut Builder<'_>) -> Value) -> Term<'f> {
        let mut made = None;
        let mut make = Some(make);
        self.on.with_builder(&mut |b| made = make.take().map(|make| make(b)));
        let value = made.unwrap_or_else(|| unreachable!("`with_builder` calls its argument"));
        Term { on: self.on, value }
    }

    fn type_with(self, make: impl FnOnce(&mut Types) -> Type) -> Type {
        let mut made = Type::INVALID;
        let mut make = Some(make);
        self.on.with_builder(&mut |b| {
            if let Some(make) = make.take() {
                made = make(&mut b.module.types);
            }
        });
        made
    }

    /// A parameter by its position.
    pub(super) fn arg(self, position: u32) -> Term<'f> {
        self.with(|b| b.arg(position))
    }

    /// All parameters.
    pub(super) fn args<const N: usize>(self) -> [Term<'f>; N] {
        std::array::from_fn(|position| self.arg(position as u32))
    }

    /// Makes an `i32` constant.
    pub(super) fn int(self, value: i32) -> Term<'f> {
        self.with(|b| b.i32(value))
    }

    /// Makes an `f32` constant.
    pub(super) fn float(self, value: f32) -> Term<'f> {
        self.with(|b| b.f32(value))
    }

    /// Assembles the function's result from its parts.
    pub(super) fn result(self, parts: &[Term<'f>]) -> Term<'f> {
        let parts = values(parts);
        self.with(|b| {
            let ty = b.function().result;
            b.assemble(ty, &parts)
        })
    }

    /// Makes a vector of components.
    pub(super) fn vector(self, parts: &[Term<'f>]) -> Term<'f> {
        let of = parts[0].scalar();
        let ty = self.type_with(|types| types.vector(parts.len() as u16, of));
        self.construct(ty, parts)
    }

    /// Makes a quaternion of x, y, z, w.
    pub(super) fn quaternion(self, parts: &[Term<'f>]) -> Term<'f> {
        let of = parts[0].scalar();
        let ty = self.type_with(|types| types.quaternion(of));
        self.construct(ty, parts)
    }

    /// Makes a transform of a translation and a rotation.
    pub(super) fn transform(self, position: Term<'f>, rotation: Term<'f>) -> Term<'f> {
        let of = position.scalar();
        let ty = self.type_with(|types| types.transform(of));
        self.construct(ty, &[position.parts(), rotation.parts()].concat())
    }

    /// Makes a matrix of components, row by row.
    pub(super) fn matrix(self, rows: usize, parts: &[Term<'f>]) -> Term<'f> {
        let (of, cols) = (parts[0].scalar(), parts.len() / rows);
        let ty = self.type_with(|types| types.matrix(rows as u16, cols as u16, of));
        self.construct(ty, parts)
    }

    /// Joins several results.
    pub(super) fn tuple(self, parts: &[Term<'f>]) -> Term<'f> {
        let parts = values(parts);
        self.with(|b| b.tuple(&parts))
    }

    /// Calls another builtin.
    pub(super) fn call(self, name: &str, args: &[Term<'f>]) -> Term<'f> {
        let args = values(args);
        self.with(|b| b.named(name, &args))
    }

    /// Calls a builtin that changes parameter 0, which is a place.
    pub(super) fn call_with_state(self, name: &str, more: &[Term<'f>]) -> Term<'f> {
        let more = values(more);
        self.with(|b| {
            let place = Arg::Place(b.param_place(0));
            let args: Vec<Arg> =
                [place].into_iter().chain(more.into_iter().map(Arg::Value)).collect();
            let value = super::find(name).and_then(|row| b.builtin(row, &args));
            value.unwrap_or_else(|| b.zero(Type::INVALID))
        })
    }

    fn construct(self, ty: Type, parts: &[Term<'f>]) -> Term<'f> {
        let parts = values(parts);
        self.with(|b| b.construct(ty, &parts))
    }
}

fn values(terms: &[Term<'_>]) -> Vec<Value> {
    terms.iter().map(|term| term.value).collect()
}

macro_rules! natives {
    ($($name:ident $native:ident),*) => {$(
        pub(super) fn $name(self) -> Self {
            self.native(Native::$native, &[])
        }
    )*};
}

impl<'f> Term<'f> {
    natives!(sqrt Sqrt, sin Sin, cos Cos, asin Asin, acos Acos, exp Exp, log Log, abs Abs, floor Floor);

    /// Returns the formula that the term belongs to.
    pub(super) fn formula(self) -> Formula<'f> {
        Formula { on: self.on }
    }

    fn shape(self) -> (Type, Scalar, u32, Option<Shape>) {
        let mut shape = (Type::INVALID, Scalar::Bool, 0, None);
        self.on.with_builder(&mut |b| {
            let ty = b.body().type_of(self.value);
            let (scalar, count) = b.module.types.components(ty).unwrap_or((Scalar::Bool, 0));
            shape = (ty, scalar, count, Some(b.module.types[ty].clone()));
        });
        shape
    }

    /// Scalar type.
    pub(super) fn scalar(self) -> Scalar {
        self.shape().1
    }

    /// Rows and columns of a matrix.
    pub(super) fn extents(self) -> (usize, usize) {
        match self.shape().3 {
            Some(Shape::Matrix { rows, cols, .. }) => (usize::from(rows), usize::from(cols)),
            _ => (self.shape().2 as usize, 1),
        }
    }

    /// All components.
    pub(super) fn parts(self) -> Vec<Self> {
        let mut parts = Vec::new();
        self.on.with_builder(&mut |b| parts = b.parts(self.value));
        parts.into_iter().map(|value| Self { value, ..self }).collect()
    }

    /// Returns the first `N` components.
    pub(super) fn split<const N: usize>(self) -> [Self; N] {
        let parts = self.parts();
        std::array::from_fn(|index| parts.get(index).copied().unwrap_or(self))
    }

    /// A part by its position.
    pub(super) fn part(self, index: u32) -> Self {
        self.formula().with(|b| b.extract(self.value, index))
    }

    /// Makes a constant of the term's scalar type.
    pub(super) fn like(self, value: f64) -> Self {
        self.formula().with(|b| {
            let ty = b.body().type_of(self.value);
            let of =
                b.module.types.components(ty).map_or(Type::INVALID, |(of, _)| Type::scalar(of));
            let number = b.number(of, value);
            if ty == of { number } else { b.splat(ty, number) }
        })
    }

    /// Converts to another scalar type.
    pub(super) fn to(self, scalar: Scalar) -> Self {
        self.formula().with(|b| b.convert(self.value, scalar))
    }

    /// A native builtin on scalars.
    pub(super) fn native(self, native: Native, more: &[Self]) -> Self {
        let args = values(&[&[self], more].concat());
        self.formula().with(|b| b.native(native, &args))
    }

    pub(super) fn atan2(self, x: Self) -> Self {
        self.native(Native::Atan2, &[x])
    }

    pub(super) fn max(self, other: Self) -> Self {
        self.native(Native::Max, &[other])
    }

    pub(super) fn pow(self, exponent: Self) -> Self {
        self.native(Native::Pow, &[exponent])
    }

    pub(super) fn dot(self, other: Self) -> Self {
        self.formula().call("dot", &[self, other])
    }

    /// Sums products up from 0. A product of 32 or 64 bits is added before it is rounded.
    pub(super) fn fused_dot(pairs: impl ExactSizeIterator<Item = (Self, Self)>) -> Self {
        let mut sum = None;
        for (a, b) in pairs {
            let sum_so_far = sum.unwrap_or_else(|| a.like(0.0));
            sum = Some(match a.scalar() {
                Scalar::F32 | Scalar::F64 => a.native(Native::Fma, &[b, sum_so_far]),
                _ => sum_so_far + a * b,
            });
        }
        sum.unwrap_or_else(|| unreachable!("a matrix has components"))
    }

    pub(super) fn cross(self, other: Self) -> Self {
        self.formula().call("cross", &[self, other])
    }

    pub(super) fn compare(self, op: CompareOp, other: Self) -> Self {
        self.formula().with(|b| b.compare(op, self.value, other.value))
    }

    pub(super) fn lt(self, other: Self) -> Self {
        self.compare(CompareOp::Less, other)
    }

    pub(super) fn le(self, other: Self) -> Self {
        self.compare(CompareOp::LessEqual, other)
    }

    pub(super) fn gt(self, other: Self) -> Self {
        self.compare(CompareOp::Greater, other)
    }

    pub(super) fn ge(self, other: Self) -> Self {
        self.compare(CompareOp::GreaterEqual, other)
    }

    /// Compares with another term for equality.
    pub(super) fn equals(self, other: Self) -> Self {
        self.compare(CompareOp::Equal, other)
    }

    /// Returns 1 where `bad` is true, else the value: a divisor that is never 0, so that
    /// derivatives of the arm that isn't chosen stay finite.
    pub(super) fn or_one_where(self, bad: Self) -> Self {
        bad.select(self.like(1.0), self)
    }

    /// Selects one of two terms by this `bool`.
    pub(super) fn select(self, accept: Self, reject: Self) -> Self {
        self.formula().with(|b| b.select(self.value, accept.value, reject.value))
    }

    pub(super) fn binary(self, op: BinaryOp, other: Self) -> Self {
        let (left, right) = (self.shape(), other.shape());
        self.formula().with(|b| {
            let single = |(_, _, _, shape): &(_, _, _, Option<Shape>)| {
                matches!(shape, Some(Shape::Scalar(_)))
            };
            let (mut l, mut r) = (self.value, other.value);
            if single(&left) && !single(&right) {
                l = b.splat(right.0, l);
            } else if single(&right) && !single(&left) {
                r = b.splat(left.0, r);
            }
            b.binary(op, l, r)
        })
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident $op:ident),*) => {$(
        impl<'f> $trait for Term<'f> {
            type Output = Term<'f>;

            fn $method(self, other: Self) -> Self {
                self.binary(BinaryOp::$op, other)
            }
        }

        impl<'f> $trait<f64> for Term<'f> {
            type Output = Term<'f>;

            fn $method(self, other: f64) -> Self {
                self.binary(BinaryOp::$op, self.like(other))
            }
        }

        impl<'f> $trait<Term<'f>> for f64 {
            type Output = Term<'f>;

            fn $method(self, other: Term<'f>) -> Term<'f> {
                other.like(self).binary(BinaryOp::$op, other)
            }
        }
    )*};
}

operators!(Add add Add, Sub sub Subtract, Mul mul Multiply, Div div Divide);

impl Neg for Term<'_> {
    type Output = Self;

    fn neg(self) -> Self {
        self.formula().with(|b| b.unary(UnaryOp::Negate, self.value))
    }
}
