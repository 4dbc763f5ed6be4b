//! Suites: the paths of their ROMs, which of them are for the model, and how each reports that it
//! passed.

use std::path::{Path, PathBuf};

use gbxcule_gameboy::Revision;
use gbxcule_gameboy::cpu::Mode;
use gbxcule_testkit::switch::is_chosen;

use crate::console::{Console, folder, revision, roms_below};
use crate::{known_failure, picture};

/// Frames after which a ROM without a result counts as failed.
const MAX_FRAMES: u32 = 4000;
/// Frames after which gambatte's ROMs have printed their digits or shown their picture.
const GAMBATTE_FRAMES: u32 = 17;
/// mealybug's and AGE's ROMs have shown their picture by then.
const PICTURE_FRAMES: u32 = 600;

/// DocBoy's ROMs show lines by then.
const DOCBOY_FRAMES: u32 = 600;
/// DocBoy's ROMs show their pictures by then.
const DOCBOY_PICTURE_FRAMES: u32 = 60;

/// Buttons as the machine numbers them.
const UP: u8 = 4;
const A: u8 = 16;

/// One public suite.
pub(crate) struct Suite {
    /// Name in the table.
    pub(crate) title: &'static str,
    /// Name among the known failures.
    pub(crate) folder: &'static str,
    /// Folders or files below `GBXCULE_TEST_ROMS`.
    pub(crate) paths: &'static [&'static str],
    /// Runs one ROM, if it is for the model and says whether it passed.
    pub(crate) judge: fn(&Path) -> Option<Verdict>,
}

/// Fault that a ROM shows, if it does not pass.
pub(crate) type Verdict = Option<String>;

/// One ROM's result.
struct Row {
    /// Path below the suite's folder, without its ending.
    name: String,
    verdict: Verdict,
}

impl Suite {
    /// Runs every ROM of the suite that the model can pass and whose path holds the text given.
    fn run(&self) -> Vec<Row> {
        let root = folder();
        let mut rows = Vec::new();
        for path in self.paths.iter().flat_map(|path| roms_below(path)) {
            if !is_chosen(&path.to_string_lossy()) {
                continue;
            }
            if let Some(verdict) = (self.judge)(&path) {
                let below = path.strip_prefix(&root).expect("a path below the suites' folder");
                let name = below.components().skip(1).collect::<PathBuf>().with_extension("");
                rows.push(Row { name: name.to_string_lossy().into_owned(), verdict });
            }
        }
        rows
    }

    /// Runs the suite and compares the failures with the known ones.
    pub(crate) fn assert(&self) {
        let rows = self.run();
        let folder = self.folder;
        assert!(!rows.is_empty(), "no ROM found in {folder}: is GBXCULE_TEST_ROMS complete?");
        let mut wrong = Vec::new();
        for Row { name, verdict } in &rows {
            match (verdict, known_failure::reason(folder, name)) {
                (Some(fault), None) => wrong.push(format!("{name} fails: {fault}")),
                (None, Some(reason)) => wrong.push(format!("{name} passes, known as: {reason}")),
                _ => {}
            }
        }
        for name in known_failure::names(folder) {
            if !rows.iter().any(|row| row.name == name) {
                wrong.push(format!("{name}, a known failure, is no ROM of the suite"));
            }
        }
        let count = wrong.len();
        assert!(count == 0, "{count} of {} ROMs in {folder}:\n{}", rows.len(), wrong.join("\n"));
    }
}

/// Prints how many ROMs of each suite pass, and which don't. With `GBXCULE_ONLY=text` only those
/// run whose path holds the text.
pub(crate) fn print_table(suites: &[Suite]) {
    let mut failures = Vec::new();
    println!("| suite | passes | of |\n|---|---|---|");
    for suite in suites {
        let rows = suite.run();
        let passed = rows.iter().filter(|row| row.verdict.is_none()).count();
        println!("| {} | {passed} | {} |", suite.title, rows.len());
        let failed = rows.into_iter().filter_map(|row| Some((row.name, row.verdict?)));
        failures.extend(failed.map(|(name, fault)| format!("{} {name}: {fault}", suite.folder)));
    }
    failures.iter().for_each(|failure| println!("{failure}"));
}

/// A file's name without its ending.
pub(crate) fn stem(path: &Path) -> String {
    path.file_stem().expect("a file").to_string_lossy().into_owned()
}

/// blargg's ROMs print `Passed` on the screen, or leave 0 at A000 before a signature.
pub(crate) fn judge_blargg(path: &Path) -> Option<Verdict> {
    let mut console = Console::from_file(path);
    for _ in 0..MAX_FRAMES / 20 {
        console.run_frames(20, false);
        if console.cart_ram.get(1..4) == Some(&[0xde, 0xb0, 0x61]) && console.cart_ram[0] != 0x80 {
            let code = console.cart_ram[0];
            return Some((code != 0).then(|| format!("code {code}: {}", words(&console))));
        }
        let text = console.screen_text();
        if text.contains("Passed") || text.contains("Failed") {
            return Some(text.contains("Failed").then(|| words(&console)));
        }
    }
    Some(Some(format!("no result: {}", words(&console))))
}

