//! Results of Warp's builtins and operators where all operands are known: what a kernel would
//! compute, by the interpreter. `wp.normalize(wp.vec3(1.0, 1.0, 0.0))` is a constant by that.
//!
//! Warp's Python has the rules of its kernels here: a `float` is a `float32`, an `int` an `int32`,
//! and no number is converted.

use super::annotation::Annotation;
use super::constant::KnownValue;
use super::lower::operate;
use super::syntax::Operator;
use gbxcule_interp::Interpreter;
use gbxcule_ir::build::Builder;
use gbxcule_ir::builtin::{self, Visibility};
use gbxcule_ir::constant::Literal;
use gbxcule_ir::module::Module;
use gbxcule_ir::op::{Arg, UnaryOp, Value};
use gbxcule_ir::ty::{Scalar, Type};
use gbxcule_ir::{check, eval};
use std::rc::Rc;

/// Most statements of the interpreter for one result.
const MAX_STATEMENTS: u64 = 100_000;

/// Most components of an operand.
const MAX_COMPONENTS: usize = 64;

/// Result of an operator.
pub(super) fn operator<'a>(
    op: Operator,
    left: &KnownValue<'a>,
    right: &KnownValue<'a>,
) -> Option<KnownValue<'a>> {
    folded(&[left, right], |b, values| operate(b, op, values[0], values[1]))
}

/// `-v` of a vector, matrix, quaternion or transform.
pub(super) fn negated<'a>(operand: &KnownValue<'a>) -> Option<KnownValue<'a>> {
    folded(&[operand], |b, values| Some(b.unary(UnaryOp::Negate, values[0])))
}

/// Result of a builtin on arguments with their keywords; `None` if it takes no such values.
pub(super) fn builtin<'a>(
    name: &str,
    given: &[(Option<&str>, KnownValue<'a>)],
) -> Option<KnownValue<'a>> {
    let row = builtin::find(name)?;
    if builtin::row(row).visibility != Visibility::Dialect {
        return None;
    }
    builtin::row(row).signatures.iter().find_map(|signature| {
        let of_name = |(at, name): (usize, &&str)| match given.get(at) {
            Some((None, value)) => Some(value),
            _ => given.iter().find(|(keyword, _)| *keyword == Some(name)).map(|(_, value)| value),
        };
        let names = signature.names.iter().enumerate();
        let ordered: Vec<&KnownValue<'a>> = names.map(of_name).collect::<Option<_>>()?;
        if ordered.len() != given.len() {
            return None;
        }
        folded(&ordered, |b, values| {
            b.builtin(row, &values.iter().map(|&value| Arg::Value(value)).collect::<Vec<_>>())
        })
    })
}

/// Result of some operations on known operands, by the interpreter.
fn folded<'a>(
    operands: &[&KnownValue<'a>],
    operation: impl FnOnce(&mut Builder<'_>, &[Value]) -> Option<Value>,
) -> Option<KnownValue<'a>> {
    let mut module = Module::new("folded");
    let id = module.declare("folded", Vec::new(), Type::UNIT);
    let mut b = Builder::new(&mut module, id);
    let values: Vec<Value> =
        operands.iter().map(|operand| operand_value(&mut b, operand)).collect::<Option<_>>()?;
    let value = operation(&mut b, &values)?;
    let result = b.body().type_of(value);
    b.ret(Some(value));
    b.finish();
    module.functions[id].result = result;
    let (scalar, _) = module.types.components(result)?;
    let annotation = Annotation::of_type(result, &module.types)?;
    let module = check::module(module).ok()?;
    let mut interpreter = Interpreter::new(&module);
    interpreter.budget = MAX_STATEMENTS;
    let bytes = interpreter.call(id, &[]).ok()?;
    let width = (scalar.bits() as usize).div_ceil(8);
    let parts: Rc<[Literal]> =
        bytes.chunks_exact(width).map(|part| eval::from_bytes(scalar, part)).collect();
    match (annotation, &*parts) {
        (Annotation::Scalar(_), [number]) => Some(python_value(*number)),
        (annotation, _) => Some(KnownValue::Composite(annotation, parts)),
    }
}

fn operand_value(b: &mut Builder<'_>, operand: &KnownValue<'_>) -> Option<Value> {
    Some(match operand {
        KnownValue::Bool(value) => b.bool(*value),
        KnownValue::Int(value) => b.i32(i32::try_from(*value).ok()?),
        KnownValue::Float(value) => b.literal(Literal::float(Scalar::F32, *value)),
        KnownValue::Typed(literal) => b.literal(*literal),
        KnownValue::Composite(annotation, parts) if parts.len() <= MAX_COMPONENTS => {
            let ty = annotation.intern(&mut b.module.types, &mut |_, _| None)?;
            let parts: Vec<Value> = parts.iter().map(|part| b.literal(*part)).collect();
            b.construct(ty, &parts)
        }
        _ => return None,
    })
}

/// A number of Warp's as Python has it: `float32`, `int32` and `bool` are Python's own.
pub(super) fn python_value<'a>(number: Literal) -> KnownValue<'a> {
    match (number.scalar(), number.as_int()) {
        (Scalar::Bool, _) => KnownValue::Bool(number.bits() != 0),
        (Scalar::I32, Some(value)) => KnownValue::Int(value),
        (Scalar::F32, _) => KnownValue::Float(number.as_f64()),
        _ => KnownValue::Typed(number),
    }
}
