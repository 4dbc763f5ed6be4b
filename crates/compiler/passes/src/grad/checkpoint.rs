//! Places of checkpoints: binomial checkpointing.
//!
//! With `s` checkpoints and no step run forward more than `r` times, `C(s + r, s)` steps can be
//! reversed (Griewank 1992). So memory is fixed, and reversing n steps takes at most r n steps
//! forward: r is 1 for up to `s + 1` steps, and grows like the s-th root of n.

use gbxcule_ir::build::Builder;
use gbxcule_ir::function::{FunctionId, Inline, Param};
use gbxcule_ir::module::Module;
use gbxcule_ir::op::{BinaryOp, Value};
use gbxcule_ir::ty::Type;

/// Declares the function that returns the number of steps before the next checkpoint is taken, when
/// `steps` (2 or more) are to be reversed from the last one and `free` checkpoints (1 or more) are
/// left.
///
/// Chooses the smallest r for which `total(r)` >= `steps`, where `total(r) = C(free + 1 + r, free +
/// 1)`. Then up to `C(free + r, free)` steps may lie after the new checkpoint, and up to `total(r -
/// 1)` before it; the smallest number within both limits is best.
pub(super) fn declare(module: &mut Module) -> FunctionId {
    let params = vec![Param::value("steps", Type::I64), Param::value("free", Type::I64)];
    let function = module.declare("checkpoint_distance", params, Type::I64);
    module.functions[function].inline = Inline::Never;
    let mut b = Builder::new(module, function);
    let (steps, free) = (b.arg(0), b.arg(1));
    let one = number(&mut b, 1.0);
    let names = ["repeats", "total", "before", "before_that"];
    let places = names.map(|name| {
        let local = b.local(name, Type::I64);
        b.local_place(local)
    });
    let [repeats, total, before, before_that] = places;
    b.store(total, one);
    let width = b.add(free, one);
    b.while_loop(
        |b| {
            let total = b.load(total);
            b.lt(total, steps)
        },
        |b| {
            let (last, old) = (b.load(before), b.load(total));
            b.store(before_that, last);
            b.store(before, old);
            let (r, one) = (b.load(repeats), number(b, 1.0));
            let r = b.add(r, one);
            b.store(repeats, r);
            let above = b.add(width, r);
            let product = b.mul(old, above);
            let new = b.binary(BinaryOp::Divide, product, r);
            b.store(total, new);
        },
    );
    // C(free + r, free) = total (free + 1) / (free + 1 + r)
    let (total, r) = (b.load(total), b.load(repeats));
    let (product, above) = (b.mul(total, width), b.add(width, r));
    let behind = b.binary(BinaryOp::Divide, product, above);
    let excess = b.sub(steps, behind);
    let least = b.load(before_that);
    let distance = maximum(&mut b, excess, least);
    let distance = maximum(&mut b, distance, one);
    b.ret(Some(distance));
    b.finish()
}

fn number(b: &mut Builder<'_>, value: f64) -> Value {
    b.number(Type::I64, value)
}

fn maximum(b: &mut Builder<'_>, left: Value, right: Value) -> Value {
    b.native(gbxcule_ir::builtin::Native::Max, &[left, right])
}
