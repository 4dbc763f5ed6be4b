//! Checks that each rule of the checker refuses a program that breaks it.

use gbxcule_ir::check;
use gbxcule_ir::source::Span;
use gbxcule_ir::{
    Arg, AtomicOp, BinaryOp, Builder, Case, FunctionKind, Handle, Module, Op, Param, Residency,
    Table, Type,
};

/// Builds a function `f(x: i32, a: array<i32, 1>, r: mut i32) -> result` and checks the module.
fn codes(result: Type, fill: impl FnOnce(&mut Builder<'_>)) -> Vec<&'static str> {
    let mut module = Module::new("m");
    let array = module.types.array(Type::I32, 1);
    let params = vec![
        Param::value("x", Type::I32),
        Param::value("a", array),
        Param::mutable("r", Type::I32),
    ];
    let function = module.declare("f", params, result);
    let mut b = Builder::new(&mut module, function);
    fill(&mut b);
    b.finish();
    codes_of(module)
}

fn codes_of(module: Module) -> Vec<&'static str> {
    match check::module(module) {
        Ok(_) => Vec::new(),
        Err(faults) => faults.iter().map(|fault| fault.code.name()).collect(),
    }
}

#[test]
fn rule_1_handles_point_at_something() {
    let codes = codes(Type::UNIT, |b| {
        let lost = Handle::from_index(77);
        b.emit(Op::Load(lost), Type::I32);
        b.if_blocks(lost_value(), Handle::from_index(5), Handle::from_index(6));
    });
    assert_eq!(codes, ["ir-handle", "ir-handle", "ir-handle", "ir-handle"]);
}

fn lost_value() -> gbxcule_ir::Value {
    Handle::from_index(99)
}

#[test]
fn rule_2_types_are_sane() {
    let mut module = Module::new("m");
    module.types.quaternion(gbxcule_ir::Scalar::I32);
    module.types.array(Type::F32, 5);
    let bytes = Box::new([0; 3]);
    module.add_table(Table { name: "T".into(), ty: Type::I32, bytes, span: Span::NONE });
    assert_eq!(codes_of(module), ["ir-type"; 3]);
    assert_eq!(
        codes(Type::UNIT, |b| {
            let x = b.arg(0);
            b.extract(x, 0);
        }),
        ["ir-type"]
    );
}

#[test]
fn rule_3_values_are_used_where_they_are_visible() {
    let codes = codes(Type::UNIT, |b| {
        let yes = b.bool(true);
        let mut inner = None;
        b.if_then(yes, |b| inner = Some(b.i32(1)));
        let (r, inner) = (b.param_place(2), inner.expect("set above"));
        b.store(r, inner);
    });
    assert_eq!(codes, ["ir-scope"]);
}

#[test]
fn a_header_is_visible_in_the_body_but_not_after_the_loop() {
    let build = |after: bool| {
        codes(Type::UNIT, move |b| {
            let r = b.param_place(2);
            let seen = std::cell::Cell::new(None);
            b.while_loop(
                |b| {
                    seen.set(Some(b.load(r)));
                    b.bool(true)
                },
                |b| {
                    b.store(r, seen.get().expect("the header ran"));
                    b.break_loop();
                },
            );
            if after {
                b.store(r, seen.get().expect("the header ran"));
            }
        })
    };
    assert!(build(false).is_empty());
    assert_eq!(build(true), ["ir-scope"]);
}

#[test]
fn rule_4_operands_fit() {
    let codes = codes(Type::UNIT, |b| {
        let (x, y) = (b.arg(0), b.f32(1.0));
        b.add(x, y);
        b.binary(BinaryOp::ShiftLeft, y, y);
        b.select(x, y, y);
    });
    assert_eq!(codes, ["ir-operation"; 3]);
}

#[test]
fn rules_5_and_6_places_fit_and_are_writable() {
    let codes = codes(Type::UNIT, |b| {
        let (x, r, one) = (b.param_place(0), b.param_place(2), b.f32(1.0));
        let wrong = b.element(x, &[one]);
        b.load(wrong);
        let a = b.param_place(1);
        let by_float = b.element(a, &[one]);
        b.load(by_float);
        b.store(r, one);
        let one = b.i32(1);
        b.store(x, one);
        b.atomic(AtomicOp::Add, r, one);
    });
    assert_eq!(codes, ["ir-type", "ir-place", "ir-store", "ir-store", "ir-place", "ir-operation"]);
}

#[test]
fn rule_7_conditions_are_bool_and_labels_fit() {
    let codes = codes(Type::UNIT, |b| {
        let x = b.arg(0);
        b.if_then(x, |_| ());
        let cases = [vec![1, 1 << 40], vec![1]].map(|labels| {
            let body = b.empty_block();
            Case { labels: labels.into(), body }
        });
        let default = b.empty_block();
        b.switch(x, cases.into(), default);
    });
    assert_eq!(codes, ["ir-condition"; 3]);
}

#[test]
fn rule_8_loops_are_loops() {
    let codes = codes(Type::UNIT, |b| {
        let (x, wide) = (b.arg(0), b.literal(gbxcule_ir::Literal::bool(false)));
        let yes = b.bool(true);
        b.if_then(yes, Builder::break_loop);
        b.for_range("i", [x, x, wide], |_, _| ());
    });
    assert_eq!(codes, ["ir-loop", "ir-loop"]);
}

#[test]
fn rule_9_functions_return_on_every_way() {
    let some = |b: &mut Builder<'_>| {
        let (x, yes) = (b.arg(0), b.bool(true));
        b.if_then(yes, |b| b.ret(Some(x)));
    };
    assert_eq!(codes(Type::I32, some), ["ir-return"]);
    let both = |b: &mut Builder<'_>| {
        let (x, yes) = (b.arg(0), b.bool(true));
        b.if_else(yes, |b| b.ret(Some(x)), |b| b.trap("no"));
    };
    assert!(codes(Type::I32, both).is_empty());
    let endless = |b: &mut Builder<'_>| {
        let x = b.arg(0);
        b.while_loop(|b| b.bool(true), |b| b.ret(Some(x)));
    };
    assert!(codes(Type::I32, endless).is_empty());
}

