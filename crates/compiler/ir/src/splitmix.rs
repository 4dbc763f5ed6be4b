//! SplitMix64, the generator of random numbers of Steele, Lea and Flood (2014): a seed gives the
//! same numbers on every machine, for ever.

/// The number by which the state of a stream grows from one number to the next.
pub const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Returns the number that SplitMix64 makes of a state.
pub const fn mix(state: u64) -> u64 {
    let word = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// Advances a state, and returns its number.
pub const fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(STEP);
    mix(*state)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_the_published_ones() {
        let mut state = 0;
        let numbers = [next(&mut state), next(&mut state), next(&mut state)];
        let published = [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f];
        assert_eq!(numbers, published);
    }
}
