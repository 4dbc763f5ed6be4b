//! Bytes that look random and are the same for the same seed.

/// Gives the next byte at each call.
pub(crate) fn bytes(seed: u64) -> impl FnMut() -> u8 {
    let mut state = seed | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u8
    }
}
