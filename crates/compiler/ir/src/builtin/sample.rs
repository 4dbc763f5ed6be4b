//! Samples of distributions, drawn from the generator in [`super::random`].

use super::formula::{Formula, Term, formula};
use super::random::STATE;
use super::{BuiltinRow, Derivative, Dim, Domain, Pattern, Visibility, body, row_of};
use crate::build::Builder;
use crate::op::Value;
use crate::place::PlaceId;
use crate::ty::{Scalar, Type};
use Derivative::Zero;
use Domain::Any;
use Pattern::{Is, VectorOf};
use std::f32::consts::PI;

const F32: Pattern = Is(Scalar::F32);
const U32: Pattern = Is(Scalar::U32);
const fn vector(len: u16) -> Pattern {
    VectorOf(Dim::Is(len), Scalar::F32)
}

macro_rules! sample {
    ($name:literal, $result:expr, $make:expr, $doc:literal) => {
        row_of(
            $name,
            &[body(Any, &["state"], &[STATE], $result, |b| formula(b, $make))],
            Zero,
            $doc,
        )
    };
}

#[rustfmt::skip]
pub(super) static ROWS: &[BuiltinRow] = &[
    sample!("randn", F32, |f| {
        // The addend keeps the logarithm's operand above 0.
        let size = (-2.0 * (unit(f) + f64::from(5.96e-8f32)).log()).sqrt();
        size * (f64::from(2.0 * PI) * unit(f)).cos()
    }, "A float of the normal distribution."),
    row_of("sample_cdf", &[body(Any, &["state", "cdf"], &[STATE, Pattern::ArrayOf(1, Scalar::F32)], Is(Scalar::I32), |b| formula(b, |f| {
        let (cdf, drawn) = (f.arg(1), unit(f));
        f.call("lower_bound", &[cdf, drawn])
    }))], Zero, "The position of the entry drawn from a cumulative distribution."),
    sample!("sample_triangle", vector(2), |f| {
        let root = unit(f).sqrt();
        let first = 1.0 - root;
        f.vector(&[first, unit(f) * root])
    }, "Two barycentric coordinates in a triangle."),
    sample!("sample_unit_ring", vector(2), |f| {
        let turn = turn(f);
        f.vector(&[turn.cos(), turn.sin()])
    }, "A point on the unit circle."),
    sample!("sample_unit_disk", vector(2), |f| {
        let (radius, turn) = (unit(f).sqrt(), turn(f));
        f.vector(&[radius * turn.cos(), radius * turn.sin()])
    }, "A point in the unit disk."),
    sample!("sample_unit_sphere_surface", vector(3), |f| {
        let height = (1.0 - 2.0 * unit(f)).acos();
        point_in_ball(f, height, false)
    }, "A point on the unit sphere."),
    sample!("sample_unit_sphere", vector(3), |f| {
        let height = (1.0 - 2.0 * unit(f)).acos();
        point_in_ball(f, height, true)
    }, "A point in the unit ball."),
    sample!("sample_unit_hemisphere_surface", vector(3), |f| {
        let height = (1.0 - unit(f)).acos();
        point_in_ball(f, height, false)
    }, "A point on the upper half of the unit sphere."),
    sample!("sample_unit_hemisphere", vector(3), |f| {
        let height = (1.0 - unit(f)).acos();
        point_in_ball(f, height, true)
    }, "A point in the upper half of the unit ball."),
    sample!("sample_unit_square", vector(2), cube::<2>, "A point in the unit square around 0."),
    sample!("sample_unit_cube", vector(3), cube::<3>, "A point in the unit cube around 0."),
    BuiltinRow { visibility: Visibility::Inner, ..sample!("sample_unit_hypercube", vector(4), cube::<4>, "A point in the unit hypercube around 0.") },
    row_of("poisson", &[body(Any, &["state", "lam"], &[STATE, F32], U32, poisson)], Zero,
        "A count of the Poisson distribution with this mean."),
    BuiltinRow { visibility: Visibility::Inner, ..row_of("log_gamma", &[body(Any, &["x"], &[F32], F32, log_gamma)], Zero,
        "The logarithm of the gamma function of whole numbers from 1, in single precision.") },
];

