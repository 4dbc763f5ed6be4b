//! Blocks whose warps meet at a barrier and vote there.

use super::host::{Loaded, address, kernel};
use gbxcule_gpu_sim::sass::run_order::{Policy, RunOrder};

/// Blocks of a launch.
const BLOCKS: usize = 3;
/// Most threads of a block: three warps.
const THREADS: usize = 96;
/// Sizes of blocks with three warps, a part of a warp behind others, one warp, one thread.
const SIZES: [usize; 4] = [THREADS, 70, 32, 1];

/// A kernel whose threads have a number in their block (`%r1`), a word (`%rd1`: its address) and
/// the words of their block (`%rd4`).
fn text(threads: usize, lines: &str) -> String {
    let body = format!(
        "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmul.lo.s32 %r2, %r2, {threads};\n\
         mul.wide.u32 %rd3, %r2, 8;\nadd.s64 %rd4, %rd1, %rd3;\nmul.wide.u32 %rd3, %r1, 8;\n\
         add.s64 %rd1, %rd4, %rd3;\n{lines}\n"
    );
    kernel("only", 1, &body)
}

/// Work of each thread: numbers below a limit, other ones for each seed.
fn works(threads: usize, seed: u64) -> Vec<u64> {
    let number =
        |at: u64| (at + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(7 * seed as u32);
    (0..(BLOCKS * threads) as u64).map(|at| (number(at) >> 9) % (1 + 4 * seed)).collect()
}

/// Runs lines on words of which the lower halves are the threads' works, and compares the upper
/// halves with a rule that sees all works of the thread's block.
fn hold(lines: &str, rule: impl Fn(&[u64], usize) -> u64) {
    for threads in SIZES {
        hold_for(threads, lines, &rule);
    }
}

fn hold_for(threads: usize, lines: &str, rule: impl Fn(&[u64], usize) -> u64) {
    let loaded = Loaded::new(&text(threads, lines));
    for seed in 0..4 {
        let works = works(threads, seed);
        let mut words = works.clone();
        loaded.launch("only", BLOCKS as u32, threads as u32, &[address(&mut words)]);
        let found: Vec<u64> = words.iter().map(|word| word >> 32).collect();
        let expected: Vec<u64> = works
            .chunks(threads)
            .flat_map(|block| (0..threads).map(|thread| rule(block, thread)))
            .collect();
        assert_eq!(found, expected, "{threads} threads: {lines}");
    }
}

/// Counts the rounds until no thread of the block has work left.
const ROUNDS: &str = "ld.global.u32 %r4, [%rd1];\nmov.u32 %r3, 0;\n$L_again:\nsetp.ne.u32 %p1, %r4, 0;\n\
    bar.red.or.pred %p2, 0, %p1;\n@!%p2 bra $L_end;\n@%p1 add.s32 %r4, %r4, -1;\nadd.s32 %r3, %r3, 1;\n\
    bra.uni $L_again;\n$L_end:\nst.global.u32 [%rd1+4], %r3;";

#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn a_block_goes_as_many_rounds_as_its_longest_thread() {
    hold(ROUNDS, |works, _| works.iter().copied().max().expect("a thread"));
}

#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn a_round_ends_when_the_first_thread_has_no_work() {
    hold(&ROUNDS.replace("red.or", "red.and"), |works, _| {
        works.iter().copied().min().expect("a thread")
    });
}

/// Each thread leaves when its own work is done, some before the first round.
#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn threads_that_have_ended_are_not_waited_for() {
    let lines = "ld.global.u32 %r4, [%rd1];\nmov.u32 %r3, 0;\nsetp.eq.u32 %p1, %r4, 0;\n@%p1 exit;\n$L_again:\n\
        and.b32 %r5, %r1, 1;\nsetp.eq.u32 %p2, %r5, 1;\nbar.red.popc.u32 %r6, 0, %p2;\nadd.s32 %r3, %r3, %r6;\n\
        st.global.u32 [%rd1+4], %r3;\nadd.s32 %r4, %r4, -1;\nsetp.eq.u32 %p1, %r4, 0;\n@%p1 exit;\n\
        bra.uni $L_again;";
    hold(lines, |works, thread| {
        let odd = works.iter().skip(1).step_by(2);
        (0..works[thread]).map(|round| odd.clone().filter(|it| **it > round).count() as u64).sum()
    });
}

