//! FF50, which takes the boot ROM off the address space for good, and KEY0 (FF4C), open until then.
//!
//! Called by `bus` and `color`. A machine without a boot ROM begins behind it, so a write here
//! changes nothing.
// Pan Docs "Power Up Sequence", "FF50 — BANK", "FF4C — KEY0".

use crate::machine::Machine;
#[cfg(color)]
use crate::ppu::sync_ppu_now;
#[cfg(color)]
use crate::ppu::whole_or_by_dots::before_picture_change;

/// A write to FF50: bit 0 takes the boot ROM away.
#[inline(never)]
pub(crate) fn write_boot_control(machine: &mut Machine, value: u8) {
    if value & 1 != 0 && machine.cart.boot_rom {
        machine.cart.boot_rom = false;
        machine.cart.map();
        machine.set_fast_path(!machine.dma.active);
    }
}

/// A write to FF4C, by which the boot ROM chooses what the program may use: with bit 2 the
/// original's registers alone, with bit 3 a picture of the original's.
#[cfg(color)]
#[inline(never)]
pub(crate) fn write_key0(machine: &mut Machine, value: u8) {
    if machine.cart.boot_rom {
        sync_ppu_now(machine);
        before_picture_change(machine);
        machine.ppu.compatible = value & 0x0c != 0;
        machine.color.drives_outside = value & 8 != 0;
    }
}
