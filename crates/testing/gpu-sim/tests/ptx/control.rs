//! Jumps, calls, ends of threads, variables, and copies that are more than a value.

use super::host::{Loaded, address, kernel};

/// Runs one kernel, whose body may use `[%rd1]` for 8 words of 64 bits, with so many threads.
fn run(before: &str, body: &str, threads: u32) -> [u64; 8] {
    let loaded = Loaded::new(&format!("{before}{}", kernel("only", 1, body)));
    let mut words = [0; 8];
    loaded.launch("only", 1, threads, &[address(&mut words)]);
    words
}

#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn jumps_and_guards_go_where_they_say() {
    let body = "mov.b64 %rd2, 0;\nmov.u32 %r1, 0;\n\
        $L_again:\nadd.s32 %r1, %r1, 1;\ncvt.u64.u32 %rd3, %r1;\nadd.s64 %rd2, %rd2, %rd3;\n\
        setp.lt.u32 %p1, %r1, 10;\n@%p1 bra $L_again;\nst.global.u64 [%rd1], %rd2;\n\
        @!%p1 st.global.u64 [%rd1+8], 1;\n@%p1 st.global.u64 [%rd1+16], 1;\n@!%p1 bra.uni $L_end;\n\
        st.global.u64 [%rd1+24], 1;\n$L_end:\nst.global.u64 [%rd1+32], 1;\n";
    assert_eq!(run("", body, 1)[..5], [55, 1, 0, 0, 1]);
}

#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn a_table_of_labels_is_jumped_to_by_number() {
    let body = "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd3, %r1, 8;\nadd.s64 %rd1, %rd1, %rd3;\n\
        $all: .branchtargets $L_a, $L_b, $L_a, $L_c;\nbrx.idx %r1, $all;\n\
        $L_a:\nst.global.u64 [%rd1], 10;\nret;\n$L_b:\nst.global.u64 [%rd1], 11;\nret;\n\
        $L_c:\nst.global.u64 [%rd1], 12;\n";
    assert_eq!(run("", body, 4)[..4], [10, 11, 10, 12]);
}

#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn calls_pass_values_arrays_and_vectors() {
    let before = ".func (.param .align 8 .b8 out[16]) swap(.param .align 8 .b8 pair[16], .param .b32 by)\n{\n\
        .reg .b64 %rd<9>;\n.reg .b32 %r<3>;\nld.param.v2.u64 {%rd1, %rd2}, [pair];\nld.param.u32 %r1, [by];\n\
        cvt.u64.u32 %rd3, %r1;\nadd.s64 %rd1, %rd1, %rd3;\nst.param.v2.b64 [out+0], {%rd2, %rd1};\nret;\n}\n";
    let body = "mov.u64 %rd2, 7;\nmov.u64 %rd3, 8;\nmov.u32 %r2, 100;\n{\n.param .align 8 .b8 param0[16];\n\
        st.param.v2.b64 [param0+0], {%rd2, %rd3};\n.param .b32 param1;\nst.param.b32 [param1+0], %r2;\n\
        .param .align 8 .b8 retval0[16];\ncall.uni (retval0),\nswap,\n(\nparam0,\nparam1\n);\n\
        ld.param.v2.b64 {%rd4, %rd5}, [retval0+0];\n}\nst.global.v2.b64 [%rd1], {%rd4, %rd5};\n";
    let mut words = [0_u64; 8];
    let loaded = Loaded::new(&format!("{before}{}", kernel("only", 1, body)));
    // A vector of two words must be aligned to both.
    let place = usize::from(!address(&mut words).is_multiple_of(16));
    loaded.launch("only", 1, 1, &[address(&mut words[place..])]);
    assert_eq!(words[place..place + 2], [8, 107]);
}

#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn calls_have_memory_of_their_own_and_may_be_recursive() {
    let before = ".func (.param .b32 out) sum(.param .b32 to)\n{\n.reg .pred %p<2>;\n.reg .b32 %r<5>;\n\
        .local .align 4 .b8 own[4];\nld.param.u32 %r1, [to];\nst.local.u32 [own], %r1;\nmov.u32 %r2, 0;\n\
        setp.eq.s32 %p1, %r1, 0;\n@%p1 bra $L_end;\nadd.s32 %r2, %r1, -1;\n{\n.param .b32 param0;\n\
        st.param.b32 [param0], %r2;\n.param .b32 retval0;\ncall (retval0), sum, (param0);\nld.param.b32 %r2, [retval0];\n}\n\
        ld.local.u32 %r1, [own];\nadd.s32 %r2, %r2, %r1;\n$L_end:\nst.param.b32 [out], %r2;\nret;\n}\n";
    let body = "mov.u32 %r2, 20;\n{\n.param .b32 param0;\nst.param.b32 [param0], %r2;\n.param .b32 retval0;\n\
        call (retval0), sum, (param0);\nld.param.b32 %r3, [retval0];\n}\nst.global.u32 [%rd1], %r3;\n";
    assert_eq!(run(before, body, 1)[0], 210);
}

