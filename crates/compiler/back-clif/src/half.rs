//! The 16-bit floats: kept as bits, widened for each operation, rounded after it. The sequences
//! compute what [`gbxcule_ir::half`] does.

use super::lowerer::Lowerer;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::immediates::Ieee32;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use gbxcule_ir::Scalar;

impl Lowerer<'_, '_> {
    /// A float as it is computed with: 16-bit ones as `f32`, others as they are.
    pub(super) fn widen(&mut self, of: Scalar, x: Value) -> Value {
        match of {
            Scalar::Bf16 => {
                let bits = self.b.ins().uextend(types::I32, x);
                let bits = self.b.ins().ishl_imm_u(bits, 16);
                self.as_f32(bits)
            }
            Scalar::F16 => self.widen_f16(x),
            _ => x,
        }
    }

    /// The way back, to nearest with ties to even.
    pub(super) fn narrow(&mut self, of: Scalar, x: Value) -> Value {
        match of {
            Scalar::Bf16 => self.narrow_bf16(x),
            Scalar::F16 => self.narrow_f16(x),
            _ => x,
        }
    }

    fn as_f32(&mut self, bits: Value) -> Value {
        self.b.ins().bitcast(types::F32, MemFlagsData::new(), bits)
    }

    fn as_bits(&mut self, x: Value) -> Value {
        self.b.ins().bitcast(types::I32, MemFlagsData::new(), x)
    }

    fn widen_f16(&mut self, x: Value) -> Value {
        let bits = self.b.ins().uextend(types::I32, x);
        let magnitude = self.b.ins().band_imm_u(bits, 0x7fff);
        let placed = self.b.ins().ishl_imm_u(magnitude, 13);
        // The exponents differ by 112; multiplying gets subnormals right too.
        let small = self.as_f32(placed);
        let scale = self.b.ins().f32const(Ieee32::with_bits(0x7780_0000));
        let scaled = self.b.ins().fmul(small, scale);
        let finite = self.as_bits(scaled);
        let endless = self.b.ins().bor_imm_u(placed, 0x7f80_0000);
        let is_endless =
            self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, magnitude, 0x7c00);
        let chosen = self.b.ins().select(is_endless, endless, finite);
        let sign = self.b.ins().band_imm_u(bits, 0x8000);
        let sign = self.b.ins().ishl_imm_u(sign, 16);
        let all = self.b.ins().bor(chosen, sign);
        self.as_f32(all)
    }

    fn narrow_f16(&mut self, x: Value) -> Value {
        let bits = self.as_bits(x);
        let magnitude = self.b.ins().band_imm_u(bits, 0x7fff_ffff);
        let shifted = self.b.ins().ushr_imm_u(magnitude, 13);
        let odd = self.b.ins().band_imm_u(shifted, 1);
        let sum = self.b.ins().iadd_imm_s(magnitude, 0xfff - 0x3800_0000);
        let sum = self.b.ins().iadd(sum, odd);
        let normal = self.b.ins().ushr_imm_u(sum, 13);
        // Adding 0.5 leaves a subnormal's value, in units of 2^-24, in the low fraction bits.
        let (float, half) = (self.as_f32(magnitude), self.b.ins().f32const(0.5));
        let sum = self.b.ins().fadd(float, half);
        let tiny = self.as_bits(sum);
        let tiny = self.b.ins().band_imm_u(tiny, 0xffff);
        let payload = self.b.ins().band_imm_u(shifted, 0x3ff);
        let nan = self.b.ins().bor_imm_u(payload, 0x7e00);
        let infinite = self.b.ins().iconst(types::I32, 0x7c00);
        let above = IntCC::UnsignedGreaterThan;
        let at_least = IntCC::UnsignedGreaterThanOrEqual;
        let is_normal = self.b.ins().icmp_imm_u(at_least, magnitude, 0x3880_0000);
        let is_infinite = self.b.ins().icmp_imm_u(at_least, magnitude, 0x4780_0000);
        let is_nan = self.b.ins().icmp_imm_u(above, magnitude, 0x7f80_0000);
        let chosen = self.b.ins().select(is_normal, normal, tiny);
        let chosen = self.b.ins().select(is_infinite, infinite, chosen);
        let chosen = self.b.ins().select(is_nan, nan, chosen);
        let sign = self.b.ins().ushr_imm_u(bits, 16);
        let sign = self.b.ins().band_imm_u(sign, 0x8000);
        let all = self.b.ins().bor(chosen, sign);
        self.b.ins().ireduce(types::I16, all)
    }

    fn narrow_bf16(&mut self, x: Value) -> Value {
        let bits = self.as_bits(x);
        let top = self.b.ins().ushr_imm_u(bits, 16);
        let odd = self.b.ins().band_imm_u(top, 1);
        let sum = self.b.ins().iadd_imm_s(bits, 0x7fff);
        let sum = self.b.ins().iadd(sum, odd);
        let rounded = self.b.ins().ushr_imm_u(sum, 16);
        let payload = self.b.ins().band_imm_u(top, 0x7f);
        let lost = self.b.ins().icmp_imm_s(IntCC::Equal, payload, 0);
        let kept = self.b.ins().bor_imm_u(top, 0x40);
        let nan = self.b.ins().select(lost, kept, top);
        let magnitude = self.b.ins().band_imm_u(bits, 0x7fff_ffff);
        let is_nan = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, magnitude, 0x7f80_0000);
        let chosen = self.b.ins().select(is_nan, nan, rounded);
        self.b.ins().ireduce(types::I16, chosen)
    }
}
