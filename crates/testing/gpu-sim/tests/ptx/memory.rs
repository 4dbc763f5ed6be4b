//! Loads, stores and atomics: each form in a kernel of its own.

use super::form::{atomics, loads, stores, types};
use super::host::{Loaded, address, kernel};
use super::ty::{Kind, Type};
use std::fmt::Write as _;

/// Bytes that are moved about, aligned as the widest vectors must be.
#[derive(Clone, Copy)]
#[repr(align(16))]
struct Aligned([u8; 32]);

/// Signs and zeros in every place.
fn pattern() -> [u8; 32] {
    std::array::from_fn(|at| (at as u8).wrapping_mul(0x93) ^ 0x81)
}

/// A load or store of the table.
struct Move {
    mnemonic: String,
    ty: Type,
    count: usize,
}

fn moves(mnemonics: Vec<String>) -> Vec<Move> {
    assert!(mnemonics.len() > 100);
    let moves = mnemonics.into_iter().map(|mnemonic| {
        let count = mnemonic.split_once(".v").and_then(|(_, rest)| rest[..1].parse().ok());
        Move { ty: types(&mnemonic)[0], count: count.unwrap_or(1), mnemonic }
    });
    moves.collect()
}

impl Move {
    /// Bits of the narrowest registers that the value fits.
    fn register_bits(&self) -> u32 {
        self.ty.bits.max(16)
    }

    fn registers(&self) -> Vec<String> {
        let class = match self.register_bits() {
            16 => "rs",
            32 => "r",
            _ => "rd",
        };
        (0..self.count).map(|at| format!("%{class}{}", 5 + at)).collect()
    }

    fn operand(&self) -> String {
        let registers = self.registers().join(", ");
        if self.count == 1 { registers } else { format!("{{{registers}}}") }
    }

    /// Returns the name of its memory: `.local` and `.const` have places of their own.
    fn place(&self) -> &'static str {
        match &*self.mnemonic {
            it if it.contains(".local") => "kept",
            it if it.contains(".const") => "constant",
            it if it.starts_with("ld") => "%rd1",
            _ => "%rd2",
        }
    }
}

/// `.local` memory, filled from `[%rd1]`.
fn variables() -> String {
    let copies = (0..32)
        .step_by(8)
        .map(|at| format!("ld.global.b64 %rd9, [%rd1+{at}];\nst.local.b64 [kept+{at}], %rd9;\n"));
    let copies: String = copies.collect();
    format!(".local .align 16 .b8 kept[32];\n{copies}")
}

#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn loads_read_what_lies_there_and_keep_its_sign() {
    let moves = moves(loads());
    let bytes = pattern().map(|byte| byte.to_string()).join(", ");
    let mut text = format!(".const .align 16 .b8 constant[32] = {{{bytes}}};\n");
    for (number, it) in moves.iter().enumerate() {
        let mut body = variables();
        _ = writeln!(body, "{} {}, [{}+16];", it.mnemonic, it.operand(), it.place());
        for (at, register) in it.registers().iter().enumerate() {
            _ = writeln!(body, "st.global.b{} [%rd2+{}], {register};", it.register_bits(), 8 * at);
        }
        text += &kernel(&format!("move_{number}"), 2, &body);
    }
    let loaded = Loaded::new(&text);
    for (number, it) in moves.iter().enumerate() {
        let mut from = Aligned(pattern());
        let mut to = [0_u64; 4];
        loaded.launch(&format!("move_{number}"), 1, 1, &[address(&mut from.0), address(&mut to)]);
        for (at, found) in to.iter().enumerate().take(it.count) {
            let size = it.ty.bytes() as usize;
            let part = &pattern()[16 + at * size..][..size];
            let negative = it.ty.kind == Kind::Signed && part[size - 1] > 127;
            let filled = (0..8).map(|byte| match byte {
                byte if byte < size => part[byte],
                byte if byte < it.register_bits() as usize / 8 && negative => 255,
                _ => 0,
            });
            let expected =
                u64::from_le_bytes(filled.collect::<Vec<_>>().try_into().expect("8 bytes"));
            assert_eq!(*found, expected, "{} part {at}", it.mnemonic);
        }
    }
}