#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn exit_ends_its_thread_alone_from_wherever_it_is() {
    let before = ".func leave()\n{\nexit;\n}\n";
    let body = "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd3, %r1, 8;\nadd.s64 %rd1, %rd1, %rd3;\n\
        setp.eq.s32 %p1, %r1, 2;\n@!%p1 bra $L_on;\n{\ncall.uni leave;\n}\n$L_on:\nst.global.u64 [%rd1], 1;\n";
    assert_eq!(run(before, body, 4)[..4], [1, 1, 0, 1]);
}

#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn threads_know_where_they_are() {
    let body = "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\nmad.lo.s32 %r4, %r1, %r2, %r3;\n\
        mul.wide.u32 %rd3, %r4, 8;\nadd.s64 %rd1, %rd1, %rd3;\nmov.u32 %r5, %nctaid.x;\nst.global.v2.u32 [%rd1], {%r4, %r5};\n";
    let loaded = Loaded::new(&kernel("only", 1, body));
    let mut words = [0_u64; 6];
    loaded.launch("only", 3, 2, &[address(&mut words)]);
    assert_eq!(words, std::array::from_fn(|at| at as u64 | 3 << 32));
}

#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn vectors_are_packed_and_unpacked_low_part_first() {
    let body = "mov.u16 %rs1, 0x1122;\nmov.u16 %rs2, 0x3344;\nmov.b32 %r1, {%rs1, %rs2};\nmov.b64 %rd2, {%r1, 0x55667788};\n\
        st.global.u64 [%rd1], %rd2;\nmov.b64 {%r2, %r3}, %rd2;\nst.global.u32 [%rd1+8], %r3;\nmov.b32 {_, %rs3}, %r1;\n\
        st.global.u16 [%rd1+16], %rs3;\n";
    assert_eq!(run("", body, 1)[..3], [0x5566_7788_3344_1122, 0x5566_7788, 0x3344]);
}

#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn variables_have_addresses_initial_values_and_stay() {
    let before = ".global .align 4 .u32 count = 5;\n.const .align 2 .u16 steps[3] = {3, 4};\n";
    let body = "mov.u64 %rd2, count;\ncvta.global.u64 %rd3, %rd2;\natom.add.u32 %r1, [%rd3], 2;\nld.global.u32 %r2, [count];\n\
        st.global.u32 [%rd1], %r2;\nmov.u64 %rd4, steps;\nld.const.u16 %rs1, [%rd4+2];\nld.const.u16 %rs2, [steps+4];\n\
        st.global.u16 [%rd1+8], %rs1;\nst.global.u16 [%rd1+16], %rs2;\n";
    assert_eq!(run(before, body, 3)[..3], [11, 4, 0]);
}

/// Even threads change their own memory by a generic address, odd ones a word of the array.
#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn a_generic_address_may_be_one_of_local_memory() {
    let body = ".local .align 8 .b8 own[16];\nmov.u64 %rd2, own;\ncvta.local.u64 %rd3, %rd2;\n\
        mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd4, %r1, 8;\nadd.s64 %rd4, %rd1, %rd4;\nand.b32 %r2, %r1, 1;\n\
        setp.eq.s32 %p1, %r2, 0;\nselp.b64 %rd5, %rd3, %rd4, %p1;\nadd.s32 %r3, %r1, 100;\n\
        st.local.u32 [%rd2], %r3;\nld.u32 %r4, [%rd5];\nadd.s32 %r4, %r4, 5;\nst.u32 [%rd5], %r4;\n\
        ld.local.u32 %r5, [%rd2];\nst.global.u32 [%rd4+4], %r5;\n";
    let mut words = [7; 6];
    Loaded::new(&kernel("only", 1, body)).launch("only", 1, 6, &[address(&mut words)]);
    let expected = |thread: u64| match thread % 2 {
        0 => (thread + 105) << 32 | 7,
        _ => (thread + 100) << 32 | 12,
    };
    assert_eq!(words, std::array::from_fn(|at| expected(at as u64)));
}

#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn a_chain_of_subtractions_borrows() {
    let body = "ld.global.v2.u32 {%r1, %r2}, [%rd1];\nld.global.v2.u32 {%r3, %r4}, [%rd1+8];\n\
        ld.global.v2.u32 {%r5, %r6}, [%rd1+16];\nsub.cc.u32 %r1, %r1, %r3;\nsubc.cc.u32 %r2, %r2, %r4;\n\
        subc.u32 %r5, %r5, %r6;\nst.global.v2.u32 [%rd1], {%r1, %r2};\nst.global.u32 [%rd1+16], %r5;\n";
    let loaded = Loaded::new(&kernel("only", 1, body));
    for (a, b) in [(5, 3), (3, 5), (1 << 32, 1), (0, 1 << 32), (u64::MAX, u64::MAX), (0, u64::MAX)]
    {
        let mut words = [a, b, 9 | 2 << 32];
        loaded.launch("only", 1, 1, &[address(&mut words)]);
        assert_eq!(words[0], a.wrapping_sub(b));
        assert_eq!(words[2] as u32, 7 - u32::from(a < b));
    }
}

