//! Floats of 16 bits, conversions and comparisons that give numbers: forms of machine code that the
//! translation of PTX does not have. Each result is that of the PTX ISA document's rule.

use super::exact::{BF16, Exact, F16, Format};
use super::host::{Loaded, address, kernel};
use super::machine::arch;
use super::near::Direction;
use std::fmt::Write as _;

/// Numbers that a thread reads: three words, and 64 bits.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Input {
    pub(crate) words: [u32; 4],
    pub(crate) long: u64,
    more: u64,
}

type Rule = Box<dyn Fn(&Input) -> u64>;

/// Lines that leave a result in `%r9` or `%rd9`, and what it must be.
pub(crate) struct Case {
    text: String,
    rule: Rule,
}

pub(crate) fn case(text: impl Into<String>, rule: impl Fn(&Input) -> u64 + 'static) -> Case {
    Case { text: text.into(), rule: Box::new(rule) }
}

/// A rule for both halves of words.
fn halves(text: impl Into<String>, rule: impl Fn([u16; 3]) -> u16 + 'static) -> Case {
    case(text, move |input| {
        let [low, high] = [0, 16]
            .map(|shift| u64::from(rule([0, 1, 2].map(|at| (input.words[at] >> shift) as u16))));
        high << 16 | low
    })
}

/// Threads of a launch.
const THREADS: usize = 32;
/// Launches of a test.
const LAUNCHES: usize = 20;

pub(crate) fn hold(cases: &[Case], inputs: &[Input]) {
    let mut body = format!(
        "mov.u32 %r10, %tid.x;\nmul.wide.u32 %rd4, %r10, 32;\nadd.s64 %rd1, %rd1, %rd4;\n\
         mul.wide.u32 %rd4, %r10, {};\nadd.s64 %rd2, %rd2, %rd4;\n\
         ld.global.u32 %r1, [%rd1];\nld.global.u32 %r2, [%rd1+4];\nld.global.u32 %r3, [%rd1+8];\n\
         ld.global.u64 %rd3, [%rd1+16];\nmov.b32 {{%rs1, %rs2}}, %r1;\nmov.b32 {{%rs3, %rs4}}, %r2;\n",
        8 * cases.len()
    );
    for (at, case) in cases.iter().enumerate() {
        let to = if case.text.contains("%rd9") { "u64" } else { "u32" };
        let register = if to == "u64" { "%rd9" } else { "%r9" };
        _ = writeln!(body, "{}\nst.global.{to} [%rd2+{}], {register};", case.text, 8 * at);
    }
    let loaded = Loaded::new(&kernel("only", 2, &body));
    for inputs in inputs.chunks(THREADS) {
        let (mut inputs, mut to) = (inputs.to_vec(), vec![0_u64; cases.len() * THREADS]);
        let arguments = [address(&mut inputs), address(&mut to)];
        loaded.launch("only", 1, inputs.len() as u32, &arguments);
        for (input, results) in inputs.iter().zip(to.chunks(cases.len())) {
            for (case, found) in cases.iter().zip(results) {
                let expected = (case.rule)(input);
                assert_eq!(*found, expected, "{}: {found:x}, {expected:x}; {input:x?}", case.text);
            }
        }
    }
}

/// Numbers by a linear congruence.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 32) as u32
    }
}

/// Zeros, subnormal and least numbers, ones and their neighbours, largest, infinities, NaN.
const F16_EDGES: [u16; 24] = [
    0, 0x8000, 1, 0x8001, 2, 0x3FF, 0x83FF, 0x400, 0x8400, 0x401, 0x3C00, 0xBC00, 0x3BFF, 0x3C01,
    0x3800, 0x3555, 0x4000, 0x7BFF, 0xFBFF, 0x7BFE, 0x7C00, 0xFC00, 0x7E00, 0xFE01,
];
const BF16_EDGES: [u16; 24] = [
    0, 0x8000, 1, 0x8001, 2, 0x7F, 0x807F, 0x80, 0x8080, 0x81, 0x3F80, 0xBF80, 0x3F7F, 0x3F81,
    0x3F00, 0x3EAB, 0x4000, 0x7F7F, 0xFF7F, 0x7F7E, 0x7F80, 0xFF80, 0x7FC0, 0xFFC1,
];

