//! Shows the printer's form in small programs that are built by hand, as an introduction to other
//! snapshots.

use gbxcule_ir::check;
use gbxcule_ir::source::Span;
use gbxcule_ir::{
    Arg, AtomicOp, Builder, Case, CompareOp, Field, FunctionId, Module, Param, Scalar, Selector,
    Struct, Table, Type, builtin, print,
};

fn checked(module: Module) -> String {
    match check::module(module) {
        Ok(valid) => print::module(&valid),
        Err(faults) => panic!("{faults:#?}"),
    }
}

#[test]
fn saxpy() {
    let mut module = Module::new("saxpy");
    let array = module.types.array(Type::F32, 1);
    let params =
        vec![Param::value("x", array), Param::value("y", array), Param::value("a", Type::F32)];
    let kernel = module.declare_kernel("saxpy", params);
    let mut b = Builder::new(&mut module, kernel);
    let i = b.launch_index(0);
    b.rename(i, "i");
    let (x, y) = (b.param_place(0), b.param_place(1));
    let (x, y) = (b.element(x, &[i]), b.element(y, &[i]));
    let (a, x) = (b.arg(2), b.load(x));
    let product = b.mul(a, x);
    let old = b.load(y);
    let sum = b.add(product, old);
    b.store(y, sum);
    b.finish();
    insta::assert_snapshot!(checked(module));
}

#[test]
fn loops_and_branches() {
    let mut module = Module::new("loops");
    let collatz = collatz(&mut module);
    let out = module.types.array(Type::I32, 2);
    let kernel = module.declare_kernel("count", vec![Param::value("out", out)]);
    let mut b = Builder::new(&mut module, kernel);
    let (i, array) = (b.launch_index(0), b.arg(0));
    let width = b.extent(array, 1);
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
    insta::assert_snapshot!(checked(module));
}

/// Declares a function with a loop and a branch, which counts the steps that it takes a number to
/// become 1.
fn collatz(module: &mut Module) -> FunctionId {
    let collatz = module.declare("collatz", vec![Param::value("n", Type::I32)], Type::I32);
    let mut b = Builder::new(module, collatz);
    let (n, steps) = (b.local("n", Type::I32), b.local("steps", Type::I32));
    let (n, steps) = (b.local_place(n), b.local_place(steps));
    let first = b.arg(0);
    b.store(n, first);
    b.while_loop(
        |b| {
            let (now, one) = (b.load(n), b.i32(1));
            b.compare(CompareOp::NotEqual, now, one)
        },
        |b| {
            let (now, two, zero) = (b.load(n), b.i32(2), b.i32(0));
            let rest = b.binary(gbxcule_ir::BinaryOp::Remainder, now, two);
            let even = b.eq(rest, zero);
            b.if_else(
                even,
                |b| {
                    let half = b.div(now, two);
                    b.store(n, half);
                },
                |b| {
                    let (three, one) = (b.i32(3), b.i32(1));
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

#[test]
fn structs_tables_and_references() {
    let mut module = Module::new("machine");
    let (wram, table) = (module.types.fixed(Type::U8, 8), module.types.fixed(Type::U8, 4));
    let vec3 = module.types.vector(3, Scalar::F32);
    let field = |name: &str, ty| Field { name: name.into(), ty, span: Span::NONE };
    let fields = vec![field("a", Type::U8), field("wram", wram), field("at", vec3)];
    let machine =
        module.types.define_struct(Struct { name: "Machine".into(), fields, span: Span::NONE });
    let cycles = module.add_table(Table {
        name: "CYCLES".into(),
        ty: table,
        bytes: [4, 12, 8, 8].into(),
        span: Span::NONE,
    });

    let step = module.declare(
        "step",
        vec![Param::mutable("machine", machine), Param::mutable("rng", Type::U32)],
        Type::U8,
    );
    let mut b = Builder::new(&mut module, step);
    let this = b.param_place(0);
    let (a, ram, at) = (b.field(this, 0), b.field(this, 1), b.field(this, 2));
    let opcode = b.load(a);
    let cell = b.at(ram, opcode);
    let byte = b.load(cell);
    b.store(a, byte);
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

    let kernel = module.declare_kernel("run", vec![]);
    let mut b = Builder::new(&mut module, kernel);
    let (machine, rng) = (b.local("machine", machine), b.local("rng", Type::U32));
    let (machine, rng) = (b.local_place(machine), b.local_place(rng));
    let spent = b.call(step, &[Arg::Place(machine), Arg::Place(rng)]);
    let ram = b.field(machine, 1);
    let bytes = b.as_array(ram, 1);
    let len = b.extent(bytes, 0);
    b.print(Some("%d of %d"), &[spent, len]);
    b.finish();
    insta::assert_snapshot!(checked(module));
}

#[test]
fn builtins_are_built_once_for_each_combination_of_types() {
    let mut module = Module::new("vectors");
    let vec3 = module.types.vector(3, Scalar::F32);
    let f = module.declare("f", vec![Param::value("v", vec3)], vec3);
    let mut b = Builder::new(&mut module, f);
    let v = b.arg(0);
    let (once, twice) = (b.named("normalize", &[v]), b.named("normalize", &[v]));
    let sum = b.add(once, twice);
    b.ret(Some(sum));
    b.finish();
    assert_eq!(module.functions.len(), 2);
    insta::assert_snapshot!(checked(module));
}
