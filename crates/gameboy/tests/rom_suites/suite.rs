//! The suites: where their ROMs lie, which of them are for a DMG, and how each says that it passed.

use std::path::{Path, PathBuf};

use gbxcule_sound::Sound;

use crate::console::{Console, folder, roms_below};
use crate::picture;

/// Frames after which a ROM that has said nothing counts as failed.
const FRAMES_MAX: u32 = 4000;
/// Frames after which gambatte's ROMs have printed their digits or shown their picture.
const GAMBATTE_FRAMES: u32 = 17;
/// The frame in which gambatte's ROMs are listened to.
const GAMBATTE_SOUND_FRAMES: u32 = 16;
/// Frames in which a GBMicrotest gives its verdict: the slowest needs 380 ms.
const MICROTEST_FRAMES: u32 = 30;
/// mealybug's and AGE's ROMs have shown their picture by then.
const PICTURE_FRAMES: u32 = 600;

/// One public suite.
pub(crate) struct Suite {
    /// Name in the table.
    pub(crate) title: &'static str,
    /// Name among the known failures.
    pub(crate) folder: &'static str,
    /// Folders or files below `GBXCULE_TEST_ROMS`.
    paths: &'static [&'static str],
    /// Runs one ROM, if it is for a DMG and says whether it passed.
    judge: fn(&Path) -> Option<Verdict>,
}

/// Verdict that a ROM gives.
pub(crate) struct Verdict {
    passes: bool,
    seen: String,
}

/// One ROM's result.
pub(crate) struct Row {
    /// Path below the suite's folder, without its ending.
    pub(crate) name: String,
    pub(crate) passes: bool,
    /// Output of the ROM in place of the expected one.
    pub(crate) seen: String,
}

pub(crate) const BLARGG: Suite = Suite {
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
    judge: judge_blargg,
};

pub(crate) const MOONEYE: Suite = Suite {
    title: "mooneye-test-suite, acceptance and emulator-only",
    folder: "mooneye",
    paths: &["mooneye/acceptance", "mooneye/emulator-only"],
    judge: judge_mooneye,
};

pub(crate) const MOONEYE_WILBERTPOL: Suite = Suite {
    title: "wilbertpol's mooneye fork, the same",
    folder: "mooneye-wilbertpol",
    paths: &["mooneye-wilbertpol/acceptance", "mooneye-wilbertpol/emulator-only"],
    judge: judge_mooneye,
};

pub(crate) const GBMICROTEST: Suite = Suite {
    title: "GBMicrotest, those with a verdict",
    folder: "gbmicrotest",
    paths: &["gbmicrotest"],
    judge: judge_microtest,
};

pub(crate) const GAMBATTE_DIGITS: Suite = Suite {
    title: "gambatte hwtests, dmg08, digits",
    folder: "gambatte digits",
    paths: &["gambatte"],
    judge: judge_gambatte_digits,
};

pub(crate) const GAMBATTE_PICTURES: Suite = Suite {
    title: "gambatte hwtests, dmg08, pictures",
    folder: "gambatte pictures",
    paths: &["gambatte"],
    judge: judge_gambatte_picture,
};

pub(crate) const GAMBATTE_SOUND: Suite = Suite {
    title: "gambatte hwtests, dmg08, sound",
    folder: "gambatte sound",
    paths: &["gambatte"],
    judge: judge_gambatte_sound,
};

pub(crate) const AGE: Suite =
    Suite { title: "AGE, dmgC", folder: "age", paths: &["age"], judge: judge_age };

pub(crate) const MEALYBUG: Suite = Suite {
    title: "mealybug-tearoom-tests",
    folder: "mealybug",
    paths: &["mealybug"],
    judge: judge_mealybug,
};

pub(crate) const ACID: Suite =
    Suite { title: "dmg-acid2", folder: "acid", paths: &["acid/dmg-acid2.gb"], judge: judge_acid };

pub(crate) const ALL: [Suite; 10] = [
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
];

impl Suite {
    /// Runs every ROM of the suite that a DMG can pass and whose path holds the text given.
    pub(crate) fn run(&self, only: &str) -> Vec<Row> {
        let root = folder();
        let mut rows = Vec::new();
        for path in self.paths.iter().flat_map(|path| roms_below(path)) {
            if !path.to_string_lossy().contains(only) {
                continue;
            }
            if let Some(verdict) = (self.judge)(&path) {
                let below = path.strip_prefix(&root).expect("a path below the suites' folder");
                let name = below.components().skip(1).collect::<PathBuf>().with_extension("");
                let name = name.to_string_lossy().into_owned();
                rows.push(Row { name, passes: verdict.passes, seen: verdict.seen });
            }
        }
        rows
    }
}

fn stem(path: &Path) -> String {
    path.file_stem().expect("a file").to_string_lossy().into_owned()
}

fn judge_text(passes: bool) -> Verdict {
    Verdict { passes, seen: "no success reported".to_owned() }
}

