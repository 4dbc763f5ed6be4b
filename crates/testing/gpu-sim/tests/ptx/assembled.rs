//! Kernels for which `ptxas` uses forms that those of `value` and `control` don't reach.

use super::host::{Loaded, address, kernel};

/// Words that sums and quotients are made of.
const WORDS: [u64; 12] = [
    0,
    1,
    7,
    8,
    0x7FFF_FFFF,
    0x8000_0000,
    0xFFFF_FFFF,
    0xFFFF_FFF9,
    1 << 32,
    0x1234_5678_9ABC_DEF0,
    1 << 63,
    u64::MAX,
];

#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn shifted_words_are_added_in_all_64_bits() {
    let body = "ld.global.u64 %rd3, [%rd1];\nld.global.u64 %rd4, [%rd1+8];\nld.global.u32 %r1, [%rd1];\n\
        shl.b64 %rd5, %rd3, 3;\nadd.s64 %rd6, %rd5, %rd4;\nst.global.u64 [%rd2], %rd6;\n\
        cvt.s64.s32 %rd7, %r1;\nshl.b64 %rd8, %rd7, 5;\nadd.s64 %rd9, %rd8, %rd4;\nst.global.u64 [%rd2+8], %rd9;\n\
        shr.u64 %rd10, %rd3, 43;\nadd.s64 %rd11, %rd10, %rd4;\nst.global.u64 [%rd2+16], %rd11;\n\
        add.s64 %rd12, %rd1, %rd7;\nst.global.u64 [%rd2+24], %rd12;\n\
        mul.hi.s32 %r2, %r1, 0x92492493;\nadd.s32 %r2, %r2, %r1;\nshr.u32 %r3, %r2, 31;\nshr.s32 %r4, %r2, 2;\n\
        add.s32 %r5, %r4, %r3;\ncvt.u64.u32 %rd13, %r5;\nst.global.u64 [%rd2+32], %rd13;\n";
    let loaded = Loaded::new(&kernel("only", 2, body));
    for (a, b) in WORDS.iter().flat_map(|a| WORDS.iter().map(move |b| (*a, *b))) {
        let (mut from, mut to) = ([a, b], [0; 5]);
        loaded.launch("only", 1, 1, &[address(&mut from), address(&mut to)]);
        let extended = i64::from(a as u32 as i32) as u64;
        let sum = |shifted: u64| shifted.wrapping_add(b);
        let place = address(&mut from).wrapping_add(extended);
        let seventh = u64::from((a as u32 as i32 / 7) as u32);
        let expected = [sum(a << 3), sum(extended << 5), sum(a >> 43), place, seventh];
        assert_eq!(to, expected, "{a:x}, {b:x}");
    }
}

#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn quotients_by_a_constant_are_rounded_to_zero() {
    let divisors = [2, 3, 5, 7, 8, 10, 25, 64, 1000];
    let mut body = String::from("ld.global.u32 %r1, [%rd1];\n");
    for (at, divisor) in divisors.iter().enumerate() {
        body += &format!(
            "div.s32 %r2, %r1, {divisor};\nst.global.u32 [%rd2+{}], %r2;\n\
             div.u32 %r3, %r1, {divisor};\nst.global.u32 [%rd2+{}], %r3;\n",
            8 * at,
            8 * at + 4
        );
    }
    let loaded = Loaded::new(&kernel("only", 2, &body));
    for word in WORDS.map(|word| word as u32).into_iter().chain((0..40).map(|at| at * 0x0654_3217))
    {
        let (mut from, mut to) = ([u64::from(word)], [0_u64; 9]);
        loaded.launch("only", 1, 1, &[address(&mut from), address(&mut to)]);
        let quotients = divisors.map(|by: i32| {
            let signed = (word as i32 / by) as u32;
            u64::from(signed) | u64::from(word / by as u32) << 32
        });
        assert_eq!(to, quotients, "{word:x}");
    }
}