#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn stores_write_their_bytes_and_no_others() {
    let moves = moves(stores());
    let mut text = String::new();
    for (number, it) in moves.iter().enumerate() {
        let mut body = variables();
        for (at, register) in it.registers().iter().enumerate() {
            _ = writeln!(body, "ld.global.b{} {register}, [%rd1+{}];", it.register_bits(), 8 * at);
        }
        _ = writeln!(body, "{} [{}+16], {};", it.mnemonic, it.place(), it.operand());
        if it.place() == "kept" {
            for at in (0..32).step_by(8) {
                _ = writeln!(
                    body,
                    "ld.local.b64 %rd9, [kept+{at}];\nst.global.b64 [%rd2+{at}], %rd9;"
                );
            }
        }
        text += &kernel(&format!("move_{number}"), 2, &body);
    }
    let loaded = Loaded::new(&text);
    for (number, it) in moves.iter().enumerate() {
        let mut from = Aligned(pattern());
        let mut to = from;
        loaded.launch(&format!("move_{number}"), 1, 1, &[address(&mut from.0), address(&mut to.0)]);
        let (mut expected, size) = (pattern(), it.ty.bytes() as usize);
        for at in 0..it.count {
            expected[16 + at * size..][..size].copy_from_slice(&pattern()[8 * at..][..size]);
        }
        assert_eq!(to.0, expected, "{}", it.mnemonic);
    }
}

/// Old contents and new, of an atomic operation with two operands.
fn atomic(mnemonic: &str, old: u64, a: u64, b: u64) -> u64 {
    let ty = Type::named(mnemonic.rsplit('.').next().expect("a type")).expect("a type");
    let operation = mnemonic.split('.').rev().nth(1).expect("an operation");
    let is_signed = ty.kind == Kind::Signed;
    let number = |bits: u64| match (is_signed, ty.bits) {
        (true, 32) => i128::from(bits as i32),
        (true, _) => i128::from(bits as i64),
        (_, 32) => i128::from(bits as u32),
        _ => i128::from(bits),
    };
    let new = match (operation, ty.kind, ty.bits) {
        ("add", Kind::Float, 32) => {
            let flushed = |value: f32| if value.is_normal() { value } else { value * 0.0 };
            let of = |bits: u64| flushed(f32::from_bits(bits as u32));
            u64::from(flushed(of(old) + of(a)).to_bits())
        }
        ("add", Kind::Float, _) => (f64::from_bits(old) + f64::from_bits(a)).to_bits(),
        ("add", ..) => (number(old) + number(a)) as u64,
        ("min", ..) => number(old).min(number(a)) as u64,
        ("max", ..) => number(old).max(number(a)) as u64,
        ("and", ..) => old & a,
        ("or", ..) => old | a,
        ("xor", ..) => old ^ a,
        ("exch", ..) => a,
        ("cas", ..) => {
            if number(old) == number(a) {
                b
            } else {
                old
            }
        }
        _ => panic!("no rule for {operation}"),
    };
    if ty.bits == 32 { new & 0xFFFF_FFFF } else { new }
}

#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn atomics_give_the_old_value_and_leave_the_new_one() {
    let mnemonics = atomics();
    assert!(mnemonics.len() > 40);
    let mut text = String::new();
    for (number, mnemonic) in mnemonics.iter().enumerate() {
        let (bits, class) = if mnemonic.ends_with("32") { (32, "r") } else { (64, "rd") };
        let more = if mnemonic.contains(".cas.") { format!(", %{class}13") } else { String::new() };
        let body = format!(
            "ld.global.b{bits} %{class}12, [%rd1];\nld.global.b{bits} %{class}13, [%rd1+8];\n\
             {mnemonic} %{class}14, [%rd2+8], %{class}12{more};\nst.global.b{bits} [%rd2], %{class}14;\n"
        );
        text += &kernel(&format!("atomic_{number}"), 2, &body);
    }
    let loaded = Loaded::new(&text);
    let single = |value: f32| u64::from(value.to_bits());
    let values = [
        0,
        1,
        5,
        0x7FFF_FFFF,
        0x8000_0000,
        0xFFFF_FFFF,
        u64::MAX,
        1 << 63,
        single(1.5),
        single(-1e-39),
        3,
        single(1e-38),
        single(-0.9e-38),
        2.5_f64.to_bits(),
        1e-310_f64.to_bits(),
    ];
    for (number, mnemonic) in mnemonics.iter().enumerate() {
        for (old, a) in values.iter().flat_map(|old| values.iter().map(move |a| (*old, *a))) {
            let is_nan = |bits| mnemonic.ends_with("f32") && f32::from_bits(bits as u32).is_nan();
            let (mut operands, mut cell) = ([a, 77], [0, old]);
            loaded.launch(
                &format!("atomic_{number}"),
                1,
                1,
                &[address(&mut operands), address(&mut cell)],
            );
            let mask = if mnemonic.ends_with("32") { 0xFFFF_FFFF } else { u64::MAX };
            assert_eq!(cell[0], old & mask, "{mnemonic}");
            let new = atomic(mnemonic, old, a, 77);
            let both_nan = is_nan(new) && is_nan(cell[1])
                || mnemonic.ends_with("f64") && f64::from_bits(new).is_nan();
            assert!(
                both_nan || cell[1] & mask == new,
                "{mnemonic} of {old:x}, {a:x}: {:x}, not {new:x}",
                cell[1]
            );
        }
    }
}

