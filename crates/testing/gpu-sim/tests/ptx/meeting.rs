//! Kernels whose lanes wait for those of a mask.

use super::host::{Loaded, address, kernel};

/// Odd threads come from a call, even ones do not; all name all lanes.
#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn lanes_from_several_places_meet_for_their_least() {
    let before = ".func (.param .b32 out) thrice(.param .b32 of)\n{\n.reg .pred %p<2>;\n.reg .b32 %r<5>;\n\
        ld.param.u32 %r1, [of];\nmov.u32 %r2, 1;\nsetp.eq.s32 %p1, %r1, 0;\n@%p1 bra $L_end;\n\
        add.s32 %r2, %r1, -1;\n{\n.param .b32 param0;\nst.param.b32 [param0], %r2;\n.param .b32 retval0;\n\
        call (retval0), thrice, (param0);\nld.param.b32 %r2, [retval0];\n}\nadd.s32 %r2, %r2, 3;\n\
        $L_end:\nst.param.b32 [out], %r2;\nret;\n}\n";
    let body = "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd3, %r1, 8;\nadd.s64 %rd1, %rd1, %rd3;\n\
        ld.global.u32 %r2, [%rd1];\nand.b32 %r3, %r1, 1;\nsetp.eq.s32 %p1, %r3, 1;\n@%p1 bra $L_odd;\n\
        redux.sync.min.u32 %r4, %r2, -1;\nst.global.u32 [%rd1+4], %r2;\nbra.uni $L_end;\n\
        $L_odd:\n{\n.param .b32 param0;\nst.param.b32 [param0], %r2;\n.param .b32 retval0;\n\
        call (retval0), thrice, (param0);\nld.param.b32 %r2, [retval0];\n}\n\
        redux.sync.min.u32 %r4, %r2, -1;\n$L_end:\nst.global.u32 [%rd1], %r4;\n";
    let loaded = Loaded::new(&format!("{before}{}", kernel("only", 1, body)));
    for words in [[9, 4, 7, 5, 30, 6], [90, 4, 70, 5, 80, 6], [3, 3, 3, 3, 3, 3]] {
        let key = |at: usize| if at % 2 == 1 { 3 * words[at] + 1 } else { words[at] };
        let least = (0..6).map(key).min().expect("six words");
        let expected: [u64; 6] =
            std::array::from_fn(|at| least | if at % 2 == 1 { 0 } else { words[at] << 32 });
        let mut words = words;
        loaded.launch("only", 1, 6, &[address(&mut words)]);
        assert_eq!(words, expected);
    }
}

/// Small words are those of lanes that meet, a mask of which stands beside each. For sm_80 the
/// assembler asks such a mask in ways that have no row; there all lanes with small words meet.
#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn lanes_of_a_mask_have_a_least_of_their_own() {
    let all_meet = super::machine::arch() == "sm_80";
    let mask = if all_meet { "activemask.b32 %r3" } else { "ld.global.u32 %r3, [%rd1+4]" };
    let body = format!(
        "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd3, %r1, 8;\nadd.s64 %rd1, %rd1, %rd3;\n\
         ld.global.u32 %r2, [%rd1];\nsetp.gt.u32 %p1, %r2, 10;\n@%p1 bra $L_end;\n{mask};\n\
         redux.sync.min.u32 %r4, %r2, %r3;\nst.global.u32 [%rd1], %r4;\n$L_end:\n"
    );
    let loaded = Loaded::new(&kernel("only", 1, &body));
    let keys = [8, 20, 3, 5, 4, 11, 9, 7];
    // Lanes 0 and 3, lanes 2, 4 and 7, lane 6.
    let masks = [0b1001, 0, 0b1001_0100, 0b1001, 0b1001_0100, 0, 0b100_0000, 0b1001_0100];
    let least = if all_meet { [3, 20, 3, 3, 3, 11, 3, 3] } else { [5, 20, 3, 5, 3, 11, 9, 3] };
    let mut words: [u64; 8] = std::array::from_fn(|at| keys[at] | masks[at] << 32);
    let expected: [u64; 8] = std::array::from_fn(|at| least[at] | masks[at] << 32);
    loaded.launch("only", 1, 8, &[address(&mut words)]);
    assert_eq!(words, expected);
}
