//! The suites: where their ROMs lie, which of them are for a CGB, and how each says that it passed.

use std::path::{Path, PathBuf};

use crate::console::{Console, folder, roms_below};
use crate::picture;

/// Frames after which a ROM that has said nothing counts as failed.
const FRAMES_MAX: u32 = 4000;
/// Frames after which gambatte's ROMs have printed their digits.
const GAMBATTE_FRAMES: u32 = 17;
/// mealybug's ROMs have shown their picture by then.
const PICTURE_FRAMES: u32 = 600;

/// One public suite.
pub(crate) struct Suite {
    /// Name in the table.
    pub(crate) title: &'static str,
    /// Name among the known failures.
    pub(crate) folder: &'static str,
    /// Folders or files below `GBXCULE_TEST_ROMS`.
    paths: &'static [&'static str],
    /// Runs one ROM, if it is for a CGB; gives what is wrong, or nothing.
    judge: fn(&Path) -> Option<Option<String>>,
}

/// One ROM's result.
pub(crate) struct Row {
    /// Path below the suite's folder, without its ending.
    pub(crate) name: String,
    /// Reason of its failure, if it fails.
    pub(crate) fault: Option<String>,
}

pub(crate) const BLARGG: Suite = Suite {
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
    judge: judge_blargg,
};

pub(crate) const MOONEYE: Suite = Suite {
    title: "mooneye-test-suite, acceptance, emulator-only and misc",
    folder: "mooneye",
    paths: &["mooneye/acceptance", "mooneye/emulator-only", "mooneye/misc"],
    judge: judge_mooneye,
};

pub(crate) const ACID: Suite = Suite {
    title: "cgb-acid2, cgb-acid-hell",
    folder: "acid",
    paths: &["acid/cgb-acid2.gbc", "acid/cgb-acid-hell.gbc"],
    judge: judge_acid,
};

pub(crate) const MEALYBUG: Suite = Suite {
    title: "mealybug-tearoom-tests, CPU CGB C",
    folder: "mealybug",
    paths: &["mealybug"],
    judge: judge_mealybug,
};

pub(crate) const GAMBATTE_DIGITS: Suite = Suite {
    title: "gambatte hwtests, cgb04c, digits",
    folder: "gambatte digits",
    paths: &["gambatte"],
    judge: judge_gambatte_digits,
};

pub(crate) const GAMBATTE_PICTURES: Suite = Suite {
    title: "gambatte hwtests, cgb04c, pictures",
    folder: "gambatte pictures",
    paths: &["gambatte"],
    judge: judge_gambatte_picture,
};

