//! The picture of a Super Game Boy: shades in the palettes that the program gave the screen's
//! cells. Learners' gray and packed pictures show the shades.

use gbxcule_gameboy::FRAME_BYTES;
use gbxcule_gameboy::super_game_boy::memory::{attribute, frozen, mask_mode, palette_color};

use crate::picture::{HEIGHT, WIDTH};
use crate::{AnyMachine, Frame, Rom};

/// Two bytes for each pixel, as [`Frame::Colors`] has them.
const COLOR_BYTES: usize = 2 * WIDTH * HEIGHT;
/// Pixels of a cell's side.
const CELL: usize = 8;

/// Buffer for a picture in colour.
pub struct SuperPicture(Box<[u8; COLOR_BYTES]>);

impl Default for SuperPicture {
    /// Allocates the buffer.
    fn default() -> Self {
        Self(Box::new([0; COLOR_BYTES]))
    }
}

impl SuperPicture {
    /// Returns the last drawn frame as the console shows it.
    pub fn of<'f>(&'f mut self, machine: &'f AnyMachine, rom: &Rom, cart_ram: &[u8]) -> Frame<'f> {
        match machine.frame() {
            Frame::Shades(shades) if rom.revision().is_super() => {
                self.paint(shades, cart_ram);
                Frame::Colors(&self.0)
            }
            frame => frame,
        }
    }

    fn paint(&mut self, shades: &[u8; FRAME_BYTES], cart_ram: &[u8]) {
        let mask = mask_mode(cart_ram);
        let first = palette_color(cart_ram, 0, 0);
        for (index, pixel) in self.0.as_chunks_mut::<2>().0.iter_mut().enumerate() {
            let (x, y) = (index % WIDTH, index / WIDTH);
            let four = if mask == 1 { frozen(cart_ram, index / 4) } else { shades[index / 4] };
            let shade = usize::from(four >> (6 - 2 * (index % 4)) & 3);
            let color = match mask {
                2 => 0,
                3 => first,
                _ => palette_color(cart_ram, attribute(cart_ram, x / CELL, y / CELL), shade),
            };
            *pixel = color.to_le_bytes();
        }
    }
}
