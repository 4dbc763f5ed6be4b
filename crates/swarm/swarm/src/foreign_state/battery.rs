//! Battery-backed cartridge memory, as `.sav` and `.ram` files have it: the RAM, followed in most
//! emulators' files by the registers of an MBC3's clock, as in BESS.

use super::{ForeignStateError, bess};
use crate::machine::of_either;
use crate::{EnvSnapshot, Rom, SwarmError};

/// PyBoy writes whole banks, also for cartridges whose RAM is smaller.
const BANK_BYTES: usize = 0x2000;
/// Bytes of a clock whose file holds only the lower half of the time of writing.
const SHORT_CLOCK_BYTES: usize = 44;
const CLOCK_BYTES: usize = 48;

/// The file of an env's cartridge.
pub(crate) fn written(snapshot: &EnvSnapshot, rom: &Rom) -> Vec<u8> {
    let mut cart = of_either!(&snapshot.machine, machine => machine.cart);
    cart.sync(snapshot.machine.mcycles_at_single_speed());
    let mut file = snapshot.cart_ram[..rom.cartridge().battery_bytes() as usize].to_vec();
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

/// Puts another file into an env's cartridge. The clock continues from the file's time, because no
/// emulated time has passed since then.
pub(crate) fn inserted(
    snapshot: EnvSnapshot,
    file: &[u8],
    rom: &Rom,
) -> Result<EnvSnapshot, SwarmError> {
    let (mut snapshot, size) = (snapshot, rom.cartridge().battery_bytes() as usize);
    let has_clock = rom.cartridge().has_rtc;
    let wrong =
        || SwarmError::from(ForeignStateError::Battery { found: file.len(), size, has_clock });
    let (ram, clock_bytes) = file.split_at_checked(size).ok_or_else(wrong)?;
    let is_whole_bank = size < BANK_BYTES && file.len() == BANK_BYTES;
    match clock_bytes.len() {
        _ if size == 0 && !has_clock => return Err(wrong()),
        0 => {}
        SHORT_CLOCK_BYTES | CLOCK_BYTES if has_clock => {
            let mut block = [0; CLOCK_BYTES];
            block[..clock_bytes.len()].copy_from_slice(clock_bytes);
            let clock = bess::read_clock(&block)?;
            let now = snapshot.machine.mcycles_at_single_speed();
            let rtc = of_either!(&mut snapshot.machine, machine => &mut machine.cart.rtc);
            (rtc.running, rtc.latched) = (clock.running, clock.latched);
            (rtc.subsecond_mcycles, rtc.synced_at) = (0, now);
        }
        _ if is_whole_bank && size > 0 => {}
        _ => return Err(wrong()),
    }
    snapshot.cart_ram[..size].copy_from_slice(ram);
    Ok(snapshot)
}
