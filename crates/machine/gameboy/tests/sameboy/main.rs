//! Programs of others, run beside SameBoy: memory and pictures after each frame.
//!
//! Needs SameBoy's source after `make bootroms`, 1.0.3 here, in the folder `GBXCULE_SAMEBOY`, and a
//! folder of programs in `GBXCULE_PROGRAMS`:
//! `cargo test -p gbxcule-gameboy --test sameboy -- --ignored --nocapture`.
//! `docs/references.md` says what was found. Buttons are pressed from the second second on.

// The Color runs these, too.
#[cfg(color)]
extern crate gbxcule_gameboy_color as gbxcule_gameboy;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use gbxcule_gameboy::cpu::Cpu;
use gbxcule_gameboy::{Cartridge, Machine, Model, Revision};

const FRAMES: u32 = 1800;
/// Length of a frame in which the LCD stays on; it ends with an instruction.
const FRAME_MCYCLES: u32 = 17_556;
/// Frames without buttons.
const QUIET_FRAMES: u32 = 60;
/// Digests after a frame.
const PARTS: [&str; 5] = ["work RAM", "high RAM", "video RAM", "OAM", "picture"];
const PICTURE: usize = 4;
/// The shim's source, from this crate's folder.
const SHIM: &str = if cfg!(color) { "../tests/sameboy/shim.c" } else { "tests/sameboy/shim.c" };
/// SameBoy's sources that a machine doesn't need.
const TOOLS: [&str; 5] =
    ["cheats.c", "cheat_search.c", "debugger.c", "sm83_disassembler.c", "symbol_hash.c"];

struct Reference {
    folder: PathBuf,
    shim: PathBuf,
    /// Model, boot ROM, and line and dot at the program's start: with this dot most of gambatte's
    /// tests give the same in SameBoy and here.
    model: [&'static str; 4],
}

impl Reference {
    fn build() -> Self {
        let folder = PathBuf::from(env::var_os("GBXCULE_SAMEBOY").expect("SameBoy's folder"));
        let model = if cfg!(color) {
            ["cgb", "cgb_boot.bin", "144", "169"]
        } else {
            ["dmg", "dmg_boot.bin", "153", "401"]
        };
        let shim = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("sameboy_{}", model[0]));
        let sources =
            fs::read_dir(folder.join("Core")).expect("a folder").map(|it| it.unwrap().path());
        let sources = sources.filter(|path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            name.ends_with(".c") && name != "rewind.c" && !TOOLS.contains(&name)
        });
        let status = Command::new("cc")
            .args(["-O3", "-flto", "-w", "-D_GNU_SOURCE", "-DGB_INTERNAL", "-DGB_VERSION=\"\""])
            .args(["-DGB_DISABLE_DEBUGGER", "-DGB_DISABLE_CHEATS", "-DGB_DISABLE_CHEAT_SEARCH"])
            .args(["-DGB_DISABLE_REWIND", "-Dunrolled=", "-Dnounroll="])
            .arg("-I")
            .arg(&folder)
            .arg("-o")
            .arg(&shim)
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join(SHIM))
            .args(sources)
            .arg("-lm")
            .status();
        assert!(status.expect("a C compiler").success(), "the shim compiles");
        Self { folder, shim, model }
    }

    /// The digests after each frame of a schedule.
    fn run(&self, rom: &Path, schedule: &str) -> Vec<[u64; 5]> {
        let [model, boot, line, dot] = self.model;
        let written = self.shim.with_extension("schedule");
        fs::write(&written, schedule).expect("a file");
        let output = Command::new(&self.shim)
            .arg(rom)
            .arg(self.folder.join("build/bin/BootROMs").join(boot))
            .args([model, line, dot])
            .arg(written)
            .output()
            .expect("the shim");
        let text = String::from_utf8(output.stdout).expect("digits");
        let number = |word| u64::from_str_radix(word, 16).expect("a digest");
        let numbers = text.lines().map(|line| line.split(' ').map(number).collect::<Vec<u64>>());
        numbers.map(|frame| frame.try_into().expect("five digests")).collect()
    }
}

/// FNV-1a.
fn digest(bytes: &[u8]) -> u64 {
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3);
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, mix)
}

/// Random buttons, eight frames each: START, A, a direction, A with a direction, or none.
fn buttons(frame: u32) -> u8 {
    if frame < QUIET_FRAMES {
        return 0;
    }
    let random = digest(&(frame / 8).to_le_bytes()) >> 8;
    let direction = 1 << (random & 3);
    [128, 16, direction, direction | 16, 0][(random >> 8) as usize % 5]
}