/// Threads read, behind a vote whose result nobody wants, what others wrote before it.
#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn a_vote_without_a_reader_is_a_barrier() {
    let lines = |threads: usize| {
        format!(
            "ld.global.u32 %r4, [%rd1];\nst.global.u32 [%rd1+4], %r4;\nsetp.ne.u32 %p1, %r4, 0;\n\
             bar.red.or.pred %p2, 0, %p1;\nadd.s32 %r5, %r1, 33;\nrem.u32 %r5, %r5, {threads};\n\
             mul.wide.u32 %rd3, %r5, 8;\nadd.s64 %rd5, %rd4, %rd3;\nld.global.u32 %r7, [%rd5+4];\n\
             bar.red.or.pred %p2, 0, %p1;\nst.global.u32 [%rd1+4], %r7;"
        )
    };
    for threads in SIZES {
        hold_for(threads, &lines(threads), |works, thread| works[(thread + 33) % threads]);
    }
}

/// Threads read, behind the barrier, what those of other warps wrote before it.
#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn words_are_written_before_others_read_them() {
    let exchange = |last: usize| {
        format!(
            "ld.global.u32 %r4, [%rd1];\nadd.s32 %r5, %r1, 33;\nrem.u32 %r5, %r5, {};\n\
             mul.wide.u32 %rd3, %r5, 8;\nadd.s64 %rd5, %rd4, %rd3;\nmov.u32 %r6, 0;\n$L_again:\n\
             mad.lo.s32 %r4, %r4, 5, %r1;\nst.global.u32 [%rd1+4], %r4;\nbar.sync 0;\n\
             ld.global.u32 %r7, [%rd5+4];\nxor.b32 %r4, %r4, %r7;\nbar.sync 0;\nadd.s32 %r6, %r6, 1;\n\
             setp.lt.u32 %p1, %r6, 4;\n@%p1 bra $L_again;\nst.global.u32 [%rd1+4], %r4;",
            last + 1
        )
    };
    for threads in SIZES {
        let loaded = Loaded::new(&text(threads, &exchange(threads - 1)));
        let works = works(threads, 3);
        let mut words = works.clone();
        loaded.launch("only", BLOCKS as u32, threads as u32, &[address(&mut words)]);
        for (block, found) in works.chunks(threads).zip(words.chunks(threads)) {
            let mut own: Vec<u32> = block.iter().map(|work| *work as u32).collect();
            for _ in 0..4 {
                let step = |(at, word): (usize, &u32)| word.wrapping_mul(5).wrapping_add(at as u32);
                let written: Vec<u32> = own.iter().enumerate().map(step).collect();
                let other = |at: usize| written[(at + 33) % threads];
                own = (0..threads).map(|at| written[at] ^ other(at)).collect();
            }
            let found: Vec<u32> = found.iter().map(|word| (word >> 32) as u32).collect();
            assert_eq!(found, own, "{threads} threads");
        }
    }
}

/// A barrier is enforced per thread: odd and even threads of a warp come to it at two places.
#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn lanes_that_parted_are_all_waited_for() {
    let lines = "ld.global.u32 %r4, [%rd1];\nxor.b32 %r6, %r1, 1;\nmin.u32 %r6, %r6, LAST;\n\
        mul.wide.u32 %rd3, %r6, 8;\nadd.s64 %rd5, %rd4, %rd3;\nand.b32 %r5, %r1, 1;\n\
        setp.eq.u32 %p2, %r5, 1;\n@%p2 bra $L_odd;\nadd.s32 %r4, %r4, 5;\nst.global.u32 [%rd1], %r4;\n\
        bar.sync 0;\nld.global.u32 %r7, [%rd5];\nst.global.u32 [%rd1+4], %r7;\nbra.uni $L_end;\n\
        $L_odd:\nmul.lo.s32 %r4, %r4, 3;\nst.global.u32 [%rd1], %r4;\nbar.sync 0;\n\
        ld.global.u32 %r7, [%rd5];\nadd.s32 %r7, %r7, 1000;\nst.global.u32 [%rd1+4], %r7;\n$L_end:";
    for last in SIZES.map(|threads| threads as u64 - 1) {
        let threads = last as usize + 1;
        hold_for(threads, &lines.replace("LAST", &last.to_string()), |works, thread| {
            let other = (thread ^ 1).min(last as usize);
            let written = if other % 2 == 1 { works[other] * 3 } else { works[other] + 5 };
            written + 1000 * (thread as u64 % 2)
        });
    }
}