/// The words on the screen.
fn words(console: &Console) -> String {
    console.screen_text().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// mooneye's ROMs end with Fibonacci numbers in the registers.
pub(crate) fn judge_registers(path: &Path) -> Verdict {
    let mut console = Console::from_file(path);
    console.run_to_breakpoint(MAX_FRAMES, false);
    let cpu = &console.machine.cpu;
    let registers = [cpu.b, cpu.c, cpu.d, cpu.e, cpu.h, cpu.l];
    let passes = registers == [3, 5, 8, 13, 21, 34];
    (!passes).then(|| format!("B to L are {registers:02x?}: {}", words(&console)))
}

/// Compares the picture that a ROM shows when it is done.
pub(crate) fn judge_picture(path: &Path, expected: &[u16]) -> Verdict {
    judge_picture_of(revision(), path, expected)
}

/// Compares the picture that a ROM shows on a revision when it is done.
pub(crate) fn judge_picture_of(revision: Revision, path: &Path, expected: &[u16]) -> Verdict {
    let mut console = Console::of_revision(path, revision);
    console.run_to_breakpoint(PICTURE_FRAMES, true);
    picture::difference(&console.machine.frame, expected)
}

/// Compares the picture that an acid ROM shows: it goes on showing it.
pub(crate) fn judge_acid_picture(path: &Path, picture: &Path) -> Verdict {
    let expected = picture::read_png(picture).expect("the picture of an acid ROM beside it");
    let mut console = Console::from_file(path);
    console.run_frames(60, true);
    picture::difference(&console.machine.frame, &expected)
}

/// Compares the digits that a gambatte ROM prints with those that its name has behind one of some
/// marks, unless its name is about sound there.
pub(crate) fn judge_gambatte_digits(path: &Path, marks: &[&str]) -> Option<Verdict> {
    let name = stem(path);
    let at = marks.iter().find_map(|mark| Some(name.find(mark)? + mark.len()))?;
    let digits = name[at..].split(|letter: char| !letter.is_ascii_hexdigit()).next()?;
    if name[at..].starts_with("audio") {
        return None;
    }
    let expected = digits.to_uppercase();
    let mut console = Console::from_file(path);
    console.run_frames(GAMBATTE_FRAMES, true);
    let font = picture::font_in(&console.rom).expect("gambatte's font in the ROM");
    let seen = picture::digits(&console.machine.frame, font, expected.len());
    Some((seen != expected).then(|| format!("{seen} instead of {expected}")))
}

/// Runs a gambatte ROM for as long as its picture takes.
pub(crate) fn run_gambatte(mut console: Console) -> Console {
    console.run_frames(GAMBATTE_FRAMES, true);
    console
}

/// The picture beside a ROM whose name has one of some endings more than the ROM's, the first that
/// there is.
pub(crate) fn picture_beside(path: &Path, endings: &[&str]) -> Option<Vec<u16>> {
    let name = stem(path);
    let read = |ending| picture::read_png(&path.with_file_name(format!("{name}{ending}.png")));
    endings.iter().find_map(read)
}

/// DocBoy's ROMs end with a picture of horizontal lines if they pass and of vertical ones if not,
/// or with a picture of their own.
pub(crate) fn judge_docboy(path: &Path) -> Option<Verdict> {
    let below = |part: &str| folder().join(format!("docboy-results/{part}/{}.png", stem(path)));
    let is_visual = path.components().any(|part| part.as_os_str() == "visual");
    let expected = ["ppu", "dma"].iter().find_map(|part| picture::read_docboy_png(&below(part)));
    let name = path.to_string_lossy();
    let is_refused = ["interactive_visual", "huc3", "mbc7"].iter().any(|part| name.contains(part));
    let is_pressed = name.contains("interactive");
    if is_refused
        || is_pressed && !name.contains("stop_")
        || is_visual && (expected.is_none() || cfg!(color))
    {
        return None;
    }
    let mut console = Console::from_file(path);
    if let Some(expected) = expected.filter(|_| is_visual) {
        // The picture of one frame, after which `LD B,B` comes, or of every frame.
        console.run_to_breakpoint_after(0, DOCBOY_PICTURE_FRAMES, true);
        let Some(fault) = picture::difference(&console.machine.frame, &expected) else {
            return Some(None);
        };
        console.run_frames(DOCBOY_PICTURE_FRAMES, true);
        let is_shown_later = picture::difference(&console.machine.frame, &expected).is_none();
        return Some((!is_shown_later).then_some(fault));
    }
    // The button that must be held all the time, or pressed when the machine has stopped.
    if is_pressed && name.contains("joypad1") {
        console.machine.set_buttons(UP);
    }
    for _ in 0..DOCBOY_FRAMES / 10 {
        console.run_frames(9, false);
        if is_pressed && console.machine.cpu.mode == Mode::Stopped {
            console.machine.set_buttons(UP | A);
        }
        console.run_frames(1, true);
        // Without palettes the panel stays white; they note what they say in high RAM, too.
        if name.contains("cgb_dmg_ext_mode") && console.machine.hram[0x70] != 0 {
            let passes = console.machine.hram[0x70] == 1;
            return Some((!passes).then(|| "it says so".into()));
        }
        match picture::lines(&console.machine.frame) {
            Some(picture::Lines::Horizontal) => return Some(None),
            Some(picture::Lines::Vertical) => return Some(Some("it says so".into())),
            None => {}
        }
    }
    Some(Some("no result".into()))
}