/// Record of our machine over all frames.
struct Run {
    /// Digests after each frame, and whether the LCD was on in all of it: an incomplete picture is
    /// never seen.
    frames: Vec<([u64; 5], bool)>,
    /// Registers at the beginning, buttons and times, for SameBoy.
    schedule: String,
    /// Double speed was on at the end of a frame.
    is_fast: bool,
}

fn run(rom: &[u8], cartridge: &Cartridge) -> Run {
    let mut ram = vec![0; cartridge.ram_bytes as usize];
    let mut machine = Machine::power_on(cartridge);
    let div = machine.timer.counter(machine.now);
    let [af, bc, de, hl] = [Cpu::af, Cpu::bc, Cpu::de, Cpu::hl].map(|pair| pair(&machine.cpu));
    let schedule = format!("{div:x} {af:x} {bc:x} {de:x} {hl:x} {:x}\n", machine.cpu.sp);
    let mut run = Run { frames: Vec::new(), schedule, is_fast: false };
    let (mut before, mut mcycles) = (machine.mcycles_at_single_speed(), 0);
    for frame in 0..FRAMES {
        machine.set_buttons(buttons(frame));
        machine.run_frame(rom, &mut ram, true);
        let now = machine.mcycles_at_single_speed();
        let length = now.wrapping_sub(before);
        mcycles += u64::from(length);
        before = now;
        writeln!(run.schedule, "{} {}", buttons(frame), mcycles * 4).expect("a string");
        let parts: [&[u8]; 5] =
            [&machine.wram, &machine.hram[..127], &machine.vram, &machine.oam, &machine.frame];
        let is_lit = machine.peek(rom, &ram, 0xff40) & 0x80 != 0;
        run.frames.push((parts.map(digest), is_lit && length.abs_diff(FRAME_MCYCLES) < 8));
        run.is_fast |= cfg!(color) && machine.peek(rom, &ram, 0xff4d) & 0x80 != 0;
    }
    run
}

#[test]
#[ignore = "needs SameBoy's source and a folder of programs"]
fn programs_run_as_they_do_in_sameboy() {
    let model = if cfg!(color) { Model::Color } else { Model::Original };
    let reference = Reference::build();
    let folder = env::var_os("GBXCULE_PROGRAMS").expect("a folder of programs");
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).expect("a folder").map(|it| it.expect("an entry").path()).collect();
    // Any first share of the programs is a sample of them.
    paths.sort_by_key(|path| digest(path.file_name().expect("a file").as_encoded_bytes()));
    let [mut compared, mut equal, mut same_pictures, mut fast] = [0; 4];
    for path in paths {
        let mut rom = fs::read(&path).expect("a file");
        let cartridge = match Cartridge::from_rom(&rom) {
            Ok(cartridge) if cartridge.check_model(model).is_ok() => {
                cartridge.for_revision(if cfg!(color) { Revision::CgbE } else { Revision::Usual })
            }
            Ok(_) => continue,
            Err(error) => {
                println!("{}: {error}", path.display());
                continue;
            }
        };
        if cfg!(color) && cartridge.model() == Model::Original {
            continue;
        }
        rom.resize(cartridge.padded_len(), 0xff);
        let Run { frames: ours, schedule, is_fast } = run(&rom, &cartridge);
        let theirs = reference.run(&path, &schedule);
        assert_eq!(ours.len(), theirs.len(), "{}: SameBoy ran", path.display());
        let differing = |part: usize| {
            let frames = ours.iter().zip(&theirs).enumerate();
            let differs = frames.filter(|(_, ((ours, is_lcd_on), theirs))| {
                ours[part] != theirs[part] && (*is_lcd_on || part < PICTURE)
            });
            differs.map(|(frame, _)| frame).collect::<Vec<usize>>()
        };
        let parts: Vec<Vec<usize>> = (0..PARTS.len()).map(differing).collect();
        compared += 1;
        fast += usize::from(is_fast);
        equal += usize::from(parts.iter().all(Vec::is_empty));
        same_pictures += usize::from(parts[PICTURE].is_empty());
        if !parts[PICTURE].is_empty() {
            let differing = PARTS.iter().zip(&parts).filter(|(_, frames)| !frames.is_empty());
            let words: Vec<String> = differing
                .map(|(name, frames)| format!("{name} from {}, {}", frames[0], frames.len()))
                .collect();
            let speed = if is_fast { " (double speed)" } else { "" };
            println!("{}{speed}: {}", path.display(), words.join("; "));
        }
    }
    println!(
        "{compared} programs, {fast} of them at double speed: {same_pictures} show the same \
         picture in each frame, {equal} are equal in each byte, too"
    );
    assert!(
        compared > 0 && same_pictures * 100 >= compared * 88,
        "the machine differs from SameBoy"
    );
}
