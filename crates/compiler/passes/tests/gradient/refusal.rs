//! Refusals. Samples of the testkit show them as users see them (`refused_*.py`).

use gbxcule_ir::check;
use gbxcule_ir::diagnostic::{Code, CodeSource, render};
use gbxcule_ir::source::SourceMap;
use gbxcule_ir::{Arg, Builder, Module, Param, Type};
use gbxcule_passes::grad::reverses;

/// Returns the refusal of a gradient by hand that the IR names and whose signature doesn't fit.
fn unfit() -> String {
    let mut module = Module::new("m");
    let f = module.declare("f", vec![Param::value("x", Type::F64)], Type::F64);
    let mut b = Builder::new(&mut module, f);
    let x = b.arg(0);
    b.ret(Some(x));
    b.finish();
    module.functions[f].adjoint = Some(f);
    let array = module.types.array(Type::F64, 1);
    let kernel = module.declare_kernel("k", vec![Param::value("x", array)]);
    let mut b = Builder::new(&mut module, kernel);
    let (array, zero) = (b.param_place(0), b.i32(0));
    let cell = b.element(array, &[zero]);
    let x = b.load(cell);
    let result = b.call(f, &[Arg::Value(x)]);
    b.store(cell, result);
    b.finish();
    let module = check::module(module).expect("valid");
    render(&reverses(&module, &[kernel]).expect_err("it doesn't fit"), &SourceMap::new())
}

#[test]
fn a_gradient_by_hand_with_another_signature_is_refused() {
    let faults = unfit();
    assert!(faults.starts_with("error[grad-by-hand]"), "{faults}");
}

#[test]
fn each_code_has_a_section_or_a_row() {
    let document = include_str!("../../../../../docs/gradients.md");
    for code in Code::ALL.iter().filter(|code| code.stage() == CodeSource::Gradient) {
        let texts = [format!("### `{code}`"), format!("| `{code}` |")];
        assert!(texts.iter().any(|text| document.contains(text)), "{code} has no section or row");
    }
}
