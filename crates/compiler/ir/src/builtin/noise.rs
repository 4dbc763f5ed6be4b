//! Gradient noise on a lattice of whole numbers, and its curl.

use super::formula::{Formula, Term, formula};
use super::{BuiltinRow, Derivative, Dim, Domain, Pattern, Visibility, body, row_of};
use crate::build::Builder;
use crate::constant::Literal;
use crate::op::{Arg, BinaryOp, Value};
use crate::ty::{Scalar, Shape, Type};
use Derivative::Through;
use Domain::Any;
use Pattern::{Is, VectorOf};

const F32: Pattern = Is(Scalar::F32);
const I32: Pattern = Is(Scalar::I32);
const U32: Pattern = Is(Scalar::U32);
const POINTS: Pattern = VectorOf(Dim::N, Scalar::F32);
const fn point(len: u16) -> Pattern {
    VectorOf(Dim::Is(len), Scalar::F32)
}

/// Signatures with none, one, two or all of: the number of octaves, the factor by which frequency
/// grows, and the factor by which amplitude shrinks.
macro_rules! curl {
    ($len:literal, $result:literal) => {
        [
            body(Any, &["state", "x"], &[U32, point($len)], point($result), curl_noise),
            body(
                Any,
                &["state", "x", "octaves"],
                &[U32, point($len), U32],
                point($result),
                curl_noise,
            ),
            body(
                Any,
                &["state", "x", "octaves", "lacunarity"],
                &[U32, point($len), U32, F32],
                point($result),
                curl_noise,
            ),
            body(
                Any,
                &["state", "x", "octaves", "lacunarity", "gain"],
                &[U32, point($len), U32, F32, F32],
                point($result),
                curl_noise,
            ),
        ]
    };
}

static CURL: [super::Signature; 12] = {
    let [a, b, c, d] = curl!(2, 2);
    let [e, f, g, h] = curl!(3, 3);
    let [i, j, k, l] = curl!(4, 3);
    [a, b, c, d, e, f, g, h, i, j, k, l]
};

#[rustfmt::skip]
pub(super) static ROWS: &[BuiltinRow] = &[
    row_of("noise", &[
        body(Any, &["state", "x"], &[U32, F32], F32, |b| formula(b, |f| noise_at(f, None).0)),
        body(Any, &["state", "x"], &[U32, point(2)], F32, |b| formula(b, |f| noise_at(f, None).0)),
        body(Any, &["state", "x"], &[U32, point(3)], F32, |b| formula(b, |f| noise_at(f, None).0)),
        body(Any, &["state", "x"], &[U32, point(4)], F32, |b| formula(b, |f| noise_at(f, None).0)),
    ], Through, "Smooth noise, 0 at whole numbers."),
    row_of("pnoise", &[
        body(Any, &["state", "x", "px"], &[U32, F32, I32], F32, |b| formula(b, periodic)),
        body(Any, &["state", "x", "px", "py"], &[U32, point(2), I32, I32], F32, |b| formula(b, periodic)),
        body(Any, &["state", "x", "px", "py", "pz"], &[U32, point(3), I32, I32, I32], F32, |b| formula(b, periodic)),
        body(Any, &["state", "x", "px", "py", "pz", "pt"], &[U32, point(4), I32, I32, I32, I32], F32, |b| formula(b, periodic)),
    ], Through, "Noise that repeats itself."),
    row_of("curlnoise", &CURL, Through, "A field without divergence: the curl of noise."),
    BuiltinRow { visibility: Visibility::Inner, ..row_of("noise_gradient", &[
        body(Any, &["state", "x"], &[U32, POINTS], POINTS, |b| formula(b, |f| noise_at(f, None).1)),
    ], Through, "The gradient of `noise`.") },
    BuiltinRow { visibility: Visibility::Inner, ..row_of("lattice_gradient", &[
        body(Any, &["state", "x"], &[U32, VectorOf(Dim::Is(1), Scalar::I32)], point(1), lattice_gradient),
        body(Any, &["state", "x"], &[U32, VectorOf(Dim::Is(2), Scalar::I32)], point(2), lattice_gradient),
        body(Any, &["state", "x"], &[U32, VectorOf(Dim::Is(3), Scalar::I32)], point(3), lattice_gradient),
        body(Any, &["state", "x"], &[U32, VectorOf(Dim::Is(4), Scalar::I32)], point(4), lattice_gradient),
    ], Derivative::Zero, "The random direction at a point of the lattice.") },
];