/// Words of two halves each: edges, any bits, and numbers near the one before.
fn inputs(edges: &[u16; 24]) -> Vec<Input> {
    let mut random = Random(7);
    let mut last = 0_u16;
    let mut half = || {
        let word = random.next();
        last = match word >> 30 {
            0 | 1 => edges[(word % 24) as usize],
            2 => word as u16,
            _ => last.wrapping_add((word % 64) as u16) ^ ((word >> 8) as u16 & 0x8000),
        };
        u32::from(last)
    };
    let mut word = || half() << 16 | half();
    (0..LAUNCHES * THREADS)
        .map(|_| Input { words: [word(), word(), word(), 0], long: 0, more: 0 })
        .collect()
}

fn sum(format: Format, [a, b, c]: [u16; 3]) -> u16 {
    let [a, b, c] = [a, b, c].map(|it| format.value(it));
    // A value in 64 bits has the sign of a sum that is zero.
    format.result(a * b + c, || Exact::number(a).times(Exact::number(b)).plus(Exact::number(c)))
}

fn is_nan(format: Format, bits: u16) -> bool {
    format.value(bits).is_nan()
}

fn saturated(format: Format, bits: u16) -> u16 {
    match format.value(bits) {
        value if value.is_nan() || value <= 0.0 => 0,
        value if value >= 1.0 => format.one(),
        _ => bits,
    }
}

fn not_negative(format: Format, bits: u16) -> u16 {
    if bits >> 15 == 1 && !is_nan(format, bits) { 0 } else { bits }
}

fn least(format: Format, [a, b]: [u16; 2], sign: f64, keeps_nan: bool) -> u16 {
    match [a, b].map(|it| is_nan(format, it)) {
        [true, true] => 0x7FFF,
        [true, false] | [false, true] if keeps_nan => 0x7FFF,
        [true, false] => b,
        [false, true] => a,
        _ => {
            let key = |it: u16| (sign * format.value(it), (it >> 15 == 1) == (sign < 0.0));
            if key(a) <= key(b) { a } else { b }
        }
    }
}

pub(crate) const COMPARISONS: [&str; 14] =
    ["eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"];

pub(crate) fn holds(name: &str, a: f64, b: f64) -> bool {
    let is_unordered = a.is_nan() || b.is_nan();
    match name {
        "eq" => a == b,
        "ne" => !is_unordered && a != b,
        "lt" => a < b,
        "le" => a <= b,
        "gt" => a > b,
        "ge" => a >= b,
        "num" => !is_unordered,
        "nan" => is_unordered,
        _ => is_unordered || holds(&name[..2], a, b),
    }
}

fn is_at_least(number: u32) -> bool {
    arch().trim_start_matches("sm_").parse::<u32>().expect("a number") >= number
}

