//! Native builtins: exact ones as instructions, the rest as calls into the runtime.

use super::lowered_module::Import;
use super::lowerer::Lowerer;
use cranelift_codegen::ir::condcodes::{CondCode, FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use gbxcule_ir::{Native, Scalar};

impl Lowerer<'_, '_> {
    pub(super) fn native(&mut self, native: Native, of: Scalar, args: &[Value]) -> Value {
        if !of.is_float() {
            return self.int_native(native, of, args);
        }
        let wide = if of == Scalar::F64 { Scalar::F64 } else { Scalar::F32 };
        let args: Vec<Value> = args.iter().map(|&arg| self.widen(of, arg)).collect();
        let result = self.float_native(native, wide, &args);
        if native.row().result.is_some() { result } else { self.narrow(of, result) }
    }

    fn float_native(&mut self, native: Native, of: Scalar, args: &[Value]) -> Value {
        let x = args[0];
        match native {
            Native::Min => self.extremum(FloatCC::LessThanOrEqual, x, args[1]),
            Native::Max => self.extremum(FloatCC::GreaterThanOrEqual, x, args[1]),
            Native::Abs => self.b.ins().fabs(x),
            Native::Copysign => self.b.ins().fcopysign(x, args[1]),
            Native::Floor => self.b.ins().floor(x),
            Native::Ceil => self.b.ins().ceil(x),
            Native::Trunc => self.b.ins().trunc(x),
            Native::Round => self.round(of, x),
            Native::Rint => self.b.ins().nearest(x),
            Native::Sqrt => self.b.ins().sqrt(x),
            Native::IsNan => self.b.ins().fcmp(FloatCC::Unordered, x, x),
            Native::IsInf => self.against_infinity(FloatCC::Equal, of, x),
            Native::IsFinite => self.against_infinity(FloatCC::LessThan, of, x),
            Native::Sin if of == Scalar::F32 => self.sine(x, false),
            Native::Cos if of == Scalar::F32 => self.sine(x, true),
            _ => self.imported(Import::Native(native, of), args),
        }
    }

    /// The first if `code` holds or the second is NaN, else the second.
    fn extremum(&mut self, code: FloatCC, x: Value, y: Value) -> Value {
        let first = self.b.ins().fcmp(code, x, y);
        let no_second = self.b.ins().fcmp(FloatCC::Unordered, y, y);
        let chosen = self.b.ins().bor(first, no_second);
        self.b.ins().select(chosen, x, y)
    }

    /// Halves away from zero: the largest number below one half, added, never carries too far.
    fn round(&mut self, of: Scalar, x: Value) -> Value {
        let half = match of {
            Scalar::F64 => self.b.ins().f64const(0.5f64.next_down()),
            _ => self.b.ins().f32const(0.5f32.next_down()),
        };
        let half = self.b.ins().fcopysign(half, x);
        let sum = self.b.ins().fadd(x, half);
        self.b.ins().trunc(sum)
    }

    fn against_infinity(&mut self, code: FloatCC, of: Scalar, x: Value) -> Value {
        let infinity = match of {
            Scalar::F64 => self.b.ins().f64const(f64::INFINITY),
            _ => self.b.ins().f32const(f32::INFINITY),
        };
        let magnitude = self.b.ins().fabs(x);
        self.b.ins().fcmp(code, magnitude, infinity)
    }

    fn int_native(&mut self, native: Native, of: Scalar, args: &[Value]) -> Value {
        let x = args[0];
        match native {
            Native::Min | Native::Max => {
                let less = if of.is_signed_int() {
                    IntCC::SignedLessThan
                } else {
                    IntCC::UnsignedLessThan
                };
                let code = if native == Native::Min { less } else { less.swap_args() };
                let second = self.b.ins().icmp(code, args[1], x);
                self.b.ins().select(second, args[1], x)
            }
            Native::Abs if of.is_signed_int() => {
                let negative = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, x, 0);
                let negated = self.b.ins().ineg(x);
                self.b.ins().select(negative, negated, x)
            }
            Native::Abs => x,
            Native::BitCount => self.counted(of, x, |lowerer, x| lowerer.b.ins().popcnt(x)),
            Native::LeadingZeros => self.leading_zeros(of, x),
            Native::TrailingZeros => self.trailing_zeros(of, x),
            _ => unreachable!("check rule 4: `{}` of integers", native.row().name),
        }
    }

    /// Bits as 32 or 64, without sign.
    fn unsigned(&mut self, x: Value) -> Value {
        let narrow = self.b.func.dfg.value_type(x).bits() < 32;
        if narrow { self.b.ins().uextend(types::I32, x) } else { x }
    }

    fn counted(
        &mut self,
        of: Scalar,
        x: Value,
        count: impl FnOnce(&mut Self, Value) -> Value,
    ) -> Value {
        let x = self.unsigned(x);
        let result = count(self, x);
        if of.bytes() == 8 { self.b.ins().ireduce(types::I32, result) } else { result }
    }

    fn leading_zeros(&mut self, of: Scalar, x: Value) -> Value {
        let count = self.counted(of, x, |lowerer, x| lowerer.b.ins().clz(x));
        let above = 32i64.saturating_sub(i64::from(of.bits())).max(0);
        self.b.ins().iadd_imm_s(count, -above)
    }

    fn trailing_zeros(&mut self, of: Scalar, x: Value) -> Value {
        self.counted(of, x, |lowerer, x| {
            // A bit above the width stops the count there.
            let x = match of.bits() {
                bits @ (8 | 16) => lowerer.b.ins().bor_imm_u(x, 1 << bits),
                _ => x,
            };
            lowerer.b.ins().ctz(x)
        })
    }
}
