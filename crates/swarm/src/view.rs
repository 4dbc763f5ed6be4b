//! What an env shows to whoever learns from it: pictures, memory, flags, `obs_v0`.
//!
//! A [`View`] turns each machine into the same number of bytes, in the caller's buffer, on the swarm's threads. Views
//! only look: the machines and the swarm's own outputs stay as they are.

use std::ops::Range;

use gbxcule_gameboy::{FRAME_BYTES, Machine};
use rayon::prelude::*;

use crate::picture::{self, Picture};
use crate::{DeviceSwarm, EnvSnapshot, Features, NativeSwarm, OBS_V0_DIM, Rom, SwarmError, obs_v0};

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

    /// Checks a call of `show`.
    fn check_call(
        &self,
        num_envs: usize,
        mask: Option<&[bool]>,
        out: &[u8],
    ) -> Result<(), SwarmError> {
        self.check()?;
        let (expected, found) = (num_envs * self.bytes_per_env(), out.len());
        if found != expected {
            return Err(SwarmError::WrongBuffer { expected, found });
        }
        match mask {
            Some(mask) if mask.len() != num_envs => {
                let found = mask.len();
                Err(SwarmError::WrongLength { what: "mask entry", num_envs, found })
            }
            _ => Ok(()),
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
                spread(byte, &mut out[8 * at..][..8]);
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
        let num_envs = self.config().num_envs;
        view.check_call(num_envs, mask, out)?;
        let row = view.bytes_per_env();
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

impl DeviceSwarm {
    /// The same as [`NativeSwarm::show`], of machines on a device: frames or bytes come from it, no whole machines but for
    /// [`View::ObsV0`], which a stage of the step computes without any of that.
    ///
    /// # Errors
    /// As [`NativeSwarm::show`], or the device failed.
    pub fn show(
        &self,
        view: &View,
        mask: Option<&[bool]>,
        out: &mut [u8],
    ) -> Result<(), SwarmError> {
        let num_envs = self.config().num_envs;
        view.check_call(num_envs, mask, out)?;
        let row = view.bytes_per_env();
        if row == 0 {
            return Ok(());
        }
        let marked = |env: &usize| mask.is_none_or(|mask| mask[*env]);
        let envs: Vec<usize> = (0..num_envs).filter(marked).collect();
        let mut rows: Vec<&mut [u8]> = out.chunks_exact_mut(row).collect();
        match view {
            View::Picture(picture) if mask.is_none() => {
                let frames = self.frames()?;
                let (frames, _) = frames.as_chunks::<FRAME_BYTES>();
                rows.iter_mut().zip(frames).for_each(|(out, frame)| picture.fill(frame, out));
            }
            View::Picture(picture) => {
                for env in envs {
                    let frame = self.frame(env)?;
                    frame.as_chunks().0.iter().for_each(|frame| picture.fill(frame, rows[env]));
                }
            }
            View::Memory(ranges) | View::Bits(ranges) => {
                let addresses: Vec<u16> =
                    ranges.iter().cloned().flatten().map(|address| address as u16).collect();
                let bytes = self.gather(&envs, &addresses)?;
                for (env, bytes) in envs.iter().zip(bytes.chunks_exact(addresses.len())) {
                    match view {
                        View::Bits(_) => {
                            let flags = rows[*env].chunks_exact_mut(8);
                            flags.zip(bytes).for_each(|(flags, byte)| spread(*byte, flags));
                        }
                        _ => rows[*env].copy_from_slice(bytes),
                    }
                }
            }
            View::ObsV0 => {
                for env in envs {
                    let EnvSnapshot { machine, cart_ram, .. } = self.snapshot(env)?;
                    view.fill_one(&machine, self.rom(), &cart_ram, rows[env]);
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
