//! Conversions from one scalar type to another.

use super::arithmetic::zero_of;
use super::division::extend;
use super::half::{narrow, widen};
use crate::shape::clif_type;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::FunctionBuilder;
use gbxcule_ir::Scalar;

pub(crate) fn convert(b: &mut FunctionBuilder<'_>, from: Scalar, to: Scalar, x: Value) -> Value {
    match (from.is_float(), to.is_float()) {
        _ if from == to => x,
        (false, false) => int_to_int(b, from, to, x),
        (false, true) => {
            let wide = if to == Scalar::F64 { types::F64 } else { types::F32 };
            let float = int_to_float(b, from, wide, x);
            narrow(b, to, float)
        }
        (true, false) => float_to_int(b, from, to, x),
        (true, true) => {
            let wide = widen(b, from, x);
            let single = match (from, to) {
                (Scalar::F64, _) => b.ins().fdemote(types::F32, wide),
                (_, Scalar::F64) => b.ins().fpromote(types::F64, wide),
                _ => wide,
            };
            narrow(b, to, single)
        }
    }
}

fn int_to_int(b: &mut FunctionBuilder<'_>, from: Scalar, to: Scalar, x: Value) -> Value {
    if to == Scalar::Bool {
        return b.ins().icmp_imm_s(IntCC::NotEqual, x, 0);
    }
    let ty = clif_type(to);
    match to.bytes().cmp(&from.bytes()) {
        std::cmp::Ordering::Equal => x,
        std::cmp::Ordering::Less => b.ins().ireduce(ty, x),
        std::cmp::Ordering::Greater if from.is_signed_int() => b.ins().sextend(ty, x),
        std::cmp::Ordering::Greater => b.ins().uextend(ty, x),
    }
}

fn int_to_float(
    b: &mut FunctionBuilder<'_>,
    from: Scalar,
    to: cranelift_codegen::ir::Type,
    x: Value,
) -> Value {
    match from {
        Scalar::U64 => b.ins().fcvt_from_uint(to, x),
        // Conversion as a signed number of more bits takes one rounding and one instruction.
        Scalar::U32 => {
            let wide = b.ins().uextend(types::I64, x);
            b.ins().fcvt_from_sint(to, wide)
        }
        _ => {
            let wide = extend(b, from, x);
            b.ins().fcvt_from_sint(to, wide)
        }
    }
}

fn float_to_int(b: &mut FunctionBuilder<'_>, from: Scalar, to: Scalar, x: Value) -> Value {
    let x = widen(b, from, x);
    match to {
        Scalar::Bool => {
            let zero = zero_of(b, if from == Scalar::F64 { from } else { Scalar::F32 });
            b.ins().fcmp(FloatCC::NotEqual, x, zero)
        }
        Scalar::I32 | Scalar::I64 => b.ins().fcvt_to_sint_sat(clif_type(to), x),
        Scalar::U32 | Scalar::U64 => b.ins().fcvt_to_uint_sat(clif_type(to), x),
        _ => {
            let wide = b.ins().fcvt_to_sint_sat(types::I32, x);
            let (low, high) = match to.is_signed_int() {
                true => (-(1i64 << (to.bits() - 1)), (1i64 << (to.bits() - 1)) - 1),
                false => (0, (1i64 << to.bits()) - 1),
            };
            let low = b.ins().iconst(types::I32, low & 0xffff_ffff);
            let high = b.ins().iconst(types::I32, high);
            let raised = b.ins().smax(wide, low);
            let clamped = b.ins().smin(raised, high);
            b.ins().ireduce(clif_type(to), clamped)
        }
    }
}

pub(crate) fn bitcast(b: &mut FunctionBuilder<'_>, to: Scalar, x: Value) -> Value {
    let ty = clif_type(to);
    if b.func.dfg.value_type(x) == ty {
        return x;
    }
    b.ins().bitcast(ty, MemFlagsData::new(), x)
}

/// Extends an index of any integer type to 64 bits, by its signedness.
pub(crate) fn index_to_i64(b: &mut FunctionBuilder<'_>, of: Scalar, x: Value) -> Value {
    match (of.bytes() < 8, of.is_signed_int()) {
        (false, _) => x,
        (true, true) => b.ins().sextend(types::I64, x),
        (true, false) => b.ins().uextend(types::I64, x),
    }
}
