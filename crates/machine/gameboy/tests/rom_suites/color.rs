//! The suites for a Color, a CPU CGB C.

use std::path::Path;

use gbxcule_gameboy::Revision;

use crate::console::{Console, folder};
use crate::picture;
use crate::shared;
use crate::suite::{self, Suite, Verdict, stem};

const BLARGG: Suite = Suite {
    title: "blargg: CPU, timing, HALT, interrupt time, sound",
    folder: "blargg",
    paths: &[
        "blargg/cpu_instrs",
        "blargg/instr_timing",
        "blargg/mem_timing",
        "blargg/mem_timing-2",
        "blargg/halt_bug.gb",
        "blargg/interrupt_time",
        "blargg/cgb_sound/cgb_sound.gb",
        "blargg/cgb_sound/rom_singles",
    ],
    judge: suite::judge_blargg,
};

const MOONEYE: Suite = Suite {
    title: "mooneye-test-suite, acceptance, emulator-only and misc",
    folder: "mooneye",
    paths: &["mooneye/acceptance", "mooneye/emulator-only", "mooneye/misc"],
    judge: judge_mooneye,
};

const ACID: Suite = Suite {
    title: "cgb-acid2, cgb-acid-hell",
    folder: "acid",
    paths: &["acid/cgb-acid2.gbc", "acid/cgb-acid-hell.gbc"],
    judge: |path| Some(suite::judge_acid_picture(path, &path.with_extension("png"))),
};

const MEALYBUG: Suite = Suite {
    title: "mealybug-tearoom-tests, CPU CGB C",
    folder: "mealybug",
    paths: &["mealybug"],
    judge: judge_mealybug,
};

const MEALYBUG_D: Suite = Suite {
    title: "mealybug-tearoom-tests, CPU CGB D, on a CPU CGB E",
    folder: "mealybug D",
    paths: &["mealybug"],
    judge: judge_mealybug_d,
};

const GAMBATTE_DIGITS: Suite = Suite {
    title: "gambatte hwtests, cgb04c, digits",
    folder: "gambatte digits",
    paths: &["gambatte"],
    judge: |path| suite::judge_gambatte_digits(path, &["cgb04c_out"]),
};

const GAMBATTE_PICTURES: Suite = Suite {
    title: "gambatte hwtests, cgb04c, pictures",
    folder: "gambatte pictures",
    paths: &["gambatte"],
    judge: judge_gambatte_picture,
};

const AGE: Suite = Suite {
    title: "AGE, CGB C",
    folder: "age",
    paths: &[
        "age/halt",
        "age/lcd-align-ly",
        "age/ly",
        "age/m3-bg-bgp",
        "age/m3-bg-lcdc",
        "age/m3-bg-scx",
        "age/oam",
        "age/speed-switch",
        "age/stat-interrupt",
        "age/stat-mode",
        "age/stat-mode-sprites",
        "age/stat-mode-window",
        "age/vram",
    ],
    judge: judge_age,
};

const DOCBOY: Suite = Suite {
    title: "docboy-test-suite, Color",
    folder: "docboy",
    paths: &["docboy/cgb", "docboy/cgb_dmg_mode", "docboy/cgb_dmg_ext_mode"],
    judge: suite::judge_docboy,
};

const SAMESUITE: Suite = Suite {
    title: "SameSuite, for a CGB E or all",
    folder: "samesuite",
    paths: &["samesuite/apu", "samesuite/dma", "samesuite/interrupt", "samesuite/ppu"],
    judge: judge_samesuite,
};

const MAGEN: Suite = Suite {
    title: "MagenTests, those that end green",
    folder: "magen",
    paths: &["magen"],
    judge: judge_magen,
};

/// Endings of AGE's ROMs and pictures for a CGB B or C, in its own mode and in the original's.
const AGE_MODELS: [&str; 4] = ["-cgbBC", "-cgbBCE", "-ncmBC", "-ncmBCE"];

/// ROMs of mealybug whose file for a CPU CGB C or D is only a placeholder for a picture.
const WITHOUT_PICTURE: [&str; 4] =
    ["m3_lcdc_win_en_change_multiple_wx", "m3_wx_4_change", "m3_wx_5_change", "m3_wx_6_change"];

/// Returns true if a name's last part, which lists models, names the CGB, or nothing.
fn is_for_cgb(name: &str) -> bool {
    match name.rsplit_once('-') {
        Some((_, models)) => models == "C" || ["cgb", "cgbABCDE"].contains(&models),
        None => true,
    }
}

fn judge_mooneye(path: &Path) -> Option<Verdict> {
    is_for_cgb(&stem(path)).then(|| suite::judge_registers(path))
}

fn judge_age(path: &Path) -> Option<Verdict> {
    if AGE_MODELS.iter().any(|model| stem(path).ends_with(model)) {
        return Some(suite::judge_registers(path));
    }
    let expected = suite::picture_beside(path, &AGE_MODELS)?;
    Some(suite::judge_picture(path, &expected))
}