/// Threads change one word each, then all of them one word, whose old value nobody looks at.
#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn atomics_whose_old_value_is_open_change_their_word() {
    let body = "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd3, %r1, 8;\nadd.s64 %rd4, %rd1, %rd3;\n\
        ld.global.u32 %r2, [%rd4];\nmov.b32 %r3, 0f3FC00000;\natom.global.add.f32 %r4, [%rd4], %r3;\n\
        st.global.u32 [%rd4+4], %r4;\natom.global.cas.b32 %r5, [%rd4], %r2, 99;\n\
        atom.global.cas.b32 %r6, [%rd4+4], %r2, 77;\nadd.s32 %r6, %r6, %r5;\n\
        cvt.u64.u32 %rd5, %r1;\nadd.s64 %rd5, %rd5, 1;\natom.global.cas.b64 %rd6, [%rd2], 0, %rd5;\n\
        atom.global.add.f32 %r7, [%rd2+8], %r3;\natom.global.add.u32 %r8, [%rd2+12], 3;\n\
        mov.b64 %rd7, 0d4000000000000000;\natom.global.add.f64 %rd8, [%rd2+16], %rd7;\n\
        atom.global.add.u64 %rd9, [%rd2+24], 5;\natom.global.or.b32 %r9, [%rd2+32], %r1;\n\
        atom.global.max.s32 %r10, [%rd2+36], %r1;\n";
    let loaded = Loaded::new(&kernel("only", 2, body));
    let mut own: [u64; 4] = std::array::from_fn(|at| u64::from((at as f32).to_bits()));
    let mut shared = [0, 0, 0, 0, 0xFFFF_FFFF_0000_0000];
    loaded.launch("only", 1, 4, &[address(&mut own), address(&mut shared)]);
    for (at, word) in own.into_iter().enumerate() {
        assert_eq!((f32::from_bits(word as u32), (word >> 32) as u32), (at as f32 + 1.5, 77));
    }
    assert!((1..=4).contains(&shared[0]), "{shared:?}");
    assert_eq!((f32::from_bits(shared[1] as u32), shared[1] >> 32), (6.0, 12));
    assert_eq!((f64::from_bits(shared[2]), shared[3]), (8.0, 20));
    assert_eq!(shared[4], 3 << 32 | 3);
}

#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn each_bit_of_a_word_guards_its_own_sum() {
    let mut body = String::from("ld.global.u32 %r1, [%rd1];\nmov.u64 %rd2, 0;\n");
    for bit in 0..7 {
        body += &format!("and.b32 %r2, %r1, {};\nsetp.ne.s32 %p{bit}, %r2, 0;\n", 1 << bit);
    }
    for bit in 0..7 {
        body += &format!("@%p{bit} ld.global.u64 %rd3, [%rd1+{}];\n", 8 * (bit + 1));
        body += &format!("@%p{bit} add.s64 %rd2, %rd2, %rd3;\n");
    }
    body += "st.global.u64 [%rd1], %rd2;\n";
    let loaded = Loaded::new(&kernel("only", 1, &body));
    for bits in 0..128_u64 {
        let mut words: [u64; 8] = std::array::from_fn(|at| 10_u64.pow(at as u32));
        words[0] = bits;
        loaded.launch("only", 1, 1, &[address(&mut words)]);
        let sums = (0..7).filter(|bit| bits >> bit & 1 == 1).map(|bit| 10_u64.pow(bit + 1));
        assert_eq!(words[0], sums.sum());
    }
}

/// Bits of a word's two lowest bytes say which words are written.
#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn each_bit_of_a_word_guards_its_own_store() {
    let mut body = String::from("ld.global.u32 %r1, [%rd1];\n");
    for byte in 0..2 {
        for bit in 0..7 {
            body += &format!("and.b32 %r2, %r1, {};\n", 1 << (8 * byte + bit));
            body += &format!("setp.ne.s32 %p{bit}, %r2, 0;\n");
        }
        for bit in 0..7 {
            body += &format!("@%p{bit} st.global.u64 [%rd2+{}], 1;\n", 8 * (8 * byte + bit));
        }
    }
    let loaded = Loaded::new(&kernel("only", 2, &body));
    for word in (0..1 << 15).step_by(37) {
        let (mut from, mut to) = ([word], [0; 16]);
        loaded.launch("only", 1, 1, &[address(&mut from), address(&mut to)]);
        let is_set = |bit: usize| u64::from(bit % 8 != 7) & word >> bit;
        assert_eq!(to, std::array::from_fn(|bit| is_set(bit) & 1), "{word:x}");
    }
}