/// `ptxas` puts `ATOM.E.CAST.SPIN` behind a test for shared memory of a cluster's other blocks, so
/// the listing gets it in place of a compare-and-exchange of a generic address.
#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn an_exchange_that_may_fail_says_whether_it_took_place() {
    for (bits, class, name) in [(32, "r", ""), (64, "rd", ".64")] {
        let body = format!(
            "ld.global.b{bits} %{class}12, [%rd1];\nld.global.b{bits} %{class}13, [%rd1+8];\n\
             atom.cas.b{bits} %{class}14, [%rd2], %{class}12, %{class}13;\n\
             st.global.b{bits} [%rd1], %{class}14;\n"
        );
        let (plain, spin) = (format!(".E.CAS{name}."), format!(".E.CAST.SPIN{name}."));
        let loaded = Loaded::edited(&kernel("only", 2, &body), |listing| {
            assert_eq!(listing.matches(&plain).count(), 1, "{listing}");
            listing.replace(&plain, &spin)
        });
        for (old, expected) in [(5, 5), (5, 6), (5 << 32 | 7, 7)] {
            let (mut operands, mut cell) = ([expected, 77], [old]);
            loaded.launch("only", 1, 1, &[address(&mut operands), address(&mut cell)]);
            let mask = if bits == 32 { 0xFFFF_FFFF } else { u64::MAX };
            let took_place = old & mask == expected;
            assert_eq!(operands[0] & mask, u64::from(took_place), "{bits} {old:x} {expected:x}");
            assert_eq!(cell[0] & mask, if took_place { 77 } else { old & mask });
        }
    }
}

#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn an_address_is_in_one_space_and_a_warp_has_a_number() {
    let spaces = match &*super::machine::arch() {
        "sm_80" => vec!["global", "shared", "local"],
        _ => vec!["global", "shared", "local", "shared::cluster"],
    };
    let mut body = String::from(
        ".local .align 16 .b8 kept[32];\nst.local.b64 [kept], %rd1;\n\
         mov.u64 %rd5, kept;\ncvta.local.u64 %rd5, %rd5;\nmov.u32 %r1, %tid.x;\n\
         mul.wide.u32 %rd6, %r1, 16;\nadd.s64 %rd7, %rd1, %rd6;\nmov.u32 %r2, 0;\n",
    );
    for (bit, (place, space)) in ["%rd1", "%rd5"]
        .iter()
        .flat_map(|it| spaces.iter().map(move |space| (it, space)))
        .enumerate()
    {
        _ = writeln!(
            body,
            "isspacep.{space} %p1, {place};\nselp.u32 %r3, {}, 0, %p1;\nor.b32 %r2, %r2, %r3;",
            1 << bit
        );
    }
    body += "ld.local.b64 %rd8, [kept];\nmov.u32 %r4, %warpid;\nst.global.u32 [%rd7], %r2;\n\
             st.global.u32 [%rd7+4], %r4;\nst.global.u64 [%rd7+8], %rd8;\n";
    let loaded = Loaded::new(&kernel("only", 1, &body));
    let mut found = [[0_u64; 2]; 70];
    let first = address(&mut found);
    loaded.launch("only", 1, 70, &[first]);
    let (global, local) = (1, 1 << (spaces.len() + 2));
    for (thread, [words, kept]) in found.into_iter().enumerate() {
        assert_eq!(words, global | local | (thread as u64 / 32) << 32, "thread {thread}");
        assert_eq!(kept, first);
    }
}
