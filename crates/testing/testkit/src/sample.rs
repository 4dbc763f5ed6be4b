//! Small kernels built by hand, as a front end would build them from the source text that each has.

use gbxcule_ir::check::{self, Valid};
use gbxcule_ir::source::{SourceId, SourceMap, Span};
use gbxcule_ir::{
    Arg, AtomicOp, BinaryOp, Builder, Case, CompareOp, Field, FunctionId, Module, Param, PlaceId,
    Scalar, Selector, Struct, Table, Type, builtin,
};

/// A checked module and its texts.
pub struct Sample {
    /// Name of the sample.
    pub name: &'static str,
    /// The checked module.
    pub module: Valid<Module>,
    /// Texts that the module's spans point into.
    pub sources: SourceMap,
}

/// Returns all samples.
pub fn all() -> Vec<Sample> {
    vec![saxpy(), collatz(), machine(), halves(), integers(), faults(), leaving(), order()]
}

fn checked(name: &'static str, module: Module, sources: SourceMap) -> Sample {
    let module = check::module(module).unwrap_or_else(|faults| panic!("{faults:#?}"));
    Sample { name, module, sources }
}

/// Returns the span of a line of a text.
fn line(sources: &SourceMap, id: SourceId, number: usize) -> Span {
    let text = &sources.get(id).text;
    let start: usize = text.split_inclusive('\n').take(number - 1).map(str::len).sum();
    let len = text[start..].find('\n').unwrap_or(text.len() - start);
    Span::new(id, start as u32, (start + len) as u32)
}

const SAXPY: &str = "\
@wp.kernel
def saxpy(x: wp.array(dtype=float), y: wp.array(dtype=float), a: float):
    i = wp.tid()
    y[i] = a * x[i] + y[i]
";

/// Returns a kernel with one statement over an array.
pub fn saxpy() -> Sample {
    let mut sources = SourceMap::new();
    let id = sources.add("saxpy.py", SAXPY);
    let mut module = Module::new("saxpy");
    let array = module.types.array(Type::F32, 1);
    let params =
        vec![Param::value("x", array), Param::value("y", array), Param::value("a", Type::F32)];
    let kernel = module.declare_kernel("saxpy", params);
    module.functions[kernel].span = line(&sources, id, 2);
    let mut b = Builder::new(&mut module, kernel);
    b.set_span(line(&sources, id, 3));
    let i = b.launch_index(0);
    b.rename(i, "i");
    b.set_span(line(&sources, id, 4));
    let (x, y) = (b.param_place(0), b.param_place(1));
    let (x, y) = (b.element(x, &[i]), b.element(y, &[i]));
    let (a, x) = (b.arg(2), b.load(x));
    let product = b.mul(a, x);
    let old = b.load(y);
    let sum = b.add(product, old);
    b.store(y, sum);
    b.finish();
    checked("saxpy", module, sources)
}

/// Returns a kernel with loops, branches, calls, views, atomics and a switch.
pub fn collatz() -> Sample {
    let mut module = Module::new("collatz");
    let collatz = collatz_function(&mut module);
    let out = module.types.array(Type::I32, 2);
    let kernel = module.declare_kernel("count", vec![Param::value("out", out)]);
    let mut b = Builder::new(&mut module, kernel);
    let (i, array) = (b.launch_index(0), b.arg(0));
    b.rename(i, "i");
    let width = b.extent(array, 1);
    b.rename(width, "width");
    let (zero, one) = (b.i32(0), b.i32(1));
    let row =
        b.view(array, &[Selector::At(i), Selector::Range { start: zero, len: width, step: one }]);
    b.rename(row, "row");
    b.for_range("j", [zero, width, one], |b, j| {
        let steps = b.call(collatz, &[Arg::Value(j)]);
        let cell = b.array_place(row);
        let cell = b.element(cell, &[j]);
        b.atomic(AtomicOp::Max, cell, steps);
    });
    let cases = [vec![0, 1], vec![7]].map(|labels| {
        let body = b.block(|b| b.print(None, &[i]));
        Case { labels: labels.into(), body }
    });
    let default = b.block(|b| b.trap("no such row"));
    b.switch(i, cases.into(), default);
    b.finish();
    checked("collatz", module, SourceMap::new())
}

