//! The suites that both models run: pictures, Fibonacci numbers and cartridge RAM.

use std::path::Path;

use gbxcule_gameboy::Revision;

use crate::console::{Console, revision};
use crate::picture;
use crate::suite::{self, Suite, Verdict, stem};

/// Frames after which a ROM shows the picture that it goes on showing.
const STILL_FRAMES: u32 = 300;
/// Frames after which a ROM that records its results has nothing more to record.
const RECORD_FRAMES: u32 = 1500;
/// Frames that a button is held, and frames that follow its release.
const PRESS_FRAMES: u32 = 8;

/// Buttons as the machine numbers them.
const DOWN: u8 = 8;
const A: u8 = 16;

/// Endings of the pictures and of the recorded results, by model.
#[cfg(not(color))]
const PICTURES: [&str; 4] = ["-dmg", "-dmg-cgb", "-cgb-dmg", ""];
#[cfg(color)]
const PICTURES: [&str; 4] = ["-cgb", "-dmg-cgb", "-cgb-dmg", ""];
#[cfg(not(color))]
const RECORDS: [&str; 1] = ["real_gb.sav"];
#[cfg(color)]
const RECORDS: [&str; 3] = ["real_gbc.sav", "real_gbc_1.sav", "real_gbc_2.sav"];

/// ROMs whose picture for the Color has an emulator's own colours.
const OTHER_COLORS: [&str; 2] = ["scxly", "mbc3-tester"];

pub(crate) const SMALL: Suite = Suite {
    title: "Bully, Strikethrough, scribbltests, Turtle Tests, MBC3 Tester, little-things-gb",
    folder: "small",
    paths: &["bully", "strikethrough", "scribbltests", "turtle", "mbc3-tester", "little-things"],
    judge: judge_small,
};

pub(crate) const RTC: Suite = Suite {
    title: "rtc3test, its three parts",
    folder: "rtc3test",
    paths: &["rtc3test"],
    judge: judge_clock,
};

pub(crate) const SHOOTOUT: Suite = Suite {
    title: "daid's tests in GBEmulatorShootout",
    folder: "daid",
    paths: &["daid"],
    judge: judge_shootout,
};

pub(crate) const RECORDED: Suite = Suite {
    title: "gbc-hw-tests, those with results of a console",
    folder: "gbc-hw-tests",
    paths: &["gbc-hw-tests"],
    judge: judge_recorded,
};

/// Compares a picture that a ROM goes on showing, if there is one for the model.
fn judge_still(path: &Path, mut console: Console, frames: u32) -> Option<Verdict> {
    let expected = suite::picture_beside(path, &PICTURES)?;
    console.run_frames(frames, true);
    let frame = &console.machine.frame;
    if OTHER_COLORS.contains(&stem(path).as_str()) {
        return Some(picture::difference_but_for_colors(frame, &expected));
    }
    Some(picture::difference(frame, &expected))
}

fn judge_small(path: &Path) -> Option<Verdict> {
    let mut console = Console::from_file(path);
    if stem(path) == "tellinglys" {
        // The eight buttons, each on another line.
        console.run_frames(60, false);
        for button in 0..8 {
            console.press_at(19 * button + 5, 1 << button, PRESS_FRAMES);
        }
    }
    // The MBC3 Tester restarts after a while.
    let frames = if stem(path) == "mbc3-tester" { 40 } else { STILL_FRAMES };
    judge_still(path, console, frames)
}

/// The three parts of rtc3test are chosen in its menu; each verdict names those that differ.
fn judge_clock(path: &Path) -> Option<Verdict> {
    let parts = [("basic-tests", 14), ("range-tests", 9), ("sub-second-writes", 27)];
    let mut faults = Vec::new();
    for (steps, (part, seconds)) in parts.into_iter().enumerate() {
        let mut console = Console::from_file(path);
        console.run_frames(60, false);
        for _ in 0..steps {
            console.press(DOWN, PRESS_FRAMES);
        }
        console.press(A, PRESS_FRAMES);
        let named = path.with_file_name(format!("{}-{part}.gb", stem(path)));
        if let Some(fault) = judge_still(&named, console, seconds * 60)? {
            faults.push(format!("{part}: {fault}"));
        }
    }
    Some((!faults.is_empty()).then(|| faults.join("; ")))
}

/// A test with one picture is for the model that its header names.
fn judge_shootout(path: &Path) -> Option<Verdict> {
    #[cfg(not(color))]
    const ENDINGS: [&str; 2] = [".dmg", ""];
    #[cfg(color)]
    const ENDINGS: [&str; 2] = [".gbc", ""];
    let name = stem(path);
    let is_for_color =
        name.contains("gbc") || path.extension().is_some_and(|ending| ending == "gbc");
    let is_for_both = ["stop_instr", "ppu_scanline_bgp"].contains(&name.as_str());
    if is_for_color != cfg!(color) && !is_for_both {
        return None;
    }
    let expected = suite::picture_beside(path, &ENDINGS)?;
    // The photograph shows a chip later than a CPU CGB C.
    let is_later = cfg!(color) && name == "ppu_scanline_bgp";
    let revision = if is_later { Revision::CgbE } else { revision() };
    let mut console = Console::of_revision(path, revision);
    console.run_frames(STILL_FRAMES, true);
    Some(picture::difference(&console.machine.frame, &expected))
}

/// Record that a ROM left on a console: a mark ends it, and what an older ROM left follows.
fn read_record(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = std::fs::read(path).ok()?;
    let mark = [0x12, 0x34, 0x56, 0x78];
    bytes.truncate(bytes.windows(4).position(|four| four == mark)? + 4);
    Some(bytes)
}

/// Compares what a ROM writes to its cartridge's RAM with what it wrote on a console.
fn judge_recorded(path: &Path) -> Option<Verdict> {
    let read = |name: &&str| read_record(&path.with_file_name(name));
    let expected: Vec<Vec<u8>> = RECORDS.iter().filter_map(read).collect();
    let first = expected.first()?;
    let mut console = Console::from_file(path);
    for _ in 0..RECORD_FRAMES / 10 {
        console.run_frames(10, false);
        if expected.iter().any(|record| console.cart_ram.starts_with(record)) {
            return Some(None);
        }
    }
    let pairs = || first.iter().zip(&console.cart_ram).enumerate();
    let differing = pairs().filter(|(_, (theirs, ours))| theirs != ours);
    let Some((at, (theirs, ours))) = pairs().find(|(_, (theirs, ours))| theirs != ours) else {
        let (record, ram) = (first.len(), console.cart_ram.len());
        return Some(Some(format!("the record has {record} bytes, cartridge RAM {ram}")));
    };
    Some(Some(format!(
        "{} of {} bytes differ; the first, at {at:04x}, is {ours:02x} instead of {theirs:02x}",
        differing.count(),
        first.len()
    )))
}

#[test]
#[ignore = "needs GBXCULE_TEST_ROMS"]
fn small_suites_show_their_pictures() {
    SMALL.assert();
}

#[test]
#[ignore = "needs GBXCULE_TEST_ROMS"]
fn rtc3test_shows_its_pictures() {
    RTC.assert();
}

#[test]
#[ignore = "needs GBXCULE_TEST_ROMS"]
fn daids_tests_show_their_pictures() {
    SHOOTOUT.assert();
}

#[test]
#[ignore = "needs GBXCULE_TEST_ROMS"]
fn machines_record_the_bytes_that_consoles_recorded() {
    RECORDED.assert();
}
