//! Random differentiable kernels: the generator of random programs, kept to smooth functions of
//! real numbers.
//!
//! All their floats are 64 bits wide and of moderate size, all their integers are indices, and no
//! two threads store to one element, so that tests can compare gradients with differences.

use super::function::{Generator, callable};
use super::{Actual, Random, RandomProgram};
use gbxcule_ir::builtin::Native;
use gbxcule_ir::check::Valid;
use gbxcule_ir::source::Span;
use gbxcule_ir::{
    AtomicOp, BinaryOp, CompareOp, Field, FunctionId, Module, Param, PlaceId, Scalar, Struct, Type,
    Value,
};

/// Number of elements of `x` and of `y`: every integer of a program lies below it.
const LEN: u32 = 8;

/// A kernel over one-dimensional `f64` arrays, with its launch.
#[derive(Clone, Debug)]
pub struct Differentiable {
    /// The module, not checked yet.
    pub module: Module,
    /// The kernel.
    pub kernel: FunctionId,
    /// Number of threads, the only extent of the grid.
    pub threads: u32,
    /// The arrays before the launch: the kernel's first arguments.
    pub arrays: Vec<Vec<f64>>,
    /// `i32` arguments that follow the arrays.
    pub numbers: Vec<i32>,
}

impl Differentiable {
    /// Returns the launch of the kernel.
    pub fn forward(&self, module: Valid<Module>) -> RandomProgram {
        let buffers = self.arrays.iter().map(|array| bytes(array)).collect();
        self.launch(module, self.kernel, buffers, |_| None)
    }

    /// Returns the launch of the reverse kernel. Its buffers are the arrays after the kernel's
    /// launch, followed by their gradients.
    pub fn backward(
        &self,
        module: Valid<Module>,
        reverse: FunctionId,
        after: &[Vec<u8>],
        gradients: &[Vec<f64>],
    ) -> RandomProgram {
        let gradients = gradients.iter().map(|array| bytes(array));
        let buffers = after.iter().cloned().chain(gradients).collect();
        self.launch(module, reverse, buffers, |array| Some(array + self.arrays.len()))
    }

    fn launch(
        &self,
        module: Valid<Module>,
        kernel: FunctionId,
        buffers: Vec<Vec<u8>>,
        beside: impl Fn(usize) -> Option<usize>,
    ) -> RandomProgram {
        let arrays = self.arrays.iter().enumerate().map(|(position, array)| {
            let shape = [array.len() as u32];
            let mut actual = Actual::dense(&module.types, position, Type::F64, &shape);
            if let Actual::Array { gradient, .. } = &mut actual {
                *gradient = beside(position);
            }
            actual
        });
        let numbers = self.numbers.iter().map(|number| Actual::Bytes(number.to_le_bytes().into()));
        let args = arrays.chain(numbers).collect();
        RandomProgram { module, kernel, dims: vec![self.threads], buffers, args }
    }
}

