//! Differences of a CPU CGB E from a C, in the M-cycles that AGE's tests measure.

use gbxcule_gameboy_color::{Cartridge, Machine, Revision};

const SCX: u16 = 0xff43;
const LCDC: u16 = 0xff40;
const STAT: u16 = 0xff41;
const LY: u16 = 0xff44;
const LYC: u16 = 0xff45;
const OAM: u16 = 0xfe00;
const LINE: u32 = 114;
const CHIPS: [Revision; 2] = [Revision::CgbC, Revision::CgbE];

fn power_on(revision: Revision) -> Machine {
    let mut rom = vec![0; 0x8000];
    rom[0x143] = 0x80;
    let cartridge = Cartridge::from_rom(&rom).expect("a good header");
    Machine::power_on(&Cartridge { revision, ..cartridge })
}

fn access(machine: &mut Machine, address: u16, value: Option<u8>) -> u8 {
    let mut cpu = machine.cpu;
    cpu.now = machine.now;
    if let Some(value) = value {
        cpu.write(machine, &[0; 0x8000], &mut [], address, value);
        machine.now = cpu.now;
    }
    cpu.read(machine, &[0; 0x8000], &mut [], address)
}

/// Value of a register some M-cycles after the write that switched the LCD on.
fn shown(revision: Revision, (scx, is_double): (u8, bool), address: u16, mcycles: u32) -> u8 {
    let mut machine = power_on(revision);
    access(&mut machine, LCDC, Some(0x11));
    machine.speed.double = is_double;
    (machine.ppu.double_speed, machine.apu.double_speed) = (is_double, is_double);
    access(&mut machine, SCX, Some(scx));
    let mut cpu = machine.cpu;
    cpu.now = machine.now;
    cpu.write(&mut machine, &[0; 0x8000], &mut [], LCDC, 0x91);
    machine.now = cpu.now + mcycles - 1;
    access(&mut machine, address, None)
}

/// M-cycles of a span in which the chips differ, and what the E shows there.
fn differences(at: (u8, bool), address: u16, span: std::ops::Range<u32>) -> Vec<(u32, u8)> {
    let both = |mcycle| CHIPS.map(|revision| shown(revision, at, address, mcycle));
    span.filter_map(|mcycle| {
        let [c, e] = both(mcycle);
        (c != e).then_some((mcycle, e))
    })
    .collect()
}

// AGE `ly-cgbE`: the third of four reads around the beginning of line 153.
#[test]
fn ly_153_is_seen_for_two_mcycles() {
    let first = 8 + 104 + LINE * (2 + 141 + 9);
    assert_eq!(differences((0, false), LY, first - 120..first + 120), [(first + 2, 0x99)]);
    let ly = |mcycle| CHIPS.map(|revision| shown(revision, (0, false), LY, first + mcycle));
    assert_eq!([0, 1, 2, 3].map(ly), [[0x98; 2], [0x99; 2], [0x00, 0x99], [0x00; 2]]);
    let double = 2 * first - 20..2 * first + 20;
    assert_eq!(differences((0, true), LY, double), []);
}

// AGE `mode-timing-cgbE`, `mode-timing-ds-cgbBE`.
#[test]
fn vblank_has_no_mcycle_of_mode_0_at_its_end() {
    let end = LINE * 154;
    let found = differences((0, false), STAT, end - LINE..end + LINE - 1);
    assert!(matches!(found[..], [(_, mode)] if mode & 3 == 1), "{found:x?}");
    let double = 2 * end - LINE..2 * end + LINE;
    assert_eq!(differences((0, true), STAT, double), []);
}

// docboy `ly_152_lyc_eq_ly_lyc152_timing_round5`.
#[test]
fn stat_shows_the_line_before_as_equal_to_lyc_until_the_next_one_is_compared() {
    let bit = |revision, mcycle| {
        let mut machine = power_on(revision);
        access(&mut machine, LCDC, Some(0x11));
        access(&mut machine, LYC, Some(152));
        let mut cpu = machine.cpu;
        cpu.now = machine.now;
        cpu.write(&mut machine, &[0; 0x8000], &mut [], LCDC, 0x91);
        machine.now = cpu.now + mcycle - 1;
        access(&mut machine, STAT, None) & 4 != 0
    };
    let span = LINE * 152..LINE * 154;
    let seen = CHIPS.map(|revision| span.clone().filter(|&at| bit(revision, at)).count());
    assert_eq!(seen, [113, 114]);
}

