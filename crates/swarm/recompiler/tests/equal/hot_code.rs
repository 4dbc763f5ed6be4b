//! Hot code of ROMs, as kernels contain it.

use gbxcule_recompiler::HotCode;

/// Says whether a built-in ROM is worth blocks, and how many opcodes end a warp's turn with them.
fn found(name: &str) -> (bool, usize) {
    let rom = gbxcule_assembler::by_name(name).expect("a ROM");
    let hot = HotCode::find(rom.bytes());
    (hot.is_worth_it(), HotCode::ends_of_turns(Some(&hot)).len())
}

#[test]
fn loops_are_worth_blocks_in_kernels_and_games_are_not() {
    let without = HotCode::ends_of_turns(None).len();
    for name in ["ALU_LOOP", "MEM_RWB", "FLOW_STACK"] {
        let (is_worth_it, ends) = found(name);
        assert!(is_worth_it && ends > without, "{name}: jumps end turns, too");
    }
    for name in ["PEARL_DRIFT", "TARN_MASON"] {
        assert!(!found(name).0, "{name}: a kernel's larger code costs more");
    }
}

#[test]
fn what_is_no_cartridge_has_no_hot_code() {
    assert!(!HotCode::find(&[]).is_worth_it());
}
