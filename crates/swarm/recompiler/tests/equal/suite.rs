//! The public ROM suites, run by blocks: every byte is the interpreter's, so the verdicts are the
//! same (`make rom-suites`).

use crate::program::Subject;
use gbxcule_recompiler::EagerRunner;
use gbxcule_testkit::switch::Share;
use std::path::{Path, PathBuf};

/// Frames of each ROM: most tests end within them.
const FRAMES: u32 = 150;
/// Frames in which the recompiler learns which code is hot.
const FRAMES_LEARNING: u32 = 40;

fn roms(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            roms(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "gb") {
            found.push(path);
        }
    }
}

/// Takes the folder of `GBXCULE_TEST_ROMS`, and of its ROMs those of `GBXCULE_SHARE`.
#[test]
#[ignore = "needs the ROMs of public suites"]
fn rom_suites_run_alike() {
    let folder = std::env::var_os("GBXCULE_TEST_ROMS").expect("GBXCULE_TEST_ROMS names a folder");
    let share = Share::or_one_in(1);
    let mut found = Vec::new();
    roms(Path::new(&folder), &mut found);
    found.sort();
    let (mut ran, mut compiled) = (0, 0);
    for (_, path) in (0..).zip(&found).filter(|&(number, _)| share.has(number)) {
        let rom = std::fs::read(path).expect("a ROM");
        // The table says which ROMs the machine refuses.
        let Some(mut native) = Subject::new(&rom) else { continue };
        let mut ours = native.clone();
        let mut blocks = EagerRunner::new(8);
        for frame in 0..FRAMES {
            let Subject { rom, machine, cart_ram, .. } = &mut ours;
            let draw = frame % 16 == 15;
            match frame < FRAMES_LEARNING {
                true => blocks.learn_frame(machine, rom, cart_ram, draw),
                false => blocks.run_frame(machine, rom, cart_ram, draw),
            }
            native.machine.run_frame(&native.rom, &mut native.cart_ram, draw);
            ours.assert_equals(&native, &format!("{} after frame {frame}", path.display()));
        }
        (ran, compiled) = (ran + 1, compiled + blocks.compiled());
    }
    assert!(ran > 0, "no ROM in {}", folder.display());
    println!("{ran} ROMs, {compiled} blocks: equal after each of {FRAMES} frames");
}