/// Hashes the point into a state of the generator and draws from it.
fn lattice_gradient(b: &mut Builder<'_>) -> Option<Value> {
    const PRIMES: [i128; 4] = [73_856_093, 19_349_663, 53_471_161, 10_000_019];
    let (seed, place) = (b.arg(0), b.arg(1));
    let parts = b.parts(place);
    let count = parts.len();
    let mut hash = None;
    for (position, part) in parts.into_iter().enumerate() {
        let (part, prime) =
            (b.convert(part, Scalar::U32), b.literal(Literal::int(Scalar::U32, PRIMES[position])));
        let mut term = b.mul(part, prime);
        if position + 1 == count {
            term = b.add(term, seed);
        }
        hash = Some(hash.map_or(term, |hash| b.binary(BinaryOp::Xor, hash, term)));
    }
    let state = b.local("state", Type::U32);
    let state = b.local_place(state);
    b.store(state, hash?);
    let name = match count {
        1 => "randf",
        2 => "sample_unit_square",
        3 => "sample_unit_cube",
        _ => "sample_unit_hypercube",
    };
    let mut args = vec![Arg::Place(state)];
    if count == 1 {
        args.extend([b.f32(-1.0), b.f32(1.0)].map(Arg::Value));
    }
    let drawn = super::find(name).and_then(|row| b.builtin(row, &args))?;
    if count == 1 {
        let ty = b.function().result;
        return Some(b.construct(ty, &[drawn]));
    }
    Some(b.named("normalize", &[drawn]))
}

fn periodic(f: Formula<'_>) -> Term<'_> {
    let dims = f.arg(1).parts().len() as u32;
    let periods: Vec<Term<'_>> = (0..dims).map(|dim| f.arg(2 + dim)).collect();
    noise_at(f, Some(&periods)).0
}

/// Computes the noise, and its gradient, at the point that is parameter 1.
fn noise_at<'f>(f: Formula<'f>, periods: Option<&[Term<'f>]>) -> (Term<'f>, Term<'f>) {
    let coordinates = f.arg(1).parts();
    let mut cell =
        Cell { f, state: f.arg(0), low: Vec::new(), high: Vec::new(), within: Vec::new() };
    for (dim, &x) in coordinates.iter().enumerate() {
        let floor = x.floor();
        let wrapped = |index: Term<'f>| match periods {
            Some(periods) => index.binary(BinaryOp::Remainder, periods[dim]),
            None => index,
        };
        let low = wrapped(floor.to(Scalar::I32));
        cell.high.push(wrapped(low + f.int(1)));
        cell.low.push(low);
        cell.within.push(x - floor);
    }
    let mut corner = vec![false; coordinates.len()];
    let (value, gradient) = cell.between(coordinates.len(), &mut corner);
    (value, if gradient.len() == 1 { gradient[0] } else { f.vector(&gradient) })
}

/// Cell of the lattice around a point.
struct Cell<'f> {
    f: Formula<'f>,
    state: Term<'f>,
    low: Vec<Term<'f>>,
    high: Vec<Term<'f>>,
    within: Vec<Term<'f>>,
}

