//! Sine and cosine of `f32` in line, within 1 unit in the last place. They are reduced and computed
//! in `f64`. There the error of Taylor's series to the 11th power is smaller than the precision of
//! an `f32`. Arguments too large for the short reduction, infinities and NaN go to the runtime's
//! function.

use super::ScalarCode;
use crate::lowered_module::Import;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{self, BlockArg, InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::FunctionBuilder;
use gbxcule_ir::{Native, Scalar};

/// Largest operand for which the product of the quotient and [`HALF_PI_HIGH`] is exact.
pub(crate) const MAX_REDUCED: f32 = 100_000.0;
/// Number whose addition rounds a number below 2^51 to an integer, which then lies in the low bits.
const ROUNDER: f64 = 6_755_399_441_055_744.0;
/// The upper 33 bits of half of pi.
const HALF_PI_HIGH: f64 = f64::from_bits(0x3ff9_21fb_5440_0000);
/// Half of pi minus its upper 33 bits.
const HALF_PI_LOW: f64 = f64::from_bits(0x3dd0_b461_1a62_6331);

impl ScalarCode<'_, '_> {
    pub(crate) fn sine(&mut self, x: Value, cosine: bool) -> Value {
        let (near, far) = (self.b.create_block(), self.b.create_block());
        let done = self.b.create_block();
        self.b.append_block_param(done, types::F32);
        self.b.set_cold_block(far);
        let magnitude = self.b.ins().fabs(x);
        let limit = self.b.ins().f32const(MAX_REDUCED);
        let is_near = self.b.ins().fcmp(FloatCC::LessThan, magnitude, limit);
        self.b.ins().brif(is_near, near, &[], far, &[]);
        self.b.seal_block(near);
        self.b.seal_block(far);

        self.b.switch_to_block(near);
        let wide = self.b.ins().fpromote(types::F64, x);
        let result = near_sine(&mut self.b, wide, cosine);
        let result = self.b.ins().fdemote(types::F32, result);
        self.b.ins().jump(done, &[BlockArg::Value(result)]);
        self.b.switch_to_block(far);
        let native = if cosine { Native::Cos } else { Native::Sin };
        let result = self.imported(Import::Native(native, Scalar::F32), &[x]);
        self.b.ins().jump(done, &[BlockArg::Value(result)]);
        self.b.seal_block(done);
        self.b.switch_to_block(done);
        self.b.block_params(done)[0]
    }
}

/// Computes the sine or cosine of an `f64`, or of each one of a vector, below [`MAX_REDUCED`].
pub(crate) fn near_sine(b: &mut FunctionBuilder<'_>, x: Value, cosine: bool) -> Value {
    let of = b.func.dfg.value_type(x);
    let bits_of = of.as_int();
    let quarters = number(b, of, std::f64::consts::FRAC_2_PI);
    let rounder = number(b, of, ROUNDER);
    let turned = b.ins().fmul(x, quarters);
    let shifted = b.ins().fadd(turned, rounder);
    let quotient = b.ins().fsub(shifted, rounder);
    let bits = b.ins().bitcast(bits_of, MemFlagsData::new(), shifted);
    let one = b.ins().iconst(types::I64, 1);
    let one_each = spread(b, bits_of, one);
    let quadrant = if cosine { b.ins().iadd(bits, one_each) } else { bits };
    let (high, low) = (number(b, of, HALF_PI_HIGH), number(b, of, HALF_PI_LOW));
    let (high, low) = (b.ins().fmul(quotient, high), b.ins().fmul(quotient, low));
    let r = b.ins().fsub(x, high);
    let r = b.ins().fsub(r, low);
    let square = b.ins().fmul(r, r);

    // sin r = r (1 + r^2 (-1/3! + r^2/5! - ..)), cos r = 1 + r^2 (-1/2! + r^2/4! - ..)
    let sine = [1.0 / -6.0, 1.0 / 120.0, 1.0 / -5040.0, 1.0 / 362_880.0, 1.0 / -39_916_800.0];
    let cosine = [-0.5, 1.0 / 24.0, 1.0 / -720.0, 1.0 / 40_320.0, 1.0 / -3_628_800.0];
    let fourth = b.ins().fmul(square, square);
    let sine = series(b, sine, square, fourth);
    let cosine = series(b, cosine, square, fourth);
    let unit = number(b, of, 1.0);
    // The multiplication comes last, so that -0 keeps its sign.
    let sine = b.ins().fmul(square, sine);
    let sine = b.ins().fadd(unit, sine);
    let sine = b.ins().fmul(r, sine);
    let cosine = b.ins().fmul(square, cosine);
    let cosine = b.ins().fadd(unit, cosine);

    let odd = b.ins().band(quadrant, one_each);
    let odd = b.ins().icmp(IntCC::Equal, odd, one_each);
    // The selection is on integers: a float select becomes a branch, which would be mispredicted
    // half the time.
    let [sine, cosine] =
        [sine, cosine].map(|value| b.ins().bitcast(bits_of, MemFlagsData::new(), value));
    let chosen = match of.is_vector() {
        true => b.ins().bitselect(odd, cosine, sine),
        false => b.ins().select(odd, cosine, sine),
    };
    let sign = b.ins().ushr(quadrant, one);
    let last = b.ins().iconst(types::I64, 63);
    let sign = b.ins().ishl(sign, last);
    let signed = b.ins().bxor(chosen, sign);
    b.ins().bitcast(of, MemFlagsData::new(), signed)
}

/// Makes a constant, for each lane if the type is a vector.
fn number(b: &mut FunctionBuilder<'_>, of: ir::Type, value: f64) -> Value {
    let value = b.ins().f64const(value);
    spread(b, of, value)
}

fn spread(b: &mut FunctionBuilder<'_>, of: ir::Type, value: Value) -> Value {
    if of.is_vector() { b.ins().splat(of, value) } else { value }
}

/// Computes `c0 + c1 s + c2 s^2 + c3 s^3 + c4 s^4` with the shortest chain of dependent operations.
fn series(
    b: &mut FunctionBuilder<'_>,
    coefficients: [f64; 5],
    square: Value,
    fourth: Value,
) -> Value {
    let of = b.func.dfg.value_type(square);
    let [c0, c1, c2, c3, c4] = coefficients.map(|value| number(b, of, value));
    let first = b.ins().fmul(c1, square);
    let first = b.ins().fadd(c0, first);
    let second = b.ins().fmul(c3, square);
    let second = b.ins().fadd(c2, second);
    let last = b.ins().fmul(c4, fourth);
    let second = b.ins().fadd(second, last);
    let second = b.ins().fmul(second, fourth);
    b.ins().fadd(first, second)
}