/// Sums and products of one type of halves.
fn arithmetic(format: Format, ty: &'static str) -> Vec<Case> {
    let is_f16 = ty == "f16x2";
    let one = format.one();
    let negative_zero = 0x8000;
    let mut cases = vec![
        halves(format!("fma.rn.{ty} %r9, %r1, %r2, %r3;"), move |it| sum(format, it)),
        halves(format!("fma.rn.relu.{ty} %r9, %r1, %r2, %r3;"), move |it| {
            not_negative(format, sum(format, it))
        }),
        halves(format!("min.{ty} %r9, %r1, %r2;"), move |[a, b, _]| {
            least(format, [a, b], 1.0, false)
        }),
        halves(format!("max.{ty} %r9, %r1, %r2;"), move |[a, b, _]| {
            least(format, [a, b], -1.0, false)
        }),
        halves(format!("min.NaN.{ty} %r9, %r1, %r2;"), move |[a, b, _]| {
            least(format, [a, b], 1.0, true)
        }),
        halves(format!("max.NaN.{ty} %r9, %r1, %r2;"), move |[a, b, _]| {
            least(format, [a, b], -1.0, true)
        }),
        // A different number in each half.
        case(format!("mov.b32 %r8, {};\nfma.rn.{ty} %r9, %r1, %r8, %r3;", pair(one)), move |it| {
            by_halves(it, move |[a, _, c], two| sum(format, [a, two, c]), one)
        }),
    ];
    if is_f16 || is_at_least(90) {
        cases.extend([
            halves(format!("add.rn.{ty} %r9, %r1, %r2;"), move |[a, b, _]| {
                sum(format, [a, one, b])
            }),
            halves(format!("sub.rn.{ty} %r9, %r1, %r2;"), move |[a, b, _]| {
                sum(format, [b, one ^ 0x8000, a])
            }),
            halves(format!("mul.rn.{ty} %r9, %r1, %r2;"), move |[a, b, _]| {
                let is_negative = (a ^ b) >> 15 == 1;
                sum(format, [a, b, if is_negative { negative_zero } else { 0 }])
            }),
        ]);
    }
    if is_f16 {
        cases.extend([
            halves(format!("add.rn.sat.{ty} %r9, %r1, %r2;"), move |[a, b, _]| {
                saturated(format, sum(format, [a, one, b]))
            }),
            halves(format!("mul.rn.sat.{ty} %r9, %r1, %r2;"), move |[a, b, _]| {
                saturated(format, sum(format, [a, b, 0]))
            }),
            halves(format!("fma.rn.sat.{ty} %r9, %r1, %r2, %r3;"), move |it| {
                saturated(format, sum(format, it))
            }),
        ]);
    }
    cases
}

/// A word of which the upper half is a number and the lower twice that.
fn pair(one: u16) -> u32 {
    u32::from(one) << 16 | u32::from(TWO)
}

/// Bits of 2.0, in both formats.
const TWO: u16 = 0x4000;

fn by_halves(input: &Input, rule: impl Fn([u16; 3], u16) -> u16, one: u16) -> u64 {
    let [low, high] = [(0, TWO), (16, one)].map(|(shift, factor)| {
        u64::from(rule([0, 1, 2].map(|at| (input.words[at] >> shift) as u16), factor))
    });
    high << 16 | low
}

/// Comparisons of one type of halves.
fn comparisons(format: Format, ty: &'static str) -> Vec<Case> {
    let test = move |name: &str, a: u16, b: u16| holds(name, format.value(a), format.value(b));
    let each = |name: &'static str| {
        let one = format.one();
        [
            halves(format!("set.{name}.{ty}.{ty} %r9, %r1, %r2;"), move |[a, b, _]| {
                if test(name, a, b) { one } else { 0 }
            }),
            halves(format!("set.{name}.u32.{ty} %r9, %r1, %r2;"), move |[a, b, _]| {
                if test(name, a, b) { 0xFFFF } else { 0 }
            }),
            case(
                format!(
                    "setp.{name}.{ty} %p1|%p2, %r1, %r2;\nselp.b32 %r9, 1, 0, %p1;\n\
                     selp.b32 %r8, 2, 0, %p2;\nor.b32 %r9, %r9, %r8;"
                ),
                move |input| {
                    let [low, high] = [0, 16].map(|shift| {
                        let [a, b] = [0, 1].map(|at| (input.words[at] >> shift) as u16);
                        u64::from(test(name, a, b))
                    });
                    high << 1 | low
                },
            ),
        ]
    };
    COMPARISONS.iter().flat_map(|name| each(name)).collect()
}

/// Halves of one register with each other.
fn mixed() -> Vec<Case> {
    let part = |input: &Input, at: usize| (input.words[at / 2] >> (16 * (at % 2))) as u16;
    vec![
        case("add.rn.f16 %rs9, %rs2, %rs3;\nmov.b32 %r9, {%rs9, %rs9};", move |it| {
            let sum = u64::from(sum(F16, [part(it, 1), F16.one(), part(it, 2)]));
            sum << 16 | sum
        }),
        case("fma.rn.bf16 %rs9, %rs1, %rs4, %rs2;\nmov.b32 %r9, {%rs9, 0};", move |it| {
            u64::from(sum(BF16, [part(it, 0), part(it, 3), part(it, 1)]))
        }),
        case("cvt.f32.f16 %r9, %rs2;", move |it| widened(F16.value(part(it, 1)))),
        case("cvt.f32.f16 %r9, %rs3;", move |it| widened(F16.value(part(it, 2)))),
    ]
}

