//! Reads of OAM by the Color's PPU at double speed, while OAM DMA moves bytes.

use gbxcule_gameboy_color::{Cartridge, Machine};

/// The line on which the object is shown, and on which OAM DMA begins.
const LINE: u8 = 5;

/// `LD A,value; LDH (low),A`
fn store(low: u8, value: u8) -> [u8; 4] {
    [0x3e, value, 0xe0, low]
}

/// `LDH A,(44); CP line; JR NZ` until LY is the line.
fn wait_for_line(line: u8) -> [u8; 6] {
    [0xf0, 0x44, 0xfe, line, 0x20, 0xfa]
}

/// A program that fetches one object on each frame's line beside OAM DMA, some `NOP` after the
/// line's interrupt. The pixels of a tile's row say the tile's number.
fn program(x: u8, nops: usize) -> Vec<u8> {
    let mut program = [store(0x4d, 0x01).as_slice(), &[0x10, 0x00]].concat();
    program.extend(wait_for_line(145));
    program.extend(store(0x40, 0x00));
    // Both planes of each row of tile B: `LD HL,8000; LD B,L; LD C,10; LD A,B`
    program.extend([0x21, 0x00, 0x80, 0x45, 0x0e, 0x10, 0x78]);
    // `LD (HL+),A; DEC C; JR NZ; INC B; BIT 7,B; JR Z`
    program.extend([0x22, 0x0d, 0x20, 0xfc, 0x04, 0xcb, 0x78, 0x28, 0xf4]);
    // DMA leaves objects that no line shows: A0, 0, 40, 0, A1, 0, 41, 0 and so on.
    // `LD HL,C000; LD BC,A040; LD D,28`
    program.extend([0x21, 0x00, 0xc0, 0x01, 0x40, 0xa0, 0x16, 0x28]);
    // `LD (HL),B; INC L; LD (HL),0; INC L; LD (HL),C; INC L; LD (HL),0; INC L`
    program.extend([0x70, 0x2c, 0x36, 0x00, 0x2c, 0x71, 0x2c, 0x36, 0x00, 0x2c]);
    // `INC B; INC C; DEC D; JR NZ`
    program.extend([0x04, 0x0c, 0x15, 0x20, 0xf0]);
    program.extend([store(0x6a, 0x86), store(0x6b, 0), store(0x6b, 0)].concat());
    program.extend([store(0x45, LINE), store(0x41, 0x40), store(0xff, 0x02)].concat());
    program.extend(store(0x40, 0x93));
    let begin = program.len();
    program.extend(wait_for_line(144));
    // `LD HL,FE00; LD (HL),Y; INC L; LD (HL),X; INC L; LD (HL),0; INC L; LD (HL),0`
    program.extend([0x21, 0x00, 0xfe, 0x36, LINE + 16, 0x2c, 0x36, x]);
    program.extend([0x2c, 0x36, 0x00, 0x2c, 0x36, 0x00]);
    // `XOR A; LDH (0F),A; HALT`
    program.extend([0xaf, 0xe0, 0x0f, 0x76]);
    program.extend(std::iter::repeat_n(0x00, nops));
    program.extend(store(0x46, 0xc0));
    let back = 256 + begin as i32 - program.len() as i32 - 2;
    program.extend([0x18, back as u8]);
    program
}

/// Number of the tile that the object shows; a tile after 7F is blank.
fn object_tile(x: u8, nops: usize) -> u8 {
    let program = program(x, nops);
    let mut rom = vec![0; 0x8000];
    rom[0x100..0x103].copy_from_slice(&[0xc3, 0x50, 0x01]);
    rom[0x143] = 0x80;
    rom[0x150..][..program.len()].copy_from_slice(&program);
    let mut machine = Machine::power_on(&Cartridge::from_rom(&rom).expect("a good header"));
    for _ in 0..6 {
        machine.run_frame(&rom, &mut [], true);
    }
    let first = (usize::from(LINE) * 160 + usize::from(x) - 8) * 2;
    let row = &machine.frame[first..first + 16];
    row.chunks(2).fold(0, |tile, pixel| tile << 1 | u8::from(pixel == [0, 0]))
}

// SameBoy gives the same tiles.
#[test]
fn a_byte_of_oam_dma_arrives_a_dot_into_its_mcycle() {
    let tiles = |nops| (84..88).map(|x| object_tile(x, nops)).collect::<Vec<u8>>();
    assert_eq!(tiles(40), [0x49, 0x49, 0x49, 0x00]);
    assert_eq!(tiles(42), [0x00, 0x00, 0x00, 0x49]);
}