#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn lanes_that_run_together_learn_their_least() {
    let body = "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd3, %r1, 8;\nadd.s64 %rd1, %rd1, %rd3;\n\
        add.s32 %r2, %r1, 40;\nsetp.eq.s32 %p1, %r1, 2;\n@%p1 mov.u32 %r2, 7;\nactivemask.b32 %r3;\n\
        redux.sync.min.u32 %r4, %r2, %r3;\ncvt.u64.u32 %rd4, %r4;\nst.global.u64 [%rd1], %rd4;\n";
    assert_eq!(run("", body, 5)[..5], [7; 5]);
}

#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn predicates_outlive_calls() {
    let before = ".func (.param .b32 out) sum(.param .b32 to)\n{\n.reg .pred %p<2>;\n.reg .b32 %r<5>;\n\
        ld.param.u32 %r1, [to];\nmov.u32 %r2, 0;\nsetp.eq.s32 %p1, %r1, 0;\n@%p1 bra $L_end;\n\
        add.s32 %r2, %r1, -1;\n{\n.param .b32 param0;\nst.param.b32 [param0], %r2;\n.param .b32 retval0;\n\
        call (retval0), sum, (param0);\nld.param.b32 %r2, [retval0];\n}\nadd.s32 %r2, %r2, %r1;\n\
        $L_end:\nst.param.b32 [out], %r2;\nret;\n}\n";
    let mut body = String::from(
        "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 8;\nadd.s64 %rd1, %rd1, %rd2;\n",
    );
    for bit in 0..6 {
        body += &format!("and.b32 %r3, %r1, {};\nsetp.ne.s32 %p{}, %r3, 0;\n", 1 << bit, bit + 1);
    }
    body += "{\n.param .b32 param0;\nst.param.b32 [param0], %r1;\n.param .b32 retval0;\n\
        call (retval0), sum, (param0);\nld.param.b32 %r2, [retval0];\n}\ncvt.u64.u32 %rd3, %r2;\n";
    for bit in 0..6 {
        body += &format!("@%p{} add.s64 %rd3, %rd3, {};\n", bit + 1, 10_000_i64 << (4 * bit));
    }
    body += "st.global.u64 [%rd1], %rd3;\n";
    let expected = |thread: u64| {
        let bits = (0..6).filter(|bit| thread >> bit & 1 == 1);
        thread * (thread + 1) / 2 + bits.map(|bit| 10_000 << (4 * bit)).sum::<u64>()
    };
    let loaded = Loaded::new(&format!("{before}{}", kernel("only", 1, &body)));
    let mut words = [0_u64; 64];
    loaded.launch("only", 1, 64, &[address(&mut words)]);
    assert_eq!(words.to_vec(), (0..64).map(expected).collect::<Vec<_>>());
}

/// More values than a thread has registers.
const VALUES: usize = 140;

#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn values_for_which_no_register_is_left_are_kept() {
    let mut body = format!("{{\n.reg .b64 %v<{}>;\n", VALUES + 1);
    for at in 0..VALUES {
        // The store after this keeps the assembler from loading the value once more.
        body += &format!("ld.global.u64 %v{at}, [%rd1+{}];\n", 8 * at);
        body += &format!("st.global.u64 [%rd1+{}], 0;\n", 8 * at);
    }
    body += "mov.u32 %r1, %tid.x;\nmov.u64 %rd2, 5;\n$L_again:\n";
    for at in 0..VALUES {
        body += &format!("xor.b64 %rd2, %rd2, %v{at};\nmul.lo.s64 %rd2, %rd2, 31;\n");
    }
    body += "add.s32 %r1, %r1, 1;\nsetp.lt.s32 %p1, %r1, 2;\n@%p1 bra $L_again;\n\
        st.global.u64 [%rd1], %rd2;\n}\n";
    let mut words: Vec<u64> =
        (1..=VALUES as u64).map(|at| at.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
    let mut expected = 5_u64;
    for word in words.iter().chain(&words) {
        expected = (expected ^ word).wrapping_mul(31);
    }
    let loaded = Loaded::new(&kernel("only", 1, &body));
    loaded.launch("only", 1, 1, &[address(&mut words)]);
    assert_eq!(words[0], expected);
    assert!(words[1..].iter().all(|word| *word == 0));
}
