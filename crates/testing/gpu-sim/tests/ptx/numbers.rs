//! Floats of 32 and 64 bits and integers: forms of machine code that PTX has in other ways.

use super::host::{Loaded, address, kernel};
use super::packed::{COMPARISONS, Case, Input, case, hold, holds, numbers};

fn float(word: u32) -> f32 {
    f32::from_bits(word)
}

/// The least of two, or the greatest, by the document: of zeros the negative one is less.
fn least(a: f32, b: f32, is_least: bool, keeps_nan: bool) -> u32 {
    let value = match (a.is_nan(), b.is_nan()) {
        (true, true) => return 0x7FFF_FFFF,
        (true, false) | (false, true) if keeps_nan => return 0x7FFF_FFFF,
        (true, false) => b,
        (false, true) => a,
        _ if a == b => {
            if a.is_sign_negative() == is_least {
                a
            } else {
                b
            }
        }
        _ => {
            if (a < b) == is_least {
                a
            } else {
                b
            }
        }
    };
    value.to_bits()
}

fn saturated(value: f32) -> u64 {
    u64::from(if value > 0.0 { value.min(1.0) } else { 0.0 }.to_bits())
}

fn extremes() -> Vec<Case> {
    let of = |is_least: bool, keeps_nan: bool| {
        let name = if is_least { "min" } else { "max" };
        let nan = if keeps_nan { ".NaN" } else { "" };
        let both = move |a: u32, b: u32| least(float(a), float(b), is_least, keeps_nan);
        [
            case(format!("{name}{nan}.f32 %r9, %r1, %r2;"), move |it| {
                u64::from(both(it.words[0], it.words[1]))
            }),
            case(
                format!("{name}{nan}.f32 %r9, %r1, %r2;\n{name}{nan}.f32 %r9, %r9, %r3;"),
                move |it| u64::from(both(both(it.words[0], it.words[1]), it.words[2])),
            ),
        ]
    };
    let choices = [(true, false), (true, true), (false, false), (false, true)];
    choices.into_iter().flat_map(|(is_least, keeps_nan)| of(is_least, keeps_nan)).collect()
}

/// Comparisons that give 1.0 or 0.0.
fn ones() -> Vec<Case> {
    let of = |name: &'static str| {
        let test = move |a: u32, b: u32| holds(name, f64::from(float(a)), f64::from(float(b)));
        let one = move |holds: bool| if holds { 0x3F80_0000_u64 } else { 0 };
        [
            case(format!("set.{name}.f32.f32 %r9, %r1, %r2;"), move |it| {
                one(test(it.words[0], it.words[1]))
            }),
            case(
                format!("setp.ne.u32 %p1, %r3, 0;\nset.{name}.and.f32.f32 %r9, %r1, %r2, %p1;"),
                move |it| one(test(it.words[0], it.words[1]) && it.words[2] != 0),
            ),
            case(
                format!("setp.ne.u32 %p1, %r3, 0;\nset.{name}.xor.f32.f32 %r9, %r1, %r2, %p1;"),
                move |it| one(test(it.words[0], it.words[1]) != (it.words[2] != 0)),
            ),
        ]
    };
    COMPARISONS.iter().flat_map(|name| of(name)).collect()
}

fn saturations() -> Vec<Case> {
    let mut cases = vec![
        case("add.sat.f32 %r9, %r1, %r2;", |it| saturated(float(it.words[0]) + float(it.words[1]))),
        case("mul.sat.f32 %r9, %r1, %r2;", |it| saturated(float(it.words[0]) * float(it.words[1]))),
        case("fma.rn.sat.f32 %r9, %r1, %r2, %r3;", |it| {
            saturated(float(it.words[0]).mul_add(float(it.words[1]), float(it.words[2])))
        }),
    ];
    let limits = [("s8", -128, 127), ("u8", 0, 255), ("s16", -0x8000, 0x7FFF), ("u16", 0, 0xFFFF)];
    cases.extend(limits.map(|(ty, least, most)| {
        let text = format!("cvt.sat.{ty}.s32 %r8, %r1;\ncvt.s32.{ty} %r9, %r8;");
        case(text, move |it| u64::from((it.words[0] as i32).clamp(least, most) as u32))
    }));
    cases
}

/// Integers as floats of 64 bits, in each direction.
fn doubles() -> Vec<Case> {
    let rounded = |value: i128, way: &str| {
        let near = value as f64;
        let over = near as i128 - value;
        let is_far = over.signum() == value.signum();
        let step = match way {
            "rm" => over > 0,
            "rp" => over < 0,
            "rz" => over != 0 && is_far,
            _ => false,
        };
        match (step, over > 0) {
            (false, _) => near,
            (true, true) => near.next_down(),
            (true, false) => near.next_up(),
        }
        .to_bits()
    };
    let of = move |way: &'static str| {
        [
            case(format!("cvt.{way}.f64.s64 %rd9, %rd3;"), move |it| {
                rounded(i128::from(it.long as i64), way)
            }),
            case(format!("cvt.{way}.f64.u64 %rd9, %rd3;"), move |it| {
                rounded(i128::from(it.long), way)
            }),
            case(format!("cvt.{way}.f64.s32 %rd9, %r1;"), move |it| {
                rounded(i128::from(it.words[0] as i32), way)
            }),
            case(format!("cvt.{way}.f64.u16 %rd9, %rs2;"), move |it| {
                rounded(i128::from(it.words[0] >> 16), way)
            }),
        ]
    };
    ["rn", "rz", "rm", "rp"].into_iter().flat_map(of).collect()
}

