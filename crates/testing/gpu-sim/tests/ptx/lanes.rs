//! Exchanges among lanes, and waiting for them: only machine code has lanes that run together.

use super::host::{Loaded, address, kernel};

/// Threads of a launch.
const LANES: usize = 32;

/// Runs lines that make `%r9` of `%r1` (a word of each thread), `%r2` (another) and `%r3`, the
/// thread's number, and compares with a rule that sees all words.
fn hold(lines: &str, rule: impl Fn(&[u32; LANES], &[u32; LANES], usize) -> u32) {
    let body = format!(
        "mov.u32 %r3, %tid.x;\nmul.wide.u32 %rd3, %r3, 8;\nadd.s64 %rd1, %rd1, %rd3;\n\
         add.s64 %rd2, %rd2, %rd3;\nld.global.u32 %r1, [%rd1];\nld.global.u32 %r2, [%rd1+4];\n\
         {lines}\nst.global.u32 [%rd2], %r9;\n"
    );
    let loaded = Loaded::new(&kernel("only", 2, &body));
    for seed in 0..8_u32 {
        let number =
            |at: usize, by: u32| (at as u32 + 1).wrapping_mul(by).rotate_left(seed * 3) >> 7;
        let first: [u32; LANES] =
            std::array::from_fn(|at| number(at, 0x9E37_79B9) % (2 + 5 * seed));
        let second: [u32; LANES] = std::array::from_fn(|at| number(at, 0x85EB_CA6B));
        let mut from: [u64; LANES] =
            std::array::from_fn(|at| u64::from(first[at]) | u64::from(second[at]) << 32);
        let mut to = [0_u64; LANES];
        loaded.launch("only", 1, LANES as u32, &[address(&mut from), address(&mut to)]);
        let expected = std::array::from_fn(|at| u64::from(rule(&first, &second, at)));
        assert_eq!(to, expected, "{lines}: {first:?}, {second:?}");
    }
}

#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn lanes_get_the_words_of_others() {
    for width in [32, 16, 8, 2_usize] {
        let segments = (32 - width as u32) << 8;
        let bounds = segments | 0x1F;
        let first = |lane: usize| lane / width * width;
        hold(&format!("shfl.sync.idx.b32 %r9, %r1, %r2, {bounds}, -1;"), |a, b, lane| {
            a[first(lane) + b[lane] as usize % width]
        });
        hold(&format!("shfl.sync.up.b32 %r9, %r1, 3, {segments}, -1;"), |a, _, lane| {
            a[if lane >= first(lane) + 3 { lane - 3 } else { lane }]
        });
        hold(
            &format!(
                "and.b32 %r2, %r2, 31;\nshfl.sync.down.b32 %r9|%p1, %r1, %r2, {bounds}, -1;\n\
             selp.b32 %r8, 1000, 0, %p1;\nadd.s32 %r9, %r9, %r8;"
            ),
            |a, b, lane| {
                let from = lane + b[lane] as usize % 32;
                if from < first(lane) + width { a[from] + 1000 } else { a[lane] }
            },
        );
        hold(&format!("shfl.sync.bfly.b32 %r9, %r1, 5, {bounds}, -1;"), |a, _, lane| {
            a[if (lane ^ 5) < first(lane) + width { lane ^ 5 } else { lane }]
        });
    }
}

#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn lanes_count_votes_and_their_likes() {
    let lanes_of = |test: &dyn Fn(usize) -> bool| {
        (0..LANES).fold(0, |all, lane| all | u32::from(test(lane)) << lane)
    };
    let test = "setp.gt.u32 %p1, %r1, 3;\n";
    hold(&format!("{test}vote.sync.ballot.b32 %r9, %p1, -1;"), |a, _, _| lanes_of(&|it| a[it] > 3));
    hold(
        &format!("{test}vote.sync.any.pred %p2, %p1, -1;\nselp.b32 %r9, 5, 7, %p2;"),
        |a, _, _| {
            if a.iter().any(|it| *it > 3) { 5 } else { 7 }
        },
    );
    hold(
        &format!("{test}vote.sync.all.pred %p2, %p1, -1;\nselp.b32 %r9, 5, 7, %p2;"),
        |a, _, _| {
            if a.iter().all(|it| *it > 3) { 5 } else { 7 }
        },
    );
    hold("match.any.sync.b32 %r9, %r1, -1;", |a, _, lane| lanes_of(&|it| a[it] == a[lane]));
    hold(
        "cvt.u64.u32 %rd4, %r1;\nshl.b64 %rd4, %rd4, 33;\nmatch.any.sync.b64 %r9, %rd4, -1;",
        |a, _, lane| lanes_of(&|it| a[it] == a[lane]),
    );
    hold(
        "shr.u32 %r1, %r1, 1;\nmatch.all.sync.b32 %r9|%p1, %r1, -1;\nselp.b32 %r8, 1, 0, %p1;\n\
         xor.b32 %r9, %r9, %r8;",
        |a, _, _| {
            if a.iter().all(|it| it / 2 == a[0] / 2) { !1 } else { 0 }
        },
    );
    hold("redux.sync.add.s32 %r9, %r1, -1;", |a, _, _| a.iter().sum());
}