/// Declares a function that counts the steps until a number becomes 1.
fn collatz_function(module: &mut Module) -> FunctionId {
    let collatz = module.declare("collatz", vec![Param::value("n", Type::I32)], Type::I32);
    let mut b = Builder::new(module, collatz);
    let (n, steps) = (b.local("n", Type::I32), b.local("steps", Type::I32));
    let (n, steps) = (b.local_place(n), b.local_place(steps));
    let first = b.arg(0);
    b.store(n, first);
    b.while_loop(
        |b| {
            let (now, one) = (b.load(n), b.i32(1));
            b.compare(CompareOp::Greater, now, one)
        },
        |b| {
            let (now, two, zero) = (b.load(n), b.i32(2), b.i32(0));
            let rest = b.binary(BinaryOp::Remainder, now, two);
            let even = b.eq(rest, zero);
            b.if_else(
                even,
                |b| {
                    let (now, two) = (b.load(n), b.i32(2));
                    let half = b.div(now, two);
                    b.store(n, half);
                },
                |b| {
                    let (now, three, one) = (b.load(n), b.i32(3), b.i32(1));
                    let thrice = b.mul(now, three);
                    let next = b.add(thrice, one);
                    b.store(n, next);
                },
            );
            let (old, one) = (b.load(steps), b.i32(1));
            let more = b.add(old, one);
            b.store(steps, more);
        },
    );
    let result = b.load(steps);
    b.ret(Some(result));
    b.finish();
    collatz
}

/// Returns a kernel with structs, tables, references, random numbers and formats.
pub fn machine() -> Sample {
    let mut module = Module::new("machine");
    let (wram, table) = (module.types.fixed(Type::U8, 8), module.types.fixed(Type::U8, 256));
    let vec3 = module.types.vector(3, Scalar::F32);
    let field = |name: &str, ty| Field { name: name.into(), ty, span: Span::NONE };
    let fields = vec![field("a", Type::U8), field("wram", wram), field("at", vec3)];
    let machine =
        module.types.define_struct(Struct { name: "Machine".into(), fields, span: Span::NONE });
    let step = step_function(&mut module, machine, table);
    let out = module.types.array(vec3, 1);
    let kernel = module
        .declare_kernel("run", vec![Param::value("seed", Type::I32), Param::value("out", out)]);
    let mut b = Builder::new(&mut module, kernel);
    let (machine, rng) = (b.local("machine", machine), b.local("rng", Type::U32));
    let (machine, rng) = (b.local_place(machine), b.local_place(rng));
    let i = b.launch_index(0);
    b.rename(i, "i");
    let seed = b.arg(0);
    let state = b.named("rand_init", &[seed, i]);
    b.store(rng, state);
    let spent = b.call(step, &[Arg::Place(machine), Arg::Place(rng)]);
    let ram = b.field(machine, 1);
    let bytes = b.as_array(ram, 1);
    let len = b.extent(bytes, 0);
    b.print(Some("%d of %d\n"), &[spent, len]);
    let at = b.field(machine, 2);
    let at = b.load(at);
    let three = b.f32(3.0);
    let scaled = b.scale(at, three);
    let unit = b.named("normalize", &[scaled]);
    let sum = b.add(scaled, unit);
    let cell = b.param_place(1);
    let cell = b.element(cell, &[i]);
    b.store(cell, sum);
    b.finish();
    checked("machine", module, SourceMap::new())
}

/// Declares a function that executes an opcode of a machine and returns the opcode's time from a
/// table.
fn step_function(module: &mut Module, machine: Type, table: Type) -> FunctionId {
    let bytes = (0..=255).map(|opcode: u8| if opcode < 0x40 { 8 } else { 4 }).collect();
    let cycles =
        module.add_table(Table { name: "CYCLES".into(), ty: table, bytes, span: Span::NONE });

    let params = vec![Param::mutable("machine", machine), Param::mutable("rng", Type::U32)];
    let step = module.declare("step", params, Type::U8);
    let mut b = Builder::new(module, step);
    let this = b.param_place(0);
    let (a, ram, at) = (b.field(this, 0), b.field(this, 1), b.field(this, 2));
    let opcode = b.load(a);
    b.rename(opcode, "opcode");
    let seven = b.literal(gbxcule_ir::Literal::int(Scalar::U8, 7));
    let low = b.and(opcode, seven);
    let cell = b.at(ram, low);
    let byte = b.load(cell);
    let one = b.literal(gbxcule_ir::Literal::int(Scalar::U8, 1));
    let next = b.add(byte, one);
    b.store(a, next);
    let x = b.component(at, 0);
    let rng = b.param_place(1);
    let draw =
        b.builtin(builtin::find("randf").expect("a row"), &[Arg::Place(rng)]).expect("a signature");
    b.store(x, draw);
    let table = b.table_place(cycles);
    let entry = b.at(table, opcode);
    let spent = b.load(entry);
    b.ret(Some(spent));
    b.finish();
    step
}

