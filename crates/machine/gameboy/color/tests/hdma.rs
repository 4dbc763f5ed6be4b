//! HDMA: its registers, and what it meets on the buses: the PPU in mode 3, OAM DMA, and nobody.

use gbxcule_gameboy_color::{Cartridge, Machine};

/// `LD A,value; LDH (low),A`
fn store(low: u8, value: u8) -> [u8; 4] {
    [0x3e, value, 0xe0, low]
}

/// A machine that has run a program for the Color for three frames. ROM from 4000 on holds FF less
/// the lower half of the address, work RAM at C000 its lower half.
fn run(program: &[u8]) -> Machine {
    let mut rom = vec![0; 0x8000];
    rom[0x100..0x103].copy_from_slice(&[0xc3, 0x50, 0x01]);
    rom[0x143] = 0x80;
    rom[0x150..][..program.len()].copy_from_slice(program);
    rom[0x150 + program.len()..][..2].copy_from_slice(&[0x18, 0xfe]);
    (0x4000..0x8000).for_each(|at| rom[at] = 0xff - at as u8);
    let mut machine = Machine::power_on(&Cartridge::from_rom(&rom).expect("a good header"));
    (0..0x100).for_each(|at| machine.wram[at] = at as u8);
    for _ in 0..3 {
        machine.run_frame(&rom, &mut [], false);
    }
    machine
}

/// A program that switches the LCD off in VBlank and sets source and target.
fn transfer(source: u16, target: u16) -> Vec<u8> {
    // `LDH A,(44); CP 90; JR NZ`
    let mut program = vec![0xf0, 0x44, 0xfe, 0x90, 0x20, 0xfa];
    program.extend(store(0x40, 0x00));
    for (at, value) in [source, target].into_iter().enumerate() {
        let low = 0x51 + 2 * at as u8;
        program.extend(store(low, (value >> 8) as u8));
        program.extend(store(low + 1, value as u8));
    }
    program
}

fn bytes(first: u16, count: u16) -> Vec<u8> {
    (first..first + count).map(|at| 0xff - at as u8).collect()
}

// docboy hdma_transfer_write_hdma12 and its like.
#[test]
fn only_the_lower_halves_of_the_addresses_begin_a_count_anew() {
    let copied_again = |low: u8, value: u8| {
        let mut program = transfer(0x4000, 0x0000);
        program.extend(store(0x55, 0x01));
        program.extend(store(low, value));
        program.extend(store(0x55, 0x00));
        run(&program)
    };
    let at = |machine: &Machine, at: usize| machine.vram[at..at + 16].to_vec();
    assert_eq!(at(&copied_again(0x51, 0x40), 0x20), bytes(0x20, 16));
    assert_eq!(at(&copied_again(0x52, 0x00), 0x20), bytes(0x00, 16));
    assert_eq!(at(&copied_again(0x53, 0x00), 0x20), bytes(0x20, 16));
    assert_eq!(at(&copied_again(0x54, 0x00), 0x00), bytes(0x20, 16));
}

// SameBoy; docboy gdma_source_vram, gdma_source_echo_ram.
#[test]
fn a_source_that_does_not_answer_gives_the_opcode_on_the_bus_once_and_ones_after_it() {
    for source in [0x8000, 0x9ff0, 0xe000, 0xff00] {
        let mut program = transfer(source, 0x1000);
        program.extend(store(0x55, 0x01));
        program.push(0x3c);
        let copied = run(&program).vram[0x1000..0x1020].to_vec();
        assert_eq!(copied, [[0x3c].to_vec(), vec![0xff; 31]].concat(), "{source:04x}");
    }
}

// docboy gdma_ppu_on_pixel_transfer_conflict_relaxed_*: the fetcher reads in three of four pairs of
// dots.
#[test]
fn in_mode_3_a_byte_is_written_if_the_ppu_reads_nothing_in_its_two_dots() {
    let mut program = transfer(0x4000, 0x0000);
    program.extend(store(0x40, 0x81));
    program.extend(std::iter::repeat_n(0x00, 114 + 18));
    program.extend(store(0x55, 0x03));
    program.extend(store(0x40, 0x00));
    let written = run(&program).vram[..0x40].iter().map(|&byte| byte != 0).collect::<Vec<_>>();
    let whole: Vec<usize> = (0..0x40).filter(|&at| written[at]).collect();
    assert!(whole.windows(2).all(|pair| pair[1] - pair[0] == 4), "{whole:?}");
    assert_eq!(whole.len(), 16, "{whole:?}");
}

/// The switch to double speed.
const FASTER: [u8; 6] = [0x3e, 0x01, 0xe0, 0x4d, 0x10, 0x00];

