//! Memory of the Super Game Boy's SNES side, at the end of the cartridge's memory.
//!
//! That memory is all ones at power-on, and bytes are kept inverted: they begin as zero.

/// Size of this memory.
pub const SUPER_BYTES: usize = 0x6400;

/// Offset of the command that is being received.
pub(super) const COMMAND: usize = 0;
/// Offset of the number of received bits.
pub(super) const BITS: usize = 112;
/// State of the receiver of packets.
pub(super) const RECEIVER: usize = 114;
/// ICON_EN's bit 2: further commands are ignored.
pub(super) const IGNORES: usize = 115;
/// MASK_EN's mode.
pub(super) const MASK: usize = 116;
/// Buttons held on the second, third and fourth controller, as in `Joypad::pressed`.
pub(super) const CONTROLLERS: usize = 117;
/// Four palettes of four colours, RGB555, stored as the XOR with `FIRST_PALETTE`.
pub(super) const PALETTES: usize = 128;
/// Palette of each of 20 x 18 cells.
pub(super) const ATTRIBUTES: usize = 160;
/// 45 files of attributes, 90 bytes each.
pub(super) const ATTRIBUTE_FILES: usize = 0x400;
/// 512 palettes.
pub(super) const SYSTEM_PALETTES: usize = 0x1400;
/// 256 tiles of the border, 32 bytes each.
pub(super) const TILES: usize = 0x2400;
/// Map of the border, and from 800 on its three palettes.
pub(super) const BORDER: usize = 0x4400;
/// Picture that MASK_EN froze.
pub(super) const FROZEN: usize = 0x4c80;

/// Cells of a line of attributes.
pub const CELLS_OF_LINE: usize = 20;
/// Lines of attributes.
pub const CELL_LINES: usize = 18;

/// The palette 1-A (Pan Docs "SGB Color Palettes"), which the console uses for unknown programs.
const FIRST_PALETTE: [u16; 4] = [0x67bf, 0x265b, 0x10b5, 0x2866];

/// Returns a byte.
pub(super) fn byte(ram: &[u8], at: usize) -> u8 {
    let place = ram.len().wrapping_sub(SUPER_BYTES).wrapping_add(at);
    if place < ram.len() { !ram[place] } else { 0 }
}

/// Sets a byte.
pub(super) fn set_byte(ram: &mut [u8], at: usize, value: u8) {
    let place = ram.len().wrapping_sub(SUPER_BYTES).wrapping_add(at);
    if place < ram.len() {
        ram[place] = !value;
    }
}

/// Returns two bytes, the lower one first.
pub(super) fn word(ram: &[u8], at: usize) -> u16 {
    byte(ram, at) as u16 | (byte(ram, at + 1) as u16) << 8
}

/// Returns a colour of one of the four palettes, RGB555, red in the lowest bits.
pub fn palette_color(ram: &[u8], palette: usize, color: usize) -> u16 {
    let at = PALETTES + 8 * (palette & 3) + 2 * (color & 3);
    (word(ram, at) ^ FIRST_PALETTE[color & 3]) & 0x7fff
}

pub(super) fn set_palette_color(ram: &mut [u8], palette: usize, color: usize, value: u16) {
    let at = PALETTES + 8 * (palette & 3) + 2 * (color & 3);
    let kept = value ^ FIRST_PALETTE[color & 3];
    set_byte(ram, at, kept as u8);
    set_byte(ram, at + 1, (kept >> 8) as u8);
}

/// Returns the palette of a cell.
pub fn attribute(ram: &[u8], column: usize, line: usize) -> usize {
    byte(ram, ATTRIBUTES + line * CELLS_OF_LINE + column) as usize & 3
}

/// Gives a cell of the screen a palette; cells outside are left alone.
pub(super) fn set_attribute(ram: &mut [u8], column: usize, line: usize, palette: u8) {
    if column < CELLS_OF_LINE && line < CELL_LINES {
        set_byte(ram, ATTRIBUTES + line * CELLS_OF_LINE + column, palette & 3);
    }
}

/// Returns the mode of MASK_EN: 0 shows the picture, 1 the frozen one, 2 black, 3 colour 0.
pub fn mask_mode(ram: &[u8]) -> u8 {
    byte(ram, MASK)
}

/// Returns a byte of the frozen picture, which has four pixels.
pub fn frozen(ram: &[u8], at: usize) -> u8 {
    byte(ram, FROZEN + at)
}

/// Returns the colour of a pixel of the border, 256 x 224, RGB555; bit 15 is set where the border
/// is transparent (Pan Docs "SGB Command 14h: PCT_TRN").
pub fn border_color(ram: &[u8], x: usize, y: usize) -> u16 {
    let entry = word(ram, BORDER + 2 * (y / 8 * 32 + x / 8));
    let column = if entry & 0x4000 != 0 { x & 7 } else { 7 - (x & 7) };
    let row = if entry & 0x8000 != 0 { 7 - (y & 7) } else { y & 7 };
    let tile = TILES + 32 * (entry & 0xff) as usize + 2 * row;
    let mut color = 0;
    for plane in 0..4usize {
        let bits = byte(ram, tile + (plane & 1) + (plane >> 1) * 16);
        color |= ((bits >> column & 1) as usize) << plane;
    }
    if color == 0 {
        return 0x8000;
    }
    let palette = (entry >> 10 & 3) as usize;
    word(ram, BORDER + 0x800 + 32 * palette + 2 * color) & 0x7fff
}
