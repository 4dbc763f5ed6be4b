//! What an env shows to whoever learns from it: pictures, memory, flags, `obs_v0`.
//!
//! A [`View`] turns each machine into the same number of bytes, in the caller's buffer, on the swarm's threads. Views
//! only look: the machines and the swarm's own outputs stay as they are.

use std::ops::Range;

use gbxcule_gameboy::{FRAME_BYTES, Machine};
use rayon::prelude::*;

use crate::picture::{self, Picture};
use crate::{Features, NativeSwarm, OBS_V0_DIM, Rom, SwarmError, obs_v0};

/// One way of looking at a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum View {
    /// The last drawn frame.
    Picture(Picture),
    /// The bytes at these addresses, one range after the other.
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
            Self::Picture(picture) => picture.bytes(),
            Self::Memory(ranges) => ranges.iter().map(ExactSizeIterator::len).sum(),
            Self::Bits(ranges) => ranges.iter().map(|range| 8 * range.len()).sum(),
            Self::ObsV0 => OBS_V0_DIM * size_of::<f32>(),
        }
    }

    fn ranges(&self) -> &[Range<u32>] {
        match self {
            Self::Memory(ranges) | Self::Bits(ranges) => ranges,
            Self::Picture(_) | Self::ObsV0 => &[],
        }
    }

    /// # Errors
    /// A range leaves the address space or runs backwards.
    fn check(&self) -> Result<(), SwarmError> {
        match self.ranges().iter().find(|range| range.start > range.end || range.end > 0x1_0000) {
            Some(range) => Err(SwarmError::BadRange { low: range.start, high: range.end }),
            None => Ok(()),
        }
    }

    fn fill_one(&self, machine: &Machine, rom: &Rom, cart_ram: &[u8], out: &mut [u8]) {
        match self {
            Self::Picture(picture) => picture.fill(&machine.frame, out),
            Self::Memory(_) => {
                self.for_each_byte(machine, rom, cart_ram, |at, byte| out[at] = byte);
            }
            Self::Bits(_) => self.for_each_byte(machine, rom, cart_ram, |at, byte| {
                for (bit, flag) in out[8 * at..][..8].iter_mut().enumerate() {
                    *flag = byte >> bit & 1;
                }
            }),
            Self::ObsV0 => {
                let mut numbers = [0.0; OBS_V0_DIM];
                obs_v0(&Features::of(machine, rom, cart_ram), &mut numbers);
                for (place, number) in out.chunks_exact_mut(size_of::<f32>()).zip(numbers) {
                    place.copy_from_slice(&number.to_ne_bytes());
                }
            }
        }
    }

    fn for_each_byte(
        &self,
        machine: &Machine,
        rom: &Rom,
        cart_ram: &[u8],
        mut take: impl FnMut(usize, u8),
    ) {
        let addresses = self.ranges().iter().cloned().flatten();
        for (at, address) in addresses.enumerate() {
            // `check` has seen that every address fits 16 bits.
            take(at, machine.peek(rom.bytes(), cart_ram, address as u16));
        }
    }
}

impl NativeSwarm {
    /// Show every env, or only the marked ones, in `out`: one row of [`View::bytes_per_env`] for each env. The rows of
    /// envs that are not marked stay as they are.
    ///
    /// # Errors
    /// `out` or the mask has the wrong length, or a range of addresses leaves the address space.
    pub fn show(
        &self,
        view: &View,
        mask: Option<&[bool]>,
        out: &mut [u8],
    ) -> Result<(), SwarmError> {
        view.check()?;
        let num_envs = self.config().num_envs;
        let row = view.bytes_per_env();
        if out.len() != num_envs * row {
            return Err(SwarmError::WrongBuffer { expected: num_envs * row, found: out.len() });
        }
        if let Some(mask) = mask.filter(|mask| mask.len() != num_envs) {
            return Err(SwarmError::WrongLength {
                what: "mask entry",
                num_envs,
                found: mask.len(),
            });
        }
        if row == 0 {
            return Ok(());
        }
        let envs_per_piece = num_envs.div_ceil(self.threads());
        out.par_chunks_mut(envs_per_piece * row).enumerate().for_each(|(piece, rows)| {
            for (slot, out) in rows.chunks_exact_mut(row).enumerate() {
                let env = piece * envs_per_piece + slot;
                if mask.is_none_or(|mask| mask[env]) {
                    let (machine, cart_ram) = self.parts(env);
                    view.fill_one(machine, self.rom(), cart_ram, out);
                }
            }
        });
        Ok(())
    }
}

/// Every size of a picture is a part of this.
const _: () = assert!(FRAME_BYTES == picture::WIDTH * picture::HEIGHT / 4);
