//! Forms that compute values, each in a kernel of its own, over the edges of its types.

use super::form::{ValueForm, values};
use super::host::{Loaded, address, kernel};
use super::rule::{Arguments, Expected, expected};
use super::ty::{Kind, Type};
use std::fmt::Write as _;

/// Most operands that a form has, and the carry.
const INPUTS: usize = 5;
/// Cases of a form whose operands have more combinations than that.
const MAX_CASES: usize = 1500;

/// Register number `at` of a type.
fn register(ty: Type, at: usize) -> String {
    match (ty.kind, ty.bits) {
        (Kind::Predicate, _) => format!("%p{at}"),
        (_, 8 | 16) => format!("%rs{at}"),
        (_, 32) => format!("%r{at}"),
        _ => format!("%rd{at}"),
    }
}

fn register_bits(ty: Type) -> u32 {
    ty.bits.max(16)
}

/// Inputs in `%..5` and on, the result in `%..11`, one case for each block.
fn text(number: usize, case: &ValueForm) -> String {
    let mut body = String::from("mov.u32 %r19, %ctaid.x;\n");
    for (pointer, bytes) in [("%rd1", 8 * INPUTS), ("%rd2", 16)] {
        _ = writeln!(
            body,
            "mul.wide.u32 %rd19, %r19, {bytes};\nadd.s64 {pointer}, {pointer}, %rd19;"
        );
    }
    for (at, ty) in case.from().iter().enumerate() {
        let offset = 8 * at;
        if ty.kind == Kind::Predicate {
            _ = writeln!(
                body,
                "ld.global.u32 %r18, [%rd1+{offset}];\nsetp.ne.s32 %p{at}, %r18, 0;"
            );
        } else {
            let bits = register_bits(*ty);
            _ = writeln!(body, "ld.global.b{bits} {}, [%rd1+{offset}];", register(*ty, 5 + at));
        }
    }
    if case.has_carry() {
        _ = writeln!(
            body,
            "ld.global.u32 %r18, [%rd1+{}];\nadd.cc.u32 %r17, %r18, -1;",
            8 * (INPUTS - 1)
        );
    }
    let name = |at: usize, ty: &Type| {
        let at = if ty.kind == Kind::Predicate { at } else { 5 + at };
        register(*ty, at)
    };
    let from: Vec<String> = case.from().iter().enumerate().map(|(at, ty)| name(at, ty)).collect();
    let is_predicate = case.to().kind == Kind::Predicate;
    let to = register(case.to(), if is_predicate { 7 } else { 11 });
    _ = writeln!(body, "{} {to}, {};", case.mnemonic, from.join(", "));
    if case.has_carry() {
        body += "addc.u32 %r16, 0, 0;\nst.global.u32 [%rd2+8], %r16;\n";
    }
    if is_predicate {
        body += "selp.b32 %r15, 1, 0, %p7;\nst.global.b32 [%rd2], %r15;\n";
    } else {
        _ = writeln!(body, "st.global.b{} [%rd2], {to};", register_bits(case.to()));
    }
    kernel(&format!("form_{number}"), 2, &body)
}

/// Bits at the edges of a type, as 64 bits of which a register takes the low ones.
fn edges(ty: Type) -> Vec<u64> {
    if ty.kind == Kind::Predicate {
        return vec![0, 1];
    }
    if ty.kind == Kind::Float {
        let bits = |value: f64| match ty.bits {
            16 => u64::from(super::near::half(value)),
            32 => u64::from((value as f32).to_bits()),
            _ => value.to_bits(),
        };
        let floats = [&FEW_DIGITS[..], &NEAR_INTEGERS, &EXTREMES].concat();
        return floats.into_iter().map(bits).collect();
    }
    [&SMALL[..], &POWERS, &WIDE].concat()
}

const FEW_DIGITS: [f64; 9] = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, -2.5, 0.1, -3.7];

