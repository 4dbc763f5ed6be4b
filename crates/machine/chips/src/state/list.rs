//! The lists of the chips' fields, in the order of the structs and of a state. A change of a list
//! changes the format: raise `VERSION`.

use crate::cart::{Cart, ClockRegisters, Mapper, RamPort, Rtc};
use crate::interrupts::Interrupts;
use crate::joypad::Joypad;
use crate::serial::Serial;
use crate::timer::Timer;
use crate::{codes, fields};

fields!(Interrupts { requested, enabled });

fields!(Timer {
    div_base,
    tima,
    tma,
    tac,
    synced_at,
    overflowed,
    overflow_at,
    reload_at,
    deadline,
});

fields!(Serial { sb, sc, bits, clock_high, synced_at, deadline });

fields!(Joypad { pressed, select, is_super, controller, last_controller, advances, unseen });

fields!(Cart {
    mapper,
    boot_rom,
    rom_low,
    rom_high,
    rom_mask,
    ram_offset,
    ram_mask,
    ram_port,
    has_ram,
    has_rtc,
    ram_enabled,
    rom_bank,
    ram_bank,
    banking_mode,
    rtc,
});

codes!(Mapper {
    RomOnly,
    Mbc1,
    Mbc1Multicart,
    Mbc2,
    Mbc3,
    Mbc30,
    Mbc5,
    Mbc5Rumble,
    Huc1,
    Huc3,
    Mbc7
});

codes!(RamPort { Closed, Bytes, Nibbles, Clock, Infrared, Huc3, Sensor });

fields!(Rtc { synced_at, subsecond_mcycles, running, latched, latch_armed });

fields!(ClockRegisters { seconds, minutes, hours, days_low, days_high });
