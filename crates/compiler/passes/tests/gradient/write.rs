//! Short ways to write kernels in tests.

use crate::oracle::Case;
use gbxcule_ir::builtin::Native;
use gbxcule_ir::{Builder, LocalId, Module, Param, PlaceId, Type, Value};

/// Inputs of a kernel under test: `x` is read, `o` is written, `n` and `m` are numbers.
pub(crate) const X: [f64; 6] = [0.7, -1.3, 1.9, 0.4, -0.6, 1.1];

/// A kernel `k(x: array<f64, 1>, o: array<f64, 1>, n: i32, m: i32)` run by two threads, with n = 5,
/// m = 3.
pub(crate) fn case(fill: impl FnOnce(&mut Builder<'_>)) -> Case {
    case_with(Module::new("m"), fill)
}

/// Makes a case in a module that has functions already.
pub(crate) fn case_with(mut module: Module, fill: impl FnOnce(&mut Builder<'_>)) -> Case {
    let array = module.types.array(Type::F64, 1);
    let params = vec![
        Param::value("x", array),
        Param::value("o", array),
        Param::value("n", Type::I32),
        Param::value("m", Type::I32),
    ];
    let kernel = module.declare_kernel("k", params);
    let mut b = Builder::new(&mut module, kernel);
    fill(&mut b);
    b.finish();
    let arrays = vec![X.to_vec(), vec![0.3, -0.2, 0.9, 0.5]];
    Case { module, kernel, threads: 2, arrays, numbers: vec![5, 3] }
}

/// Short names for statements and values in tests.
pub(crate) trait Write {
    fn x(&mut self, index: Value) -> Value;
    fn number_n(&mut self) -> Value;
    fn out(&mut self, value: Value);
    fn out_place(&mut self, index: Value) -> PlaceId;
    fn tid(&mut self) -> Value;
    fn real(&mut self, value: f64) -> Value;
    fn var(&mut self, name: &str, value: Value) -> PlaceId;
    fn fun(&mut self, native: Native, arg: Value) -> Value;
    fn loop_n(&mut self, body: impl FnOnce(&mut Self, Value));
    fn loop_to(&mut self, end: i32, body: impl FnOnce(&mut Self, Value));
}

impl Write for Builder<'_> {
    /// Loads `x[index]`.
    fn x(&mut self, index: Value) -> Value {
        let array = self.param_place(0);
        let cell = self.element(array, &[index]);
        self.load(cell)
    }

    fn number_n(&mut self) -> Value {
        self.arg(2)
    }

    /// Writes `o[tid] = value`.
    fn out(&mut self, value: Value) {
        let index = self.tid();
        let cell = self.out_place(index);
        self.store(cell, value);
    }

    fn out_place(&mut self, index: Value) -> PlaceId {
        let array = self.param_place(1);
        self.element(array, &[index])
    }

    fn tid(&mut self) -> Value {
        self.launch_index(0)
    }

    fn real(&mut self, value: f64) -> Value {
        self.number(Type::F64, value)
    }

    /// Declares a variable with a first value.
    fn var(&mut self, name: &str, value: Value) -> PlaceId {
        let ty = self.body().type_of(value);
        let local: LocalId = self.local(name, ty);
        let place = self.local_place(local);
        self.store(place, value);
        place
    }

    fn fun(&mut self, native: Native, arg: Value) -> Value {
        self.native(native, &[arg])
    }

    /// Writes `for i in range(n)`.
    fn loop_n(&mut self, body: impl FnOnce(&mut Self, Value)) {
        let (zero, n, one) = (self.i32(0), self.number_n(), self.i32(1));
        let index = self.loop_index(Type::I32, "i");
        self.open_block();
        body(self, index);
        let block = self.close_block();
        self.for_block(index, [zero, n, one], block);
    }

    /// Writes `for i in range(end)`.
    fn loop_to(&mut self, end: i32, body: impl FnOnce(&mut Self, Value)) {
        let (zero, end, one) = (self.i32(0), self.i32(end), self.i32(1));
        let index = self.loop_index(Type::I32, "i");
        self.open_block();
        body(self, index);
        let block = self.close_block();
        self.for_block(index, [zero, end, one], block);
    }
}