fn widened(value: f64) -> u64 {
    if value.is_nan() { 0x7FFF_FFFF } else { u64::from((value as f32).to_bits()) }
}

#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn two_floats_of_16_bits_are_those_of_ieee_754() {
    hold(&arithmetic(F16, "f16x2"), &inputs(&F16_EDGES));
    hold(&comparisons(F16, "f16x2"), &inputs(&F16_EDGES));
    hold(&mixed(), &inputs(&F16_EDGES));
}

#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn two_floats_of_16_bits_are_upper_halves() {
    hold(&arithmetic(BF16, "bf16x2"), &inputs(&BF16_EDGES));
    if is_at_least(90) {
        hold(&comparisons(BF16, "bf16x2"), &inputs(&BF16_EDGES));
    }
    hold(&mixed(), &inputs(&BF16_EDGES));
}

/// Floats of 32 bits near those of 16, as bits, and integers: edges and any bits.
pub(crate) fn numbers() -> Vec<Input> {
    let mut random = Random(3);
    let edges: Vec<u32> = F16_EDGES.map(|it| (F16.value(it) as f32).to_bits()).into();
    let integers =
        [0, 1, 2047, 2049, 4097, 65504, 65519, 65520, 65536, 0x7FFF_FFFF, 0x8000_0000, !0];
    let mut word = || {
        let (choice, any) = (random.next(), random.next());
        match choice % 6 {
            0 => edges[(any % 24) as usize],
            1 => edges[(any % 24) as usize].wrapping_add(any >> 16 & 0x2001).wrapping_sub(1),
            2 => (any & 0x0007_FFFF) + 0x3300_0000 + (any >> 20 & 0x7F) * 0x0020_0000,
            3 => u32::from(BF16_EDGES[(any % 24) as usize]) << 16 | (any >> 31) << 15,
            4 => integers[(any % 12) as usize],
            _ => any,
        }
    };
    let long = |word: u32, other: u32| match other % 4 {
        0 => u64::from(word) << 32 | u64::from(other),
        1 => f64::from(f32::from_bits(word)).to_bits(),
        2 => f64::from(f32::from_bits(word)).to_bits().wrapping_add(u64::from(other >> 31)),
        _ => u64::from(word),
    };
    (0..LAUNCHES * THREADS)
        .map(|_| {
            let words = [word(), word(), word(), 0];
            Input { words, long: long(words[0], words[1]), more: 0 }
        })
        .collect()
}

fn narrowed(format: Format, value: f64, direction: Option<Direction>) -> u64 {
    u64::from(if value.is_finite() {
        format.round(Exact::number(value), value.is_sign_negative(), direction)
    } else {
        format.result(value, || Exact::integer(0))
    })
}

const DIRECTIONS: [(&str, Option<Direction>); 4] = [
    ("rn", None),
    ("rz", Some(Direction::Zero)),
    ("rm", Some(Direction::Down)),
    ("rp", Some(Direction::Up)),
];

fn word_as_f64(input: &Input, at: usize) -> f64 {
    f64::from(f32::from_bits(input.words[at]))
}

/// Floats and integers to halves.
fn to_halves(format: Format, ty: &'static str) -> Vec<Case> {
    let is_f16 = ty == "f16";
    let mut cases = Vec::new();
    for (name, direction) in DIRECTIONS {
        let to = |from: &str, register: &str| {
            format!("cvt.{name}.{ty}.{from} %rs9, {register};\nmov.b32 %r9, {{%rs9, 0}};")
        };
        if is_f16 || is_at_least(90) || matches!(name, "rn" | "rz") {
            cases.push(case(to("f32", "%r1"), move |it| {
                narrowed(format, word_as_f64(it, 0), direction)
            }));
        }
        if matches!(name, "rn" | "rz") {
            cases.push(case(format!("cvt.{name}.{ty}x2.f32 %r9, %r1, %r2;"), move |it| {
                let [high, low] = [0, 1].map(|at| narrowed(format, word_as_f64(it, at), direction));
                high << 16 | low
            }));
        }
        if !is_f16 && !is_at_least(90) {
            continue;
        }
        cases.push(case(to("f64", "%rd3"), move |it| {
            narrowed(format, f64::from_bits(it.long), direction)
        }));
        let integer =
            move |value: i128| u64::from(format.round(Exact::integer(value), false, direction));
        cases.extend([
            case(to("s32", "%r1"), move |it| integer(i128::from(it.words[0] as i32))),
            case(to("u32", "%r1"), move |it| integer(i128::from(it.words[0]))),
            case(to("s16", "%rs1"), move |it| integer(i128::from(it.words[0] as i16))),
            case(to("u16", "%rs2"), move |it| integer(i128::from(it.words[0] >> 16))),
            case(to("s64", "%rd3"), move |it| integer(i128::from(it.long as i64))),
            case(to("u64", "%rd3"), move |it| integer(i128::from(it.long))),
        ]);
    }
    cases
}

