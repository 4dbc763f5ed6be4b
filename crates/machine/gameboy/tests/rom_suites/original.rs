//! The suites for the original, a DMG.

use std::path::Path;

use gbxcule_sound::Sound;

use crate::console::{Console, folder};
use crate::picture;
use crate::shared;
use crate::suite::{self, Suite, Verdict, stem};

/// The frame whose sound decides about gambatte's ROMs.
const GAMBATTE_SOUND_FRAMES: u32 = 16;
/// Frames in which a GBMicrotest gives its verdict: the slowest needs 380 ms.
const MICROTEST_FRAMES: u32 = 30;

const BLARGG: Suite = Suite {
    title: "blargg: CPU, timing, HALT, OAM bug, sound",
    folder: "blargg",
    paths: &[
        "blargg/cpu_instrs",
        "blargg/instr_timing",
        "blargg/mem_timing",
        "blargg/mem_timing-2",
        "blargg/halt_bug.gb",
        "blargg/oam_bug/oam_bug.gb",
        "blargg/dmg_sound/rom_singles",
    ],
    judge: suite::judge_blargg,
};

const MOONEYE: Suite = Suite {
    title: "mooneye-test-suite, acceptance and emulator-only",
    folder: "mooneye",
    paths: &["mooneye/acceptance", "mooneye/emulator-only"],
    judge: judge_mooneye,
};

const MOONEYE_WILBERTPOL: Suite = Suite {
    title: "wilbertpol's mooneye fork, the same",
    folder: "mooneye-wilbertpol",
    paths: &["mooneye-wilbertpol/acceptance", "mooneye-wilbertpol/emulator-only"],
    judge: judge_mooneye,
};

const GBMICROTEST: Suite = Suite {
    title: "GBMicrotest, those with a verdict",
    folder: "gbmicrotest",
    paths: &["gbmicrotest"],
    judge: judge_microtest,
};

const GAMBATTE_DIGITS: Suite = Suite {
    title: "gambatte hwtests, dmg08, digits",
    folder: "gambatte digits",
    paths: &["gambatte"],
    judge: |path| suite::judge_gambatte_digits(path, &["dmg08_out", "dmg08_cgb04c_out"]),
};

const GAMBATTE_PICTURES: Suite = Suite {
    title: "gambatte hwtests, dmg08, pictures",
    folder: "gambatte pictures",
    paths: &["gambatte"],
    judge: judge_gambatte_picture,
};

const GAMBATTE_SOUND: Suite = Suite {
    title: "gambatte hwtests, dmg08, sound",
    folder: "gambatte sound",
    paths: &["gambatte"],
    judge: judge_gambatte_sound,
};

const AGE: Suite = Suite { title: "AGE, dmgC", folder: "age", paths: &["age"], judge: judge_age };

const MEALYBUG: Suite = Suite {
    title: "mealybug-tearoom-tests",
    folder: "mealybug",
    paths: &["mealybug"],
    judge: judge_mealybug,
};

const ACID: Suite = Suite {
    title: "dmg-acid2",
    folder: "acid",
    paths: &["acid/dmg-acid2.gb"],
    judge: |path| Some(suite::judge_acid_picture(path, &path.with_file_name("reference-dmg.png"))),
};

const DOCBOY: Suite = Suite {
    title: "docboy-test-suite, DMG",
    folder: "docboy",
    paths: &["docboy/dmg"],
    judge: suite::judge_docboy,
};

/// SameSuite's other ROMs need registers of the Color.
const SAMESUITE: Suite = Suite {
    title: "SameSuite, those for a DMG",
    folder: "samesuite",
    paths: &[
        "samesuite/apu/div_write_trigger.gb",
        "samesuite/apu/div_write_trigger_10.gb",
        "samesuite/interrupt",
    ],
    judge: |path| Some(suite::judge_registers(path)),
};

/// Returns true if a name's last part, which lists models, names the DMG, revisions A to C, or
/// nothing.
fn is_for_dmg(name: &str) -> bool {
    match name.rsplit_once('-') {
        Some((_, models)) => {
            models.contains('G') || ["dmg", "dmgABC", "dmgABCmgb"].contains(&models)
        }
        None => true,
    }
}

fn judge_mooneye(path: &Path) -> Option<Verdict> {
    is_for_dmg(&stem(path)).then(|| suite::judge_registers(path))
}

/// GBMicrotests write 01 to FF82 if they pass and FF if not; without such a write (`LDH (82),A`) a
/// person must judge their picture.
fn judge_microtest(path: &Path) -> Option<Verdict> {
    let mut console = Console::from_file(path);
    console.rom.windows(2).any(|bytes| bytes == [0xe0, 0x82]).then(|| {
        for _ in 0..MICROTEST_FRAMES {
            console.run_frames(1, false);
            if console.machine.hram[2] != 0 {
                break;
            }
        }
        let [actual, expected, verdict] = [0, 1, 2].map(|at| console.machine.hram[at]);
        (verdict != 1)
            .then(|| format!("{actual:02x} instead of {expected:02x}, verdict {verdict:02x}"))
    })
}

