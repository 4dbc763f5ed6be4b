//! Conversions, shifts and sines of a group of threads.

use super::GroupCode;
use crate::code::{MAX_REDUCED, constant, near_sine, upper_limit};
use crate::lowered_module::Import;
use crate::typed::{GROUP, is_same};
use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, MemFlagsData, Value, types};
use gbxcule_ir::{BinaryOp, Native, Scalar};

/// Greatest amount by which bits of a vector are shifted down by different amounts: a power of two
/// up to this one is an exact part of an `f32`.
const MAX_VARIED: u64 = 22;

impl GroupCode<'_, '_> {
    /// Converts `f32` to 32-bit integers, and back.
    pub(super) fn group_convert(&mut self, value: gbxcule_ir::Value, x: gbxcule_ir::Value) -> bool {
        let of = |ty| self.cx.module.types.components(ty).map(|(of, _)| of);
        let (from, to) = (of(self.ty(x)), of(self.ty(value)));
        match (from, to) {
            (Some(Scalar::F32), Some(Scalar::I32)) => self.by_float(value, &[x], |lowerer, row| {
                lowerer.b.ins().fcvt_to_sint_sat(types::I32X4, row[0])
            }),
            (Some(Scalar::F32), Some(Scalar::U32)) => self.by_float(value, &[x], |lowerer, row| {
                lowerer.b.ins().fcvt_to_uint_sat(types::I32X4, row[0])
            }),
            (Some(from @ (Scalar::I32 | Scalar::U32)), Some(Scalar::F32)) => {
                self.by_int(value, &[x], |lowerer, row| {
                    let limit = upper_limit(&lowerer.b, from, row[0]);
                    let is_small = limit.is_some_and(|limit| limit <= i32::MAX as u64);
                    match from == Scalar::I32 || is_small {
                        true => lowerer.b.ins().fcvt_from_sint(types::F32X4, row[0]),
                        false => lowerer.b.ins().fcvt_from_uint(types::F32X4, row[0]),
                    }
                })
            }
            _ => false,
        }
    }

    /// Shifts integers of vectors by a constant, or unsigned ones down by small amounts.
    pub(super) fn group_shift(
        &mut self,
        value: gbxcule_ir::Value,
        op: BinaryOp,
        [x, amount]: [gbxcule_ir::Value; 2],
    ) -> bool {
        let Some(of @ (Scalar::I32 | Scalar::U32)) = self.ty(value).as_scalar() else {
            return false;
        };
        let by = self.row(amount);
        if is_same(by) {
            let is_inside = |by: i64| (0..i64::from(of.bits())).contains(&by);
            let is_known = constant(&self.b, by[0], of).is_some_and(is_inside);
            return is_known
                && self.by_int(value, &[x], |lowerer, row| match op {
                    BinaryOp::ShiftLeft => lowerer.b.ins().ishl(row[0], by[0]),
                    _ if of == Scalar::I32 => lowerer.b.ins().sshr(row[0], by[0]),
                    _ => lowerer.b.ins().ushr(row[0], by[0]),
                });
        }
        let Some(by) = self.vector_of(by).filter(|_| self.is_packed()) else { return false };
        let is_small = upper_limit(&self.b, of, by).is_some_and(|limit| limit <= MAX_VARIED);
        op == BinaryOp::ShiftRight
            && of == Scalar::U32
            && is_small
            && self.by_int(value, &[x], |lowerer, row| lowerer.shifted_down(row[0], by))
    }

    /// Shifts each unsigned integer down by its own amount, at most [`MAX_VARIED`]: `x >> by` is
    /// `(x * 2^(22 - by)) >> 22`.
    fn shifted_down(&mut self, x: Value, by: Value) -> Value {
        let flags = MemFlagsData::new;
        let each = |lowerer: &mut Self, number: i64| {
            let number = lowerer.b.ins().iconst(types::I32, number);
            lowerer.b.ins().splat(types::I32X4, number)
        };
        // 2^(22 - by) as an `f32`, by its exponent; with 2^23 added, its fraction is the number.
        let exponent = each(self, 127 + MAX_VARIED as i64);
        let exponent = self.b.ins().isub(exponent, by);
        let fraction_bits = self.b.ins().iconst(types::I32, 23);
        let power = self.b.ins().ishl(exponent, fraction_bits);
        let power = self.b.ins().bitcast(types::F32X4, flags(), power);
        let unit = self.b.ins().f32const((1u32 << 23) as f32);
        let unit = self.b.ins().splat(types::F32X4, unit);
        let power = self.b.ins().fadd(power, unit);
        let power = self.b.ins().bitcast(types::I32X4, flags(), power);
        let fraction = each(self, (1 << 23) - 1);
        let power = self.b.ins().band(power, fraction);

        let (x_low, x_high) = (self.b.ins().uwiden_low(x), self.b.ins().uwiden_high(x));
        let (low, high) = (self.b.ins().uwiden_low(power), self.b.ins().uwiden_high(power));
        let products = [self.b.ins().imul(x_low, low), self.b.ins().imul(x_high, high)];
        let amount = self.b.ins().iconst(types::I32, MAX_VARIED as i64);
        let [low, high] = products.map(|product| self.b.ins().ushr(product, amount));
        self.shuffle(low, high, [0, 2, 4, 6], types::I32X4)
    }

    /// Computes the sines or cosines of a vector, each as [`near_sine`] or the runtime does for one
    /// thread.
    pub(super) fn sines(&mut self, native: Native, x: Value) -> Value {
        let upper = self.shuffle(x, x, [2, 3, 2, 3], types::F32X4);
        let [low, high] = [x, upper].map(|half| {
            let wide = self.b.ins().fvpromote_low(half);
            let result = near_sine(&mut self.b, wide, native == Native::Cos);
            self.b.ins().fvdemote(result)
        });
        let result = self.shuffle(low, high, [0, 1, 4, 5], types::F32X4);

        let magnitude = self.b.ins().fabs(x);
        let limit = self.b.ins().f32const(MAX_REDUCED);
        let limit = self.b.ins().splat(types::F32X4, limit);
        let is_near = self.b.ins().fcmp(FloatCC::LessThan, magnitude, limit);
        let all_near = self.b.ins().vall_true(is_near);
        let [far, done] = [(); 2].map(|()| self.b.create_block());
        self.b.append_block_param(done, types::F32X4);
        self.b.set_cold_block(far);
        self.b.ins().brif(all_near, done, &[BlockArg::Value(result)], far, &[]);
        self.b.seal_block(far);
        self.b.switch_to_block(far);
        let mut called = x;
        for lane in 0..GROUP as u8 {
            let operand = self.b.ins().extractlane(x, lane);
            let one = self.imported(Import::Native(native, Scalar::F32), &[operand]);
            called = self.b.ins().insertlane(called, one, lane);
        }
        let mask = self.b.ins().bitcast(types::F32X4, MemFlagsData::new(), is_near);
        let result = self.b.ins().bitselect(mask, result, called);
        self.b.ins().jump(done, &[BlockArg::Value(result)]);
        self.b.seal_block(done);
        self.b.switch_to_block(done);
        self.b.block_params(done)[0]
    }
}