/// The first warp waits without a barrier for a word of the last thread.
#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn a_warp_can_wait_for_another_where_warps_take_turns() {
    let lines = "setp.lt.u32 %p1, %r1, 32;\n@%p1 bra $L_again;\nst.volatile.global.u32 [%rd1+4], 7;\n\
        bra.uni $L_end;\n$L_again:\nld.volatile.global.u32 %r3, [%rd4+764];\nsetp.ne.u32 %p2, %r3, 7;\n\
        @%p2 bra $L_again;\nst.global.u32 [%rd1+4], 9;\n$L_end:";
    let loaded = Loaded::new(&text(THREADS, lines));
    for shares_barriers in [false, true] {
        let order = RunOrder { turn: 20, shares_barriers, ..Policy::LowestAddress.into() };
        let mut words = [0_u64; THREADS];
        loaded.launch_in(order, "only", (1, THREADS as u32), &[address(&mut words)]);
        let expected: [u64; THREADS] = std::array::from_fn(|at| if at < 32 { 9 } else { 7 });
        assert_eq!(words.map(|word| word >> 32), expected);
    }
}

/// Launches a kernel that is wrong.
fn run(lines: &str) {
    let mut words = works(THREADS, 1);
    Loaded::new(&text(THREADS, lines)).launch("only", 1, THREADS as u32, &[address(&mut words)]);
}

#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
#[should_panic(expected = "lanes at one barrier ask for Wait and Or")]
fn warps_that_ask_for_different_things_fail() {
    run(
        "setp.lt.u32 %p1, %r1, 32;\n@%p1 bra $L_wait;\nbar.red.or.pred %p2, 0, %p1;\n@%p2 bra $L_end;\n\
        st.global.u32 [%rd1], 1;\nbra.uni $L_end;\n$L_wait:\nbar.sync 0;\nst.global.u32 [%rd1], 2;\n$L_end:",
    );
}

#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
#[should_panic(expected = "lanes wait for each other")]
fn lanes_that_wait_for_each_other_fail() {
    run("and.b32 %r5, %r1, 1;\nsetp.eq.u32 %p1, %r5, 1;\n@%p1 bra $L_wait;\nbar.warp.sync -1;\n\
        st.global.u32 [%rd1], 1;\nbar.warp.sync -1;\nst.global.u32 [%rd1], 3;\nbra.uni $L_end;\n\
        $L_wait:\nst.global.u32 [%rd1], 2;\nbar.sync 0;\n\
        st.global.u32 [%rd1+4], 2;\n$L_end:");
}

#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
#[should_panic(expected = "lanes 55555555 vote without the others of their warp, ffffffff")]
fn votes_of_lanes_that_parted_are_refused() {
    run(
        "and.b32 %r5, %r1, 1;\nsetp.eq.u32 %p1, %r5, 1;\n@%p1 bra $L_odd;\nst.global.u32 [%rd1], 1;\n\
        bar.red.popc.u32 %r3, 0, %p1;\nst.global.u32 [%rd1+4], %r3;\nbra.uni $L_end;\n$L_odd:\n\
        st.global.u32 [%rd1], 2;\nbar.red.popc.u32 %r3, 0, %p1;\nadd.s32 %r3, %r3, 1000;\n\
        st.global.u32 [%rd1+4], %r3;\n$L_end:",
    );
}

#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
#[should_panic(expected = "a barrier with a number")]
fn other_barriers_are_refused() {
    run("st.global.u32 [%rd1], 1;\nbar.sync 1;\nst.global.u32 [%rd1], 2;");
}
