//! Public test ROM suites, read from the folder `GBXCULE_TEST_ROMS` (see `docs/testing.md` for what
//! goes where). Each ROM is a row; a known failure is a row with its reason, and passing it unexpectedly
//! is an error.

mod console;
mod picture;

use console::Console;

const FRAMES_MAX: u32 = 4000;

fn assert_rows(suite: &str, failures: &[String], run: usize) {
    assert!(run > 0, "no ROM found for {suite}: is GBXCULE_TEST_ROMS complete?");
    assert!(
        failures.is_empty(),
        "{} of {run} {suite} ROMs fail:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

/// blargg's ROMs print `Passed` on the screen, or leave 0 at A000 behind a signature.
fn blargg_passes(console: &mut Console) -> bool {
    for _ in 0..FRAMES_MAX / 20 {
        console.run_frames(20, false);
        if console.cart_ram.get(1..4) == Some(&[0xde, 0xb0, 0x61]) && console.cart_ram[0] != 0x80 {
            return console.cart_ram[0] == 0;
        }
        let text = console.screen_text();
        if text.contains("Passed") || text.contains("Failed") {
            return !text.contains("Failed");
        }
    }
    false
}

/// mooneye's ROMs end in `LD B,B` with Fibonacci numbers in the registers.
fn mooneye_passes(console: &mut Console) -> bool {
    console.run_to_breakpoint(FRAMES_MAX);
    let cpu = &console.machine.cpu;
    [cpu.b, cpu.c, cpu.d, cpu.e, cpu.h, cpu.l] == [3, 5, 8, 13, 21, 34]
}

fn run_suite(
    suite: &str,
    folders: &[&str],
    accept: fn(&str) -> bool,
    passes: fn(&mut Console) -> bool,
) {
    let mut failures = Vec::new();
    let mut run = 0;
    for path in folders.iter().flat_map(|folder| console::roms_below(folder)) {
        let name = path.file_stem().expect("a file").to_string_lossy().into_owned();
        if accept(&name) {
            run += 1;
            if !passes(&mut Console::from_file(&path)) {
                failures.push(path.display().to_string());
            }
        }
    }
    assert_rows(suite, &failures, run);
}

#[test]
#[ignore = "needs GBXCULE_TEST_ROMS"]
fn blargg_cpu_timing_halt_oam_and_sound_roms_pass() {
    let folders = [
        "blargg/cpu_instrs",
        "blargg/instr_timing",
        "blargg/mem_timing",
        "blargg/mem_timing-2",
        "blargg/halt_bug.gb",
        "blargg/oam_bug/oam_bug.gb",
        "blargg/dmg_sound/rom_singles",
    ];
    run_suite("blargg", &folders, |_| true, blargg_passes);
}

#[test]
#[ignore = "needs GBXCULE_TEST_ROMS"]
fn mooneye_acceptance_and_mapper_roms_for_a_dmg_pass() {
    // The suffix names the models a ROM is for: nothing or G means the DMG, revisions A to C.
    let is_for_dmg = |name: &str| match name.rsplit_once('-') {
        Some((_, models)) => models.contains('G') || models == "dmgABC" || models == "dmgABCmgb",
        None => true,
    };
    let folders = ["mooneye/acceptance", "mooneye/emulator-only"];
    run_suite("mooneye", &folders, is_for_dmg, mooneye_passes);
}

/// Pictures that are not ours yet, with how many pixels differ and why.
const PICTURES_THAT_DIFFER: [(&str, u32, &str); 2] = [
    ("m3_lcdc_bg_en_change", 4, "the first pixel after the bit falls, on revision B"),
    ("m3_lcdc_win_en_change_multiple_wx", 40, "a window switched off while it starts"),
];

#[test]
#[ignore = "needs GBXCULE_TEST_ROMS"]
fn mealybug_pictures_with_mid_scanline_changes_are_exact() {
    let mut failures = Vec::new();
    let mut run = 0;
    for path in console::roms_below("mealybug") {
        let name = path.file_stem().expect("a file").to_string_lossy().into_owned();
        // The two revisions photographed differ in some pictures; B is the newer one.
        let expected = ["mealybug/expected/DMG-CPU B", "mealybug/expected/DMG-blob"]
            .iter()
            .find_map(|folder| picture::read_png(&console::folder().join(folder).join(&name)));
        let Some(expected) = expected else { continue };
        run += 1;
        let mut console = Console::from_file(&path);
        console.run_to_breakpoint(600);
        let differing = picture::differing_pixels(&console.machine.frame, &expected);
        let known = PICTURES_THAT_DIFFER.iter().find(|row| row.0 == name).map_or(0, |row| row.1);
        if differing != known {
            failures.push(format!("{name}: {differing} pixels differ, {known} expected to"));
        }
    }
    assert_rows("mealybug", &failures, run);
}

#[test]
#[ignore = "needs GBXCULE_TEST_ROMS"]
fn dmg_acid2_is_pixel_exact() {
    let mut console = Console::from_file(&console::folder().join("acid/dmg-acid2.gb"));
    console.run_frames(60, true);
    let expected = picture::read_png(&console::folder().join("acid/reference-dmg"))
        .expect("acid/reference-dmg.png beside the ROM");
    assert_eq!(picture::differing_pixels(&console.machine.frame, &expected), 0);
}