/// Returns a kernel with 16-bit floats and doubles.
pub fn halves() -> Sample {
    let mut module = Module::new("halves");
    let arrays = [Type::F16, Type::BF16, Type::F64].map(|of| module.types.array(of, 1));
    let params = ["h", "b", "d"].into_iter().zip(arrays).map(|(name, ty)| Param::value(name, ty));
    let kernel = module.declare_kernel("halves", params.collect());
    let mut b = Builder::new(&mut module, kernel);
    let i = b.launch_index(0);
    b.rename(i, "i");
    let places = [0, 1, 2].map(|param| {
        let place = b.param_place(param);
        b.element(place, &[i])
    });
    let h = b.load(places[0]);
    let half = b.number(Type::F16, 0.5);
    let sum = b.add(h, half);
    let other = b.load(places[0]);
    let product = b.mul(sum, other);
    b.store(places[0], product);
    let x = b.load(places[1]);
    let root = b.native(gbxcule_ir::Native::Sqrt, &[x]);
    let minus = b.neg(root);
    b.store(places[1], minus);
    let d = b.load(places[2]);
    let single = b.convert(d, Scalar::F16);
    let wide = b.convert(single, Scalar::F64);
    let third = b.number(Type::F64, 1.0 / 3.0);
    let quotient = b.binary(BinaryOp::FloorDivide, wide, third);
    b.store(places[2], quotient);
    b.finish();
    checked("halves", module, SourceMap::new())
}

/// Returns a kernel with integer operations whose results C++ leaves undefined, and with operations
/// whose operands exclude such results.
pub fn integers() -> Sample {
    let mut module = Module::new("integers");
    let kernel = integers_kernel(&mut module);
    let mut b = Builder::new(&mut module, kernel);
    let mut next = [0; 7];
    let mut put = |b: &mut Builder<'_>, param: u32, value| {
        let index = b.i32(next[param as usize]);
        next[param as usize] += 1;
        let place = b.param_place(param);
        let place = b.element(place, &[index]);
        b.store(place, value);
    };
    let i = b.launch_index(0);
    b.rename(i, "i");
    let (a, byte, wide, f) = (b.arg(0), b.arg(1), b.arg(2), b.arg(3));
    let (one, three, minus) = (b.i32(1), b.i32(3), b.i32(-1));
    // The sum of an index and one doesn't overflow; a sum of unknown numbers may.
    let next_index = b.add(i, one);
    for value in [
        next_index,
        b.add(a, one),
        b.mul(a, i),
        b.neg(a),
        b.div(a, three),
        b.div(a, minus),
        b.div(a, next_index),
    ] {
        put(&mut b, 4, value);
    }
    for op in
        [BinaryOp::FloorDivide, BinaryOp::Remainder, BinaryOp::ShiftLeft, BinaryOp::ShiftRight]
    {
        let value = b.binary(op, a, three);
        put(&mut b, 4, value);
    }
    let value = b.binary(BinaryOp::ShiftLeft, a, i);
    put(&mut b, 4, value);
    let saturated = b.convert(f, Scalar::I32);
    put(&mut b, 4, saturated);
    let wraps = [
        b.add(byte, byte),
        b.mul(byte, byte),
        b.not(byte),
        b.neg(byte),
        b.binary(BinaryOp::Xor, byte, byte),
    ];
    for value in wraps {
        put(&mut b, 5, value);
    }
    let five = b.literal(gbxcule_ir::Literal::int(Scalar::I64, 5));
    let narrow = b.convert(wide, Scalar::U8);
    put(&mut b, 5, narrow);
    let from_byte = b.convert(byte, Scalar::I64);
    for value in [b.add(from_byte, five), b.add(wide, five), b.binary(BinaryOp::And, wide, five)] {
        put(&mut b, 6, value);
    }
    b.finish();
    checked("integers", module, SourceMap::new())
}

