//! 16-bit floats: stored as bits, widened for each operation, rounded after it. The instructions
//! compute the same as [`gbxcule_ir::half`].

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::immediates::Ieee32;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::FunctionBuilder;
use gbxcule_ir::Scalar;

/// Widens a 16-bit float to `f32`; other floats stay unchanged.
pub(crate) fn widen(b: &mut FunctionBuilder<'_>, of: Scalar, x: Value) -> Value {
    match of {
        Scalar::Bf16 => {
            let bits = b.ins().uextend(types::I32, x);
            let bits = b.ins().ishl_imm_u(bits, 16);
            as_f32(b, bits)
        }
        Scalar::F16 => widen_f16(b, x),
        _ => x,
    }
}

/// Rounds an `f32` to a 16-bit float, to nearest with ties to even.
pub(crate) fn narrow(b: &mut FunctionBuilder<'_>, of: Scalar, x: Value) -> Value {
    match of {
        Scalar::Bf16 => narrow_bf16(b, x),
        Scalar::F16 => narrow_f16(b, x),
        _ => x,
    }
}

fn as_f32(b: &mut FunctionBuilder<'_>, bits: Value) -> Value {
    b.ins().bitcast(types::F32, MemFlagsData::new(), bits)
}

fn as_bits(b: &mut FunctionBuilder<'_>, x: Value) -> Value {
    b.ins().bitcast(types::I32, MemFlagsData::new(), x)
}

fn widen_f16(b: &mut FunctionBuilder<'_>, x: Value) -> Value {
    let bits = b.ins().uextend(types::I32, x);
    let magnitude = b.ins().band_imm_u(bits, 0x7fff);
    let placed = b.ins().ishl_imm_u(magnitude, 13);
    // The exponents differ by 112; a multiplication handles subnormals correctly.
    let small = as_f32(b, placed);
    let scale = b.ins().f32const(Ieee32::with_bits(0x7780_0000));
    let scaled = b.ins().fmul(small, scale);
    let finite = as_bits(b, scaled);
    let endless = b.ins().bor_imm_u(placed, 0x7f80_0000);
    let is_endless = b.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, magnitude, 0x7c00);
    let chosen = b.ins().select(is_endless, endless, finite);
    let sign = b.ins().band_imm_u(bits, 0x8000);
    let sign = b.ins().ishl_imm_u(sign, 16);
    let all = b.ins().bor(chosen, sign);
    as_f32(b, all)
}

fn narrow_f16(b: &mut FunctionBuilder<'_>, x: Value) -> Value {
    let bits = as_bits(b, x);
    let magnitude = b.ins().band_imm_u(bits, 0x7fff_ffff);
    let shifted = b.ins().ushr_imm_u(magnitude, 13);
    let odd = b.ins().band_imm_u(shifted, 1);
    let sum = b.ins().iadd_imm_s(magnitude, 0xfff - 0x3800_0000);
    let sum = b.ins().iadd(sum, odd);
    let normal = b.ins().ushr_imm_u(sum, 13);
    // After the addition of 0.5 the low fraction bits hold a subnormal's value, in units of 2^-24.
    let (float, half) = (as_f32(b, magnitude), b.ins().f32const(0.5));
    let sum = b.ins().fadd(float, half);
    let tiny = as_bits(b, sum);
    let tiny = b.ins().band_imm_u(tiny, 0xffff);
    let payload = b.ins().band_imm_u(shifted, 0x3ff);
    let nan = b.ins().bor_imm_u(payload, 0x7e00);
    let infinite = b.ins().iconst(types::I32, 0x7c00);
    let above = IntCC::UnsignedGreaterThan;
    let at_least = IntCC::UnsignedGreaterThanOrEqual;
    let is_normal = b.ins().icmp_imm_u(at_least, magnitude, 0x3880_0000);
    let is_infinite = b.ins().icmp_imm_u(at_least, magnitude, 0x4780_0000);
    let is_nan = b.ins().icmp_imm_u(above, magnitude, 0x7f80_0000);
    let chosen = b.ins().select(is_normal, normal, tiny);
    let chosen = b.ins().select(is_infinite, infinite, chosen);
    let chosen = b.ins().select(is_nan, nan, chosen);
    let sign = b.ins().ushr_imm_u(bits, 16);
    let sign = b.ins().band_imm_u(sign, 0x8000);
    let all = b.ins().bor(chosen, sign);
    b.ins().ireduce(types::I16, all)
}

fn narrow_bf16(b: &mut FunctionBuilder<'_>, x: Value) -> Value {
    let bits = as_bits(b, x);
    let top = b.ins().ushr_imm_u(bits, 16);
    let odd = b.ins().band_imm_u(top, 1);
    let sum = b.ins().iadd_imm_s(bits, 0x7fff);
    let sum = b.ins().iadd(sum, odd);
    let rounded = b.ins().ushr_imm_u(sum, 16);
    let payload = b.ins().band_imm_u(top, 0x7f);
    let lost = b.ins().icmp_imm_s(IntCC::Equal, payload, 0);
    let quiet = b.ins().bor_imm_u(top, 0x40);
    let nan = b.ins().select(lost, quiet, top);
    let magnitude = b.ins().band_imm_u(bits, 0x7fff_ffff);
    let is_nan = b.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, magnitude, 0x7f80_0000);
    let chosen = b.ins().select(is_nan, nan, rounded);
    b.ins().ireduce(types::I16, chosen)
}