// SameBoy's GB_hdma_run, whose author measured it on consoles.
#[test]
fn at_double_speed_a_byte_that_meets_the_ppu_keeps_the_address_lines_that_both_drive() {
    let mut program = transfer(0x4000, 0x0800);
    program.extend(FASTER);
    program.extend(store(0x40, 0x81));
    program.extend(std::iter::repeat_n(0x00, 2 * (114 + 18)));
    program.extend(store(0x55, 0x03));
    program.extend(store(0x40, 0x00));
    let vram = run(&program).vram;
    // The tile's row is read at 1002 and 1003, its number from 1800 on; 0190 has the logo.
    let low: Vec<usize> = (0..0x100).filter(|&at| vram[at] != 0).collect();
    assert_eq!(low, [0, 2]);
    assert_eq!(vram[..0x100], vram[0x2000..0x2100]);
    assert_eq!(vram[0x800..0x840], vram[0x2800..0x2840], "both banks");
    assert!(vram[0x82d] != 0 && vram[0x82e] == 0, "{:x?}", &vram[0x800..0x840]);
}

/// The pixels in the middle of lines of pictures, of a program that copies 2 KiB as a line begins:
/// true if a pixel has the first colour. All tiles have the last one.
fn blank_lines(line: u8, shown: [usize; 2], frames: usize) -> Vec<[bool; 2]> {
    let mut program = vec![0x3e, 0x80, 0xe0, 0x68, 0xaf, 0xe0, 0x69, 0xe0, 0x69];
    program.extend([0xf0, 0x44, 0xfe, line, 0x20, 0xfa]);
    for (low, value) in [(0x51, 0x40), (0x52, 0x00), (0x53, 0x00), (0x54, 0x00), (0x55, 0x7f)] {
        program.extend(store(low, value));
    }
    program.extend([0x18, 0xfe]);
    let mut rom = vec![0; 0x8000];
    rom[0x100..0x103].copy_from_slice(&[0xc3, 0x50, 0x01]);
    rom[0x143] = 0x80;
    rom[0x150..][..program.len()].copy_from_slice(&program);
    let mut machine = Machine::power_on(&Cartridge::from_rom(&rom).expect("a good header"));
    machine.vram[..0x2000].fill(0xff);
    let mut picture = || {
        machine.run_frame(&rom, &mut [], true);
        shown.map(|line| machine.frame[(line * 160 + 80) * 2] == 0)
    };
    (0..frames).map(|_| picture()).collect()
}

// SameBoy; kkzero241's GDMA Guy: "on any hardware, the first 8 scanlines are blanked out".
#[test]
fn beside_a_block_the_ppu_reads_zeros() {
    let shown = blank_lines(0x30, [0x34, 0x60], 3);
    assert!(shown.contains(&[true, false]) && !shown.contains(&[true, true]), "{shown:?}");
}

#[test]
fn a_transfer_that_reaches_into_the_next_frame_does_not_draw_into_the_last_picture() {
    // Line 3 is blank after a frame in which line 140 was not.
    let shown = blank_lines(0x98, [3, 140], 4);
    assert_eq!(shown.iter().filter(|lines| lines[0]).count(), 1, "{shown:?}");
}

// gambatte oamdma/oamdmasrcC000_hdmasrc0000, docboy gdma_source_wram_dma_source_ram_*.
#[test]
fn beside_oam_dma_a_block_takes_oams_bus_and_leaves_its_odd_bytes_there() {
    // High RAM starts OAM DMA and a block, then waits.
    let mut routine = Vec::from(store(0x46, 0xc0));
    routine.extend(store(0x55, 0x00));
    // `LD A,40; DEC A; JR NZ,-3; RET`
    routine.extend([0x3e, 0x40, 0x3d, 0x20, 0xfd, 0xc9]);
    let mut program = transfer(0x4000, 0x0000);
    // The loop that clears OAM: `XOR A; LD HL,FE00; LD B,A0; LD (HL+),A; DEC B; JR NZ,-4`
    program.extend([0xaf, 0x21, 0x00, 0xfe, 0x06, 0xa0, 0x22, 0x05, 0x20, 0xfc]);
    for (at, &byte) in (0x80..).zip(&routine) {
        program.extend(store(at, byte));
    }
    program.extend([0xcd, 0x80, 0xff]);
    let oam = run(&program).oam;
    // Of the eight places that OAM DMA passed meanwhile the even ones stay clear.
    let first =
        (1..).find(|&at| 2 * at < oam.len() && oam[2 * at] == 0).expect("a lost byte") * 2 - 1;
    let expected = |at: usize| match at {
        0..16 if !at.is_multiple_of(2) && at < first + 8 => 0xff - at as u8,
        _ if at.is_multiple_of(2) && (first..first + 8).contains(&at) => 0,
        _ => at as u8,
    };
    assert_eq!(oam[..], (0..oam.len()).map(expected).collect::<Vec<_>>(), "from {first}");
}