/// Declares a kernel with numbers of four types and arrays of three.
fn integers_kernel(module: &mut Module) -> FunctionId {
    let types = [Type::I32, Type::U8, Type::I64, Type::F32];
    let params =
        ["a", "b", "c", "f"].into_iter().zip(types).map(|(name, ty)| Param::value(name, ty));
    let outs = [Type::I32, Type::U8, Type::I64].map(|of| module.types.array(of, 1));
    let outs =
        ["out", "bytes", "wide"].into_iter().zip(outs).map(|(name, ty)| Param::value(name, ty));
    module.declare_kernel("integers", params.chain(outs).collect())
}

/// Returns kernels with operations that may fault: indices of all kinds, divisors, absent arrays,
/// asserts.
pub fn faults() -> Sample {
    let mut module = Module::new("faults");
    let out = module.types.array(Type::I32, 1);
    let params = vec![
        Param::value("out", out),
        Param::value("which", Type::I32),
        Param::value("n", Type::I32),
    ];
    let kernel = module.declare_kernel("faults", params);
    let mut b = Builder::new(&mut module, kernel);
    let (which, n) = (b.arg(1), b.arg(2));
    let out = b.param_place(0);
    let zero = b.i32(0);
    let bodies: [&dyn Fn(&mut Builder<'_>); 6] = [
        &|b| {
            let cell = b.element(out, &[n]);
            let (cell_value, first) = (b.load(cell), b.element(out, &[zero]));
            b.store(first, cell_value);
        },
        &|b| {
            let one = b.i32(1);
            let quotient = b.div(one, n);
            let first = b.element(out, &[zero]);
            b.store(first, quotient);
        },
        &|b| {
            let positive = b.lt(zero, n);
            b.assert(positive, "n is positive");
        },
        &|b| b.trap("asked for"),
        &|b| {
            let array = b.arg(0);
            let gradient = b.gradient(array);
            let place = b.array_place(gradient);
            let place = b.element(place, &[zero]);
            b.store(place, n);
        },
        // An operand that may fault is evaluated even if it is not chosen.
        &|b| {
            let cell = b.element(out, &[n]);
            let (value, positive) = (b.load(cell), b.lt(n, zero));
            let chosen = b.select(positive, value, zero);
            let first = b.element(out, &[zero]);
            b.store(first, chosen);
        },
    ];
    let cases = bodies.iter().enumerate().map(|(label, fill)| {
        let body = b.block(|b| fill(b));
        Case { labels: [label as i64].into(), body }
    });
    let cases: Vec<Case> = cases.collect();
    let default = b.empty_block();
    b.switch(which, cases, default);
    b.finish();
    checked("faults", module, SourceMap::new())
}

/// Returns a kernel with ways out of loops: break inside a switch, continue, return inside a loop,
/// steps of all kinds.
pub fn leaving() -> Sample {
    let mut module = Module::new("leaving");
    let out = module.types.array(Type::I32, 1);
    let params = vec![
        Param::value("out", out),
        Param::value("n", Type::I32),
        Param::value("step", Type::I32),
    ];
    let kernel = module.declare_kernel("leaving", params);
    let mut b = Builder::new(&mut module, kernel);
    let (n, step) = (b.arg(1), b.arg(2));
    let total = b.local("total", Type::I32);
    let total = b.local_place(total);
    let count = |b: &mut Builder<'_>, amount| {
        let old = b.load(total);
        let sum = b.add(old, amount);
        b.store(total, sum);
    };
    let (zero, one, two, ten, minus) = (b.i32(0), b.i32(1), b.i32(2), b.i32(10), b.i32(-1));
    b.for_range("j", [zero, n, step], |b, j| count(b, j));
    b.for_range("j", [ten, zero, minus], |b, j| count(b, j));
    b.for_range("j", [zero, n, two], |b, j| {
        let first = b.block(Builder::break_loop);
        let second = b.block(Builder::continue_loop);
        let cases = vec![
            Case { labels: [6].into(), body: first },
            Case { labels: [2, 4].into(), body: second },
        ];
        let default = b.block(|b| count(b, one));
        b.switch(j, cases, default);
        count(b, ten);
    });
    let out = b.param_place(0);
    let i = b.launch_index(0);
    b.rename(i, "i");
    let cell = b.element(out, &[i]);
    b.while_loop(
        |b| b.bool(true),
        |b| {
            count(b, one);
            let (now, hundred) = (b.load(total), b.i32(100));
            let much = b.lt(hundred, now);
            b.if_then(much, |b| {
                let now = b.load(total);
                b.store(cell, now);
                b.ret(None);
            });
        },
    );
    b.finish();
    checked("leaving", module, SourceMap::new())
}

