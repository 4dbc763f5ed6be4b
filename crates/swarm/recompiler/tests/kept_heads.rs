//! First addresses of blocks on disk: a second process makes the blocks of the first one after too
//! few frames to learn them itself.

use gbxcule_gameboy::{Cartridge, Machine};
use gbxcule_recompiler::{Recompile, Runner};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Frames of a process before it learns, and a few more.
const BEFORE_LEARNING: u32 = (1 << 14) + 64;
const LEARNING: u32 = 24_000;
/// Environment of a child: frames to run, and blocks to wait for.
const FRAMES: &str = "GBXCULE_TEST_FRAMES";
const BLOCKS: &str = "GBXCULE_TEST_BLOCKS";

/// Returns the number of blocks of a process that runs this many frames with the folder and waits
/// for `wanted` blocks.
fn blocks(folder: &Path, frames: u32, wanted: usize) -> usize {
    let mut child = Command::new(std::env::current_exe().expect("this program"));
    child.args(["--ignored", "--exact", "child", "--nocapture", "--test-threads", "1"]);
    child.env("GBXCULE_CACHE", folder);
    child.env(FRAMES, frames.to_string()).env(BLOCKS, wanted.to_string());
    let output = child.output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stdout);
    let number = said.split("blocks: ").nth(1).and_then(|rest| rest.split_whitespace().next());
    number.and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("{said}"))
}

fn variable(name: &str) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).expect("set by `blocks`")
}

#[test]
#[ignore = "a process that the test below starts"]
fn child() {
    let rom = gbxcule_assembler::by_name("PEARL_DRIFT").expect("a built-in ROM");
    let cartridge = Cartridge::from_rom(rom.bytes()).expect("a header");
    let mut machine = Machine::power_on(&cartridge);
    let mut cart_ram = vec![0; cartridge.ram_bytes as usize];
    let rom: Arc<[u8]> = rom.bytes().into();
    let mut runner = Runner::new(&rom, Recompile::WhereItWins);
    for frame in 0..variable(FRAMES) {
        machine.set_buttons(if frame & 32 == 0 { 0 } else { (frame >> 6) as u8 });
        runner.run_frame(&mut machine, &mut cart_ram, false);
    }
    // Blocks come from another thread, and their heads lie on disk a second after the last.
    let (begun, patience) = (Instant::now(), Duration::from_secs(600));
    let folder = std::path::PathBuf::from(std::env::var_os("GBXCULE_CACHE").expect("a folder"));
    let is_kept = || std::fs::read_dir(&folder).is_ok_and(|mut files| files.next().is_some());
    while begun.elapsed() < patience
        && (runner.shared().table().len() < variable(BLOCKS) || !is_kept())
    {
        std::thread::sleep(Duration::from_millis(20));
    }
    println!("blocks: {}", runner.shared().table().len());
}

#[test]
fn a_second_process_makes_the_blocks_of_the_first() {
    let [kept, empty] = [(), ()].map(|()| tempfile::tempdir().expect("a folder"));
    let learned = blocks(kept.path(), LEARNING, 1);
    let without = blocks(empty.path(), BEFORE_LEARNING, 0);
    assert!(without < learned / 2, "{without} of {learned} are learned in two frames");
    // The first process may have kept heads before most of its blocks were made.
    let with = blocks(kept.path(), BEFORE_LEARNING, without + 1);
    assert!(with > without, "{with} of {learned}");
}