/// Draws a float in 0..1.
fn unit(f: Formula<'_>) -> Term<'_> {
    f.call_with_state("randf", &[])
}

/// Draws an angle in 0..2 pi.
fn turn(f: Formula<'_>) -> Term<'_> {
    let (low, high) = (f.float(0.0), f.float(2.0 * PI));
    f.call_with_state("randf", &[low, high])
}

fn cube<const N: usize>(f: Formula<'_>) -> Term<'_> {
    let parts: Vec<Term<'_>> = (0..N).map(|_| unit(f) - 0.5).collect();
    f.vector(&parts)
}

/// Returns a point with this height over the equator, at a random angle around the axis: on the
/// sphere, or inside it.
fn point_in_ball<'f>(f: Formula<'f>, height: Term<'f>, inside: bool) -> Term<'f> {
    let turn = turn(f);
    let (x, y) = (turn.cos(), turn.sin());
    if !inside {
        return f.vector(&[x * height.sin(), y * height.sin(), height.cos()]);
    }
    let radius = unit(f).pow(f.float(1.0 / 3.0));
    f.vector(&[radius * x * height.sin(), radius * y * height.sin(), radius * height.cos()])
}

/// Declares a variable with its first value.
pub(super) fn variable(b: &mut Builder<'_>, name: &str, first: Value) -> PlaceId {
    let ty = b.body().type_of(first);
    let local = b.local(name, ty);
    let place = b.local_place(local);
    b.store(place, first);
    place
}

/// Builds a formula and returns its value.
pub(super) fn build(
    b: &mut Builder<'_>,
    make: impl for<'f> FnOnce(Formula<'f>) -> Term<'f>,
) -> Value {
    formula(b, make).unwrap_or_else(|| unreachable!("a formula has a value"))
}

/// Draws a number of Poisson's distribution. For means below 10 it multiplies until the product is
/// below `exp(-lam)`; from 10 on it uses Hörmann's transformed rejection.
fn poisson(b: &mut Builder<'_>) -> Option<Value> {
    let mean = b.arg(1);
    let (ten, zero) = (b.f32(10.0), b.f32(0.0));
    let large = b.compare(crate::op::CompareOp::GreaterEqual, mean, ten);
    b.if_then(large, rejection);
    let none = b.eq(mean, zero);
    let no = b.zero(Type::U32);
    b.if_then(none, |b| b.ret(Some(no)));
    let limit = build(b, |f| (-f.arg(1)).exp());
    let one = b.f32(1.0);
    let (product, count) = (variable(b, "product", one), variable(b, "count", no));
    b.while_loop(
        |b| {
            let factor = build(b, unit);
            let old = b.load(product);
            let new = b.mul(old, factor);
            b.store(product, new);
            b.lt(limit, new)
        },
        |b| {
            let (old, one) = (b.load(count), b.number(Type::U32, 1.0));
            let more = b.add(old, one);
            b.store(count, more);
        },
    );
    Some(b.load(count))
}

fn rejection(b: &mut Builder<'_>) {
    let slope = build(b, |f| 0.931 + 2.53 * f.arg(1).sqrt());
    b.while_loop(
        |b| b.bool(true),
        |b| {
            let u = build(b, |f| unit(f) - 0.5);
            let v = build(b, unit);
            let near = build(b, |f| 0.5 - f.with(|_| u).abs());
            let bend = build(b, |f| -0.059 + 0.02483 * f.with(|_| slope));
            let real = build(b, |f| {
                let [u, near, bend, slope] = [u, near, bend, slope].map(|value| f.with(|_| value));
                ((2.0 * bend / near + slope) * u + f.arg(1) + 0.43).floor()
            });
            let count = b.convert(real, Scalar::U32);
            let sure = build(b, |f| {
                let [near, v, slope] = [near, v, slope].map(|value| f.with(|_| value));
                let inside = v.le(0.9277 - 3.6224 / (slope - 2.0));
                let far = near.ge(near.like(0.07));
                f.with(|b| b.and(far.value, inside.value))
            });
            b.if_then(sure, |b| b.ret(Some(count)));
            let outside = build(b, |f| {
                let [near, v, real] = [near, v, real].map(|value| f.with(|_| value));
                let (edge, above) = (near.lt(near.like(0.013)), v.gt(near));
                let negative = real.lt(real.like(0.0));
                f.with(|b| {
                    let edge = b.and(edge.value, above.value);
                    b.or(edge, negative.value)
                })
            });
            b.if_then(outside, Builder::continue_loop);
            let accepted = build(b, |f| {
                let [near, v, bend, slope] = [near, v, bend, slope].map(|value| f.with(|_| value));
                let count = f.with(|b| b.convert(count, Scalar::F32));
                let inverse = 1.1239 + 1.1328 / (slope - 3.4);
                let left = v.log() + inverse.log() - (bend / (near * near) + slope).log();
                let mean = f.arg(1);
                left.le(-mean + count * mean.log() - f.call("log_gamma", &[count + 1.0]))
            });
            b.if_then(accepted, |b| b.ret(Some(count)));
        },
    );
}

/// Computes `log_gamma`: from 7 on by Stirling's series, below by steps of `log_gamma(x) =
/// log_gamma(x + 1) - log(x)`.
fn log_gamma(b: &mut Builder<'_>) -> Option<Value> {
    // The coefficients are B(2k) / (2k (2k - 1)).
    const SERIES: [f64; 10] = [
        1.0 / 12.0,
        -1.0 / 360.0,
        1.0 / 1260.0,
        -1.0 / 1680.0,
        1.0 / 1188.0,
        -691.0 / 360_360.0,
        1.0 / 156.0,
        -3617.0 / 122_400.0,
        43867.0 / 244_188.0,
        -174_611.0 / 125_400.0,
    ];
    let zero = b.f32(0.0);
    let trivial = build(b, |f| {
        let x = f.arg(0);
        let (one, two) = (x.equals(x.like(1.0)), x.equals(x.like(2.0)));
        f.with(|b| b.or(one.value, two.value))
    });
    b.if_then(trivial, |b| b.ret(Some(zero)));
    let steps = build(b, |f| {
        let x = f.arg(0);
        (7.0 - x).max(x.like(0.0)).floor()
    });
    let shifted = build(b, |f| f.arg(0) + f.with(|_| steps));
    let first = build(b, |f| {
        let x = f.with(|_| shifted);
        let square = (1.0 / x) * (1.0 / x);
        let last = SERIES.len() - 1;
        let series = SERIES[..last].iter().rev();
        let sum = series.fold(x.like(SERIES[last]), |sum, &term| sum * square + term);
        sum / x + 0.5 * 1.837_877_066_409_345_3 + (x - 0.5) * x.log() - x
    });
    let (total, at) = (variable(b, "total", first), variable(b, "at", shifted));
    let steps = b.convert(steps, Scalar::I32);
    let (none, one) = (b.i32(0), b.i32(1));
    b.for_range("step", [none, steps, one], |b, _| {
        let (sum, x, one) = (b.load(total), b.load(at), b.f32(1.0));
        let below = b.sub(x, one);
        let less = build(b, |f| f.with(|_| sum) - f.with(|_| below).log());
        b.store(total, less);
        b.store(at, below);
    });
    Some(b.load(total))
}
