//! Contents of memory at power-on. Host side: not translated.

/// Contents of work RAM, high RAM and wave RAM at power-on. On hardware they are unpredictable; the
/// boot ROM clears only video RAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum PowerOnMemory {
    /// All zeros.
    #[default]
    Zero,
    /// FF in pages of 256 bytes with an even number, 00 in odd pages. The work RAM of a cold DMG is
    /// similar; gambatte's tests of OAM DMA from FE00 and FF00 expect this pattern.
    Pattern,
    /// Random bytes from a seed.
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

/// Returns the byte of an address: SplitMix64 (Steele, Lea, Flood 2014) with a jump to the address.
/// It is also `gbxcule_ir::splitmix`; the machine depends on no crate of the compiler.
fn random_byte(seed: u64, address: u16) -> u8 {
    let state = seed.wrapping_add(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(address as u64 + 1));
    let state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((state ^ (state >> 31)) >> 56) as u8
}
