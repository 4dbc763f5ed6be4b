//! Values: smooth functions of the variables and elements in scope.

use super::{LEN, SmoothGenerator, unit};
use gbxcule_ir::builtin::Native;
use gbxcule_ir::{Arg, BinaryOp, CompareOp, PlaceId, Type, Value};

impl SmoothGenerator<'_> {
    pub(super) fn below(&mut self, end: u32) -> u32 {
        self.random.below(end)
    }

    pub(super) fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        self.random.pick(of)
    }

    pub(super) fn number(&mut self, value: f64) -> Value {
        self.b.number(Type::F64, value)
    }

    /// Draws an index in `0..6`.
    pub(super) fn index(&mut self) -> Value {
        match self.below(5) {
            0 => {
                let number = self.below(LEN as u32) as i32;
                self.b.i32(number)
            }
            1 => self.b.launch_index(0),
            2 if !self.counts.is_empty() => {
                let place = self.pick(&self.counts.clone());
                self.b.load(place)
            }
            _ if !self.indices.is_empty() => self.pick(&self.indices.clone()),
            _ => self.b.launch_index(0),
        }
    }

    pub(super) fn modulo(&mut self, value: Value, end: i32) -> Value {
        let end = self.b.i32(end);
        self.b.binary(BinaryOp::Remainder, value, end)
    }

    pub(super) fn real(&mut self, depth: u32) -> Value {
        let value = self.real_of(depth);
        self.scope.push(value);
        value
    }

    pub(super) fn real_of(&mut self, depth: u32) -> Value {
        if depth == 0 || self.random.chance(25) {
            return self.leaf();
        }
        match self.below(14) {
            0 | 1 => self.smooth(depth),
            2..=6 => {
                let op = self.pick(&[
                    BinaryOp::Add,
                    BinaryOp::Subtract,
                    BinaryOp::Multiply,
                    BinaryOp::Multiply,
                ]);
                let (left, right) = (self.real(depth - 1), self.real(depth - 1));
                self.b.binary(op, left, right)
            }
            7 => {
                let (above, below) = (self.real(depth - 1), self.real(depth - 1));
                let (square, two) = (self.b.mul(below, below), self.number(2.0));
                let below = self.b.add(square, two);
                self.b.div(above, below)
            }
            8 => {
                let (condition, left, right) =
                    (self.condition(depth - 1), self.real(depth - 1), self.real(depth - 1));
                self.b.select(condition, left, right)
            }
            9 => {
                let native = self.pick(&[Native::Min, Native::Max, Native::Atan2]);
                let (left, mut right) = (self.real(depth - 1), self.real(depth - 1));
                if native == Native::Atan2 {
                    // The second argument is at least 1, away from the origin and from the cut of
                    // the angle.
                    let (square, one) = (self.b.mul(right, right), self.number(1.0));
                    right = self.b.add(square, one);
                }
                self.b.native(native, &[left, right])
            }
            10 => {
                let vector = self.vector(depth - 1);
                let name = self.pick(&["length", "length_sq"]);
                self.b.named(name, &[vector])
            }
            11 => {
                let (left, right) = (self.vector(depth - 1), self.vector(depth - 1));
                self.b.named("dot", &[left, right])
            }
            12 if !self.known.plain.is_empty() => {
                let function = self.pick(&self.known.plain.clone());
                let args = [self.real(depth - 1), self.real(depth - 1)].map(Arg::Value);
                self.b.call(function, &args)
            }
            _ => self.leaf(),
        }
    }

    pub(super) fn smooth(&mut self, depth: u32) -> Value {
        let x = self.real(depth - 1);
        match self.below(6) {
            0 => {
                let (square, one) = (self.b.mul(x, x), self.number(1.0));
                let sum = self.b.add(square, one);
                let native = self.pick(&[Native::Sqrt, Native::Log, Native::Cbrt]);
                self.b.native(native, &[sum])
            }
            1 => {
                let square = self.b.mul(x, x);
                let minus = self.b.neg(square);
                self.b.native(Native::Exp, &[minus])
            }
            2 => self.b.neg(x),
            _ => {
                let native = self.pick(&[
                    Native::Sin,
                    Native::Cos,
                    Native::Tanh,
                    Native::Abs,
                    Native::Atan,
                    Native::Erf,
                ]);
                self.b.native(native, &[x])
            }
        }
    }

    pub(super) fn leaf(&mut self) -> Value {
        match self.below(8) {
            0 | 1 if !self.reals.is_empty() => {
                let place = self.pick(&self.reals.clone());
                self.b.load(place)
            }
            2 if !self.vectors.is_empty() => {
                let place = self.component();
                self.b.load(place)
            }
            3 | 4 if self.arrays.is_some() => self.element(),
            5 if !self.scope.is_empty() => self.pick(&self.scope.clone()),
            6 if !self.structs.is_empty() => {
                let place = self.pick(&self.structs.clone());
                let place = self.b.field(place, 0);
                self.b.load(place)
            }
            _ if !self.reals.is_empty() => {
                let place = self.pick(&self.reals.clone());
                self.b.load(place)
            }
            _ => {
                let value = 1.3 * unit(&mut self.random);
                self.number(value)
            }
        }
    }

    /// Returns an element of `x`, or seldom of `y` or `o`, which the kernel writes too.
    pub(super) fn element(&mut self) -> Value {
        let Some(arrays) = self.arrays else { return self.number(1.0) };
        let (array, index) = match self.below(80) {
            0 => (arrays[1], self.b.launch_index(0)),
            1 => (arrays[2], self.b.launch_index(0)),
            _ => (arrays[0], self.index()),
        };
        let cell = self.b.element(array, &[index]);
        self.b.load(cell)
    }

    pub(super) fn component(&mut self) -> PlaceId {
        let place = self.pick(&self.vectors.clone());
        if self.random.chance(50) {
            let index = self.index();
            let index = self.modulo(index, 3);
            self.b.at(place, index)
        } else {
            let component = self.below(3);
            self.b.component(place, component)
        }
    }

    pub(super) fn vector(&mut self, depth: u32) -> Value {
        if depth == 0 && !self.vectors.is_empty() {
            let place = self.pick(&self.vectors.clone());
            return self.b.load(place);
        }
        match self.below(5) {
            0 if depth > 0 => {
                let (left, right) = (self.vector(depth - 1), self.vector(depth - 1));
                let op = self.pick(&[BinaryOp::Add, BinaryOp::Subtract, BinaryOp::Multiply]);
                self.b.binary(op, left, right)
            }
            1 if depth > 0 => {
                let (left, right) = (self.vector(depth - 1), self.vector(depth - 1));
                self.b.named("cross", &[left, right])
            }
            2 if depth > 0 => {
                let (vector, factor) = (self.vector(depth - 1), self.real(depth - 1));
                self.b.scale(vector, factor)
            }
            3 if !self.vectors.is_empty() => {
                let place = self.pick(&self.vectors.clone());
                self.b.load(place)
            }
            _ => {
                let parts = [0; 3].map(|_| self.real(0));
                self.b.construct(self.known.vec3, &parts)
            }
        }
    }

    pub(super) fn condition(&mut self, depth: u32) -> Value {
        if self.random.chance(35) {
            let (index, two) = (self.index(), self.b.i32(2));
            let even = self.b.binary(BinaryOp::Remainder, index, two);
            let zero = self.b.i32(0);
            return self.b.eq(even, zero);
        }
        let (left, right) = (self.real(depth), self.real(0));
        let op = self.pick(&[CompareOp::Less, CompareOp::Greater]);
        self.b.compare(op, left, right)
    }
}