impl<'f> Cell<'f> {
    /// Returns value and gradient with the first `dims` dimensions interpolated and the others at a
    /// corner.
    fn between(&self, dims: usize, corner: &mut [bool]) -> (Term<'f>, Vec<Term<'f>>) {
        let Some(dim) = dims.checked_sub(1) else { return self.at_corner(corner) };
        let [(low, slopes), (high, other)] = [false, true].map(|side| {
            corner[dim] = side;
            self.between(dim, corner)
        });
        let t = self.within[dim];
        let smooth = t * t * t * (t * (t * 6.0 - 15.0) + 10.0);
        let slope = 30.0 * t * t * (t * (t - 2.0) + 1.0);
        let gradient = slopes
            .iter()
            .zip(&other)
            .enumerate()
            .map(|(at, (&from, &to))| {
                let between = (to - from) * smooth;
                if at == dim { between + (high - low) * slope + from } else { between + from }
            })
            .collect();
        ((high - low) * smooth + low, gradient)
    }

    fn at_corner(&self, corner: &[bool]) -> (Term<'f>, Vec<Term<'f>>) {
        let f = self.f;
        let ends = |(dim, &high): (usize, &bool)| if high { self.high[dim] } else { self.low[dim] };
        let place: Vec<Term<'f>> = corner.iter().enumerate().map(ends).collect();
        let gradient = f.call("lattice_gradient", &[self.state, f.vector(&place)]).parts();
        let products = corner.iter().enumerate().map(|(dim, &high)| {
            let offset = if high { self.within[dim] - 1.0 } else { self.within[dim] };
            offset * gradient[dim]
        });
        let value = products.reduce(|sum, product| sum + product);
        (value.unwrap_or(gradient[0]), gradient)
    }
}

/// Adds gradients of noise of growing frequency: one field in the plane, three in space.
fn curl_noise(b: &mut Builder<'_>) -> Option<Value> {
    let point = b.arg(1);
    let ty = b.body().type_of(point);
    let fields =
        if b.module.types[ty] == (Shape::Vector { len: 2, of: Scalar::F32 }) { 1 } else { 3 };
    let params = b.function().params.len() as u32;
    let octaves = if params > 2 { b.arg(2) } else { b.number(Type::U32, 1.0) };
    let lacunarity = if params > 3 { b.arg(3) } else { b.f32(2.0) };
    let gain = if params > 4 { b.arg(4) } else { b.f32(0.5) };
    let (one, seed, none) = (b.f32(1.0), b.arg(0), b.zero(ty));
    let [frequency, amplitude, state] = [("frequency", one), ("amplitude", one), ("seed", seed)]
        .map(|(name, first)| super::sample::variable(b, name, first));
    let sums: Vec<_> = (0..fields).map(|_| super::sample::variable(b, "sum", none)).collect();
    let (zero, step) = (b.number(Type::U32, 0.0), b.number(Type::U32, 1.0));
    b.for_range("octave", [zero, octaves, step], |b, _| {
        let (times, size) = (b.load(frequency), b.load(amplitude));
        let scaled = b.scale(point, times);
        for (field, &sum) in sums.iter().enumerate() {
            if let Some(offset) = [0, 10_019_689, 13_112_221].get(field).filter(|_| field > 0) {
                let (old, offset) = (b.load(state), b.i32(*offset));
                let old = b.convert(old, Scalar::I32);
                let new = b.named("rand_init", &[old, offset]);
                b.store(state, new);
            }
            let seed = b.load(state);
            let gradient = b.named("noise_gradient", &[seed, scaled]);
            let (old, term) = (b.load(sum), b.scale(gradient, size));
            let new = b.add(old, term);
            b.store(sum, new);
        }
        let (smaller, higher) = (b.mul(size, gain), b.mul(times, lacunarity));
        b.store(amplitude, smaller);
        b.store(frequency, higher);
    });
    let sums: Vec<Vec<Value>> = sums
        .into_iter()
        .map(|sum| {
            let sum = b.load(sum);
            b.parts(sum)
        })
        .collect();
    let parts = match &sums[..] {
        [plane] => vec![b.neg(plane[1]), plane[0]],
        [p, q, r, ..] => {
            [(r[1], q[2]), (p[2], r[0]), (q[0], p[1])].map(|(l, r)| b.sub(l, r)).into()
        }
        _ => Vec::new(),
    };
    let result = b.function().result;
    Some(b.construct(result, &parts))
}
