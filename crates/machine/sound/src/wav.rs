//! Writes samples as a WAV file.

use crate::mixer::{SAMPLE_MCYCLES, StereoSample};

/// M-cycles of a second.
const MCYCLES_PER_S: u32 = 1 << 20;

/// Returns the samples a second, rounded: the error of 0.5 in 47,662.5 is a 100,000th.
#[must_use]
pub const fn sample_rate() -> u32 {
    (MCYCLES_PER_S + SAMPLE_MCYCLES / 2) / SAMPLE_MCYCLES
}

/// Writes a WAV file of 16-bit stereo samples.
#[must_use]
pub fn wav(samples: &[StereoSample]) -> Vec<u8> {
    let bytes = u32::try_from(samples.len() * 4).unwrap_or(u32::MAX);
    let mut file = Vec::with_capacity(44 + samples.len() * 4);
    file.extend(b"RIFF");
    file.extend((36 + bytes).to_le_bytes());
    file.extend(b"WAVEfmt ");
    file.extend(16_u32.to_le_bytes());
    // The fields are: PCM, two channels; rate, bytes a second, bytes a sample, bits.
    for half in [1_u16, 2] {
        file.extend(half.to_le_bytes());
    }
    for word in [sample_rate(), sample_rate() * 4] {
        file.extend(word.to_le_bytes());
    }
    for half in [4_u16, 16] {
        file.extend(half.to_le_bytes());
    }
    file.extend(b"data");
    file.extend(bytes.to_le_bytes());
    file.extend(samples.iter().flatten().flat_map(|sample| sample.to_le_bytes()));
    file
}