pub(crate) const AGE: Suite = Suite {
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

pub(crate) const ALL: [Suite; 7] =
    [BLARGG, MOONEYE, ACID, MEALYBUG, AGE, GAMBATTE_DIGITS, GAMBATTE_PICTURES];

impl Suite {
    /// Runs every ROM of the suite that a CGB can pass and whose path holds the text given.
    pub(crate) fn run(&self, only: &str) -> Vec<Row> {
        let root = folder();
        let mut rows = Vec::new();
        for path in self.paths.iter().flat_map(|path| roms_below(path)) {
            if !path.to_string_lossy().contains(only) {
                continue;
            }
            if let Some(fault) = (self.judge)(&path) {
                let below = path.strip_prefix(&root).expect("a path below the suites' folder");
                let name = below.components().skip(1).collect::<PathBuf>().with_extension("");
                rows.push(Row { name: name.to_string_lossy().into_owned(), fault });
            }
        }
        rows
    }
}

fn stem(path: &Path) -> String {
    path.file_stem().expect("a file").to_string_lossy().into_owned()
}

fn judge_picture(console: &Console, expected: &[u16]) -> Option<String> {
    let differing = picture::differing_pixels(&console.machine.frame, expected);
    (differing != 0).then(|| format!("{differing} pixels differ"))
}

/// blargg's ROMs print `Passed` on the screen, or leave 0 at A000 behind a signature.
fn judge_blargg(path: &Path) -> Option<Option<String>> {
    let mut console = Console::from_file(path);
    for _ in 0..FRAMES_MAX / 20 {
        console.run_frames(20, false);
        if console.cart_ram.get(1..4) == Some(&[0xde, 0xb0, 0x61]) && console.cart_ram[0] != 0x80 {
            let code = console.cart_ram[0];
            return Some((code != 0).then(|| format!("code {code}: {}", text(&console))));
        }
        let text = console.screen_text();
        if text.contains("Passed") || text.contains("Failed") {
            return Some(text.contains("Failed").then(|| self::text(&console)));
        }
    }
    Some(Some(format!("no result: {}", text(&console))))
}

/// The words on the screen.
fn text(console: &Console) -> String {
    console.screen_text().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns true if a name's last part, which lists models, names the CGB, or nothing.
fn is_for_cgb(name: &str) -> bool {
    match name.rsplit_once('-') {
        Some((_, models)) => models == "C" || ["cgb", "cgbABCDE"].contains(&models),
        None => true,
    }
}

/// mooneye's ROMs end with Fibonacci numbers in the registers.
fn judge_mooneye(path: &Path) -> Option<Option<String>> {
    is_for_cgb(&stem(path)).then(|| fault_of_registers(path))
}

/// Fault that a ROM tells by other numbers than Fibonacci's in the registers.
fn fault_of_registers(path: &Path) -> Option<String> {
    let mut console = Console::from_file(path);
    console.run_to_breakpoint(FRAMES_MAX, false);
    let cpu = &console.machine.cpu;
    let registers = [cpu.b, cpu.c, cpu.d, cpu.e, cpu.h, cpu.l];
    let passes = registers == [3, 5, 8, 13, 21, 34];
    (!passes).then(|| format!("B to L are {registers:02x?}: {}", text(&console)))
}

/// Endings of AGE's ROMs and pictures for a CGB B or C, in its own mode and in the original's.
const AGE_MODELS: [&str; 4] = ["-cgbBC", "-cgbBCE", "-ncmBC", "-ncmBCE"];

fn judge_age(path: &Path) -> Option<Option<String>> {
    let name = stem(path);
    if AGE_MODELS.iter().any(|model| name.ends_with(model)) {
        return Some(fault_of_registers(path));
    }
    let picture = |model| picture::read_png(&path.with_file_name(format!("{name}{model}.png")));
    let expected = AGE_MODELS.iter().find_map(picture)?;
    let mut console = Console::from_file(path);
    console.run_to_breakpoint(PICTURE_FRAMES, true);
    Some(judge_picture(&console, &expected))
}

fn judge_acid(path: &Path) -> Option<Option<String>> {
    let expected =
        picture::read_png(&path.with_extension("png")).expect("a picture beside the ROM");
    let mut console = Console::from_file(path);
    console.run_frames(60, true);
    Some(judge_picture(&console, &expected))
}

/// ROMs whose picture for a CPU CGB C only says that there is none yet.
const WITHOUT_PICTURE: [&str; 4] =
    ["m3_lcdc_win_en_change_multiple_wx", "m3_wx_4_change", "m3_wx_5_change", "m3_wx_6_change"];

fn judge_mealybug(path: &Path) -> Option<Option<String>> {
    if WITHOUT_PICTURE.contains(&stem(path).as_str()) {
        return None;
    }
    let name = format!("mealybug/expected/CPU CGB C/{}.png", stem(path));
    let expected = picture::read_png(&folder().join(name))?;
    let mut console = Console::from_file(path);
    console.run_to_breakpoint(PICTURE_FRAMES, true);
    Some(judge_picture(&console, &expected))
}

/// Returns the digits that a gambatte ROM's name says a CGB prints, unless the name is about sound.
fn digits_of_cgb(name: &str) -> Option<&str> {
    let mark = "cgb04c_out";
    let at = name.find(mark)? + mark.len();
    let digits = name[at..].split(|letter: char| !letter.is_ascii_hexdigit()).next()?;
    (!name[at..].starts_with("audio")).then_some(digits)
}

fn judge_gambatte_digits(path: &Path) -> Option<Option<String>> {
    let name = stem(path);
    let expected = digits_of_cgb(&name)?.to_uppercase();
    let mut console = Console::from_file(path);
    console.run_frames(GAMBATTE_FRAMES, true);
    let font = picture::font_in(&console.rom).expect("gambatte's font in the ROM");
    let seen = picture::digits(&console.machine.frame, font, expected.len());
    Some((seen != expected).then(|| format!("{seen} instead of {expected}")))
}

/// Pictures that say `cgb04c`, but for those of programs for the original, whose colours are the
/// tester's own grays.
fn judge_gambatte_picture(path: &Path) -> Option<Option<String>> {
    let marked = |mark| path.with_file_name(format!("{}_{mark}.png", stem(path)));
    let expected = picture::read_png(&marked("cgb04c"))
        .or_else(|| picture::read_png(&marked("dmg08_cgb04c")))?;
    let mut console = Console::from_file(path);
    if console.machine.ppu.compatible {
        return None;
    }
    console.run_frames(GAMBATTE_FRAMES, true);
    Some(judge_picture(&console, &expected))
}