// AGE `read-timing-oam-cgbE`.
#[test]
fn oam_opens_a_dot_later_and_closes_no_later_at_double_speed() {
    for scx in 0..8 {
        let line = |line| differences((scx, false), OAM, LINE * line..LINE * (line + 1));
        for number in [1, 143] {
            let found = line(number);
            assert_eq!(found.len(), usize::from(matches!(scx, 3 | 7)), "{scx} {number}");
            assert!(found.iter().all(|(_, byte)| *byte == 0xff));
        }
        let double = differences((scx, true), OAM, 2 * LINE - 20..4 * LINE + 20);
        assert!(matches!(double[..], [(_, 0xff), (_, 0xff)]), "{scx}: {double:x?}");
    }
}

// Pan Docs "FEA0-FEFF range", docboy `not_usable_area_*`.
#[test]
fn no_memory_lies_behind_oam() {
    let behind = |revision| {
        let mut machine = power_on(revision);
        access(&mut machine, LCDC, Some(0));
        [0xfea3, 0xfefc].map(|address| access(&mut machine, address, Some(0x12)))
    };
    assert_eq!(CHIPS.map(behind), [[0x12; 2], [0xaa, 0xff]]);
}

// SameBoy has it so. The program gb-gps of gbdev's database reads this bit.
#[test]
fn bit_4_of_the_infrared_port_reads_zero() {
    let infrared = |revision| access(&mut power_on(revision), 0xff56, None);
    assert_eq!(CHIPS.map(infrared), [0x3e, 0x2e]);
}

// mealybug's pictures of a CPU CGB D (`m3_bgp_change`, `m3_obp0_change`), daid's
// `ppu_scanline_bgp`.
#[test]
fn a_palette_of_a_program_for_the_original_changes_a_dot_earlier() {
    let first_changed = |revision| {
        let rom = [0; 0x8000];
        let cartridge = Cartridge::from_rom(&rom).expect("a good header");
        let mut machine = Machine::power_on(&Cartridge { revision, ..cartridge });
        machine.run_frame(&rom, &mut [], true);
        machine.begin_frame(true);
        let mut cpu = machine.cpu;
        cpu.now = machine.now + LINE * 10 + 40;
        cpu.write(&mut machine, &rom, &mut [], 0xff47, 0xff);
        (machine.now, machine.cpu.now) = (cpu.now, cpu.now);
        machine.run_frame(&rom, &mut [], true);
        let line: Vec<&[u8]> = machine.frame.chunks(2).skip(160 * 10).take(160).collect();
        line.iter().position(|pixel| *pixel != line[0]).expect("another colour")
    };
    let [c, e] = CHIPS.map(first_changed);
    assert_eq!(e + 1, c);
}

/// Shades of the first tiles of a line in which SCY changes, some dots of the CPU later.
fn line_with_a_new_scy(revision: Revision, nops: usize) -> Vec<u8> {
    let mut rom = vec![0; 0x8000];
    rom[0x100..0x103].copy_from_slice(&[0xc3, 0x50, 0x01]);
    rom[0x143] = 0x80;
    // `LDH A,(44); CP 05; JR NZ`, some `NOP`, `LD A,04; LDH (42),A; JR -2`
    let program = [0xf0, 0x44, 0xfe, 0x05, 0x20, 0xfa];
    rom[0x150..0x156].copy_from_slice(&program);
    rom[0x156 + nops..][..6].copy_from_slice(&[0x3e, 0x04, 0xe0, 0x42, 0x18, 0xfe]);
    let cartridge = Cartridge::from_rom(&rom).expect("a good header");
    let mut machine = Machine::power_on(&Cartridge { revision, ..cartridge });
    access(&mut machine, 0xff68, Some(0x80));
    for colour in 0..4 {
        access(&mut machine, 0xff69, Some(colour));
        access(&mut machine, 0xff69, Some(0));
    }
    machine.vram.fill(0);
    // Row 5 of tile 0 is of colour 0, row 1 of colour 3.
    machine.vram[2..4].fill(0xff);
    machine.run_frame(&rom, &mut [], true);
    machine.frame[5 * 320..6 * 320].chunks(2).map(|pixel| pixel[0]).collect()
}

// mealybug `m3_scy_change`: of a tile's planes one alone shows the new row on a CPU CGB C.
#[test]
fn a_tile_keeps_the_row_for_which_its_number_was_fetched() {
    let colours = |revision| {
        let lines = (0..60).map(move |nops| line_with_a_new_scy(revision, nops));
        lines.flatten().collect::<std::collections::BTreeSet<u8>>().len()
    };
    assert_eq!(CHIPS.map(colours), [3, 2]);
}
