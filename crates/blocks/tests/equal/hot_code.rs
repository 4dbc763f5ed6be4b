//! Hot code of ROMs, as kernels have it.

use gbxcule_blocks::HotCode;

#[test]
fn loops_are_worth_blocks_in_kernels_and_games_are_not() {
    let is_worth_it = |name: &str| {
        let rom = gbxcule_roms::by_name(name).expect("a ROM");
        HotCode::find(rom.bytes()).is_worth_it()
    };
    for name in ["ALU_LOOP", "MEM_RWB", "FLOW_STACK"] {
        assert!(is_worth_it(name), "{name}");
    }
    for name in ["JOY_DIVERGE_PERSIST", "PPU_WINDOW", "PEARL_DRIFT", "LANTERN_WING"] {
        assert!(!is_worth_it(name), "{name}");
    }
}

#[test]
fn what_is_no_cartridge_has_no_hot_code() {
    assert!(!HotCode::find(&[]).is_worth_it());
}
