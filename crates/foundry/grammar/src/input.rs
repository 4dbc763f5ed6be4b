//! Inputs of a kernel: a few numbers that determine every value of an input.
//!
//! Leaf `k` of argument `a` (components, fields and elements counted in the order of memory) of a
//! row with input seed `s` is number `k` of the SplitMix64 stream with seed `s + 2^32 a`: its upper
//! 53 bits make a fraction in [0, 1). A float is `low + (high - low) * fraction` in float64,
//! rounded to its type; an integer is
//! `least + floor((most - least + 1) * fraction)`; a bool is true if the fraction is at least 0.5.
//! Quaternions, also those of transforms, are then divided by their length in float64 and rounded
//! again. An [`Arrangement`] then orders the numbers of an array. Gradients of the arrays that a
//! kernel writes are drawn as floats from -1 to 1, with `a + 2^16` for `a`.
//!
//! An input with recorded `values` has these numbers for the seed [`RECORDED_SEED`]. For another
//! seed each float is multiplied by `0.95 + 0.1 * fraction`.

mod arrangement;

use crate::random::{Random, at, fraction};
pub use arrangement::Arrangement;
use gbxcule_ir::layout::{Leaf, leaves};
use gbxcule_ir::{Field, Literal, Scalar, Shape, Type, Types};
use serde::{Deserialize, Serialize};

/// Input of one argument: the shape, and the range of the numbers that fill it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ArgumentInput {
    /// Name of the parameter.
    pub name: String,
    /// Number of elements in each dimension; empty for a parameter other than an array.
    pub shape: Vec<u32>,
    /// True if every number is 0.
    pub zero: bool,
    /// True if the kernel writes this argument: a result, or an array that is updated in place.
    pub written: bool,
    /// The least float.
    pub low: f64,
    /// The greatest float.
    pub high: f64,
    /// The least integer.
    pub least: i64,
    /// The greatest integer.
    pub most: i64,
    /// Relation between the numbers of an array.
    #[serde(default, skip_serializing_if = "Arrangement::is_free")]
    pub arrangement: Arrangement,
    /// Ranges of those fields of a struct that have a separate range.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<FieldRange>,
    /// Numbers that a program's launch had, one for each leaf; ignored if there are more or fewer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<Number>,
}

/// The seed with which recorded inputs have exactly the recorded numbers.
pub const RECORDED_SEED: u64 = 0;

/// A recorded number.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Number {
    /// An integer.
    Whole(i64),
    /// An integer that only an unsigned type holds.
    Large(u64),
    /// A float.
    Float(f64),
}

impl Number {
    /// Returns the number as a float.
    pub fn as_f64(self) -> f64 {
        match self {
            Self::Whole(it) => it as f64,
            Self::Large(it) => it as f64,
            Self::Float(it) => it,
        }
    }

    /// Returns the number as a value of a type; floats are multiplied by `factor`.
    fn literal(self, scalar: Scalar, factor: f64) -> Literal {
        match self {
            _ if scalar.is_float() => Literal::float(scalar, self.as_f64() * factor),
            Self::Whole(it) => Literal::int(scalar, it.into()),
            Self::Large(it) => Literal::int(scalar, it.into()),
            Self::Float(it) => Literal::float(scalar, it),
        }
    }
}

/// Range of the numbers of one field of a struct.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct FieldRange {
    /// Name of the field.
    pub name: String,
    /// Range of the field's numbers.
    #[serde(flatten)]
    pub range: NumberRange,
}

/// Range of numbers: floats from `low` to `high`, integers from `least` to `most`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct NumberRange {
    /// The least float.
    pub low: f64,
    /// The greatest float.
    pub high: f64,
    /// The least integer.
    pub least: i64,
    /// The greatest integer.
    pub most: i64,
}

/// Maximum of elements in an array and of points in a grid. Rows are small, but a forged row may
/// name any size.
const MAX_ELEMENTS: u32 = 1 << 16;
/// The greatest magnitude of a drawn integer: doubles hold all integers up to it exactly.
const LARGEST: i64 = 1 << 52;

/// Returns true if an array, or a grid, of this size fits into a row.
pub fn is_small(dims: &[u32]) -> bool {
    let count = dims.iter().try_fold(1_u32, |count, &dim| count.checked_mul(dim));
    dims.len() <= 4 && count.is_some_and(|count| count <= MAX_ELEMENTS)
}

/// Returns the number of dimensions of an array parameter; 0 for other parameters.
pub fn rank(types: &Types, of: Type) -> usize {
    match types[of] {
        Shape::Array { dims, .. } => usize::from(dims),
        _ => 0,
    }
}

impl ArgumentInput {
    /// Returns true if inputs can be drawn from these numbers, which may come from a foreign file.
    pub fn is_sound(&self) -> bool {
        let mut ranges = self.fields.iter().map(|field| field.range).chain([self.range()]);
        ranges.all(NumberRange::is_sound) && is_small(&self.shape)
    }

    /// Returns the input for an array of zeros that the kernel writes.
    pub fn zeros(shape: Vec<u32>) -> Self {
        Self { zero: true, written: true, ..Self::integers(shape, 0, 0) }
    }

    /// Returns an input of integers from `least` to `most` and floats from -1 to 1.
    pub fn integers(shape: Vec<u32>, least: i64, most: i64) -> Self {
        let (low, high) = (-1.0, 1.0);
        Self {
            name: String::new(),
            shape,
            zero: false,
            written: false,
            low,
            high,
            least,
            most,
            arrangement: Arrangement::Free,
            fields: Vec::new(),
            values: Vec::new(),
        }
    }

