//! Registers of a device in the cartridge, such as a sensor. They lie in the upper half of the
//! cartridge's memory, after the battery-backed part. So a cartridge without a device needs no
//! space for registers, and states and copies contain registers without further code.
//!
//! That memory is all ones at power-on, and registers are kept inverted: they begin as zero.

/// Returns a register of 16 bits by its number.
pub(super) fn register(ram: &[u8], number: usize) -> u16 {
    let at = (ram.len() >> 1) + 2 * number;
    if at + 1 < ram.len() { !(ram[at] as u16 | (ram[at + 1] as u16) << 8) } else { 0 }
}

/// Sets a register of 16 bits.
pub(super) fn set_register(ram: &mut [u8], number: usize, value: u16) {
    let at = (ram.len() >> 1) + 2 * number;
    if at + 1 < ram.len() {
        ram[at] = !value as u8;
        ram[at + 1] = (!value >> 8) as u8;
    }
}
