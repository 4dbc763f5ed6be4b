//! Bit 15 of a colour: kept by palette memory, unknown to the screen.

use gbxcule_gameboy_color::{Cartridge, Machine};

/// Colour 0 of palette 0 is FFFF, then FF69 shows its upper byte.
const PROGRAM: [u8; 16] = [
    0x3e, 0x80, 0xe0, 0x68, 0x3e, 0xff, 0xe0, 0x69, 0xe0, 0x69, 0x3e, 0x01, 0xe0, 0x68, 0x18, 0xfe,
];

#[test]
fn a_picture_has_fifteen_bits_a_pixel() {
    let mut rom = vec![0; 0x8000];
    rom[0x100..][..PROGRAM.len()].copy_from_slice(&PROGRAM);
    rom[0x143] = 0x80;
    let mut machine = Machine::power_on(&Cartridge::from_rom(&rom).unwrap());
    for _ in 0..3 {
        machine.run_frame(&rom, &mut [], true);
    }
    assert_eq!(machine.peek(&rom, &[], 0xff69), 0xff);
    assert!(machine.frame.chunks(2).all(|pixel| pixel == [0xff, 0x7f]));
}
