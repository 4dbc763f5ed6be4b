//! FF50, which unmaps the boot ROM for good, and KEY0 (FF4C), which can be written until then.
//!
//! Called by `bus` and `color`. A machine without a boot ROM begins after FF50 was written, so a
//! write changes nothing.
// Pan Docs "Power Up Sequence", "FF50 — BANK", "FF4C — KEY0".

use crate::machine::Machine;
#[cfg(color)]
use crate::ppu::forget_hblank;
#[cfg(color)]
use crate::ppu::sync_ppu_now;
#[cfg(color)]
use crate::ppu::whole_or_by_dots::before_picture_change;

/// A write to FF50: bit 0 unmaps the boot ROM.
#[inline(never)]
pub(crate) fn write_boot_control(machine: &mut Machine, value: u8) {
    if value & 1 != 0 && machine.cart.boot_rom {
        machine.cart.boot_rom = false;
        // Programs for the original lose the Color's palettes.
        #[cfg(color)]
        forget_hblank(machine);
        machine.cart.map();
        machine.set_fast_path(!machine.dma.active);
    }
}

/// A write to FF4C, by which the boot ROM chooses what the program may use: bit 2 leaves only the
/// original's registers, bit 3 gives the original's picture.
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
