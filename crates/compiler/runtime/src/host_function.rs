//! Functions that compiled code calls: mathematics beyond single instructions, and printing.
//!
//! All have the C calling convention and take scalars only. If the host's mathematics library has
//! a function, it is used, because its error stays within the units in the last place that the
//! builtin table allows.
#![allow(unsafe_code, reason = "printing reads memory that compiled code points at")]

use crate::code::Record;
use crate::output::{self, Output};
use gbxcule_back_clif::Import;
use gbxcule_ir::eval;
use gbxcule_ir::{Literal, Native, Scalar};

macro_rules! unary {
    ($($native:ident $single:ident $double:ident |$x:ident| $compute:expr;)*) => {
        $(
            #[allow(clippy::manual_clamp, reason = "`clamp` would keep NaN")]
            extern "C" fn $single($x: f32) -> f32 { $compute }
            #[allow(clippy::manual_clamp, reason = "`clamp` would keep NaN")]
            extern "C" fn $double($x: f64) -> f64 { $compute }
        )*

        fn unary_address(native: Native, of: Scalar) -> Option<*const u8> {
            Some(match (native, of) {
                $(
                    (Native::$native, Scalar::F32) => $single as extern "C" fn(f32) -> f32 as *const u8,
                    (Native::$native, _) => $double as extern "C" fn(f64) -> f64 as *const u8,
                )*
                _ => return None,
            })
        }
    };
}

unary! {
    Sin sin_f32 sin_f64 |x| x.sin();
    Cos cos_f32 cos_f64 |x| x.cos();
    Tan tan_f32 tan_f64 |x| x.tan();
    Asin asin_f32 asin_f64 |x| (if x > -1.0 { x.min(1.0) } else { -1.0 }).asin();
    Acos acos_f32 acos_f64 |x| (if x > -1.0 { x.min(1.0) } else { -1.0 }).acos();
    Atan atan_f32 atan_f64 |x| x.atan();
    Sinh sinh_f32 sinh_f64 |x| x.sinh();
    Cosh cosh_f32 cosh_f64 |x| x.cosh();
    Tanh tanh_f32 tanh_f64 |x| x.tanh();
    Exp exp_f32 exp_f64 |x| x.exp();
    Log log_f32 log_f64 |x| x.ln();
    Log2 log2_f32 log2_f64 |x| x.log2();
    Log10 log10_f32 log10_f64 |x| x.log10();
    Cbrt cbrt_f32 cbrt_f64 |x| x.cbrt();
    Erf erf_f32 erf_f64 |x| x.by_eval(Native::Erf);
    Erfc erfc_f32 erfc_f64 |x| x.by_eval(Native::Erfc);
    Erfinv erfinv_f32 erfinv_f64 |x| x.by_eval(Native::Erfinv);
    Erfcinv erfcinv_f32 erfcinv_f64 |x| x.by_eval(Native::Erfcinv);
}

/// Evaluation of a function that the host's library lacks, as the IR's evaluator computes it.
trait ByEval {
    fn by_eval(self, native: Native) -> Self;
}

impl ByEval for f32 {
    fn by_eval(self, native: Native) -> Self {
        evaluate(native, Scalar::F32, f64::from(self)) as Self
    }
}

impl ByEval for f64 {
    fn by_eval(self, native: Native) -> Self {
        evaluate(native, Scalar::F64, self)
    }
}

fn evaluate(native: Native, of: Scalar, x: f64) -> f64 {
    eval::native(native, &[Literal::float(of, x)]).as_f64()
}

extern "C" fn atan2_f32(y: f32, x: f32) -> f32 {
    y.atan2(x)
}

extern "C" fn atan2_f64(y: f64, x: f64) -> f64 {
    y.atan2(x)
}

// The result is 1 even for a signalling NaN, for which C's libraries return a NaN.
extern "C" fn pow_f32(x: f32, y: f32) -> f32 {
    if y == 0.0 || x == 1.0 { 1.0 } else { x.powf(y) }
}

extern "C" fn pow_f64(x: f64, y: f64) -> f64 {
    if y == 0.0 || x == 1.0 { 1.0 } else { x.powf(y) }
}

extern "C" fn rem_f32(x: f32, y: f32) -> f32 {
    x % y
}

extern "C" fn rem_f64(x: f64, y: f64) -> f64 {
    x % y
}

/// Prints the values of a print statement, whose layout [`gbxcule_back_clif::Printed`] describes.
extern "C" fn print(record: *const Record, number: i32, arguments: *const u8) {
    // SAFETY: compiled code passes on the record that it was called with. `launch` keeps the
    // record alive and changes only its fault fields during the call, which are not read here.
    let launch = unsafe { &*(*record).launch };
    if matches!(launch.output, Output::Nowhere) {
        return;
    }
    let module = launch.module;
    let printed = &launch.facts.prints[number as usize];
    let size = output::arguments_size(module, printed);
    // SAFETY: compiled code points at a stack slot of exactly this size and has filled all of it
    // except for padding, whose bytes are allocated and not read.
    let bytes = unsafe { std::slice::from_raw_parts(arguments, size) };
    launch.output.write(&output::text(module, printed, bytes));
}

/// Returns the address of a function.
pub(crate) fn address(import: Import) -> *const u8 {
    type BinaryF32 = extern "C" fn(f32, f32) -> f32;
    type BinaryF64 = extern "C" fn(f64, f64) -> f64;
    match import {
        Import::Native(Native::Atan2, Scalar::F32) => atan2_f32 as BinaryF32 as *const u8,
        Import::Native(Native::Atan2, _) => atan2_f64 as BinaryF64 as *const u8,
        Import::Native(Native::Pow, Scalar::F32) => pow_f32 as BinaryF32 as *const u8,
        Import::Native(Native::Pow, _) => pow_f64 as BinaryF64 as *const u8,
        Import::Remainder(Scalar::F32) => rem_f32 as BinaryF32 as *const u8,
        Import::Remainder(_) => rem_f64 as BinaryF64 as *const u8,
        Import::Print => print as extern "C" fn(*const Record, i32, *const u8) as *const u8,
        Import::External(_) => unreachable!("the caller has its address"),
        Import::Native(native, of) => unary_address(native, of)
            .unwrap_or_else(|| unreachable!("`{}` is lowered in line", native.row().name)),
    }
}