/// Edges of 16-bit floats, and of the integers that floats of each width hold.
#[rustfmt::skip]
const NEAR_INTEGERS: [f64; 13] = [
    65504.0, 65520.0, 16_777_217.0, 2e-7, 6e-8, 3e-8, 0.3e-8,
    2_147_483_647.5, -2_147_483_649.0, 4_294_967_295.5, 9.3e18, -9.3e18, 1.9e19,
];

/// Edges of floats with 32 and 64 bits, infinities, and a number with all digits.
#[rustfmt::skip]
const EXTREMES: [f64; 11] = [
    1e-38, 1e-39, -1e-44, 3.3e38, 1.7e38, -1e300, 1e-310,
    f64::INFINITY, f64::NEG_INFINITY, f64::NAN, std::f64::consts::PI,
];

const SMALL: [u64; 5] = [0, 1, 2, 3, 7];

/// Powers of two and their neighbours: edges of shifts and of 8-bit integers.
const POWERS: [u64; 15] = [8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 254, 255, 256];

/// Edges of integers with 16, 32 and 64 bits.
#[rustfmt::skip]
const WIDE: [u64; 12] = [
    0x7FFF, 0x8000, 0x8001, 0xFFFF, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF,
    0x0123_4567_89AB_CDEF, i64::MAX as u64, 1 << 63, u64::MAX, u64::MAX - 1,
];

/// A sequence that looks random.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// All combinations of edges, or many; and random bits.
fn inputs(case: &ValueForm) -> Vec<Arguments> {
    let mut sets: Vec<Vec<u64>> = case.from().iter().map(|ty| edges(*ty)).collect();
    if case.has_carry() {
        sets.resize(INPUTS - 1, vec![0]);
        sets.push(vec![0, 1]);
    }
    sets.resize(INPUTS, vec![0]);
    let product: usize = sets.iter().map(Vec::len).product();
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut found = Vec::new();
    for number in 0..product.min(MAX_CASES) {
        let mut rest = number;
        found.push(std::array::from_fn(|at| {
            let set = &sets[at];
            if product > MAX_CASES {
                return set[(random.next() % set.len() as u64) as usize];
            }
            let chosen = set[rest % set.len()];
            rest /= set.len();
            chosen
        }));
    }
    for _ in 0..200 {
        found.push(std::array::from_fn(|at| if sets[at].len() > 2 { random.next() } else { 0 }));
    }
    found
}

#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn every_form_computes_what_its_rule_says() {
    let cases = values();
    assert!(cases.len() > 350, "{} forms", cases.len());
    let texts: String = cases.iter().enumerate().map(|(number, case)| text(number, case)).collect();
    let loaded = Loaded::new(&texts);
    let mut wrong = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        let mut inputs = inputs(case);
        let mut outputs = vec![[0_u64; 2]; inputs.len()];
        let addresses = [address(&mut inputs), address(&mut outputs)];
        loaded.launch(&format!("form_{number}"), inputs.len() as u32, 1, &addresses);
        let (mut decided, mut failures) = (0, 0);
        for (arguments, [value, carry]) in inputs.iter().zip(&outputs) {
            let expected = expected(&case.mnemonic, arguments);
            let expected = super::machine::expected(&case.mnemonic, arguments, expected);
            decided += usize::from(!matches!(expected, Expected::Open));
            if !expected.holds(*value, *carry != 0, register_bits(case.to())) {
                failures += 1;
                if failures == 1 {
                    wrong.push(format!(
                        "{} of {arguments:x?}: {value:x} {carry}, not {expected:x?}",
                        case.mnemonic
                    ));
                }
            }
        }
        let is_open = super::machine::is_open(&case.mnemonic);
        assert!(is_open || decided * 2 > inputs.len(), "{} is hardly tested", case.mnemonic);
    }
    assert!(wrong.is_empty(), "{} forms:\n{}", wrong.len(), wrong.join("\n"));
}