fn judge_gambatte_picture(path: &Path) -> Option<Verdict> {
    let expected = suite::picture_beside(path, &["_dmg08", "_dmg08_cgb04c"])?;
    let console = suite::run_gambatte(Console::from_file(path));
    Some(picture::difference(&console.machine.frame, &expected))
}

/// Some of gambatte's names say whether the DMG is heard in the last frame.
fn judge_gambatte_sound(path: &Path) -> Option<Verdict> {
    let name = stem(path);
    let marks = ["dmg08_outaudio", "dmg08_cgb04c_outaudio"];
    let at = marks.iter().find_map(|mark| Some(name.find(mark)? + mark.len()))?;
    let is_heard = name[at..].starts_with('1');
    let mut console = Console::from_file(path);
    let mut sound = Sound::new(&console.machine);
    let mut levels = Vec::new();
    for _ in 0..GAMBATTE_SOUND_FRAMES {
        levels.clear();
        let Console { machine, rom, cart_ram } = &mut console;
        sound.run_frame_with(machine, rom, cart_ram, false, |level| levels.push(*level));
    }
    let passes = levels.iter().any(|level| *level != levels[0]) == is_heard;
    let seen = if is_heard { "silence" } else { "a sound" };
    Some((!passes).then(|| seen.to_owned()))
}

/// AGE's ROMs end as mooneye's do, or show a picture.
fn judge_age(path: &Path) -> Option<Verdict> {
    if stem(path).contains("-dmgC") {
        return Some(suite::judge_registers(path));
    }
    let expected = suite::picture_beside(path, &["-dmgC"])?;
    Some(suite::judge_picture(path, &expected))
}

/// The two revisions photographed differ in some of mealybug's pictures; B is the newer one.
fn judge_mealybug(path: &Path) -> Option<Verdict> {
    let expected = ["DMG-CPU B", "DMG-blob"].iter().find_map(|revision| {
        let below = format!("mealybug/expected/{revision}/{}.png", stem(path));
        picture::read_png(&folder().join(below))
    })?;
    Some(suite::judge_picture(path, &expected))
}

#[test]
#[ignore = "needs GBXCULE_TEST_ROMS"]
fn blargg_cpu_timing_halt_oam_and_sound_roms_pass() {
    BLARGG.assert();
}

#[test]
#[ignore = "needs GBXCULE_TEST_ROMS"]
fn mooneye_acceptance_and_mapper_roms_for_a_dmg_pass() {
    MOONEYE.assert();
}

#[test]
#[ignore = "needs GBXCULE_TEST_ROMS"]
fn wilbertpols_mooneye_roms_for_a_dmg_pass() {
    MOONEYE_WILBERTPOL.assert();
}

#[test]
#[ignore = "needs GBXCULE_TEST_ROMS"]
fn gbmicrotest_roms_with_a_verdict_pass() {
    GBMICROTEST.assert();
}

#[test]
#[ignore = "needs GBXCULE_TEST_ROMS"]
fn gambatte_roms_print_the_digits_of_a_dmg() {
    GAMBATTE_DIGITS.assert();
}

#[test]
#[ignore = "needs GBXCULE_TEST_ROMS"]
fn gambatte_roms_show_the_pictures_of_a_dmg() {
    GAMBATTE_PICTURES.assert();
}

#[test]
#[ignore = "needs GBXCULE_TEST_ROMS"]
fn gambatte_roms_are_heard_as_on_a_dmg() {
    GAMBATTE_SOUND.assert();
}

#[test]
#[ignore = "needs GBXCULE_TEST_ROMS"]
fn age_roms_for_a_dmg_pass() {
    AGE.assert();
}

#[test]
#[ignore = "needs GBXCULE_TEST_ROMS"]
fn mealybug_pictures_with_mid_scanline_changes_are_exact() {
    MEALYBUG.assert();
}

#[test]
#[ignore = "needs GBXCULE_TEST_ROMS"]
fn dmg_acid2_is_pixel_exact() {
    ACID.assert();
}

#[test]
#[ignore = "needs GBXCULE_TEST_ROMS"]
fn samesuite_roms_for_a_dmg_pass() {
    SAMESUITE.assert();
}

#[test]
#[ignore = "prints a table (`make rom-suites`); needs GBXCULE_TEST_ROMS"]
fn table() {
    suite::print_table(&[
        BLARGG,
        MOONEYE,
        MOONEYE_WILBERTPOL,
        GBMICROTEST,
        GAMBATTE_DIGITS,
        GAMBATTE_PICTURES,
        GAMBATTE_SOUND,
        AGE,
        MEALYBUG,
        ACID,
        SAMESUITE,
        DOCBOY,
        shared::SMALL,
        shared::RTC,
        shared::SHOOTOUT,
        shared::RECORDED,
    ]);
}