#[test]
fn rule_10_blocks_have_one_owner_and_nest_moderately() {
    let twice = |b: &mut Builder<'_>| {
        let (yes, block) = (b.bool(true), b.empty_block());
        b.if_blocks(yes, block, block);
    };
    assert_eq!(codes(Type::UNIT, twice), ["ir-block"]);
    let deep = |b: &mut Builder<'_>| {
        let yes = b.bool(true);
        let mut block = b.empty_block();
        for _ in 0..10_000 {
            b.open_block();
            let reject = b.empty_block();
            b.if_blocks(yes, block, reject);
            block = b.close_block();
        }
        let reject = b.empty_block();
        b.if_blocks(yes, block, reject);
    };
    assert!(codes(Type::UNIT, deep).contains(&"ir-block"));
}

#[test]
fn rules_11_and_12_arguments_fit_and_do_not_overlap() {
    let mut module = Module::new("m");
    let params = vec![Param::mutable("a", Type::I32), Param::mutable("b", Type::I32)];
    let callee = module.declare("callee", params, Type::UNIT);
    let caller = module.declare("caller", Vec::new(), Type::UNIT);
    let mut b = Builder::new(&mut module, caller);
    let (x, y) = (b.local("x", Type::I32), b.local("y", Type::F32));
    let (x, y, one) = (b.local_place(x), b.local_place(y), b.i32(1));
    b.call(callee, &[Arg::Place(x), Arg::Place(x)]);
    b.call(callee, &[Arg::Place(x), Arg::Place(y)]);
    b.call(callee, &[Arg::Place(x), Arg::Value(one)]);
    b.call(callee, &[Arg::Place(x)]);
    b.finish();
    let codes = codes_of(module);
    let refused = codes.iter().filter(|&&code| code != "ir-operation");
    assert_eq!(refused.copied().collect::<Vec<_>>(), ["ir-alias", "ir-call", "ir-call", "ir-call"]);
}

#[test]
fn rule_11_nothing_recurses() {
    let mut module = Module::new("m");
    let (one, two) = (
        module.declare("one", Vec::new(), Type::UNIT),
        module.declare("two", Vec::new(), Type::UNIT),
    );
    for (function, callee) in [(one, two), (two, one)] {
        let mut b = Builder::new(&mut module, function);
        b.call(callee, &[]);
        b.finish();
    }
    assert_eq!(codes_of(module), ["ir-call"]);
}

#[test]
fn rule_13_kernels_take_values_and_give_nothing() {
    let mut module = Module::new("m");
    module.declare_kernel("k", vec![Param::mutable("x", Type::I32)]);
    assert_eq!(codes_of(module), ["ir-kernel"]);
    let asks = |kind: FunctionKind, threads: u32| {
        let mut module = Module::new("m");
        let function = module.declare("f", Vec::new(), Type::UNIT);
        module.functions[function].kind = kind;
        module.functions[function].residency = Residency::Blocks { threads, together: None };
        codes_of(module)
    };
    assert_eq!(asks(FunctionKind::Kernel, 1024), [""; 0]);
    assert_eq!(asks(FunctionKind::Kernel, 1025), ["ir-kernel"]);
    assert_eq!(asks(FunctionKind::Callable, 32), ["ir-kernel"]);
}

#[test]
fn rule_14_arrays_of_variables_are_not_kept() {
    let mut module = Module::new("m");
    let fixed = module.types.fixed(Type::I32, 4);
    let array = module.types.array(Type::I32, 1);
    let function = module.declare("f", Vec::new(), array);
    let mut b = Builder::new(&mut module, function);
    let local = b.local("buffer", fixed);
    let place = b.local_place(local);
    let handle = b.as_array(place, 1);
    b.ret(Some(handle));
    b.finish();
    assert_eq!(codes_of(module), ["ir-escape"]);
}

#[test]
fn large_functions_need_little_stack() {
    let work = || {
        codes(Type::UNIT, |b| {
            let (x, r) = (b.arg(0), b.param_place(2));
            let mut sum = x;
            for _ in 0..50_000 {
                sum = b.add(sum, x);
            }
            b.store(r, sum);
            let cases: Vec<Case> = (0..1000)
                .map(|label| Case { labels: [label].into(), body: b.block(|b| b.store(r, x)) })
                .collect();
            let default = b.empty_block();
            b.switch(x, cases, default);
        })
    };
    let thread = std::thread::Builder::new().stack_size(256 * 1024).spawn(work).expect("a thread");
    assert!(thread.join().expect("no overflow").is_empty());
}