#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn words_with_a_sign_are_added_in_64_bits() {
    let body = "ld.global.u32 %r1, [%rd1];\nld.global.u32 %r2, [%rd1+4];\ncvt.s64.s32 %rd3, %r1;\n\
        cvt.s64.s32 %rd4, %r2;\nadd.s64 %rd5, %rd3, %rd4;\nst.global.u64 [%rd1], %rd5;\n";
    let loaded = Loaded::new(&kernel("only", 1, body));
    let words = WORDS.map(|word| word as u32);
    for (a, b) in words.iter().flat_map(|a| words.iter().map(move |b| (*a, *b))) {
        let mut sum = [u64::from(a) | u64::from(b) << 32];
        loaded.launch("only", 1, 1, &[address(&mut sum)]);
        assert_eq!(sum[0] as i64, i64::from(a as i32) + i64::from(b as i32), "{a:x}, {b:x}");
    }
}

/// The number of rounds is a parameter, equal for all threads; a thread leaves both loops at once
/// where its own word is the sum so far.
#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn loops_end_for_all_or_for_one() {
    let body = "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd3, %r1, 8;\nadd.s64 %rd3, %rd1, %rd3;\n\
        ld.global.u64 %rd4, [%rd3];\nmov.u64 %rd5, 0;\nmov.u64 %rd6, 0;\n\
        $L_outer:\nmov.u64 %rd7, 0;\n$L_inner:\nadd.s64 %rd5, %rd5, %rd7;\nsetp.eq.s64 %p1, %rd5, %rd4;\n\
        @%p1 bra $L_found;\nadd.s64 %rd7, %rd7, 1;\nsetp.lt.u64 %p2, %rd7, %rd2;\n@%p2 bra $L_inner;\n\
        st.global.u64 [%rd3], %rd5;\nadd.s64 %rd6, %rd6, 1;\nsetp.lt.u64 %p3, %rd6, %rd2;\n@%p3 bra $L_outer;\n\
        bra.uni $L_end;\n$L_found:\nadd.s64 %rd8, %rd6, 1000;\nst.global.u64 [%rd3], %rd8;\n$L_end:\n";
    let loaded = Loaded::new(&kernel("only", 2, body));
    for rounds in 1..6_u64 {
        let mut words: [u64; 40] = std::array::from_fn(|at| at as u64 * 3 / 2);
        let expected = words.map(|own| {
            let mut sum = 0;
            let steps = (0..rounds).flat_map(|round| (0..rounds).map(move |add| (round, add)));
            for (round, add) in steps {
                sum += add;
                if sum == own {
                    return 1000 + round;
                }
            }
            sum
        });
        loaded.launch("only", 1, 40, &[address(&mut words), rounds]);
        assert_eq!(words, expected);
    }
}

#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn a_parameter_says_how_often_all_threads_go_round() {
    let body = "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd3, %r1, 8;\nadd.s64 %rd3, %rd1, %rd3;\n\
        ld.global.u64 %rd4, [%rd3];\ncvt.u32.u64 %r2, %rd2;\nmov.u32 %r3, 0;\nsetp.eq.s32 %p1, %r2, 0;\n\
        @%p1 bra $L_end;\n$L_again:\nmul.lo.s64 %rd4, %rd4, 31;\nst.global.u64 [%rd3], %rd4;\n\
        and.b32 %r4, %r2, 1;\nsetp.eq.s32 %p2, %r4, 0;\n@%p2 bra $L_even;\nld.global.u64 %rd5, [%rd3+8];\n\
        xor.b64 %rd4, %rd4, %rd5;\nst.global.u64 [%rd3+8], %rd4;\n$L_even:\nadd.s32 %r3, %r3, 1;\n\
        setp.lt.u32 %p3, %r3, %r2;\n@%p3 bra $L_again;\n$L_end:\nst.global.u64 [%rd3], %rd4;\n";
    let loaded = Loaded::new(&kernel("only", 2, body));
    for rounds in 0..9_u64 {
        let mut words = [3_u64, 5];
        let [mut own, mut next] = words;
        for _ in 0..rounds {
            own *= 31;
            if rounds % 2 == 1 {
                own ^= next;
                next = own;
            }
        }
        loaded.launch("only", 1, 1, &[address(&mut words), rounds]);
        assert_eq!(words, [own, next]);
    }
}
