//! Random differentiable kernels: loops, branches, early exits, calls, arrays, vectors, structs.
//!
//! All their floats are 64 bits wide and of moderate size, and no two threads store to one element,
//! so that tests can compare gradients with differences.

mod expression;

use super::{Actual, Random, RandomProgram};
use gbxcule_ir::builtin::Native;
use gbxcule_ir::check::Valid;
use gbxcule_ir::source::Span;
use gbxcule_ir::stmt::Case as SwitchCase;
use gbxcule_ir::{
    Arg, AtomicOp, BinaryOp, BlockId, Builder, Field, FunctionId, Module, Param, PlaceId, Scalar,
    Struct, Type, Value,
};

/// Number of elements of `x` and of `y`.
const LEN: i32 = 6;

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
        let arrays = self.arrays.iter().enumerate().map(|(at, array)| {
            let mut actual = Actual::dense(&module.types, at, Type::F64, &[array.len() as u32]);
            if let Actual::Array { gradient, .. } = &mut actual {
                *gradient = beside(at);
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

/// Types and functions that a body may use.
#[derive(Clone)]
struct Definitions {
    vec3: Type,
    pair: Type,
    plain: Vec<FunctionId>,
    writing: Vec<FunctionId>,
}

/// A function or kernel under construction, of smooth functions of real numbers.
struct SmoothGenerator<'m> {
    random: Random,
    b: Builder<'m>,
    known: Definitions,
    reals: Vec<PlaceId>,
    vectors: Vec<PlaceId>,
    structs: Vec<PlaceId>,
    /// Integer variables whose values lie in `0..6`.
    counts: Vec<PlaceId>,
    indices: Vec<Value>,
    scope: Vec<Value>,
    /// The kernel's arrays; `None` in functions.
    arrays: Option<[PlaceId; 3]>,
    /// Number of results of a function.
    results: u32,
    fuel: u32,
    depth: u32,
    loops: u32,
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
    let mut definitions = Definitions { vec3, pair, plain: Vec::new(), writing: Vec::new() };
    for position in 0..random.below(3) {
        let params = vec![Param::value("a", Type::F64), Param::value("b", Type::F64)];
        let id = module.declare(format!("f{position}"), params, Type::F64);
        function(&mut module, id, &definitions, Random::new(random.bits()), 1);
        definitions.plain.push(id);
    }
    if random.chance(60) {
        let both = module.types.tuple(&[Type::F64, Type::F64]);
        let params = vec![
            Param::value("a", Type::F64),
            Param::mutable("v", vec3),
            Param::mutable("r", Type::F64),
            Param::shared("p", pair),
        ];
        let id = module.declare("g", params, both);
        function(&mut module, id, &definitions, Random::new(random.bits()), 2);
        definitions.writing.push(id);
    }
    let array = module.types.array(Type::F64, 1);
    let params = vec![
        Param::value("x", array),
        Param::value("y", array),
        Param::value("o", array),
        Param::value("n", Type::I32),
    ];
    let kernel = module.declare_kernel("k", params);
    let mut b = Builder::new(&mut module, kernel);
    let arrays = [0, 1, 2].map(|position| b.param_place(position));
    let fuel = 6 + random.below(14);
    let mut maker = SmoothGenerator::new(b, definitions, Random::new(random.bits()), fuel);
    maker.arrays = Some(arrays);
    maker.variables();
    maker.statements();
    maker.outputs();
    maker.b.finish();
    let mut numbers =
        |count: usize| -> Vec<f64> { (0..count).map(|_| 1.5 * unit(&mut random)).collect() };
    let arrays = vec![numbers(LEN as usize), numbers(LEN as usize), numbers(4)];
    Differentiable { module, kernel, threads: 2, arrays, numbers: vec![4] }
}

fn function(
    module: &mut Module,
    id: FunctionId,
    known: &Definitions,
    random: Random,
    results: u32,
) {
    let mut b = Builder::new(module, id);
    let params = b.function().params.clone();
    let mut places = Vec::new();
    for (position, param) in (0..).zip(&params) {
        places.push((b.param_place(position), param.ty, param.mode));
    }
    let mut maker = SmoothGenerator::new(b, known.clone(), random, 6);
    maker.results = results;
    for (place, ty, mode) in places {
        use gbxcule_ir::PassMode;
        if mode == PassMode::Mutable && ty == Type::F64 {
            maker.reals.push(place);
        } else if mode == PassMode::Mutable {
            maker.vectors.push(place);
        } else if ty == Type::F64 {
            let value = maker.b.load(place);
            maker.scope.push(value);
        } else {
            let field = maker.b.field(place, 0);
            let value = maker.b.load(field);
            maker.scope.push(value);
        }
    }
    maker.variables();
    maker.statements();
    if !maker.b.diverged() {
        maker.give();
    }
    maker.b.finish();
}

impl<'m> SmoothGenerator<'m> {
    fn new(b: Builder<'m>, known: Definitions, random: Random, fuel: u32) -> Self {
        Self {
            random,
            b,
            known,
            reals: Vec::new(),
            vectors: Vec::new(),
            structs: Vec::new(),
            counts: Vec::new(),
            indices: Vec::new(),
            scope: Vec::new(),
            arrays: None,
            results: 0,
            fuel,
            depth: 0,
            loops: 0,
        }
    }

    fn variables(&mut self) {
        for name in ["p", "q", "s"] {
            let local = self.b.local(name, Type::F64);
            let place = self.b.local_place(local);
            let value = self.real(1);
            self.b.store(place, value);
            self.reals.push(place);
        }
        let local = self.b.local("v", self.known.vec3);
        let place = self.b.local_place(local);
        self.vectors.push(place);
        let value = self.vector(1);
        self.b.store(place, value);
        let local = self.b.local("t", self.known.pair);
        let place = self.b.local_place(local);
        self.structs.push(place);
        let local = self.b.local("c", Type::I32);
        let place = self.b.local_place(local);
        let two = self.b.i32(2);
        self.b.store(place, two);
        self.counts.push(place);
    }

    fn statements(&mut self) {
        while self.fuel > 0 && !self.b.diverged() {
            self.statement();
        }
    }

    fn statement(&mut self) {
        self.fuel = self.fuel.saturating_sub(1);
        let nests = self.depth < 3;
        match self.below(22) {
            0 | 1 if nests => self.branch(),
            2 if nests => self.switch(),
            3..=5 if nests && self.loops < 2 => self.for_loop(),
            6 | 7 if nests && self.loops < 2 => self.while_loop(),
            8 | 9 if self.loops > 0 => self.leave_loop(),
            10 if self.random.chance(30) => self.leave(),
            11 => self.count(),
            12 if self.arrays.is_some() => self.write_memory(),
            13 if !self.known.writing.is_empty() => self.call(),
            14 => {
                let place = self.pick(&self.structs.clone());
                let field = self.pick(&[0, 2]);
                let place = self.b.field(place, field);
                let value = if field == 0 { self.real(2) } else { self.vector(1) };
                let value = self.limited(value);
                self.b.store(place, value);
            }
            15 => {
                let place = self.pick(&self.vectors.clone());
                let value = self.vector(2);
                let value = self.limited(value);
                self.b.store(place, value);
            }
            16 => {
                let place = self.component();
                let (old, factor) = (self.b.load(place), self.real(2));
                let new = self.b.mul(old, factor);
                self.b.store(place, new);
            }
            17 | 18 => {
                let place = self.pick(&self.reals.clone());
                let (old, other) = (self.b.load(place), self.real(2));
                let op = self.pick(&[BinaryOp::Multiply, BinaryOp::Add]);
                let new = self.b.binary(op, old, other);
                let new = if self.loops > 1 { self.limited(new) } else { new };
                self.b.store(place, new);
            }
            _ => {
                let place = self.pick(&self.reals.clone());
                let value = self.real(3);
                let calm = self.loops > 0 || self.random.chance(40);
                let value = if calm { self.limited(value) } else { value };
                self.b.store(place, value);
            }
        }
    }

    /// Limits a value to moderate size: rounding would absorb the gradients of a huge value.
    fn limited(&mut self, value: Value) -> Value {
        let ty = self.b.body().type_of(value);
        let square = if ty == Type::F64 {
            self.b.mul(value, value)
        } else {
            self.b.named("length_sq", &[value])
        };
        if self.random.chance(50) && ty == Type::F64 {
            return self.b.native(Native::Sin, &[value]);
        }
        let (tenth, one) = (self.number(0.1), self.number(1.0));
        let scaled = self.b.mul(square, tenth);
        let below = self.b.add(scaled, one);
        let factor = self.b.div(one, below);
        self.b.scale(value, factor)
    }

    fn block(&mut self) -> BlockId {
        let (scope, indices) = (self.scope.len(), self.indices.len());
        self.depth += 1;
        self.b.open_block();
        for _ in 0..1 + self.below(3) {
            if !self.b.diverged() {
                self.statement();
            }
        }
        self.depth -= 1;
        self.scope.truncate(scope);
        self.indices.truncate(indices);
        self.b.close_block()
    }

    fn branch(&mut self) {
        let condition = self.condition(1);
        let accept = self.block();
        let reject = if self.random.chance(50) { self.block() } else { self.b.empty_block() };
        self.b.if_blocks(condition, accept, reject);
    }

    fn switch(&mut self) {
        let selector = self.index();
        let cases = [vec![0, 3], vec![1]]
            .map(|labels| SwitchCase { labels: labels.into(), body: self.block() });
        let default = self.block();
        self.b.switch(selector, cases.into(), default);
    }

    fn for_loop(&mut self) {
        let range = match self.below(4) {
            0 => [5, -1, -1].map(|bound| self.b.i32(bound)),
            1 => [1, 6, 2].map(|bound| self.b.i32(bound)),
            2 => {
                let end = self.index();
                [self.b.i32(0), end, self.b.i32(1)]
            }
            _ => {
                let end = if self.arrays.is_some() { self.b.arg(3) } else { self.b.i32(3) };
                [self.b.i32(0), end, self.b.i32(1)]
            }
        };
        let index = self.b.loop_index(Type::I32, "i");
        let indices = self.indices.len();
        self.indices.push(index);
        self.loops += 1;
        let body = self.block();
        self.loops -= 1;
        self.indices.truncate(indices);
        self.b.for_block(index, range, body);
    }

    fn while_loop(&mut self) {
        let local = self.b.local("w", Type::I32);
        let counter = self.b.local_place(local);
        let zero = self.b.i32(0);
        self.b.store(counter, zero);
        let scope = self.scope.len();
        self.b.open_block();
        let (count, five) = (self.b.load(counter), self.b.i32(5));
        let mut goes_on = self.b.lt(count, five);
        if self.random.chance(40) {
            let other = self.condition(1);
            goes_on = self.b.and(goes_on, other);
        }
        let header = self.b.close_block();
        let indices = self.indices.len();
        self.b.open_block();
        let (count, one) = (self.b.load(counter), self.b.i32(1));
        let next = self.b.add(count, one);
        self.b.store(counter, next);
        self.indices.push(count);
        self.loops += 1;
        self.depth += 1;
        for _ in 0..1 + self.below(3) {
            if !self.b.diverged() {
                self.statement();
            }
        }
        self.depth -= 1;
        self.loops -= 1;
        self.indices.truncate(indices);
        self.scope.truncate(scope);
        let body = self.b.close_block();
        self.b.while_blocks(header, goes_on, body);
    }

    fn leave_loop(&mut self) {
        let condition = self.condition(1);
        let breaks = self.random.chance(60);
        self.b
            .if_then(condition, if breaks { Builder::break_loop } else { Builder::continue_loop });
    }

    fn leave(&mut self) {
        let condition = self.condition(1);
        let scope = self.scope.len();
        self.b.open_block();
        self.give();
        let accept = self.b.close_block();
        self.scope.truncate(scope);
        let reject = self.b.empty_block();
        self.b.if_blocks(condition, accept, reject);
    }

    /// Ends the function with its results.
    fn give(&mut self) {
        match self.results {
            0 => {
                self.outputs();
                self.b.ret(None);
            }
            1 => {
                let value = self.real(1);
                self.b.ret(Some(value));
            }
            _ => {
                let parts = [self.real(1), self.real(1)];
                let both = self.b.tuple(&parts);
                self.b.ret(Some(both));
            }
        }
    }

    /// Writes an index that a loop carries, sometimes computed from a float.
    fn count(&mut self) {
        let place = self.pick(&self.counts.clone());
        let value = if self.random.chance(20) {
            let (real, three) = (self.real(1), self.number(3.0));
            let size = self.b.native(Native::Abs, &[real]);
            let scaled = self.b.mul(size, three);
            let six = self.number(6.0);
            let wrapped = self.b.binary(BinaryOp::Remainder, scaled, six);
            self.b.convert(wrapped, Scalar::I32)
        } else {
            let (old, index) = (self.b.load(place), self.index());
            self.b.add(old, index)
        };
        let value = self.modulo(value, LEN);
        self.b.store(place, value);
    }

    fn write_memory(&mut self) {
        let Some([_, y, o]) = self.arrays else { return };
        let value = self.real(2);
        match self.below(6) {
            0 => {
                let index = self.b.launch_index(0);
                let cell = self.b.element(y, &[index]);
                self.b.store(cell, value);
            }
            1 => {
                // The elements read here differ from those that threads store, which avoids a race.
                let (index, two) = (self.index(), self.b.i32(2));
                let index = self.modulo(index, 4);
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

    fn call(&mut self) {
        let function = self.pick(&self.known.writing.clone());
        let a = self.real(1);
        let (v, r, p) = (
            self.pick(&self.vectors.clone()),
            self.pick(&self.reals.clone()),
            self.pick(&self.structs.clone()),
        );
        let args = [Arg::Value(a), Arg::Place(v), Arg::Place(r), Arg::Place(p)];
        let both = self.b.call(function, &args);
        let parts = [self.b.extract(both, 0), self.b.extract(both, 1)];
        self.scope.extend(parts);
    }

    /// Stores the sum of all variables, so that each has an effect on the results.
    fn outputs(&mut self) {
        let Some([_, _, o]) = self.arrays else { return };
        let mut sum = self.number(0.0);
        for place in self.reals.clone() {
            let value = self.b.load(place);
            sum = self.b.add(sum, value);
        }
        for place in self.vectors.clone() {
            let vector = self.b.load(place);
            let ones = self.number(0.7);
            let ones = self.b.splat(self.known.vec3, ones);
            let part = self.b.named("dot", &[vector, ones]);
            sum = self.b.add(sum, part);
        }
        for place in self.structs.clone() {
            let place = self.b.field(place, 0);
            let value = self.b.load(place);
            sum = self.b.add(sum, value);
        }
        let index = self.b.launch_index(0);
        let cell = self.b.element(o, &[index]);
        self.b.store(cell, sum);
    }
}
