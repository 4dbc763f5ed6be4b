//! Views: observations that are read directly from a machine: pictures, memory, flags, `obs_v0`.
//!
//! A [`View`] turns each machine into the same number of bytes in the caller's buffer, on as many
//! threads as the swarm has. The machines and the swarm's own outputs stay as they are.

use std::ops::Range;

use gbxcule_console::{
    Grays, HEIGHT, Picture, PictureMaker, Shown, SuperPicture, WIDTH, banked_address::check_range,
};
use gbxcule_gameboy::FRAME_BYTES;

use crate::{AnyMachine, Features, OBS_V0_DIM, PictureStack, Rom, SwarmConfig, SwarmError, obs_v0};

/// An observation that is read directly from a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum View {
    /// The last drawn frame, in these grays.
    Picture(Picture, Grays),
    /// The stack of pictures that the swarm keeps ([`crate::SwarmConfig::pictures`]).
    Stack(PictureStack),
    /// The bytes at these addresses, or in banks ([`crate::in_bank`]), one range after the other.
    Memory(Vec<Range<u32>>),
    /// The bits at these addresses as bytes 0 and 1, the lowest bit of a byte first.
    Bits(Vec<Range<u32>>),
    /// [`obs_v0`], as native `f32`.
    ObsV0,
}

impl View {
    /// Bytes of one env.
    pub fn bytes_per_env(&self) -> usize {
        match self {
            Self::Picture(picture, _) => picture.bytes(),
            Self::Stack(form) => form.bytes(),
            Self::Memory(ranges) => ranges.iter().map(ExactSizeIterator::len).sum(),
            Self::Bits(ranges) => ranges.iter().map(|range| 8 * range.len()).sum(),
            Self::ObsV0 => OBS_V0_DIM * size_of::<f32>(),
        }
    }

    fn ranges(&self) -> &[Range<u32>] {
        match self {
            Self::Memory(ranges) | Self::Bits(ranges) => ranges,
            Self::Picture(..) | Self::Stack(_) | Self::ObsV0 => &[],
        }
    }

    /// The rows of `out` that a call of `fill_view` fills, each with its env.
    pub(crate) fn rows<'o>(
        &self,
        config: &SwarmConfig,
        rom: &Rom,
        mask: Option<&[bool]>,
        out: &'o mut [u8],
    ) -> Result<Vec<(usize, &'o mut [u8])>, SwarmError> {
        let num_envs = config.num_envs;
        if let Self::Stack(form) = self
            && config.pictures != Some(*form)
        {
            return Err(SwarmError::PictureStack {
                message: "the swarm keeps no such pictures".into(),
            });
        }
        self.ranges().iter().try_for_each(|range| check_range(range, rom))?;
        let (row, found) = (self.bytes_per_env(), out.len());
        let expected = num_envs * row;
        if found != expected {
            return Err(SwarmError::WrongBuffer { expected, found });
        }
        if let Some(mask) = mask {
            config.check_length("mask entry", mask.len())?;
        }
        // The row of an empty view is empty.
        let rows = out.chunks_exact_mut(row.max(1)).enumerate();
        Ok(rows.filter(|(env, _)| mask.is_none_or(|mask| mask[*env])).collect())
    }

    /// Fills an env's row with the view of its machine.
    pub(crate) fn show_machine(
        &self,
        machine: &AnyMachine,
        rom: &Rom,
        cart_ram: &[u8],
        row: &mut [u8],
    ) {
        match self {
            Self::Picture(picture, grays) if picture.has_colors() && rom.revision().is_super() => {
                let mut colors = SuperPicture::default();
                picture.fill(*grays, colors.of(machine, rom, cart_ram), row);
            }
            Self::Picture(picture, grays) => picture.fill(*grays, machine.frame(), row),
            Self::Stack(form) => {
                PictureMaker::new(*form).fill(machine.frame(), row, &mut Shown::default());
            }
            Self::Memory(ranges) | Self::Bits(ranges) => {
                let places = ranges.iter().cloned().flatten();
                let bytes = places.map(|place| machine.peek_place(rom.bytes(), cart_ram, place));
                self.show_bytes(bytes, row);
            }
            Self::ObsV0 => {
                let mut numbers = [0.0; OBS_V0_DIM];
                obs_v0(&Features::of(machine, rom, cart_ram), &mut numbers);
                for (place, number) in row.chunks_exact_mut(size_of::<f32>()).zip(numbers) {
                    place.copy_from_slice(&number.to_ne_bytes());
                }
            }
        }
    }

    /// Fills an env's row from the bytes at the view's addresses.
    pub(crate) fn show_bytes(&self, bytes: impl Iterator<Item = u8>, row: &mut [u8]) {
        if let Self::Bits(_) = self {
            row.chunks_exact_mut(8).zip(bytes).for_each(|(flags, byte)| spread(byte, flags));
        } else {
            row.iter_mut().zip(bytes).for_each(|(place, byte)| *place = byte);
        }
    }
}

/// A byte's bits, the lowest first.
fn spread(byte: u8, flags: &mut [u8]) {
    flags.iter_mut().enumerate().for_each(|(bit, flag)| *flag = byte >> bit & 1);
}

/// All sizes of pictures are computed from this.
const _: () = assert!(FRAME_BYTES == WIDTH * HEIGHT / 4);
