//! Super Game Boy: commands that a program sends over P1, controllers, and colours of the picture.
//!
//! Called by the original's `bus` for writes to P1. The memory of the console's SNES side lies at
//! the end of the cartridge's memory (`memory`), so other consoles don't have it. Commands take no
//! time. Commands for sound, and for programs of the SNES, are accepted and ignored. Source: Pan
//! Docs "SGB Functions" and the pages below it; SameSuite `sgb`.

mod attribute;
pub mod memory;

use crate::interrupts::Interrupts;
use crate::joypad::Joypad;
use attribute::{copy_file, divide, set_blocks, set_cells, set_lines};
use memory::{
    ATTRIBUTE_FILES, BITS, BORDER, COMMAND, CONTROLLERS, FROZEN, IGNORES, MASK, RECEIVER,
    SYSTEM_PALETTES, TILES, byte, palette_color, set_byte, set_palette_color, word,
};

/// Bytes of the original's video RAM.
const VRAM_BYTES: usize = 0x2000;
/// Bytes of the original's picture.
const PICTURE_BYTES: usize = 160 * 144 / 4;
/// Bits of a packet.
const PACKET_BITS: u16 = 128;
/// Packets of the longest command.
const MAX_PACKETS: u16 = 7;

/// Flag: both lines must rise before the next pulse.
const NEEDS_PAUSE: u8 = 1;
/// Flag: a packet has begun.
const IN_PACKET: u8 = 2;
/// Flag: the next pulse ends the packet.
const AT_STOP: u8 = 4;

/// Handles a write to P1, before its other effects. `ram` is the cartridge's memory; the PPU's
/// LCDC, video RAM and picture are what commands can transfer.
#[inline(never)]
pub fn write_super(
    joypad: &mut Joypad,
    ram: &mut [u8],
    lcdc: u8,
    vram: &[u8; VRAM_BYTES],
    picture: &[u8; PICTURE_BYTES],
    value: u8,
) {
    choose_controller(joypad, ram, value);
    if byte(ram, IGNORES) != 0 {
        return;
    }
    let receiver = byte(ram, RECEIVER);
    let lines = value >> 4 & 3;
    if lines == 3 {
        set_byte(ram, RECEIVER, receiver & !NEEDS_PAUSE);
        return;
    }
    if receiver & NEEDS_PAUSE != 0 {
        return;
    }
    if lines == 0 {
        begin_packet(ram);
    } else if receiver & IN_PACKET != 0 {
        take_bit(joypad, ram, lcdc, vram, picture, lines == 1);
    }
    let receiver = byte(ram, RECEIVER);
    set_byte(ram, RECEIVER, receiver | NEEDS_PAUSE);
}

/// Shows the next controller after P15 has fallen and both lines have risen. A second fall before
/// the rise cancels this (Pan Docs "Reading Multiple Controllers", SameSuite
/// `command_mlt_req_1_incrementing`).
fn choose_controller(joypad: &mut Joypad, ram: &[u8], value: u8) {
    if value & 0x20 == 0 && joypad.select & 0x20 != 0 {
        joypad.advances = !joypad.advances;
    }
    if value & 0x30 == 0x30 && joypad.advances {
        joypad.advances = false;
        let next = (joypad.controller + 1) & joypad.last_controller & 3;
        joypad.show_controller(next, controller_buttons(ram, next));
    }
}

/// Buttons held on a controller; none for the first controller, whose buttons the machine holds.
fn controller_buttons(ram: &[u8], number: u8) -> u8 {
    if number == 0 { 0 } else { byte(ram, CONTROLLERS + number as usize - 1) }
}

/// Holds exactly these buttons on the second, third or fourth controller, whose numbers are 1 to 3.
pub fn hold_controller(
    joypad: &mut Joypad,
    interrupts: &mut Interrupts,
    ram: &mut [u8],
    number: u8,
    pressed: u8,
) {
    set_byte(ram, CONTROLLERS + number as usize - 1, pressed);
    if joypad.controller == number {
        joypad.press_shown(interrupts, pressed);
    }
}

/// Begins a packet, when both lines are low: of a new command, unless a command waits for more
/// packets.
fn begin_packet(ram: &mut [u8]) {
    let is_late = byte(ram, RECEIVER) & AT_STOP != 0;
    let bits = word(ram, BITS);
    if bits & (PACKET_BITS - 1) != 0 || is_late {
        forget_command(ram);
    }
    set_byte(ram, RECEIVER, IN_PACKET);
}

fn forget_command(ram: &mut [u8]) {
    for at in 0..(MAX_PACKETS * PACKET_BITS / 8) as usize {
        set_byte(ram, COMMAND + at, 0);
    }
    set_byte(ram, BITS, 0);
    set_byte(ram, BITS + 1, 0);
}

fn take_bit(
    joypad: &mut Joypad,
    ram: &mut [u8],
    lcdc: u8,
    vram: &[u8; VRAM_BYTES],
    picture: &[u8; PICTURE_BYTES],
    is_set: bool,
) {
    let bits = word(ram, BITS);
    if byte(ram, RECEIVER) & AT_STOP == 0 {
        if bits >= MAX_PACKETS * PACKET_BITS {
            return;
        }
        let at = COMMAND + (bits >> 3) as usize;
        set_byte(ram, at, byte(ram, at) | (is_set as u8) << (bits & 7));
        set_byte(ram, BITS, (bits + 1) as u8);
        set_byte(ram, BITS + 1, ((bits + 1) >> 8) as u8);
        if (bits + 1) & (PACKET_BITS - 1) == 0 {
            set_byte(ram, RECEIVER, IN_PACKET | AT_STOP);
        }
        return;
    }
    set_byte(ram, RECEIVER, 0);
    if is_set {
        // A packet that ends with a one is invalid.
        forget_command(ram);
    } else if bits >= command_bits(byte(ram, COMMAND)) {
        execute(joypad, ram, lcdc, vram, picture);
        forget_command(ram);
    }
}