    /// Returns the input of recorded numbers, from whose ranges inputs of other shapes are drawn.
    pub fn recorded(shape: Vec<u32>, values: Vec<Number>) -> Self {
        let (mut least, mut most) = (0, 0);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in &values {
            let number = value.as_f64();
            (low, high) = (low.min(number), high.max(number));
            (least, most) = (low as i64, high as i64);
        }
        (least, most) = (least.clamp(-LARGEST, LARGEST), most.clamp(-LARGEST, LARGEST));
        if values.is_empty() {
            (low, high) = (0.0, 0.0);
        }
        Self { low, high, values, ..Self::integers(shape, least, most) }
    }

    /// Returns an input with numbers of moderate size.
    pub fn spread(random: &mut Random, shape: Vec<u32>) -> Self {
        let (low, high) =
            random.pick(&[(-1.0, 1.0), (-2.0, 2.0), (0.1, 1.5), (-1.5, 2.5), (0.2, 2.0)]);
        let (least, most) = random.pick(&[(0, 15), (1, 40), (0, 100), (-20, 20), (1, 9)]);
        Self { low, high, ..Self::integers(shape, least, most) }
    }

    /// Returns the bytes of one argument.
    pub fn bytes(&self, types: &Types, of: Type, seed: u64, argument: u64) -> Vec<u8> {
        let size = types.layout(of).map_or(0, |layout| layout.size as usize);
        let count = self.shape.iter().product::<u32>() as usize;
        let mut bytes = vec![0; size * count];
        if self.zero {
            return bytes;
        }
        let leaves = leaves(types, of);
        let ranges = self.ranges(types, of, leaves.len());
        let stream = seed.wrapping_add(argument << 32);
        let recorded = (self.values.len() == count * leaves.len()).then_some(&self.values);
        let is_exact = seed == RECORDED_SEED && recorded.is_some();
        for element in 0..count {
            let cell = &mut bytes[element * size..][..size];
            for (k, (leaf, range)) in leaves.iter().zip(&ranges).enumerate() {
                let place = element * leaves.len() + k;
                let fraction = fraction(at(stream, place as u64));
                let number = match recorded {
                    Some(values) if is_exact => values[place].literal(leaf.scalar, 1.0),
                    Some(values) => values[place].literal(leaf.scalar, 0.95 + 0.1 * fraction),
                    None => range.draw(leaf.scalar, fraction),
                };
                leaf.write(cell, number);
            }
            if !is_exact {
                normalise(&leaves, cell);
            }
        }
        self.arrangement.arrange(self, &leaves, &mut bytes);
        bytes
    }

    fn range(&self) -> NumberRange {
        let &Self { low, high, least, most, .. } = self;
        NumberRange { low, high, least, most }
    }

    /// Returns the range of each scalar of a type.
    fn ranges(&self, types: &Types, of: Type, count: usize) -> Vec<NumberRange> {
        let Shape::Struct(id) = types[of] else { return vec![self.range(); count] };
        let fields = types.structure(id).fields.iter();
        let of_field = |field: &Field| {
            let with_range = self.fields.iter().find(|it| *it.name == *field.name);
            let range = with_range.map_or(self.range(), |it| it.range);
            vec![range; leaves(types, field.ty).len()]
        };
        fields.flat_map(of_field).collect()
    }
}

impl NumberRange {
    fn is_sound(self) -> bool {
        let integers = -LARGEST <= self.least && self.least <= self.most && self.most <= LARGEST;
        integers && self.low.is_finite() && self.high.is_finite()
    }

    fn draw(self, scalar: Scalar, fraction: f64) -> Literal {
        if scalar == Scalar::Bool {
            return Literal::bool(fraction >= 0.5);
        }
        if scalar.is_float() {
            return Literal::float(scalar, self.low + (self.high - self.low) * fraction);
        }
        // An unsigned number's range has as many numbers, from 0 on.
        let least = if scalar.is_unsigned_int() { self.least.max(0) } else { self.least };
        let span = (self.most - least + 1) as f64;
        Literal::int(scalar, i128::from(least + (span * fraction).floor() as i64))
    }
}

/// Returns the gradient that an array of a row gets before its reverse kernel runs.
pub fn cotangent(types: &Types, of: Type, count: usize, seed: u64, argument: u64) -> Vec<u8> {
    let given = ArgumentInput::integers(vec![count as u32], 0, 0);
    let size = types.layout(of).map_or(0, |layout| layout.size as usize);
    let mut bytes = vec![0; size * count];
    let leaves = leaves(types, of);
    let stream = seed.wrapping_add((argument + (1 << 16)) << 32);
    for element in 0..count {
        for (k, leaf) in leaves.iter().enumerate().filter(|(_, leaf)| leaf.scalar.is_float()) {
            let place = (element * leaves.len() + k) as u64;
            leaf.write(
                &mut bytes[element * size..],
                given.range().draw(leaf.scalar, fraction(at(stream, place))),
            );
        }
    }
    bytes
}

fn normalise(leaves: &[Leaf], cell: &mut [u8]) {
    for (k, _) in leaves.iter().enumerate().filter(|(_, leaf)| leaf.begins_quaternion) {
        let parts = &leaves[k..k + 4];
        let values: Vec<f64> = parts.iter().map(|leaf| leaf.read(cell).as_f64()).collect();
        let length = values.iter().map(|value| value * value).sum::<f64>().sqrt().max(1e-9);
        for (leaf, value) in parts.iter().zip(values) {
            leaf.write(cell, Literal::float(leaf.scalar, value / length));
        }
    }
}
