//! Converts levels to samples: panning, volumes, a box filter, and the output's capacitor.

use gbxcule_gameboy::apu::Apu;

use crate::fields::Fields;

/// M-cycles of one sample: 47,662.5 samples a second, 798 to a frame.
pub const SAMPLE_MCYCLES: u32 = 22;

/// Samples of one frame while the LCD is on.
pub const SAMPLES_PER_FRAME: usize = (gbxcule_gameboy::FRAME_MCYCLES / SAMPLE_MCYCLES) as usize;

/// Inputs of the four channels' converters, 0 to 15; `None` for a converter that is off.
pub type Levels = [Option<u8>; 4];

/// One sample: left and right.
pub type StereoSample = [i16; 2];

/// Offsets of NR50 and NR51 from FF10.
const VOLUMES: usize = 0x14;
const PANNING: usize = 0x15;

/// Greatest sum of a side: four channels, 15, volume 8.
const MAX_SUM: i32 = 4 * 15 * 8;

/// Greatest charge, which the loudest input gives.
const MAX_CHARGE: u64 = (i16::MAX as u64 / 2) << 16;

/// Sums of the present sample, and the charge of the output's capacitors.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mixer {
    sums: [i32; 2],
    halves: u32,
    /// Charge in 1/65536 of a sample's unit.
    charges: [i64; 2],
}

impl Mixer {
    /// Writes the mixer's fields.
    pub(crate) fn write_to(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.sums.iter().flat_map(|sum| sum.to_le_bytes()));
        bytes.extend(self.halves.to_le_bytes());
        bytes.extend(self.charges.iter().flat_map(|charge| charge.to_le_bytes()));
    }

    /// Reads the fields that [`Mixer::write_to`] wrote; `None` if a sum is impossible.
    pub(crate) fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let mut mixer = Self::default();
        for sum in &mut mixer.sums {
            *sum = i32::from_le_bytes(fields.array()?);
        }
        mixer.halves = u32::from_le_bytes(fields.array()?);
        for charge in &mut mixer.charges {
            *charge = i64::from_le_bytes(fields.array()?);
        }
        let loudest = MAX_SUM.unsigned_abs() * mixer.halves.min(2 * SAMPLE_MCYCLES);
        let is_possible = mixer.halves < 2 * SAMPLE_MCYCLES
            && mixer.sums.iter().all(|sum| sum.unsigned_abs() <= loudest)
            && mixer.charges.iter().all(|charge| charge.unsigned_abs() <= MAX_CHARGE);
        is_possible.then_some(mixer)
    }

    /// Adds a number of half M-cycles with the same levels; adds the samples that end in them.
    pub(crate) fn add(
        &mut self,
        levels: &Levels,
        apu: &Apu,
        halves: u32,
        samples: &mut Vec<StereoSample>,
    ) {
        let sides = mix(levels, apu);
        let is_any_on = levels.iter().any(Option::is_some);
        let mut left = halves;
        while left > 0 {
            let taken = left.min(2 * SAMPLE_MCYCLES - self.halves);
            for (sum, side) in self.sums.iter_mut().zip(sides) {
                *sum += side * taken as i32;
            }
            self.halves += taken;
            left -= taken;
            if self.halves == 2 * SAMPLE_MCYCLES {
                samples.push(std::array::from_fn(|side| self.filtered(side, is_any_on)));
                (self.sums, self.halves) = ([0; 2], 0);
            }
        }
    }

    /// Returns the mean over a sample's time, after the capacitor. While every converter is off,
    /// the output is cut off, and the capacitor keeps its charge (Pan Docs "Mixer").
    fn filtered(&mut self, side: usize, is_any_on: bool) -> i16 {
        let scale = i64::from(i16::MAX / 2) << 16;
        let input =
            i64::from(self.sums[side]) * scale / i64::from(MAX_SUM * 2 * SAMPLE_MCYCLES as i32);
        if !is_any_on {
            return 0;
        }
        let output = input - self.charges[side];
        // Pan Docs has the factor 0.999958 for a T-cycle; for a sample's 88 T-cycles it is 1 -
        // 1/271.
        self.charges[side] += output / 271;
        (output >> 16).clamp(i64::from(i16::MIN), i64::from(i16::MAX)) as i16
    }
}

/// Returns left and right in the converters' units: each channel between -15 and 15, times the
/// volume of the side.
pub(crate) fn mix(levels: &Levels, apu: &Apu) -> [i32; 2] {
    let (volumes, panning) = (apu.registers[VOLUMES], apu.registers[PANNING]);
    let side = |volume: u8, shift: u8| {
        let channels = levels.iter().enumerate().map(|(channel, level)| match level {
            Some(level) if panning >> shift >> channel & 1 != 0 => 15 - 2 * i32::from(*level),
            _ => 0,
        });
        channels.sum::<i32>() * (i32::from(volume & 7) + 1)
    };
    [side(volumes >> 4, 4), side(volumes, 0)]
}
