//! Observations that are computed from a machine directly: pictures, memory, flags, `obs_v0`.
//!
//! A [`View`] turns each machine into the same number of bytes, in the caller's buffer, on the
//! threads of kernels, as many of them as the swarm has. Views only look: the machines and the
//! swarm's own outputs stay as they are.

use std::ops::Range;

use gbxcule_gameboy::FRAME_BYTES;
use gbxcule_runtime::in_pool;
use rayon::prelude::*;

use crate::banked_address::check_range;
use crate::picture::{self, Grays, Picture};
use crate::picture_stack::PictureMaker;
use crate::super_picture::SuperPicture;
use crate::{
    AnyMachine, DeviceSwarm, EnvSnapshot, Features, Frame, NativeSwarm, OBS_V0_DIM, PictureStack,
    Rom, SwarmConfig, SwarmError, obs_v0,
};

/// One way of looking at a machine.
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
    /// Bytes that one env fills.
    #[must_use]
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
    fn rows<'o>(
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
                said: "the swarm keeps no such pictures".into(),
            });
        }
        self.ranges().iter().try_for_each(|range| check_range(range, rom))?;
        let (row, found) = (self.bytes_per_env(), out.len());
        let expected = num_envs * row;
        if found != expected {
            return Err(SwarmError::WrongBuffer { expected, found });
        }
        if let Some(found) = mask.map(<[bool]>::len).filter(|found| *found != num_envs) {
            return Err(SwarmError::WrongLength { what: "mask entry", num_envs, found });
        }
        // A view of nothing has rows of nothing.
        let rows = out.chunks_exact_mut(row.max(1)).enumerate();
        Ok(rows.filter(|(env, _)| mask.is_none_or(|mask| mask[*env])).collect())
    }

    /// Fills an env's row with the view of its machine.
    fn show_machine(&self, machine: &AnyMachine, rom: &Rom, cart_ram: &[u8], row: &mut [u8]) {
        match self {
            Self::Picture(picture, grays) if picture.has_colors() && rom.revision().is_super() => {
                let mut colors = SuperPicture::new();
                picture.fill(*grays, colors.of(machine, rom, cart_ram), row);
            }
            Self::Picture(picture, grays) => picture.fill(*grays, machine.frame(), row),
            Self::Stack(form) => PictureMaker::new(*form).fill(machine.frame(), row),
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
    fn show_bytes(&self, bytes: impl Iterator<Item = u8>, row: &mut [u8]) {
        if let Self::Bits(_) = self {
            row.chunks_exact_mut(8).zip(bytes).for_each(|(flags, byte)| spread(byte, flags));
        } else {
            row.iter_mut().zip(bytes).for_each(|(place, byte)| *place = byte);
        }
    }
}

impl NativeSwarm {
    /// Shows every env, or only the marked ones, in `out`: one row of [`View::bytes_per_env`] for
    /// each env. The rows of envs that are not marked stay as they are.
    ///
    /// # Errors
    /// `out` or the mask has the wrong length, or a range of addresses leaves the address space.
    pub fn fill_view(
        &self,
        view: &View,
        mask: Option<&[bool]>,
        out: &mut [u8],
    ) -> Result<(), SwarmError> {
        let mut rows = view.rows(self.config(), self.rom(), mask, out)?;
        let rows_per_thread = rows.len().div_ceil(self.threads()).max(1);
        let fill = |(env, row): &mut (usize, &mut [u8])| {
            if let View::Stack(_) = view {
                return row.copy_from_slice(self.pictures(*env));
            }
            let (machine, cart_ram) = self.machine_and_cart_ram(*env);
            view.show_machine(machine, self.rom(), cart_ram, row);
        };
        in_pool(|| rows.par_chunks_mut(rows_per_thread).flatten_iter().for_each(fill));
        Ok(())
    }
}

macro_rules! fill_view_ahead {
    ($($swarm:ty),*) => { $(
        impl $swarm {
            /// Shows every env in `out`, as [`Self::fill_view`] does, with the picture of the frame
            /// that comes next: of a swarm that draws nothing. Copies the machines one by one; they
            /// stay where they are.
            ///
            /// # Errors
            /// As [`Self::fill_view`].
            pub fn fill_view_ahead(&self, view: &View, out: &mut [u8]) -> Result<(), SwarmError> {
                for (env, row) in view.rows(self.config(), self.rom(), None, out)? {
                    let mut snapshot = self.snapshot(env)?;
                    snapshot.draw_ahead(self.rom());
                    view.show_machine(&snapshot.machine, self.rom(), &snapshot.cart_ram, row);
                }
                Ok(())
            }
        }
    )* };
}

fill_view_ahead!(NativeSwarm, DeviceSwarm);

impl DeviceSwarm {
    /// Does what [`NativeSwarm::fill_view`] does, for machines on a device. Only frames or bytes
    /// are copied to the host; only [`View::ObsV0`] copies whole machines, and the step's own
    /// stages compute that observation without any copy.
    ///
    /// # Errors
    /// As [`NativeSwarm::fill_view`], or the device failed.
    pub fn fill_view(
        &self,
        view: &View,
        mask: Option<&[bool]>,
        out: &mut [u8],
    ) -> Result<(), SwarmError> {
        let rows = view.rows(self.config(), self.rom(), mask, out)?;
        let envs: Vec<usize> = rows.iter().map(|(env, _)| *env).collect();
        match view {
            View::Picture(picture, grays) => {
                let frames = self.frames(&envs)?;
                let rows = rows.into_iter().zip(Frame::each(self.rom().model(), &frames));
                rows.for_each(|((_, row), frame)| picture.fill(*grays, frame, row));
            }
            View::Stack(_) => {
                let stacks = self.pictures(&envs)?;
                let stacks = stacks.chunks_exact(view.bytes_per_env());
                rows.into_iter()
                    .zip(stacks)
                    .for_each(|((_, row), stack)| row.copy_from_slice(stack));
            }
            View::Memory(ranges) | View::Bits(ranges) => {
                let places: Vec<u32> = ranges.iter().cloned().flatten().collect();
                let bytes = self.gather(&envs, &places)?;
                let bytes = bytes.chunks_exact(places.len().max(1));
                for ((_, row), bytes) in rows.into_iter().zip(bytes) {
                    view.show_bytes(bytes.iter().copied(), row);
                }
            }
            View::ObsV0 => {
                for (env, row) in rows {
                    let EnvSnapshot { machine, cart_ram, .. } = self.snapshot(env)?;
                    view.show_machine(&machine, self.rom(), &cart_ram, row);
                }
            }
        }
        Ok(())
    }
}

/// A byte's bits, the lowest first.
fn spread(byte: u8, flags: &mut [u8]) {
    flags.iter_mut().enumerate().for_each(|(bit, flag)| *flag = byte >> bit & 1);
}

/// Every size of a picture is a part of this.
const _: () = assert!(FRAME_BYTES == picture::WIDTH * picture::HEIGHT / 4);
