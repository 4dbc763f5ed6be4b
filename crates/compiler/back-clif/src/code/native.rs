//! Native builtins: exact ones as instructions, the others as calls into the runtime.

use super::ScalarCode;
use super::half::{narrow, widen};
use crate::lowered_module::Import;
use cranelift_codegen::ir::condcodes::{CondCode, FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use cranelift_frontend::FunctionBuilder;
use gbxcule_ir::{Native, Scalar};

impl ScalarCode<'_, '_> {
    pub(crate) fn native(&mut self, native: Native, of: Scalar, args: &[Value]) -> Value {
        if !of.is_float() {
            return int_native(&mut self.b, native, of, args);
        }
        let wide = if of == Scalar::F64 { Scalar::F64 } else { Scalar::F32 };
        let args: Vec<Value> = args.iter().map(|&arg| widen(&mut self.b, of, arg)).collect();
        let result = self.float_native(native, wide, &args);
        if native.row().result.is_some() { result } else { narrow(&mut self.b, of, result) }
    }

    fn float_native(&mut self, native: Native, of: Scalar, args: &[Value]) -> Value {
        let x = args[0];
        match native {
            Native::Min => extremum(&mut self.b, FloatCC::GreaterThan, x, args[1]),
            Native::Max => extremum(&mut self.b, FloatCC::LessThan, x, args[1]),
            Native::Abs => self.b.ins().fabs(x),
            Native::Copysign => self.b.ins().fcopysign(x, args[1]),
            Native::Fma => self.b.ins().fma(x, args[1], args[2]),
            Native::Floor => self.b.ins().floor(x),
            Native::Ceil => self.b.ins().ceil(x),
            Native::Trunc => self.b.ins().trunc(x),
            Native::Round => round(&mut self.b, of, x),
            Native::Rint => self.b.ins().nearest(x),
            Native::Sqrt => self.b.ins().sqrt(x),
            Native::IsNan => self.b.ins().fcmp(FloatCC::Unordered, x, x),
            Native::IsInf => against_infinity(&mut self.b, FloatCC::Equal, of, x),
            Native::IsFinite => against_infinity(&mut self.b, FloatCC::LessThan, of, x),
            Native::Sin if of == Scalar::F32 => self.sine(x, false),
            Native::Cos if of == Scalar::F32 => self.sine(x, true),
            _ => self.imported(Import::Native(native, of), args),
        }
    }
}

/// Selects the second operand if the first stands in this relation to it, else the first, by one
/// instruction. Of a NaN and a number it selects the number, by branches that are never taken.
fn extremum(b: &mut FunctionBuilder<'_>, relation: FloatCC, x: Value, y: Value) -> Value {
    let second = match relation {
        FloatCC::GreaterThan => b.ins().fcmp(FloatCC::LessThan, y, x),
        _ => b.ins().fcmp(FloatCC::LessThan, x, y),
    };
    let chosen = b.ins().select(second, y, x);
    let [no_first, no_second] = [x, y].map(|it| b.ins().fcmp(FloatCC::Unordered, it, it));
    let number = b.ins().select(no_second, x, y);
    b.ins().select(no_first, number, chosen)
}

/// Rounds halves away from zero by adding the largest number below one half, which never carries
/// too far.
fn round(b: &mut FunctionBuilder<'_>, of: Scalar, x: Value) -> Value {
    let half = match of {
        Scalar::F64 => b.ins().f64const(0.5f64.next_down()),
        _ => b.ins().f32const(0.5f32.next_down()),
    };
    let half = b.ins().fcopysign(half, x);
    let sum = b.ins().fadd(x, half);
    b.ins().trunc(sum)
}

fn against_infinity(b: &mut FunctionBuilder<'_>, code: FloatCC, of: Scalar, x: Value) -> Value {
    let infinity = match of {
        Scalar::F64 => b.ins().f64const(f64::INFINITY),
        _ => b.ins().f32const(f32::INFINITY),
    };
    let magnitude = b.ins().fabs(x);
    b.ins().fcmp(code, magnitude, infinity)
}

fn int_native(b: &mut FunctionBuilder<'_>, native: Native, of: Scalar, args: &[Value]) -> Value {
    let x = args[0];
    match native {
        Native::Min | Native::Max => {
            let less =
                if of.is_signed_int() { IntCC::SignedLessThan } else { IntCC::UnsignedLessThan };
            let code = if native == Native::Min { less } else { less.swap_args() };
            let second = b.ins().icmp(code, args[1], x);
            b.ins().select(second, args[1], x)
        }
        Native::Abs if of.is_signed_int() => {
            let negative = b.ins().icmp_imm_s(IntCC::SignedLessThan, x, 0);
            let negated = b.ins().ineg(x);
            b.ins().select(negative, negated, x)
        }
        Native::Abs => x,
        Native::BitCount => counted(b, of, x, |b, x| b.ins().popcnt(x)),
        Native::LeadingZeros => leading_zeros(b, of, x),
        Native::TrailingZeros => trailing_zeros(b, of, x),
        _ => unreachable!("check rule 4: `{}` of integers", native.row().name),
    }
}

/// Extends bits to 32 or 64, without sign.
fn unsigned(b: &mut FunctionBuilder<'_>, x: Value) -> Value {
    let narrow = b.func.dfg.value_type(x).bits() < 32;
    if narrow { b.ins().uextend(types::I32, x) } else { x }
}

fn counted(
    b: &mut FunctionBuilder<'_>,
    of: Scalar,
    x: Value,
    count: impl FnOnce(&mut FunctionBuilder<'_>, Value) -> Value,
) -> Value {
    let x = unsigned(b, x);
    let result = count(b, x);
    if of.bytes() == 8 { b.ins().ireduce(types::I32, result) } else { result }
}

fn leading_zeros(b: &mut FunctionBuilder<'_>, of: Scalar, x: Value) -> Value {
    let count = counted(b, of, x, |b, x| b.ins().clz(x));
    let above = 32i64.saturating_sub(i64::from(of.bits())).max(0);
    b.ins().iadd_imm_s(count, -above)
}

fn trailing_zeros(b: &mut FunctionBuilder<'_>, of: Scalar, x: Value) -> Value {
    counted(b, of, x, |b, x| {
        // A bit above the width stops the count there.
        let x = match of.bits() {
            bits @ (8 | 16) => b.ins().bor_imm_u(x, 1 << bits),
            _ => x,
        };
        b.ins().ctz(x)
    })
}
