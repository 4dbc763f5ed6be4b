//! Discrete Fourier transforms along the last dimension of a tile.
//!
//! After a stage of length L each row holds the transforms of its `size / L` subsequences, one
//! after the other. A stage by a prime factor p joins p transforms into one, so each element of
//! its result is a sum of p elements of the stage before.

use super::super::operand::{LoweringResult, fault};
use super::super::writer::Writer;
use super::call::TileCall;
use super::{Position, Tile, each, made_tile, repeat};
use gbxcule_ir::Native;
use gbxcule_ir::diagnostic::Code;
use gbxcule_ir::op::{BinaryOp, Value};
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::{Scalar, Shape, Type};

/// Greatest prime factor of a transform's length.
const MAX_FACTOR: u32 = 4096;
/// Greatest prime factor whose sums are written out, without a loop.
const MAX_WRITTEN_OUT: u32 = 5;

/// `wp.tile_fft(inout)`, `wp.tile_ifft(inout)`: neither function divides by the length.
pub(super) fn transform<'a>(b: &mut Writer<'_, 'a>, call: &TileCall<'a>) -> LoweringResult<()> {
    let (tile, span) = (call.tile("inout")?, call.span);
    let extents = tile.extents();
    let Some((of, [before @ .., size])) = complex(b, &tile).zip(Some(&extents[..])) else {
        let found = tile.shape().shown(b);
        let message = format!(
            "`inout` is a tile of `vec2f` or `vec2d` with two dimensions or more, found `{found}`"
        );
        return fault(Code::TypeMismatch, span, message);
    };
    let factors = prime_factors(*size);
    if factors.last().is_some_and(|&largest| largest > MAX_FACTOR) {
        let message = format!(
            "a transform's length has prime factors up to {MAX_FACTOR}; the length is {size}"
        );
        return fault(Code::TooComplex, span, message);
    }
    let rows = [before.iter().product(), *size];
    let sign = if call.name == "tile_ifft" { 1.0 } else { -1.0 };
    let roots = roots_of_unity(b, tile.of, of, sign, *size, span)?;
    let mut joined = made_tile(b, &rows, span, |b, position| {
        Ok(tile.loaded(b, &mut Position::new(position.flat, &extents)))
    })?;
    let mut length = 1;
    for factor in factors {
        let stage = Stage { from: &joined, roots: &roots, length, factor, size: *size };
        joined = made_tile(b, &rows, span, |b, position| stage.element(b, position))?;
        length *= factor;
    }
    each(b, &extents, |b, position| {
        let value = joined.loaded(b, &mut Position::new(position.flat, &rows));
        let place = tile.element(b, position);
        b.store(place, value);
        Ok(())
    })
}

/// The type of the parts of a tile's complex numbers; `None` if the tile has other elements, or
/// fewer than two dimensions.
fn complex(b: &Writer<'_, '_>, tile: &Tile) -> Option<Scalar> {
    match *b.shape(tile.of) {
        Shape::Vector { len: 2, of: of @ (Scalar::F32 | Scalar::F64) } if tile.dims.len() > 1 => {
            Some(of)
        }
        _ => None,
    }
}

/// Prime factors of a number, in ascending order.
fn prime_factors(of: u32) -> Vec<u32> {
    let (mut quotient, mut factor, mut factors) = (of, 2, Vec::new());
    while quotient > 1 {
        if factor * factor > quotient {
            factor = quotient;
        }
        if quotient.is_multiple_of(factor) {
            factors.push(factor);
            quotient /= factor;
        } else {
            factor += 1;
        }
    }
    factors
}

/// The powers of a root of unity, each computed in 64 bits and rounded once.
fn roots_of_unity(
    b: &mut Writer<'_, '_>,
    ty: Type,
    of: Scalar,
    sign: f64,
    size: u32,
    span: Span,
) -> LoweringResult<Tile> {
    made_tile(b, &[size], span, |b, position| {
        let step = b.number(Type::F64, sign * std::f64::consts::TAU / f64::from(size));
        let power = b.convert(position.flat, Scalar::F64);
        let angle = b.mul(power, step);
        let parts = [Native::Cos, Native::Sin].map(|native| {
            let part = b.native(native, &[angle]);
            b.convert(part, of)
        });
        Ok(b.construct(ty, &parts))
    })
}

/// A stage that joins transforms of `length` elements, `factor` of them at a time.
struct Stage<'t> {
    from: &'t Tile,
    roots: &'t Tile,
    length: u32,
    factor: u32,
    size: u32,
}

impl Stage<'_> {
    fn element(&self, b: &mut Writer<'_, '_>, position: &mut Position) -> LoweringResult<Value> {
        let [row, at] = position.coordinates(b)[..] else {
            unreachable!("rows have elements");
        };
        let joined = b.i32((self.length * self.factor) as i32);
        let which = b.div(at, joined);
        let frequency = b.binary(BinaryOp::Remainder, at, joined);
        let length = b.i32(self.length as i32);
        let within = b.binary(BinaryOp::Remainder, frequency, length);
        let terms = Terms { row, which, frequency, within };
        if self.factor <= MAX_WRITTEN_OUT {
            let zero = b.i32(0);
            let mut sum = self.term(b, &terms, zero);
            for part in 1..self.factor {
                let part = b.i32(part as i32);
                let term = self.term(b, &terms, part);
                sum = b.add(sum, term);
            }
            return Ok(sum);
        }
        let sum = b.temporary("sum", self.from.of);
        let zero = b.zero_of(self.from.of);
        b.store(sum, zero);
        repeat(b, self.factor, |b, part| {
            let term = self.term(b, &terms, part);
            let so_far = b.load(sum);
            let next = b.add(so_far, term);
            b.store(sum, next);
            Ok(())
        })?;
        Ok(b.load(sum))
    }

    /// An element of the stage before, times a root of unity.
    fn term(&self, b: &mut Writer<'_, '_>, terms: &Terms, part: Value) -> Value {
        let parts = (self.size / (self.length * self.factor)) as i32;
        let [step, length, joined] =
            [parts, self.length as i32, (self.length * self.factor) as i32].map(|it| b.i32(it));
        let moved = b.mul(part, step);
        let subsequence = b.add(terms.which, moved);
        let begin = b.mul(subsequence, length);
        let at = b.add(begin, terms.within);
        let power = b.mul(part, terms.frequency);
        let power = b.binary(BinaryOp::Remainder, power, joined);
        let power = b.mul(power, step);
        let place = self.from.element_at(b, &[terms.row, at]);
        let element = b.load(place);
        let place = self.roots.element_at(b, &[power]);
        let root = b.load(place);
        let [real, imaginary] = [0, 1].map(|part| b.extract(element, part));
        let [cosine, sine] = [0, 1].map(|part| b.extract(root, part));
        let products = [(real, cosine), (imaginary, sine), (real, sine), (imaginary, cosine)];
        let [a, c, d, e] = products.map(|(left, right)| b.mul(left, right));
        let parts = [b.sub(a, c), b.add(d, e)];
        b.construct(self.from.of, &parts)
    }
}

/// Positions of the terms of an element's sum.
struct Terms {
    row: Value,
    /// Number of the subsequence that the element belongs to.
    which: Value,
    /// Number of the element in its transform.
    frequency: Value,
    /// Number of each term in its own transform.
    within: Value,
}
