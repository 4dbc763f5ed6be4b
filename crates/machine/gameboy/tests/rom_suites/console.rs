//! A machine with its cartridge, for tests that run whole ROMs.

use std::path::{Path, PathBuf};

use gbxcule_gameboy::cpu::Mode;
use gbxcule_gameboy::{Cartridge, Machine, Model, PowerOnMemory, Revision, run_frame_pressing_at};

pub(crate) struct Console {
    pub(crate) machine: Machine,
    pub(crate) cart_ram: Vec<u8>,
    pub(crate) rom: Vec<u8>,
}

impl Console {
    pub(crate) fn from_file(path: &Path) -> Console {
        Console::of_revision(path, revision())
    }

    pub(crate) fn of_revision(path: &Path, revision: Revision) -> Console {
        let mut rom =
            std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        // A DMG also starts programs that ask for a Game Boy Color; gambatte's have results for
        // both.
        let cartridge =
            Cartridge::from_rom(&rom).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        rom.resize(cartridge.padded_len(), 0xff);
        let cartridge = cartridge.for_revision(revision);
        let cart_ram = vec![0; cartridge.ram_bytes as usize];
        // Some of gambatte's tests read what power-on left in a DMG's work RAM.
        let machine = Machine::power_on_with(&cartridge, PowerOnMemory::Pattern);
        Console { machine, cart_ram, rom }
    }

    pub(crate) fn run_frames(&mut self, frames: u32, draw: bool) {
        for _ in 0..frames {
            self.machine.run_frame(&self.rom, &mut self.cart_ram, draw);
        }
    }

    /// Holds buttons for some frames, then none for as many.
    pub(crate) fn press(&mut self, buttons: u8, frames: u32) {
        self.machine.set_buttons(buttons);
        self.run_frames(frames, false);
        self.machine.set_buttons(0);
        self.run_frames(frames, false);
    }

    /// Holds buttons from a line on for some frames, then none for as many.
    pub(crate) fn press_at(&mut self, line: u8, buttons: u8, frames: u32) {
        let Console { machine, rom, cart_ram } = self;
        run_frame_pressing_at(machine, rom, cart_ram, false, (line, buttons));
        self.press(buttons, frames);
    }

    /// Runs to the `LD B,B`, or the undefined opcode, by which these suites report that they are
    /// done.
    pub(crate) fn run_to_breakpoint(&mut self, frames_max: u32, draw: bool) {
        self.run_to_breakpoint_after(2, frames_max, draw);
    }

    /// Runs to the first such opcode after this many frames.
    pub(crate) fn run_to_breakpoint_after(&mut self, frames_min: u32, frames_max: u32, draw: bool) {
        let mut frames = 0;
        self.machine.begin_frame(draw);
        while frames < frames_max {
            let pc = self.machine.cpu.pc;
            let opcode = self.machine.peek(&self.rom, &self.cart_ram, pc);
            if frames > frames_min && (opcode == 0x40 || self.machine.cpu.mode == Mode::Locked) {
                return;
            }
            if self.machine.run_instruction(&self.rom, &mut self.cart_ram) {
                frames += 1;
                self.machine.begin_frame(draw);
            }
        }
    }

    /// The background map at 9800 as text.
    pub(crate) fn screen_text(&self) -> String {
        let map = &self.machine.vram[0x1800..0x1c00];
        map.iter().map(|&tile| if tile.is_ascii_graphic() { tile as char } else { ' ' }).collect()
    }
}

/// Revision on which ROMs run: that of `GBXCULE_MODEL`, or the usual one.
pub(crate) fn revision() -> Revision {
    let name = std::env::var("GBXCULE_MODEL").unwrap_or_default();
    match Revision::by_name(&name) {
        Some((model, revision)) if (model == Model::Color) == cfg!(color) => revision,
        _ => Revision::Usual,
    }
}

/// The folder with the suites.
pub(crate) fn folder() -> PathBuf {
    std::env::var_os("GBXCULE_TEST_ROMS")
        .map(PathBuf::from)
        .expect("set GBXCULE_TEST_ROMS to the folder with the test ROMs (docs/testing.md)")
}

/// Every `.gb` and `.gbc` file in a folder of the suites and below it, sorted; or the file itself.
pub(crate) fn roms_below(name: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    collect(&folder().join(name), &mut files);
    files.sort();
    files
}

fn collect(path: &Path, found: &mut Vec<PathBuf>) {
    if path.is_dir() {
        for entry in std::fs::read_dir(path).expect("a readable folder") {
            collect(&entry.expect("a readable entry").path(), found);
        }
    } else if path.is_file() && path.extension().is_some_and(|it| it == "gb" || it == "gbc") {
        found.push(path.to_owned());
    }
}
