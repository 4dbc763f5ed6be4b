//! The kernel and its arguments. Each thread writes only its own row of the output. Each array for
//! atomics has one operation, whose result doesn't depend on the order of the threads.

use super::actual::image;
use super::function::{Generator, callable, palette};
use super::random::Random;
use super::{Actual, Options, RandomProgram};
use gbxcule_ir::check;
use gbxcule_ir::function::Param;
use gbxcule_ir::module::Module;
use gbxcule_ir::op::{AtomicOp, Selector};
use gbxcule_ir::ty::{Scalar, Type};

/// Number of elements that each thread has in an output.
const WIDTH: u32 = 3;

pub(super) fn generate(mut random: Random, options: Options) -> RandomProgram {
    let random = &mut random;
    let mut module = Module::new("random");
    let palette = palette(random, &mut module, options);
    let mut callees = Vec::new();
    for _ in 0..options.functions {
        callees.push(callable(random, &mut module, &palette, &callees, None));
    }
    let dims = if random.chance(50) { vec![5] } else { vec![2, 3] };
    let threads: u32 = dims.iter().product();

    let mut inputs = Inputs { params: Vec::new(), args: Vec::new(), buffers: Vec::new() };
    let outs = [random.pick(&palette), random.pick(&palette)];
    inputs.array(random, &mut module, "out", outs[0], &[threads, WIDTH], false);
    inputs.array(random, &mut module, "more", outs[1], &[threads, WIDTH], true);
    let ins = [random.pick(&palette), random.pick(&palette)];
    inputs.array(random, &mut module, "x", ins[0], &[4], true);
    inputs.array(random, &mut module, "y", ins[1], &[2, 2, 3], false);
    let counted = Type::scalar(random.pick(&[Scalar::I32, Scalar::U32, Scalar::I64, Scalar::U64]));
    inputs.array(random, &mut module, "count", counted, &[3], false);
    for name in ["a", "b", "c"] {
        let ty = random.pick(&palette);
        inputs.params.push(Param::value(name, ty));
        inputs.args.push(Actual::Bytes(image(random, &module.types, ty)));
    }

    let kernel = module.declare_kernel("kernel", inputs.params.clone());
    let mut maker = Generator::new(random, &mut module, kernel, &palette, &callees);
    maker.fuel = options.statements;
    maker.kernel_body(&dims);
    maker.b.finish();
    let module = check::module(module)
        .unwrap_or_else(|faults| unreachable!("random programs are valid: {faults:#?}"));
    RandomProgram { module, kernel, dims, buffers: inputs.buffers, args: inputs.args }
}

struct Inputs {
    params: Vec<Param>,
    args: Vec<Actual>,
    buffers: Vec<Vec<u8>>,
}

impl Inputs {
    /// Adds an array over a new buffer. A turned array runs from the buffer's end to its
    /// beginning.
    fn array(
        &mut self,
        random: &mut Random,
        module: &mut Module,
        name: &str,
        of: Type,
        shape: &[u32],
        turned: bool,
    ) {
        let ty = module.types.array(of, shape.len() as u8);
        self.params.push(Param::value(name, ty));
        let count: u32 = shape.iter().product();
        let bytes = (0..count).flat_map(|_| image(random, &module.types, of)).collect();
        let mut actual = Actual::dense(&module.types, self.buffers.len(), of, shape);
        if let Actual::Array { offset, strides, .. } = &mut actual
            && turned
        {
            *offset = strides[0] as u32 * (shape[0] - 1);
            strides[0] = -strides[0];
        }
        self.args.push(actual);
        self.buffers.push(bytes);
    }
}

impl Generator<'_, '_> {
    fn kernel_body(&mut self, dims: &[u32]) {
        let mut row = self.b.launch_index(0);
        if let Some(&inner) = dims.get(1) {
            let (width, column) = (self.b.i32(inner as i32), self.b.launch_index(1));
            let first = self.b.mul(row, width);
            row = self.b.add(first, column);
        }
        self.scope.push(row);
        // The thread's own elements of the output, with or without a view of their row.
        for param in 0..2 {
            let array = self.b.arg(param);
            let view = self.b.view(array, &[Selector::At(row)]);
            for column in 0..WIDTH {
                let index = self.b.i32(column as i32);
                let place = if self.random.chance(50) {
                    let place = self.b.array_place(view);
                    self.b.element(place, &[index])
                } else {
                    let place = self.b.param_place(param);
                    self.b.element(place, &[row, index])
                };
                self.variables.push(place);
                self.readable.push(place);
            }
        }
        self.variables();
        self.read_inputs();
        for param in 5..8 {
            let place = self.b.param_place(param);
            self.readable.push(place);
        }
        let op = self.random.pick(&[
            AtomicOp::Add,
            AtomicOp::Subtract,
            AtomicOp::Min,
            AtomicOp::Max,
            AtomicOp::And,
            AtomicOp::Or,
            AtomicOp::Xor,
        ]);
        self.count(op);
        self.statements();
        if !self.b.diverged() {
            self.count(op);
        }
    }

    /// Reads elements of the inputs at indices that are known only at run time.
    fn read_inputs(&mut self) {
        for _ in 0..2 {
            let index = self.index_below(4);
            let place = self.b.param_place(2);
            let cell = self.b.element(place, &[index]);
            let index = [2, 2, 3].map(|extent| self.index_below(extent));
            let place = self.b.param_place(3);
            let other = self.b.element(place, &index);
            self.readable.extend([cell, other]);
        }
    }

    fn count(&mut self, op: AtomicOp) {
        let index = self.index_below(3);
        let place = self.b.param_place(4);
        let cell = self.b.element(place, &[index]);
        let amount = self.expression(self.b.place_type(cell), 2);
        self.b.atomic(op, cell, amount);
    }
}