const WAYS: [&str; 4] = ["rni", "rzi", "rmi", "rpi"];

fn whole(value: f64, way: &str) -> f64 {
    match way {
        "rni" => value.round_ties_even(),
        "rzi" => value.trunc(),
        "rmi" => value.floor(),
        _ => value.ceil(),
    }
}

/// Bits of an integer type: what is too large is the largest. A NaN is 0, but the lowest number of
/// 64 bits, and of all that a float of 64 bits becomes.
fn integer_bits(value: f64, ty: &str, is_long: bool) -> u64 {
    let bits: u32 = ty[1..].parse().expect("a width");
    if value.is_nan() {
        return if is_long || bits == 64 { 1 << (bits - 1) } else { 0 };
    }
    match ty {
        "s16" => u64::from(value as i16 as u16),
        "u16" => u64::from(value as u16),
        "s32" => u64::from(value as i32 as u32),
        "u32" => u64::from(value as u32),
        "s64" => value as i64 as u64,
        _ => value as u64,
    }
}

/// Halves and floats to integers.
fn to_integers() -> Vec<Case> {
    let mut cases = Vec::new();
    for (way, ty) in
        WAYS.iter().flat_map(|way| ["s16", "u16", "s32", "u32", "s64", "u64"].map(|ty| (*way, ty)))
    {
        let text = |from: &str, register: &str| match &ty[1..] {
            "16" => {
                format!("cvt.{way}.{ty}.{from} %rs9, {register};\nmov.b32 %r9, {{%rs9, 0}};")
            }
            "32" => format!("cvt.{way}.{ty}.{from} %r9, {register};"),
            _ => format!("cvt.{way}.{ty}.{from} %rd9, {register};"),
        };
        let of_half = move |format: Format| {
            move |it: &Input| integer_bits(whole(format.value(it.words[0] as u16), way), ty, false)
        };
        cases.push(case(text("f16", "%rs1"), of_half(F16)));
        if is_at_least(90) {
            cases.push(case(text("bf16", "%rs1"), of_half(BF16)));
        }
        if ty.ends_with("16") {
            cases.push(case(text("f32", "%r2"), move |it| {
                integer_bits(whole(word_as_f64(it, 1), way), ty, false)
            }));
            cases.push(case(text("f64", "%rd3"), move |it| {
                integer_bits(whole(f64::from_bits(it.long), way), ty, true)
            }));
        }
    }
    for way in WAYS {
        let rounded = move |format: Format| {
            move |it: &Input| narrowed(format, whole(format.value(it.words[0] as u16), way), None)
        };
        let text = |ty| format!("cvt.{way}.{ty}.{ty} %rs9, %rs1;\nmov.b32 %r9, {{%rs9, 0}};");
        cases.push(case(text("f16"), rounded(F16)));
        if is_at_least(90) {
            cases.push(case(text("bf16"), rounded(BF16)));
        }
    }
    cases
}

#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn numbers_become_floats_of_16_bits_in_each_direction() {
    hold(&to_halves(F16, "f16"), &numbers());
    hold(&to_halves(BF16, "bf16"), &numbers());
}

#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn floats_of_16_bits_become_integers_in_each_way() {
    hold(&to_integers(), &numbers());
    hold(&to_integers(), &inputs(&F16_EDGES));
}