/// Distances, and products of bytes and halves, each with a summand.
fn sums() -> Vec<Case> {
    let byte = |word: u32, at: u32, is_signed: bool| match (word >> (8 * at)) as u8 {
        byte if is_signed => i64::from(byte as i8),
        byte => i64::from(byte),
    };
    let half = |word: u32, at: u32, is_signed: bool| match (word >> (16 * at)) as u16 {
        half if is_signed => i64::from(half as i16),
        half => i64::from(half),
    };
    let words = |it: &Input| [it.words[0], it.words[1], it.words[2]];
    let mut cases = vec![
        case("sad.u32 %r9, %r1, %r2, %r3;", move |it| {
            let [a, b, c] = words(it);
            u64::from(a.abs_diff(b).wrapping_add(c))
        }),
        case("sad.s32 %r9, %r1, %r2, %r3;", move |it| {
            let [a, b, c] = words(it);
            u64::from((a as i32).abs_diff(b as i32).wrapping_add(c))
        }),
    ];
    for (one, other) in [(false, false), (false, true), (true, false), (true, true)] {
        let [a, b] = [one, other].map(|is_signed| if is_signed { "s32" } else { "u32" });
        cases.push(case(format!("dp4a.{a}.{b} %r9, %r1, %r2, %r3;"), move |it| {
            let [a, b, c] = words(it);
            let sum: i64 = (0..4).map(|at| byte(a, at, one) * byte(b, at, other)).sum();
            u64::from(c.wrapping_add(sum as u32))
        }));
        for (place, first) in [("lo", 0), ("hi", 2)] {
            cases.push(case(format!("dp2a.{place}.{a}.{b} %r9, %r1, %r2, %r3;"), move |it| {
                let [a, b, c] = words(it);
                let sum: i64 = (0..2).map(|at| half(a, at, one) * byte(b, first + at, other)).sum();
                u64::from(c.wrapping_add(sum as u32))
            }));
        }
    }
    cases
}

#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn distances_and_products_of_parts_are_added() {
    hold(&sums(), &numbers());
}

#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn least_and_greatest_keep_a_nan_or_give_way() {
    hold(&extremes(), &numbers());
}

#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn comparisons_give_numbers() {
    hold(&ones(), &numbers());
}

#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn results_stay_in_their_limits() {
    hold(&saturations(), &numbers());
}

#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn integers_become_floats_of_64_bits_in_each_direction() {
    hold(&doubles(), &numbers());
}

/// Words of each width go to a lane's own memory at places that only the run tells, and come back.
#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn narrow_words_lie_in_local_memory() {
    for ty in ["u8", "s8", "u16", "s16", "u32", "u64"] {
        let (size, is_long) = (ty[1..].parse::<u64>().expect("a width") / 8, ty == "u64");
        let (class, wide) = if is_long { ("rd", 6) } else { ("r", 6) };
        let body = format!(
            ".local .align 8 .b8 own[128];\nmov.u64 %rd3, own;\nmov.u32 %r1, %tid.x;\n\
             mul.wide.u32 %rd4, %r1, 8;\nadd.s64 %rd1, %rd1, %rd4;\nadd.s64 %rd2, %rd2, %rd4;\n\
             ld.global.{ty} %{class}{wide}, [%rd1];\nld.global.u32 %r2, [%rd1+4];\nand.b32 %r2, %r2, 15;\n\
             mul.wide.u32 %rd5, %r2, {size};\nadd.s64 %rd5, %rd3, %rd5;\n\
             st.local.{ty} [%rd3], 0;\nst.local.{ty} [%rd5], %{class}{wide};\n\
             xor.b32 %r3, %r2, 1;\nmul.wide.u32 %rd7, %r3, {size};\nadd.s64 %rd7, %rd3, %rd7;\n\
             st.local.{ty} [%rd7], 7;\nld.local.{ty} %{class}8, [%rd5];\nld.local.{ty} %{class}9, [%rd7];\n\
             add.{} %{class}8, %{class}8, %{class}9;\nst.global.{} [%rd2], %{class}8;\n",
            if is_long { "s64" } else { "s32" },
            if is_long { "u64" } else { "u32" },
        );
        let loaded = Loaded::new(&kernel("only", 2, &body));
        let mut from: [u64; 32] =
            std::array::from_fn(|at| (at as u64 + 3).wrapping_mul(0x9E37_79B9_85EB_CA6B));
        let words = from;
        let mut to = [0_u64; 32];
        loaded.launch("only", 1, 32, &[address(&mut from), address(&mut to)]);
        let expected = words.map(|word| match ty {
            "u8" => u64::from(word as u8) + 7,
            "s8" => u64::from((word as i8 as i32 + 7) as u32),
            "u16" => u64::from(word as u16) + 7,
            "s16" => u64::from((word as i16 as i32 + 7) as u32),
            "u32" => u64::from((word as u32).wrapping_add(7)),
            _ => word.wrapping_add(7),
        });
        assert_eq!(to, expected, "{ty}");
    }
}