fn bytes(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// Returns a number in `-1..1`.
pub fn unit(random: &mut Random) -> f64 {
    f64::from(random.below(1 << 20)) / f64::from(1 << 19) - 1.0
}

/// Marks a generator of smooth functions, with the arrays of its kernel; a function has none.
#[derive(Clone, Copy, Default)]
pub(super) struct Smooth {
    arrays: Option<[PlaceId; 3]>,
}

/// Returns the kernel of a seed.
pub fn differentiable(seed: u64) -> Differentiable {
    let mut random = Random::new(seed);
    let mut module = Module::new("m");
    let vec3 = module.types.vector(3, Scalar::F64);
    let field = |name: &str, ty| Field { name: name.into(), ty, span: Span::NONE };
    let pair = module.types.define_struct(Struct {
        name: "Pair".into(),
        fields: vec![field("a", Type::F64), field("n", Type::I32), field("v", vec3)],
        span: Span::NONE,
    });
    let palette = [Type::F64, Type::F64, Type::F64, vec3, pair, Type::I32];
    let mut callees = Vec::new();
    for _ in 0..random.below(4) {
        let smooth = Some(Smooth::default());
        callees.push(callable(&mut random, &mut module, &palette, &callees, smooth));
    }
    let array = module.types.array(Type::F64, 1);
    let mut params = ["x", "y", "o"].map(|name| Param::value(name, array)).to_vec();
    params.push(Param::value("n", Type::I32));
    let kernel = module.declare_kernel("k", params);
    let mut maker = Generator::new(&mut random, &mut module, kernel, &palette, &callees);
    let arrays = [0, 1, 2].map(|position| maker.b.param_place(position));
    maker.smooth = Some(Smooth { arrays: Some(arrays) });
    let count = maker.b.param_place(3);
    maker.readable.push(count);
    maker.fuel = 6 + maker.random.below(14);
    maker.variables();
    maker.statements();
    maker.outputs();
    maker.b.finish();
    let mut numbers =
        |count: u32| -> Vec<f64> { (0..count).map(|_| 1.5 * unit(&mut random)).collect() };
    let arrays = vec![numbers(LEN), numbers(LEN), numbers(4)];
    Differentiable { module, kernel, threads: 2, arrays, numbers: vec![4] }
}

impl Generator<'_, '_> {
    fn real(&mut self, depth: u32) -> Value {
        self.expression(Type::F64, depth)
    }

    fn float(&mut self, value: f64) -> Value {
        self.b.number(Type::F64, value)
    }

    /// Returns a new scalar with at most `depth` levels below it.
    pub(super) fn smooth_scalar(&mut self, of: Scalar, depth: u32) -> Value {
        match of {
            Scalar::F64 => self.smooth_real(depth),
            Scalar::I32 => self.smooth_index(depth),
            _ => self.smooth_condition(depth),
        }
    }

    pub(super) fn smooth_leaf(&mut self, of: Scalar) -> Value {
        match of {
            Scalar::F64 => {
                if self.random.chance(70)
                    && let Some(cell) = self.smooth_element()
                {
                    return self.b.load(cell);
                }
                let value = 1.3 * unit(self.random);
                self.float(value)
            }
            Scalar::I32 if self.random.chance(50) => self.b.launch_index(0),
            Scalar::I32 => {
                let number = self.random.below(LEN) as i32;
                self.b.i32(number)
            }
            _ => self.b.literal(gbxcule_ir::constant::Literal::bool(true)),
        }
    }

    fn smooth_real(&mut self, depth: u32) -> Value {
        let (left, right) = (self.real(depth - 1), self.real(depth - 1));
        match self.random.below(16) {
            0 => self.select(Type::F64, depth),
            // The divisor is at least 2.
            1 => {
                let (square, two) = (self.b.mul(right, right), self.float(2.0));
                let below = self.b.add(square, two);
                self.b.div(left, below)
            }
            // The second argument is at least 1, away from the origin and from the cut of the
            // angle.
            2 => {
                let (square, one) = (self.b.mul(right, right), self.float(1.0));
                let second = self.b.add(square, one);
                let native = self.random.pick(&[Native::Atan2, Native::Max, Native::Min]);
                self.b.native(native, &[left, second])
            }
            3 => {
                let (square, one) = (self.b.mul(left, left), self.float(1.0));
                let sum = self.b.add(square, one);
                let native = self.random.pick(&[Native::Sqrt, Native::Log, Native::Cbrt]);
                self.b.native(native, &[sum])
            }
            4 => {
                let square = self.b.mul(left, left);
                let minus = self.b.neg(square);
                self.b.native(Native::Exp, &[minus])
            }
            5 | 6 => {
                use Native::{Abs, Atan, Cos, Erf, Sin, Tanh};
                let native = self.random.pick(&[Sin, Cos, Tanh, Abs, Atan, Erf]);
                self.b.native(native, &[left])
            }
            7 | 8 => {
                let vector = self.smooth_vector(depth);
                let other = self.smooth_vector(depth);
                match self.random.pick(&["length", "length_sq", "dot"]) {
                    "dot" => self.b.named("dot", &[vector, other]),
                    name => self.b.named(name, &[vector]),
                }
            }
            9 => self.b.neg(left),
            10 => self.extract(Type::F64, depth),
            _ => {
                use BinaryOp::{Add, Multiply, Subtract};
                let op = self.random.pick(&[Add, Subtract, Multiply, Multiply]);
                self.b.binary(op, left, right)
            }
        }
    }

    fn smooth_vector(&mut self, depth: u32) -> Value {
        let vec3 = self.b.module.types.vector(3, Scalar::F64);
        self.expression(vec3, depth - 1)
    }

    /// Returns a vector times a number, or a product of two vectors.
    pub(super) fn smooth_product(&mut self, depth: u32) -> Value {
        let (left, right) = (self.smooth_vector(depth), self.smooth_vector(depth));
        if self.random.chance(50) {
            return self.b.named("cross", &[left, right]);
        }
        let factor = self.real(depth - 1);
        self.b.scale(left, factor)
    }

    /// Returns an index, sometimes computed from a float.
    fn smooth_index(&mut self, depth: u32) -> Value {
        let sum = if self.random.chance(20) {
            let (real, three) = (self.real(depth - 1), self.float(3.0));
            let size = self.b.native(Native::Abs, &[real]);
            let scaled = self.b.mul(size, three);
            self.b.convert(scaled, Scalar::I32)
        } else {
            let [left, right] = [0; 2].map(|_| self.expression(Type::I32, depth - 1));
            self.b.add(left, right)
        };
        let end = self.b.i32(LEN as i32);
        self.b.binary(BinaryOp::Remainder, sum, end)
    }

    fn smooth_condition(&mut self, depth: u32) -> Value {
        if self.random.chance(35) {
            let (index, two) = (self.expression(Type::I32, depth - 1), self.b.i32(2));
            let odd = self.b.binary(BinaryOp::Remainder, index, two);
            let zero = self.b.i32(0);
            return self.b.eq(odd, zero);
        }
        let (left, right) = (self.real(depth - 1), self.real(0));
        let op = self.random.pick(&[CompareOp::Less, CompareOp::Greater]);
        self.b.compare(op, left, right)
    }

    /// Returns an element of `x`, or seldom of `y` or `o`, which the kernel writes too; `None` in a
    /// function.
    fn smooth_element(&mut self) -> Option<PlaceId> {
        let arrays = self.smooth?.arrays?;
        let (array, index) = match self.random.below(80) {
            0 => (arrays[1], self.b.launch_index(0)),
            1 => (arrays[2], self.b.launch_index(0)),
            _ => (arrays[0], self.expression(Type::I32, 0)),
        };
        Some(self.b.element(array, &[index]))
    }

    /// Limits a float or vector to moderate size: rounding would absorb the gradients of a huge
    /// value.
    pub(super) fn limited(&mut self, value: Value) -> Value {
        let ty = self.b.body().type_of(value);
        if ty == Type::F64 && self.random.chance(50) {
            return self.b.native(Native::Sin, &[value]);
        }
        let square = match ty {
            _ if ty == Type::F64 => self.b.mul(value, value),
            _ if self.b.module.types.components(ty).is_some_and(|(of, _)| of == Scalar::F64) => {
                self.b.named("length_sq", &[value])
            }
            _ => return value,
        };
        let (tenth, one) = (self.float(0.1), self.float(1.0));
        let scaled = self.b.mul(square, tenth);
        let below = self.b.add(scaled, one);
        let factor = self.b.div(one, below);
        self.b.scale(value, factor)
    }

    /// Writes an element of `y` or `o`; does nothing in a function.
    pub(super) fn write_memory(&mut self) {
        let Some([_, y, o]) = self.smooth.and_then(|smooth| smooth.arrays) else { return };
        let value = self.real(2);
        match self.random.below(6) {
            0 => {
                let index = self.b.launch_index(0);
                let cell = self.b.element(y, &[index]);
                self.b.store(cell, value);
            }
            1 => {
                // The elements read here differ from those that threads store, which avoids a race.
                let (index, four) = (self.expression(Type::I32, 1), self.b.i32(4));
                let index = self.b.binary(BinaryOp::Remainder, index, four);
                let two = self.b.i32(2);
                let index = self.b.add(index, two);
                let cell = self.b.element(y, &[index]);
                self.b.atomic(AtomicOp::Subtract, cell, value);
            }
            2 => {
                let index = self.b.launch_index(0);
                let cell = self.b.element(o, &[index]);
                let old = self.b.load(cell);
                let new = self.b.add(old, value);
                self.b.store(cell, new);
            }
            _ => {
                let three = self.b.i32(3);
                let cell = self.b.element(o, &[three]);
                self.b.atomic(AtomicOp::Add, cell, value);
            }
        }
    }

    /// Stores the sum of all variables, so that each has an effect on the results; does nothing in
    /// a program of another kind, or in a function.
    pub(super) fn outputs(&mut self) {
        let Some([_, _, o]) = self.smooth.and_then(|smooth| smooth.arrays) else { return };
        let mut sum = self.float(0.0);
        for place in self.variables.clone() {
            let value = self.b.load(place);
            let ty = self.b.place_type(place);
            let part = match &self.b.module.types[ty] {
                gbxcule_ir::Shape::Vector { .. } => {
                    let weight = self.float(0.7);
                    let weights = self.b.splat(ty, weight);
                    self.b.named("dot", &[value, weights])
                }
                gbxcule_ir::Shape::Struct(_) => self.b.extract(value, 0),
                _ if ty == Type::F64 => value,
                _ => continue,
            };
            sum = self.b.add(sum, part);
        }
        let index = self.b.launch_index(0);
        let cell = self.b.element(o, &[index]);
        self.b.store(cell, sum);
    }
}
