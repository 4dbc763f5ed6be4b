//! Battery-backed cartridge memory, as `.sav` and `.ram` files have it: the RAM, followed in most
//! emulators' files by the registers of an MBC3's clock, as in BESS.

use super::{ForeignStateError, bess};
use crate::{AnyMachine, Rom, of_either};

/// PyBoy writes whole banks, also for cartridges whose RAM is smaller.
const BANK_BYTES: usize = 0x2000;
/// Bytes of a clock whose file holds only the lower half of the time of writing.
const SHORT_CLOCK_BYTES: usize = 44;
const CLOCK_BYTES: usize = 48;

/// The file of a machine's cartridge.
pub fn written(machine: &AnyMachine, cart_ram: &[u8], rom: &Rom) -> Vec<u8> {
    let mut cart = of_either!(machine, machine => machine.cart);
    cart.sync(machine.mcycles_at_single_speed());
    let mut file = cart_ram[..rom.cartridge().battery_bytes() as usize].to_vec();
    if cart.has_rtc {
        let rtc = cart.rtc;
        file.extend(bess::clock_block(&super::Clock {
            running: rtc.running,
            latched: rtc.latched,
            subsecond_mcycles: rtc.subsecond_mcycles,
        }));
    }
    file
}

/// Puts another file into a machine's cartridge. The clock continues from the file's time, because
/// no emulated time has passed since then.
///
/// # Errors
/// The cartridge has another size of RAM.
pub fn insert(
    file: &[u8],
    rom: &Rom,
    machine: &mut AnyMachine,
    cart_ram: &mut [u8],
) -> Result<(), ForeignStateError> {
    let size = rom.cartridge().battery_bytes() as usize;
    let has_clock = rom.cartridge().has_rtc;
    let wrong = || ForeignStateError::Battery { found: file.len(), size, has_clock };
    let (ram, clock_bytes) = file.split_at_checked(size).ok_or_else(wrong)?;
    let is_whole_bank = size < BANK_BYTES && file.len() == BANK_BYTES;
    match clock_bytes.len() {
        _ if size == 0 && !has_clock => return Err(wrong()),
        0 => {}
        SHORT_CLOCK_BYTES | CLOCK_BYTES if has_clock => {
            let mut block = [0; CLOCK_BYTES];
            block[..clock_bytes.len()].copy_from_slice(clock_bytes);
            let clock = bess::read_clock(&block)?;
            let now = machine.mcycles_at_single_speed();
            let rtc = of_either!(machine, machine => &mut machine.cart.rtc);
            (rtc.running, rtc.latched) = (clock.running, clock.latched);
            (rtc.subsecond_mcycles, rtc.synced_at) = (0, now);
        }
        _ if is_whole_bank && size > 0 => {}
        _ => return Err(wrong()),
    }
    cart_ram[..size].copy_from_slice(ram);
    Ok(())
}
