//! States that SameBoy wrote go on here as they do there, and ours go on in SameBoy as here.
//!
//! The states beside this file are SameBoy's own, written in a VBlank; the expected results came
//! from SameBoy too. An ignored test compares with SameBoy itself, and needs a build of it: in its
//! folder, 1.0.3 here, `make lib`, then `GBXCULE_SAMEBOY=/its/folder cargo nextest run -p
//! gbxcule-swarm --test sameboy --run-ignored all`. The test writes SameBoy's state of each ROM to
//! `target/tmp`: when a ROM changes, gzip its state and replace the one here.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use gbxcule_swarm::{NativeSwarm, Rom, Schedule, SwarmConfig};

const FRAMES: usize = 110;
const WRAM_BYTES: usize = 0x2000;
/// Instruction boundaries around a frame's beginning that the shim reports.
const MOMENTS: usize = 11;

/// A ROM, the state that SameBoy wrote of it, the bytes of work RAM that no neighbouring
/// instruction changes, and the digest of these over the frames after.
const STATES: [(&str, &[u8], usize, u64); 3] = [
    ("PEARL_DRIFT", include_bytes!("pearl_drift.state.gz"), 0x80, 0xB0AE_74A4_1997_4E88),
    ("PPU_WINDOW", include_bytes!("ppu_window.state.gz"), 0x10, 0x61D6_90B5_E6BA_300C),
    ("MBC5_RAM", include_bytes!("mbc5_ram.state.gz"), 0x10, 0x2A4E_D480_4491_DA85),
];

fn swarm(name: &str) -> NativeSwarm {
    let rom = gbxcule_assembler::by_name(name).expect("a ROM of the suite");
    let schedule = Schedule::new(1, 1).expect("a schedule");
    let config = SwarmConfig { schedule, ..SwarmConfig::new(1) };
    NativeSwarm::new(Rom::new(rom.bytes()).expect("a header"), config).expect("a swarm")
}

/// Frames without buttons, and work RAM after each.
fn run(swarm: &mut NativeSwarm, frames: usize) -> Vec<Vec<u8>> {
    let noop = swarm.config().codec.action("NOOP").expect("an action");
    let mut seen = Vec::new();
    for _ in 0..frames {
        swarm.step(&[noop]).expect("a step");
        seen.push(swarm.read_memory(0, 0xC000..0xE000).expect("memory"));
    }
    seen
}

/// FNV-1a over the first bytes of each frame's work RAM.
fn digest<'m>(frames: impl Iterator<Item = &'m [u8]>, bytes: usize) -> u64 {
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3);
    frames.flat_map(|wram| &wram[..bytes]).fold(0xCBF2_9CE4_8422_2325, mix)
}

fn unpacked(state: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(state).read_to_end(&mut bytes).expect("a gzip file");
    bytes
}

#[test]
fn states_of_sameboy_go_on_as_in_sameboy() {
    for (name, state, bytes, expected) in STATES {
        let mut swarm = swarm(name);
        swarm.import_state(0, &unpacked(state)).expect("a BESS state");
        let seen = run(&mut swarm, FRAMES);
        let digest_of_seen = digest(seen.iter().map(Vec::as_slice), bytes);
        assert_eq!(digest_of_seen, expected, "{name}: {digest_of_seen:#018X}");
    }
}

/// SameBoy with the shim, built once.
struct SameBoy {
    shim: PathBuf,
    folder: tempfile::TempDir,
}

impl SameBoy {
    fn build() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let home = std::env::var("GBXCULE_SAMEBOY").expect("GBXCULE_SAMEBOY names its folder");
        let home = Path::new(&home);
        let shim = folder.path().join("shim");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sameboy/shim.c");
        let mut compiler = Command::new(std::env::var("CC").unwrap_or_else(|_| "cc".to_owned()));
        compiler.args(["-O2", "-I"]).arg(home).arg(source).arg("-o").arg(&shim);
        let built = compiler.arg(home.join("build/lib/libsameboy.a")).arg("-lm").status();
        assert!(built.expect("a C compiler").success(), "the shim is built with libsameboy.a");
        Self { shim, folder }
    }

    /// Loads a state, writes one this many VBlanks later, and returns work RAM around the beginning
    /// of each frame.
    fn run(&self, rom: &[u8], state: &[u8], vblanks: usize) -> (Vec<u8>, Vec<Vec<u8>>) {
        let file = |name: &str| self.folder.path().join(name);
        fs::write(file("game.gb"), rom).expect("a file");
        fs::write(file("state"), state).expect("a file");
        let mut shim = Command::new(&self.shim);
        shim.current_dir(self.folder.path()).args(["game.gb", "state", &vblanks.to_string()]);
        let output = shim.args(["saved", &FRAMES.to_string(), "wram"]).output().expect("it runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let wram = fs::read(file("wram")).expect("its output");
        let frames = wram.chunks(MOMENTS * WRAM_BYTES).map(<[u8]>::to_vec).collect();
        (fs::read(file("saved")).expect("its state"), frames)
    }
}

fn assert_goes_on_alike(name: &str, which: &str, ours: &[Vec<u8>], theirs: &[Vec<u8>]) {
    assert_eq!(theirs.len(), FRAMES);
    for (frame, (wram, moments)) in ours.iter().zip(theirs).enumerate() {
        let is_one = moments.chunks(WRAM_BYTES).any(|moment| moment == wram);
        assert!(is_one, "{name}: {which}, {frame} frames later");
    }
}

#[test]
#[ignore = "needs GBXCULE_SAMEBOY: SameBoy's folder, after `make lib`"]
fn every_rom_goes_on_alike_in_both_directions() {
    let same_boy = SameBoy::build();
    for rom in gbxcule_assembler::all() {
        let name = rom.name;
        let mut swarm = swarm(name);
        run(&mut swarm, 200);
        let state = swarm.export_bess(0).expect("an env");
        let (_, theirs) = same_boy.run(rom.bytes(), &state, 0);
        assert_goes_on_alike(name, "what we saved", &run(&mut swarm, FRAMES), &theirs);

        let (saved, theirs) = same_boy.run(rom.bytes(), &state, 40);
        let fresh = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.state"));
        fs::write(fresh, &saved).expect("a file");
        swarm.import_state(0, &saved).expect("a BESS state");
        assert_goes_on_alike(name, "what SameBoy saved", &run(&mut swarm, FRAMES), &theirs);
    }
    for (name, state, bytes, expected) in STATES {
        let rom = gbxcule_assembler::by_name(name).expect("a ROM of the suite");
        let (_, theirs) = same_boy.run(rom.bytes(), &unpacked(state), 0);
        // The fourth of these moments is the beginning itself.
        let begins = theirs.iter().map(|moments| &moments[3 * WRAM_BYTES..]);
        assert_eq!(digest(begins, bytes), expected, "{name} in SameBoy");
    }
}