fn judge_picture(console: &Console, expected: &[u8]) -> Verdict {
    let difference = picture::difference(&console.machine.frame, expected);
    Verdict { passes: difference.is_none(), seen: difference.unwrap_or_default() }
}

/// blargg's ROMs print `Passed` on the screen, or leave 0 at A000 behind a signature.
fn judge_blargg(path: &Path) -> Option<Verdict> {
    let mut console = Console::from_file(path);
    for _ in 0..FRAMES_MAX / 20 {
        console.run_frames(20, false);
        if console.cart_ram.get(1..4) == Some(&[0xde, 0xb0, 0x61]) && console.cart_ram[0] != 0x80 {
            return Some(judge_text(console.cart_ram[0] == 0));
        }
        let text = console.screen_text();
        if text.contains("Passed") || text.contains("Failed") {
            return Some(judge_text(!text.contains("Failed")));
        }
    }
    Some(judge_text(false))
}

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

/// mooneye's ROMs end with Fibonacci numbers in the registers.
fn ends_with_fibonacci_numbers(path: &Path) -> Verdict {
    let mut console = Console::from_file(path);
    console.run_to_breakpoint(FRAMES_MAX, false);
    let cpu = &console.machine.cpu;
    let registers = [cpu.b, cpu.c, cpu.d, cpu.e, cpu.h, cpu.l];
    Verdict {
        passes: registers == [3, 5, 8, 13, 21, 34],
        seen: format!("B to L are {registers:02x?}"),
    }
}

fn judge_mooneye(path: &Path) -> Option<Verdict> {
    is_for_dmg(&stem(path)).then(|| ends_with_fibonacci_numbers(path))
}

/// GBMicrotests write 01 to FF82 if they pass and FF if not; without such a write (`LDH (82),A`)
/// they are for looking at.
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
        Verdict {
            passes: verdict == 1,
            seen: format!("{actual:02x} instead of {expected:02x}, verdict {verdict:02x}"),
        }
    })
}

/// Returns the digits that a gambatte ROM's name says a DMG prints, unless the name is about sound.
fn digits_of_dmg(name: &str) -> Option<&str> {
    let at = ["dmg08_out", "dmg08_cgb04c_out"]
        .iter()
        .find_map(|mark| Some(name.find(mark)? + mark.len()))?;
    let digits = name[at..].split(|letter: char| !letter.is_ascii_hexdigit()).next()?;
    (!name[at..].starts_with("audio")).then_some(digits)
}

fn judge_gambatte_digits(path: &Path) -> Option<Verdict> {
    let name = stem(path);
    let expected = digits_of_dmg(&name)?.to_uppercase();
    let mut console = Console::from_file(path);
    console.run_frames(GAMBATTE_FRAMES, true);
    let font = picture::font_in(&console.rom).expect("gambatte's font in the ROM");
    let seen = picture::digits(&console.machine.frame, font, expected.len());
    Some(Verdict { passes: seen == expected, seen: format!("{seen} instead of {expected}") })
}

fn judge_gambatte_picture(path: &Path) -> Option<Verdict> {
    let expected = ["_dmg08", "_dmg08_cgb04c"].iter().find_map(|models| {
        picture::read_png(&path.with_file_name(format!("{}{models}", stem(path))))
    })?;
    let mut console = Console::from_file(path);
    console.run_frames(GAMBATTE_FRAMES, true);
    Some(judge_picture(&console, &expected))
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
    let seen = if is_heard { "silence" } else { "a sound" }.to_owned();
    Some(Verdict { passes, seen })
}

/// AGE's ROMs end as mooneye's do, or show a picture.
fn judge_age(path: &Path) -> Option<Verdict> {
    let name = stem(path);
    if name.contains("-dmgC") {
        return Some(ends_with_fibonacci_numbers(path));
    }
    let expected = picture::read_png(&path.with_file_name(format!("{name}-dmgC")))?;
    let mut console = Console::from_file(path);
    console.run_to_breakpoint(PICTURE_FRAMES, true);
    Some(judge_picture(&console, &expected))
}

/// The two revisions photographed differ in some of mealybug's pictures; B is the newer one.
fn judge_mealybug(path: &Path) -> Option<Verdict> {
    let expected = ["mealybug/expected/DMG-CPU B", "mealybug/expected/DMG-blob"]
        .iter()
        .find_map(|below| picture::read_png(&folder().join(below).join(stem(path))))?;
    let mut console = Console::from_file(path);
    console.run_to_breakpoint(PICTURE_FRAMES, true);
    Some(judge_picture(&console, &expected))
}

fn judge_acid(path: &Path) -> Option<Verdict> {
    let expected = picture::read_png(&path.with_file_name("reference-dmg"))
        .expect("acid/reference-dmg.png beside the ROM");
    let mut console = Console::from_file(path);
    console.run_frames(60, true);
    Some(judge_picture(&console, &expected))
}
