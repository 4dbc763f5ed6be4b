//! STOP until a button is pressed: which chips stop.

use gbxcule_gameboy::cpu::Mode;
use gbxcule_gameboy::{Cartridge, Machine};

/// M-cycles for which a DMG's PPU keeps running, plus the one in which the CPU wakes.
const PPU_MCYCLES: usize = 15_213 + 1;
const BUTTON: u8 = 0x10;

/// A machine that has run a program until the CPU stopped, slept for some frames and was woken by a
/// button; it has then reached the endless loop after the program. Results lie at C000.
fn woken(program: &[u8], frames: u32) -> Machine {
    let mut rom = vec![0; 0x8000];
    rom[0x100..0x103].copy_from_slice(&[0xc3, 0x50, 0x01]);
    rom[0x150..][..program.len()].copy_from_slice(program);
    rom[0x150 + program.len()..][..2].copy_from_slice(&[0x18, 0xfe]);
    let mut machine = Machine::power_on(&Cartridge::from_rom(&rom).expect("a good header"));
    for frame in 0..frames + 3 {
        if machine.cpu.mode == Mode::Stopped && frame > frames {
            machine.set_buttons(BUTTON);
        }
        machine.run_frame(&rom, &mut [], true);
        assert!(machine.cpu.mode != Mode::Stopped || machine.frame.iter().all(|&pixel| pixel == 0));
    }
    machine
}

fn nops(count: usize) -> impl Iterator<Item = u8> {
    std::iter::repeat_n(0, count)
}

/// LY and STAT read some M-cycles after the LCD was switched on and something else happened.
fn position_after(between: &[u8], mcycles: usize) -> [u8; 2] {
    // `XOR A; LDH (40),A; LD A,91; LDH (40),A`
    let mut program = vec![0xaf, 0xe0, 0x40, 0x3e, 0x91, 0xe0, 0x40];
    program.extend(nops(2300));
    program.extend(between);
    program.extend(nops(mcycles));
    // `LDH A,(44); LD (C000),A; LDH A,(41); LD (C001),A`
    program.extend([0xf0, 0x44, 0xea, 0x00, 0xc0, 0xf0, 0x41, 0xea, 0x01, 0xc0]);
    let machine = woken(&program, 3);
    [machine.wram[0], machine.wram[1]]
}

// DocBoy stop_read_ly_*, stop_read_stat_*.
#[test]
fn a_stopped_dmg_finds_its_ppu_where_it_is_after_15213_mcycles() {
    let waits: Vec<u8> = nops(PPU_MCYCLES).chain([0x00]).collect();
    for mcycles in (0..230).step_by(3).chain(160..180) {
        let stopped = position_after(&[0x10, 0x00], mcycles);
        assert_eq!(stopped, position_after(&waits, mcycles), "after {mcycles} M-cycles");
    }
}

// DocBoy stop_read_tima_*, stop_tima_falling_edge.
#[test]
fn tima_counts_the_edge_of_div_that_stop_clears_and_stands_still_until_the_cpu_wakes() {
    let tima = |before: usize, after: usize| {
        // `XOR A; LDH (04),A; LDH (05),A; LD A,05; LDH (07),A`: TIMA counts every 4 M-cycles.
        let mut program = vec![0xaf, 0xe0, 0x04, 0xe0, 0x05, 0x3e, 0x05, 0xe0, 0x07];
        program.extend(nops(before));
        program.extend([0x10, 0x00]);
        program.extend(nops(after));
        // `LDH A,(05); LD (C000),A`
        program.extend([0xf0, 0x05, 0xea, 0x00, 0xc0]);
        woken(&program, 4).wram[0]
    };
    assert_eq!([0, 1, 2, 3, 4].map(|after| tima(256, after)), [0x41, 0x42, 0x42, 0x42, 0x42]);
    // The bit of DIV that TIMA counts is high in the second half of each period.
    let edges: Vec<u8> = (252..264).map(|before| tima(before, 0)).collect();
    assert_eq!(edges, [[0x40; 4], [0x41; 4], [0x42; 4]].concat());
}