/// Returns a kernel whose loads must not be moved behind a store: each cell ends as the order of
/// the source says.
pub fn order() -> Sample {
    let mut module = Module::new("order");
    let out = module.types.array(Type::I32, 1);
    let bump = bump_function(&mut module);
    let kernel =
        module.declare_kernel("order", vec![Param::value("a", out), Param::value("alias", out)]);
    let mut b = Builder::new(&mut module, kernel);
    let cells: Vec<_> = (0..6)
        .map(|index| {
            let (a, index) = (b.param_place(0), b.i32(index));
            b.element(a, &[index])
        })
        .collect();
    let (alias, zero) = (b.param_place(1), b.i32(0));
    let alias = b.element(alias, &[zero]);
    // A store through the other handle writes the array between the load and its use.
    let before = b.load(cells[0]);
    let seven = b.i32(7);
    b.store(alias, seven);
    b.store(cells[1], before);
    // An atomic operation writes the array between the load and its use.
    let before = b.load(cells[0]);
    b.atomic(AtomicOp::Add, alias, seven);
    b.store(cells[2], before);
    // A store and a call write a variable between its load and its use.
    let x = b.local("x", Type::I32);
    let x = b.local_place(x);
    let before = b.load(x);
    b.store(x, seven);
    let bumped = b.call(bump, &[Arg::Place(x)]);
    let after = b.load(x);
    let ten = b.i32(10);
    let high = b.mul(after, ten);
    let both = b.add(high, bumped);
    let all = b.add(both, before);
    b.store(cells[3], all);
    count_up(&mut b, cells[4]);
    // A loop does not clear its variables for the next iteration.
    let (one, three) = (b.i32(1), b.i32(3));
    let kept = b.local("kept", Type::I32);
    let kept = b.local_place(kept);
    b.for_range("j", [zero, three, one], |b, j| {
        let old = b.load(kept);
        let sum = b.add(old, j);
        b.store(kept, sum);
        b.store(cells[5], sum);
    });
    b.finish();
    checked("order", module, SourceMap::new())
}

/// Writes a loop that adds one to a cell until the cell holds 3. The load in the loop's header runs
/// in each iteration.
fn count_up(b: &mut Builder<'_>, cell: PlaceId) {
    b.while_loop(
        |b| {
            let (now, limit) = (b.load(cell), b.i32(3));
            b.lt(now, limit)
        },
        |b| {
            let (now, one) = (b.load(cell), b.i32(1));
            let next = b.add(now, one);
            b.store(cell, next);
        },
    );
}

/// Declares a function that adds one to a variable of its caller and returns the old value.
fn bump_function(module: &mut Module) -> FunctionId {
    let bump = module.declare("bump", vec![Param::mutable("x", Type::I32)], Type::I32);
    let mut b = Builder::new(module, bump);
    let x = b.param_place(0);
    let (old, one) = (b.load(x), b.i32(1));
    let next = b.add(old, one);
    b.store(x, next);
    b.ret(Some(old));
    b.finish();
    bump
}

/// Returns a switch as interpreters of machine code have it, with long expressions in its cases.
pub fn dispatch(cases: i64) -> Valid<Module> {
    let mut module = Module::new("dispatch");
    let out = module.types.array(Type::I32, 1);
    let params = vec![Param::value("out", out), Param::value("opcode", Type::I32)];
    let kernel = module.declare_kernel("dispatch", params);
    let mut b = Builder::new(&mut module, kernel);
    let (opcode, zero) = (b.arg(1), b.i32(0));
    let out = b.param_place(0);
    let cell = b.element(out, &[zero]);
    let cases = (0..cases).map(|label| {
        let body = b.block(|b| {
            let mut sum = b.load(cell);
            for amount in 0..40 {
                let amount = b.i32(amount);
                sum = b.add(sum, amount);
            }
            let large = b.lt(opcode, sum);
            b.if_then(large, |b| b.store(cell, sum));
        });
        Case { labels: [label].into(), body }
    });
    let cases: Vec<Case> = cases.collect();
    let default = b.block(|b| b.trap("no such opcode"));
    b.switch(opcode, cases, default);
    b.finish();
    check::module(module).unwrap_or_else(|faults| panic!("{faults:#?}"))
}