fn judge_mealybug(path: &Path) -> Option<Verdict> {
    let name = stem(path);
    if WITHOUT_PICTURE.contains(&name.as_str()) {
        return None;
    }
    let below = format!("mealybug/expected/CPU CGB C/{name}.png");
    let expected = picture::read_png(&folder().join(below))?;
    Some(suite::judge_picture(path, &expected))
}

fn judge_mealybug_d(path: &Path) -> Option<Verdict> {
    let name = stem(path);
    if WITHOUT_PICTURE.contains(&name.as_str()) {
        return None;
    }
    let below = format!("mealybug/expected/CPU CGB D/{name}.png");
    let expected = picture::read_png(&folder().join(below))?;
    Some(suite::judge_picture_of(Revision::CgbE, path, &expected))
}

/// Some of SameSuite's names say for which chips they are; the others are for a CGB E.
fn judge_samesuite(path: &Path) -> Option<Verdict> {
    let name = stem(path);
    let others = ["-A", "-cgb0", "-cgbB", "-cgb0B", "-cgb0BC"];
    let is_for_others = others.iter().any(|chips| name.ends_with(chips));
    (!is_for_others).then(|| suite::judge_registers(path))
}

/// MagenTests fill the screen with green if they pass; two of them show pictures that a person must
/// judge.
fn judge_magen(path: &Path) -> Option<Verdict> {
    if stem(path).contains("priority") {
        return None;
    }
    let mut console = Console::from_file(path);
    console.run_frames(120, true);
    Some(picture::difference(&console.machine.frame, &[0x3e0; 160 * 144]))
}

/// Pictures that say `cgb04c`, but for those of programs for the original, whose colours are the
/// tester's own grays.
fn judge_gambatte_picture(path: &Path) -> Option<Verdict> {
    let expected = suite::picture_beside(path, &["_cgb04c", "_dmg08_cgb04c"])?;
    let mut console = Console::from_file(path);
    if console.machine.ppu.compatible {
        return None;
    }
    // No boot ROM writes the objects' palettes. Three pictures (`scx*_during_m3_spx2*`) show what
    // their console had in the one colour that they use.
    console.machine.ppu.palettes.object[4..6].copy_from_slice(&0x4261u16.to_le_bytes());
    let console = suite::run_gambatte(console);
    Some(picture::difference_in_panel_colors(&console.machine.frame, &expected))
}

#[test]
#[ignore = "needs GBXCULE_TEST_ROMS"]
fn blargg_roms_pass_on_a_color() {
    BLARGG.assert();
}

#[test]
#[ignore = "needs GBXCULE_TEST_ROMS"]
fn mooneye_roms_for_a_color_pass() {
    MOONEYE.assert();
}

#[test]
#[ignore = "needs GBXCULE_TEST_ROMS"]
fn cgb_acid2_and_cgb_acid_hell_are_pixel_exact() {
    ACID.assert();
}

#[test]
#[ignore = "needs GBXCULE_TEST_ROMS"]
fn mealybug_pictures_of_a_cgb_c_are_exact() {
    MEALYBUG.assert();
}

#[test]
#[ignore = "needs GBXCULE_TEST_ROMS"]
fn mealybug_pictures_of_a_cgb_d_are_exact() {
    MEALYBUG_D.assert();
}

#[test]
#[ignore = "needs GBXCULE_TEST_ROMS"]
fn gambatte_roms_print_the_digits_of_a_color() {
    GAMBATTE_DIGITS.assert();
}

#[test]
#[ignore = "needs GBXCULE_TEST_ROMS"]
fn gambatte_roms_show_the_pictures_of_a_color() {
    GAMBATTE_PICTURES.assert();
}

#[test]
#[ignore = "needs GBXCULE_TEST_ROMS"]
fn age_roms_for_a_cgb_c_pass() {
    AGE.assert();
}

#[test]
#[ignore = "needs GBXCULE_TEST_ROMS"]
fn samesuite_roms_for_a_cgb_e_pass() {
    SAMESUITE.assert();
}

#[test]
#[ignore = "needs GBXCULE_TEST_ROMS"]
fn magen_tests_end_green() {
    MAGEN.assert();
}

#[test]
#[ignore = "prints a table (`make rom-suites`); needs GBXCULE_TEST_ROMS"]
fn table() {
    suite::print_table(&[
        BLARGG,
        MOONEYE,
        ACID,
        MEALYBUG,
        MEALYBUG_D,
        AGE,
        GAMBATTE_DIGITS,
        GAMBATTE_PICTURES,
        SAMESUITE,
        DOCBOY,
        MAGEN,
        shared::SMALL,
        shared::RTC,
        shared::SHOOTOUT,
        shared::RECORDED,
    ]);
}