/// Returns the length of a command by its first byte. The boot ROM's commands, which bring the
/// header, are one packet each.
fn command_bits(first: u8) -> u16 {
    let packets = if first & 0xf1 == 0xf1 { 1 } else { first & 7 };
    PACKET_BITS * packets.max(1) as u16
}

fn execute(
    joypad: &mut Joypad,
    ram: &mut [u8],
    lcdc: u8,
    vram: &[u8; VRAM_BYTES],
    picture: &[u8; PICTURE_BYTES],
) {
    let argument = byte(ram, COMMAND + 1);
    match byte(ram, COMMAND) >> 3 {
        0x00 => set_palettes(ram, 0, 1),
        0x01 => set_palettes(ram, 2, 3),
        0x02 => set_palettes(ram, 0, 3),
        0x03 => set_palettes(ram, 1, 2),
        0x04 => set_blocks(ram),
        0x05 => set_lines(ram),
        0x06 => divide(ram),
        0x07 => set_cells(ram),
        0x0a => choose_palettes(ram),
        0x0b => transfer(ram, lcdc, vram, SYSTEM_PALETTES, 0x1000),
        0x0e => set_byte(ram, IGNORES, argument & 4),
        0x11 => request_controllers(joypad, ram, argument & 3),
        0x13 => transfer(ram, lcdc, vram, TILES + ((argument & 1) as usize) * 0x1000, 0x1000),
        0x14 => transfer(ram, lcdc, vram, BORDER, 0x880),
        0x15 => transfer(ram, lcdc, vram, ATTRIBUTE_FILES, 0xfd2),
        0x16 => {
            copy_file(ram, argument & 0x3f);
            cancel_mask(ram, argument);
        }
        0x17 => mask(ram, picture, argument & 3),
        _ => {}
    }
}

/// PAL01, PAL23, PAL03 and PAL12: colours 0 to 3 of one palette, then 1 to 3 of another. All
/// palettes share colour 0.
fn set_palettes(ram: &mut [u8], first: usize, second: usize) {
    for color in 0..7usize {
        let value = word(ram, COMMAND + 1 + 2 * color);
        if color == 0 {
            for palette in 0..4usize {
                set_palette_color(ram, palette, 0, value);
            }
        } else if color < 4 {
            set_palette_color(ram, first, color, value);
        } else {
            set_palette_color(ram, second, color - 3, value);
        }
    }
}

/// PAL_SET: chooses four of the palettes of PAL_TRN, and optionally a file of attributes.
// UNVERIFIED: all palettes get colour 0 of the first palette, as with PAL01.
fn choose_palettes(ram: &mut [u8]) {
    for palette in 0..4usize {
        let number = (word(ram, COMMAND + 1 + 2 * palette) & 0x1ff) as usize;
        for color in 0..4usize {
            let value = word(ram, SYSTEM_PALETTES + 8 * number + 2 * color);
            set_palette_color(ram, palette, color, value);
        }
    }
    let shared = palette_color(ram, 0, 0);
    for palette in 1..4usize {
        set_palette_color(ram, palette, 0, shared);
    }
    let argument = byte(ram, COMMAND + 9);
    if argument & 0x80 != 0 {
        copy_file(ram, argument & 0x3f);
    }
    cancel_mask(ram, argument);
}

/// MLT_REQ (SameSuite `command_mlt_req`).
fn request_controllers(joypad: &mut Joypad, ram: &[u8], last: u8) {
    let shown = (joypad.controller + (last == 2) as u8) & last;
    joypad.show_controller(shown, controller_buttons(ram, shown));
    joypad.last_controller = last;
    joypad.advances = false;
}

fn cancel_mask(ram: &mut [u8], argument: u8) {
    if argument & 0x40 != 0 {
        set_byte(ram, MASK, 0);
    }
}

/// MASK_EN. The picture that freezes is the last one that was drawn.
fn mask(ram: &mut [u8], picture: &[u8; PICTURE_BYTES], mode: u8) {
    if mode == 1 && byte(ram, MASK) != 1 {
        for at in 0..PICTURE_BYTES {
            set_byte(ram, FROZEN + at, picture[at]);
        }
    }
    set_byte(ram, MASK, mode);
}

/// Copies the tiles that the screen shows, from the upper left corner on, line by line (Pan Docs
/// "VRAM Transfers").
// UNVERIFIED: the console reads the picture of the following frames. Programs leave video RAM
// unchanged for that time.
fn transfer(ram: &mut [u8], lcdc: u8, vram: &[u8; VRAM_BYTES], target: usize, length: usize) {
    let map = if lcdc & 0x08 != 0 { 0x1c00 } else { 0x1800 };
    for at in 0..length {
        let place = at >> 4;
        let number = vram[map + place / 20 * 32 + place % 20];
        let is_high = lcdc & 0x10 == 0 && number < 0x80;
        let tile = (number as usize) << 4 | (is_high as usize) << 12;
        set_byte(ram, target + at, vram[tile + (at & 0x0f)]);
    }
}
