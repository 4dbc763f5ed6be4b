//! Contents of memory at power-on. Host side: not translated.

/// Contents of work RAM, high RAM and wave RAM at power-on. The hardware leaves them as they happen
/// to be; the boot ROM clears video RAM alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum PowerOnMemory {
    /// All zeros.
    #[default]
    Zero,
    /// FF in pages of 256 bytes that have an even address, 00 in the others. Cold work RAM of a DMG
    /// looks much like it; gambatte's tests of OAM DMA from FE00 and FF00 expect it.
    Pattern,
    /// Bytes that a seed gives.
    Random(u64),
}

impl PowerOnMemory {
    /// Fills the memory that begins at an address.
    pub fn fill(self, address: u16, memory: &mut [u8]) {
        for (index, byte) in memory.iter_mut().enumerate() {
            let address = address + index as u16;
            *byte = match self {
                PowerOnMemory::Zero => 0,
                PowerOnMemory::Pattern if address & 0x100 == 0 => 0xff,
                PowerOnMemory::Pattern => 0,
                PowerOnMemory::Random(seed) => random_byte(seed, address),
            };
        }
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014), jumped to the address.
fn random_byte(seed: u64, address: u16) -> u8 {
    let state = seed.wrapping_add(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(address as u64 + 1));
    let state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((state ^ (state >> 31)) >> 56) as u8
}