/// Lanes leave a loop one by one; all of them meet in each round, and what one wrote before, the
/// others read behind it.
#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn all_lanes_meet_in_each_round() {
    let lines = "mov.u32 %r9, 0;\nmov.u32 %r4, 0;\nand.b32 %r8, %r3, 3;\n$L_again:\nsetp.gt.u32 %p1, %r8, %r4;\n\
        @%p1 bra $L_skip;\nmul.lo.s32 %r1, %r1, 3;\nadd.s32 %r1, %r1, 1;\nst.global.u32 [%rd1], %r1;\n\
        $L_skip:\nbar.warp.sync -1;\nxor.b32 %r5, %r3, 1;\nsub.s32 %r5, %r5, %r3;\nmul.wide.s32 %rd4, %r5, 8;\n\
        add.s64 %rd4, %rd1, %rd4;\nld.global.u32 %r6, [%rd4];\nadd.s32 %r9, %r9, %r6;\nbar.warp.sync -1;\n\
        add.s32 %r4, %r4, 1;\nsetp.lt.u32 %p2, %r4, 5;\n@%p2 bra $L_again;";
    hold(lines, |a, _, lane| {
        let other = lane ^ 1;
        let mut word = a[other];
        (0..5).fold(0_u32, |sum, round| {
            if other as u32 & 3 <= round {
                word = word.wrapping_mul(3).wrapping_add(1);
            }
            sum.wrapping_add(word)
        })
    });
    // All lanes are asked in a loop that each leaves by itself.
    let lines = "mov.u32 %r9, 0;\n$L_again:\nsetp.gt.u32 %p1, %r1, %r9;\nvote.sync.any.pred %p2, %p1, -1;\n\
        @!%p2 bra $L_end;\n@%p1 add.s32 %r9, %r9, 1;\nbra.uni $L_again;\n$L_end:";
    hold(lines, |a, _, lane| a[lane]);
}

/// A round has two ways, and the assembler can't know that all lanes go as many rounds.
#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn lanes_of_both_ways_meet_before_they_exchange() {
    let lines = "mul.hi.u32 %r4, %r3, 0x04000000;\nadd.s32 %r4, %r4, 4;\nmov.u32 %r9, %r1;\n\
        $L_again:\nand.b32 %r5, %r9, 1;\nsetp.eq.u32 %p1, %r5, 1;\n@%p1 bra $L_odd;\nshr.u32 %r9, %r9, 1;\n\
        st.global.u32 [%rd2], %r9;\nbra.uni $L_met;\n$L_odd:\nmul.lo.s32 %r9, %r9, 3;\nadd.s32 %r9, %r9, %r2;\n\
        st.global.u32 [%rd2+4], %r9;\nadd.s32 %r9, %r9, 1;\n$L_met:\n\
        shfl.sync.bfly.b32 %r6, %r9, 1, 31, -1;\nadd.s32 %r9, %r9, %r6;\nadd.s32 %r4, %r4, -1;\n\
        setp.ne.s32 %p2, %r4, 0;\n@%p2 bra $L_again;\nst.global.u32 [%rd2+4], 0;";
    hold(lines, |a, b, lane| {
        let pair = [lane, lane ^ 1];
        let mut words = pair.map(|it| a[it]);
        for _ in 0..4 {
            words = [0, 1].map(|at| match words[at] % 2 {
                0 => words[at] / 2,
                _ => words[at].wrapping_mul(3).wrapping_add(b[pair[at]]).wrapping_add(1),
            });
            words = [words[0].wrapping_add(words[1]); 2];
        }
        words[0]
    });
}

#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn counters_come_round_at_their_limit() {
    let body = "mov.u32 %r3, %tid.x;\natom.global.inc.u32 %r4, [%rd1], 6;\natom.global.dec.u32 %r5, [%rd1+4], 4;\n\
        mul.wide.u32 %rd3, %r3, 8;\nadd.s64 %rd2, %rd2, %rd3;\nst.global.u32 [%rd2], %r4;\nst.global.u32 [%rd2+4], %r5;\n";
    let loaded = Loaded::new(&kernel("only", 2, body));
    let (mut counters, mut to) = ([0_u64], [0_u64; LANES]);
    loaded.launch("only", 1, LANES as u32, &[address(&mut counters), address(&mut to)]);
    let mut found: Vec<(u64, u64)> = to.iter().map(|it| (it & 0xFFFF_FFFF, it >> 32)).collect();
    let mut expected: Vec<(u64, u64)> =
        (0..LANES as u64).map(|at| (at % 7, (5 - at % 5) % 5)).collect();
    // 32 is 4 more than rounds of 7, and 2 more than rounds of 5.
    assert_eq!(counters[0], 4 | 3 << 32);
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
}
