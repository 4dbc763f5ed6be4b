//! Conversions from one scalar type to another.

use super::lowerer::Lowerer;
use super::shape::clif_type;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use gbxcule_ir::Scalar;

impl Lowerer<'_, '_> {
    pub(super) fn convert(&mut self, from: Scalar, to: Scalar, x: Value) -> Value {
        match (from.is_float(), to.is_float()) {
            _ if from == to => x,
            (false, false) => self.int_to_int(from, to, x),
            (false, true) => {
                let wide = if to == Scalar::F64 { types::F64 } else { types::F32 };
                let float = self.int_to_float(from, wide, x);
                self.narrow(to, float)
            }
            (true, false) => self.float_to_int(from, to, x),
            (true, true) => {
                let wide = self.widen(from, x);
                let single = match (from, to) {
                    (Scalar::F64, _) => self.b.ins().fdemote(types::F32, wide),
                    (_, Scalar::F64) => self.b.ins().fpromote(types::F64, wide),
                    _ => wide,
                };
                self.narrow(to, single)
            }
        }
    }

    fn int_to_int(&mut self, from: Scalar, to: Scalar, x: Value) -> Value {
        if to == Scalar::Bool {
            return self.b.ins().icmp_imm_s(IntCC::NotEqual, x, 0);
        }
        let ty = clif_type(to);
        match to.bytes().cmp(&from.bytes()) {
            std::cmp::Ordering::Equal => x,
            std::cmp::Ordering::Less => self.b.ins().ireduce(ty, x),
            std::cmp::Ordering::Greater if from.is_signed_int() => self.b.ins().sextend(ty, x),
            std::cmp::Ordering::Greater => self.b.ins().uextend(ty, x),
        }
    }

    fn int_to_float(&mut self, from: Scalar, to: cranelift_codegen::ir::Type, x: Value) -> Value {
        match from {
            Scalar::U64 => self.b.ins().fcvt_from_uint(to, x),
            // As a signed number of more bits: one rounding, one instruction.
            Scalar::U32 => {
                let wide = self.b.ins().uextend(types::I64, x);
                self.b.ins().fcvt_from_sint(to, wide)
            }
            _ => {
                let wide = self.extend(from, x);
                self.b.ins().fcvt_from_sint(to, wide)
            }
        }
    }

    fn float_to_int(&mut self, from: Scalar, to: Scalar, x: Value) -> Value {
        let x = self.widen(from, x);
        match to {
            Scalar::Bool => {
                let zero = self.zero_of(if from == Scalar::F64 { from } else { Scalar::F32 });
                self.b.ins().fcmp(FloatCC::NotEqual, x, zero)
            }
            Scalar::I32 | Scalar::I64 => self.b.ins().fcvt_to_sint_sat(clif_type(to), x),
            Scalar::U32 | Scalar::U64 => self.b.ins().fcvt_to_uint_sat(clif_type(to), x),
            _ => {
                let wide = self.b.ins().fcvt_to_sint_sat(types::I32, x);
                let (low, high) = match to.is_signed_int() {
                    true => (-(1i64 << (to.bits() - 1)), (1i64 << (to.bits() - 1)) - 1),
                    false => (0, (1i64 << to.bits()) - 1),
                };
                let low = self.b.ins().iconst(types::I32, low & 0xffff_ffff);
                let high = self.b.ins().iconst(types::I32, high);
                let raised = self.b.ins().smax(wide, low);
                let clamped = self.b.ins().smin(raised, high);
                self.b.ins().ireduce(clif_type(to), clamped)
            }
        }
    }

    pub(super) fn bitcast(&mut self, to: Scalar, x: Value) -> Value {
        let ty = clif_type(to);
        if self.b.func.dfg.value_type(x) == ty {
            return x;
        }
        self.b.ins().bitcast(ty, MemFlagsData::new(), x)
    }

    /// An index of any integer type as 64 bits, by its signedness.
    pub(super) fn index_to_i64(&mut self, of: Scalar, x: Value) -> Value {
        match (of.bytes() < 8, of.is_signed_int()) {
            (false, _) => x,
            (true, true) => self.b.ins().sextend(types::I64, x),
            (true, false) => self.b.ins().uextend(types::I64, x),
        }
    }
}
